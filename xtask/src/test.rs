//! `cargo xtask test`: is all well?
//!
//! Everything is built once, in the release profile: the command, the tests and the tasks
//! share it.

use std::process::Command;

use anyhow::Result;

use crate::tools::{self, cargo};

/// Checks format and lints, runs unit, conformance, golden and document tests.
pub fn run() -> Result<()> {
    install_missing()?;
    tools::run(cargo().args(["fmt", "--all", "--check"]))?;
    let lint = ["clippy", "--release", "--workspace", "--all-targets", "--", "-D", "warnings"];
    tools::run(cargo().args(lint))?;
    // The tests of the command run its binary, which `cargo test` alone would not build.
    tools::run(cargo().args(["build", "--release", "--workspace"]))?;
    tools::run(cargo().args(["test", "--release", "--workspace", "--doc"]))?;
    // The runner has the last word. One that is installed and shows one line for all is better.
    let run: &[&str] = if has("nextest") { &["nextest", "run"] } else { &["test"] };
    let what = ["--release", "--workspace", "--all-targets", "--no-fail-fast"];
    tools::run(cargo().args(run).args(what))
}

/// Whether `cargo` knows this tool.
fn has(tool: &str) -> bool {
    cargo().args([tool, "--version"]).output().is_ok_and(|output| output.status.success())
}

/// The tools of the toolchain that a minimal installation lacks.
fn install_missing() -> Result<()> {
    for (tool, component) in [("fmt", "rustfmt"), ("clippy", "clippy")] {
        if !has(tool) {
            tools::run(Command::new("rustup").args(["component", "add", component]))?;
        }
    }
    Ok(())
}
