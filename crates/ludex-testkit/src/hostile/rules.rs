//! Rules that are hard to evaluate: recursion, negation, unbound variables and joins.

use super::{Kind, each, listed, text, with_game, with_steps};

pub(super) const KINDS: &[Kind] = &[
    // Recursion through terms.
    text("endless-terms", &[1], |_| used("(p1 a) (<= (p1 (f ?x)) (p1 ?x))")),
    text("endless-terms-together", &[2, 50], |n| {
        let cycle = each(n, |i| format!("(<= (p{} (f{i} ?x)) (p{i} ?x))", (i + 1) % n));
        used(&format!("(p1 a) {cycle}"))
    }),
    text("endless-pairs", &[1], |_| used("(p1 a) (<= (p1 (f ?x ?y)) (p1 ?x) (p1 ?y))")),
    text("endless-moves", &[1], |_| with_game("(<= (legal p (m ?x)) (legal p ?x))")),
    text("endless-fluents", &[1], |_| with_game("(<= (init (f ?x)) (init ?x))")),
    text("endless-roles", &[1], |_| with_game("(<= (role (f ?x)) (role ?x))")),
    text("endless-percepts", &[1], |_| with_game("(sees p a) (<= (sees p (f ?x)) (sees p ?x))")),
    text("endless-goals", &[1], |_| with_game("(<= (goal p (f ?x)) (goal p ?x))")),
    text("ackermann", &[2, 4], |n| {
        let number = "(s ".repeat(n) + "z" + &")".repeat(n);
        with_game(&format!(
            "(<= (ack z ?y (s ?y)))
             (<= (ack (s ?x) z ?r) (ack ?x (s z) ?r))
             (<= (ack (s ?x) (s ?y) ?r) (ack (s ?x) ?y ?q) (ack ?x ?q ?r))
             (<= (init (value ?r)) (ack {number} {number} ?r))"
        ))
    }),
    text("append", &[10, 300], |n| {
        let list = "(cons a ".repeat(n) + "nil" + &")".repeat(n);
        with_game(&format!(
            "(<= (append nil ?l ?l)) (<= (append (cons ?x ?k) ?l (cons ?x ?m)) (append ?k ?l ?m))
             (<= (init (split ?k ?l)) (append ?k ?l {list}))"
        ))
    }),
    text("append-backwards", &[1], |_| {
        with_game(
            "(<= (append nil ?l ?l)) (<= (append (cons ?x ?k) ?l (cons ?x ?m)) (append ?k ?l ?m))
             (<= (init (list ?m)) (append ?k (cons a nil) ?m))",
        )
    }),
    // Recursion over facts.
    text("left-recursion", &[100, 1000], |n| {
        closure(n, "(<= (path ?x ?z) (path ?x ?y) (edge ?y ?z))")
    }),
    text("right-recursion", &[100, 1000], |n| {
        closure(n, "(<= (path ?x ?z) (edge ?x ?y) (path ?y ?z))")
    }),
    text("double-recursion", &[50, 400], |n| {
        closure(n, "(<= (path ?x ?z) (path ?x ?y) (path ?y ?z))")
    }),
    text("mutual-recursion", &[100, 20_000], |n| {
        with_game(&format!(
            "(even 0) {} (<= (odd ?y) (even ?x) (edge ?x ?y)) (<= (even ?y) (odd ?x) (edge ?x ?y))
             (<= (legal p (say ?x)) (even ?x))",
            path(n)
        ))
    }),
    text("recursion-over-fluents", &[30, 120], |n| {
        with_game(&format!(
            "{} (<= (init (link ?x ?y)) (edge ?x ?y)) (<= (path ?x ?y) (true (link ?x ?y)))
             (<= (path ?x ?z) (path ?x ?y) (path ?y ?z)) (<= (legal p (go ?x ?y)) (path ?x ?y))",
            path(n)
        ))
    }),
    text("cycle-of-calls", &[10, 5000], |n| {
        with_game(&each(n, |i| format!("(<= (q{i} ?x) (q{} ?x))", (i + 1) % n)))
    }),
    text("calls-itself", &[1], |_| with_game("(<= (q ?x) (q ?x)) (<= (q ?x) (q (f ?x)))")),
    text("chain-of-rules", &[1000, 100_000], |n| {
        with_game(&format!(
            "q0 {} (<= (legal p (m a)) q{n})",
            each(n, |i| format!("(<= q{} q{i})", i + 1))
        ))
    }),
    // Negation.
    text("chain-of-negations", &[1000, 50_000], |n| {
        let chain = each(n, |i| format!("(<= q{} (not q{i}))", i + 1));
        with_game(&format!("{chain} (<= q0 (true (step 1))) (<= (legal p (m a)) q{n})"))
    }),
    text("negative-cycle", &[2, 3, 1001], |n| {
        with_game(&each(n, |i| format!("(<= q{i} (not q{}))", (i + 1) % n)))
    }),
    text("negative-cycle-with-terms", &[1], |_| {
        with_game("(d a) (<= (q ?x) (d ?x) (not (q (f ?x)))) (<= (q (f ?x)) (d ?x) (not (q ?x)))")
    }),
    text("win-move-line", &[50, 2000], |n| {
        with_game(&format!(
            "{} (<= (win ?x) (edge ?x ?y) (not (win ?y))) (<= (legal p (at ?x)) (win ?x))",
            path(n)
        ))
    }),
    text("win-move-cycle", &[3, 50], |n| {
        with_game(&format!("{} (edge {n} 0) (<= (win ?x) (edge ?x ?y) (not (win ?y)))", path(n)))
    }),
    text("legal-unless-legal", &[1], |_| {
        with_game("(<= (legal p a) (not (legal p b))) (<= (legal p b) (not (legal p a)))")
    }),
    text("next-by-next", &[1], |_| {
        with_game("(<= (next a) (not (next b))) (<= (next b) (true (step 0)))")
    }),
    text("legal-by-does", &[1], |_| with_game("(<= (legal p b) (does p go))")),
    text("init-by-true", &[1], |_| with_game("(<= (init a) (true (step 0)))")),
    text("goal-by-does", &[1], |_| with_game("(<= (goal p 50) (does p go))")),
    text("terminal-by-next", &[1], |_| with_game("(<= terminal (next (step 1)))")),
    // Variables.
    text("unbound-in-heads", &[1], |_| {
        with_game("(<= (q ?x)) (<= (legal p (m ?x)) (q ?x)) (<= (next (f ?y)) (true (step ?x)))")
    }),
    text("unbound-in-negation", &[1], |_| {
        with_game("(<= (next a) (not (true (step ?x)))) (<= (q ?x) (not (q2 ?x ?y)))")
    }),
    text("unbound-in-distinct", &[1], |_| {
        with_game("(<= (next a) (distinct ?x ?y)) (<= (q ?x) (distinct ?x a))")
    }),
    text("unbound-on-demand", &[2, 6], |n| {
        let calls = listed(n, |i| format!("(q{} ?x ?y{i})", i % 2));
        with_game(&format!(
            "(<= (q0 ?x ?y) (true (step ?x))) (<= (q1 ?x ?y) (q0 ?y ?x))
             (<= (next (s ?x)) {calls}) (<= (legal p (m ?x)) (q1 a ?x))
             (<= (r ?x ?y) (not (q0 ?x ?y))) (<= (next odd) (r ?x ?y))"
        ))
    }),
    text("unbound-facts", &[1], |_| {
        "(role ?p) (init ?x) (legal ?p ?m) (next (f ?x)) (goal ?p ?n) (sees ?p ?x) terminal".into()
    }),
    text("variable-for-everything", &[1], |_| {
        with_game("(<= ?x ?y) (?x a) (<= (?x ?y) (true ?y)) (<= (next ?f) (true ?f))")
    }),
    text("variables", &[20, 200, 1000, 3000], |n| {
        let variables = listed(n, |i| format!("?x{i}"));
        with_game(&format!(
            "(d a) (d b) (<= (next (seen {variables})) {})",
            listed(n, |i| format!("(d ?x{i})"))
        ))
    }),
    text("variables-in-a-chain", &[20, 200, 1000], |n| {
        let links = listed(n, |i| format!("(link ?x{i} ?x{})", i + 1));
        with_game(&format!("(link a a) (link a b) (link b a) (<= (next seen) {links})"))
    }),
    text("one-variable-often", &[100, 10_000], |n| {
        with_game(&format!("(d a) (<= (next (s {})) (d ?x))", "?x ".repeat(n)))
    }),
    // Joins.
    text("product-of-facts", &[3, 6, 12], |n| {
        let variables = listed(n, |i| format!("?x{i}"));
        let parts = listed(n, |i| format!("(d ?x{i})"));
        with_game(&format!(
            "{} (<= (q {variables}) {parts}) (<= (legal p (m {variables})) (q {variables}))",
            each(20, |i| format!("(d v{i})"))
        ))
    }),
    text("product-to-nothing", &[4, 12], |n| {
        let parts = listed(n, |i| format!("(d ?x{i})"));
        with_game(&format!(
            "{} (<= (legal p (m z)) {parts} (distinct ?x0 ?x0))",
            each(30, |i| format!("(d v{i})"))
        ))
    }),
    text("product-of-fluents", &[3, 6], |n| {
        let variables = listed(n, |i| format!("?x{i}"));
        let parts = listed(n, |i| format!("(true (d ?x{i}))"));
        with_game(&format!(
            "{} (<= (next (all {variables})) {parts})",
            each(20, |i| format!("(init (d v{i}))"))
        ))
    }),
    text("product-of-fluents-to-nothing", &[3, 6], |n| {
        let parts = listed(n, |i| format!("(true (d ?x{i}))"));
        with_steps(
            5,
            &format!(
                "(legal p go) {} (<= (next (d ?x)) (true (d ?x))) (<= won {parts} (true (e ?x0 ?x{}))) (<= terminal won) (init (e a a))",
                each(30, |i| format!("(init (d v{i}))")),
                n - 1
            ),
        )
    }),
    text("clique", &[4, 8], |n| {
        let edges: String = (0..60)
            .flat_map(|a| (a + 1..60).map(move |b| (a, b)))
            .filter(|&(a, b)| (a * 7919 + b * 104_729 + a * b * 31) % 10 < 7)
            .map(|(a, b)| format!("(edge {a} {b}) "))
            .collect();
        let body = listed(n * n, |i| {
            let (a, b) = (i / n, i % n);
            if a < b { format!("(edge ?x{a} ?x{b})") } else { String::new() }
        });
        with_game(&format!("{edges} (<= (legal p clique) {body})"))
    }),
    text("coloring", &[10, 40], |n| {
        let body = listed(n, |i| format!("(differ ?x{i} ?x{})", (i + 1) % n))
            + &listed(n, |i| format!("(differ ?x{i} ?x{})", (i + 3) % n));
        with_game(&format!(
            "(differ r g) (differ g r) (differ r b) (differ b r) (differ g b) (differ b g) (<= (legal p colored) {body})"
        ))
    }),
    text("pigeons", &[6, 11], |n| {
        let body = listed(n, |i| format!("(hole ?x{i})"))
            + &listed(n * n, |i| {
                let (a, b) = (i / n, i % n);
                if a < b { format!("(distinct ?x{a} ?x{b})") } else { String::new() }
            });
        with_game(&format!("{} (<= (legal p fits) {body})", each(n - 1, |i| format!("(hole {i})"))))
    }),
    text("self-join-of-a-wide-relation", &[100, 1500], |n| {
        with_game(&format!(
            "{} (<= (q ?x ?z) (e ?x ?y) (e ?z ?y)) (<= (legal p (m ?x ?z)) (q ?x ?z))",
            each(n, |i| format!("(e {i} hub)"))
        ))
    }),
    // Alternatives.
    text("alternatives", &[8, 20, 60], |n| {
        with_game(&format!(
            "(<= (next ok) {})",
            listed(n, |i| format!("(or (true (a {i})) (true (b {i})))"))
        ))
    }),
    text("alternatives-nested", &[8, 60, 240], |n| {
        with_game(&format!(
            "(<= (next ok) {}(true c){})",
            "(or (true a) (not (or (true b) ".repeat(n / 2),
            ")))".repeat(n / 2)
        ))
    }),
    text("one-wide-alternative", &[1000, 30_000], |n| {
        with_game(&format!("(<= (next ok) (or {}))", listed(n, |i| format!("(true (a {i}))"))))
    }),
    text("alternative-of-nothing", &[1], |_| {
        with_game(
            "(<= (next ok) (or)) (<= (next no) (and)) (<= (next not) (not)) (<= q (distinct a))",
        )
    }),
    text("parity", &[10, 24], |n| {
        // The parity of n fluents, without parts that could be shared.
        let rules: String = (0..(1_usize << n.min(14)))
            .filter(|bits| bits.count_ones() % 2 == 1)
            .map(|bits| {
                let body = listed(n, |i| {
                    if bits >> i & 1 == 1 {
                        format!("(true (b {i}))")
                    } else {
                        format!("(not (true (b {i})))")
                    }
                });
                format!("(<= odd {body})\n")
            })
            .collect();
        with_game(&format!("{rules} {} (<= terminal odd)", each(n, |i| format!("(init (b {i}))"))))
    }),
];

/// The relation `p1` of the rules is used in every part of the game.
fn used(rules: &str) -> String {
    with_game(&format!(
        "{rules} (<= (legal p (m ?x)) (p1 ?x)) (<= (next (was ?x)) (does p (m ?x))) (<= (init (s ?x)) (p1 ?x))"
    ))
}

fn path(n: usize) -> String {
    each(n, |i| format!("(edge {i} {})", i + 1))
}

fn closure(n: usize, rule: &str) -> String {
    with_game(&format!(
        "{} (<= (path ?x ?y) (edge ?x ?y)) {rule} (<= (legal p (go ?x ?y)) (path ?x ?y))",
        path(n)
    ))
}
