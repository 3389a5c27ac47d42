//! How many successors of states are found a processor second, in lanes and on a cursor?

use std::fmt::Write as _;

use anyhow::{Context as _, Result};
use clap::{Args, FromArgMatches as _};
use ludex_base::{BitSet, Deadline, Seed};
use ludex_cli::resources::cpu_time;
use ludex_game::{Children, Cursor as _, Expander, Game as _, OneByOneExpander, draw_joint};
use ludex_machine::Machine;
use ludex_pipeline::{Engine, EngineChoice};
use ludex_testkit::library;
use ludex_tests::load_for;

use crate::registry::Experiment;
use crate::run::Run;
use crate::tables::Form;

pub static EXPERIMENT: Experiment = Experiment {
    name: "children",
    question: "How many successors a processor second are found in lanes, and how many on a cursor?",
    command: "cargo experiment children",
    table: "children.tsv, children.md",
    options: Options::augment_args,
    run: |run, given| children(run, &Options::from_arg_matches(given)?),
};

#[derive(Args)]
struct Options {
    /// Processor seconds for each game and way
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
}

/// The games that are measured, all of the library.
const GAMES: [&str; 12] = [
    "connectfour",
    "tictactoe",
    "breakthrough",
    "othello6",
    "reversi",
    "hex",
    "gomoku",
    "checkers",
    "amazons",
    "nine-mens-morris",
    "eight-puzzle",
    "chess",
];

/// States of random games that each way expands again and again.
const N_STATES: usize = 4_096;

/// Measures both ways on the states of random games.
fn children(run: &Run, &Options { seconds }: &Options) -> Result<()> {
    let columns = ["game", "successors_a_state", "cursor", "lanes", "ratio"];
    let mut tsv = run.rows(Form::Tsv, &columns);
    let mut rows = run.rows(Form::Markdown, &columns);
    let (mut sum_of_logs, mut n_games) = (0.0, 0.0);
    for rules in library().iter().filter(|rules| GAMES.contains(&rules.name.as_str())) {
        let loaded = load_for(rules, EngineChoice::Circuit)?;
        let Engine::Machine(machine) = loaded.engine else { continue };
        let states = random_states(&machine);
        let mut one_by_one = OneByOneExpander::new(machine.cursor(), machine.roles().len());
        let (cursor, n_a_state) = measure(&mut one_by_one, &machine, &states, seconds)?;
        let (lanes, _) = measure(&mut *machine.expander(), &machine, &states, seconds)?;
        sum_of_logs += (lanes / cursor).ln();
        n_games += 1.0;
        eprintln!("{}: {cursor:.0} on a cursor, {lanes:.0} in lanes", rules.name);
        let cells = [
            rules.name.clone(),
            format!("{n_a_state:.1}"),
            format!("{cursor:.0}"),
            format!("{lanes:.0}"),
            format!("{:.1}", lanes / cursor),
        ];
        tsv.push(&cells);
        rows.push(&cells);
    }
    let mut markdown = format!(
        "# Successors in lanes and on a cursor\n\n\
         {}: successors a processor second, one thread, each with its state written out, and each expanded state \
         with its legal moves, whether it is terminal, and its goals.\n\
         {N_STATES} states of random games are expanded again and again.\n\n{}",
        run.made_by(&format!("children --seconds {seconds}")),
        rows.text(),
    );
    let mean = f64::exp(sum_of_logs / f64::max(n_games, 1.0));
    writeln!(markdown, "\nLanes are {mean:.1} times as fast (geometric mean).")?;
    run.write("children", &tsv, &markdown)?;
    println!("lanes are {mean:.1} times as fast");
    Ok(())
}

/// Returns states of random games.
fn random_states(machine: &Machine) -> Vec<BitSet> {
    let mut rng = Seed(1).rng();
    let mut cursor = machine.cursor();
    let mut states = Vec::with_capacity(N_STATES);
    while states.len() < N_STATES {
        states.push(cursor.state().clone());
        let is_over = cursor.is_terminal();
        match draw_joint(machine, &mut cursor, &mut rng) {
            Some(joint) if !is_over => cursor.play(&joint),
            _ => cursor = machine.cursor(),
        }
    }
    states
}

/// Returns the successors a processor second, and those a state.
fn measure(
    expander: &mut dyn Expander<State = BitSet>,
    machine: &Machine,
    states: &[BitSet],
    seconds: f64,
) -> Result<(f64, f64)> {
    let now = || Ok::<f64, anyhow::Error>(cpu_time().context("the CPU time")?.as_secs_f64());
    let mut children = Children::new(machine.roles().len());
    let (mut begun, mut n_children, mut n_parents, mut first) = (now()?, 0, 0, 0);
    let mut is_warm = false;
    loop {
        let batch = &states[first..states.len().min(first + expander.n_at_once())];
        let result = expander.expand(batch, &Deadline::never(), &mut children);
        result.map_err(|reason| anyhow::anyhow!("a state was not expanded: {reason:?}"))?;
        n_children += children.n_children();
        n_parents += children.n_parents();
        first = (first + children.n_parents()) % states.len();
        if !is_warm {
            // The first batch also makes the tapes.
            (is_warm, n_children, n_parents, begun) = (true, 0, 0, now()?);
        }
        if n_parents.is_multiple_of(64) || n_parents > 512 {
            let elapsed = now()? - begun;
            if elapsed > seconds && n_parents > 0 {
                return Ok((n_children as f64 / elapsed, n_children as f64 / n_parents as f64));
            }
        }
    }
}
