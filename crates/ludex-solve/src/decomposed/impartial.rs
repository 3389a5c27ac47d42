//! Sums of impartial games: two roles in turn, the same moves for both, each move in one part, and
//! who cannot move has lost.
//!
//! By Sprague and Grundy such a game is lost for the role in turn exactly if the values of the parts
//! cancel out. That every condition of the theorem holds is checked on all states of the parts, not
//! on samples; if one does not hold, nothing is claimed.

use ludex_analysis::decompose::{Split, View, Views};
use ludex_base::{BitSet, FluentId, Goal, MoveId, RoleId, StopReason};
use ludex_circuit::{Circuit, Rules};
use ludex_game::{Cursor, Describe, Game, JointMoves, StateOf};
use ludex_machine::Machine;
use ludex_verify::{Claim, Proof, Value, choice_line, state_key};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::method::Method;
use crate::portfolio::SolveOptions;
use crate::problem::Problem;
use crate::progress::Progress;

/// Gates of a part at most.
const MAX_GATES: usize = 400_000;
/// Combinations of views that are looked at.
const MAX_CASES: usize = 1 << 14;
/// Strategies with more lines are not written.
const MAX_LINES: usize = 1_000_000;

/// Solves a sum of impartial games.
pub(super) fn search<G: Describe>(
    problem: &Problem<'_, G>,
    circuit: &Circuit,
    split: &Split,
    options: &SolveOptions,
    progress: &Progress,
) -> Result<(), StopReason> {
    let Some(rules) = problem.rules else { return Ok(()) };
    let Some(phases) = phases(circuit, split) else { return Ok(()) };
    let mut heaps = Vec::new();
    for part in 0..split.parts.len() {
        let Some(heap) = Heap::of(circuit, split, part, &phases, options)? else { return Ok(()) };
        progress.count(heap.options.len() as u64, heap.options.len() as u64);
        heaps.push(heap);
    }
    let movers = [heaps[0].movers[0], heaps[0].movers[1]];
    if movers[0] == movers[1] || heaps.iter().any(|it| it.movers != movers) {
        return Ok(());
    }
    let mut views = Views::new(circuit, split);
    if !each_move_is_in_one_part(circuit, &heaps, &views, &phases) {
        return Ok(());
    }
    let Some((lost, won)) = last_wins(circuit, &mut views, &heaps, movers, &phases) else {
        return Ok(());
    };

    let sum = Sum { heaps: &heaps, rules, problem };
    let is_won = sum.value(&problem.state) != Some(0);
    let (winner, loser) = if is_won { (movers[0], movers[1]) } else { (movers[1], movers[0]) };
    let value = |role: RoleId| if role == winner { won } else { lost };
    let bounds: Vec<(Value, Value)> =
        problem.game.role_ids().map(|role| (value(role).into(), value(role).into())).collect();
    let mut proofs = Vec::new();
    if options.wants_proofs {
        let name = |role: RoleId| problem.game.roles()[role.index()].name.clone();
        // What the winner forces also holds the loser down. Of the rest, any strategy is a proof.
        let of_winner = sum.strategy(winner, options);
        let of_loser = sum.strategy(loser, options);
        if let (Some(best), Some(any)) = (of_winner, of_loser) {
            proofs = vec![
                Proof { claim: Claim::AtLeast(name(winner), won.into()), evidence: best.clone() },
                Proof { claim: Claim::AtMost(name(winner), won.into()), evidence: any.clone() },
                Proof { claim: Claim::AtLeast(name(loser), lost.into()), evidence: any },
                Proof { claim: Claim::AtMost(name(loser), lost.into()), evidence: best },
            ];
        }
    }
    progress.prove(Method::Parts, &bounds, &sum.line(), proofs);
    Ok(())
}

/// Returns the two states of a clock that alternates: whose turn it is, and nothing else.
fn phases(circuit: &Circuit, split: &Split) -> Option<[BitSet; 2]> {
    let after = |state: &BitSet| {
        let values = circuit.evaluate(state, &[]);
        let mut next = state.clone();
        for fluent in &split.clock {
            if values[circuit.next[fluent.index()].index()] {
                next.insert(fluent.index());
            } else {
                next.remove(fluent.index());
            }
        }
        next
    };
    let other = after(&split.state);
    (other != split.state && after(&other) == split.state).then(|| [split.state.clone(), other])
}

