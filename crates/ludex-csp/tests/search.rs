//! Searches agree with each other and with known counts.

use std::time::Duration;

use ludex_base::{Deadline, StopReason};
use ludex_csp::propagators::table::{STAR, Table, TableAlgorithm};
use ludex_csp::search::local::{LocalConfig, min_conflicts};
use ludex_csp::search::study::{Method, StudyConfig, study};
use ludex_csp::*;
use ludex_testkit::property::holds_for_all;
use proptest::bool::weighted;
use proptest::collection::vec;
use proptest::option;
use proptest::sample::subsequence;
use proptest::strategy::{BoxedStrategy, Strategy, Union};

fn queens(n: usize) -> Network {
    let mut network = Network::new();
    let queens = network.ints("q", n, 0..n as Value);
    network.all_different(&queens);
    network.all_different(queens.iter().enumerate().map(|(i, &q)| q + i as Value));
    network.all_different(queens.iter().enumerate().map(|(i, &q)| q - i as Value));
    network
}

/// Networks of positive, negative and short tables over `n` variables with four values each.
fn tables(n: usize, n_tables: usize) -> impl Strategy<Value = Network> {
    // Shrinking drops tables and so makes the network smaller.
    vec(option::weighted(0.99, table(n)), n_tables).prop_map(move |tables| {
        let mut network = Network::new();
        let x = network.ints("x", n, 0..4);
        for (scope, is_positive, tuples) in tables.into_iter().flatten() {
            let scope: Vec<VarId> = scope.into_iter().map(|place| x[place]).collect();
            let table = Table::from_tuples(scope.len(), tuples);
            if is_positive { network.table(&scope, table) } else { network.forbid(&scope, table) }
        }
        network
    })
}

/// The positions of two to four variables, whether their table is positive, and its tuples.
fn table(n: usize) -> impl Strategy<Value = (Vec<usize>, bool, Vec<Vec<Value>>)> {
    let scope = subsequence((0..n).collect::<Vec<_>>(), 2..=4).prop_shuffle();
    // By possible tuple: a number that decides whether the table contains it, and which positions
    // have a star.
    let rows = vec((0..100, vec(weighted(1.0 / 6.0), 4)), 4_usize.pow(4));
    (scope, weighted(2.0 / 3.0), weighted(1.0 / 3.0), rows).prop_map(
        |(scope, is_positive, has_stars, rows)| {
            let arity = scope.len() as u32;
            let percent = if is_positive { 45 } else { 35 };
            let is_in = |row: &(usize, (i32, Vec<bool>))| row.1.0 >= 100 - percent;
            let rows = rows.into_iter().take(4_usize.pow(arity)).enumerate().filter(is_in);
            let tuple = |(code, (_, mask)): (usize, (i32, Vec<bool>))| {
                let is_star = |at: u32| is_positive && has_stars && mask[at as usize];
                let value = |at: u32| (code / 4_usize.pow(at) % 4) as Value;
                (0..arity).map(|at| if is_star(at) { STAR } else { value(at) }).collect()
            };
            let tuples = rows.map(tuple).collect();
            (scope, is_positive, tuples)
        },
    )
}

/// Returns every solution, found by enumeration.
fn by_brute_force(network: &Network) -> Vec<Vec<Value>> {
    let mut all = vec![Vec::new()];
    for variable in network.variables() {
        all = all
            .iter()
            .flat_map(|tuple| variable.domain.iter().map(move |v| [&tuple[..], &[v]].concat()))
            .collect();
    }
    all.retain(|tuple| network.is_solution(tuple));
    all
}

fn all_with(network: &Network, config: &SearchConfig) -> Vec<Vec<Value>> {
    let config = SearchConfig { goal: Goal::All, ..config.clone() };
    let mut solutions = solve(network, &config).unwrap().solutions;
    solutions.sort_unstable();
    solutions
}

#[test]
fn every_order_and_branching_finds_all_solutions() {
    let mut n_solutions = 0;
    holds_for_all(6, tables(6, 7), |network| {
        let expected = by_brute_force(&network);
        n_solutions += expected.len();
        for (name, variable_order) in VariableOrder::ALL {
            for (_, value_order) in ValueOrder::ALL {
                for branching in [Branching::Binary, Branching::DWay] {
                    let config = SearchConfig {
                        variable_order,
                        value_order,
                        branching,
                        ..SearchConfig::default()
                    };
                    assert_eq!(all_with(&network, &config), expected, "{name}");
                }
            }
        }
    });
    assert!(n_solutions >= 400, "{n_solutions} solutions");
}

