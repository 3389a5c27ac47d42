//! Runs the front end on texts that nobody would write: it never panics, its memory and time stay
//! bounded, and printing and parsing gives the same tree.
//!
//! `LUDEX_CASES` multiplies the number of texts, and `PROPTEST_RNG_SEED` selects others.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ludex_base::{Diagnostic, Seed, Source};
use ludex_gdl::{
    Literal, Rulesheet, check, codes, decode, lower, parse, parse_infix, parse_kif, print_infix,
    print_kif, scramble,
};
use ludex_testkit::property::holds_for_all;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Counts the bytes in use, to measure how much memory a text makes the front end take.
struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let in_use = IN_USE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(in_use, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Number of small texts to try, which takes about forty seconds.
const N_TEXTS: u32 = 40_000;

/// A single test, so that it counts only its own memory.
#[test]
fn any_bytes_are_read_safely() {
    let start = Instant::now();
    let n_large = large_texts().len();
    for (name, text) in large_texts() {
        try_bytes(name, text.as_bytes());
    }
    println!("{n_large} large texts in {:.1} s", start.elapsed().as_secs_f64());
    let start = Instant::now();
    let texts = prop_oneof![1 => noise(), 1 => token_soup(), 2 => mutants(seed_texts())];
    let mut n_clauses = 0;
    holds_for_all(N_TEXTS, texts, |text| n_clauses += try_bytes("a small text", &text.0));
    println!("{N_TEXTS} small texts in {:.1} s", start.elapsed().as_secs_f64());
    assert!(n_clauses >= 200_000, "{n_clauses} clauses are too few to judge");
}

/// Size of the large texts. The largest rulesheet of the public corpus has 46 KiB.
const LARGE: usize = 4 << 20;

/// Bytes shown as text.
#[derive(Clone)]
struct Bytes(Vec<u8>);

impl std::fmt::Debug for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "\"{}\"", self.0.escape_ascii())
    }
}

/// Parses, checks, prints and parses again, and returns the number of clauses.
fn try_bytes(name: &str, bytes: &[u8]) -> usize {
    let before = IN_USE.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let start = Instant::now();
    let n_clauses = walk(bytes);
    let taken = PEAK.load(Ordering::Relaxed) - before;
    let bound = (64 << 20) + 400 * bytes.len().min(LARGE);
    assert!(taken < bound, "{name} of {} bytes takes {taken} bytes", bytes.len());
    let elapsed = start.elapsed();
    assert!(elapsed < Duration::from_secs(30), "{name} takes {elapsed:?}");
    if elapsed > Duration::from_secs(1) || taken > 512 << 20 {
        println!("{name}: {:.1} s, {} MiB", elapsed.as_secs_f64(), taken >> 20);
    }
    n_clauses
}

fn walk(bytes: &[u8]) -> usize {
    let (source, _) = decode("fuzz", bytes);
    let (sheet, diagnostics) = parse(&source);
    for diagnostic in &diagnostics {
        source.line_column(diagnostic.span.start);
        source.slice(diagnostic.span);
    }
    judge(&source, &sheet);
    if bytes.len() < 1 << 16 {
        for (sheet, _) in [parse_kif(&source), parse_infix(&source)] {
            judge(&source, &sheet);
        }
    }
    sheet.clauses.len()
}

fn judge(source: &Source, sheet: &Rulesheet) {
    assert_safe(sheet);
    for diagnostic in check(sheet).diagnostics {
        source.line_column(diagnostic.span.start);
        source.slice(diagnostic.span);
        assert!(codes::ALL.contains(&diagnostic.code), "{}", diagnostic.code);
    }
    assert_prints(sheet);
    if sheet.clauses.len() < 1000 {
        assert_prints(&scramble(sheet, Seed(3)).0);
    }
}

/// Checks that every rule of a program is safe, and that no rule of a sheet without diagnostics
/// about variables had to be made safe.
fn assert_safe(sheet: &Rulesheet) {
    let (program, diagnostics) = lower(sheet);
    for rule in &program.rules {
        let mut is_bound = vec![false; rule.n_variables()];
        for literal in &rule.body {
            if let Literal::Positive(atom) = literal {
                atom.for_each_variable(&mut |variable| is_bound[variable as usize] = true);
            }
        }
        assert!(is_bound.iter().all(|&it| it), "{}", program.display_rule(rule));
    }
    let is_said = diagnostics.iter().any(|it| it.code == codes::UNSAFE_RULE);
    assert!(is_said || program.on_demand.is_empty(), "an unsafe rule was not reported");
}

