//! Random small models, solved with every option and compared with the definition.

use ludex_csp::propagators::table::Table;
use ludex_csp::{Constraint, Expr, Value, ValueSet, VarId, Verdict, element, if_then_else, sum};
use ludex_qcsp::*;
use ludex_testkit::property::{Choices, built, holds_for_all};

fn term(choices: &mut Choices, vars: &[VarId]) -> Expr {
    let x = |choices: &mut Choices| match choices.choose(vars) {
        Some(&x) if choices.below(6) > 0 => Expr::Var(x),
        _ => Expr::from(choices.below(5) as Value - 1),
    };
    let (a, b) = (x(choices), x(choices));
    match choices.below(8) {
        0 | 1 => a,
        2 => a + b,
        3 => a - b,
        4 => a * b,
        5 => if_then_else(a.clone().at_most(1), b, a),
        6 => element([a.clone(), b, 2.into()], a),
        _ => a / b,
    }
}

fn constraint(choices: &mut Choices, vars: &[VarId]) -> Constraint {
    let (a, b) = (term(choices, vars), term(choices, vars));
    Constraint::Intension(match choices.below(9) {
        0 => a.equals(b),
        1 => a.differs(b),
        2 => a.at_most(b),
        3 => a.less_than(b),
        4 => a.clone().equals(b.clone()) | a.at_most(term(choices, vars)),
        5 => a.differs(b.clone()) & b.at_most(term(choices, vars)),
        6 if vars.len() > 1 => {
            let mut scope = vars.to_vec();
            while scope.len() > 3 {
                scope.remove(choices.below(scope.len()));
            }
            let n = scope.len();
            let tuples = (0..3 + choices.below(10))
                .map(|_| (0..n).map(|_| choices.below(3) as Value).collect::<Vec<_>>());
            let table = Table::from_tuples(n, tuples);
            return Constraint::Table {
                scope,
                table: table.into(),
                is_positive: choices.below(2) == 0,
            };
        }
        7 if vars.len() > 1 => {
            let list = vars.iter().rev().take(3).map(Expr::from).collect();
            return Constraint::AllDifferent { list, except: ValueSet::default() };
        }
        _ => sum(vars.iter().rev().take(3)).at_most(a),
    })
}

/// A model with up to four scopes of up to two variables and a definition.
fn model(choices: &mut Choices, optimizes: bool) -> Model {
    let mut model = Model::new();
    let mut vars: Vec<VarId> = Vec::new();
    for i in 0..1 + choices.below(4) {
        let is_exists = choices.below(2) == 0;
        let quantifier = if is_exists { Quantifier::Exists } else { Quantifier::Forall };
        model.open(format!("s{i}"), quantifier);
        let first = vars.len();
        for j in 0..choices.below(3).max(usize::from(i == 0)) {
            let lo = choices.below(3) as Value - 1;
            let domain = match choices.below(5) {
                0 => ValueSet::from([lo, lo + 2]),
                _ => ValueSet::from(lo..=lo + 1 + choices.below(2) as Value),
            };
            vars.push(model.int(format!("x{i}{j}"), domain));
        }
        if choices.below(2) == 0 {
            let e = term(choices, &vars);
            vars.push(match choices.below(3) {
                0 => model.define_in(format!("d{i}"), -1..=2, e),
                _ => model.define(format!("d{i}"), e),
            });
        }
        for _ in 0..choices.below(3) {
            let constraint = constraint(choices, &vars);
            model.restrict(constraint);
        }
        if choices.below(4) == 0
            && let Some(&x) = vars.get(first)
            && model.variable(x).definition.is_none()
        {
            let mut values: Vec<Value> = model.domain(x).iter().collect();
            values.reverse();
            values.truncate(2);
            model.value_order(x, values);
        }
    }
    for _ in 0..choices.below(3) {
        let constraint = constraint(choices, &vars);
        model.goal_constraint(constraint);
    }
    if optimizes {
        optimize(choices, &mut model);
    }
    model
}

/// Adds aggregates and criteria wherever the model allows them.
fn optimize(choices: &mut Choices, model: &mut Model) {
    let functions = AggregateFunction::ALL.map(|(_, function)| function);
    // By scope, from the last: the measures visible from it.
    let mut seen: Vec<Measure> = Vec::new();
    for i in (0..model.scopes().len()).rev() {
        let id = ScopeId::new(i);
        let scope = model.scope(id);
        if scope.quantifier == Quantifier::Forall {
            let mut aggregates = Vec::new();
            for n in 0..2 {
                if let Some(&of) = choices.choose(&seen) {
                    let function = *choices.choose(&functions).unwrap();
                    let name = format!("a{i}{n}");
                    aggregates.push(model.aggregate(id, name, function, of).into());
                }
            }
            seen = aggregates;
            continue;
        }
        seen.extend(scope.variables.iter().map(|&x| Measure::Variable(x)));
        let ties = [Ties::Optimistic, Ties::Pessimistic, Ties::Lexicographic];
        model.ties(id, *choices.choose(&ties).unwrap());
        if choices.below(4) > 0
            && let Some(&measure) = choices.choose(&seen)
        {
            match choices.below(2) {
                0 => model.minimize(id, measure),
                _ => model.maximize(id, measure),
            }
        }
    }
}

