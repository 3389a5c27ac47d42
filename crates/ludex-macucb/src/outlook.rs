//! The outlook of a state: proving by consistency alone that every play from it ends with the same goals.
//!
//! The template is injected with many states at once: each state variable gets a set of values. The values
//! that consistency leaves for the next state are added to the sets until nothing is new. The sets then
//! contain every reachable state, and more. If singleton consistency leaves one goal for every role in the
//! terminal states among them, every play ends with these goals: the subtree is closed without visiting
//! it.
//!
//! A variable that keeps growing gets all its values, so that few rounds are enough.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ludex_base::{BitSet, Deadline};
use ludex_csp::{Engine, Value, ValueSet, VarId};
use ludex_encode::{EncodeError, Steps, Template};

/// Proves outlooks on a posted network.
pub(crate) struct Outlook {
    template: Arc<Template>,
    steps: Steps<'static>,
    /// Time spent on injecting sets into the network.
    pub injection: Duration,
}

/// Rounds after which a variable that still grows gets all its values.
const N_EXACT_ROUNDS: usize = 3;
/// The round after which an early check looks for more than one possible outcome.
const EARLY_ROUND: usize = 1;
/// Rounds after which the outlook is given up.
const MAX_ROUNDS: usize = 16;

impl Outlook {
    /// Posts the network.
    ///
    /// # Errors
    /// The network can't be posted, or a bound is reached.
    pub fn new(
        template: Arc<Template>,
        deadline: &Deadline,
        max_bytes: u64,
    ) -> Result<Self, EncodeError> {
        let steps = Steps::shared(Arc::clone(&template), deadline, max_bytes)?;
        Ok(Self { template, steps, injection: Duration::ZERO })
    }

    /// The goals of all roles if every play from a state provably ends with them; `None` if there is no
    /// proof, or no time for it.
    pub fn certain_goals(&mut self, state: &BitSet, deadline: &Deadline) -> Option<Vec<u8>> {
        self.steps.engine().set_deadline(deadline);
        let reachable = self.reachable(state)?;
        let goals = self.goals_among(&reachable);
        if self.steps.engine().is_stopped() { None } else { goals }
    }

    /// For each state variable, the values that it may have from this state on.
    fn reachable(&mut self, state: &BitSet) -> Option<Vec<ValueSet>> {
        let template = Arc::clone(&self.template);
        let values = template.values_of(state).into_iter();
        let mut sets: Vec<ValueSet> = values.map(|value| ValueSet::from(vec![value])).collect();
        for round in 0..MAX_ROUNDS {
            let goes_on = self.inject(&sets, 0);
            let engine = self.steps.engine();
            let mut has_grown = false;
            if goes_on {
                let domains = engine.domains();
                for (set, &next) in sets.iter_mut().zip(&template.next) {
                    let is_new = |value: &Value| !set.contains(*value);
                    if domains.values(next).any(|value| is_new(&value)) {
                        has_grown = true;
                        let all: Vec<Value> = if round < N_EXACT_ROUNDS {
                            set.iter().chain(domains.values(next)).collect()
                        } else {
                            template.network.variable(next).domain.iter().collect()
                        };
                        *set = all.into_iter().collect();
                    }
                }
            }
            engine.pop_level();
            if engine.is_stopped() {
                return None;
            }
            if !has_grown {
                return Some(sets);
            }
            // More rounds only add outcomes, so two are enough to stop.
            if round == EARLY_ROUND && self.sees_several(&sets) {
                return None;
            }
        }
        None
    }

    /// Whether the terminal states of these sets have different goals, as far as consistency can tell.
    fn sees_several(&mut self, sets: &[ValueSet]) -> bool {
        let ends = self.inject(sets, 1);
        let engine = self.steps.engine();
        let goals = &self.template.goals;
        let several = ends && goals.iter().any(|&goal| only_value(engine, goal).is_none());
        engine.pop_level();
        several
    }

    /// The goals of the terminal states of these sets, if each role has only one.
    fn goals_among(&mut self, sets: &[ValueSet]) -> Option<Vec<u8>> {
        let ends = self.inject(sets, 1);
        let engine = self.steps.engine();
        let goals = if ends {
            self.template.goals.iter().map(|&goal| only_value(engine, goal)).collect()
        } else {
            None
        };
        engine.pop_level();
        goals
    }

    /// Opens a level with the terminal or the other states of these sets; false if there are none.
    fn inject(&mut self, sets: &[ValueSet], terminal: Value) -> bool {
        let start = Instant::now();
        let template = &self.template;
        let ends = ValueSet::from(vec![terminal]);
        let pairs = template.now.iter().copied().zip(sets).chain([(template.terminal, &ends)]);
        let is_possible = self.steps.engine().inject_sets(pairs).is_ok();
        self.injection += start.elapsed();
        is_possible
    }
}

/// The only value of a goal that survives singleton consistency.
fn only_value(engine: &mut Engine, goal: VarId) -> Option<u8> {
    if let Some(value) = engine.domains().fixed_value(goal) {
        return Some(value as u8);
    }
    let values: Vec<Value> = engine.domains().values(goal).collect();
    let mut possible = None;
    for value in values {
        engine.push_level();
        let is_open = engine.decide(|domains| domains.fix(goal, value)).is_ok();
        engine.pop_level();
        if engine.is_stopped() || (is_open && possible.replace(value).is_some()) {
            return None;
        }
    }
    possible.map(|value| value as u8)
}