type Reader = fn(&Source) -> (Rulesheet, Vec<Diagnostic>);

fn assert_prints(sheet: &Rulesheet) {
    let readers: [(String, Reader); 2] =
        [(print_kif(sheet), parse_kif), (print_infix(sheet), parse_infix)];
    for (text, read) in readers {
        // Printing adds quotes and blanks, so the text may exceed the limit of the parser.
        if text.len() <= ludex_base::Sizes::default().text_bytes {
            let (again, diagnostics) = read(&Source::new("printed", text));
            assert!(diagnostics.is_empty(), "{diagnostics:?}");
            assert!(again == *sheet, "another tree was read than printed");
        }
    }
}

/// Any bytes, or any ASCII characters.
fn noise() -> impl Strategy<Value = Bytes> {
    prop_oneof![vec(any::<u8>(), 0..400), vec(b' '..=b'~', 0..400)].prop_map(Bytes)
}

const TOKENS: [&str; 64] = [
    "(",
    "(",
    "(",
    "(",
    ")",
    ")",
    ")",
    ")",
    " ",
    " ",
    "\n",
    "<=",
    "(<= ",
    "not",
    "(not ",
    "or",
    "(or ",
    "and",
    "(and ",
    "distinct",
    "(distinct ",
    "?x",
    "?y",
    "?",
    "X",
    "Y",
    "_",
    "role",
    "(role r)",
    "init",
    "true",
    "(true ",
    "does",
    "(does r ",
    "legal",
    "(legal r ",
    "next",
    "(next ",
    "sees",
    "goal",
    "100",
    "terminal",
    "base",
    "input",
    "random",
    "p",
    "(p ",
    "q",
    "f",
    "a",
    "r",
    ":-",
    ".",
    ",",
    ";",
    "~",
    "!=",
    "'",
    "%",
    "//",
    "/*",
    "p(",
    "\u{feff}",
    "é",
];

fn token_soup() -> impl Strategy<Value = Bytes> {
    (vec(select(&TOKENS[..]), 0..120), select(&["", " "][..]))
        .prop_map(|(tokens, between)| Bytes(tokens.join(between).into_bytes()))
}

/// One of the texts with some of its parts removed, duplicated or replaced.
fn mutants(texts: Vec<String>) -> impl Strategy<Value = Bytes> {
    (select(texts.clone()), vec(edit(texts), 1..=6)).prop_map(|(text, edits)| {
        let mut bytes = text.into_bytes();
        edits.iter().for_each(|edit| edit.apply(&mut bytes));
        Bytes(bytes)
    })
}

/// A change to the bytes of a text.
#[derive(Clone, Debug)]
enum Edit {
    Remove { at: Index, length: usize },
    Copy { at: Index, length: usize, to: Index },
    Replace { at: Index, length: usize, by: Vec<u8> },
}

fn edit(texts: Vec<String>) -> impl Strategy<Value = Edit> {
    let at = any::<Index>;
    let part = (select(texts), at(), 0..100_usize).prop_map(|(text, at, length)| {
        let (bytes, start) = (text.as_bytes(), at.index(text.len()));
        bytes[start..(start + length).min(bytes.len())].to_vec()
    });
    let token = || select(&TOKENS[..]).prop_map(|token| token.as_bytes().to_vec());
    let replace = |(at, length, by)| Edit::Replace { at, length, by };
    prop_oneof![
        (at(), 0..40_usize).prop_map(|(at, length)| Edit::Remove { at, length }),
        (at(), 0..40_usize, at()).prop_map(|(at, length, to)| Edit::Copy { at, length, to }),
        (at(), Just(0), token()).prop_map(replace),
        (at(), 0..=4_usize, token()).prop_map(replace),
        (at(), Just(0), part).prop_map(replace),
        (at(), Just(1), vec(any::<u8>(), 1)).prop_map(replace),
    ]
}

impl Edit {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let range = |at: &Index, length: usize| {
            let start = at.index(bytes.len() + 1);
            start..(start + length).min(bytes.len())
        };
        match self {
            Edit::Remove { at, length } => drop(bytes.drain(range(at, *length))),
            Edit::Copy { at, length, to } => {
                let (copy, to) = (bytes[range(at, *length)].to_vec(), to.index(bytes.len() + 1));
                bytes.splice(to..to, copy);
            }
            Edit::Replace { at, length, by } => {
                bytes.splice(range(at, *length), by.iter().copied());
            }
        }
    }
}

