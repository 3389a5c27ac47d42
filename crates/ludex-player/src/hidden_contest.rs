//! Contests for games with hidden information: searches play the game, each by its role's observations.
//!
//! As in open games (decision 23), a few matches show better than the rules which search suits a game. In a
//! game of one role, all searches play against the same chance; two roles with opposite goals exchange
//! seats. Every seat follows the match by its own moves and percepts alone, so a search is tried with the
//! information that it will have.

use std::time::{Duration, Instant};

use ludex_base::{Deadline, MoveId, Rng, RoleId};
use ludex_game::{Cursor, Observe};
use ludex_search::hyperplay::{HyperPlayOptions, ImperfectPlayOptions};
use ludex_search::information::{Follower, Model, Observation, Patience};
use ludex_search::iss::IssOptions;
use ludex_search::{Hint, SearchLimits};

use crate::Playable;
use crate::certainty::follower;
use crate::contest::max_steps;
use crate::player::{BELIEF_PART, INCONSISTENT_PART};
use crate::stages::{StageList, StageSpec, Stages};
use crate::survey::Survey;

/// The given stages, or another search that plays the game clearly better in the start clock.
pub(crate) fn best_stages<G: Playable>(
    game: &G,
    first: StageList,
    survey: &Survey,
    limits: &SearchLimits,
) -> StageList {
    let hyperplay = StageSpec::last("hyperplay", HyperPlayOptions::DEFAULT);
    let others = match survey.features.n_roles {
        1 => vec![
            hyperplay,
            StageSpec::last("hyperplay-ii", ImperfectPlayOptions::DEFAULT),
            StageSpec::last("iss", IssOptions::DEFAULT),
        ],
        2 if survey.is_constant_sum => vec![hyperplay],
        _ => return first,
    };
    let mut candidates = vec![first];
    candidates.extend(others.into_iter().map(|stage| vec![stage]));
    let limits = SearchLimits {
        deadline: limits.deadline.part(CONTEST_PART),
        hint: Hint::default(),
        // At most two searches play at the same time.
        memory: limits.memory / 2,
        ..limits.clone()
    };
    let best = best_informed(game, &candidates, survey.mean_length, &limits);
    candidates.swap_remove(best)
}

/// The part of the remaining start clock for the contest.
const CONTEST_PART: f64 = 0.8;
/// Rounds that the contest plans; in each, every challenger plays one match, or one in each seat. Few rounds
/// with longer turns say more than many with short ones: see decision 38.
const N_ROUNDS: usize = 6;
/// Rounds before a challenger can be called better or worse.
const MIN_ROUNDS: f64 = 3.0;
/// Rounds after which a challenger can be dropped.
const MIN_ROUNDS_TO_DROP: f64 = 2.0;
/// A challenger whose mean gain is this much below the best one is dropped.
const MAX_BEHIND: f64 = 0.15;
/// With shorter turns a match says nothing about the searches.
const MIN_TURN: Duration = Duration::from_millis(4);
/// With longer turns it says hardly more.
const MAX_TURN: Duration = Duration::from_millis(100);
/// Standard errors by which the mean gain must differ from 0 to be clear.
const MIN_SCORE: f64 = 1.5;
/// Least standard deviation of one round to assume, because a few rounds may show too little of it.
const MIN_DEVIATION: f64 = 0.1;

/// How much better a challenger did than the first candidate, summed over the rounds.
#[derive(Clone, Copy, Debug, Default)]
struct Gain {
    n: f64,
    sum: f64,
    squares: f64,
}

impl Gain {
    fn add(&mut self, difference: f64) {
        self.n += 1.0;
        self.sum += difference;
        self.squares += difference * difference;
    }

    fn mean(&self) -> f64 {
        self.sum / self.n.max(1.0)
    }

    /// The mean, in units of its standard error.
    fn score(&self) -> f64 {
        let variance = self.squares / self.n.max(1.0) - self.mean().powi(2);
        let deviation = variance.max(0.0).sqrt().max(MIN_DEVIATION);
        self.mean() / deviation * self.n.sqrt()
    }

    fn is_better(&self) -> bool {
        self.n >= MIN_ROUNDS && self.score() > MIN_SCORE
    }

