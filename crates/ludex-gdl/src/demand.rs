//! Demand: rules with variables that nothing binds, made safe.
//!
//! Strict GDL forbids them, but public rulesheets contain them, with the meaning that Prolog
//! players gave them. There are three kinds:
//!
//! - The role of `legal`, `goal` or `sees`: it means every role, so `role` is added to the body.
//! - A variable of a single negative literal, `(not (true (cell ?x ?y b)))`: no instance may be
//!   true. The literal becomes the negation of a relation without the variable.
//! - A variable of the head of an ordinary relation: the relation is evaluated only when it is
//!   called with that argument bound. A *demand* relation collects the calls, and the rule is
//!   joined with it. This is the magic-set transformation of Bancilhon, Maier, Sagiv and Ullman
//!   (1986), applied only to the arguments that need it.
//!
//! Demand may be larger than evaluation in the order of writing would produce; that costs time and
//! changes no answer.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use ludex_base::ids::narrow;
use ludex_base::{Diagnostic, Pace, Severity, StopReason};

use crate::codes;
use crate::keyword::Keyword;
use crate::program::{
    Atom, Literal, OnDemand, Pattern, Program, Relation, RelationId, Rule, Stage,
};
use crate::report::Report;

/// Makes every rule safe, or drops it. [`crate::safety`] reports the variables; this reports only
/// that no order of the conditions works.
pub(crate) fn make_safe(
    program: &mut Program,
    report: &mut Report,
    pace: &Pace<'_>,
) -> Result<(), StopReason> {
    for_all_roles(program);
    pace.check()?;
    project_negatives(program, pace)?;
    let demanded = find_demanded(program, report, pace)?;
    if !demanded.is_empty() {
        add_demand(program, &demanded, pace)?;
    }
    Ok(())
}

/// For each relation that is evaluated on demand, the arguments that a call must bind.
type Demanded = BTreeMap<RelationId, BTreeSet<usize>>;

type Variables = BTreeSet<u32>;

/// Largest number of literals to look at in the search for inputs; rulesheets of the corpus need
/// some hundreds.
const MAX_LOOKS: usize = 20_000_000;

/// Largest total number of conditions in the rules that derive demand.
const MAX_REPEATED: usize = 1_000_000;

/// Binds the role of `legal`, `goal` and `sees` to every role where nothing else binds it.
fn for_all_roles(program: &mut Program) {
    let with_role = [Keyword::Legal, Keyword::Goal, Keyword::Sees].map(RelationId::from);
    for rule in &mut program.rules {
        let Some(&Pattern::Variable(variable)) = rule.head.args.first() else { continue };
        if with_role.contains(&rule.head.relation) && !positives(rule).contains(&variable) {
            let args = [Pattern::Variable(variable)].into();
            let role = Atom { relation: Keyword::Role.into(), args };
            rule.body.insert(0, Literal::Positive(role));
        }
    }
}

