//! `cargo xtask test`: checks format and lints, and runs every test.
//!
//! The command, the tests and the tasks share one build in the release profile. The crates that
//! search and propagate are built and tested once more in the profile `checked`, with debug
//! assertions and overflow checks.

use std::process::Command;

use anyhow::Result;

use crate::tools::{self, cargo};

/// Checks format and lints, and runs every test; the tests of the crates that search and propagate also with
/// assertions.
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
    let has_nextest = has("nextest");
    let run: &[&str] = if has_nextest { &["nextest", "run"] } else { &["test"] };
    let profile = if has_nextest { "--cargo-profile" } else { "--profile" };
    let mut checked = cargo();
    checked.args(run).args([profile, "checked", "--lib", "--tests", "--no-fail-fast"]);
    checked.args(CHECKED.iter().flat_map(|name| ["--package", name]));
    tools::run(&mut checked)?;
    // Examples have no tests; the lints have compiled them.
    let what = ["--release", "--workspace", "--lib", "--bins", "--tests", "--no-fail-fast"];
    tools::run(cargo().args(run).args(what))
}

/// The crates that search and propagate. `ludex-encode` and `ludex-macucb` are not among them, to keep the
/// command under its limit of time; most of what they run is in those that are.
const CHECKED: [&str; 10] = [
    "ludex-automorphism",
    "ludex-circuit",
    "ludex-csp",
    "ludex-game",
    "ludex-ground",
    "ludex-machine",
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
