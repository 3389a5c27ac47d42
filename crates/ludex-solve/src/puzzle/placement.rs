//! Placement puzzles: one network over the final state and the set of moves played.
//!
//! Sudoku, queens and nonograms ask where to put things; the order matters little. For such a
//! puzzle a network need not follow the steps of a play. Its variables are the final state and, for
//! each move, whether it was ever played. Its constraints hold for every play that ends (they were
//! proved on the circuit, see [`effects`](super::effects)):
//!
//! - The final state is terminal and has the goal wanted.
//! - A fluent that changed was changed by a move that can; what a move makes true forever is true.
//! - Whatever holds before a move held at first or was brought about by another move.
//! - Moves that make each other illegal forever are not both played.
//! - Fluents that no move influences have the values that belong to the number of steps.
//!
//! So if the network has no solution, the goal cannot be reached, in whatever puzzle. A solution
//! only suggests a set of moves: they are played on the game, in an order found by search, and
//! reported if that reaches the goal. That succeeds when the order hardly matters.

use ludex_base::{BitSet, FluentId, Goal, Limits, MoveId, StopReason};
use ludex_circuit::GateId;
use ludex_csp::{Expr, Network, SearchConfig, Value, ValueOrder, VarId, solve};
use ludex_encode::StateVar;
use ludex_game::{Cursor, Game};
use rustc_hash::FxHashSet;

use super::analysis::Analysis;
use super::effects::Effects;
use super::final_state::FinalState;
use super::lanes::{Assumptions, Cones, Groups, Lanes, Literal, first_lanes};
use super::{goals_of, puzzle_role};
use crate::method::Method;
use crate::portfolio::SolveOptions;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::solution::Evidence;

/// Sets of moves that are tried for one goal.
const MAX_CANDIDATES: usize = 8;

/// Searches the final states of a puzzle, for the largest goal first. Returns why it stopped
/// early; [`StopReason::Count`] if no order of the moves it found could be played.
pub fn search<G: Game>(
    problem: &Problem<'_, G>,
    options: &SolveOptions,
    progress: &Progress,
) -> Option<StopReason> {
    let limits = &options.limits;
    let puzzle = match Analysis::of(problem, limits) {
        Ok(puzzle) => puzzle,
        Err(stop) => return Some(stop),
    };
    let role = puzzle_role();
    let mut goals = goals_of(&puzzle.circuit);
    while let Some(goal) = goals.pop() {
        let bounds = progress.bounds(role);
        if goal > bounds.upper {
            continue;
        }
        if goal <= bounds.lower && goal != bounds.upper {
            break;
        }
        match puzzle.reach(problem, goal, options, progress) {
            Outcome::Line(goal, line) => {
                progress.reached(Method::Placement, role, goal, &line);
                return None;
            }
            Outcome::Impossible => {
                let below = goals.last().copied().unwrap_or(Goal::MIN);
                progress.refuted_above(Method::Placement, role, below, Evidence::Constraints);
            }
            Outcome::Unknown(reason) => return Some(reason),
        }
    }
    None
}

/// What the network says about a goal.
enum Outcome {
    /// Moves that reach at least the goal.
    Line(Goal, Vec<Vec<MoveId>>),
    /// No play reaches the goal.
    Impossible,
    Unknown(StopReason),
}

impl Analysis {
    /// Looks for a play with at least this goal.
    fn reach<G: Game>(
        &self,
        problem: &Problem<'_, G>,
        goal: Goal,
        options: &SolveOptions,
        progress: &Progress,
    ) -> Outcome {
        let limits = &options.limits;
        let Some(mut model) = Model::of(self, goal, limits) else {
            return Outcome::Unknown(limits.deadline.stop_reason().unwrap_or(StopReason::Memory));
        };
        for candidate in 0..MAX_CANDIDATES {
            let config = SearchConfig {
                deadline: limits.deadline.clone(),
                value_order: ValueOrder::Max,
                max_nodes: options.max_nodes,
                ..SearchConfig::default()
            };
            let report = match solve(&model.network, &config) {
                Ok(report) => report,
                Err(_) => return Outcome::Unknown(StopReason::Count),
            };
            progress.count(0, report.statistics.n_nodes);
            let Some(solution) = report.best() else {
                return match report.stopped {
                    None if candidate == 0 => Outcome::Impossible,
                    None => Outcome::Unknown(StopReason::Count),
                    Some(reason) => Outcome::Unknown(reason),
                };
            };
            let played = model.moves_in(solution);
            if let Some((reached, line)) = self.arrange(problem, goal, &played, limits) {
                return Outcome::Line(reached, line);
            }
            model.forbid(&played);
        }
        Outcome::Unknown(StopReason::Count)
    }

