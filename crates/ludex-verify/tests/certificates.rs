//! Certificates: true ones are accepted, and each mutation of them is refuted with a reason.

use ludex_base::{Deadline, Limits, Source, StopReason};
use ludex_game::{Cursor, Describe, Game};
use ludex_gdl::check_source;
use ludex_reasoner::{Reasoner, ReasonerState};
use ludex_verify::{
    Certificate, Claim, Proof, Verdict, choice_line, rules_hash, state_key, verify,
};

/// Count to exactly three in steps of one or two.
const COUNT: &str = "(role counter) (init (at 0))
    (sum 0 1 1) (sum 1 1 2) (sum 2 1 3) (sum 0 2 2) (sum 1 2 3) (sum 2 2 4)
    (<= (legal counter (add ?n)) (true (at ?x)) (sum ?x ?n ?y))
    (<= (next (at ?y)) (true (at ?x)) (does counter (add ?n)) (sum ?x ?n ?y))
    (<= terminal (true (at 3))) (<= terminal (true (at 4)))
    (<= (goal counter 100) (true (at 3))) (<= (goal counter 0) (true (at 4)))";

/// One heap, from which two roles take one or two in turn; who takes the last wins.
const HEAP: &str = "(role left) (role right) (init (heap 4)) (init (control left))
    (less 4 1 3) (less 3 1 2) (less 2 1 1) (less 1 1 0) (less 4 2 2) (less 3 2 1) (less 2 2 0)
    (other left right) (other right left)
    (<= (legal ?r (take ?n)) (true (control ?r)) (true (heap ?x)) (less ?x ?n ?y))
    (<= (legal ?r wait) (true (control ?s)) (other ?s ?r))
    (<= (next (heap ?y)) (true (heap ?x)) (does ?r (take ?n)) (less ?x ?n ?y))
    (<= (next (control ?s)) (true (control ?r)) (other ?r ?s))
    (<= terminal (true (heap 0)))
    (<= (goal ?r 100) (true (control ?s)) (other ?s ?r)) (<= (goal ?r 0) (true (control ?r)))";

/// Both roles show a side of a coin; `even` wins if they are equal.
const PENNIES: &str = "(role even) (role odd) (init start)
    (side head) (side tail)
    (<= (legal even ?s) (true start) (side ?s)) (<= (legal odd ?s) (true start) (side ?s))
    (<= (next equal) (does even ?s) (does odd ?s)) (next over)
    (<= terminal (true over))
    (<= (goal even 100) (true equal)) (<= (goal even 0) (not (true equal)))
    (<= (goal odd 0) (true equal)) (<= (goal odd 100) (not (true equal)))";

/// A role goes round in a circle of three, and can leave it with nothing.
const CIRCLE: &str = "(role walker) (init (at 0))
    (step 0 1) (step 1 2) (step 2 0)
    (legal walker on) (legal walker out)
    (<= (next (at ?y)) (does walker on) (true (at ?x)) (step ?x ?y))
    (<= (next (at out)) (does walker out))
    (<= terminal (true (at out))) (goal walker 20)";

/// A role may stop for 30, or draw one of three balls worth 0, 50 and 50.
const URN: &str = "(role drawer) (role random) (init start)
    (<= (legal drawer draw) (true start)) (<= (legal drawer stop) (true start))
    (legal random a) (legal random b) (legal random c)
    (<= (next (ball ?b)) (does drawer draw) (does random ?b))
    (<= (next stopped) (does drawer stop))
    (<= terminal (not (true start)))
    (<= (goal drawer 0) (true (ball a)))
    (<= (goal drawer 50) (true (ball b))) (<= (goal drawer 50) (true (ball c)))
    (<= (goal drawer 30) (true stopped))";

fn reasoner(rules: &str) -> Reasoner {
    let program = check_source(&Source::new("rules", rules)).program.expect("the rules are good");
    Reasoner::new(&program, &Limits::usual()).expect("the rules are small")
}

