//! Puzzles: what the parts can show the goals together, and a line that shows it.
//!
//! Each part is explored alone. At every step the goals may see any combination of views that the
//! parts can have then, and no other; if a move changes one part at most, then the parts cannot make
//! more moves together than there were steps. The best goal of any combination is an upper bound.
//! A combination with that goal gives each part a plan, and [`weave`] looks for a line.

use std::hash::BuildHasher;
use std::sync::Arc;

use ludex_analysis::decompose::{Split, View, Views};
use ludex_base::{BitSet, FluentId, Goal, MoveId, StopReason};
use ludex_circuit::{Circuit, Gate, Rules};
use ludex_game::{Game, StateOf};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use super::part::{Explorer, Part, Reached};
use super::weave::{Plan, Wanted, weave};
use crate::method::Method;
use crate::portfolio::SolveOptions;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::puzzle::{goals_of, play_out, puzzle_role};
use crate::solution::Evidence;

/// Gates of a part at most.
const MAX_GATES: usize = 400_000;
/// Steps that are looked at.
const MAX_STEPS: usize = 2_000;
/// Evaluations of the goals, 64 combinations each.
const MAX_EVALUATIONS: u64 = 100_000;
/// Combinations of one step for which a line is looked for without success, and of all steps.
const MAX_FAILURES_AT_ONCE: usize = 3;
const MAX_FAILURES: usize = 200;

/// Solves a puzzle by its parts.
pub(super) fn search<G: Game>(
    problem: &Problem<'_, G>,
    circuit: &Circuit,
    split: &Split,
    options: &SolveOptions,
    progress: &Progress,
) -> Result<(), StopReason> {
    let Some(rules) = problem.rules else { return Ok(()) };
    let mut views = Views::new(circuit, split);
    let limits = (MAX_GATES, &options.limits.deadline);
    // A part that the goals do not read needs no plan, and can open others.
    let mut targets = Vec::new();
    for idx in (0..split.parts.len()).filter(|&idx| views.reads(idx)) {
        let Some(part) = Part::of(circuit, split, idx, limits) else { return Ok(()) };
        targets.push(Target { idx, part, all: None, layers: Vec::new() });
    }
    let free = openers(circuit, split, &targets);
    let is_apart = is_apart(&targets);
    let mut search = Search {
        problem,
        rules,
        circuit,
        split,
        options,
        progress,
        free,
        is_apart,
        n_failures: (0, 0),
        best: None,
    };
    search.run(&mut targets, &mut views)
}

/// A part that the goals or the end read.
struct Target {
    idx: usize,
    part: Part,
    /// All its states, if it is patient.
    all: Option<Arc<Reached>>,
    /// Its states by step, if it is not.
    layers: Vec<Reached>,
}

/// A view that a part can have, and the cheapest state that has it.
#[derive(Clone)]
struct Choice {
    view: View,
    cost: u32,
    place: u32,
}

struct Search<'a, G: Game> {
    problem: &'a Problem<'a, G>,
    rules: &'a dyn Rules<StateOf<G>>,
    circuit: &'a Circuit,
    split: &'a Split,
    options: &'a SolveOptions,
    progress: &'a Progress,
    /// Fluents of parts without a plan that others depend on.
    free: Vec<FluentId>,
    /// Whether a move changes at most one of the targets.
    is_apart: bool,
    /// Lines that were not found: at this step, and at all.
    n_failures: (usize, usize),
    /// The best goal that some combination has.
    best: Option<Goal>,
}

/// What a search over combinations found.
enum Combined {
    /// No combination is possible.
    None,
    /// Some are, and none of them became a line.
    Possible,
    /// A line was found.
    Line,
}