/// Replaces negative literals with variables that occur only in negative literals: no instance may
/// be true.
fn project_negatives(program: &mut Program, pace: &Pace<'_>) -> Result<(), StopReason> {
    for rule_idx in 0..program.rules.len() {
        pace.steps(1 + program.rules[rule_idx].body.len())?;
        let rule = &program.rules[rule_idx];
        if !rule.body.iter().any(|literal| matches!(literal, Literal::Negative(_))) {
            continue;
        }
        let mut elsewhere = positives(rule);
        rule.head.for_each_variable(&mut |variable| {
            elsewhere.insert(variable);
        });
        for literal_idx in 0..program.rules[rule_idx].body.len() {
            let rule = &program.rules[rule_idx];
            let Literal::Negative(atom) = &rule.body[literal_idx] else { continue };
            let inside = variables_of(|visit| atom.for_each_variable(visit));
            if inside.is_subset(&elsewhere) {
                continue;
            }
            let shared: Vec<u32> = inside.intersection(&elsewhere).copied().collect();
            let args: Box<[Pattern]> = shared.iter().map(|&v| Pattern::Variable(v)).collect();
            let projection = Rule {
                head: Atom { relation: RelationId::new(program.relations.len()), args },
                body: vec![Literal::Positive(atom.clone())],
                variables: rule.variables.clone(),
                span: rule.span,
            };
            let some = projection.head.clone();
            let name = program.terms.symbols().name(program.relation(atom.relation).name);
            let name = format!("some {name} {}", program.relations.len());
            add_relation(program, &name, shared.len());
            program.rules.push(renumbered(projection));
            program.rules[rule_idx].body[literal_idx] = Literal::Negative(some);
        }
    }
    // The rules no longer contain the variables that were projected away.
    for rule in &mut program.rules {
        pace.steps(1 + rule.body.len())?;
        if rule.body.iter().any(|literal| matches!(literal, Literal::Negative(_))) {
            let whole = std::mem::replace(
                rule,
                Rule {
                    head: Atom { relation: rule.head.relation, args: Box::default() },
                    body: Vec::new(),
                    variables: Vec::new(),
                    span: rule.span,
                },
            );
            *rule = renumbered(whole);
        }
    }
    Ok(())
}

/// Finds the relations that need demand; drops rules that nothing can make safe.
///
/// An argument becomes an input only if a rule needs that: its head has a variable there that its
/// body lacks, or a condition of the body can't be called otherwise. Other arguments stay free,
/// since every caller must bind an input.
fn find_demanded(
    program: &mut Program,
    report: &mut Report,
    pace: &Pace<'_>,
) -> Result<Demanded, StopReason> {
    let mut touching: BTreeMap<RelationId, Vec<usize>> = BTreeMap::new();
    for (rule_idx, rule) in program.rules.iter().enumerate() {
        pace.steps(1 + rule.body.len())?;
        let positive = rule.dependencies().filter(|&(_, is_positive)| is_positive);
        for relation in positive.map(|(id, _)| id).chain([rule.head.relation]) {
            touching.entry(relation).or_default().push(rule_idx);
        }
    }
    let mut search = InputSearch { demanded: Demanded::new(), n_looks: 0 };
    let mut is_dropped = vec![false; program.rules.len()];
    let mut open: VecDeque<usize> = (0..program.rules.len())
        .filter(|&idx| positives(&program.rules[idx]).len() < program.rules[idx].n_variables())
        .collect();
    while let Some(rule_idx) = open.pop_front() {
        let rule = &program.rules[rule_idx];
        pace.steps(1 + rule.body.len())?;
        if is_dropped[rule_idx] {
            continue;
        }
        let head = rule.head.relation;
        let is_keyword = head.index() < Keyword::ALL.len();
        match search.missing_inputs(rule) {
            Missing::Nothing => {}
            Missing::Arguments(arguments) if !is_keyword => {
                let inputs = search.demanded.entry(head).or_default();
                inputs.extend(arguments);
                for &idx in &touching[&head] {
                    pace.step()?;
                    let rule = &program.rules[idx];
                    if rule.head.relation == head {
                        inputs.extend(growing_argument(rule, inputs));
                    }
                }
                open.extend(&touching[&head]);
            }
            missing => {
                is_dropped[rule_idx] = true;
                report.extend(missing.diagnostic(program, rule, search.n_looks));
            }
        }
    }
    // For each of its calls, the part of a rule before the call becomes a rule that derives the
    // demand.
    let mut n_repeated = 0;
    for (rule, is_dropped) in program.rules.iter().zip(&mut is_dropped) {
        pace.steps(1 + rule.body.len())?;
        let is_call = |it: &(RelationId, bool)| search.demanded.contains_key(&it.0);
        let n_calls = rule.dependencies().filter(is_call).count();
        n_repeated += n_calls * rule.body.len();
        if n_calls > 0 && n_repeated > MAX_REPEATED && !*is_dropped {
            *is_dropped = true;
            report.push(too_many_calls(rule));
        }
    }
    let mut is_dropped = is_dropped.into_iter();
    program.rules.retain(|_| !is_dropped.next().expect("one answer a rule"));
    Ok(search.demanded)
}

