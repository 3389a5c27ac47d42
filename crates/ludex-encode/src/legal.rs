//! Computes legal moves from the network alone, and reports which solving method that takes.

use ludex_base::{BitSet, Deadline, MoveId};
use ludex_csp::{Engine, Value, VarId, singleton_consistency};

use crate::steps::Steps;
use crate::template::Template;

/// The moves of each role that are part of a solution of a template.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PossibleMoves {
    /// By role, ascending.
    pub moves: Vec<Vec<MoveId>>,
    /// The method that confirmed them.
    pub found_by: FoundBy,
}

/// The weakest method that finds the moves that are part of a solution.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum FoundBy {
    /// Propagation: each remaining move has a solution that is found without backtracking.
    Propagation,
    /// Singleton consistency, because propagation alone leaves too many moves.
    SingletonConsistency,
    /// Search, because both leave too many moves, or moves that are not confirmed without
    /// backtracking.
    Search,
}

impl FoundBy {
    /// Returns the words for reports.
    pub fn name(self) -> &'static str {
        match self {
            FoundBy::Propagation => "propagation",
            FoundBy::SingletonConsistency => "singleton consistency",
            FoundBy::Search => "search",
        }
    }
}

impl Steps<'_> {
    /// Returns the legal moves of a state; none if the game is over.
    pub fn legal_moves(&self, state: &BitSet) -> PossibleMoves {
        let template = self.template();
        self.possible_moves(template.now.iter().copied().zip(template.values_of(state)))
    }

    /// As [`Steps::legal_moves`], or `None` if the deadline is reached.
    pub fn legal_moves_by(&self, state: &BitSet, deadline: &Deadline) -> Option<PossibleMoves> {
        let template = self.template();
        self.possible_by(template.now.iter().copied().zip(template.values_of(state)), deadline)
    }

    /// Returns the moves of each role that singleton consistency leaves in a state, without search,
    /// or `None` if it finds that there is no solution.
    pub fn singleton_moves(&self, state: &BitSet) -> Option<Vec<Vec<MoveId>>> {
        let template = self.template();
        let mut engine = self.posted();
        for (&var, value) in template.now.iter().zip(template.values_of(state)) {
            engine.assign(var, value).ok()?;
        }
        singleton_consistency(&mut engine, &Deadline::never()).ok()?;
        let left = left(template, &engine);
        Some(left.iter().map(|of_role| of_role.iter().map(|(_, _, id)| *id).collect()).collect())
    }

    /// Returns the possible moves if some variables have these values, such as the known fluents of
    /// a state. A move is excluded if it is illegal in every state that has these values and
    /// satisfies the groups of the template.
    pub fn possible_moves(&self, known: impl IntoIterator<Item = (VarId, Value)>) -> PossibleMoves {
        self.possible_by(known, &Deadline::never()).expect("there is no deadline")
    }

    fn possible_by(
        &self,
        known: impl IntoIterator<Item = (VarId, Value)>,
        deadline: &Deadline,
    ) -> Option<PossibleMoves> {
        let mut engine = self.posted();
        engine.set_deadline(deadline);
        let found = possible(self.template(), &mut engine, known, deadline);
        // A result after the deadline may lack moves.
        (!engine.is_stopped() && !deadline.reached()).then_some(found)
    }
}

fn possible(
    template: &Template,
    engine: &mut Engine,
    known: impl IntoIterator<Item = (VarId, Value)>,
    deadline: &Deadline,
) -> PossibleMoves {
    let nothing =
        |found_by| PossibleMoves { moves: vec![Vec::new(); template.moves.len()], found_by };
    for (var, value) in known {
        if engine.assign(var, value).is_err() {
            return nothing(FoundBy::Propagation);
        }
    }
    if let Some(moves) = confirmed(template, engine) {
        return PossibleMoves { moves, found_by: FoundBy::Propagation };
    }
    if singleton_consistency(engine, deadline).is_err() {
        return nothing(FoundBy::SingletonConsistency);
    }
    if let Some(moves) = confirmed(template, engine) {
        return PossibleMoves { moves, found_by: FoundBy::SingletonConsistency };
    }
    let moves = left(template, engine).into_iter().map(|of_role| {
        let has_solution =
            |&(var, value, _): &(VarId, Value, MoveId)| search(template, engine, var, value);
        let found = of_role.into_iter().filter(has_solution);
        found.map(|(_, _, id)| id).collect()
    });
    PossibleMoves { moves: moves.collect(), found_by: FoundBy::Search }
}

/// Returns by role the moves in the domain of its variable.
fn left(template: &Template, engine: &Engine) -> Vec<Vec<(VarId, Value, MoveId)>> {
    let of_role = |it: &crate::MoveVar| {
        let values = engine.domains().values(it.var);
        values.filter_map(|value| it.played(value).map(|id| (it.var, value, id))).collect()
    };
    template.moves.iter().map(of_role).collect()
}

/// Returns the remaining moves if each has a solution that is found without backtracking.
fn confirmed(template: &Template, engine: &mut Engine) -> Option<Vec<Vec<MoveId>>> {
    let left = left(template, engine);
    for &(var, value, _) in left.iter().flatten() {
        let mut is_open = tries(engine, var, value);
        while is_open && let Some((next, at)) = open(template, engine) {
            engine.push_level();
            is_open = engine.decide(|domains| domains.fix_index(next, at)).is_ok();
        }
        engine.pop_to(0);
        if !is_open {
            return None;
        }
    }
    Some(left.iter().map(|of_role| of_role.iter().map(|(_, _, id)| *id).collect()).collect())
}

/// Pushes a level that assigns a value to a variable, and returns whether propagation succeeds.
fn tries(engine: &mut Engine, var: VarId, value: Value) -> bool {
    engine.push_level();
    engine.decide(|domains| domains.fix(var, value)).is_ok()
}

/// Returns the first unfixed variable, moves first, with its first value.
fn open(template: &Template, engine: &Engine) -> Option<(VarId, u32)> {
    let domains = engine.domains();
    let moves = template.moves.iter().map(|it| it.var);
    let var = moves.chain(domains.variables()).find(|&var| !domains.is_fixed(var))?;
    Some((var, domains.index_bounds(var).0))
}

/// Whether there is a solution with this value.
fn search(template: &Template, engine: &mut Engine, var: VarId, value: Value) -> bool {
    let is_found = tries(engine, var, value) && search_rest(template, engine);
    engine.pop_to(0);
    is_found
}

fn search_rest(template: &Template, engine: &mut Engine) -> bool {
    let Some((var, first)) = open(template, engine) else { return true };
    let mut index = Some(first);
    while let Some(at) = index {
        engine.push_level();
        let is_open = engine.decide(|domains| domains.fix_index(var, at)).is_ok();
        if is_open && search_rest(template, engine) {
            return true;
        }
        engine.pop_level();
        index = engine.domains().next_index(var, at + 1);
    }
    false
}
