//! One line of a puzzle from the plans of its parts.
//!
//! We search the puzzle itself, but only states in which every planned part is where its plan has
//! been or goes next. So the search visits a product of plans and not of parts. In a game in which
//! a move changes one part, it finds the order of the moves; parts without a plan are free, so
//! that a part which must open another can be played as well.

use ludex_base::{BitSet, FluentId, Goal, MoveId};
use ludex_circuit::Rules;
use ludex_game::{Cursor, Game, StateOf};
use rustc_hash::FxHashSet;

use crate::portfolio::SolveOptions;
use crate::problem::Problem;
use crate::puzzle::puzzle_role;

/// States that are visited for one line.
const MAX_NODES: usize = 50_000;

/// What a part has to do.
pub(super) struct Plan {
    pub fluents: Vec<FluentId>,
    /// Its states, from the first to the last, as sets of fluents of the whole.
    pub states: Vec<BitSet>,
    /// Whether it may wait between two states; otherwise each step takes the next state.
    pub is_patient: bool,
}

/// A line that is looked for.
pub(super) struct Wanted<'a> {
    pub plans: &'a [Plan],
    /// Fluents of parts without a plan that decide what the others may do.
    pub free: &'a [FluentId],
    pub goal: Goal,
    /// The number of steps, if the clock or a part that cannot wait decides it.
    pub n_steps: Option<usize>,
}

struct Node<S> {
    state: S,
    step: usize,
    places: Vec<u32>,
    before: usize,
    played: Option<MoveId>,
}

/// Finds a line; also returns the number of states visited.
pub(super) fn weave<G: Game>(
    problem: &Problem<'_, G>,
    rules: &dyn Rules<StateOf<G>>,
    wanted: &Wanted<'_>,
    options: &SolveOptions,
) -> (Option<Vec<Vec<MoveId>>>, usize) {
    let mut cursor = problem.game.cursor();
    let first = Node {
        state: problem.state.clone(),
        step: 0,
        places: vec![0; wanted.plans.len()],
        before: 0,
        played: None,
    };
    let mut nodes = vec![first];
    let mut open = vec![0_usize];
    let mut seen: FxHashSet<(usize, Vec<u32>, Vec<u64>)> = FxHashSet::default();
    while let Some(at) = open.pop() {
        if nodes.len() > MAX_NODES
            || nodes.len().is_multiple_of(64) && options.limits.deadline.reached()
        {
            break;
        }
        cursor.set_state(&nodes[at].state);
        let step = nodes[at].step;
        if cursor.is_terminal() {
            if !cursor.has_fault() && cursor.goal(puzzle_role()) >= wanted.goal {
                return (Some(line_to(&nodes, at)), nodes.len());
            }
            continue;
        }
        if wanted.n_steps.is_some_and(|most| step >= most) {
            continue;
        }
        let moves = cursor.legal_moves(puzzle_role()).to_vec();
        // Those that advance a plan are tried first, so they are pushed last.
        let (mut waiting, mut advancing) = (Vec::new(), Vec::new());
        for played in moves {
            cursor.set_state(&nodes[at].state);
            cursor.play(&[played]);
            let fluents = rules.fluents(cursor.state());
            let Some(places) = follow(wanted.plans, &nodes[at].places, step, fluents) else {
                continue;
            };
            let counted = if wanted.n_steps.is_some() { step + 1 } else { 0 };
            let mut free = vec![0_u64; wanted.free.len().div_ceil(64)];
            for (idx, fluent) in wanted.free.iter().enumerate() {
                free[idx / 64] |= u64::from(fluents.contains(fluent.index())) << (idx % 64);
            }
            if !seen.insert((counted, places.clone(), free)) {
                continue;
            }
            let advances = places != nodes[at].places;
            let state = cursor.state().clone();
            nodes.push(Node { state, step: step + 1, places, before: at, played: Some(played) });
            if advances { &mut advancing } else { &mut waiting }.push(nodes.len() - 1);
        }
        open.extend(waiting);
        open.extend(advancing.into_iter().rev());
    }
    (None, nodes.len())
}

/// Returns where the plans are after a step; `None` if a part leaves its plan.
fn follow(plans: &[Plan], places: &[u32], step: usize, fluents: &BitSet) -> Option<Vec<u32>> {
    let is_in = |plan: &Plan, place: usize| {
        plan.states.get(place).is_some_and(|state| {
            plan.fluents.iter().all(|it| state.contains(it.index()) == fluents.contains(it.index()))
        })
    };
    let mut after = Vec::with_capacity(places.len());
    for (plan, &place) in plans.iter().zip(places) {
        if !plan.is_patient {
            if !is_in(plan, step + 1) {
                return None;
            }
            after.push(place + 1);
        } else if is_in(plan, place as usize + 1) {
            after.push(place + 1);
        } else if is_in(plan, place as usize) {
            after.push(place);
        } else {
            return None;
        }
    }
    Some(after)
}

fn line_to<S>(nodes: &[Node<S>], mut at: usize) -> Vec<Vec<MoveId>> {
    let mut line = Vec::new();
    while let Some(played) = nodes[at].played {
        line.push(vec![played]);
        at = nodes[at].before;
    }
    line.reverse();
    line
}
