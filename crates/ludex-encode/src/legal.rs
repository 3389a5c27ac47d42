//! The legal moves, from the network alone, and how much of the solver that takes.

use ludex_base::{BitSet, Deadline, MoveId};
use ludex_csp::{Engine, Value, VarId, singleton_consistency};

use crate::steps::Steps;
use crate::template::Template;

/// The moves of each role that are part of a solution of a template.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PossibleMoves {
    /// By role, ascending.
    pub moves: Vec<Vec<MoveId>>,
    /// What it took to be sure of it.
    pub found_by: FoundBy,
}

/// What it took to find the moves that are part of a solution.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum FoundBy {
    /// Propagation left them: for each a solution was found without going back once.
    Propagation,
    /// Singleton consistency did, where propagation alone left too many.
    SingletonConsistency,
    /// Both left too many, or it was not plain that they did not; each was searched for.
    Search,
}

impl FoundBy {
    /// The words for reports.
    pub fn name(self) -> &'static str {
        match self {
            FoundBy::Propagation => "propagation",
            FoundBy::SingletonConsistency => "singleton consistency",
            FoundBy::Search => "search",
        }
    }
}

impl Steps<'_> {
    /// The legal moves of a state; no moves when the game is over.
    pub fn legal_moves(&self, state: &BitSet) -> PossibleMoves {
        let template = self.template();
        self.possible_moves(template.now.iter().copied().zip(template.values_of(state)))
    }

    /// As [`Steps::legal_moves`]; `None` when the time was up.
    pub fn legal_moves_by(&self, state: &BitSet, deadline: &Deadline) -> Option<PossibleMoves> {
        let template = self.template();
        self.possible_by(template.now.iter().copied().zip(template.values_of(state)), deadline)
    }

    /// The moves of each role that singleton consistency leaves in a state, without any search; `None`
    /// when it finds that there is no solution.
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

    /// The moves that are possible when some variables have these values, such as the fluents of a
    /// state that are known. Moves are left out that are legal in no state with these values that
    /// the groups of the template allow.
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
        // What was found after that may lack moves.
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

/// By role, the moves in the domain of its variable.
fn left(template: &Template, engine: &Engine) -> Vec<Vec<(VarId, Value, MoveId)>> {
    let of_role = |it: &crate::MoveVar| {
        let values = engine.domains().values(it.var);
        values.filter_map(|value| it.played(value).map(|id| (it.var, value, id))).collect()
    };
    template.moves.iter().map(of_role).collect()
}

/// The moves that are left, if each is part of a solution that is found without going back.
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

/// Opens a level in which a variable has a value; whether propagation allows it.
fn tries(engine: &mut Engine, var: VarId, value: Value) -> bool {
    engine.push_level();
    engine.decide(|domains| domains.fix(var, value)).is_ok()
}

/// The first variable that is not settled, moves first, with its first value.
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