/// A part with the same moves for both roles.
struct Heap {
    fluents: Vec<FluentId>,
    /// By state of its fluents, the place in `options`.
    places: FxHashMap<BitSet, u32>,
    states: Vec<BitSet>,
    /// By state, the states after a move in this part, ascending.
    options: Vec<Vec<u32>>,
    /// By state, its Sprague-Grundy value.
    values: Vec<u32>,
    /// The role in turn in each phase.
    movers: [RoleId; 2],
    /// By move of the whole, whether it is in this part; `None` if no state allows it.
    owns: Vec<Option<bool>>,
}

impl Heap {
    /// Lists the states of a part; `None` if it is not impartial.
    fn of(
        circuit: &Circuit,
        split: &Split,
        part: usize,
        phases: &[BitSet; 2],
        solve: &SolveOptions,
    ) -> Result<Option<Self>, StopReason> {
        let deadline = &solve.limits.deadline;
        let Some(rules) = split.subgame(circuit, part, true, MAX_GATES, deadline) else {
            return Ok(None);
        };
        let game = Machine::new(rules.circuit.clone());
        let n_roles = game.roles().len();
        let own: Vec<usize> = (rules.fluents.iter().enumerate())
            .filter(|it| split.parts[part].binary_search(it.1).is_ok())
            .map(|it| it.0)
            .collect();
        let own_of = |state: &BitSet| {
            let mut it = BitSet::new(own.len());
            let here = own.iter().enumerate().filter(|(_, idx)| state.contains(**idx));
            here.for_each(|(place, _)| it.insert(place));
            it
        };
        let with_phase = |it: &BitSet, phase: &BitSet| {
            let mut state = BitSet::new(rules.fluents.len());
            for (idx, fluent) in rules.fluents.iter().enumerate() {
                if phase.contains(fluent.index()) {
                    state.insert(idx);
                }
            }
            for (place, &idx) in own.iter().enumerate() {
                if it.contains(place) {
                    state.insert(idx);
                } else {
                    state.remove(idx);
                }
            }
            state
        };
        let mut cursor = game.cursor();
        let first = own_of(cursor.state());
        let mut places: FxHashMap<BitSet, u32> = FxHashMap::default();
        places.insert(first.clone(), 0);
        let mut states = vec![first];
        let mut options: Vec<Vec<u32>> = Vec::new();
        let mut movers: [Option<RoleId>; 2] = [None; 2];
        let mut owns_class: Vec<Option<bool>> = vec![None; rules.moves.len()];
        let mut at = 0;
        while at < states.len() {
            if at as u64 > solve.max_nodes {
                return Err(StopReason::Count);
            }
            if let Some(reason) = solve.limits.stop_reason(at as u64 * 256) {
                return Err(reason);
            }
            let mut of_phases: Vec<Vec<u32>> = Vec::new();
            for (phase_idx, phase) in phases.iter().enumerate() {
                let state = with_phase(&states[at], phase);
                cursor.set_state(&state);
                let legal: Vec<Vec<MoveId>> = (0..n_roles)
                    .map(|role| cursor.legal_moves(RoleId::new(role)).to_vec())
                    .collect();
                // One role chooses, and the moves of the others make no difference.
                let choosing: Vec<usize> = (0..n_roles).filter(|&it| legal[it].len() > 1).collect();
                if legal.iter().any(Vec::is_empty) || choosing.len() > 1 {
                    return Ok(None);
                }
                if let Some(&role) = choosing.first() {
                    let mover = RoleId::new(role);
                    if *movers[phase_idx].get_or_insert(mover) != mover {
                        return Ok(None);
                    }
                }
                let mut joints = JointMoves::of(&mut cursor, n_roles);
                let mut after = Vec::new();
                while let Some(joint) = joints.next_joint() {
                    cursor.set_state(&state);
                    cursor.play(joint);
                    let next = own_of(cursor.state());
                    let is_own = next != states[at];
                    let played: Vec<MoveId> = match choosing.first() {
                        Some(&role) => vec![joint[role]],
                        None => joint.to_vec(),
                    };
                    for it in played {
                        let is_new = *owns_class[it.index()].get_or_insert(is_own);
                        if is_new != is_own || is_own && !rules.is_decided[it.index()] {
                            return Ok(None);
                        }
                    }
                    if is_own {
                        let fresh = states.len() as u32;
                        let place = *places.entry(next.clone()).or_insert(fresh);
                        if place == fresh {
                            states.push(next);
                        }
                        after.push(place);
                    }
                }
                after.sort_unstable();
                after.dedup();
                of_phases.push(after);
            }
            if of_phases[0] != of_phases[1] {
                return Ok(None);
            }
            options.push(of_phases.swap_remove(0));
            at += 1;
        }
        let (Some(first), Some(second)) = (movers[0], movers[1]) else { return Ok(None) };
        let Some(values) = grundy(&options) else { return Ok(None) };
        let mut owns = vec![None; circuit.legal.len()];
        for (class, is_own) in rules.moves.iter().zip(owns_class) {
            class.iter().for_each(|it| owns[it.index()] = is_own);
        }
        let fluents = own.iter().map(|&idx| rules.fluents[idx]).collect();
        let movers = [first, second];
        Ok(Some(Self { fluents, places, states, options, values, movers, owns }))
    }