/// What prevents a rule from being evaluated.
enum Missing {
    Nothing,
    /// These arguments of its head must be inputs.
    Arguments(BTreeSet<usize>),
    /// A variable occurs in no positive literal.
    Variable,
    /// This condition can't be called, as a position in the body.
    Call(usize),
}

impl Missing {
    /// Returns the diagnostic for a dropped rule; `None` for unbound variables, which are already
    /// reported.
    fn diagnostic(&self, program: &Program, rule: &Rule, n_looks: usize) -> Option<Diagnostic> {
        let Missing::Call(literal_idx) = self else { return None };
        let Literal::Positive(atom) = &rule.body[*literal_idx] else { return None };
        let name = program.terms.symbols().name(program.relation(atom.relation).name);
        if n_looks > MAX_LOOKS {
            return Some(too_many_calls(rule));
        }
        let message =
            format!("no order of these conditions binds the arguments that `{name}` requires");
        let help =
            format!("make the rules of `{name}` safe, or bind its arguments by other conditions");
        Some(
            Diagnostic::new(Severity::Tolerated, codes::UNBOUND_CALL, rule.span, message)
                .with_help(help),
        )
    }
}

fn too_many_calls(rule: &Rule) -> Diagnostic {
    let message = "there are too many calls of relations that require arguments";
    Diagnostic::new(Severity::Tolerated, codes::UNBOUND_CALL, rule.span, message)
        .with_help("make the rules of these relations safe")
}

struct InputSearch {
    demanded: Demanded,
    n_looks: usize,
}

impl InputSearch {
    fn missing_inputs(&mut self, rule: &Rule) -> Missing {
        let (order, bound) = call_order(rule, &self.demanded);
        self.n_looks += rule.body.len() * (1 + rule.body.len() - order.len().min(rule.body.len()));
        if bound.len() == rule.n_variables() {
            return Missing::Nothing;
        }
        let mut arguments = BTreeSet::new();
        let positives = positives(rule);
        for variable in (0..narrow(rule.n_variables())).filter(|v| !positives.contains(v)) {
            if !bound.contains(&variable) {
                match argument_in_head(rule, variable) {
                    Some(arg_idx) => arguments.insert(arg_idx),
                    None => return Missing::Variable,
                };
            }
        }
        if !arguments.is_empty() {
            return Missing::Arguments(arguments);
        }
        let blocked = || {
            rule.body.iter().enumerate().filter_map(|(idx, literal)| match literal {
                Literal::Positive(atom) if !order.contains(&idx) => Some((idx, atom)),
                _ => None,
            })
        };
        if self.n_looks <= MAX_LOOKS {
            for (_, atom) in blocked() {
                let needed = needed_by(atom, &self.demanded);
                let arguments: Option<BTreeSet<usize>> =
                    needed.difference(&bound).map(|&v| argument_in_head(rule, v)).collect();
                if let Some(arguments) = arguments {
                    return Missing::Arguments(arguments);
                }
            }
        }
        Missing::Call(blocked().next().map_or(0, |(idx, _)| idx))
    }
}

/// Returns an order of the positive literals in which every call binds its inputs, as positions in
/// the body, and the variables bound at the end.
fn call_order(rule: &Rule, demanded: &Demanded) -> (Vec<usize>, Variables) {
    let mut bound = Variables::new();
    if let Some(inputs) = demanded.get(&rule.head.relation) {
        inputs.iter().for_each(|&arg_idx| {
            rule.head.args[arg_idx].for_each_variable(&mut |variable| {
                bound.insert(variable);
            });
        });
    }
    let mut order = Vec::new();
    let mut waiting: Vec<(usize, &Atom, Variables)> = Vec::new();
    // Relations without demand come first: they bind variables and need no demand.
    for (idx, literal) in rule.body.iter().enumerate() {
        let Literal::Positive(atom) = literal else { continue };
        if demanded.contains_key(&atom.relation) {
            waiting.push((idx, atom, needed_by(atom, demanded)));
        } else {
            order.push(idx);
            atom.for_each_variable(&mut |variable| {
                bound.insert(variable);
            });
        }
    }
    while let Some(next) = waiting.iter().position(|(_, _, needed)| needed.is_subset(&bound)) {
        let (idx, atom, _) = waiting.remove(next);
        order.push(idx);
        atom.for_each_variable(&mut |variable| {
            bound.insert(variable);
        });
    }
    (order, bound)
}

