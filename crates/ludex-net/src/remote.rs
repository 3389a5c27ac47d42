//! The manager's side: a seat for a player elsewhere.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ludex_base::{Deadline, RoleId};
use ludex_game::Describe;
use ludex_player::Seen;
use ludex_protocol::{Codebook, Info, News, Request, Term, read_move};
use ludex_referee::{Answer, Clocks, Lapse, Reply, Seat};

use crate::client::{Address, AskError, ask};

/// The data that the remote seats of one match share.
#[derive(Clone, Debug)]
pub struct RemoteMatch {
    /// The name of the match, a single word.
    pub match_id: String,
    /// The names that the players see.
    pub codebook: Codebook,
    /// The clocks, in whole seconds.
    pub clocks: Clocks,
    /// Time that players have for the rules before the match; `None` does not send them.
    pub preview_clock: Option<Duration>,
    /// Ends all waiting when reached.
    pub stop: Deadline,
}

/// A seat whose player answers over HTTP.
pub struct RemoteSeat<G> {
    game: G,
    address: Address,
    name: String,
    shared: Arc<RemoteMatch>,
    role: RoleId,
    /// Number of moves asked for.
    turn: u64,
}

/// Longest time that a player has for `stop`.
const STOP_TIME: Duration = Duration::from_secs(5);
/// Time that a player has for `abort` and `info`.
const SHORT: Duration = Duration::from_secs(1);

/// Asks a player for its name and status.
///
/// # Errors
/// When no answer comes within a second.
pub fn info(address: &Address) -> Result<Info, AskError> {
    let text = ask(address, "", &Request::Info.to_string(), &Deadline::after(SHORT))?;
    Ok(Info::read(&text))
}

impl<G: Describe> RemoteSeat<G> {
    /// Creates a seat for the player at an address, under a name.
    pub fn new(game: G, address: Address, name: String, shared: Arc<RemoteMatch>) -> Self {
        Self { game, address, name, shared, role: RoleId::new(0), turn: 0 }
    }

    fn ask(&self, request: &Request, until: &Deadline) -> Result<String, Lapse> {
        let asked = ask(&self.address, &self.name, &request.to_string(), until);
        asked.map_err(|error| match error {
            AskError::Late => Lapse::Late,
            AskError::Connection(reason) => Lapse::Failed(reason),
            AskError::TooLarge(_) => unreadable(),
        })
    }

    /// The deadline, or earlier if the match is stopped.
    fn until(&self, deadline: Instant) -> Deadline {
        self.shared.stop.no_later_than(deadline)
    }

    /// The news for the role; empty before the first step.
    fn news(&self, seen: Seen<'_>) -> News {
        let send = |text: String| -> Term {
            self.shared.codebook.send(&text).expect("names of a game are terms")
        };
        match seen {
            Seen::Nothing if self.game.has_percepts() => {
                News::Own { turn: 0, last_move: None, percepts: Vec::new() }
            }
            Seen::Nothing => News::Joint(Vec::new()),
            Seen::Joint(joint) => {
                News::Joint(joint.iter().map(|&id| send(self.game.move_text(id))).collect())
            }
            Seen::Own { own, percepts } => News::Own {
                turn: self.turn,
                last_move: Some(send(self.game.move_text(own))),
                percepts: percepts.iter().map(|&id| send(self.game.percept_text(id))).collect(),
            },
        }
    }
}

/// The lapse for an answer that is not a term, as match records write it.
fn unreadable() -> Lapse {
    Lapse::Illegal("null".into())
}

impl<G: Describe> Seat for RemoteSeat<G> {
    fn name(&self) -> &str {
        &self.name
    }

    fn thinks_elsewhere(&self) -> bool {
        true
    }

    fn has_preview(&self) -> bool {
        self.shared.preview_clock.is_some()
    }

    fn preview(&mut self) -> Option<Lapse> {
        let clock = self.shared.preview_clock?;
        let rules = self.shared.codebook.rules().to_owned();
        let request = Request::Preview { rules, clock: clock.as_secs() };
        self.ask(&request, &self.until(Instant::now() + clock)).err()
    }

    fn start(&mut self, role: RoleId, deadline: Instant) -> Result<(), Lapse> {
        self.role = role;
        self.turn = 0;
        let shared = &self.shared;
        let request = Request::Start {
            match_id: shared.match_id.clone(),
            role: shared.codebook.role(&self.game.roles()[role.index()].name),
            rules: shared.codebook.rules().to_owned(),
            start_clock: shared.clocks.start.as_secs(),
            play_clock: shared.clocks.play.as_secs(),
        };
        self.ask(&request, &self.until(deadline)).map(|_| ())
    }

    fn play(&mut self, seen: Seen<'_>, deadline: Instant) -> Answer {
        let request =
            Request::Play { match_id: self.shared.match_id.clone(), news: self.news(seen) };
        self.turn += 1;
        let reply = match self.ask(&request, &self.until(deadline)) {
            Ok(text) => match read_move(&text) {
                Some(term) => Reply::Text(self.shared.codebook.receive(&term).as_str().into()),
                None => Reply::Lapse(unreadable()),
            },
            Err(lapse) => Reply::Lapse(lapse),
        };
        Answer { reply, thought: None }
    }

    fn stop(&mut self, seen: Seen<'_>) {
        let request =
            Request::Stop { match_id: self.shared.match_id.clone(), news: self.news(seen) };
        // The match is over, so the reply does not matter. The message goes out even after an
        // interrupt, but with a short deadline.
        let _ = self.ask(&request, &Deadline::after(self.shared.clocks.play.min(STOP_TIME)));
    }

    fn abort(&mut self) {
        let request = Request::Abort { match_id: self.shared.match_id.clone() };
        let _ = self.ask(&request, &Deadline::after(SHORT));
    }
}
