//! More of everything than a game needs.

use super::{Kind, each, listed, text, with_game, with_steps};

pub(super) const KINDS: &[Kind] = &[
    text("roles", &[0, 100, 1000, 100_000], |n| {
        let roles =
            each(n, |i| format!("(role r{i}) (legal r{i} a) (legal r{i} b) (goal r{i} 50)"));
        format!("{roles} (init s) (<= (next t) (true s)) (<= terminal (true t))")
    }),
    text("roles-by-a-rule", &[10, 32, 317], |n| {
        format!(
            "{} (<= (role (r ?x ?y)) (d ?x) (d ?y)) (<= (legal ?r a) (role ?r)) (<= (legal ?r b) (role ?r))
             (<= (goal ?r 50) (role ?r)) (init s) (<= (next t) (true s)) (<= terminal (true t))",
            each(n, |i| format!("(d v{i})"))
        )
    }),
    text("roles-that-see-all", &[30, 300], |n| {
        format!(
            "{} (<= (legal ?r (say ?s)) (role ?r) (role ?s)) (<= (sees ?r (said ?q ?m)) (role ?r) (does ?q ?m))
             (<= (goal ?r 50) (role ?r)) (init s) (<= (next t) (true s)) (<= terminal (true t))",
            each(n, |i| format!("(role r{i})"))
        )
    }),
    text("moves-of-two", &[100, 1000], |n| {
        with_game(&format!(
            "{} (<= (legal p (m ?x ?y)) (d ?x) (d ?y))",
            each(n, |i| format!("(d {i})"))
        ))
    }),
    text("moves-of-three", &[20, 100], |n| {
        with_game(&format!(
            "{} (<= (legal p (m ?x ?y ?z)) (d ?x) (d ?y) (d ?z)) (<= (next (at ?x)) (does p (m ?x ?y ?z)))",
            each(n, |i| format!("(d {i})"))
        ))
    }),
    text("moves-with-effects", &[30, 300], |n| {
        with_steps(
            4,
            &format!(
                "{} (<= (legal p (m ?x ?y)) (d ?x) (d ?y)) (<= (next (on ?x ?y)) (does p (m ?x ?y)))
                 (<= (next (on ?x ?y)) (true (on ?x ?y)) (not (does p (m ?x ?y))))",
                each(n, |i| format!("(d {i})"))
            ),
        )
    }),
    text("simultaneous-moves", &[3, 8, 60], |n| {
        let roles = each(n, |i| format!("(role r{i}) (goal r{i} 50)"));
        format!(
            "{roles} {} (<= (legal ?r (m ?x)) (role ?r) (d ?x)) (init s)
             (<= (next (had ?r ?x)) (does ?r (m ?x))) (<= terminal (not (true s)))",
            each(40, |i| format!("(d {i})"))
        )
    }),
    text("rules", &[1000, 10_000, 100_000], |n| {
        with_game(&each(n, |i| format!("(<= (next (a {i})) (true (a {})) (does p go))", i / 2)))
    }),
    text("rules-of-many-relations", &[1000, 50_000], |n| {
        with_game(&each(n, |i| format!("(<= (q{i} ?x) (d{i} ?x)) (d{i} a)")))
    }),
    text("the-same-rule", &[1000, 50_000], |n| {
        with_game(&each(n, |_| "(<= (next (a ?x)) (true (a ?x)) (does p go))".into()))
    }),
    text("facts", &[10_000, 100_000, 1_000_000], |n| {
        with_game(&each(n, |i| format!("(d a{i} b{})", i / 7)))
    }),
    text("facts-in-use", &[10_000, 200_000], |n| {
        with_game(&format!(
            "{} (<= (legal p (m ?x)) (d ?x ?y) (true (step ?y)))",
            each(n, |i| format!("(d a{i} b{})", i / 7))
        ))
    }),
    text("the-same-fact", &[100_000], |n| with_game(&each(n, |_| "(d a)".into()))),
    text("fluents-at-the-start", &[1000, 100_000], |n| {
        with_game(&format!(
            "{} (<= (next (on ?x)) (true (on ?x)))",
            each(n, |i| format!("(init (on {i}))"))
        ))
    }),
    text("conditions", &[1000, 30_000], |n| {
        with_game(&format!("(<= (next ok) {})", listed(n, |i| format!("(true (a {i}))"))))
    }),
    text("negated-conditions", &[1000, 30_000], |n| {
        with_game(&format!("(<= (next ok) {})", listed(n, |i| format!("(not (true (a {i})))"))))
    }),
    text("the-same-condition", &[1000, 100_000], |n| {
        with_game(&format!("(<= (next ok) {})", "(true (step 0)) ".repeat(n)))
    }),
    text("comparisons", &[100, 10_000], |n| {
        with_game(&format!(
            "(<= (next (s ?x)) (true (step ?x)) {})",
            listed(n, |i| format!("(distinct ?x {i})"))
        ))
    }),
    text("arguments", &[100, 5000, 200_000], |n| {
        let arguments = listed(n, |i| format!("a{i}"));
        with_game(&format!("(init (wide {arguments})) (<= (legal p ?x) (true ?x))"))
    }),
    text("arguments-of-a-relation", &[100, 5000, 200_000], |n| {
        let arguments = listed(n, |i| format!("a{i}"));
        let variables = listed(n, |i| format!("?x{i}"));
        with_game(&format!("(wide {arguments}) (<= (next ok) (wide {variables}))"))
    }),
    text("long-names", &[10_000, 1_000_000], |n| {
        let name = "n".repeat(n);
        with_game(&format!(
            "(init (on {name})) (<= (legal p {name}) (true (on ?x))) (<= (next {name}) (true ?x))"
        ))
    }),
    text("long-role-name", &[10_000, 1_000_000], |n| {
        let name = "r".repeat(n);
        format!(
            "(role {name}) (legal {name} go) (init s) (<= (next t) (true s)) (<= terminal (true t)) (goal {name} 100)"
        )
    }),
    text("long-variables", &[100_000], |n| {
        with_game(&format!("(<= (next (s ?{0})) (true (step ?{0})))", "v".repeat(n)))
    }),
    text("long-comment", &[1_000_000], |n| with_game(&format!("; {}\n", "c".repeat(n)))),
    text("digits", &[26, 5000, 1_000_000], |n| {
        let number = "9".repeat(n);
        with_game(&format!(
            "(init (cell {number} 1 x)) (init (cell 1 {number} x)) (init (count {number})) (goal p {number})"
        ))
    }),
    text("board", &[20, 200, 1000], |n| {
        with_game(&format!(
            "{} (<= (init (cell ?x ?y b)) (d ?x) (d ?y)) (<= (next (cell ?x ?y ?c)) (true (cell ?x ?y ?c)))",
            each(n, |i| format!("(d {i})"))
        ))
    }),
    text("board-to-mark", &[10, 60], |n| {
        with_steps(
            n * n,
            &format!(
                "{} (<= (init (cell ?x ?y b)) (d ?x) (d ?y)) (<= (legal p (mark ?x ?y)) (true (cell ?x ?y b)))
                 (<= (next (cell ?x ?y m)) (does p (mark ?x ?y)))
                 (<= (next (cell ?x ?y ?c)) (true (cell ?x ?y ?c)) (does p (mark ?u ?v)) (or (distinct ?x ?u) (distinct ?y ?v)))",
                each(n, |i| format!("(d {i})"))
            ),
        )
    }),
    text("boards", &[50, 2000], |n| {
        with_game(&each(n, |i| {
            format!("(init (cell{i} 1 1 x)) (init (cell{i} 2 2 o)) (init (cell{i} 1 2 b))")
        }))
    }),
    text("board-of-far-corners", &[100, 1_000_000_000], |n| {
        with_game(&format!("(init (cell 1 1 x)) (init (cell {n} {n} x)) (init (cell 0 -{n} o))"))
    }),
    // Like Sudoku in the public corpus: rules with six variables over three dimensions.
    text("sudoku", &[4, 9], |n| {
        let box_size = if n == 4 { 2 } else { 3 };
        let boxes: String = (0..n * n)
            .map(|i| {
                format!(
                    "(box {} {} {}) ",
                    i / n,
                    i % n,
                    (i / n / box_size) * box_size + (i % n) / box_size
                )
            })
            .collect();
        with_steps(
            n * n,
            &format!(
                "{} {boxes} (<= (init (cell ?x ?y b)) (d ?x) (d ?y))
                 (<= (legal p (mark ?x ?y ?v)) (true (cell ?x ?y b)) (d ?v) (not (conflict ?x ?y ?v)))
                 (<= (conflict ?x ?y ?v) (d ?y) (true (cell ?x ?z ?v)))
                 (<= (conflict ?x ?y ?v) (d ?x) (true (cell ?z ?y ?v)))
                 (<= (conflict ?x ?y ?v) (box ?x ?y ?b) (box ?u ?w ?b) (true (cell ?u ?w ?v)))
                 (<= (conflict ?x ?y ?v) (box ?x ?y ?b) (box ?u ?w ?b) (box ?s ?t ?b) (true (cell ?u ?w ?v)) (true (cell ?s ?t ?v)))
                 (<= (next (cell ?x ?y ?v)) (does p (mark ?x ?y ?v)))
                 (<= (next (cell ?x ?y ?c)) (true (cell ?x ?y ?c)) (does p (mark ?u ?v ?w)) (or (distinct ?x ?u) (distinct ?y ?v)))",
                each(n, |i| format!("(d {i})"))
            ),
        )
    }),
    text("conditions-with-or", &[100, 2000], |n| {
        with_game(&format!(
            "(<= (next ok) {} (or (true a) (true b)) (or (true c) (true d)) (or (true e) (true f)) (or (true g) (true h)))",
            listed(n, |i| format!("(true (q {i}))"))
        ))
    }),
    text("nested-negation", &[10, 255, 10_000], |n| {
        with_game(&format!("(<= (next ok) {}(true a){})", "(not ".repeat(n), ")".repeat(n)))
    }),
    text("nested-lists", &[255, 100_000], |n| format!("{}{}", "(".repeat(n), ")".repeat(n))),
    text("only-open", &[1_000_000], |n| "(".repeat(n)),
    text("only-close", &[1_000_000], |n| ")".repeat(n)),
];
