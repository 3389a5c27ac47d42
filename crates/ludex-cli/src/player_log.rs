//! The log of `ludex player`: one line per event, and one file per match.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use ludex_net::Event;
use ludex_player::Thought;
use ludex_protocol::shortened;
use serde::Serialize;

use crate::output;

/// An event as JSON, with its time.
#[derive(Serialize)]
struct TimedJson<'a> {
    /// Milliseconds since 1970.
    time: u64,
    #[serde(flatten)]
    event: EventJson<'a>,
}

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
enum EventJson<'a> {
    Answered {
        peer: SocketAddr,
        #[serde(skip_serializing_if = "Option::is_none")]
        r#match: Option<Cow<'a, str>>,
        request: Cow<'a, str>,
        reply: Cow<'a, str>,
        seconds: f64,
    },
    Refused {
        peer: SocketAddr,
        reason: Cow<'a, str>,
    },
    Loaded {
        r#match: Cow<'a, str>,
        seconds: f64,
        role: Cow<'a, str>,
        machine: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<Cow<'a, str>>,
    },
    NotLoaded {
        r#match: Cow<'a, str>,
        reason: Cow<'a, str>,
    },
    Moved {
        r#match: Cow<'a, str>,
        seconds: f64,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<Cow<'a, str>>,
        turn: u64,
        r#move: Cow<'a, str>,
        rung: &'static str,
        search: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        goal: Option<f64>,
        playouts: u64,
    },
    Odd {
        r#match: Cow<'a, str>,
        reason: Cow<'a, str>,
    },
    Ended {
        r#match: Cow<'a, str>,
        reason: &'static str,
    },
    Other,
}

impl<'a> TimedJson<'a> {
    /// Stamps an event with the current time and shortens its texts.
    fn now(event: &'a Event, max_chars: usize) -> Self {
        let text = |text: &'a str| match text.char_indices().nth(max_chars) {
            None => Cow::Borrowed(text),
            Some(_) => Cow::Owned(shortened(text, max_chars)),
        };
        let event = match event {
            Event::Answered { peer, match_id, request, reply, time } => EventJson::Answered {
                peer: *peer,
                r#match: match_id.as_deref().map(text),
                request: text(request),
                reply: text(reply),
                seconds: output::seconds(*time),
            },
            Event::Refused { peer, reason } => {
                EventJson::Refused { peer: *peer, reason: text(reason) }
            }
            Event::Loaded { match_id, role, engine, fallback, time } => EventJson::Loaded {
                r#match: text(match_id),
                seconds: output::seconds(*time),
                role: text(role),
                machine: engine,
                reason: fallback.as_deref().map(text),
            },
            Event::NotLoaded { match_id, reason } => {
                EventJson::NotLoaded { r#match: text(match_id), reason: text(reason) }
            }
            Event::Moved { match_id, turn, text: played, thought, sent_after } => {
                let Thought { rung, search, goal, n_playouts, note, .. } = &**thought;
                EventJson::Moved {
                    r#match: text(match_id),
                    seconds: output::seconds(*sent_after),
                    reason: (!note.is_empty()).then(|| text(note)),
                    turn: *turn,
                    r#move: text(played),
                    rung: rung.name(),
                    search,
                    goal: goal.map(output::round),
                    playouts: *n_playouts,
                }
            }
            Event::Odd { match_id, what } => {
                EventJson::Odd { r#match: text(match_id), reason: text(what) }
            }
            Event::Ended { match_id, how } => {
                EventJson::Ended { r#match: text(match_id), reason: how }
            }
            _ => EventJson::Other,
        };
        Self { time: output::unix_millis(), event }
    }
}

/// Longest text of an event that a line shows, in characters.
const MAX_SHOWN: usize = 100;

/// Formats an event as one line: JSON, or `key=value` pairs.
pub fn line(event: &Event, as_json: bool) -> String {
    let shown = TimedJson::now(event, MAX_SHOWN);
    if as_json {
        return serde_json::to_string(&shown).unwrap_or_default();
    }
    let value = serde_json::to_value(&shown).unwrap_or_default();
    let mut line = value["event"].as_str().unwrap_or_default().to_owned();
    for (key, value) in value.as_object().into_iter().flatten() {
        if !matches!(key.as_str(), "time" | "event") {
            line.push_str(&format!(" {key}={value}"));
        }
    }
    line
}

/// Formats the line for the start of listening.
pub fn listening(address: SocketAddr, as_json: bool) -> String {
    if as_json {
        format!(
            "{{\"time\":{},\"event\":\"listening\",\"address\":\"{address}\"}}",
            output::unix_millis()
        )
    } else {
        format!("listening at http://{address}")
    }
}

/// One file per match, with every message and reply in full, one JSON object per line.
pub struct MatchLogs {
    folder: PathBuf,
    open: HashMap<String, File>,
}

/// Most files open at once.
const MAX_OPEN: usize = 64;

impl MatchLogs {
    /// Writes to a folder, and creates it if it is missing.
    ///
    /// # Errors
    /// When the folder cannot be created.
    pub fn open(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        Ok(Self { folder: folder.to_owned(), open: HashMap::new() })
    }

    /// Writes an event of a match to its file.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn note(&mut self, event: &Event) -> io::Result<()> {
        let Some(match_id) = event.match_id() else { return Ok(()) };
        if !self.open.contains_key(match_id) {
            // Anybody can send any match id, so open a file only for messages that were accepted.
            if !matches!(event, Event::Answered { reply, .. } if reply != "busy") {
                return Ok(());
            }
            if self.open.len() >= MAX_OPEN {
                self.open.clear();
            }
            let path = self.folder.join(file_name(match_id));
            let file = OpenOptions::new().create(true).append(true).open(path)?;
            self.open.insert(match_id.to_owned(), file);
        }
        let file = self.open.get_mut(match_id).expect("it was just opened");
        let mut line = serde_json::to_vec(&TimedJson::now(event, usize::MAX))?;
        line.push(b'\n');
        file.write_all(&line)?;
        if matches!(event, Event::Ended { .. }) {
            self.open.remove(match_id);
        }
        Ok(())
    }
}

/// Returns a file name that stays in the folder, whatever the match id contains.
fn file_name(match_id: &str) -> String {
    const MAX_CHARS: usize = 100;
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let name: String = match_id.chars().take(MAX_CHARS).map(plain).collect();
    let name = name.trim_start_matches('.');
    if name == match_id {
        return format!("{name}.jsonl");
    }
    // A changed name could belong to another match, so add a hash.
    let hash = match_id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{name}-{:08x}.jsonl", (hash ^ (hash >> 32)) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_stay_in_their_folder() {
        assert_eq!(file_name("Match.1-2_b"), "Match.1-2_b.jsonl");
        let outside = file_name("../../etc/passwd");
        assert!(outside.starts_with("_.._etc_passwd-") && !outside.contains('/'), "{outside}");
        assert_eq!(file_name(&"x".repeat(1000)).len(), 115);
        assert_ne!(file_name("a/b"), file_name("a:b"));
        assert_ne!(file_name(&"x".repeat(1000)), file_name(&"x".repeat(1001)));
    }

