//! How much do improvements of searches gain? Each policy of the Monte Carlo searches, and each evaluation of the
//! depth-first ones, plays against the search it improves; searches for puzzles are compared by their goals.
//!
//! Rounds go over all pairs and games, as in `strength`. A series is done when the sequential test finds the
//! stronger player or all its matches are played. The report can be made from the tables at any time.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use clap::{Args, FromArgMatches as _};
use ludex_referee::{Comparison, Decision, Estimate, estimate};
use xtask::tools::build_ludex;

use crate::matches::{find_game, play};
use crate::registry::Experiment;
use crate::run::Run;
use crate::series::{
    Budget, PairSeries, Round, header, lapses_in_words, mean_over_games, play_round, series_of,
    share_cell,
};
use crate::tables::Table;

pub static EXPERIMENT: Experiment = Experiment {
    name: "improvements",
    question: "Which policies and evaluations make a search stronger, and which search suits puzzles?",
    command: "cargo experiment improvements",
    table: "improvements.tsv, improvements_puzzles.tsv, improvements.md",
    options: Options::augment_args,
    run: |run, given| improvements(run, &Options::from_arg_matches(given)?),
};

#[derive(Args)]
struct Options {
    /// Only these games and puzzles
    games: Vec<String>,
    /// Only this improvement, by its name in the report, and no puzzles; can be repeated
    #[arg(long)]
    pair: Vec<String>,
    /// Most matches of a pair on a game, and of a search on a puzzle
    #[arg(long, default_value_t = 32)]
    count: usize,
    /// Begin no more rounds after this many minutes; 0 only makes the report
    #[arg(long)]
    minutes: Option<f64>,
}

