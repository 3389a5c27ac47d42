//! How strong are the searches for hidden information, against each other, and alone in games of one role?
//!
//! Rounds go over all games and players, so that a run that is stopped early covers a little of everything.
//! Each round appends to one table, and the report can be made from the table at any time. Before the first
//! round, beliefs are checked in 1,000 random matches.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::{Args, FromArgMatches as _};
use ludex_base::{Deadline, Seed};
use ludex_referee::{Comparison, Estimate, Exchange, estimate};
use ludex_search::SearchSpec;
use ludex_testkit::hidden::{BeliefCount, count_beliefs, model_gain};
use ludex_testkit::{RulesFile, corpus, library};
use xtask::tools::{build_ludex, shared_folder};

use crate::matches::{n_roles, play, sum};
use crate::published::Published;
use crate::registry::Experiment;
use crate::run::Run;
use crate::series::{Budget, lapses_in_words, mean_over_games, share_cell};
use crate::tables::Table;

pub static EXPERIMENT: Experiment = Experiment {
    name: "hidden",
    question: "Which search plays best where the state is hidden, and are beliefs right?",
    command: "cargo experiment hidden",
    table: "hidden.tsv, beliefs.tsv, hidden.md",
    options: Options::augment_args,
    run: |run, given| hidden(run, &Options::from_arg_matches(given)?),
};

#[derive(Args)]
struct Options {
    /// Only these games
    games: Vec<String>,
    /// Only these players
    #[arg(long, value_delimiter = ',')]
    players: Vec<String>,
    /// Milliseconds a move
    #[arg(long, default_value_t = 30)]
    clock: u64,
    /// Begin no more rounds after this many minutes; 0 only makes the report
    #[arg(long, default_value_t = 25.0)]
    minutes: f64,
}

/// The searches to compare, by their names as players.
const SEARCHES: &[&str] = &["ismcts", "hyperplay", "hyperplay-ii", "iss", "cfr", "uct"];
/// Other players that meet the searches.
const OTHERS: &[&str] = &["random", "ludex"];

/// Games of one role in the published tables, with their names there.
const PUBLISHED: &[(&str, &str)] = &[
    ("guess-dice", "GuessDice"),
    ("mastermind448", "MasterMind"),
    ("montyhall", "Monty Hall"),
    ("monty-hall", "Monty Hall"),
    ("vacuum-cleaner-random", "Vaccum Cleaner Random"),
    ("wumpus", "Wumpus"),
];

const HEADER: &str =
    "game\tplayers\tclock\tround\tfirst\tsecond\tlate\tillegal\tfallbacks\tmoves\tseconds";
const BELIEF_HEADER: &str = "game\tmatches\tsteps\texact\tmissing\tlost\tmodel_gain\tmodel_steps";
/// Random matches in which beliefs are checked.
const N_BELIEF_MATCHES: usize = 1_000;
/// Longest time for one step of one role in them.
const BELIEF_TIME: Duration = Duration::from_millis(4);
/// Matches of a game that measure the opponent model.
const N_MODEL_MATCHES: usize = 6;
/// Longest time for them.
const MODEL_TIME: Duration = Duration::from_secs(20);
/// Seconds before the first move.
const START_CLOCK: &str = "1";
/// Matches of a round in a game of one role.
const N_ALONE: usize = 10;

/// Plays the searches, one thread a player.
fn hidden(run: &Run, options: &Options) -> Result<()> {
    let beliefs = Table::open(run, "beliefs", BELIEF_HEADER)?;
    let table = Table::open(run, "hidden", HEADER)?;
    let budget = Budget::minutes(Some(options.minutes));
    if !budget.is_over() {
        let games = games(&options.games)?;
        count(&beliefs, &games)?;
        let ludex = build_ludex()?;
        let mut seats: BTreeMap<String, usize> = BTreeMap::new();
        for rules in &games {
            seats.insert(rules.name.clone(), n_roles(&ludex, &rules.path.display().to_string())?);
        }
        while !budget.is_over() {
            let mut open = open_series(&table, &games, &seats, options)?;
            // Series with the fewest rounds come first.
            open.sort_by_key(|&(_, _, round)| round);
            let Some(least) = open.first().map(|&(_, _, round)| round) else { break };
            for (rules, players, round) in open.into_iter().filter(|series| series.2 == least) {
                if budget.is_over() {
                    break;
                }
                play_round(&ludex, &table, rules, &players, options.clock, round)?;
            }
        }
    }
    summarize(run, &table, &beliefs)
}

