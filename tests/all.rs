//! The tests across crates, in the order of reading.
//!
//! They are one program, so that all crates are linked once.

mod follow_a_game;
mod follow_a_model;
mod every_game;
mod positions;
mod known_lines;
mod games;
mod propagators;
mod searchers;
mod equilibria;
mod golden;
mod agreement;
mod distributions;
mod translation;
mod cli;
mod csp_cli;
mod qcsp_cli;
mod scsp_cli;
mod solve_cli;
mod players;
mod match_cli;
mod http_cli;
mod page_cli;
mod docs;
mod layout;
mod spec;
mod check_corpus;
mod fuzz_reader;
mod fuzz_all;
mod hostile;
mod certain;
