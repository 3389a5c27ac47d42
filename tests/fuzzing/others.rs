//! Inputs other than rulesheets: models, instances, formulas, records and messages.
//!
//! Each is a valid text with some changes.

use std::fs;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use ludex_base::{Deadline, Rng, Seed, Source};
use ludex_formats::Format;
use ludex_model::{Data, ModelLimits};
use ludex_pipeline::{LoadOptions, load, with_game};
use ludex_player::{Player, PlayerConfig, PlayerSpec};
use ludex_record::{
    Circumstances, CommunityRecord, Heading, SeriesReport, TraceRecord, Transcript,
};
use ludex_referee::{Clocks, LocalSeat, Seat, Seating, SeriesConfig, Shard, Tally, play_series};
use ludex_testkit::workspace;
use serde_json::{Value, json};

use super::instances::instance;
use super::models;

/// A model: most of the time one from the grammar, sometimes with changes; else one of `models/`, with
/// changes.
pub fn model(rng: &mut Rng) -> Vec<u8> {
    if rng.below(6) == 0 {
        return changed(&MODELS, rng);
    }
    let text = models::model(rng);
    if rng.below(5) == 0 { change_words(&text, &text, rng).into_bytes() } else { text.into_bytes() }
}

/// An instance: most of the time one from the grammar, sometimes with changes; else all constraints or a
/// model of `models/`, with changes.
pub fn xcsp3(rng: &mut Rng) -> Vec<u8> {
    if rng.below(6) == 0 {
        return changed(&INSTANCES, rng);
    }
    let text = instance(rng);
    if rng.below(5) == 0 { change_words(&text, &text, rng).into_bytes() } else { text.into_bytes() }
}

/// A formula, most of the time with changes.
pub fn qdimacs(rng: &mut Rng) -> Vec<u8> {
    let (n_variables, n_clauses) = (1 + rng.below(8), 1 + rng.below(12));
    let mut text = format!("c comment\np cnf {n_variables} {n_clauses}\n");
    for variable in 1..=n_variables {
        let quantifier = if rng.below(2) == 0 { "a" } else { "e" };
        text += &format!("{quantifier} {variable} 0\n");
    }
    for _ in 0..n_clauses {
        for _ in 0..1 + rng.below(4) {
            let sign = if rng.below(2) == 0 { "-" } else { "" };
            text += &format!("{sign}{} ", 1 + rng.below(n_variables));
        }
        text += "0\n";
    }
    if rng.below(3) > 0 {
        text = change_words(&text, &text, rng);
    }
    text.into_bytes()
}

/// A record, report, transcript or trace as JSON, with changes.
pub fn record(rng: &mut Rng) -> Vec<u8> {
    changed(&RECORDS, rng)
}

/// A message of a manager or a reply of a player, with changes.
pub fn message(rng: &mut Rng) -> Vec<u8> {
    changed(&MESSAGES, rng)
}

/// An HTTP request with a message, both with changes.
pub fn http(rng: &mut Rng) -> Vec<u8> {
    let mut body = message(rng);
    body.truncate(3000);
    let length = match rng.below(8) {
        0 => "-1".into(),
        1 => "99999999999999999999".into(),
        2 => (body.len() + 5).to_string(),
        3 => (body.len() / 2).to_string(),
        _ => body.len().to_string(),
    };
    let head = match rng.below(4) {
        0 => format!("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n"),
        1 => format!(
            "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n",
            body.len()
        ),
        _ => format!(
            "POST / HTTP/1.0\r\nAccept: text/delim\r\nSender: GAMESERVER\r\nReceiver: \r\n\
             Content-Type: text/acl\r\nContent-Length: {length}\r\n\r\n"
        ),
    };
    let head = if rng.below(2) == 0 { change_words(&head, &head, rng) } else { head };
    let mut request = head.into_bytes();
    request.extend(body);
    if rng.below(4) == 0 {
        change_bytes(&mut request, rng);
    }
    request
}

