//! Games whose roles, moves, percepts, goals or ends are odd.

use super::{Kind, each, listed, text, with_game, with_steps};

pub(super) const KINDS: &[Kind] = &[
    // Missing parts.
    text("no-role", &[1], |_| "(init a) (<= terminal (true a)) (legal p go) (goal p 100)".into()),
    text("no-terminal", &[1], |_| {
        "(role p) (init a) (legal p go) (<= (next a) (true a)) (goal p 100)".into()
    }),
    text("no-legal", &[1], |_| "(role p) (init a) (<= terminal (true b)) (goal p 100)".into()),
    text("no-init", &[1], |_| "(role p) (legal p go) (<= terminal (true b)) (goal p 100)".into()),
    text("no-goal", &[1], |_| {
        "(role p) (init a) (legal p go) (<= terminal (true b)) (<= (next b) (true a))".into()
    }),
    text("no-next", &[1], |_| {
        "(role p) (init a) (legal p go) (<= terminal (not (true a))) (goal p 100)".into()
    }),
    text("only-a-role", &[1], |_| "(role p)".into()),
    text("ended-at-the-start", &[1], |_| {
        "(role p) (init a) (legal p go) terminal (goal p 100)".into()
    }),
    text("stuck-after-a-step", &[1, 40], |n| {
        with_steps(n + 5, &format!("(<= (legal p go) (true (step ?n)) (distinct ?n {n}))"))
    }),
    text("legal-for-no-role", &[1], |_| {
        with_game("(legal q go) (<= (next (q ?m)) (does q ?m)) (goal q 1) (sees q a)")
    }),
    text("legal-for-a-term", &[1], |_| {
        with_game("(legal (f p) go) (<= (legal ?x go) (true (step ?x)))")
    }),
    text("does-no-role", &[1], |_| {
        with_game("(<= (next (did ?r ?m)) (does ?r ?m)) (<= (next odd) (not (does q go)))")
    }),
    text("role-by-state", &[1], |_| {
        with_game("(<= (role q) (true (step 0))) (legal q go) (goal q 0)")
    }),
    text("role-twice", &[2, 1000], |n| with_game(&"(role p) ".repeat(n))),
    text("role-is-a-number", &[1], |_| {
        "(role 1) (role -1) (legal 1 1) (legal -1 1) (init 1) (<= terminal (not (true 1))) (goal 1 1) (goal -1 1)".into()
    }),
    text("role-is-a-term", &[1], |_| {
        "(role (team (red) 1)) (<= (legal ?r go) (role ?r)) (init a) (<= terminal (not (true a))) (<= (goal ?r 5) (role ?r))".into()
    }),
    text("some-roles-stuck", &[2, 50], |n| {
        format!(
            "{} (legal r0 go) (init a) (<= terminal (not (true a)))",
            each(n, |i| format!("(role r{i}) (goal r{i} {i})"))
        )
    }),
    // Goals.
    text("goal-negative", &[1], |_| goals("-5")),
    text("goal-above-100", &[101, 256, 65_536], |n| goals(&n.to_string())),
    text("goal-at-a-limit", &[8, 16, 32, 64, 128], |n| {
        goals(&(u128::MAX >> (128 - n)).to_string())
    }),
    text("goal-is-a-word", &[1], |_| goals("win")),
    text("goal-is-a-fraction", &[1], |_| {
        goals("0.5") + &goals("1e99") + &goals("+7") + &goals("007")
    }),
    text("goal-is-a-term", &[1], |_| goals("(plus 1 2)")),
    text("goal-of-two-values", &[2, 101, 5000], |n| {
        with_game(&each(n, |i| format!("(goal p {i})")))
    }),
    text("goal-of-no-value", &[1], |_| {
        "(role p) (init a) (legal p go) (<= terminal (not (true a))) (<= (goal p 100) (true a))"
            .into()
    }),
    text("goal-without-arguments", &[1], |_| with_game("(goal) (goal p) (goal p 1 2)")),
    text("goal-as-condition", &[1], |_| {
        with_game(
            "(<= (next w) (goal p 100)) (<= (goal p 3) (goal p 100)) (<= (legal p x) (goal p ?n))",
        )
    }),
    // Ends.
    text("never-ends", &[1, 2], |n| {
        let moves = each(n, |i| format!("(legal p m{i})"));
        format!(
            "(role p) {moves} (init a) (<= (next a) (true a)) (<= terminal (not (true a))) (goal p 50)"
        )
    }),
    text("never-ends-for-two", &[2], |n| {
        format!(
            "{} (init (turn r0)) (<= (next (turn r1)) (true (turn r0))) (<= (next (turn r0)) (true (turn r1)))
             (<= (legal ?r a) (true (turn ?r))) (<= (legal ?r b) (true (turn ?r))) (<= (legal ?r noop) (role ?r) (not (true (turn ?r))))
             (<= terminal (true over)) (<= (next over) (true over)) (<= (goal ?r 50) (role ?r))",
            each(n, |i| format!("(role r{i})"))
        )
    }),
    text("flips-for-ever", &[1], |_| {
        "(role p) (legal p go) (<= (next a) (not (true a))) (<= terminal (true b)) (<= (next b) (true b)) (goal p 1)".into()
    }),
    text("counter", &[4, 20, 60, 1000], counter),
    text("long-game", &[1000, 30_000], |n| with_steps(n, "(legal p go) (legal p stay)")),
    text("long-game-of-two", &[1000], |n| {
        with_steps(
            n,
            "(role q) (goal q 0) (legal p a) (legal p b) (legal q a) (legal q b) (<= (sees q ?m) (does p ?m))",
        )
    }),
    text("many-states", &[10, 30, 100], |n| {
        format!(
            "(role p) {} (<= (legal p (flip ?x)) (d ?x))
             (<= (next (on ?x)) (does p (flip ?x)) (not (true (on ?x))))
             (<= (next (on ?x)) (true (on ?x)) (not (does p (flip ?x))))
             (<= terminal {}) (goal p 100)",
            each(n, |i| format!("(d {i})")),
            listed(n, |i| format!("(true (on {i}))"))
        )
    }),
    text("many-states-for-two", &[10, 60], |n| {
        format!(
            "(role a) (role b) {} (<= (legal ?r (flip ?x)) (role ?r) (d ?x))
             (<= (hit ?x) (does a (flip ?x)) (not (does b (flip ?x)))) (<= (hit ?x) (does b (flip ?x)) (not (does a (flip ?x))))
             (<= (next (on ?x)) (hit ?x) (not (true (on ?x)))) (<= (next (on ?x)) (true (on ?x)) (not (hit ?x)))
             (<= terminal {}) (goal a 100) (goal b 0)",
            each(n, |i| format!("(d {i})")),
            listed(n, |i| format!("(true (on {i}))"))
        )
    }),
    // Chance and percepts.
    text("only-random", &[2, 1000], |n| {
        format!(
            "(role random) {} (init a) (<= terminal (not (true a)))",
            each(n, |i| format!("(legal random m{i})"))
        )
    }),
    text("random-moves", &[1000, 100_000], |n| {
        with_game(&format!(
            "(role random) {} (<= (legal random (deal ?x)) (card ?x)) (<= (sees p ?x) (does random (deal ?x))) (<= (next (has ?x)) (does random (deal ?x)))",
            each(n, |i| format!("(card c{i})"))
        ))
    }),
    text("random-moves-of-two", &[30, 400], |n| {
        with_game(&format!(
            "(role random) {} (<= (legal random (deal ?x ?y)) (card ?x) (card ?y)) (<= (sees p ?x) (does random (deal ?x ?y))) (<= (next (has ?y)) (does random (deal ?x ?y)))",
            each(n, |i| format!("(card c{i})"))
        ))
    }),
    text("random-hidden-for-long", &[8, 100], |n| {
        with_steps(
            n,
            &format!(
                "(role random) {} (<= (legal random (deal ?x)) (card ?x)) (<= (next (has ?n ?x)) (does random (deal ?x)) (true (step ?n)))
                 (<= (next (has ?n ?x)) (true (has ?n ?x))) (legal p go) (legal p wait) (sees p nothing)",
                each(10, |i| format!("(card c{i})"))
            ),
        )
    }),
    text("two-random-roles", &[1], |_| {
        with_game(
            "(role random) (role random) (role RANDOM) (role (random)) (legal random a) (legal random b)",
        )
    }),
    text("random-is-stuck", &[1], |_| {
        with_game("(role random) (<= (legal random a) (true (step 5))) (sees p a)")
    }),
    text("percepts", &[30, 300], |n| {
        with_game(&format!(
            "{} (<= (sees p (pair ?x ?y)) (d ?x) (d ?y))",
            each(n, |i| format!("(d {i})"))
        ))
    }),
    text("percepts-by-state", &[30, 300], |n| {
        with_steps(
            6,
            &format!(
                "(legal p go) {} (<= (init (on ?x)) (d ?x)) (<= (next (on ?x)) (true (on ?x))) (<= (sees p (pair ?x ?y)) (true (on ?x)) (true (on ?y)) (distinct ?x ?y))",
                each(n, |i| format!("(d {i})"))
            ),
        )
    }),
    text("sees-for-no-role", &[1], |_| {
        with_game("(sees q a) (<= (sees ?x ?x) (true (step ?x))) (<= (sees p ?f) (true ?f))")
    }),
    text("hidden-choices", &[4, 14], |n| {
        // Two roles choose without seeing anything; what they know is all they did.
        with_steps(
            n,
            "(role q) (goal q 0) (legal p a) (legal p b) (legal q a) (legal q b) (sees p nothing)
             (<= (next (said ?r ?n ?m)) (does ?r ?m) (true (step ?n))) (<= (next (said ?r ?n ?m)) (true (said ?r ?n ?m)))",
        )
    }),
    // Declarations.
    text("base-without-end", &[1], |_| with_game("(base a) (<= (base (f ?x)) (base ?x))")),
    text("base-product", &[30, 300], |n| {
        with_game(&format!(
            "{} (<= (base (cell ?x ?y ?z)) (d ?x) (d ?y) (d ?z))",
            each(n, |i| format!("(d {i})"))
        ))
    }),
    text("base-odd", &[1], |_| {
        with_game(
            "(base) (base a b) (base ?x) (input p) (input q go) (input p (m ?x)) (<= (base ?x) (true ?x)) (<= (input ?r ?m) (legal ?r ?m))",
        )
    }),
    text("input-without-end", &[1], |_| {
        with_game("(input p a) (<= (input p (f ?x)) (input p ?x))")
    }),
    // Words of the language in odd places.
    text("words-with-wrong-arity", &[1], |_| {
        with_game(
            "(role) (role a b) (init) (legal p) (legal) (<= (next) (true)) (<= (next a) (does p)) (terminal a) (<= (terminal ?x) (true ?x)) (sees p)",
        )
    }),
    text("words-as-heads", &[1], |_| {
        with_game(
            "(true a) (does p go) (<= (true b) (true a)) (<= (does p ?m) (legal p ?m)) (<= (distinct a b)) (<= (not a) b) (<= (or a b) c) (<= (<= a b) c)",
        )
    }),
    text("words-as-names", &[1], |_| {
        with_game(
            "(init role) (init (true true)) (init (init (next does))) (legal p (legal p terminal)) (<= (next (<= a b)) (true role)) (init <=) (init (not a)) (role true) (legal true does) (goal true 5)",
        )
    }),
    text("one-name-many-arities", &[3, 300], |n| {
        with_game(&each(n, |i| {
            format!("(q {}) (init (f {}))", "a ".repeat(i + 1), "a ".repeat(i + 1))
        }))
    }),
    text("relation-and-function", &[1], |_| {
        with_game(
            "(step a) (<= (step ?x) (true (step ?x))) (init (step)) (init ((step) a)) (init ((f a) b))",
        )
    }),
    text("empty-parts", &[1], |_| {
        with_game("() (()) (<=) (<= ()) (<= () ()) (init ()) (<= (next ()) (true ())) (legal p ())")
    }),
    text("no-arguments", &[1], |_| {
        "(role (p)) (init (a)) (<= (legal (p) (go)) (true (a))) (<= (terminal) (not (true (a)))) (goal (p) 100)".into()
    }),
];

/// A game that ends when a binary counter of `n_bits` bits overflows.
fn counter(n_bits: usize) -> String {
    let bits = each(n_bits, |i| {
        let lower = listed(i, |j| format!("(true (b {j}))"));
        let flip = format!("(<= (carry {i}) {})", if i == 0 { "(role p)".into() } else { lower });
        format!(
            "{flip} (<= (next (b {i})) (carry {i}) (not (true (b {i})))) (<= (next (b {i})) (true (b {i})) (not (carry {i})))"
        )
    });
    format!(
        "(role p) (legal p tick) {bits} (<= terminal {}) (goal p 100)",
        listed(n_bits, |i| format!("(true (b {i}))"))
    )
}

fn goals(value: &str) -> String {
    format!(
        "(role p) (init (step 0)) (legal p go) (<= (next (step 1)) (true (step 0))) (<= terminal (true (step 1))) (goal p {value})\n"
    )
}