fn key(game: &Reasoner, state: &ReasonerState) -> String {
    state_key(&game.state_texts(state))
}

/// Returns the key of the state with these fluents, given in byte order.
fn key_of(fluents: &[&str]) -> String {
    state_key(&fluents.iter().map(|&it| it.into()).collect::<Vec<String>>())
}

fn line(key: &str, weight: u32, moves: &[&str]) -> String {
    choice_line(key, weight, &moves.iter().map(|&it| it.into()).collect::<Vec<String>>())
}

fn certificate(rules: &str, claims: &[(&str, Vec<String>)]) -> Certificate {
    let proof = |(claim, evidence): &(&str, Vec<String>)| Proof {
        claim: claim.parse::<Claim>().expect("the claim is well-formed"),
        evidence: evidence.clone(),
    };
    Certificate {
        rules_hash: rules_hash(rules),
        start: None,
        proofs: claims.iter().map(proof).collect(),
    }
}

fn judge(rules: &str, certificate: &Certificate) -> Verdict {
    let text = certificate.to_string();
    assert_eq!(Certificate::read(&text).as_ref(), Ok(certificate), "reading undoes writing");
    verify(certificate, &Source::new("rules", rules), &Limits::usual())
}

#[track_caller]
fn check_accepted(rules: &str, claims: &[(&str, Vec<String>)]) {
    assert_eq!(judge(rules, &certificate(rules, claims)), Verdict::Accepted);
}

#[track_caller]
fn check_refuted(rules: &str, claims: &[(&str, Vec<String>)], word: &str) {
    match judge(rules, &certificate(rules, claims)) {
        Verdict::Refuted { reason } => assert!(reason.contains(word), "{reason}"),
        verdict => panic!("{verdict:?} instead of refuted: {word}"),
    }
}

fn texts(moves: &[&str]) -> Vec<String> {
    moves.iter().map(|&it| it.into()).collect()
}

#[test]
fn a_plan_and_the_proof_that_there_is_no_better_one() {
    let plan = texts(&["(add 1)", "(add 2)"]);
    check_accepted(COUNT, &[("plan counter 100", plan.clone()), ("at-most counter 100", vec![])]);
    check_accepted(COUNT, &[("plan counter 0", texts(&["(add 2)", "(add 2)"]))]);
    for (moves, word) in [
        (&["(add 2)", "(add 2)"][..], "does not hold: it is 0"),
        (&["(add 1)"], "does not end the game"),
        (&["(add 1)", "(add 2)", "(add 1)"], "after the end"),
        (&["(add 1)", "(add 3)"], "`(add 3)` is not legal: state"),
        (&["(add 1)", "(add 2"], "is not legal"),
        (&["(add 1)", "jump"], "is not legal"),
        (&[], "does not end the game"),
    ] {
        check_refuted(COUNT, &[("plan counter 100", texts(moves))], word);
    }
    check_refuted(COUNT, &[("plan nobody 100", plan)], "no role `nobody`");
    check_refuted(COUNT, &[("at-most counter 99", vec![])], "it is 100");
    check_refuted(HEAP, &[("plan left 100", texts(&["(take 1)"]))], "a game of one role");
    check_refuted(COUNT, &[], "claims nothing");
}

/// The strategy of `left`: leave a multiple of three.
fn leave_three() -> Vec<String> {
    vec![
        line(&key_of(&["(control left)", "(heap 4)"]), 1, &["(take 1)"]),
        line(&key_of(&["(control left)", "(heap 2)"]), 1, &["(take 2)"]),
    ]
}

