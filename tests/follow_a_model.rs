//! Follows a small model from its text to a checked strategy, one stage at a time, and prints the
//! result of each stage.
//!
//! `tests/follow_a_game.rs` does the same for a game. To see the output:
//! `cargo test --release -p ludex-tests --test all follow_a_model -- --nocapture`

use ludex_base::{Deadline, Source};
use ludex_csp::{Network, PostConfig, VarId, Verdict};
use ludex_formats::Format;
use ludex_model::{Data, Datum, ModelLimits, Problem, compile};
use ludex_qcsp::{
    Model, SolveConfig, Strategy, StrategyNode, StrategyRequest, by_definition, check_strategy,
};
use ludex_scsp::{Arithmetic, evaluate_policy, rational};

#[test]
fn follow_a_shop() {
    // A model is text. Its name is used only in messages.
    let text = include_str!("../models/shop.qcp");
    let source = Source::new("models/shop.qcp", text);
    let never = Deadline::never();
    println!("text: {} bytes", source.text().len());

    // 1. Parse (ludex-model): the text becomes a tree of items, with positions for messages.
    let (tree, mistakes) = ludex_model::parse(source.text());
    assert!(mistakes.is_empty());
    println!("tree: {} items, printed as\n{}", tree.items.len(), ludex_model::print(&tree));

    // 2. Compile (ludex-model): check names, assign parameters, run loops. The result is a problem
    //    of one of three kinds. Here an opponent sets the demand.
    let compiled = compile(&source, &Data::default(), &ModelLimits::default(), &never);
    let problem = compiled.expect("the model is valid").problem;
    assert_eq!(problem.kind(), "quantified");
    let Problem::Quantified(model) = problem else { unreachable!("the model has no chance") };
    for scope in model.scopes() {
        let variables: Vec<String> = scope
            .variables
            .iter()
            .map(|&x| format!("{}: {}", model.name(x), model.domain(x)))
            .collect();
        println!("scope: {} {}", scope.quantifier.name(), variables.join(", "));
    }

    // 3. Propagate (ludex-csp): the constraints of a model are those of plain networks, posted as
    //    propagators that prune domains. After an order of 3, ordering 2 more is impossible.
    let mut network = Network::new();
    for own in model.variables() {
        network.int(own.variable.name.clone(), own.variable.domain.clone());
    }
    let last = model.scopes().last().expect("there are three scopes");
    last.restrictor.iter().for_each(|constraint| network.add(constraint.clone()));
    let [order, more] = [0, 2].map(VarId::new);
    network.require(order.equals(3));
    let mut engine = network.post(&PostConfig::default()).expect("a network without mistakes");
    engine.propagate().expect("there is a solution");
    assert_eq!(engine.domains().max(more), 1);
    println!("after an order of 3: more is at most {}", engine.domains().max(more));

    // 4. Solve (ludex-qcsp): a search over the scopes in order. Ordering 2 is right whatever the
    //    demand is, if up to 2 more can be ordered later.
    let config = SolveConfig { strategy: StrategyRequest::One, ..SolveConfig::default() };
    let report = ludex_qcsp::solve(&model, &config).expect("a model without mistakes");
    assert_eq!(report.verdict, Verdict::True);
    println!("verdict: {}, {} nodes", report.verdict.name(), report.statistics.n_nodes);

    // 5. Read the strategy: a graph with one choice for the winner and all choices for the
    //    opponent.
    let strategy = report.strategy.expect("the strategy was requested and is small");
    let plays = plays(&strategy);
    assert_eq!(plays, ["2 1 0", "2 2 0", "2 3 1", "2 4 2"]);
    println!("strategy: order, demand, more = {}", plays.join(" | "));

    // 6. Check the strategy by evaluating the constraints, without the search. The definition of
    //    truth, computed directly, agrees.
    check_strategy(&model, &strategy).expect("every play is won");
    assert!(by_definition(&model).0);

    // 7. Write the model for other solvers and read it back (ludex-formats).
    let instance = ludex_formats::write(&Problem::Quantified(model), Format::Xcsp3);
    let instance = instance.expect("XCSP3 can express the model");
    let again = ludex_formats::read(&instance, Format::Xcsp3, &never).expect("we wrote it");
    let Problem::Quantified(again) = again else { unreachable!("it is still quantified") };
    assert_eq!(verdict(&again), Verdict::True);
    println!("XCSP3: {} bytes", instance.len());

    // 8. With only one more piece to order later, no strategy meets every demand …
    let with = |values: &[(&str, Datum)]| {
        let mut data = Data::default();
        for (name, value) in values {
            data.values.insert(name.to_string(), value.clone());
        }
        compile(&source, &data, &ModelLimits::default(), &never)
            .expect("the model is still valid")
            .problem
    };
    let one_more = ("most", Datum::Int(1));
    let Problem::Quantified(model) = with(std::slice::from_ref(&one_more)) else { unreachable!() };
    assert_eq!(verdict(&model), Verdict::False);

    // 9. … but if the demand is random, it is met in three cases of four (ludex-scsp). Chance makes
    //    a problem of another kind, which the quantified solver never sees.
    let Problem::Stochastic(network) = with(&[one_more, ("drawn", Datum::Bool(true))]) else {
        unreachable!("the demand is drawn");
    };
    let config = ludex_scsp::SolveConfig {
        arithmetic: Arithmetic::Exact,
        ..ludex_scsp::SolveConfig::best()
    };
    let report = ludex_scsp::solve(&network, &config).expect("a network without mistakes");
    let policy = report.policy.expect("there is a best policy");
    let evaluation = evaluate_policy(&network, &policy).expect("the policy fits the network");
    assert_eq!(evaluation.satisfaction, rational(3, 4));
    println!("when the demand is drawn: met with probability {}", evaluation.satisfaction);
}

fn verdict(model: &Model) -> Verdict {
    ludex_qcsp::solve(model, &SolveConfig::default()).expect("a model without mistakes").verdict
}

/// Returns the plays of a strategy, as the values chosen in order.
fn plays(strategy: &Strategy) -> Vec<String> {
    let mut plays = Vec::new();
    let mut open = vec![(strategy.root, Vec::new())];
    while let Some((node, values)) = open.pop() {
        match strategy.node(node) {
            StrategyNode::End => plays.push(values.join(" ")),
            StrategyNode::Play { branches, .. } => {
                for (choice, next) in branches {
                    let chosen = choice.iter().map(ToString::to_string);
                    open.push((*next, values.iter().cloned().chain(chosen).collect()));
                }
            }
        }
    }
    plays.sort();
    plays
}
