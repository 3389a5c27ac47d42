//! A move or a percept on the wire.

use std::fmt;

use crate::tokens::Tokens;

/// A ground term, such as a move, in the one form in which terms are compared: `(mark 1 1)`.
///
/// [`Display`](fmt::Display) writes it as the wire has it, with blanks inside the parentheses.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Term(String);

/// Longest term read from a message, in bytes. Moves of known games have less than a hundred.
pub const MAX_TERM: usize = 64 << 10;

/// An open list: the position of its parenthesis and its elements so far.
struct Open {
    at: usize,
    n_elements: usize,
    /// Whether the last element is a word.
    is_word: bool,
}

impl Term {
    /// Reads one term with nothing after it. `( noop )` is `noop`.
    pub fn read(text: &str) -> Option<Self> {
        let mut tokens: Vec<&str> = Vec::new();
        // An outer list around everything, which is never written.
        let mut open = vec![Open { at: 0, n_elements: 0, is_word: false }];
        for (_, token) in Tokens::new(text) {
            let mut is_word = false;
            match token {
                "(" => {
                    open.push(Open { at: tokens.len(), n_elements: 0, is_word });
                    tokens.push(token);
                    continue;
                }
                ")" => {
                    let closed = open.pop()?;
                    match closed.n_elements {
                        0 => return None,
                        // A list of one word is the word.
                        1 if closed.is_word => {
                            tokens[closed.at] = "";
                            is_word = true;
                        }
                        _ => tokens.push(token),
                    }
                }
                word => {
                    tokens.push(word);
                    is_word = true;
                }
            }
            let around = open.last_mut()?;
            around.n_elements += 1;
            around.is_word = is_word;
        }
        let is_whole = matches!(open[..], [Open { n_elements: 1, .. }]);
        is_whole.then(|| Self(compact(&tokens, text.len())))
    }

    /// Returns the term as rulesheets and games of Ludex write it: `(mark 1 1)`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Writes tokens with a blank between two elements of a list, and nowhere else.
fn compact(tokens: &[&str], n_bytes: usize) -> String {
    let mut compact = String::with_capacity(n_bytes);
    for token in tokens.iter().filter(|token| !token.is_empty()) {
        if *token != ")" && !compact.is_empty() && !compact.ends_with('(') {
            compact.push(' ');
        }
        compact.push_str(token);
    }
    compact
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        spaced(f, &self.0)
    }
}

/// Writes tokens with a blank between any two.
pub(crate) fn spaced(f: &mut impl fmt::Write, text: &str) -> fmt::Result {
    for (idx, (_, token)) in Tokens::new(text).enumerate() {
        let blank = if idx == 0 { "" } else { " " };
        write!(f, "{blank}{token}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, compact: &str, wire: &str) {
        let term = Term::read(text).unwrap_or_else(|| panic!("{text} is a term"));
        assert_eq!((term.as_str(), term.to_string().as_str()), (compact, wire));
    }

    #[test]
    fn terms_have_one_form() {
        check("( mark 1\n1 )", "(mark 1 1)", "( mark 1 1 )");
        check(
            "(move (cell 1 2)(cell 3 4))",
            "(move (cell 1 2) (cell 3 4))",
            "( move ( cell 1 2 ) ( cell 3 4 ) )",
        );
        check("noop", "noop", "noop");
        check("( noop )", "noop", "noop");
        check("((noop))", "noop", "noop");
        check("(f (a) b)", "(f a b)", "( f a b )");
        check("((f a))", "((f a))", "( ( f a ) )");
    }

    #[test]
    fn a_term_is_read_in_linear_time() {
        const DEPTH: usize = 300_000;
        let (open, close) = ("(".repeat(DEPTH), ")".repeat(DEPTH));
        let begun = std::time::Instant::now();
        let nested = Term::read(&format!("{open}a b{close}")).expect("a term");
        assert_eq!(nested.as_str().len(), 2 * DEPTH + 3);
        assert_eq!(Term::read(&format!("{open}a{close}")).expect("a term").as_str(), "a");
        let flat = Term::read(&format!("(f {})", "(g) (h 1) ".repeat(DEPTH))).expect("a term");
        assert!(flat.as_str().starts_with("(f g (h 1) g (h 1)"));
        // A few milliseconds; quadratic time would be minutes, so a busy machine passes too.
        let time = begun.elapsed();
        assert!(time < std::time::Duration::from_secs(20), "{time:?}");
    }

    #[test]
    fn malformed_terms_are_none() {
        for text in ["", "()", "a b", "(a", "a)", "(a) b", "(f ())", ")", "(a))"] {
            assert_eq!(Term::read(text), None, "{text}");
        }
    }
}