/// Returns small rulesheets of our own in both forms that cover the language.
fn seed_texts() -> Vec<String> {
    let kif = [
        "(role w) (role b) (init (cell 1 b)) (succ 1 2) (succ 2 3)
         (<= (legal ?r (mark ?x)) (true (control ?r)) (true (cell ?x b)))
         (<= (legal ?r noop) (role ?r) (not (true (control ?r))))
         (<= (next (cell ?x ?r)) (does ?r (mark ?x)))
         (<= (next (cell ?x ?c)) (true (cell ?x ?c)) (does ?r (mark ?y)) (distinct ?x ?y))
         (<= (goal ?r 100) (role ?r) line) (<= (goal ?r 0) (role ?r) (not (goal ?r 100)))
         (<= line (true (cell ?x ?r)) (succ ?x ?y) (true (cell ?y ?r)))
         (<= terminal (or line (not open))) (<= open (true (cell ?x b)))",
        "(ROLE random) (role r) (base (at ?x)) (input r ?m) ; comment
         (<= (sees r ?x) (does random ?x)) (<= (p ?x) (or (and (q ?x ?y) (not (r ?y))) (s ?x)))
         (<= (q ?x ?y) (s ?x) (s ?y) (not (distinct ?x ?y))) (<= (q (f ?x) ?y) (q ?x ?y))",
        "(<= (append nil ?l ?l)) (<= (append (cons ?x ?k) ?l (cons ?x ?m)) (append ?k ?l ?m))
         (<= (member ?x (cons ?x ?l))) (<= (member ?x (cons ?y ?l)) (distinct ?x ?y) (member ?x ?l))
         (<= (next (list ?m)) (true (list ?l)) (append ?l (cons a nil) ?m)) (<= terminal (true (list ?l)) (member b ?l))
         (<= (both ?x) (not (p ?x ?y)) (not (q ?y ?z)) (distinct ?x ?z))",
    ];
    let mut seeds: Vec<String> = kif.iter().map(|text| (*text).to_owned()).collect();
    for text in kif {
        let (sheet, _) = parse_kif(&Source::new("seed", text));
        seeds.push(print_infix(&sheet));
        seeds.push(print_kif(&sheet));
    }
    seeds.push(
        "p(X, _) <= q(X) & ~r(X, 'N++') | (s(_), t ; not distinct(X, a)). % c
         p('it''s', ?'x-1') ← X ≠ b ∧ ¬q(X), or(a, b), and(c). # d"
            .to_owned(),
    );
    seeds
}

