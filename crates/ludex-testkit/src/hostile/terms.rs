//! Terms that grow: they are small when equal parts are shared, and huge when written out.

use super::{Kind, each, text, with_game, with_steps};

pub(super) const KINDS: &[Kind] = &[
    text("doubling-facts", &[12, 40, 400], |n| with_game(&doubling(n))),
    text("doubling-init", &[12, 40], |n| doubled(n, "(<= (init (big ?x)) (last ?x))")),
    text("doubling-legal", &[12, 40], |n| doubled(n, "(<= (legal p (m ?x)) (last ?x))")),
    text("doubling-next", &[12, 40], |n| doubled(n, "(<= (next (big ?x)) (last ?x))")),
    text("doubling-goal", &[12, 40], |n| doubled(n, "(<= (goal p ?x) (last ?x))")),
    text("doubling-sees", &[12, 40], |n| doubled(n, "(<= (sees p ?x) (last ?x))")),
    text("doubling-role", &[12, 40], |n| {
        doubled(n, "(<= (role ?x) (last ?x)) (<= (legal ?x go) (last ?x))")
    }),
    text("doubling-base", &[12, 40], |n| doubled(n, "(<= (base ?x) (last ?x))")),
    text("doubling-input", &[12, 40], |n| doubled(n, "(<= (input p ?x) (last ?x))")),
    text("doubling-terminal", &[12, 40], |n| {
        doubled(n, "(<= terminal (last ?x) (true (step ?x)))")
    }),
    text("doubling-does", &[12, 40], |n| {
        doubled(n, "(<= (legal p ?x) (last ?x)) (<= (next (did ?x)) (does p ?x))")
    }),
    text("doubling-negated", &[12, 40], |n| {
        doubled(n, "(<= (next ok) (last ?x) (not (true (step ?x))))")
    }),
    // Two terms that are equal, but were made apart.
    text("doubling-compared", &[12, 40], |n| {
        let other = doubling(n).replace("(t", "(u").replace("(last", "(end");
        doubled(n, &format!("{other} (<= (next odd) (last ?x) (end ?y) (distinct ?x ?y))"))
    }),
    text("doubling-equations", &[12, 40, 400], |n| {
        let equations = each(n, |n| format!("(not (distinct ?x{} (f ?x{n} ?x{n})))", n + 1));
        with_game(&format!("(z a) (<= (init (big ?x{n})) (z ?x0) {equations})"))
    }),
    // Terms that match only after both were taken apart: naive unification takes 2^n steps.
    text("doubling-unification", &[12, 40, 200], |n| {
        let names = |name: &str| (1..=n).map(|n| format!("?{name}{n} ")).collect::<String>();
        let doubles: String = (1..=n).map(|n| format!("(f ?x{0} ?x{0}) ", n - 1)).collect();
        with_game(&format!(
            "(<= (init ok) (z ?x0) (eq (h {}) (h {doubles}))) (z a) (<= (eq ?x ?x))",
            names("x")
        ))
    }),
    text("tripling-facts", &[10, 100], |n| {
        with_game(
            &(chain(n, "(g ?x ?x ?x)")
                + &format!("(t0 z) (<= (last ?x) (t{n} ?x)) (<= (init (big ?x)) (last ?x))")),
        )
    }),
    text("doubling-with-two", &[12, 40], |n| {
        doubled(n, "(<= (init (pair (f ?x ?y))) (last ?x) (t3 ?y))")
    }),
    text("doubling-by-step", &[20, 100], |n| {
        with_steps(n, "(legal p go) (init (s z)) (<= (next (s (f ?x ?x))) (true (s ?x)))")
    }),
    text("doubling-by-move", &[20, 100], |n| {
        with_steps(
            n,
            "(init (s z)) (<= (legal p (m ?x)) (true (s ?x))) (<= (next (s (f ?x ?x))) (does p (m ?x)))",
        )
    }),
    text("doubling-seen", &[20, 100], |n| {
        with_steps(
            n,
            "(legal p go) (init (s z)) (<= (next (s (f ?x ?x))) (true (s ?x))) (<= (sees p ?x) (true (s ?x)))",
        )
    }),
    text("all-pairs-by-step", &[6, 20], |n| {
        with_steps(
            n,
            "(legal p go) (init (s a)) (init (s b)) (<= (next (s (f ?x ?y))) (true (s ?x)) (true (s ?y)))",
        )
    }),
    text("growing-by-step", &[1000, 20_000], |n| {
        with_steps(n, "(legal p go) (init (s z)) (<= (next (s (f ?x))) (true (s ?x)))")
    }),
    text("growing-for-ever", &[1], |_| {
        "(role p) (legal p go) (init (s z)) (<= (next (s (f ?x))) (true (s ?x)))
         (<= terminal (true never)) (<= (next never) (true never)) (goal p 50)"
            .into()
    }),
    text("deep-by-rules", &[300, 5000, 50_000], |n| {
        with_game(&format!("(t0 z) {} (<= (init (deep ?x)) (t{n} ?x))", chain(n, "(f ?x)")))
    }),
    text("long-lists", &[200, 5000], |n| {
        with_steps(
            n,
            "(legal p a) (legal p b) (init (list nil)) (<= (next (list (cons ?m ?l))) (does p ?m) (true (list ?l)))",
        )
    }),
    text("all-lists", &[8, 30], |n| {
        let lists = each(n, |n| format!("(<= (t{} (cons ?x ?l)) (t{n} ?l) (item ?x))", n + 1));
        with_game(&format!(
            "(item a) (item b) (item c) (t0 nil) {lists} (<= (legal p (say ?l)) (t{n} ?l))"
        ))
    }),
    text("binary-numbers", &[10, 24], |n| {
        let bits = each(n, |n| {
            format!("(<= (t{} (o ?x)) (t{n} ?x)) (<= (t{} (i ?x)) (t{n} ?x))", n + 1, n + 1)
        });
        with_game(&format!("(t0 z) {bits} (<= (legal p (say ?x)) (t{n} ?x))"))
    }),
    text("written-deep", &[100, 250, 260, 1000, 100_000], |n| {
        with_game(&format!("(init (deep {}a{}))", "(f ".repeat(n), ")".repeat(n)))
    }),
    text("written-doubled", &[6, 16], |n| {
        let mut term = String::from("a");
        for _ in 0..n {
            term = format!("(f {term} {term})");
        }
        with_game(&format!("(init (big {term}))"))
    }),
    text("pattern-deep", &[20, 200], |n| {
        with_game(&format!(
            "(init (s a)) (<= (next (s {0}?x{1})) (true (s ?x))) (<= (next (s ?x)) (true (s {0}?x{1})))",
            "(f ".repeat(n),
            ")".repeat(n)
        ))
    }),
];

/// A relation for each of `n` steps, whose only term holds the one before twice; `last` is the last.
fn doubling(n: usize) -> String {
    format!("(t0 z) {} (<= (last ?x) (t{n} ?x))", chain(n, "(f ?x ?x)"))
}

fn doubled(n: usize, rules: &str) -> String {
    with_game(&format!("{}\n{rules}", doubling(n)))
}

fn chain(n: usize, term: &str) -> String {
    each(n, |n| format!("(<= (t{} {term}) (t{n} ?x))", n + 1))
}
