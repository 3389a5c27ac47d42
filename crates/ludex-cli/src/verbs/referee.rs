//! `ludex referee`: manages matches between remote players, local players and people.

use std::collections::HashSet;
use std::fs;
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ludex_analysis::Layout;
use ludex_base::{Deadline, Seed};
use ludex_net::{Address, RemoteMatch, RemoteSeat, info};
use ludex_pipeline::with_game;
use ludex_player::{Playable, Player, PlayerConfig, PlayerSpec};
use ludex_protocol::{Codebook, Status};
use ludex_record::{Circumstances, CommunityRecord, Heading, MatchReport};
use ludex_referee::{
    Clocks, Decision, Ending, LocalSeat, MAX_STEPS, MatchRecord, Seat, Seating, Series,
    SeriesConfig, SeriesEnd, Shard, Tally, play_one,
};

use serde::{Deserialize, Serialize};

use crate::args::Common;
use crate::failure::{DONE, Failure, LIMIT};
use crate::input::Input;
use crate::load::{Loaded, load};
use crate::net_args::RefereeArgs;
use crate::page_watch::PageWatch;
use crate::person_seat::{Lines, PersonSeat};
use crate::series_file::{SeriesFile, Settings};
use crate::verbs::matches::{is_cooperative, split_names};
use crate::{input, interrupt, match_report, output};

/// A participant of a match.
#[derive(Clone, Debug)]
enum Guest {
    /// A remote player: its address and name.
    Remote(Address, String),
    Local(String, PlayerSpec),
    Person,
}

impl Guest {
    fn name(&self) -> &str {
        match self {
            Guest::Remote(_, name) | Guest::Local(name, _) => name,
            Guest::Person => "person",
        }
    }
}

/// Plays matches and reports each.
pub fn run(args: &RefereeArgs, common: &Common) -> Result<u8, Failure> {
    let time = common.deadline();
    let mut guests = parse_guests(&args.players)?;
    check_clocks(args, &guests)?;
    let n_people = guests.iter().filter(|guest| matches!(guest, Guest::Person)).count();
    if n_people > 1 || (n_people == 1 && args.rules.rules == "-") {
        return Err(Failure::Call(
            "there is only one terminal: name `person` once, and give the rules as a file or game"
                .into(),
        ));
    }
    if let Some(folder) = &args.record_dir {
        prepare_folder(folder)?;
    }
    let input = input::read(&args.rules.rules)?;
    let loaded = load(&input, args.engine.choice(), common)?;
    let mut settings = settings(args, secret(common), &input, &loaded);
    let (mut file, rows) = SeriesFile::open(&args.file, &mut settings, common.seed.is_some())?;
    introduce(&mut guests);
    let stop = interrupt::flag();
    let code = with_game!(&loaded.engine, |game| {
        let secret = Seed(settings.seed);
        let call =
            Call { loaded: &loaded, name: &input.name, guests: &guests, args, common, secret };
        let mut referee = Referee::new(game, call, time, stop)?;
        let page = referee.page.take();
        let code = referee.run(rows, &mut file);
        drop(referee);
        page.into_iter().for_each(PageWatch::finish);
        code
    })?;
    file.finish()?;
    Ok(code)
}

fn settings(args: &RefereeArgs, seed: Seed, input: &Input, loaded: &Loaded) -> Settings {
    let preview = args.preview_clock.map(|clock| format!("preview-clock {}", clock.as_secs_f64()));
    let scramble = args.scramble.then(|| "scramble".to_string());
    let tournament = args.tournament.as_ref().map(|name| format!("tournament {name}"));
    Settings {
        series: "referee".into(),
        game: input.name.clone(),
        rules_hash: input.sha256.clone(),
        engine: loaded.engine_name().into(),
        players: args.players.clone(),
        seed: seed.0,
        start_clock: args.start_clock.as_secs_f64(),
        play_clock: args.play_clock.as_secs_f64(),
        iterations: args.iterations,
        options: [preview, scramble, tournament].into_iter().flatten().collect(),
        shard: None,
    }
}

/// A match in the file of a series.
#[derive(Clone, Serialize, Deserialize)]
struct Row {
    report: MatchReport,
    community: CommunityRecord,
}

/// Creates the folder of the records and tries to write to it, before matches are played.
fn prepare_folder(folder: &Path) -> Result<(), Failure> {
    let trial = folder.join(".ludex-trial");
    let tried = fs::create_dir_all(folder)
        .and_then(|()| fs::write(&trial, b"trial"))
        .and_then(|()| fs::remove_file(&trial));
    tried.map_err(|error| Failure::File {
        path: folder.display().to_string(),
        code: "record-folder",
        line: None,
        message: format!("cannot write records to it: {error}"),
    })
}

