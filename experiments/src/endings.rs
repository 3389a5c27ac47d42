//! Do random games end alike in lanes, on the cursor and by the reasoner? Compares the goals and lengths of many
//! playouts by chi-square tests.

use std::fmt::Write as _;
use std::slice;
use std::time::Duration;

use anyhow::{Result, bail};
use clap::{Args, FromArgMatches as _};
use ludex_base::{Deadline, Seed};
use ludex_machine::PlayoutStyle;
use ludex_testkit::statistics::Endings;
use ludex_testkit::{RulesFile, corpus, in_parallel};
use ludex_tests::{machine, reasoner};
use serde::{Deserialize, Serialize};
use xtask::tools::{select, shared_folder};

use crate::registry::Experiment;
use crate::run::Run;
use crate::tables::Form;

pub static EXPERIMENT: Experiment = Experiment {
    name: "endings",
    question: "Do random games end alike in lanes, on the cursor and by the reasoner?",
    command: "cargo experiment endings",
    table: "endings.tsv, endings.md",
    options: Options::augment_args,
    run: |run, given| compare_all(run, &Options::from_arg_matches(given)?),
};

#[derive(Args)]
struct Options {
    /// Only these games
    games: Vec<String>,
    /// Playouts of each game in lanes, and again on the cursor
    #[arg(long, default_value_t = 100_000)]
    playouts: u64,
    /// Seconds for each game by the reasoner
    #[arg(long, default_value_t = 60)]
    reasoner_seconds: u64,
}

/// Games with turns and with simultaneous moves, of one role and more, with and without hidden information.
const GAMES: &[&str] = &[
    "ticTacToe",
    "connectFour",
    "breakthrough",
    "breakthroughSmall",
    "knightThrough",
    "reversi",
    "englishDraughts",
    "amazons_8x8",
    "pentago",
    "connectFourLarger",
    "sheepAndWolf",
    "blocker",
    "nineBoardTicTacToe",
    "chineseCheckers2",
    "eightPuzzle",
    "biddingTicTacToe",
    "connectFourSimultaneous",
    "tictactoe_3player",
    "tron_10x10",
    "blindtictactoe",
];

/// The probability that some comparison fails although all engines are right.
const LEVEL: f64 = 0.01;

#[derive(Serialize, Deserialize)]
struct Row {
    name: String,
    n_lanes: u64,
    n_cursor: u64,
    n_reasoner: u64,
    lengths: [f64; 3],
    /// The probabilities by the tests of goals and lengths in lanes, compared with the cursor and then with
    /// the reasoner.
    tests: [f64; 4],
}

/// Plays each game in lanes, on the cursor and by the reasoner and compares goals and lengths.
fn compare_all(run: &Run, options: &Options) -> Result<()> {
    let &Options { playouts: n_playouts, reasoner_seconds, .. } = options;
    let names: Vec<String> = match &options.games[..] {
        [] => GAMES.iter().map(ToString::to_string).collect(),
        names => names.to_vec(),
    };
    let games = select(corpus(&shared_folder()?), &names)?;
    let level = LEVEL / (4 * games.len()) as f64;
    let time = Duration::from_secs(reasoner_seconds);
    let settings = format!("--playouts {n_playouts} --reasoner-seconds {reasoner_seconds}");
    let finished = run.finished("endings", &settings)?;
    let rows = in_parallel(&games, |rules| {
        let row = finished.part(&rules.name, || Ok(compare(rules, n_playouts, time)))?;
        if let Some(row) = &row {
            eprintln!("{}: {:?}", row.name, row.tests);
        }
        Ok(row)
    });
    let rows = rows.into_iter().collect::<Result<Vec<Option<Row>>>>()?;
    let header = [
        "game",
        "lanes",
        "cursor",
        "reasoner",
        "length lanes",
        "length cursor",
        "length reasoner",
        "p goals cursor",
        "p lengths cursor",
        "p goals reasoner",
        "p lengths reasoner",
    ];
    let mut tsv = run.rows(Form::Tsv, &header);
    let mut table = run.rows(
        Form::Markdown,
        &[
            "game",
            "lanes",
            "cursor",
            "reasoner",
            "mean lengths",
            "goals, cursor",
            "lengths, cursor",
            "goals, reasoner",
            "lengths, reasoner",
        ],
    );
    let mut markdown = format!(
        "# Random games end alike on every engine\n\n\
         {}.\n\
         Goals (of all roles together) and lengths of playouts in lanes, compared with playouts on the cursor and on the reasoner \
         by the chi-square test of two samples; rare categories are merged, lengths are in at most 24 classes.\n\
         `p` is the probability of a difference at least as large if the distributions are equal.\n\
         The level of all comparisons together is {LEVEL}, so that of each is {level:.6}.\n\n",
        run.made_by(&format!(
            "endings --playouts {n_playouts} --reasoner-seconds {reasoner_seconds}"
        )),
    );
    let mut n_wrong = 0;
    for row in rows.iter().flatten() {
        n_wrong += row.tests.iter().filter(|&&p| p < level).count();
        let counts = [row.n_lanes, row.n_cursor, row.n_reasoner].map(|n| n.to_string());
        let lengths = row.lengths.map(|length| format!("{length:.3}"));
        let tests = row.tests.map(|p| format!("{p:.4}"));
        let of =
            |lengths: &[String]| [slice::from_ref(&row.name), &counts, lengths, &tests].concat();
        tsv.push(&of(&lengths));
        table.push(&of(&[lengths.join(", ")]));
    }
    markdown += table.text();
    let n_rows = rows.iter().flatten().count();
    writeln!(markdown, "\n{n_wrong} of {} comparisons fail.", 4 * n_rows)?;
    run.write("endings", &tsv, &markdown)?;
    finished.remove()?;
    println!("{n_wrong} of {} comparisons fail", 4 * n_rows);
    if n_wrong > 0 || n_rows < games.len() {
        bail!("{n_wrong} comparisons fail, {} games were not played", games.len() - n_rows);
    }
    Ok(())
}

fn compare(rules: &RulesFile, n_playouts: u64, time: Duration) -> Option<Row> {
    let machine = machine(rules)?;
    let wide = machine.clone().with_playouts(PlayoutStyle::Wide);
    let (never, seed) = (Deadline::never(), Seed(12));
    let lanes = Endings::of(&wide, n_playouts, &never, &mut seed.child(0).rng());
    let cursor = Endings::of(&machine, n_playouts, &never, &mut seed.child(1).rng());
    let reasoner = reasoner(rules)?;
    let by_rules =
        Endings::of(&reasoner, n_playouts, &Deadline::after(time), &mut seed.child(2).rng());
    Some(Row {
        name: rules.name.clone(),
        n_lanes: lanes.n_playouts,
        n_cursor: cursor.n_playouts,
        n_reasoner: by_rules.n_playouts,
        lengths: [&lanes, &cursor, &by_rules].map(Endings::mean_length),
        tests: [
            lanes.compare_goals(&cursor),
            lanes.compare_lengths(&cursor),
            lanes.compare_goals(&by_rules),
            lanes.compare_lengths(&by_rules),
        ]
        .map(|test| test.p),
    })
}
