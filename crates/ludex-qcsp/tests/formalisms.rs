//! Worked examples that model one problem in several ways: with and without restrictors, with state
//! variables, with ghosts, with criteria instead of a tie-breaking rule.

mod models;

use ludex_csp::propagators::table::Table;
use ludex_csp::{Constraint, Expr, Value, ValueSet, VarId, Verdict, minimum, sum};
use ludex_qcsp::*;
use models::*;

fn verdict(model: &Model) -> Verdict {
    solve(model, &SolveConfig::default()).unwrap().verdict
}

fn n_strategies(model: &Model) -> u128 {
    let config = SolveConfig { strategy: StrategyRequest::All, ..SolveConfig::default() };
    let strategy = solve(model, &config).unwrap().strategy.expect("it fits");
    check_strategy(model, &strategy).unwrap();
    strategy.n_strategies(|scope| model.scope(scope).quantifier)
}

/// exists x forall y exists z: a strategy is a value for x, and for each y one for z.
#[test]
fn without_a_goal_every_strategy_wins() {
    let mut model = Model::new();
    model.exists("x");
    model.int("x", 1..=2);
    model.forall("y");
    model.int("y", 1..=2);
    model.exists("z");
    model.int("z", 1..=2);
    assert_eq!(n_strategies(&model), 8);
}

/// Five moves of 1 to 3, with separate variables for the matches left and taken.
#[test]
fn nim_with_state_variables_agrees_with_the_sum() {
    for n in 5..=15 {
        let mut model = Model::new();
        let mut taken = Expr::from(0);
        for i in 0..5 {
            model.open(format!("move {i}"), mover(i));
            let x = model.int(format!("x{i}"), 1..=3);
            // S_i is an ordinary variable, and the restrictor determines its value.
            let state = model.int(format!("S{i}"), 0..=15);
            model.require(state.equals(taken + x));
            taken = Expr::Var(state);
        }
        model.goal(taken.equals(n));
        assert_eq!(verdict(&model), (9..=11).contains(&n).into(), "{n}");
    }
}

/// forall x forall y exists z in {0, 1}, all different, in the form of strategic networks: a
/// universal variable ranges over the values that are consistent with each constraint.
fn strategic(constraints: &[Vec<usize>]) -> Model {
    let mut model = Model::new();
    let mut variables: Vec<VarId> = Vec::new();
    for (i, name) in ["x", "y", "z"].into_iter().enumerate() {
        model.open(name.into(), if i < 2 { Quantifier::Forall } else { Quantifier::Exists });
        variables.push(model.int(name, 0..=1));
        for constraint in constraints.iter().filter(|scope| scope.contains(&i)) {
            // Whether some values of the later variables complete the values so far.
            let can_hold = |tuple: &[Value]| {
                (0..8).any(|bits: Value| {
                    let value =
                        |at: usize| tuple.get(at).copied().unwrap_or_else(|| bits >> at & 1);
                    let mut values: Vec<Value> = constraint.iter().map(|&at| value(at)).collect();
                    values.sort_unstable();
                    values.windows(2).all(|pair| pair[0] != pair[1])
                })
            };
            let n = i + 1;
            let tuples: Vec<Vec<Value>> = (0..1 << n)
                .map(|bits: Value| (0..n).map(|at| bits >> at & 1).collect())
                .filter(|tuple: &Vec<Value>| can_hold(tuple))
                .collect();
            let table = Table::from_tuples(n, tuples).into();
            model.restrict(Constraint::Table {
                scope: variables.clone(),
                table,
                is_positive: true,
            });
        }
    }
    model
}

#[test]
fn strategic_networks_depend_on_how_constraints_are_stated() {
    // One constraint over all three variables: there is no value for x.
    assert_eq!(verdict(&strategic(&[vec![0, 1, 2]])), Verdict::True);
    // Three constraints over pairs: there are values for x and y, but then none for z.
    assert_eq!(verdict(&strategic(&[vec![0, 1], vec![0, 2], vec![1, 2]])), Verdict::False);
}

