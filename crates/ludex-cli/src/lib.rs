//! The `ludex` command.
//!
//! Read the modules in the order in which a call passes through them:
//!
//! 1. [`args`] and [`net_args`]: verbs and options.
//! 2. [`input`]: finds and reads a rulesheet or file.
//! 3. [`load`]: turns a rulesheet into a game.
//! 4. [`verbs`]: one module per verb.
//! 5. [`board`] and [`transcript`]: states and plays as text; [`person`]: a person at the terminal,
//!    for [`session`] and [`person_seat`]; [`match_report`] and [`match_moves`]: matches as text;
//!    [`series_file`]: the file of a series;
//!    [`player_log`] and [`log_writer`]: the log of `ludex player`.
//! 6. [`diagnostics`], [`failure`], [`output`], [`resources`]: reports and errors; [`guard`]: the
//!    backstop of the limits; [`panics`]: mistakes of ours.
//!
//! To add a verb, add a variant to [`args::Verb`], a module to [`verbs`] and an arm to [`run`].
//! Code that other programs could use belongs in a library crate.

use std::process::ExitCode;

use args::{Cli, CspJob, NetworkFormat, QcspJob, ScspJob, Verb};
use failure::Failure;

pub mod args;
pub mod net_args;
pub mod input;
pub mod load;
pub mod verbs;

pub mod board;
pub mod session;
pub mod transcript;
mod match_moves;
mod match_report;
mod series_file;
mod state_file;
mod saved_file;
mod person;
mod person_seat;
mod player_log;
mod page_watch;
mod log_writer;
mod interrupt;
mod guard;
mod panics;

pub mod diagnostics;
pub mod failure;
pub mod output;
pub mod resources;

/// Runs the verb of the command line, given also as a word for messages, and returns the exit code.
pub fn run(cli: Cli, verb: &str) -> ExitCode {
    let json = cli.common.json;
    panics::report_in_one_line(verb);
    guard::start(&cli.common, cli.verb.ends_in_time());
    panics::guard(json, || dispatch(cli))
}

fn dispatch(cli: Cli) -> Result<u8, Failure> {
    let common = &cli.common;
    match cli.verb {
        Verb::Check { rules, deep, states } => {
            verbs::check::run(&rules.rules, deep.then_some(states), common)
        }
        Verb::Ground { rules } => verbs::ground::run(&rules.rules, common),
        Verb::Trace { rules, engine } => verbs::trace::run(&rules.rules, engine.choice(), common),
        Verb::Perft { rules, depth, engine } => {
            verbs::perft::run(&rules.rules, depth, engine.choice(), common)
        }
        Verb::Solve(args) => verbs::solve::run(&args, common),
        Verb::Symmetries { rules, cycles, svg } => {
            verbs::symmetries::run(&rules.rules, cycles, svg.as_deref(), common)
        }
        Verb::Decompose(args) => verbs::decompose::run(&args, common),
        Verb::Play { rules, role, player, move_time, saved, engine } => {
            let engine = engine.choice();
            let options = verbs::play::PlayOptions { role, player, move_time, saved, engine };
            verbs::play::run(&rules.rules, &options, common)
        }
        Verb::Draw { rules, state, output, .. } => match rules {
            Some(rules) => verbs::draw::run(&rules, state.as_deref(), output.as_deref(), common),
            None => verbs::draw::library(output.as_deref(), common),
        },
        Verb::Serve(args) => verbs::serve::run(&args, common),
        Verb::Match(args) => verbs::matches::run(&args, common),
        Verb::Merge { files, output } => verbs::merge::run(&files, output.as_deref(), common),
        Verb::Player(args) => verbs::player::run(&args, common),
        Verb::Referee(args) => verbs::referee::run(&args, common),
        Verb::Players => verbs::players::run(common.json),
        Verb::Bench { rules, seconds, engine } => {
            verbs::bench::run(&rules.rules, seconds, engine.choice(), common)
        }
        Verb::Csp { job: CspJob::Solve(args) } => verbs::csp::run(&args, common),
        Verb::Csp { job: CspJob::Symmetries { file } } => verbs::csp_symmetries::run(&file, common),
        Verb::Qcsp { job: QcspJob::Solve(args) } => verbs::qcsp::solve::run(&args, common),
        Verb::Qcsp { job: QcspJob::Play(args) } => verbs::qcsp::play::run(&args, common),
        Verb::Scsp { job: ScspJob::Solve(args) } => verbs::scsp::run(&args, common),
        Verb::Translate {
            rules,
            to: NetworkFormat::Qcp,
            steps,
            role,
            at_least,
            state,
            output,
            ..
        } => {
            let (role, state, file) = (role.as_deref(), state.as_deref(), output.as_deref());
            let asked = verbs::translate::Asked { steps, role, at_least, state, file };
            verbs::translate::run_quantified(&rules.rules, &asked, common)
        }
        Verb::Translate { rules, to, steps, legal, output, .. } => {
            let file = output.as_deref();
            let task = verbs::translate::Task { form: to, steps, legal, file };
            verbs::translate::run(&rules.rules, &task, common)
        }
        Verb::Verify { certificate, rules } => {
            verbs::verify::run(&certificate, &rules.rules, common)
        }
        Verb::Games => verbs::games::run(common.json),
        Verb::Transcript { rules, steps, engine } => {
            verbs::play::run_transcript(&rules.rules, steps, engine.choice(), common)
        }
        Verb::Scramble { rules } => verbs::print::scramble(&rules.rules, common),
        Verb::Print { rules, form } => verbs::print::run(&rules.rules, form, common),
        Verb::Completions { shell } => verbs::manual::completions(shell),
        Verb::Man { output } => verbs::manual::man(output.as_deref()),
    }
}
