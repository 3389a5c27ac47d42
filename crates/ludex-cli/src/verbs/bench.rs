//! `ludex bench`: measures the speed of random games.
//!
//! It always finishes a batch of playouts: stopping in the middle would leave out the long games in
//! progress and count short ones too often.

use std::panic::resume_unwind;
use std::time::{Duration, Instant};

use ludex_base::{Deadline, Seed};
use ludex_game::playouts::StartResults;
use ludex_game::{Cursor, PlayoutRequest, PlayoutResults, PlayoutRunner, Playouts};
use ludex_pipeline::{EngineChoice, with_game};
use serde::Serialize;

use crate::args::Common;
use crate::failure::{DONE, Failure, LIMIT};
use crate::load::load;
use crate::{input, output, resources};

/// Step limit of a playout. It is higher than elsewhere, because the bench measures long games too.
const MAX_STEPS: usize = 100_000;
/// Batches grow until one takes this long.
const BATCH_TIME: Duration = Duration::from_millis(100);
/// Longest time for the first playout.
const MAX_FIRST_TIME: Duration = Duration::from_secs(20);
/// Most playouts of a batch.
const MAX_BATCH: usize = 1 << 16;

#[derive(Serialize)]
struct BenchJson {
    name: String,
    machine: &'static str,
    threads: usize,
    roles: Vec<String>,
    gates: Option<usize>,
    setup_seconds: f64,
    first_playout_seconds: f64,
    seconds: f64,
    playouts: u64,
    given_up: u64,
    cpu_seconds: f64,
    playouts_per_second: f64,
    playouts_per_cpu_second: f64,
    moves_per_cpu_second: f64,
    mean_length: f64,
    mean_goal: Vec<f64>,
    peak_mb: Option<f64>,
}

/// Plays random games for a given time and reports the speed.
pub fn run(
    rules: &str,
    time: Duration,
    engine: EngineChoice,
    common: &Common,
) -> Result<u8, Failure> {
    let end = common.deadline();
    let input = input::read(rules)?;
    let loaded = load(&input, engine, common)?;
    let n_threads = common.n_threads();
    let bar = output::spinner(format!("playing for {} s", time.as_secs_f64()));
    let measured =
        with_game!(&loaded.engine, |game| measure(game, time, &end, n_threads, common.seed()));
    bar.finish_and_clear();
    let report = BenchJson {
        name: input.name.clone(),
        machine: loaded.engine.playout_name(),
        threads: n_threads,
        roles: loaded.role_names(),
        gates: loaded.sizes.map(|sizes| sizes.gates),
        setup_seconds: output::seconds(loaded.setup_time),
        first_playout_seconds: output::seconds(loaded.setup_time + measured.first),
        seconds: output::seconds(measured.wall),
        playouts: measured.sums.n_playouts,
        given_up: measured.n_given_up,
        cpu_seconds: output::seconds(measured.cpu),
        playouts_per_second: rate(measured.sums.n_playouts, measured.wall),
        playouts_per_cpu_second: rate(measured.sums.n_playouts, measured.cpu),
        moves_per_cpu_second: rate(measured.sums.n_steps, measured.cpu),
        mean_length: mean(measured.sums.n_steps, measured.sums.n_playouts),
        mean_goal: (measured.sums.goal_sums.iter())
            .map(|&sum| mean(sum, measured.sums.n_playouts))
            .collect(),
        peak_mb: resources::peak_mb(),
    };
    let code = if report.playouts == 0 { LIMIT } else { DONE };
    if common.json {
        output::json(&report)?;
    } else {
        output::text(&report_text(&report))?;
    }
    if code == LIMIT {
        output::say(if end.reached() {
            output::limit_text(&end)
        } else {
            "ludex: no playout ended; allow more with `--seconds`"
        });
    }
    Ok(code)
}

struct Measured {
    sums: StartResults,
    n_given_up: u64,
    /// Time to the end of the first playout.
    first: Duration,
    wall: Duration,
    cpu: Duration,
}

