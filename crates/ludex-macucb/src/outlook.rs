//! What every play from a state ends with, by consistency alone.
//!
//! The template is asked about many states at once: each variable of a state gets the set of values
//! that it may have, and what consistency leaves of the next state is added to the sets, until
//! nothing is new. Then the sets hold every state that can be reached, and more. If the goals of
//! terminal states among them have one value left for every role, by singleton consistency, then
//! every play ends with these goals: the subtree is closed, and nothing in it was looked at.
//!
//! A variable that goes on growing is given all its values, so that few rounds are enough.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ludex_base::{BitSet, Deadline};
use ludex_csp::{Engine, Value, ValueSet, VarId};
use ludex_encode::{EncodeError, Steps, Template};

/// Looks ahead by sets of values.
pub(crate) struct Outlook {
    template: Arc<Template>,
    steps: Steps<'static>,
    /// Time in which sets were put into the network.
    pub injection: Duration,
}

/// Rounds after which a variable that still grows gets all its values.
const N_ROUNDS: usize = 3;
/// The round after which it is first asked whether more than one outcome is possible.
const EARLY_ROUND: usize = 1;
/// Rounds after which nothing is said.
const MAX_ROUNDS: usize = 16;

impl Outlook {
    /// Posts the network.
    ///
    /// # Errors
    /// When it can't be posted, or a bound is reached.
    pub fn new(
        template: Arc<Template>,
        deadline: &Deadline,
        max_bytes: u64,
    ) -> Result<Self, EncodeError> {
        let steps = Steps::shared(Arc::clone(&template), deadline, max_bytes)?;
        Ok(Self { template, steps, injection: Duration::ZERO })
    }

    /// The goals of all roles if every play from a state ends with them; `None` if that can't be
    /// told, or not in time.
    pub fn certain_goals(&mut self, state: &BitSet, deadline: &Deadline) -> Option<Vec<u8>> {
        self.steps.engine().set_deadline(deadline);
        let reachable = self.reachable(state)?;
        let goals = self.goals_among(&reachable);
        if self.steps.engine().is_stopped() { None } else { goals }
    }

    /// By variable of a state, the values it may have from here on.
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
                        let all: Vec<Value> = if round < N_ROUNDS {
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
            // Where two outcomes are in sight already, looking further is in vain.
            if round == EARLY_ROUND && self.sees_several(&sets) {
                return None;
            }
        }
        None
    }

    /// Whether sets of states have terminal ones with different goals, as far as consistency tells.
    fn sees_several(&mut self, sets: &[ValueSet]) -> bool {
        let ends = self.inject(sets, 1);
        let engine = self.steps.engine();
        let goals = &self.template.goals;
        let several = ends && goals.iter().any(|&goal| only_value(engine, goal).is_none());
        engine.pop_level();
        several
    }

    /// The goals of the terminal states among sets of states, if each role has only one.
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

    /// Opens a level with sets of states that are terminal or not; false if there are none.
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

/// The only value of a goal that does not fail when it is tried alone.
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
