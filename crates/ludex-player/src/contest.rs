//! Contests: searches play a game against each other in the start clock, with little time a move.
//!
//! The rules of a game hardly show which search suits it; a few games do. A search that wins at a few
//! milliseconds a move mostly wins at fifty: see decision 23.

use std::time::{Duration, Instant};

use ludex_base::{MoveId, RoleId};
use ludex_game::Cursor;
use ludex_search::SearchLimits;

use crate::Playable;
use crate::stages::{StageList, Stages};

/// Exchanges that the contest plans with each challenger, each of two games.
const N_EXCHANGES: usize = 8;
/// With shorter turns a game says nothing about the searches.
const MIN_TURN: Duration = Duration::from_millis(2);
/// With longer turns it says hardly more.
const MAX_TURN: Duration = Duration::from_millis(200);
/// Games of the prior: before the first game, a challenger is assumed to have played this many with the
/// share below. To be chosen it then has to win four of four, five of six, or ten of sixteen.
const PRIOR_GAMES: f64 = 8.0;
/// A challenger's share of the goals in the games of the prior.
const PRIOR_SHARE: f64 = 0.35;
/// Games after which a challenger can fail.
const N_GAMES_TO_FAIL: f64 = 4.0;
/// A challenger with no more than this share fails and plays no further games.
const FAILING_SHARE: f64 = 0.25;

/// A list of stages with a mind for each seat. The minds keep what they learn from game to game.
pub(crate) struct Contender<G: Playable> {
    minds: Vec<(RoleId, Stages<G>)>,
    /// Sum of its rewards as a challenger, 0 to 1 a game.
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

    /// Searches the initial state from each seat, so that evaluations are learned before the first game.
    pub fn warm_up(&mut self, limits: &SearchLimits) {
        let n_seats = self.minds.len();
        for (seat_idx, (role, mind)) in self.minds.iter_mut().enumerate() {
            let deadline = limits.deadline.part(1.0 / (n_seats - seat_idx) as f64);
            mind.warm_up(*role, &SearchLimits { deadline, ..limits.clone() });
        }
    }

    fn mind(&mut self, seat: RoleId) -> &mut Stages<G> {
        let of_seat = self.minds.iter_mut().find(|(role, _)| *role == seat);
        &mut of_seat.expect("every player has a seat").1
    }

    /// The mind of a seat, for the match itself.
    pub fn into_mind(self, seat: RoleId) -> Stages<G> {
        let of_seat = self.minds.into_iter().find(|(role, _)| *role == seat);
        of_seat.expect("every player has a seat").1
    }

    /// Its expected share.
    fn expected(&self) -> f64 {
        (self.gained + PRIOR_GAMES * PRIOR_SHARE) / (self.n_games + PRIOR_GAMES)
    }

    fn fails(&self) -> bool {
        self.n_games >= N_GAMES_TO_FAIL && self.gained <= FAILING_SHARE * self.n_games
    }
}

/// A game is given up when it lasts this many times as long as random games.
const MAX_STRETCH: f64 = 4.0;

/// Steps after which a game is given up, by the mean length of random games.
pub(crate) fn max_steps(mean_length: f64) -> usize {
    (MAX_STRETCH * mean_length) as usize + 1
}

/// Lets each challenger play the champion, and returns the index of the challenger that is expected to
/// win, if any is.
///
/// For games of two roles (and `random`) with opposite goals. `mean_length` is the mean length of random
/// games.
pub(crate) fn contest<G: Playable>(
    game: &G,
    champion: &mut Contender<G>,
    challengers: &mut [Contender<G>],
    mean_length: f64,
    limits: &SearchLimits,
) -> Option<usize> {
    let seats: Vec<RoleId> = champion.minds.iter().map(|(role, _)| *role).collect();
    assert_eq!(seats.len(), 2, "two players exchange seats");
    let max_steps = max_steps(mean_length);
    'time: for exchange_idx in 0..N_EXCHANGES {
        let n_open = challengers.iter().filter(|challenger| !challenger.fails()).count();
        let n_games = 2 * (N_EXCHANGES - exchange_idx) * n_open;
        let n_turns = n_games as f64 * mean_length.max(1.0);
        let turn =
            limits.deadline.remaining().map_or(MAX_TURN, |left| left.div_f64(n_turns.max(1.0)));
        let turn = turn.clamp(MIN_TURN, MAX_TURN);
        for challenger in challengers.iter_mut().filter(|challenger| !challenger.fails()) {
            let mut gained = 0.0;
            for (seat_idx, &seat) in seats.iter().enumerate() {
                let seed = limits.seed.child((2 * exchange_idx + seat_idx) as u64);
                let limits = SearchLimits { seed, ..limits.clone() };
                match play(game, [champion, challenger], seat, turn, max_steps, &limits) {
                    Some(reward) => gained += reward,
                    None if limits.deadline.reached() => break 'time,
                    // An unfinished game counts half, so it favors neither side.
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

/// Plays one game with the second contender in `seat` and returns its reward. `None` if the game does not
/// end or time runs out.
fn play<G: Playable>(
    game: &G,
    contenders: [&mut Contender<G>; 2],
    seat: RoleId,
    turn: Duration,
    max_steps: usize,
    limits: &SearchLimits,
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
                SearchLimits { deadline, seed: limits.seed.child(step as u64), ..limits.clone() };
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
        let limits = SearchLimits::until(Deadline::after(time), Seed(1));
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
