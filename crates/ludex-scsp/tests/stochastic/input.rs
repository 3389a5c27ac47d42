//! Invalid input is rejected.

use ludex_base::Deadline;
use ludex_csp::{Expr, Value, VarId};
use ludex_scsp::*;

#[test]
fn invalid_input_is_rejected_with_a_message() {
    let problem = |build: &dyn Fn(&mut StochasticNetwork)| {
        let mut network = StochasticNetwork::new();
        network.stage();
        network.decision("x", 0..=2);
        build(&mut network);
        solve(&network, &SolveConfig::default()).unwrap_err().to_string()
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
        "stages out of order: `z` of stage 1 comes after `y`; declare stages in order, and in \
         each stage decisions before chance variables"
    );
    assert_eq!(
        problem(&|network| network.set_threshold(rational(3, 2))),
        "the network: the threshold 3/2 is not between 0 and 1"
    );
    assert_eq!(
        problem(&|network| network.set_utility(VarId::new(0) - 1)),
        "the utility can be -1, by the bounds of its parts; a play whose constraints fail is \
         worth 0, so no play may be worth less: add a constant, or take the maximum with 0"
    );
    assert_eq!(
        problem(&|network| network.set_utility(VarId::new(0) * Expr::Constant(1 << 62))),
        "the utility can be more than 9223372036854775806; scale it down"
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

/// If there are too many rows to check beforehand, the search reports a missing one when it draws
/// from it.
#[test]
fn scenarios_report_a_missing_row() {
    let mut network = StochasticNetwork::new();
    network.stage();
    let seldom = |n: Value| Distribution::Weights(vec![(0, rational(1, 2)), (n, rational(1, 2))]);
    let x = network.chance("x", 0..=2_000, seldom(2_000));
    let y = network.chance("y", 0..=2_000, seldom(2_000));
    let row = |x, y| (vec![x, y], vec![(1, rational(1, 1))]);
    let rows = [row(0, 0), row(0, 2_000), row(2_000, 0)].into_iter().collect();
    let z = network.chance("z", 0..=1, Distribution::Table { on: vec![x, y], rows });
    network.require(z.equals(1));
    let words = "the distribution of `z` given x = 2000, y = 2000: no value can be drawn";
    let error = expand_scenarios(&network).map(|_| ()).unwrap_err();
    assert_eq!(error.to_string(), words);
    for (name, method) in Method::ALL {
        let config = SolveConfig { method, ..SolveConfig::best() };
        let error = solve(&network, &config).map(|_| ()).unwrap_err();
        assert_eq!(error.to_string(), words, "{name}");
    }
}

/// A constraint without a value does not hold, but the expansion into scenarios evaluates it only
/// under a condition and cannot express that.
#[test]
fn scenarios_reject_expressions_without_a_value() {
    let network = |first: Value| {
        let mut network = StochasticNetwork::new();
        network.stage();
        let x = network.decision("x", 0..=2);
        let s = network.chance("s", first..=2, Distribution::Uniform);
        network.require((x % s).equals(0));
        network.set_threshold(rational(1, 2));
        network
    };
    let error = expand_scenarios(&network(0)).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("an expression may have no value"), "{error}");
    let report = solve(&network(0), &SolveConfig::best()).unwrap();
    assert_eq!(format!("{:.4}", report.value), "0.6667");
    let best = expand_scenarios(&network(1)).unwrap().best(&Deadline::never()).unwrap();
    assert_eq!(best.best, Some(rational(1, 1)));
}
