//! The rules of a game, with their variables, as a colored graph.
//!
//! An automorphism renames constants, functions and relations and permutes their arguments, so that
//! the rules stay the same up to their order and the names of variables. This finds only what the
//! text shows: rules that say the same in different words hide symmetries. The circuit does not
//! have this defect; the rule graph is here for comparison.
//!
//! After Schiffel, *Symmetry Detection in General Game Playing*, 2010. Initial facts are left out:
//! they are no part of the rules that states follow.

use ludex_automorphism::{GraphBuilder, SparsePermutation, automorphisms};
use ludex_base::{Deadline, Symbol};
use ludex_circuit::Circuit;
use ludex_gdl::{Atom, Keyword, Literal, Pattern, Program, RelationId, TermId, Terms};
use ludex_ground::Vocabulary;
use num_bigint::BigUint;
use rustc_hash::FxHashMap;

use super::Symmetries;
use super::circuit_graph::{CircuitGraph, RoleExchange};
use super::points::{Points, Symmetry};

mod color {
    pub const RULE: u32 = 0;
    pub const HEAD: u32 = 1;
    pub const POSITIVE: u32 = 2;
    pub const NEGATIVE: u32 = 3;
    pub const DISTINCT: u32 = 4;
    pub const ARGUMENT: u32 = 5;
    pub const TERM: u32 = 6;
    pub const VARIABLE: u32 = 7;
    pub const RELATION: u32 = 8;
    pub const FUNCTION: u32 = 9;
    pub const CONSTANT: u32 = 10;
    pub const PLACE: u32 = 11;
    /// The first keyword; the others follow.
    pub const KEYWORD: u32 = 100;
    /// The first argument of a keyword; the others follow.
    pub const KEYWORD_PLACE: u32 = 200;
    /// The first constant that stays itself; the others follow.
    pub const KEPT: u32 = 1000;
}

/// Finds the symmetries that the text of the rules shows, and proves them on the circuit.
///
/// The generators are those of the rule graph that are symmetries of the ground game; with a
/// deadline that ends the search there may be more.
pub fn find_rule_symmetries(
    program: &Program,
    circuit: &Circuit,
    exchange: RoleExchange,
    deadline: &Deadline,
) -> Symmetries {
    let mut graph = RuleGraph::new(program, exchange);
    graph.add_rules();
    let RuleGraph { builder, functions, .. } = graph;
    let built = builder.build();
    let found = automorphisms(&built, deadline);
    let proof = CircuitGraph::new(circuit, exchange, None);
    let points = Points::of(circuit);
    let mut symmetries = Symmetries {
        points,
        generators: Vec::new(),
        order: BigUint::from(1_u32),
        is_complete: found.is_complete,
    };
    for generator in &found.generators {
        if deadline.reached() {
            symmetries.is_complete = false;
            break;
        }
        let renaming = Renaming { functions: &functions, generator };
        let induced = renaming.on_points(&circuit.vocabulary, points);
        let symmetry = induced.and_then(|induced| Symmetry::new(circuit, induced));
        if let Some(symmetry) = symmetry
            && !symmetry.permutation().is_identity()
            && proof.proves(&symmetry)
        {
            symmetries.generators.push(symmetry);
        }
    }
    match symmetries.group(deadline) {
        Ok(group) => symmetries.order = group.order(),
        Err(_) => symmetries.is_complete = false,
    }
    symmetries
}

/// The vertices of a name with its arguments.
#[derive(Clone, Debug)]
struct Name {
    vertex: u32,
    places: Vec<u32>,
}

/// The names of functions and constants: by symbol and number of arguments.
type Functions = FxHashMap<(Symbol, usize), Name>;

struct RuleGraph<'a> {
    program: &'a Program,
    exchange: RoleExchange,
    builder: GraphBuilder,
    relations: FxHashMap<RelationId, Name>,
    functions: Functions,
    /// The constants that are roles, in order.
    roles: Vec<Symbol>,
}

impl<'a> RuleGraph<'a> {
    fn new(program: &'a Program, exchange: RoleExchange) -> Self {
        let role = RelationId::from(Keyword::Role);
        let of_role = program.rules.iter().filter(|rule| rule.head.relation == role);
        let roles = of_role.filter_map(|rule| match rule.head.args[..] {
            [Pattern::Ground(term)] => Some(program.terms.name(term)),
            _ => None,
        });
        Self {
            program,
            exchange,
            roles: roles.collect(),
            builder: GraphBuilder::new(),
            relations: FxHashMap::default(),
            functions: FxHashMap::default(),
        }
    }