/// Returns texts near and beyond the size limit, each hard on one part of the front end.
fn large_texts() -> Vec<(&'static str, String)> {
    let fill = |part: &str| part.repeat(LARGE / part.len());
    let quarter = |part: &str| part.repeat(LARGE / 4 / part.len());
    let numbered = |count: usize, part: &dyn Fn(usize) -> String| -> String {
        let mut text = String::new();
        for idx in 0..count {
            text.push_str(&part(idx));
        }
        text.truncate(LARGE);
        text
    };
    let nested = |open: &str, close: &str| format!("{}a{}", open.repeat(255), close.repeat(255));
    let chain = |part: &dyn Fn(usize) -> String| numbered(20_000, part);
    vec![
        ("beyond the limit", " ".repeat(ludex_base::Sizes::default().text_bytes + 1)),
        ("blanks", fill(" ")),
        ("one word", fill("a")),
        ("words", quarter("a ")),
        ("open", fill("(")),
        ("close", fill(")")),
        ("empty lists", fill("()")),
        ("rules without end", fill("(p (<= ")),
        ("the same fact", quarter("(p a)")),
        ("facts", chain(&|n| format!("(p {n} a{n})\n"))),
        ("infix facts", chain(&|n| format!("p({n}, a{n}).\n"))),
        ("full stops", format!("p.{}", fill(". ").split_off(2))),
        ("quotes", format!("p('a').{}", fill("'").split_off(7))),
        ("not not", format!("p :- {}", fill("~").split_off(5))),
        ("deep and accepted", format!("(<= p {})", nested("(f ", ")").replace("(f (f", "(not (f"))),
        ("deep terms", format!("(p {})", nested("(f ", ")"))),
        ("deep negation", format!("(<= p {})", nested("(not ", ")"))),
        (
            "deep alternatives",
            format!("(<= p {})", "(or b (and c ".repeat(120) + "d" + &")".repeat(240)),
        ),
        ("infix deep", format!("p :- {}", nested("(", ")") + ".")),
        ("arguments", format!("(p {})", fill("a ").split_off(4))),
        ("variables", format!("(<= p (q {}))", numbered(200_000, &|n| format!("?x{n} ")))),
        ("conditions", format!("(<= p {})", chain(&|n| format!("(q a{n})")))),
        ("the same condition", format!("(<= p {})", quarter("(q a)"))),
        ("negations", format!("(<= p {})", chain(&|n| format!("(not (q ?x {n}))")))),
        (
            "comparisons",
            format!("(<= (p ?x) (q ?x ?y) {})", chain(&|n| format!("(distinct ?x {n})"))),
        ),
        ("alternatives", format!("(<= p (or {}))", chain(&|n| format!("(q {n})")))),
        ("many alternatives", format!("(<= p {})", chain(&|n| format!("(or (q {n}) (r {n}))")))),
        (
            "conditions and alternatives",
            format!(
                "(<= p {} (or a b) (or a b) (or a b) (or a b) (or a b) (or a b))",
                chain(&|n| format!("(q {n})"))
            ),
        ),
        (
            "alternatives inside alternatives",
            format!(
                "(<= (p ?x) {})",
                "(or (q ?x) (and (r ?x) (not (s ?x)) ".repeat(100) + "t" + &")".repeat(200)
            ),
        ),
        ("unsafe rules", chain(&|n| format!("(<= (p{n} ?x))\n"))),
        (
            "a chain of calls",
            chain(&|n| format!("(<= (p{} ?x) (p{n} ?x))\n", n + 1)) + "(<= (p0 ?x))",
        ),
        (
            "a chain of calls, backwards",
            chain(&|n| format!("(<= (p{n} ?x) (p{} ?x))\n", n + 1)) + "(<= (p20000 ?x))",
        ),
        (
            "calls of one relation",
            "(<= (q ?x ?y))".to_owned() + &chain(&|n| format!("(<= (p{n} ?x) (q ?x ?y))\n")),
        ),
        (
            "one rule of many calls",
            numbered(2000, &|n| format!("(<= (q{n} ?x ?y))"))
                + &format!(
                    "(<= p (q0 a ?x0) {})",
                    numbered(1000, &|n| format!("(q{n} ?x{n} ?x{})", n + 1))
                ),
        ),
        (
            "equations",
            format!(
                "(<= p (q ?x0) {})",
                numbered(1000, &|n| format!("(not (distinct ?x{} (f ?x{n} ?x{n})))", n + 1))
            ),
        ),
        (
            "equations of two chains",
            format!(
                "(<= p {} {} (not (distinct ?x400 ?y400)))",
                numbered(400, &|n| format!("(not (distinct ?x{} (f ?x{n} ?x{n})))", n + 1)),
                numbered(400, &|n| format!("(not (distinct ?y{} (f ?y{n} ?y{n})))", n + 1))
            ),
        ),
        (
            "alternatives over many variables",
            format!(
                "(<= (p {0}) (q {0}) {1})",
                numbered(1000, &|n| format!("?x{n} ")),
                chain(&|n| format!("(or (r ?x{}) (not (s ?y)))", n % 1000))
            ),
        ),
        (
            "long rules of calls",
            "(<= (q ?x ?y))".to_owned()
                + &"(<= p (q a ?x) ".repeat(300)
                + &numbered(300, &|n| {
                    format!(
                        "(<= p{n} {})",
                        numbered(100, &|n| format!("(q ?x{n} ?x{}) (q a ?x0)", n + 1))
                    )
                }),
        ),
        ("a negative cycle", chain(&|n| format!("(<= p{n} (not p{}))\n", (n + 1) % 20_000))),
        ("recursion", chain(&|n| format!("(<= (p (f ?x)) (p ?x) (q{n} ?y))\n"))),
        ("misspelled names", chain(&|n| format!("(<= terminal (rolle{n} a))\n"))),
        ("arities", numbered(2000, &|n| format!("(p {})\n", "a ".repeat(n + 1)))),
    ]
}
