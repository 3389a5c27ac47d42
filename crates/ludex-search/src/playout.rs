//! One game played out on a cursor.

use ludex_base::{MoveId, Rng, RoleId};
use ludex_game::Cursor;

use crate::clock::Clock;
use crate::mcts::playout::PlayoutPolicy;

/// Longer playouts are given up; good rulesheets end within a few hundred steps.
pub(crate) const MAX_STEPS: usize = 2_000;

/// How a playout ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// On a terminal state.
    Terminal,
    /// It was too long, or the rules are broken where it led.
    GivenUp,
    /// The deadline came first.
    Time,
}

/// Plays from where the cursor stands until the game is over, every role by the policy. What was
/// played is added to `record`, role by role.
pub(crate) fn play_out<C: Cursor>(
    cursor: &mut C,
    n_roles: usize,
    policy: &mut dyn PlayoutPolicy,
    rng: &mut Rng,
    clock: &mut Clock<'_>,
    joint: &mut Vec<MoveId>,
    mut record: Option<&mut Vec<MoveId>>,
) -> End {
    let is_uniform = policy.is_uniform();
    for _ in 0..=MAX_STEPS {
        if cursor.is_terminal() {
            return if cursor.has_fault() { End::GivenUp } else { End::Terminal };
        }
        if clock.tick() {
            return End::Time;
        }
        joint.clear();
        for role in (0..n_roles).map(RoleId::new) {
            let moves = cursor.legal_moves(role);
            joint.push(match moves {
                [] => return End::GivenUp,
                [only] => *only,
                _ if is_uniform => moves[rng.below(moves.len())],
                _ => policy.choose(moves, rng),
            });
        }
        if let Some(record) = record.as_deref_mut() {
            record.extend_from_slice(joint);
        }
        cursor.play(joint);
    }
    End::GivenUp
}
