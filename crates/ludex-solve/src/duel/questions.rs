//! Questions to a solver, one after the other: can a role force at least some goal?
//!
//! First comes the question for the largest goal, then whether the role can force anything, then
//! the middle of what is left. Every answer narrows the bounds, so a stop leaves an interval that
//! contains the value.
//!
//! An answer about one role is also one about the other if their goals have the same sum wherever
//! the proof ends: the rules show it, or all terminal states that the solver met. Otherwise the
//! strategies are followed to their ends, which bounds the goal of the other role too.

use std::hash::Hash;

use ludex_base::{Goal, MoveId, RoleId, StopReason};
use ludex_game::{Cursor, Describe, Game, StateOf};
use ludex_verify::{Claim, Proof, Value};
use rustc_hash::FxHashMap;

use super::proof::{Side, followers, lines_of};
use super::{Opposition, rest_of};
use crate::method::Method;
use crate::portfolio::SolveOptions;
use crate::problem::Problem;
use crate::progress::Progress;

/// A strategy with more states in which it chooses is not followed.
const MAX_LINES: usize = 5_000_000;

/// Answers questions about what one role can force.
pub(crate) trait Oracle<S> {
    /// Returns whether the role can force at least `goal` from a state. `Ok(None)` means that it
    /// cannot, but only because play could go on for ever.
    fn ask(&mut self, state: &S, goal: Goal) -> Result<Option<bool>, StopReason>;

    /// Returns the place of the move that decided a state, if it is known.
    fn best(&self, state: &S) -> Option<usize>;

    /// Returns the sum of the goals of both roles, if it was the same in all terminal states that the
    /// answers rest on.
    fn sum(&self) -> Option<u8>;

    /// Returns how many nodes were searched since the last call.
    fn take_nodes(&mut self) -> u64;
}

/// What is to be asked.
pub(crate) struct Questions<'a, G: Game> {
    pub(crate) method: Method,
    pub(crate) game: &'a G,
    pub(crate) start: &'a StateOf<G>,
    pub(crate) options: &'a SolveOptions,
    /// The goals that each role may get, ascending.
    goals: Vec<Vec<Goal>>,
    opposition: Opposition,
}

impl<'a, G: Describe> Questions<'a, G> {
    /// Prepares the questions about a problem; `None` if there are not two roles who play for
    /// opposite goals.
    pub(crate) fn of(
        method: Method,
        problem: &'a Problem<'_, G>,
        options: &'a SolveOptions,
    ) -> Option<Self> {
        let opposition = Opposition::of(problem);
        if opposition == Opposition::None {
            return None;
        }
        let goals = problem.game.role_ids().map(|role| problem.goals(role)).collect();
        let (game, start) = (problem.game, &problem.state);
        Some(Self { method, game, start, options, goals, opposition })
    }

    /// Asks for the value of each role, and reports every answer.
    pub(crate) fn ask_all<O: Oracle<StateOf<G>>>(
        &self,
        progress: &Progress,
        mut oracle: impl FnMut(RoleId) -> O,
    ) -> Result<(), StopReason> {
        let wants_proofs = self.options.wants_proofs;
        let mut proofs = Vec::new();
        let mut stopped = None;
        for role in self.game.role_ids() {
            let mut oracle = oracle(role);
            let answers = self.ask_for(role, &mut oracle, progress)?;
            if answers.lower < answers.upper {
                // The other role may be able to force an end.
                stopped = Some(StopReason::Count);
                continue;
            }
            let value = answers.lower;
            let mut bounds = self.bounds(role, &oracle, answers);
            if bounds[1 - role.index()].0 < bounds[1 - role.index()].1 || wants_proofs {
                let walked = self.strategies(&mut oracle, role, value);
                if let Some((least, most)) = walked {
                    // Each strategy also bounds the other role, by the ends that it leads to.
                    let other = (most.other.0, least.other.1);
                    bounds[1 - role.index()] = (other.0.into(), other.1.into());
                    if wants_proofs {
                        proofs.extend(self.proofs(role, value, other, least.lines, most.lines));
                    }
                }
            }
            progress.count(0, oracle.take_nodes());
            progress.prove(self.method, &bounds, &[], proofs.clone());
            if bounds.iter().all(|(lower, upper)| lower == upper) {
                return Ok(());
            }
        }
        stopped.map_or(Ok(()), Err)
    }

    /// Returns what a certificate says.
    fn proofs(
        &self,
        role: RoleId,
        value: Goal,
        other: (Goal, Goal),
        least: Vec<String>,
        most: Vec<String>,
    ) -> Vec<Proof> {
        let name = |role: usize| self.game.roles()[role].name.clone();
        let (own, rival) = (name(role.index()), name(1 - role.index()));
        let claims = [
            Claim::AtLeast(own.clone(), value.into()),
            Claim::AtMost(own, value.into()),
            Claim::AtLeast(rival.clone(), other.0.into()),
            Claim::AtMost(rival, other.1.into()),
        ];
        let evidence = [least.clone(), most.clone(), most, least];
        claims
            .into_iter()
            .zip(evidence)
            .map(|(claim, evidence)| Proof { claim, evidence })
            .collect()
    }