    /// Finds an order in which moves can be played and reach a goal.
    fn arrange<G: Game>(
        &self,
        problem: &Problem<'_, G>,
        goal: Goal,
        moves: &[MoveId],
        limits: &Limits,
    ) -> Option<(Goal, Vec<Vec<MoveId>>)> {
        let mut arrangement = Arrangement {
            effects: &self.effects,
            cursor: problem.game.cursor(),
            goal,
            n_left: MAX_ARRANGEMENTS,
            failed: FxHashSet::default(),
            limits,
            line: Vec::new(),
        };
        let mut moves = moves.to_vec();
        // Moves that forbid fewer of the others come first.
        let n_forbidden = |played: &MoveId| {
            let forbids = &self.effects.forbids[played.index()];
            moves.iter().filter(|other| forbids.contains(other.index())).count()
        };
        let mut ordered: Vec<(usize, MoveId)> =
            moves.iter().map(|played| (n_forbidden(played), *played)).collect();
        ordered.sort_unstable();
        moves = ordered.into_iter().map(|(_, played)| played).collect();
        let reached = arrangement.place(&problem.state, &mut moves)?;
        let line = arrangement.line.into_iter().map(|played| vec![played]).collect();
        Some((reached, line))
    }
}

/// States visited for one set of moves.
const MAX_ARRANGEMENTS: usize = 20_000;

/// A depth-first search for an order of moves.
struct Arrangement<'a, C: Cursor> {
    effects: &'a Effects,
    cursor: C,
    goal: Goal,
    n_left: usize,
    /// States from which the remaining moves lead nowhere. The moves played so far determine
    /// which remain.
    failed: FxHashSet<C::State>,
    limits: &'a Limits,
    line: Vec<MoveId>,
}

impl<C: Cursor> Arrangement<'_, C> {
    /// Plays the remaining moves from a state; returns the goal that they reach.
    fn place(&mut self, state: &C::State, remaining: &mut Vec<MoveId>) -> Option<Goal> {
        if self.n_left == 0 || self.failed.contains(state) {
            return None;
        }
        self.n_left -= 1;
        if self.n_left.is_multiple_of(256) && self.limits.deadline.reached() {
            self.n_left = 0;
            return None;
        }
        self.cursor.set_state(state);
        if self.cursor.is_terminal() {
            let goal = self.cursor.goal(puzzle_role());
            return (goal >= self.goal && !self.cursor.has_fault()).then_some(goal);
        }
        let legal = self.cursor.legal_moves(puzzle_role()).to_vec();
        for idx in 0..remaining.len() {
            let played = remaining[idx];
            let forbids = &self.effects.forbids[played.index()];
            let is_too_early = |other: &MoveId| *other != played && forbids.contains(other.index());
            if !legal.contains(&played) || remaining.iter().any(is_too_early) {
                continue;
            }
            remaining.remove(idx);
            self.line.push(played);
            self.cursor.set_state(state);
            self.cursor.play(&[played]);
            let next = self.cursor.state().clone();
            if let Some(goal) = self.place(&next, remaining) {
                return Some(goal);
            }
            self.line.pop();
            remaining.insert(idx, played);
        }
        self.failed.insert(state.clone());
        None
    }
}

/// The network of a goal.
struct Model {
    network: Network,
    /// For each move, the expression that is 1 if it is played.
    played: Vec<Expr>,
}

