//! A person at the terminal: shows the game and asks for moves.
//!
//! `ludex play` and `ludex referee` both use this module. They differ in the [`Console`]: where it
//! prints, and whether a clock runs.

use std::io;

use ludex_analysis::Layout;
use ludex_base::{MoveId, PerceptId, RoleId};
use ludex_game::{Describe, StateOf};

use crate::board::{cut_word, draw, in_columns};

/// The terminal of a person.
pub(crate) trait Console {
    /// Prints a text that ends its own lines.
    fn print(&mut self, text: &str) -> io::Result<()>;

    /// Asks for a line.
    fn read_line(&mut self, prompt: &str) -> io::Result<Line>;
}

/// The result of asking for a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Line {
    /// A line.
    Text(String),
    /// The input has ended.
    End,
    /// The clock ran out.
    Late,
    /// The match was stopped while waiting.
    Interrupted,
}

/// The answer of a person.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    Move(MoveId),
    Command(Command),
    Quit,
    /// The input has ended.
    End,
    Late,
    Interrupted,
}

/// A command of `ludex play`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Command {
    Hint,
    Eval,
    Undo,
}

/// Number of legal moves listed unasked.
const MAX_LISTED: usize = 60;
/// Number of legal moves listed by `list`.
const MAX_ALL: usize = 10_000;

/// Shows a game to a person.
pub(crate) struct Display<'a, G> {
    /// The game.
    pub game: &'a G,
    /// The layout of its boards.
    pub layout: &'a Layout,
    /// Width of the output, in characters.
    pub width: usize,
}

impl<G: Describe> Display<'_, G> {
    /// Draws a state.
    pub fn state(&self, state: &StateOf<G>) -> String {
        draw(&self.layout.picture(&self.game.state_texts(state)), self.width)
    }

    /// Describes a joint move that everybody sees.
    pub fn joint(&self, joint: &[MoveId]) -> String {
        let played = self.game.roles().iter().zip(joint);
        let played = played.map(|(role, &id)| format!("{} plays {}", role.name, self.text(id)));
        format!("{}.\n", played.collect::<Vec<_>>().join(", "))
    }

    /// Describes a step of which the person sees only their own move and percepts.
    pub fn own(&self, own: MoveId, percepts: &[PerceptId]) -> String {
        let mut percepts: Vec<String> =
            percepts.iter().map(|&id| cut_word(&self.game.percept_text(id)).into_owned()).collect();
        percepts.sort_unstable();
        let seen = if percepts.is_empty() { "nothing".into() } else { percepts.join(", ") };
        format!("You play {}.\nYou see {seen}.\n", self.text(own))
    }

    /// Asks until the person enters a move or a command.
    ///
    /// `prompt` is called for each question; without `has_commands`, commands count as unknown.
    pub fn ask(
        &self,
        console: &mut impl Console,
        moves: &[(String, MoveId)],
        prompt: impl Fn() -> String,
        has_commands: bool,
    ) -> io::Result<Answer> {
        loop {
            let line = match console.read_line(&prompt())? {
                Line::Text(line) => line,
                Line::End => return Ok(Answer::End),
                Line::Late => return Ok(Answer::Late),
                Line::Interrupted => return Ok(Answer::Interrupted),
            };
            match understand(&line, moves) {
                Said::Move(chosen) => return Ok(Answer::Move(chosen)),
                Said::Quit => return Ok(Answer::Quit),
                Said::Command(command) if has_commands => return Ok(Answer::Command(command)),
                Said::List => console.print(&self.list(moves, MAX_ALL))?,
                Said::Nothing => {}
                Said::Command(_) | Said::Unknown => console.print(&format!(
                    "`{}` is not a legal move; `list` shows all moves.\n",
                    cut_word(line.trim())
                ))?,
            }
        }
    }

    /// Lists the legal moves with their numbers, up to a limit.
    pub fn moves(&self, moves: &[(String, MoveId)]) -> String {
        self.list(moves, MAX_LISTED)
    }

    fn list(&self, moves: &[(String, MoveId)], max_listed: usize) -> String {
        let digits = moves.len().to_string().len();
        let listed: Vec<String> = (moves.iter().take(max_listed).enumerate())
            .map(|(index, (text, _))| format!("{:>digits$} {text}", index + 1))
            .collect();
        let mut text = in_columns(&listed, self.width);
        if moves.len() > max_listed {
            let n_more = moves.len() - max_listed;
            let how =
                if max_listed < MAX_ALL { "`list` shows all moves" } else { "enter its text" };
            text += &format!(" … and {n_more} more; {how}.\n");
        }
        text
    }

    /// Returns the name of a role.
    pub fn name(&self, role: RoleId) -> &str {
        &self.game.roles()[role.index()].name
    }

    fn text(&self, id: MoveId) -> String {
        cut_word(&self.game.move_text(id)).into_owned()
    }
}

/// The meaning of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Said {
    Move(MoveId),
    Command(Command),
    List,
    Quit,
    Nothing,
    Unknown,
}

/// Reads a line as a move, by its number from 1 or its text, or as a command.
fn understand(line: &str, moves: &[(String, MoveId)]) -> Said {
    let said = fold(line);
    if said.is_empty() {
        return Said::Nothing;
    }
    if let Some(&(_, chosen)) = moves.iter().find(|(text, _)| fold(text) == said) {
        return Said::Move(chosen);
    }
    let index = said.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    match (index.and_then(|index| moves.get(index)), said.as_str()) {
        (Some(&(_, chosen)), _) => Said::Move(chosen),
        (None, "list" | "?" | "help") => Said::List,
        (None, "hint") => Said::Command(Command::Hint),
        (None, "eval") => Said::Command(Command::Eval),
        (None, "undo") => Said::Command(Command::Undo),
        (None, "quit" | "q" | "exit") => Said::Quit,
        _ => Said::Unknown,
    }
}

/// Normalizes a move: ignores letter case, parentheses and extra blanks.
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
    fn moves_are_entered_by_number_or_text() {
        let moves: Vec<(String, MoveId)> = ["(drop 1)", "(drop 2)", "list"]
            .iter()
            .enumerate()
            .map(|(id, text)| (text.to_string(), MoveId::new(id)))
            .collect();
        let said = |line| understand(line, &moves);
        assert_eq!(said("2\n"), Said::Move(MoveId::new(1)));
        assert_eq!(said("(drop  1)"), Said::Move(MoveId::new(0)));
        assert_eq!(said("DROP 2"), Said::Move(MoveId::new(1)));
        assert_eq!(said("list"), Said::Move(MoveId::new(2)));
        assert_eq!(said("?"), Said::List);
        assert_eq!(said("0"), Said::Unknown);
        assert_eq!(said("4"), Said::Unknown);
        assert_eq!(said(" "), Said::Nothing);
        assert_eq!(said("undo"), Said::Command(Command::Undo));
        assert_eq!(said("Eval"), Said::Command(Command::Eval));
        assert_eq!(said("quit"), Said::Quit);
    }
}
