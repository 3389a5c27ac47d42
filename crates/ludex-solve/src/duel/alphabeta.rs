//! Alpha-beta as an exact solver: one question after the other, each with an empty window.
//!
//! A question is whether a role can force at least some goal. Its search is depth first down to
//! terminal states; a table keeps bounds, so later questions use what earlier ones proved. First
//! comes the question for the largest goal, then whether the role can force anything, then the
//! middle of what is left. Every answer narrows the bounds, so a stop leaves an interval that
//! contains the value.
//!
//! Before a move is searched, all successors are looked up: a terminal state or a bound of the table
//! often decides at once. The rest is searched in the order of the table's best move, then of the
//! moves that decided most often elsewhere.
//!
//! Meant for two roles without chance, of whom one chooses at a time. The method gives up where both
//! choose, or where play returns to a state of its path: what a state is worth would depend on the
//! path.
//!
//! After Knuth and Moore, *An analysis of alpha-beta pruning*, 1975, and Plaat et al., *Best-first
//! fixed-depth minimax algorithms*, 1996, without a depth.

use std::cmp::Reverse;

use ludex_base::{Deadline, Goal, MoveId, RoleId, StopReason};
use ludex_game::{Cursor, Describe, Game, StateOf};
use ludex_verify::{Claim, Proof, Value};
use rustc_hash::FxHashSet;

use super::proof::{Side, followers, lines_of};
use super::transpositions::{Fingerprint, NO_PLACE, Transpositions};
use super::{Opposition, rest_of};
use crate::method::Method;
use crate::portfolio::SolveOptions;
use crate::problem::Problem;
use crate::progress::Progress;

/// The deadline is checked after this many moves.
const N_UNCHECKED: u64 = 256;
/// Longer plays are not searched.
const MAX_DEPTH: usize = 4_000;
/// The largest table, in bytes.
const MAX_TABLE_BYTES: u64 = 2 << 30;
/// A strategy with more states in which it chooses is not followed.
const MAX_LINES: usize = 5_000_000;
/// The stack of the search; a step of the recursion takes less than a kilobyte.
const STACK_BYTES: usize = 64 << 20;

/// Asks for the value of each role, as far as the limits allow.
///
/// Returns why it stopped before everything was known.
pub(crate) fn search<G: Describe>(
    problem: &Problem<'_, G>,
    options: &SolveOptions,
    progress: &Progress,
) -> Option<StopReason> {
    let opposition = Opposition::of(problem);
    if opposition == Opposition::None {
        return Some(StopReason::Count);
    }
    let goals: Vec<Vec<Goal>> = problem.game.role_ids().map(|role| problem.goals(role)).collect();
    let (game, start) = (problem.game, &problem.state);
    let questions = Questions { game, start, goals, opposition, options };
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
        match builder.spawn_scoped(scope, || questions.ask_all(progress).err()) {
            Ok(handle) => handle.join().expect("the search does not panic"),
            Err(_) => Some(StopReason::Memory),
        }
    })
}

/// What is to be asked.
struct Questions<'a, G: Game> {
    game: &'a G,
    start: &'a StateOf<G>,
    /// The goals that each role may get, ascending.
    goals: Vec<Vec<Goal>>,
    opposition: Opposition,
    options: &'a SolveOptions,
}