    #[test]
    fn events_keep_their_shape() {
        let shape = |event: &Event| {
            let line = line(event, true);
            line[line.find(",\"event\"").expect("the time comes first")..].to_string()
        };
        let time = std::time::Duration::from_millis(1500);
        let loaded = Event::Loaded {
            match_id: "m".into(),
            role: "x".into(),
            engine: "reasoner",
            fallback: Some("large".into()),
            time,
        };
        assert_eq!(
            shape(&loaded),
            r#","event":"loaded","match":"m","seconds":1.5,"role":"x","machine":"reasoner","reason":"large"}"#
        );
        let peer: SocketAddr = ([127, 0, 0, 1], 1).into();
        let (request, reply) = ("( INFO )".to_string(), "ready".to_string());
        let answered = Event::Answered { peer, match_id: None, request, reply, time };
        assert_eq!(
            shape(&answered),
            r#","event":"answered","peer":"127.0.0.1:1","request":"( INFO )","reply":"ready","seconds":1.5}"#
        );
        let not_loaded = Event::NotLoaded { match_id: "m".into(), reason: "none".into() };
        assert_eq!(line(&not_loaded, false), r#"not-loaded match="m" reason="none""#);
    }

    #[test]
    fn lines_are_short_for_any_event() {
        let long = || "x".repeat(1 << 20);
        let events = [
            Event::Odd { match_id: long(), what: long() },
            Event::Refused { peer: ([127, 0, 0, 1], 1).into(), reason: long() },
            Event::Loaded {
                match_id: long(),
                role: long(),
                engine: "circuit",
                fallback: Some(long()),
                time: std::time::Duration::ZERO,
            },
        ];
        for event in &events {
            let lines = [line(event, true), line(event, false)];
            assert!(lines.iter().all(|line| line.len() < 1000), "{}", lines[0].len());
        }
    }
}
