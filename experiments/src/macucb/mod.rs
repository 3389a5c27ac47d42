//! How strong is MAC-UCB, as published and as a tree search, beside the published experiments on it?
//!
//! Rounds go over all pairs of all experiments, so that a run that is stopped early covers a little of
//! everything. Each round appends its matches to one table. A pair is done when the sequential test finds the
//! stronger player or all its matches are played. The report and the plot can be made from the table at any time.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use clap::{Args, FromArgMatches as _};
use ludex_referee::Decision;
use serde_json::Value;
use xtask::tools::{build_ludex, shared_folder};

use crate::command::ask;
use crate::matches::{find_game, n_roles, play, sum};
use crate::registry::Experiment;
use crate::run::Run;
use crate::series::{Budget, PairSeries, series_in};
use crate::strength::GAMES;
use crate::tables::Table;

mod report;

use report::summarize;

pub static EXPERIMENT: Experiment = Experiment {
    name: "macucb",
    question: "Is MAC-UCB as strong as the published experiments say?",
    command: "cargo experiment macucb",
    table: "macucb.tsv, macucb_work.tsv, macucb-ratio.svg, and macucb.md with the hand-written macucb-notes.md at its end",
    options: Options::augment_args,
    run: |run, given| macucb(run, &Options::from_arg_matches(given)?),
};

#[derive(Args)]
struct Options {
    /// Only these experiments: ratio, published, equal, strength, clock, hidden
    experiments: Vec<String>,
    /// Only these games
    #[arg(long, value_delimiter = ',')]
    games: Vec<String>,
    /// Most matches of a pair
    #[arg(long, default_value_t = 20)]
    count: usize,
    /// Begin no more rounds after this many minutes; 0 only makes the report
    #[arg(long)]
    minutes: Option<f64>,
}

/// One series: two players, a game, a clock and the experiment it belongs to.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Pair {
    /// `ratio`, `published`, `equal`, `strength`, `clock` or `hidden`.
    pub experiment: &'static str,
    pub game: String,
    pub first: String,
    /// Empty in a game of one role.
    pub against: String,
    /// Milliseconds a move.
    pub clock: u32,
    pub n_roles: usize,
    pub max_matches: usize,
}

/// The games of the ratio experiment: many kinds, short enough for many matches.
const RATIO_GAMES: &[&str] = &[
    "ticTacToe",
    "connectFour",
    "breakthroughSmall",
    "blocker",
    "nineBoardTicTacToe",
    "cephalopodMicro",
    "2pttc",
    "biddingTicTacToe",
    "quarto",
    "sheepAndWolf",
    "pig",
    "checkersSmall",
];
/// Percentages of the time for resolution.
pub(crate) const RATIOS: &[u32] = &[10, 30, 50, 70, 90];

/// The games of table 4.1 that are in the corpus or the library, with their names there.
pub(crate) const PUBLISHED_GAMES: &[(&str, &str)] = &[
    ("awale", "Awale"),
    ("backgammon", "Backgammon"),
    ("bomberman2p", "Bombberman"),
    ("cant-stop", "Can't Stop"),
    ("checkers", "Checkers"),
    ("chess", "Chess"),
    ("chineseCheckers3", "Chinese checkers"),
    ("hex", "Hex"),
    ("kaseklau", "Kaseklau"),
    ("orchard", "Orchard"),
    ("othello-comp2007", "Othello"),
    ("pacman3p", "Pacman"),
    ("pickomino", "Pickomino"),
    ("ticTacToe", "Tictactoe"),
    ("yahtzee", "Yathzee"),
];

/// The games of the sweep over the clock, with their names in table 4.2.
pub(crate) const CLOCK_GAMES: &[(&str, &str)] = &[
    ("awale", "Awale"),
    ("checkers", "Checkers"),
    ("hex", "Hex"),
    ("othello-comp2007", "Othello"),
    ("ticTacToe", "Tic-Tac-Toe"),
];
/// Start clock in seconds; the search encodes the network of a game in it.
pub(crate) const START_CLOCK: &str = "1";

/// The play clocks of the sweep, in milliseconds.
pub(crate) const CLOCKS: &[u32] = &[10, 25, 50, 100, 200];

/// The number of roles of games that do not have two, `random` not counted.
const ROLES: &[(&str, usize)] =
    &[("3pConnectFour", 3), ("chineseCheckers3", 3), ("3pffa", 3), ("4pttc", 4), ("pacman3p", 3)];

/// The columns of the table of work a move, by game.
const WORK_HEADER: &str = "game\tnetworks\titerations\tuct";
/// Milliseconds a move in the experiments on the published search.
const FAITHFUL_CLOCK: u32 = 50;

