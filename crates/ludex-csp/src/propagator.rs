//! What a constraint has to offer the engine.

use std::fmt;

use crate::Value;
use crate::domains::{Conflict, Domains, Events, VarId};

/// A constraint that prunes.
///
/// To add one: write [`holds`](Propagator::holds), write the naive
/// [`propagate`](Propagator::propagate), run the suite of `ludex-testkit` over it, and only then
/// subscribe to fewer events and keep state between calls.
pub trait Propagator: Send + Sync {
    /// The name of the kind of constraint, for messages and statistics.
    fn name(&self) -> &'static str;

    /// The variables it speaks of, in the order of the tuples of [`holds`](Propagator::holds).
    fn scope(&self) -> &[VarId];

    /// What the constraint means, written as plainly as it can be.
    ///
    /// The tests trust this and nothing else.
    fn holds(&self, tuple: &[Value]) -> bool;

    /// Called once, when the constraint enters an engine: subscribes to events and takes
    /// reversible words.
    ///
    /// The default subscribes to every event of every variable of the scope.
    fn post(&mut self, setup: &mut Setup<'_>) {
        setup.subscribe_all(self.scope(), Events::ANY);
    }

    /// Removes values that are in no solution of the constraint.
    ///
    /// When every variable of the scope is fixed it must fail unless the constraint holds.
    ///
    /// # Errors
    /// [`Conflict`] when the constraint has no solution left.
    fn propagate(&mut self, domains: &mut Domains) -> Result<Pruning, Conflict>;

    /// How much work a call is, so that cheap constraints prune first.
    ///
    /// The default is right for one pass over the scope.
    fn cost(&self) -> Cost {
        Cost::Linear
    }

    /// About how many bytes it takes once it is posted, so that memory can be bounded.
    ///
    /// The default is right for a few words for each variable of the scope.
    fn n_bytes(&self) -> usize {
        size_of_val(self) + 32 * self.scope().len()
    }

    /// A copy for a copy of the network. Large data that never changes should be shared.
    fn duplicate(&self) -> Box<dyn Propagator>;
}

/// What a call of [`Propagator::propagate`] leaves behind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pruning {
    /// Called again at once, it would prune nothing.
    Fixpoint,
    /// Its own prunings may let it prune more.
    MayPruneMore,
    /// It holds whatever the variables become; it is not called again below this node.
    Entailed,
}

impl Pruning {
    /// After a call that has to be repeated until it prunes nothing.
    pub fn after(is_reduced: bool) -> Self {
        if is_reduced { Pruning::MayPruneMore } else { Pruning::Fixpoint }
    }
}

/// How much work a call is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Cost {
    /// A handful of operations.
    Constant,
    /// A pass over the scope, or over bit sets.
    Linear,
    /// A pass over the scope for each variable, or over all values.
    Quadratic,
    /// Anything heavier.
    Heavy,
}

impl Cost {
    pub(crate) const COUNT: usize = 4;

    /// A measure of the work of a call: 1, 4, 16 or 64.
    pub(crate) fn work(self) -> u32 {
        1 << (2 * self as u32)
    }
}

impl fmt::Debug for dyn Propagator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{:?}", self.name(), self.scope())
    }
}

/// The engine as a propagator sees it when it is posted.
pub struct Setup<'a> {
    pub(crate) domains: &'a mut Domains,
    pub(crate) subscriptions: Vec<(VarId, Events)>,
}

impl<'a> Setup<'a> {
    /// A setup over domains without an engine, for tests of one propagator; who subscribes
    /// to what is forgotten.
    pub fn new(domains: &'a mut Domains) -> Self {
        Self { domains, subscriptions: Vec::new() }
    }

    /// Asks to be called when one of these events happens to `x`.
    pub fn subscribe(&mut self, x: VarId, events: Events) {
        self.subscriptions.push((x, events));
    }

    /// Asks to be called when one of these events happens to any of the variables.
    pub fn subscribe_all(&mut self, scope: &[VarId], events: Events) {
        scope.iter().for_each(|&x| self.subscribe(x, events));
    }

    /// The domains, for their present state and for new reversible words.
    pub fn domains(&mut self) -> &mut Domains {
        self.domains
    }
}

/// Writes [`Propagator::duplicate`] for a type that can be cloned.
#[macro_export]
macro_rules! duplicate_by_clone {
    () => {
        fn duplicate(&self) -> Box<dyn $crate::Propagator> {
            Box::new(self.clone())
        }
    };
}
