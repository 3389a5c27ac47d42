//! Plays random games and shows every step to a visitor.

use std::ops::ControlFlow;

use ludex_base::{BitSet, Deadline, MoveId, Rng, RoleId, Seed};
use ludex_game::{Cursor, Game, PlayEnd, PlayVisitor, RandomPlay, stop_if};

/// One step of a random game.
pub struct Step<'a> {
    /// The fluents before the step.
    pub before: &'a BitSet,
    /// The fluents after the step.
    pub after: &'a BitSet,
    /// The roles that had a choice.
    pub choosers: &'a [RoleId],
}

/// Plays random games and shows every step, up to `max_steps` steps or the deadline.
///
/// Returns the number of steps; 0 if the engine does not number fluents.
pub fn watch<G: Game>(
    game: &G,
    max_steps: usize,
    seed: Seed,
    deadline: &Deadline,
    show: impl FnMut(Step<'_>),
) -> usize {
    let mut cursor = game.cursor();
    let Some(before) = cursor.fluents() else { return 0 };
    let (initial, before) = (cursor.state().clone(), before.clone());
    let mut rng = seed.rng();
    let mut play = RandomPlay::within(game.roles().len(), MAX_GAME_STEPS);
    let mut watcher =
        Watcher { max_steps, deadline, show, n_steps: 0, before, choosers: Vec::new() };
    while watcher.n_steps < max_steps {
        cursor.set_state(&initial);
        let n_before = watcher.n_steps;
        let end = play.run(&mut cursor, &mut rng, &mut watcher);
        if matches!(end, PlayEnd::NoLegalMove(_)) || watcher.n_steps == n_before {
            break;
        }
    }
    watcher.n_steps
}

/// Longer games start over, so that a game that seldom ends does not use up all steps: late states
/// of one game have more in common than states of several games.
const MAX_GAME_STEPS: usize = 300;

struct Watcher<'a, F> {
    max_steps: usize,
    deadline: &'a Deadline,
    show: F,
    /// Steps of all games so far.
    n_steps: usize,
    before: BitSet,
    choosers: Vec<RoleId>,
}

impl<C: Cursor, F: FnMut(Step<'_>)> PlayVisitor<C> for Watcher<'_, F> {
    fn before(&mut self, cursor: &mut C, _n_steps: usize, _rng: &mut Rng) -> ControlFlow<()> {
        self.before.copy_from(cursor.fluents().expect("the engine numbers fluents"));
        self.choosers.clear();
        stop_if(self.n_steps >= self.max_steps || self.deadline.reached())
    }

    fn draw(&mut self, cursor: &mut C, role: RoleId, rng: &mut Rng) -> Option<MoveId> {
        let legal = cursor.legal_moves(role);
        if legal.len() > 1 {
            self.choosers.push(role);
        }
        rng.choose(legal).copied()
    }

    fn after(&mut self, cursor: &mut C, _joint: &[MoveId], _rng: &mut Rng) -> ControlFlow<()> {
        self.n_steps += 1;
        let after = cursor.fluents().expect("the engine numbers fluents");
        (self.show)(Step { before: &self.before, after, choosers: &self.choosers });
        ControlFlow::Continue(())
    }
}
