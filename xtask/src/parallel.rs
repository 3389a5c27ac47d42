//! `cargo xtask parallel`: forms of parallel Monte Carlo search beside `uct` with the same threads, by
//! playouts a second and by matches.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use ludex_base::{Deadline, RoleId, Seed};
use ludex_cli::resources::cpu_time;
use ludex_game::Playouts;
use ludex_pipeline::{Engine, MachineChoice};
use ludex_referee::{Comparison, Exchange};
use ludex_search::{Limits, SearchSpec};
use ludex_tests::load_for;
use serde_json::Value;

use crate::tools::{build_ludex, select_corpus, shared_folder};

/// A form, and what it is held against.
const PAIRS: &[(&str, &str)] = &[
    ("uct-df:stay=parent,threads=1", "uct:threads=1"),
    ("uct-df:stay=path,threads=1", "uct:threads=1"),
    ("uct-df:stay=parent,threads=2", "uct:threads=2"),
    ("uct-df:stay=path,threads=2", "uct:threads=2"),
    ("uct:helpers=1", "uct:threads=2"),
    ("uct:helpers=2", "uct:threads=2"),
    ("uct:helpers=2,playouts=64", "uct-leaf:threads=2"),
    ("uct-split:threads=2", "uct:threads=2"),
];

const GAMES: &[(&str, usize)] = &[
    ("connectFour", 2),
    ("breakthrough", 2),
    ("reversi", 2),
    ("hex", 2),
    ("ticTacToeLarge", 2),
    ("ttcc4", 3),
];

/// Searches from the first state, both of a pair in turn, and prints playouts a second of the clock and
/// of the processor, and the ratios of the sums.
pub fn rates(rounds: u64, seconds: f64, only: &[String]) -> Result<()> {
    println!(
        "game\tsearch\tagainst\tplayouts_a_second\tagainst_a_second\tratio\tratio_cpu\tcores\tcores_against\titerations_ratio"
    );
    for (game, _) in GAMES {
        let rules = select_corpus(&[game.to_string()])?.remove(0);
        let loaded = load_for(&rules, MachineChoice::Wide)
            .map_err(|error| anyhow::anyhow!("{game}: {error}"))?;
        let Engine::Machine(machine) = loaded.engine else { continue };
        for (form, plain) in PAIRS {
            if !only.is_empty() && !only.iter().any(|it| form.contains(it.as_str())) {
                continue;
            }
            let mut sums = [[0.0; 4]; 2];
            for round in 0..rounds {
                for turn in 0..2 {
                    let side = ((round + turn) % 2) as usize;
                    let search = [form, plain][side];
                    let found = measure(&machine, search, seconds, Seed(round + 1))?;
                    for (sum, more) in sums[side].iter_mut().zip(found) {
                        *sum += more;
                    }
                }
            }
            let [a, b] = sums;
            println!(
                "{game}\t{form}\t{plain}\t{:.0}\t{:.0}\t{:.2}\t{:.2}\t{:.2}\t{:.2}\t{:.2}",
                a[0] / a[2],
                b[0] / b[2],
                a[0] / a[2] / (b[0] / b[2]),
                a[0] / a[3] / (b[0] / b[3]),
                a[3] / a[2],
                b[3] / b[2],
                a[1] / a[2] / (b[1] / b[2]),
            );
        }
    }
    Ok(())
}

/// Playouts, iterations, seconds of the clock and of the processor.
fn measure<G: Playouts + Clone + 'static>(
    game: &G,
    search: &str,
    seconds: f64,
    seed: Seed,
) -> Result<[f64; 4]> {
    let mut searcher = SearchSpec::parse(search)?.build(game);
    let cursor = game.cursor();
    let role = RoleId::new(0);
    let (began, cpu_began) = (Instant::now(), cpu_time().context("the CPU time")?);
    let deadline = Deadline::after(Duration::from_secs_f64(seconds));
    let report = searcher.search(&cursor, role, &Limits::until(deadline, seed));
    let cpu = cpu_time().context("the CPU time")? - cpu_began;
    let wall = began.elapsed().as_secs_f64();
    Ok([report.n_playouts as f64, report.n_iterations as f64, wall, cpu.as_secs_f64()])
}

