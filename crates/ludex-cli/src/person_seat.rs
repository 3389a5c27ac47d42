//! A seat of the referee for a person at the terminal.

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

use crate::output::say;
use crate::person::{self, Console, Display, Line};

/// Lines that a person types, read by a separate thread so that clocks can run out meanwhile.
#[derive(Clone)]
pub struct Lines {
    lines: Arc<Mutex<Receiver<String>>>,
}

impl Lines {
    /// Reads the lines of standard input.
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

    /// Returns the next line; times out at the deadline or when the flag is set.
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

/// Interval at which waiting for a line checks whether the match was stopped.
const POLL: Duration = Duration::from_millis(100);

/// Standard error and the lines typed, until a deadline.
struct ClockedConsole<'a> {
    lines: &'a Lines,
    deadline: Instant,
    stop: &'a AtomicBool,
}

impl Console for ClockedConsole<'_> {
    fn print(&mut self, text: &str) -> io::Result<()> {
        say(text.trim_end());
        Ok(())
    }

    fn read_line(&mut self, prompt: &str) -> io::Result<Line> {
        say(prompt);
        Ok(match self.lines.next(self.deadline, self.stop) {
            Ok(line) => Line::Text(line),
            Err(RecvTimeoutError::Timeout) if self.stop.load(Ordering::Relaxed) => {
                Line::Interrupted
            }
            Err(RecvTimeoutError::Timeout) => Line::Late,
            Err(RecvTimeoutError::Disconnected) => Line::End,
        })
    }
}

/// A seat for a person.
pub struct PersonSeat<G: Playable> {
    game: G,
    layout: Layout,
    width: usize,
    lines: Lines,
    /// Set when the person leaves.
    stop: Arc<AtomicBool>,
    /// Computes the legal moves, even if the state is hidden.
    follower: Player<G>,
    cursor: G::Cursor,
    role: RoleId,
}

/// Time to compute the legal moves of a hidden state.
const FOLLOW_TIME: Duration = Duration::from_millis(500);

impl<G: Playable> PersonSeat<G> {
    /// Creates a seat for the person who types these lines; `follower` never chooses a move.
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

    fn display(&self) -> Display<'_, G> {
        Display { game: &self.game, layout: &self.layout, width: self.width }
    }

    /// Shows an observation and updates the state.
    fn follow(&mut self, seen: Seen<'_>) {
        match seen {
            Seen::Nothing => {}
            Seen::Joint(joint) => {
                say(self.display().joint(joint).trim_end());
                self.cursor.play(joint);
            }
            Seen::Own { own, percepts } => say(self.display().own(own, percepts).trim_end()),
        }
        if !self.game.has_percepts() {
            say(self.display().state(self.cursor.state()).trim_end());
        }
    }

    fn ask(&self, moves: &[(String, MoveId)], deadline: Instant) -> Reply {
        let display = self.display();
        say(display.moves(moves).trim_end());
        let prompt = || {
            let left = deadline.saturating_duration_since(Instant::now()).as_secs();
            format!("{}, {left} s left (1-{}):", display.name(self.role), moves.len())
        };
        let mut console = ClockedConsole { lines: &self.lines, deadline, stop: &self.stop };
        match display.ask(&mut console, moves, prompt, false) {
            Ok(person::Answer::Move(chosen)) => Reply::Move(chosen),
            Ok(person::Answer::Late) => {
                say("Time is up: the referee plays a random legal move for you.");
                Reply::Lapse(Lapse::Late)
            }
            Ok(person::Answer::Interrupted) => self.leave("the match was interrupted"),
            Ok(person::Answer::Quit | person::Answer::Command(_)) => self.leave("the person quit"),
            Ok(person::Answer::End) => self.leave("the input ended"),
            Err(error) => self.leave(&error.to_string()),
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
        let name = self.display().name(role).to_string();
        say(&format!(
            "You play {name}. Enter a move by its number or text; `list` shows all moves, `quit` \
             ends the match."
        ));
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
        say("The match was aborted.");
    }
}