/// Returns the variables that a call must bind.
fn needed_by(atom: &Atom, demanded: &Demanded) -> Variables {
    let inputs = demanded.get(&atom.relation).into_iter().flatten();
    variables_of(|visit| {
        for &arg_idx in inputs {
            atom.args[arg_idx].for_each_variable(visit);
        }
    })
}

/// Adds a demand relation for each demanded one, rules that collect the calls, and the demand to
/// the bodies.
fn add_demand(
    program: &mut Program,
    demanded: &Demanded,
    pace: &Pace<'_>,
) -> Result<(), StopReason> {
    let mut demand_ids = BTreeMap::new();
    for (&relation, inputs) in demanded {
        let name = program.terms.symbols().name(program.relation(relation).name).to_owned();
        let arity = program.relation(relation).arity;
        demand_ids.insert(relation, RelationId::new(program.relations.len()));
        add_relation(program, &format!("demand {name}/{arity}"), inputs.len());
    }
    let demand_of = |atom: &Atom| {
        demand_ids.get(&atom.relation).map(|&relation| Atom {
            relation,
            args: demanded[&atom.relation].iter().map(|&p| atom.args[p].clone()).collect(),
        })
    };

    let mut calls = Vec::new();
    for rule in &mut program.rules {
        pace.steps(1 + rule.body.len())?;
        let (order, _) = call_order(rule, demanded);
        let head_demand = demand_of(&rule.head).map(Literal::Positive);
        let mut before: Vec<Literal> = head_demand.iter().cloned().collect();
        let call = |atom: &Atom, before: &[Literal], rule: &Rule| {
            demand_of(atom).map(|head| {
                renumbered(Rule {
                    body: with_distinct(before, rule),
                    head,
                    variables: rule.variables.clone(),
                    span: rule.span,
                })
            })
        };
        for &literal_idx in &order {
            let literal = &rule.body[literal_idx];
            let Literal::Positive(atom) = literal else { continue };
            calls.extend(call(atom, &before, rule));
            before.push(literal.clone());
        }
        // A negative literal is called as soon as its variables are bound: what comes later may
        // depend on the answer.
        let mut bound_after: BTreeMap<u32, usize> = BTreeMap::new();
        for (idx, literal) in before.iter().enumerate() {
            literal.for_each_variable(&mut |variable| {
                bound_after.entry(variable).or_insert(idx + 1);
            });
        }
        for literal in &rule.body {
            let Literal::Negative(atom) = literal else { continue };
            let mut n_before = 0;
            atom.for_each_variable(&mut |variable| {
                n_before =
                    n_before.max(bound_after.get(&variable).copied().unwrap_or(before.len()));
            });
            calls.extend(call(atom, &before[..n_before], rule));
        }
        // Facts hold whether or not they are demanded.
        if let Some(demand) = head_demand
            && rule.n_variables() > 0
        {
            rule.body.insert(0, demand);
        }
    }
    program.rules.extend(calls);
    program.on_demand = demanded
        .iter()
        .map(|(&relation, inputs)| OnDemand {
            relation,
            demand: demand_ids[&relation],
            inputs: inputs.iter().copied().collect(),
        })
        .collect();
    Ok(())
}