    /// Returns the value of the part in a state of the whole.
    fn value(&self, state: &BitSet) -> Option<u32> {
        let mut own = BitSet::new(self.fluents.len());
        let here = self.fluents.iter().enumerate().filter(|(_, it)| state.contains(it.index()));
        here.for_each(|(place, _)| own.insert(place));
        self.places.get(&own).map(|&place| self.values[place as usize])
    }
}

/// Returns the smallest value that no option has, for every state; `None` if play can return.
fn grundy(options: &[Vec<u32>]) -> Option<Vec<u32>> {
    let mut values: Vec<Option<u32>> = vec![None; options.len()];
    let mut is_open = vec![false; options.len()];
    let mut stack: Vec<u32> = (0..options.len() as u32).collect();
    while let Some(&at) = stack.last() {
        let idx = at as usize;
        if values[idx].is_some() {
            stack.pop();
            continue;
        }
        let waiting: Vec<u32> =
            options[idx].iter().copied().filter(|&it| values[it as usize].is_none()).collect();
        if waiting.is_empty() {
            let of_options: FxHashSet<u32> =
                options[idx].iter().filter_map(|&it| values[it as usize]).collect();
            values[idx] = (0..).find(|it| !of_options.contains(it));
            stack.pop();
        } else if std::mem::replace(&mut is_open[idx], true) {
            return None;
        } else {
            stack.extend(waiting);
        }
    }
    values.into_iter().collect()
}

/// Whether every move of a role in turn changes exactly one part: nobody can pass.
fn each_move_is_in_one_part(
    circuit: &Circuit,
    heaps: &[Heap],
    views: &Views<'_>,
    phases: &[BitSet; 2],
) -> bool {
    let of_role = |it: &MoveId| circuit.vocabulary.moves[it.index()].0;
    (0..2).all(|phase| {
        let mut possible = views.possible_moves(&phases[phase]);
        possible.retain(|it| of_role(it) == heaps[0].movers[phase]);
        // A move that some part never allows is never played.
        possible.retain(|it| heaps.iter().all(|heap| heap.owns[it.index()].is_some()));
        possible
            .iter()
            .all(|it| heaps.iter().filter(|heap| heap.owns[it.index()] == Some(true)).count() == 1)
    })
}

