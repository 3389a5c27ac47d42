//! Messages of a game manager to a player.

use std::fmt;

use crate::term::{MAX_TERM, Term, spaced};
use crate::tokens::{elements, first_elements, inside};

/// A message from a game manager.
///
/// [`Display`](fmt::Display) writes it exactly as the reference implementation does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Request {
    /// Asks who the player is.
    Info,
    /// Asks whether the player is there; the older form of [`Request::Info`].
    Ping,
    /// Shows the rules before a match.
    Preview {
        /// The rulesheet.
        rules: String,
        /// Seconds to answer.
        clock: u64,
    },
    /// Begins a match.
    Start {
        /// The name of the match.
        match_id: String,
        /// The role of the player.
        role: String,
        /// The rulesheet.
        rules: String,
        /// Seconds to answer.
        start_clock: u64,
        /// Seconds for each move.
        play_clock: u64,
    },
    /// Asks for a move.
    Play {
        /// The name of the match.
        match_id: String,
        /// The last step.
        news: News,
    },
    /// Ends the match.
    Stop {
        /// The name of the match.
        match_id: String,
        /// The last step.
        news: News,
    },
    /// Aborts the match.
    Abort {
        /// The name of the match.
        match_id: String,
    },
}

/// The last step, as far as the player may know it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum News {
    /// GDL: the joint move, one move per role in the order of the rules, `random` included; empty
    /// before the first step.
    Joint(Vec<Term>),
    /// GDL-II: only the role's own move and its percepts.
    Own {
        /// Steps since the initial state.
        turn: u64,
        /// The move that was played for the role; `None` before the first step.
        last_move: Option<Term>,
        /// The percepts of the role.
        percepts: Vec<Term>,
    },
}

/// Why a message cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProtocolError {
    /// The message has no content.
    #[error("the message is empty")]
    Empty,
    /// The message does not begin with a known word.
    #[error("unknown message `{0}`; use info, ping, preview, start, play, stop or abort")]
    Unknown(String),
    /// The message has too few parts, or parts that fit none of its forms.
    #[error("`{message}` needs {wanted}; found {found} parts")]
    Parts {
        /// The name of the message.
        message: &'static str,
        /// The expected parts, in words.
        wanted: &'static str,
        /// The number of parts found.
        found: usize,
    },
    /// A part that must be a number is not one.
    #[error("`{text}` in `{message}` is not a number of {what}")]
    Number {
        /// The name of the message.
        message: &'static str,
        /// The text found.
        text: String,
        /// The unit: seconds or turns.
        what: &'static str,
    },
    /// A move or percept exceeds [`MAX_TERM`].
    #[error("a term in `{message}` has {n_bytes} bytes; the limit is {}", MAX_TERM)]
    LongTerm {
        /// The name of the message.
        message: &'static str,
        /// The length of the term.
        n_bytes: usize,
    },
    /// There are too many moves or percepts.
    #[error("`{message}` has more than {} terms", MAX_TERMS)]
    ManyTerms {
        /// The name of the message.
        message: &'static str,
    },
    /// A move or percept is not a term.
    #[error("`{text}` in `{message}` is not a term")]
    Term {
        /// The name of the message.
        message: &'static str,
        /// The text found.
        text: String,
    },
}

impl Request {
    /// Reads a message, in any letter case, with any white space, with or without the outer
    /// parentheses.
    ///
    /// # Errors
    /// When the message is unknown, or a required part is missing or unreadable.
    pub fn read(text: &str) -> Result<Self, ProtocolError> {
        let outer = first_elements(text, MAX_PARTS);
        let inner = outer.first().and_then(|first| inside(first));
        let parts = inner.map_or(outer, |list| first_elements(list, MAX_PARTS));
        let Some((word, args)) = parts.split_first() else {
            return Err(ProtocolError::Empty);
        };
        match word.to_ascii_lowercase().as_str() {
            "info" => Ok(Request::Info),
            "ping" => Ok(Request::Ping),
            "preview" => read_preview(args),
            "start" => read_start(args),
            "play" => {
                let (match_id, news) = read_step("play", args)?;
                Ok(Request::Play { match_id, news })
            }
            "stop" => {
                let (match_id, news) = read_step("stop", args)?;
                Ok(Request::Stop { match_id, news })
            }
            "abort" => {
                let [match_id] = parts_of("abort", "a match", args)?;
                Ok(Request::Abort { match_id: match_id.to_owned() })
            }
            _ => Err(ProtocolError::Unknown(shortened(word))),
        }
    }

