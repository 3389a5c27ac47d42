//! Limits of time and memory: a stopped search returns soon, says that it stopped, and never
//! answers `false`.

use std::time::{Duration, Instant};

use ludex_base::{Deadline, Source, StopReason};
use ludex_csp::Verdict;
use ludex_csp::{Value, sum};
use ludex_model::{Data, ModelLimits, Problem, compile};
use ludex_scsp::*;

fn network(text: &str) -> StochasticNetwork {
    let source = Source::new("model", text.to_string());
    let compiled = compile(&source, &Data::default(), &ModelLimits::default(), &Deadline::never());
    match compiled.unwrap_or_else(|problems| panic!("{problems:?}")).problem {
        Problem::Stochastic(network) => network,
        other => panic!("the model is {}", other.kind()),
    }
}

/// Stages with a decision and then a draw, and a goal over all of them that excludes nothing early.
fn stages(n_stages: usize) -> StochasticNetwork {
    let mut network = StochasticNetwork::new();
    let mut terms = Vec::new();
    for stage in 0..n_stages {
        network.stage();
        let x = network.decision(format!("x{stage}"), 0..=3);
        let y = network.chance(format!("y{stage}"), 0..=3, Distribution::Uniform);
        terms.push(x * (1 << stage) + y * y * (3 << stage) + x * y);
    }
    network.require((sum(terms) % 7).equals(1));
    network.set_threshold(rational(9, 10));
    network
}

fn soon() -> SolveConfig {
    SolveConfig {
        deadline: Deadline::after(Duration::from_millis(50)),
        policy_bytes: 16 << 20,
        ..SolveConfig::default()
    }
}

#[track_caller]
fn within_seconds<T>(seconds: u64, run: impl FnOnce() -> T) -> T {
    let begin = Instant::now();
    let result = run();
    assert!(begin.elapsed() < Duration::from_secs(seconds), "{:?}", begin.elapsed());
    result
}

#[test]
fn a_search_stops_in_time_with_the_best_so_far() {
    let network = stages(9);
    for (name, method) in Method::ALL {
        for aim in [Aim::Threshold, Aim::Best] {
            let config = SolveConfig { method, aim, remembers: false, ..soon() };
            let report = within_seconds(20, || solve(&network, &config).unwrap());
            assert_eq!(report.verdict, Verdict::Unknown(StopReason::Time), "{name}");
            assert_eq!(report.stopped, Some(StopReason::Time), "{name}");
            // The best policy so far is a valid policy, worth at least what the report says.
            if let Some(policy) = report.policy {
                let evaluation = evaluate_policy(&network, &policy).unwrap();
                let worth = evaluation.satisfaction;
                let said = parse_probability(&format!("{:.9}", report.value - 1e-9));
                assert!(said.is_none_or(|said| worth >= said), "{name}: {worth}");
            } else {
                assert_eq!(aim, Aim::Threshold, "{name}");
            }
        }
    }
}

#[test]
fn several_thresholds_stop_in_time_and_memory() {
    // Every value of the decision is a policy that no other dominates.
    let many = |n: usize, goals: &str| {
        network(&format!(
            "random t: 0..1; exists x: 0..{n}; \
             random s: 0..1 weight if s = 0 then x else {n} - x endif; \
             random u: 0..2 weight if u = 0 then x elseif u = 1 then {n} - x else 1 endif; {goals}"
        ))
    };
    let two = "goal s = 0 threshold 1 of 2; goal s = 1 threshold 1 of 2;";
    let three = "goal s = 0 threshold 1 of 2; goal s = 1 threshold 1 of 3; \
                 goal u = 0 threshold 1 of 3;";
    let report = within_seconds(60, || solve(&many(300, two), &SolveConfig::default()).unwrap());
    assert_eq!(report.verdict, Verdict::True);
    // Few nodes, but all pairs of policies at the draw of `t`.
    let deadline = Deadline::after(Duration::from_secs(1));
    let pairs = SolveConfig { deadline, ..SolveConfig::default() };
    let report = within_seconds(8, || solve(&many(6_000, two), &pairs).unwrap());
    assert_eq!(report.verdict, Verdict::Unknown(StopReason::Time));
    let network = many(20_000, three);
    let report = within_seconds(20, || solve(&network, &soon()).unwrap());
    assert_eq!(report.verdict, Verdict::Unknown(StopReason::Time));
    let config = SolveConfig { policy_bytes: 100_000, ..SolveConfig::default() };
    let report = within_seconds(60, || solve(&network, &config).unwrap());
    assert_eq!(report.verdict, Verdict::Unknown(StopReason::Memory));
}

