//! What `ludex player` tells: one line an event, and a file a match.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use ludex_net::Event;
use ludex_player::Thought;
use ludex_protocol::shortened;
use serde::Serialize;

use crate::output;

/// An event for programs.
#[derive(Serialize)]
struct EventJson<'a> {
    /// Milliseconds since 1970.
    time: u64,
    event: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    peer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    r#match: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reply: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    machine: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    r#move: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rung: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    search: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    goal: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    playouts: Option<u64>,
}

impl<'a> EventJson<'a> {
    fn new(event: &'static str) -> Self {
        EventJson {
            time: now(),
            event,
            peer: None,
            r#match: None,
            request: None,
            reply: None,
            seconds: None,
            role: None,
            machine: None,
            reason: None,
            turn: None,
            r#move: None,
            rung: None,
            search: None,
            goal: None,
            playouts: None,
        }
    }

    fn of(event: &'a Event) -> Self {
        match event {
            Event::Answered { peer, match_id, request, reply, time } => EventJson {
                peer: Some(peer.to_string()),
                r#match: match_id.as_deref(),
                request: Some(request),
                reply: Some(reply),
                seconds: Some(output::seconds(*time)),
                ..Self::new("answered")
            },
            Event::Refused { peer, reason } => EventJson {
                peer: Some(peer.to_string()),
                reason: Some(reason),
                ..Self::new("refused")
            },
            Event::Loaded { match_id, role, engine, fallback, time } => EventJson {
                r#match: Some(match_id),
                role: Some(role),
                machine: Some(engine),
                reason: fallback.as_deref(),
                seconds: Some(output::seconds(*time)),
                ..Self::new("loaded")
            },
            Event::NotLoaded { match_id, reason } => EventJson {
                r#match: Some(match_id),
                reason: Some(reason),
                ..Self::new("not-loaded")
            },
            Event::Moved { match_id, turn, text, thought, sent_after } => {
                let Thought { rung, search, goal, n_playouts, note, .. } = &**thought;
                EventJson {
                    r#match: Some(match_id),
                    turn: Some(*turn),
                    r#move: Some(text),
                    rung: Some(rung.name()),
                    search: Some(search),
                    goal: goal.map(output::round),
                    playouts: Some(*n_playouts),
                    reason: Some(note.as_str()).filter(|note| !note.is_empty()),
                    seconds: Some(output::seconds(*sent_after)),
                    ..Self::new("moved")
                }
            }
            Event::Odd { match_id, what } => {
                EventJson { r#match: Some(match_id), reason: Some(what), ..Self::new("odd") }
            }
            Event::Ended { match_id, how } => {
                EventJson { r#match: Some(match_id), reason: Some(how), ..Self::new("ended") }
            }
            _ => Self::new("other"),
        }
    }
}

/// Characters of a message or reply that a line shows.
const MAX_SHOWN: usize = 100;

/// An event as one line: JSON, or words and values.
pub fn line(event: &Event, as_json: bool) -> String {
    let shown = EventJson::of(event);
    let short = |text: Option<&str>| text.map(|text| shortened(text, MAX_SHOWN));
    let EventJson { request, reply, r#match, role, reason, r#move, .. } = &shown;
    let texts = [*request, *reply, *r#match, *role, *reason, *r#move].map(short);
    let [request, reply, r#match, role, reason, r#move] =
        texts.each_ref().map(|text| text.as_deref());
    let shown = EventJson { request, reply, r#match, role, reason, r#move, ..shown };
    if as_json {
        return serde_json::to_string(&shown).unwrap_or_default();
    }
    let value = serde_json::to_value(&shown).unwrap_or_default();
    let mut line = shown.event.to_owned();
    for (key, value) in value.as_object().into_iter().flatten() {
        if !matches!(key.as_str(), "time" | "event") {
            line.push_str(&format!(" {key}={value}"));
        }
    }
    line
}

/// That it listens, as one line.
pub fn listening(address: SocketAddr, as_json: bool) -> String {
    if as_json {
        format!("{{\"time\":{},\"event\":\"listening\",\"address\":\"{address}\"}}", now())
    } else {
        format!("listening at http://{address}")
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as u64)
}

/// A file a match, with every message and reply in full, one JSON object a line.
pub struct MatchLogs {
    folder: PathBuf,
    open: HashMap<String, File>,
}

/// Matches whose files are open at a time.
const MAX_OPEN: usize = 64;

impl MatchLogs {
    /// Writes to that folder, which is made if it is missing.
    ///
    /// # Errors
    /// When it can't be made.
    pub fn open(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        Ok(Self { folder: folder.to_owned(), open: HashMap::new() })
    }

    /// Writes an event of a match to its file.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn note(&mut self, event: &Event) -> io::Result<()> {
        let json = EventJson::of(event);
        let Some(match_id) = json.r#match else { return Ok(()) };
        if !self.open.contains_key(match_id) {
            // Strangers name matches, and not every message belongs to one that is played.
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
        let mut line = serde_json::to_vec(&json)?;
        line.push(b'\n');
        file.write_all(&line)?;
        if matches!(event, Event::Ended { .. }) {
            self.open.remove(match_id);
        }
        Ok(())
    }
}

/// A name that leads nowhere else, whatever a stranger calls a match.
fn file_name(match_id: &str) -> String {
    const MAX_CHARS: usize = 100;
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let name: String = match_id.chars().take(MAX_CHARS).map(plain).collect();
    let name = name.trim_start_matches('.');
    if name == match_id {
        return format!("{name}.jsonl");
    }
    // What was changed could be the name of another match.
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
    fn lines_are_short_whatever_strangers_say() {
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
