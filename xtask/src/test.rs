//! `cargo xtask test`: checks format and lints, and runs every test.
//!
//! The command, the tests and the tasks share one build in the release profile. The crates that
//! search and propagate have their tests built in the profile `checked` instead, with debug
//! assertions and overflow checks; the tests of the whole system run them as released.
//! The page is tested in a browser, the Python package by an interpreter.

use std::process::Command;

use anyhow::Result;

use crate::browser;
use crate::python;
use crate::tools::{self, cargo};

/// Checks format and lints, and runs every test once; those of the crates that search and propagate with
/// assertions.
pub fn run() -> Result<()> {
    install_missing()?;
    tools::run(cargo().args(["fmt", "--all", "--check"]))?;
    let lint = ["clippy", "--release", "--workspace", "--all-targets", "--", "-D", "warnings"];
    tools::run(cargo().args(lint))?;
    // The tests of the command run its binary, which `cargo test` alone does not build.
    tools::run(cargo().args(["build", "--release", "--workspace"]))?;
    tools::run(cargo().args(["test", "--release", "--workspace", "--doc"]))?;
    python::test()?;
    browser::run()?;
    // The test runner comes last, so that its summary ends the output. nextest is preferred if installed,
    // because it prints one summary for all tests.
    let has_nextest = has("nextest");
    let run: &[&str] = if has_nextest { &["nextest", "run"] } else { &["test"] };
    let profile = if has_nextest { "--cargo-profile" } else { "--profile" };
    let mut checked = cargo();
    checked.args(run).args([profile, "checked", "--lib", "--tests", "--no-fail-fast"]);
    checked.args(CHECKED.iter().flat_map(|name| ["--package", name]));
    tools::run(&mut checked)?;
    // Examples have no tests; the lints have compiled them.
    let mut released = cargo();
    released.args(run).args([
        "--release",
        "--workspace",
        "--lib",
        "--bins",
        "--tests",
        "--no-fail-fast",
    ]);
    released.args(CHECKED.iter().flat_map(|name| ["--exclude", name]));
    tools::run(&mut released)
}

/// The crates that search and propagate.
const CHECKED: [&str; 12] = [
    "ludex-automorphism",
    "ludex-circuit",
    "ludex-csp",
    "ludex-encode",
    "ludex-game",
    "ludex-ground",
    "ludex-machine",
    "ludex-macucb",
    "ludex-qcsp",
    "ludex-reasoner",
    "ludex-scsp",
    "ludex-search",
];

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