/// The requested rulesheets that have percepts, or all.
fn games(names: &[String]) -> Result<Vec<RulesFile>> {
    let all = corpus(&shared_folder()?).into_iter().chain(library());
    let is_wanted = |rules: &RulesFile| names.is_empty() || names.contains(&rules.name);
    let hides = |rules: &RulesFile| rules.text().contains("(sees ");
    let found: Vec<RulesFile> = all.filter(|rules| is_wanted(rules) && hides(rules)).collect();
    ensure!(!found.is_empty(), "none of these games has `sees` rules");
    Ok(found)
}

/// Checks in random matches that the true state is in the belief, and measures the opponent model.
fn count(table: &Table, games: &[RulesFile]) -> Result<()> {
    let each = N_BELIEF_MATCHES.div_ceil(games.len());
    let flat = SearchSpec::parse("flat").expect("a registered search");
    for rules in games {
        if table.has(&[&rules.name]) {
            continue;
        }
        let Some(game) = ludex_tests::machine(rules) else { continue };
        let found = count_beliefs(&game, each, Seed(1), BELIEF_TIME);
        let BeliefCount { n_matches, n_steps, n_exact, n_missing, n_lost } = found;
        let deadline = Deadline::after(MODEL_TIME);
        let (gain, n_gains) = model_gain(&game, &flat, N_MODEL_MATCHES, Seed(1), &deadline);
        let mut row = vec![rules.name.clone()];
        row.extend([n_matches, n_steps, n_exact, n_missing, n_lost].map(|n| n.to_string()));
        row.extend([format!("{gain:.4}"), n_gains.to_string()]);
        table.append(&row)?;
    }
    Ok(())
}

/// The series to play: game, players, and the number of the next round.
fn open_series<'g>(
    table: &Table,
    games: &'g [RulesFile],
    seats: &BTreeMap<String, usize>,
    options: &Options,
) -> Result<Vec<(&'g RulesFile, String, usize)>> {
    let mut n_rounds: BTreeMap<(String, String), usize> = BTreeMap::new();
    let clock = options.clock.to_string();
    for row in table.rows()?.into_iter().filter(|row| row.get(2) == Some(&clock)) {
        let round: usize = row.get(3).and_then(|cell| cell.parse().ok()).unwrap_or(0);
        let entry = n_rounds.entry((row[0].clone(), row[1].clone())).or_default();
        *entry = (*entry).max(round + 1);
    }
    let is_wanted = |name: &&&str| {
        options.players.is_empty() || options.players.iter().any(|wanted| wanted == **name)
    };
    let wanted: Vec<&str> = SEARCHES.iter().chain(OTHERS).filter(is_wanted).copied().collect();
    let mut open = Vec::new();
    for rules in games {
        let mut players: Vec<String> = Vec::new();
        match seats[&rules.name] {
            0 => {}
            1 => players.extend(wanted.iter().map(ToString::to_string)),
            _ => {
                for (idx, first) in wanted.iter().enumerate() {
                    let later = wanted[idx + 1..].iter();
                    players.extend(later.map(|second| format!("{first},{second}")));
                }
            }
        }
        for players in players {
            let round = n_rounds.get(&(rules.name.clone(), players.clone())).copied();
            open.push((rules, players, round.unwrap_or(0)));
        }
    }
    Ok(open)
}