impl<G: Describe> Questions<'_, G> {
    fn ask_all(&self, progress: &Progress) -> Result<(), StopReason> {
        let wants_proofs = self.options.wants_proofs;
        let sum = self.opposition.sum();
        let mut proofs = Vec::new();
        for role in self.game.role_ids() {
            let mut search = Search::new(self.game, role, self.options);
            let value = self.ask_for(role, &mut search, progress)?;
            let mut bounds = self.bounds(role, (value, value));
            if sum.is_none() || wants_proofs {
                let walked = search.strategies(self.start, value, wants_proofs);
                if let Some((least, most)) = walked {
                    // Each strategy also bounds the other role, by the ends that it leads to.
                    let other = (most.other.0, least.other.1);
                    bounds[1 - role.index()] = (other.0.into(), other.1.into());
                    if wants_proofs {
                        proofs.extend(self.proofs(role, value, other, least.lines, most.lines));
                    }
                }
            }
            progress.count(0, std::mem::take(&mut search.n_unreported));
            progress.prove(Method::AlphaBeta, &bounds, &[], proofs.clone());
            if bounds.iter().all(|(lower, upper)| lower == upper) {
                break;
            }
        }
        Ok(())
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

    /// Returns the value of a role.
    fn ask_for(
        &self,
        role: RoleId,
        search: &mut Search<'_, G>,
        progress: &Progress,
    ) -> Result<Goal, StopReason> {
        let goals = &self.goals[role.index()];
        let (mut lower, mut upper) = (goals[0], goals[goals.len() - 1]);
        let mut n_asked = 0;
        while lower < upper {
            let left: Vec<Goal> =
                goals.iter().copied().filter(|&goal| goal > lower && goal <= upper).collect();
            let asked = match n_asked {
                0 => left[left.len() - 1],
                1 => left[0],
                _ => left[left.len() / 2],
            };
            n_asked += 1;
            let answer = search.ask(self.start, asked);
            progress.count(0, std::mem::take(&mut search.n_unreported));
            if answer? {
                lower = asked;
            } else {
                upper = goals.iter().copied().filter(|&goal| goal < asked).max().unwrap_or(lower);
            }
            // The value itself is reported together with its proof.
            if lower < upper {
                let bounds = self.bounds(role, (lower, upper));
                progress.prove(Method::AlphaBeta, &bounds, &[], Vec::new());
            }
        }
        Ok(lower)
    }

    /// Returns the bounds of both roles that follow from those of one.
    fn bounds(&self, role: RoleId, (lower, upper): (Goal, Goal)) -> Vec<(Value, Value)> {
        let mut bounds = vec![(Value::MIN, Value::MAX); 2];
        bounds[role.index()] = (lower.into(), upper.into());
        if let Some(sum) = self.opposition.sum() {
            bounds[1 - role.index()] = (rest_of(sum, upper).into(), rest_of(sum, lower).into());
        }
        bounds
    }
}

/// One role's questions, and what their answers have shown.
struct Search<'a, G: Game> {
    game: &'a G,
    cursor: G::Cursor,
    role: RoleId,
    deadline: Deadline,
    table: Transpositions,
    /// By move, how often it decided, weighed by the work of finding out.
    merits: Vec<u32>,
    path: FxHashSet<Fingerprint>,
    max_nodes: u64,
    n_nodes: u64,
    n_moves: u64,
    n_unreported: u64,
}

/// A successor that is still to be searched.
struct Child<S> {
    state: S,
    key: Fingerprint,
    place: u16,
    chosen: MoveId,
}

impl<'a, G: Game> Search<'a, G> {
    fn new(game: &'a G, role: RoleId, options: &SolveOptions) -> Self {
        let limits = &options.limits;
        Self {
            cursor: game.cursor(),
            game,
            role,
            deadline: limits.deadline.clone(),
            table: Transpositions::within((limits.max_bytes / 2).min(MAX_TABLE_BYTES)),
            merits: Vec::new(),
            path: FxHashSet::default(),
            max_nodes: options.max_nodes,
            n_nodes: 0,
            n_moves: 0,
            n_unreported: 0,
        }
    }

    /// Returns whether the role can force at least `goal` from a state.
    fn ask(&mut self, state: &StateOf<G>, goal: Goal) -> Result<bool, StopReason> {
        self.path.clear();
        self.cursor.set_state(state);
        if self.cursor.is_terminal() {
            return Ok(self.cursor.goal(self.role) >= goal);
        }
        let key = Fingerprint::of(state);
        if let Some(answer) = self.known(key, goal) {
            return Ok(answer);
        }
        self.can_force(state, key, goal, 0)
    }

