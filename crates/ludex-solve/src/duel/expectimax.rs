//! Expectimax with Star1 and Star2: games with chance, depth first.
//!
//! The value of a chance move is the mean of its outcomes. Star1 searches an outcome only in the
//! window in which it could still bring the mean into the window of the move: the outcomes before it
//! are known, and those after it lie between the least and the largest goal. Star2 first looks at
//! one move of each outcome, which bounds the outcome on one side and makes the windows smaller.
//!
//! Means are whole units of a billionth of a point, rounded down. A role that the search maximises
//! can reach the value that it finds. The true value is larger by at most one unit for each chance
//! move of a play; the upper bound contains this.
//!
//! Meant for chance and at most two other roles who play for opposite goals, of whom one chooses at
//! a time. The method gives up where play returns to a state of its path.
//!
//! After Ballard, *The \*-minimax search procedure for trees containing chance nodes*, 1983, with a
//! table.

use ludex_base::{Deadline, Goal, RoleId, StopReason};
use ludex_game::{Cursor, Describe, Game, JointMoves, StateOf, count_joint_moves};
use ludex_verify::Value;
use rustc_hash::FxHashSet;

use super::Opposition;
use super::buckets::Buckets;
use super::questions::{MAX_DEPTH, with_stack};
use super::transpositions::{Fingerprint, Sums};
use crate::method::Method;
use crate::portfolio::SolveOptions;
use crate::problem::Problem;
use crate::progress::Progress;

/// The deadline is checked after this many moves.
const N_UNCHECKED: u64 = 256;
/// The largest table, in bytes.
const MAX_TABLE_BYTES: u64 = 2 << 30;
/// States with more joint moves are not expanded.
const MAX_JOINT_MOVES: u64 = 100_000;
/// Units of a point.
const UNITS: i64 = 1_000_000_000;

/// Searches for the value of each role, as far as the limits allow.
///
/// Returns why it stopped before everything was known.
pub(crate) fn search<G: Describe>(
    problem: &Problem<'_, G>,
    options: &SolveOptions,
    progress: &Progress,
) -> Option<StopReason> {
    let roles = problem.game.roles();
    let players: Vec<RoleId> =
        problem.game.role_ids().filter(|role| !roles[role.index()].is_random).collect();
    let opposition = Opposition::of(problem);
    let is_fit = players.len() == 1 || opposition != Opposition::None;
    if !is_fit {
        return Some(StopReason::Count);
    }
    let role = players[0];
    let goals = problem.goals(role);
    let range = (units(goals[0]), units(*goals.last().expect("a role has goals")));
    let solve = || {
        let mut search = Search::of(problem.game, role, players.get(1).copied(), range, options);
        let found = search.root(&problem.state);
        progress.count(0, search.n_nodes);
        let lower = found?;
        // Play may be longer below a state of the table than where it was met first.
        let upper = (lower + 2 * search.deepest as i64).min(range.1);
        let mut bounds = vec![(Value::MIN, Value::MAX); roles.len()];
        bounds[role.index()] = (value(lower), value(upper));
        let sum = opposition.sum().or_else(|| search.sums.only());
        if let (Some(&other), Some(sum)) = (players.get(1), sum) {
            let rest = |units: i64| value((i64::from(sum) * UNITS - units).max(0));
            bounds[other.index()] = (rest(upper), rest(lower));
        }
        progress.prove(Method::Expectimax, &bounds, &[], Vec::new());
        let is_solved = players.len() == 1 || sum.is_some();
        if is_solved { Ok(()) } else { Err(StopReason::Count) }
    };
    with_stack(|| solve().err()).unwrap_or(Some(StopReason::Memory))
}

fn units(goal: Goal) -> i64 {
    i64::from(goal.value()) * UNITS
}

fn value(units: i64) -> Value {
    let text = format!("{}.{:09}", units / UNITS, units % UNITS);
    text.parse().unwrap_or(Value::MAX)
}

/// Bounds on the value of a state.
#[derive(Clone, Copy, Debug)]
struct Entry {
    lower: i64,
    upper: i64,
    /// The place of the move that decided.
    best: u32,
}

/// A state that a joint move leads to.
struct Outcome<S> {
    state: S,
    key: Fingerprint,
    /// Its value if it is terminal.
    end: Option<i64>,
}

/// Who chooses in a state, if anyone but chance does, and the outcomes of each of the moves.
struct Expansion<S> {
    chooser: Option<RoleId>,
    moves: Vec<Vec<Outcome<S>>>,
}

struct Search<'a, G: Game> {
    game: &'a G,
    cursor: G::Cursor,
    role: RoleId,
    rival: Option<RoleId>,
    /// The least and the largest value.
    range: (i64, i64),
    deadline: Deadline,
    table: Buckets<Entry>,
    sums: Sums,
    path: FxHashSet<Fingerprint>,
    deepest: usize,
    max_nodes: u64,
    n_nodes: u64,
    n_moves: u64,
}