/// Parses names, addresses and `person`, separated by commas.
fn parse_guests(text: &str) -> Result<Vec<Guest>, Failure> {
    let mut guests = Vec::new();
    for name in split_names(text) {
        guests.push(if name.contains("://") {
            let address =
                Address::parse(&name).map_err(|error| Failure::Call(error.to_string()))?;
            Guest::Remote(address, name)
        } else if name == "person" {
            Guest::Person
        } else {
            let spec =
                PlayerSpec::parse(&name).map_err(|error| Failure::Call(error.to_string()))?;
            Guest::Local(name, spec)
        });
    }
    Ok(guests)
}

/// Refuses fractions of seconds for remote players: the protocol has whole seconds only.
fn check_clocks(args: &RefereeArgs, guests: &[Guest]) -> Result<(), Failure> {
    if !guests.iter().any(|guest| matches!(guest, Guest::Remote(..))) {
        return Ok(());
    }
    let clocks = [Some(args.start_clock), Some(args.play_clock), args.preview_clock];
    match clocks.into_iter().flatten().find(|clock| clock.subsec_nanos() != 0) {
        Some(clock) => Err(Failure::Call(format!(
            "a remote player cannot have a clock of {} s; use whole seconds",
            clock.as_secs_f64()
        ))),
        None => Ok(()),
    }
}

/// Asks all remote players for their names at once, and reports those that do not answer.
fn introduce(guests: &mut [Guest]) {
    std::thread::scope(|scope| {
        for guest in guests.iter_mut() {
            let Guest::Remote(address, name) = guest else { continue };
            scope.spawn(move || match info(address) {
                Ok(info) => {
                    if info.status == Status::Busy {
                        output::say(&format!("ludex: {address} is busy"));
                    }
                    if !info.name.is_empty() {
                        *name = info.name;
                    }
                }
                Err(error) => {
                    output::say(&format!("ludex: {address} does not answer: {error}"));
                }
            });
        }
    });
    // Add the address if two players have the same name.
    let mut taken = HashSet::new();
    for guest in guests {
        if let Guest::Remote(address, name) = guest
            && !taken.insert(name.clone())
        {
            *name = format!("{name}@{address}");
        }
    }
}

/// Refuses a remote player in two seats of a match: messages name only the match, so a player can
/// play only one role of it.
fn check_seats(guests: &[Guest], seating: &Seating, count: usize) -> Result<(), Failure> {
    let remedy = "start as many players as the game has roles, each at its own address";
    let addresses: Vec<(usize, &Address)> = (guests.iter().enumerate())
        .filter_map(|(idx, guest)| match guest {
            Guest::Remote(address, _) => Some((idx, address)),
            _ => None,
        })
        .collect();
    for (at, (idx, address)) in addresses.iter().enumerate() {
        let is_twice = addresses[..at].iter().any(|(_, other)| other.leads_to(address));
        let seats = |number: usize| seating.players(number).iter().filter(|&it| it == idx).count();
        let n_seats = (0..count.min(seating.round())).map(seats).max().unwrap_or(0);
        if is_twice || n_seats > 1 {
            let n_seats = n_seats.max(2);
            return Err(Failure::Call(format!(
                "{address} would have {n_seats} seats of a match, but a remote player can have \
                 only one; {remedy}"
            )));
        }
    }
    Ok(())
}

/// The seed of the call, or an unguessable one.
fn secret(common: &Common) -> Seed {
    // The keys of a hash map come from the system's source of randomness. Numbers in JSON are exact
    // up to 53 bits.
    let drawn = || std::hash::RandomState::new().build_hasher().finish() >> 11;
    Seed(common.seed.unwrap_or_else(drawn))
}

/// The arguments of the call, with the loaded game.
struct Call<'a> {
    loaded: &'a Loaded,
    name: &'a str,
    guests: &'a [Guest],
    args: &'a RefereeArgs,
    common: &'a Common,
    /// Seed of everything that players must not guess: chance, replaced moves, and the names of a
    /// scrambled match.
    secret: Seed,
}

struct Referee<'a, G> {
    game: &'a G,
    call: Call<'a>,
    seating: Seating,
    series: SeriesConfig,
    page: Option<PageWatch>,
    lines: Option<Lines>,
    stop: Arc<AtomicBool>,
    /// Bytes for the search of each local player.
    memory: usize,
}

