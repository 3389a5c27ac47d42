//! Random networks compared with the definition.

use ludex_base::Deadline;
use ludex_csp::Value;
use ludex_csp::Verdict;
use ludex_scsp::*;
use ludex_testkit::property::{Choices, built, holds_for_all};
use rustc_hash::FxHashMap;

use crate::networks::*;

#[test]
fn random_networks_agree_with_the_definition() {
    let mut nodes: FxHashMap<&str, u64> = FxHashMap::default();
    // Number of nodes that the memory saved, by configuration.
    let mut n_saved: FxHashMap<&str, i64> = FxHashMap::default();
    // Number of networks small enough to list all their policies.
    let mut n_listed = 0;
    holds_for_all(2_000, networks(), |mut network| {
        let utility = network.utility().cloned();
        if utility.is_some() {
            // Without a threshold, only the utility counts.
            network.set_threshold(rational(0, 1));
        }
        let best = best_by_definition(&network);
        if n_policies(&network) <= 500 {
            let mut any = network.clone();
            any.set_threshold(rational(0, 1));
            assert_eq!(best_of_all_policies(&any), Some(best.clone()));
            n_listed += 1;
        }
        for (name, method) in Method::ALL {
            let report = solve(&network, &exact(method, Aim::Best)).unwrap();
            assert_eq!(report.exact, Some(best.clone()), "{name}");
            let evaluation = evaluate_policy(&network, &report.policy.unwrap()).unwrap();
            assert_eq!(evaluation.utility, best, "{name}");
            *nodes.entry(name).or_default() += report.statistics.n_nodes;
            let without = SolveConfig { remembers: false, ..exact(method, Aim::Best) };
            let without = solve(&network, &without).unwrap();
            assert_eq!(without.exact, report.exact, "{name}");
            *n_saved.entry(name).or_default() +=
                without.statistics.n_nodes as i64 - report.statistics.n_nodes as i64;
            let floating =
                solve(&network, &config(method, Aim::Best, Arithmetic::Floating)).unwrap();
            let exact_value = report.value;
            assert!((floating.value - exact_value).abs() <= floating.error, "{name}");
        }
        if utility.is_some() {
            return;
        }
        let expected = Verdict::from(best >= *network.threshold());
        for (name, method) in Method::ALL {
            for consistency in [false, true] {
                let config = SolveConfig { consistency, ..exact(method, Aim::Threshold) };
                let report = solve(&network, &config).unwrap();
                assert_eq!(report.verdict, expected, "{name}");
                if let Some(policy) = report.policy {
                    let evaluation = evaluate_policy(&network, &policy).unwrap();
                    assert!(evaluation.reaches_thresholds(&network), "{name}");
                    assert_eq!(Some(evaluation.satisfaction), report.exact, "{name}");
                }
            }
        }
    });
    println!("nodes: {nodes:?}, policies listed: {n_listed}");
    assert!(n_listed > 500, "{n_listed}");
    assert!(nodes["sfc"] < nodes["ssbt"]);
    assert!(n_saved.values().all(|&n| n > 1000), "{n_saved:?}");
}

/// Whether a policy reaches every threshold, allowing rounding errors for thresholds below 1.
fn nearly_reaches(network: &StochasticNetwork, evaluation: &Evaluation) -> bool {
    let slack = rational(1, 1 << 40);
    let reaches = |p: &Rational, threshold: &Rational| {
        p >= threshold || *threshold < rational(1, 1) && p + &slack >= *threshold
    };
    let mut own = network.constraints().iter().zip(&evaluation.by_constraint);
    reaches(&evaluation.satisfaction, network.threshold())
        && own.all(|(c, p)| c.threshold.as_ref().is_none_or(|threshold| reaches(p, threshold)))
}

