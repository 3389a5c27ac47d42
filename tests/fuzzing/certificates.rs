//! Certificates for a small game: true ones, ones with changes, and ones that are hard on the checker.

use ludex_base::{Rng, Source};
use ludex_verify::{Certificate, Claim, Proof, choice_line, rules_hash};

use super::others::{change_bytes, change_words};

/// A game of two roles: `left` adds one or two, in turn with `right`, and who reaches four wins.
pub const RULES: &str = "(role left) (role right) (init (sum 0)) (init (control left))
(succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (other left right) (other right left)
(<= (legal ?r (add 1)) (true (control ?r))) (<= (legal ?r (add 2)) (true (control ?r)))
(<= (legal ?r wait) (role ?r) (not (true (control ?r))))
(<= (next (sum ?m)) (does ?r (add 1)) (true (sum ?n)) (succ ?n ?m))
(<= (next (sum ?m)) (does ?r (add 2)) (true (sum ?n)) (succ ?n ?k) (succ ?k ?m))
(<= (next (sum 4)) (does ?r (add 2)) (true (sum 3)))
(<= (next (control ?s)) (true (control ?r)) (other ?r ?s))
(<= terminal (true (sum 4)))
(<= (goal ?r 100) (true (control ?s)) (other ?r ?s)) (<= (goal ?r 0) (true (control ?r)))";

/// Returns the rules as a text with a name.
pub fn rules() -> Source {
    Source::new("sum.kif", RULES)
}

/// A certificate of the game, most of the time with changes.
pub fn certificate(rng: &mut Rng) -> Vec<u8> {
    let mut text = some(rng).to_string();
    if rng.below(3) > 0 {
        text = change_words(&text, &text, rng);
        // The hash is not the point: with another one nothing is checked.
        if rng.below(8) > 0 {
            text = with_hash(&text);
        }
    }
    let mut bytes = text.into_bytes();
    if rng.below(6) == 0 {
        change_bytes(&mut bytes, rng);
    }
    bytes
}

fn with_hash(text: &str) -> String {
    let hash = rules_hash(RULES);
    let is_hash = |line: &str| line.starts_with("rules ");
    let line = |line| if is_hash(line) { format!("rules {hash}\n") } else { format!("{line}\n") };
    text.lines().map(line).collect()
}

/// A certificate with some claims, true or not.
fn some(rng: &mut Rng) -> Certificate {
    let start = (rng.below(3) == 0).then(|| {
        let control = ["left", "right"][rng.below(2)];
        vec![format!("(control {control})"), format!("(sum {})", rng.below(5))]
    });
    let proofs = (0..1 + rng.below(3)).map(|_| proof(start.as_deref(), rng)).collect();
    Certificate { rules_hash: rules_hash(RULES), start, proofs }
}

fn proof(start: Option<&[String]>, rng: &mut Rng) -> Proof {
    let role = ["left", "right", "nobody"][rng.below(3)];
    let value = ["0", "50", "100", "33.3", "100.5"][rng.below(5)];
    let claim = match rng.below(8) {
        0 => format!("plan {role} {value}"),
        1..3 => format!("at-least {role} {value}"),
        3..5 => format!("at-most {role} {value}"),
        5 => "values 0 100".into(),
        6 => "values 100 0".into(),
        _ => format!("values {value}"),
    };
    let claim: Claim = claim.parse().unwrap_or(Claim::Values(Vec::new()));
    let evidence = match &claim {
        Claim::Values(_) => Vec::new(),
        Claim::Plan(..) => vec!["(add 1)".into(); rng.below(4)],
        Claim::AtLeast(..) | Claim::AtMost(..) => strategy(start, rng),
    };
    Proof { claim, evidence }
}

/// Lines for states of the game, some of them as the rules want them.
fn strategy(start: Option<&[String]>, rng: &mut Rng) -> Vec<String> {
    let mut states: Vec<Vec<String>> = Vec::new();
    for control in ["left", "right"] {
        for sum in 0..4 {
            states.push(vec![format!("(control {control})"), format!("(sum {sum})")]);
        }
    }
    states.extend(start.map(<[String]>::to_vec));
    let mut lines = Vec::new();
    for state in states {
        if rng.below(3) == 0 {
            continue;
        }
        for _ in 0..1 + rng.below(2) {
            let weight = [1, 1, 1, 2, u32::MAX][rng.below(5)];
            let played = ["(add 1)", "(add 2)", "wait"][rng.below(3)];
            lines.push(choice_line(&ludex_verify::state_key(&state), weight, &[played.into()]));
        }
    }
    lines
}

/// Certificates that are hard on the checker, each with a name.
pub fn hostile() -> Vec<(&'static str, String)> {
    let begin = format!("ludex-certificate 1\nrules {}\n", rules_hash(RULES));
    let key = ludex_verify::state_key(&["(control left)".into(), "(sum 0)".into()]);
    let line = format!("  {key} 4294967295 (add 1)\n");
    let with = |rest: String| format!("{begin}{rest}end\n");
    vec![
        (
            "one state a million times",
            with(format!("at-least left 50\n{}", line.repeat(1_000_000))),
        ),
        ("a million claims", with("values 100 0\n".repeat(1_000_000))),
        (
            "a plan of a million moves",
            with(format!("plan left 1\n{}", "  (add 1)\n".repeat(1_000_000))),
        ),
        ("a million values", with(format!("values{}\n", " 1".repeat(1_000_000)))),
        (
            "a deep move",
            with(format!(
                "at-least left 1\n  {key} 1 {}{}\n",
                "(".repeat(1_000_000),
                ")".repeat(1_000_000)
            )),
        ),
        ("a long name", with(format!("at-least {} 1\n", "l".repeat(10_000_000)))),
        ("many digits", with(format!("at-least left 1.{}\n", "0".repeat(1_000_000)))),
        (
            "a state of a million fluents",
            with(format!("state\n{}values 1 1\n", "  (sum 0)\n".repeat(1_000_000))),
        ),
        ("no end", format!("{begin}{}", "values 1 1\n".repeat(1_000_000))),
        ("no line end", begin.replace('\n', " ").repeat(100_000)),
    ]
}