#[test]
fn every_table_algorithm_gives_the_same_search_tree() {
    holds_for_all(12, tables(9, 11), |network| {
        // Negative short tables have one algorithm; the others are all domain consistent.
        for goal in [Goal::All, Goal::First(1)] {
            let reports: Vec<Report> = TableAlgorithm::ALL
                .iter()
                .map(|&(_, table)| {
                    let config = SearchConfig {
                        post: PostConfig { table, ..PostConfig::default() },
                        goal,
                        variable_order: VariableOrder::Dom,
                        ..SearchConfig::default()
                    };
                    solve(&network, &config).unwrap()
                })
                .collect();
            for report in &reports[1..] {
                assert_eq!(report.solutions, reports[0].solutions);
                assert_eq!(report.statistics.n_nodes, reports[0].statistics.n_nodes);
                assert_eq!(report.statistics.n_conflicts, reports[0].statistics.n_conflicts);
            }
        }
    });
}

#[test]
fn study_searches_find_what_mac_finds() {
    let mut n_solutions = 0;
    holds_for_all(8, tables(6, 7), |network| {
        let expected = by_brute_force(&network);
        n_solutions += expected.len();
        let mut n_checks = Vec::new();
        let mut n_nodes = Vec::new();
        for (name, method) in Method::ALL {
            let report = study(&network, &StudyConfig::new(method, Goal::All)).unwrap();
            let mut solutions = report.solutions;
            solutions.sort_unstable();
            assert_eq!(solutions, expected, "{name}");
            n_checks.push(report.n_checks);
            n_nodes.push(report.n_nodes);
        }
        // Backward checking visits the same tree as backtracking with fewer checks, and
        // backjumping never visits a larger one.
        assert_eq!(n_nodes[1], n_nodes[2]);
        assert!(n_checks[1] >= n_checks[2] && n_nodes[3] <= n_nodes[2] && n_nodes[5] <= n_nodes[2]);
    });
    assert!(n_solutions >= 500, "{n_solutions} solutions");
}

#[test]
fn forward_checking_goes_by_the_orders_it_knows() {
    let orders = VariableOrder::ALL.map(|(_, order)| order);
    let knows = |method: Method| orders.into_iter().filter(move |&order| method.knows(order));
    assert_eq!(knows(Method::ForwardChecking).count(), 5);
    assert_eq!(knows(Method::Backjumping).count(), 1);
    let config =
        |order| StudyConfig { order, ..StudyConfig::new(Method::ForwardChecking, Goal::All) };
    let mut n_solutions = 0;
    holds_for_all(8, tables(6, 7), |network| {
        let expected = by_brute_force(&network);
        n_solutions += expected.len();
        for order in knows(Method::ForwardChecking) {
            let mut solutions = study(&network, &config(order)).unwrap().solutions;
            solutions.sort_unstable();
            assert_eq!(solutions, expected, "{}", order.name());
        }
    });
    assert!(n_solutions >= 500, "{n_solutions} solutions");
    // Fail first: choosing the smallest domain makes the search tree of the queens smaller.
    let n_nodes = |order| study(&queens(9), &config(order)).unwrap().n_nodes;
    assert!(n_nodes(VariableOrder::Dom) < n_nodes(VariableOrder::Lexicographic));
    let refused = study(&queens(4), &config(VariableOrder::Impact)).unwrap_err();
    assert_eq!(refused.to_string(), "this search does not support the order `impact`");
}

#[test]
fn queens_are_counted_by_any_number_of_threads() {
    for (n, expected) in [(8, 92), (9, 352)] {
        for n_threads in [1, 2, 3] {
            let config = SearchConfig { goal: Goal::Count, n_threads, ..SearchConfig::default() };
            let report = solve(&queens(n), &config).unwrap();
            assert_eq!((report.n_solutions, report.stopped), (expected, None));
        }
    }
}

#[test]
fn threads_find_every_solution_once() {
    let mut n_solutions = 0;
    holds_for_all(10, tables(7, 7), |network| {
        let config = SearchConfig { n_threads: 3, ..SearchConfig::default() };
        let expected = by_brute_force(&network);
        n_solutions += expected.len();
        assert_eq!(all_with(&network, &config), expected);
    });
    assert!(n_solutions >= 3_000, "{n_solutions} solutions");
}

/// Threads restart together, after few conflicts so that restarts are frequent.
#[test]
fn threads_restart_in_rounds() {
    let mut n_restarts = 0;
    holds_for_all(30, tables(10, 15), |network| {
        let alone = solve(&network, &SearchConfig::default()).unwrap();
        for restarts in [Restarts::Luby { unit: 1 }, Restarts::Geometric { first: 1, percent: 120 }]
        {
            for n_threads in [2, 3] {
                let config = SearchConfig { n_threads, restarts, ..SearchConfig::default() };
                let report = solve(&network, &config).unwrap();
                assert_eq!(report.stopped, None);
                assert_eq!(report.best().is_some(), alone.best().is_some());
                assert!(report.best().is_none_or(|solution| network.is_solution(solution)));
                n_restarts += report.statistics.n_restarts;
            }
        }
    });
    assert!(n_restarts > 0, "no restart: the networks are too easy");
}