#[test]
fn several_thresholds_agree_with_all_policies() {
    let (mut n_possible, mut n_expanded) = (0, 0);
    holds_for_all(1_000, small_networks(), |network| {
        let expected = best_of_all_policies(&network);
        n_possible += usize::from(expected.is_some());
        // The same network without the threshold of the whole.
        let mut any = network.clone();
        any.set_threshold(rational(0, 1));
        let possible = best_of_all_policies(&any);
        for (name, method) in Method::ALL {
            let report = solve(&network, &exact(method, Aim::Best)).unwrap();
            if report.verdict == Verdict::True {
                assert_eq!(report.exact, expected, "{name}");
            } else {
                assert_eq!((report.verdict, &expected), (Verdict::False, &None), "{name}");
                if network.utility().is_none() {
                    let found = report.policy.and(report.exact);
                    assert_eq!(found, possible, "{name}");
                }
            }
            for consistency in [false, true] {
                let config = SolveConfig { consistency, ..exact(method, Aim::Threshold) };
                let report = solve(&network, &config).unwrap();
                let verdict = Verdict::from(expected.is_some());
                assert_eq!(report.verdict, verdict, "{name}, {consistency}");
                if let Some(policy) = report.policy {
                    let evaluation = evaluate_policy(&network, &policy).unwrap();
                    assert!(evaluation.reaches_thresholds(&network), "{name}");
                }
            }
            for aim in [Aim::Threshold, Aim::Best] {
                let floating = config(method, aim, Arithmetic::Floating);
                let report = solve(&network, &floating).unwrap();
                if report.verdict == Verdict::True {
                    let policy = report.policy.expect("there is a policy");
                    let evaluation = evaluate_policy(&network, &policy).unwrap();
                    assert!(nearly_reaches(&network, &evaluation), "{name}, {aim:?}");
                } else {
                    assert_eq!(expected, None, "{name}, {aim:?}");
                }
            }
        }
        if network.utility().is_none()
            && let Ok(expansion) = expand_scenarios(&network)
        {
            let report = expansion.best(&Deadline::never()).unwrap();
            assert_eq!(report.stopped, None);
            let best = report.best.filter(|best| best >= network.threshold());
            assert_eq!(best, expected, "expanded");
            n_expanded += 1;
        }
    });
    assert!((200..900).contains(&n_possible) && n_expanded > 50, "{n_possible}, {n_expanded}");
}

/// For one constraint, arc consistency removes a value of a decision if and only if no policy that
/// reaches the threshold uses it.
#[test]
fn arc_consistency_keeps_what_good_policies_use() {
    let one_of_a_network = |choices: &mut Choices| {
        let whole = small_network(choices);
        let mut network = StochasticNetwork::new();
        for variable in whole.variables() {
            network.variable_with(variable.clone());
        }
        let chosen = choices.choose(whole.constraints());
        chosen.into_iter().for_each(|it| network.add(it.constraint.clone()));
        network.set_threshold(whole.threshold().clone());
        network
    };
    let mut n_removed = 0;
    holds_for_all(1_000, built(61, one_of_a_network), |network| {
        if network.constraints().is_empty() {
            return;
        }
        let found = arc_consistency(&network, &Deadline::never()).unwrap();
        let mut used: Vec<Vec<Value>> = vec![Vec::new(); network.variables().len()];
        for plays in all_policies(&network) {
            if worth(&network, &plays).is_some() {
                for (_, values) in plays {
                    used.iter_mut().zip(values).for_each(|(used, value)| used.push(value));
                }
            }
        }
        for x in network.ids().filter(|&x| !network.is_chance(x)) {
            let is_used = |value: &Value| used[x.index()].contains(value);
            let expected: Vec<Value> = network.domain(x).iter().filter(is_used).collect();
            if expected.is_empty() {
                assert!(found.is_inconsistent);
                continue;
            }
            let left: Vec<Value> = found.domains[x.index()].iter().collect();
            assert_eq!(left, expected, "`{}`", network.name(x));
            n_removed += network.domain(x).len() - expected.len() as u64;
        }
    });
    assert!(n_removed > 100, "{n_removed}");
}

#[test]
fn two_parts_agree_with_the_definition() {
    let two_parts = |choices: &mut Choices| {
        let mut network = StochasticNetwork::new();
        network.stage();
        let a = network.decision("a", 0..=3);
        let b = network.decision("b", 0..=2);
        let c = network.decision("c", 0..=2);
        let distribution = random_distribution(&network, choices, &[a, b, c], 2);
        let y = network.chance("y", 0..=2, distribution);
        let differs = choices.below(4) as Value;
        network.require((a + b).differs(differs));
        network.require((b + c + y).at_least(1 + choices.below(3) as Value));
        network.require((a + y).at_most(2 + choices.below(3) as Value));
        network.set_threshold(rational(choices.below(5) as i64, 4));
        (network, [a, b, c], differs)
    };
    let mut n_solutions = 0;
    holds_for_all(300, built(30, two_parts), |(network, [a, b, c], differs)| {
        let found = solve_one_stage(&network, u64::MAX, &Deadline::never()).unwrap();
        let mut expected = Vec::new();
        for a_value in 0..=3 {
            for b_value in 0..=2 {
                for c_value in 0..=2 {
                    let mut fixed = network.clone();
                    for (x, value) in [(a, a_value), (b, b_value), (c, c_value)] {
                        fixed.require(x.equals(value));
                    }
                    // The hard part must hold even if the chance part has threshold 0.
                    if a_value + b_value != differs
                        && best_by_definition(&fixed) >= *network.threshold()
                    {
                        expected.push(vec![a_value, b_value, c_value]);
                    }
                }
            }
        }
        n_solutions += expected.len();
        assert_eq!(found.solutions, expected);
    });
    assert!(n_solutions >= 5_000, "{n_solutions}");
}
