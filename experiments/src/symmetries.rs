//! Which symmetries do the games of the corpus have, and how many states do they save?

use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::{Args, FromArgMatches as _};
use ludex_analysis::symmetry::{RoleExchange, Symmetries, find_rule_symmetries, find_symmetries};
use ludex_base::{Deadline, Source};
use ludex_game::{Cursor, Game, JointMoves, StateOf};
use ludex_machine::Machine;
use ludex_pipeline::{Engine, EngineChoice, LoadOptions, load};
use ludex_testkit::corpus;
use xtask::tools::shared_folder;

use crate::registry::Experiment;
use crate::run::Run;
use crate::tables::Table;

pub static EXPERIMENT: Experiment = Experiment {
    name: "symmetries",
    question: "Which symmetries do games have, and how many states do they save?",
    command: "cargo experiment symmetries",
    table: "symmetries.tsv, symmetries.md",
    options: Options::augment_args,
    run: |run, given| find_all(run, &Options::from_arg_matches(given)?),
};

#[derive(Args)]
struct Options {
    /// Only these games
    games: Vec<String>,
    /// Seconds for each search for symmetries
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Visit at most this many states of each game without folding
    #[arg(long, default_value_t = 50_000)]
    states: usize,
}

/// Finds the symmetries of each game by both sources, and counts states with and without folding.
fn find_all(run: &Run, options: &Options) -> Result<()> {
    let columns = "game\tgates\tcircuit\tcircuit roles\tcircuit seconds\ttext\ttext roles\t\
                   text seconds\tfolded by\tdepth\tstates\tfolded states";
    let table = Table::open(run, "symmetries", columns)?;
    for rules in corpus(&shared_folder()?) {
        let is_wanted = options.games.is_empty() || options.games.contains(&rules.name);
        if !is_wanted || table.has(&[&rules.name]) {
            continue;
        }
        let load_options = LoadOptions { engine: EngineChoice::Circuit, ..LoadOptions::default() };
        let loaded = load(Source::new(&rules.name, rules.text()), &load_options);
        let Ok(loaded) = loaded else {
            let mut cells = vec![rules.name.as_str()];
            cells.resize(12, "-");
            table.append(&cells)?;
            continue;
        };
        let Engine::Machine(machine) = &loaded.engine else { continue };
        let circuit = machine.circuit();
        let time = Duration::from_secs(options.seconds);
        let timed = |find: &dyn Fn(&Deadline) -> Symmetries| {
            let start = Instant::now();
            let found = find(&Deadline::after(time));
            (found, format!("{:.3}", start.elapsed().as_secs_f64()))
        };
        let [kept, roles] = [RoleExchange::Forbidden, RoleExchange::Allowed];
        let (of_circuit, seconds) = timed(&|it| find_symmetries(circuit, kept, None, it));
        let (with_roles, _) = timed(&|it| find_symmetries(circuit, roles, None, it));
        let of_text =
            |exchange| timed(&|it| find_rule_symmetries(&loaded.program, circuit, exchange, it));
        let (text, text_seconds) = of_text(kept);
        let (text_with_roles, _) = of_text(roles);
        let folding = Arc::new(of_circuit.folding());
        let by = folding.order().to_string();
        let (depth, n_states, n_folded) = if machine.has_percepts() || folding.is_trivial() {
            ("-".into(), "-".into(), "-".into())
        } else {
            let (depth, n_states) = breadth(machine, usize::MAX, options.states);
            let (_, n_folded) = breadth(&machine.folded_by(folding), depth, usize::MAX);
            (depth.to_string(), n_states.to_string(), n_folded.to_string())
        };
        let gates = circuit.n_gates().to_string();
        table.append(&[
            &rules.name,
            &gates,
            &order(&of_circuit),
            &order(&with_roles),
            &seconds,
            &order(&text),
            &order(&text_with_roles),
            &text_seconds,
            &by,
            &depth,
            &n_states,
            &n_folded,
        ])?;
    }
    describe(run, &table)
}

/// The order of a group; with a plus if there may be more.
fn order(symmetries: &Symmetries) -> String {
    format!("{}{}", symmetries.order, if symmetries.is_complete { "" } else { "+" })
}

/// Visits states breadth first, whole levels only, and returns how many steps deep and how many
/// states.
fn breadth(machine: &Machine, max_depth: usize, max_states: usize) -> (usize, usize) {
    let mut cursor = machine.cursor();
    let mut seen: HashSet<StateOf<Machine>> = HashSet::from([cursor.state().clone()]);
    let mut level: Vec<StateOf<Machine>> = vec![cursor.state().clone()];
    let deadline = Deadline::after(Duration::from_secs(60));
    for depth in 0..max_depth {
        let n_before = seen.len();
        let mut next = Vec::new();
        for state in &level {
            cursor.set_state(state);
            if cursor.is_terminal() {
                continue;
            }
            let mut joints = JointMoves::of(&mut cursor, machine.roles().len());
            while let Some(joint) = joints.next_joint() {
                cursor.set_state(state);
                cursor.play(joint);
                if seen.insert(cursor.state().clone()) {
                    next.push(cursor.state().clone());
                }
            }
            if seen.len() > max_states || deadline.reached() {
                return (depth, n_before);
            }
        }
        if next.is_empty() {
            return (depth, seen.len());
        }
        level = next;
    }
    (max_depth, seen.len())
}

fn describe(run: &Run, table: &Table) -> Result<()> {
    let rows = table.rows()?;
    let mut text = format!(
        "# Symmetries of the corpus\n\n{}.\n\
         *Circuit* and *text* are orders of groups found from the circuit and from the text of the \
         rules; *roles* if roles may be exchanged. *States* are those within *depth* steps, visited \
         without and with folding by a group of order *folded by*.\n{}\n\n\
         | game | gates | circuit | roles | s | text | roles | s | folded by | depth | states | folded | of |G| |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
        run.made_by("symmetries"),
        table.commits_in_words()?
    );
    let mut n_smaller = 0;
    let mut n_fast = 0;
    for row in &rows {
        let number = |at: usize| row[at].trim_end_matches('+').parse::<f64>().ok();
        n_smaller += usize::from(number(2) < number(5) || number(3) < number(6));
        n_fast += usize::from(number(4).is_some_and(|seconds| seconds < 0.2));
        let share = match (number(8), number(10), number(11)) {
            (Some(by), Some(states), Some(folded)) if states > 0.0 => {
                format!("{:.2}", folded * by / states)
            }
            _ => "-".into(),
        };
        writeln!(text, "| {} | {share} |", row[..12].join(" | "))?;
    }
    writeln!(
        text,
        "\n*Of |G|* is the number of folded states times the order of the group, divided by all \
         states: 1 if folding saves all that it can.\n\n\
         Under 0.2 s by the circuit: {n_fast} of {}. Smaller by the circuit than by the text: \
         {n_smaller}.",
        rows.len()
    )?;
    table.describe(&text)
}
