//! How much do symmetries gain in matches? Each search plays against the same search without them.
//!
//! Rounds go over all pairs and games, as in `strength`; all matches of a pair are played, whatever the first
//! ones say. The report can be made from the table at any time.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::Result;
use clap::{Args, FromArgMatches as _};
use ludex_referee::{Comparison, Estimate};
use xtask::tools::build_ludex;

use crate::registry::Experiment;
use crate::run::Run;
use crate::series::{
    Budget, PairSeries, Round, header, lapses_in_words, mean_over_games, play_round, series_of,
    share_cell,
};
use crate::tables::Table;

pub static EXPERIMENT: Experiment = Experiment {
    name: "symmetric-play",
    question: "Are searches stronger on states folded by symmetries?",
    command: "cargo experiment symmetric-play",
    table: "symmetric_play.tsv, symmetric_play.md",
    options: Options::augment_args,
    run: |run, given| play_all(run, &Options::from_arg_matches(given)?),
};

#[derive(Args)]
struct Options {
    /// Only these games
    games: Vec<String>,
    /// Only this pair, by its name in the report; can be repeated
    #[arg(long)]
    pair: Vec<String>,
    /// Most matches of a pair on a game
    #[arg(long, default_value_t = 4)]
    count: usize,
    /// Begin no more rounds after this many minutes; 0 only makes the report
    #[arg(long)]
    minutes: Option<f64>,
}

/// A search with symmetries and the search without.
struct Pair {
    name: &'static str,
    players: &'static str,
    games: &'static [&'static str],
}

const PAIRS: &[Pair] = &[
    Pair { name: "mac-ucb", players: "mac-ucb-sym,mac-ucb", games: GAMES },
    Pair { name: "mac-ucb, published", players: PUBLISHED, games: GAMES },
    Pair { name: "mac-ucb-ii, published", players: PUBLISHED, games: HIDDEN },
    Pair { name: "ludex", players: "ludex:fold,ludex", games: GAMES },
    Pair { name: "uct", players: "uct-sym,uct", games: GAMES },
    Pair { name: "grave", players: "grave-sym,grave", games: GAMES },
];

/// MAC-UCB-SYM against MAC-UCB, both as published.
const PUBLISHED: &str = "mac-ucb-sym:faithful,mac-ucb:faithful";

/// Games of two roles with 2 to 64 symmetries.
const GAMES: &[&str] = &[
    "connectFour",
    "connectFourSuicide",
    "breakthroughSmall",
    "breakthrough",
    "breakthroughWalls",
    "knightThrough",
    "pentago",
    "pentagoSuicide",
    "quad_5x5",
    "kono",
    "connect5",
    "cittaceot",
    "toetictac",
    "ticTacToeLarge",
    "numbertictactoe",
    "nineBoardTicTacToe",
    "golden_rectangle",
    "alquerque",
    "biddingTicTacToe",
    "connectFourSimultaneous",
];
/// The same with hidden information.
const HIDDEN: &[&str] = &["blindtictactoe", "kriegTTT_4x4", "blind_breakthrough_5x5"];

/// Matches of a round: two for each of two roles.
const N_MATCHES: usize = 4;
/// Start clock and play clock.
const CLOCKS: [&str; 2] = ["1", "0.05"];

fn play_all(run: &Run, options: &Options) -> Result<()> {
    let table = Table::open(run, "symmetric_play", &header("pair"))?;
    let ludex = build_ludex()?;
    let budget = Budget::minutes(options.minutes);
    loop {
        let done = series_of(&table)?;
        let mut has_played = false;
        for Pair { name, players, games } in PAIRS {
            let is_wanted = |wanted: &[String], it: &str| {
                wanted.is_empty() || wanted.iter().any(|name| name == it)
            };
            if !is_wanted(&options.pair, name) {
                continue;
            }
            for game in games.iter().filter(|game| is_wanted(&options.games, game)) {
                let series = done.get(&[game, name].map(|it| it.to_string()));
                let n_played = series.map_or(0, PairSeries::n_matches);
                if n_played >= options.count || budget.is_over() {
                    continue;
                }
                let round = series.map_or(0, |series| series.n_rounds);
                let (n_matches, clocks) = (N_MATCHES, CLOCKS);
                let round = Round { game, pair: name, players, round, n_matches, clocks };
                play_round(&ludex, &table, &round)?;
                has_played = true;
            }
        }
        if !has_played || budget.is_over() {
            return describe(run, &table);
        }
    }
}

fn describe(run: &Run, table: &Table) -> Result<()> {
    let series = series_of(table)?;
    let mut by_pair: BTreeMap<&str, BTreeMap<&str, (Estimate, usize)>> = BTreeMap::new();
    for ([game, pair], found) in &series {
        let Some(compared) = Comparison::new(found.exchanges.clone()) else { continue };
        let share = compared.share.scaled(100.0);
        by_pair.entry(pair).or_default().insert(game, (share, found.n_matches()));
    }
    let mut text = format!(
        "# Searches with symmetries against the same without\n\n\
         {}, one thread a player, both on one core; start clock {} s, {} s a move.\n\
         *Published* is MAC-UCB-SYM with its table of symmetric networks and 45, 30 and 25 % of the time for \
         networks, playouts and symmetries; the others search folded states.\n{}\n\n\
         | pair | players | games | matches | mean share | 95 % interval | better on | worse on |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- |\n",
        run.made_by("symmetric-play"),
        CLOCKS[0],
        CLOCKS[1],
        table.commits_in_words()?,
    );
    for Pair { name, players, .. } in PAIRS {
        let Some(games) = by_pair.get(name) else { continue };
        let Estimate { mean, low, high } = mean_over_games(games.values().map(|it| &it.0));
        let n_matches: usize = games.values().map(|it| it.1).sum();
        let list = |is_listed: &dyn Fn(&Estimate) -> bool| {
            let listed = games.iter().filter(|(_, it)| is_listed(&it.0));
            let listed: Vec<&str> = listed.map(|(game, _)| *game).collect();
            if listed.is_empty() { "none".to_string() } else { listed.join(", ") }
        };
        writeln!(
            text,
            "| {name} | `{players}` | {} | {n_matches} | {mean:.1} | {low:.1} to {high:.1} | {} | {} |",
            games.len(),
            list(&|share| share.low > 50.0),
            list(&|share| share.high < 50.0),
        )?;
    }
    writeln!(text, "\n{}", lapses_in_words(series.values().map(|found| found.lapses)))?;
    let names: Vec<&str> =
        PAIRS.iter().map(|pair| pair.name).filter(|name| by_pair.contains_key(name)).collect();
    writeln!(
        text,
        "\nShare by game, with its 95 % interval and the number of matches:\n\n\
         | game | {} |\n| --- |{}",
        names.join(" | "),
        " --- |".repeat(names.len())
    )?;
    for game in GAMES.iter().chain(HIDDEN) {
        let cells: Vec<String> = names
            .iter()
            .map(|name| match by_pair[name].get(game) {
                Some((share, n_matches)) => share_cell(share, *n_matches),
                None => String::new(),
            })
            .collect();
        if cells.iter().any(|cell| !cell.is_empty()) {
            writeln!(text, "| {game} | {} |", cells.join(" | "))?;
        }
    }
    table.describe(&text)
}
