//! Worked examples.

use ludex_base::Deadline;
use ludex_csp::Verdict;
use ludex_csp::{Constraint, Expr, VarId, any_of, sum};
use ludex_scsp::*;

use crate::networks::{config, exact, two_stages};

#[test]
fn three_policies_of_two_stages() {
    for (value, satisfaction, verdict) in [
        (0, rational(1, 9), Verdict::False),
        (1, rational(4, 9), Verdict::True),
        (2, rational(1, 1), Verdict::True),
    ] {
        let network = two_stages(Some(value));
        for (name, method) in Method::ALL {
            let report = solve(&network, &exact(method, Aim::Best)).unwrap();
            assert_eq!(report.exact, Some(satisfaction.clone()), "{name} with {value}");
            let policy = report.policy.unwrap();
            let evaluation = evaluate_policy(&network, &policy).unwrap();
            assert_eq!(evaluation.satisfaction, satisfaction);
            let report = solve(&network, &exact(method, Aim::Threshold)).unwrap();
            assert_eq!(report.verdict, verdict, "{name} with {value}");
        }
        let best = expand_scenarios(&network).unwrap().best(&Deadline::never()).unwrap();
        assert_eq!((best.best, best.stopped), (Some(satisfaction), None));
    }
}

#[test]
fn only_the_greatest_value_satisfies_with_certainty() {
    let mut network = two_stages(None);
    network.set_threshold(rational(1, 1));
    for (name, method) in Method::ALL {
        for arithmetic in [Arithmetic::Floating, Arithmetic::Exact] {
            let report = solve(&network, &config(method, Aim::Threshold, arithmetic)).unwrap();
            assert_eq!(report.verdict, Verdict::True, "{name}");
            let policy = report.policy.unwrap();
            let PolicyNode::Decide { value, .. } = policy.node(policy.root) else {
                panic!("the first variable is decided")
            };
            assert_eq!(*value, 2, "{name}");
        }
    }
    let domains = arc_consistency(&network, &Deadline::never()).unwrap();
    assert_eq!(domains.domains[0].iter().collect::<Vec<_>>(), [2]);
    assert!(!domains.is_inconsistent);
}

#[test]
fn a_policy_shares_equal_parts() {
    let network = two_stages(Some(2));
    let report = solve(&network, &SolveConfig::best()).unwrap();
    let policy = report.policy.unwrap();
    // xd1, xs1, and one xd2 and xs2 for its three values; the tree has three of these.
    assert_eq!((policy.n_nodes(), policy.n_tree_nodes()), (5, 1 + 1 + 3 + 3 + 9));
}

/// x1 + y > 1, y + x2 >= 1, x1 = x2 with y uniform and threshold 3/4.
fn split() -> StochasticNetwork {
    let mut network = StochasticNetwork::new();
    network.stage();
    let x1 = network.decision("x1", 1..=3);
    let x2 = network.decision("x2", 0..=2);
    let y = network.chance("y", 0..=2, Distribution::Uniform);
    network.require((x1 + y).greater_than(1));
    network.require((y + x2).at_least(1));
    network.require(x1.equals(x2));
    network.set_threshold(rational(3, 4));
    network
}

#[test]
fn hard_and_chance_part_of_one_stage() {
    let found = solve_one_stage(&split(), 100, &Deadline::never()).unwrap();
    assert_eq!(found.scope, [VarId::new(0), VarId::new(1)]);
    assert_eq!(found.feasible, [[2, 1], [2, 2], [3, 1], [3, 2]]);
    assert_eq!(found.solutions, [[2, 2]]);
    assert_eq!(found.stopped, None);
}

