//! How strong is `ludex` in matches against other players, over many games?
//!
//! Rounds go over all pairs, so that a run that is stopped early covers a little of everything. Each round
//! appends its exchanges of seats to one table. A pair is done when the sequential test finds the stronger
//! player or all its matches are played. The report can be made from the table at any time.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use clap::{Args, FromArgMatches as _};
use ludex_referee::{Comparison, Decision, Estimate};
use xtask::tools::build_ludex;

use crate::registry::Experiment;
use crate::run::Run;
use crate::series::{
    Budget, PairSeries, Round, header, lapses_in_words, mean_over_games, play_round, series_of,
    share_cell,
};
use crate::tables::Table;

pub static EXPERIMENT: Experiment = Experiment {
    name: "strength",
    question: "How strong is `ludex` against other players and the former `ludex`?",
    command: "cargo experiment strength",
    table: "strength.tsv, strength.md",
    options: Options::augment_args,
    run: |run, given| strength(run, &Options::from_arg_matches(given)?),
};

#[derive(Args)]
struct Options {
    /// Only these games
    games: Vec<String>,
    /// Only against this player; can be repeated
    #[arg(long)]
    against: Vec<String>,
    /// Most matches of a pair
    #[arg(long, default_value_t = 20)]
    count: usize,
    /// Begin no more rounds after this many minutes; 0 only makes the report
    #[arg(long)]
    minutes: Option<f64>,
}

/// Games of the published tables: two-player board games large and small, games of three and four roles, and
/// games with simultaneous moves.
pub(crate) const GAMES: &[&str] = &[
    "connectFour",
    "connectFourLarge",
    "connectFourSuicide",
    "breakthrough",
    "breakthroughSmall",
    "breakthroughWalls",
    "knightThrough",
    "checkersSmall",
    "englishDraughts",
    "reversi",
    "hex",
    "amazons_8x8",
    "pentago",
    "quarto",
    "dotsAndBoxes",
    "sheepAndWolf",
    "nineBoardTicTacToe",
    "cephalopodMicro",
    "skirmishZeroSum",
    "kalaha5x2x3",
    "connect5",
    "escortLatch",
    "2pttc",
    "3pConnectFour",
    "chineseCheckers3",
    "3pffa",
    "4pttc",
    "biddingTicTacToe",
    "chickentictactoe",
    "blocker",
];

/// Games with chance, from our own library because all sheets of the corpus with `random` also hide
/// information.
const CHANCE_GAMES: &[&str] = &["pig"];

/// Two more duels of the published tables, only against the former flagship.
const MORE_DUELS: &[&str] = &["checkers", "othello-comp2007"];

/// Games with hidden information, only against `mac-ucb` and the former flagship.
const HIDDEN_GAMES: &[&str] = &[
    "backgammon",
    "blind_breakthrough_5x5",
    "blindtictactoe",
    "kriegTTT_4x4",
    "meier",
    "kuhn-poker",
    "blind-tictactoe",
    "tictactoe-latent-random",
    "stratego",
];

/// All games, in the order of the report.
fn all_games() -> impl Iterator<Item = &'static str> {
    [GAMES, CHANCE_GAMES, MORE_DUELS, HIDDEN_GAMES].into_iter().flatten().copied()
}

/// Whether the former flagship plays a game like the present one: games that are no duels and hide nothing.
/// A match between the two would only measure luck.
fn is_same_to_former(game: &str) -> bool {
    /// Two-role games with simultaneous moves, or with goals that are not opposite.
    const NO_DUELS: &[&str] = &["biddingTicTacToe", "chickentictactoe", "blocker", "kalaha5x2x3"];
    MANY_ROLES.iter().any(|(name, _)| *name == game)
        || NO_DUELS.contains(&game)
        || CHANCE_GAMES.contains(&game)
}

/// The row of the report on games in which the former flagship plays differently.
const WHERE_DIFFERENT: &str = "the former `ludex` where it plays differently";
/// The former flagship, which chooses only among plain searches. Against it both players have a longer start
/// clock, because they choose in it.
const FORMER: &str = "ludex:learned=no,rules=no,beliefs=no";

/// Games with more than two roles.
const MANY_ROLES: &[(&str, usize)] =
    &[("3pConnectFour", 3), ("chineseCheckers3", 3), ("3pffa", 3), ("4pttc", 4)];

/// Games against `random`.
const AGAINST_RANDOM: &[&str] = &[
    "connectFour",
    "breakthrough",
    "reversi",
    "hex",
    "pentago",
    "quarto",
    "englishDraughts",
    "3pConnectFour",
    "blocker",
    "cephalopodMicro",
];

/// Plays `ludex` against other players, one thread a player, 50 ms a move.
fn strength(run: &Run, options: &Options) -> Result<()> {
    let table = Table::open(run, "strength", &header("against"))?;
    let ludex = build_ludex()?;
    let budget = Budget::minutes(options.minutes);
    let max_rounds = options.count.div_ceil(2);
    for _ in 0..max_rounds {
        let open = open_pairs(&table, options)?;
        if open.is_empty() {
            break;
        }
        for (game, against, round) in open {
            if budget.is_over() {
                break;
            }
            play(&ludex, &table, game, against, round)?;
        }
    }
    summarize(run, &table)
}