#[test]
fn threads_share_what_they_refute() {
    let mut n_nogoods = 0;
    holds_for_all(12, tables(9, 10), |mut network| {
        let vars: Vec<VarId> = (0..9).map(VarId::new).collect();
        network.minimize(sum(vars.iter().enumerate().map(|(i, &x)| x * (i as Value % 4 - 1))));
        let alone = solve(&network, &SearchConfig::default()).unwrap();
        for restarts in [Restarts::Luby { unit: 2 }, Restarts::Geometric { first: 2, percent: 110 }]
        {
            let config = SearchConfig { n_threads: 3, restarts, ..SearchConfig::default() };
            let report = solve(&network, &config).unwrap();
            assert_eq!((report.value, report.stopped), (alone.value, None));
            n_nogoods += report.statistics.n_nogoods;
        }
    });
    assert!(n_nogoods > 0, "no nogood: the networks are too easy");
}

#[test]
fn the_first_so_many_are_so_many() {
    for n_threads in [1, 2] {
        let config = SearchConfig { goal: Goal::First(5), n_threads, ..SearchConfig::default() };
        let report = solve(&queens(8), &config).unwrap();
        assert_eq!(report.solutions.len(), 5);
        assert!(report.solutions.iter().all(|solution| queens(8).is_solution(solution)));
        assert!(report.is_complete());
    }
}

/// Items as pairs of weight and worth.
fn items(n_items: usize) -> impl Strategy<Value = Vec<(Value, Value)>> {
    vec((5..45, 5..45), n_items)
}

/// Returns a knapsack network and the greatest worth, found by dynamic programming.
fn knapsack(items: &[(Value, Value)]) -> (Network, i64) {
    let capacity = 11 * items.len();
    let mut best = vec![0; capacity + 1];
    for &(weight, worth) in items {
        for room in (weight as usize..=capacity).rev() {
            best[room] = best[room].max(best[room - weight as usize] + i64::from(worth));
        }
    }
    let mut network = Network::new();
    let x = network.ints("x", items.len(), 0..=1);
    network
        .require(sum(x.iter().zip(items).map(|(&x, item)| x * item.0)).at_most(capacity as Value));
    network.maximize(sum(x.iter().zip(items).map(|(&x, item)| x * item.1)));
    (network, best[capacity])
}

#[test]
fn branch_and_bound_finds_the_best_knapsack() {
    holds_for_all(6, items(14), |items| {
        let (network, expected) = knapsack(&items);
        for n_threads in [1, 2] {
            let config = SearchConfig { n_threads, ..SearchConfig::default() };
            let mut seen = Vec::new();
            let report = solve_with(&network, &config, &mut |_, value| seen.extend(value)).unwrap();
            assert_eq!((report.value, report.stopped), (Some(expected), None));
            assert!(network.is_solution(report.best().unwrap()));
            assert!(
                seen.windows(2).all(|pair| pair[0] < pair[1]),
                "each solution must improve on the one before: {seen:?}"
            );
        }
    });
}

#[test]
fn a_limited_sum_bounds_an_objective_that_is_a_sum() {
    holds_for_all(4, items(60), |items| {
        let (network, expected) = knapsack(&items);
        let report = solve(&network, &SearchConfig::default()).unwrap();
        assert_eq!((report.value, report.stopped), (Some(expected), None));
        // Without the bound of the linear relaxation the search would need billions of nodes.
        assert!(report.statistics.n_nodes < 20_000, "{}", report.statistics.n_nodes);
    });
}

#[test]
fn bounds_of_sums_change_no_optimum() {
    let mut n_solutions = 0;
    let factors = || vec(-3..6, 6);
    holds_for_all(30, (factors(), factors(), factors()), |(weights, others, costs)| {
        let mut network = Network::new();
        let x = network.ints("x", 6, -1..=2);
        let weigh = |by: &[Value]| sum(x.iter().zip(by).map(|(&x, &a)| x * a));
        network.require(weigh(&weights).at_least(4));
        network.require(weigh(&others).equals(3));
        let value = network.int("value", -200..=200);
        network.require(weigh(&costs).equals(value));
        let all: Vec<i64> =
            by_brute_force(&without_value(&network)).iter().map(|s| worth(s, &costs)).collect();
        for is_minimized in [true, false] {
            let mut network = network.clone();
            if is_minimized {
                network.minimize(value)
            } else {
                network.maximize(value)
            }
            let expected = if is_minimized { all.iter().min() } else { all.iter().max() };
            let report = solve(&network, &SearchConfig::default()).unwrap();
            assert_eq!(report.value.as_ref(), expected);
            assert!(report.is_complete());
        }
        n_solutions += all.len();
    });
    assert!(n_solutions > 1_000, "{n_solutions}");
}

