//! Symmetries of the network of a step: the complement of its micro-structure, with the kinds of
//! variables as colors.
//!
//! Literals of fluents, moves, goals and percepts are told apart, and a literal of the state goes
//! where the same literal of the next state goes. Without a state, these are symmetries of the
//! rules; with one, those that also keep it. How the rules were written does not matter beyond what
//! encoding leaves of it: which fluents share a variable, and where conditions were cut.

use ludex_base::{BitSet, Deadline, FluentId, MoveId, PerceptId, RoleId};
use ludex_csp::symmetry::{
    Extra, Microstructure, NetworkSymmetries, StructureError, StructureLimits,
};
use ludex_csp::{Value, VarId};

use crate::template::Template;

/// A permutation of the fluents, moves, percepts and roles of a game; what is not listed stays.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StepSymmetry {
    /// Fluents with their images.
    pub fluents: Vec<(FluentId, FluentId)>,
    /// Moves with their images.
    pub moves: Vec<(MoveId, MoveId)>,
    /// Percepts with their images.
    pub percepts: Vec<(PerceptId, PerceptId)>,
    /// Roles with their images.
    pub roles: Vec<(RoleId, RoleId)>,
}

/// What to look for in the network of a step.
#[derive(Clone, Copy, Debug, Default)]
pub struct SymmetryRequest<'a> {
    /// Whether roles may be exchanged, `random` excepted.
    pub exchanges_roles: bool,
    /// A state to keep.
    pub state: Option<&'a BitSet>,
    /// Fluents that stay, because they have no part in the game.
    pub kept: Option<&'a BitSet>,
    /// How large the graph may become.
    pub limits: StructureLimits,
}

/// The symmetries of the network of a step.
#[derive(Clone, Debug)]
pub struct StepSymmetries {
    /// Generate the group; some may be equal.
    pub generators: Vec<StepSymmetry>,
    /// Whether no deadline ended the search.
    pub is_complete: bool,
    /// Vertices of the graph.
    pub n_vertices: usize,
    /// Edges of the graph.
    pub n_edges: usize,
}

/// Kinds of literals. Those of a role are followed by the same for the other roles.
mod kind {
    pub const FLUENT: i64 = 0;
    pub const NO_FLUENT: i64 = 1;
    pub const NEXT_FLUENT: i64 = 2;
    pub const NO_NEXT_FLUENT: i64 = 3;
    pub const END: i64 = 4;
    pub const NO_END: i64 = 5;
    /// A literal of the state that is true in the state to keep: added to the others.
    pub const TRUE: i64 = 8;
    /// A fluent that stays; the others follow.
    pub const KEPT: i64 = 1 << 40;
    /// The first move of `random`.
    pub const CHANCE: i64 = 1 << 20;
    /// A move of the first role, and of all roles if they may be exchanged.
    pub const MOVE: i64 = 1 << 21;
    pub const NO_MOVE: i64 = 1 << 22;
    pub const SEEN: i64 = 1 << 23;
    pub const NOT_SEEN: i64 = 1 << 24;
    /// A goal of 0 of the first role; other values follow, then other roles.
    pub const GOAL: i64 = 1 << 25;
    /// Groups of literals: a literal now and in the next state; all literals of a role.
    pub const SAME: i64 = 0;
    pub const ROLE: i64 = 1;
}

impl Template {
    /// Finds the symmetries of the network of a step.
    ///
    /// # Errors
    /// When the graph of the network is too large, or the deadline is reached before it is made.
    pub fn symmetries(
        &self,
        request: &SymmetryRequest<'_>,
        deadline: &Deadline,
    ) -> Result<StepSymmetries, StructureError> {
        let extra = self.kinds(request);
        let structure = Microstructure::new(&self.network, &extra, &request.limits, deadline)?;
        let found = structure.symmetries(deadline);
        Ok(StepSymmetries {
            generators: self.of_literals(&found),
            is_complete: found.is_complete,
            n_vertices: structure.graph().n_vertices(),
            n_edges: structure.graph().n_edges(),
        })
    }

