//! `ludex match`: plays matches between players.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use indicatif::ProgressBar;
use ludex_base::{Deadline, Seed};
use ludex_pipeline::with_game;
use ludex_player::{Playable, Player, PlayerConfig, PlayerSpec, survey};
use ludex_record::{Heading, MatchReport, SeriesReport};
use ludex_referee::{
    Clocks, LocalSeat, MAX_STEPS, MatchRecord, Seating, SequentialTest, Series, SeriesConfig,
    SeriesEnd, Shard, Tally, play_series,
};
use ludex_solve::Saved;

use crate::args::{Common, MatchArgs};
use crate::failure::{DONE, Failure, LIMIT};
use crate::input::Input;
use crate::load::{Loaded, load};
use crate::page_watch::PageWatch;
use crate::series_file::{Part, SeriesFile, Settings};
use crate::{input, interrupt, match_moves, match_report, output, saved_file};

/// Plays matches and reports the results.
pub fn run(args: &MatchArgs, common: &Common) -> Result<u8, Failure> {
    let stop = common.deadline();
    let players = parse_players(&args.players)?;
    let input = input::read(&args.rules.rules)?;
    let loaded = load(&input, args.engine.choice(), common)?;
    let is_cooperative = with_game!(&loaded.engine, |game| is_cooperative(game, common.seed()));
    let mut settings = settings(args, common, &input, &loaded, is_cooperative);
    let (mut file, rows) = SeriesFile::open(&args.file, &mut settings, true)?;
    let shard = args.shard.unwrap_or(Shard::WHOLE);
    let before = restored(rows, clocks(args), args.count);
    let saved = saved_file::read(args.saved.as_deref(), loaded.source.text())?;
    let call = Call {
        args,
        common,
        loaded: &loaded,
        players: &players,
        stop: &stop,
        saved,
        settings: &settings,
    };
    let played = with_game!(&loaded.engine, |game| play(game, &call, before, &mut file))?;
    let Played { series, seating, is_interrupted } = played;
    let names: Vec<String> = players.iter().map(|(name, _)| name.clone()).collect();
    let tally = Tally::new(&names, &seating, &series.records);
    let heading = Heading {
        name: input.name.clone(),
        engine: loaded.engine_name().into(),
        clocks: clocks(args),
        count: shard.n_matches(args.count),
        is_cooperative,
    };
    if common.json {
        let mut report = SeriesReport::of(&heading, &series, &tally);
        report.matches.iter_mut().for_each(|it| name(it, &settings));
        output::json(&report)?;
    } else {
        if args.verbose {
            series.records.iter().try_for_each(|it| output::text(&match_moves::text(it)))?;
        }
        output::text(&match_report::text(&heading, &series, &tally))?;
    }
    file.finish()?;
    if series.end != SeriesEnd::Stopped {
        return Ok(DONE);
    }
    output::say(if is_interrupted { "ludex: interrupted" } else { output::limit_text(&stop) });
    Ok(LIMIT)
}

/// Names a match.
fn name(report: &mut MatchReport, settings: &Settings) {
    report.id = Some(settings.with_key(|key| key.id(report.number)));
}

fn settings(
    args: &MatchArgs,
    common: &Common,
    input: &Input,
    loaded: &Loaded,
    is_cooperative: bool,
) -> Settings {
    let part = |shard: Shard| Part {
        part: shard.index + 1,
        of: shard.of,
        count: args.count,
        cooperative: is_cooperative,
    };
    let options =
        [("ponder", args.ponder), ("saved", args.saved.is_some()), ("stop-early", args.stop_early)];
    Settings {
        series: "match".into(),
        game: input.name.clone(),
        rules_hash: input.sha256.clone(),
        engine: loaded.engine_name().into(),
        players: args.players.clone(),
        seed: common.seed().0,
        start_clock: args.start_clock.as_secs_f64(),
        play_clock: args.play_clock.as_secs_f64(),
        iterations: args.iterations,
        options: options.iter().filter(|it| it.1).map(|it| it.0.into()).collect(),
        shard: args.shard.map(part),
    }
}

/// The matches of an earlier run that belong to this one.
pub(crate) fn restored(rows: Vec<MatchReport>, clocks: Clocks, count: usize) -> Vec<MatchRecord> {
    let mut numbers = HashSet::new();
    let records = rows.into_iter().filter_map(|row| row.to_record(clocks));
    records.filter(|record| record.number < count && numbers.insert(record.number)).collect()
}

struct Played {
    series: Series,
    seating: Seating,
    is_interrupted: bool,
}

/// Most seats of all matches that are played at once: each has a thread of its own.
const MAX_SEATS: usize = 256;
/// Random games that show whether a game is cooperative, and their time limit.
const N_SURVEYED: u64 = 300;
const SURVEY_TIME: Duration = Duration::from_secs(1);

