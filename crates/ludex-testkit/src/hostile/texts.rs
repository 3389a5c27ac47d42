//! Odd bytes, forms and names.

use super::{Kind, bytes, each, text, with_game, with_steps};

pub(super) const KINDS: &[Kind] = &[
    text("empty", &[0], |_| String::new()),
    text("blanks", &[1, 1_000_000], |n| " \t\n".repeat(n)),
    text("one-line-end", &[1, 1_000_000], |n| "\n".repeat(n)),
    text("carriage-returns", &[1], |_| with_game("(<= (next x) (tru a))").replace('\n', "\r")),
    text("carriage-returns-and-comments", &[1], |_| {
        with_game("; a comment\n(<= (next x) (true a) ; another\n (distinct ?x a))")
            .replace('\n', "\r")
    }),
    text("both-line-ends", &[1], |_| {
        with_game("; a comment\n(<= (next x) (tru a))").replace('\n', "\r\n")
    }),
    text("byte-order-mark", &[1, 3], |n| "\u{feff}".repeat(n) + &with_game("")),
    text("only-a-comment", &[1], |_| "; nothing".into()),
    text("nul-bytes", &[1, 100_000], |n| with_game(&format!("(init (a{}b))", "\0".repeat(n)))),
    bytes("only-nul-bytes", &[1, 1_000_000], |n| vec![0; n]),
    bytes("invalid-utf-8", &[1, 10_000], |n| {
        let mut text = with_game("(init (a b").into_bytes();
        text.extend([0xff, 0xc0, 0x80, 0xed, 0xa0, 0x80].repeat(n));
        text.extend(b"))");
        text
    }),
    bytes("latin-1", &[1], |_| {
        with_game("(init (caf\u{e9} x))").chars().map(|c| c as u8).collect()
    }),
    bytes("utf-16", &[1], |_| {
        let units = "\u{feff}".to_string() + &with_game("");
        units.encode_utf16().flat_map(u16::to_le_bytes).collect()
    }),
    bytes("all-bytes", &[1, 1000], |n| (0..=u8::MAX).collect::<Vec<u8>>().repeat(n)),
    bytes("cut-in-a-character", &[1], |_| with_game("").bytes().chain([0xe2, 0x82]).collect()),
    text("cut-in-a-rule", &[1], |_| with_game("(<= (next (cell ?x")),
    text("one-parenthesis-too-many", &[1], |_| with_game(") (init a))")),
    text("unicode-names", &[1], |_| {
        with_game(
            "(init (λ 二 ☃)) (<= (legal p (ход ?x)) (true (λ ?x ?y))) (init (cell 1 1 e\u{301}\u{301})) (init (cell 1 2 👩‍👩‍👧)) (init (cell 2 1 \u{202e}x))",
        )
    }),
    text("control-characters", &[1], |_| {
        with_game(
            "(init (cell 1 1 \u{1b}[2J)) (legal p \u{1b}]0;title\u{7}) (init (cell 1 2 \u{8}\u{8}))",
        )
    }),
    text("combining-characters", &[10_000], |n| {
        with_game(&format!(
            "(init (cell 1 1 a{0})) (init (cell 2 2 b{0})) (init (cell 1 2 c))",
            "\u{301}".repeat(n)
        ))
    }),
    text("wide-blanks", &[1], |_| with_game("").replace(' ', "\u{a0}")),
    text("upper-case", &[1], |_| with_game("").to_uppercase()),
    text("quoted-names", &[1], |_| {
        with_game("(init (\"a b\" 'c d' |e f|)) (legal p \"(go)\") (init a\"b)")
    }),
    text("infix", &[1], |_| {
        "role(p). init(step(0)). legal(p, go). next(step(1)) :- true(step(0)). terminal :- true(step(1)). goal(p, 100).".into()
    }),
    text("infix-product", &[100, 1000], |n| {
        format!(
            "role(p). init(s). legal(p, m(X, Y)) :- d(X) & d(Y). next(t) :- true(s). terminal :- true(t). goal(p, 100).\n{}",
            each(n, |i| format!("d({i})."))
        )
    }),
    text("infix-deep", &[200, 100_000], |n| {
        format!(
            "role(p). init({}a{}). legal(p, go). terminal. goal(p, 100).",
            "f(".repeat(n),
            ")".repeat(n)
        )
    }),
    text("infix-negations", &[200, 100_000], |n| format!("p :- {}q.", "~".repeat(n))),
    text("infix-cut", &[1], |_| "role(p) :- legal(p, go) & ".into()),
    text("infix-doubling", &[12, 40], |n| {
        format!(
            "role(p). init(s). legal(p, m(X)) :- t{n}(X). next(t) :- true(s). terminal :- true(t). goal(p, 100). t0(z).\n{}",
            each(n, |i| format!("t{}(f(X, X)) :- t{i}(X).", i + 1))
        )
    }),
    text("both-forms", &[1], |_| with_game("next(step(1)) :- true(step(0)). (init x)")),
    text("another-language", &[1], |_| {
        "fn main() { println!(\"(role p)\"); }\n<html>&amp;</html>\n{\"role\": [1, 2]}".into()
    }),
    text("many-mistakes", &[1000, 100_000], |n| {
        each(n, |i| format!("(<= (next (a ?x{i})) (tru b) (not (q{i} ?y)))"))
    }),
    text("mistakes-in-one-line", &[1000, 50_000], |n| "(<= (next (a ?x)) (tru b)) ".repeat(n)),
    text("mistake-after-a-long-line", &[1_000_000], |n| {
        with_game(&format!("(init (a {})) (<= (next (f ?x)))", "b".repeat(n)))
    }),
    text("numbers-of-many-forms", &[1], |_| {
        with_game("(init (n 1 01 001 +1 -1 -0 1.0 1e3 0x10 1/2 ١))")
    }),
    text("names-like-variables", &[1], |_| {
        with_game(
            "(init (? a)) (init (?? b)) (init (f ?)) (<= (next ?) (true ?)) (<= (next (g ??x)) (true ??x))",
        )
    }),
    text("names-that-differ-in-case", &[10], |n| {
        with_steps(
            n,
            "(legal p Go) (legal p GO) (legal P go) (ROLE q) (Init (A a)) (<= (NEXT (Step 0)) (DOES P GO))",
        )
    }),
    text("too-large-a-file", &[80_000_000], |n| with_game(&format!("; {}\n", "c".repeat(n)))),
];