    fn add_rules(&mut self) {
        let left_out = [Keyword::Init, Keyword::Base, Keyword::Input].map(RelationId::from);
        for rule in &self.program.rules {
            if left_out.contains(&rule.head.relation) {
                continue;
            }
            let vertex = self.builder.add_vertex(color::RULE);
            let mut variables = vec![None; rule.variables.len()];
            self.add_atom(vertex, color::HEAD, &rule.head, &mut variables);
            for literal in &rule.body {
                match literal {
                    Literal::Positive(atom) => {
                        self.add_atom(vertex, color::POSITIVE, atom, &mut variables);
                    }
                    Literal::Negative(atom) => {
                        self.add_atom(vertex, color::NEGATIVE, atom, &mut variables);
                    }
                    Literal::Distinct(a, b) => {
                        let distinct = self.builder.add_vertex(color::DISTINCT);
                        self.builder.add_arc(vertex, distinct);
                        for pattern in [a, b] {
                            let term = self.pattern(pattern, &mut variables);
                            self.builder.add_arc(distinct, term);
                        }
                    }
                }
            }
        }
    }

    fn add_atom(&mut self, rule: u32, color: u32, atom: &Atom, variables: &mut [Option<u32>]) {
        let vertex = self.builder.add_vertex(color);
        self.builder.add_arc(rule, vertex);
        let name = self.relation(atom.relation);
        self.builder.add_arc(vertex, name.vertex);
        for (pattern, &place) in atom.args.iter().zip(&name.places) {
            let term = self.pattern(pattern, variables);
            self.add_argument(vertex, place, term);
        }
    }

    fn add_argument(&mut self, of: u32, place: u32, term: u32) {
        let argument = self.builder.add_vertex(color::ARGUMENT);
        self.builder.add_arc(of, argument);
        self.builder.add_arc(argument, place);
        self.builder.add_arc(argument, term);
    }

    fn pattern(&mut self, pattern: &Pattern, variables: &mut [Option<u32>]) -> u32 {
        match pattern {
            Pattern::Variable(number) => {
                let builder = &mut self.builder;
                *variables[*number as usize]
                    .get_or_insert_with(|| builder.add_vertex(color::VARIABLE))
            }
            Pattern::Ground(term) => self.term(*term),
            Pattern::Compound(name, args) => {
                let vertex = self.builder.add_vertex(color::TERM);
                let name = self.function(*name, args.len());
                self.builder.add_arc(vertex, name.vertex);
                for (pattern, &place) in args.iter().zip(&name.places) {
                    let term = self.pattern(pattern, variables);
                    self.add_argument(vertex, place, term);
                }
                vertex
            }
        }
    }

    fn term(&mut self, term: TermId) -> u32 {
        let terms = &self.program.terms;
        let args = terms.args(term);
        let name = self.function(terms.name(term), args.len());
        if args.is_empty() {
            return name.vertex;
        }
        let vertex = self.builder.add_vertex(color::TERM);
        self.builder.add_arc(vertex, name.vertex);
        for (&arg, &place) in args.iter().zip(&name.places) {
            let arg = self.term(arg);
            self.add_argument(vertex, place, arg);
        }
        vertex
    }

    fn relation(&mut self, relation: RelationId) -> Name {
        if let Some(name) = self.relations.get(&relation) {
            return name.clone();
        }
        let arity = self.program.relation(relation).arity;
        let keyword = Keyword::ALL.iter().position(|&it| RelationId::from(it) == relation);
        let name = match keyword {
            Some(number) => {
                let vertex = self.builder.add_vertex(color::KEYWORD + number as u32);
                let places = (0..arity as u32).map(|at| color::KEYWORD_PLACE + at);
                Name { vertex, places: places.map(|it| self.builder.add_vertex(it)).collect() }
            }
            None => self.name(color::RELATION, arity),
        };
        self.relations.insert(relation, name.clone());
        name
    }

