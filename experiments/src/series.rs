//! Two players against each other, round after round, in a table that only grows.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use ludex_referee::{Estimate, Exchange, SequentialTest, Verdict};
use serde_json::Value;

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
    let path = find_game(it.game)?;
    let Some(report) = play(ludex, &path, it.players, it.n_matches, it.round, it.clocks)? else {
        return Ok(());
    };
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

/// Plays the matches of a round, whose number is the seed: the report, if there is one.
pub(crate) fn play(
    ludex: &Path,
    rules: &Path,
    players: &str,
    n_matches: usize,
    round: usize,
    [start_clock, play_clock]: [&str; 2],
) -> Result<Option<Value>> {
    let (path, count) = (rules.display().to_string(), n_matches.to_string());
    let seed = (round + 1).to_string();
    let what = ["match", &path, "--players", players, "--count", &count, "--seed", &seed];
    let clocks = ["--start-clock", start_clock, "--play-clock", play_clock, "--json"];
    run(ludex, &[&what[..], &clocks].concat())
}

/// The mean over games, each as often. The games are taken as they are: only the luck within each of them
/// varies.
pub(crate) fn mean_over_games<'a>(of_games: impl IntoIterator<Item = &'a Estimate>) -> Estimate {
    let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for of_game in of_games {
        n += 1.0;
        sum += of_game.mean;
        squares += ((of_game.high - of_game.low) / 2.0).powi(2);
    }
    let n = f64::max(n, 1.0);
    let (mean, half) = (sum / n, squares.sqrt() / n);
    Estimate { mean, low: mean - half, high: mean + half }
}

/// What went wrong in some series (late, illegal, fallbacks, of how many moves), as a sentence.
pub(crate) fn lapses_in_words(series: impl Iterator<Item = [u64; 4]>) -> String {
    let [late, illegal, fallbacks, moves] =
        series.fold([0; 4], |sums, more| std::array::from_fn(|at| sums[at] + more[at]));
    format!(
        "Of {moves} moves of all players {late} were late, {illegal} illegal, {fallbacks} not from a finished search."
    )
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_games_make_the_interval_of_their_mean_narrower() {
        let of_game = |mean: f64| Estimate { mean, low: mean - 20.0, high: mean + 20.0 };
        let games = [of_game(40.0), of_game(80.0), of_game(60.0), of_game(60.0)];
        let found = mean_over_games(&games);
        assert_eq!([found.mean, found.low, found.high], [60.0, 50.0, 70.0]);
    }
}
