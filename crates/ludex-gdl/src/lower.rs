//! From the tree to the program: fewer forms, every rule safe.
//!
//! 1. Nested formulas become literals. Negations move inwards; each way to satisfy the
//!    disjunctions of a body is a rule of its own, unless that would be many rules: then the
//!    disjunctions become relations ([`Lowering::add_rule`]).
//! 2. `not (distinct a b)` is an equation, solved by unification.
//! 3. Rules with variables that no positive literal binds are made safe ([`crate::demand`]).

use std::collections::HashMap;

use ludex_base::{Diagnostic, Span, Symbol};
use rustc_hash::FxHashMap;

use crate::demand::make_safe;
use crate::keyword::Keyword;
use crate::program::{Atom, Literal, Pattern, Program, Relation, RelationId, Rule, Stage};
use crate::syntax::{Formula, FormulaKind, Rulesheet, Term, TermKind};
use crate::terms::Terms;

/// A body whose disjunctions can be satisfied in more ways than this gets relations for them.
const MAX_ALTERNATIVES: usize = 64;

/// Turns a rulesheet into a program. The diagnostics are those about variables that nothing
/// binds; rules that have no meaning for that reason are left out.
pub fn lower(sheet: &Rulesheet) -> (Program, Vec<Diagnostic>) {
    let mut lowering = Lowering {
        terms: Terms::new(sheet.symbols.clone()),
        relations: Vec::new(),
        relation_ids: HashMap::new(),
        rules: Vec::new(),
        diagnostics: Vec::new(),
    };
    for keyword in Keyword::ALL {
        let name = lowering.terms.symbols_mut().intern(keyword.name());
        lowering.relation(name, keyword.arity());
    }
    for clause in &sheet.clauses {
        let Some(name) = clause.head.name() else { continue };
        let relation = lowering.relation(name, clause.head.args().len());
        let body = clause.body.iter().map(|formula| Part { formula, is_positive: true }).collect();
        lowering.add_rule(Head { relation, args: clause.head.args().to_vec() }, body, clause.span);
    }
    let Lowering { terms, relations, rules, mut diagnostics, .. } = lowering;
    let mut program = Program { terms, relations, rules };
    make_safe(&mut program, &mut diagnostics);
    set_stages(&mut program);
    (program, diagnostics)
}

struct Lowering {
    terms: Terms,
    relations: Vec<Relation>,
    relation_ids: HashMap<(Symbol, usize), RelationId>,
    rules: Vec<Rule>,
    diagnostics: Vec<Diagnostic>,
}

#[derive(Clone)]
struct Head {
    relation: RelationId,
    args: Vec<Term>,
}

/// A formula, or its negation.
#[derive(Clone, Copy)]
struct Part<'a> {
    formula: &'a Formula,
    is_positive: bool,
}

/// A body without connectives.
#[derive(Clone, Default)]
struct Conditions {
    atoms: Vec<(RelationId, Vec<Term>, bool)>,
    distinct: Vec<(Term, Term)>,
    equal: Vec<(Term, Term)>,
}

impl Lowering {
    fn relation(&mut self, name: Symbol, arity: usize) -> RelationId {
        *self.relation_ids.entry((name, arity)).or_insert_with(|| {
            self.relations.push(Relation { name, arity, stage: Stage::Static });
            RelationId::new(self.relations.len() - 1)
        })
    }

    /// Adds the rules that say: the head holds if every part of the body does.
    fn add_rule(&mut self, head: Head, body: Vec<Part<'_>>, span: Span) {
        self.add_conditions(head, Conditions::default(), body, span);
    }

