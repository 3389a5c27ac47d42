//! A person at the terminal in a seat of a referee.

use std::io::{self, BufRead};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ludex_analysis::Layout;
use ludex_base::{MoveId, RoleId};
use ludex_game::Cursor;
use ludex_player::{Playable, Player, Seen};
use ludex_referee::{Answer, Lapse, Reply, Seat};

use crate::board::{draw, in_columns};
use crate::output::say;
use crate::session::{Said, understand};

/// Lines that a person types, read by a thread of their own so that clocks can run out meanwhile.
#[derive(Clone)]
pub struct Lines {
    lines: Arc<Mutex<Receiver<String>>>,
}

impl Lines {
    /// The lines of standard input.
    pub fn of_stdin() -> Self {
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in io::stdin().lock().lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Self { lines: Arc::new(Mutex::new(lines)) }
    }

    /// The next line. It does not come in time either if the flag is set meanwhile.
    fn next(&self, until: Instant, stop: &AtomicBool) -> Result<String, RecvTimeoutError> {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match lines.recv_timeout(left.min(POLL)) {
                Err(RecvTimeoutError::Timeout)
                    if !left.is_zero() && !stop.load(Ordering::Relaxed) => {}
                found => return found,
            }
        }
    }
}

/// How often a person who thinks is asked whether the match goes on.
const POLL: Duration = Duration::from_millis(100);

/// A seat in which a person sits.
pub struct PersonSeat<G: Playable> {
    game: G,
    layout: Layout,
    width: usize,
    lines: Lines,
    /// Set when the person leaves.
    stop: Arc<AtomicBool>,
    /// Knows the legal moves, also where the state is hidden.
    follower: Player<G>,
    cursor: G::Cursor,
    role: RoleId,
}

/// How long legal moves of hidden states are looked for.
const FOLLOW_TIME: Duration = Duration::from_millis(500);

impl<G: Playable> PersonSeat<G> {
    /// A seat for the person who types these lines. `follower` is never asked for a move.
    pub fn new(
        game: &G,
        layout: Layout,
        width: usize,
        lines: Lines,
        stop: Arc<AtomicBool>,
        follower: Player<G>,
    ) -> Self {
        let (game, cursor, role) = (game.clone(), game.cursor(), RoleId::new(0));
        Self { game, layout, width, lines, stop, follower, cursor, role }
    }

    /// Takes in what was seen and shows it.
    fn follow(&mut self, seen: Seen<'_>) {
        let text = |id: MoveId| self.game.move_text(id);
        match seen {
            Seen::Nothing => {}
            Seen::Joint(joint) => {
                let played = self.game.role_ids().zip(joint).map(|(role, &id)| {
                    format!("{} plays {}", self.game.roles()[role.index()].name, text(id))
                });
                say(&format!("{}.", played.collect::<Vec<_>>().join(", ")));
                self.cursor.play(joint);
            }
            Seen::Own { own, percepts } => {
                let percepts: Vec<String> =
                    percepts.iter().map(|&id| self.game.percept_text(id)).collect();
                let seen = if percepts.is_empty() { "nothing".into() } else { percepts.join(", ") };
                say(&format!("You play {}. You see {seen}.", text(own)));
            }
        }
        if !self.game.has_percepts() {
            let fluents = self.game.state_texts(self.cursor.state());
            say(draw(&self.layout.picture(&fluents), self.width).trim_end());
        }
    }

    fn list(&self, moves: &[(String, MoveId)]) {
        let listed: Vec<String> =
            moves.iter().enumerate().map(|(at, (text, _))| format!("{} {text}", at + 1)).collect();
        say(in_columns(&listed, self.width).trim_end());
    }

    fn ask(&self, moves: &[(String, MoveId)], deadline: Instant) -> Reply {
        self.list(moves);
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let name = &self.game.roles()[self.role.index()].name;
            say(&format!("{name}, {} s left (1-{}):", left.as_secs(), moves.len()));
            let line = match self.lines.next(deadline, &self.stop) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) if self.stop.load(Ordering::Relaxed) => {
                    return self.leave("the match was interrupted");
                }
                Err(RecvTimeoutError::Timeout) => {
                    say("The clock has run out.");
                    return Reply::Lapse(Lapse::Late);
                }
                Err(RecvTimeoutError::Disconnected) => return self.leave("the input ended"),
            };
            match understand(&line, moves) {
                Said::Move(chosen) => return Reply::Move(chosen),
                Said::Quit => return self.leave("the person left"),
                Said::Nothing => {}
                _ => self.list(moves),
            }
        }
    }

    fn leave(&self, why: &str) -> Reply {
        self.stop.store(true, Ordering::Relaxed);
        Reply::Lapse(Lapse::Failed(why.into()))
    }
}

impl<G: Playable> Seat for PersonSeat<G> {
    fn name(&self) -> &str {
        "person"
    }

    fn thinks_elsewhere(&self) -> bool {
        true
    }

    fn start(&mut self, role: RoleId, _deadline: Instant) -> Result<(), Lapse> {
        self.role = role;
        self.cursor = self.game.cursor();
        self.follower.start(role, Instant::now() + FOLLOW_TIME);
        let name = &self.game.roles()[role.index()].name;
        say(&format!("You play {name}. Say a move by its number or text; `quit` breaks off."));
        Ok(())
    }

    fn play(&mut self, seen: Seen<'_>, deadline: Instant) -> Answer {
        self.follow(seen);
        self.follower.watch(seen, (Instant::now() + FOLLOW_TIME).min(deadline));
        let mut moves: Vec<(String, MoveId)> = self
            .follower
            .legal_moves()
            .into_iter()
            .map(|id| (self.game.move_text(id), id))
            .collect();
        moves.sort();
        let reply = match moves[..] {
            [(_, only)] => Reply::Move(only),
            _ => self.ask(&moves, deadline),
        };
        Answer { reply, thought: None }
    }

    fn stop(&mut self, seen: Seen<'_>) {
        self.follow(seen);
        say("The match is over.");
    }

    fn abort(&mut self) {
        say("The match is broken off.");
    }
}