/// Returns the network without its last variable and the constraint that defines it.
fn without_value(network: &Network) -> Network {
    let mut smaller = Network::new();
    let n = network.variables().len() - 1;
    for variable in &network.variables()[..n] {
        smaller.int(variable.name.clone(), variable.domain.clone());
    }
    let defines = |constraint: &&Constraint| constraint.scope().contains(&VarId::new(n));
    for constraint in network.constraints().iter().filter(|c| !defines(c)) {
        smaller.add(constraint.clone());
    }
    smaller
}

fn worth(solution: &[Value], factors: &[Value]) -> i64 {
    solution.iter().zip(factors).map(|(&v, &a)| i64::from(v) * i64::from(a)).sum()
}

#[test]
fn restarts_and_nogoods_change_no_answer() {
    holds_for_all(40, tables(10, 17), |network| {
        let reference = SearchConfig { restarts: Restarts::Never, ..SearchConfig::default() };
        let expected = solve(&network, &reference).unwrap().best().is_some();
        for restarts in [Restarts::Luby { unit: 1 }, Restarts::Geometric { first: 1, percent: 120 }]
        {
            for records_nogoods in [true, false] {
                let config = SearchConfig { restarts, records_nogoods, ..SearchConfig::default() };
                let report = solve(&network, &config).unwrap();
                assert_eq!(report.best().is_some(), expected);
                assert!(report.best().is_none_or(|solution| network.is_solution(solution)));
            }
        }
    });
}

#[test]
fn nogoods_are_recorded_and_prune() {
    // Eight pigeons in seven holes by disequalities: only search refutes it.
    let mut network = Network::new();
    let x = network.ints("x", 8, 0..7);
    for i in 0..8 {
        for j in 0..i {
            network.require(x[i].differs(x[j]));
        }
    }
    let config = |records_nogoods| SearchConfig {
        records_nogoods,
        restarts: Restarts::Geometric { first: 50, percent: 110 },
        ..SearchConfig::default()
    };
    let with = solve(&network, &config(true)).unwrap();
    let without = solve(&network, &config(false)).unwrap();
    assert_eq!((with.verdict(), without.verdict()), (Verdict::False, Verdict::False));
    assert!(with.statistics.n_nogoods > 0 && with.statistics.n_restarts > 0);
    assert!(with.statistics.n_nodes < without.statistics.n_nodes);
}

#[test]
fn limits_stop_the_search_and_say_so() {
    let config = SearchConfig { goal: Goal::Count, max_nodes: 100, ..SearchConfig::default() };
    let report = solve(&queens(12), &config).unwrap();
    assert_eq!(report.stopped, Some(StopReason::Count));
    for n_threads in [1, 2] {
        let config = SearchConfig {
            goal: Goal::Count,
            n_threads,
            deadline: Deadline::after(Duration::from_millis(50)),
            ..SearchConfig::default()
        };
        let report = solve(&queens(20), &config).unwrap();
        assert_eq!(report.stopped, Some(StopReason::Time));
        assert!(report.statistics.time < Duration::from_secs(5));
    }
}

#[test]
fn one_seed_gives_one_tree() {
    let config = SearchConfig { value_order: ValueOrder::Random, ..SearchConfig::default() };
    let [first, second] = [0, 1].map(|_| solve(&queens(30), &config).unwrap());
    assert_eq!(first.solutions, second.solutions);
    assert_eq!(first.statistics.n_nodes, second.statistics.n_nodes);
}

#[test]
fn singleton_consistency_is_part_of_the_search_when_asked() {
    let mut n_solutions = 0;
    holds_for_all(10, tables(7, 8), |network| {
        let config = SearchConfig { singleton_consistency: true, ..SearchConfig::default() };
        let expected = by_brute_force(&network);
        n_solutions += expected.len();
        assert_eq!(all_with(&network, &config), expected);
    });
    assert!(n_solutions >= 1_000, "{n_solutions} solutions");
}

#[test]
fn min_conflicts_places_fifty_queens() {
    let network = queens(50);
    let report = min_conflicts(&network, &LocalConfig::default()).unwrap();
    assert!(network.is_solution(&report.solution.expect("queens are easy")));
    assert_eq!(report.stopped, None);
    // Local search never reports a solution that does not exist.
    let config = LocalConfig { max_steps: 2000, ..LocalConfig::default() };
    let report = min_conflicts(&queens(3), &config).unwrap();
    assert_eq!((report.solution, report.stopped), (None, Some(StopReason::Count)));
}

