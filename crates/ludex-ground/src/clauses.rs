//! The second step: the rules that matter, with their literals sorted by kind.

use ludex_base::{Span, Symbol};
use ludex_gdl::{Atom, Keyword, Literal, Pattern, Program, RelationId, Stage, Terms};

use crate::estimate::Stats;
use crate::limits::{GroundError, RulePlace};

/// Variables of a rule that the joins can tell apart: sets of them are words of that many bits.
pub(crate) const MAX_VARIABLES: usize = 128;

/// What the game needs to know; everything else can be left out.
pub(crate) const ROOTS: [Keyword; 7] = [
    Keyword::Role,
    Keyword::Init,
    Keyword::Legal,
    Keyword::Next,
    Keyword::Goal,
    Keyword::Terminal,
    Keyword::Sees,
];

/// What is asked in every state.
const ASKED: [Keyword; 5] =
    [Keyword::Legal, Keyword::Next, Keyword::Goal, Keyword::Terminal, Keyword::Sees];

/// The relevant part of a program.
pub(crate) struct Clauses {
    pub terms: Terms,
    pub relations: Vec<RelationInfo>,
    pub clauses: Vec<Clause>,
}

#[derive(Clone, Debug)]
pub(crate) struct RelationInfo {
    pub name: Symbol,
    pub arity: usize,
    /// Its atoms are the same in every state and known when grounding ends.
    pub is_static: bool,
    /// It only says which values variables range over; its atoms are in no ground rule.
    pub is_guard: bool,
    /// The rulesheet has it; the others were made while grounding.
    pub is_written: bool,
}

/// A rule: the head holds if the positives do, the negatives do not, and the pairs differ.
#[derive(Clone, Debug)]
pub(crate) struct Clause {
    pub head: Atom,
    pub positives: Vec<Positive>,
    pub negatives: Vec<Atom>,
    pub distinct: Vec<(Pattern, Pattern)>,
    pub n_variables: usize,
    /// The rule that it comes from.
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct Positive {
    pub atom: Atom,
    /// It restricts the variables and is implied by the rest of the rule, so ground rules go
    /// without it.
    pub is_guard: bool,
}

impl Clause {
    /// The positive literals, each with what is known of its relation.
    pub fn with_stats<'a>(
        &'a self,
        stats: &'a [Stats],
    ) -> impl Iterator<Item = (&'a Atom, &'a Stats)> {
        self.positives.iter().map(|it| (&it.atom, &stats[it.atom.relation.index()]))
    }
}

impl Clauses {
    pub fn info(&self, relation: RelationId) -> &RelationInfo {
        &self.relations[relation.index()]
    }

    pub fn add_relation(&mut self, info: RelationInfo) -> RelationId {
        self.relations.push(info);
        RelationId::new(self.relations.len() - 1)
    }
}

/// Takes what is relevant to some keywords from a program.
///
/// # Errors
/// When a rule has more variables than the joins can tell apart.
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
            is_guard: false,
            is_written: true,
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
    let clauses = program
        .rules
        .iter()
        .filter(|rule| is_relevant[rule.head.relation.index()])
        // Before the beginning there is no state that `init` could depend on.
        .filter(|rule| {
            rule.head.relation != Keyword::Init.into()
                || rule.dependencies().all(|(id, _)| is_static[id.index()])
        })
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
    let mut clauses = Clauses { terms: program.terms.clone(), relations, clauses };
    clauses.relations[RelationId::from(Keyword::Init).index()].is_static = true;
    Ok(clauses)
}

/// Which relations can be evaluated once and for all: those that depend on no state and not on
/// their own negation. (The latter are left to the ground program, where atoms can be told apart.)
fn static_relations(program: &Program) -> Vec<bool> {
    let mut is_static: Vec<bool> =
        program.relations.iter().map(|relation| relation.stage == Stage::Static).collect();
    // What is asked in every state is part of the ground program even where the answer is fixed.
    for keyword in ASKED {
        is_static[RelationId::from(keyword).index()] = false;
    }
    for component in program.components() {
        if component.has_inner_negation {
            component.relations.iter().for_each(|id| is_static[id.index()] = false);
        }
    }
    loop {
        let mut has_changed = false;
        for rule in &program.rules {
            let head = rule.head.relation.index();
            if is_static[head] && !rule.dependencies().all(|(id, _)| is_static[id.index()]) {
                is_static[head] = false;
                has_changed = true;
            }
        }
        if !has_changed {
            return is_static;
        }
    }
}