    /// Returns bounds on the value of a role. They differ only if play could go on for ever.
    fn ask_for(
        &self,
        role: RoleId,
        oracle: &mut impl Oracle<StateOf<G>>,
        progress: &Progress,
    ) -> Result<Answers, StopReason> {
        let goals = &self.goals[role.index()];
        let mut answers = Answers {
            lower: goals[0],
            upper: goals[goals.len() - 1],
            has_lower: false,
            has_upper: false,
        };
        // Goals from this one on are not asked for: play could go on for ever.
        let mut endless = None;
        let mut n_asked = 0;
        loop {
            let is_left = |goal: &Goal| {
                let is_open = *goal > answers.lower && *goal <= answers.upper;
                is_open && endless.is_none_or(|endless| *goal < endless)
            };
            let left: Vec<Goal> = goals.iter().copied().filter(is_left).collect();
            let asked = match n_asked {
                _ if left.is_empty() => return Ok(answers),
                0 => left[left.len() - 1],
                1 => left[0],
                _ => left[left.len() / 2],
            };
            n_asked += 1;
            let answer = oracle.ask(self.start, asked);
            progress.count(0, oracle.take_nodes());
            match answer? {
                Some(true) => (answers.lower, answers.has_lower) = (asked, true),
                Some(false) => {
                    let below = goals.iter().copied().filter(|&goal| goal < asked).max();
                    (answers.upper, answers.has_upper) = (below.unwrap_or(answers.lower), true);
                }
                None => endless = Some(asked),
            }
            // The value itself is reported together with its proof.
            if answers.lower < answers.upper {
                let bounds = self.bounds(role, oracle, answers);
                progress.prove(self.method, &bounds, &[], Vec::new());
            }
        }
    }

    /// Returns the bounds of both roles that follow from the answers about one.
    fn bounds(
        &self,
        role: RoleId,
        oracle: &impl Oracle<StateOf<G>>,
        answers: Answers,
    ) -> Vec<(Value, Value)> {
        let Answers { lower, upper, has_lower, has_upper } = answers;
        let rival = 1 - role.index();
        let most = *self.goals[rival].last().expect("a role has goals");
        let other = match (self.opposition.sum(), oracle.sum()) {
            (Some(sum), _) => (rest_of(sum, upper), rest_of(sum, lower)),
            // The sum is known only where the proofs of the answers end.
            (None, Some(sum)) => (
                if has_upper { rest_of(sum, upper) } else { Goal::MIN },
                if has_lower { rest_of(sum, lower).min(most) } else { most },
            ),
            (None, None) => (Goal::MIN, most),
        };
        let mut bounds = vec![(Value::MIN, Value::MAX); 2];
        bounds[role.index()] = (lower.into(), upper.into());
        bounds[rival] = (other.0.into(), other.1.into());
        bounds
    }

    /// Follows a strategy that gives the role its value, and one that holds it to that; `None` if
    /// that is too much.
    fn strategies(
        &self,
        oracle: &mut impl Oracle<StateOf<G>>,
        role: RoleId,
        value: Goal,
    ) -> Option<(Walked, Walked)> {
        let least = self.follow(oracle, role, value, Side::Own)?;
        Some((least, self.follow(oracle, role, value, Side::Others)?))
    }

    /// Follows a strategy that gives the role at least `value`, or at most if the others follow it.
    fn follow(
        &self,
        oracle: &mut impl Oracle<StateOf<G>>,
        role: RoleId,
        value: Goal,
        side: Side,
    ) -> Option<Walked> {
        let rival = RoleId::new(1 - role.index());
        let mut walked = Walked { lines: Vec::new(), other: (Goal::MAX, Goal::MIN) };
        let mut n_followed = 0;
        // The goal that the strategy must reach, or must keep the role from.
        let goal = match side {
            Side::Own => value,
            Side::Others => Goal::new(u32::from(value.value()) + 1).unwrap_or(Goal::MAX),
        };
        let wanted = side == Side::Own;
        let is_free = side == Side::Others && value == Goal::MAX;
        let followers = followers(self.game, role, side);
        let (mut cursor, mut describing) = (self.game.cursor(), self.game.cursor());
        let mut steps = Steps::from(self.start);
        while let Some((number, state)) = steps.next() {
            if n_followed > MAX_LINES || self.options.limits.deadline.reached() {
                return None;
            }
            cursor.set_state(&state);
            if cursor.is_terminal() {
                let goal = cursor.goal(rival);
                walked.other = (walked.other.0.min(goal), walked.other.1.max(goal));
                continue;
            }
            let (chooser, moves, mut joint) = choices(self.game, &mut cursor).ok()?;
            let is_followed = followers.contains(&chooser) && moves.len() > 1;
            let best = oracle.best(&state);
            let mut places: Vec<usize> = (0..moves.len()).collect();
            places.sort_by_key(|&place| Some(place) != best);
            let mut chosen = None;
            for place in places {
                cursor.set_state(&state);
                joint[chooser.index()] = moves[place];
                cursor.play(&joint);
                let child = cursor.state().clone();
                if is_followed && !is_free && oracle.ask(&child, goal).ok()? != Some(wanted) {
                    continue;
                }
                steps.add(number, child);
                if is_followed {
                    chosen = Some(place);
                    break;
                }
            }
            if is_followed {
                n_followed += 1;
                let mixed = vec![(chosen?, 1)];
                if self.options.wants_proofs {
                    let lines = lines_of(self.game, &mut describing, &state, &followers, &mixed);
                    walked.lines.extend(lines);
                }
            }
        }
        steps.always_end().then_some(walked)
    }
}

