//! Rules with variables that nothing binds, made safe.
//!
//! Strict GDL forbids them, and yet public rulesheets have them, with a meaning that Prolog
//! players gave them. There are three kinds:
//!
//! - The role of `legal`, `goal` or `sees`: every role is meant, so `role` is added to the body.
//! - A variable of one negative literal alone, `(not (true (cell ?x ?y b)))`: no instance may
//!   hold. The literal becomes the negation of a relation without the variable.
//! - A variable of the head of an ordinary relation: the relation is evaluated only when it is
//!   called with that argument bound. A *demand* relation collects the calls, and the rule is
//!   joined with it: this is the magic-set transformation of Bancilhon, Maier, Sagiv and Ullman
//!   (1986) for the arguments that need it, and for no others.
//!
//! Demand may be larger than what evaluation in the order of writing would ask for; that costs
//! time and changes no answer.

use std::collections::{BTreeMap, BTreeSet};

use ludex_base::{Diagnostic, Severity};

use crate::keyword::Keyword;
use crate::program::{Atom, Literal, Pattern, Program, Relation, RelationId, Rule, Stage};

/// Makes every rule safe, or drops it with a fatal diagnostic.
pub(crate) fn make_safe(program: &mut Program, diagnostics: &mut Vec<Diagnostic>) {
    for_all_roles(program, diagnostics);
    project_negatives(program, diagnostics);
    let demanded = find_demanded(program, diagnostics);
    if !demanded.is_empty() {
        add_demand(program, &demanded);
    }
}

/// For each relation that is evaluated on demand, the arguments that a call must bind.
type Demanded = BTreeMap<RelationId, BTreeSet<usize>>;

type Variables = BTreeSet<u32>;

fn unsafe_rule(
    program: &Program,
    rule: &Rule,
    variable: u32,
    severity: Severity,
    what: &str,
) -> Diagnostic {
    let name = program.terms.symbols().name(rule.variables[variable as usize]);
    let message = format!("`?{name}` {what} but in no positive literal of the body");
    Diagnostic::new(severity, "unsafe-rule", rule.span, message)
        .with_help(format!("add a condition that says what `?{name}` ranges over"))
}

/// Reports, unless the same is said of the same rule already: one clause may have become many
/// rules.
fn report(diagnostics: &mut Vec<Diagnostic>, diagnostic: Diagnostic) {
    if !diagnostics.contains(&diagnostic) {
        diagnostics.push(diagnostic);
    }
}

/// Binds the role of `legal`, `goal` and `sees` to every role where nothing else binds it.
fn for_all_roles(program: &mut Program, diagnostics: &mut Vec<Diagnostic>) {
    let with_role = [Keyword::Legal, Keyword::Goal, Keyword::Sees].map(RelationId::from);
    for rule_idx in 0..program.rules.len() {
        let rule = &program.rules[rule_idx];
        let Some(&Pattern::Variable(variable)) = rule.head.args.first() else { continue };
        if !with_role.contains(&rule.head.relation) || positives(rule).contains(&variable) {
            continue;
        }
        let what = "is the role in the head";
        report(diagnostics, unsafe_rule(program, rule, variable, Severity::Tolerated, what));
        let role =
            Atom { relation: Keyword::Role.into(), args: [Pattern::Variable(variable)].into() };
        program.rules[rule_idx].body.insert(0, Literal::Positive(role));
    }
}