    /// Returns the match that the message belongs to.
    pub fn match_id(&self) -> Option<&str> {
        match self {
            Request::Info | Request::Ping | Request::Preview { .. } => None,
            Request::Start { match_id, .. }
            | Request::Play { match_id, .. }
            | Request::Stop { match_id, .. }
            | Request::Abort { match_id } => Some(match_id),
        }
    }
}

fn read_preview(args: &[&str]) -> Result<Request, ProtocolError> {
    let [rules, clock] = parts_of("preview", "rules and a clock", args)?;
    Ok(Request::Preview { rules: rules_of(rules), clock: seconds("preview", clock)? })
}

fn read_start(args: &[&str]) -> Result<Request, ProtocolError> {
    let wanted = "a match, a role, rules and two clocks";
    let [match_id, role, rules, start_clock, play_clock] = parts_of("start", wanted, args)?;
    Ok(Request::Start {
        match_id: match_id.to_owned(),
        role: role.to_owned(),
        rules: rules_of(rules),
        start_clock: seconds("start", start_clock)?,
        play_clock: seconds("start", play_clock)?,
    })
}

/// Reads the parts of `play` and `stop`; their number tells GDL from GDL-II.
fn read_step(message: &'static str, args: &[&str]) -> Result<(String, News), ProtocolError> {
    match *args {
        [match_id, moves] => Ok((match_id.to_owned(), News::Joint(terms(message, moves)?))),
        [match_id, turn, last_move, percepts, ..] => {
            let last_move = match last_move.to_ascii_lowercase().as_str() {
                "nil" => None,
                _ => Some(term(message, last_move)?),
            };
            let turn = number(message, turn, "turns")?;
            let percepts = terms(message, percepts)?;
            Ok((match_id.to_owned(), News::Own { turn, last_move, percepts }))
        }
        _ => {
            let wanted = "a match and a joint move, or a match, a turn, a move and percepts";
            Err(ProtocolError::Parts { message, wanted, found: args.len() })
        }
    }
}

/// Returns the first `N` parts of a message and ignores the rest.
fn parts_of<'a, const N: usize>(
    message: &'static str,
    wanted: &'static str,
    args: &[&'a str],
) -> Result<[&'a str; N], ProtocolError> {
    let first = args.first_chunk::<N>().copied();
    first.ok_or(ProtocolError::Parts { message, wanted, found: args.len() })
}

/// Returns the rules without the outer parentheses.
fn rules_of(part: &str) -> String {
    inside(part).unwrap_or(part).trim().to_owned()
}

/// Reads a clock. Clocks are whole seconds by convention; rounding a fraction down is safe.
fn seconds(message: &'static str, text: &str) -> Result<u64, ProtocolError> {
    number(message, text.split_once('.').map_or(text, |(whole, _)| whole), "seconds")
}

fn number(message: &'static str, text: &str, what: &'static str) -> Result<u64, ProtocolError> {
    text.parse().map_err(|_| ProtocolError::Number { message, text: shortened(text), what })
}

/// Reads the terms of a list; a word in its place, such as `nil`, is an empty list.
fn terms(message: &'static str, part: &str) -> Result<Vec<Term>, ProtocolError> {
    let Some(list) = inside(part) else { return Ok(Vec::new()) };
    let elements = first_elements(list, MAX_TERMS + 1);
    if elements.len() > MAX_TERMS {
        return Err(ProtocolError::ManyTerms { message });
    }
    elements.into_iter().map(|element| term(message, element)).collect()
}