/// Returns the goals of who lost and who won, if the game ends exactly when no part has a move left,
/// and who is in turn then has lost.
fn last_wins(
    circuit: &Circuit,
    views: &mut Views<'_>,
    heaps: &[Heap],
    movers: [RoleId; 2],
    phases: &[BitSet; 2],
) -> Option<(Goal, Goal)> {
    // By part, its views, each with whether the part has moves left.
    let mut kinds: Vec<Vec<(View, bool)>> = Vec::new();
    for (part, heap) in heaps.iter().enumerate() {
        let states: Vec<&BitSet> = heap.states.iter().collect();
        let all = views.of(part, &heap.fluents, &states);
        let of_part: FxHashSet<(View, bool)> =
            all.into_iter().zip(heap.options.iter().map(|it| !it.is_empty())).collect();
        kinds.push(of_part.into_iter().collect());
    }
    let n_cases: usize = kinds.iter().map(Vec::len).try_fold(1, usize::checked_mul)?;
    if n_cases > MAX_CASES {
        return None;
    }
    let mut goals: Option<(Goal, Goal)> = None;
    for (phase_idx, phase) in phases.iter().enumerate() {
        for number in 0..n_cases {
            let mut left = number;
            let mut case = Vec::with_capacity(kinds.len());
            let mut has_moves = false;
            for of_part in &kinds {
                let (view, is_open) = &of_part[left % of_part.len()];
                case.push(Some(view));
                has_moves |= is_open;
                left /= of_part.len();
            }
            let outcome = views.outcomes(Some(phase), &[case]).swap_remove(0);
            if outcome.must_end != outcome.may_end || outcome.must_end == has_moves {
                return None;
            }
            if has_moves {
                continue;
            }
            let goal_of = |role: RoleId| {
                let mut known = (circuit.goals.iter().zip(&outcome.goals))
                    .filter(|(it, (_, may))| it.0 == role && *may);
                let (goal, (must, _)) = known.next()?;
                (*must && known.next().is_none()).then_some(goal.1)
            };
            let here = (goal_of(movers[phase_idx])?, goal_of(movers[1 - phase_idx])?);
            if *goals.get_or_insert(here) != here {
                return None;
            }
        }
    }
    goals.filter(|(lost, won)| lost < won)
}

/// The parts together.
struct Sum<'a, G: Game> {
    heaps: &'a [Heap],
    rules: &'a dyn Rules<StateOf<G>>,
    problem: &'a Problem<'a, G>,
}

impl<G: Describe> Sum<'_, G> {
    /// Returns the Sprague-Grundy value of a state.
    fn value(&self, state: &StateOf<G>) -> Option<u32> {
        let fluents = self.rules.fluents(state);
        self.heaps.iter().try_fold(0, |sum, heap| Some(sum ^ heap.value(fluents)?))
    }

    /// Returns the joint moves of a state with the states after them, those of value 0 first.
    fn joints(&self, state: &StateOf<G>) -> Vec<(Vec<MoveId>, StateOf<G>)> {
        let mut cursor = self.problem.game.cursor();
        cursor.set_state(state);
        if cursor.is_terminal() {
            return Vec::new();
        }
        let mut joints = JointMoves::of(&mut cursor, self.problem.game.roles().len());
        let (mut good, mut others) = (Vec::new(), Vec::new());
        while let Some(joint) = joints.next_joint() {
            cursor.set_state(state);
            cursor.play(joint);
            let after = (joint.to_vec(), cursor.state().clone());
            let is_good = self.value(&after.1) == Some(0);
            if is_good { &mut good } else { &mut others }.push(after);
        }
        good.extend(others);
        good
    }

    /// Returns a play in which both roles play best.
    fn line(&self) -> Vec<Vec<MoveId>> {
        let mut state = self.problem.state.clone();
        let mut line = Vec::new();
        while let Some((joint, after)) = self.joints(&state).into_iter().next() {
            line.push(joint);
            state = after;
        }
        line
    }

    /// Returns what a role plays in every state that this reaches, the best moves it has; `None` if
    /// that is too much.
    fn strategy(&self, role: RoleId, options: &SolveOptions) -> Option<Vec<String>> {
        let game = self.problem.game;
        let mut seen = FxHashSet::from_iter([self.problem.state.clone()]);
        let mut open = vec![self.problem.state.clone()];
        let mut lines = Vec::new();
        let mut cursor = game.cursor();
        while let Some(state) = open.pop() {
            if lines.len() > MAX_LINES || options.limits.deadline.reached() {
                return None;
            }
            let mut joints = self.joints(&state);
            cursor.set_state(&state);
            if joints.len() > 1 && cursor.legal_moves(role).len() > 1 {
                joints.truncate(1);
                let text = game.move_text(joints[0].0[role.index()]);
                lines.push(choice_line(&state_key(&game.state_texts(&state)), 1, &[text]));
            }
            for (_, after) in joints {
                if seen.insert(after.clone()) {
                    open.push(after);
                }
            }
        }
        Some(lines)
    }
}
