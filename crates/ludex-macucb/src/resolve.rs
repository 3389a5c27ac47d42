//! Solving the network of a state: what the resolution phase is made of.

use std::sync::Arc;

use ludex_base::{BitSet, Deadline, MoveId, Rng};
use ludex_csp::Engine;
use ludex_encode::{EncodeError, Solution, Steps, Template};

/// Solves the network of one state after the other.
pub(crate) trait Resolver: Send {
    /// Puts a state into the network and gives what it says of the state itself; `None` when the
    /// deadline came first, or no solution is left.
    fn inject(&mut self, state: &BitSet, deadline: &Deadline) -> Option<Facts>;

    /// After an injection, calls `see` with each joint move and the state it leads to, until it
    /// returns false. Gives false when the deadline came first.
    fn solutions(&mut self, see: &mut dyn FnMut(&[MoveId], BitSet) -> bool) -> bool;

    /// After an injection, a random solution: each role draws from the moves that consistency leaves
    /// it. `None` when the deadline came first, or consistency left too much.
    fn draw(&mut self, rng: &mut Rng) -> Option<BitSet>;

    /// Takes back the state that was injected last.
    fn take_back(&mut self);
}

/// What the network says of a state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Facts {
    pub is_terminal: bool,
    /// By role, 0 to 100; zeros before the end.
    pub goals: Vec<u8>,
}

/// Maintaining consistency: after each decision, everything that follows is drawn.
pub(crate) struct Mac {
    template: Arc<Template>,
    steps: Steps<'static>,
}

impl Mac {
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
        Ok(Self { template, steps })
    }
}

/// What an engine has settled of a state.
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
            // Consistency did not settle it: any solution does.
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
        // Consistency may leave a move that is not legal, though singleton consistency rarely would.
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

/// Joint moves that are tried before a playout is given up.
const N_DRAWS: usize = 4;