fn measure<G: Playouts>(
    game: &G,
    time: Duration,
    end: &Deadline,
    n_threads: usize,
    seed: Seed,
) -> Measured {
    // Play one playout first: it prepares the data that all threads share, which must not count.
    let start = Instant::now();
    play_for(game, start, Duration::ZERO, end, seed.child(u64::MAX));
    let first = start.elapsed();

    let start = Instant::now();
    let cpu_before = resources::cpu_time();
    let results: Vec<PlayoutResults> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..n_threads)
            .map(|thread_idx| {
                let seed = seed.child(thread_idx as u64);
                scope.spawn(move || play_for(game, start, time, end, seed))
            })
            .collect();
        let results = threads.into_iter().map(|thread| thread.join());
        results.map(|result| result.unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });
    let wall = start.elapsed();
    // If the system does not report it, assume that every thread was busy all the time.
    let cpu = match (cpu_before, resources::cpu_time()) {
        (Some(before), Some(after)) => after.saturating_sub(before),
        _ => wall * n_threads as u32,
    };
    let n_given_up = results.iter().map(|results| results.n_given_up).sum();
    let all = PlayoutResults {
        starts: results.into_iter().flat_map(|results| results.starts).collect(),
        ..PlayoutResults::default()
    };
    Measured { sums: all.total(), n_given_up, first, wall, cpu }
}

/// Plays growing batches until the time is over, and at least one playout if that ends before the
/// end of the call.
fn play_for<G: Playouts>(
    game: &G,
    start: Instant,
    time: Duration,
    end: &Deadline,
    seed: Seed,
) -> PlayoutResults {
    let mut rng = seed.rng();
    let mut runner = game.runner();
    let starts = [game.cursor().state().clone()];
    let mut results = PlayoutResults::default();
    // A single playout may take longer than the whole time, so allow much more.
    let deadline = end.no_later_than(start + time * 10 + MAX_FIRST_TIME);
    let mut n_per_start = 1;
    loop {
        let batch_start = Instant::now();
        let request = PlayoutRequest {
            starts: &starts,
            n_per_start,
            max_steps: MAX_STEPS,
            wants_moves: false,
            deadline: &deadline,
        };
        runner.run(&request, &mut rng, &mut results);
        if start.elapsed() >= time || end.reached() {
            return results;
        }
        if batch_start.elapsed() < BATCH_TIME && n_per_start < MAX_BATCH {
            n_per_start *= 2;
        }
    }
}

fn rate(count: u64, time: Duration) -> f64 {
    if time.is_zero() { 0.0 } else { output::round(count as f64 / time.as_secs_f64()) }
}

fn mean(sum: u64, count: u64) -> f64 {
    if count == 0 { 0.0 } else { output::round(sum as f64 / count as f64) }
}

fn report_text(report: &BenchJson) -> String {
    let goals: Vec<String> = report
        .roles
        .iter()
        .zip(&report.mean_goal)
        .map(|(role, goal)| format!("{role} {goal:.2}"))
        .collect();
    let threads = if report.threads == 1 { "thread" } else { "threads" };
    let mut text = format!(
        "{} on the {}, {} {threads}\nsetup      {:.3} s, {:.3} s to the first playout\nplayouts   {} in {:.2} s, {:.2} s of processor time\n\
         speed      {:.1} playouts a second, {:.1} a processor second\n\
         moves      {:.1} joint moves a processor second\nlength     {:.2} steps on average\ngoals      {}\n",
        report.name,
        report.machine,
        report.threads,
        report.setup_seconds,
        report.first_playout_seconds,
        report.playouts,
        report.seconds,
        report.cpu_seconds,
        report.playouts_per_second,
        report.playouts_per_cpu_second,
        report.moves_per_cpu_second,
        report.mean_length,
        goals.join(", "),
    );
    if report.given_up > 0 {
        text += &format!("given up   {} playouts at the step limit\n", report.given_up);
    }
    if let Some(mb) = report.peak_mb {
        text += &format!("memory     {mb} MB at most\n");
    }
    text
}
