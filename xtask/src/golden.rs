//! `cargo xtask golden`: plays every recorded line of the public rulesheets on both engines.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use ludex_base::Deadline;
use ludex_pipeline::{EngineChoice, LoadError, with_game};
use ludex_testkit::golden::Mismatch;
use ludex_testkit::{Golden, RulesFile, compare, in_parallel};
use ludex_tests::load_for;

use crate::tools::{select_corpus, shared_folder};

/// Longest time for both lines of a game on one engine.
const TIME: Duration = Duration::from_secs(1_800);

/// Plays the recorded lines of the named games, or of all.
pub fn run(games: &[String]) -> Result<()> {
    let shared = shared_folder()?;
    let games: Vec<(RulesFile, Golden)> = select_corpus(games)?
        .into_iter()
        .filter_map(|rules| Golden::read(&shared, &rules.name).map(|golden| (rules, golden)))
        .collect();
    let mut n_wrong = 0;
    for (name, engine) in [("reasoner", EngineChoice::Reasoner), ("machine", EngineChoice::Circuit)]
    {
        let mut n_right = 0;
        let mut n_too_large = 0;
        let results = in_parallel(&games, |(rules, golden)| {
            let start = Instant::now();
            let result = play(rules, golden, engine);
            let seconds = start.elapsed().as_secs_f64();
            let outcome =
                result.as_ref().map_or_else(ToString::to_string, |()| "as recorded".into());
            println!("{name}\t{}\t{seconds:.2}\t{outcome}", rules.name);
            result
        });
        for result in results {
            match result {
                Ok(()) => n_right += 1,
                Err(Wrong::TooLarge(_)) => n_too_large += 1,
                Err(_) => n_wrong += 1,
            }
        }
        println!("{name}: {n_right} of {} as recorded, {n_too_large} too large", games.len());
    }
    if n_wrong > 0 {
        bail!("{n_wrong} lines are not as recorded");
    }
    Ok(())
}

enum Wrong {
    TooLarge(String),
    Rules(String),
    Play(Mismatch),
}

impl std::fmt::Display for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Wrong::TooLarge(reason) => write!(f, "too large: {reason}"),
            Wrong::Rules(error) => write!(f, "WRONG RULES: {error}"),
            Wrong::Play(mismatch) => write!(f, "WRONG: {mismatch}"),
        }
    }
}

fn play(rules: &RulesFile, golden: &Golden, engine: EngineChoice) -> Result<(), Wrong> {
    let loaded = load_for(rules, engine).map_err(|error| match error {
        LoadError::Limit { reason } => Wrong::TooLarge(reason),
        error => Wrong::Rules(format!("{error:?}")),
    })?;
    let deadline = Deadline::after(TIME);
    with_game!(&loaded.engine, |game| compare(game, golden, &deadline)).map_err(Wrong::Play)
}