/// The undecided pairs with the number of their next round, fewest rounds first.
fn open_pairs(
    table: &Table,
    options: &Options,
) -> Result<Vec<(&'static str, &'static str, usize)>> {
    let done = series_of(table)?;
    let mut open = Vec::new();
    for game in all_games() {
        let searches: &[&'static str] = match game {
            _ if MORE_DUELS.contains(&game) => &[FORMER],
            _ if HIDDEN_GAMES.contains(&game) => &["mac-ucb", FORMER],
            _ => &["uct", "grave", "alphabeta", "mac-ucb", FORMER],
        };
        let random = AGAINST_RANDOM.contains(&game).then_some("random");
        for against in searches.iter().copied().chain(random) {
            let is_in = |names: &[String], name: &str| {
                names.is_empty() || names.iter().any(|wanted| wanted == name)
            };
            let is_pointless = against == FORMER && is_same_to_former(game);
            if !is_in(&options.games, game) || !is_in(&options.against, against) || is_pointless {
                continue;
            }
            let series = done.get(&[game, against].map(String::from));
            let n_matches = series.map_or(0, PairSeries::n_matches);
            // The mean over the games measures the former flagship, so all have the same number of matches.
            let is_known = against != FORMER
                && series.is_some_and(|series| series.decision() != Decision::Open);
            if n_matches < options.count && !is_known {
                open.push((game, against, series.map_or(0, |series| series.n_rounds)));
            }
        }
    }
    open.sort_by_key(|&(_, _, round)| round);
    Ok(open)
}

/// Plays a round, in which each player takes every seat at least once and which has at least two exchanges.
fn play(ludex: &Path, table: &Table, game: &str, against: &str, round: usize) -> Result<()> {
    let n_roles = MANY_ROLES.iter().find(|(name, _)| *name == game).map_or(2, |&(_, n)| n);
    let players = format!("ludex,{against}");
    let start_clock = if against == FORMER { "5" } else { "1" };
    let (pair, n_matches, clocks) = (against, 2 * n_roles, [start_clock, "0.05"]);
    play_round(ludex, table, &Round { game, pair, players: &players, round, n_matches, clocks })
}

fn summarize(run: &Run, table: &Table) -> Result<()> {
    let series = series_of(table)?;
    let mut by_player: BTreeMap<&str, Vec<(&str, usize, Estimate)>> = BTreeMap::new();
    for ([game, against], found) in &series {
        let Some(compared) = Comparison::new(found.exchanges.clone()) else { continue };
        let row = (game.as_str(), found.n_matches(), compared.share.scaled(100.0));
        by_player.entry(against).or_default().push(row);
        if against == FORMER && !is_same_to_former(game) {
            by_player.entry(WHERE_DIFFERENT).or_default().push(row);
        }
    }
    let mut text = format!(
        "# Strength of `ludex`\n\n\
         {}: 50 ms a move, start clock 1 s (5 s against `{FORMER}`), one thread a player, one match a core.\n\
         A series stops when the sequential test finds the stronger player, which overstates shares far from 50 % a little; the test does not stop series against the former `ludex`.\n\
         All exchanges of seats are in `strength.tsv`.\n\
         {}\n\
         The former `ludex` plays differently in duels and with hidden information; other games against it only measure luck, and a separate row leaves them out.\n\n\
         | against | games | matches | mean share | 95 % interval | games with an interval wholly below 45 % |\n\
         | --- | --- | --- | --- | --- | --- |\n",
        run.made_by("strength"),
        table.commits_in_words()?
    );
    for (player, rows) in &by_player {
        let Estimate { mean, low, high } = mean_over_games(rows.iter().map(|(_, _, share)| share));
        let below = rows.iter().filter(|(_, _, share)| share.high < 45.0);
        let below: Vec<&str> = below.map(|(game, ..)| *game).collect();
        let below = if below.is_empty() { "none".into() } else { below.join(", ") };
        let matches: usize = rows.iter().map(|(_, n_matches, _)| n_matches).sum();
        writeln!(
            text,
            "| {player} | {} | {matches} | {mean:.1} | {low:.1} to {high:.1} | {below} |",
            rows.len()
        )?;
    }
    writeln!(
        text,
        "\n{}\n\n\
         Share of `ludex` by game, with its 95 % interval and the number of matches:\n\n\
         | game | {} |\n| --- |{}",
        lapses_in_words(series.values().map(|found| found.lapses)),
        by_player.keys().copied().collect::<Vec<_>>().join(" | "),
        " --- |".repeat(by_player.len())
    )?;
    for game in all_games() {
        let cells: Vec<String> = by_player
            .values()
            .map(|rows| match rows.iter().find(|(name, ..)| *name == game) {
                Some((_, n, share)) => share_cell(share, *n),
                None => String::new(),
            })
            .collect();
        if cells.iter().any(|cell| !cell.is_empty()) {
            writeln!(text, "| {game} | {} |", cells.join(" | "))?;
        }
    }
    table.describe(&text)
}
