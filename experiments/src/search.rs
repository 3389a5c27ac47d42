//! How fast do search trees grow, on one thread and on two?

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use clap::{Args, FromArgMatches as _};
use ludex_base::{Deadline, RoleId, Seed};
use ludex_cli::resources::cpu_time;
use ludex_pipeline::{Engine, EngineChoice};
use ludex_search::{SearchLimits, SearchSpec, Searchable};
use ludex_testkit::library;
use ludex_tests::load_for;
use serde::{Deserialize, Serialize};
use xtask::tools::select_corpus;

use crate::registry::Experiment;
use crate::run::Run;
use crate::tables::Form;

pub static EXPERIMENT: Experiment = Experiment {
    name: "search",
    question: "How fast do search trees grow, on one thread and on two?",
    command: "cargo experiment search",
    table: "search.tsv, search.md",
    options: Options::augment_args,
    run: |run, given| measure_all(run, &Options::from_arg_matches(given)?),
};

#[derive(Args)]
struct Options {
    /// Seconds for each search
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// Only these games; then no table is written
    #[arg(long)]
    games: Vec<String>,
    /// Only these searches; then no table is written
    #[arg(long)]
    searches: Vec<String>,
}

/// The public rulesheets of the table.
const PUBLIC_GAMES: &[&str] = &["connectFour", "breakthrough", "reversi"];
/// The games of the library: our own chess, because the public one takes minutes to ground.
const LIBRARY_GAMES: &[&str] = &["chess"];
/// The searches: one playout a leaf, a batch from each leaf, a batch of leaves.
const SEARCHES: &[&str] = &["uct", "uct-leaf", "uct-lanes:leaves=256"];

/// One search of one game.
#[derive(Serialize, Deserialize)]
struct Row {
    game: String,
    search: String,
    n_threads: usize,
    iterations: f64,
    playouts: f64,
    cpu_seconds: f64,
    wall_seconds: f64,
}

impl Row {
    fn per_cpu_second(&self) -> f64 {
        self.iterations / self.cpu_seconds
    }
}

/// Searches from the initial state of each game and writes the table.
fn measure_all(run: &Run, Options { seconds, games, searches }: &Options) -> Result<()> {
    let seconds = *seconds;
    let is_partial = !games.is_empty() || !searches.is_empty();
    let wanted = |names: &[&str]| -> Vec<String> {
        let is_wanted = |name: &&str| games.is_empty() || games.iter().any(|it| it == name);
        names.iter().copied().filter(is_wanted).map(String::from).collect()
    };
    let (public, own) = (wanted(PUBLIC_GAMES), wanted(LIBRARY_GAMES));
    let mut files = Vec::new();
    if !public.is_empty() {
        files.extend(select_corpus(&public)?);
    }
    files.extend(library().into_iter().filter(|rules| own.contains(&rules.name)));
    let finished = run.finished("search", &format!("--seconds {seconds}"))?;
    let mut rows = Vec::new();
    for rules in files {
        let loaded = load_for(&rules, EngineChoice::Wide)
            .map_err(|error| anyhow::anyhow!("{}: {error}", rules.name))?;
        let Engine::Machine(machine) = loaded.engine else { continue };
        for &search in SEARCHES {
            if !searches.is_empty() && !searches.iter().any(|it| it == search) {
                continue;
            }
            for n_threads in [1, 2] {
                let part = format!("{} {search} {n_threads}", rules.name);
                let row = finished
                    .part(&part, || measure(&rules.name, &machine, search, n_threads, seconds))?;
                eprintln!(
                    "{}\t{}\t{}\t{:.0} iterations and {:.0} playouts a CPU second",
                    row.game,
                    search,
                    n_threads,
                    row.per_cpu_second(),
                    row.playouts / row.cpu_seconds
                );
                rows.push(row);
            }
        }
    }
    if !is_partial {
        write(run, &rows, seconds)?;
    }
    finished.remove()
}

fn measure<G: Searchable>(
    name: &str,
    game: &G,
    search: &str,
    n_threads: usize,
    seconds: f64,
) -> Result<Row> {
    let spec = SearchSpec::parse(search)?;
    let mut searcher = spec.build(game);
    let cursor = game.cursor();
    let role = RoleId::new(0);
    // A first search builds what is built on demand, before the clock starts.
    let warm_up = Deadline::after(Duration::from_millis(200));
    let limits = SearchLimits { threads: n_threads, ..SearchLimits::until(warm_up, Seed(1)) };
    searcher.search(&cursor, role, &limits);
    let mut searcher = spec.build(game);
    let (began, cpu_began) = (Instant::now(), cpu_time().context("the CPU time")?);
    let deadline = Deadline::after(Duration::from_secs_f64(seconds));
    let limits = SearchLimits { threads: n_threads, ..SearchLimits::until(deadline, Seed(1)) };
    let report = searcher.search(&cursor, role, &limits);
    let cpu = cpu_time().context("the CPU time")? - cpu_began;
    ensure!(report.n_playouts > 0, "no playout of {name} ended");
    Ok(Row {
        game: name.into(),
        search: search.into(),
        n_threads,
        iterations: report.n_iterations as f64,
        playouts: report.n_playouts as f64,
        cpu_seconds: cpu.as_secs_f64(),
        wall_seconds: began.elapsed().as_secs_f64(),
    })
}

fn write(run: &Run, rows: &[Row], seconds: f64) -> Result<()> {
    let mut tsv = run.rows(
        Form::Tsv,
        &[
            "game",
            "search",
            "threads",
            "iterations_per_cpu_second",
            "playouts_per_cpu_second",
            "iterations_per_second",
            "cores_used",
            "speedup_on_free_cores",
        ],
    );
    for row in rows {
        let single = rows
            .iter()
            .find(|it| it.game == row.game && it.search == row.search && it.n_threads == 1)
            .context("the row of one thread")?;
        // On free cores, each thread does the work of a CPU second in a second.
        let speedup = row.n_threads as f64 * row.per_cpu_second() / single.per_cpu_second();
        tsv.push(&[
            row.game.clone(),
            row.search.clone(),
            row.n_threads.to_string(),
            format!("{:.0}", row.per_cpu_second()),
            format!("{:.0}", row.playouts / row.cpu_seconds),
            format!("{:.0}", row.iterations / row.wall_seconds),
            format!("{:.2}", row.cpu_seconds / row.wall_seconds),
            format!("{speedup:.2}"),
        ]);
    }
    let markdown = format!(
        "# How fast trees grow\n\n\
         {}; all rows are in `search.tsv`.\n\
         One search from the initial state of each game; all are public rulesheets except our own chess. `uct` plays one game from each new leaf on the cursor, `uct-leaf` 64 on the wide machine, `uct-lanes` one from each of 256 leaves.\n\
         An iteration adds one leaf.\n\
         The machine also did other work, so compare the figures a CPU second; `cores_used` is the number of cores that the search got.\n\
         `speedup_on_free_cores` is threads times iterations a CPU second, divided by those of one thread: the gain of two threads that have a core each.\n",
        run.made_by(&format!("search --seconds {seconds}"))
    );
    run.write("search", &tsv, &markdown)
}
