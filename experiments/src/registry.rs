//! The list of experiments. A new one is a file of this package and a line here.

use anyhow::Result;
use clap::{ArgMatches, Command};

use crate::run::Run;
use crate::{
    children, corpus, csp_compare, decompose, endings, exact_puzzles, faults, fuzz, ground, hidden,
    hostile, hostile_page, improvements, invariance, kills, loaded, macucb, nauty,
    network_symmetries, overhead, page, parts, peers_attack, playouts, puzzles, quantified,
    reasoner, scenes, search, sliding, solve, solved, step_symmetries, strength, symmetric_play,
    symmetries, translate, translate_agree,
};

/// A question, the command that answers it, and the tables with the answer.
pub struct Experiment {
    pub name: &'static str,
    pub question: &'static str,
    /// The command that makes the published tables.
    pub command: &'static str,
    /// The files it writes, in the folder of the run unless their path names another.
    pub table: &'static str,
    /// Adds the options of the experiment to its command.
    pub options: fn(Command) -> Command,
    pub run: fn(&Run, &ArgMatches) -> Result<()>,
}

/// Every experiment, in the order of `cargo experiment`.
pub static EXPERIMENTS: &[&Experiment] = &[
    // Engines.
    &ground::EXPERIMENT,
    &reasoner::EXPERIMENT,
    &playouts::EXPERIMENT,
    &children::EXPERIMENT,
    &corpus::EXPERIMENT,
    &endings::EXPERIMENT,
    &symmetries::EXPERIMENT,
    &step_symmetries::EXPERIMENT,
    &invariance::EXPERIMENT,
    &nauty::EXPERIMENT,
    &decompose::EXPERIMENT,
    &scenes::EXPERIMENT,
    // Searches and players.
    &search::EXPERIMENT,
    &strength::EXPERIMENT,
    &improvements::EXPERIMENT,
    &symmetric_play::EXPERIMENT,
    &puzzles::EXPERIMENT,
    &solved::EXPERIMENT,
    &exact_puzzles::EXPERIMENT,
    &sliding::EXPERIMENT,
    &parts::EXPERIMENT,
    &hidden::EXPERIMENT,
    &macucb::EXPERIMENT,
    &loaded::EXPERIMENT,
    // Matches over HTTP.
    &faults::EXPERIMENT,
    &overhead::EXPERIMENT,
    &peers_attack::EXPERIMENT,
    // The page.
    &page::EXPERIMENT,
    // Constraints.
    &translate::EXPERIMENT,
    &translate_agree::EXPERIMENT,
    &solve::EXPERIMENT,
    &quantified::EXPERIMENT,
    &csp_compare::EXPERIMENT,
    &network_symmetries::EXPERIMENT,
    // Limits.
    &hostile::EXPERIMENT,
    &hostile_page::EXPERIMENT,
    &fuzz::EXPERIMENT,
    &kills::EXPERIMENT,
];
