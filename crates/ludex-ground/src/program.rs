//! The main type of this crate: a game without variables.

use std::fmt;
use std::sync::Arc;

use ludex_base::graph::Graph;
use ludex_base::ids::narrow;
use ludex_base::{FluentId, Goal, MoveId, PerceptId, RoleId, Symbol, define_id};
use ludex_gdl::{TermId, Terms, is_random_role};

define_id! {
    /// An atom of a ground program: a fluent, a move, or something derived.
    pub struct AtomId;
}

/// The ground rules of a game: everything that can ever happen in it.
///
/// Fluents have the first numbers, then moves, then derived atoms. A derived atom is true if the
/// body of one of its rules is; without rules it is never true. Positive cycles between atoms have
/// the least fixpoint as their meaning.
#[derive(Clone, Debug)]
pub struct GroundProgram {
    /// The roles, fluents, moves and percepts with their names.
    pub vocabulary: Arc<Vocabulary>,
    /// The fluents of the initial state, ascending.
    pub init: Vec<FluentId>,
    /// For each fluent, the atom that says whether it is true in the next state.
    pub next: Vec<AtomId>,
    /// For each move, the atom that says whether it is legal.
    pub legal: Vec<AtomId>,
    /// For each percept, the atom that says whether it is seen.
    pub sees: Vec<AtomId>,
    /// The atom that says whether the game is over; `None` if it never is.
    pub terminal: Option<AtomId>,
    /// The goal values that can be derived, each with its atom; sorted.
    pub goals: Vec<(RoleId, Goal, AtomId)>,
    /// Whether some rule of the program derives `sees`.
    pub has_percepts: bool,
    /// Sizes of the program before simplification.
    pub sizes: GroundSizes,
    pub(crate) derived: DerivedAtoms,
}

/// The names of a ground game: roles, fluents, moves and percepts with their terms.
#[derive(Clone, Debug)]
pub struct Vocabulary {
    /// The terms that the names consist of.
    pub terms: Terms,
    /// The roles, in the order of the rulesheet.
    pub roles: Vec<TermId>,
    /// The fluents, sorted by text; a [`FluentId`] is a position here.
    pub fluents: Vec<TermId>,
    /// The moves, sorted by role, then by text; a [`MoveId`] is a position here.
    pub moves: Vec<(RoleId, TermId)>,
    /// The percepts, sorted by role, then by text; a [`PerceptId`] is a position here.
    pub percepts: Vec<(RoleId, TermId)>,
    /// The binary relations that are the same in every state, in the order of the rulesheet. They
    /// are in no ground rule; the analysis of games uses them.
    pub static_pairs: Vec<StaticPairs>,
}

/// A binary relation that is the same in every state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StaticPairs {
    /// Its name.
    pub name: Symbol,
    /// The pairs it holds for, in the order of derivation.
    pub pairs: Vec<(TermId, TermId)>,
}

impl Vocabulary {
    /// Returns the name of a role.
    pub fn role_text(&self, id: RoleId) -> String {
        self.terms.display(self.roles[id.index()]).to_string()
    }

    /// Returns whether a role is `random`, which stands for chance.
    pub fn is_random(&self, id: RoleId) -> bool {
        let role = self.roles[id.index()];
        let name = self.terms.symbols().name(self.terms.name(role));
        self.terms.args(role).is_empty() && is_random_role(name)
    }

    /// Returns a move as the rulesheet writes it.
    pub fn move_text(&self, id: MoveId) -> String {
        self.terms.display(self.moves[id.index()].1).to_string()
    }

    /// Returns a fluent as the rulesheet writes it.
    pub fn fluent_text(&self, id: FluentId) -> String {
        self.terms.display(self.fluents[id.index()]).to_string()
    }

    /// Returns a percept as the rulesheet writes it.
    pub fn percept_text(&self, id: PerceptId) -> String {
        self.terms.display(self.percepts[id.index()].1).to_string()
    }

    /// Returns the move of a role with this text.
    pub fn find_move(&self, role: RoleId, text: &str) -> Option<MoveId> {
        self.find(&self.moves, role, text).map(MoveId::new)
    }

    /// Returns the percept of a role with this text.
    pub fn find_percept(&self, role: RoleId, text: &str) -> Option<PerceptId> {
        self.find(&self.percepts, role, text).map(PerceptId::new)
    }

    fn find(&self, sorted: &[(RoleId, TermId)], role: RoleId, text: &str) -> Option<usize> {
        let compare = |&(other, term): &(RoleId, TermId)| {
            other.cmp(&role).then_with(|| self.terms.display(term).to_string().as_str().cmp(text))
        };
        sorted.binary_search_by(compare).ok()
    }
}

/// Sizes before simplification.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GroundSizes {
    /// Atoms of relations that are the same in every state.
    pub n_static_atoms: usize,
    /// All other atoms that are derived or occur negated.
    pub n_atoms: usize,
    /// Instances of rules.
    pub n_instances: usize,
}

/// The derived atoms with their rules, stored in a few long vectors.
#[derive(Clone, Debug, Default)]
pub(crate) struct DerivedAtoms {
    pub names: Vec<(Symbol, Box<[TermId]>)>,
    /// The start of each atom's rules in `rule_starts`, and the end of the last.
    pub atom_starts: Vec<u32>,
    /// The start of each rule's body in `literals`, and the end of the last.
    pub rule_starts: Vec<u32>,
    pub literals: Vec<GroundLiteral>,
}

/// An atom, or its negation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroundLiteral(u32);