    fn lags(&self, most: f64) -> bool {
        self.n >= MIN_ROUNDS_TO_DROP && self.mean() < most - MAX_BEHIND
    }

    fn is_worse(&self) -> bool {
        self.n >= MIN_ROUNDS && self.score() < -MIN_SCORE
    }
}

/// The index of the best candidate: the first, unless another plays clearly better.
///
/// For games of one role, or of two with opposite goals. `mean_length` is the mean length of random games.
pub(crate) fn best_informed<G: Playable>(
    game: &G,
    candidates: &[StageList],
    mean_length: f64,
    limits: &SearchLimits,
) -> usize {
    let is_player = |role: &RoleId| !game.roles()[role.index()].is_random;
    let seats: Vec<RoleId> = game.role_ids().filter(is_player).collect();
    assert!(matches!(seats.len(), 1 | 2), "one role, or two roles that exchange seats");
    let max_steps = max_steps(mean_length);
    let mut gains = vec![Gain::default(); candidates.len()];
    for round in 0..N_ROUNDS {
        let most = gains[1..].iter().map(Gain::mean).fold(f64::NEG_INFINITY, f64::max);
        let is_open = |&idx: &usize| !gains[idx].is_worse() && !gains[idx].lags(most);
        let open: Vec<usize> = (1..candidates.len()).filter(is_open).collect();
        let n_matches = if seats.len() == 1 { open.len() + 1 } else { 2 * open.len() };
        let n_turns = n_matches as f64 * mean_length.max(1.0);
        let left = limits.deadline.remaining().unwrap_or(FOREVER);
        if open.is_empty() || left < MIN_TURN.mul_f64(n_turns) {
            break;
        }
        let n_left = (N_ROUNDS - round) as f64 * n_turns;
        let turn = left.div_f64(n_left).clamp(MIN_TURN, MAX_TURN);
        let limits = SearchLimits { seed: limits.seed.child(round as u64), ..limits.clone() };
        let play = |by_seat: &[(RoleId, &StageList)]| play(game, by_seat, turn, max_steps, &limits);
        let Some(differences) = play_round(&play, &seats, candidates, &open) else { break };
        open.iter().zip(differences).for_each(|(&idx, gained)| gains[idx].add(gained));
    }
    let better = (1..candidates.len()).filter(|&idx| gains[idx].is_better());
    better.max_by(|&a, &b| gains[a].mean().total_cmp(&gains[b].mean())).unwrap_or(0)
}

/// Longer than any clock.
const FOREVER: Duration = Duration::from_secs(1 << 20);

/// How much better each open candidate did than the first in one round; `None` if time ran out.
fn play_round(
    play: &impl Fn(&[(RoleId, &StageList)]) -> Option<Vec<f64>>,
    seats: &[RoleId],
    candidates: &[StageList],
    open: &[usize],
) -> Option<Vec<f64>> {
    match *seats {
        [me] => {
            let reward = |idx: usize| play(&[(me, &candidates[idx])]).map(|rewards| rewards[0]);
            let first = reward(0)?;
            open.iter().map(|&idx| Some(reward(idx)? - first)).collect()
        }
        [a, b] => {
            let gained = |idx: usize| {
                let one = play(&[(a, &candidates[idx]), (b, &candidates[0])])?;
                let other = play(&[(a, &candidates[0]), (b, &candidates[idx])])?;
                Some((one[0] - one[1] + other[1] - other[0]) / 2.0)
            };
            open.iter().map(|&idx| gained(idx)).collect()
        }
        _ => unreachable!("one role, or two roles"),
    }
}

/// A role, its searches and its information.
struct Seat<G: Playable> {
    role: RoleId,
    mind: Stages<G>,
    follower: Follower<G>,
}

