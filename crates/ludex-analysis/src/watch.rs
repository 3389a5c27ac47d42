//! What random games show: fluents that were never true together, and who brings fluents about.

use ludex_base::{BitSet, Deadline, MoveId, RoleId, Seed};
use ludex_game::{Cursor, Game};

/// One step of a random game.
pub struct Step<'a> {
    /// The fluents before.
    pub before: &'a BitSet,
    /// The fluents after.
    pub after: &'a BitSet,
    /// The roles that had a choice.
    pub choosers: &'a [RoleId],
}

/// Plays random games and shows every step, until there were so many or the time is up. Gives the number
/// of steps; 0 too if the engine does not number fluents.
pub fn watch<G: Game>(
    game: &G,
    n_steps: usize,
    seed: Seed,
    deadline: &Deadline,
    mut show: impl FnMut(Step<'_>),
) -> usize {
    let mut cursor = game.cursor();
    let Some(before) = cursor.fluents() else { return 0 };
    let (initial, mut before) = (cursor.state().clone(), before.clone());
    let mut rng = seed.rng();
    let mut joint: Vec<MoveId> = Vec::new();
    let mut choosers: Vec<RoleId> = Vec::new();
    let mut n_seen = 0;
    while n_seen < n_steps {
        cursor.set_state(&initial);
        let n_before = n_seen;
        for _ in 0..MAX_LENGTH {
            if n_seen >= n_steps || deadline.reached() || cursor.is_terminal() {
                break;
            }
            before.copy_from(cursor.fluents().expect("it numbers fluents"));
            joint.clear();
            choosers.clear();
            for role in game.role_ids() {
                let legal = cursor.legal_moves(role);
                if legal.len() > 1 {
                    choosers.push(role);
                }
                let Some(&drawn) = rng.choose(legal) else { return n_seen };
                joint.push(drawn);
            }
            cursor.play(&joint);
            n_seen += 1;
            let after = cursor.fluents().expect("it numbers fluents");
            show(Step { before: &before, after, choosers: &choosers });
        }
        if n_seen == n_before {
            break;
        }
    }
    n_seen
}

/// A game that is longer begins anew.
const MAX_LENGTH: usize = 300;
