//! The third step: the relevant rules, with their literals sorted by kind.

use std::collections::HashMap;

use ludex_base::ids::narrow;
use ludex_base::{Span, Symbol};
use ludex_gdl::{Atom, Keyword, Literal, Pattern, Program, RelationId, RulePlace, Stage, Terms};

use crate::estimate::Stats;
use crate::limits::GroundError;

/// Largest number of variables of a rule: a set of them is a word of this many bits.
pub(crate) const MAX_VARIABLES: usize = 128;

/// The keywords that play needs; rules that none of them depends on are left out.
pub(crate) const ROOTS: [Keyword; 7] = [
    Keyword::Role,
    Keyword::Init,
    Keyword::Legal,
    Keyword::Next,
    Keyword::Goal,
    Keyword::Terminal,
    Keyword::Sees,
];

/// The keywords that play asks for in every state.
const ASKED: [Keyword; 5] =
    [Keyword::Legal, Keyword::Next, Keyword::Goal, Keyword::Terminal, Keyword::Sees];

/// The relevant part of a program.
pub(crate) struct Clauses {
    pub terms: Terms,
    pub relations: Vec<RelationInfo>,
    pub clauses: Vec<Clause>,
    /// The relations that the program itself derives on demand, and their demands.
    pub on_demand: Vec<RelationId>,
}

#[derive(Clone, Debug)]
pub(crate) struct RelationInfo {
    pub name: Symbol,
    pub arity: usize,
    /// Its atoms are the same in every state and known before the play begins.
    pub is_static: bool,
    /// Its atoms are the same in every state and derived on demand; no rule negates it.
    pub is_lazy: bool,
    /// It only restricts the values of variables; its atoms are in no ground rule.
    pub is_guard: bool,
    /// It comes from the rulesheet; grounding added the others.
    pub is_written: bool,
    /// The relation that holds for the arguments it is asked with, and which arguments these are.
    pub demand: Option<(RelationId, Vec<usize>)>,
}

/// A rule: the head is true if the positives are, the negatives are not, and the pairs differ.
#[derive(Clone, Debug)]
pub(crate) struct Clause {
    pub head: Atom,
    pub positives: Vec<Positive>,
    pub negatives: Vec<Atom>,
    pub distinct: Vec<(Pattern, Pattern)>,
    pub n_variables: usize,
    /// The place of the original rule.
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct Positive {
    pub atom: Atom,
    /// It restricts the variables and is implied by the rest of the rule, so ground rules omit it.
    pub is_guard: bool,
}

impl Clause {
    /// Lists the positive literals, each with the statistics of its relation.
    pub fn with_stats<'a>(
        &'a self,
        stats: &'a [Stats],
    ) -> impl Iterator<Item = (&'a Atom, &'a Stats)> {
        self.positives.iter().map(|it| (&it.atom, &stats[it.atom.relation.index()]))
    }
}

impl Clause {
    /// Renumbers the variables in order of appearance, so that clauses that differ only in these numbers
    /// become equal.
    pub fn compacted(mut self) -> Self {
        let mut numbers: HashMap<u32, u32> = HashMap::new();
        renumber_atom(&mut self.head, &mut numbers);
        for positive in &mut self.positives {
            renumber_atom(&mut positive.atom, &mut numbers);
        }
        for atom in &mut self.negatives {
            renumber_atom(atom, &mut numbers);
        }
        for (left, right) in &mut self.distinct {
            renumber(left, &mut numbers);
            renumber(right, &mut numbers);
        }
        self.n_variables = numbers.len();
        self
    }
}

fn renumber_atom(atom: &mut Atom, numbers: &mut HashMap<u32, u32>) {
    atom.args.iter_mut().for_each(|arg| renumber(arg, numbers));
}

fn renumber(pattern: &mut Pattern, numbers: &mut HashMap<u32, u32>) {
    match pattern {
        Pattern::Variable(variable) => {
            let next = narrow(numbers.len());
            *variable = *numbers.entry(*variable).or_insert(next);
        }
        Pattern::Ground(_) => {}
        Pattern::Compound(_, args) => args.iter_mut().for_each(|arg| renumber(arg, numbers)),
    }
}

impl Clauses {
    /// Returns the first clause of a keyword, one with a body if there is any.
    pub fn place_of(&self, keyword: Keyword) -> RulePlace {
        let relation = RelationId::from(keyword);
        let of_keyword = || self.clauses.iter().filter(|clause| clause.head.relation == relation);
        let has_body = |clause: &&Clause| !clause.positives.is_empty();
        let clause = of_keyword().find(has_body).or_else(|| of_keyword().next());
        RulePlace {
            relation: self.info(relation).name,
            name: keyword.name().into(),
            span: clause.map_or_else(Span::default, |clause| clause.span),
        }
    }