/// An improved search and the search it is compared with.
struct Pair {
    name: &'static str,
    /// The search with the improvement.
    improved: &'static str,
    /// The search without it.
    plain: &'static str,
    /// Start clock and play clock.
    clocks: [&'static str; 2],
}

const PAIRS: &[Pair] = &[
    playouts("NST", "nst", "uct"),
    playouts("MAST, Gibbs", "mast:draw=gibbs", "uct"),
    playouts("MAST, greedy", "mast:draw=greedy", "uct"),
    playouts("TO-MAST", "to-mast:draw=greedy", "uct"),
    playouts("progressive history", "history:c=0.3", "uct"),
    playouts("early end", "uct:stop=4", "uct"),
    playouts("PAST", "past", "uct"),
    playouts("FAST", "fast", "uct"),
    playouts("GRAVE with NST", "grave:playout=nst,draw=greedy", "grave"),
    playouts("GRAVE with NST, not in lanes", "grave:playout=nst,draw=greedy", LANES),
    playouts("progressive history in lanes", "history:c=0.3,leaves=32,playouts=8", LANES),
    depth("rules", BY_RULES, "alphabeta:proximity=0"),
    depth("rules, graded too", "alphabeta:proximity=0,rules=4,graded=yes", BY_RULES),
    depth("rules in place of fluents", BY_RULES, "alphabeta:proximity=0,learned=4"),
];

const fn playouts(name: &'static str, improved: &'static str, plain: &'static str) -> Pair {
    Pair { name, improved, plain, clocks: CLOCKS }
}

/// A pair of depth-first searches, with a longer start clock because they learn in it.
const fn depth(name: &'static str, improved: &'static str, plain: &'static str) -> Pair {
    Pair { name, improved, plain, clocks: ["3", "0.05"] }
}

/// Alpha-beta with features of the rules.
const BY_RULES: &str = "alphabeta:proximity=0,rules=4";

/// The tree search of the flagship in games where lanes are much faster.
const LANES: &str = "grave:leaves=32,playouts=8";

/// Board games of many kinds with their number of roles; the last two have three roles and simultaneous moves.
const GAMES: &[(&str, usize)] = &[
    ("connectFour", 2),
    ("breakthrough", 2),
    ("knightThrough", 2),
    ("reversi", 2),
    ("hex", 2),
    ("englishDraughts", 2),
    ("amazons_8x8", 2),
    ("pentago", 2),
    ("quarto", 2),
    ("dotsAndBoxes", 2),
    ("kalaha5x2x3", 2),
    ("ttcc4", 3),
    ("biddingTicTacToe", 2),
];

/// Matches of a round for each role.
const PER_ROLE: usize = 4;
/// Start clock and play clock of the Monte Carlo searches.
const CLOCKS: [&str; 2] = ["0.5", "0.025"];

/// Searches that are compared on puzzles.
const PUZZLE_SEARCHES: &[&str] = &["uct", "nmcs", "nmcs:level=3", "nrpa", "uct-nested"];
/// Puzzles whose goals distinguish the searches.
const PUZZLES: &[&str] = &[
    "pegEuro",
    "rubiksCube",
    "solitaireChineseCheckers",
    "hidato37",
    "knightsTourLarge",
    "mineClearingSmall",
    "max_knights",
    "queens12ug",
    "sudokuGrade2",
    "snakeParallel",
    "nonogram_10x10_1",
    "pancakes",
    "asteroidsSerial",
];
const PUZZLE_MATCHES: usize = 2;
const PUZZLE_CLOCKS: [&str; 2] = ["1", "0.1"];

/// Plays all series that are not decided, and a round of puzzles after each round unless improvements are named.
fn improvements(run: &Run, options: &Options) -> Result<()> {
    let table = Table::open(run, "improvements", &header("improvement"))?;
    let puzzles = Table::open(run, "improvements_puzzles", "game\tsearch\tround\tgoals")?;
    let ludex = build_ludex()?;
    let budget = Budget::minutes(options.minutes);
    let with_puzzles = options.pair.is_empty();
    for round in 0.. {
        let open = open_pairs(&table, options)?;
        for &(game, n_roles, pair_idx, round) in &open {
            if budget.is_over() {
                break;
            }
            let Pair { name: pair, improved, plain, clocks } = PAIRS[pair_idx];
            let players = &format!("{improved},{plain}");
            let n_matches = PER_ROLE * n_roles;
            play_round(&ludex, &table, &Round { game, pair, players, round, n_matches, clocks })?;
        }
        if with_puzzles {
            play_puzzles(&ludex, &puzzles, options, round, &budget)?;
        }
        let more_puzzles = with_puzzles && (round + 1) * PUZZLE_MATCHES < options.count;
        if (open.is_empty() && !more_puzzles) || budget.is_over() {
            break;
        }
    }
    describe(run, &table, &puzzles)
}

fn is_wanted(options: &Options, game: &str) -> bool {
    options.games.is_empty() || options.games.iter().any(|name| name == game)
}

/// The undecided series, fewest rounds first: the game, its number of roles, the index of the pair, and the
/// number of the next round.
fn open_pairs(
    table: &Table,
    options: &Options,
) -> Result<Vec<(&'static str, usize, usize, usize)>> {
    let done = series_of(table)?;
    let mut open = Vec::new();
    for &(game, n_roles) in GAMES.iter().filter(|(game, _)| is_wanted(options, game)) {
        for (pair_idx, pair) in PAIRS.iter().enumerate() {
            if !options.pair.is_empty() && options.pair.iter().all(|name| name != pair.name) {
                continue;
            }
            let series = done.get(&[game, pair.name].map(String::from));
            let is_known = series.is_some_and(|series| series.decision() != Decision::Open);
            if series.map_or(0, PairSeries::n_matches) < options.count && !is_known {
                open.push((game, n_roles, pair_idx, series.map_or(0, |series| series.n_rounds)));
            }
        }
    }
    open.sort_by_key(|&(_, _, _, round)| round);
    Ok(open)
}

/// Plays one round of every search on every puzzle, unless the table has it already.
fn play_puzzles(
    ludex: &Path,
    table: &Table,
    options: &Options,
    round: usize,
    budget: &Budget,
) -> Result<()> {
    let is_done = |row: &Vec<String>| (row[0].clone(), row[1].clone(), row[2].clone());
    let done: BTreeSet<(String, String, String)> = table.rows()?.iter().map(is_done).collect();
    for game in PUZZLES.iter().filter(|game| is_wanted(options, game)) {
        for search in PUZZLE_SEARCHES {
            let key = (game.to_string(), search.to_string(), round.to_string());
            if done.contains(&key) || budget.is_over() {
                continue;
            }
            let path = find_game(game)?;
            let played = play(ludex, &path, search, PUZZLE_MATCHES, round, PUZZLE_CLOCKS)?;
            let Some(report) = played else { continue };
            let matches = report["matches"].as_array().into_iter().flatten();
            let goals: Vec<String> = matches.map(|it| it["goals"][0].to_string()).collect();
            table.append(&[*game, *search, &round.to_string(), &goals.join(" ")])?;
        }
    }
    Ok(())
}

/// The goals of all matches, scaled to 0..1, by puzzle and search.
fn puzzle_goals(table: &Table) -> Result<BTreeMap<(String, String), Vec<f64>>> {
    let mut all: BTreeMap<(String, String), Vec<f64>> = BTreeMap::new();
    for row in table.rows()? {
        let [game, search, _, goals] = &row[..] else { continue };
        let goals = goals.split(' ').filter_map(|goal| goal.parse::<f64>().ok());
        let entry = all.entry((game.clone(), search.clone())).or_default();
        entry.extend(goals.map(|goal| goal / 100.0));
    }
    Ok(all)
}

/// The result of a series, in percent.
struct GameResult<'a> {
    game: &'a str,
    n_matches: usize,
    share: Estimate,
}

