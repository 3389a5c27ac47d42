//! `cargo xtask translate-agree`: networks of games and their machines on random states.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use ludex_base::Deadline;
use ludex_encode::{EncodeConfig, Sizes, encode};
use ludex_testkit::{RulesFile, in_parallel, library};
use ludex_tests::exactness::{Compared, MAX_JOINT_MOVES, compare};
use ludex_tests::machine;

use crate::tools::select_corpus;

/// Compares network and machine on `n_states` random states of each game.
pub fn agree(games: &[String], n_states: usize, seconds: u64) -> Result<()> {
    let mut all = select_corpus(games)?;
    if games.is_empty() {
        all.extend(library());
    }
    let results = in_parallel(&all, |rules| {
        let result = compare_one(rules, n_states, Duration::from_secs(seconds));
        match &result {
            Ok(words) => println!("{}\t{words}", rules.name),
            Err(words) => println!("{}\tDIFFERS: {words}", rules.name),
        }
        result
    });
    let n_wrong = results.iter().filter(|result| result.is_err()).count();
    println!("{} games, {n_wrong} differ", results.len());
    if n_wrong > 0 {
        bail!("{n_wrong} games differ");
    }
    Ok(())
}

fn compare_one(rules: &RulesFile, n_states: usize, time: Duration) -> Result<String, String> {
    let Some(machine) = machine(rules) else { return Ok("not grounded".into()) };
    let start = Instant::now();
    let template = match encode(machine.circuit(), &EncodeConfig::default()) {
        Ok(template) => template,
        Err(error) => return Ok(error.to_string()),
    };
    let seconds = start.elapsed().as_secs_f64();
    let sizes = Sizes::of(&template.network);
    let start = Instant::now();
    let Compared { n_states, n_sampled, n_joint_moves } =
        compare(&machine, &template, n_states, MAX_JOINT_MOVES, &Deadline::after(time))?;
    Ok(format!(
        "{seconds:.3}\t{}\t{}\t{}\t{}\t{}\t{:.2}\t{n_states} states, {n_sampled} sampled, {n_joint_moves} joint moves agree",
        sizes.n_variables,
        template.n_auxiliary,
        sizes.max_domain,
        sizes.n_constraints,
        sizes.n_tuples,
        start.elapsed().as_secs_f64(),
    ))
}