    fn add_conditions(
        &mut self,
        head: Head,
        mut conditions: Conditions,
        body: Vec<Part<'_>>,
        span: Span,
    ) {
        let mut disjunctions: Vec<Vec<Part<'_>>> = Vec::new();
        let mut open: Vec<Part<'_>> = body.into_iter().rev().collect();
        while let Some(part) = open.pop() {
            match part.children() {
                Children::All(parts) => open.extend(parts.into_iter().rev()),
                Children::Any(parts) => disjunctions.push(parts),
                Children::Atom(atom, is_positive) => {
                    let name = atom.name().expect("the reader refuses variables as atoms");
                    let relation = self.relation(name, atom.args().len());
                    conditions.atoms.push((relation, atom.args().to_vec(), is_positive));
                }
                Children::Distinct(left, right, true) => {
                    conditions.distinct.push((left.clone(), right.clone()));
                }
                Children::Distinct(left, right, false) => {
                    conditions.equal.push((left.clone(), right.clone()));
                }
            }
        }
        let n_alternatives = disjunctions
            .iter()
            .map(|parts| parts.iter().map(|part| part.n_alternatives()).sum())
            .fold(1_usize, |product, n: usize| product.saturating_mul(n));
        if disjunctions.is_empty() {
            self.finish_rule(&head, conditions, span);
        } else if n_alternatives <= MAX_ALTERNATIVES {
            // Branch on the first disjunction; the recursion meets the others again.
            let first = disjunctions.remove(0);
            for choice in first {
                let mut body = vec![choice];
                let mut rest = disjunctions.clone();
                self.add_branches(&head, &conditions, &mut body, &mut rest, span);
            }
        } else {
            self.name_disjunctions(head, conditions, disjunctions, span);
        }
    }

    fn add_branches<'a>(
        &mut self,
        head: &Head,
        conditions: &Conditions,
        body: &mut Vec<Part<'a>>,
        rest: &mut Vec<Vec<Part<'a>>>,
        span: Span,
    ) {
        let Some(next) = rest.pop() else {
            self.add_conditions(head.clone(), conditions.clone(), body.clone(), span);
            return;
        };
        for &choice in &next {
            body.push(choice);
            self.add_branches(head, conditions, body, rest, span);
            body.pop();
        }
        rest.push(next);
    }

    /// Gives each disjunction a relation over the variables it shares with the rest.
    fn name_disjunctions(
        &mut self,
        head: Head,
        mut conditions: Conditions,
        disjunctions: Vec<Vec<Part<'_>>>,
        span: Span,
    ) {
        let mut uses: HashMap<Symbol, usize> = HashMap::new();
        let mut count = |variables: Vec<(Symbol, Span)>| {
            let mut names: Vec<Symbol> = variables.into_iter().map(|(name, _)| name).collect();
            names.sort_unstable();
            names.dedup();
            names.into_iter().for_each(|name| *uses.entry(name).or_default() += 1);
        };
        let mut outside = Vec::new();
        let note = |term: &Term, into: &mut Vec<(Symbol, Span)>| {
            term.for_each_variable(&mut |name, span| into.push((name, span)));
        };
        head.args.iter().for_each(|arg| note(arg, &mut outside));
        conditions.atoms.iter().flat_map(|(_, args, _)| args).for_each(|t| note(t, &mut outside));
        for (left, right) in conditions.distinct.iter().chain(&conditions.equal) {
            note(left, &mut outside);
            note(right, &mut outside);
        }
        count(outside);
        let inside: Vec<Vec<(Symbol, Span)>> = disjunctions
            .iter()
            .map(|parts| {
                let mut variables = Vec::new();
                parts.iter().for_each(|part| part.formula.variables(&mut variables));
                variables
            })
            .collect();
        inside.iter().for_each(|variables| count(variables.clone()));

        for (parts, mut variables) in disjunctions.into_iter().zip(inside) {
            variables.sort_by_key(|&(name, span)| (name, span));
            variables.dedup_by_key(|&mut (name, _)| name);
            let args: Vec<Term> = variables
                .into_iter()
                .filter(|(name, _)| uses[name] > 1)
                .map(|(name, span)| Term { kind: TermKind::Variable(name), span })
                .collect();
            let name = format!("or {}", self.relations.len());
            let name = self.terms.symbols_mut().intern(&name);
            let relation = self.relation(name, args.len());
            conditions.atoms.push((relation, args.clone(), true));
            for part in parts {
                self.add_rule(Head { relation, args: args.clone() }, vec![part], span);
            }
        }
        self.finish_rule(&head, conditions, span);
    }

    /// Numbers the variables and adds the rule.
    fn finish_rule(&mut self, head: &Head, conditions: Conditions, span: Span) {
        let Some(substitution) = unify(&conditions.equal) else { return };
        let mut patterns = Patterns {
            terms: &mut self.terms,
            substitution: &substitution,
            numbers: FxHashMap::default(),
            variables: Vec::new(),
        };
        let head = patterns.atom(head.relation, &head.args);
        let mut body: Vec<Literal> = Vec::new();
        let mut add = |literal: Literal| {
            if !body.contains(&literal) {
                body.push(literal);
            }
        };
        for (relation, args, is_positive) in &conditions.atoms {
            let atom = patterns.atom(*relation, args);
            add(if *is_positive { Literal::Positive(atom) } else { Literal::Negative(atom) });
        }
        for (left, right) in &conditions.distinct {
            match (patterns.pattern(left), patterns.pattern(right)) {
                (Pattern::Ground(left), Pattern::Ground(right)) if left == right => return,
                (Pattern::Ground(_), Pattern::Ground(_)) => {}
                (left, right) => add(Literal::Distinct(left, right)),
            }
        }
        let variables = patterns.variables;
        self.rules.push(Rule { head, body, variables, span });
    }
}

