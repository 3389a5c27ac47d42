//! The engine: propagators, who wakes whom, and the queue.

use std::collections::VecDeque;

use ludex_base::Deadline;

use crate::domains::{Cell, Conflict, Domains, Events, VarId};
use crate::propagator::{Cost, Propagator, Pruning, Setup};
use crate::{Value, ValueSet};

ludex_base::define_id! {
    /// A propagator of an engine.
    pub struct PropagatorId;
}

/// Domains and propagators, brought to a fixpoint again and again.
///
/// The engine is at once the *template* of injections: post the constraints once, call
/// [`Engine::propagate`], and then for each state [`Engine::inject`] and
/// [`Engine::pop_level`]. Nothing is allocated on the way.
///
/// ```
/// use ludex_csp::{Network, PostConfig};
/// let mut network = Network::new();
/// let [x, y] = [network.int("x", 1..=9), network.int("y", 1..=9)];
/// network.require((x + y).equals(10));
/// let mut engine = network.post(&PostConfig::default())?;
/// engine.propagate().unwrap();
/// engine.inject([(x, 7)]).unwrap();
/// assert_eq!(engine.domains().fixed_value(y), Some(3));
/// engine.pop_level();
/// assert_eq!(engine.domains().size(y), 9);
/// # Ok::<(), ludex_csp::CspError>(())
/// ```
pub struct Engine {
    domains: Domains,
    propagators: Vec<Posted>,
    /// By variable: who wants to know what.
    watches: Vec<Vec<Watch>>,
    queues: [VecDeque<PropagatorId>; Cost::COUNT],
    last_conflict: Option<PropagatorId>,
    n_propagations: u64,
    /// Work since the deadline was asked.
    work: u32,
    deadline: Deadline,
    is_stopped: bool,
}

/// The deadline is asked after so much work, where a call counts by its cost.
const WORK_BEFORE_ASKING: u32 = 256;

struct Posted {
    propagator: Box<dyn Propagator>,
    /// 1 while the propagator may still prune below this node.
    alive: Cell,
    is_queued: bool,
    /// A variable twice in the scope breaks the reasoning that one pass is enough.
    repeats: bool,
    cost: Cost,
}

#[derive(Clone, Copy)]
struct Watch {
    propagator: PropagatorId,
    events: Events,
}

impl Clone for Engine {
    fn clone(&self) -> Self {
        Self {
            domains: self.domains.clone(),
            propagators: self
                .propagators
                .iter()
                .map(|posted| Posted { propagator: posted.propagator.duplicate(), ..*posted })
                .collect(),
            watches: self.watches.clone(),
            queues: self.queues.clone(),
            last_conflict: self.last_conflict,
            n_propagations: self.n_propagations,
            work: self.work,
            deadline: self.deadline.clone(),
            is_stopped: self.is_stopped,
        }
    }
}

impl Default for Engine {
    fn default() -> Self {
        Self::new()
    }
}

impl Engine {
    /// An engine without variables.
    pub fn new() -> Self {
        Self {
            domains: Domains::default(),
            propagators: Vec::new(),
            watches: Vec::new(),
            queues: Default::default(),
            last_conflict: None,
            n_propagations: 0,
            work: 0,
            deadline: Deadline::never(),
            is_stopped: false,
        }
    }

    /// Adds a variable; `None` when [`Domains::add`] has no representation for it.
    pub fn add_variable(&mut self, set: &ValueSet) -> Option<VarId> {
        let x = self.domains.add(set)?;
        self.watches.push(Vec::new());
        Some(x)
    }

