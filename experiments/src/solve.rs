//! How fast are all solutions of the networks of states found, beside the machine that expands the same states?

use std::fmt::Write as _;

use anyhow::Result;
use clap::{Args, FromArgMatches as _};
use ludex_base::{BitSet, Rng, Seed};
use ludex_cli::resources::cpu_time;
use ludex_encode::{EncodeConfig, Steps, encode};
use ludex_game::{Cursor, Game, JointMoves, count_joint_moves, draw_joint};
use ludex_machine::Machine;
use ludex_testkit::RulesFile;
use ludex_tests::machine;

use crate::matches::find_game;
use crate::registry::Experiment;
use crate::run::Run;
use crate::tables::Form;

pub static EXPERIMENT: Experiment = Experiment {
    name: "solve",
    question: "How fast are networks of states solved, beside the machine?",
    command: "cargo experiment solve",
    table: "solve.tsv, solve.md",
    options: Options::augment_args,
    run: |run, given| solve(run, &Options::from_arg_matches(given)?),
};

#[derive(Args)]
struct Options {
    /// Only these games; then no table is written
    games: Vec<String>,
    /// Seconds for each game on the network, and on the machine
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
}

/// Well-known games of all kinds.
const KNOWN: [&str; 20] = [
    "ticTacToe",
    "connectFour",
    "breakthrough",
    "checkers",
    "reversi",
    "hex",
    "amazons_8x8",
    "pentago",
    "knightThrough",
    "dotsAndBoxes",
    "blocker",
    "eightPuzzle",
    "lightsOn",
    "pegEuro",
    "asteroids",
    "chess_200",
    "sheepAndWolf",
    "kalaha5x2x3",
    "biddingTicTacToe",
    "tron_10x10",
];

/// States to solve in each game, besides the initial one.
const N_STATES: usize = 100;
/// States with more joint moves than this are left out.
const MAX_JOINT_MOVES: u64 = 10_000;

/// Measures how fast the network solves states and the machine expands them.
fn solve(run: &Run, Options { games, seconds }: &Options) -> Result<()> {
    let seconds = *seconds;
    let names: Vec<String> = if games.is_empty() {
        KNOWN.iter().map(ToString::to_string).collect()
    } else {
        games.to_vec()
    };
    let mut markdown = format!(
        "# Solving the network of a state\n\n\
         {}, one thread: the initial state \
         and {N_STATES} random ones of each game, repeatedly, for {seconds} s of processor time each way. A state \
         is solved by injecting it into the posted network and enumerating all solutions, that is \
         all joint moves with their results; the machine expands it by playing every joint move on \
         a copy of its cursor. The numbers of solutions and successors are equal.\n\n",
        run.made_by(&format!("solve --seconds {seconds}"))
    );
    let columns = ["game", "variables", "solutions_a_state", "solved", "solutions", "expanded"];
    let mut tsv = run.rows(Form::Tsv, &columns);
    let mut table = run.rows(
        Form::Markdown,
        &[
            "game",
            "variables",
            "solutions a state",
            "solved a CPU second",
            "solutions a CPU second",
            "expanded a CPU second, machine",
            "machine / network",
        ],
    );
    let finished = run.finished("solve", &format!("--seconds {seconds}"))?;
    for name in &names {
        let Some(mut cells) = finished.part(name, || compare(name, seconds))? else { continue };
        let ratio = cells.pop().expect("the last cell");
        tsv.push(&cells);
        cells.push(ratio);
        table.push(&cells);
    }
    write!(markdown, "{}", table.text())?;
    if games.is_empty() {
        run.write("solve", &tsv, &markdown)?;
    }
    print!("{markdown}");
    finished.remove()
}

/// Measures a game; returns the cells of its row, or nothing if the game can't be grounded.
fn compare(name: &str, seconds: f64) -> Result<Option<Vec<String>>> {
    let rules = RulesFile { name: name.into(), path: find_game(name)? };
    let Some(machine) = machine(&rules) else {
        eprintln!("{name} can't be grounded");
        return Ok(None);
    };
    let template = encode(machine.circuit(), &EncodeConfig::default())?;
    let states = some_states(&machine);
    let mut steps = Steps::new(&template)?;
    let network = measure(&states, seconds, |state| {
        let mut n_solutions = 0;
        if steps.inject(state) {
            steps.for_each_solution(&mut |_| {
                n_solutions += 1;
                true
            });
        }
        steps.take_back();
        n_solutions
    });
    let mut cursor = machine.cursor();
    let expansion = measure(&states, seconds, |state| expand(&machine, &mut cursor, state));
    let (solved, expanded) = (network.states_a_second, expansion.states_a_second);
    assert_eq!(network.n_round, expansion.n_round, "{name}: solutions and successors");
    let a_state = network.n_round as f64 / states.len() as f64;
    let n_variables = template.network.variables().len();
    let solutions = solved * a_state;
    let whole = |number: f64| format!("{number:.0}");
    let mut cells = vec![name.into(), n_variables.to_string(), format!("{a_state:.1}")];
    cells.extend([solved, solutions, expanded].map(whole));
    cells.push(format!("{:.1}", expanded / solved));
    eprintln!("{name}: {solved:.0} solved a second, {expanded:.0} expanded");
    Ok(Some(cells))
}

/// The initial state and random other states that are not terminal.
fn some_states(machine: &Machine) -> Vec<BitSet> {
    let mut rng: Rng = Seed(1).rng();
    let n_roles = machine.roles().len();
    let mut cursor = machine.cursor();
    let mut states = vec![cursor.state().clone()];
    // A game may have few states, or few with a small number of joint moves.
    for _ in 0..100 * N_STATES {
        if states.len() > N_STATES {
            break;
        }
        match draw_joint(machine, &mut cursor, &mut rng) {
            Some(joint) => cursor.play(&joint),
            None => cursor = machine.cursor(),
        }
        if cursor.is_terminal() {
            cursor = machine.cursor();
            continue;
        }
        // A quarter of the states of every walk, so that late states are included.
        let is_small =
            count_joint_moves(&mut cursor, n_roles).is_some_and(|n| n <= MAX_JOINT_MOVES);
        if is_small && rng.below(4) == 0 {
            states.push(cursor.state().clone());
        }
    }
    states
}

fn expand(machine: &Machine, cursor: &mut <Machine as Game>::Cursor, state: &BitSet) -> u64 {
    cursor.set_state(state);
    let mut joints = JointMoves::of(cursor, machine.roles().len());
    let mut n_successors = 0;
    while let Some(joint) = joints.next_joint() {
        let mut after = cursor.clone();
        after.play(joint);
        std::hint::black_box(after.state());
        n_successors += 1;
    }
    n_successors
}

struct Measured {
    states_a_second: f64,
    /// Sum of the results of the work over one round of all states.
    n_round: u64,
}

/// Repeats the work on all states for some seconds of processor time, at least once.
fn measure(states: &[BitSet], seconds: f64, mut work: impl FnMut(&BitSet) -> u64) -> Measured {
    let now = || cpu_time().map_or(0.0, |time| time.as_secs_f64());
    // The first round warms up; it counts only if there is no time for another.
    let first = now();
    let n_round: u64 = states.iter().map(&mut work).sum();
    let mut spent = now() - first;
    let mut n_states = states.len();
    if spent < seconds {
        let start = now();
        n_states = 0;
        while now() - start < seconds {
            states.iter().for_each(|state| {
                work(state);
            });
            n_states += states.len();
        }
        spent = now() - start;
    }
    Measured { states_a_second: n_states as f64 / spent, n_round }
}