#[test]
fn universal_variables_are_uniform_draws_with_threshold_1() {
    // exists x in {0,1} forall y in {0,1} exists z in {1,2}: x + y = z is true, by x = 1 only.
    for (first, verdict) in [(1..=1, Verdict::True), (0..=0, Verdict::False)] {
        let mut network = StochasticNetwork::new();
        network.stage();
        let x = network.decision("x", first);
        let y = network.chance("y", 0..=1, Distribution::Uniform);
        network.stage();
        let z = network.decision("z", 1..=2);
        network.require((x + y).equals(z));
        assert_verdict(&network, verdict);
    }
    // exists x forall y exists z, all in {1,2}: x y = z is true, by x = 1 only.
    for (first, verdict) in [(1..=1, Verdict::True), (2..=2, Verdict::False)] {
        let mut network = StochasticNetwork::new();
        network.stage();
        let x = network.decision("x", first);
        let y = network.chance("y", 1..=2, Distribution::Uniform);
        network.stage();
        let z = network.decision("z", 1..=2);
        network.require((x * y).equals(z));
        assert_verdict(&network, verdict);
    }
}

/// Nim with two universal moves: the player who takes the last match wins, and can force five moves
/// of 1 to 3 to take all matches only for 9, 10 and 11 of them.
#[test]
fn nim_with_random_replies_agrees_with_quantified_nim() {
    for n_matches in 5..=15 {
        let mut network = StochasticNetwork::new();
        let mut taken = Vec::new();
        for turn in 0..2 {
            network.stage();
            taken.push(network.decision(format!("x{turn}"), 1..=3));
            taken.push(network.chance(format!("y{turn}"), 1..=3, Distribution::Uniform));
        }
        network.stage();
        taken.push(network.decision("x2", 1..=3));
        network.require(sum(taken).equals(n_matches));
        let is_won = (9..=11).contains(&n_matches);
        assert_verdict(&network, if is_won { Verdict::True } else { Verdict::False });
    }
}

fn assert_verdict(network: &StochasticNetwork, verdict: Verdict) {
    for (name, method) in Method::ALL {
        let report = solve(network, &exact(method, Aim::Threshold)).unwrap();
        assert_eq!(report.verdict, verdict, "{name}");
    }
}

/// A policy may use a value only after a rare draw that its constraint does not mention.
#[test]
fn a_rarely_used_value_is_kept() {
    let mut network = StochasticNetwork::new();
    network.stage();
    let weights = vec![(0, rational(5, 100)), (1, rational(95, 100))];
    let t = network.chance("t", 0..=1, Distribution::Weights(weights));
    network.stage();
    let x = network.decision("x", 0..=1);
    let s = network.chance("s", 0..=1, Distribution::Uniform);
    network.require(any_of([x.equals(0), s.equals(0)]));
    network.require(any_of([t.equals(1), x.equals(1)]));
    network.set_threshold(rational(96, 100));
    let domains = arc_consistency(&network, &Deadline::never()).unwrap();
    assert_eq!((domains.n_removed, domains.is_inconsistent), (0, false));
    let config =
        SolveConfig { consistency: true, ..exact(Method::ForwardChecking, Aim::Threshold) };
    let report = solve(&network, &config).unwrap();
    assert_eq!((report.verdict, report.exact), (Verdict::True, Some(rational(39, 40))));
}

/// The error of a probability must neither grow with the utility nor vanish with it.
#[test]
fn thresholds_are_not_rounded_by_the_utility() {
    for (weights, own, utility, best) in [
        ([1, 1], false, 1_000_000_000_000_000, 0.0),
        ([1, 1], true, 1_000_000_000_000_000, 0.0),
        ([74, 26], false, 10_000_000_000_000, 0.0),
        ([8, 2], false, 0, 0.0),
        ([3, 1], false, 8, 6.0),
    ] {
        let mut network = StochasticNetwork::new();
        network.stage();
        let x = network.decision("x", 0..=1);
        let total = weights[0] + weights[1];
        let shares = vec![(0, rational(weights[0], total)), (1, rational(weights[1], total))];
        let s = network.chance("s", 0..=1, Distribution::Weights(shares));
        let goal = any_of([x.equals(0), s.equals(0)]);
        if own {
            network.add_with_threshold(Constraint::Intension(goal), rational(3, 4));
        } else {
            network.require(goal)
        }
        network.set_threshold(rational(3, 4));
        network.set_utility(x * Expr::Constant(utility));
        let report = solve(&network, &SolveConfig::best()).unwrap();
        assert_eq!(report.verdict, Verdict::True, "{weights:?}");
        assert!((report.value - best).abs() <= report.error, "{weights:?}: {}", report.value);
    }
}

