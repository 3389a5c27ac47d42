//! `ludex merge`: puts the shards of a series together.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use ludex_record::journal::Contents;
use ludex_record::{Heading, Journal, MatchReport, SeriesReport};
use ludex_referee::{Decision, MatchRecord, Seating, Series, SeriesEnd, Tally};

use crate::args::Common;
use crate::failure::{DONE, Failure, LIMIT};
use crate::net_args::FileArgs;
use crate::series_file::{Part, SeriesFile, Settings, difference, wrong_file};
use crate::{match_report, output};

/// Reads the files of all shards and reports the series. The files stay as they are.
pub fn run(files: &[PathBuf], to: Option<&Path>, common: &Common) -> Result<u8, Failure> {
    let mut shards: BTreeMap<usize, ShardFile> = BTreeMap::new();
    for path in files {
        let shard = read(path)?;
        if let Some((_, first)) = shards.first_key_value() {
            check_fit(first, &shard)?;
        }
        if let Some(other) = shards.insert(shard.part.part, shard) {
            let Part { part, of, .. } = other.part;
            let also = format!("shard {part}/{of} is also in `{}`; name each once", path.display());
            return Err(wrong_file(&other.path, also));
        }
    }
    let (_, first) = shards.first_key_value().expect("at least one file is required");
    let (part, settings) = (first.part, first.settings.clone());
    let is_cooperative = shards.values().all(|shard| shard.part.cooperative);
    let clocks = settings.clocks().ok_or_else(|| foreign(&first.path))?;
    let mut records = Vec::new();
    let mut rows = Vec::new();
    for shard in shards.values() {
        for row in &shard.rows {
            records.push(row.to_record(clocks).ok_or_else(|| foreign(&shard.path))?);
        }
        rows.extend(shard.rows.iter());
    }
    records.sort_by_key(|record| record.number);
    rows.sort_by_key(|row| row.number);
    let Some(sample) = records.first() else {
        return Err(wrong_file(&first.path, "no shard has a match yet".into()));
    };
    let names = settings.names();
    let n_seats = sample.seats.iter().filter(|seat| seat.player.is_some()).count();
    let seating = Seating::new(names.len(), n_seats).map_err(|_| foreign(&first.path))?;
    check_seats(&records, &names, &seating, &first.path)?;
    let is_complete = records.len() == part.count;
    let tally = Tally::new(&names, &seating, &records);
    let end = if is_complete { SeriesEnd::Complete } else { SeriesEnd::Stopped };
    let heading = Heading {
        name: settings.game.clone(),
        engine: settings.engine.clone(),
        clocks,
        count: part.count,
        is_cooperative,
    };
    let series = Series { records, end, decision: Decision::Open };
    if common.json {
        let mut report = SeriesReport::of(&heading, &series, &tally);
        report.matches = rows.iter().map(|&row| row.clone()).collect();
        output::json(&report)?;
    } else {
        output::text(&match_report::text(&heading, &series, &tally))?;
    }
    if let Some(to) = to {
        write(to, settings, &rows)?;
    }
    if is_complete {
        return Ok(DONE);
    }
    output::say(&format!("ludex: {}", missing(&shards, part)));
    Ok(LIMIT)
}

/// The file of a shard.
struct ShardFile {
    path: PathBuf,
    settings: Settings,
    part: Part,
    rows: Vec<MatchReport>,
}

