//! Does any input break a stage? Runs generated inputs through all stages, in child processes.

use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use clap::{Args, FromArgMatches as _};
use ludex_base::Seed;
use ludex_tests::fuzzing::{Campaign, Generator, Report};
use xtask::tools::{cargo, run as run_command};

use crate::registry::Experiment;
use crate::run::Run;
use crate::tables::Table;

pub static EXPERIMENT: Experiment = Experiment {
    name: "fuzz",
    question: "Does any generated input break a stage, or make two engines differ?",
    command: "cargo experiment fuzz --minutes 60",
    table: "fuzz.tsv",
    options: Options::augment_args,
    run: |run, given| try_all(run, &Options::from_arg_matches(given)?),
};

#[derive(Args)]
struct Options {
    /// Only these generators
    #[arg(long = "generator", value_name = "NAMES", value_delimiter = ',')]
    generators: Vec<String>,
    /// Minutes of processor time for each generator
    #[arg(long, value_name = "N", default_value_t = 60.0)]
    minutes: f64,
    /// Seed of the inputs
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of the first input
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Seconds that an input may take, far above the limits of the stages
    #[arg(long, default_value_t = 20)]
    seconds_per_case: u64,
}

/// Inputs in one child process.
const STRETCH: u64 = 200;

/// Time after which what was tried becomes a row of the table.
const PART: Duration = Duration::from_secs(600);

const COLUMNS: &str =
    "generator\tinputs\tcases\tbytes\taccepted\tcompared\tfindings\tkinds\tseconds\tcpu";

/// Tries inputs of each generator for some time, with a row of the table every ten minutes, keeps small forms of
/// what it finds, and fails if there is something.
fn try_all(run: &Run, options: &Options) -> Result<()> {
    let mut generators = Generator::ALL.to_vec();
    if !options.generators.is_empty() {
        generators.retain(|it| options.generators.iter().any(|name| name == it.name()));
        ensure!(generators.len() == options.generators.len(), "no such generator");
    }
    run_command(cargo().args([
        "build",
        "--release",
        "--package",
        "ludex-tests",
        "--bin",
        "fuzz-cases",
    ]))?;
    let program = std::env::current_exe()?
        .with_file_name(format!("fuzz-cases{}", std::env::consts::EXE_SUFFIX));
    let table = Table::open(run, "fuzz", COLUMNS)?;
    let found = run.folder()?.join("fuzz-findings");
    let mut n_kinds = 0;
    for generator in generators {
        let campaign = Campaign {
            program: program.clone(),
            generator,
            seed: Seed(options.seed),
            seconds_per_case: options.seconds_per_case,
        };
        let mut left = Duration::from_secs_f64(60.0 * options.minutes);
        let mut next = options.first;
        while !left.is_zero() {
            let (begin, first) = (Instant::now(), next);
            let mut report = Report::default();
            while report.cpu < left && begin.elapsed() < PART {
                report.add(campaign.run(next..next + STRETCH)?);
                next += STRETCH;
            }
            left = left.saturating_sub(report.cpu);
            let kinds = report.kinds().len();
            n_kinds += kinds;
            table.append(&[
                generator.name().to_string(),
                format!("seed {} from {first}", options.seed),
                report.n_cases.to_string(),
                report.n_bytes.to_string(),
                report.depth.n_accepted.to_string(),
                report.depth.n_compared.to_string(),
                report.findings.len().to_string(),
                kinds.to_string(),
                begin.elapsed().as_secs().to_string(),
                report.cpu.as_secs().to_string(),
            ])?;
            print!("{}", campaign.keep(&report, &found)?);
        }
    }
    if n_kinds > 0 {
        bail!("{n_kinds} kinds of findings, kept in {}", found.display());
    }
    Ok(())
}