impl<'a, G: Playable> Referee<'a, G> {
    fn new(
        game: &'a G,
        call: Call<'a>,
        time: Deadline,
        stop: Arc<AtomicBool>,
    ) -> Result<Self, Failure> {
        let Call { loaded, name, guests, args, common, secret } = call;
        let n_roles = game.roles().iter().filter(|role| !role.is_random).count();
        let seating = Seating::new(guests.len(), n_roles);
        let seating = seating.map_err(|error| Failure::Call(error.to_string()))?;
        check_seats(guests, &seating, args.count)?;
        let names = guests.iter().map(|guest| guest.name().to_string()).collect();
        let rules = loaded.source.text();
        let watch =
            |link: &String| PageWatch::start(link, (name, rules), game.roles(), names, &seating);
        let (page, watcher) = args.page.as_ref().map(watch).transpose()?.unzip();
        let series = SeriesConfig {
            count: args.count,
            shard: Shard::WHOLE,
            clocks: Clocks { start: args.start_clock, play: args.play_clock },
            seed: secret.child(0),
            n_parallel: 1,
            test: None,
            max_steps: MAX_STEPS,
            stop: time.or_when(Arc::clone(&stop)),
            watcher,
        };
        let has_person = guests.iter().any(|guest| matches!(guest, Guest::Person));
        let lines = has_person.then(Lines::of_stdin);
        let memory = common.memory_of_each(n_roles);
        Ok(Self { game, call, seating, series, page, lines, stop, memory })
    }

    /// Plays the matches that are not among `rows`, and reports all of them.
    fn run(&self, rows: Vec<Row>, file: &mut SeriesFile) -> Result<u8, Failure> {
        let mut records = Vec::new();
        let mut unwritten = None;
        for number in 0..self.call.args.count {
            let before = rows.iter().find(|row| row.report.number == number);
            let before = before.and_then(|row| {
                Some((row.report.to_record(self.series.clocks)?, row.community.clone()))
            });
            let (record, json) = match before {
                Some(played) => played,
                None if self.series.stop.reached() => break,
                None => {
                    let (record, json) = self.play(number);
                    if record.ending != Ending::Interrupted {
                        file.add(&Row {
                            report: MatchReport::of(&record),
                            community: json.clone(),
                        });
                    }
                    if let Some(folder) = &self.call.args.record_dir
                        && let Err(error) = write_record(folder, &json)
                    {
                        output::say(&format!("ludex: cannot write a record: {error}"));
                        unwritten = Some(error);
                    }
                    (record, json)
                }
            };
            if self.call.common.json {
                output::json(&json)?
            } else {
                output::text(&result(&record))?
            }
            records.push(record);
        }
        records.retain(|record| record.ending != Ending::Interrupted);
        let is_complete = records.len() == self.call.args.count;
        if !self.call.common.json {
            self.sum_up(records)?;
        }
        if !is_complete && !self.stop.load(Ordering::Relaxed) {
            output::say(output::limit_text(&self.series.stop));
        }
        match unwritten {
            Some(error) => Err(error.into()),
            None => Ok(if is_complete { DONE } else { LIMIT }),
        }
    }

    /// Plays one match and returns its record in both forms.
    fn play(&self, number: usize) -> (MatchRecord, CommunityRecord) {
        let start_time = output::unix_millis();
        // Independent of the seed in the record, so that scrambled names stay secret during the
        // match.
        let secret = self.call.secret.child(1).child(number as u64);
        let match_id = format!("{}.{start_time}.{number}", one_word(self.call.name));
        let sheet = ludex_gdl::parse(&self.call.loaded.source).0;
        let codebook = if self.call.args.scramble {
            Codebook::scrambled(&sheet, secret)
        } else {
            Codebook::plain(&sheet)
        };
        let remote = Arc::new(RemoteMatch {
            match_id: match_id.clone(),
            codebook,
            clocks: self.series.clocks,
            preview_clock: self.call.args.preview_clock,
            stop: self.series.stop.clone(),
        });
        let make_seat =
            |player: usize, seed: Seed| self.seat(&self.call.guests[player], seed, &remote);
        let record = play_one(self.game, &self.seating, &make_seat, &self.series, number);
        let about = Circumstances {
            match_id,
            random_token: random_token(secret.child(1)),
            start_time,
            preview_clock: self.call.args.preview_clock.map(|clock| clock.as_secs()),
            tournament: self.call.args.tournament.clone(),
            is_person: self.is_person(number),
            is_scrambled: self.call.args.scramble,
            series_seed: self.call.secret,
        };
        let json = CommunityRecord::of(self.game, &record, &about);
        (record, json)
    }