/// Returns the literals, and those `distinct` of the rule whose variables they bind.
fn with_distinct(literals: &[Literal], rule: &Rule) -> Vec<Literal> {
    let bound = variables_of(|visit| literals.iter().for_each(|l| l.for_each_variable(visit)));
    let distinct = rule.body.iter().filter(|literal| {
        matches!(literal, Literal::Distinct(..))
            && variables_of(|visit| literal.for_each_variable(visit)).is_subset(&bound)
    });
    literals.iter().chain(distinct).cloned().collect()
}

/// Numbers the variables of a rule without gaps.
pub(crate) fn renumbered(mut rule: Rule) -> Rule {
    let mut used = variables_of(|visit| rule.head.for_each_variable(visit));
    for literal in &rule.body {
        literal.for_each_variable(&mut |variable| {
            used.insert(variable);
        });
    }
    let numbers: BTreeMap<u32, u32> = used.iter().copied().zip(0..).collect();
    rule.variables = used.iter().map(|&v| rule.variables[v as usize]).collect();
    renumber_atom(&mut rule.head, &numbers);
    for literal in &mut rule.body {
        match literal {
            Literal::Positive(atom) | Literal::Negative(atom) => renumber_atom(atom, &numbers),
            Literal::Distinct(left, right) => {
                renumber(left, &numbers);
                renumber(right, &numbers);
            }
        }
    }
    rule
}

fn renumber_atom(atom: &mut Atom, numbers: &BTreeMap<u32, u32>) {
    atom.args.iter_mut().for_each(|arg| renumber(arg, numbers));
}

fn renumber(pattern: &mut Pattern, numbers: &BTreeMap<u32, u32>) {
    match pattern {
        Pattern::Variable(variable) => *variable = numbers[variable],
        Pattern::Ground(_) => {}
        Pattern::Compound(_, args) => args.iter_mut().for_each(|arg| renumber(arg, numbers)),
    }
}

/// Adds an internal relation; names in rulesheets have no blanks, so its name can't clash.
fn add_relation(program: &mut Program, name: &str, arity: usize) {
    let name = program.terms.symbols_mut().intern(name);
    program.relations.push(Relation { name, arity, stage: Stage::Static });
}

fn positives(rule: &Rule) -> Variables {
    variables_of(|visit| {
        for literal in &rule.body {
            if let Literal::Positive(atom) = literal {
                atom.for_each_variable(visit);
            }
        }
    })
}

/// Returns the first argument of the head with the variable: the inputs of helper relations usually
/// come before their outputs.
fn argument_in_head(rule: &Rule, variable: u32) -> Option<usize> {
    (0..rule.head.args.len())
        .find(|&p| variables_of(|v| rule.head.args[p].for_each_variable(v)).contains(&variable))
}

/// Returns an argument to demand so that the rule does not derive ever larger terms: the rule calls
/// its own relation, builds a term around an argument of the call, and none of the inputs gets
/// smaller by the call.
fn growing_argument(rule: &Rule, inputs: &BTreeSet<usize>) -> Option<usize> {
    rule.body.iter().find_map(|literal| {
        let Literal::Positive(call) = literal else { return None };
        let is_recursive = call.relation == rule.head.relation;
        let grows = |arg_idx: usize| is_inside(&call.args[arg_idx], &rule.head.args[arg_idx]);
        if !is_recursive || inputs.iter().any(|&arg_idx| grows(arg_idx)) {
            return None;
        }
        (0..call.args.len()).find(|&arg_idx| grows(arg_idx))
    })
}

/// Returns whether a pattern is a proper part of another.
fn is_inside(part: &Pattern, whole: &Pattern) -> bool {
    let Pattern::Compound(_, args) = whole else { return false };
    args.iter().any(|arg| arg == part || is_inside(part, arg))
}

fn variables_of(visit_all: impl FnOnce(&mut dyn FnMut(u32))) -> Variables {
    let mut variables = Variables::new();
    visit_all(&mut |variable| {
        variables.insert(variable);
    });
    variables
}