/// The columns of the table. Lapses are counted for all players together, and for the first alone.
const HEADER: &str = "experiment\tgame\tfirst\tagainst\tclock\tround\tgoal\tother\tlate\tillegal\tfallbacks\tmoves\t\
     first_late\tfirst_illegal\tfirst_fallbacks\tfirst_moves";

/// Plays the undecided pairs, and makes the report.
fn macucb(run: &Run, options: &Options) -> Result<()> {
    let table = Table::open(run, "macucb", HEADER)?;
    let ludex = build_ludex()?;
    let work = Table::open(run, "macucb_work", WORK_HEADER)?;
    let pairs = pairs(&ludex, &work, options)?;
    let budget = Budget::minutes(options.minutes);
    while !budget.is_over() {
        let open = open_pairs(&table, &pairs, options)?;
        if open.is_empty() {
            break;
        }
        for (pair, round) in open {
            if budget.is_over() {
                break;
            }
            play_round(&ludex, &table, &pair, round)?;
        }
    }
    summarize(run, &table, &work)
}

/// Median work of the searches in a move.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Work {
    /// Networks solved by `mac-ucb:faithful`.
    pub networks: f64,
    /// The same plus its playouts.
    pub iterations: f64,
    /// Playouts of `uct`.
    pub uct: f64,
}

/// The work in the table, by game.
pub(crate) fn work_of(table: &Table) -> Result<BTreeMap<String, Work>> {
    let mut all = BTreeMap::new();
    for row in table.rows()? {
        let number = |idx: usize| row.get(idx).and_then(|cell| cell.parse().ok()).unwrap_or(0.0);
        let work = Work { networks: number(1), iterations: number(2), uct: number(3) };
        all.insert(row[0].clone(), work);
    }
    Ok(all)
}

/// Counts the work of both searches in the moves of two matches against `random`, without moves whose value was
/// proved.
fn count_work(ludex: &Path, table: &Table, game: &str) -> Result<()> {
    let path = find_game(game)?.display().to_string();
    let clock = (f64::from(FAITHFUL_CLOCK) / 1e3).to_string();
    let reports = |player: &str| -> Result<Vec<Value>> {
        let players = format!("{player},random");
        let what = ["match", &path, "--players", &players, "--count", "2", "--verbose"];
        let clocks = ["--start-clock", START_CLOCK, "--play-clock", &clock, "--json"];
        let report = ask(ludex, &[&what[..], &clocks].concat())?.unwrap_or_default();
        let matches = report["matches"].as_array().into_iter().flatten();
        let steps = matches.flat_map(|it| it["reports"].as_array().into_iter().flatten());
        let all = steps.flat_map(|step| step.as_array().into_iter().flatten());
        let is_searched = |it: &&Value| {
            it["rung"] == "search" && it["search"] != "random" && it["proven"] != true
        };
        Ok(all.filter(is_searched).cloned().collect())
    };
    let median = |mut counts: Vec<f64>| {
        counts.sort_by(f64::total_cmp);
        counts.get(counts.len() / 2).copied().unwrap_or(0.0)
    };
    let faithful = reports("mac-ucb:faithful")?;
    let networks =
        median(faithful.iter().filter_map(|it| it["network"]["solved"].as_f64()).collect());
    let iterations = median(faithful.iter().filter_map(|it| it["iterations"].as_f64()).collect());
    let uct = median(reports("uct")?.iter().filter_map(|it| it["iterations"].as_f64()).collect());
    let cells = [networks, iterations, uct].map(|count| count.to_string());
    table.append(&[game, &cells[0], &cells[1], &cells[2]])
}