/// Sizes that enable every method wherever it applies.
const EAGER: Sizes =
    Sizes { min_refined: 0, min_propagated: 0, max_branches: 1, min_shared_levels: 1 };

fn configurations() -> Vec<(&'static str, SolveConfig)> {
    let default = SolveConfig::default;
    vec![
        ("default", default()),
        ("no memory", SolveConfig { memory: false, ..default() }),
        ("small memory", SolveConfig { memory_bytes: 1, ..default() }),
        ("ascending", SolveConfig { value_order: ValueOrder::Ascending, ..default() }),
        ("goal order", SolveConfig { value_order: ValueOrder::Goal, ..default() }),
        ("no bounds", SolveConfig { branch_and_bound: false, ..default() }),
        ("backjumping", SolveConfig { backjumping: true, memory: false, ..default() }),
        ("learning", SolveConfig { learning: true, ..default() }),
        ("restrictors", SolveConfig { propagation: Propagation::Restrictor, ..default() }),
        ("cascade", SolveConfig { propagation: Propagation::Cascade, ..default() }),
        ("full cascade", SolveConfig { propagation: Propagation::Full, ..default() }),
        (
            "cascade with reasons",
            SolveConfig {
                propagation: Propagation::Cascade,
                learning: true,
                memory: false,
                ..default()
            },
        ),
        (
            "two threads",
            SolveConfig { n_threads: 2, nodes_alone: 0, memory_bytes: 1 << 16, ..default() },
        ),
        (
            "three threads",
            SolveConfig {
                n_threads: 3,
                nodes_alone: 0,
                memory_bytes: 1 << 16,
                sizes: EAGER,
                ..default()
            },
        ),
        ("eager", SolveConfig { sizes: EAGER, ..default() }),
        ("eager tries", SolveConfig { sizes: EAGER, refinement: false, ..default() }),
        ("deepening", SolveConfig { deepening: true, ..default() }),
        ("history", SolveConfig { value_order: ValueOrder::History, ..default() }),
        ("preserve", SolveConfig { value_order: ValueOrder::Preserve, ..default() }),
    ]
}

/// The default configuration and a third of the others.
fn some_configurations(third: usize) -> impl Iterator<Item = (&'static str, SolveConfig)> {
    let all = configurations().into_iter().enumerate();
    all.filter(move |(i, _)| *i == 0 || *i % 3 == third).map(|(_, named)| named)
}

/// Models, each with the third of the configurations to solve it with.
fn models(optimizes: bool) -> impl proptest::strategy::Strategy<Value = (usize, Model)> {
    (0..3_usize, built(400, move |choices| model(choices, optimizes)))
}

#[test]
fn random_models_have_the_verdict_of_the_definition() {
    let mut counts = [0; 2];
    holds_for_all(5000, models(false), |(third, model)| {
        let (expected, _) = by_definition(&model);
        counts[usize::from(expected)] += 1;
        for (name, config) in some_configurations(third) {
            let report = solve(&model, &config).unwrap();
            assert_eq!(report.verdict, expected.into(), "{name}");
        }
        check_strategies(&model, expected);
    });
    assert!(counts.iter().all(|&n| n > 1000), "{counts:?}");
}

#[test]
fn random_optimizations_have_the_value_of_the_definition() {
    let mut n_values = 0;
    holds_for_all(5000, models(true), |(third, model)| {
        assert_eq!(model.check(), []);
        let (expected, value) = by_definition(&model);
        n_values += usize::from(value.is_some());
        for (name, config) in some_configurations(third) {
            let report = solve(&model, &config).unwrap();
            assert_eq!(report.verdict, expected.into(), "{name}");
            assert_eq!(report.value, value, "{name}");
        }
        check_strategies(&model, expected);
    });
    assert!(n_values > 1000, "{n_values}");
}

