//! How fast is `ludex-csp` beside ACE and Choco, on instances of many families that pycsp3 writes?
//!
//! The script `compare_xcsp3.py` in this folder does the work, because pycsp3 is a Python package. Its head says
//! what it needs and how it measures times.

use std::process::Command;

use anyhow::{Result, ensure};
use clap::{Args, FromArgMatches as _};
use ludex_testkit::workspace;
use xtask::tools;

use crate::registry::Experiment;
use crate::run::Run;

pub static EXPERIMENT: Experiment = Experiment {
    name: "csp-compare",
    question: "How fast is `ludex-csp` beside ACE and Choco?",
    command: "cargo experiment csp-compare",
    table: "csp_compare.md",
    options: Options::augment_args,
    run: |run, given| compare(run, &Options::from_arg_matches(given)?),
};

#[derive(Args)]
struct Options {
    /// Seconds for each solver on each instance
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Only instances whose name contains this; then no table is written
    #[arg(long)]
    only: Option<String>,
    /// Only run `ludex-csp`; then no table is written
    #[arg(long)]
    skip_java: bool,
}

fn compare(run: &Run, options: &Options) -> Result<()> {
    let script = workspace().join(file!()).with_file_name("compare_xcsp3.py");
    ensure!(script.exists(), "{} is missing", script.display());
    let mut command = Command::new("python3");
    command.arg(script).args(["--seconds", &options.seconds.to_string()]);
    command.args(["--commit", run.commit()]);
    if let Some(only) = &options.only {
        command.args(["--only", only]);
    }
    if options.skip_java {
        command.arg("--skip-java");
    }
    if options.only.is_none() && !options.skip_java {
        command.arg("--output").arg(run.folder()?.join("csp_compare.md"));
    }
    tools::run(&mut command)
}