    fn known(&self, key: Fingerprint, goal: Goal) -> Option<bool> {
        let entry = self.table.find(key)?;
        if entry.lower >= goal.value() {
            Some(true)
        } else if entry.upper < goal.value() {
            Some(false)
        } else {
            None
        }
    }

    /// Returns whether the role can force at least `goal` from a state before the end, which the
    /// table does not decide.
    fn can_force(
        &mut self,
        state: &StateOf<G>,
        key: Fingerprint,
        goal: Goal,
        depth: usize,
    ) -> Result<bool, StopReason> {
        // Step 1. Stop at the limits, and where play goes round.
        self.n_nodes += 1;
        self.n_unreported += 1;
        if depth > MAX_DEPTH || self.n_nodes > self.max_nodes || !self.path.insert(key) {
            return Err(StopReason::Count);
        }
        let n_before = self.n_nodes;

        // Step 2. Find out who chooses, and look at every successor.
        self.cursor.set_state(state);
        let (chooser, moves, others) = self.choices()?;
        // The role wants `true`, the other `false`.
        let wanted = chooser == self.role;
        let mut children: Vec<Child<StateOf<G>>> = Vec::with_capacity(moves.len());
        let mut decided = None;
        let mut joint = others;
        for (place, &chosen) in moves.iter().enumerate() {
            if place > 0 {
                self.cursor.set_state(state);
            }
            joint[chooser.index()] = chosen;
            self.cursor.play(&joint);
            self.n_moves += 1;
            if self.n_moves.is_multiple_of(N_UNCHECKED)
                && let Some(stop) = self.deadline.stop_reason()
            {
                return Err(stop);
            }
            let child_key = Fingerprint::of(self.cursor.state());
            let answer = match self.known(child_key, goal) {
                None if self.cursor.is_terminal() => Some(self.cursor.goal(self.role) >= goal),
                known => known,
            };
            if self.cursor.has_fault() {
                return Err(StopReason::Fault);
            }
            let place = place as u16;
            match answer {
                Some(answer) if answer == wanted => {
                    decided = Some((place, chosen));
                    break;
                }
                Some(_) => {}
                None => {
                    let state = self.cursor.state().clone();
                    children.push(Child { state, key: child_key, place, chosen });
                }
            }
        }

        // Step 3. Search the rest, the most promising first.
        if decided.is_none() {
            let best = self.table.find(key).map_or(NO_PLACE, |entry| entry.best());
            let merit = |id: MoveId| self.merits.get(id.index()).copied().unwrap_or(0);
            children.sort_by_cached_key(|child| {
                (child.place != best, Reverse(merit(child.chosen)), child.place)
            });
            for child in children {
                // A search of an earlier child may have met this one.
                let answer = match self.known(child.key, goal) {
                    Some(answer) => answer,
                    None => self.can_force(&child.state, child.key, goal, depth + 1)?,
                };
                if answer == wanted {
                    decided = Some((child.place, child.chosen));
                    break;
                }
            }
        }

        // Step 4. Remember the answer, and the move that gave it.
        self.path.remove(&key);
        let answer = if decided.is_some() { wanted } else { !wanted };
        let n_nodes = self.n_nodes - n_before + 1;
        if let Some((_, chosen)) = decided {
            self.reward(chosen, n_nodes);
        }
        let bounds = if answer { (goal.value(), u8::MAX) } else { (0, goal.value() - 1) };
        let best = decided.map_or(NO_PLACE, |(place, _)| place);
        self.table.store(key, bounds, best, n_nodes);
        Ok(answer)
    }