/// Checks that the checker accepts the strategy of the winner, and that the other side has none.
fn check_strategies(model: &Model, is_true: bool) {
    for request in [StrategyRequest::One, StrategyRequest::All] {
        let config = SolveConfig { strategy: request, ..SolveConfig::default() };
        let report = solve(model, &config).unwrap();
        let strategy = report.strategy.expect("it fits");
        let winner = if is_true { Quantifier::Exists } else { Quantifier::Forall };
        assert_eq!(strategy.winner, winner);
        check_strategy(model, &strategy)
            .unwrap_or_else(|refutation| panic!("{request:?}: {refutation}"));
        let judged = check_optimality(model, &strategy, u64::MAX);
        let is_fine = match judged {
            Optimality::Certified => is_true && model.is_optimization(),
            Optimality::NothingToOptimize => !is_true || !model.is_optimization(),
            Optimality::AnyTies { .. } => true,
            _ => false,
        };
        assert!(is_fine, "{request:?}: {judged:?}");
        let turned = Strategy { winner: winner.opponent(), ..strategy };
        assert!(check_strategy(model, &turned).is_err(), "{request:?}");
    }
}

#[test]
fn refinement_keeps_goals_over_the_first_scope_only() {
    let mut model = Model::new();
    model.exists("first");
    let x = model.ints("x", 5, 0..=9);
    model.forall("second");
    let y = model.bool("y");
    model.goal((x[0] * x[1]).equals(17));
    model.goal((x[2] + y).at_most(9));
    assert_eq!(solve(&model, &SolveConfig::default()).unwrap().verdict, Verdict::False);
}

#[test]
fn bounds_count_every_choice_of_a_wide_scope() {
    for (function, value) in [(AggregateFunction::Sum, 5_050), (AggregateFunction::Count, 100)] {
        let mut model = Model::new();
        let first = model.exists("first");
        let x = model.int("x", 0..=1);
        let second = model.forall("second");
        let k = model.int("k", 1..=100);
        model.exists("third");
        model.bool("idle");
        let paid = model.define("paid", x * k);
        let total = model.aggregate(second, "total", function, paid);
        model.maximize(first, total);
        for branch_and_bound in [true, false] {
            let config = SolveConfig { branch_and_bound, ..SolveConfig::default() };
            assert_eq!(solve(&model, &config).unwrap().value, Some(value), "{function:?}");
        }
    }
}

#[test]
fn symmetries_that_leave_a_domain_are_ignored() {
    let mut model = Model::new();
    model.forall("first");
    let x = model.int("x", 0..=1);
    let y = model.int("y", 0..=3);
    model.exists("second");
    let z = model.int("z", 1..=5);
    model.symmetry(Symmetry { variables: vec![(x, y), (y, x)], ..Symmetry::default() });
    model
        .goal(Expr::from(z).greater_than(x * y * 10 - if_then_else((x * y).greater_than(1), 9, 0)));
    let expected = by_definition(&model).0;
    assert_eq!(solve(&model, &SolveConfig::default()).unwrap().verdict, expected.into());
}

#[test]
fn the_memory_distinguishes_measures_with_equal_verdicts() {
    let mut model = Model::new();
    let first = model.exists("first");
    let x = model.bool("x");
    let y = model.bool("y");
    model.require((x + y).equals(1));
    model.exists("second");
    model.symmetry(Symmetry { variables: vec![(x, y), (y, x)], ..Symmetry::default() });
    model.memory_key([]);
    let z = model.bool("z");
    let v = model.define("v", x * 3 + y + z);
    model.maximize(first, v);
    let (_, expected) = by_definition(&model);
    assert_eq!(solve(&model, &SolveConfig::default()).unwrap().value, expected);
}

#[test]
fn a_declared_key_may_be_an_otherwise_unused_definition() {
    // Take 1 or 2 of n matches; a player who cannot move loses. The remainder of n by 3 decides.
    for n in 0..=9 {
        let mut model = Model::new();
        let mut left: Option<VarId> = None;
        for round in 0..=n {
            let quantifier = if round % 2 == 0 { Quantifier::Exists } else { Quantifier::Forall };
            model.open(format!("round{round}"), quantifier);
            let before = left.map_or(Expr::from(n), Expr::from);
            let take = model.int(format!("take{round}"), 1..=2);
            if round > 0 {
                model.memory_key([VarId::new(left.unwrap().index() + 1)]);
            }
            left = Some(model.define_in(format!("left{round}"), 0..=n, before - take));
            model.define(format!("rest{round}"), left.unwrap() % 3);
        }
        let config = SolveConfig { strategy: StrategyRequest::One, ..SolveConfig::default() };
        let report = solve(&model, &config).unwrap();
        assert_eq!(report.verdict, (n % 3 != 0).into(), "n = {n}");
        check_strategy(&model, &report.strategy.unwrap()).unwrap();
    }
}
