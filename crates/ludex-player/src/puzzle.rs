//! Puzzles: one role, no chance, everything known. A line that was found once can be played to its end.
//!
//! Three searches take turns, and the best line of any is kept from move to move.
//!
//! - Breadth first, each state once: exact where the states fit into the time, and the shortest way.
//! - Random playouts side by side: millions a second find what is rare but not far.
//! - Nested rollout policy adaptation: playouts that lean towards the best line found so far, at several
//!   levels. After Rosin, *Nested Rollout Policy Adaptation for Monte Carlo Tree Search*, 2011. We adapt
//!   to a line of the lowest goal too, leaning towards long lines and towards short ones in turn:
//!   where every goal is 0 until the end, length is all there is to learn from. Many sheets give a
//!   state that can still be saved a goal above 0 before the end; of long lines, those are better that
//!   stay in such states longer.

use ludex_base::{Deadline, Goal, MoveId, Rng, RoleId, StopReason};
use ludex_game::{Cursor, PlayoutRequest, PlayoutResults, PlayoutRunner, Playouts, StateOf};
use ludex_search::{Limits, MoveReport, SearchReport, heap_bytes_of};
use rustc_hash::FxHashMap;

use crate::Playable;
use crate::mind::part_of;

/// Searches one puzzle and remembers the best line.
pub(crate) struct PuzzleSearch<G: Playable> {
    cursor: G::Cursor,
    runner: <G as Playouts>::Runner,
    best: Option<Line<StateOf<G>>>,
    /// Whether the next run of playouts leans towards long lines.
    wants_long: bool,
    n_playouts: u64,
    n_states: u64,
}

/// A way from a state to the end.
struct Line<S> {
    /// The states on the way, each with the move that is played there.
    steps: Vec<(S, MoveId)>,
    goal: Goal,
    /// Whether there is no better one.
    is_proven: bool,
}

/// Playouts of a level of the nested search, and how many levels there are.
const N_PER_LEVEL: usize = 60;
const N_LEVELS: usize = 3;
/// A playout longer than this is cut off.
const MAX_STEPS: usize = 1_000;
/// The part of the time that goes to the states in breadth.
const BREADTH_PART: f64 = 0.4;
/// The part of what is left then that goes to playouts side by side, and how many are played at once:
/// without their moves, as long as any goal above 0 is news, and with them.
const SAMPLING_PART: f64 = 0.4;
const N_AT_ONCE: usize = 1 << 14;
const N_AT_ONCE_WITH_MOVES: usize = 1 << 10;
/// Bytes that a state takes in the search in breadth, where it is kept twice: in the order of visits
/// and, with half of the slots empty at times, in a table.
fn bytes_per_state<S: std::hash::Hash>(state: &S) -> usize {
    2 * heap_bytes_of(state) + 4 * size_of::<(S, u32, MoveId)>()
}

impl<G: Playable> PuzzleSearch<G> {
    pub fn new(game: &G) -> Self {
        let (cursor, runner) = (game.cursor(), game.runner());
        Self { cursor, runner, best: None, wants_long: true, n_playouts: 0, n_states: 0 }
    }

    /// Finds a line from a state, or goes on with the one it has.
    pub fn search(&mut self, state: &StateOf<G>, role: RoleId, limits: &Limits) -> SearchReport {
        (self.n_playouts, self.n_states) = (0, 0);
        self.follow(state);
        self.note(limits);
        if !self.is_settled() {
            let deadline = part_of(&limits.deadline, BREADTH_PART);
            let max_states = limits.memory / bytes_per_state(state);
            let max_states = limits.iterations.map_or(max_states, |n| max_states.min(n as usize));
            self.search_breadth(state, role, max_states, &deadline);
        }
        let mut rng = limits.seed.rng();
        let max_playouts = limits.iterations.unwrap_or(u64::MAX);
        if !self.is_settled() {
            let deadline = part_of(&limits.deadline, SAMPLING_PART);
            let run =
                Run { role, rng: &mut rng, deadline: &deadline, max_playouts: max_playouts / 2 };
            self.sample(state, run);
            self.note(limits);
        }
        while !self.is_settled() && !limits.deadline.reached() && self.n_playouts < max_playouts {
            let mut run = Run { role, rng: &mut rng, deadline: &limits.deadline, max_playouts };
            let found = self.nested(N_LEVELS, &FxHashMap::default(), state, &mut run);
            self.wants_long = !self.wants_long;
            if let Some(found) = found {
                self.keep(state, &found);
                self.note(limits);
            }
        }
        self.report(state, role)
    }