fn describe(run: &Run, table: &Table, puzzles: &Table) -> Result<()> {
    let series = series_of(table)?;
    let mut by_pair: BTreeMap<&str, Vec<GameResult<'_>>> = BTreeMap::new();
    for ([game, pair], found) in &series {
        let Some(compared) = Comparison::new(found.exchanges.clone()) else { continue };
        let share = compared.share.scaled(100.0);
        by_pair.entry(pair).or_default().push(GameResult {
            game,
            n_matches: found.n_matches(),
            share,
        });
    }
    let mut text = format!(
        "# Improvements of searches\n\n\
         {}, one thread a player, both on one core.\n\
         A series stops when the sequential test finds the stronger player, which overstates shares far from 50 % a little.\n\
         All exchanges of seats are in `improvements.tsv`.\n\
         {} {}\n\n\
         | improvement | search | against | start clock | a move | games | matches | mean share | 95 % interval | helps on | hurts on |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
        run.made_by("improvements"),
        table.commits_in_words()?,
        puzzles.commits_in_words()?,
    );
    let mut verdicts = String::new();
    for Pair { name: pair, improved, plain, clocks } in PAIRS {
        let Some(rows) = by_pair.get(pair) else { continue };
        let Estimate { mean, low, high } = mean_over_games(rows.iter().map(|it| &it.share));
        let matches: usize = rows.iter().map(|it| it.n_matches).sum();
        let list = |is_listed: &dyn Fn(&Estimate) -> bool| {
            let games: Vec<&str> =
                rows.iter().filter(|row| is_listed(&row.share)).map(|row| row.game).collect();
            if games.is_empty() { "none".to_string() } else { games.join(", ") }
        };
        let helps = list(&|share| share.low > 50.0);
        let hurts = list(&|share| share.high < 50.0);
        writeln!(
            text,
            "| {pair} | `{improved}` | `{plain}` | {} s | {} ms | {} | {matches} | {mean:.1} | {low:.1} to {high:.1} | {helps} | {hurts} |",
            clocks[0],
            1000.0 * clocks[1].parse::<f64>()?,
            rows.len()
        )?;
        writeln!(verdicts, "- {}", in_words(pair, [low, high], &helps, &hurts))?;
    }
    writeln!(text, "\n{}", lapses_in_words(series.values().map(|found| found.lapses)))?;
    writeln!(
        text,
        "\nA policy helps on a game if the interval of its share lies wholly above 50 %, and hurts if it lies wholly below; five intervals of a hundred do so by luck alone.\n\n{verdicts}\n\
         Share by game, with its 95 % interval and the number of matches:\n\n\
         | game | {} |\n| --- |{}",
        by_pair_names(&by_pair).join(" | "),
        " --- |".repeat(by_pair.len())
    )?;
    for (game, _) in GAMES {
        let cells: Vec<String> = by_pair_names(&by_pair)
            .iter()
            .map(|pair| match by_pair[pair].iter().find(|it| it.game == *game) {
                Some(GameResult { n_matches, share, .. }) => share_cell(share, *n_matches),
                None => String::new(),
            })
            .collect();
        if cells.iter().any(|cell| !cell.is_empty()) {
            writeln!(text, "| {game} | {} |", cells.join(" | "))?;
        }
    }
    describe_puzzles(puzzles, &mut text)?;
    table.describe(&text)
}