/// A part of a body, one connective taken off and its negation moved inwards.
enum Children<'a> {
    All(Vec<Part<'a>>),
    Any(Vec<Part<'a>>),
    Atom(&'a Term, bool),
    Distinct(&'a Term, &'a Term, bool),
}

impl<'a> Part<'a> {
    fn children(self) -> Children<'a> {
        let Part { formula, is_positive } = self;
        let parts = |formulas: &'a [Formula]| {
            formulas.iter().map(|formula| Part { formula, is_positive }).collect()
        };
        match &formula.kind {
            FormulaKind::Atom(atom) => Children::Atom(atom, is_positive),
            FormulaKind::Distinct(left, right) => Children::Distinct(left, right, is_positive),
            FormulaKind::Not(inner) => {
                Part { formula: inner, is_positive: !is_positive }.children()
            }
            FormulaKind::And(formulas) if is_positive => Children::All(parts(formulas)),
            FormulaKind::Or(formulas) if !is_positive => Children::All(parts(formulas)),
            FormulaKind::And(formulas) | FormulaKind::Or(formulas) => {
                Children::Any(parts(formulas))
            }
        }
    }

    /// In how many ways its disjunctions can be satisfied.
    fn n_alternatives(self) -> usize {
        match self.children() {
            Children::All(parts) => parts
                .iter()
                .fold(1, |product: usize, part| product.saturating_mul(part.n_alternatives())),
            Children::Any(parts) => {
                parts.iter().fold(0, |sum: usize, part| sum.saturating_add(part.n_alternatives()))
            }
            Children::Atom(..) | Children::Distinct(..) => 1,
        }
    }
}

impl Formula {
    /// Adds the variables of the formula, in order of writing.
    fn variables(&self, into: &mut Vec<(Symbol, Span)>) {
        let mut note = |name, span| into.push((name, span));
        match &self.kind {
            FormulaKind::Atom(atom) => atom.for_each_variable(&mut note),
            FormulaKind::Distinct(left, right) => {
                left.for_each_variable(&mut note);
                right.for_each_variable(&mut note);
            }
            FormulaKind::Not(inner) => inner.variables(into),
            FormulaKind::And(parts) | FormulaKind::Or(parts) => {
                parts.iter().for_each(|part| part.variables(into));
            }
        }
    }
}

/// Makes patterns for one rule.
struct Patterns<'a> {
    terms: &'a mut Terms,
    substitution: &'a Substitution,
    numbers: FxHashMap<Symbol, u32>,
    variables: Vec<Symbol>,
}