/// Plays a round: an exchange of seats, or some matches of one player alone.
fn play_round(
    ludex: &Path,
    table: &Table,
    rules: &RulesFile,
    players: &str,
    clock: u64,
    round: usize,
) -> Result<()> {
    let is_alone = !players.contains(',');
    let n_matches = if is_alone { N_ALONE } else { 2 };
    let seconds = (clock as f64 / 1_000.0).to_string();
    let began = Instant::now();
    let report = play(ludex, &rules.path, players, n_matches, round, [START_CLOCK, &seconds])?;
    let took = format!("{:.1}", began.elapsed().as_secs_f64());
    let append = |first: &str, second: &str, is_first: bool| {
        // The lapses and the time of a round are in its first row.
        let of = |key: &str| match (&report, is_first) {
            (Some(report), true) => sum(report, key).to_string(),
            _ => "0".into(),
        };
        table.append(&[
            rules.name.as_str(),
            players,
            &clock.to_string(),
            &round.to_string(),
            first,
            second,
            &of("late"),
            &of("illegal"),
            &of("fallbacks"),
            &of("moves"),
            if is_first { &took } else { "0" },
        ])
    };
    let Some(report) = &report else { return append("", "", true) };
    let matches = report["matches"].as_array().cloned().unwrap_or_default();
    let exchanges = report["share"]["goals"].as_array().cloned().unwrap_or_default();
    for (idx, goals) in exchanges.iter().enumerate() {
        append(&goals[0].to_string(), &goals[1].to_string(), idx == 0)?;
    }
    if !exchanges.is_empty() {
        return Ok(());
    }
    // A player alone, or roles with the same goals: one row for each match.
    for (idx, played) in matches.iter().enumerate() {
        let seats = played["players"].as_array();
        let seat =
            seats.and_then(|seats| seats.iter().position(|seat| !seat.is_null())).unwrap_or(0);
        append(&played["goals"][seat].to_string(), "", idx == 0)?;
    }
    Ok(())
}

/// Separates a game from its clock in the report.
const AT: &str = " at ";

/// The rows of one game and its players.
#[derive(Default)]
struct SeriesRows {
    goals: Vec<f64>,
    exchanges: Vec<Exchange>,
    /// Late, illegal, fallbacks, moves.
    lapses: [u64; 4],
}

fn summarize(run: &Run, table: &Table, beliefs: &Table) -> Result<()> {
    let mut series: BTreeMap<(String, String), SeriesRows> = BTreeMap::new();
    let mut clocks: Vec<String> = Vec::new();
    for row in table.rows()? {
        let number = |idx: usize| row.get(idx).and_then(|cell| cell.parse::<f64>().ok());
        if !clocks.contains(&row[2]) {
            clocks.push(row[2].clone());
        }
        // In the report, a game with another clock has rows of its own.
        let game = if row[2] == clocks[0] {
            row[0].clone()
        } else {
            format!("{}{AT}{} ms", row[0], row[2])
        };
        let entry = series.entry((game, row[1].clone())).or_default();
        match (number(4), number(5)) {
            (Some(first), Some(second)) => entry.exchanges.push(Exchange { first, second }),
            (Some(goal), None) => entry.goals.push(goal),
            _ => {}
        }
        for (idx, lapse) in entry.lapses.iter_mut().enumerate() {
            *lapse += number(6 + idx).unwrap_or(0.0) as u64;
        }
    }
    let mut text = format!(
        "# Hidden information\n\n{}: {} ms a move unless another time is given, start clock 1 s, one thread a player.\n{} {}\n\n",
        run.made_by("hidden"),
        clocks.first().map_or("", String::as_str),
        table.commits_in_words()?,
        beliefs.commits_in_words()?,
    );
    write_beliefs(&mut text, beliefs)?;
    write_alone(&mut text, &series)?;
    write_duels(&mut text, &series)?;
    write_teams(&mut text, &series)?;
    writeln!(text, "\n{}", lapses_in_words(series.values().map(|found| found.lapses)))?;
    table.describe(&text)
}