    /// Adds a constraint and puts it in the queue.
    pub fn post(&mut self, mut propagator: Box<dyn Propagator>) -> PropagatorId {
        let id = PropagatorId::new(self.propagators.len());
        let mut setup = Setup { domains: &mut self.domains, subscriptions: Vec::new() };
        propagator.post(&mut setup);
        for (x, events) in setup.subscriptions {
            self.watches[x.index()].push(Watch { propagator: id, events });
        }
        let mut scope = propagator.scope().to_vec();
        scope.sort_unstable();
        self.propagators.push(Posted {
            alive: self.domains.new_cell(1),
            is_queued: false,
            repeats: scope.windows(2).any(|pair| pair[0] == pair[1]),
            cost: propagator.cost(),
            propagator,
        });
        self.schedule(id);
        id
    }

    /// The domains.
    #[inline]
    pub fn domains(&self) -> &Domains {
        &self.domains
    }

    /// The domains, to be pruned; [`Engine::propagate`] then draws the consequences.
    #[inline]
    pub fn domains_mut(&mut self) -> &mut Domains {
        &mut self.domains
    }

    /// How many propagators there are.
    pub fn n_propagators(&self) -> usize {
        self.propagators.len()
    }

    /// The ids of all propagators.
    pub fn propagator_ids(&self) -> impl Iterator<Item = PropagatorId> + use<> {
        (0..self.propagators.len()).map(PropagatorId::new)
    }

    /// A propagator.
    pub fn propagator(&self, id: PropagatorId) -> &dyn Propagator {
        &*self.propagators[id.index()].propagator
    }

    /// Whether the propagator has said that it holds whatever its variables become.
    pub fn is_entailed(&self, id: PropagatorId) -> bool {
        self.domains.get(self.propagators[id.index()].alive) == 0
    }

    /// How often propagators were called so far.
    pub fn n_propagations(&self) -> u64 {
        self.n_propagations
    }

    /// When propagation is to stop. It is asked every 256 calls of the cheapest propagators,
    /// every 4 calls of the heaviest.
    pub fn set_deadline(&mut self, deadline: &Deadline) {
        self.deadline = deadline.clone();
        self.is_stopped = false;
    }

    /// Whether the deadline stopped propagation since it was set: conflicts from then on may be
    /// none of the network.
    pub fn is_stopped(&self) -> bool {
        self.is_stopped
    }

    /// The propagator that failed at the last conflict; `None` when a decision did.
    pub fn last_conflict(&self) -> Option<PropagatorId> {
        self.last_conflict
    }

    /// Puts a propagator in the queue, as if something had happened to its scope.
    #[inline]
    pub fn schedule(&mut self, id: PropagatorId) {
        let posted = &mut self.propagators[id.index()];
        if !posted.is_queued && self.domains.get(posted.alive) != 0 {
            posted.is_queued = true;
            self.queues[posted.cost as usize].push_back(id);
        }
    }

    /// Calls the propagators that have something to do until none has.
    ///
    /// # Errors
    /// [`Conflict`] when a domain became empty; the level must then be popped. At the root
    /// it means that the network has no solution, unless the deadline was reached (see
    /// [`Engine::is_stopped`]).
    pub fn propagate(&mut self) -> Result<(), Conflict> {
        self.schedule_changes(None);
        while let Some(id) = self.queues.iter_mut().find_map(VecDeque::pop_front) {
            let posted = &mut self.propagators[id.index()];
            posted.is_queued = false;
            if self.domains.get(posted.alive) == 0 {
                continue;
            }
            self.n_propagations += 1;
            self.work += posted.cost.work();
            if self.work >= WORK_BEFORE_ASKING {
                self.work = 0;
                if self.deadline.reached() {
                    self.is_stopped = true;
                    self.last_conflict = None;
                    self.clear_queue();
                    return Err(Conflict);
                }
            }
            match posted.propagator.propagate(&mut self.domains) {
                Ok(pruning) => {
                    if pruning == Pruning::Entailed {
                        self.domains.set(posted.alive, 0);
                    }
                    let is_done = pruning != Pruning::MayPruneMore && !posted.repeats;
                    self.schedule_changes(is_done.then_some(id));
                }
                Err(Conflict) => {
                    self.last_conflict = Some(id);
                    self.clear_queue();
                    return Err(Conflict);
                }
            }
        }
        Ok(())
    }

