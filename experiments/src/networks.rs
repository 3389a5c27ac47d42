//! `cargo xtask translate-table` and `cargo xtask solve-table`: how large the networks of games
//! are, how fast they are made, and how fast they are solved.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use ludex_base::{BitSet, Rng, Seed};
use ludex_cli::resources::cpu_time;
use ludex_encode::{EncodeConfig, Steps, encode};
use ludex_game::{Cursor, Game, JointMoves, count_joint_moves, draw_joint};
use ludex_machine::Machine;
use ludex_testkit::RulesFile;
use ludex_tests::machine;
use serde_json::Value;

use crate::matches::{find_game, seed_name};
use crate::tables::{run_for, write_run};
use crate::tools::{build_ludex, processor, shared_folder};

/// The published tables of translation times.
const PUBLISHED: [(&str, &str); 5] = [
    ("T3.4:", "thesis-3.4-translation-single.tsv"),
    ("T3.5:", "thesis-3.5-translation-multi-A-C.tsv"),
    ("T3.6:", "thesis-3.6-translation-multi-D-R.tsv"),
    ("T3.7:", "thesis-3.7-translation-multi-S-Z.tsv"),
    ("T3.8:", "thesis-3.8-translation-gdl2.tsv"),
];

/// A game of the corpus and its line in a published table.
struct Row {
    game: String,
    /// Its name there, with a `~` where it is a game like it.
    name: String,
    /// Variables, largest domain, constraints, seconds.
    published: [String; 4],
    report: Option<Value>,
    note: String,
}

/// Translates every game of the published tables that the corpus has, each in a process of its own.
pub fn table(seconds: u64) -> Result<()> {
    let ludex = build_ludex()?;
    let shared = shared_folder()?;
    let mut rows = published_rows(&shared)?;
    for row in &mut rows {
        let path = shared.join("games").join(format!("{}.kif", row.game)).display().to_string();
        let time = seconds.to_string();
        let args = ["translate", &path, "--json", "--time", &time, "--memory", "4GB"];
        // The bound of time is for grounding and for translating.
        match run_for(&ludex, &args, Duration::from_secs(3 * seconds + 30)) {
            Err(note) => row.note = note,
            Ok(text) => match serde_json::from_str::<Value>(&text) {
                Ok(report) if report["ok"] != false => row.report = Some(report),
                Ok(report) => row.note = report["error"].as_str().unwrap_or("no report").into(),
                Err(_) => row.note = "no report".into(),
            },
        }
        let time =
            row.report.as_ref().map_or("-".into(), |report| report["cpu_seconds"].to_string());
        eprintln!("{}\t{time}\t{}", row.game, row.note);
    }
    write_table(&rows, seconds)
}

fn published_rows(shared: &Path) -> Result<Vec<Row>> {
    let index = fs::read_to_string(shared.join("games/INDEX.tsv")).context("games/INDEX.tsv")?;
    let mut rows = Vec::new();
    for (mark, file) in PUBLISHED {
        let path = shared.join("reference/tables").join(file);
        let text = fs::read_to_string(&path).with_context(|| format!("{}", path.display()))?;
        let mut lines = text.lines().map(|line| line.split('\t').collect::<Vec<_>>());
        let header = lines.next().context("a table has a header")?;
        let column = |name: &str| header.iter().position(|own| *own == name);
        let columns = ["game", "vars", "max_dom", "constraints", "time_s"].map(column);
        let published: BTreeMap<&str, Vec<&str>> = lines
            .map(|cells| columns.map(|at| at.and_then(|at| cells.get(at)).copied().unwrap_or("-")))
            .map(|cells| (cells[0], cells[1..].to_vec()))
            .collect();
        for line in index.lines().skip(1) {
            let cells: Vec<&str> = line.split('\t').collect();
            let seeds = cells.get(7).copied().unwrap_or_default();
            let like = format!("~{mark}");
            let (name, sign) = match (seed_name(seeds, mark), seed_name(seeds, &like)) {
                (Some(name), _) => (name, ""),
                (None, Some(name)) => (name, "~ "),
                (None, None) => continue,
            };
            let Some(numbers) = published.get(name) else { continue };
            rows.push(Row {
                game: cells[0].into(),
                name: format!("{sign}{name}"),
                published: [0, 1, 2, 3].map(|at| numbers[at].to_string()),
                report: None,
                note: String::new(),
            });
        }
    }
    Ok(rows)
}

const COLUMNS: [&str; 6] =
    ["variables", "max_domain", "constraints", "tuples", "cpu_seconds", "peak_mb"];