/// Removes, copies or replaces some bytes.
pub fn change_bytes(bytes: &mut Vec<u8>, rng: &mut Rng) {
    for _ in 0..=rng.below(4) {
        if bytes.is_empty() {
            return;
        }
        let at = rng.below(bytes.len());
        let end = (at + rng.below(30)).min(bytes.len());
        match rng.below(5) {
            0 => drop(bytes.drain(at..end)),
            1 => {
                let copy = bytes[at..end].to_vec();
                let to = rng.below(bytes.len());
                bytes.splice(to..to, copy);
            }
            2 => bytes[at] = rng.below(256) as u8,
            3 => bytes[at] = b"()?;.,'\"\r\n\0&|<"[rng.below(14)],
            _ => bytes.truncate(at),
        }
    }
}

/// One of the texts with changes.
fn changed(texts: &[String], rng: &mut Rng) -> Vec<u8> {
    let text = &texts[rng.below(texts.len())];
    let other = &texts[rng.below(texts.len())];
    let mut bytes = change_words(text, other, rng).into_bytes();
    if rng.below(6) == 0 {
        change_bytes(&mut bytes, rng);
    }
    bytes
}

const NUMBERS: [&str; 16] = [
    "0",
    "1",
    "-1",
    "2",
    "100",
    "101",
    "65536",
    "2147483647",
    "2147483648",
    "-2147483649",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "99999999999999999999",
    "0.5",
    "1e308",
];

/// Removes, copies, swaps or replaces some words of a text, some by words of another.
pub fn change_words(text: &str, other: &str, rng: &mut Rng) -> String {
    let mut words = words(text);
    let others = self::words(other);
    for _ in 0..=rng.below(4) {
        if words.is_empty() {
            break;
        }
        let at = rng.below(words.len());
        let to = rng.below(words.len());
        match rng.below(9) {
            0 => drop(words.remove(at)),
            1 => {
                let end = (at + rng.below(12)).min(words.len());
                drop(words.drain(at..end));
            }
            2 => words.insert(to, words[at]),
            3 => {
                let end = (at + rng.below(20)).min(words.len());
                let copy = words[at..end].to_vec();
                words.splice(to..to, copy);
            }
            4 => words.swap(at, to),
            5 if !others.is_empty() => words[at] = others[rng.below(others.len())],
            6 if rng.below(4) == 0 => {
                let copies = vec![words[at]; 2 + rng.below(2000)];
                words.splice(at..at, copies);
            }
            _ => {
                // A number becomes an odd one.
                let place = (0..words.len())
                    .map(|offset| (at + offset) % words.len())
                    .find(|&place| words[place].bytes().all(|byte| byte.is_ascii_digit()));
                if let Some(place) = place {
                    words[place] = NUMBERS[rng.below(NUMBERS.len())];
                }
            }
        }
    }
    words.concat()
}

/// Splits a text into names, numbers, blanks and single signs.
fn words(text: &str) -> Vec<&str> {
    let class = |c: char| match c {
        c if c.is_ascii_digit() => 1,
        c if c.is_alphabetic() || c == '_' => 2,
        c if c.is_whitespace() => 3,
        _ => 0,
    };
    let mut words = Vec::new();
    let mut start = 0;
    let mut last = 0;
    for (at, c) in text.char_indices() {
        let now = class(c);
        if at > start && (now != last || now == 0) {
            words.push(&text[start..at]);
            start = at;
        }
        last = now;
    }
    words.push(&text[start..]);
    words
}

static MODELS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let folder = workspace().join("models");
    let mut paths: Vec<_> = fs::read_dir(folder)
        .expect("there are models")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|end| end == "qcp"))
        .collect();
    paths.sort();
    let read = |path| fs::read_to_string(path).expect("a readable model");
    let without_comments = |text: String| {
        let lines: Vec<&str> =
            text.lines().map(|line| line.split('%').next().unwrap_or("").trim_end()).collect();
        lines.join("\n")
    };
    paths.into_iter().map(read).map(without_comments).collect()
});

static INSTANCES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let all = workspace().join("crates/ludex-formats/tests/data/all_constraints.xml");
    let mut texts = vec![fs::read_to_string(all).expect("an instance of all constraints")];
    for text in MODELS.iter() {
        let source = Source::new("model", text.clone());
        let compiled = ludex_model::compile(
            &source,
            &Data::default(),
            &ModelLimits::default(),
            &Deadline::never(),
        );
        let written =
            compiled.ok().and_then(|it| ludex_formats::write(&it.problem, Format::Xcsp3).ok());
        // Long instances take too long for a fuzzer.
        texts.extend(written.filter(|text| text.len() < 20_000));
    }
    texts
});

