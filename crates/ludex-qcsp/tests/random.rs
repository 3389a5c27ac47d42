//! Random small models against the definition, with every option.

use ludex_base::{Rng, Seed};
use ludex_csp::propagators::table::Table;
use ludex_csp::{Constraint, Expr, Value, ValueSet, VarId, Verdict, element, if_then_else, sum};
use ludex_qcsp::*;

fn term(rng: &mut Rng, vars: &[VarId]) -> Expr {
    let x = |rng: &mut Rng| match rng.choose(vars) {
        Some(&x) if rng.below(6) > 0 => Expr::Var(x),
        _ => Expr::from(rng.below(5) as Value - 1),
    };
    let (a, b) = (x(rng), x(rng));
    match rng.below(8) {
        0 => a + b,
        1 => a - b,
        2 => a * b,
        3 => if_then_else(a.clone().at_most(1), b, a),
        4 => element([a.clone(), b, 2.into()], a),
        5 => a / b,
        _ => a,
    }
}

fn constraint(rng: &mut Rng, vars: &[VarId]) -> Constraint {
    let (a, b) = (term(rng, vars), term(rng, vars));
    Constraint::Intension(match rng.below(9) {
        0 => a.equals(b),
        1 => a.differs(b),
        2 => a.at_most(b),
        3 => a.less_than(b),
        4 => a.clone().equals(b.clone()) | a.at_most(term(rng, vars)),
        5 => a.differs(b.clone()) & b.at_most(term(rng, vars)),
        6 if vars.len() > 1 => {
            let mut scope = vars.to_vec();
            while scope.len() > 3 {
                scope.remove(rng.below(scope.len()));
            }
            let n = scope.len();
            let tuples = (0..3 + rng.below(10))
                .map(|_| (0..n).map(|_| rng.below(3) as Value).collect::<Vec<_>>());
            let table = Table::from_tuples(n, tuples);
            return Constraint::Table {
                scope,
                table: table.into(),
                is_positive: rng.below(2) == 0,
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
fn random_model(seed: u64, optimizes: bool) -> Model {
    let mut rng = Seed(seed).rng();
    let rng = &mut rng;
    let mut model = Model::new();
    let mut vars: Vec<VarId> = Vec::new();
    for i in 0..1 + rng.below(4) {
        let is_exists = rng.below(2) == 0;
        let quantifier = if is_exists { Quantifier::Exists } else { Quantifier::Forall };
        model.open(format!("s{i}"), quantifier);
        let first = vars.len();
        for j in 0..rng.below(3).max(usize::from(i == 0)) {
            let lo = rng.below(3) as Value - 1;
            let domain = match rng.below(5) {
                0 => ValueSet::from([lo, lo + 2]),
                _ => ValueSet::from(lo..=lo + 1 + rng.below(2) as Value),
            };
            vars.push(model.int(format!("x{i}{j}"), domain));
        }
        if rng.below(2) == 0 {
            let e = term(rng, &vars);
            vars.push(match rng.below(3) {
                0 => model.define_in(format!("d{i}"), -1..=2, e),
                _ => model.define(format!("d{i}"), e),
            });
        }
        for _ in 0..rng.below(3) {
            let constraint = constraint(rng, &vars);
            model.restrict(constraint);
        }
        if rng.below(4) == 0
            && let Some(&x) = vars.get(first)
            && model.variable(x).definition.is_none()
        {
            let mut values: Vec<Value> = model.domain(x).iter().collect();
            values.reverse();
            values.truncate(2);
            model.value_order(x, values);
        }
    }
    for _ in 0..rng.below(3) {
        let constraint = constraint(rng, &vars);
        model.goal_constraint(constraint);
    }
    if optimizes {
        optimize(rng, &mut model);
    }
    model
}

/// Adds aggregates and criteria wherever they can stand.
fn optimize(rng: &mut Rng, model: &mut Model) {
    let functions = AggregateFunction::ALL.map(|(_, function)| function);
    // By scope, from the last: what can be seen from it.
    let mut seen: Vec<Measure> = Vec::new();
    for i in (0..model.scopes().len()).rev() {
        let id = ScopeId::new(i);
        let scope = model.scope(id);
        if scope.quantifier == Quantifier::Forall {
            let mut aggregates = Vec::new();
            for n in 0..2 {
                if let Some(&of) = rng.choose(&seen) {
                    let function = *rng.choose(&functions).unwrap();
                    let name = format!("a{i}{n}");
                    aggregates.push(model.aggregate(id, name, function, of).into());
                }
            }
            seen = aggregates;
            continue;
        }
        seen.extend(scope.variables.iter().map(|&x| Measure::Variable(x)));
        let ties = [Ties::Optimistic, Ties::Pessimistic, Ties::Lexicographic];
        model.ties(id, *rng.choose(&ties).unwrap());
        if rng.below(4) > 0
            && let Some(&measure) = rng.choose(&seen)
        {
            match rng.below(2) {
                0 => model.minimize(id, measure),
                _ => model.maximize(id, measure),
            }
        }
    }
}

/// Every method is used wherever it can be.
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

/// The default and a third of the others, in turn.
fn some_configurations(seed: u64) -> impl Iterator<Item = (&'static str, SolveConfig)> {
    let all = configurations().into_iter().enumerate();
    all.filter(move |(i, _)| *i == 0 || *i as u64 % 3 == seed % 3).map(|(_, named)| named)
}

#[test]
fn random_models_have_the_verdict_of_the_definition() {
    let mut counts = [0; 2];
    for seed in 0..5000 {
        let model = random_model(seed, false);
        let (expected, _) = by_definition(&model);
        counts[usize::from(expected)] += 1;
        for (name, config) in some_configurations(seed) {
            let report = solve(&model, &config).unwrap();
            assert_eq!(report.verdict, expected.into(), "seed {seed}, {name}");
        }
        check_strategies(&model, expected, seed);
    }
    assert!(counts.iter().all(|&n| n > 1000), "{counts:?}");
}

#[test]
fn random_optimizations_have_the_value_of_the_definition() {
    let mut n_values = 0;
    for seed in 0..5000 {
        let model = random_model(seed, true);
        assert_eq!(model.check(), []);
        let (expected, value) = by_definition(&model);
        n_values += usize::from(value.is_some());
        for (name, config) in some_configurations(seed) {
            let report = solve(&model, &config).unwrap();
            assert_eq!(report.verdict, expected.into(), "seed {seed}, {name}");
            assert_eq!(report.value, value, "seed {seed}, {name}");
        }
        check_strategies(&model, expected, seed);
    }
    assert!(n_values > 1000, "{n_values}");
}

/// The checker accepts what the search gives, and nothing for the other side.
fn check_strategies(model: &Model, is_true: bool, seed: u64) {
    for request in [StrategyRequest::One, StrategyRequest::All] {
        let config = SolveConfig { strategy: request, ..SolveConfig::default() };
        let report = solve(model, &config).unwrap();
        let strategy = report.strategy.expect("it fits");
        let winner = if is_true { Quantifier::Exists } else { Quantifier::Forall };
        assert_eq!(strategy.winner, winner, "seed {seed}");
        check_strategy(model, &strategy)
            .unwrap_or_else(|refutation| panic!("seed {seed}, {request:?}: {refutation}"));
        let judged = check_optimality(model, &strategy, u64::MAX);
        let is_fine = match judged {
            Optimality::Certified => is_true && model.is_optimization(),
            Optimality::NothingToOptimize => !is_true || !model.is_optimization(),
            Optimality::AnyTies { .. } => true,
            _ => false,
        };
        assert!(is_fine, "seed {seed}, {request:?}: {judged:?}");
        let turned = Strategy { winner: winner.opponent(), ..strategy };
        assert!(check_strategy(model, &turned).is_err(), "seed {seed}, {request:?}");
    }
}

#[test]
fn goals_of_the_first_scope_alone_are_not_forgotten_by_refinement() {
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
fn symmetries_that_leave_a_domain_are_not_used_there() {
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
fn measures_are_not_remembered_by_what_decides_verdicts() {
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
fn a_declared_key_may_be_a_definition_that_nobody_reads() {
    // Take 1 or 2 of n, who can't move loses; the rest of n by 3 decides.
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
