//! `cargo xtask test`: checks format and lints, and runs every test.
//!
//! Everything is built once, in the release profile, which the command, the tests and the tasks share.

use std::process::Command;

use anyhow::Result;

use crate::tools::{self, cargo};

/// Checks format and lints, runs unit, conformance, golden and document tests.
pub fn run() -> Result<()> {
    install_missing()?;
    tools::run(cargo().args(["fmt", "--all", "--check"]))?;
    let lint = ["clippy", "--release", "--workspace", "--all-targets", "--", "-D", "warnings"];
    tools::run(cargo().args(lint))?;
    // The tests of the command run its binary, which `cargo test` alone does not build.
    tools::run(cargo().args(["build", "--release", "--workspace"]))?;
    tools::run(cargo().args(["test", "--release", "--workspace", "--doc"]))?;
    // The test runner comes last, so that its summary ends the output. nextest is preferred if installed,
    // because it prints one summary for all tests.
    let run: &[&str] = if has("nextest") { &["nextest", "run"] } else { &["test"] };
    let what = ["--release", "--workspace", "--all-targets", "--no-fail-fast"];
    tools::run(cargo().args(run).args(what))
}

/// Whether `cargo` has this subcommand.
fn has(tool: &str) -> bool {
    cargo().args([tool, "--version"]).output().is_ok_and(|output| output.status.success())
}

/// Installs the tools that a minimal toolchain lacks.
fn install_missing() -> Result<()> {
    for (tool, component) in [("fmt", "rustfmt"), ("clippy", "clippy")] {
        if !has(tool) {
            tools::run(Command::new("rustup").args(["component", "add", component]))?;
        }
    }
    Ok(())
}