/// Reads a file, without what follows its last whole line: the shard may be running, or was killed.
fn read(path: &Path) -> Result<ShardFile, Failure> {
    let wrong = |message: String| wrong_file(path, message);
    let bytes = std::fs::read(path).map_err(|error| wrong(format!("cannot read it: {error}")))?;
    let (_, contents) = Journal::open::<Settings, MatchReport>(Cursor::new(bytes))
        .map_err(|error| wrong(error.to_string()))?;
    let Some(Contents { header: settings, rows }) = contents else {
        return Err(wrong("it is empty; name the file of a shard".into()));
    };
    let Some(part) = settings.shard else {
        return Err(wrong(
            "it holds a series without shards; only the files of `ludex match --shard` are merged"
                .into(),
        ));
    };
    if !(1..=part.of).contains(&part.part) {
        return Err(foreign(path));
    }
    let mut numbers = std::collections::HashSet::new();
    for row in &rows {
        let number = row.number;
        if !numbers.insert(number) {
            return Err(wrong(format!("it holds match {} twice", number + 1)));
        }
        let is_own = number < part.count && part.shard().contains(number);
        let id = settings.with_key(|key| key.id(number));
        if !is_own || row.id.as_ref() != Some(&id) {
            let Part { part, of, .. } = part;
            let message = format!("match {} does not belong to shard {part}/{of}", number + 1);
            return Err(wrong(message));
        }
    }
    Ok(ShardFile { path: path.to_owned(), settings, part, rows })
}

fn foreign(path: &Path) -> Failure {
    wrong_file(path, "its rows are not those of a shard; name another file".into())
}

/// Refuses a shard of another series.
fn check_fit(first: &ShardFile, other: &ShardFile) -> Result<(), Failure> {
    // What distinguishes shards of one series is made equal before they are compared.
    let whole = |shard: &ShardFile| Settings {
        shard: Some(Part { part: 1, cooperative: true, ..shard.part }),
        ..shard.settings.clone()
    };
    let (one, two) = (first.part, other.part);
    let said = if one.of != two.of {
        format!("{} shards there and {} here", one.of, two.of)
    } else if one.count != two.count {
        format!("{} matches there and {} here", one.count, two.count)
    } else {
        match difference(&whole(first), &whole(other)) {
            None => return Ok(()),
            Some(difference) => difference,
        }
    };
    let path = first.path.display();
    let message = format!("it is a shard of another series than `{path}`: {said}");
    Err(wrong_file(&other.path, message))
}

/// Refuses matches whose seats are not those of the series.
fn check_seats(
    records: &[MatchRecord],
    names: &[String],
    seating: &Seating,
    path: &Path,
) -> Result<(), Failure> {
    let fits = |record: &MatchRecord| {
        let seated = record.seats.iter().filter_map(|seat| seat.player.as_ref());
        let players = seating.players(record.number);
        seated.eq(players.iter().map(|&idx| &names[idx]))
    };
    if records.iter().all(fits) { Ok(()) } else { Err(foreign(path)) }
}

/// Writes the whole series to a new file.
fn write(path: &Path, settings: Settings, rows: &[&MatchReport]) -> Result<(), Failure> {
    let mut settings = Settings { shard: None, ..settings };
    let args = FileArgs { output: Some(path.to_owned()), resume: false };
    let (mut file, _) = SeriesFile::open::<MatchReport>(&args, &mut settings, true)?;
    rows.iter().for_each(|row| file.add(row));
    file.finish()
}

/// Says which shards lack matches.
fn missing(shards: &BTreeMap<usize, ShardFile>, part: Part) -> String {
    let mut parts = Vec::new();
    let mut n_more = 0;
    for number in 1..=part.of {
        let n_wanted = Part { part: number, ..part }.shard().n_matches(part.count);
        let said = match shards.get(&number) {
            None if n_wanted > 0 => format!("shard {number}/{} is missing", part.of),
            Some(shard) if shard.rows.len() < n_wanted => {
                let n_missing = n_wanted - shard.rows.len();
                let s = if n_missing == 1 { "" } else { "es" };
                format!("shard {number}/{} lacks {n_missing} match{s}", part.of)
            }
            _ => continue,
        };
        if parts.len() < 10 {
            parts.push(said);
        } else {
            n_more += 1;
        }
    }
    let more = if n_more == 0 { String::new() } else { format!(" and {n_more} more") };
    format!("{}{more}; `--resume` plays what a shard lacks", parts.join(", "))
}