/// What the answers say about a role.
#[derive(Clone, Copy)]
struct Answers {
    lower: Goal,
    upper: Goal,
    /// Whether a bound is that of an answer, and not just of the goals that there are.
    has_lower: bool,
    has_upper: bool,
}

/// A strategy that was followed to all its ends.
struct Walked {
    /// The lines of a certificate, if they are wanted.
    lines: Vec<String>,
    /// The least and the most that the other role gets.
    other: (Goal, Goal),
}

/// The states that a strategy reaches, and the steps between them.
struct Steps<S> {
    numbers: FxHashMap<S, u32>,
    open: Vec<(u32, S)>,
    edges: Vec<(u32, u32)>,
}

impl<S: Clone + Eq + Hash> Steps<S> {
    fn from(start: &S) -> Self {
        let numbers = FxHashMap::from_iter([(start.clone(), 0)]);
        Self { numbers, open: vec![(0, start.clone())], edges: Vec::new() }
    }

    fn next(&mut self) -> Option<(u32, S)> {
        self.open.pop()
    }

    fn add(&mut self, before: u32, state: S) {
        let n_states = self.numbers.len() as u32;
        let number = *self.numbers.entry(state).or_insert_with_key(|state| {
            self.open.push((n_states, state.clone()));
            n_states
        });
        self.edges.push((before, number));
    }

    /// Returns whether no play returns to a state.
    fn always_end(&self) -> bool {
        let mut n_before = vec![0_u32; self.numbers.len()];
        let mut edges = self.edges.clone();
        edges.sort_unstable();
        edges.iter().for_each(|&(_, after)| n_before[after as usize] += 1);
        let mut open: Vec<u32> = vec![0];
        let mut n_left = self.numbers.len();
        if n_before[0] > 0 {
            return false;
        }
        while let Some(number) = open.pop() {
            n_left -= 1;
            let first = edges.partition_point(|edge| edge.0 < number);
            for &(_, after) in edges[first..].iter().take_while(|edge| edge.0 == number) {
                n_before[after as usize] -= 1;
                if n_before[after as usize] == 0 {
                    open.push(after);
                }
            }
        }
        n_left == 0
    }
}

/// Returns who chooses in the cursor's state, its moves, and the only moves of the others; the entry
/// of the chooser is to be replaced.
///
/// # Errors
///
/// Several roles choose at the same time, or one has no move.
pub(crate) fn choices<G: Game>(
    game: &G,
    cursor: &mut G::Cursor,
) -> Result<(RoleId, Vec<MoveId>, Vec<MoveId>), StopReason> {
    let mut chooser = RoleId::new(0);
    let mut only = Vec::new();
    let mut has_chooser = false;
    for role in game.role_ids() {
        let moves = cursor.legal_moves(role);
        match moves.len() {
            0 => return Err(StopReason::Fault),
            1 => {}
            n_moves if has_chooser || n_moves >= usize::from(u16::MAX) => {
                return Err(StopReason::Count);
            }
            _ => (chooser, has_chooser) = (role, true),
        }
        only.push(moves[0]);
    }
    let moves = cursor.legal_moves(chooser).to_vec();
    Ok((chooser, moves, only))
}

/// Runs something that recurses deeply; `None` if there is no memory for its stack.
pub(crate) fn with_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
        let handle = builder.spawn_scoped(scope, work).ok()?;
        Some(handle.join().expect("the search does not panic"))
    })
}

/// Longer plays are not searched.
pub(crate) const MAX_DEPTH: usize = 4_000;
/// The stack of a search; a step of the recursion takes a few kilobytes at most.
const STACK_BYTES: usize = 64 << 20;
