//! Series: two players meet round after round, and a table grows by a row for each exchange of seats.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use ludex_referee::{Decision, Estimate, Exchange, SequentialTest};

use crate::matches::{find_game, play, sum};
use crate::tables::Table;

/// The columns of a table of rounds; the experiment names the second one.
pub(crate) fn header(second: &str) -> String {
    format!("game\t{second}\tround\tfirst\tsecond\tlate\tillegal\tfallbacks\tmoves")
}

/// One round, in which each player takes every seat at least once.
pub(crate) struct Round<'a> {
    pub(crate) game: &'a str,
    /// The cell in the second column of the table.
    pub(crate) pair: &'a str,
    /// Both players, separated by a comma.
    pub(crate) players: &'a str,
    pub(crate) round: usize,
    pub(crate) n_matches: usize,
    /// Start clock and play clock, in seconds.
    pub(crate) clocks: [&'a str; 2],
}

/// Plays a round and appends its exchanges of seats.
pub(crate) fn play_round(ludex: &Path, table: &Table, round: &Round<'_>) -> Result<()> {
    let &Round { game, pair, players, round, n_matches, clocks } = round;
    let path = find_game(game)?;
    let Some(report) = play(ludex, &path, players, n_matches, round, clocks)? else {
        return Ok(());
    };
    let goals = report["share"]["goals"].as_array().cloned().unwrap_or_default();
    for (idx, goals) in goals.iter().enumerate() {
        // The lapses of a round are in its first row.
        let lapses = |key: &str| if idx == 0 { sum(&report, key).to_string() } else { "0".into() };
        table.append(&[
            game,
            pair,
            &round.to_string(),
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

/// The mean over games, with equal weights. The games are taken as given, so the interval covers only the luck
/// within each of them.
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

/// The lapses of some series (late, illegal, fallbacks, moves) as a sentence.
pub(crate) fn lapses_in_words(series: impl Iterator<Item = [u64; 4]>) -> String {
    let [late, illegal, fallbacks, moves] =
        series.fold([0; 4], |sums, more| std::array::from_fn(|i| sums[i] + more[i]));
    format!(
        "Of {moves} moves of all players, {late} were late, {illegal} were illegal and {fallbacks} came from a fallback."
    )
}

/// The cell of a share in percent, with its interval and the number of matches.
pub(crate) fn share_cell(share: &Estimate, n_matches: usize) -> String {
    format!("{:.0} ({:.0} to {:.0}; {n_matches})", share.mean, share.low, share.high)
}

/// All exchanges and lapses of one pair.
#[derive(Default)]
pub(crate) struct PairSeries {
    pub(crate) exchanges: Vec<Exchange>,
    pub(crate) n_rounds: usize,
    /// Late, illegal, fallbacks, moves.
    pub(crate) lapses: [u64; 4],
    /// The same for the first player alone, if the table has these columns.
    pub(crate) first_lapses: Option<[u64; 4]>,
}

impl PairSeries {
    /// The decision of the sequential test. A first goal that is NaN marks a game that can't be played, so the
    /// pair is done; an exchange whose second goal is NaN has no opponent and does not count.
    pub(crate) fn decision(&self) -> Decision {
        let is_missing = |it: &Exchange| it.first.is_nan();
        if self.exchanges.iter().any(is_missing) {
            return Decision::First;
        }
        let compared = self.exchanges.iter().filter(|it| !it.second.is_nan());
        let outcomes = compared.map(|exchange| (exchange.outcome(), 2));
        SequentialTest::default().decision(outcomes)
    }

    pub(crate) fn n_matches(&self) -> usize {
        2 * self.exchanges.len()
    }
}

/// The series of each pair in a table. The first `N` columns identify the pair; then come the round, both goals
/// and the lapses, and in newer rows the lapses of the first player alone.
pub(crate) fn series_in<const N: usize>(rows: &[Vec<String>]) -> BTreeMap<[String; N], PairSeries> {
    let mut series: BTreeMap<[String; N], PairSeries> = BTreeMap::new();
    for row in rows {
        let number = |idx: usize| row.get(N + idx).and_then(|cell| cell.parse::<f64>().ok());
        let (Some(round), Some(first), Some(second)) = (number(0), number(1), number(2)) else {
            continue;
        };
        let entry = series.entry(std::array::from_fn(|i| row[i].clone())).or_default();
        entry.exchanges.push(Exchange { first, second });
        entry.n_rounds = entry.n_rounds.max(round as usize + 1);
        let add = |lapses: &mut [u64; 4], from: usize| {
            for (idx, lapse) in lapses.iter_mut().enumerate() {
                *lapse += number(from + idx).unwrap_or(0.0) as u64;
            }
        };
        add(&mut entry.lapses, 3);
        if row.len() > N + 7 {
            add(entry.first_lapses.get_or_insert_default(), 7);
        }
    }
    series
}

/// The series in a table of rounds, by game and pair.
pub(crate) fn series_of(table: &Table) -> Result<BTreeMap<[String; 2], PairSeries>> {
    Ok(series_in(&table.rows()?))
}

/// The time after which no more rounds begin.
pub(crate) struct Budget {
    end: Option<Instant>,
}

impl Budget {
    /// A budget of some minutes from now; `None` is no limit.
    pub(crate) fn minutes(minutes: Option<f64>) -> Self {
        let end = |minutes| Instant::now() + Duration::from_secs_f64(60.0 * minutes);
        Self { end: minutes.map(end) }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_without_the_columns_of_the_first_player_are_read() {
        let row = |text: &str| text.split(' ').map(String::from).collect::<Vec<String>>();
        let old = row("clock nim mac-ucb uct 25 0 100 0 2 0 5 60");
        let new = row("clock nim mac-ucb uct 25 1 0 100 1 0 4 50 1 0 2 25");
        let of_old = series_in::<5>(std::slice::from_ref(&old));
        let of_both = series_in::<5>(&[old, new]);
        let only = |series: &BTreeMap<[String; 5], PairSeries>| {
            let found = series.values().next().expect("a series");
            (found.exchanges.len(), found.lapses, found.first_lapses)
        };
        assert_eq!(only(&of_old), (1, [2, 0, 5, 60], None));
        assert_eq!(only(&of_both), (2, [3, 0, 9, 110], Some([1, 0, 2, 25])));
    }

    #[test]
    fn more_games_make_the_interval_of_their_mean_narrower() {
        let of_game = |mean: f64| Estimate { mean, low: mean - 20.0, high: mean + 20.0 };
        let games = [of_game(40.0), of_game(80.0), of_game(60.0), of_game(60.0)];
        let found = mean_over_games(&games);
        assert_eq!([found.mean, found.low, found.high], [60.0, 50.0, 70.0]);
    }
}