/// A constraint that can fail, however rarely, does not hold with probability 1.
#[test]
fn nearly_certain_is_not_certain() {
    let mut network = StochasticNetwork::new();
    network.stage();
    let x = network.decision("x", 0..=1);
    let rare = rational(1, 9_000_000_000_000_000_000);
    let often = rational(1, 1) - &rare;
    let s = network.chance("s", 0..=1, Distribution::Weights(vec![(0, rare), (1, often)]));
    let goal = any_of([x.equals(1), s.equals(1)]);
    for (surely, verdict) in [(true, Verdict::False), (false, Verdict::True)] {
        let mut network = network.clone();
        if surely {
            network.require(x.equals(0));
        }
        let mut own = network.clone();
        network.require(goal.clone());
        own.add_with_threshold(Constraint::Intension(goal.clone()), rational(1, 1));
        for network in [network, own] {
            for (name, method) in Method::ALL {
                for aim in [Aim::Threshold, Aim::Best] {
                    let config = config(method, aim, Arithmetic::Floating);
                    let report = solve(&network, &config).unwrap();
                    assert_eq!(report.verdict, verdict, "{name}, {aim:?}");
                }
            }
        }
    }
}

/// With threshold 0 the chance part may fail.
#[test]
fn two_parts_with_threshold_0_keep_every_decision() {
    let mut network = split();
    network.set_threshold(rational(0, 1));
    let found = solve_one_stage(&network, 100, &Deadline::never()).unwrap();
    assert_eq!(found.feasible.len(), 9);
    assert_eq!(found.solutions, [[1, 1], [2, 2]]);
    // It may also fail always.
    network.require(VarId::new(2).greater_than(2));
    let found = solve_one_stage(&network, 100, &Deadline::never()).unwrap();
    assert_eq!(found.solutions, [[1, 1], [2, 2]]);
}

/// The search finds and returns the best policy even if its total satisfaction is too low; it
/// respects the thresholds of single constraints.
#[test]
fn the_best_satisfaction_is_reported_with_thresholds_of_constraints() {
    let mut network = StochasticNetwork::new();
    network.stage();
    let x = network.decision("x", 0..=1);
    let s = network.chance("s", 0..=3, Distribution::Uniform);
    network.add_with_threshold(Constraint::Intension(x.equals(1)), rational(1, 1));
    network.require(any_of([s.at_most(1), x.equals(0)]));
    network.set_threshold(rational(3, 4));
    for (name, method) in Method::ALL {
        let report = solve(&network, &exact(method, Aim::Best)).unwrap();
        assert_eq!(report.verdict, Verdict::False, "{name}");
        assert_eq!(report.exact, Some(rational(1, 2)), "{name}");
        let evaluation = evaluate_policy(&network, &report.policy.unwrap()).unwrap();
        assert_eq!(evaluation.satisfaction, rational(1, 2), "{name}");
        let report = solve(&network, &exact(method, Aim::Threshold)).unwrap();
        assert_eq!((report.verdict, report.policy), (Verdict::False, None), "{name}");
    }
}

/// A constraint without decisions can be out of reach too.
#[test]
fn a_constraint_on_draws_alone_can_be_out_of_reach() {
    let mut network = StochasticNetwork::new();
    network.stage();
    network.decision("x", 0..=1);
    let s = network.chance("s", 0..=3, Distribution::Uniform);
    let t = network.chance("t", 0..=3, Distribution::uniform_where(VarId::new(2).at_most(s)));
    network.require(t.at_least(2));
    network.set_threshold(rational(1, 2));
    let domains = arc_consistency(&network, &Deadline::never()).unwrap();
    assert!(domains.is_inconsistent);
    // A third of the time for 2, half of it for 3.
    network.set_threshold(rational(5, 24));
    let domains = arc_consistency(&network, &Deadline::never()).unwrap();
    assert!(!domains.is_inconsistent);
}