    /// Notes the first move of the best line for those who can't wait.
    fn note(&self, limits: &Limits) {
        if let Some((_, chosen)) = self.best.as_ref().and_then(|line| line.steps.first()) {
            limits.hint.set(*chosen);
        }
    }

    /// Whether there is nothing more to find.
    fn is_settled(&self) -> bool {
        self.best.as_ref().is_some_and(|line| line.is_proven || line.goal == Goal::MAX)
    }

    /// Keeps what is left of the line, if it leads through this state.
    fn follow(&mut self, state: &StateOf<G>) {
        let Some(line) = &mut self.best else { return };
        match line.steps.iter().position(|(there, _)| there == state) {
            Some(n_done) => drop(line.steps.drain(..n_done)),
            None => self.best = None,
        }
    }

    /// Visits states in the order of their distance until the best goal is found or nothing is left.
    fn search_breadth(
        &mut self,
        from: &StateOf<G>,
        role: RoleId,
        max_states: usize,
        deadline: &Deadline,
    ) {
        let mut places: FxHashMap<StateOf<G>, u32> = FxHashMap::default();
        let mut states: Vec<(StateOf<G>, u32, MoveId)> = Vec::new();
        let mut best: Option<(Goal, u32)> = None;
        let mut is_whole = true;
        places.insert(from.clone(), 0);
        states.push((from.clone(), 0, MoveId::new(0)));
        let mut next = 0;
        'visit: while next < states.len() {
            self.cursor.set_state(&states[next].0);
            if self.cursor.is_terminal() {
                let goal = self.cursor.goal(role);
                if !self.cursor.has_fault() && best.is_none_or(|(known, _)| goal > known) {
                    best = Some((goal, next as u32));
                }
                if goal == Goal::MAX {
                    break;
                }
            } else {
                let legal = self.cursor.legal_moves(role).to_vec();
                for chosen in legal {
                    if states.len() >= max_states || deadline.reached() {
                        is_whole = false;
                        break 'visit;
                    }
                    self.cursor.set_state(&states[next].0);
                    self.cursor.play(&[chosen]);
                    let place = states.len() as u32;
                    let state = self.cursor.state().clone();
                    if let std::collections::hash_map::Entry::Vacant(entry) =
                        places.entry(state.clone())
                    {
                        entry.insert(place);
                        states.push((state, next as u32, chosen));
                    }
                }
            }
            next += 1;
        }
        self.n_states += states.len() as u64;
        if let Some((goal, place)) = best {
            let mut moves = Vec::new();
            let mut place = place as usize;
            while place != 0 {
                moves.push(states[place].2);
                place = states[place].1 as usize;
            }
            moves.reverse();
            self.keep(from, &Found { goal, moves, is_proven: is_whole, ..Found::default() });
        }
    }

    /// Plays at random, many games side by side.
    fn sample(&mut self, from: &StateOf<G>, run: Run<'_>) {
        while !self.is_settled() && !run.deadline.reached() && self.n_playouts < run.max_playouts {
            let known = self.best.as_ref().map_or(Goal::MIN, |line| line.goal);
            let is_first = known == Goal::MIN;
            let at_once = if is_first { N_AT_ONCE } else { N_AT_ONCE_WITH_MOVES };
            let most = (run.max_playouts - self.n_playouts).min(at_once as u64) as usize;
            let never = Deadline::never();
            let mut request = PlayoutRequest {
                starts: std::slice::from_ref(from),
                n_per_start: most,
                max_steps: MAX_STEPS,
                wants_moves: !is_first,
                deadline: run.deadline,
            };
            let mut again = run.rng.clone();
            let mut results = PlayoutResults::default();
            self.runner.run(&request, run.rng, &mut results);
            let total = results.total();
            self.n_playouts += total.n_playouts + results.n_given_up;
            if total.n_playouts == 0 {
                break;
            }
            if is_first && total.goal_sums[run.role.index()] > 0 {
                // The same games once more, to see what was played in them.
                (request.wants_moves, request.deadline) = (true, &never);
                results = PlayoutResults::default();
                self.runner.run(&request, &mut again, &mut results);
            }
            let me = run.role.index();
            let best = results.games.into_iter().max_by_key(|game| game.goals[me]);
            if let Some(game) = best
                && let Some(goal) = Goal::new(game.goals[me].into())
                && (goal > known || self.best.is_none())
            {
                let found = Found { goal, moves: game.moves, ..Found::default() };
                self.keep(from, &found);
            }
        }
    }

    /// The best of many playouts whose policy leans towards the best of them.
    fn nested(
        &mut self,
        level: usize,
        policy: &Policy,
        from: &StateOf<G>,
        run: &mut Run<'_>,
    ) -> Option<Found> {
        if level == 0 {
            return self.play_out(policy, from, run);
        }
        let mut policy = policy.clone();
        let mut best: Option<Found> = None;
        for _ in 0..N_PER_LEVEL {
            let found = self.nested(level - 1, &policy, from, run);
            if let Some(found) = found {
                let is_better =
                    best.as_ref().is_none_or(|best| self.rank(&found) >= self.rank(best));
                if is_better {
                    best = Some(found);
                }
            }
            if run.deadline.reached() || self.n_playouts >= run.max_playouts {
                break;
            }
            match &best {
                Some(best) if best.goal == Goal::MAX => break,
                Some(best) => adapt(&mut policy, best),
                None => {}
            }
        }
        best
    }

    /// What makes a line the better one: its goal, then how long it could be saved, then its length.
    fn rank(&self, found: &Found) -> (Goal, usize, usize) {
        let length = found.moves.len();
        match self.wants_long {
            true => (found.goal, found.n_good, length),
            false => (found.goal, 0, MAX_STEPS - length),
        }
    }

    fn play_out(&mut self, policy: &Policy, from: &StateOf<G>, run: &mut Run<'_>) -> Option<Found> {
        let mut found = Found::default();
        let mut is_good = true;
        self.cursor.set_state(from);
        self.n_playouts += 1;
        for n_steps in 0..MAX_STEPS {
            if self.cursor.is_terminal() {
                found.goal = self.cursor.goal(run.role);
                return (!self.cursor.has_fault()).then_some(found);
            }
            if n_steps % 16 == 15 && run.deadline.reached() {
                return None;
            }
            is_good = is_good && self.cursor.goal(run.role) > Goal::MIN;
            found.n_good += usize::from(is_good);
            let legal = self.cursor.legal_moves(run.role).to_vec();
            let chosen = draw(policy, &legal, run.rng)?;
            found.moves.push(chosen);
            found.choices.push(legal);
            self.cursor.play(&[chosen]);
        }
        None
    }

    /// Keeps a line if it is better than the one there is.
    fn keep(&mut self, from: &StateOf<G>, found: &Found) {
        let is_better = self.best.as_ref().is_none_or(|best| found.goal > best.goal);
        if !is_better {
            if let Some(best) = &mut self.best {
                best.is_proven |= found.is_proven;
            }
            return;
        }
        self.cursor.set_state(from);
        let mut steps = Vec::with_capacity(found.moves.len());
        for &chosen in &found.moves {
            steps.push((self.cursor.state().clone(), chosen));
            self.cursor.play(&[chosen]);
        }
        self.best = Some(Line { steps, goal: found.goal, is_proven: found.is_proven });
    }

    fn report(&mut self, state: &StateOf<G>, role: RoleId) -> SearchReport {
        self.cursor.set_state(state);
        let legal = self.cursor.legal_moves(role).to_vec();
        let mut report = SearchReport::unsearched(&legal);
        report.n_playouts = self.n_playouts;
        report.n_iterations = self.n_playouts + self.n_states;
        report.stopped = Some(StopReason::Time);
        let Some((line, &(_, chosen))) =
            self.best.as_ref().and_then(|line| Some((line, line.steps.first()?)))
        else {
            return report;
        };
        let reward = f64::from(line.goal.value()) / 100.0;
        report.chosen = Some(chosen);
        report.reward = Some(reward);
        report.is_proven = line.is_proven || line.goal == Goal::MAX;
        report.stopped = (!report.is_proven).then_some(StopReason::Time);
        report.depth = line.steps.len() as u32;
        report.line = line.steps.iter().map(|&(_, chosen)| vec![chosen]).collect();
        for found in &mut report.moves {
            if found.id == chosen {
                let proven = report.is_proven.then_some(reward);
                *found = MoveReport { n_visits: 1, mean_reward: Some(reward), proven, ..*found };
            }
        }
        report
    }
}