/// Plays a match and returns the rewards of the seats; 0.5 for each if the match does not end. `None` if
/// time ran out.
fn play<G: Playable>(
    game: &G,
    by_seat: &[(RoleId, &StageList)],
    turn: Duration,
    max_steps: usize,
    limits: &SearchLimits,
) -> Option<Vec<f64>> {
    let mut seats: Vec<Seat<G>> = (by_seat.iter())
        .map(|&(role, stages)| Seat {
            role,
            mind: Stages::new(game, stages),
            follower: follower(game, role, Model::uniform()),
        })
        .collect();
    let mut cursor = game.cursor();
    // Chance draws from the same seed in all matches of a round, so matches that are alike have equal luck.
    let mut chance = limits.seed.child(u64::MAX).rng();
    let mut rng = limits.seed.child(u64::MAX - 1).rng();
    let mut joint: Vec<MoveId> = Vec::new();
    for step in 0..max_steps {
        if cursor.is_terminal() {
            let reward = |seat: &Seat<G>| f64::from(cursor.goal(seat.role).value()) / 100.0;
            return Some(seats.iter().map(reward).collect());
        }
        joint.clear();
        for role in game.role_ids() {
            let legal = cursor.legal_moves(role).to_vec();
            let chosen = match legal[..] {
                [] => return Some(vec![0.5; seats.len()]),
                [only] => only,
                _ => match seats.iter_mut().find(|seat| seat.role == role) {
                    None => cursor.draw_move(role, &mut chance)?,
                    Some(seat) => {
                        let deadline = limits.deadline.no_later_than(Instant::now() + turn);
                        let seed = limits.seed.child(step as u64);
                        let limits = SearchLimits { deadline, seed, ..limits.clone() };
                        let chosen = seat.choose(&limits);
                        chosen.filter(|id| legal.contains(id)).or(rng.choose(&legal).copied())?
                    }
                },
            };
            joint.push(chosen);
        }
        cursor.play(&joint);
        if limits.deadline.reached() {
            return None;
        }
        for seat in &mut seats {
            let observed = Observation::new(joint[seat.role.index()], cursor.percepts(seat.role));
            seat.follow(observed, turn, &limits.deadline, &mut rng);
        }
    }
    Some(vec![0.5; seats.len()])
}

impl<G: Playable> Seat<G> {
    /// Chooses a move by the information of the seat; `None` if the search finds none.
    fn choose(&mut self, limits: &SearchLimits) -> Option<MoveId> {
        self.mind.think_hidden(&self.follower.information(), limits).report.chosen
    }

    fn follow(&mut self, observed: Observation, turn: Duration, end: &Deadline, rng: &mut Rng) {
        let now = Instant::now();
        let patience = Patience {
            for_many: end.no_later_than(now + turn.mul_f64(BELIEF_PART)),
            for_one: end.no_later_than(now + turn.mul_f64(INCONSISTENT_PART)),
        };
        self.follower.follow(observed, rng, &patience);
    }
}

#[cfg(test)]
mod tests {
    use ludex_base::Seed;
    use ludex_search::SearchSpec;

    use super::*;
    use crate::tests::loaded;

    fn best(game: &str, names: &[&str], length: f64, time: Duration) -> usize {
        let (_, game) = loaded(game);
        let candidate = |name: &&str| {
            let spec = SearchSpec::parse(name).expect("a registered search");
            vec![StageSpec::last(spec.name, spec.search)]
        };
        let candidates: Vec<StageList> = names.iter().map(candidate).collect();
        let limits = SearchLimits::until(Deadline::after(time), Seed(1));
        best_informed(&game, &candidates, length, &limits)
    }

    #[test]
    fn a_search_that_uses_its_observations_wins() {
        let time = Duration::from_secs(20);
        assert_eq!(best("mastermind-small", &["random", "hyperplay"], 4.0, time), 1);
        assert_eq!(best("mastermind-small", &["hyperplay", "random"], 4.0, time), 0);
    }

    #[test]
    fn with_two_roles_the_better_search_wins() {
        let time = Duration::from_secs(20);
        assert_eq!(best("blind-tictactoe", &["random", "random", "ismcts"], 12.0, time), 2);
    }

    #[test]
    fn without_time_the_first_candidate_stays() {
        assert_eq!(best("mastermind-small", &["random", "hyperplay"], 4.0, Duration::ZERO), 0);
    }

    #[test]
    fn one_lucky_round_is_not_enough() {
        let mut gain = Gain::default();
        [1.0, 0.0, 0.0].into_iter().for_each(|gained| gain.add(gained));
        assert!(!gain.is_better() && !gain.is_worse());
        [1.0, 1.0, 0.0, 1.0].into_iter().for_each(|gained| gain.add(gained));
        assert!(gain.is_better());
    }
}
