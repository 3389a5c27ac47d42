//! The main type of this crate: a checked rulesheet, ready for grounding or reasoning.

use std::fmt;

use ludex_base::graph::Graph;
use ludex_base::ids::narrow;
use ludex_base::{Span, Symbol, define_id};
use rustc_hash::FxHashSet;

use crate::keyword::Keyword;
use crate::terms::{TermId, Terms};

define_id! {
    /// A relation of some [`Program`]: a name with a number of arguments.
    pub struct RelationId;
}

impl From<Keyword> for RelationId {
    fn from(keyword: Keyword) -> Self {
        let position = Keyword::ALL.iter().position(|&other| other == keyword);
        RelationId::new(position.expect("every keyword is listed"))
    }
}

/// The rules of a game without `or` and nested formulas. They are safe: every variable of a rule
/// occurs in a positive literal of its body.
#[derive(Clone, Debug)]
pub struct Program {
    /// The ground terms that the rules mention.
    pub terms: Terms,
    /// The relations, those of the keywords first, in the order of [`Keyword::ALL`].
    pub relations: Vec<Relation>,
    /// Facts and rules, in order of writing.
    pub rules: Vec<Rule>,
    /// The relations that are evaluated only for the arguments they are called with, because their
    /// rules leave variables unbound. Few rulesheets have any.
    pub on_demand: Vec<OnDemand>,
}

/// A relation that is evaluated only for the arguments it is called with.
///
/// Rules of the program derive `demand` from the calls, and the rules of `relation` are joined with
/// it, so a bottom-up evaluation of all rules is enough. The exception is where calls depend on
/// answers through a negation: an atom that was not demanded yet is not false. A top-down
/// evaluation may ignore `demand` altogether.
#[derive(Clone, Debug)]
pub struct OnDemand {
    /// The relation.
    pub relation: RelationId,
    /// Holds for the arguments of the calls.
    pub demand: RelationId,
    /// The arguments of the relation that a call must bind, ascending: those of `demand`.
    pub inputs: Vec<usize>,
}

/// A relation, which rules derive and use.
#[derive(Clone, Debug)]
pub struct Relation {
    /// Its name.
    pub name: Symbol,
    /// Its number of arguments.
    pub arity: usize,
    /// What its truth depends on.
    pub stage: Stage,
}

/// What the truth of a relation depends on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Stage {
    /// The rules alone: the same in every state.
    Static,
    /// The state: reaches `true`.
    State,
    /// The state and the joint move: reaches `does`.
    Transition,
}

/// A rule: the head is true if every literal of the body is. A fact has no body and no variables.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The derived atom.
    pub head: Atom,
    /// The condition: a conjunction of literals.
    pub body: Vec<Literal>,
    /// The names of the variables, by their numbers.
    pub variables: Vec<Symbol>,
    /// The clause it comes from.
    pub span: Span,
}

/// A rule that an error is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RulePlace {
    /// The relation of its head.
    pub relation: Symbol,
    /// The name of that relation.
    pub name: String,
    /// Where the rule is in the rulesheet.
    pub span: Span,
}

/// A condition of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Literal {
    /// The atom is true.
    Positive(Atom),
    /// The atom is false.
    Negative(Atom),
    /// The two terms differ.
    Distinct(Pattern, Pattern),
}

/// A relation applied to terms that may have variables.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Atom {
    /// The relation.
    pub relation: RelationId,
    /// One pattern for each argument of the relation.
    pub args: Box<[Pattern]>,
}

/// A term that may have variables.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// The variable with this number in the rule.
    Variable(u32),
    /// A term without variables.
    Ground(TermId),
    /// A name applied to patterns of which at least one has a variable.
    Compound(Symbol, Box<[Pattern]>),
}

/// A maximal group of relations that depend on each other, or a single relation.
#[derive(Clone, Debug)]
pub struct Component {
    /// Its relations, ascending.
    pub relations: Vec<RelationId>,
    /// Whether a relation depends on itself, directly or through the others.
    pub is_recursive: bool,
    /// Whether it does so through a negation. Such a component has a meaning only if no ground atom
    /// depends on its own negation.
    pub has_inner_negation: bool,
}

impl Program {
    /// Returns a relation.
    pub fn relation(&self, id: RelationId) -> &Relation {
        &self.relations[id.index()]
    }

