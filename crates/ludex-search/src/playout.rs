//! Plays one game to its end on a cursor.

use ludex_base::{MoveId, Rng, RoleId};
use ludex_game::{Cursor, MAX_RANDOM_STEPS};

use crate::clock::Clock;
use crate::mcts::playout::{GameRecord, PlayoutPolicy, Uniform};

/// How a playout ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// In a terminal state.
    Terminal,
    /// At the horizon, before the end of the game.
    Cut,
    /// It was too long, or it reached a fault of the rules.
    GivenUp,
    /// At the deadline.
    Time,
}

/// How a playout chooses moves, and how far it goes.
pub(crate) struct Playing<'a, 'clock> {
    pub(crate) policy: &'a mut dyn PlayoutPolicy,
    pub(crate) rng: &'a mut Rng,
    pub(crate) clock: &'a mut Clock<'clock>,
    /// Steps after which the playout stops; [`MAX_RANDOM_STEPS`] or more for no horizon.
    pub(crate) horizon: usize,
}

/// Working memory of playouts, and the results of the last one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Desk {
    joint: Vec<MoveId>,
    /// The moves played, appended to what the record holds already; the caller clears it.
    pub(crate) record: GameRecord,
    /// Whether to add to the record.
    pub(crate) writes: bool,
    /// How many moves each role had at its last choice; updated only if there is a horizon.
    pub(crate) mobility: Vec<u32>,
}

/// Plays from the state of the cursor to the end of the game, all roles by the policy.
pub(crate) fn play_out<C: Cursor>(
    cursor: &mut C,
    n_roles: usize,
    playing: Playing<'_, '_>,
    desk: &mut Desk,
) -> End {
    cursor.stop_folding();
    let Playing { policy, rng, clock, horizon } = playing;
    let Desk { joint, record, writes, mobility } = desk;
    let is_uniform = policy.is_uniform();
    let wants_fluents = *writes && policy.wants_fluents();
    let has_horizon = horizon < MAX_RANDOM_STEPS;
    mobility.clear();
    mobility.resize(n_roles, 1);
    for n_steps in 0..=MAX_RANDOM_STEPS {
        if cursor.is_terminal() {
            return if cursor.has_fault() { End::GivenUp } else { End::Terminal };
        }
        if n_steps == horizon {
            note_mobility(cursor, mobility);
            return End::Cut;
        }
        if clock.tick() {
            return End::Time;
        }
        if let Some(fluents) = cursor.fluents().filter(|_| wants_fluents) {
            record.add_fluents(fluents.iter().map(|fluent| fluent as u32));
        }
        joint.clear();
        for role in (0..n_roles).map(RoleId::new) {
            let moves = cursor.legal_moves(role);
            let chosen = match moves {
                [] => return End::GivenUp,
                [only] => *only,
                _ if is_uniform => moves[rng.below(moves.len())],
                _ => policy.choose(moves, record, rng),
            };
            joint.push(chosen);
            if *writes {
                record.add_move(chosen, moves.len() > 1);
            }
            if has_horizon && moves.len() > 1 {
                mobility[role.index()] = moves.len() as u32;
            }
        }
        cursor.play(joint);
    }
    End::GivenUp
}

/// Plays as [`play_out`] does, with all moves equally likely and without a record.
pub(crate) fn play_uniform<C: Cursor>(
    cursor: &mut C,
    n_roles: usize,
    rng: &mut Rng,
    clock: &mut Clock<'_>,
    desk: &mut Desk,
) -> End {
    desk.writes = false;
    let playing = Playing { policy: &mut Uniform, rng, clock, horizon: usize::MAX };
    play_out(cursor, n_roles, playing, desk)
}

fn note_mobility<C: Cursor>(cursor: &mut C, mobility: &mut [u32]) {
    for (role_idx, n) in mobility.iter_mut().enumerate() {
        let n_moves = cursor.legal_moves(RoleId::new(role_idx)).len();
        if n_moves > 1 {
            *n = n_moves as u32;
        }
    }
}