#[test]
fn preprocessing_keeps_the_solutions() {
    let mut n_universal = 0;
    holds_for_all(30, tables(6, 4), |mut network| {
        let extra = network.int("free", 0..3);
        let x: Vec<VarId> = (0..6).map(VarId::new).collect();
        network.require(x[0].less_than(3));
        let diagonal = Table::from_tuples(2, (0..4).flat_map(|a| [[a, a], [a, (a + 1) % 4]]));
        network.table(&[x[1], x[2]], diagonal.clone());
        network.table(&[x[2], x[1]], diagonal);
        let everything = (0..16).map(|c| [c / 4, c % 4]);
        network.table(&[x[3], x[4]], Table::from_tuples(2, everything));
        let preprocessed = preprocess(&network);
        assert!(preprocessed.n_unary >= 1 && preprocessed.n_merged >= 1);
        // A random table with the same scope may prevent this.
        n_universal += preprocessed.n_universal;
        assert!(preprocessed.free.iter().any(|(x, _)| *x == extra));
        let expected = by_brute_force(&network);
        let plain =
            SearchConfig { goal: Goal::All, preprocesses: false, ..SearchConfig::default() };
        let found = if preprocessed.is_refuted() {
            Vec::new()
        } else {
            solve(&preprocessed.network, &plain).unwrap().solutions
        };
        assert_eq!(found.len() as u128 * preprocessed.multiplicity(), expected.len() as u128);
        assert!(found.iter().all(|solution| network.is_solution(&preprocessed.expand(solution))));
        // Searches preprocess by themselves, for every goal.
        for preprocesses in [true, false] {
            let config = SearchConfig { preprocesses, ..SearchConfig::default() };
            assert_eq!(all_with(&network, &config), expected);
            let count = SearchConfig { goal: Goal::Count, ..config.clone() };
            assert_eq!(solve(&network, &count).unwrap().n_solutions, expected.len() as u64);
            let mut n_told = 0;
            let report = solve_with(&network, &config, &mut |solution, _| {
                n_told += usize::from(network.is_solution(solution));
            });
            let report = report.unwrap();
            assert_eq!(report.statistics.n_preprocessed > 0, preprocesses);
            assert_eq!((report.solutions.len(), n_told), (expected.len().min(1), n_told));
        }
    });
    assert!(n_universal > 20);
}

#[test]
fn what_preprocessing_refutes_or_moves_is_told_as_stated() {
    let mut network = Network::new();
    let x = network.ints("x", 2, 0..4);
    network.require(x[0].less_than(0));
    let report = solve(&network, &SearchConfig::default()).unwrap();
    assert_eq!((report.verdict(), report.stopped), (Verdict::False, None));
    // The number of solutions exceeds 64 bits.
    let mut network = Network::new();
    network.ints("x", 10, 0..1000);
    let count = SearchConfig { goal: Goal::Count, ..SearchConfig::default() };
    let report = solve(&network, &count).unwrap();
    assert_eq!((report.n_solutions, report.stopped), (u64::MAX, Some(StopReason::Count)));
    // An error names the constraint by its number in the original network.
    let mut network = Network::new();
    let x = network.int("x", 0..4);
    let wide = network.ints("y", 3, 0..=1_000_000_000);
    network.require(x.less_than(3));
    network.require((wide[0] * wide[1]).less_than(wide[2]));
    let error = solve(&network, &SearchConfig::default()).unwrap_err().to_string();
    assert_eq!(error, "constraint 2, `intension`: the value of an expression is out of range");
}

/// Textbook trees: the searches for study branch only on the variables of the network.
#[test]
fn study_searches_walk_the_trees_of_the_textbooks() {
    let tree = |network: &Network, method, goal| {
        let report = study(network, &StudyConfig::new(method, goal)).unwrap();
        (report.n_solutions, report.n_nodes, report.n_conflicts)
    };
    // Eight queens, first solution: 876 squares are tried, 113 queens are placed.
    let (n, nodes, conflicts) = tree(&queens(8), Method::BackwardChecking, Goal::First(1));
    assert_eq!((n, nodes, nodes - conflicts), (1, 876, 113));
    assert_eq!(tree(&queens(8), Method::Backtracking, Goal::First(1)), (n, nodes, conflicts));
    // Four queens, all solutions: 60 squares tried, 16 queens placed.
    let (n, nodes, conflicts) = tree(&queens(4), Method::BackwardChecking, Goal::Count);
    assert_eq!((n, nodes, nodes - conflicts), (2, 60, 16));
    // Definitions of other variables change nothing: the search never branches on sums,
    // products and counts of queens.
    let mut network = queens(4);
    let q: Vec<VarId> = (0..4).map(VarId::new).collect();
    network.require((q[0] * q[1] + q[2] * q[3]).at_least(0));
    assert_eq!(tree(&network, Method::BackwardChecking, Goal::Count), (n, nodes, conflicts));
    for (_, method) in Method::ALL {
        assert_eq!(tree(&network, method, Goal::Count).0, 2);
    }
    // Forward checking never tries an attacked square.
    let (_, nodes, _) = tree(&queens(4), Method::ForwardChecking, Goal::Count);
    assert!(nodes <= 16);
}