    /// Returns whether the program is GDL-II: some rule derives `sees`.
    pub fn has_percepts(&self) -> bool {
        self.rules.iter().any(|rule| rule.head.relation == Keyword::Sees.into())
    }

    /// Returns the roles in their order: those stated as facts in the order of the rulesheet, then
    /// those that only rules derive, in the order of their texts.
    ///
    /// All engines use this order. `derived` holds the roles that an engine has derived, in any
    /// order; `terms` are the terms of the program and those of the engine.
    pub fn ordered_roles(
        &self,
        terms: &Terms,
        derived: impl IntoIterator<Item = TermId>,
    ) -> Vec<TermId> {
        let stated = self.rules.iter().filter_map(|rule| match *rule.head.args {
            [Pattern::Ground(term)] if rule.body.is_empty() => {
                (rule.head.relation == Keyword::Role.into()).then_some(term)
            }
            _ => None,
        });
        let mut is_known = FxHashSet::default();
        let mut roles: Vec<TermId> = stated.filter(|&term| is_known.insert(term)).collect();
        let n_stated = roles.len();
        roles.extend(derived.into_iter().filter(|&term| is_known.insert(term)));
        roles[n_stated..].sort_by(|&left, &right| terms.compare_texts(left, right));
        roles
    }

    /// Returns the name of a relation as text.
    pub fn relation_name(&self, id: RelationId) -> &str {
        self.terms.symbols().name(self.relation(id).name)
    }

    /// Returns the first rule of a relation of this name that has a negative literal.
    pub fn negating_rule(&self, relation: Symbol) -> Option<&Rule> {
        let is_negative = |literal: &Literal| matches!(literal, Literal::Negative(_));
        self.rules.iter().find(|rule| {
            self.relation(rule.head.relation).name == relation && rule.body.iter().any(is_negative)
        })
    }

    /// Returns for each relation whether it is one of `roots` or one of them depends on it. `true`
    /// counts as depending on `next` and `init`, and `does` on `legal`.
    pub fn relevant_to(&self, roots: &[Keyword]) -> Vec<bool> {
        let mut is_relevant = vec![false; self.relations.len()];
        let mut open: Vec<RelationId> = roots.iter().map(|&root| root.into()).collect();
        let mut edges = vec![Vec::new(); self.relations.len()];
        for rule in &self.rules {
            edges[rule.head.relation.index()].extend(rule.dependencies().map(|(id, _)| id));
        }
        edges[RelationId::from(Keyword::True).index()]
            .extend([Keyword::Init, Keyword::Next].map(RelationId::from));
        edges[RelationId::from(Keyword::Does).index()].push(Keyword::Legal.into());
        while let Some(id) = open.pop() {
            if !std::mem::replace(&mut is_relevant[id.index()], true) {
                open.extend(&edges[id.index()]);
            }
        }
        is_relevant
    }

    /// Returns the relations grouped by mutual dependency, each group after those it depends on.
    /// `true` and `does` depend on nothing here: this is the order within one state.
    pub fn components(&self) -> Vec<Component> {
        let edges: Vec<(u32, u32)> = self
            .rules
            .iter()
            .flat_map(|rule| {
                let head = rule.head.relation;
                rule.dependencies().map(move |(id, _)| (narrow(head.index()), narrow(id.index())))
            })
            .collect();
        let (groups, group_of) = self.groups(&edges);
        let mut components: Vec<Component> = groups
            .into_iter()
            .map(|group| Component {
                relations: group.into_iter().map(|id| RelationId::new(id as usize)).collect(),
                is_recursive: false,
                has_inner_negation: false,
            })
            .collect();
        for rule in &self.rules {
            let group_idx = group_of[rule.head.relation.index()];
            for (id, is_positive) in rule.dependencies() {
                if group_of[id.index()] == group_idx {
                    components[group_idx].is_recursive = true;
                    components[group_idx].has_inner_negation |= !is_positive;
                }
            }
        }
        components
    }

