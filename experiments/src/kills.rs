//! Is anything finished ever lost? Kills series of matches, an experiment and a solver at random moments and
//! resumes them.

use anyhow::{Result, ensure};
use clap::{Args, FromArgMatches as _};
use ludex_base::Seed;
use ludex_tests::resume::{self, KillConfig, Work};
use xtask::tools::build_ludex;

use crate::registry::Experiment;
use crate::run::Run;
use crate::tables::Form;

pub static EXPERIMENT: Experiment = Experiment {
    name: "kills",
    question: "Does long work that is killed at random moments lose or repeat what is finished?",
    command: "cargo experiment kills",
    table: "kills.tsv, kills.md",
    options: Options::augment_args,
    run: |run, given| kill_all(run, &Options::from_arg_matches(given)?),
};

#[derive(Args)]
struct Options {
    /// Kills of each kind of work
    #[arg(long, default_value_t = 200)]
    kills: usize,
    /// Matches of a series
    #[arg(long, default_value_t = 50)]
    count: usize,
    /// Seed of the moments
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Kills series of both verbs, an experiment and a solver, writes the counts, and fails if something was lost.
fn kill_all(run: &Run, options: &Options) -> Result<()> {
    build_ludex()?;
    let columns = ["work", "kills", "series", "kept", "cut", "lost", "doubled", "different"];
    let mut tsv = run.rows(Form::Tsv, &columns);
    let mut markdown = run.rows(Form::Markdown, &columns);
    let mut n_wrong = 0;
    let Options { kills, count, seed } = options;
    let command = format!("kills --kills {kills} --count {count} --seed {seed}");
    let finished = run.finished("kills", &command)?;
    let program = std::env::current_exe()?;
    for work in [Work::Verb("match"), Work::Verb("referee"), Work::Experiment(program), Work::Solve]
    {
        let name = work.name();
        let config = KillConfig {
            work,
            n_kills: options.kills,
            n_matches: options.count,
            seed: Seed(options.seed),
        };
        let counts: [usize; 7] = finished.part(name, || {
            let found = resume::run(&config, &mut |so_far| {
                eprintln!("{name}: {} kills, {} series", so_far.n_kills, so_far.n_series);
            });
            Ok([
                found.n_kills,
                found.n_series,
                found.n_kept,
                found.n_cut,
                found.n_lost,
                found.n_doubled,
                found.n_different,
            ])
        })?;
        let cells: Vec<String> =
            [name.to_string()].into_iter().chain(counts.map(|count| count.to_string())).collect();
        tsv.push(&cells);
        markdown.push(&cells);
        let [.., n_lost, n_doubled, n_different] = counts;
        n_wrong += n_lost + n_doubled + n_different;
    }
    let report = format!(
        "# Killed series\n\n{}: series of {count} matches of tic-tac-toe between `uct` with 40 iterations \
         and `random`, the experiment `endings` on ten games, and `solve tictactoe --certificate`, killed by \
         signal 9 at random moments and resumed until they were complete.\n\n{}\n\
         *kept* counts finished matches, games and certificates found in files, *cut* files whose last line \
         was incomplete, *lost* and *doubled* those that were missing or twice in a file later, *different* \
         complete series whose report, table or certificate differed from that of a run without kills, and \
         certificates that were not whole.\n",
        run.made_by(&command),
        markdown.text(),
    );
    print!("{report}");
    run.write("kills", &tsv, &report)?;
    finished.remove()?;
    ensure!(n_wrong == 0, "something was lost, doubled or different");
    Ok(())
}