/// What a nested search needs on its way down.
struct Run<'a> {
    role: RoleId,
    rng: &'a mut Rng,
    deadline: &'a Deadline,
    max_playouts: u64,
}

/// A line that was played, with what could have been played instead.
struct Found {
    goal: Goal,
    moves: Vec<MoveId>,
    choices: Vec<Vec<MoveId>>,
    /// States from the first on in which the goal was above 0, though the game went on.
    n_good: usize,
    is_proven: bool,
}

impl Default for Found {
    fn default() -> Self {
        let (moves, choices) = (Vec::new(), Vec::new());
        Self { goal: Goal::MIN, moves, choices, n_good: 0, is_proven: false }
    }
}

/// The weight of each move in the exponent; 0 where nothing is written.
type Policy = FxHashMap<MoveId, f64>;

fn weight(policy: &Policy, id: MoveId) -> f64 {
    policy.get(&id).copied().unwrap_or(0.0)
}

/// Draws a move by the softmax of the weights.
fn draw(policy: &Policy, legal: &[MoveId], rng: &mut Rng) -> Option<MoveId> {
    if policy.is_empty() {
        return rng.choose(legal).copied();
    }
    let most = legal.iter().map(|&id| weight(policy, id)).fold(f64::NEG_INFINITY, f64::max);
    let exponents: Vec<f64> = legal.iter().map(|&id| (weight(policy, id) - most).exp()).collect();
    (!legal.is_empty()).then(|| legal[rng.weighted(&exponents)])
}

