//! Do players keep a short clock while other processes keep every core busy?

use std::process::{Child, Command};

use anyhow::{Context as _, Result, ensure};
use clap::{Args, FromArgMatches as _};
use ludex_testkit::library;
use xtask::tools::build_ludex;

use crate::command::ask;
use crate::matches::{n_roles, sum};
use crate::registry::Experiment;
use crate::run::Run;
use crate::tables::Table;

pub static EXPERIMENT: Experiment = Experiment {
    name: "loaded",
    question: "How many moves are late at 50 ms a move on a busy machine?",
    command: "cargo experiment loaded",
    table: "loaded.tsv, loaded.md",
    options: Options::augment_args,
    run: |run, given| loaded(run, &Options::from_arg_matches(given)?),
};

#[derive(Args)]
struct Options {
    /// Matches in all
    #[arg(long, default_value_t = 300)]
    count: usize,
    /// Only keep a core busy, until the process is killed
    #[arg(long, hide = true)]
    burn: bool,
}

/// Plays with a short clock while other processes keep every core busy.
fn loaded(run: &Run, &Options { count, burn }: &Options) -> Result<()> {
    if burn {
        burn_a_core();
        return Ok(());
    }
    let ludex = build_ludex()?;
    let table = Table::open(
        run,
        "loaded",
        "game\tplayers\tmatches\tmoves\tlate\tillegal\tfailed\tfallbacks\tunfinished",
    )?;
    let games = library();
    ensure!(games.len() >= 50, "only {} games in the library", games.len());
    let per_game = count.div_ceil(50).to_string();
    let _burners = burners()?;
    for rules in games.iter().take(50) {
        if table.has(&[&rules.name]) {
            continue;
        }
        let path = rules.path.display().to_string();
        let n_roles = n_roles(&ludex, &path)?;
        let players = vec!["ludex"; n_roles.max(1)].join(",");
        let args = [
            "match",
            &path,
            "--players",
            &players,
            "--count",
            &per_game,
            "--start-clock",
            "0.5",
            "--play-clock",
            "0.05",
            "--json",
        ];
        let Some(report) = ask(&ludex, &args)? else { continue };
        let of = |key: &str| sum(&report, key).to_string();
        let row = [
            rules.name.as_str(),
            &players,
            &report["played"].to_string(),
            &of("moves"),
            &of("late"),
            &of("illegal"),
            &of("failed"),
            &of("fallbacks"),
            &report["unfinished"].to_string(),
        ];
        table.append(&row)?;
    }
    let mut sums = [0_u64; 7];
    for row in table.rows()? {
        for (sum, cell) in sums.iter_mut().zip(&row[2..]) {
            *sum += cell.parse::<u64>().unwrap_or(0);
        }
    }
    let [matches, moves, late, illegal, failed, fallbacks, unfinished] = sums;
    table.describe(&format!(
        "# A short clock on a loaded machine\n\n{}: `ludex` in every seat, play clock 50 ms, start clock 0.5 s, one match a core, while one more process per core keeps every core busy.\n{}\n\n\
         | matches | moves | late | illegal | failed | fallbacks | unfinished |\n| --- | --- | --- | --- | --- | --- | --- |\n\
         | {matches} | {moves} | {late} ({:.3} %) | {illegal} | {failed} | {fallbacks} | {unfinished} |\n",
        run.made_by("loaded"),
        table.commits_in_words()?,
        100.0 * late as f64 / moves.max(1) as f64,
    ))
}

/// Processes that keep one core busy each, killed on drop.
struct Burners(Vec<Child>);

impl Drop for Burners {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // The process may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn burners() -> Result<Burners> {
    let own = std::env::current_exe().context("the path of this program")?;
    let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
    let start = |_| {
        Command::new(&own).args(["loaded", "--burn"]).spawn().context("a burner does not start")
    };
    (0..n_cores).map(start).collect::<Result<Vec<Child>>>().map(Burners)
}

/// Keeps a core busy until the process is killed, an hour at most.
fn burn_a_core() {
    let start = std::time::Instant::now();
    let mut number = 1_u64;
    while start.elapsed().as_secs() < 3_600 {
        for _ in 0..1_000_000 {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        }
        std::hint::black_box(number);
    }
}
