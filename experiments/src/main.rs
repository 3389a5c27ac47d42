//! The project's experiments. Each asks one question and records its answer as a table in `benches/runs`.
//!
//! `cargo experiment` lists them, `cargo experiment NAME` runs one. An experiment is a file or a folder
//! of this package that begins with its question, its command and its table; [`registry`] lists them all.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Arg, ArgAction, Command, value_parser};

mod registry;
mod run; // the folder and the commit of a run
mod tables; // tables written at once, and tables that grow
mod finished; // the parts of a table that is written at once
mod published; // published figures of other systems
mod command; // runs of `ludex`
mod matches; // matches between players
mod series; // rounds of matches, and their sums
mod plot;

mod ground;
mod reasoner;
mod playouts;
mod children;
mod corpus;
mod endings;
mod exact_puzzles;
mod sliding;
mod scenes;
mod search;
mod strength;
mod symmetries;
mod step_symmetries;
mod invariance;
#[path = "../../crates/ludex-automorphism/tests/families/mod.rs"]
mod families; // graphs, shared with the tests of `ludex-automorphism`
#[path = "../../crates/ludex-automorphism/tests/oracle/mod.rs"]
mod oracle; // nauty, shared with the same tests
mod nauty;
mod decompose;
mod improvements;
mod symmetric_play;
mod puzzles;
mod hidden;
mod macucb;
mod loaded;
mod faults;
mod overhead;
mod page;
mod parts;
mod peers_attack;
mod translate;
mod translate_agree;
mod solve;
mod solved;
mod quantified;
mod csp_compare;
mod network_symmetries;
mod hostile;
mod hostile_page;
mod fuzz;
mod kills;

use registry::{EXPERIMENTS, Experiment};
use run::Run;

fn main() -> ExitCode {
    let given = cli().get_matches();
    let Some((name, options)) = given.subcommand() else {
        list();
        return ExitCode::SUCCESS;
    };
    let experiment = EXPERIMENTS
        .iter()
        .find(|experiment| experiment.name == name)
        .expect("every subcommand is an experiment");
    let folder = given.get_one::<PathBuf>("folder").map(PathBuf::as_path);
    let run = Run::new(folder, given.get_flag("resume"));
    match (experiment.run)(&run, options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("experiments: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn cli() -> Command {
    let folder = Arg::new("folder")
        .long("folder")
        .value_name("FOLDER")
        .value_parser(value_parser!(PathBuf))
        .help("Read and write tables in this folder of benches/runs, not in today's");
    let resume = Arg::new("resume")
        .long("resume")
        .action(ArgAction::SetTrue)
        .help("Go on with the run that was stopped in this folder");
    let subcommand = |experiment: &Experiment| {
        let Experiment { name, question, command, table, options, .. } = experiment;
        let about = format!("{question}\n\n`{command}` writes {table}");
        options(Command::new(*name)).about(*question).long_about(about)
    };
    Command::new("cargo experiment")
        .bin_name("cargo experiment")
        .about("Run an experiment; without a name, list them")
        .arg(folder)
        .arg(resume)
        .subcommands(EXPERIMENTS.iter().map(|experiment| subcommand(experiment)))
}

fn list() {
    for Experiment { name, question, command, table, .. } in EXPERIMENTS {
        println!("{name}\n    {question}\n    {command}\n    {table}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_experiment_is_a_command_with_a_question() {
        cli().debug_assert();
        for it in EXPERIMENTS {
            assert!(it.question.ends_with('?'), "{} has no question mark", it.name);
            let args =
                it.command.strip_prefix("cargo experiment ").expect("a command of this package");
            let given = cli().try_get_matches_from(
                std::iter::once("experiments").chain(args.split_whitespace()),
            );
            let given = given.unwrap_or_else(|error| panic!("{}: {error}", it.command));
            assert_eq!(given.subcommand_name(), Some(it.name));
        }
    }
}