impl<G: Game> Search<'_, G> {
    fn run(&mut self, targets: &mut [Target], views: &mut Views<'_>) -> Result<(), StopReason> {
        let n_parts = self.split.parts.len();
        // Step 1. List the states of parts that can wait; parts with the same rules share them.
        let mut listed: Vec<Vec<Choice>> = vec![Vec::new(); targets.len()];
        for at in 0..targets.len() {
            if !targets[at].part.is_patient {
                continue;
            }
            let like = (0..at).find(|&other| {
                targets[other].all.is_some()
                    && targets[other].part.is_like(&targets[at].part)
                    && self.closes_alike(&targets[other], &targets[at], views)
            });
            let (all, is_new) = match like {
                Some(other) => (targets[other].all.clone().expect("it was listed"), false),
                None => {
                    let mut explorer = Explorer {
                        views,
                        part_idx: targets[at].idx,
                        n_parts,
                        options: self.options,
                    };
                    (explorer.all_states(&targets[at].part)?, true)
                }
            };
            if is_new {
                self.progress.count(all.states.len() as u64, all.states.len() as u64);
            }
            listed[at] = options_of(views, &targets[at], &all);
            targets[at].all = Some(all);
        }

        // Step 2. Without a clock and with patience, every combination is possible at some time.
        let is_timed = !self.split.clock.is_empty() || targets.iter().any(|it| it.all.is_none());
        if !is_timed {
            let is_complete = self.combine(targets, &listed, None, None, views)?;
            self.conclude(is_complete);
            return Ok(());
        }

        // Step 3. Otherwise look at every step.
        let mut clock = self.split.state.clone();
        let mut seen: FxHashMap<u64, Vec<(usize, BitSet)>> = FxHashMap::default();
        for target in targets.iter_mut().filter(|it| it.all.is_none()) {
            let mut state = BitSet::new(target.part.rules.fluents.len());
            for (idx, fluent) in target.part.rules.fluents.iter().enumerate() {
                if self.split.state.contains(fluent.index()) {
                    state.insert(idx);
                }
            }
            target.layers = vec![Reached { states: vec![state], before: vec![0], costs: vec![0] }];
        }
        let most_moves: u64 = (targets.iter())
            .filter_map(|it| it.all.as_ref()?.costs.last())
            .map(|&it| u64::from(it))
            .sum();
        let mut is_complete = true;
        for step in 0..=MAX_STEPS {
            if step == MAX_STEPS {
                is_complete = false;
                break;
            }
            for (at, target) in targets.iter().enumerate() {
                if target.all.is_none() {
                    listed[at] = options_of(views, target, &target.layers[step]);
                }
            }
            is_complete &= self.combine(targets, &listed, Some(&clock), Some(step), views)?;
            if self.progress.is_settled() {
                return Ok(());
            }
            // The clock ends the game, or a part cannot go on, or everything was there before.
            if views.outcomes(Some(&clock), &[vec![None; n_parts]])[0].must_end {
                break;
            }
            if step as u64 >= most_moves && self.was_here(targets, step, &clock, &mut seen) {
                break;
            }
            let mut is_stuck = false;
            for target in targets.iter_mut().filter(|it| it.all.is_none()) {
                let mut explorer =
                    Explorer { views, part_idx: target.idx, n_parts, options: self.options };
                let layer =
                    explorer.next_layer(&target.part, &target.layers[step], Some(&clock))?;
                self.progress.count(layer.states.len() as u64, layer.states.len() as u64);
                is_stuck |= layer.states.is_empty();
                target.layers.push(layer);
            }
            if is_stuck {
                break;
            }
            if let Some(reason) = self.options.limits.stop_reason(0) {
                return Err(reason);
            }
            let values = self.circuit.evaluate(&clock, &[]);
            let mut next = clock.clone();
            for fluent in &self.split.clock {
                let gate = self.circuit.next[fluent.index()];
                if values[gate.index()] {
                    next.insert(fluent.index());
                } else {
                    next.remove(fluent.index());
                }
            }
            clock = next;
        }
        self.conclude(is_complete);
        Ok(())
    }

    /// Whether the same states of two parts with the same rules end the game: then one exploration
    /// serves both.
    fn closes_alike(&self, one: &Target, other: &Target, views: &mut Views<'_>) -> bool {
        let Some(all) = &one.all else { return false };
        let n_parts = self.split.parts.len();
        let mut closed = |target: &Target| {
            let mut explorer =
                Explorer { views, part_idx: target.idx, n_parts, options: self.options };
            explorer.closed(&target.part.rules.fluents, &all.states, None).1
        };
        closed(one) == closed(other)
    }

    /// Whether the clock and the layers were the same at an earlier step.
    fn was_here(
        &self,
        targets: &[Target],
        step: usize,
        clock: &BitSet,
        seen: &mut FxHashMap<u64, Vec<(usize, BitSet)>>,
    ) -> bool {
        let layers = || targets.iter().filter(|it| it.all.is_none()).map(|it| &it.layers);
        let hash_of = |state: &BitSet| FxBuildHasher.hash_one(state);
        let mut hash = hash_of(clock);
        for of_part in layers() {
            let of_layer = of_part[step].states.iter().map(hash_of);
            hash = hash.rotate_left(7) ^ of_layer.fold(0, u64::wrapping_add);
        }
        let is_same = |earlier: usize| {
            layers().all(|of_part| {
                let (a, b) = (&of_part[earlier], &of_part[step]);
                let states: FxHashSet<&BitSet> = a.states.iter().collect();
                a.states.len() == b.states.len() && b.states.iter().all(|it| states.contains(it))
            })
        };
        let earlier = seen.entry(hash).or_default();
        if earlier.iter().any(|(at, it)| it == clock && is_same(*at)) {
            return true;
        }
        earlier.push((step, clock.clone()));
        false
    }

    /// Looks for the best goal of a combination, and for a line to it. Returns whether all were
    /// looked at that may be better than what is known.
    fn combine(
        &mut self,
        targets: &[Target],
        options: &[Vec<Choice>],
        clock: Option<&BitSet>,
        step: Option<usize>,
        views: &mut Views<'_>,
    ) -> Result<bool, StopReason> {
        self.n_failures.0 = 0;
        let mut order: Vec<usize> = (0..targets.len()).collect();
        order.sort_by_key(|&at| options[at].len());
        let lower = self.progress.bounds(puzzle_role()).lower;
        let has_line = !self.progress.solution().line.is_empty();
        for goal in goals_of(self.circuit).into_iter().rev() {
            let is_known = goal < lower || goal == lower && has_line;
            if is_known {
                break;
            }
            let mut found = Combined::None;
            let mut chosen = vec![None; targets.len()];
            let around = Around { targets, options, order: &order, clock, step, goal };
            if !self.choose(&around, 0, &mut chosen, &mut found, views)? {
                return Ok(false);
            }
            match found {
                Combined::None => {}
                Combined::Possible => self.best = self.best.max(Some(goal)),
                Combined::Line => {
                    self.best = self.best.max(Some(goal));
                    break;
                }
            }
        }
        Ok(true)
    }

    /// Chooses a view for one part after the other. Returns `false` if there were too many.
    fn choose(
        &mut self,
        around: &Around<'_>,
        depth: usize,
        chosen: &mut [Option<usize>],
        found: &mut Combined,
        views: &mut Views<'_>,
    ) -> Result<bool, StopReason> {
        let Some(&at) = around.order.get(depth) else {
            if matches!(found, Combined::None) {
                *found = Combined::Possible;
            }
            if self.may_try() {
                if self.weave(around, chosen) {
                    *found = Combined::Line;
                } else {
                    self.n_failures.0 += 1;
                    self.n_failures.1 += 1;
                }
            }
            return Ok(true);
        };
        if views.n_evaluations > MAX_EVALUATIONS {
            return Ok(false);
        }
        if let Some(reason) = self.options.limits.stop_reason(0) {
            return Err(reason);
        }
        let cost_of = |at: usize, place: usize| u64::from(around.options[at][place].cost);
        let spent: u64 =
            (chosen.iter().enumerate()).filter_map(|(at, it)| it.map(|it| cost_of(at, it))).sum();
        let is_in_time = |place: &usize| {
            let cost = cost_of(at, *place);
            let cost = if self.is_apart { spent + cost } else { cost };
            around.step.is_none_or(|step| cost <= step as u64)
        };
        let places: Vec<usize> = (0..around.options[at].len()).filter(is_in_time).collect();
        let cases: Vec<Vec<Option<&View>>> = (places.iter())
            .map(|&place| {
                let mut case = vec![None; self.split.parts.len()];
                for (other, it) in chosen.iter().enumerate() {
                    let view = it.map(|it| &around.options[other][it].view);
                    case[around.targets[other].idx] = view;
                }
                case[around.targets[at].idx] = Some(&around.options[at][place].view);
                case
            })
            .collect();
        let outcomes = views.outcomes(around.clock, &cases);
        for (place, outcome) in places.into_iter().zip(outcomes) {
            let may_score = (self.circuit.goals.iter().zip(&outcome.goals))
                .any(|(it, (_, may))| it.1 == around.goal && *may);
            if !outcome.may_end || !may_score {
                continue;
            }
            chosen[at] = Some(place);
            let is_complete = self.choose(around, depth + 1, chosen, found, views)?;
            chosen[at] = None;
            if !is_complete {
                return Ok(false);
            }
            let is_tried = !self.may_try() && !matches!(found, Combined::None);
            if matches!(found, Combined::Line) || is_tried {
                break;
            }
        }
        Ok(true)
    }

    fn may_try(&self) -> bool {
        self.n_failures.0 < MAX_FAILURES_AT_ONCE && self.n_failures.1 < MAX_FAILURES
    }

    /// Looks for a line to a combination, and records it.
    fn weave(&mut self, around: &Around<'_>, chosen: &[Option<usize>]) -> bool {
        let mut plans = Vec::new();
        for (at, target) in around.targets.iter().enumerate() {
            let Some(place) = chosen[at] else { continue };
            let place = around.options[at][place].place as usize;
            let mut locals: Vec<&BitSet> = Vec::new();
            match &target.all {
                Some(all) => {
                    let mut place = place;
                    loop {
                        locals.push(&all.states[place]);
                        let before = all.before[place] as usize;
                        if before == place {
                            break;
                        }
                        place = before;
                    }
                }
                None => {
                    let mut place = place;
                    for layer in target.layers[..=around.step.unwrap_or(0)].iter().rev() {
                        locals.push(&layer.states[place]);
                        place = layer.before[place] as usize;
                    }
                }
            }
            locals.reverse();
            let fluents = &target.part.rules.fluents;
            let whole = |local: &&BitSet| {
                let mut state = BitSet::new(self.circuit.next.len());
                local.iter().for_each(|idx| state.insert(fluents[idx].index()));
                state
            };
            plans.push(Plan {
                fluents: self.split.parts[target.idx].clone(),
                states: locals.iter().map(whole).collect(),
                is_patient: target.all.is_some(),
            });
        }
        let wanted =
            Wanted { plans: &plans, free: &self.free, goal: around.goal, n_steps: around.step };
        let (line, n_nodes) = weave(self.problem, self.rules, &wanted, self.options);
        self.progress.count(n_nodes as u64, n_nodes as u64);
        let Some(line) = line else { return false };
        let Some(goal) = play_out(self.problem, &line) else { return false };
        self.progress.reached(Method::Parts, puzzle_role(), goal, &line);
        goal >= around.goal
    }

    /// Records the upper bound, if every combination was looked at.
    fn conclude(&self, is_complete: bool) {
        if is_complete && !self.progress.is_settled() {
            let lower = self.progress.bounds(puzzle_role()).lower;
            let most = self.best.unwrap_or(Goal::MIN).max(lower);
            self.progress.refuted_above(Method::Parts, puzzle_role(), most, Evidence::Parts);
        }
    }
}