fn write_beliefs(text: &mut String, beliefs: &Table) -> Result<()> {
    let mut sums = [0_u64; 5];
    let rows = beliefs.rows()?;
    for row in &rows {
        let cells = row[1..].iter().map(|cell| cell.parse::<u64>().unwrap_or(0));
        sums.iter_mut().zip(cells).for_each(|(sum, more)| *sum += more);
    }
    let [matches, steps, exact, missing, lost] = sums;
    writeln!(
        text,
        "## Beliefs\n\nIn {matches} random matches of {} games, roles were followed for {steps} steps, until their possible states became a sample (`beliefs.tsv`).\n\
         After {exact} of these steps the set of possible states was exact; it lacked the true state {missing} times, and no consistent state was known {lost} times.\n",
        rows.len()
    )?;
    writeln!(
        text,
        "The factor by which the opponent model raises the probability of the true state over uniformly random opponents, when the roles play by `flat` with few iterations; 1 is no gain:\n\n\
         | game | factor (geometric mean) | steps |\n| --- | --- | --- |"
    )?;
    for row in rows.iter().filter(|row| row.get(7).is_some_and(|n| n != "0")) {
        let gain: f64 = row[6].parse().unwrap_or(0.0);
        writeln!(text, "| {} | {:.3} | {} |", row[0], gain.exp(), row[7])?;
    }
    writeln!(text)?;
    Ok(())
}

fn write_alone(text: &mut String, series: &BTreeMap<(String, String), SeriesRows>) -> Result<()> {
    let published = published();
    writeln!(
        text,
        "## One role\n\nMean goals with their 95 % intervals and the number of matches; the last column is the best published figure of tables 4.7 to 4.9, if they contain the game (15 s a move, start clock 180 s).\n"
    )?;
    let names: Vec<&str> = SEARCHES.iter().chain(OTHERS).copied().collect();
    writeln!(text, "| game | {} | published |", names.join(" | "))?;
    writeln!(text, "| --- |{}", " --- |".repeat(names.len() + 1))?;
    let is_alone = |players: &str| !players.contains(',');
    for game in games_of(series, |players, rows| is_alone(players) && !rows.goals.is_empty()) {
        let cells: Vec<String> = names
            .iter()
            .map(|name| match series.get(&(game.clone(), name.to_string())) {
                Some(rows) => goal_cell(&rows.goals),
                None => String::new(),
            })
            .collect();
        let name = game.split(AT).next();
        let known = PUBLISHED.iter().find(|it| Some(it.0) == name);
        let known = known.and_then(|it| published.get(it.1).cloned()).unwrap_or_default();
        writeln!(text, "| {game} | {} | {known} |", cells.join(" | "))?;
    }
    Ok(())
}

/// The cell of a mean goal, with its interval and the number of matches; empty without matches.
fn goal_cell(goals: &[f64]) -> String {
    let rewards: Vec<f64> = goals.iter().map(|goal| goal / 100.0).collect();
    estimate(&rewards).map_or_else(String::new, |reward| {
        let Estimate { mean, low, high } = reward.scaled(100.0);
        format!("{mean:.1} ({low:.1} to {high:.1}; {})", goals.len())
    })
}

/// For each game of the published table for one role, the best figure and its player.
fn published() -> BTreeMap<String, String> {
    let Ok(table) = Published::thesis("thesis-4.7-macucb2-gdl2-single.tsv") else {
        return BTreeMap::new();
    };
    let best = |(name, cells): (&str, &[String])| {
        let number = |idx: usize| cells[idx].parse::<f64>().unwrap_or(0.0);
        let best = (0..cells.len()).max_by(|&a, &b| number(a).total_cmp(&number(b)))?;
        Some((name.to_string(), format!("{} ({})", cells[best], table.columns()[best + 1])))
    };
    table.by_name().into_iter().filter_map(best).collect()
}

