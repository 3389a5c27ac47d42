//! Two players against each other, round after round, in a table that only grows.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use ludex_referee::{Exchange, SequentialTest, Verdict};

use crate::matches::{Table, find_game, run, sum};

/// The columns of a table of rounds; what the second one is called is up to the task.
pub(crate) fn header(second: &str) -> String {
    format!("game\t{second}\tround\tfirst\tsecond\tlate\tillegal\tfallbacks\tmoves")
}

/// One round: every seat is played by each at least once.
pub(crate) struct Round<'a> {
    pub(crate) game: &'a str,
    /// What the second column of the table says.
    pub(crate) pair: &'a str,
    /// Both, separated by a comma.
    pub(crate) players: &'a str,
    pub(crate) round: usize,
    pub(crate) n_matches: usize,
    /// Start clock and play clock, in seconds.
    pub(crate) clocks: [&'a str; 2],
}

/// Plays a round and appends its exchanges of seats.
pub(crate) fn play_round(ludex: &Path, table: &Table, it: &Round<'_>) -> Result<()> {
    let path = find_game(it.game)?.display().to_string();
    let count = it.n_matches.to_string();
    let seed = (it.round + 1).to_string();
    let args = [
        "match",
        &path,
        "--players",
        it.players,
        "--count",
        &count,
        "--seed",
        &seed,
        "--start-clock",
        it.clocks[0],
        "--play-clock",
        it.clocks[1],
        "--json",
    ];
    let Some(report) = run(ludex, &args)? else { return Ok(()) };
    let goals = report["share"]["goals"].as_array().cloned().unwrap_or_default();
    for (idx, goals) in goals.iter().enumerate() {
        // What went wrong is told once a round.
        let lapses = |key: &str| if idx == 0 { sum(&report, key).to_string() } else { "0".into() };
        table.append(&[
            it.game,
            it.pair,
            &it.round.to_string(),
            &goals[0].to_string(),
            &goals[1].to_string(),
            &lapses("late"),
            &lapses("illegal"),
            &lapses("fallbacks"),
            &lapses("moves"),
        ])?;
    }
    Ok(())
}

/// All that was played by one pair.
#[derive(Default)]
pub(crate) struct PairSeries {
    pub(crate) exchanges: Vec<Exchange>,
    pub(crate) n_rounds: usize,
    /// Late, illegal, fallbacks, moves.
    pub(crate) lapses: [u64; 4],
}

impl PairSeries {
    pub(crate) fn verdict(&self) -> Verdict {
        let outcomes = self.exchanges.iter().map(|exchange| (exchange.outcome(), 2));
        SequentialTest::default().verdict(outcomes)
    }

    pub(crate) fn n_matches(&self) -> usize {
        2 * self.exchanges.len()
    }
}

/// What a table has, by game and pair.
pub(crate) fn series_of(table: &Table) -> Result<BTreeMap<(String, String), PairSeries>> {
    let mut series: BTreeMap<(String, String), PairSeries> = BTreeMap::new();
    for row in table.rows()? {
        let number = |idx: usize| row.get(idx).and_then(|cell| cell.parse::<f64>().ok());
        let (Some(round), Some(first), Some(second)) = (number(2), number(3), number(4)) else {
            continue;
        };
        let entry = series.entry((row[0].clone(), row[1].clone())).or_default();
        entry.exchanges.push(Exchange { first, second });
        entry.n_rounds = entry.n_rounds.max(round as usize + 1);
        for (idx, lapse) in entry.lapses.iter_mut().enumerate() {
            *lapse += number(5 + idx).unwrap_or(0.0) as u64;
        }
    }
    Ok(series)
}