impl Model {
    /// Builds the network; `None` at a limit.
    fn of(puzzle: &Analysis, goal: Goal, limits: &Limits) -> Option<Self> {
        let Analysis { circuit, groups, .. } = puzzle;
        let mut last = FinalState::new(circuit, groups);
        let wanted: Vec<GateId> = (circuit.goals.iter())
            .filter(|&&(_, value, _)| value >= goal)
            .map(|&(_, _, gate)| gate)
            .collect();
        last.require(&[circuit.terminal], limits)?;
        last.require(&wanted, limits)?;
        let mut model = Self { network: Network::new(), played: Vec::new() };
        let exclusive = exclusive_moves(puzzle, &wanted, limits)?;
        let cliques = cliques(&exclusive);
        model.add_moves(puzzle, &mut last);
        model.add_choices(&cliques, &mut last);
        model.add_changes(puzzle, &mut last);
        model.add_exclusions(&exclusive, &mut last);
        for played in never_legal(puzzle) {
            last.network.require(Expr::Not(Box::new(model.played[played.index()].clone())));
        }
        model.add_length(puzzle, &cliques, &mut last);
        last.add_all_different();
        model.network = last.network;
        Some(model)
    }

    /// Creates the expression of each move: a literal of the final state if it says the same, and
    /// a variable if there is none.
    fn add_moves(&mut self, puzzle: &Analysis, last: &mut FinalState<'_>) {
        let Analysis { circuit, effects, state, .. } = puzzle;
        for idx in 0..circuit.vocabulary.moves.len() {
            let played = MoveId::new(idx);
            let says_the_same = effects.after[idx].iter().find(|&&literal| {
                let opposite = Literal { value: !literal.value, ..literal };
                state.contains(literal.fluent.index()) != literal.value
                    && effects.is_permanent(literal)
                    && effects.changers(opposite) == [played]
            });
            self.played.push(match says_the_same {
                Some(&literal) => last.literal(literal),
                None => Expr::Var(last.network.bool(format!("played {idx}"))),
            });
        }
    }

    /// Gives moves of which at most one is played a variable that says which.
    fn add_choices(&mut self, cliques: &[Vec<usize>], last: &mut FinalState<'_>) {
        for clique in cliques.iter().filter(|clique| clique.len() > 1) {
            let mut vars: Vec<VarId> =
                clique.iter().flat_map(|&idx| self.played[idx].scope()).collect();
            vars.dedup();
            if vars.len() == 1 {
                continue;
            }
            let choice = last.network.int("choice", 0..=clique.len() as Value);
            for (place, &idx) in clique.iter().enumerate() {
                let is_chosen = choice.equals(place as Value + 1);
                let before = std::mem::replace(&mut self.played[idx], is_chosen.clone());
                last.network.require(before.equals(is_chosen));
            }
        }
    }

    /// Relates the moves to what they change and to what they need.
    fn add_changes(&mut self, puzzle: &Analysis, last: &mut FinalState<'_>) {
        let Analysis { circuit, effects, clock, state, .. } = puzzle;
        let some_of = |moves: &[MoveId]| -> Vec<Expr> {
            moves.iter().map(|played| self.played[played.index()].clone()).collect()
        };
        for idx in 0..circuit.vocabulary.fluents.len() {
            if effects.autonomous.contains(idx) {
                continue;
            }
            let literal = Literal { fluent: FluentId::new(idx), value: state.contains(idx) };
            let mut clause = some_of(effects.changers(literal));
            let stays = last.literal(literal);
            if !clause
                .iter()
                .any(|part| *part == last.literal(Literal { value: !literal.value, ..literal }))
            {
                clause.push(stays);
                last.network.require(Expr::Or(clause));
            }
        }
        for idx in 0..circuit.vocabulary.moves.len() {
            let played = &self.played[idx];
            let is_not = Expr::Not(Box::new(played.clone()));
            for &literal in &effects.after[idx] {
                if effects.is_permanent(literal) {
                    let holds = last.literal(literal);
                    if holds != *played && !effects.autonomous.contains(literal.fluent.index()) {
                        last.network.require(Expr::Or(vec![is_not.clone(), holds]));
                    }
                }
            }
            for &literal in &effects.before[idx] {
                let fluent = literal.fluent.index();
                if effects.autonomous.contains(fluent) {
                    if clock.ticks.iter().all(|tick| tick.contains(fluent) != literal.value) {
                        last.network.require(is_not.clone());
                    }
                } else if state.contains(fluent) != literal.value {
                    let opposite = Literal { value: !literal.value, ..literal };
                    let mut clause = some_of(effects.changers(opposite));
                    clause.retain(|part| part != played);
                    clause.push(is_not.clone());
                    last.network.require(Expr::Or(clause));
                }
            }
        }
    }

