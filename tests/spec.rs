//! Checks the language against `docs/spec`: every rulesheet there gets exactly the diagnostics that
//! its comments announce, at their lines.
//!
//! A block marked `kif` or `infix` is a rulesheet. A comment announces the diagnostics of its line:
//! `; error: [unsafe-rule]`, `; error: [missing-role] (fatal)`, `; warning: […]`, `; note: […]`,
//! several on one line if need be. A sheet without such comments is accepted without diagnostics.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ludex_base::{Severity, Source};
use ludex_gdl::{check_source, codes};

/// A rulesheet on a page.
struct Block {
    /// Page and line, for messages.
    place: String,
    rules: String,
}

/// Line, kind of diagnostic, and its code.
type Said = (usize, &'static str, String);

#[test]
fn every_rulesheet_of_the_spec_gets_its_announced_diagnostics() {
    let mut failures = Vec::new();
    let (mut n_broken, mut n_good) = (0, 0);
    for block in blocks() {
        let announced = announced(&block.rules);
        let has_error = announced.iter().any(|(_, kind, _)| kind.starts_with("error"));
        n_broken += usize::from(has_error);
        n_good += usize::from(announced.is_empty());
        let found = found(&block);
        if found != announced {
            failures
                .push(format!("{}\n  announced {announced:?}\n  found     {found:?}", block.place));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    println!("{n_broken} broken rulesheets, {n_good} without diagnostics");
    assert!(n_broken >= 100, "{n_broken} rulesheets with errors are too few");
    assert!(n_good >= 16, "{n_good} good rulesheets are too few");
}

/// Codes that no small rulesheet can show, or that later stages report.
const NOT_SHOWN: [&str; 5] = [
    codes::NOT_UTF8,
    codes::TOO_LARGE,
    codes::TOO_WIDE,
    codes::TOO_MANY_ROLES,
    codes::ENDLESS_GROUNDING,
];

#[test]
fn every_code_is_shown_by_some_rulesheet() {
    let shown: BTreeSet<String> = blocks()
        .iter()
        .flat_map(|block| announced(&block.rules))
        .map(|(_, _, code)| code)
        .chain(NOT_SHOWN.map(str::to_owned))
        .collect();
    let known: BTreeSet<String> = codes::ALL.iter().map(|&code| code.to_owned()).collect();
    assert_eq!(shown, known);
}

#[test]
fn every_code_has_a_page_and_every_page_a_code() {
    let mut pages: Vec<String> = pages("docs/diagnostics")
        .iter()
        .map(|page| page.file_stem().expect("pages have names").to_string_lossy().into_owned())
        .filter(|name| name != "README")
        .collect();
    pages.sort();
    let mut known: Vec<&str> = codes::ALL.to_vec();
    known.sort_unstable();
    assert_eq!(pages, known);
    for page in self::pages("docs/diagnostics") {
        let text = std::fs::read_to_string(&page).expect("pages are text");
        let name = page.file_stem().expect("pages have names").to_string_lossy();
        if name != "README" {
            assert!(text.starts_with(&format!("# {name}\n")), "{page:?} has another title");
            assert!(text.contains("\n## Remedy\n"), "{page:?} has no remedy");
        }
    }
}

fn pages(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder);
    let entries = std::fs::read_dir(&folder).expect("the folder is part of the repository");
    let mut pages: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
    pages.retain(|page| page.extension().is_some_and(|extension| extension == "md"));
    pages.sort();
    pages
}

fn blocks() -> Vec<Block> {
    let mut blocks = Vec::new();
    for page in pages("docs/spec") {
        let text = std::fs::read_to_string(&page).expect("pages are text");
        let name = page.file_name().expect("pages have names").to_string_lossy().into_owned();
        let mut rules: Option<String> = None;
        let mut start = 0;
        for (idx, line) in text.lines().enumerate() {
            match (&mut rules, line.trim_end()) {
                (None, "```kif" | "```infix") => {
                    rules = Some(String::new());
                    start = idx + 1;
                }
                (Some(_), "```") => {
                    let place = format!("docs/spec/{name}:{start}");
                    let rules = rules.take().expect("a block is open");
                    blocks.push(Block { place, rules });
                }
                (Some(rules), _) => {
                    rules.push_str(line);
                    rules.push('\n');
                }
                (None, _) => {}
            }
        }
        assert!(rules.is_none(), "{name}: a block has no end");
    }
    blocks
}

/// Returns the diagnostics that the comments of a rulesheet announce.
fn announced(rules: &str) -> Vec<Said> {
    const KINDS: [(&str, &str, &str); 4] = [
        ("error: [", "] (fatal)", "error (fatal)"),
        ("error: [", "]", "error"),
        ("warning: [", "]", "warning"),
        ("note: [", "]", "note"),
    ];
    let mut announced = Vec::new();
    for (idx, line) in rules.lines().enumerate() {
        let mut rest = line;
        while let Some(start) = rest.find([';', '%', ',']) {
            let comment = rest[start + 1..].trim_start();
            rest = &rest[start + 1..];
            let kind = KINDS.iter().find_map(|(before, after, kind)| {
                let inner = comment.strip_prefix(before)?;
                let code = &inner[..inner.find(']')?];
                inner[code.len()..].starts_with(after).then_some((*kind, code))
            });
            announced.extend(kind.map(|(kind, code)| (idx + 1, kind, code.to_owned())));
        }
    }
    announced.sort();
    announced
}

/// Returns the diagnostics of a rulesheet.
fn found(block: &Block) -> Vec<Said> {
    let source = Source::new(block.place.clone(), block.rules.clone());
    let checked = check_source(&source);
    let mut found: Vec<Said> = checked
        .diagnostics
        .iter()
        .map(|it| {
            let kind = match it.severity {
                Severity::Fatal => "error (fatal)",
                Severity::Tolerated => "error",
                Severity::Warning => "warning",
                Severity::Note => "note",
            };
            assert!(it.help.is_some(), "{}: {} has no help", block.place, it.code);
            (source.line_column(it.span.start).0, kind, it.code.to_owned())
        })
        .collect();
    found.sort();
    found
}
