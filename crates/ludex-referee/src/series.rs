//! Many matches between the same players.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::time::Duration;

use ludex_base::{Deadline, Goal, RoleId, Seed, panic_message};
use ludex_game::{Describe, Observe, Role};

use crate::record::{Clocks, Ending, MatchRecord, SeatRecord};
use crate::referee::{MatchConfig, WatchedStep, play_match};
use crate::seat::Seat;
use crate::seating::Seating;
use crate::sequential::{Decision, SequentialTest};
use crate::tally::decision;

/// A part of a series: every so many matches, from one of the first on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shard {
    /// Which part, from 0.
    pub index: usize,
    /// Number of parts, at least 1.
    pub of: usize,
}

impl Shard {
    /// The whole series.
    pub const WHOLE: Self = Self { index: 0, of: 1 };

    /// Returns whether a match belongs to it.
    pub fn contains(self, number: usize) -> bool {
        number % self.of == self.index
    }

    /// Returns how many matches of a series belong to it.
    pub fn n_matches(self, count: usize) -> usize {
        count.saturating_sub(self.index).div_ceil(self.of)
    }
}

/// The settings of a series.
#[derive(Clone, Debug)]
pub struct SeriesConfig {
    /// Number of matches.
    pub count: usize,
    /// The matches of it that are played.
    pub shard: Shard,
    /// The clocks of each match.
    pub clocks: Clocks,
    /// Seed of all randomness; match number `n` uses its child `n`.
    pub seed: Seed,
    /// Matches played at once. More matches than cores would take each other's time.
    pub n_parallel: usize,
    /// Test that stops the series early; `None` plays all matches.
    pub test: Option<SequentialTest>,
    /// Step limit of each match.
    pub max_steps: usize,
    /// Stops the series when reached; unfinished matches are dropped.
    pub stop: Deadline,
    /// Is told every step of every match as it is played.
    pub watcher: Option<Sender<WatchedStep>>,
}

/// The result of a series.
#[derive(Clone, PartialEq, Debug)]
pub struct Series {
    /// The finished matches, by number.
    pub records: Vec<MatchRecord>,
    /// Why the series ended.
    pub end: SeriesEnd,
    /// The decision of the sequential test.
    pub decision: Decision,
}

/// Why a series ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SeriesEnd {
    /// All matches were played.
    Complete,
    /// The sequential test decided.
    Known,
    /// The deadline was reached, or somebody stopped the series.
    Stopped,
}

/// Makes the seat of a player, given its index in the list of names and a seed.
pub type MakeSeat<'a> = dyn Fn(usize, Seed) -> Box<dyn Seat + 'a> + Sync + 'a;

/// Plays matches, several at once, and calls `on_match` as each of them ends.
///
/// `played` are the matches of an earlier run of the same series, which are not played again. With
/// players that repeat their moves, the result is that of a run without interruption.
pub fn play_series<G>(
    game: &G,
    seating: &Seating,
    make_seat: &MakeSeat<'_>,
    config: &SeriesConfig,
    played: Vec<MatchRecord>,
    on_match: &mut dyn FnMut(&MatchRecord),
) -> Series
where
    G: Describe,
    G::Cursor: Observe,
{
    let next = AtomicUsize::new(0);
    let mut records = played;
    let is_played: HashSet<usize> = records.iter().map(|record| record.number).collect();
    let decide = |records: &[MatchRecord]| match &config.test {
        Some(test) => decision(test, seating, records),
        None => Decision::Open,
    };
    let mut answer = decide(&records);
    let is_known = AtomicBool::new(answer != Decision::Open);
    std::thread::scope(|scope| {
        // No buffer: a thread reports its match before it begins the next one.
        let (sender, receiver) = mpsc::sync_channel(0);
        for _ in 0..config.n_parallel.clamp(1, config.count.max(1)) {
            let (next, is_known, is_played) = (&next, &is_known, &is_played);
            let sender = sender.clone();
            scope.spawn(move || {
                while !is_known.load(Ordering::Relaxed) && !config.stop.reached() {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= config.count {
                        break;
                    }
                    if is_played.contains(&number) || !config.shard.contains(number) {
                        continue;
                    }
                    let record = play_one(game, seating, make_seat, config, number);
                    if sender.send(record).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        for record in receiver {
            if record.ending == Ending::Interrupted {
                continue;
            }
            on_match(&record);
            records.push(record);
            if answer == Decision::Open {
                answer = decide(&records);
                is_known.store(answer != Decision::Open, Ordering::Relaxed);
            }
        }
    });
    records.sort_by_key(|record| record.number);
    let end = if records.len() >= config.shard.n_matches(config.count) {
        SeriesEnd::Complete
    } else if answer != Decision::Open {
        SeriesEnd::Known
    } else {
        SeriesEnd::Stopped
    };
    Series { records, end, decision: answer }
}

/// Plays one match of a series, by its number.
pub fn play_one<G>(
    game: &G,
    seating: &Seating,
    make_seat: &MakeSeat<'_>,
    config: &SeriesConfig,
    number: usize,
) -> MatchRecord
where
    G: Describe,
    G::Cursor: Observe,
{
    let seed = config.seed.child(number as u64);
    let mut players = seating.players(number).into_iter();
    let roles = game.role_ids().zip(game.roles());
    let mut seats: Vec<Option<Box<dyn Seat + '_>>> = roles
        .map(|(role_id, role)| {
            let seed = seed.child(1 + RoleId::index(role_id) as u64);
            (!role.is_random)
                .then(|| make_seat(players.next().expect("every role has its player"), seed))
        })
        .collect();
    let config = MatchConfig {
        number,
        seed,
        clocks: config.clocks,
        max_steps: config.max_steps,
        stop: config.stop.clone(),
        watcher: config.watcher.clone(),
    };
    // A panic in the rules or the engine ends this match only; `play_match` catches those of steps.
    let played = catch_unwind(AssertUnwindSafe(|| play_match(game, &mut seats, &config)));
    played.unwrap_or_else(|panic| broken(game, &seats, &config, &panic_message(&*panic)))
}

/// The record of a match in which the game panicked before a move was played.
fn broken<G: Describe>(
    game: &G,
    seats: &[Option<Box<dyn Seat + '_>>],
    config: &MatchConfig,
    message: &str,
) -> MatchRecord {
    let seat_of = |(role, seat): (&Role, &Option<Box<dyn Seat + '_>>)| SeatRecord {
        role: role.name.clone(),
        player: seat.as_ref().map(|seat| seat.name().to_string()),
        lapse: None,
        start_time: Duration::ZERO,
    };
    MatchRecord {
        number: config.number,
        seed: config.seed,
        clocks: config.clocks,
        seats: game.roles().iter().zip(seats).map(seat_of).collect(),
        steps: Vec::new(),
        ending: Ending::Fault,
        fault: Some(format!("the game panicked before the first step: {message}")),
        goals: vec![Goal::MIN; game.roles().len()],
        time: Duration::ZERO,
    }
}