/// Whether all roles got the same goal in every random game of a sample.
pub(crate) fn is_cooperative<G: Playable>(game: &G, seed: Seed) -> bool {
    survey(game, N_SURVEYED, seed, &Deadline::after(SURVEY_TIME)).is_cooperative
}

/// What was asked for.
struct Call<'a> {
    args: &'a MatchArgs,
    common: &'a Common,
    loaded: &'a Loaded,
    players: &'a [(String, PlayerSpec)],
    stop: &'a Deadline,
    saved: Option<Arc<Saved>>,
    settings: &'a Settings,
}

/// Plays the matches that are not among those played before.
fn play<G: Playable>(
    game: &G,
    call: &Call<'_>,
    before: Vec<MatchRecord>,
    file: &mut SeriesFile,
) -> Result<Played, Failure> {
    let &Call { args, common, loaded, players, stop, ref saved, settings } = call;
    let shard = args.shard.unwrap_or(Shard::WHOLE);
    let n_roles = game.roles().iter().filter(|role| !role.is_random).count();
    let seating = Seating::new(players.len(), n_roles).map_err(|e| Failure::Call(e.to_string()))?;
    let interrupted = interrupt::flag();
    let n_parallel = common.n_threads().min(args.count).min(MAX_SEATS / n_roles).max(1);
    let names = players.iter().map(|(name, _)| name.clone()).collect();
    let about = (loaded.source.name(), loaded.source.text());
    let watch = |link: &String| PageWatch::start(link, about, game.roles(), names, &seating);
    let (page, watcher) = args.page.as_ref().map(watch).transpose()?.unzip();
    let config = SeriesConfig {
        count: args.count,
        shard,
        clocks: clocks(args),
        seed: common.seed(),
        n_parallel,
        test: args.stop_early.then(SequentialTest::default),
        max_steps: MAX_STEPS,
        stop: stop.clone().or_when(Arc::clone(&interrupted)),
        watcher,
    };
    let memory = common.memory_of_each(n_parallel * n_roles);
    let make_seat = |player: usize, seed: Seed| -> Box<dyn ludex_referee::Seat> {
        let (name, spec) = &players[player];
        let config = PlayerConfig {
            memory,
            iterations: args.iterations,
            ponders: args.ponder,
            stop: Some(Arc::clone(&interrupted)),
            saved: saved.clone(),
            ..PlayerConfig::new(seed)
        };
        let player = Player::new(spec, game, Arc::clone(&loaded.program), config);
        Box::new(LocalSeat::new(player.named(name.clone())))
    };
    let n_matches = shard.n_matches(args.count) as u64;
    let bar = output::bar(n_matches, format!("matches of {}", loaded.source.name()));
    bar.inc(before.len() as u64);
    let mut on_match = |record: &MatchRecord| {
        let mut report = MatchReport::of(record);
        name(&mut report, settings);
        file.add(&report);
        show(&bar, record);
    };
    let series = play_series(game, &seating, &make_seat, &config, before, &mut on_match);
    drop(config);
    page.into_iter().for_each(PageWatch::finish);
    bar.finish_and_clear();
    let is_interrupted = interrupted.load(Ordering::Relaxed);
    Ok(Played { series, seating, is_interrupted })
}

fn show(bar: &ProgressBar, record: &MatchRecord) {
    let goals: Vec<String> = record.goals.iter().map(ToString::to_string).collect();
    bar.set_message(format!("last: {} after {} steps", goals.join(" "), record.steps.len()));
    bar.inc(1);
}

fn clocks(args: &MatchArgs) -> Clocks {
    Clocks { start: args.start_clock, play: args.play_clock }
}

fn parse_players(text: &str) -> Result<Vec<(String, PlayerSpec)>, Failure> {
    let parse = |name: String| match PlayerSpec::parse(&name) {
        Ok(spec) => Ok((name, spec)),
        Err(error) => Err(Failure::Call(error.to_string())),
    };
    split_names(text).into_iter().map(parse).collect()
}

/// Splits names at commas. Options have commas too: a piece that is an option belongs to the player
/// before it.
pub(crate) fn split_names(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for piece in text.split(',') {
        match names.last_mut() {
            Some(last) if piece.contains('=') && !piece.contains(':') => {
                last.push(',');
                last.push_str(piece);
            }
            _ => names.push(piece.trim().to_string()),
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_stay_with_their_player() {
        let names = |text: &str| {
            let players = parse_players(text).ok()?;
            Some(players.into_iter().map(|(name, _)| name).collect::<Vec<_>>())
        };
        assert_eq!(names("ludex,random").expect("both are there"), ["ludex", "random"]);
        assert_eq!(names("nobody,random"), None);
        assert_eq!(names(""), None);
    }
}
