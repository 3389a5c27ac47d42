//! Stochastic networks as XCSP3.

use ludex_base::Deadline;
use ludex_csp::VarId;
use ludex_formats::xcsp3::stochastic;
use ludex_scsp::*;
use ludex_testkit::property::holds_for_all;

#[path = "../../ludex-scsp/tests/stochastic/networks.rs"]
#[allow(dead_code)]
mod networks;

use networks::{best_of_all_policies, exact, small_networks};

#[test]
fn what_is_written_as_xcsp3_means_the_same() {
    let (mut n_written, mut n_refused) = (0, 0);
    holds_for_all(400, small_networks(), |network| {
        let depends = |x: &VarId| {
            let distribution = network.variable(*x).distribution.as_ref();
            distribution.is_some_and(|distribution| !distribution.parents(*x).is_empty())
        };
        let text = match (stochastic::write(&network), network.ids().find(depends)) {
            (Ok(text), None) => text,
            (Err(error), Some(x)) => {
                let words = format!("`{}`, which depend on earlier variables", network.name(x));
                assert!(error.to_string().contains(&words), "{error}");
                n_refused += 1;
                return;
            }
            (result, x) => panic!("{result:?} though {x:?}"),
        };
        let again = stochastic::read(&text, &Deadline::never())
            .unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(again.n_stages(), network.n_stages());
        assert_eq!(best_of_all_policies(&again), best_of_all_policies(&network), "{text}");
        assert_eq!(stochastic::write(&again).unwrap(), text);
        n_written += 1;
    });
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
    let network = stochastic::read(DICE, &Deadline::never()).unwrap();
    let names: Vec<&str> = network.ids().map(|x| network.name(x)).collect();
    assert_eq!(names, ["bet[0]", "die[0]", "bet[1]", "die[1]", "coin"]);
    assert_eq!((network.n_stages(), network.threshold()), (2, &rational(1, 12)));
    let die = network.outcomes(VarId::new(1), &|_| 0);
    assert!(die.len() == 6 && die.iter().all(|(_, p)| *p == rational(1, 6)), "{die:?}");
    // A six has probability 1/6, heads 1/2.
    let report = solve(&network, &exact(Method::ForwardChecking, Aim::Best)).unwrap();
    assert_eq!(report.exact, Some(rational(1, 6)));
}

/// Each error has its line and its words.
#[test]
fn a_bad_xcsp3_instance_is_refused_with_its_line() {
    for (from, to, line, words) in [
        ("6:1/6", "6:1/5", 4, "`die[0]`: the probabilities sum to 31/30, not to 1"),
        ("6:1/6", "6", 4, "`6` has no probability"),
        ("6:1/6", "6:sixth", 4, "`sixth` is not a probability"),
        ("6:1/6", "5:1/6", 4, "the value 5 is given twice"),
        ("\"1/12\"", "\"13/12\"", 7, "the network: the threshold 13/12 is not between 0 and 1"),
        ("\"1/2\"", "\"3/2\"", 9, "constraint 2: the threshold 3/2 is not between 0 and 1"),
        ("\"1/2\"", "\"-1\"", 9, "`-1` is not a probability"),
        ("<sum>", "<sum threshold=\"2\">", 10, "constraint 3: the threshold 2 is not"),
        ("<decision> bet[1]", "<stochastic> bet[1]", 15, "expected `</stochastic>`"),
        ("<decision> bet[1] </decision>", "", 3, "`bet[1]` is not listed in a stage"),
        ("die[1] coin", "die[1] coin bet[0]", 16, "`bet[0]` is listed in two stages"),
        ("<decision> bet[0]", "<decision> bet[0] coin", 13, "`coin` is decided, but has prob"),
        ("> die[0] </stochastic>", "> die[0] bet[1] </stochastic>", 14, "`bet[1]` is drawn, but"),
        ("> die[0] </stochastic>", "> dice </stochastic>", 14, "there is no variable `dice`"),
        ("<decision> bet[0] </decision>", "<stage/>", 13, "`stage` in `stages` is not supported"),
        ("type=\"SCSP\"", "type=\"QCSP\"", 1, "the framework is QCSP, not SCSP or SCOP"),
        ("symbolic stochastic", "set", 5, "a variable of type set is not supported"),
        (
            "<intension threshold=\"1/2\"> or(eq(bet[1],0),eq(coin,heads)) </intension>",
            "<block threshold=\"1/4\"> <intension threshold=\"1/2\"> eq(coin,heads) </intension> </block>",
            9,
            "the constraint in `block` has a threshold of its own",
        ),
        (
            "</constraints>",
            "</constraints> <constraints threshold=\"1/2\"> </constraints>",
            11,
            "the threshold of all constraints is stated twice",
        ),
        ("<stages>", "<stages> </stages> <stages>", 12, "the stages are stated twice"),
    ] {
        let text = DICE.replacen(from, to, 1);
        assert_ne!(text, DICE, "{from}");
        let error = stochastic::read(&text, &Deadline::never()).map(|_| ()).unwrap_err();
        assert_eq!(error.line(), Some(line), "{to}: {error}");
        assert!(error.problem().contains(words), "{to}: {error}");
    }
    let without = DICE.replace("stages", "annotations");
    let error = stochastic::read(&without, &Deadline::never()).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("no element `stages`"), "{error}");
    let plain = ludex_formats::xcsp3::read(DICE).map(|_| ()).unwrap_err().to_string();
    assert!(plain.contains("the framework SCSP"), "{plain}");
}

#[test]
fn a_utility_is_the_objective_of_an_scop() {
    let network = |objective: &str| {
        let text = DICE.replace("type=\"SCSP\"", "type=\"SCOP\"").replace(
            "  <stages>",
            &format!("  <objectives> {objective} </objectives>\n  <stages>"),
        );
        stochastic::read(&text, &Deadline::never())
    };
    let best = network("<maximize> add(die[0],die[1]) </maximize>").unwrap();
    let report = solve(&best, &exact(Method::ForwardChecking, Aim::Best)).unwrap();
    // The first die is a six; the second is 3.5 on average.
    assert_eq!(report.exact, Some(rational(19, 12)));
    for (objective, words) in [
        ("<minimize> die[0] </minimize>", "`minimize` is not supported"),
        ("<maximize> sub(die[0],7) </maximize>", "the utility can be -6"),
    ] {
        let error = network(objective).map(|_| ()).unwrap_err().to_string();
        assert!(error.starts_with("line 12: ") && error.contains(words), "{error}");
    }
}
