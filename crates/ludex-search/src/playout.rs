//! One game played out on a cursor.

use ludex_base::{MoveId, Rng, RoleId};
use ludex_game::{Cursor, MAX_RANDOM_STEPS};

use crate::clock::Clock;
use crate::mcts::playout::{GameRecord, PlayoutPolicy, Uniform};

/// How a playout ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// On a terminal state.
    Terminal,
    /// At the horizon, before the end.
    Cut,
    /// It was too long, or the rules are broken where it led.
    GivenUp,
    /// The deadline came first.
    Time,
}

/// Who plays, and how far.
pub(crate) struct Playing<'a, 'clock> {
    pub(crate) policy: &'a mut dyn PlayoutPolicy,
    pub(crate) rng: &'a mut Rng,
    pub(crate) clock: &'a mut Clock<'clock>,
    /// Steps after which the game is left; as many as one likes if it should not be.
    pub(crate) horizon: usize,
}

/// Working memory of playouts, and what is known after one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Desk {
    joint: Vec<MoveId>,
    /// What was played; the caller clears it, and what it has already comes first.
    pub(crate) record: GameRecord,
    /// Whether to add to the record.
    pub(crate) writes: bool,
    /// How many moves each role had when it last could choose; kept only if there is a horizon.
    pub(crate) mobility: Vec<u32>,
}

/// Plays from where the cursor stands until the game is over, every role by the policy.
pub(crate) fn play_out<C: Cursor>(
    cursor: &mut C,
    n_roles: usize,
    playing: Playing<'_, '_>,
    desk: &mut Desk,
) -> End {
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

/// The same with every move equally likely, and nothing written down.
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