impl GroundLiteral {
    /// Creates a literal of an atom.
    pub fn new(atom: AtomId, is_positive: bool) -> Self {
        Self(narrow(atom.index()) << 1 | u32::from(!is_positive))
    }

    /// Returns the atom.
    pub fn atom(self) -> AtomId {
        AtomId::new(self.0 as usize >> 1)
    }

    /// Returns whether the literal is the atom rather than its negation.
    pub fn is_positive(self) -> bool {
        self.0 & 1 == 0
    }
}

impl fmt::Debug for GroundLiteral {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{:?}", if self.is_positive() { "" } else { "not " }, self.atom())
    }
}

/// A rule of a ground program.
#[derive(Clone, Copy, Debug)]
pub struct GroundRule<'a> {
    /// The derived atom.
    pub head: AtomId,
    /// The condition: a conjunction of literals.
    pub body: &'a [GroundLiteral],
}

/// What an atom stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AtomKind {
    /// The fluent is true now.
    Fluent(FluentId),
    /// The move is played now.
    Move(MoveId),
    /// Rules derive it.
    Derived,
}

impl GroundProgram {
    /// Returns the number of atoms.
    pub fn n_atoms(&self) -> usize {
        self.first_derived() + self.derived.names.len()
    }

    /// Returns the number of rules.
    pub fn n_rules(&self) -> usize {
        self.derived.rule_starts.len() - 1
    }

    /// Returns the total number of literals in the bodies of all rules.
    pub fn n_literals(&self) -> usize {
        self.derived.literals.len()
    }

    /// Returns what an atom stands for.
    pub fn kind(&self, atom: AtomId) -> AtomKind {
        let (n_fluents, idx) = (self.vocabulary.fluents.len(), atom.index());
        if idx < n_fluents {
            AtomKind::Fluent(FluentId::new(idx))
        } else if idx < self.first_derived() {
            AtomKind::Move(MoveId::new(idx - n_fluents))
        } else {
            AtomKind::Derived
        }
    }

    /// Iterates over the derived atoms, ascending.
    pub fn derived_atoms(&self) -> impl Iterator<Item = AtomId> + use<> {
        (self.first_derived()..self.n_atoms()).map(AtomId::new)
    }

    /// Iterates over the rules of an atom; fluents and moves have none.
    pub fn rules_of(&self, atom: AtomId) -> impl Iterator<Item = GroundRule<'_>> + '_ {
        let rules = match atom.index().checked_sub(self.first_derived()) {
            Some(idx) => self.derived.atom_starts[idx]..self.derived.atom_starts[idx + 1],
            None => 0..0,
        };
        rules.map(move |rule_idx| {
            let starts = &self.derived.rule_starts[rule_idx as usize..];
            let body = &self.derived.literals[starts[0] as usize..starts[1] as usize];
            GroundRule { head: atom, body }
        })
    }

    /// Returns an atom as text, for people. A relation that grounding added has the name of the
    /// relation it was added for.
    pub fn atom_text(&self, atom: AtomId) -> String {
        let applied = |name: &str, args: &[TermId]| {
            let args: String =
                args.iter().map(|&t| format!(" {}", self.vocabulary.terms.display(t))).collect();
            if args.is_empty() { name.to_owned() } else { format!("({name}{args})") }
        };
        match self.kind(atom) {
            AtomKind::Fluent(id) => applied("true", &[self.vocabulary.fluents[id.index()]]),
            AtomKind::Move(id) => {
                let (role, term) = self.vocabulary.moves[id.index()];
                applied("does", &[self.vocabulary.roles[role.index()], term])
            }
            AtomKind::Derived => {
                let (name, args) = &self.derived.names[atom.index() - self.first_derived()];
                applied(self.vocabulary.terms.symbols().name(*name), args)
            }
        }
    }

    /// Returns the strongly connected components of the derived atoms, in order of evaluation: an
    /// atom comes after the atoms that it depends on, or in one component with them.
    pub fn components(&self) -> Vec<Vec<AtomId>> {
        let first = self.first_derived();
        let mut edges = Vec::with_capacity(self.n_literals());
        for atom in self.derived_atoms() {
            for rule in self.rules_of(atom) {
                for literal in rule.body {
                    if let Some(to) = literal.atom().index().checked_sub(first) {
                        edges.push((narrow(atom.index() - first), narrow(to)));
                    }
                }
            }
        }
        let components = Graph::new(self.derived.names.len(), &edges).components();
        let to_atom = |idx: u32| AtomId::new(first + idx as usize);
        components.into_iter().map(|it| it.into_iter().map(to_atom).collect()).collect()
    }

    fn first_derived(&self) -> usize {
        self.vocabulary.fluents.len() + self.vocabulary.moves.len()
    }

    /// Finds an atom that depends on its own negation; the rules have a meaning only if there is
    /// none.
    pub(crate) fn negative_cycle(&self) -> Option<AtomId> {
        let mut component_of = vec![u32::MAX; self.n_atoms()];
        for (component_idx, component) in self.components().iter().enumerate() {
            component.iter().for_each(|atom| component_of[atom.index()] = narrow(component_idx));
        }
        for atom in self.derived_atoms() {
            for literal in self.rules_of(atom).flat_map(|rule| rule.body) {
                let is_inside = component_of[literal.atom().index()] == component_of[atom.index()];
                if is_inside && !literal.is_positive() {
                    return Some(literal.atom());
                }
            }
        }
        None
    }

    /// Returns the relation of a derived atom.
    pub(crate) fn relation_of(&self, atom: AtomId) -> Symbol {
        self.derived.names[atom.index() - self.first_derived()].0
    }
}
