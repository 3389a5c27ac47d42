//! A game of a person at the terminal with players in the other seats.

use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ludex_analysis::Layout;
use ludex_base::{Deadline, MoveId, PerceptId, Rng, RoleId, Seed, StopReason, panic_message};
use ludex_game::trace::sorted_moves;
use ludex_game::{Cursor, Observe};
use ludex_gdl::Program;
use ludex_player::{Choice, Playable, Player, PlayerConfig, PlayerSpec, Seen};
use ludex_referee::MAX_STEPS;
use ludex_search::MoveReport;
use ludex_solve::Saved;

use crate::person::{Answer, Command, Console, Display, Line};

/// The settings of a session.
#[derive(Clone, Debug)]
pub struct SessionConfig {
    /// The role of the person; `None` when the person only watches.
    pub person: Option<RoleId>,
    /// The player of the other roles.
    pub player: PlayerSpec,
    /// The rules, for players whose search fails.
    pub program: Arc<Program>,
    /// Thinking time of the players per move.
    pub move_time: Duration,
    /// Number of threads of each player.
    pub n_threads: usize,
    /// Bytes for the search of each player.
    pub memory: usize,
    /// When the session ends.
    pub deadline: Deadline,
    /// The seed of all randomness.
    pub seed: Seed,
    /// Strategies that the player `ludex` plays.
    pub saved: Option<Arc<Saved>>,
    /// Width of the output, in characters.
    pub width: usize,
}

/// Number of moves that an evaluation shows.
const MAX_EVALUATED: usize = 8;

/// Why a session ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SessionEnd {
    /// The game or the input ended, or the person quit.
    Over,
    /// A limit ended it, perhaps one of the engine in some state.
    Stopped(StopReason),
    /// The game panicked, and its message was printed.
    Failed,
}

/// Plays one game; the end of input ends it, and so does a play of [`MAX_STEPS`] joint moves.
///
/// A player that panics is replaced by a random legal move.
///
/// # Errors
/// When input or output fails.
pub fn play<G>(
    game: &G,
    layout: &Layout,
    config: &SessionConfig,
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> io::Result<SessionEnd>
where
    G: Playable,
{
    let display = Display { game, layout, width: config.width };
    let mut session = Session {
        game,
        display,
        config,
        input,
        output,
        cursor: game.cursor(),
        rng: config.seed.rng(),
        players: game.roles().iter().map(|_| None).collect(),
        steps: Vec::new(),
    };
    session.greet()?;
    let end = loop {
        let step = catch_unwind(AssertUnwindSafe(|| session.step()));
        match step {
            Ok(Ok(None)) => {}
            Ok(Ok(Some(end))) => break end,
            Ok(Err(error)) => return Err(error),
            Err(panic) => {
                let (step, message) = (session.steps.len() + 1, panic_message(&*panic));
                writeln!(session.output, "The game failed at step {step}: {message}.")?;
                break SessionEnd::Failed;
            }
        }
    };
    session.output.flush()?;
    Ok(end)
}

struct Session<'a, G: Playable, I, O> {
    game: &'a G,
    display: Display<'a, G>,
    config: &'a SessionConfig,
    input: &'a mut I,
    output: &'a mut O,
    cursor: G::Cursor,
    rng: Rng,
    /// The players asked so far, each with the number of steps it has seen. The one in the person's
    /// seat gives hints.
    players: Vec<Option<(Player<G>, usize)>>,
    steps: Vec<Step>,
}

/// The console of `ludex play`.
struct Stream<'a, I, O> {
    input: &'a mut I,
    output: &'a mut O,
}

impl<I: BufRead, O: Write> Console for Stream<'_, I, O> {
    fn print(&mut self, text: &str) -> io::Result<()> {
        write!(self.output, "{text}")
    }

    fn read_line(&mut self, prompt: &str) -> io::Result<Line> {
        write!(self.output, "{prompt}")?;
        self.output.flush()?;
        let mut line = String::new();
        let n_bytes = self.input.read_line(&mut line)?;
        Ok(if n_bytes == 0 { Line::End } else { Line::Text(line) })
    }
}

