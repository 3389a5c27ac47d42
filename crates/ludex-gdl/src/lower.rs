//! Lowering: from the tree to a program with fewer forms and safe rules.
//!
//! 1. Nested formulas become literals. Negations move inwards. Each combination of alternatives of
//!    the disjunctions of a body is a separate rule, unless these would be too many: then the
//!    disjunctions become relations ([`Lowering::add_rule`]).
//! 2. `not (distinct a b)` is an equation, solved by unification.
//! 3. Rules with variables that no positive literal binds are made safe ([`crate::demand`]).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use ludex_base::ids::narrow;
use ludex_base::{Diagnostic, Severity, Span, StopReason, Symbol};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::codes;
use crate::demand::{make_safe, renumbered};
use crate::keyword::Keyword;
use crate::limits::{Budget, too_many_rules, unstopped};
use crate::program::{Atom, Literal, Pattern, Program, Relation, RelationId, Rule, Stage};
use crate::report::Report;
use crate::safety::check_safety;
use crate::syntax::{Formula, FormulaKind, Rulesheet, Term, TermKind};
use crate::terms::{TermId, Terms};

/// Bodies with more combinations of alternatives than this get relations for their disjunctions.
const MAX_ALTERNATIVES: usize = 64;

/// The same holds for bodies whose rules would repeat more conditions than this.
const MAX_REPEATED: usize = 10_000;

/// Rules with more conditions than this are split. The time to plan a join grows with the square of
/// their number, and running it takes a frame of the stack for each.
const MAX_CONDITIONS: usize = 128;

/// Largest size and depth of a rule. Solving equations may make terms large; larger rules are
/// refused.
const MAX_NODES: usize = 1_000_000;
const MAX_TERM_DEPTH: usize = 512;

/// Turns a rulesheet into a program. The diagnostics are about variables that nothing binds. The
/// program leaves out rules that have no meaning for that reason, and rules for `true` and `does`,
/// which no rule can derive.
pub fn lower(sheet: &Rulesheet) -> (Program, Vec<Diagnostic>) {
    unstopped(lower_within(sheet, &Budget::unlimited()))
}

pub(crate) fn lower_within(
    sheet: &Rulesheet,
    budget: &Budget<'_>,
) -> Result<(Program, Vec<Diagnostic>), StopReason> {
    let mut report = Report::default();
    check_safety(sheet, &mut report, &budget.pace)?;
    let mut lowering = Lowering {
        budget,
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
        let head = Head { relation, args: clause.head.args().to_vec() };
        lowering.add_rule(head, body, clause.span)?;
        // A clause with alternatives may become many rules.
        if lowering.rules.len() > budget.sizes.rules {
            lowering.report.push(too_many_rules(clause.span, &budget.sizes));
            break;
        }
    }
    let Lowering { terms, relations, rules, mut report, .. } = lowering;
    let mut program = Program { terms, relations, rules, on_demand: Vec::new() };
    make_safe(&mut program, &mut report, &budget.pace)?;
    program.set_stages();
    Ok((program, report.into_diagnostics()))
}

struct Lowering<'b> {
    budget: &'b Budget<'b>,
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

impl Conditions {
    fn for_each_variable(&self, visit: &mut impl FnMut(Symbol, Span)) {
        self.atoms.iter().flat_map(|(_, args, _)| args).for_each(|it| it.for_each_variable(visit));
        for (left, right) in self.distinct.iter().chain(&self.equal) {
            left.for_each_variable(visit);
            right.for_each_variable(visit);
        }
    }
}

