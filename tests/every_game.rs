//! Checks every folder of `games/`: the rules are valid, and play follows the recordings.
//!
//! `cargo xtask record` rewrites the recordings; review them as a diff.

use std::fs;

use ludex_analysis::Layout;
use ludex_base::{Deadline, Seed};
use ludex_cli::transcript::transcript_text;
use ludex_game::perft;
use ludex_library::About;
use ludex_pipeline::{EngineChoice, with_game};
use ludex_record::Transcript;
use ludex_record::transcript::RECORDED_STEPS;
use ludex_testkit::{RulesFile, assert_compared, in_parallel, library};
use ludex_tests::load_for;

/// Returns the games of the library, and checks that none is missing.
fn every_game() -> Vec<RulesFile> {
    let games = library();
    assert!(games.len() >= 65, "only {} games", games.len());
    games
}

#[test]
fn every_rulesheet_is_without_errors() {
    for rules in every_game() {
        let loaded = load_for(&rules, EngineChoice::Auto)
            .unwrap_or_else(|e| panic!("{}: {e:?}", rules.name));
        let errors: Vec<_> = loaded.diagnostics.iter().filter(|d| d.severity.is_error()).collect();
        assert!(errors.is_empty(), "{}: {errors:?}", rules.name);
        assert!(loaded.fallback.is_none(), "{} is not grounded: {:?}", rules.name, loaded.fallback);
    }
}

#[test]
fn every_game_has_a_description() {
    for rules in every_game() {
        let about = read(&rules, "about.toml");
        let about: About = toml::from_str(&about).unwrap_or_else(|e| panic!("{}: {e}", rules.name));
        assert!(!about.title.is_empty() && !about.summary.is_empty(), "{}", rules.name);
        let loaded = load_for(&rules, EngineChoice::Auto).expect("the rules are valid");
        with_game!(&loaded.engine, |game| {
            let has_random = ludex_game::Game::roles(game).iter().any(|role| role.is_random);
            assert_eq!(about.chance, has_random, "{}: chance", rules.name);
            assert_eq!(
                about.hidden,
                ludex_game::Game::has_percepts(game),
                "{}: hidden",
                rules.name
            );
        });
    }
}

#[test]
fn paths_are_as_recorded() {
    let results = in_parallel(&every_game(), |rules| {
        let recorded = read(rules, "perft.txt");
        let loaded = load_for(rules, EngineChoice::Auto).expect("the rules are valid");
        let depth = recorded.lines().count();
        let counted = with_game!(&loaded.engine, |game| perft(game, depth, &Deadline::never()));
        let counted = ludex_cli::verbs::perft::table(&counted.nodes);
        if counted != recorded {
            return Err(format!("{}:\n{counted}recorded:\n{recorded}", rules.name));
        }
        Ok(depth)
    });
    assert_compared("depths of the library", results, 369);
}

#[test]
fn play_goes_as_recorded() {
    let results = in_parallel(&every_game(), |rules| {
        let recorded = read(rules, "playthrough.txt");
        let loaded = load_for(rules, EngineChoice::Auto).expect("the rules are valid");
        let transcript = with_game!(&loaded.engine, |game| {
            Transcript::of_random_play(
                game,
                &rules.name,
                Seed(1),
                RECORDED_STEPS,
                &Deadline::never(),
            )
        });
        let played = transcript_text(&transcript, &Layout::of(&loaded.program));
        let differs = |(ours, theirs): (&str, &str)| ours != theirs;
        let place = played.lines().zip(recorded.lines()).position(differs);
        if played != recorded {
            let line = place.map_or(0, |line| line + 1);
            return Err(format!("{}: differs from line {line}", rules.name));
        }
        Ok(played.lines().count())
    });
    assert_compared("lines of the recorded games", results, 29_000);
}

fn read(rules: &RulesFile, file: &str) -> String {
    let path = rules.path.with_file_name(file);
    fs::read_to_string(&path).unwrap_or_else(|_| {
        panic!("{} is missing; `cargo xtask record {}` writes it", path.display(), rules.name)
    })
}