/// Nim Black-Jack without restrictors: a ghost variable of the existential player copies the
/// universal choice if it is legal. The existential player may have no legal ghost value.
#[test]
fn ghosts_fail_where_a_player_can_be_blocked() {
    let cards = ValueSet::from([3, 15, 17, 19]);
    let mut model = Model::new();
    model.exists("X1");
    let x1 = model.int("X1", cards.clone());
    model.forall("Y1");
    let y1 = model.int("Y1", cards.clone());
    model.exists("X2");
    let g1 = model.int("G1", cards.clone());
    let x2 = model.int("X2", cards.clone());
    model.forall("Y2");
    let y2 = model.int("Y2", cards.clone());
    model.exists("G2");
    let g2 = model.int("G2", cards);
    model.goal(y1.differs(x1).implies(g1.equals(y1)));
    model.goal(g1.differs(x1));
    model.goal(x2.differs(x1) & x2.differs(g1) & (x1 + x2).at_most(21));
    let rules = |y: VarId| y.differs(x1) & y.differs(g1) & y.differs(x2) & (g1 + y).at_most(21);
    model.goal(rules(y2).implies(g2.equals(y2)));
    model.goal(rules(g2));
    model.goal((x1 + x2).at_least(g1 + g2));
    assert_eq!(verdict(&model), Verdict::False);
    assert!(!by_definition(&model).0);
}

/// Nim-Fibonacci with `n_moves` moves; `strict` means less than the double, and less than half.
fn fibonacci(n: Value, strict: bool, n_moves: usize) -> Model {
    let mut model = Model::new();
    let less = Value::from(strict);
    let (mut left, mut limit) = (Expr::from(n), Expr::from((n - less) / 2));
    for i in 0..n_moves {
        model.open(format!("move {i}"), mover(i));
        let x = model.int(format!("x{i}"), 1..=n);
        model.require(x.at_most(minimum([limit.clone(), left.clone()])));
        left = Expr::Var(model.define_in(format!("left{i}"), 0..=n, left - x));
        limit = x * 2 - less;
    }
    model
}

#[test]
fn nim_fibonacci_as_it_is_printed() {
    let lost = |strict: bool, n_moves: fn(Value) -> usize| -> Vec<Value> {
        let is_lost = |n: &Value| verdict(&fibonacci(*n, strict, n_moves(*n))) == Verdict::False;
        (2..=34).filter(is_lost).collect()
    };
    assert_eq!(lost(false, |n| n as usize + 1), [2, 3, 5, 8, 13, 21, 34]);
    // If players take less than the double, powers of two are lost.
    assert_eq!(lost(true, |n| n as usize + 1), [2, 4, 8, 16, 32]);
    // With one pair of moves for every two matches, long games have no move left to block the first
    // player; with one more move they do.
    assert_eq!(lost(false, |n| n as usize / 2 * 2), [8, 13, 21, 34]);
    assert_eq!(lost(false, |n| n as usize / 2 * 2 + 1), [2, 3, 5, 8, 13, 21, 34]);
}

/// Restrictors can be folded into one goal without changing the truth.
#[test]
fn nim_fibonacci_without_restrictors() {
    for n in 2..=6 {
        let mut model = Model::new();
        let mut moves: Vec<VarId> = Vec::new();
        let mut restrictors = Vec::new();
        for i in 0..=n as usize {
            model.open(format!("move {i}"), mover(i));
            let limit = moves.last().map_or(Expr::from(n / 2), |&x| x * 2);
            let left = Expr::from(n) - sum(&moves);
            let x = model.int(format!("x{i}"), 1..=n);
            restrictors.push(x.at_most(limit) & x.at_most(left));
            moves.push(x);
        }
        let mut goal = Expr::from(1);
        for (i, restrictor) in restrictors.into_iter().enumerate().rev() {
            goal = match mover(i) {
                Quantifier::Exists => restrictor & goal,
                _ => restrictor.implies(goal),
            };
        }
        model.goal(goal);
        let is_lost = [2, 3, 5].contains(&n);
        assert_eq!(verdict(&model), (!is_lost).into(), "{n}");
    }
}