impl Patterns<'_> {
    fn atom(&mut self, relation: RelationId, args: &[Term]) -> Atom {
        Atom { relation, args: args.iter().map(|arg| self.pattern(arg)).collect() }
    }

    fn pattern(&mut self, term: &Term) -> Pattern {
        match &term.kind {
            TermKind::Constant(name) => Pattern::Ground(self.terms.constant(*name)),
            TermKind::Variable(name) => {
                if let Some(value) = self.substitution.get(name) {
                    return self.pattern(value);
                }
                let variables = &mut self.variables;
                Pattern::Variable(*self.numbers.entry(*name).or_insert_with(|| {
                    variables.push(*name);
                    variables.len() as u32 - 1
                }))
            }
            TermKind::Compound(name, args) => {
                let args: Box<[Pattern]> = args.iter().map(|arg| self.pattern(arg)).collect();
                let ground: Option<Vec<_>> = args
                    .iter()
                    .map(|arg| match arg {
                        Pattern::Ground(term) => Some(*term),
                        _ => None,
                    })
                    .collect();
                match ground {
                    Some(ground) => Pattern::Ground(self.terms.compound(*name, &ground)),
                    None => Pattern::Compound(*name, args),
                }
            }
        }
    }
}

type Substitution = HashMap<Symbol, Term>;

/// The most general substitution that makes each pair equal; `None` if there is none.
fn unify(pairs: &[(Term, Term)]) -> Option<Substitution> {
    let mut substitution = Substitution::new();
    let mut open: Vec<(Term, Term)> = pairs.to_vec();
    while let Some((left, right)) = open.pop() {
        let (left, right) = (walk(left, &substitution), walk(right, &substitution));
        match (&left.kind, &right.kind) {
            (TermKind::Variable(a), TermKind::Variable(b)) if a == b => {}
            (TermKind::Variable(name), _) => bind(*name, right.clone(), &mut substitution)?,
            (_, TermKind::Variable(name)) => bind(*name, left.clone(), &mut substitution)?,
            (TermKind::Constant(a), TermKind::Constant(b)) if a == b => {}
            (TermKind::Compound(f, xs), TermKind::Compound(g, ys))
                if f == g && xs.len() == ys.len() =>
            {
                open.extend(xs.iter().cloned().zip(ys.iter().cloned()));
            }
            _ => return None,
        }
    }
    Some(substitution)
}

fn walk(mut term: Term, substitution: &Substitution) -> Term {
    while let TermKind::Variable(name) = &term.kind {
        match substitution.get(name) {
            Some(value) => term = value.clone(),
            None => break,
        }
    }
    term
}

fn bind(name: Symbol, value: Term, substitution: &mut Substitution) -> Option<()> {
    if occurs(name, &value, substitution) {
        return None;
    }
    substitution.insert(name, value);
    Some(())
}

fn occurs(name: Symbol, term: &Term, substitution: &Substitution) -> bool {
    match &term.kind {
        TermKind::Variable(other) => {
            *other == name
                || substitution.get(other).is_some_and(|value| occurs(name, value, substitution))
        }
        TermKind::Constant(_) => false,
        TermKind::Compound(_, args) => args.iter().any(|arg| occurs(name, arg, substitution)),
    }
}

/// Works out what each relation depends on.
fn set_stages(program: &mut Program) {
    program.relations[RelationId::from(Keyword::True).index()].stage = Stage::State;
    program.relations[RelationId::from(Keyword::Does).index()].stage = Stage::Transition;
    loop {
        let mut has_changed = false;
        for rule in &program.rules {
            let stage =
                rule.dependencies().map(|(id, _)| program.relations[id.index()].stage).max();
            let head = &mut program.relations[rule.head.relation.index()];
            if stage.is_some_and(|stage| stage > head.stage) {
                head.stage = stage.expect("it was compared");
                has_changed = true;
            }
        }
        if !has_changed {
            break;
        }
    }
}