#[test]
fn wide_domains_stop_in_time_and_memory() {
    let mut wide = StochasticNetwork::new();
    wide.stage();
    let xs: Vec<_> = (0..50).map(|i| wide.decision(format!("x{i}"), 0..=1_000_000)).collect();
    wide.chance("s", 0..=1, Distribution::Uniform);
    for &x in &xs {
        wide.require(x.at_least(1));
    }
    let config = SolveConfig { policy_bytes: 16 << 20, ..SolveConfig::default() };
    let report = within_seconds(20, || solve(&wide, &config).unwrap());
    assert_eq!(report.verdict, Verdict::Unknown(StopReason::Memory));
    let config = SolveConfig { policy_bytes: 1 << 30, ..soon() };
    let report = within_seconds(20, || solve(&wide, &config).unwrap());
    assert_eq!(report.verdict, Verdict::Unknown(StopReason::Time));
    // The weights of the draw depend on the decision.
    let weighted = "exists x: 0..1000000; random s: 0..1000000 weight 1 + x + s; goal s >= x; \
                    threshold 1 of 4;";
    let weighted = network(weighted);
    let config = SolveConfig { policy_bytes: 1 << 30, ..soon() };
    let report = within_seconds(20, || solve(&weighted, &config).unwrap());
    assert_eq!(report.verdict, Verdict::Unknown(StopReason::Time));
}

#[test]
fn the_check_stops_at_the_deadline() {
    let mut network = StochasticNetwork::new();
    network.stage();
    network.decision("x", 0..=2);
    let n = 200_000;
    let weights = (1..=n).map(|value: Value| (value, rational(1, n.into()))).collect();
    network.chance("y", 1..=n, Distribution::Weights(weights));
    assert_eq!(within_seconds(20, || network.check()), []);
    // The sum of these fractions never simplifies.
    let weights = (1..=n).map(|value: Value| (value, rational(1, i64::from(value) + 1))).collect();
    network.chance("z", 1..=n, Distribution::Weights(weights));
    let deadline = Deadline::after(Duration::from_millis(50));
    assert_eq!(within_seconds(20, || network.check_by(&deadline)), []);
}

#[test]
fn arc_consistency_stops_in_time() {
    let wide = network("exists a: 0..90000; random s: 0..0; goal a + s >= 1;");
    let domains = within_seconds(20, || arc_consistency(&wide, &Deadline::never()));
    assert_eq!(domains.unwrap().n_removed, 1);
    let report =
        within_seconds(20, || solve(&wide, &SolveConfig { consistency: true, ..soon() }).unwrap());
    assert_ne!(report.verdict, Verdict::False);
}

#[test]
fn scenarios_stop_in_time_and_memory() {
    let network = stages(8);
    let soon = Deadline::after(Duration::from_millis(50));
    let expanded = within_seconds(20, || expand_scenarios_by(&network, u64::MAX, &soon).unwrap());
    assert_eq!(expanded.err(), Some(StopReason::Time));
    let expanded = expand_scenarios_by(&network, 1 << 20, &Deadline::never()).unwrap();
    assert_eq!(expanded.err(), Some(StopReason::Memory));
    let expanded = expand_scenarios(&stages(3)).unwrap();
    let passed = Deadline::after(Duration::ZERO);
    assert_eq!(expanded.best(&passed).unwrap().stopped, Some(StopReason::Time));
}

#[test]
fn equal_rests_are_searched_once() {
    // The remaining stock decides the rest of the play, so the work grows with the months, not with
    // the number of plays.
    let stock = |n: usize| {
        let mut text = "exists order[1]: 0..3; random demand[1]: 0..2 weight 3 - demand[1] \
                        let left[1] = order[1] - demand[1]; goal left[1] >= 0;"
            .to_string();
        for t in 2..=n {
            let before = t - 1;
            text += &format!(
                "exists order[{t}]: 0..3; random demand[{t}]: 0..2 weight 3 - demand[{t}] \
                 let left[{t}] = left[{before}] + order[{t}] - demand[{t}]; goal left[{t}] >= 0;"
            );
        }
        network(&format!("{text} threshold 9 of 10; utility {n} * 3 - left[{n}];"))
    };
    let exact = |aim, remembers| SolveConfig {
        aim,
        remembers,
        arithmetic: Arithmetic::Exact,
        ..SolveConfig::default()
    };
    let small = stock(3);
    for aim in [Aim::Threshold, Aim::Best] {
        let [with, without] = [true, false].map(|r| solve(&small, &exact(aim, r)).unwrap());
        assert_eq!(with.verdict, without.verdict);
        // Several policies may reach the threshold, and another one may be found first.
        assert!(aim == Aim::Threshold || with.exact == without.exact);
        assert!(with.statistics.n_nodes < without.statistics.n_nodes);
    }
    let large = within_seconds(60, || solve(&stock(12), &SolveConfig::best()).unwrap());
    assert_eq!((large.verdict, large.stopped), (Verdict::True, None));
    let policy = large.policy.unwrap();
    let evaluation = within_seconds(60, || evaluate_policy(&stock(12), &policy).unwrap());
    assert!(evaluation.reaches_thresholds(&stock(12)));
}
