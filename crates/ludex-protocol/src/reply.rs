//! Answers of a player, and their faults.

use std::fmt;

use crate::term::{MAX_TERM, Term};
use crate::tokens::{elements, inside, shortened};

/// An answer of a player.
///
/// [`Display`](fmt::Display) writes it exactly as the reference implementation does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reply {
    /// Answers `info`.
    Info(Info),
    /// Answers `ping`.
    Status(Status),
    /// Answers `preview` and `start`.
    Ready,
    /// Answers `play`.
    Move(Term),
    /// Answers `play` when no move could be found.
    Nil,
    /// Answers `stop`.
    Done,
    /// Answers `abort`.
    Aborted,
    /// Refuses a message that does not fit, such as `play` for an unknown match or a second
    /// `start`.
    Busy,
}

/// A player's description of itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Info {
    /// The name of the player; empty if it gives none.
    pub name: String,
    /// Whether it can take a match.
    pub status: Status,
    /// The kind of player, such as `human`.
    pub species: Option<String>,
}

/// Whether a player can take a match.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Status {
    /// The player can take a match.
    Available,
    /// The player is in a match.
    Busy,
    /// Any other word.
    Other(String),
}

/// A fault in the answer to `play`, as match records write it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MoveFault {
    /// The term is not a legal move; `None` if the answer is not a term.
    Illegal(Option<Term>),
    /// There was no answer in time.
    TimeOut,
    /// The connection failed or broke off.
    Connection,
}

/// Reads the move in an answer to `play`; the referee checks whether it is legal.
///
/// A text longer than [`MAX_TERM`] is not a move.
pub fn read_move(text: &str) -> Option<Term> {
    if text.len() > MAX_TERM {
        return None;
    }
    Term::read(text)
}

/// Longest name of a player, in characters.
const MAX_NAME: usize = 60;

impl Info {
    /// Reads the answer to `info`: pairs of a key and a value, or the status alone.
    ///
    /// Unreadable parts are left out: any answer at all shows that the player is there.
    pub fn read(text: &str) -> Self {
        let mut info = Info { name: String::new(), status: Status::Available, species: None };
        let outer = elements(text);
        let Some(pairs) = outer.first().and_then(|first| inside(first)) else {
            info.status = Status::read(outer.first().unwrap_or(&""));
            return info;
        };
        for pair in elements(pairs) {
            let Some(pair) = inside(pair) else { continue };
            let words = elements(pair);
            let Some((key, values)) = words.split_first() else { continue };
            let value = shortened(&values.join(" "), MAX_NAME);
            match key.to_ascii_lowercase().as_str() {
                "name" => info.name = value,
                "status" => info.status = Status::read(&value),
                "species" => info.species = Some(value),
                _ => {}
            }
        }
        info
    }
}

impl Status {
    fn read(word: &str) -> Self {
        match word.to_ascii_lowercase().as_str() {
            "available" => Status::Available,
            "busy" => Status::Busy,
            _ => Status::Other(shortened(word, MAX_NAME)),
        }
    }
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reply::Info(Info { name, status, species }) => {
                write!(f, "( ( name {name} ) ( status {status} ) ")?;
                if let Some(species) = species {
                    write!(f, "( species {species} ) ")?;
                }
                write!(f, ")")
            }
            Reply::Status(status) => write!(f, "{status}"),
            Reply::Ready => write!(f, "ready"),
            Reply::Move(chosen) => write!(f, "{chosen}"),
            Reply::Nil => write!(f, "nil"),
            Reply::Done => write!(f, "done"),
            Reply::Aborted => write!(f, "aborted"),
            Reply::Busy => write!(f, "busy"),
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Status::Available => write!(f, "available"),
            Status::Busy => write!(f, "busy"),
            Status::Other(word) => write!(f, "{word}"),
        }
    }
}

impl fmt::Display for MoveFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MoveFault::Illegal(Some(term)) => write!(f, "IL {term}"),
            MoveFault::Illegal(None) => write!(f, "IL null"),
            MoveFault::TimeOut => write!(f, "TO"),
            MoveFault::Connection => write!(f, "CE"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_written_to_the_blank() {
        let info = |species: Option<&str>| {
            Reply::Info(Info {
                name: "Ludex".into(),
                status: Status::Available,
                species: species.map(str::to_owned),
            })
        };
        let term = || Term::read("(mark 1 1)").expect("a term");
        let written = [
            (info(None), "( ( name Ludex ) ( status available ) )"),
            (info(Some("human")), "( ( name Ludex ) ( status available ) ( species human ) )"),
            (Reply::Status(Status::Busy), "busy"),
            (Reply::Move(term()), "( mark 1 1 )"),
            (Reply::Ready, "ready"),
            (Reply::Nil, "nil"),
            (Reply::Done, "done"),
            (Reply::Aborted, "aborted"),
            (Reply::Busy, "busy"),
        ];
        for (reply, text) in written {
            assert_eq!(reply.to_string(), text);
        }
        assert_eq!(MoveFault::Illegal(Some(term())).to_string(), "IL ( mark 1 1 )");
        assert_eq!(MoveFault::Illegal(None).to_string(), "IL null");
    }

    #[test]
    fn info_is_read_in_every_form() {
        let read = Info::read("((Name Random Player) (STATUS busy) (species human) (more))");
        assert_eq!((read.name.as_str(), read.status), ("Random Player", Status::Busy));
        assert_eq!(read.species.as_deref(), Some("human"));
        let long = Info::read(&format!("((name {}) (status available))", "x".repeat(1 << 20)));
        assert_eq!(long.name, format!("{}…", "x".repeat(MAX_NAME)));
        assert_eq!(Info::read("available").status, Status::Available);
        assert_eq!(Info::read("").status, Status::Other(String::new()));
        assert_eq!(Info::read("what?").status, Status::Other("what?".into()));
    }

    #[test]
    fn moves_are_terms() {
        assert_eq!(read_move(" ( MARK 1 1 )\n").expect("a term").as_str(), "(MARK 1 1)");
        assert_eq!(read_move(&"x".repeat(MAX_TERM + 1)), None);
        assert_eq!(read_move("busy").expect("a term").as_str(), "busy");
        assert_eq!(read_move("(mark 1"), None);
    }
}