/// A search over combinations at one step.
struct Around<'a> {
    targets: &'a [Target],
    /// By target, the views that it can have.
    options: &'a [Vec<Choice>],
    order: &'a [usize],
    clock: Option<&'a BitSet>,
    step: Option<usize>,
    goal: Goal,
}

/// Returns the views of states, each with its cheapest state, the cheapest first.
fn options_of(views: &mut Views<'_>, target: &Target, reached: &Reached) -> Vec<Choice> {
    let states: Vec<&BitSet> = reached.states.iter().collect();
    let all = views.of(target.idx, &target.part.rules.fluents, &states);
    let mut best: FxHashMap<View, (u32, u32)> = FxHashMap::default();
    for (place, view) in all.into_iter().enumerate() {
        let here = (reached.costs[place], place as u32);
        let known = best.entry(view).or_insert(here);
        *known = here.min(*known);
    }
    let mut options: Vec<Choice> =
        best.into_iter().map(|(view, (cost, place))| Choice { view, cost, place }).collect();
    options.sort_unstable_by_key(|it| (it.cost, it.place));
    options
}

/// Whether every move changes at most one of the parts that goals read.
fn is_apart(targets: &[Target]) -> bool {
    let mut owners: FxHashMap<MoveId, usize> = FxHashMap::default();
    for target in targets {
        let rules = &target.part.rules;
        for (moves, is_waiting) in rules.moves.iter().zip(&rules.is_waiting) {
            for &played in moves.iter().filter(|_| !is_waiting) {
                if owners.insert(played, target.idx).is_some() {
                    return false;
                }
            }
        }
    }
    true
}

/// Returns the fluents of parts without a plan that decide which moves of others are legal.
fn openers(circuit: &Circuit, split: &Split, targets: &[Target]) -> Vec<FluentId> {
    let mut part_of = vec![None; circuit.next.len()];
    for (idx, part) in split.parts.iter().enumerate() {
        part.iter().for_each(|it| part_of[it.index()] = Some(idx));
    }
    let mut is_open = vec![false; split.parts.len()];
    for target in targets {
        let rules = &target.part.rules;
        let own = rules.moves.iter().zip(&rules.is_waiting).filter(|it| !it.1);
        let legal = own.flat_map(|it| it.0).map(|it| circuit.legal[it.index()]);
        let is_read = circuit.cone(legal);
        for id in circuit.gate_ids().filter(|id| is_read[id.index()]) {
            if let Gate::Fluent(fluent) = circuit.gate(id)
                && let Some(part) = part_of[fluent.index()]
            {
                is_open[part] = true;
            }
        }
    }
    targets.iter().for_each(|it| is_open[it.idx] = false);
    let open = split.parts.iter().zip(is_open).filter(|it| it.1);
    open.flat_map(|it| it.0.iter().copied()).collect()
}