    fn add_exclusions(&mut self, exclusive: &[BitSet], last: &mut FinalState<'_>) {
        let mut pairs = Vec::new();
        for (a, others) in exclusive.iter().enumerate() {
            for b in others.iter().filter(|&b| b > a) {
                pairs.push((self.played[a].clone(), self.played[b].clone()));
            }
        }
        last.exclude(pairs);
    }

    /// Relates the number of moves to the fluents that no move influences.
    fn add_length(&mut self, puzzle: &Analysis, cliques: &[Vec<usize>], last: &mut FinalState<'_>) {
        let Analysis { circuit, effects, clock, .. } = puzzle;
        let n_ticks = clock.ticks.len();
        if n_ticks < 2 {
            last.fix(&effects.autonomous, &clock.ticks[0]);
            return;
        }
        let length = last.network.int("length", 0..=(n_ticks - 1) as Value);
        last.follow(length, &effects.autonomous, &clock.ticks);
        let n_moves = circuit.vocabulary.moves.len();
        let is_once = (0..n_moves).all(|idx| effects.is_once(MoveId::new(idx)));
        let mut parts = Vec::new();
        for clique in cliques {
            let mut terms: Vec<Expr> = clique.iter().map(|&idx| self.played[idx].clone()).collect();
            if terms.len() == 1 {
                parts.append(&mut terms);
                continue;
            }
            let is_one = last.network.bool("one of a clique");
            last.network.require(Expr::Or(terms).equals(is_one));
            parts.push(Expr::Var(is_one));
        }
        let n_played = Expr::Sum(parts);
        if is_once && clock.is_limit {
            last.network.require(n_played.equals(length));
        } else if clock.is_limit {
            last.network.require(n_played.at_most(length));
        }
    }

    /// Returns the moves that a solution plays.
    fn moves_in(&self, solution: &[Value]) -> Vec<MoveId> {
        let value_of = |var: VarId| i64::from(solution[var.index()]);
        let is_played = |&idx: &usize| self.played[idx].holds(&value_of);
        (0..self.played.len()).filter(is_played).map(MoveId::new).collect()
    }

    /// Excludes a set of moves.
    fn forbid(&mut self, played: &[MoveId]) {
        let differs = (0..self.played.len()).map(|idx| {
            let is_played = self.played[idx].clone();
            match played.binary_search(&MoveId::new(idx)) {
                Ok(_) => Expr::Not(Box::new(is_played)),
                Err(_) => is_played,
            }
        });
        self.network.require(Expr::Or(differs.collect()));
    }
}

/// Word operations of the search for pairs of moves that exclude each other at the goal.
const MAX_PAIR_WORK: usize = 2_000_000_000;

