//! Models with chance.

use std::time::{Duration, Instant};

use ludex_base::{Deadline, Diagnostic, Source};
use ludex_csp::propagators::table::Table;
use ludex_csp::{Constraint, VarId, Verdict};
use ludex_model::{Data, ModelLimits, Problem, compile, write_stochastic};
use ludex_scsp::*;

fn network(text: &str) -> Result<StochasticNetwork, Vec<Diagnostic>> {
    let source = Source::new("model", text.to_string());
    let compiled = compile(&source, &Data::default(), &ModelLimits::default(), &Deadline::never())?;
    match compiled.problem {
        Problem::Stochastic(network) => Ok(network),
        other => panic!("`{text}` is {}", other.kind()),
    }
}

/// What a model in the language says is wrong.
fn problem_of(text: &str) -> Option<String> {
    network(text).err().map(|mistakes| mistakes[0].message.clone())
}

#[test]
fn a_weight_without_a_value_is_a_mistake() {
    for (text, problem) in [
        (
            "random m: 0..2 weight [3, 2, 1][m];",
            Some("`m`: the weight of 0 has no value; is an index outside of its array?"),
        ),
        ("random m: 0..2 where m > 0 weight [3, 2, 1][m];", None),
        (
            "exists x: 0..2; random m: 0..2 weight 6 div x;",
            Some("`m` given x = 0: the weight of 0 has no value; is an index"),
        ),
        ("exists x: 0..2; random m: 0..2 weight if x = 0 then 1 else 6 div x endif;", None),
        (
            "enum Sky = {clear, dark, storm}; random m: Sky weight [3, 2][m];",
            Some("`m`: the weight of 3 has no value"),
        ),
    ] {
        let found = problem_of(text);
        assert_eq!(found.is_some(), problem.is_some(), "{text}: {found:?}");
        let found = found.unwrap_or_default();
        assert!(found.contains(problem.unwrap_or_default()), "{text}: {found}");
    }
}

#[test]
fn a_utility_without_a_value_is_0() {
    let text = "exists x: 0..5; random s: 0..1; utility [30, 20, 10][x];";
    let mut network = network(text).unwrap();
    assert_eq!(best_by_definition(&network), rational(30, 1));
    network.require(VarId::new(0).at_most(0));
    assert_eq!(best_by_definition(&network), rational(0, 1));
}

#[test]
fn definitions_grow_only_where_they_are_used() {
    let chain = |n: usize, step: &str| {
        let mut text = "exists x: 0..1; random s: 0..1 let y[0] = x + s;".to_string();
        for i in 1..n {
            text += &format!("let y[{i}] = {};", step.replace('@', &format!("y[{}]", i - 1)));
        }
        network(&format!("{text} goal y[{}] != 1; threshold 1 of 4;", n - 1))
    };
    // As long as the goal, once; and what doubles at every step.
    let long = chain(500, "abs(@ - 1)").unwrap();
    let report = solve(&long, &SolveConfig::default()).unwrap();
    assert_eq!(report.verdict, Verdict::True);
    for (n, step) in [(23, "(@ + @) mod 7"), (5000, "abs(@ - 1)")] {
        let begin = Instant::now();
        let error = chain(n, step).map(|_| ()).unwrap_err();
        assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
        assert!(error[0].message.contains("definitions"), "{error:?}");
    }
}

/// A table can't stand inside a negation: its tuples are written as cases.
#[test]
fn a_table_of_what_is_not_allowed_is_read_back_from_text() {
    let mut network = StochasticNetwork::new();
    network.stage();
    let x = network.decision("x", 0..=2);
    let s = network.chance("s", 0..=2, Distribution::Uniform);
    let table = Table::from_tuples(2, [[0, 1], [1, 2], [2, 0], [2, 1]]).into();
    network.add(Constraint::Table { scope: vec![x, s], table, is_positive: false });
    let table = Table::from_tuples(1, [[1]]).into();
    network.add(Constraint::Table { scope: vec![x], table, is_positive: false });
    let text = write_stochastic(&network).unwrap();
    let again = self::network(&text).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    assert_eq!(best_by_definition(&again), rational(2, 3));
    assert_eq!(best_by_definition(&network), rational(2, 3));
}

/// What a text says decides the kind of its problem.
#[test]
fn every_word_of_chance_makes_a_stochastic_problem() {
    let kind = |text: &str| {
        let source = Source::new("model", text.to_string());
        let compiled =
            compile(&source, &Data::default(), &ModelLimits::default(), &Deadline::never());
        compiled.map(|compiled| compiled.problem)
    };
    for text in [
        "random y: 0..1; goal y = 1;",
        "exists x: 0..1; threshold 1 of 2;",
        "exists x: 0..1; goal x = 1 threshold 1 of 2;",
        "exists x: 0..1; utility x;",
        "param p: bool = true; if p then random else forall endif y: 0..1; goal y = 1;",
    ] {
        let problem = kind(text).unwrap_or_else(|mistakes| panic!("{text}: {mistakes:?}"));
        assert_eq!(problem.kind(), "stochastic", "{text}");
    }
    assert_eq!(kind("exists x: 0..1; forall y: 0..1; goal x >= y;").unwrap().kind(), "quantified");
    let both = "exists x: 0..1;\nforall y: 0..1;\nrandom z: 0..1;\ngoal true;";
    let mistakes = kind(both).map(|problem| problem.kind()).unwrap_err();
    let place = Source::new("model", both).slice(mistakes[0].span).to_string();
    assert!(place.starts_with("forall"), "{place}");
    assert!(mistakes[0].message.contains("`forall`"), "{mistakes:?}");
}

/// A model without an opponent and without chance can be taken as plain or as stochastic.
#[test]
fn a_model_of_decisions_is_of_every_kind() {
    let problem = |text: &str| {
        let source = Source::new("model", text.to_string());
        let compiled =
            compile(&source, &Data::default(), &ModelLimits::default(), &Deadline::never());
        compiled.unwrap_or_else(|mistakes| panic!("{mistakes:?}")).problem
    };
    let one = problem("exists x: 0..3 let y = 2 * x; exists z: 0..9 where z = y + 1; goal z > 4;");
    assert_eq!(one.clone().into_network().ok().map(|network| network.variables().len()), Some(3));
    assert_eq!(one.into_stochastic().map(|network| network.variables().len()), Ok(2));
    let two = problem("exists x: 0..1; forall y: 0..1; goal x >= y;");
    assert!(two.clone().into_network().is_err());
    assert!(two.into_stochastic().err().unwrap().contains("`forall`"));
}