/// The word of a message and the parts that any message has; further parts are ignored.
const MAX_PARTS: usize = 6;

/// Most moves or percepts of a message. Known games have less than a hundred.
const MAX_TERMS: usize = 100_000;

fn term(message: &'static str, text: &str) -> Result<Term, ProtocolError> {
    if text.len() > MAX_TERM {
        return Err(ProtocolError::LongTerm { message, n_bytes: text.len() });
    }
    Term::read(text).ok_or_else(|| ProtocolError::Term { message, text: shortened(text) })
}

/// Shortens received text for an error message.
fn shortened(text: &str) -> String {
    const MAX_CHARS: usize = 60;
    crate::tokens::shortened(text, MAX_CHARS)
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Request::Info => write!(f, "( INFO )"),
            Request::Ping => write!(f, "( PING )"),
            Request::Preview { rules, clock } => {
                write!(f, "( PREVIEW {} {clock} )", wire_rules(rules))
            }
            Request::Start { match_id, role, rules, start_clock, play_clock } => {
                let rules = wire_rules(rules);
                write!(f, "( START {match_id} {role} {rules} {start_clock} {play_clock})")
            }
            Request::Play { match_id, news } => write!(f, "( PLAY {match_id} {news} )"),
            Request::Stop { match_id, news } => write!(f, "( STOP {match_id} {news} )"),
            Request::Abort { match_id } => write!(f, "( ABORT {match_id} )"),
        }
    }
}

impl fmt::Display for News {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            News::Joint(moves) if moves.is_empty() => write!(f, "NIL"),
            News::Joint(moves) => write_list(f, moves),
            News::Own { turn, last_move, percepts } => {
                write!(f, "{turn} ")?;
                match last_move {
                    Some(last_move) => write!(f, "{last_move} ")?,
                    None => write!(f, "NIL ")?,
                }
                write_list(f, percepts)
            }
        }
    }
}

/// Writes `(a b )`: a blank after each element and none after the parenthesis.
fn write_list(f: &mut fmt::Formatter<'_>, terms: &[Term]) -> fmt::Result {
    write!(f, "(")?;
    terms.iter().try_for_each(|term| write!(f, "{term} "))?;
    write!(f, ")")
}

