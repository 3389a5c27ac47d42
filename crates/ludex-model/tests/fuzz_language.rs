//! The language on texts that nobody would write: no panic, no time without measure, and what
//! is printed reads as the same tree.
//!
//! `LUDEX_CASES` tries more texts and `PROPTEST_RNG_SEED` others.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use ludex_base::{Deadline, Source};
use ludex_model::syntax::keywords;
use ludex_model::{Data, ModelLimits, compile, parse, print};
use ludex_testkit::property::holds_for_all;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

#[test]
fn any_text_is_read_without_harm() {
    let (mut n_read, mut n_compiled) = (0, 0);
    for text in odd_texts() {
        try_text(&text);
    }
    holds_for_all(N_TEXTS, prop_oneof![1 => noise(), 2 => mutants(&models())], |text| {
        let found = try_text(&text);
        n_read += usize::from(found.is_some());
        n_compiled += usize::from(found == Some(true));
    });
    // Most texts have mistakes; the others go through the rest of the language.
    println!("{n_read} of {N_TEXTS} texts without mistakes of syntax, {n_compiled} with a meaning");
    assert!(n_read >= 3_000 && n_compiled >= 1_700, "{n_read}, {n_compiled}");
}

/// What is printed of a model reads as the same tree.
#[test]
fn the_models_are_printed_as_they_are_read() {
    let models = models();
    assert!(models.len() >= 18, "only {} models", models.len());
    for text in models {
        let (tree, diagnostics) = parse(&text);
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        let (again, diagnostics) = parse(&print(&tree));
        assert!(diagnostics.is_empty(), "{diagnostics:?} in {}", print(&tree));
        assert_eq!(again, tree);
    }
}

/// Texts to try: about ten seconds.
const N_TEXTS: u32 = 30_000;

/// Reads a text; a tree without mistakes is printed and read again, and compiled. Gives whether it has
/// a meaning, `None` if it could not be read.
fn try_text(text: &str) -> Option<bool> {
    let (tree, diagnostics) = parse(text);
    if !diagnostics.is_empty() {
        return None;
    }
    let printed = print(&tree);
    let (again, diagnostics) = parse(&printed);
    assert!(diagnostics.is_empty(), "{diagnostics:?}\n{printed}\nof\n{text}");
    assert_eq!(again, tree, "{printed}\nof\n{text}");
    let limits = ModelLimits {
        max_steps: 100_000,
        max_parts: 100_000,
        max_length: 10_000,
        max_scopes: 100,
        max_variables: 2_000,
        ..ModelLimits::default()
    };
    let source = Source::new("fuzz.qcp", text);
    let deadline = Deadline::after(Duration::from_secs(5));
    // Whether it has a meaning or diagnostics, it ends.
    Some(compile(&source, &Data::default(), &limits, &deadline).is_ok())
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

/// Words of the language that are names elsewhere, names, numbers and signs.
const OTHERS: &[&str] = &[
    "state", "move", "next", "rounds", "players", "end", "when", "loses", "blocked", "passes",
    "ties", "sum", "min", "x", "y", "n", "board", "0", "1", "2", "3", "9", "(", ")", "[", "]",
    "[|", "|]", "{", "}", ",", ";", ":", "|", "..", "=", "!=", "<", "<=", "+", "-", "*", "^",
    "/\\", "\\/", "->", "<->", "++", "_", "%", "/*", "*/", "\"", "é", "&",
];

/// Words that a text may be made of.
fn words() -> Vec<&'static str> {
    keywords().chain(OTHERS.iter().copied()).collect()
}

/// Words in any order.
fn noise() -> impl Strategy<Value = String> {
    vec(select(words()), 0..60).prop_map(|words| words.join(" "))
}

/// One of the models with some of its tokens lost, doubled, moved or replaced.
fn mutants(models: &[String]) -> impl Strategy<Value = String> + use<> {
    let models: Vec<Vec<String>> = models.iter().map(|model| tokens(model)).collect();
    (select(models), vec(edit(), 1..=4)).prop_map(|(mut tokens, edits)| {
        edits.iter().for_each(|edit| edit.apply(&mut tokens));
        tokens.concat()
    })
}

/// The tokens of a model with what is between them, without comments, which would swallow what is
/// changed.
fn tokens(model: &str) -> Vec<String> {
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
    tokens
}

/// What is done to the tokens of a model.
#[derive(Clone, Debug)]
enum Edit {
    Remove(Index),
    Double(Index),
    Swap(Index, Index),
    Replace(Index, &'static str),
}

fn edit() -> impl Strategy<Value = Edit> {
    let at = any::<Index>;
    prop_oneof![
        at().prop_map(Edit::Remove),
        at().prop_map(Edit::Double),
        (at(), at()).prop_map(|(at, other)| Edit::Swap(at, other)),
        (at(), select(words())).prop_map(|(at, word)| Edit::Replace(at, word)),
    ]
}

impl Edit {
    fn apply(&self, tokens: &mut Vec<String>) {
        let n = tokens.len();
        if n == 0 {
            return;
        }
        match self {
            Edit::Remove(at) => {
                tokens.remove(at.index(n));
            }
            Edit::Double(at) => tokens.insert(at.index(n), tokens[at.index(n)].clone()),
            Edit::Swap(at, other) => tokens.swap(at.index(n), other.index(n)),
            Edit::Replace(at, word) => tokens[at.index(n)] = format!(" {word} "),
        }
    }
}