    /// What tells the literals of the network apart.
    pub fn kinds(&self, request: &SymmetryRequest<'_>) -> Extra {
        let mut extra = Extra::default();
        for ((state_var, &now), &next) in self.state_vars.iter().zip(&self.now).zip(&self.next) {
            for value in 0..state_var.size() as Value {
                let fluent = state_var.fluent(value);
                let holds = |set: Option<&BitSet>| {
                    fluent.is_some_and(|it| set.is_some_and(|set| set.contains(it.index())))
                };
                let mut own = if fluent.is_some() { kind::FLUENT } else { kind::NO_FLUENT };
                if holds(request.kept) {
                    own = kind::KEPT + fluent.map_or(0, |it| it.index() as i64);
                } else if holds(request.state) {
                    own += kind::TRUE;
                }
                let later = if fluent.is_some() { kind::NEXT_FLUENT } else { kind::NO_NEXT_FLUENT };
                extra.kinds.push(((now, value), own));
                extra.kinds.push(((next, value), later));
                extra.groups.push((kind::SAME, vec![(now, value), (next, value)]));
            }
        }
        extra.kinds.push(((self.terminal, 1), kind::END));
        extra.kinds.push(((self.terminal, 0), kind::NO_END));
        let of_role = |role: RoleId| if request.exchanges_roles { 0 } else { role.index() as i64 };
        for of in &self.moves {
            let is_chance = self.chance.iter().any(|chance| chance.var == of.var);
            let mut of_this: Vec<(VarId, Value)> = Vec::new();
            for value in 0..=of.none() {
                let literal = (of.var, value);
                let own = match (is_chance, value == of.none()) {
                    (true, is_none) => kind::CHANCE + i64::from(is_none),
                    (false, false) => kind::MOVE + of_role(of.role),
                    (false, true) => kind::NO_MOVE + of_role(of.role),
                };
                extra.kinds.push((literal, own));
                of_this.push(literal);
            }
            let goal = self.goals[of.role.index()];
            let chance = if is_chance { 1 << 30 } else { 0 };
            for value in self.network.variable(goal).domain.iter() {
                let own = kind::GOAL + i64::from(value) + (of_role(of.role) << 8) + chance;
                extra.kinds.push(((goal, value), own));
                of_this.push((goal, value));
            }
            for (percept, &var) in self.percepts.iter().enumerate() {
                if self.percept_roles[percept] == of.role {
                    extra.kinds.push(((var, 1), kind::SEEN + of_role(of.role) + chance));
                    extra.kinds.push(((var, 0), kind::NOT_SEEN + of_role(of.role) + chance));
                    of_this.push((var, 1));
                }
            }
            extra.groups.push((kind::ROLE, of_this));
        }
        extra
    }

    /// What permutations of literals mean for fluents, moves, percepts and roles.
    pub fn of_literals(&self, found: &NetworkSymmetries) -> Vec<StepSymmetry> {
        enum What {
            Fluent(FluentId),
            Move(MoveId, RoleId),
            Percept(PerceptId),
            Other,
        }
        let mut what: Vec<What> = (0..found.literals.len()).map(|_| What::Other).collect();
        let mut note = |var: VarId, value: Value, is: What| {
            if let Some(literal) = found.literal(var, value) {
                what[literal as usize] = is;
            }
        };
        for (state_var, &now) in self.state_vars.iter().zip(&self.now) {
            for (place, &fluent) in state_var.fluents.iter().enumerate() {
                note(now, state_var.value_of(place), What::Fluent(fluent));
            }
        }
        for of in &self.moves {
            for value in 0..of.none() {
                if let Some(played) = of.played(value) {
                    note(of.var, value, What::Move(played, of.role));
                }
            }
        }
        for (percept, &var) in self.percepts.iter().enumerate() {
            note(var, 1, What::Percept(PerceptId::new(percept)));
        }
        let of_generator = |generator: &ludex_automorphism::SparsePermutation| {
            let mut symmetry = StepSymmetry::default();
            for &(from, to) in generator.moves() {
                match (&what[from as usize], &what[to as usize]) {
                    (What::Fluent(from), What::Fluent(to)) => symmetry.fluents.push((*from, *to)),
                    (What::Move(from, role), What::Move(to, image)) => {
                        symmetry.moves.push((*from, *to));
                        if role != image && !symmetry.roles.contains(&(*role, *image)) {
                            symmetry.roles.push((*role, *image));
                        }
                    }
                    (What::Percept(from), What::Percept(to)) => {
                        symmetry.percepts.push((*from, *to));
                    }
                    _ => {}
                }
            }
            symmetry
        };
        let all = found.generators.iter().map(of_generator);
        all.filter(|symmetry| *symmetry != StepSymmetry::default()).collect()
    }
}
