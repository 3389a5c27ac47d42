//! Checks the public rulesheets against the verdicts on the page that comes with them, and prints
//! and parses them in both forms.
//!
//! The sheets are not part of this repository. Without them the tests print a message and pass, or
//! fail if `CI` is set.

use std::path::PathBuf;
use std::time::Duration;

use ludex_base::{Seed, Source};
use ludex_gdl::{check, decode, parse, parse_infix, parse_kif, print_infix, print_kif, scramble};
use ludex_pipeline::LoadOptions;
use ludex_testkit::fixtures::shared_or_skip;

/// Sheets with errors that can still be played; all others are accepted.
const WITH_ERRORS: [&str; 7] = [
    "bender_Corridor",
    "blind_breakthrough_5x5",
    "kono",
    "test_case_3b",
    "test_case_3e",
    "test_case_3f",
    "test_invalid_sentence_arities_differ",
];

/// The sheets in which `goal` depends negatively on `goal`.
const STRATIFIED_WHEN_GROUND: [&str; 15] = [
    "futoshiki4",
    "futoshiki5",
    "futoshiki6",
    "hexPie",
    "hidato19",
    "hidato37",
    "majorities",
    "majorities_iggpc",
    "nineBoardTicTacToePie",
    "queens06ug",
    "queens08lg",
    "queens08ug",
    "queens12ug",
    "queens16ug",
    "queens31lg",
];

fn corpus() -> Option<Vec<Source>> {
    let folder = shared_or_skip("the judgement of the public rulesheets")?.join("games");
    let entries = std::fs::read_dir(&folder).expect("the folder can be listed");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "kif"));
    paths.sort();
    assert!(paths.len() >= 272, "only {} public rulesheets", paths.len());
    let read = |path: &PathBuf| {
        let name =
            path.file_stem().expect("the path has a file name").to_string_lossy().into_owned();
        let (source, diagnostics) =
            decode(name, &std::fs::read(path).expect("the sheet can be read"));
        assert!(diagnostics.is_empty(), "{path:?}: {diagnostics:?}");
        source
    };
    Some(paths.iter().map(read).collect())
}

#[test]
fn every_public_rulesheet_gets_its_documented_verdict() {
    let Some(sources) = corpus() else { return };
    // Sheets not grounded within this time are checked without grounding.
    let options = LoadOptions { time: Duration::from_secs(2), ..LoadOptions::default() };
    let mut with_errors = Vec::new();
    let mut with_note = Vec::new();
    for source in &sources {
        let checked = ludex_pipeline::check(source, &options).expect("the limits suffice");
        assert!(checked.is_playable, "{}: {:?}", source.name(), checked.diagnostics);
        if !checked.is_ok() {
            with_errors.push(source.name());
        }
        if checked.diagnostics.iter().any(|it| it.code == "stratified-when-ground") {
            with_note.push(source.name());
        }
    }
    assert_eq!(with_errors, WITH_ERRORS);
    assert_eq!(with_note, STRATIFIED_WHEN_GROUND);
}

#[test]
fn every_public_rulesheet_survives_printing_and_parsing() {
    let Some(sources) = corpus() else { return };
    for source in &sources {
        let (sheet, _) = parse(source);
        let (kif, diagnostics) = parse_kif(&Source::new("kif", print_kif(&sheet)));
        assert!(diagnostics.is_empty() && kif == sheet, "{}: {diagnostics:?}", source.name());
        let infix_source = Source::new("infix", print_infix(&sheet));
        let (infix, diagnostics) = parse_infix(&infix_source);
        assert!(diagnostics.is_empty() && infix == sheet, "{}: {diagnostics:?}", source.name());
        let (found, _) = parse(&infix_source);
        assert!(found == sheet, "{}: the form was not recognized", source.name());
    }
}

/// Returns the diagnostics of a sheet without their texts.
fn verdict(sheet: &ludex_gdl::Rulesheet) -> Vec<(u32, &'static str)> {
    let codes = check(sheet).diagnostics.into_iter().map(|it| (it.span.start, it.code));
    let mut codes: Vec<_> = codes.collect();
    codes.sort_unstable();
    codes
}

#[test]
fn every_scrambled_public_rulesheet_gets_the_same_verdict() {
    let Some(sources) = corpus() else { return };
    for source in &sources {
        let (sheet, _) = parse(source);
        let (scrambled, renaming) = scramble(&sheet, Seed(7));
        assert_eq!(verdict(&sheet), verdict(&scrambled), "{}", source.name());
        for (old, new) in renaming.iter() {
            assert_eq!(renaming.original(new), old, "{}", source.name());
        }
    }
}
