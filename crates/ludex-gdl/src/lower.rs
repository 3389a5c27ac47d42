//! From the tree to the program: fewer forms, every rule safe.
//!
//! 1. Nested formulas become literals. Negations move inwards; each way to satisfy the
//!    disjunctions of a body is a rule of its own, unless that would be many rules: then the
//!    disjunctions become relations ([`Lowering::add_rule`]).
//! 2. `not (distinct a b)` is an equation, solved by unification.
//! 3. Rules with variables that no positive literal binds are made safe ([`crate::demand`]).

use std::collections::HashMap;

use ludex_base::{Diagnostic, Severity, Span, Symbol};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::codes;
use crate::demand::make_safe;
use crate::keyword::Keyword;
use crate::limits::MAX_DEPTH;
use crate::program::{Atom, Literal, Pattern, Program, Relation, RelationId, Rule, Stage};
use crate::report::Report;
use crate::safety::check_safety;
use crate::syntax::{Formula, FormulaKind, Rulesheet, Term, TermKind};
use crate::terms::Terms;

/// A body whose disjunctions can be satisfied in more ways than this gets relations for them.
const MAX_ALTERNATIVES: usize = 64;

/// So does one whose rules would repeat more conditions than this.
const MAX_REPEATED: usize = 10_000;

/// Solving equations may make terms large; a rule that gets larger or deeper than this is
/// refused.
const MAX_NODES: usize = 1_000_000;
const MAX_TERM_DEPTH: usize = 2 * MAX_DEPTH;

/// Turns a rulesheet into a program. The diagnostics are those about variables that nothing
/// binds; rules that have no meaning for that reason are left out, and so are rules for `true`
/// and `does`, which no rule can derive.
pub fn lower(sheet: &Rulesheet) -> (Program, Vec<Diagnostic>) {
    let mut report = Report::default();
    check_safety(sheet, &mut report);
    let mut lowering = Lowering {
        terms: Terms::new(sheet.symbols.clone()),
        relations: Vec::new(),
        relation_ids: HashMap::new(),
        rules: Vec::new(),
        report,
    };
    for keyword in Keyword::ALL {
        let name = lowering.terms.symbols_mut().intern(keyword.name());
        lowering.relation(name, keyword.arity());
    }
    for clause in &sheet.clauses {
        let Some(name) = clause.head.name() else { continue };
        let relation = lowering.relation(name, clause.head.args().len());
        if [Keyword::True, Keyword::Does].map(RelationId::from).contains(&relation) {
            continue;
        }
        let body = clause.body.iter().map(|formula| Part { formula, is_positive: true }).collect();
        lowering.add_rule(Head { relation, args: clause.head.args().to_vec() }, body, clause.span);
    }
    let Lowering { terms, relations, rules, mut report, .. } = lowering;
    let mut program = Program { terms, relations, rules };
    make_safe(&mut program, &mut report);
    set_stages(&mut program);
    (program, report.into_diagnostics())
}

struct Lowering {
    terms: Terms,
    relations: Vec<Relation>,
    relation_ids: HashMap<(Symbol, usize), RelationId>,
    rules: Vec<Rule>,
    report: Report,
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
            .map(|parts| sum(parts.iter().map(|part| part.n_alternatives())))
            .fold(1_usize, usize::saturating_mul);
        let n_repeated = n_alternatives.saturating_mul(conditions.atoms.len());
        if disjunctions.is_empty() {
            self.finish_rule(&head, conditions, span);
        } else if n_alternatives <= MAX_ALTERNATIVES && n_repeated <= MAX_REPEATED {
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
                let mut visit = |name, span| variables.push((name, span));
                parts.iter().for_each(|part| part.formula.for_each_variable(&mut visit));
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

    /// Numbers the variables and adds the rule, unless its conditions contradict each other.
    fn finish_rule(&mut self, head: &Head, conditions: Conditions, span: Span) {
        let rule = unify(&conditions.equal).and_then(|substitution| match substitution {
            None => Ok(None),
            Some(substitution) => {
                let mut patterns = Patterns {
                    terms: &mut self.terms,
                    substitution: &substitution,
                    numbers: FxHashMap::default(),
                    variables: Vec::new(),
                    n_nodes: 0,
                };
                patterns.rule(head, &conditions, span)
            }
        });
        match rule {
            Ok(rule) => self.rules.extend(rule),
            Err(HugeTerm) => {
                let message = "solving the equations of this rule gives terms without measure";
                self.report.push(
                    Diagnostic::new(Severity::Fatal, codes::HUGE_TERM, span, message)
                        .with_help("name the parts by relations of their own"),
                );
            }
        }
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
            Children::Any(parts) => sum(parts.iter().map(|part| part.n_alternatives())),
            Children::Atom(..) | Children::Distinct(..) => 1,
        }
    }
}

fn sum(numbers: impl Iterator<Item = usize>) -> usize {
    numbers.fold(0, usize::saturating_add)
}

/// Makes patterns for one rule.
struct Patterns<'a> {
    terms: &'a mut Terms,
    substitution: &'a Substitution,
    numbers: FxHashMap<Symbol, u32>,
    variables: Vec<Symbol>,
    /// How many names and variables were made so far.
    n_nodes: usize,
}

/// Equations can say, in few words, that a term is larger than any memory.
struct HugeTerm;

