//! Which of two plans plays a game better: they play it against each other, with little time a move.
//!
//! How a game is best played is hard to tell from its looks and easy to see. What wins at a few
//! milliseconds a move mostly wins at fifty: see decision 23.

use std::time::{Duration, Instant};

use ludex_base::{MoveId, RoleId};
use ludex_game::Cursor;
use ludex_search::Limits;

use crate::Playable;
use crate::stages::{Plan, Stages};

/// Exchanges of seats to find time for, each two games.
const N_EXCHANGES: usize = 3;
/// A turn with less time tells nothing, and with more not much more.
const MIN_TURN: Duration = Duration::from_millis(1);
const MAX_TURN: Duration = Duration::from_millis(200);
/// A game that lasts so many times as long as random ones is given up.
const MAX_STRETCH: f64 = 4.0;

/// The mean reward of the second plan against the first over whole exchanges of seats, for games of two
/// roles (and `random`) with opposed goals that last about that many steps. `None` if there is no time
/// for one.
pub(crate) fn contest<G: Playable>(
    game: &G,
    plans: &[Plan; 2],
    mean_length: f64,
    limits: &Limits,
) -> Option<f64> {
    let is_player = |role: &RoleId| !game.roles()[role.index()].is_random;
    let roles: Vec<RoleId> = game.role_ids().filter(is_player).collect();
    let &[first, second] = roles.as_slice() else { return None };
    let n_turns = 2.0 * N_EXCHANGES as f64 * mean_length.max(1.0);
    let turn = limits.deadline.remaining().map_or(MAX_TURN, |left| left.div_f64(n_turns));
    let turn = turn.clamp(MIN_TURN, MAX_TURN);
    let max_steps = (MAX_STRETCH * mean_length) as usize + 1;
    let (mut sum, mut n) = (0.0, 0);
    for exchange_idx in 0..N_EXCHANGES {
        let mut gained = 0.0;
        for (seat_idx, seat) in [first, second].into_iter().enumerate() {
            let seed = limits.seed.child((2 * exchange_idx + seat_idx) as u64);
            let limits = Limits { seed, ..limits.clone() };
            let reward = play(game, plans, seat, turn, max_steps, &limits);
            match reward {
                Some(reward) => gained += reward / 2.0,
                None => return (n > 0).then(|| sum / f64::from(n)),
            }
        }
        sum += gained;
        n += 1;
    }
    Some(sum / f64::from(n))
}

/// Plays one game with the second plan in that seat; its reward there. `None` if time ran out.
fn play<G: Playable>(
    game: &G,
    plans: &[Plan; 2],
    seat: RoleId,
    turn: Duration,
    max_steps: usize,
    limits: &Limits,
) -> Option<f64> {
    let mut minds = [&plans[0], &plans[1]].map(|plan| Stages::new(game, plan));
    let mut cursor = game.cursor();
    let mut joint: Vec<MoveId> = Vec::new();
    let mut rng = limits.seed.child(u64::MAX).rng();
    for step in 0..max_steps {
        if cursor.is_terminal() {
            return Some(f64::from(cursor.goal(seat).value()) / 100.0);
        }
        joint.clear();
        for role in game.role_ids() {
            let &[first, ref others @ ..] = cursor.legal_moves(role) else { return None };
            if others.is_empty() {
                joint.push(first);
                continue;
            }
            if game.roles()[role.index()].is_random {
                joint.extend(cursor.draw_move(role, &mut rng));
                continue;
            }
            let deadline = limits.deadline.no_later_than(Instant::now() + turn);
            let limits =
                Limits { deadline, seed: limits.seed.child(step as u64), ..limits.clone() };
            let mind = &mut minds[usize::from(role == seat)];
            let found = mind.think(&cursor.state().clone(), role, &limits).report;
            joint.push(found.chosen.unwrap_or(first));
        }
        if limits.deadline.reached() {
            return None;
        }
        cursor.play(&joint);
    }
    None
}

#[cfg(test)]
mod tests {
    use ludex_base::{Deadline, Seed};
    use ludex_search::SearchSpec;

    use super::*;
    use crate::tests::loaded;

    fn plan(name: &str) -> Plan {
        vec![(SearchSpec::parse(name).unwrap(), 1.0)]
    }

    #[test]
    fn the_stronger_plan_gets_more_from_either_seat() {
        let (_, game) = loaded("tictactoe");
        let limits = Limits::until(Deadline::after(Duration::from_secs(20)), Seed(1));
        let share = contest(&game, &[plan("random"), plan("alphabeta")], 7.0, &limits).unwrap();
        assert!(share > 0.6, "{share}");
        let share = contest(&game, &[plan("alphabeta"), plan("random")], 7.0, &limits).unwrap();
        assert!(share < 0.4, "{share}");
    }

    #[test]
    fn without_time_nothing_is_known() {
        let (_, game) = loaded("tictactoe");
        let limits = Limits::until(Deadline::after(Duration::ZERO), Seed(1));
        assert_eq!(contest(&game, &[plan("random"), plan("random")], 7.0, &limits), None);
    }
}