#[test]
fn a_strategy_must_win_against_every_reply() {
    check_accepted(HEAP, &[("at-least left 100", leave_three())]);
    check_accepted(HEAP, &[("at-most right 0", leave_three())]);
    let mutated = |idx: usize, from: &str, to: &str| {
        let mut lines = leave_three();
        assert!(lines[idx].contains(from), "the mutation changes something");
        lines[idx] = lines[idx].replace(from, to);
        lines
    };
    let with = |more: String| leave_three().into_iter().chain([more]).collect::<Vec<_>>();
    let unreached = line(&key_of(&["(control left)", "(heap 3)"]), 1, &["(take 1)"]);
    for (lines, word) in [
        (mutated(0, "(take 1)", "(take 2)"), "never reaches the state"),
        (mutated(1, "(take 2)", "(take 1)"), "does not hold: it is 0"),
        (mutated(1, "(take 2)", "(take 4)"), "`(take 4)` is not legal: state"),
        (mutated(1, "(take 2)", "wait"), "`wait` is not legal"),
        (mutated(1, " 1 ", " 0 "), "is not a key, a weight and moves"),
        (mutated(1, "(take 2)", "(take 2) wait"), "is not a key, a weight and moves"),
        (mutated(1, "(take 2)", "(take 2"), "is not a key, a weight and moves"),
        (leave_three()[..1].to_vec(), "no move here: state"),
        (with(unreached), "never reaches the state"),
        (with(leave_three()[1].replace("(take 2)", "(take 1)")), "does not hold: it is 50"),
        (with("nonsense".into()), "is not a key, a weight and moves"),
    ] {
        check_refuted(HEAP, &[("at-least left 100", lines)], word);
    }
    check_refuted(HEAP, &[("at-least right 100", leave_three())], "is not legal");
}

#[test]
fn a_certificate_may_start_in_another_state() {
    let mut from_three = certificate(HEAP, &[("at-most left 0", vec![])]);
    from_three.start = Some(texts(&["(control left)", "(heap 3)"]));
    from_three.proofs[0].evidence =
        vec![line(&key_of(&["(control right)", "(heap 2)"]), 1, &["(take 2)"])];
    assert_eq!(judge(HEAP, &from_three), Verdict::Accepted);
    let mut unknown = from_three.clone();
    unknown.start = Some(texts(&["(control left)", "(pile 3)"]));
    assert!(matches!(judge(HEAP, &unknown), Verdict::Refuted { .. }));
    from_three.start = None;
    assert!(matches!(judge(HEAP, &from_three), Verdict::Refuted { .. }));
}

#[test]
fn mixed_choices_are_worth_their_mean() {
    let game = reasoner(PENNIES);
    let start = key(&game, game.cursor().state());
    let mixed = |heads, tails| vec![line(&start, heads, &["head"]), line(&start, tails, &["tail"])];
    check_accepted(PENNIES, &[("at-least even 50", mixed(1, 1)), ("at-most even 50", mixed(7, 7))]);
    check_accepted(PENNIES, &[("at-least odd 33.333333333", mixed(1, 2))]);
    check_refuted(PENNIES, &[("at-least odd 33.333333334", mixed(1, 2))], "it is 33.333333333");
    check_refuted(PENNIES, &[("at-most odd 66.666666666", mixed(1, 2))], "it is 66.666666667");
    check_refuted(PENNIES, &[("at-least even 1", mixed(1, 1)[..1].to_vec())], "it is 0");
    check_refuted(PENNIES, &[("values 50 50", vec![])], "choose at the same time");
}

#[test]
fn chance_counts_by_its_mean() {
    let game = reasoner(URN);
    let start = key(&game, game.cursor().state());
    let draw = vec![line(&start, 1, &["draw"])];
    check_accepted(
        URN,
        &[
            ("at-least drawer 33.333333333", draw.clone()),
            ("at-most drawer 33.333333334", vec![]),
            ("values 33.333333333", vec![]),
        ],
    );
    check_refuted(URN, &[("at-least drawer 34", draw)], "it is 33.333333333");
    let stop = vec![line(&start, 1, &["stop"])];
    check_refuted(URN, &[("at-least drawer 33", stop)], "it is 30");
    check_refuted(URN, &[("values 33", vec![])], "it is 33.333333333");
    check_refuted(URN, &[("values 33.333333333 0", vec![])], "it is 33.333333333");
}

