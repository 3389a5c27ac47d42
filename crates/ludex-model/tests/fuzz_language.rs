//! The language on texts that nobody would write: no panic, no time without measure, and what
//! is printed reads as the same tree.
//!
//! Runs for 10 seconds; `LUDEX_FUZZ_SECONDS` makes it longer and `LUDEX_FUZZ_SEED` different.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use ludex_base::{Deadline, Rng, Seed, Source};
use ludex_model::{Data, Limits, compile, parse, print};

#[test]
fn any_text_is_read_without_harm() {
    let number = |name: &str, default: u64| {
        std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
    };
    let seconds = number("LUDEX_FUZZ_SECONDS", 10);
    let seed = Seed(number("LUDEX_FUZZ_SEED", 1));
    let end = Instant::now() + Duration::from_secs(seconds);
    let models = models();
    let mut rng = seed.rng();
    let mut n_texts = 0;
    for text in odd_texts() {
        try_text(&text);
    }
    while Instant::now() < end {
        let text = match rng.below(3) {
            0 => noise(&mut rng),
            _ => mutant(&mut rng, &models),
        };
        try_text(&text);
        n_texts += 1;
    }
    println!("seed {}: {n_texts} texts", seed.0);
    assert!(n_texts > 100, "only {n_texts} texts in {seconds} seconds");
}

/// What is printed of a model reads as the same tree.
#[test]
fn the_models_are_printed_as_they_are_read() {
    for text in models() {
        let (tree, diagnostics) = parse(&text);
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        let (again, diagnostics) = parse(&print(&tree));
        assert!(diagnostics.is_empty(), "{diagnostics:?} in {}", print(&tree));
        assert_eq!(again, tree);
    }
}

/// Reads a text; a tree without mistakes is printed and read again, and compiled.
fn try_text(text: &str) {
    let (tree, diagnostics) = parse(text);
    if !diagnostics.is_empty() {
        return;
    }
    let printed = print(&tree);
    let (again, diagnostics) = parse(&printed);
    assert!(diagnostics.is_empty(), "{diagnostics:?}\n{printed}\nof\n{text}");
    assert_eq!(again, tree, "{printed}\nof\n{text}");
    let limits = Limits {
        max_steps: 100_000,
        max_parts: 100_000,
        max_length: 10_000,
        max_scopes: 100,
        max_variables: 2_000,
        ..Limits::default()
    };
    let source = Source::new("fuzz.qcp", text);
    let deadline = Deadline::after(Duration::from_secs(5));
    // Whether it has a meaning or diagnostics, it ends.
    let _ = compile(&source, &Data::default(), &limits, &deadline);
}

fn models() -> Vec<String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .expect("there are models")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|end| end == "qcp"))
        .collect();
    paths.sort();
    paths.iter().map(|path| fs::read_to_string(path).expect("a readable model")).collect()
}

fn odd_texts() -> Vec<String> {
    vec![
        String::new(),
        "(".repeat(100_000),
        "[".repeat(100_000),
        "-".repeat(100_000),
        "goal ".to_string() + &"not ".repeat(100_000) + "true;",
        "goal 1".to_string() + &" + 1".repeat(100_000) + " = 0;",
        "goal ".to_string() + &"if true then ".repeat(10_000) + "1;",
        "if true {".repeat(10_000),
        "goal f(".repeat(10_000),
        "exists x: 0..99999999999; goal true;".into(),
        "exists x: 0..2000000000; goal x * x * x * x * x * x > 0;".into(),
        "let a = [i | i in 1..2000000000]; goal true;".into(),
        "for (i, j, k, l in 1..1000) { exists x[i, j, k, l]: 0..1; } goal true;".into(),
        "function f(n) = f(n - 1) + f(n - 2); exists x: 0..1; goal f(90) = x;".into(),
        "goal -9223372036854775807 - 2 = 1;".into(),
        "goal 2 ^ 63 = 1;".into(),
        "goal (-9223372036854775807 - 1) div -1 = 1;".into(),
        "game { rounds 1000000000; state s: 0..1 = 0; move m: 0..1; } goal true;".into(),
        "game { rounds -1; state s: 0..1 = 0; move m: 0..1; } goal true;".into(),
        "exists x: array[1..2000000000] of 0..1; goal true;".into(),
        "let a = draw(1, 9223372036854775807, -9223372036854775807, 9223372036854775807);".into(),
        "param a: array[1..3, 5..4] of int = []; goal true;".into(),
        "let a = [[] | i in 1..3]; goal a[1, 1] = 2;".into(),
    ]
}

const WORDS: &[&str] = &[
    "param",
    "let",
    "exists",
    "forall",
    "where",
    "goal",
    "for",
    "if",
    "then",
    "else",
    "elseif",
    "endif",
    "game",
    "state",
    "move",
    "next",
    "rounds",
    "players",
    "end",
    "when",
    "loses",
    "blocked",
    "passes",
    "minimize",
    "maximize",
    "aggregate",
    "ties",
    "sum",
    "min",
    "in",
    "not",
    "div",
    "mod",
    "true",
    "false",
    "array",
    "of",
    "set",
    "int",
    "bool",
    "enum",
    "x",
    "y",
    "n",
    "board",
    "0",
    "1",
    "2",
    "3",
    "9",
    "(",
    ")",
    "[",
    "]",
    "[|",
    "|]",
    "{",
    "}",
    ",",
    ";",
    ":",
    "|",
    "..",
    "=",
    "!=",
    "<",
    "<=",
    "+",
    "-",
    "*",
    "^",
    "/\\",
    "\\/",
    "->",
    "<->",
    "++",
    "_",
    "optimum",
    "function",
    "predicate",
    "assert",
    "%",
    "/*",
    "*/",
    "\"",
    "é",
    "&",
];

fn noise(rng: &mut Rng) -> String {
    let n_words = rng.below(60);
    (0..n_words).map(|_| WORDS[rng.below(WORDS.len())]).collect::<Vec<_>>().join(" ")
}

/// A model with some of its tokens lost, doubled, moved or replaced.
fn mutant(rng: &mut Rng, models: &[String]) -> String {
    let model = &models[rng.below(models.len())];
    // Comments would swallow what is changed.
    let lines = model.lines().map(|line| line.split('%').next().unwrap_or(""));
    let text = lines.collect::<Vec<_>>().join("\n");
    let mut tokens: Vec<String> = Vec::new();
    for c in text.chars() {
        let joins = |last: &String| {
            let last = last.chars().last().unwrap_or(' ');
            last.is_alphanumeric() && c.is_alphanumeric()
                || ".|/\\<>=!-+".contains(last) && ".|/\\<>=!]+".contains(c)
        };
        match tokens.last_mut() {
            Some(last) if joins(last) => last.push(c),
            _ => tokens.push(c.to_string()),
        }
    }
    for _ in 0..1 + rng.below(4) {
        if tokens.is_empty() {
            break;
        }
        let at = rng.below(tokens.len());
        match rng.below(4) {
            0 => {
                tokens.remove(at);
            }
            1 => {
                let token = tokens[at].clone();
                tokens.insert(at, token);
            }
            2 => {
                let other = rng.below(tokens.len());
                tokens.swap(at, other);
            }
            _ => tokens[at] = format!(" {} ", WORDS[rng.below(WORDS.len())]),
        }
    }
    tokens.concat()
}