/// Compares random expressions with their evaluation, for every decomposition.
#[test]
fn expressions_mean_the_same_posted_and_evaluated() {
    fn number(depth: usize) -> BoxedStrategy<Expr> {
        let constant = (-2..=2).prop_map(Expr::from).boxed();
        let variable = (0..3_usize).prop_map(|at| Expr::Var(VarId::new(at))).boxed();
        if depth == 0 {
            return Union::new_weighted(vec![(1, constant), (3, variable)]).boxed();
        }
        let numbers = (number(depth - 1), number(depth - 1));
        let parts = (numbers, truth(depth - 1)).boxed();
        let of = |make: fn(Expr, Expr, Expr) -> Expr| {
            parts.clone().prop_map(move |((a, b), p)| make(a, b, p)).boxed()
        };
        // Shrinking prefers the alternatives that come first, so the simplest do.
        Union::new([
            variable,
            of(|a, b, _| a + b),
            of(|a, b, _| a - b),
            of(|a, b, _| a * b),
            of(|a, b, _| a / b),
            of(|a, b, _| a % b),
            of(|a, _, _| a.abs()),
            of(|a, b, _| distance(a, b)),
            of(|a, b, _| minimum([a, b])),
            of(|a, b, _| maximum([a, b])),
            of(|a, _, _| -a),
            of(|a, b, p| if_then_else(p, a, b)),
            of(|a, b, _| element([a, b.clone(), 1.into()], b)),
            of(|_, _, p| p),
        ])
        .boxed()
    }
    fn truth(depth: usize) -> BoxedStrategy<Expr> {
        let below = depth.saturating_sub(1);
        let numbers = (number(below), number(below)).boxed();
        let less = numbers.clone().prop_map(|(a, b)| a.less_than(b)).boxed();
        if depth == 0 {
            return less;
        }
        let parts = (numbers, (truth(below), truth(below))).boxed();
        let of = |make: fn(Expr, Expr, Expr, Expr) -> Expr| {
            parts.clone().prop_map(move |((a, b), (p, q))| make(a, b, p, q)).boxed()
        };
        Union::new([
            less,
            of(|a, b, _, _| a.equals(b)),
            of(|a, b, _, _| a.differs(b)),
            of(|a, b, _, _| a.at_most(b)),
            of(|a, b, _, _| a.greater_than(b)),
            of(|_, _, p, q| p & q),
            of(|_, _, p, q| p | q),
            of(|_, _, p, _| !p),
            of(|_, _, p, q| p.implies(q)),
            of(|_, _, p, q| p.iff(q)),
            of(|a, _, p, q| Expr::Xor(vec![p, q, a])),
            of(|a, _, _, _| a.is_in(ValueSet::from_ranges([(-2, 0), (2, 3)]))),
            of(|a, b, _, q| Expr::AllEqual(vec![a, b, q])),
        ])
        .boxed()
    }
    let mut n_solutions = 0;
    let expressions = Union::new([truth(1), truth(2), truth(3)]);
    holds_for_all(400, expressions, |expression| {
        let mut network = Network::new();
        for i in 0..3 {
            network.int(format!("x{i}"), -2..=3);
        }
        network.require(expression);
        let expected = by_brute_force(&network);
        for max_tabled in [0, 10, 10_000] {
            let post = PostConfig { max_tabled, ..PostConfig::default() };
            let config = SearchConfig { post, ..SearchConfig::default() };
            assert_eq!(all_with(&network, &config), expected, "{max_tabled}");
        }
        n_solutions += expected.len();
    });
    assert!(n_solutions > 10_000, "{n_solutions}");
}

