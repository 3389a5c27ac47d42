//! Does the network of a step show the symmetries that the circuit shows?

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::{Args, FromArgMatches as _};
use ludex_analysis::symmetry::{RoleExchange, find_step_symmetries, find_symmetries};
use ludex_base::{Deadline, Source};
use ludex_encode::{EncodeConfig, encode};
use ludex_pipeline::{Engine, EngineChoice, LoadOptions, load};
use ludex_testkit::corpus;
use xtask::tools::shared_folder;

use crate::registry::Experiment;
use crate::run::Run;
use crate::tables::Table;

pub static EXPERIMENT: Experiment = Experiment {
    name: "step-symmetries",
    question: "Does the network of a step show the symmetries that the circuit shows?",
    command: "cargo experiment step-symmetries",
    table: "step_symmetries.tsv, step_symmetries.md",
    options: Options::augment_args,
    run: |run, given| find_all(run, &Options::from_arg_matches(given)?),
};

#[derive(Args)]
struct Options {
    /// Only these games
    games: Vec<String>,
    /// Seconds to encode, and for each search for symmetries
    #[arg(long, default_value_t = 5)]
    seconds: u64,
}

fn find_all(run: &Run, options: &Options) -> Result<()> {
    let columns = "game\tgates\tcircuit\tcircuit seconds\tnetwork\tproved\tunproved generators\t\
                   encoding seconds\tnetwork seconds";
    let table = Table::open(run, "step_symmetries", columns)?;
    for rules in corpus(&shared_folder()?) {
        let is_wanted = options.games.is_empty() || options.games.contains(&rules.name);
        if !is_wanted || table.has(&[&rules.name]) {
            continue;
        }
        let load_options = LoadOptions { engine: EngineChoice::Circuit, ..LoadOptions::default() };
        let Ok(loaded) = load(Source::new(&rules.name, rules.text()), &load_options) else {
            continue;
        };
        let Engine::Machine(machine) = &loaded.engine else { continue };
        let circuit = machine.circuit();
        let deadline = || Deadline::after(Duration::from_secs(options.seconds));
        let seconds = |start: Instant| format!("{:.3}", start.elapsed().as_secs_f64());
        let start = Instant::now();
        let by_circuit = find_symmetries(circuit, RoleExchange::Forbidden, None, &deadline());
        let circuit_seconds = seconds(start);
        let start = Instant::now();
        let template =
            encode(circuit, &EncodeConfig { deadline: deadline(), ..EncodeConfig::default() });
        let encoding_seconds = seconds(start);
        let start = Instant::now();
        let found = template.map_err(|error| error.to_string()).and_then(|template| {
            let kept = RoleExchange::Forbidden;
            find_step_symmetries(&template, circuit, kept, None, &deadline())
                .map_err(|error| error.to_string())
        });
        let network_seconds = seconds(start);
        let [order, proved, n_unproved] = match &found {
            Ok(found) => {
                let or_more = if found.symmetries.is_complete { "" } else { "+" };
                [
                    format!("{}{or_more}", found.order),
                    format!("{}{or_more}", found.symmetries.order),
                    found.n_unproved.to_string(),
                ]
            }
            Err(_) => ["-", "-", "-"].map(String::from),
        };
        table.append(&[
            rules.name.clone(),
            circuit.n_gates().to_string(),
            format!("{}{}", by_circuit.order, if by_circuit.is_complete { "" } else { "+" }),
            circuit_seconds,
            order,
            proved,
            n_unproved,
            encoding_seconds,
            network_seconds,
        ])?;
    }
    describe(run, &table)
}

fn describe(run: &Run, table: &Table) -> Result<()> {
    let rows = table.rows()?;
    let found: Vec<&Vec<String>> = rows.iter().filter(|row| row[4] != "-").collect();
    let whole = |row: &&&Vec<String>| !row[4].ends_with('+') && !row[2].ends_with('+');
    let n_same = found.iter().filter(whole).filter(|row| row[2] == row[4]).count();
    let longer = |a: &str, b: &str| (a.len(), a) > (b.len(), b);
    let more = found.iter().filter(whole).filter(|row| longer(&row[4], &row[2]));
    let more: Vec<&str> = more.map(|row| row[0].as_str()).collect();
    let fewer = found.iter().filter(whole).filter(|row| longer(&row[2], &row[4]));
    let fewer: Vec<&str> = fewer.map(|row| row[0].as_str()).collect();
    let n_fast =
        found.iter().filter(|row| row[8].parse::<f64>().is_ok_and(|seconds| seconds < 0.2)).count();
    let list = |games: &[&str]| if games.is_empty() { "none".into() } else { games.join(", ") };
    let mut text = format!(
        "# Symmetries of the network of a step\n\n{}.\n\
         Orders of the groups that keep roles. *Network* is the complement of the micro-structure of the network of \
         a step; *proved* is the part of it that the circuit proves.\n{}\n\n\
         Of {} games with a circuit, {} have a network and its graph in time. Both groups are whole and equal on \
         {n_same}. The network has fewer on {}: {}. It has more on {}: {}. Under 0.2 s without encoding: {n_fast}.\n\n\
         | game | gates | circuit | s | network | proved | unproved | s to encode | s |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
        run.made_by("step-symmetries"),
        table.commits_in_words()?,
        rows.len(),
        found.len(),
        fewer.len(),
        list(&fewer),
        more.len(),
        list(&more),
    );
    for row in &rows {
        writeln!(text, "| {} |", row[..9].join(" | "))?;
    }
    table.describe(&text)
}