/// All series of all experiments.
fn pairs(ludex: &Path, work: &Table, options: &Options) -> Result<Vec<Pair>> {
    let wants = |name: &str| {
        options.experiments.is_empty() || options.experiments.iter().any(|it| it == name)
    };
    let mut pairs = Vec::new();
    let mut add = |experiment, game: &str, first: &str, against: &str, clock, max_matches| {
        let n_roles = ROLES.iter().find(|it| it.0 == game).map_or(2, |it| it.1);
        let (game, first, against) = (game.to_string(), first.to_string(), against.to_string());
        pairs.push(Pair { experiment, game, first, against, clock, n_roles, max_matches });
    };
    let published = PUBLISHED_GAMES.iter().map(|it| it.0);
    if wants("ratio") || wants("equal") {
        let mut wanted: Vec<&str> = RATIO_GAMES.iter().copied().chain(published.clone()).collect();
        wanted.sort_unstable();
        wanted.dedup();
        for game in wanted.into_iter().filter(|game| !work.has(&[game])) {
            count_work(ludex, work, game)?;
        }
    }
    // The opponent has as many playouts as `mac-ucb:faithful` has iterations; games without a network have no
    // such opponent.
    let work = work_of(work)?;
    let equal = |game: &str| {
        let work = work.get(game).filter(|work| work.networks > 0.0)?;
        Some(format!("uct:iterations={}", work.iterations.max(1.0)))
    };
    for game in RATIO_GAMES {
        let Some(against) = equal(game) else { continue };
        for ratio in RATIOS {
            let first = format!("mac-ucb:faithful,ratio={}", f64::from(*ratio) / 100.0);
            add("ratio", game, &first, &against, FAITHFUL_CLOCK, 8);
        }
    }
    for game in published {
        let faithful = "mac-ucb:faithful";
        for (first, against) in [(faithful, "uct"), (faithful, "fc-ucb"), ("fc-ucb", "uct")] {
            add("published", game, first, against, FAITHFUL_CLOCK, 8);
        }
        if let Some(against) = equal(game) {
            add("equal", game, faithful, &against, FAITHFUL_CLOCK, 8);
        }
    }
    for game in GAMES {
        for against in ["uct", "grave", "cfr"] {
            add("strength", game, "mac-ucb", against, 25, options.count);
        }
    }
    for (game, _) in CLOCK_GAMES {
        for clock in CLOCKS {
            add("clock", game, "mac-ucb", "uct", *clock, 8);
        }
    }
    if wants("hidden") {
        for (game, n_roles) in hidden_games(ludex)? {
            let firsts = if n_roles == 1 { &["mac-ucb", "uct", "cfr"][..] } else { &["mac-ucb"] };
            let againsts = if n_roles == 1 { &[""][..] } else { &["uct", "cfr"] };
            for (first, against) in
                firsts.iter().flat_map(|first| againsts.iter().map(move |against| (first, against)))
            {
                pairs.push(Pair {
                    experiment: "hidden",
                    game: game.clone(),
                    first: first.to_string(),
                    against: against.to_string(),
                    clock: 50,
                    n_roles,
                    max_matches: 16,
                });
            }
        }
    }
    pairs.retain(|pair| {
        wants(pair.experiment) && (options.games.is_empty() || options.games.contains(&pair.game))
    });
    Ok(pairs)
}

/// Every rulesheet with hidden information, with its number of roles.
fn hidden_games(ludex: &Path) -> Result<Vec<(String, usize)>> {
    let mut all = ludex_testkit::corpus(&shared_folder()?);
    all.extend(ludex_testkit::library());
    let mut games: BTreeMap<String, usize> = BTreeMap::new();
    for rules in all {
        let text = fs::read_to_string(&rules.path).with_context(|| rules.name.clone())?;
        let code =
            text.lines().map(|line| line.split(';').next().unwrap_or("")).collect::<String>();
        if !code.contains("(sees ") || games.contains_key(&rules.name) {
            continue;
        }
        // Games that can't be played are left out.
        let Ok(n_roles) = n_roles(ludex, &rules.path.display().to_string()) else { continue };
        games.insert(rules.name, n_roles);
    }
    Ok(games.into_iter().collect())
}

/// The undecided pairs with the number of their next round, fewest rounds first.
fn open_pairs(table: &Table, pairs: &[Pair], options: &Options) -> Result<Vec<(Pair, usize)>> {
    let done = series_of(table)?;
    let mut open = Vec::new();
    for pair in pairs {
        let series = done.get(&key(pair));
        let n_matches = series.map_or(0, PairSeries::n_matches);
        let is_known = series.is_some_and(|series| series.decision() != Decision::Open);
        if n_matches < pair.max_matches.min(options.count) && !is_known {
            open.push((pair.clone(), series.map_or(0, |series| series.n_rounds)));
        }
    }
    open.sort_by_key(|(_, round)| *round);
    Ok(open)
}

/// The cells that identify a series in the table.
pub(crate) type Key = [String; 5];

fn key(pair: &Pair) -> Key {
    let clock = pair.clock.to_string();
    [pair.experiment.into(), pair.game.clone(), pair.first.clone(), pair.against.clone(), clock]
}

/// Plays a round, in which each player takes every seat and which has at least two exchanges; in a game of one
/// role, four matches.
fn play_round(ludex: &Path, table: &Table, pair: &Pair, round: usize) -> Result<()> {
    let players = if pair.against.is_empty() {
        pair.first.clone()
    } else {
        format!("{},{}", pair.first, pair.against)
    };
    let path = find_game(&pair.game)?;
    let n_matches = if pair.against.is_empty() { 4 } else { 2 * pair.n_roles };
    let clock = (f64::from(pair.clock) / 1e3).to_string();
    let key = key(pair);
    let append = |goals: [f64; 2], lapses: [u64; 8]| {
        let mut cells: Vec<String> = key.to_vec();
        cells.extend([round.to_string(), goals[0].to_string(), goals[1].to_string()]);
        cells.extend(lapses.map(|count| count.to_string()));
        table.append(&cells)
    };
    let Some(report) = play(ludex, &path, &players, n_matches, round, [START_CLOCK, &clock])?
    else {
        // A game that can't be played is not tried again.
        return append([f64::NAN, f64::NAN], [0; 8]);
    };
    for (idx, goals) in goals_of(&report).into_iter().enumerate() {
        // The lapses of a round are in its first row.
        append(goals, if idx == 0 { lapses_of(&report) } else { [0; 8] })?;
    }
    Ok(())
}