/// For each move, the moves that cannot occur in a play with it that reaches one of the gates.
fn exclusive_moves(puzzle: &Analysis, wanted: &[GateId], limits: &Limits) -> Option<Vec<BitSet>> {
    let Analysis { circuit, effects, .. } = puzzle;
    let n_moves = circuit.vocabulary.moves.len();
    let mut exclusive = vec![BitSet::new(n_moves); n_moves];
    for a in 0..n_moves {
        for b in a + 1..n_moves {
            if effects.excludes(MoveId::new(a), MoveId::new(b)) {
                exclusive[a].insert(b);
                exclusive[b].insert(a);
            }
        }
    }
    let cone = Cones::new(circuit).of(wanted.iter().copied());
    if n_moves * n_moves.div_ceil(64) * cone.len() > MAX_PAIR_WORK {
        return Some(exclusive);
    }
    let mut lanes = Lanes::new(circuit);
    let lasting: Vec<Vec<Literal>> = (effects.after.iter())
        .map(|after| after.iter().copied().filter(|&it| effects.is_permanent(it)).collect())
        .collect();
    let mut assumptions = always_true(puzzle);
    for a in 0..n_moves {
        if limits.deadline.reached() {
            return None;
        }
        let mark = assumptions.mark();
        lasting[a].iter().for_each(|&literal| assumptions.assume(literal, u64::MAX));
        for start in (a + 1..n_moves).step_by(64) {
            let batch = start..(start + 64).min(n_moves);
            let inner = assumptions.mark();
            for (lane, b) in batch.clone().enumerate() {
                lasting[b].iter().for_each(|&literal| assumptions.assume(literal, 1 << lane));
            }
            lanes.evaluate(&cone, &assumptions);
            let mut refuted = first_lanes(batch.len());
            wanted.iter().for_each(|&gate| refuted &= lanes.known(gate).no);
            refuted |= assumptions.undo(inner) & first_lanes(batch.len());
            for (lane, b) in batch.enumerate() {
                if refuted >> lane & 1 == 1 {
                    exclusive[a].insert(b);
                    exclusive[b].insert(a);
                }
            }
        }
        assumptions.undo(mark);
    }
    Some(exclusive)
}

/// Assumes in all lanes what is true at first and never changes.
fn always_true(puzzle: &Analysis) -> Assumptions<'_> {
    let Analysis { circuit, groups, effects, clock, state } = puzzle;
    let mut assumptions = Assumptions::new(circuit, groups);
    for idx in 0..circuit.vocabulary.fluents.len() {
        let literal = Literal { fluent: FluentId::new(idx), value: state.contains(idx) };
        let is_constant = if effects.autonomous.contains(idx) {
            clock.ticks.iter().all(|tick| tick.contains(idx) == literal.value)
        } else {
            effects.is_permanent(literal)
        };
        if is_constant {
            assumptions.assume(literal, u64::MAX);
        }
    }
    assumptions
}

/// Returns the moves that are never legal, because of what is true at first and never changes.
fn never_legal(puzzle: &Analysis) -> Vec<MoveId> {
    let circuit = &puzzle.circuit;
    let mut lanes = Lanes::new(circuit);
    lanes.evaluate(&Cones::new(circuit).of(circuit.legal.iter().copied()), &always_true(puzzle));
    let is_never = |&idx: &usize| lanes.known(circuit.legal[idx]).no & 1 == 1;
    (0..circuit.legal.len()).filter(is_never).map(MoveId::new).collect()
}

/// Divides the moves into sets whose members exclude each other, greedily.
fn cliques(exclusive: &[BitSet]) -> Vec<Vec<usize>> {
    let mut cliques: Vec<Vec<usize>> = Vec::new();
    for (idx, others) in exclusive.iter().enumerate() {
        let fits = |clique: &&mut Vec<usize>| clique.iter().all(|&other| others.contains(other));
        match cliques.iter_mut().find(fits) {
            Some(clique) => clique.push(idx),
            None => cliques.push(vec![idx]),
        }
    }
    cliques
}

/// Returns the variables of a state: groups that share no fluent, the largest first, and a variable
/// for each remaining fluent.
pub(super) fn state_vars(n_fluents: usize, groups: &Groups) -> Vec<StateVar> {
    let mut is_taken = BitSet::new(n_fluents);
    let mut vars = Vec::new();
    for group in &groups.list {
        let mut fluents = group.fluents.clone();
        fluents.retain(|fluent| !is_taken.contains(fluent.index()));
        if fluents.len() > 1 {
            fluents.iter().for_each(|fluent| is_taken.insert(fluent.index()));
            let is_exact = group.is_exact && fluents.len() == group.fluents.len();
            vars.push(StateVar { fluents, is_exact });
        }
    }
    let left = (0..n_fluents).filter(|&idx| !is_taken.contains(idx)).map(FluentId::new);
    vars.extend(left.map(|fluent| StateVar { fluents: vec![fluent], is_exact: false }));
    vars
}

