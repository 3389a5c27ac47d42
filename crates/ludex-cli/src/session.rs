//! A person at the terminal and the machine in the other seats.

use std::io::{self, BufRead, Write};
use std::time::Duration;

use ludex_base::{Deadline, MoveId, Rng, RoleId, Seed};
use ludex_game::trace::{sorted_moves, sorted_percepts};
use ludex_game::{Cursor, Describe, Observe, Playouts};

use crate::args::PlayerChoice;
use crate::board::{Layout, in_columns};
use crate::flat::{self, FlatConfig, History};

/// Who sits where, and how the others think.
#[derive(Clone, Debug)]
pub struct SessionConfig {
    /// The role of the person; `None` when the person only watches.
    pub person: Option<RoleId>,
    /// Who plays the other roles.
    pub player: PlayerChoice,
    /// How long they think about a move.
    pub move_time: Duration,
    /// How many threads they use.
    pub n_threads: usize,
    /// Where the randomness comes from.
    pub seed: Seed,
    /// How wide lines are.
    pub width: usize,
}

/// Legal moves that are listed without being asked for.
const MAX_LISTED: usize = 60;
/// Playouts longer than this tell nothing about a move.
const MAX_PLAYOUT_STEPS: usize = 2_000;
/// Replays kept of a play with hidden information.
const MAX_ROOTS: usize = 200;

/// Plays one game. The end of input ends it politely.
///
/// # Errors
/// When input or output fails.
pub fn play<G>(
    game: &G,
    layout: &Layout,
    config: &SessionConfig,
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> io::Result<()>
where
    G: Describe + Playouts,
    G::Cursor: Observe,
{
    let mut session = Session {
        game,
        layout,
        config,
        input,
        output,
        cursor: game.cursor(),
        rng: config.seed.rng(),
        histories: vec![History::default(); game.roles().len()],
        n_steps: 0,
    };
    session.greet()?;
    while session.step()? {}
    session.output.flush()
}

struct Session<'a, G: ludex_game::Game, I, O> {
    game: &'a G,
    layout: &'a Layout,
    config: &'a SessionConfig,
    input: &'a mut I,
    output: &'a mut O,
    cursor: G::Cursor,
    rng: Rng,
    /// What each role knows, in a game with hidden information.
    histories: Vec<History>,
    n_steps: u64,
}