impl Lowering<'_> {
    fn relation(&mut self, name: Symbol, arity: usize) -> RelationId {
        *self.relation_ids.entry((name, arity)).or_insert_with(|| {
            self.relations.push(Relation { name, arity, stage: Stage::Static });
            RelationId::new(self.relations.len() - 1)
        })
    }

    /// Adds the rules that derive the head if every part of the body is true.
    fn add_rule(&mut self, head: Head, body: Vec<Part<'_>>, span: Span) -> Result<(), StopReason> {
        self.add_conditions(head, Conditions::default(), body, span)
    }

    fn add_conditions(
        &mut self,
        head: Head,
        mut conditions: Conditions,
        body: Vec<Part<'_>>,
        span: Span,
    ) -> Result<(), StopReason> {
        let mut disjunctions: Vec<Vec<Part<'_>>> = Vec::new();
        let mut open: Vec<Part<'_>> = body.into_iter().rev().collect();
        while let Some(part) = open.pop() {
            self.budget.pace.step()?;
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
            self.finish_rule(&head, conditions, span)
        } else if n_alternatives <= MAX_ALTERNATIVES && n_repeated <= MAX_REPEATED {
            // Branch on the first disjunction; the recursion handles the others.
            let first = disjunctions.remove(0);
            for choice in first {
                let mut body = vec![choice];
                let mut rest = disjunctions.clone();
                self.add_branches(&head, &conditions, &mut body, &mut rest, span)?;
            }
            Ok(())
        } else {
            self.name_disjunctions(head, conditions, disjunctions, span)
        }
    }

    fn add_branches<'a>(
        &mut self,
        head: &Head,
        conditions: &Conditions,
        body: &mut Vec<Part<'a>>,
        rest: &mut Vec<Vec<Part<'a>>>,
        span: Span,
    ) -> Result<(), StopReason> {
        let Some(next) = rest.pop() else {
            return self.add_conditions(head.clone(), conditions.clone(), body.clone(), span);
        };
        for &choice in &next {
            body.push(choice);
            self.add_branches(head, conditions, body, rest, span)?;
            body.pop();
        }
        rest.push(next);
        Ok(())
    }

    /// Defines a relation for each disjunction. The first relation is true when the positive atoms
    /// are; each further one when the one before and an alternative of the next disjunction are.
    /// Their arguments are the variables that are used later.
    fn name_disjunctions(
        &mut self,
        head: Head,
        mut conditions: Conditions,
        mut disjunctions: Vec<Vec<Part<'_>>>,
        span: Span,
    ) -> Result<(), StopReason> {
        // Disjunctions that bind variables come before those that need them bound.
        disjunctions.sort_by_key(|parts| parts.iter().any(|part| part.has_negation()));
        let (positive, negative) = conditions.atoms.into_iter().partition(|(_, _, it)| *it);
        conditions.atoms = negative;

        let mut last_use: FxHashMap<Symbol, usize> = FxHashMap::default();
        let inside: Vec<Vec<(Symbol, Span)>> = disjunctions
            .iter()
            .map(|parts| {
                let mut variables = Vec::new();
                let mut visit = |name, span| variables.push((name, span));
                parts.iter().for_each(|part| part.formula.for_each_variable(&mut visit));
                variables
            })
            .collect();
        for (idx, variables) in inside.iter().enumerate() {
            last_use.extend(variables.iter().map(|&(name, _)| (name, idx)));
        }
        let mut is_used_at_the_end = |name, _| {
            last_use.insert(name, usize::MAX);
        };
        head.args.iter().for_each(|arg| arg.for_each_variable(&mut is_used_at_the_end));
        conditions.for_each_variable(&mut is_used_at_the_end);

        let mut known: BTreeMap<Symbol, Span> = BTreeMap::new();
        for (_, args, _) in &positive {
            for arg in args {
                arg.for_each_variable(&mut |name, span| {
                    if last_use.contains_key(&name) {
                        known.insert(name, span);
                    }
                });
            }
        }
        let mut so_far = Conditions { atoms: positive, ..Conditions::default() };
        let mut n_args = 0;
        for (idx, parts) in disjunctions.into_iter().enumerate() {
            // Share the conditions so far: they appear once, not once for each alternative.
            if parts.len() > 1 && (idx > 0 || so_far.atoms.len() > 1) {
                so_far = self.step(so_far, &known, span)?;
                n_args += known.len();
            }
            known.extend(inside[idx].iter().copied());
            known.retain(|name, _| last_use[name] > idx);
            let (relation, args) = self.step_relation(&known);
            n_args += known.len();
            if n_args > MAX_NODES {
                self.refuse(span);
                return Ok(());
            }
            for part in parts {
                let head = Head { relation, args: args.clone() };
                self.add_conditions(head, so_far.clone(), vec![part], span)?;
            }
            so_far = Conditions { atoms: vec![(relation, args, true)], ..Conditions::default() };
        }
        conditions.atoms.extend(so_far.atoms);
        self.finish_rule(&head, conditions, span)
    }

    /// Defines a relation that is true when some conditions are, and returns it as a condition.
    fn step(
        &mut self,
        conditions: Conditions,
        known: &BTreeMap<Symbol, Span>,
        span: Span,
    ) -> Result<Conditions, StopReason> {
        if let [(_, args, true)] = &conditions.atoms[..]
            && args.len() == known.len()
        {
            return Ok(conditions);
        }
        let (relation, args) = self.step_relation(known);
        self.finish_rule(&Head { relation, args: args.clone() }, conditions, span)?;
        Ok(Conditions { atoms: vec![(relation, args, true)], ..Conditions::default() })
    }

    /// Adds a relation over some variables; names in rulesheets have no blanks, so its name can't
    /// clash.
    fn step_relation(&mut self, known: &BTreeMap<Symbol, Span>) -> (RelationId, Vec<Term>) {
        let name = format!("or {}", self.relations.len());
        let name = self.terms.symbols_mut().intern(&name);
        let args: Vec<Term> = known
            .iter()
            .map(|(&name, &span)| Term { kind: TermKind::Variable(name), span })
            .collect();
        (self.relation(name, args.len()), args)
    }

    fn refuse(&mut self, span: Span) {
        let message = "this rule expands to terms or alternatives that are too large";
        self.report.push(
            Diagnostic::new(Severity::Fatal, codes::HUGE_TERM, span, message)
                .with_help("define relations for its parts"),
        );
    }

    /// Adds a rule with many conditions as a chain of rules with few: each derives what the
    /// conditions so far say about the variables that are used later.
    fn split_rule(&mut self, rule: Rule) {
        let Rule { head, body, variables, span } = rule;
        let mut is_bound = vec![false; variables.len()];
        let (mut order, tests): (Vec<Literal>, Vec<Literal>) =
            body.into_iter().partition(|literal| matches!(literal, Literal::Positive(_)));
        for literal in &order {
            literal.for_each_variable(&mut |variable| is_bound[variable as usize] = true);
        }
        // Tests of variables that nothing binds stay with the head, which may bind them.
        let (bound, unbound): (Vec<Literal>, Vec<Literal>) = tests.into_iter().partition(|test| {
            let mut is_safe = true;
            test.for_each_variable(&mut |variable| is_safe &= is_bound[variable as usize]);
            is_safe
        });
        let n_last = unbound.len();
        if n_last >= MAX_CONDITIONS {
            self.refuse(span);
            return;
        }
        order.extend(bound);
        order.extend(unbound);

        let mut last_use = vec![0; variables.len()];
        for (idx, literal) in order.iter().enumerate() {
            literal.for_each_variable(&mut |variable| last_use[variable as usize] = idx);
        }
        head.for_each_variable(&mut |variable| last_use[variable as usize] = usize::MAX);
        let mut rest = order.into_iter();
        let mut part: Vec<Literal> = Vec::new();
        let mut n_taken = 0;
        while part.len() + rest.len() > MAX_CONDITIONS {
            let n_more = (MAX_CONDITIONS - part.len()).min(rest.len() - n_last);
            part.extend(rest.by_ref().take(n_more));
            n_taken += n_more;
            let mut known = BTreeSet::new();
            for literal in &part {
                literal.for_each_variable(&mut |variable| {
                    if last_use[variable as usize] >= n_taken {
                        known.insert(variable);
                    }
                });
            }
            let name = format!("and {}", self.relations.len());
            let name = self.terms.symbols_mut().intern(&name);
            let relation = self.relation(name, known.len());
            let args = known.into_iter().map(Pattern::Variable).collect();
            let so_far = Atom { relation, args };
            let body = std::mem::replace(&mut part, vec![Literal::Positive(so_far.clone())]);
            let variables = variables.clone();
            self.rules.push(renumbered(Rule { head: so_far, body, variables, span }));
        }
        part.extend(rest);
        self.rules.push(renumbered(Rule { head, body: part, variables, span }));
    }

    /// Numbers the variables and adds the rule, unless its conditions contradict each other.
    fn finish_rule(
        &mut self,
        head: &Head,
        conditions: Conditions,
        span: Span,
    ) -> Result<(), StopReason> {
        let mut n_nodes = 0;
        let rule = unify(&conditions.equal).and_then(|substitution| match substitution {
            None => Ok(None),
            Some(substitution) => {
                let mut patterns = Patterns {
                    terms: &mut self.terms,
                    max_term_size: self.budget.sizes.term_size,
                    substitution: &substitution,
                    numbers: FxHashMap::default(),
                    variables: Vec::new(),
                    n_nodes: 0,
                };
                let rule = patterns.rule(head, &conditions, span);
                n_nodes = patterns.n_nodes;
                rule
            }
        });
        match rule {
            Ok(None) => {}
            Ok(Some(rule)) if rule.body.len() <= MAX_CONDITIONS => self.rules.push(rule),
            Ok(Some(rule)) => self.split_rule(rule),
            Err(HugeTerm) => self.refuse(span),
        }
        self.budget.pace.steps(1 + n_nodes)
    }
}