#[test]
fn tictactoe_is_a_draw_for_whoever_begins() {
    for first in [Quantifier::Exists, Quantifier::Forall] {
        assert_eq!(verdict(&tictactoe(Question::Win, first)), Verdict::False);
        assert_eq!(verdict(&tictactoe(Question::NotLose, first)), Verdict::True);
    }
}

/// Counts plans without an adversary, and checks one that withstands every attack.
#[test]
fn schedules_without_an_adversary_are_counted() {
    let scheduling = Scheduling::three_tasks();
    assert_eq!(n_strategies(&scheduling.plan_first(4, 0)), 14);
    // Running one task after the other takes 6 and withstands every attack.
    assert_eq!(verdict(&scheduling.plan_first(6, 3)), Verdict::True);
}

/// After X1 = 3 the last restrictor of Nim Black-Jack is empty in every branch, so the search cuts
/// the prefix there with a true goal.
#[test]
fn a_cascade_cuts_the_prefix_where_a_restrictor_is_empty() {
    let model = black_jack(ValueSet::from([3]));
    let config = SolveConfig { propagation: Propagation::Cascade, ..SolveConfig::default() };
    let report = solve(&model, &config).unwrap();
    assert_eq!(report.verdict, Verdict::True);
    assert!(report.statistics.n_pruned > 0);
}

/// A follower that minimizes k * cost - income breaks ties for a leader that wants income, and one
/// that minimizes k * cost + income breaks them against it.
#[test]
fn ties_can_be_written_into_the_criterion() {
    for (ties, sign, expected) in [(Ties::Optimistic, -1, 260), (Ties::Pessimistic, 1, 200)] {
        let config = SolveConfig::default();
        let by_rule = solve(&link_pricing(5, 2, 1, ties), &config).unwrap();
        let mut model = link_pricing(5, 2, 1, Ties::Any);
        let customer = ScopeId::new(2);
        let [cost, income] = ["cost", "income"].map(|name| {
            let all = model.variables().len();
            (0..all)
                .map(VarId::new)
                .find(|&x| model.name(x) == name)
                .expect("the model has the variable")
        });
        // Every income is below 10,000.
        let weighted = model.define("weighted", cost * 10_000 + income * sign);
        model.minimize(customer, weighted);
        let by_criterion = solve(&model, &config).unwrap();
        assert_eq!(by_rule.value, Some(expected));
        assert_eq!(by_criterion.value, Some(expected));
    }
}

/// The optimality checker accepts the result of the search and refutes a worse strategy.
#[test]
fn optimal_strategies_are_certified() {
    let config = SolveConfig { strategy: StrategyRequest::One, ..SolveConfig::default() };
    for ties in [Ties::Optimistic, Ties::Pessimistic, Ties::Lexicographic] {
        let small = |tariffs: &[Value]| {
            let (costs, demands, limits) = ([vec![1, 2], vec![3, 1]], [2, 1], [10, 4]);
            link_pricing_with(&costs, &demands, &limits, tariffs, ties)
        };
        let model = small(&[0, 1, 2, 3, 4]);
        let strategy = solve(&model, &config).unwrap().strategy.unwrap();
        assert_eq!(check_optimality(&model, &strategy, 1_000_000), Optimality::Certified);
        assert_eq!(check_optimality(&model, &strategy, 10), Optimality::TooLarge);
        // The best strategy for fewer tariffs also wins with more of them, but is not optimal.
        let poor = solve(&small(&[0, 1]), &config).unwrap().strategy.unwrap();
        check_strategy(&model, &poor).unwrap();
        let judged = check_optimality(&model, &poor, 1_000_000);
        assert!(
            matches!(&judged, Optimality::Refuted { scope, .. } if scope == "leader"),
            "{judged:?}"
        );
    }
    let model = nim(5);
    let strategy = solve(&model, &config).unwrap().strategy.unwrap();
    assert_eq!(check_optimality(&model, &strategy, 100), Optimality::NothingToOptimize);
    let model = link_pricing(5, 2, 1, Ties::Any);
    let strategy = solve(&model, &config).unwrap().strategy.unwrap();
    assert!(matches!(check_optimality(&model, &strategy, 100), Optimality::AnyTies { .. }));
}
