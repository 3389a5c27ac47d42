//! Shows matches on the page of a running `ludex serve` while they are played.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use ludex_base::Deadline;
use ludex_game::Role;
use ludex_net::{Address, tell_page};
use ludex_referee::{Seating, WatchedStep};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output;

/// A thread that tells a page about matches; it ends after the last step.
pub struct PageWatch {
    teller: JoinHandle<()>,
}

/// Time that the page has for an answer; it loads the game before its first one.
const ANSWER_TIME: Duration = Duration::from_secs(60);

/// What the page is told about all matches.
struct Watched {
    address: Address,
    token: Option<String>,
    title: String,
    rules: String,
    roles: Vec<Role>,
    players: Vec<String>,
    seating: Seating,
}

impl PageWatch {
    /// Starts to tell the page at a link about the matches of a series. `players` are those of the
    /// seating.
    pub fn start(
        link: &str,
        (title, rules): (&str, &str),
        roles: &[Role],
        players: Vec<String>,
        seating: &Seating,
    ) -> Result<(Self, Sender<WatchedStep>), Failure> {
        let (place, token) = match link.split_once("/?token=") {
            Some((place, token)) => (place, Some(token.to_string())),
            None => (link, None),
        };
        let address = Address::parse(place).map_err(|error| Failure::Call(error.to_string()))?;
        let watched = Watched {
            address,
            token,
            title: title.into(),
            rules: rules.into(),
            roles: roles.to_vec(),
            players,
            seating: seating.clone(),
        };
        let (sender, steps) = channel();
        let teller = std::thread::spawn(move || watched.tell_all(&steps));
        Ok((Self { teller }, sender))
    }

    /// Waits until the page knows everything; all senders must be gone.
    pub fn finish(self) {
        // A panic of that thread does not harm the matches.
        let _ = self.teller.join();
    }
}

impl Watched {
    fn tell_all(&self, steps: &Receiver<WatchedStep>) {
        // By match: its name and the key to it; nothing if the page refused it.
        let mut matches: HashMap<usize, Option<(String, String)>> = HashMap::new();
        for told in steps {
            let known = matches.entry(told.number).or_insert_with(|| {
                let begun = self.begin(told.number);
                begun
                    .map_err(|reason| {
                        output::say(&format!("ludex: no match on the page: {reason}"))
                    })
                    .ok()
            });
            let Some((id, key)) = known else { continue };
            let body = json!({ "key": key, "step": told.step, "moves": told.moves });
            if let Err(reason) = self.post(&format!("/api/matches/{id}/steps"), &body) {
                output::say(&format!("ludex: the page does not follow the match: {reason}"));
                *known = None;
            }
        }
    }

    /// Announces a match; returns its name and a key.
    fn begin(&self, number: usize) -> Result<(String, String), String> {
        let mut players = self.seating.players(number).into_iter();
        let seats = self.roles.iter().map(|role| {
            let player = if role.is_random { None } else { players.next() };
            let name = player.and_then(|at| self.players.get(at));
            json!({ "kind": "elsewhere", "name": name.map_or("random", String::as_str) })
        });
        let seats: Vec<Value> = seats.collect();
        let body = json!({
            "title": self.title, "rules": self.rules, "seats": seats, "move_time": 1000,
        });
        let begun = self.post("/api/matches", &body)?;
        let text = |value: &Value| value.as_str().map(String::from);
        let both = text(&begun["id"]).zip(text(&begun["keys"][0]));
        both.ok_or_else(|| "it is not a page of Ludex".into())
    }

    fn post(&self, path: &str, body: &Value) -> Result<Value, String> {
        let until = Deadline::after(ANSWER_TIME);
        let answer =
            tell_page(&self.address, self.token.as_deref(), path, &body.to_string(), &until);
        let answer = answer.map_err(|error| format!("{}: {error}", self.address))?;
        let answer: Value =
            serde_json::from_str(&answer).map_err(|_| "it is not a page of Ludex".to_string())?;
        match answer["error"].as_str() {
            Some(error) => Err(error.into()),
            None => Ok(answer),
        }
    }
}