type Part<'a> = &'a dyn Fn(&[VarId], std::ops::Range<usize>) -> Vec<Expr>;
type Make = fn(&[VarId], Part<'_>) -> Constraint;

/// Compares every global constraint, posted in a network, with its meaning.
#[test]
fn global_constraints_mean_the_same_posted_and_evaluated() {
    let at = |x: &[VarId], range: std::ops::Range<usize>| -> Vec<Expr> {
        x[range].iter().map(Expr::from).collect()
    };
    let make: Vec<Make> = vec![
        |x, at| Constraint::AllDifferent { list: at(x, 0..5), except: [0].into() },
        |x, at| Constraint::AllDifferentLists {
            lists: vec![at(x, 0..2), at(x, 2..4), at(x, 3..5)],
        },
        |x, at| Constraint::Count {
            list: at(x, 0..4),
            values: [1, 3].into(),
            condition: Condition::at_most(x[4]),
        },
        |x, at| Constraint::NValues {
            list: at(x, 0..4),
            except: [0].into(),
            condition: Condition::equals(x[4]),
        },
        |x, at| Constraint::Cardinality {
            list: at(x, 0..4),
            values: vec![0, 1, 2],
            occurrences: vec![
                Condition::equals(x[4]),
                Condition::In((0..=2).into()),
                Condition::at_least(1),
            ],
            is_closed: true,
        },
        |x, at| Constraint::Element {
            list: at(x, 0..3),
            start: 1,
            index: x[3].into(),
            condition: Condition::at_least(x[4] + 1),
        },
        |x, _| Constraint::Element {
            list: [3, 1, 0, 2].map(Expr::from).to_vec(),
            start: 0,
            index: x[3].into(),
            condition: Condition::equals(x[4]),
        },
        |x, at| Constraint::Lex {
            lists: vec![at(x, 0..2), at(x, 2..4), at(x, 3..5)],
            is_strict: true,
        },
        |x, at| Constraint::NoOverlap {
            origins: vec![at(x, 0..1), at(x, 1..2), at(x, 2..3)],
            lengths: vec![vec![2.into()], vec![1.into()], at(x, 3..4)],
            ignores_zeros: true,
        },
        |x, at| Constraint::NoOverlap {
            origins: vec![at(x, 0..2), at(x, 2..4)],
            lengths: vec![vec![2.into(), 1.into()], vec![x[4].into(), 2.into()]],
            ignores_zeros: false,
        },
        |x, at| Constraint::Cumulative {
            origins: at(x, 0..3),
            lengths: [2, 1, 2].map(Expr::from).to_vec(),
            heights: vec![1.into(), x[3].into(), 2.into()],
            limit: x[4].into(),
        },
        |x, at| Constraint::Circuit {
            list: at(x, 0..4),
            start: 0,
            size: Some(Condition::equals(x[4])),
        },
        |x, at| Constraint::Channel {
            first: at(x, 0..2),
            start_first: 0,
            second: at(x, 2..5),
            start_second: 1,
        },
        |x, at| Constraint::Channel {
            first: at(x, 0..4),
            start_first: 0,
            second: at(x, 0..4),
            start_second: 0,
        },
    ];
    for (which, make) in make.iter().enumerate() {
        let mut network = Network::new();
        let x: Vec<VarId> = (0..5).map(|i| network.int(format!("x{i}"), 0..=3)).collect();
        network.add(make(&x, &at));
        let expected = by_brute_force(&network);
        assert!(!expected.is_empty(), "constraint {which} has no solutions");
        assert_eq!(all_with(&network, &SearchConfig::default()), expected, "constraint {which}");
        assert_eq!(
            all_with(&network, &SearchConfig { n_threads: 2, ..SearchConfig::default() }),
            expected
        );
    }
}

#[test]
fn bad_networks_are_refused_with_reasons() {
    let refuse = |build: &dyn Fn(&mut Network)| {
        let mut network = Network::new();
        build(&mut network);
        solve(&network, &SearchConfig::default()).unwrap_err().to_string()
    };
    let table = || Table::from_tuples(2, [[0, 1]]);
    assert_eq!(
        refuse(&|n| {
            n.int("x", 3..3);
        }),
        "variable `x` has an empty domain"
    );
    assert_eq!(
        refuse(&|n| {
            let x = n.int("x", 0..3);
            n.table(&[x, x], table());
        }),
        "constraint 1, `extension`: variable `x` is in the scope twice"
    );
    assert_eq!(
        refuse(&|n| {
            let x = n.int("x", 0..3);
            n.all_different([x, x]);
        }),
        "constraint 1, `allDifferent`: variable `x` is in the scope twice"
    );
    assert_eq!(
        refuse(&|n| {
            let x = n.int("x", 0..3);
            n.table(&[x], table());
        }),
        "constraint 1, `extension`: tuples of 2 values for 1 variables"
    );
    assert_eq!(
        refuse(&|n| {
            n.int("x", 0..=2_100_000_000);
        }),
        "the domain of variable `x` is out of range"
    );
    assert_eq!(
        refuse(&|n| {
            let x = n.ints("x", 4, 0..=1_000_000_000);
            n.require((x[0] * x[1] * x[2]).less_than(x[3]));
        }),
        "constraint 1, `intension`: the value of an expression is out of range"
    );
    assert_eq!(
        refuse(&|n| {
            let gaps = ValueSet::from_ranges([(0, 1_000_000_000), (1_000_000_002, 1_000_000_003)]);
            let x = n.ints("x", 2, gaps);
            n.require(x[0].less_than(x[1]));
        }),
        "the domain of variable `x[0]` has too many values with gaps between them"
    );
    assert_eq!(
        refuse(&|n| {
            n.require(minimum(Vec::<Expr>::new()).equals(1));
        }),
        "constraint 1, `intension`: the minimum or maximum of an empty list"
    );
    assert_eq!(
        refuse(&|n| {
            let x = n.ints("x", 2, 0..3);
            n.no_overlap([(x[0], 2), (x[1], -1)]);
        }),
        "constraint 1, `noOverlap`: a length is negative"
    );
    assert_eq!(
        refuse(&|n| {
            n.require(VarId::new(7).equals(1));
        }),
        "constraint 1, `intension`: the term uses a variable of another network"
    );
}

#[test]
fn sets_and_counts_over_a_billion_values_are_no_trouble() {
    let mut network = Network::new();
    let x = network.ints("x", 3, 0..=1_000_000_000);
    let set =
        ValueSet::from_ranges([(5, 9), (400_000_000, 400_000_001), (999_999_999, 1_000_000_000)]);
    network.require(x[0].is_in(set.clone()) & x[0].greater_than(9));
    network.require((x[1] + 0).is_in([7, 900_000_000]));
    let list: Vec<Expr> = x.iter().map(Expr::from).collect();
    let condition = Condition::equals(3);
    network.add(Constraint::Count {
        list: list.clone(),
        values: (6..=400_000_000).into(),
        condition,
    });
    network.add(Constraint::NValues { list, except: [].into(), condition: Condition::equals(2) });
    network.require((x[2] % 1_000_000).equals(7));
    let report = solve(&network, &SearchConfig::default()).unwrap();
    assert_eq!(report.best().unwrap(), [400_000_000, 7, 7]);
    let mut network = Network::new();
    let x = network.int("x", 0..=1_000_000_000);
    let y = network.int("y", 0..=1);
    let table = Table::from_tuples(2, [[1, 0], [STAR, 1]]);
    network.table(&[x, y], table);
    assert_eq!(
        solve(&network, &SearchConfig::default()).unwrap_err().to_string(),
        "constraint 1, `extension`: variable `x` has too many values for a table, which lists them"
    );
}

#[test]
fn a_billion_values_are_no_trouble() {
    let mut network = Network::new();
    let [x, y] = ["x", "y"].map(|name| network.int(name, 0..=1_000_000_000));
    network.require((x + y).equals(1_500_000_000));
    network.require((x - y).at_least(500_000_000));
    network.minimize(x);
    let report = solve(&network, &SearchConfig::default()).unwrap();
    assert_eq!(report.best().unwrap(), [1_000_000_000, 500_000_000]);
}

#[test]
fn more_solutions_than_can_be_counted_are_said_to_be_so() {
    let mut network = Network::new();
    network.ints("free", 130, 0..=1);
    let x = network.ints("x", 2, 0..=1);
    network.require(x[0].equals(x[1]));
    let config = SearchConfig { goal: Goal::Count, ..SearchConfig::default() };
    let report = solve(&network, &config).unwrap();
    assert!(report.stopped == Some(StopReason::Count) || report.n_solutions == u64::MAX);
    assert!(report.n_solutions > 0);
}

#[test]
fn wide_ranges_that_narrow_slowly_stop_in_time() {
    let wide = 1_000_000_000;
    let expressions: [fn(VarId) -> Expr; 2] =
        [|x| ludex_csp::distance(x, 1).equals(x), |x| (x % 1_000_000_000).equals(999_999_999)];
    for expression in expressions {
        let mut network = Network::new();
        let x = network.int("x", 0..=wide);
        network.require(expression(x));
        let deadline = Deadline::after(std::time::Duration::from_millis(500));
        let begin = std::time::Instant::now();
        let report = solve(&network, &SearchConfig { deadline, ..SearchConfig::default() });
        assert!(report.is_ok_and(|report| report.n_solutions == 1 || report.stopped.is_some()));
        assert!(begin.elapsed() < std::time::Duration::from_secs(20));
    }
}

#[test]
fn an_engine_with_a_new_deadline_is_not_stopped() {
    let mut network = Network::new();
    let x = network.ints("x", 400, 0..=3);
    for pair in x.windows(2) {
        network.require(pair[0].at_most(pair[1]));
    }
    let mut engine = network.post(&PostConfig::default()).unwrap();
    engine.set_deadline(&Deadline::after(std::time::Duration::ZERO));
    assert!(engine.propagate().is_err() || engine.inject([(x[399], 0)]).is_err());
    assert!(engine.is_stopped());
    engine.pop_to(0);
    engine.set_deadline(&Deadline::never());
    assert!(!engine.is_stopped());
}
