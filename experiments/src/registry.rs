//! The list of experiments. A new one is a file of this package and a line here.

use anyhow::Result;
use clap::{ArgMatches, Command};

use crate::run::Run;
use crate::{
    corpus, csp_compare, endings, faults, ground, hidden, improvements, loaded, macucb, overhead,
    playouts, puzzles, quantified, reasoner, search, solve, strength, translate, translate_agree,
};

/// A question, and how and where it is answered.
pub struct Experiment {
    pub name: &'static str,
    pub question: &'static str,
    /// The command that makes the tables we publish.
    pub command: &'static str,
    /// The files it writes, in the folder of the run unless they have one of their own.
    pub table: &'static str,
    /// Adds its options to its command.
    pub options: fn(Command) -> Command,
    pub run: fn(&Run, &ArgMatches) -> Result<()>,
}

/// Every experiment, in the order of the list that people see.
pub static EXPERIMENTS: &[&Experiment] = &[
    // Engines.
    &ground::EXPERIMENT,
    &reasoner::EXPERIMENT,
    &playouts::EXPERIMENT,
    &corpus::EXPERIMENT,
    &endings::EXPERIMENT,
    // Searches and players.
    &search::EXPERIMENT,
    &strength::EXPERIMENT,
    &improvements::EXPERIMENT,
    &puzzles::EXPERIMENT,
    &hidden::EXPERIMENT,
    &macucb::EXPERIMENT,
    &loaded::EXPERIMENT,
    // Matches over HTTP.
    &faults::EXPERIMENT,
    &overhead::EXPERIMENT,
    // Constraints.
    &translate::EXPERIMENT,
    &translate_agree::EXPERIMENT,
    &solve::EXPERIMENT,
    &quantified::EXPERIMENT,
    &csp_compare::EXPERIMENT,
];