const LAPSES: [&str; 4] = ["late", "illegal", "fallbacks", "moves"];

/// The lapses of all players, then those of the first.
fn lapses_of(report: &Value) -> [u64; 8] {
    let first = &report["players"][0];
    std::array::from_fn(|i| match LAPSES.get(i) {
        Some(name) => sum(report, name),
        None => first[LAPSES[i - 4]].as_u64().unwrap_or(0),
    })
}

/// The goals of both players in each exchange of seats. If there are no shares, because the game has one role or
/// one goal for all, two matches in a row count as an exchange; a missing player has the goal NaN.
fn goals_of(report: &Value) -> Vec<[f64; 2]> {
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    if let Some(exchanges) = report["share"]["goals"].as_array() {
        return exchanges.iter().map(|goals| [0, 1].map(|i| number(&goals[i]))).collect();
    }
    let mean = |matches: &[Value], name: &Value| {
        let goals = matches.iter().flat_map(|it| {
            let seats = it["players"].as_array().into_iter().flatten();
            let goals = it["goals"].as_array().into_iter().flatten();
            seats.zip(goals).filter(|(seat, _)| *seat == name).map(|(_, goal)| number(goal))
        });
        let goals: Vec<f64> = goals.collect();
        goals.iter().sum::<f64>() / goals.len() as f64
    };
    let of_both = |matches: &[Value]| {
        [0, 1].map(|i| match &report["players"][i]["name"] {
            Value::Null => f64::NAN,
            name => mean(matches, name),
        })
    };
    match report["matches"].as_array() {
        Some(matches) if !matches.is_empty() => matches.chunks(2).map(of_both).collect(),
        _ => vec![[f64::NAN; 2]],
    }
}

/// The series in the table, by pair.
pub(crate) fn series_of(table: &Table) -> Result<BTreeMap<Key, PairSeries>> {
    Ok(series_in(&table.rows()?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn one_goal_for_all_gives_each_exchange_its_own_goals() {
        let game = |players: [&str; 2], goals: [u8; 2]| json!({"players": players, "goals": goals});
        let report = json!({
            "players": [{"name": "a", "mean_goal": 50.0}, {"name": "b", "mean_goal": 50.0}],
            "share": null,
            "matches": [
                game(["a", "b"], [100, 100]),
                game(["b", "a"], [0, 0]),
                game(["a", "b"], [20, 20]),
                game(["b", "a"], [80, 80]),
            ],
        });
        assert_eq!(goals_of(&report), [[50.0, 50.0], [50.0, 50.0]]);
        let unlike = json!({
            "players": [{"name": "a"}, {"name": "b"}],
            "share": null,
            "matches": [game(["a", "b"], [100, 100]), game(["b", "a"], [90, 90]),
                        game(["a", "b"], [0, 0]), game(["b", "a"], [10, 10])],
        });
        assert_eq!(goals_of(&unlike), [[95.0, 95.0], [5.0, 5.0]]);
    }

    #[test]
    fn with_one_role_two_matches_count_as_an_exchange() {
        let game = |goal: u8| json!({"players": ["a", null], "goals": [goal, 7]});
        let matches: Vec<Value> = [100, 0, 30, 40].into_iter().map(game).collect();
        let report = json!({"players": [{"name": "a"}], "share": null, "matches": matches});
        let goals = goals_of(&report);
        assert_eq!(goals.iter().map(|it| it[0]).collect::<Vec<_>>(), [50.0, 35.0]);
        assert!(goals.iter().all(|it| it[1].is_nan()));
        let nothing = goals_of(&json!({"players": [], "share": null, "matches": []}));
        assert!(nothing.len() == 1 && nothing[0][0].is_nan());
    }

    #[test]
    fn shares_come_exchange_by_exchange() {
        let report = json!({"players": [], "share": {"goals": [[100.0, 0.0], [25.0, 75.0]]}});
        assert_eq!(goals_of(&report), [[100.0, 0.0], [25.0, 75.0]]);
    }

    #[test]
    fn lapses_of_the_first_player_are_counted_apart() {
        let player = |late: u64, moves: u64| json!({"late": late, "illegal": 0, "fallbacks": 3, "moves": moves});
        let report = json!({"players": [player(1, 40), player(5, 60)]});
        assert_eq!(lapses_of(&report), [6, 0, 6, 100, 1, 0, 3, 40]);
    }
}