/// A joint move, and the percepts of each role.
struct Step {
    joint: Vec<MoveId>,
    percepts: Vec<Vec<PerceptId>>,
}

impl<G, I, O> Session<'_, G, I, O>
where
    G: Playable,
    I: BufRead,
    O: Write,
{
    fn greet(&mut self) -> io::Result<()> {
        let names: Vec<&str> = self.game.roles().iter().map(|role| role.name.as_str()).collect();
        writeln!(self.output, "Roles: {}.", names.join(", "))?;
        match self.config.person {
            Some(person) => {
                let name = self.name(person);
                writeln!(self.output, "You play {name}. Enter a move by its number or text;")?;
                writeln!(
                    self.output,
                    "`list` shows all moves, `hint` suggests a move, `eval` rates the moves,"
                )?;
                writeln!(self.output, "`undo` takes back your last move, `quit` ends the game.")
            }
            None => writeln!(self.output, "You are watching."),
        }
    }

    /// Plays one joint move; returns why the session is over, if it is.
    fn step(&mut self) -> io::Result<Option<SessionEnd>> {
        self.show_state()?;
        let is_terminal = self.cursor.is_terminal();
        // A state that cannot be evaluated looks like the end of the game.
        if self.cursor.has_fault() {
            return Ok(Some(SessionEnd::Stopped(StopReason::Fault)));
        }
        if is_terminal {
            self.show_goals()?;
            return Ok(Some(SessionEnd::Over));
        }
        if self.steps.len() >= MAX_STEPS {
            return Ok(Some(SessionEnd::Stopped(StopReason::Count)));
        }
        let mut joint: Vec<Option<MoveId>> = vec![None; self.game.roles().len()];
        for role in self.game.role_ids() {
            if self.cursor.legal_moves(role).is_empty() {
                if self.cursor.has_fault() {
                    return Ok(Some(SessionEnd::Stopped(StopReason::Fault)));
                }
                let name = self.name(role);
                writeln!(self.output, "{name} has no legal move, so the game ends here.")?;
                return Ok(Some(SessionEnd::Over));
            }
        }
        if let Some(reason) = self.config.deadline.stop_reason() {
            return Ok(Some(SessionEnd::Stopped(reason)));
        }
        // The order does not matter, because no other choice depends on the person's.
        if let Some(person) = self.config.person {
            match self.ask(person)? {
                Asked::Move(chosen) => joint[person.index()] = Some(chosen),
                Asked::Undo => return Ok(None),
                Asked::End => return Ok(Some(SessionEnd::Over)),
            }
        }
        for role in self.game.role_ids() {
            if joint[role.index()].is_none() {
                joint[role.index()] = Some(self.decide(role)?);
            }
            if let Some(reason) = self.config.deadline.stop_reason() {
                return Ok(Some(SessionEnd::Stopped(reason)));
            }
        }
        let joint: Vec<MoveId> = joint.into_iter().flatten().collect();
        self.cursor.play(&joint);
        self.show_step(&joint)?;
        let percepts =
            self.game.role_ids().map(|role| self.cursor.percepts(role).to_vec()).collect();
        self.steps.push(Step { joint, percepts });
        Ok(None)
    }

    /// Whether the person sees states and moves of others.
    fn is_open(&self) -> bool {
        self.config.person.is_none() || !self.game.has_percepts()
    }

    fn show_state(&mut self) -> io::Result<()> {
        writeln!(self.output)?;
        if self.is_open() {
            write!(self.output, "{}", self.display.state(self.cursor.state()))?;
        } else if self.steps.is_empty() {
            writeln!(self.output, "You see only your own moves and what the rules let you see.")?;
        }
        Ok(())
    }

    fn show_step(&mut self, joint: &[MoveId]) -> io::Result<()> {
        let text = match self.config.person.filter(|_| !self.is_open()) {
            None => self.display.joint(joint),
            Some(person) => self.display.own(joint[person.index()], self.cursor.percepts(person)),
        };
        write!(self.output, "{text}")
    }

    fn show_goals(&mut self) -> io::Result<()> {
        let goals: Vec<String> = self
            .game
            .role_ids()
            .filter(|role| !self.game.roles()[role.index()].is_random)
            .map(|role| format!("{} {}", self.name(role), self.cursor.goal(role)))
            .collect();
        writeln!(
            self.output,
            "The game is over after {} steps. Goals: {}.",
            self.steps.len(),
            goals.join(", ")
        )
    }

    fn name(&self, role: RoleId) -> String {
        self.display.name(role).into()
    }

    /// Asks the person for a move.
    fn ask(&mut self, person: RoleId) -> io::Result<Asked> {
        let moves = sorted_moves(self.game, &mut self.cursor, person);
        if let [(_, only)] = moves[..] {
            return Ok(Asked::Move(only));
        }
        write!(self.output, "{}", self.display.moves(&moves))?;
        let prompt = || format!("{} (1-{})> ", self.game.roles()[person.index()].name, moves.len());
        loop {
            let mut stream = Stream { input: &mut *self.input, output: &mut *self.output };
            match self.display.ask(&mut stream, &moves, prompt, true)? {
                Answer::Move(chosen) => return Ok(Asked::Move(chosen)),
                Answer::Command(Command::Hint) => self.hint(person)?,
                Answer::Command(Command::Eval) => self.evaluate(person)?,
                Answer::Command(Command::Undo) if self.undo(person) => {
                    writeln!(self.output, "Taken back.")?;
                    return Ok(Asked::Undo);
                }
                Answer::Command(Command::Undo) => {
                    writeln!(self.output, "There is nothing to take back.")?
                }
                Answer::Quit => {
                    writeln!(self.output, "Goodbye.")?;
                    return Ok(Asked::End);
                }
                Answer::End | Answer::Late | Answer::Interrupted => {
                    writeln!(self.output, "\nEnd of input: the game ends here.")?;
                    return Ok(Asked::End);
                }
            }
        }
    }

    fn hint(&mut self, person: RoleId) -> io::Result<()> {
        let found = self.consider(person);
        let Some(report) = found else {
            return writeln!(
                self.output,
                "The search found no move in time; a longer --move-time may help."
            );
        };
        let chosen = report.chosen.expect("a search that reports has a move");
        let text = self.game.move_text(chosen);
        match report.reward {
            Some(reward) if report.is_proven => {
                writeln!(self.output, "{text} is best: goal {:.0}, proved.", 100.0 * reward)
            }
            Some(reward) => writeln!(
                self.output,
                "{text} looks best: expected goal {:.0} after {} playouts.",
                100.0 * reward,
                report.n_playouts
            ),
            None => writeln!(self.output, "{text}; no move looks better than another."),
        }
    }

    /// Prints the values of the moves: the best first, then by visits, with proved losses last.
    fn evaluate(&mut self, person: RoleId) -> io::Result<()> {
        let Some(mut report) = self.consider(person) else {
            return writeln!(
                self.output,
                "The search found nothing in time; a longer --move-time may help."
            );
        };
        if let Some(reward) = report.reward {
            let sure = if report.is_proven { ", proved" } else { "" };
            let name = self.name(person);
            writeln!(self.output, "{name} can expect a goal of {:.0}{sure}.", 100.0 * reward)?;
        }
        let chosen = report.chosen;
        let rank = |found: &MoveReport| {
            let is_lost = found.proven == Some(0.0);
            (Some(found.id) == chosen, !is_lost, found.n_visits, found.mean_reward)
        };
        report.moves.sort_by(|a, b| rank(b).partial_cmp(&rank(a)).expect("rewards are numbers"));
        for found in report.moves.iter().take(MAX_EVALUATED) {
            let goal = match (found.proven, found.mean_reward) {
                (Some(proven), _) => format!("{:.0} proved", 100.0 * proven),
                (None, Some(mean)) => format!("{:.0}", 100.0 * mean),
                (None, None) => "not tried".into(),
            };
            let text = self.game.move_text(found.id);
            writeln!(self.output, "  {text}: {goal}, {} visits", found.n_visits)?;
        }
        Ok(())
    }

    /// Runs the search of the player in a seat for the time of one move.
    fn consider(&mut self, role: RoleId) -> Option<ludex_search::SearchReport> {
        let time = self.move_time();
        let asked = |session: &mut Self| session.seat(role).consider(time);
        match catch_unwind(AssertUnwindSafe(|| asked(self))) {
            Ok(found) => found.map(|(report, _)| report),
            Err(_) => {
                self.players[role.index()] = None;
                None
            }
        }
    }

    /// Returns to the last choice of the person; false if there was none.
    fn undo(&mut self, person: RoleId) -> bool {
        let mut cursor = self.game.cursor();
        let mut last = None;
        for (n_steps, step) in self.steps.iter().enumerate() {
            if cursor.legal_moves(person).len() > 1 {
                last = Some(n_steps);
            }
            cursor.play(&step.joint);
        }
        let Some(n_steps) = last else { return false };
        self.steps.truncate(n_steps);
        self.cursor = self.game.cursor();
        self.steps.iter().for_each(|step| self.cursor.play(&step.joint));
        // Players cannot go back: new ones take their seats and see the remaining steps.
        self.players.iter_mut().for_each(|player| *player = None);
        true
    }

    /// The thinking time of a move that begins now.
    fn move_time(&self) -> Duration {
        let left = self.config.deadline.remaining();
        left.map_or(self.config.move_time, |left| left.min(self.config.move_time))
    }

    /// Returns the player of a role, after showing it all steps so far.
    fn seat(&mut self, role: RoleId) -> &mut Player<G> {
        let time = self.move_time();
        let (player, n_seen) = self.players[role.index()].get_or_insert_with(|| {
            let config = PlayerConfig {
                n_threads: self.config.n_threads,
                memory: self.config.memory,
                saved: self.config.saved.clone(),
                ..PlayerConfig::new(self.config.seed.child(role.index() as u64))
            };
            let (spec, program) = (&self.config.player, Arc::clone(&self.config.program));
            let mut player = Player::new(spec, self.game, program, config);
            player.start(role, Instant::now() + time);
            (player, 0)
        });
        for step in &self.steps[*n_seen..] {
            let seen = if !self.game.has_percepts() {
                Seen::Joint(&step.joint)
            } else {
                Seen::Own { own: step.joint[role.index()], percepts: &step.percepts[role.index()] }
            };
            player.watch(seen, Instant::now() + time);
        }
        *n_seen = self.steps.len();
        player
    }

    /// Chooses the move of a role that no person plays.
    fn decide(&mut self, role: RoleId) -> io::Result<MoveId> {
        let is_random = self.game.roles()[role.index()].is_random;
        let moves = sorted_moves(self.game, &mut self.cursor, role);
        let drawn = self.rng.choose(&moves).expect("a role without moves has ended the game").1;
        if is_random || moves.len() == 1 {
            return Ok(drawn);
        }
        let choice = match catch_unwind(AssertUnwindSafe(|| self.choose(role))) {
            Ok(choice) => choice,
            Err(panic) => {
                self.players[role.index()] = None;
                let (name, step) = (self.name(role), self.steps.len() + 1);
                let message = panic_message(&*panic);
                writeln!(
                    self.output,
                    "The player of {name} failed at step {step}, so a random move is played: \
                     {message}."
                )?;
                return Ok(drawn);
            }
        };
        // With hidden information, the expectation of a player would reveal what it saw.
        if let (true, Some(goal)) = (self.is_open(), choice.thought.goal) {
            let name = self.name(role);
            let sure = if choice.thought.is_proven { ", proved" } else { "" };
            writeln!(
                self.output,
                "{name} expects a goal of {goal:.0}{sure} after {} playouts.",
                choice.thought.n_playouts
            )?;
        }
        let chosen = choice.chosen.filter(|id| moves.iter().any(|(_, legal)| legal == id));
        Ok(chosen.unwrap_or(drawn))
    }

    /// Lets the player of a role choose.
    fn choose(&mut self, role: RoleId) -> Choice {
        // Call `seat` first, because preparing a new player has its own clock.
        self.seat(role);
        let time = self.move_time();
        self.seat(role).choose(Seen::Nothing, Instant::now() + time)
    }
}

/// The result of asking a person.
enum Asked {
    Move(MoveId),
    /// The session went back to an earlier state.
    Undo,
    End,
}
