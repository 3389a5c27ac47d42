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
    tools::run(cargo().args(["test", "--release", "--workspace", "--all-targets"]))
}

/// The tools of the toolchain that a minimal installation lacks.
fn install_missing() -> Result<()> {
    for (tool, component) in [("fmt", "rustfmt"), ("clippy", "clippy")] {
        let is_there = Command::new("cargo")
            .args([tool, "--version"])
            .output()
            .is_ok_and(|output| output.status.success());
        if !is_there {
            tools::run(Command::new("rustup").args(["component", "add", component]))?;
        }
    }
    Ok(())
}