/// Moves the policy towards a line by one step of its gradient.
fn adapt(policy: &mut Policy, best: &Found) {
    let before = policy.clone();
    for (&chosen, legal) in best.moves.iter().zip(&best.choices) {
        let most = legal.iter().map(|&id| weight(&before, id)).fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = legal.iter().map(|&id| (weight(&before, id) - most).exp()).sum();
        for &id in legal {
            *policy.entry(id).or_insert(0.0) -= (weight(&before, id) - most).exp() / sum;
        }
        *policy.entry(chosen).or_insert(0.0) += 1.0;
    }
}

#[cfg(test)]
mod tests {
    use ludex_base::Seed;

    use super::*;
    use crate::tests::loaded;

    #[test]
    fn what_is_played_again_with_its_moves_is_the_same() {
        for name in ["lights-on", "n-queens", "knights-tour"] {
            let (_, game) = loaded(name);
            let mut search = PuzzleSearch::new(&game);
            let state = search.cursor.state().clone();
            let role = RoleId::new(0);
            let never = Deadline::never();
            let mut run = |wants_moves| {
                let mut results = PlayoutResults::default();
                let request = PlayoutRequest {
                    starts: std::slice::from_ref(&state),
                    n_per_start: 5_000,
                    max_steps: MAX_STEPS,
                    wants_moves,
                    deadline: &never,
                };
                search.runner.run(&request, &mut Seed(1).rng(), &mut results);
                results
            };
            let (without, with) = (run(false).total(), run(true));
            assert_eq!(without.goal_sums, with.total().goal_sums, "{name}");
            assert_eq!(with.games.len() as u64, without.n_playouts, "{name}");
            // A line that is kept leads to the goal that it was kept for.
            let mut rng = Seed(1).rng();
            search.sample(
                &state,
                Run { role, rng: &mut rng, deadline: &never, max_playouts: 50_000 },
            );
            let line = search.best.as_ref().unwrap_or_else(|| panic!("{name} has games that end"));
            let most = with.games.iter().map(|game| game.goals[0]).max();
            assert!(Some(line.goal.value()) >= most, "{name}: {:?}", line.goal);
            let (last, chosen) = line.steps.last().expect("it has steps");
            search.cursor.set_state(last);
            search.cursor.play(&[*chosen]);
            assert!(search.cursor.is_terminal(), "{name}");
            assert_eq!(search.cursor.goal(role), line.goal, "{name}");
        }
    }
}
