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

use crate::output::say;
use crate::person::{self, Console, Display, Line};

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

    fn display(&self) -> Display<'_, G> {
        Display { game: &self.game, layout: &self.layout, width: self.width }
    }

    /// Takes in what was seen and shows it.
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
                say("The clock has run out.");
                Reply::Lapse(Lapse::Late)
            }
            Ok(person::Answer::Interrupted) => self.leave("the match was interrupted"),
            Ok(person::Answer::Quit | person::Answer::Command(_)) => self.leave("the person left"),
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
            "You play {name}. Enter a move by its number or text; `list` shows every move, `quit` \
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
        say("The match is broken off.");
    }
}