/// A part of a body without its outermost connective, with its negation moved inwards.
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

    /// Returns whether it contains negations, which need their variables bound.
    fn has_negation(self) -> bool {
        match self.children() {
            Children::All(parts) | Children::Any(parts) => {
                parts.iter().any(|part| part.has_negation())
            }
            Children::Atom(_, is_positive) => !is_positive,
            Children::Distinct(..) => true,
        }
    }

    /// Returns the number of combinations of alternatives of its disjunctions.
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

/// Makes the patterns of one rule.
struct Patterns<'a> {
    terms: &'a mut Terms,
    max_term_size: usize,
    substitution: &'a Substitution,
    numbers: FxHashMap<Symbol, u32>,
    variables: Vec<Symbol>,
    /// The number of names and variables so far.
    n_nodes: usize,
}

/// A term beyond the limit: short equations can define terms larger than any memory.
struct HugeTerm;

impl Patterns<'_> {
    /// Makes the rule; `None` if its conditions contradict each other.
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
            TermKind::Constant(name) => self.ground(*name, &[]),
            TermKind::Variable(name) => {
                if let Some(value) = self.substitution.get(name) {
                    return self.pattern(value, depth + 1);
                }
                let variables = &mut self.variables;
                Ok(Pattern::Variable(*self.numbers.entry(*name).or_insert_with(|| {
                    variables.push(*name);
                    narrow(variables.len() - 1)
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
                match ground {
                    Some(ground) => self.ground(*name, &ground),
                    None => Ok(Pattern::Compound(*name, args)),
                }
            }
        }
    }

    fn ground(&mut self, name: Symbol, args: &[TermId]) -> Result<Pattern, HugeTerm> {
        let term = self.terms.compound(name, args).ok_or(HugeTerm)?;
        if self.terms.size(term) > self.max_term_size {
            return Err(HugeTerm);
        }
        Ok(Pattern::Ground(term))
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

/// Returns the most general substitution that makes each pair equal; `None` if there is none.
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

/// Binds a variable, unless the term contains it: then no finite term equals both.
fn bind(name: Symbol, value: &Term, substitution: &mut Substitution) -> bool {
    let has_itself = occurs(name, value, substitution);
    if !has_itself {
        substitution.insert(name, value.clone());
    }
    !has_itself
}

/// Returns whether a term contains a variable after the substitution. Each variable is expanded
/// once: otherwise shared parts would cost time exponential in their number.
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

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use ludex_base::Source;

    use super::*;
    use crate::kif::parse_kif;
    use crate::testing::listed;

    #[track_caller]
    fn check(rules: &str, expected: Expect) {
        let source = Source::new("t", rules);
        let (sheet, diagnostics) = parse_kif(&source);
        assert_eq!(diagnostics, []);
        let (program, diagnostics) = lower(&sheet);
        let mut text = String::new();
        for rule in &program.rules {
            text.push_str(&format!("{}\n", program.display_rule(rule)));
        }
        expected.assert_eq(&(text + &listed(&source, &diagnostics)));
    }

    #[test]
    fn alternatives_become_rules() {
        check(
            "(<= p (or a (and b c)) (or d e))",
            expect![[r#"
            (<= p a d)
            (<= p a e)
            (<= p b c d)
            (<= p b c e)
        "#]],
        );
    }

    #[test]
    fn negation_moves_inwards() {
        check(
            "(<= p (not (and a (not b) (or c (not d)))))",
            expect![[r#"
            (<= p (not a))
            (<= p b)
            (<= p (not c) d)
        "#]],
        );
    }

    #[test]
    fn many_alternatives_become_relations() {
        let ors: String = (0..7).map(|n| format!("(or (q ?x {n}) (r {n}))")).collect();
        check(
            &format!("(<= (p ?x) (s ?x) {ors})"),
            expect![[r#"
                (<= (or 13 ?x) (s ?x) (q ?x 0))
                (<= (or 13 ?x) (s ?x) (r 0))
                (<= (or 16 ?x) (or 13 ?x) (q ?x 1))
                (<= (or 16 ?x) (or 13 ?x) (r 1))
                (<= (or 17 ?x) (or 16 ?x) (q ?x 2))
                (<= (or 17 ?x) (or 16 ?x) (r 2))
                (<= (or 18 ?x) (or 17 ?x) (q ?x 3))
                (<= (or 18 ?x) (or 17 ?x) (r 3))
                (<= (or 19 ?x) (or 18 ?x) (q ?x 4))
                (<= (or 19 ?x) (or 18 ?x) (r 4))
                (<= (or 20 ?x) (or 19 ?x) (q ?x 5))
                (<= (or 20 ?x) (or 19 ?x) (r 5))
                (<= (or 21 ?x) (or 20 ?x) (q ?x 6))
                (<= (or 21 ?x) (or 20 ?x) (r 6))
                (<= (p ?x) (or 21 ?x))
            "#]],
        );
    }

    #[test]
    fn long_rules_are_split() {
        let facts: String = (0..150).map(|n| format!("(q ?x {n}) ")).collect();
        let tests: String = (0..150).map(|n| format!("(not (r ?y {n})) ")).collect();
        let text = format!("(<= (p ?x ?z) (s ?x ?y ?z) {facts} {tests} (distinct ?x ?y))");
        let (sheet, _) = parse_kif(&Source::new("t", text));
        let (program, diagnostics) = lower(&sheet);
        assert_eq!(diagnostics, []);
        let shown: Vec<String> =
            program.rules.iter().map(|rule| program.display_rule(rule).to_string()).collect();
        let n_conditions: Vec<usize> = program.rules.iter().map(|rule| rule.body.len()).collect();
        assert_eq!(n_conditions, [128, 128, 48]);
        assert!(shown[0].starts_with("(<= (and 15 ?x ?z ?y) (s ?x ?y ?z) (q ?x 0) "), "{shown:?}");
        assert!(shown[1].starts_with("(<= (and 16 ?x ?z ?y) (and 15 ?x ?z ?y) (q ?x 127) "));
        assert!(shown[2].starts_with("(<= (p ?x ?z) (and 16 ?x ?z ?y) (not (r ?y 104)) "));
        assert!(shown[2].ends_with(" (distinct ?x ?y))"), "{}", shown[2]);
    }

    #[test]
    fn equations_are_solved() {
        check(
            "(<= (p ?x ?z) (q ?y) (not (distinct ?x (f ?y))) (not (distinct ?z ?x)))
             (<= r (q ?x) (not (distinct ?x (g ?x)))) (<= s (not (distinct a b)))
             (<= t (not (distinct (h ?x a) (h b ?y))) (q ?x) (q ?y))",
            expect![[r#"
                (<= (p (f ?y) (f ?y)) (q ?y))
                (<= t (q b) (q a))
            "#]],
        );
    }

    #[test]
    fn duplicate_and_constant_conditions_are_removed() {
        check(
            "(<= p (q a) (q a) (distinct a b)) (<= r (distinct a a)) (<= s (q ?x) (distinct ?x ?x))",
            expect![[r#"
                (<= p (q a))
            "#]],
        );
    }

    #[test]
    fn nothing_derives_true_and_does() {
        check(
            "(true a) (<= (does r m) (true a)) (<= (next b) (true a))",
            expect![[r#"
            (<= (next b) (true a))
        "#]],
        );
    }

    #[test]
    fn stages_follow_dependencies() {
        let source = Source::new(
            "t",
            "(<= (a ?x) (b ?x)) (b 1) (<= c (true x) (a 1)) (<= d c (does r m)) (<= e (not d))",
        );
        let (program, _) = lower(&parse_kif(&source).0);
        let stage = |name: &str| {
            let found =
                program.relations.iter().find(|it| program.terms.symbols().name(it.name) == name);
            found.expect("it is defined").stage
        };
        assert_eq!(
            ["a", "b", "c", "d", "e"].map(stage),
            [Stage::Static, Stage::Static, Stage::State, Stage::Transition, Stage::Transition]
        );
    }

    #[test]
    fn an_unbound_role_means_every_role() {
        check(
            "(<= (legal ?p noop) (true a))",
            expect![[r#"
            (<= (legal ?p noop) (role ?p) (true a))
            1:12 tolerated[unsafe-rule]: `?p` is the role in the head but in no positive literal of the body
        "#]],
        );
    }

    #[test]
    fn a_variable_only_in_negative_literals_means_any_value() {
        check(
            "(<= p (q ?x) (not (r ?x ?y)) (not (s ?y)))",
            expect![[r#"
            (<= p (q ?x) (not (some r 15 ?x)) (not some s 16))
            (<= (some r 15 ?x) (r ?x ?y))
            (<= some s 16 (s ?y))
            1:25 tolerated[unsafe-rule]: `?y` is in a negative literal but in no positive literal of the body
        "#]],
        );
    }

    #[test]
    fn relations_on_demand_are_evaluated_for_their_calls() {
        check(
            "(<= (member ?x (cons ?x ?l))) (<= (member ?x (cons ?y ?l)) (member ?x ?l))
             (<= terminal (true (hand ?l)) (not (member ace ?l)))",
            expect![[r#"
                (<= (member ?x (cons ?x ?l)) (demand member/2 ?x (cons ?x ?l)))
                (<= (member ?x (cons ?y ?l)) (demand member/2 ?x (cons ?y ?l)) (member ?x ?l))
                (<= terminal (true (hand ?l)) (not (member ace ?l)))
                (<= (demand member/2 ?x ?l) (demand member/2 ?x (cons ?y ?l)))
                (<= (demand member/2 ace ?l) (true (hand ?l)))
                1:13 tolerated[unsafe-rule]: `?x` is in the head but in no positive literal of the body
                1:25 tolerated[unsafe-rule]: `?l` is in the head but in no positive literal of the body
                1:52 tolerated[unsafe-rule]: `?y` is in the head but in no positive literal of the body
            "#]],
        );
    }

    #[test]
    fn only_necessary_arguments_are_inputs() {
        check(
            "(<= (split (pair ?x ?y) ?x ?y)) (<= (first ?out ?in) (split ?in ?out ?rest))
             (<= (next (at ?x)) (true (both ?b)) (first ?x ?b))",
            expect![[r#"
                (<= (split (pair ?x ?y) ?x ?y) (demand split/3 (pair ?x ?y)))
                (<= (first ?out ?in) (demand first/2 ?in) (split ?in ?out ?rest))
                (<= (next (at ?x)) (true (both ?b)) (first ?x ?b))
                (<= (demand split/3 ?in) (demand first/2 ?in))
                (<= (demand first/2 ?b) (true (both ?b)))
                1:18 tolerated[unsafe-rule]: `?x` is in the head but in no positive literal of the body
                1:21 tolerated[unsafe-rule]: `?y` is in the head but in no positive literal of the body
            "#]],
        );
    }

    #[test]
    fn a_call_that_nothing_binds_drops_the_rule() {
        check(
            "(<= (same ?x ?x)) (<= p (same ?x ?y)) (<= q (same a ?y))",
            expect![[r#"
            (<= (same ?x ?x) (demand same/2 ?x))
            (<= q (same a ?y))
            (demand same/2 a)
            1:11 tolerated[unsafe-rule]: `?x` is in the head but in no positive literal of the body
            1:19 tolerated[unbound-call]: no order of these conditions binds the arguments that `same` requires
        "#]],
        );
    }
}