    fn seat(&self, guest: &Guest, seed: Seed, remote: &Arc<RemoteMatch>) -> Box<dyn Seat + 'a> {
        let game = self.game;
        let player = |spec: &PlayerSpec| {
            let config = PlayerConfig {
                memory: self.memory,
                iterations: self.call.args.iterations,
                ..PlayerConfig::new(seed)
            };
            Player::new(spec, game, Arc::clone(&self.call.loaded.program), config)
        };
        match guest {
            Guest::Remote(address, name) => {
                let (address, name) = (address.clone(), name.clone());
                Box::new(RemoteSeat::new(game.clone(), address, name, Arc::clone(remote)))
            }
            Guest::Local(name, spec) => Box::new(LocalSeat::new(player(spec).named(name.clone()))),
            Guest::Person => {
                let spec = PlayerSpec::parse("random").expect("`random` is in the roster");
                let layout = Layout::of(&self.call.loaded.program);
                let lines = self.lines.clone().expect("there is a person");
                let stop = Arc::clone(&self.stop);
                let follower = player(&spec);
                let width = output::width();
                Box::new(PersonSeat::new(game, layout, width, lines, stop, follower))
            }
        }
    }

    /// Returns for each role whether a person plays it.
    fn is_person(&self, number: usize) -> Vec<bool> {
        let mut players = self.seating.players(number).into_iter();
        let roles = self.game.roles().iter();
        roles
            .map(|role| {
                let guest = (!role.is_random).then(|| players.next()).flatten();
                guest.is_some_and(|guest| matches!(self.call.guests[guest], Guest::Person))
            })
            .collect()
    }

    fn sum_up(&self, records: Vec<MatchRecord>) -> Result<(), Failure> {
        let names: Vec<String> = self.call.guests.iter().map(|guest| guest.name().into()).collect();
        let tally = Tally::new(&names, &self.seating, &records);
        let is_complete = records.len() == self.call.args.count;
        let end = if is_complete { SeriesEnd::Complete } else { SeriesEnd::Stopped };
        let series = Series { records, end, decision: Decision::Open };
        let heading = Heading {
            name: self.call.name.into(),
            engine: self.call.loaded.engine_name().into(),
            clocks: self.series.clocks,
            count: self.call.args.count,
            is_cooperative: is_cooperative(self.game, Seed(1)),
        };
        output::text(&match_report::text(&heading, &series, &tally))?;
        Ok(())
    }
}

/// Formats the result of a match in one line.
fn result(record: &MatchRecord) -> String {
    let seats = record.seats.iter().zip(&record.goals);
    let seated = seats.filter_map(|(seat, goal)| {
        seat.player.as_ref().map(|player| format!("{} {player} {goal}", seat.role))
    });
    let goals = match record.ending {
        Ending::Terminal => seated.collect::<Vec<_>>().join(", "),
        ending => format!("no goals: {}", ending.name()),
    };
    let n_lapses: usize = (0..record.seats.len())
        .map(|idx| record.lapses(ludex_base::RoleId::new(idx)).count())
        .sum();
    let s = if n_lapses == 1 { "" } else { "s" };
    let fault = record.fault.as_ref().map_or_else(String::new, |fault| format!("; {fault}"));
    format!(
        "match {}: {goals}; {} steps, {n_lapses} lapse{s}{fault}\n",
        record.number + 1,
        record.steps.len()
    )
}

fn write_record(folder: &Path, json: &CommunityRecord) -> io::Result<()> {
    let path = folder.join(format!("{}.json", json.match_id));
    let text = serde_json::to_vec(json)?;
    // Write to another file first, so that nobody reads half a record.
    let unfinished = path.with_extension("unfinished");
    fs::write(&unfinished, text)?;
    fs::rename(&unfinished, &path)
}

/// Makes a name safe for messages and file names.
fn one_word(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' };
    name.chars().take(60).map(plain).collect()
}

fn random_token(seed: Seed) -> String {
    const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789";
    let mut rng = seed.rng();
    (0..32).map(|_| char::from(LETTERS[rng.below(LETTERS.len())])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guests_are_addresses_names_and_a_person() {
        let guests = parse_guests("http://127.0.0.1:4001,uct:c=0.7,person").expect("fine");
        assert!(matches!(&guests[0], Guest::Remote(_, name) if name == "http://127.0.0.1:4001"));
        assert!(matches!(&guests[1], Guest::Local(name, _) if name == "uct:c=0.7"));
        assert!(matches!(&guests[2], Guest::Person));
        assert!(parse_guests("https://127.0.0.1:1").is_err() && parse_guests("nobody").is_err());
    }

    #[test]
    fn tokens_and_names_are_plain() {
        assert_eq!(random_token(Seed(1)).len(), 32);
        assert_ne!(random_token(Seed(1)), random_token(Seed(2)));
        assert_eq!(one_word("../a (b)"), "___a__b_");
    }
}