/// Plays every pair on every game, round after round, and prints shares with intervals as they are.
pub fn matches(minutes: f64, clock: &str, count: usize, only: &[String]) -> Result<()> {
    let ludex = build_ludex()?;
    let games = shared_folder()?.join("games");
    let started = Instant::now();
    let mut found: BTreeMap<(usize, usize), (Vec<Exchange>, [u64; 4])> = BTreeMap::new();
    let per_role = 2;
    'rounds: for round in 1.. {
        let mut has_played = false;
        for (game_idx, (game, n_roles)) in GAMES.iter().enumerate() {
            for (pair_idx, (form, plain)) in PAIRS.iter().enumerate() {
                if !only.is_empty() && !only.iter().any(|it| form.contains(it.as_str())) {
                    continue;
                }
                if started.elapsed().as_secs_f64() > 60.0 * minutes {
                    break 'rounds;
                }
                let entry = found.entry((pair_idx, game_idx)).or_default();
                if 2 * entry.0.len() >= count {
                    continue;
                }
                has_played = true;
                let path = games.join(format!("{game}.kif"));
                let output = Command::new(&ludex)
                    .arg("match")
                    .arg(&path)
                    .args(["--players", &format!("{form},{plain}"), "--threads", "1"])
                    .args(["--count", &(per_role * n_roles).to_string()])
                    .args(["--seed", &round.to_string()])
                    .args(["--start-clock", "0.25", "--play-clock", clock, "--json"])
                    .stderr(Stdio::null())
                    .output()
                    .context("the command does not start")?;
                let report: Value = serde_json::from_slice(&output.stdout).context("a report")?;
                for goals in report["share"]["goals"].as_array().into_iter().flatten() {
                    let goal = |idx: usize| goals[idx].as_f64().unwrap_or(0.0);
                    entry.0.push(Exchange { first: goal(0), second: goal(1) });
                }
                for (idx, key) in ["late", "illegal", "fallbacks", "moves"].iter().enumerate() {
                    entry.1[idx] += crate::matches::sum(&report, key);
                }
            }
        }
        eprintln!("{}", table(&found)?);
        if !has_played {
            break;
        }
    }
    println!("{}", table(&found)?);
    Ok(())
}

fn table(found: &BTreeMap<(usize, usize), (Vec<Exchange>, [u64; 4])>) -> Result<String> {
    let mut text = String::new();
    for (pair_idx, (form, plain)) in PAIRS.iter().enumerate() {
        let mut all = Vec::new();
        let mut lapses = [0; 4];
        for (game_idx, (game, _)) in GAMES.iter().enumerate() {
            let Some((exchanges, more)) = found.get(&(pair_idx, game_idx)) else { continue };
            let Some(compared) = Comparison::new(exchanges.clone()) else { continue };
            let share = compared.share.scaled(100.0);
            let n = 2 * exchanges.len();
            writeln!(
                text,
                "{form}\t{plain}\t{game}\t{n}\t{:.1}\t{:.1}\t{:.1}",
                share.mean, share.low, share.high
            )?;
            all.push(share);
            lapses = std::array::from_fn(|at| lapses[at] + more[at]);
        }
        if all.is_empty() {
            continue;
        }
        let n = all.len() as f64;
        let mean = all.iter().map(|it| it.mean).sum::<f64>() / n;
        let half = all.iter().map(|it| ((it.high - it.low) / 2.0).powi(2)).sum::<f64>().sqrt() / n;
        writeln!(
            text,
            "{form}\t{plain}\tall\t\t{mean:.1}\t{:.1}\t{:.1}\tlate, illegal, fallbacks, moves {lapses:?}",
            mean - half,
            mean + half
        )?;
    }
    Ok(text)
}
