//! The interface between a constraint and the engine.

use std::fmt;

use crate::Value;
use crate::domains::{Conflict, Domains, Events, VarId};

/// A constraint that prunes domains.
///
/// To add one: write [`holds`](Propagator::holds), write the naive
/// [`propagate`](Propagator::propagate), run the suite of `ludex-testkit` over it, and only then
/// subscribe to fewer events and keep state between calls.
pub trait Propagator: Send + Sync {
    /// Returns the name of the kind of constraint, for messages and statistics.
    fn name(&self) -> &'static str;

    /// Returns the variables, in the order of the tuples of [`holds`](Propagator::holds).
    fn scope(&self) -> &[VarId];

    /// Whether a tuple satisfies the constraint, computed as directly as possible.
    ///
    /// The tests rely on this definition alone.
    fn holds(&self, tuple: &[Value]) -> bool;

    /// Subscribes to events and allocates reversible words; called once, when the constraint
    /// enters an engine.
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

    /// Returns the cost of a call, so that cheap constraints prune first.
    ///
    /// The default suits one pass over the scope.
    fn cost(&self) -> Cost {
        Cost::Linear
    }

    /// Returns an estimate of the bytes it takes once posted, so that memory can be limited.
    ///
    /// The default suits a few words for each variable of the scope.
    fn n_bytes(&self) -> usize {
        size_of_val(self) + 32 * self.scope().len()
    }

    /// Returns a copy for a copy of the network. Large immutable data should be shared.
    fn duplicate(&self) -> Box<dyn Propagator>;
}

/// The result of a call of [`Propagator::propagate`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pruning {
    /// Another call would prune nothing.
    Fixpoint,
    /// Its own pruning may allow it to prune more.
    MayPruneMore,
    /// Every assignment left satisfies it; it is not called again below this node.
    Entailed,
}

impl Pruning {
    /// Returns the result of a call that must be repeated until it prunes nothing.
    pub fn after(is_reduced: bool) -> Self {
        if is_reduced { Pruning::MayPruneMore } else { Pruning::Fixpoint }
    }
}

/// The cost of a call.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Cost {
    /// A few operations.
    Constant,
    /// A pass over the scope, or over bit sets.
    Linear,
    /// A pass over the scope for each variable, or over all values.
    Quadratic,
    /// Anything more expensive.
    Heavy,
}

impl Cost {
    pub(crate) const COUNT: usize = 4;

    /// Returns the cost as a number: 1, 4, 16 or 64.
    pub(crate) fn work(self) -> u32 {
        1 << (2 * self as u32)
    }
}

impl fmt::Debug for dyn Propagator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{:?}", self.name(), self.scope())
    }
}

/// The engine as seen by a propagator that is being posted.
pub struct Setup<'a> {
    pub(crate) domains: &'a mut Domains,
    pub(crate) subscriptions: Vec<(VarId, Events)>,
}

impl<'a> Setup<'a> {
    /// Creates a setup over domains without an engine, for tests of one propagator; it ignores
    /// subscriptions.
    pub fn new(domains: &'a mut Domains) -> Self {
        Self { domains, subscriptions: Vec::new() }
    }

    /// Subscribes to these events of `x`.
    pub fn subscribe(&mut self, x: VarId, events: Events) {
        self.subscriptions.push((x, events));
    }

    /// Subscribes to these events of all the variables.
    pub fn subscribe_all(&mut self, scope: &[VarId], events: Events) {
        scope.iter().for_each(|&x| self.subscribe(x, events));
    }

    /// Returns the domains, for reading them and for allocating reversible words.
    pub fn domains(&mut self) -> &mut Domains {
        self.domains
    }
}

/// Implements [`Propagator::duplicate`] for a type that can be cloned.
#[macro_export]
macro_rules! duplicate_by_clone {
    () => {
        fn duplicate(&self) -> Box<dyn $crate::Propagator> {
            Box::new(self.clone())
        }
    };
}