/// Writes rules as a message has them: `(rule rule )` on one line, without comments, with a blank
/// between any two tokens of a rule.
pub fn wire_rules(rules: &str) -> String {
    let mut wire = String::with_capacity(rules.len() + rules.len() / 2);
    wire.push('(');
    for rule in elements(rules) {
        spaced(&mut wire, rule).expect("writing to a string cannot fail");
        wire.push(' ');
    }
    wire.push(')');
    wire
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str =
        "(role x) ; a comment (\n(<= (next (cell ?x x)) (does x (mark ?x)))\nterminal";
    const WIRE_RULES: &str =
        "(( role x ) ( <= ( next ( cell ?x x ) ) ( does x ( mark ?x ) ) ) terminal )";

    fn read(text: &str) -> Request {
        Request::read(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn terms(texts: &[&str]) -> Vec<Term> {
        texts.iter().map(|text| Term::read(text).expect("a term")).collect()
    }

    #[test]
    fn messages_are_written_to_the_blank() {
        let id = || "m.1".to_owned();
        let (rules, role) = (RULES.to_owned(), "x".to_owned());
        let joint = || News::Joint(terms(&["(mark 1 1)", "noop"]));
        let own = News::Own {
            turn: 3,
            last_move: Some(terms(&["call"]).remove(0)),
            percepts: terms(&["(card 1)", "b"]),
        };
        let first = News::Own { turn: 0, last_move: None, percepts: vec![] };
        let written = [
            (Request::Info, "( INFO )".to_owned()),
            (
                Request::Preview { rules: rules.clone(), clock: 30 },
                format!("( PREVIEW {WIRE_RULES} 30 )"),
            ),
            (
                Request::Start { match_id: id(), role, rules, start_clock: 30, play_clock: 15 },
                format!("( START m.1 x {WIRE_RULES} 30 15)"),
            ),
            (
                Request::Play { match_id: id(), news: News::Joint(vec![]) },
                "( PLAY m.1 NIL )".into(),
            ),
            (
                Request::Play { match_id: id(), news: joint() },
                "( PLAY m.1 (( mark 1 1 ) noop ) )".into(),
            ),
            (
                Request::Stop { match_id: id(), news: joint() },
                "( STOP m.1 (( mark 1 1 ) noop ) )".into(),
            ),
            (
                Request::Stop { match_id: id(), news: News::Joint(vec![]) },
                "( STOP m.1 NIL )".into(),
            ),
            (Request::Abort { match_id: id() }, "( ABORT m.1 )".into()),
            (Request::Play { match_id: id(), news: first }, "( PLAY m.1 0 NIL () )".into()),
            (
                Request::Stop { match_id: id(), news: own },
                "( STOP m.1 3 call (( card 1 ) b ) )".into(),
            ),
        ];
        for (request, text) in written {
            assert_eq!(request.to_string(), text);
            assert_eq!(read(&text).to_string(), text, "writing and reading agree");
        }
    }

    #[test]
    fn the_number_of_terms_is_limited() {
        let message = |n_terms: usize| format!("(PLAY m1 ({}))", "a ".repeat(n_terms));
        assert!(Request::read(&message(MAX_TERMS)).is_ok());
        let error = Request::read(&message(MAX_TERMS + 1)).expect_err("there are too many");
        assert_eq!(error.to_string(), "`play` has more than 100000 terms");
    }

    #[test]
    fn reading_is_tolerant() {
        let tolerated = [
            ("info", Request::Info),
            ("  (Info", Request::Info),
            ("(PING)", Request::Ping),
            ("(ABORT m 17)", Request::Abort { match_id: "m".into() }),
            ("(play m nil)", Request::Play { match_id: "m".into(), news: News::Joint(vec![]) }),
            ("(play m ())", Request::Play { match_id: "m".into(), news: News::Joint(vec![]) }),
            (
                "play m(a\r\n(b 1))",
                Request::Play { match_id: "m".into(), news: News::Joint(terms(&["a", "(b 1)"])) },
            ),
        ];
        for (text, request) in tolerated {
            assert_eq!(read(text), request, "{text}");
        }
        let Request::Start { rules, start_clock, role, .. } =
            read("(start M Role ((role Role) (init (p Q))) 10.9 5 extra)")
        else {
            panic!("it is a start");
        };
        assert_eq!((rules.as_str(), start_clock), ("(role Role) (init (p Q))", 10));
        assert_eq!(role, "Role", "letter case is kept");
    }

    #[test]
    fn rules_survive_the_wire() {
        let Request::Preview { rules, .. } = read(&format!("(preview {} 5)", wire_rules(RULES)))
        else {
            panic!("it is a preview");
        };
        assert_eq!(wire_rules(&rules), WIRE_RULES);
    }

    #[test]
    fn errors_say_what_is_wrong() {
        let wrong = [
            ("", "the message is empty"),
            ("()", "the message is empty"),
            ("(hello)", "unknown message `hello`"),
            (
                "(start m x (rules) 5)",
                "`start` needs a match, a role, rules and two clocks; found 4 parts",
            ),
            ("(start m x (rules) 5 soon)", "`soon` in `start` is not a number of seconds"),
            ("(play m)", "`play` needs"),
            ("(play m 1 (a))", "found 3 parts"),
            ("(play m one a (b))", "`one` in `play` is not a number of turns"),
            ("(play m (a ()))", "`()` in `play` is not a term"),
        ];
        for (text, words) in wrong {
            let error = Request::read(text).expect_err(text).to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
        let long = format!("(play m (({})))", "x".repeat(MAX_TERM));
        let error = Request::read(&long).expect_err("too long").to_string();
        assert!(error.contains("in `play` has 65538 bytes"), "{error}");
        let error = Request::read(&"x".repeat(1000)).expect_err("no message").to_string();
        assert!(error.len() < 300, "{error}");
    }
}