    pub fn info(&self, relation: RelationId) -> &RelationInfo {
        &self.relations[relation.index()]
    }

    pub fn add_relation(&mut self, info: RelationInfo) -> RelationId {
        self.relations.push(info);
        RelationId::new(self.relations.len() - 1)
    }
}

/// Collects the clauses of a program that are relevant to some keywords.
///
/// # Errors
/// When a rule has more than [`MAX_VARIABLES`] variables.
pub(crate) fn gather(program: &Program, roots: &[Keyword]) -> Result<Clauses, GroundError> {
    let is_relevant = program.relevant_to(roots);
    let is_static = static_relations(program);
    let relations = program
        .relations
        .iter()
        .zip(&is_static)
        .map(|(relation, &is_static)| RelationInfo {
            name: relation.name,
            arity: relation.arity,
            is_static,
            is_lazy: false,
            is_guard: false,
            is_written: true,
            demand: None,
        })
        .collect();
    if let Some(rule) = program
        .rules
        .iter()
        .find(|rule| is_relevant[rule.head.relation.index()] && rule.n_variables() > MAX_VARIABLES)
    {
        return Err(GroundError::TooManyVariables {
            rule: RulePlace {
                relation: program.relation(rule.head.relation).name,
                name: program.relation_name(rule.head.relation).into(),
                span: rule.span,
            },
            n_variables: rule.n_variables(),
            max_variables: MAX_VARIABLES,
        });
    }
    check_init(program, &is_relevant, &is_static)?;
    let clauses = program
        .rules
        .iter()
        .filter(|rule| is_relevant[rule.head.relation.index()])
        .map(|rule| {
            let mut clause = Clause {
                head: rule.head.clone(),
                positives: Vec::new(),
                negatives: Vec::new(),
                distinct: Vec::new(),
                n_variables: rule.n_variables(),
                span: rule.span,
            };
            for literal in &rule.body {
                match literal.clone() {
                    Literal::Positive(atom) => {
                        clause.positives.push(Positive { atom, is_guard: false });
                    }
                    Literal::Negative(atom) => clause.negatives.push(atom),
                    Literal::Distinct(left, right) => clause.distinct.push((left, right)),
                }
            }
            clause
        })
        .collect();
    let on_demand = program.on_demand.iter().flat_map(|it| [it.relation, it.demand]).collect();
    let mut clauses = Clauses { terms: program.terms.clone(), relations, clauses, on_demand };
    clauses.relations[RelationId::from(Keyword::Init).index()].is_static = true;
    Ok(clauses)
}

/// Checks that the initial state can be evaluated in advance. Rules by which it depends on a state are no
/// rules of a game, but one relation on demand may be asked both by `init` and in states.
fn check_init(
    program: &Program,
    is_relevant: &[bool],
    is_static: &[bool],
) -> Result<(), GroundError> {
    for rule in &program.rules {
        let head = rule.head.relation;
        if head != Keyword::Init.into() || !is_relevant[head.index()] {
            continue;
        }
        if let Some((open, _)) = rule.dependencies().find(|(id, _)| !is_static[id.index()]) {
            let rule = RulePlace {
                relation: program.relation(head).name,
                name: program.relation_name(head).into(),
                span: rule.span,
            };
            let relation = program.relation_name(open).into();
            return Err(GroundError::InitNeedsOpen { relation, rule });
        }
    }
    Ok(())
}

/// Returns which relations can be evaluated in advance: those that depend neither on the state nor
/// on their own negation. (The ground program decides the latter, because it distinguishes atoms.)
fn static_relations(program: &Program) -> Vec<bool> {
    let mut is_static: Vec<bool> =
        program.relations.iter().map(|relation| relation.stage == Stage::Static).collect();
    // Relations that play asks for in every state are part of the ground program, even if the
    // answer is fixed.
    for keyword in ASKED {
        is_static[RelationId::from(keyword).index()] = false;
    }
    let components = program.components();
    for component in &components {
        if component.has_inner_negation {
            component.relations.iter().for_each(|id| is_static[id.index()] = false);
        }
    }
    let mut bodies = vec![Vec::new(); program.relations.len()];
    for rule in &program.rules {
        bodies[rule.head.relation.index()].extend(rule.dependencies().map(|(id, _)| id));
    }
    // A component comes after those that it depends on, so one pass is enough.
    for component in components {
        let mut depends_on = component.relations.iter().flat_map(|id| &bodies[id.index()]);
        let members = &component.relations;
        if !depends_on.all(|id| is_static[id.index()] || members.binary_search(id).is_ok())
            || !members.iter().all(|id| is_static[id.index()])
        {
            members.iter().for_each(|id| is_static[id.index()] = false);
        }
    }
    is_static
}