    /// Returns who chooses in the cursor's state, its moves, and the only moves of the others; the
    /// entry of the chooser is to be replaced.
    fn choices(&mut self) -> Result<(RoleId, Vec<MoveId>, Vec<MoveId>), StopReason> {
        let mut chooser = RoleId::new(0);
        let mut only = Vec::new();
        let mut has_chooser = false;
        for role in self.game.role_ids() {
            let moves = self.cursor.legal_moves(role);
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
        let moves = self.cursor.legal_moves(chooser).to_vec();
        Ok((chooser, moves, only))
    }

    fn reward(&mut self, chosen: MoveId, n_nodes: u64) {
        if self.merits.len() <= chosen.index() {
            self.merits.resize(chosen.index() + 1, 0);
        }
        let merit = &mut self.merits[chosen.index()];
        *merit = merit.saturating_add(n_nodes.ilog2() + 1);
        if *merit == u32::MAX {
            self.merits.iter_mut().for_each(|merit| *merit /= 2);
        }
    }
}

/// A strategy that was followed to all its ends.
struct Walked {
    /// The lines of a certificate, if they are wanted.
    lines: Vec<String>,
    /// The least and the most that the other role gets.
    other: (Goal, Goal),
}

impl<G: Describe> Search<'_, G> {
    /// Follows a strategy that gives the role its value, and one that holds it to that; `None` if
    /// that is too much.
    fn strategies(
        &mut self,
        state: &StateOf<G>,
        value: Goal,
        wants_lines: bool,
    ) -> Option<(Walked, Walked)> {
        let least = self.follow(state, value, Side::Own, wants_lines)?;
        Some((least, self.follow(state, value, Side::Others, wants_lines)?))
    }

    /// Follows a strategy that gives the role at least `value`, or at most if the others follow it.
    fn follow(
        &mut self,
        state: &StateOf<G>,
        value: Goal,
        side: Side,
        wants_lines: bool,
    ) -> Option<Walked> {
        let rival = RoleId::new(1 - self.role.index());
        let mut walked = Walked { lines: Vec::new(), other: (Goal::MAX, Goal::MIN) };
        let mut n_followed = 0;
        // The goal that the strategy must reach, or must keep the role from.
        let goal = match side {
            Side::Own => value,
            Side::Others => Goal::new(u32::from(value.value()) + 1).unwrap_or(Goal::MAX),
        };
        let wanted = side == Side::Own;
        let is_free = side == Side::Others && value == Goal::MAX;
        let followers = followers(self.game, self.role, side);
        let mut describing = self.game.cursor();
        let mut seen = FxHashSet::default();
        let mut open = vec![state.clone()];
        seen.insert(state.clone());
        while let Some(state) = open.pop() {
            if n_followed > MAX_LINES || self.deadline.reached() {
                return None;
            }
            self.cursor.set_state(&state);
            if self.cursor.is_terminal() {
                let goal = self.cursor.goal(rival);
                walked.other = (walked.other.0.min(goal), walked.other.1.max(goal));
                continue;
            }
            let (chooser, moves, mut joint) = self.choices().ok()?;
            let is_followed = followers.contains(&chooser) && moves.len() > 1;
            let mut chosen = None;
            for (place, &id) in self.ordered(&state, &moves) {
                self.cursor.set_state(&state);
                joint[chooser.index()] = id;
                self.cursor.play(&joint);
                let child = self.cursor.state().clone();
                if is_followed && !is_free && self.ask(&child, goal).ok()? != wanted {
                    continue;
                }
                if seen.insert(child.clone()) {
                    open.push(child);
                }
                if is_followed {
                    chosen = Some(place);
                    break;
                }
            }
            if is_followed {
                n_followed += 1;
                let mixed = vec![(chosen?, 1)];
                if wants_lines {
                    let lines = lines_of(self.game, &mut describing, &state, &followers, &mixed);
                    walked.lines.extend(lines);
                }
            }
        }
        Some(walked)
    }

    /// Returns the moves with their places, the best one of the table first.
    fn ordered<'m>(&self, state: &StateOf<G>, moves: &'m [MoveId]) -> Vec<(usize, &'m MoveId)> {
        let best = self.table.find(Fingerprint::of(state)).map_or(NO_PLACE, |entry| entry.best());
        let mut ordered: Vec<(usize, &MoveId)> = moves.iter().enumerate().collect();
        ordered.sort_by_key(|&(place, _)| place != usize::from(best));
        ordered
    }
}