#[cfg(test)]
mod tests {
    use ludex_base::Deadline;

    use super::*;
    use crate::puzzle::breadth;
    use crate::puzzle::tests::{STAIRS, machine};
    use crate::solution::Solution;

    /// Place rooks on a board of four squares by four so that none attacks another; `legal` decides
    /// whether attacked squares may be used, and the goal whether attacks count.
    fn rooks(legal: &str, n_rooks: usize) -> String {
        format!(
            "(role you) (index 1) (index 2) (index 3) (succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4)
            (init (step 0))
            (<= (next (step ?y)) (true (step ?x)) (succ ?x ?y))
            (<= (next (rook ?x ?y)) (does you (place ?x ?y)))
            (<= (next (rook ?x ?y)) (true (rook ?x ?y)))
            (<= (legal you (place ?x ?y)) (index ?x) (index ?y) (not (true (rook ?x ?y))) {legal})
            (<= (attacked ?x ?y) (true (rook ?x ?z)) (index ?y) (distinct ?y ?z))
            (<= (attacked ?x ?y) (true (rook ?z ?y)) (index ?x) (distinct ?x ?z))
            (<= bad (true (rook ?x ?y)) (attacked ?x ?y))
            (<= terminal (true (step {n_rooks})))
            (<= (goal you 100) (not bad))
            (<= (goal you 20) bad)"
        )
    }

    fn solved(rules: &str, method: Method) -> Solution {
        let game = machine(rules);
        let problem = Problem::initial(&game).with_circuit(game.circuit());
        let options = SolveOptions { methods: vec![method], ..SolveOptions::default() };
        let solution = crate::solve(&problem, &options, &Progress::new());
        // Every reported line can be played and gives what it claims.
        let mut cursor = game.cursor();
        for joint in &solution.line {
            ludex_game::play_checked(&mut cursor, 1, joint).expect("a legal move");
        }
        if !solution.line.is_empty() {
            assert!(cursor.is_terminal());
            assert_eq!(cursor.goal(puzzle_role()), solution.bounds[0].lower);
        }
        solution
    }

    #[test]
    fn rooks_are_placed_whether_the_rules_or_the_goal_forbid_attacks() {
        for legal in ["", "(not (attacked ?x ?y))"] {
            let solution = solved(&rooks(legal, 3), Method::Placement);
            assert_eq!(solution.value(puzzle_role()), Some(Goal::MAX), "{legal}");
            assert_eq!(solution.line.len(), 3);
        }
    }

    #[test]
    fn four_rooks_on_three_rows_are_refuted_and_the_next_goal_is_found() {
        let solution = solved(&rooks("", 4), Method::Placement);
        assert_eq!(solution.value(puzzle_role()), Goal::new(20));
        assert_eq!(solution.evidence, Evidence::Constraints);
        assert_eq!(solution.bounds, solved(&rooks("", 4), Method::Breadth).bounds);
    }

    #[test]
    fn a_puzzle_whose_value_is_nothing_has_a_line_too() {
        let solution =
            solved(&rooks("", 4).replace("(goal you 20)", "(goal you 0)"), Method::Placement);
        assert_eq!(solution.value(puzzle_role()), Some(Goal::MIN));
        assert_eq!(solution.line.len(), 4);
    }