impl<'a, G: Game> Search<'a, G> {
    fn of(
        game: &'a G,
        role: RoleId,
        rival: Option<RoleId>,
        range: (i64, i64),
        options: &SolveOptions,
    ) -> Self {
        Self {
            cursor: game.cursor(),
            game,
            role,
            rival,
            range,
            deadline: options.limits.deadline.clone(),
            table: Buckets::within((options.limits.max_bytes / 2).min(MAX_TABLE_BYTES)),
            sums: Sums::default(),
            path: FxHashSet::default(),
            deepest: 0,
            max_nodes: options.max_nodes,
            n_nodes: 0,
            n_moves: 0,
        }
    }

    /// Returns the value of a state.
    fn root(&mut self, state: &StateOf<G>) -> Result<i64, StopReason> {
        self.cursor.set_state(state);
        if self.cursor.is_terminal() {
            return Ok(self.end());
        }
        let window = (self.range.0 - 1, self.range.1 + 1);
        self.state_value(state, Fingerprint::of(state), window, 0)
    }

    /// Returns the value of a state before the end if it lies within the window; otherwise a bound
    /// on the same side of the window.
    fn state_value(
        &mut self,
        state: &StateOf<G>,
        key: Fingerprint,
        (alpha, beta): (i64, i64),
        depth: usize,
    ) -> Result<i64, StopReason> {
        // Step 1. Use what is known.
        let mut known = self.table.find(key).unwrap_or(Entry {
            lower: self.range.0,
            upper: self.range.1,
            best: 0,
        });
        if known.lower >= beta || known.lower == known.upper {
            return Ok(known.lower);
        }
        if known.upper <= alpha {
            return Ok(known.upper);
        }

        // Step 2. Stop at the limits, and where play goes round.
        self.n_nodes += 1;
        let n_before = self.n_nodes;
        self.deepest = self.deepest.max(depth + 1);
        if depth > MAX_DEPTH || self.n_nodes > self.max_nodes || !self.path.insert(key) {
            return Err(StopReason::Count);
        }

        // Step 3. Search the moves, the best one of the table first.
        let expansion = self.expand(state)?;
        let is_max = expansion.chooser == Some(self.role);
        let is_min = expansion.chooser.is_some() && !is_max;
        let mut order: Vec<usize> = (0..expansion.moves.len()).collect();
        order.sort_by_key(|&place| place != known.best as usize);
        let (mut low, mut high) = (alpha, beta);
        let mut best: Option<i64> = None;
        for place in order {
            let found = self.mean(&expansion.moves[place], (low, high), depth)?;
            let is_better =
                best.is_none_or(|best| if is_min { found < best } else { found > best });
            if is_better {
                best = Some(found);
                known.best = place as u32;
            }
            let so_far = best.expect("a move was searched");
            if is_max {
                low = low.max(so_far);
            } else if is_min {
                high = high.min(so_far);
            }
            if low >= high {
                break;
            }
        }
        self.path.remove(&key);

        // Step 4. Remember the value, or the bound.
        let found = best.expect("a state before the end has a move");
        if found > alpha {
            known.lower = known.lower.max(found);
        }
        if found < beta {
            known.upper = known.upper.min(found);
        }
        self.table.store(key, known, self.n_nodes - n_before + 1);
        Ok(found)
    }

    /// Returns the mean of outcomes that are equally likely if it lies within the window; otherwise
    /// a bound on the same side of the window.
    fn mean(
        &mut self,
        outcomes: &[Outcome<StateOf<G>>],
        (alpha, beta): (i64, i64),
        depth: usize,
    ) -> Result<i64, StopReason> {
        if let [outcome] = outcomes {
            return self.outcome_value(outcome, (alpha, beta), depth);
        }
        let n = outcomes.len() as i64;
        // The mean of a sum is at most alpha up to the first number, and at least beta from the
        // second on.
        let (most_low, least_high) = (n * alpha + n - 1, n * beta);
        let mut bounds: Vec<(i64, i64)> = outcomes.iter().map(|it| self.known(it)).collect();
        let mut lower: i64 = bounds.iter().map(|it| it.0).sum();
        let mut upper: i64 = bounds.iter().map(|it| it.1).sum();
        // The first round looks at one move of each outcome, the second searches them.
        for is_probe in [true, false] {
            for (outcome, bounds) in outcomes.iter().zip(&mut bounds) {
                if upper <= most_low {
                    return Ok(upper.div_euclid(n));
                }
                if lower >= least_high {
                    return Ok(lower.div_euclid(n));
                }
                if bounds.0 == bounds.1 {
                    continue;
                }
                // The others contribute at most and at least this much.
                let (most, least) = (upper - bounds.1, lower - bounds.0);
                let window =
                    ((most_low - most).max(bounds.0 - 1), (least_high - least).min(bounds.1 + 1));
                let found = if is_probe {
                    self.probe(outcome, window, depth)?
                } else {
                    let found = self.outcome_value(outcome, window, depth)?;
                    bounds_of(found, window)
                };
                let closer = (bounds.0.max(found.0), bounds.1.min(found.1));
                lower += closer.0 - bounds.0;
                upper += closer.1 - bounds.1;
                *bounds = closer;
            }
        }
        // Either every outcome is known, or the window was left.
        let is_low = upper <= most_low;
        Ok(if is_low { upper } else { lower }.div_euclid(n))
    }

