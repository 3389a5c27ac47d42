//! A move or a percept on the wire.

use std::fmt;

use crate::tokens::Tokens;

/// A ground term, such as a move, in the one form in which terms are compared: `(mark 1 1)`.
///
/// [`Display`](fmt::Display) writes it as the wire has it, with blanks inside the parentheses.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Term(String);

impl Term {
    /// Reads one term with nothing after it. `( noop )` is `noop`.
    pub fn read(text: &str) -> Option<Self> {
        let mut compact = String::with_capacity(text.len());
        let mut depth = 0_usize;
        let mut n_top = 0;
        for (_, token) in Tokens::new(text) {
            if depth == 0 {
                n_top += 1;
            }
            match token {
                "(" => {
                    separate(&mut compact);
                    compact.push('(');
                    depth += 1;
                }
                ")" => {
                    depth = depth.checked_sub(1)?;
                    close(&mut compact)?;
                }
                word => {
                    separate(&mut compact);
                    compact.push_str(word);
                }
            }
        }
        (depth == 0 && n_top == 1).then_some(Self(compact))
    }

    /// The term as rulesheets and games of Ludex write it: `(mark 1 1)`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Puts a blank between two elements of a list.
fn separate(compact: &mut String) {
    if !compact.is_empty() && !compact.ends_with('(') {
        compact.push(' ');
    }
}

/// Closes the list that is open; a list of one word becomes the word, and an empty list is no term.
fn close(compact: &mut String) -> Option<()> {
    if compact.ends_with('(') {
        return None;
    }
    let open = compact.rfind(['(', ')'])?;
    let last = &compact[open..];
    if last.starts_with('(') && !last.contains(' ') {
        compact.remove(open);
    } else {
        compact.push(')');
    }
    Some(())
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
    }

    #[test]
    fn what_is_no_term_is_none() {
        for text in ["", "()", "a b", "(a", "a)", "(a) b", "(f ())"] {
            assert_eq!(Term::read(text), None, "{text}");
        }
    }
}