#[test]
fn backward_induction_is_repeated() {
    check_accepted(HEAP, &[("values 100 0", vec![])]);
    check_refuted(HEAP, &[("values 0 100", vec![])], "it is 100 0");
    check_refuted(HEAP, &[("values 100", vec![])], "it is 100 0");
}

#[test]
fn play_that_returns_to_a_state_forces_nothing() {
    let at = |place: &str| key_of(&[&format!("(at {place})")]);
    let round = ["0", "1", "2"].map(|place| line(&at(place), 1, &["on"])).to_vec();
    check_refuted(CIRCLE, &[("at-least walker 20", round)], "return to this state for ever: state");
    let leave = vec![line(&at("0"), 1, &["on"]), line(&at("1"), 1, &["out"])];
    check_accepted(CIRCLE, &[("at-least walker 20", leave)]);
    check_accepted(CIRCLE, &[("at-most walker 20", vec![])]);
    check_refuted(CIRCLE, &[("values 20", vec![])], "return to this state for ever");
}

#[test]
fn other_rules_refute() {
    let certificate = certificate(HEAP, &[("at-least left 100", leave_three())]);
    let other = format!("{HEAP} ");
    assert!(matches!(judge(&other, &certificate), Verdict::Refuted { .. }));
}

#[test]
fn a_limit_is_no_verdict() {
    let certificate = certificate(HEAP, &[("at-least left 100", leave_three())]);
    let source = Source::new("rules", HEAP);
    let now = Limits::usual().until(Deadline::at(std::time::Instant::now()));
    assert_eq!(verify(&certificate, &source, &now), Verdict::Unknown(StopReason::Time));
    let little = Limits { max_bytes: 500_000, ..Limits::usual() };
    assert_eq!(verify(&certificate, &source, &little), Verdict::Accepted);
}

#[test]
fn malformed_texts_are_refused_by_line() {
    let good = certificate(HEAP, &[("at-least left 100", leave_three())]).to_string();
    for (from, to, message) in [
        ("ludex-certificate 1", "ludex-certificate 2", "line 1: expected `ludex-certificate 1`"),
        ("rules ", "rule ", "line 2: expected `rules` and their hash"),
        ("at-least", "at-best", "line 3: expected `plan`"),
        ("left 100", "left 101", "line 3: expected `plan`"),
        ("left 100", "left -1", "line 3: expected `plan`"),
        ("left 100", "left 1.0123456789", "line 3: expected `plan`"),
        ("left 100", "left", "line 3: expected `plan`"),
        ("at-least left 100\n", "", "line 3: expected `state` or a claim"),
        ("end\n", "", "line 6: expected `end`"),
        ("end\n", "end\nend\n", "line 6: expected `plan`"),
    ] {
        let text = good.replacen(from, to, 1);
        assert_ne!(text, good, "the mutation changes something");
        let error = Certificate::read(&text).expect_err(message);
        assert!(error.starts_with(message), "{error}");
    }
}

#[test]
fn cut_and_spoiled_texts_never_panic() {
    let good = certificate(HEAP, &[("at-least left 100", leave_three())]).to_string();
    let source = Source::new("rules", HEAP);
    let mut n_read = 0;
    for idx in 0..good.len() - 1 {
        assert!(Certificate::read(&good[..idx]).is_err(), "a part is not a certificate");
        for byte in ["(", ")", " ", "\n", "0", "é"] {
            let text = format!("{}{byte}{}", &good[..idx], &good[idx + 1..]);
            if let Ok(spoiled) = Certificate::read(&text) {
                let verdict = verify(&spoiled, &source, &Limits::usual());
                assert!(!matches!(verdict, Verdict::Unknown(_)), "{text}");
                n_read += 1;
            }
        }
    }
    assert!(n_read > 100, "{n_read} of the texts can be read");
}
