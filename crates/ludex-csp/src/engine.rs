//! The engine: propagators, the events that wake them, and the queue.

use std::collections::VecDeque;

use ludex_base::Deadline;

use crate::domains::{Cell, Conflict, Domains, Events, VarId};
use crate::propagator::{Cost, Propagator, Pruning, Setup};
use crate::{Value, ValueSet};

ludex_base::define_id! {
    /// A propagator of an engine.
    pub struct PropagatorId;
}

/// Domains and propagators, kept at a fixpoint.
///
/// The engine also serves as a *template* for injections: post the constraints once, call
/// [`Engine::propagate`], and then for each state [`Engine::inject`] and [`Engine::pop_level`].
/// None of these allocates.
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
    /// By variable: the propagators that watch it, and for which events.
    watches: Vec<Vec<Watch>>,
    queues: [VecDeque<PropagatorId>; Cost::COUNT],
    last_conflict: Option<PropagatorId>,
    n_propagations: u64,
    /// Work since the last check of the deadline.
    work: u32,
    deadline: Deadline,
    is_stopped: bool,
}

/// Work between two checks of the deadline; each call counts with its cost.
const WORK_PER_CHECK: u32 = 256;

struct Posted {
    propagator: Box<dyn Propagator>,
    /// 1 while the propagator may still prune below this node.
    alive: Cell,
    is_queued: bool,
    /// Whether the scope repeats a variable, so that one pass may not reach the fixpoint.
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
    /// Creates an engine without variables.
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

    /// Adds a variable; `None` when [`Domains::add`] cannot represent its domain.
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

    /// Returns the domains.
    #[inline]
    pub fn domains(&self) -> &Domains {
        &self.domains
    }

    /// Returns the domains for pruning; [`Engine::propagate`] then draws the consequences.
    #[inline]
    pub fn domains_mut(&mut self) -> &mut Domains {
        &mut self.domains
    }

    /// Returns the number of propagators.
    pub fn n_propagators(&self) -> usize {
        self.propagators.len()
    }

    /// Returns the ids of all propagators.
    pub fn propagator_ids(&self) -> impl Iterator<Item = PropagatorId> + use<> {
        (0..self.propagators.len()).map(PropagatorId::new)
    }

    /// Returns a propagator.
    pub fn propagator(&self, id: PropagatorId) -> &dyn Propagator {
        &*self.propagators[id.index()].propagator
    }

    /// Whether the propagator has reported that every assignment left satisfies it.
    pub fn is_entailed(&self, id: PropagatorId) -> bool {
        self.domains.get(self.propagators[id.index()].alive) == 0
    }

    /// Returns the number of propagator calls so far.
    pub fn n_propagations(&self) -> u64 {
        self.n_propagations
    }

    /// Sets the deadline of propagation. It is checked every 256 calls of the cheapest
    /// propagators and every 4 calls of the most expensive.
    pub fn set_deadline(&mut self, deadline: &Deadline) {
        self.deadline = deadline.clone();
        self.is_stopped = false;
    }

    /// Whether the deadline has stopped propagation since it was set. Later conflicts may then
    /// be artifacts of the stop and prove nothing about the network.
    pub fn is_stopped(&self) -> bool {
        self.is_stopped
    }

    /// Returns the propagator that failed at the last conflict; `None` when a decision failed.
    pub fn last_conflict(&self) -> Option<PropagatorId> {
        self.last_conflict
    }

    /// Puts a propagator in the queue, as if its scope had changed.
    #[inline]
    pub fn schedule(&mut self, id: PropagatorId) {
        let posted = &mut self.propagators[id.index()];
        if !posted.is_queued && self.domains.get(posted.alive) != 0 {
            posted.is_queued = true;
            self.queues[posted.cost as usize].push_back(id);
        }
    }

    /// Calls the queued propagators until the queue is empty.
    ///
    /// # Errors
    /// [`Conflict`] when a domain became empty; the caller must then pop the level. At the root
    /// a conflict means that the network has no solution, unless the deadline was reached (see
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
            if self.work >= WORK_PER_CHECK {
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

    /// Wakes the propagators that subscribed to the pending events, except `except`.
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

    /// Returns the number of open levels.
    pub fn level(&self) -> usize {
        self.domains.level()
    }

    /// Opens a level.
    ///
    /// # Panics
    /// When changes are left to propagate: popping the level would lose them.
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
    /// [`Conflict`] when propagation refutes this.
    pub fn assign(&mut self, x: VarId, value: Value) -> Result<(), Conflict> {
        self.decide(|domains| domains.fix(x, value))
    }

    /// Removes `value` from `x` and propagates.
    ///
    /// # Errors
    /// [`Conflict`] when propagation refutes this.
    pub fn refute(&mut self, x: VarId, value: Value) -> Result<(), Conflict> {
        self.decide(|domains| domains.remove(x, value))
    }

    /// Prunes domains with `prune` and propagates.
    ///
    /// # Errors
    /// [`Conflict`] when propagation refutes this.
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
    /// [`Conflict`] when propagation shows that the network has no solution with these values.
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
    /// [`Conflict`] when propagation shows that the network has no solution with these domains.
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