/// Replaces negative literals with variables of their own.
fn project_negatives(program: &mut Program, diagnostics: &mut Vec<Diagnostic>) {
    for rule_idx in 0..program.rules.len() {
        for literal_idx in 0..program.rules[rule_idx].body.len() {
            let rule = &program.rules[rule_idx];
            let Literal::Negative(atom) = &rule.body[literal_idx] else { continue };
            let mut elsewhere = variables_of(|visit| rule.head.for_each_variable(visit));
            for (other_idx, other) in rule.body.iter().enumerate() {
                if other_idx != literal_idx {
                    other.for_each_variable(&mut |variable| {
                        elsewhere.insert(variable);
                    });
                }
            }
            let inside = variables_of(|visit| atom.for_each_variable(visit));
            let Some(&own) = inside.difference(&elsewhere).next() else { continue };
            let what = "is in a negative literal";
            report(diagnostics, unsafe_rule(program, rule, own, Severity::Tolerated, what));

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
}

/// Finds the relations that need demand; drops rules that nothing can make safe.
fn find_demanded(program: &mut Program, diagnostics: &mut Vec<Diagnostic>) -> Demanded {
    let mut demanded = Demanded::new();
    let mut is_hopeless = vec![false; program.rules.len()];
    loop {
        let mut has_changed = false;
        for (rule_idx, rule) in program.rules.iter().enumerate() {
            let (_, bound) = call_order(rule, &demanded);
            let unbound: Vec<u32> =
                (0..rule.n_variables() as u32).filter(|v| !bound.contains(v)).collect();
            if unbound.is_empty() || is_hopeless[rule_idx] {
                continue;
            }
            let is_keyword = rule.head.relation.index() < Keyword::ALL.len();
            for variable in unbound {
                let place = place_in_head(rule, variable);
                let is_informative = [Keyword::Base, Keyword::Input]
                    .iter()
                    .any(|&keyword| rule.head.relation == keyword.into());
                let (severity, what) = match (place.is_none(), is_keyword) {
                    (false, false) => (Severity::Tolerated, "is in the head"),
                    (false, true) if is_informative => (Severity::Tolerated, "is in the head"),
                    (false, true) => (Severity::Fatal, "is in the head"),
                    (true, _) => (Severity::Fatal, "is in a negative literal or `distinct`"),
                };
                report(diagnostics, unsafe_rule(program, rule, variable, severity, what));
                match place {
                    Some(place) if !is_keyword => {
                        has_changed = true;
                        demanded.entry(rule.head.relation).or_default().insert(place);
                    }
                    _ => is_hopeless[rule_idx] = true,
                }
            }
        }
        for rule in &program.rules {
            let Some(inputs) = demanded.get_mut(&rule.head.relation) else { continue };
            has_changed |= growing_place(rule, inputs).is_some_and(|place| inputs.insert(place));
        }
        if !has_changed {
            break;
        }
    }
    let mut is_hopeless = is_hopeless.into_iter();
    program.rules.retain(|_| !is_hopeless.next().expect("one answer a rule"));
    demanded
}

/// An order of the positive literals in which every call binds what it must, as positions in the
/// body, and the variables bound at the end.
fn call_order(rule: &Rule, demanded: &Demanded) -> (Vec<usize>, Variables) {
    let mut bound = Variables::new();
    if let Some(inputs) = demanded.get(&rule.head.relation) {
        inputs.iter().for_each(|&place| {
            rule.head.args[place].for_each_variable(&mut |variable| {
                bound.insert(variable);
            });
        });
    }
    let mut order = Vec::new();
    let mut waiting: Vec<(usize, &Atom)> = rule
        .body
        .iter()
        .enumerate()
        .filter_map(|(idx, literal)| match literal {
            Literal::Positive(atom) => Some((idx, atom)),
            _ => None,
        })
        .collect();
    // Relations without demand first: they bind, and cost no demand.
    while let Some(next) = waiting
        .iter()
        .position(|(_, atom)| !demanded.contains_key(&atom.relation))
        .or_else(|| waiting.iter().position(|(_, atom)| is_callable(atom, demanded, &bound)))
    {
        let (idx, atom) = waiting.remove(next);
        order.push(idx);
        atom.for_each_variable(&mut |variable| {
            bound.insert(variable);
        });
    }
    (order, bound)
}

fn is_callable(atom: &Atom, demanded: &Demanded, bound: &Variables) -> bool {
    demanded[&atom.relation].iter().all(|&place| {
        variables_of(|visit| atom.args[place].for_each_variable(visit)).is_subset(bound)
    })
}

/// Adds a demand relation for each demanded one, rules that collect the calls, and the demand
/// to the bodies.
fn add_demand(program: &mut Program, demanded: &Demanded) {
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
        for literal in &rule.body {
            if let Literal::Negative(atom) = literal {
                calls.extend(call(atom, &before, rule));
            }
        }
        // Facts hold whether or not somebody asks.
        if let Some(demand) = head_demand
            && rule.n_variables() > 0
        {
            rule.body.insert(0, demand);
        }
    }
    program.rules.extend(calls);
}

/// The literals, and those `distinct` of the rule whose variables they bind.
fn with_distinct(literals: &[Literal], rule: &Rule) -> Vec<Literal> {
    let bound = variables_of(|visit| literals.iter().for_each(|l| l.for_each_variable(visit)));
    let distinct = rule.body.iter().filter(|literal| {
        matches!(literal, Literal::Distinct(..))
            && variables_of(|visit| literal.for_each_variable(visit)).is_subset(&bound)
    });
    literals.iter().chain(distinct).cloned().collect()
}

/// The rule with its variables numbered without gaps.
fn renumbered(mut rule: Rule) -> Rule {
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

/// A relation of our own; rulesheets have no names with blanks, so it can't be one of theirs.
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

/// The first argument of the head with the variable: what helpers take stands before what they
/// give.
fn place_in_head(rule: &Rule, variable: u32) -> Option<usize> {
    (0..rule.head.args.len())
        .find(|&p| variables_of(|v| rule.head.args[p].for_each_variable(v)).contains(&variable))
}

/// An argument to demand lest the rule derive ever larger terms: it calls its own relation, builds
/// a term around an argument of the call, and none of the inputs gets smaller by the call.
fn growing_place(rule: &Rule, inputs: &BTreeSet<usize>) -> Option<usize> {
    rule.body.iter().find_map(|literal| {
        let Literal::Positive(call) = literal else { return None };
        let is_recursive = call.relation == rule.head.relation;
        let grows = |place: usize| is_inside(&call.args[place], &rule.head.args[place]);
        if !is_recursive || inputs.iter().any(|&place| grows(place)) {
            return None;
        }
        (0..call.args.len()).find(|&place| grows(place))
    })
}

/// Whether a pattern is a proper part of another.
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