    /// Wakes the propagators that subscribed to what has happened, but for `except`.
    #[inline]
    fn schedule_changes(&mut self, except: Option<PropagatorId>) {
        while let Some((x, events)) = self.domains.take_change() {
            for watch in &self.watches[x.index()] {
                if watch.events.intersects(events) && Some(watch.propagator) != except {
                    let posted = &mut self.propagators[watch.propagator.index()];
                    if !posted.is_queued && self.domains.get(posted.alive) != 0 {
                        posted.is_queued = true;
                        self.queues[posted.cost as usize].push_back(watch.propagator);
                    }
                }
            }
        }
    }

    fn clear_queue(&mut self) {
        for queue in &mut self.queues {
            for id in queue.drain(..) {
                self.propagators[id.index()].is_queued = false;
            }
        }
        self.domains.clear_events();
    }

    /// How many levels are open.
    pub fn level(&self) -> usize {
        self.domains.level()
    }

    /// Opens a level.
    ///
    /// # Panics
    /// When there is something left to propagate: it would be lost when the level is popped.
    pub fn push_level(&mut self) {
        let is_fixpoint = !self.domains.has_changes() && self.queues.iter().all(VecDeque::is_empty);
        assert!(is_fixpoint, "levels are opened at fixpoints");
        self.domains.push_level();
    }

    /// Undoes everything since the last level was opened.
    ///
    /// # Panics
    /// When no level is open.
    pub fn pop_level(&mut self) {
        self.clear_queue();
        self.domains.pop_level();
    }

    /// Pops levels until `level` are left.
    pub fn pop_to(&mut self, level: usize) {
        while self.level() > level {
            self.pop_level();
        }
    }

    /// Makes `x` equal to `value` and propagates.
    ///
    /// # Errors
    /// [`Conflict`] when that can't be.
    pub fn assign(&mut self, x: VarId, value: Value) -> Result<(), Conflict> {
        self.decide(|domains| domains.fix(x, value))
    }

    /// Takes `value` from `x` and propagates.
    ///
    /// # Errors
    /// [`Conflict`] when that can't be.
    pub fn refute(&mut self, x: VarId, value: Value) -> Result<(), Conflict> {
        self.decide(|domains| domains.remove(x, value))
    }

    /// Prunes from outside and propagates.
    ///
    /// # Errors
    /// [`Conflict`] when that can't be.
    pub fn decide(
        &mut self,
        prune: impl FnOnce(&mut Domains) -> Result<bool, Conflict>,
    ) -> Result<(), Conflict> {
        self.last_conflict = None;
        self.domains.forget_conflict();
        if prune(&mut self.domains).is_err() {
            self.clear_queue();
            return Err(Conflict);
        }
        self.propagate()
    }

    /// Opens a level, fixes variables and propagates. [`Engine::pop_level`] undoes it, also
    /// after a conflict.
    ///
    /// # Errors
    /// [`Conflict`] when the network has no solution with these values, as far as
    /// propagation sees.
    pub fn inject(
        &mut self,
        state: impl IntoIterator<Item = (VarId, Value)>,
    ) -> Result<(), Conflict> {
        self.push_level();
        self.decide(|domains| {
            for (x, value) in state {
                domains.fix(x, value)?;
            }
            Ok(true)
        })
    }

    /// Opens a level, restricts domains to sets and propagates. [`Engine::pop_level`] undoes
    /// it, also after a conflict.
    ///
    /// # Errors
    /// [`Conflict`] when the network has no solution with these domains, as far as
    /// propagation sees.
    pub fn inject_sets<'a>(
        &mut self,
        state: impl IntoIterator<Item = (VarId, &'a ValueSet)>,
    ) -> Result<(), Conflict> {
        self.push_level();
        self.decide(|domains| {
            for (x, set) in state {
                domains.retain(x, |value| set.contains(value))?;
            }
            Ok(true)
        })
    }
}