    /// Returns whether terms may grow without end: whether some rule nests a variable deeper than the
    /// conditions do that bind it.
    ///
    /// A condition on a relation that does not depend on the head bounds its variables however deep
    /// they are. If this is false, the game has finitely many atoms.
    pub fn may_grow(&self) -> bool {
        let positive = self.rules.iter().flat_map(|rule| {
            let bodies = rule.dependencies().filter(|it| it.1).map(|it| it.0);
            bodies.map(|body| (rule.head.relation, body))
        });
        let over_time = [
            (Keyword::True, Keyword::Init),
            (Keyword::True, Keyword::Next),
            (Keyword::Does, Keyword::Legal),
        ];
        let over_time = over_time.map(|(of, by)| (RelationId::from(of), RelationId::from(by)));
        let edges: Vec<(u32, u32)> = positive
            .chain(over_time)
            .map(|(head, body)| (narrow(head.index()), narrow(body.index())))
            .collect();
        let group_of = self.groups(&edges).1;
        self.rules.iter().any(|rule| {
            let group = group_of[rule.head.relation.index()];
            // By variable, how deep it may be in the head.
            let mut bounds = vec![0; rule.n_variables()];
            for literal in &rule.body {
                if let Literal::Positive(atom) = literal {
                    let is_outside = group_of[atom.relation.index()] != group;
                    atom.for_each_depth(&mut |variable, depth| {
                        let bound = &mut bounds[variable as usize];
                        *bound = if is_outside { usize::MAX } else { depth.max(*bound) };
                    });
                }
            }
            let mut grows = false;
            rule.head.for_each_depth(&mut |variable, depth| {
                grows |= depth > bounds[variable as usize];
            });
            grows
        })
    }

    /// Computes the stage of each relation from the rules, from relations that depend on nothing upwards.
    pub fn set_stages(&mut self) {
        self.relations.iter_mut().for_each(|relation| relation.stage = Stage::Static);
        self.relations[RelationId::from(Keyword::True).index()].stage = Stage::State;
        self.relations[RelationId::from(Keyword::Does).index()].stage = Stage::Transition;
        let mut bodies = vec![Vec::new(); self.relations.len()];
        for rule in &self.rules {
            bodies[rule.head.relation.index()].extend(rule.dependencies().map(|(id, _)| id));
        }
        for component in self.components() {
            let members = component.relations.iter();
            let stage = members
                .flat_map(|id| bodies[id.index()].iter().chain([id]))
                .map(|id| self.relations[id.index()].stage)
                .max()
                .expect("a component has a relation");
            for id in &component.relations {
                self.relations[id.index()].stage = stage;
            }
        }
    }

    /// Groups the relations by mutual dependency; also returns the group of each relation.
    fn groups(&self, edges: &[(u32, u32)]) -> (Vec<Vec<u32>>, Vec<usize>) {
        let groups = Graph::new(self.relations.len(), edges).components();
        let mut group_of = vec![0; self.relations.len()];
        for (group_idx, group) in groups.iter().enumerate() {
            group.iter().for_each(|&id| group_of[id as usize] = group_idx);
        }
        (groups, group_of)
    }

    /// Displays the rule as text, for people.
    pub fn display_rule<'a>(&'a self, rule: &'a Rule) -> impl fmt::Display + 'a {
        DisplayRule { program: self, rule }
    }
}

impl Rule {
    /// Lists the relations of the body, each with whether it occurs positively.
    pub fn dependencies(&self) -> impl Iterator<Item = (RelationId, bool)> + '_ {
        self.body.iter().filter_map(|literal| match literal {
            Literal::Positive(atom) => Some((atom.relation, true)),
            Literal::Negative(atom) => Some((atom.relation, false)),
            Literal::Distinct(..) => None,
        })
    }

    /// Returns the number of variables of the rule.
    pub fn n_variables(&self) -> usize {
        self.variables.len()
    }
}

impl Literal {
    /// Calls `visit` with the number of each variable, in order of writing.
    pub fn for_each_variable(&self, visit: &mut (impl FnMut(u32) + ?Sized)) {
        match self {
            Literal::Positive(atom) | Literal::Negative(atom) => atom.for_each_variable(visit),
            Literal::Distinct(left, right) => {
                left.for_each_variable(visit);
                right.for_each_variable(visit);
            }
        }
    }
}

impl Atom {
    /// Calls `visit` with the number of each variable, in order of writing.
    pub fn for_each_variable(&self, visit: &mut (impl FnMut(u32) + ?Sized)) {
        self.args.iter().for_each(|arg| arg.for_each_variable(visit));
    }

    /// Calls `visit` with each variable and the number of functions around it.
    fn for_each_depth(&self, visit: &mut impl FnMut(u32, usize)) {
        self.args.iter().for_each(|arg| arg.for_each_depth(0, visit));
    }
}

