//! `cargo xtask agree`: compares machine and reasoner on random states of every rulesheet.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use ludex_base::{Deadline, Seed};
use ludex_machine::PlayoutStyle;
use ludex_pipeline::{Engine, EngineChoice, LoadError};
use ludex_testkit::{RulesFile, agree, in_parallel, lanes_agree, library};
use ludex_tests::load_for;

use crate::tools::select_corpus;

/// Playouts in lanes, at least one for each lane on every processor.
const N_LANES: usize = 512;

/// Compares the two engines on `n_states` random states of each game.
pub fn run(games: &[String], n_states: usize, seconds: u64) -> Result<()> {
    let mut all = select_corpus(games)?;
    if games.is_empty() {
        all.extend(library());
    }
    let results = in_parallel(&all, |rules| {
        let start = Instant::now();
        let result = compare(rules, n_states, Duration::from_secs(seconds));
        let seconds = start.elapsed().as_secs_f64();
        match &result {
            Ok(Some(n_compared)) => {
                println!("{}\t{seconds:.2}\t{n_compared} states agree", rules.name)
            }
            Ok(None) => println!("{}\t{seconds:.2}\ttoo large for the machine", rules.name),
            Err(difference) => println!("{}\t{seconds:.2}\tDIFFERS: {difference}", rules.name),
        }
        result
    });
    let n_wrong = results.iter().filter(|result| result.is_err()).count();
    let compared: Vec<usize> = results.iter().flatten().flatten().copied().collect();
    let n_full = compared.iter().filter(|&&n_compared| n_compared >= n_states).count();
    println!(
        "{} games, {} compared on {} states, {n_full} of them on {n_states}; {n_wrong} differ",
        results.len(),
        compared.len(),
        compared.iter().sum::<usize>(),
    );
    if n_wrong > 0 {
        bail!("{n_wrong} games differ");
    }
    Ok(())
}

/// The number of states that agree; `None` when the game is too large for the machine.
fn compare(rules: &RulesFile, n_states: usize, time: Duration) -> Result<Option<usize>, String> {
    let load = |machine| match load_for(rules, machine) {
        Ok(loaded) => Ok(Some(loaded.engine)),
        Err(LoadError::Limit { .. }) => Ok(None),
        Err(error) => Err(format!("{error:?}")),
    };
    let Some(Engine::Machine(machine)) = load(EngineChoice::Circuit)? else { return Ok(None) };
    let Some(Engine::Reasoner(reasoner)) = load(EngineChoice::Reasoner)? else {
        return Err("the reasoner can't play this game".into());
    };
    let n_compared = agree(&machine, &reasoner, n_states, Seed(1), &Deadline::after(time))
        .map_err(|disagreement| format!("machine first, reasoner second: {disagreement}"))?;
    // Every lane plays at least one game. All games are replayed on the cursor, and on the reasoner as many as
    // there is time for.
    let wide = machine.clone().with_playouts(PlayoutStyle::Wide);
    let deadline = || Deadline::after(time / 2);
    lanes_agree(&wide, &machine, N_LANES, Seed(2), &deadline())
        .map_err(|about| format!("lanes on the cursor: {about}"))?;
    lanes_agree(&wide, &reasoner, N_LANES, Seed(3), &deadline())
        .map_err(|about| format!("lanes on the reasoner: {about}"))?;
    Ok(Some(n_compared))
}
