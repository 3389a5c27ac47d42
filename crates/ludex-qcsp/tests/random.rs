//! Random small models against the definition, with every option.

use ludex_base::{Rng, Seed};
use ludex_csp::propagators::table::Table;
use ludex_csp::{Constraint, Expr, Value, ValueSet, VarId, element, if_then_else, sum};
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