impl<G, I, O> Session<'_, G, I, O>
where
    G: Describe + Playouts,
    G::Cursor: Observe,
    I: BufRead,
    O: Write,
{
    fn greet(&mut self) -> io::Result<()> {
        let names: Vec<&str> = self.game.roles().iter().map(|role| role.name.as_str()).collect();
        writeln!(self.output, "Roles: {}.", names.join(", "))?;
        match self.config.person {
            Some(person) => {
                let name = self.name(person);
                writeln!(self.output, "You play {name}. Say a move by its number or its text;")?;
                writeln!(
                    self.output,
                    "`list` shows every move, `hint` asks for advice, `quit` ends."
                )
            }
            None => writeln!(self.output, "You watch."),
        }
    }

    /// One joint move; false when the session is over.
    fn step(&mut self) -> io::Result<bool> {
        self.show_state()?;
        if self.cursor.is_terminal() {
            self.show_goals()?;
            return Ok(false);
        }
        let mut joint: Vec<Option<MoveId>> = vec![None; self.game.roles().len()];
        for role in self.game.role_ids() {
            if self.cursor.legal_moves(role).is_empty() {
                let name = self.name(role);
                writeln!(
                    self.output,
                    "The rules leave {name} without a move: the game ends here."
                )?;
                return Ok(false);
            }
        }
        // The person answers first: nobody else's choice depends on it.
        if let Some(person) = self.config.person {
            let Some(chosen) = self.ask(person)? else { return Ok(false) };
            joint[person.index()] = Some(chosen);
        }
        for role in self.game.role_ids() {
            if joint[role.index()].is_none() {
                joint[role.index()] = Some(self.decide(role)?);
            }
        }
        let joint: Vec<MoveId> = joint.into_iter().flatten().collect();
        self.cursor.play(&joint);
        self.n_steps += 1;
        for role in self.game.role_ids() {
            self.histories[role.index()].record(&self.cursor, role, joint[role.index()]);
        }
        self.show_step(&joint)?;
        Ok(true)
    }

    /// Whether the person sees states and moves of others.
    fn is_open(&self) -> bool {
        self.config.person.is_none() || !self.game.has_percepts()
    }

    fn show_state(&mut self) -> io::Result<()> {
        writeln!(self.output)?;
        if self.is_open() {
            let fluents = self.game.state_texts(self.cursor.state());
            write!(self.output, "{}", self.layout.draw(&fluents, self.config.width))?;
        } else if self.n_steps == 0 {
            writeln!(self.output, "You see only your own moves and what the rules let you see.")?;
        }
        Ok(())
    }

    fn show_step(&mut self, joint: &[MoveId]) -> io::Result<()> {
        if self.is_open() {
            let played: Vec<String> = self
                .game
                .role_ids()
                .map(|role| {
                    let text = self.game.move_text(joint[role.index()]);
                    format!("{} plays {text}", self.name(role))
                })
                .collect();
            return writeln!(self.output, "{}.", played.join(", "));
        }
        let Some(person) = self.config.person else { return Ok(()) };
        writeln!(self.output, "You play {}.", self.game.move_text(joint[person.index()]))?;
        let seen = sorted_percepts(self.game, &self.cursor, person);
        if seen.is_empty() {
            writeln!(self.output, "You see nothing.")
        } else {
            writeln!(self.output, "You see {}.", seen.join(", "))
        }
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
            self.n_steps,
            goals.join(", ")
        )
    }

    fn name(&self, role: RoleId) -> String {
        self.game.roles()[role.index()].name.clone()
    }

    /// Asks the person for a move; `None` when they leave.
    fn ask(&mut self, person: RoleId) -> io::Result<Option<MoveId>> {
        let moves = sorted_moves(self.game, &mut self.cursor, person);
        if let [(_, only)] = moves[..] {
            return Ok(Some(only));
        }
        self.list_moves(&moves, MAX_LISTED)?;
        loop {
            write!(self.output, "{} (1-{})> ", self.name(person), moves.len())?;
            self.output.flush()?;
            let mut line = String::new();
            if self.input.read_line(&mut line)? == 0 {
                writeln!(self.output, "\nThe input ends, and with it the game.")?;
                return Ok(None);
            }
            match parse_answer(&line, &moves) {
                Answer::Move(chosen) => return Ok(Some(chosen)),
                Answer::Quit => {
                    writeln!(self.output, "Until next time.")?;
                    return Ok(None);
                }
                Answer::List => self.list_moves(&moves, usize::MAX)?,
                Answer::Hint => self.hint(person)?,
                Answer::Nothing => {}
                Answer::Unknown => writeln!(
                    self.output,
                    "`{}` is no legal move here; `list` shows them all.",
                    line.trim()
                )?,
            }
        }
    }

    fn list_moves(&mut self, moves: &[(String, MoveId)], max_listed: usize) -> io::Result<()> {
        let digits = moves.len().to_string().len();
        let listed: Vec<String> = moves
            .iter()
            .take(max_listed)
            .enumerate()
            .map(|(position, (text, _))| format!("{:>digits$} {text}", position + 1))
            .collect();
        write!(self.output, "{}", in_columns(&listed, self.config.width))?;
        if moves.len() > max_listed {
            writeln!(
                self.output,
                " … and {} more; `list` shows them all.",
                moves.len() - max_listed
            )?;
        }
        Ok(())
    }

    fn hint(&mut self, person: RoleId) -> io::Result<()> {
        match self.advise(person) {
            Some(choice) if choice.n_playouts > 0 => writeln!(
                self.output,
                "{} looks best: {:.0} on average after it, by {} playouts.",
                self.game.move_text(choice.chosen),
                choice.mean_goal,
                choice.n_playouts
            ),
            _ => writeln!(self.output, "No playout ended in time; there is no advice."),
        }
    }

    /// The move of a role that no person plays.
    fn decide(&mut self, role: RoleId) -> io::Result<MoveId> {
        let is_random = self.game.roles()[role.index()].is_random;
        let moves = sorted_moves(self.game, &mut self.cursor, role);
        let drawn = rng_move(&mut self.rng, &moves);
        if is_random || moves.len() == 1 || self.config.player == PlayerChoice::Random {
            return Ok(drawn);
        }
        match self.advise(role) {
            Some(choice) => {
                if self.is_open() && choice.n_playouts > 0 {
                    writeln!(
                        self.output,
                        "{} expects {:.0} after {} playouts.",
                        self.name(role),
                        choice.mean_goal,
                        choice.n_playouts
                    )?;
                }
                Ok(choice.chosen)
            }
            None => Ok(drawn),
        }
    }

    /// What flat Monte Carlo would play, knowing only what the role knows; `None` when nothing
    /// the role knows could be replayed in time.
    fn advise(&mut self, role: RoleId) -> Option<flat::FlatChoice> {
        let deadline = Deadline::after(self.config.move_time);
        let legal: Vec<MoveId> = self.cursor.legal_moves(role).to_vec();
        let roots = if self.game.has_percepts() {
            let half = Deadline::after(self.config.move_time / 2);
            let history = &self.histories[role.index()];
            history.possible_states(self.game, role, MAX_ROOTS, &mut self.rng, &half)
        } else {
            vec![self.cursor.state().clone()]
        };
        if roots.is_empty() {
            return None;
        }
        let config = FlatConfig {
            deadline,
            n_threads: self.config.n_threads,
            seed: self.config.seed.child(self.n_steps * 64 + role.index() as u64),
            max_steps: MAX_PLAYOUT_STEPS,
        };
        Some(flat::choose(self.game, &roots, role, &legal, &config))
    }
}