    /// Nine cells in a row are numbered from 1 to 9; the first and the last are given, and a number
    /// must be beside the numbers before and after it that are there.
    #[test]
    fn numbers_on_a_trail_are_placed_without_trying() {
        let mut rules = "(role you) (init (cell 1 1)) (init (cell 9 9))
            (<= (beside ?x ?y) (succ ?x ?y)) (<= (beside ?x ?y) (succ ?y ?x))
            (<= (used ?n) (true (cell ?x ?n)) (number ?n))
            (<= (fits ?x ?n) (number ?x) (number ?n) (not (used ?n)))
            (<= (fits ?x ?n) (beside ?x ?y) (true (cell ?y ?n)))
            (<= (legal you (place ?x ?n)) (true (cell ?x blank)) (number ?n) (not (used ?n))
                (succ ?m ?n) (succ ?n ?o) (fits ?x ?m) (fits ?x ?o))
            (legal you quit)
            (<= (next (cell ?x ?n)) (true (cell ?x ?n)) (number ?n))
            (<= (next (cell ?x ?n)) (does you (place ?x ?n)))
            (<= (next (cell ?x blank)) (true (cell ?x blank)) (does you (place ?y ?n)) (distinct ?x ?y))
            (<= (next (cell ?x blank)) (true (cell ?x blank)) (does you quit))
            (<= (next finished) (does you quit))
            (<= open (true (cell ?x blank)))
            (<= terminal (true finished)) (<= terminal (not open))
            (<= (goal you 100) (not open)) (<= (goal you 0) open)"
            .to_string();
        for n in 1..=9 {
            rules += &format!("(number {n})");
        }
        for n in 1..9 {
            rules += &format!("(succ {n} {})", n + 1);
        }
        for n in 2..9 {
            rules += &format!("(init (cell {n} blank))");
        }
        let solution = solved(&rules, Method::Placement);
        assert_eq!(solution.value(puzzle_role()), Some(Goal::MAX));
        assert_eq!(solution.line.len(), 7);
        assert!(solution.n_nodes < 100, "{}", solution.n_nodes);
    }

    #[test]
    fn a_puzzle_about_the_order_of_moves_is_not_solved_wrongly() {
        let with_network = solved(STAIRS, Method::Placement);
        let by_definition = solved(STAIRS, Method::Breadth);
        let value = by_definition.value(puzzle_role()).expect("the puzzle is small");
        assert!(with_network.bounds[0].contains(value), "{:?}", with_network.bounds);
    }

    /// Counts in binary, and is won when all bits are set.
    fn counter(n_bits: usize) -> String {
        let mut rules = "(role you) (init (bit -1)) (legal you wait)".to_string();
        rules += " (<= (next (bit -1)) (true (bit -1)))";
        let all = |n: usize| (0..n).map(|it| format!("(true (bit {it})) ")).collect::<String>();
        for bit in 0..n_bits {
            let lower = all(bit);
            rules += &format!("(<= (next (bit {bit})) (not (true (bit {bit}))) {lower})");
            for other in 0..bit {
                rules += &format!(
                    "(<= (next (bit {bit})) (true (bit {bit})) (not (true (bit {other}))))"
                );
            }
        }
        rules + &format!("(<= terminal {0}) (<= (goal you 100) {0})", all(n_bits))
    }

    #[test]
    fn a_clock_that_is_too_long_to_follow_refutes_nothing() {
        assert_eq!(solved(&counter(5), Method::Placement).bounds[0].upper, Goal::MAX);
        assert_eq!(solved(&counter(12), Method::Placement).bounds[0].upper, Goal::MAX);
    }

    #[test]
    fn a_reached_deadline_leaves_what_the_rules_imply() {
        let game = machine(&rooks("", 4));
        let problem = Problem::initial(&game).with_circuit(game.circuit());
        let progress = Progress::new();
        progress.begin(problem.bounds());
        let limits = Limits::usual().until(Deadline::after(std::time::Duration::ZERO));
        let options = SolveOptions { limits, ..SolveOptions::default() };
        assert_eq!(search(&problem, &options, &progress), Some(StopReason::Time));
        assert!(progress.bounds(puzzle_role()).contains(Goal::new(20).expect("a goal")));
        assert_eq!(breadth::search(&problem, &SolveOptions::default(), &progress), None);
    }
}