impl Pattern {
    fn for_each_depth(&self, depth: usize, visit: &mut impl FnMut(u32, usize)) {
        match self {
            Pattern::Variable(variable) => visit(*variable, depth),
            Pattern::Ground(_) => {}
            Pattern::Compound(_, args) => {
                args.iter().for_each(|arg| arg.for_each_depth(depth + 1, visit));
            }
        }
    }

    /// Calls `visit` with the number of each variable, in order of writing.
    pub fn for_each_variable(&self, visit: &mut (impl FnMut(u32) + ?Sized)) {
        match self {
            Pattern::Variable(variable) => visit(*variable),
            Pattern::Ground(_) => {}
            Pattern::Compound(_, args) => args.iter().for_each(|arg| arg.for_each_variable(visit)),
        }
    }
}

struct DisplayRule<'a> {
    program: &'a Program,
    rule: &'a Rule,
}

impl DisplayRule<'_> {
    fn atom(&self, atom: &Atom, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.program.relation(atom.relation).name;
        self.application(name, &atom.args, f)
    }

    fn application(
        &self,
        name: Symbol,
        args: &[Pattern],
        f: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        let name = self.program.terms.symbols().name(name);
        if args.is_empty() {
            return f.write_str(name);
        }
        write!(f, "({name}")?;
        for arg in args {
            f.write_str(" ")?;
            self.pattern(arg, f)?;
        }
        f.write_str(")")
    }

    fn pattern(&self, pattern: &Pattern, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match pattern {
            Pattern::Variable(variable) => {
                let name = self.rule.variables[*variable as usize];
                write!(f, "?{}", self.program.terms.symbols().name(name))
            }
            Pattern::Ground(term) => write!(f, "{}", self.program.terms.display(*term)),
            Pattern::Compound(name, args) => self.application(*name, args, f),
        }
    }
}

impl fmt::Display for DisplayRule<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.rule.body.is_empty() {
            return self.atom(&self.rule.head, f);
        }
        f.write_str("(<= ")?;
        self.atom(&self.rule.head, f)?;
        for literal in &self.rule.body {
            f.write_str(" ")?;
            match literal {
                Literal::Positive(atom) => self.atom(atom, f)?,
                Literal::Negative(atom) => {
                    f.write_str("(not ")?;
                    self.atom(atom, f)?;
                    f.write_str(")")?;
                }
                Literal::Distinct(left, right) => {
                    f.write_str("(distinct ")?;
                    self.pattern(left, f)?;
                    f.write_str(" ")?;
                    self.pattern(right, f)?;
                    f.write_str(")")?;
                }
            }
        }
        f.write_str(")")
    }
}

#[cfg(test)]
mod tests {
    use ludex_base::Source;

    fn may_grow(rules: &str) -> bool {
        let (sheet, diagnostics) = crate::kif::parse_kif(&Source::new("test", rules));
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        crate::lower::lower(&sheet).0.may_grow()
    }

    #[test]
    fn terms_grow_where_a_head_nests_a_variable_deeper_than_its_conditions() {
        for bounded in [
            "(<= (next (cell ?x ?y ?w)) (true (cell ?x ?y ?w)))",
            "(<= (next (n ?y)) (true (n ?x)) (succ ?x ?y)) (succ 0 1)",
            "(<= (next (n (s ?x))) (true (n ?x)) (number (s ?x))) (number (s z))",
            "(<= (next ?f) (frame ?f)) (<= (frame (at ?x)) (true (at ?x)))",
            "(<= (at (f ?x)) (true (g ?x))) (<= terminal (at (f a)))",
            "(<= (next (had ?m)) (does p ?m)) (<= (legal p (go ?x)) (d ?x)) (d 1)",
        ] {
            assert!(!may_grow(bounded), "{bounded}");
        }
        for growing in [
            "(<= (next (n (s ?x))) (true (n ?x)))",
            "(<= (next (pair ?x ?y)) (true ?x) (true ?y))",
            "(<= (t (f ?x ?x)) (t ?x)) (t z)",
            "(<= (p (f ?x)) (q ?x)) (<= (q ?x) (p ?x)) (q a)",
            "(<= (next (had ?m)) (does p ?m)) (<= (legal p (go ?x)) (true ?x))",
        ] {
            assert!(may_grow(growing), "{growing}");
        }
    }
}