fn rng_move(rng: &mut Rng, moves: &[(String, MoveId)]) -> MoveId {
    rng.choose(moves).expect("a role without moves has ended the game").1
}

/// What a person said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Answer {
    Move(MoveId),
    List,
    Hint,
    Quit,
    Nothing,
    Unknown,
}

/// Reads a move by its number from 1 or by its text, or a word of command.
fn parse_answer(line: &str, moves: &[(String, MoveId)]) -> Answer {
    let said = fold(line);
    if said.is_empty() {
        return Answer::Nothing;
    }
    if let Some(&(_, chosen)) = moves.iter().find(|(text, _)| fold(text) == said) {
        return Answer::Move(chosen);
    }
    let number = said.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    match (number.and_then(|place| moves.get(place)), said.as_str()) {
        (Some(&(_, chosen)), _) => Answer::Move(chosen),
        (None, "list" | "?" | "help") => Answer::List,
        (None, "hint") => Answer::Hint,
        (None, "quit" | "q" | "exit") => Answer::Quit,
        _ => Answer::Unknown,
    }
}

/// A move without regard to letter case, outer parentheses and blanks.
fn fold(text: &str) -> String {
    let words: Vec<String> = text
        .split(|c: char| c.is_whitespace() || c == '(' || c == ')')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_are_said_by_number_or_text() {
        let moves: Vec<(String, MoveId)> = ["(drop 1)", "(drop 2)", "list"]
            .iter()
            .enumerate()
            .map(|(id, text)| (text.to_string(), MoveId::new(id)))
            .collect();
        let said = |line| parse_answer(line, &moves);
        assert_eq!(said("2\n"), Answer::Move(MoveId::new(1)));
        assert_eq!(said("(drop  1)"), Answer::Move(MoveId::new(0)));
        assert_eq!(said("DROP 2"), Answer::Move(MoveId::new(1)));
        assert_eq!(said("list"), Answer::Move(MoveId::new(2)));
        assert_eq!(said("?"), Answer::List);
        assert_eq!(said("0"), Answer::Unknown);
        assert_eq!(said("4"), Answer::Unknown);
        assert_eq!(said(" "), Answer::Nothing);
        assert_eq!(said("quit"), Answer::Quit);
    }
}