impl Patterns<'_> {
    /// The rule; `None` if its conditions contradict each other.
    fn rule(
        &mut self,
        head: &Head,
        conditions: &Conditions,
        span: Span,
    ) -> Result<Option<Rule>, HugeTerm> {
        let head = self.atom(head.relation, &head.args)?;
        let mut body = OrderedSet::default();
        for (relation, args, is_positive) in &conditions.atoms {
            let atom = self.atom(*relation, args)?;
            let literal =
                if *is_positive { Literal::Positive(atom) } else { Literal::Negative(atom) };
            body.insert(literal);
        }
        for (left, right) in &conditions.distinct {
            match (self.pattern(left, 0)?, self.pattern(right, 0)?) {
                (left, right) if left == right => return Ok(None),
                (Pattern::Ground(_), Pattern::Ground(_)) => {}
                (left, right) => body.insert(Literal::Distinct(left, right)),
            }
        }
        let variables = std::mem::take(&mut self.variables);
        Ok(Some(Rule { head, body: body.order, variables, span }))
    }

    fn atom(&mut self, relation: RelationId, args: &[Term]) -> Result<Atom, HugeTerm> {
        let args = args.iter().map(|arg| self.pattern(arg, 0)).collect::<Result<_, _>>()?;
        Ok(Atom { relation, args })
    }

    fn pattern(&mut self, term: &Term, depth: usize) -> Result<Pattern, HugeTerm> {
        self.n_nodes += 1;
        if self.n_nodes > MAX_NODES || depth > MAX_TERM_DEPTH {
            return Err(HugeTerm);
        }
        match &term.kind {
            TermKind::Constant(name) => Ok(Pattern::Ground(self.terms.constant(*name))),
            TermKind::Variable(name) => {
                if let Some(value) = self.substitution.get(name) {
                    return self.pattern(value, depth + 1);
                }
                let variables = &mut self.variables;
                Ok(Pattern::Variable(*self.numbers.entry(*name).or_insert_with(|| {
                    variables.push(*name);
                    variables.len() as u32 - 1
                })))
            }
            TermKind::Compound(name, args) => {
                let args: Box<[Pattern]> = args
                    .iter()
                    .map(|arg| self.pattern(arg, depth + 1))
                    .collect::<Result<_, _>>()?;
                let ground: Option<Vec<_>> = args
                    .iter()
                    .map(|arg| match arg {
                        Pattern::Ground(term) => Some(*term),
                        _ => None,
                    })
                    .collect();
                Ok(match ground {
                    Some(ground) => Pattern::Ground(self.terms.compound(*name, &ground)),
                    None => Pattern::Compound(*name, args),
                })
            }
        }
    }
}

/// Literals without repetition, in order of writing.
#[derive(Default)]
struct OrderedSet {
    order: Vec<Literal>,
    seen: FxHashSet<Literal>,
}

impl OrderedSet {
    fn insert(&mut self, literal: Literal) {
        if self.seen.insert(literal.clone()) {
            self.order.push(literal);
        }
    }
}

type Substitution = HashMap<Symbol, Term>;

/// The most general substitution that makes each pair equal; `None` if there is none.
fn unify(pairs: &[(Term, Term)]) -> Result<Option<Substitution>, HugeTerm> {
    let mut substitution = Substitution::new();
    let mut open: Vec<(Term, Term)> = pairs.to_vec();
    let mut n_steps = 0;
    while let Some((left, right)) = open.pop() {
        n_steps += 1;
        if n_steps > MAX_NODES {
            return Err(HugeTerm);
        }
        let (left, right) = (walk(left, &substitution), walk(right, &substitution));
        match (&left.kind, &right.kind) {
            (TermKind::Variable(a), TermKind::Variable(b)) if a == b => {}
            (TermKind::Variable(name), _) if bind(*name, &right, &mut substitution) => {}
            (_, TermKind::Variable(name)) if bind(*name, &left, &mut substitution) => {}
            (TermKind::Constant(a), TermKind::Constant(b)) if a == b => {}
            (TermKind::Compound(f, xs), TermKind::Compound(g, ys))
                if f == g && xs.len() == ys.len() =>
            {
                open.extend(xs.iter().cloned().zip(ys.iter().cloned()));
            }
            _ => return Ok(None),
        }
    }
    Ok(Some(substitution))
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

/// Binds a variable, unless the term has it: then no finite term is equal to both.
fn bind(name: Symbol, value: &Term, substitution: &mut Substitution) -> bool {
    let has_itself = occurs(name, value, substitution);
    if !has_itself {
        substitution.insert(name, value.clone());
    }
    !has_itself
}

/// Whether a term has a variable once the substitution is carried out. A variable is looked
/// into once: shared parts would otherwise cost time exponential in their number.
fn occurs(name: Symbol, term: &Term, substitution: &Substitution) -> bool {
    let mut seen = FxHashSet::default();
    let mut open = vec![term];
    while let Some(term) = open.pop() {
        match &term.kind {
            TermKind::Variable(other) if *other == name => return true,
            TermKind::Variable(other) => {
                if seen.insert(*other) {
                    open.extend(substitution.get(other));
                }
            }
            TermKind::Constant(_) => {}
            TermKind::Compound(_, args) => open.extend(args),
        }
    }
    false
}

/// Works out what each relation depends on, from those that depend on nothing upwards.
fn set_stages(program: &mut Program) {
    program.relations[RelationId::from(Keyword::True).index()].stage = Stage::State;
    program.relations[RelationId::from(Keyword::Does).index()].stage = Stage::Transition;
    let mut bodies = vec![Vec::new(); program.relations.len()];
    for rule in &program.rules {
        bodies[rule.head.relation.index()].extend(rule.dependencies().map(|(id, _)| id));
    }
    for component in program.components() {
        let members = component.relations.iter();
        let stage = members
            .flat_map(|id| bodies[id.index()].iter().chain([id]))
            .map(|id| program.relations[id.index()].stage)
            .max()
            .expect("a component has a relation");
        for id in &component.relations {
            program.relations[id.index()].stage = stage;
        }
    }
}