    fn function(&mut self, symbol: Symbol, arity: usize) -> Name {
        if let Some(name) = self.functions.get(&(symbol, arity)) {
            return name.clone();
        }
        let text = self.program.terms.symbols().name(symbol);
        let role = self.roles.iter().position(|&role| role == symbol);
        let name = match (arity, role) {
            (0, Some(number)) if self.exchange == RoleExchange::Forbidden => {
                self.name(color::KEPT + number as u32, 0)
            }
            // Goals are numbers with a meaning, and so is chance.
            (0, _) if text == "random" => self.name(color::KEPT - 1, 0),
            (0, _) => match self.goal_value(symbol) {
                Some(value) => self.name(color::KEPT + self.roles.len() as u32 + value, 0),
                None => self.name(color::CONSTANT, 0),
            },
            (arity, _) => self.name(color::FUNCTION, arity),
        };
        self.functions.insert((symbol, arity), name.clone());
        name
    }

    fn name(&mut self, color: u32, arity: usize) -> Name {
        let vertex = self.builder.add_vertex(color);
        let places: Vec<u32> = (0..arity).map(|_| self.builder.add_vertex(color::PLACE)).collect();
        places.iter().for_each(|&place| self.builder.add_arc(vertex, place));
        Name { vertex, places }
    }

    /// The value of a constant that some rule gives as a goal.
    fn goal_value(&self, symbol: Symbol) -> Option<u32> {
        let goal = RelationId::from(Keyword::Goal);
        let is_goal = self.program.rules.iter().any(|rule| {
            rule.head.relation == goal
                && matches!(rule.head.args.get(1), Some(&Pattern::Ground(term))
                    if self.program.terms.name(term) == symbol)
        });
        let value = self.program.terms.symbols().name(symbol).parse::<u32>().ok();
        value.filter(|&value| is_goal && value <= 100)
    }
}

/// What an automorphism does to the names of a game.
struct Renaming<'a> {
    functions: &'a Functions,
    generator: &'a SparsePermutation,
}

impl Renaming<'_> {
    /// The permutation of fluents, moves, roles and percepts; `None` if it takes one of them to a
    /// term that the ground game does not have.
    fn on_points(&self, vocabulary: &Vocabulary, points: Points) -> Option<SparsePermutation> {
        let terms = &vocabulary.terms;
        let by_vertex: FxHashMap<u32, &(Symbol, usize)> =
            self.functions.iter().map(|(key, name)| (name.vertex, key)).collect();
        let image = |term: TermId| self.term(terms, &by_vertex, term);
        let mut moves: Vec<(u32, u32)> = Vec::new();
        let mut role_image = Vec::new();
        for (idx, &role) in vocabulary.roles.iter().enumerate() {
            let to = vocabulary.roles.iter().position(|&it| Some(it) == image(role))?;
            moves.push((idx as u32, to as u32));
            role_image.push(to);
        }
        let first_fluent = vocabulary.roles.len() as u32;
        let number_of: FxHashMap<TermId, u32> =
            vocabulary.fluents.iter().copied().zip(first_fluent..).collect();
        for (&fluent, &number) in &number_of {
            moves.push((number, *number_of.get(&image(fluent)?)?));
        }
        let mut first = first_fluent + vocabulary.fluents.len() as u32;
        for list in [&vocabulary.moves, &vocabulary.percepts] {
            let number_of: FxHashMap<(usize, TermId), u32> =
                list.iter().map(|&(role, term)| (role.index(), term)).zip(first..).collect();
            for (&(role, term), &number) in &number_of {
                moves.push((number, *number_of.get(&(role_image[role], image(term)?))?));
            }
            first += list.len() as u32;
        }
        debug_assert_eq!(first as usize, points.n_points());
        moves.retain(|(from, to)| from != to);
        SparsePermutation::new(moves)
    }

    /// The image of a term; `None` if there is no such term.
    fn term(
        &self,
        terms: &Terms,
        by_vertex: &FxHashMap<u32, &(Symbol, usize)>,
        term: TermId,
    ) -> Option<TermId> {
        let args = terms.args(term);
        let Some(name) = self.functions.get(&(terms.name(term), args.len())) else {
            // The rules do not mention it, so nothing renames it.
            return Some(term);
        };
        let (symbol, _) = **by_vertex.get(&self.generator.image(name.vertex))?;
        let target = &self.functions[&(symbol, args.len())];
        let mut images = vec![None; args.len()];
        for (&arg, &place) in args.iter().zip(&name.places) {
            let to = self.generator.image(place);
            let at = target.places.iter().position(|&it| it == to)?;
            images[at] = Some(self.term(terms, by_vertex, arg)?);
        }
        terms.find(symbol, &images.into_iter().collect::<Option<Vec<_>>>()?)
    }
}
