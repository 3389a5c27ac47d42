//! Stochastic networks: worked examples, random networks against the definition, bad input.

use ludex_base::{Deadline, Rng, Seed};
use ludex_csp::propagators::table::Table;
use ludex_csp::{Constraint, Value, VarId};
use ludex_qcsp::Verdict;
use ludex_qcsp::stochastic::*;
use rustc_hash::FxHashMap;

fn config(method: Method, aim: Aim, arithmetic: Arithmetic) -> StochasticConfig {
    StochasticConfig { method, aim, arithmetic, ..StochasticConfig::default() }
}

fn exact(method: Method, aim: Aim) -> StochasticConfig {
    config(method, aim, Arithmetic::Exact)
}

/// Two stages; the second decision repeats the first.
fn two_stages(only: Option<Value>) -> StochasticNetwork {
    let mut network = StochasticNetwork::new();
    network.stage();
    let first = only.map_or(0..=2, |value| value..=value);
    let xd1 = network.decision("xd1", first);
    let xs1 = network.chance("xs1", 0..=2, Distribution::Uniform);
    network.stage();
    let xd2 = network.decision("xd2", 0..=2);
    let xs2 = network.chance("xs2", 0..=2, Distribution::Uniform);
    network.require(xd1.equals(xd2));
    network.require((xd1 + xs1).greater_than(1));
    network.require((xd2 + xs2).greater_than(1));
    network.set_threshold(rational(1, 3));
    network
}

#[test]
fn three_policies_of_two_stages() {
    for (value, satisfaction, verdict) in [
        (0, rational(1, 9), Verdict::False),
        (1, rational(4, 9), Verdict::True),
        (2, rational(1, 1), Verdict::True),
    ] {
        let network = two_stages(Some(value));
        for (name, method) in Method::ALL {
            let report = solve_stochastic(&network, &exact(method, Aim::Best)).unwrap();
            assert_eq!(report.exact, Some(satisfaction.clone()), "{name} with {value}");
            let policy = report.policy.unwrap();
            let evaluation = evaluate_policy(&network, &policy).unwrap();
            assert_eq!(evaluation.satisfaction, satisfaction);
            let report = solve_stochastic(&network, &exact(method, Aim::Threshold)).unwrap();
            assert_eq!(report.verdict, verdict, "{name} with {value}");
        }
        let best = expand_scenarios(&network).unwrap().best(&Deadline::never()).unwrap();
        assert_eq!(best, Some(satisfaction));
    }
}

#[test]
fn surely_only_the_greatest_value_satisfies() {
    let mut network = two_stages(None);
    network.set_threshold(rational(1, 1));
    for (name, method) in Method::ALL {
        for arithmetic in [Arithmetic::Floating, Arithmetic::Exact] {
            let report =
                solve_stochastic(&network, &config(method, Aim::Threshold, arithmetic)).unwrap();
            assert_eq!(report.verdict, Verdict::True, "{name}");
            let policy = report.policy.unwrap();
            let PolicyNode::Decide { value, .. } = policy.node(policy.root) else {
                panic!("the first variable is decided")
            };
            assert_eq!(*value, 2, "{name}");
        }
    }
    let domains = stochastic_arc_consistency(&network, &Deadline::never()).unwrap();
    assert_eq!(domains.domains[0].iter().collect::<Vec<_>>(), [2]);
    assert!(!domains.is_inconsistent);
}

