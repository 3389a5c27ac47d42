//! Solving the network of a state, for the resolution phase.

use std::sync::Arc;

use ludex_base::{BitSet, Deadline, MoveId, Rng};
use ludex_csp::Engine;
use ludex_encode::{EncodeError, Solution, Steps, Template};

/// Solves the networks of states, one state at a time.
pub(crate) trait Resolver: Send {
    /// Injects a state into the network and returns its facts; `None` when the deadline was reached or
    /// there is no solution.
    fn inject(&mut self, state: &BitSet, deadline: &Deadline) -> Option<Facts>;

    /// Calls `see` with each joint move of the injected state and the state it leads to, until `see`
    /// returns false. Returns false when the deadline was reached.
    fn solutions(&mut self, see: &mut dyn FnMut(&[MoveId], BitSet) -> bool) -> bool;

    /// Draws a random solution of the injected state and returns the next state. Each role draws from the
    /// moves that consistency leaves. `None` when the deadline was reached, or every draw was illegal.
    fn draw(&mut self, rng: &mut Rng) -> Option<BitSet>;

    /// Undoes the last injection.
    fn take_back(&mut self);
}

/// What the network says about a state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Facts {
    pub is_terminal: bool,
    /// By role, 0 to 100; all 0 in a state that is not terminal.
    pub goals: Vec<u8>,
}

/// Solves by maintaining consistency (MAC): it propagates after every decision.
pub(crate) struct Mac {
    template: Arc<Template>,
    steps: Steps<'static>,
}

impl Mac {
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
        Ok(Self { template, steps })
    }
}

/// The facts of a state, if the engine has fixed their variables.
fn facts(template: &Template, engine: &Engine) -> Option<Facts> {
    let value = |var| engine.domains().fixed_value(var);
    let goals = template.goals.iter().map(|&goal| value(goal).map(|it| it as u8));
    Some(Facts {
        is_terminal: value(template.terminal)? == 1,
        goals: goals.collect::<Option<_>>()?,
    })
}

impl Resolver for Mac {
    fn inject(&mut self, state: &BitSet, deadline: &Deadline) -> Option<Facts> {
        self.steps.engine().set_deadline(deadline);
        if !self.steps.inject(state) {
            return None;
        }
        let mut found = facts(&self.template, self.steps.engine());
        if found.is_none() {
            // Propagation did not fix the facts. All solutions agree on them, so the first one is enough.
            let template = &self.template;
            self.steps.for_each_solution(&mut |engine| {
                found = facts(template, engine);
                false
            });
        }
        found
    }

    fn solutions(&mut self, see: &mut dyn FnMut(&[MoveId], BitSet) -> bool) -> bool {
        let template = &self.template;
        self.steps.for_each_solution(&mut |engine| {
            let solution = Solution::read(template, engine);
            see(&solution.joint, solution.next)
        });
        !self.steps.engine().is_stopped()
    }

    fn draw(&mut self, rng: &mut Rng) -> Option<BitSet> {
        // Consistency may leave illegal moves, so a draw can fail.
        for _ in 0..N_DRAWS {
            let draw = |of_role: usize| {
                let left: Vec<MoveId> = self.steps.moves_left(of_role).collect();
                rng.choose(&left).copied()
            };
            let joint: Vec<MoveId> =
                (0..self.template.moves.len()).map(draw).collect::<Option<_>>()?;
            if let Some(solution) = self.steps.play(&joint) {
                return Some(solution.next);
            }
        }
        None
    }

    fn take_back(&mut self) {
        self.steps.take_back();
    }
}

/// Joint moves to try before the playout is given up.
const N_DRAWS: usize = 4;
