//! Checks that the documents show what the program prints.
//!
//! A block ```` ```console ```` holds commands after `$ ` and the output of each. In the output, a
//! line `…` matches any lines, and `…` at the end of a line matches its rest. `<n>` matches any
//! word, for numbers that depend on time or the machine.

use std::fs;
use std::process::Command;

use ludex_testkit::command::{binary, ludex_with, stdout};
use ludex_testkit::workspace;

#[test]
fn the_tour_is_true() {
    check("docs/tour.md", 13);
}

#[test]
fn the_readme_is_true() {
    check("README.md", 2);
}

#[test]
fn the_guide_to_quantifiers_is_true() {
    check("docs/quantified.md", 8);
}

#[test]
fn the_guide_to_chance_is_true() {
    check("docs/stochastic.md", 7);
}

/// The reference has a row for every diagnostic and every function of the language.
#[test]
fn the_reference_of_the_language_is_complete() {
    let text = read("docs/language.md");
    for code in ludex_model::codes::ALL {
        assert!(text.contains(&format!("| `{code}` |")), "no row for the diagnostic {code}");
    }
    for (name, _) in ludex_model::usages() {
        assert!(text.contains(&format!("`{name}")), "{name} is not in the reference");
    }
}

/// Every option named in the guides to the protocol and to the page exists.
#[test]
fn the_guides_name_existing_options() {
    for (document, verb, n_options) in [
        ("docs/competitors.md", "player", 7),
        ("docs/organisers.md", "referee", 7),
        ("docs/page.md", "serve", 4),
    ] {
        let help = run(&format!("{verb} --help"));
        let text = read(document);
        let rows = text.lines().filter(|line| line.starts_with("| `--"));
        let options: Vec<&str> = rows
            .flat_map(|row| row.split('|').nth(1).unwrap_or("").split('`'))
            .filter(|word| word.starts_with("--"))
            .filter_map(|word| word.split(' ').next())
            .collect();
        assert!(options.len() >= n_options, "{document}: {options:?}");
        for option in options {
            assert!(help.contains(option), "{document}: {verb} has no option {option}");
        }
    }
}

/// The picture of the front page shows lines of the rulesheet, and the final position of the game
/// whose moves its description lists; `cargo xtask picture` redraws it.
#[test]
fn the_picture_is_true() {
    let svg = read("docs/pictures/connectfour.svg");
    let rules = squeezed(&read("games/connectfour/rules.kif"));
    let description = between(&svg, "<desc>", "</desc>");
    let (command, moves) = description.split_once(" | ").expect("a command and its moves");
    let args: Vec<&str> = command.split(' ').skip(1).collect();
    let printed = squeezed(&stdout(&ludex_with(&args, moves.replace(' ', "\n"))));

    let shown: Vec<String> =
        svg.lines().filter(|line| line.contains("<tspan")).map(words).collect();
    let prompt = shown.iter().position(|line| line.starts_with('$')).expect("a command is shown");
    let (clauses, session) = shown.split_at(prompt);
    assert!(clauses.len() > 10 && session.len() > 10, "{shown:?}");
    for line in clauses {
        assert!(rules.contains(line), "the rulesheet has no line {line}");
    }
    let (calls, position) = session.split_at(2);
    assert!(squeezed(command)[0].starts_with(&calls[0][1..]), "{calls:?}");
    let from = printed.iter().rposition(|line| *line == position[0]).expect("the last move");
    let mut rest = printed[from..].iter();
    for line in position {
        assert!(rest.any(|it| it == line || line.ends_with('>') && it.starts_with(line)), "{line}");
    }
}

/// Returns the lines of a text without blanks, because a picture places its words by coordinates.
fn squeezed(text: &str) -> Vec<String> {
    text.lines().map(|line| line.split_whitespace().collect()).collect()
}

/// Returns the words of a line of SVG, without blanks.
fn words(line: &str) -> String {
    let text: String =
        line.split('<').filter_map(|tag| tag.split_once('>')).map(|it| it.1).collect();
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    text.split_whitespace().collect()
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let (_, rest) = text.split_once(start).unwrap_or_else(|| panic!("no {start}"));
    rest.split_once(end).unwrap_or_else(|| panic!("no {end}")).0
}

/// Every link of the documents to a file has a target.
#[test]
fn links_lead_somewhere() {
    let mut n_links = 0;
    for document in [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "docs/tour.md",
        "docs/glossary.md",
        "docs/machine.md",
        "docs/constraints.md",
        "docs/quantified.md",
        "docs/stochastic.md",
        "docs/language.md",
        "docs/certificates.md",
        "docs/competitors.md",
        "docs/organisers.md",
        "docs/page.md",
        "docs/decisions/README.md",
        "benches/runs/README.md",
    ] {
        let text = read(document);
        let folder =
            workspace().join(document).parent().expect("a file has a folder").to_path_buf();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if !link.starts_with("http") && !link.starts_with('#') {
                let target = folder.join(link.split('#').next().unwrap_or(link));
                assert!(target.exists(), "{document}: {link} leads nowhere");
                n_links += 1;
            }
        }
    }
    assert!(n_links >= 30, "only {n_links} links");
}

fn check(document: &str, n_commands: usize) {
    let text = read(document);
    let mut n_checked = 0;
    for block in text.split("```console\n").skip(1).filter_map(|rest| rest.split("```").next()) {
        for part in block.split("$ ludex ").skip(1) {
            let (args, expected) = part.split_once('\n').unwrap_or((part, ""));
            let printed = run(args);
            assert!(
                matches(&lines(expected), &lines(&printed)),
                "{document}: `ludex {args}` prints\n{printed}\nand not\n{expected}"
            );
            n_checked += 1;
        }
    }
    assert!(n_checked >= n_commands, "{document} shows only {n_checked} commands");
}

fn read(document: &str) -> String {
    fs::read_to_string(workspace().join(document)).unwrap_or_else(|e| panic!("{document}: {e}"))
}

fn run(args: &str) -> String {
    let output = Command::new(binary())
        .args(args.split_whitespace())
        .current_dir(workspace())
        .output()
        .expect("the command starts");
    let text = [output.stdout, output.stderr].concat();
    String::from_utf8(text).expect("output is UTF-8")
}

fn lines(text: &str) -> Vec<&str> {
    text.trim_end().lines().map(str::trim_end).collect()
}

/// Whether the lines match: `…` matches any lines, `<n>` any word.
fn matches(expected: &[&str], printed: &[&str]) -> bool {
    match (expected, printed) {
        ([], []) => true,
        (["…", rest @ ..], _) => {
            (0..=printed.len()).any(|skipped| matches(rest, &printed[skipped..]))
        }
        ([first, rest @ ..], [line, after @ ..]) => same_words(first, line) && matches(rest, after),
        _ => false,
    }
}

fn same_words(expected: &str, line: &str) -> bool {
    if let Some(beginning) = expected.strip_suffix('…') {
        return line.starts_with(beginning);
    }
    if !expected.contains("<n>") {
        return expected == line;
    }
    let words = |text: &str| text.split_whitespace().map(String::from).collect::<Vec<_>>();
    let (expected, line) = (words(expected), words(line));
    let is_same = |(a, b): (&String, &String)| match a.split_once("<n>") {
        Some((before, after)) => b.starts_with(before) && b.ends_with(after),
        None => a == b,
    };
    expected.len() == line.len() && expected.iter().zip(&line).all(is_same)
}
