//! Fuzzing that goes all the way: generated inputs through every stage that reads or plays them.
//!
//! 1. [`parts`]: rulesheets as lists of words, which can be changed anywhere.
//! 2. [`nearly`]: sheets that are almost valid, by changing built-in games; [`fresh`]: new ones.
//! 3. [`instances`]: XCSP3 from a grammar; [`models`]: `.qcp` from a grammar; [`certificates`]; [`others`]: formulas,
//!    records and messages.
//! 4. [`generator`]: all generators by name.
//! 5. [`trial`]: what is done with an input, and what counts as a finding.
//! 6. [`campaign`]: many inputs in child processes, so that a crash costs one input.
//! 7. [`shrink`]: makes an input smaller that shows a finding.
//!
//! The program `fuzz-cases` runs the inputs, and `cargo experiment fuzz` runs it for long.

pub mod campaign;
pub mod certificates;
pub mod fresh;
pub mod generator;
pub mod instances;
pub mod models;
pub mod nearly;
pub mod others;
pub mod parts;
pub mod shrink;
pub mod trial;

pub use campaign::{Campaign, Finding, Report};
pub use generator::Generator;