fn write_table(rows: &[Row], seconds: u64) -> Result<()> {
    let number = |row: &Row, key: &str| row.report.as_ref().and_then(|it| it[key].as_f64());
    let mut times: Vec<f64> = rows.iter().filter_map(|row| number(row, "cpu_seconds")).collect();
    times.sort_by(f64::total_cmp);
    let n_fast = times.iter().filter(|&&time| time < 2.0).count();
    let is_checkers = |row: &&Row| row.name.starts_with("Checkers");
    let checkers: Vec<&Row> = rows.iter().filter(is_checkers).collect();
    let greatest =
        |key: &str| checkers.iter().filter_map(|row| number(row, key)).fold(0.0, f64::max);
    let speedups = rows.iter().filter_map(|row| {
        let published: f64 = row.published[3].parse().ok()?;
        Some(published / number(row, "cpu_seconds")?.max(1e-4))
    });
    let mut speedups: Vec<f64> = speedups.collect();
    speedups.sort_by(f64::total_cmp);
    let median = |sorted: &[f64]| sorted.get(sorted.len() / 2).copied().unwrap_or(0.0);
    let mut markdown = format!(
        "# Games as networks\n\n\
         Made by `cargo xtask translate-table --seconds {seconds}` on {}: each game in a process of \
         its own, `ludex translate --json`. Seconds are of the processor, from the circuit to the \
         network, after grounding; those of the thesis are for the network of a turn, on a Xeon E5-2643 of 3.4 GHz. \
         Peak memory is that of the whole process, grounding included. `~` marks a game like the \
         published one. Constraints of the thesis are one a rule, ours are split, so that their \
         numbers don't compare.\n\n\
         | | |\n| --- | --- |\n\
         | games of tables 3.4 to 3.8 in the corpus | {} |\n| translated | {} |\n\
         | in under 2 s | {n_fast} ({:.1} %) |\n| median seconds | {:.4} |\n\
         | median of thesis seconds / ours | {:.0} |\n\
         | checkers family | {} games, at most {:.3} s, largest domain {} |\n\n\
         | game | name in the thesis | variables | largest domain | constraints | seconds \
         | variables here | largest domain | constraints | tuples | seconds | MB |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
        processor(),
        rows.len(),
        times.len(),
        100.0 * n_fast as f64 / rows.len().max(1) as f64,
        median(&times),
        median(&speedups),
        checkers.len(),
        greatest("cpu_seconds"),
        greatest("max_domain"),
    );
    let mut tsv = format!(
        "game\tname\tthesis_variables\tthesis_max_domain\tthesis_constraints\tthesis_seconds\t{}\tnote\n",
        COLUMNS.join("\t")
    );
    for row in rows {
        let cell = |key: &&str| match &row.report {
            Some(report) => report[*key].to_string(),
            None => "-".into(),
        };
        let cells: Vec<String> = COLUMNS.iter().map(cell).collect();
        let (published, own) = (row.published.join("\t"), cells.join("\t"));
        writeln!(tsv, "{}\t{}\t{published}\t{own}\t{}", row.game, row.name, row.note)?;
        let note = if row.note.is_empty() { String::new() } else { format!(" ({})", row.note) };
        let (published, own) = (row.published.join(" | "), cells.join(" | "));
        writeln!(markdown, "| {}{note} | {} | {published} | {own} |", row.game, row.name)?;
    }
    write_run("translate", &tsv, &markdown)?;
    println!(
        "{} of {} translated, {n_fast} in under 2 s, median {:.4} s",
        times.len(),
        rows.len(),
        median(&times)
    );
    Ok(())
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

/// States of a game that are solved: the initial one and so many others.
const N_STATES: usize = 100;
/// A state with more joint moves than this is not among them.
const MAX_JOINT_MOVES: u64 = 10_000;

/// How fast networks of states are solved, all solutions, beside the machine.
pub fn solving(games: &[String], seconds: f64) -> Result<()> {
    let names: Vec<String> = if games.is_empty() {
        KNOWN.iter().map(ToString::to_string).collect()
    } else {
        games.to_vec()
    };
    let mut markdown = format!(
        "# Solving the network of a state\n\n\
         Made by `cargo xtask solve-table --seconds {seconds}` on {}, one thread: the initial state \
         and {N_STATES} random ones of each game, over and over, for {seconds} s of processor each way. A state \
         is solved by injecting it into the posted network and enumerating all solutions, that is \
         all joint moves with what follows; the machine expands it by playing every joint move on \
         a copy of its cursor. Solutions and successors are the same number.\n\n\
         | game | variables | solutions a state | solved a CPU second | solutions a CPU second \
         | expanded a CPU second, machine | machine / network |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n",
        processor()
    );
    let mut tsv = "game\tvariables\tsolutions_a_state\tsolved\tsolutions\texpanded\n".to_string();
    for name in &names {
        let rules = RulesFile { name: name.clone(), path: find_game(name)? };
        let Some(machine) = machine(&rules) else {
            eprintln!("{name} can't be grounded");
            continue;
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
        assert_eq!(network.n_round, expansion.n_round, "{name}: as many solutions as successors");
        let a_state = network.n_round as f64 / states.len() as f64;
        let n_variables = template.network.variables().len();
        let solutions = solved * a_state;
        writeln!(
            tsv,
            "{name}\t{n_variables}\t{a_state:.1}\t{solved:.0}\t{solutions:.0}\t{expanded:.0}"
        )?;
        writeln!(
            markdown,
            "| {name} | {n_variables} | {a_state:.1} | {solved:.0} | {solutions:.0} | {expanded:.0} | {:.1} |",
            expanded / solved
        )?;
        eprintln!("{name}: {solved:.0} solved a second, {expanded:.0} expanded");
    }
    if games.is_empty() {
        write_run("solve", &tsv, &markdown)?;
    }
    print!("{markdown}");
    Ok(())
}

/// The initial state and random others that are not terminal.
fn some_states(machine: &Machine) -> Vec<BitSet> {
    let mut rng: Rng = Seed(1).rng();
    let n_roles = machine.roles().len();
    let mut cursor = machine.cursor();
    let mut states = vec![cursor.state().clone()];
    // A game may have few states, or few that are small enough.
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
        // Some of every walk, so that late states are among them.
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
    /// What the work gave for all states once, added up.
    n_round: u64,
}

/// Does the work on all states over and over, for some seconds of processor and at least once.
fn measure(states: &[BitSet], seconds: f64, mut work: impl FnMut(&BitSet) -> u64) -> Measured {
    let now = || cpu_time().map_or(0.0, |time| time.as_secs_f64());
    // A first round warms up, and is counted only if there is no time for another.
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
