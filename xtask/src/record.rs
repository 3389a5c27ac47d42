//! `cargo xtask record`: records perft counts and a playthrough of each game of the library, for review.

use std::fs;
use std::time::Instant;

use anyhow::{Context as _, Result, anyhow};
use ludex_analysis::Layout;
use ludex_base::{Deadline, Seed, Source};
use ludex_cli::transcript::transcript_text;
use ludex_game::perft;
use ludex_library::About;
use ludex_pipeline::{LoadOptions, load, with_game};
use ludex_record::Transcript;
use ludex_record::transcript::RECORDED_STEPS;
use ludex_testkit::{RulesFile, library};

use crate::tools::select;

/// Writes the recordings of the named games, or of all.
pub fn run(games: &[String]) -> Result<()> {
    for rules in select(library(), games)? {
        let start = Instant::now();
        record(&rules).with_context(|| rules.name.clone())?;
        eprintln!("{}: {:.1} s", rules.name, start.elapsed().as_secs_f64());
    }
    Ok(())
}

fn record(rules: &RulesFile) -> Result<()> {
    let about = fs::read_to_string(rules.path.with_file_name("about.toml"))?;
    let about: About = toml::from_str(&about)?;
    let source = Source::new(rules.path.display().to_string(), rules.text());
    let loaded = load(source, &LoadOptions::default()).map_err(|error| anyhow!("{error:?}"))?;
    let (nodes, transcript) = with_game!(&loaded.engine, |game| (
        perft(game, about.perft_depth, &Deadline::never()).nodes,
        Transcript::of_random_play(game, &rules.name, Seed(1), RECORDED_STEPS, &Deadline::never()),
    ));
    let play = transcript_text(&transcript, &Layout::of(&loaded.program));
    fs::write(rules.path.with_file_name("perft.txt"), ludex_cli::verbs::perft::table(&nodes))?;
    fs::write(rules.path.with_file_name("playthrough.txt"), play)?;
    Ok(())
}