#[test]
fn a_policy_shares_equal_parts() {
    let network = two_stages(Some(2));
    let report = solve_stochastic(&network, &StochasticConfig::best()).unwrap();
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
fn universal_variables_are_uniform_draws_that_must_all_do() {
    // exists x in {0,1} forall y in {0,1} exists z in {1,2}: x + y = z, and the same for
    // forall y exists x: true and false as quantified networks.
    for (first, verdict) in [(1..=1, Verdict::True), (0..=0, Verdict::False)] {
        let mut network = StochasticNetwork::new();
        network.stage();
        let x = network.decision("x", first);
        let y = network.chance("y", 0..=1, Distribution::Uniform);
        network.stage();
        let z = network.decision("z", 1..=2);
        network.require((x + y).equals(z));
        for (name, method) in Method::ALL {
            let report = solve_stochastic(&network, &exact(method, Aim::Threshold)).unwrap();
            assert_eq!(report.verdict, verdict, "{name}");
        }
    }
}

/// A random network of two or three stages; chance may depend on what was before.
fn random_network(rng: &mut Rng) -> StochasticNetwork {
    let mut network = StochasticNetwork::new();
    let n_stages = 2 + rng.below(2);
    let mut variables: Vec<VarId> = Vec::new();
    for stage in 0..n_stages {
        network.stage();
        for k in 0..1 + usize::from(rng.below(3) == 0) {
            let last = rng.below(3) as Value;
            variables.push(network.decision(format!("d{stage}{k}"), 0..=last));
        }
        let last = 1 + rng.below(2) as Value;
        let distribution = random_distribution(&network, rng, &variables, last);
        variables.push(network.chance(format!("s{stage}"), 0..=last, distribution));
    }
    for _ in 0..1 + rng.below(4) {
        let arity = 1 + rng.below(3.min(variables.len()));
        let mut scope: Vec<VarId> = Vec::new();
        while scope.len() < arity {
            let x = *rng.choose(&variables).unwrap();
            if !scope.contains(&x) {
                scope.push(x);
            }
        }
        if rng.below(3) == 0 && arity > 1 {
            network.require((scope[0] + scope[1]).differs(rng.below(4) as Value));
            continue;
        }
        let mut tuples: Vec<Vec<Value>> = vec![Vec::new()];
        for &x in &scope {
            let domain: Vec<Value> = network.domain(x).iter().collect();
            let longer = |tuple: &Vec<Value>| {
                domain.iter().map(|&v| [&tuple[..], &[v]].concat()).collect::<Vec<_>>()
            };
            tuples = tuples.iter().flat_map(longer).collect();
        }
        tuples.retain(|_| rng.below(3) > 0);
        let table = Table::from_tuples(arity, tuples).into();
        network.add(Constraint::Table { scope, table, is_positive: true });
    }
    network.set_threshold(rational(rng.below(13) as i64, 12));
    if rng.below(3) == 0 {
        let x = *rng.choose(&variables).unwrap();
        let y = *rng.choose(&variables).unwrap();
        network.set_utility(x * 2 + y);
    }
    network
}

fn random_distribution(
    network: &StochasticNetwork,
    rng: &mut Rng,
    variables: &[VarId],
    last: Value,
) -> Distribution {
    let weights = |rng: &mut Rng| {
        let shares: Vec<i64> = (0..=last).map(|_| rng.below(4) as i64).collect();
        let total: i64 = shares.iter().sum();
        let shares = if total == 0 { vec![1; shares.len()] } else { shares };
        let total: i64 = shares.iter().sum();
        (0..=last).zip(shares).map(|(value, share)| (value, rational(share, total))).collect()
    };
    match rng.below(4) {
        0 => Distribution::Uniform,
        1 => Distribution::Weights(weights(rng)),
        2 => {
            let parent = *rng.choose(variables).unwrap();
            let x = VarId::new(network.variables().len());
            // Zero is always possible.
            Distribution::uniform_where(x.at_most(parent))
        }
        _ => {
            let on = vec![*rng.choose(variables).unwrap()];
            let rows: FxHashMap<Vec<Value>, _> =
                network.domain(on[0]).iter().map(|value| (vec![value], weights(rng))).collect();
            Distribution::Table { on, rows }
        }
    }
}

#[test]
fn random_networks_agree_with_the_definition() {
    let mut rng = Seed(17).rng();
    let mut nodes: FxHashMap<&str, u64> = FxHashMap::default();
    for n in 0..2_000 {
        let mut network = random_network(&mut rng);
        let utility = network.utility().cloned();
        if utility.is_some() {
            // Without a threshold, the utility is all that counts.
            network.set_threshold(rational(0, 1));
        }
        let best = best_by_definition(&network);
        for (name, method) in Method::ALL {
            let report = solve_stochastic(&network, &exact(method, Aim::Best)).unwrap();
            assert_eq!(report.exact, Some(best.clone()), "network {n}, {name}");
            let evaluation = evaluate_policy(&network, &report.policy.unwrap()).unwrap();
            assert_eq!(evaluation.utility, best, "network {n}, {name}");
            *nodes.entry(name).or_default() += report.statistics.n_nodes;
            let floating =
                solve_stochastic(&network, &config(method, Aim::Best, Arithmetic::Floating))
                    .unwrap();
            let exact_value = report.value;
            assert!((floating.value - exact_value).abs() <= floating.error, "network {n}, {name}");
        }
        if utility.is_some() {
            continue;
        }
        let expected = Verdict::from(best >= *network.threshold());
        for (name, method) in Method::ALL {
            for consistency in [false, true] {
                let config = StochasticConfig { consistency, ..exact(method, Aim::Threshold) };
                let report = solve_stochastic(&network, &config).unwrap();
                assert_eq!(report.verdict, expected, "network {n}, {name}");
                if let Some(policy) = report.policy {
                    let evaluation = evaluate_policy(&network, &policy).unwrap();
                    assert!(evaluation.reaches_thresholds(&network), "network {n}, {name}");
                    assert_eq!(Some(evaluation.satisfaction), report.exact, "network {n}, {name}");
                }
            }
        }
    }
    println!("nodes: {nodes:?}");
    assert!(nodes["sfc"] < nodes["ssbt"]);
}

/// The most that a policy is worth which reaches all thresholds, of all policies there are.
fn best_of_all_policies(network: &StochasticNetwork) -> Option<Rational> {
    type Leaves = Vec<(Rational, Vec<Value>)>;
    fn policies(network: &StochasticNetwork, values: &mut Vec<Value>, p: &Rational) -> Vec<Leaves> {
        let x = VarId::new(values.len());
        if x.index() == network.variables().len() {
            return vec![vec![(p.clone(), values.clone())]];
        }
        let mut all = Vec::new();
        if network.is_chance(x) {
            all.push(Vec::new());
            for (value, q) in network.outcomes(x, &|y| values[y.index()]) {
                values.push(value);
                let below = policies(network, values, &(p * q));
                values.pop();
                let join = |leaves: &Leaves| {
                    below.iter().map(|more| [&leaves[..], more].concat()).collect::<Vec<_>>()
                };
                all = all.iter().flat_map(join).collect();
            }
        } else {
            for value in network.domain(x).iter() {
                values.push(value);
                all.extend(policies(network, values, p));
                values.pop();
            }
        }
        all
    }
    let zero = || rational(0, 1);
    let worth = |leaves: &Leaves| {
        let n_constraints = network.constraints().len();
        let (mut joint, mut utility) = (zero(), zero());
        let mut own = vec![zero(); n_constraints];
        for (p, values) in leaves {
            let value_of = |x: VarId| i64::from(values[x.index()]);
            let holds: Vec<bool> =
                network.constraints().iter().map(|c| c.constraint.holds(&value_of)).collect();
            let is_joint = |i: &usize| network.constraints()[*i].threshold.is_none();
            if (0..n_constraints).filter(is_joint).all(|i| holds[i]) {
                joint += p;
                let worth = network.utility().map_or(1, |u| u.eval(&value_of).unwrap());
                utility += p * rational(worth, 1);
            }
            for i in (0..n_constraints).filter(|&i| holds[i]) {
                own[i] += p;
            }
        }
        let reaches = joint >= *network.threshold()
            && network.constraints().iter().zip(&own).all(|(constraint, p)| {
                constraint.threshold.as_ref().is_none_or(|threshold| p >= threshold)
            });
        reaches.then_some(utility)
    };
    policies(network, &mut Vec::new(), &rational(1, 1)).iter().filter_map(worth).max()
}

/// A network small enough to list its policies, with several thresholds.
fn small_network(rng: &mut Rng) -> StochasticNetwork {
    let mut network = StochasticNetwork::new();
    network.stage();
    let a = network.decision("a", 0..=2);
    let distribution = random_distribution(&network, rng, &[a], 1);
    let s = network.chance("s", 0..=1, distribution);
    network.stage();
    let b = network.decision("b", 0..=1);
    let distribution = random_distribution(&network, rng, &[a, s, b], 1);
    let t = network.chance("t", 0..=1, distribution);
    let expressions = [
        (a + s).at_least(1 + rng.below(2) as Value),
        (b + t).differs(rng.below(3) as Value),
        (a + t).at_most(rng.below(3) as Value),
        (s + b).equals(1),
    ];
    for expr in expressions {
        let constraint = Constraint::Intension(expr);
        match rng.below(4) {
            0 => network.add(constraint),
            1 | 2 => network.add_with_threshold(constraint, rational(rng.below(5) as i64, 4)),
            _ => {}
        }
    }
    network.set_threshold(rational(rng.below(5) as i64, 4));
    if rng.below(2) == 0 {
        network.set_utility(a * 3 + b + t);
    }
    network
}

#[test]
fn several_thresholds_agree_with_all_policies() {
    let mut rng = Seed(5).rng();
    let (mut n_possible, mut n_expanded) = (0, 0);
    for n in 0..600 {
        let network = small_network(&mut rng);
        let expected = best_of_all_policies(&network);
        n_possible += usize::from(expected.is_some());
        for (name, method) in Method::ALL {
            let report = solve_stochastic(&network, &exact(method, Aim::Best)).unwrap();
            if report.verdict == Verdict::True {
                assert_eq!(report.exact, expected, "network {n}, {name}");
            } else {
                assert_eq!(
                    (report.verdict, &expected),
                    (Verdict::False, &None),
                    "network {n}, {name}"
                );
            }
            let report = solve_stochastic(&network, &exact(method, Aim::Threshold)).unwrap();
            assert_eq!(report.verdict, Verdict::from(expected.is_some()), "network {n}, {name}");
            if let Some(policy) = report.policy {
                let evaluation = evaluate_policy(&network, &policy).unwrap();
                assert!(evaluation.reaches_thresholds(&network), "network {n}, {name}");
            }
        }
        if network.utility().is_none()
            && let Ok(expansion) = expand_scenarios(&network)
        {
            let best = expansion.best(&Deadline::never()).unwrap();
            let best = best.filter(|best| best >= network.threshold());
            assert_eq!(best, expected, "network {n} expanded");
            n_expanded += 1;
        }
    }
    assert!((100..500).contains(&n_possible) && n_expanded > 50, "{n_possible}, {n_expanded}");
}

#[test]
fn two_parts_agree_with_the_definition() {
    let mut rng = Seed(9).rng();
    for n in 0..300 {
        let mut network = StochasticNetwork::new();
        network.stage();
        let a = network.decision("a", 0..=3);
        let b = network.decision("b", 0..=2);
        let c = network.decision("c", 0..=2);
        let distribution = random_distribution(&network, &mut rng, &[a, b, c], 2);
        let y = network.chance("y", 0..=2, distribution);
        network.require((a + b).differs(rng.below(4) as Value));
        network.require((b + c + y).at_least(1 + rng.below(3) as Value));
        network.require((a + y).at_most(2 + rng.below(3) as Value));
        network.set_threshold(rational(1 + rng.below(4) as i64, 4));
        let found = solve_one_stage(&network, u64::MAX, &Deadline::never()).unwrap();
        let mut expected = Vec::new();
        for a_value in 0..=3 {
            for b_value in 0..=2 {
                for c_value in 0..=2 {
                    let mut fixed = network.clone();
                    for (x, value) in [(a, a_value), (b, b_value), (c, c_value)] {
                        fixed.require(x.equals(value));
                    }
                    if best_by_definition(&fixed) >= *network.threshold() {
                        expected.push(vec![a_value, b_value, c_value]);
                    }
                }
            }
        }
        assert_eq!(found.solutions, expected, "network {n}");
    }
}

#[test]
fn bad_input_is_refused_in_words() {
    let problem = |build: &dyn Fn(&mut StochasticNetwork)| {
        let mut network = StochasticNetwork::new();
        network.stage();
        network.decision("x", 0..=2);
        build(&mut network);
        solve_stochastic(&network, &StochasticConfig::default()).unwrap_err().to_string()
    };
    let half = |value| (value, rational(1, 2));
    let weights = Distribution::Weights(vec![half(0), (1, rational(1, 3))]);
    assert_eq!(
        problem(&|network| {
            network.chance("y", 0..=1, weights.clone());
        }),
        "the distribution of `y`: the probabilities sum to 5/6, not to 1"
    );
    assert_eq!(
        problem(&|network| {
            network.chance("y", 0..=1, Distribution::Weights(vec![half(0), half(2)]));
        }),
        "the distribution of `y`: 2 is not in the domain"
    );
    assert_eq!(
        problem(&|network| {
            let rows = [(vec![0], vec![(0, rational(1, 1))])].into_iter().collect();
            let on = vec![VarId::new(0)];
            network.chance("y", 0..=1, Distribution::Table { on, rows });
        }),
        "the distribution of `y` given x = 1: no value can be drawn"
    );
    let weighted = |total| Distribution::Weighted { weight: VarId::new(1) + VarId::new(0), total };
    assert_eq!(
        problem(&|network| {
            network.chance("y", 0..=1, weighted(Some(1)));
        }),
        "the distribution of `y` given x = 1: the weights sum to 3, not to 1"
    );
    assert_eq!(
        problem(&|network| {
            network.chance("y", -1..=1, weighted(None));
        }),
        "the distribution of `y` given x = 0: the weight of -1 is -1"
    );
    assert_eq!(
        problem(&|network| {
            network.chance("y", 0..=1, Distribution::Uniform);
            network.decision("z", 0..=1);
        }),
        "stages out of order: `z` of stage 1 stands after `y`; declare stages in order, and in \
         each what is decided before what is drawn"
    );
    assert_eq!(
        problem(&|network| network.set_threshold(rational(3, 2))),
        "the network: the threshold 3/2 is not between 0 and 1"
    );
    assert_eq!(
        problem(&|network| network.set_utility(VarId::new(0) - 1)),
        "the utility can be -1; a play whose constraints fail is worth 0, so that no other may \
         be worth less: add a constant"
    );
    assert_eq!(
        problem(&|network| {
            network.decision("z", Vec::<Value>::new());
        }),
        "variable `z` has an empty domain"
    );
    assert_eq!(
        problem(&|network| network.require(VarId::new(7).equals(0))),
        "constraint 1 mentions a variable that the network does not have"
    );
}

#[test]
fn probabilities_are_read_exactly() {
    for (text, value) in [("1/3", rational(1, 3)), ("0.25", rational(1, 4)), ("1", rational(1, 1))]
    {
        assert_eq!(parse_probability(text), Some(value));
    }
    for text in ["", "1/0", "-1", "1e3", ".", "0x1", "1/2/3"] {
        assert_eq!(parse_probability(text), None, "{text}");
    }
}

#[test]
fn what_is_written_as_xcsp3_means_the_same() {
    let mut rng = Seed(31).rng();
    let (mut n_written, mut n_refused) = (0, 0);
    for n in 0..400 {
        let network = small_network(&mut rng);
        let depends = |x: &VarId| {
            let distribution = network.variable(*x).distribution.as_ref();
            distribution.is_some_and(|distribution| !distribution.parents(*x).is_empty())
        };
        let text = match (xcsp3::write(&network), network.ids().find(depends)) {
            (Ok(text), None) => text,
            (Err(error), Some(x)) => {
                let words = format!("`{}`, which depend on earlier variables", network.name(x));
                assert!(error.to_string().contains(&words), "network {n}: {error}");
                n_refused += 1;
                continue;
            }
            (result, x) => panic!("network {n}: {result:?} though {x:?}"),
        };
        let again = xcsp3::read(&text, &Deadline::never())
            .unwrap_or_else(|error| panic!("network {n}: {error}\n{text}"));
        assert_eq!(again.n_stages(), network.n_stages());
        assert_eq!(best_of_all_policies(&again), best_of_all_policies(&network), "{text}");
        assert_eq!(xcsp3::write(&again).unwrap(), text, "network {n}");
        n_written += 1;
    }
    assert!(n_written > 50 && n_refused > 50, "{n_written}, {n_refused}");
}

const DICE: &str = r#"<instance format="XCSP3" type="SCSP">
  <variables>
    <array id="bet" size="[2]"> 0..1 </array>
    <array id="die" size="[2]" type="stochastic"> 1..5:5/6 6:1/6 </array>
    <var id="coin" type="symbolic stochastic"> heads:0.5 tails:0.5 </var>
  </variables>
  <constraints threshold="1/12">
    <intension> imp(eq(bet[0],1),eq(die[0],6)) </intension>
    <intension threshold="1/2"> or(eq(bet[1],0),eq(coin,heads)) </intension>
    <sum> <list> bet[] </list> <condition> (ge,2) </condition> </sum>
  </constraints>
  <stages>
    <decision> bet[0] </decision>
    <stochastic> die[0] </stochastic>
    <decision> bet[1] </decision>
    <stochastic> die[1] coin </stochastic>
  </stages>
</instance>"#;

#[test]
fn an_xcsp3_instance_is_read_as_it_is_meant() {
    let network = xcsp3::read(DICE, &Deadline::never()).unwrap();
    let names: Vec<&str> = network.ids().map(|x| network.name(x)).collect();
    assert_eq!(names, ["bet[0]", "die[0]", "bet[1]", "die[1]", "coin"]);
    assert_eq!((network.n_stages(), network.threshold()), (2, &rational(1, 12)));
    let die = network.outcomes(VarId::new(1), &|_| 0);
    assert!(die.len() == 6 && die.iter().all(|(_, p)| *p == rational(1, 6)), "{die:?}");
    // Six with probability 1/6, and heads with 1/2.
    let report = solve_stochastic(&network, &exact(Method::ForwardChecking, Aim::Best)).unwrap();
    assert_eq!(report.exact, Some(rational(1, 6)));
}

/// Each with the place and in words.
#[test]
fn a_bad_xcsp3_instance_is_refused_with_its_line() {
    for (from, to, line, words) in [
        ("6:1/6", "6:1/5", 4, "`die[0]`: the probabilities sum to 31/30, not to 1"),
        ("6:1/6", "6", 4, "`6` has no probability"),
        ("6:1/6", "6:sixth", 4, "`sixth` is no probability"),
        ("6:1/6", "5:1/6", 4, "the value 5 is given twice"),
        ("\"1/12\"", "\"13/12\"", 7, "the network: the threshold 13/12 is not between 0 and 1"),
        ("\"1/2\"", "\"3/2\"", 9, "constraint 2: the threshold 3/2 is not between 0 and 1"),
        ("\"1/2\"", "\"-1\"", 9, "`-1` is no probability"),
        ("<sum>", "<sum threshold=\"2\">", 10, "constraint 3: the threshold 2 is not"),
        ("<decision> bet[1]", "<stochastic> bet[1]", 15, "expected `</stochastic>`"),
        ("<decision> bet[1] </decision>", "", 3, "`bet[1]` is in no stage"),
        ("die[1] coin", "die[1] coin bet[0]", 16, "`bet[0]` is in two stages"),
        ("<decision> bet[0]", "<decision> bet[0] coin", 13, "`coin` is decided, but has prob"),
        ("> die[0] </stochastic>", "> die[0] bet[1] </stochastic>", 14, "`bet[1]` is drawn, but"),
        ("> die[0] </stochastic>", "> dice </stochastic>", 14, "there is no variable `dice`"),
        ("<decision> bet[0] </decision>", "<stage/>", 13, "`stage` in `stages` is not supported"),
        ("type=\"SCSP\"", "type=\"QCSP\"", 1, "the framework is QCSP, not SCSP or SCOP"),
        ("symbolic stochastic", "set", 5, "a variable of type set is not supported"),
    ] {
        let text = DICE.replacen(from, to, 1);
        assert_ne!(text, DICE, "{from}");
        let Err(StochasticError::Syntax { line: found, problem }) =
            xcsp3::read(&text, &Deadline::never())
        else {
            panic!("`{to}` is not refused with a line")
        };
        assert!(found == line && problem.contains(words), "{to}: line {found}: {problem}");
    }
    let without = DICE.replace("stages", "annotations");
    let error = xcsp3::read(&without, &Deadline::never()).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("no element `stages`"), "{error}");
    let plain = ludex_csp::xcsp3::read(DICE).map(|_| ()).unwrap_err().to_string();
    assert!(plain.contains("the framework SCSP"), "{plain}");
}

#[test]
fn a_utility_is_the_objective_of_an_scop() {
    let network = |objective: &str| {
        let text = DICE.replace("type=\"SCSP\"", "type=\"SCOP\"").replace(
            "  <stages>",
            &format!("  <objectives> {objective} </objectives>\n  <stages>"),
        );
        xcsp3::read(&text, &Deadline::never())
    };
    let best = network("<maximize> add(die[0],die[1]) </maximize>").unwrap();
    let report = solve_stochastic(&best, &exact(Method::ForwardChecking, Aim::Best)).unwrap();
    // The first die is a six, the second 3.5 on average.
    assert_eq!(report.exact, Some(rational(19, 12)));
    for (objective, words) in [
        ("<minimize> die[0] </minimize>", "`minimize` is not supported"),
        ("<maximize> sub(die[0],7) </maximize>", "the utility can be -6"),
    ] {
        let error = network(objective).map(|_| ()).unwrap_err().to_string();
        assert!(error.starts_with("line 12: ") && error.contains(words), "{error}");
    }
}