fn write_duels(text: &mut String, series: &BTreeMap<(String, String), SeriesRows>) -> Result<()> {
    writeln!(
        text,
        "\n## Two roles and more\n\nMean share of the row against the column over all games at the first clock, with its 95 % interval and the number of games; equal play is 50 %.\n"
    )?;
    let names: Vec<&str> = SEARCHES.iter().chain(OTHERS).copied().collect();
    writeln!(text, "| | {} |", names.join(" | "))?;
    writeln!(text, "| --- |{}", " --- |".repeat(names.len()))?;
    for row in &names {
        let mut cells = Vec::new();
        for column in &names {
            let shares: Vec<Estimate> = games_of(series, |_, _| true)
                .iter()
                .filter(|game| !game.contains(AT))
                .filter_map(|game| share(series, game, row, column))
                .collect();
            cells.push(mean_share(&shares));
        }
        writeln!(text, "| {row} | {} |", cells.join(" | "))?;
    }
    writeln!(text, "\nShare of each search against `uct` and `random` by game (matches):\n")?;
    let against: Vec<(&str, &str)> = ["uct", "random"]
        .into_iter()
        .flat_map(|other| {
            names
                .iter()
                .filter(move |name| **name != other && **name != "random")
                .map(move |name| (*name, other))
        })
        .collect();
    let heads: Vec<String> =
        against.iter().map(|(name, other)| format!("{name}, {other}")).collect();
    writeln!(text, "| game | {} |\n| --- |{}", heads.join(" | "), " --- |".repeat(heads.len()))?;
    for game in games_of(series, |_, rows| !rows.exchanges.is_empty()) {
        let cell = |(name, other): &(&str, &str)| match share(series, &game, name, other) {
            Some(it) => share_cell(&it, exchanges(series, &game, name, other).len() * 2),
            None => String::new(),
        };
        let cells: Vec<String> = against.iter().map(cell).collect();
        writeln!(text, "| {game} | {} |", cells.join(" | "))?;
    }
    Ok(())
}

/// Writes the section on games whose roles have the same goals.
fn write_teams(text: &mut String, series: &BTreeMap<(String, String), SeriesRows>) -> Result<()> {
    let is_team = |players: &str| players.contains(',');
    let games = games_of(series, |players, rows| is_team(players) && !rows.goals.is_empty());
    if games.is_empty() {
        return Ok(());
    }
    writeln!(
        text,
        "\nIn games whose roles have the same goals: the mean goal of each search over its teams with the other players, and the number of matches:\n"
    )?;
    let names: Vec<&str> = SEARCHES.iter().chain(OTHERS).copied().collect();
    writeln!(text, "| game | {} |\n| --- |{}", names.join(" | "), " --- |".repeat(names.len()))?;
    for game in games {
        let cell = |name: &&str| {
            let is_in = |players: &str| players.split(',').any(|it| it == *name);
            let found = series.iter().filter(|((of, players), _)| *of == game && is_in(players));
            let goals: Vec<f64> = found.flat_map(|(_, rows)| rows.goals.iter().copied()).collect();
            goal_cell(&goals)
        };
        let cells: Vec<String> = names.iter().map(cell).collect();
        writeln!(text, "| {game} | {} |", cells.join(" | "))?;
    }
    Ok(())
}

fn mean_share(shares: &[Estimate]) -> String {
    if shares.is_empty() {
        return String::new();
    }
    let Estimate { mean, low, high } = mean_over_games(shares);
    format!("{mean:.1} ({low:.1} to {high:.1}; {})", shares.len())
}

fn exchanges(
    series: &BTreeMap<(String, String), SeriesRows>,
    game: &str,
    name: &str,
    other: &str,
) -> Vec<Exchange> {
    let of = |players: String| series.get(&(game.to_string(), players));
    if let Some(rows) = of(format!("{name},{other}")) {
        return rows.exchanges.clone();
    }
    let swapped = |exchange: &Exchange| Exchange { first: exchange.second, second: exchange.first };
    of(format!("{other},{name}"))
        .map_or_else(Vec::new, |rows| rows.exchanges.iter().map(swapped).collect())
}

fn share(
    series: &BTreeMap<(String, String), SeriesRows>,
    game: &str,
    name: &str,
    other: &str,
) -> Option<Estimate> {
    let found = exchanges(series, game, name, other);
    Comparison::new(found).map(|compared| compared.share.scaled(100.0))
}

fn games_of(
    series: &BTreeMap<(String, String), SeriesRows>,
    is_wanted: impl Fn(&str, &SeriesRows) -> bool,
) -> Vec<String> {
    let found = series.iter().filter(|((_, players), rows)| is_wanted(players, rows));
    let mut games: Vec<String> = found.map(|((game, _), _)| game.clone()).collect();
    games.dedup();
    games
}