static MESSAGES: LazyLock<Vec<String>> = LazyLock::new(|| {
    [
        "(INFO)",
        "(START m1 p ((role p) (init a) (legal p go) (legal p stay) (<= (next b) (true a) (does p go)) (<= (next a) (true a) (does p stay)) (<= terminal (true b)) (goal p 100)) 1 1)",
        "(START m2 two ((role one) (role two) (legal one (mark 1 2)) (legal two (mark 2 1)) (init a) (<= terminal (not (true a))) (goal one 0) (goal two 100)) 1 1)",
        "(PLAY m1 NIL)",
        "(PLAY m1 (go))",
        "(PLAY m2 ((mark 1 2) (mark 2 1)))",
        "(PLAY m3 4 (mark 1 1) ((seen (cell 1 1)) (seen 2)))",
        "(STOP m1 (go))",
        "(STOP m1 NIL)",
        "(ABORT m1)",
        "(PREVIEW ((role p) (init a)) 1)",
        "((name ludex) (status available))",
        "( mark 1 1 )",
        "ready",
        "busy",
        "(does white (mark 1 (f (g x) y)))",
    ]
    .map(String::from)
    .into()
});

/// What two short matches leave behind.
static RECORDS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let rules = ludex_library::find("tictactoe").expect("a built-in game").rules;
    let loaded = load(Source::new("tictactoe", rules), &LoadOptions::default()).expect("it loads");
    let clocks = Clocks { start: Duration::from_secs(5), play: Duration::from_secs(5) };
    let config = SeriesConfig {
        count: 2,
        shard: Shard::WHOLE,
        clocks,
        seed: Seed(1),
        n_parallel: 1,
        test: None,
        max_steps: 100,
        stop: Deadline::never(),
        watcher: None,
    };
    let seating = Seating::new(2, 2).expect("two players, two roles");
    let names = ["flat".to_string(), "random".to_string()];
    with_game!(&loaded.engine, |game| {
        let make_seat = |player: usize, seed: Seed| -> Box<dyn Seat> {
            let spec = PlayerSpec::parse(&names[player]).expect("a player");
            let config = PlayerConfig { iterations: Some(20), ..PlayerConfig::new(seed) };
            Box::new(LocalSeat::new(Player::new(&spec, game, Arc::clone(&loaded.program), config)))
        };
        let series = play_series(game, &seating, &make_seat, &config, Vec::new(), &mut |_| {});
        let tally = Tally::new(&names, &seating, &series.records);
        let engine = loaded.engine.name();
        let heading = Heading {
            name: "tictactoe".into(),
            engine: engine.into(),
            clocks,
            count: 2,
            is_cooperative: false,
        };
        let about = Circumstances {
            match_id: "tictactoe.1".into(),
            random_token: "x".repeat(32),
            start_time: 1_700_000_000_000,
            preview_clock: None,
            tournament: None,
            is_person: vec![false, false],
            is_scrambled: false,
            series_seed: Seed(1),
        };
        let never = Deadline::never();
        let trace = ludex_game::trace(game, &never);
        let transcript = Transcript::of_random_play(game, "tictactoe", Seed(1), 3, &never);
        let texts = [
            serde_json::to_value(SeriesReport::of(&heading, &series, &tally)),
            serde_json::to_value(CommunityRecord::of(game, &series.records[0], &about)),
            serde_json::to_value(transcript),
            serde_json::to_value(TraceRecord::of("tictactoe", "0", trace)),
        ];
        texts.map(|value| without_times(value.expect("it serializes")).to_string()).into()
    })
});

/// Replaces all numbers, because some are times, which differ between runs.
fn without_times(value: Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => json!(0.25),
        Value::Number(_) => json!(1),
        Value::Array(values) => values.into_iter().map(without_times).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (name, without_times(value))).collect()
        }
        other => other,
    }
}
