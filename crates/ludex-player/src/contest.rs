//! Which searches play a game best: they play it against each other, with little time a move.
//!
//! How a game is best played is hard to tell from its looks and easy to see. What wins at a few
//! milliseconds a move mostly wins at fifty: see decision 23.

use std::time::{Duration, Instant};

use ludex_base::{MoveId, RoleId};
use ludex_game::Cursor;
use ludex_search::Limits;

use crate::Playable;
use crate::stages::{StageList, Stages};

/// Exchanges of seats with each challenger to find time for, each two games.
const N_EXCHANGES: usize = 8;
/// A turn with less time tells nothing, and with more not much more.
const MIN_TURN: Duration = Duration::from_millis(2);
const MAX_TURN: Duration = Duration::from_millis(200);
/// What is thought of a challenger before the first game: as if it had played so many and got that
/// share of them. It takes four wins of four to take its side, five of six, or ten of sixteen.
const PRIOR_GAMES: f64 = 8.0;
const PRIOR_SHARE: f64 = 0.35;
/// After so many games, one with no more than that share is not tried on.
const N_GAMES_TO_FAIL: f64 = 4.0;
const FAILING_SHARE: f64 = 0.25;

/// Searches with a mind for each seat. They keep from game to game what they learn.
pub(crate) struct Contender<G: Playable> {
    minds: Vec<(RoleId, Stages<G>)>,
    /// What it got as a challenger, 0 to 1 a game.
    gained: f64,
    n_games: f64,
}

impl<G: Playable> Contender<G> {
    pub fn new(game: &G, stages: &StageList) -> Self {
        let is_player = |role: &RoleId| !game.roles()[role.index()].is_random;
        let seats = game.role_ids().filter(is_player);
        let minds = seats.map(|role| (role, Stages::new(game, stages))).collect();
        Self { minds, gained: 0.0, n_games: 0.0 }
    }

    /// Looks at the initial state from each seat, for what is learned of a game once.
    pub fn warm_up(&mut self, limits: &Limits) {
        let n_seats = self.minds.len();
        for (at, (role, mind)) in self.minds.iter_mut().enumerate() {
            let deadline = limits.deadline.part(1.0 / (n_seats - at) as f64);
            mind.warm_up(*role, &Limits { deadline, ..limits.clone() });
        }
    }

    fn mind(&mut self, seat: RoleId) -> &mut Stages<G> {
        let of_seat = self.minds.iter_mut().find(|(role, _)| *role == seat);
        &mut of_seat.expect("every player has a seat").1
    }

    /// The mind of a seat, to go on with.
    pub fn into_mind(self, seat: RoleId) -> Stages<G> {
        let of_seat = self.minds.into_iter().find(|(role, _)| *role == seat);
        of_seat.expect("every player has a seat").1
    }

    /// The share to expect of it.
    fn expected(&self) -> f64 {
        (self.gained + PRIOR_GAMES * PRIOR_SHARE) / (self.n_games + PRIOR_GAMES)
    }

    fn fails(&self) -> bool {
        self.n_games >= N_GAMES_TO_FAIL && self.gained <= FAILING_SHARE * self.n_games
    }
}

/// A game that lasts so many times as long as random ones is given up.
const MAX_STRETCH: f64 = 4.0;

/// Steps after which a game is given up whose random games last that long.
pub(crate) fn max_steps(mean_length: f64) -> usize {
    (MAX_STRETCH * mean_length) as usize + 1
}

/// Challengers play the champion in turn, for games of two roles (and `random`) with opposed goals that
/// last about that many steps. Gives the index of the one that is to be expected to win, if any is.
pub(crate) fn contest<G: Playable>(
    game: &G,
    champion: &mut Contender<G>,
    challengers: &mut [Contender<G>],
    mean_length: f64,
    limits: &Limits,
) -> Option<usize> {
    let seats: Vec<RoleId> = champion.minds.iter().map(|(role, _)| *role).collect();
    assert_eq!(seats.len(), 2, "two players change seats");
    let max_steps = max_steps(mean_length);
    'time: for exchange_idx in 0..N_EXCHANGES {
        let n_open = challengers.iter().filter(|it| !it.fails()).count();
        let n_games = 2 * (N_EXCHANGES - exchange_idx) * n_open;
        let n_turns = n_games as f64 * mean_length.max(1.0);
        let turn =
            limits.deadline.remaining().map_or(MAX_TURN, |left| left.div_f64(n_turns.max(1.0)));
        let turn = turn.clamp(MIN_TURN, MAX_TURN);
        for challenger in challengers.iter_mut().filter(|it| !it.fails()) {
            let mut gained = 0.0;
            for (seat_idx, &seat) in seats.iter().enumerate() {
                let seed = limits.seed.child((2 * exchange_idx + seat_idx) as u64);
                let limits = Limits { seed, ..limits.clone() };
                match play(game, [champion, challenger], seat, turn, max_steps, &limits) {
                    Some(reward) => gained += reward,
                    None if limits.deadline.reached() => break 'time,
                    // A game without an end says nothing.
                    None => gained += 0.5,
                }
            }
            challenger.gained += gained;
            challenger.n_games += seats.len() as f64;
        }
    }
    let expected = |idx: &usize| challengers[*idx].expected();
    let best = (0..challengers.len()).max_by(|a, b| expected(a).total_cmp(&expected(b)));
    best.filter(|idx| expected(idx) > 0.5)
}

/// Plays one game with the second contender in that seat; its reward there. `None` if it has no end or
/// time ran out.
fn play<G: Playable>(
    game: &G,
    contenders: [&mut Contender<G>; 2],
    seat: RoleId,
    turn: Duration,
    max_steps: usize,
    limits: &Limits,
) -> Option<f64> {
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
            let mind = contenders[usize::from(role == seat)].mind(role);
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
    use crate::stages::StageSpec;
    use crate::tests::loaded;

    fn winner(champion: &str, challengers: &[&str], time: Duration) -> Option<usize> {
        let (_, game) = loaded("tictactoe");
        let contender = |name: &&str| {
            let spec = SearchSpec::parse(name).unwrap();
            Contender::new(&game, &vec![StageSpec::last(spec.name, spec.search)])
        };
        let mut challengers: Vec<_> = challengers.iter().map(contender).collect();
        let limits = Limits::until(Deadline::after(time), Seed(1));
        contest(&game, &mut contender(&champion), &mut challengers, 7.0, &limits)
    }

    #[test]
    fn the_strongest_challenger_wins() {
        let time = Duration::from_secs(20);
        assert_eq!(winner("random", &["alphabeta"], time), Some(0));
        assert_eq!(winner("random", &["random", "alphabeta"], time), Some(1));
        assert_eq!(winner("alphabeta", &["random", "flat:c=0"], time), None);
    }

    #[test]
    fn without_time_the_champion_stays() {
        assert_eq!(winner("random", &["alphabeta"], Duration::ZERO), None);
    }
}