    /// Returns bounds on an outcome that are known without a search.
    fn known(&self, outcome: &Outcome<StateOf<G>>) -> (i64, i64) {
        match (outcome.end, self.table.find(outcome.key)) {
            (Some(end), _) => (end, end),
            (None, Some(entry)) => (entry.lower, entry.upper),
            (None, None) => self.range,
        }
    }

    /// Returns bounds on an outcome from one move of the role that chooses there.
    fn probe(
        &mut self,
        outcome: &Outcome<StateOf<G>>,
        window: (i64, i64),
        depth: usize,
    ) -> Result<(i64, i64), StopReason> {
        if depth + 1 > MAX_DEPTH || !self.path.insert(outcome.key) {
            return Err(StopReason::Count);
        }
        self.n_nodes += 1;
        let expansion = self.expand(&outcome.state)?;
        let mut bounds = self.range;
        if let Some(chooser) = expansion.chooser
            && expansion.moves.len() > 1
        {
            let best = self.table.find(outcome.key).map_or(0, |entry| entry.best as usize);
            let found = self.mean(&expansion.moves[best], window, depth + 1)?;
            let of_move = bounds_of(found, window);
            // The role that chooses can do no worse than with this move.
            if chooser == self.role {
                bounds.0 = bounds.0.max(of_move.0);
            } else {
                bounds.1 = bounds.1.min(of_move.1);
            }
        }
        self.path.remove(&outcome.key);
        Ok(bounds)
    }

    fn outcome_value(
        &mut self,
        outcome: &Outcome<StateOf<G>>,
        window: (i64, i64),
        depth: usize,
    ) -> Result<i64, StopReason> {
        match outcome.end {
            Some(end) => Ok(end),
            None => self.state_value(&outcome.state, outcome.key, window, depth + 1),
        }
    }

    /// Returns the moves of a state and their outcomes.
    fn expand(&mut self, state: &StateOf<G>) -> Result<Expansion<StateOf<G>>, StopReason> {
        self.cursor.set_state(state);
        let n_roles = self.game.roles().len();
        match count_joint_moves(&mut self.cursor, n_roles) {
            Some(0) => return Err(StopReason::Fault),
            Some(n_joints) if n_joints <= MAX_JOINT_MOVES => {}
            _ => return Err(StopReason::Count),
        }
        let mut joints = JointMoves::of(&mut self.cursor, n_roles);
        let sizes: Vec<usize> = joints.sizes().collect();
        let is_player = |role: &RoleId| !self.game.roles()[role.index()].is_random;
        let mut choosers =
            self.game.role_ids().filter(is_player).filter(|it| sizes[it.index()] > 1);
        let (chooser, None) = (choosers.next(), choosers.next()) else {
            return Err(StopReason::Count);
        };
        let first = chooser.map(|chooser| self.cursor.legal_moves(chooser).to_vec());
        let mut moves: Vec<Vec<Outcome<StateOf<G>>>> = Vec::new();
        moves.resize_with(first.as_ref().map_or(1, Vec::len), Vec::new);
        while let Some(joint) = joints.next_joint() {
            self.cursor.set_state(state);
            self.cursor.play(joint);
            self.n_moves += 1;
            if self.n_moves.is_multiple_of(N_UNCHECKED)
                && let Some(stop) = self.deadline.stop_reason()
            {
                return Err(stop);
            }
            let place = match (&first, chooser) {
                (Some(all), Some(chooser)) => {
                    let is_played = |&id: &ludex_base::MoveId| id == joint[chooser.index()];
                    all.iter().position(is_played).expect("a joint move has legal moves")
                }
                _ => 0,
            };
            let end = self.cursor.is_terminal().then(|| self.end());
            if self.cursor.has_fault() {
                return Err(StopReason::Fault);
            }
            let key = Fingerprint::of(self.cursor.state());
            moves[place].push(Outcome { state: self.cursor.state().clone(), key, end });
        }
        Ok(Expansion { chooser, moves })
    }

    /// Returns the value of the cursor's state, which is terminal.
    fn end(&mut self) -> i64 {
        let own = self.cursor.goal(self.role);
        if let Some(rival) = self.rival {
            self.sums.note(own, self.cursor.goal(rival));
        }
        units(own)
    }
}

/// Returns what a search in a window says about a value.
fn bounds_of(found: i64, (alpha, beta): (i64, i64)) -> (i64, i64) {
    (if found > alpha { found } else { i64::MIN }, if found < beta { found } else { i64::MAX })
}