/// The names of the played pairs, in the order of the list.
fn by_pair_names<'a>(by_pair: &BTreeMap<&'a str, Vec<GameResult<'a>>>) -> Vec<&'static str> {
    PAIRS.iter().map(|pair| pair.name).filter(|pair| by_pair.contains_key(pair)).collect()
}

fn in_words(pair: &str, [low, high]: [f64; 2], helps: &str, hurts: &str) -> String {
    let overall = match (low > 50.0, high < 50.0) {
        (true, _) => "helps over all games together",
        (_, true) => "hurts over all games together",
        _ => "makes no visible difference over all games together",
    };
    let each = match (helps, hurts) {
        ("none", "none") => "no single game shows a difference".to_string(),
        (helps, "none") => format!("it helps on {helps}"),
        ("none", hurts) => format!("it helps nowhere and hurts on {hurts}"),
        (helps, hurts) => format!("it helps on {helps} and hurts on {hurts}"),
    };
    format!("{pair} {overall}; {each}.")
}

fn describe_puzzles(table: &Table, text: &mut String) -> Result<()> {
    let goals = puzzle_goals(table)?;
    if goals.is_empty() {
        return Ok(());
    }
    writeln!(
        text,
        "\n## Puzzles\n\nMean goal with its 95 % interval and the number of matches; start clock {} s, {} ms a move, one thread.\n\n\
         | puzzle | {} |\n| --- |{}",
        PUZZLE_CLOCKS[0],
        1000.0 * PUZZLE_CLOCKS[1].parse::<f64>()?,
        PUZZLE_SEARCHES.join(" | "),
        " --- |".repeat(PUZZLE_SEARCHES.len())
    )?;
    let of = |game: &str, search: &str| {
        let goals = goals.get(&(game.to_string(), search.to_string()))?;
        Some((estimate(goals)?.scaled(100.0), goals.len()))
    };
    for game in PUZZLES {
        let cell = |search: &&str| match of(game, search) {
            Some((goal, n)) => share_cell(&goal, n),
            None => String::new(),
        };
        let cells: Vec<String> = PUZZLE_SEARCHES.iter().map(cell).collect();
        writeln!(text, "| {game} | {} |", cells.join(" | "))?;
    }
    let plain = PUZZLE_SEARCHES[0];
    let (mut means, mut gains) = (Vec::new(), Vec::new());
    for search in PUZZLE_SEARCHES {
        let both =
            PUZZLES.iter().filter_map(|game| Some((of(game, search)?.0, of(game, plain)?.0)));
        let both: Vec<(Estimate, Estimate)> = both.collect();
        let Estimate { mean, low, high } = mean_over_games(both.iter().map(|it| &it.0));
        means.push(format!("{mean:.1} ({low:.1} to {high:.1})"));
        let Estimate { mean: of_plain, low: plain_low, .. } =
            mean_over_games(both.iter().map(|it| &it.1));
        let (gain, half) = (mean - of_plain, (mean - low).hypot(of_plain - plain_low));
        gains.push(if *search == plain {
            String::new()
        } else {
            format!("{gain:+.1} ({:+.1} to {:+.1})", gain - half, gain + half)
        });
    }
    writeln!(text, "| mean | {} |", means.join(" | "))?;
    writeln!(text, "| gain over `{plain}` | {} |", gains.join(" | "))?;
    Ok(())
}
