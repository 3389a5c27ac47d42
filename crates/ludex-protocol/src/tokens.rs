//! Splits text into words and parentheses, and lists into elements.
//!
//! Nothing here recurses, so no nesting is too deep.

use std::ops::Range;

/// Splits text into words and parentheses, each with its range.
///
/// A comment, from `;` to the end of its line, is skipped. Messages have no comments, and some
/// programs join lines, so a `;` without a line end after it is part of a word.
pub(crate) struct Tokens<'a> {
    text: &'a str,
    at: usize,
    /// End of the last complete line, if any. Found once, because a message may be full of `;`.
    last_line_end: Option<usize>,
}

impl<'a> Tokens<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0, last_line_end: text.rfind('\n') }
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = (Range<usize>, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let rest = &self.text[self.at..];
            let start = self.at + rest.find(|c: char| !is_blank(c))?;
            let rest = &self.text[start..];
            let length = match rest.as_bytes()[0] {
                b'(' | b')' => 1,
                b';' if self.last_line_end.is_some_and(|end| start < end) => {
                    self.at = start + rest.find('\n').expect("a line ends after it");
                    continue;
                }
                _ => rest.find(|c: char| is_blank(c) || c == '(' || c == ')').unwrap_or(rest.len()),
            };
            self.at = start + length;
            return Some((start..self.at, &self.text[start..self.at]));
        }
    }
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() || c.is_control() || c == '\u{feff}'
}

/// Returns the top-level elements of a text: words and whole lists.
///
/// An unclosed list goes to the end, and an unmatched closing parenthesis is skipped.
pub(crate) fn elements(text: &str) -> Vec<&str> {
    first_elements(text, usize::MAX)
}

/// Returns the first top-level elements of a text, at most this many.
///
/// A message of a stranger may have millions, which would take more memory than the message.
pub(crate) fn first_elements(text: &str, most: usize) -> Vec<&str> {
    let mut elements = Vec::new();
    let mut depth = 0_usize;
    let mut start = 0;
    for (range, token) in Tokens::new(text) {
        if elements.len() == most {
            return elements;
        }
        match token {
            "(" => {
                if depth == 0 {
                    start = range.start;
                }
                depth += 1;
            }
            ")" => {
                depth = depth.saturating_sub(1);
                if depth == 0 && text[start..].starts_with('(') && start < range.start {
                    elements.push(&text[start..range.end]);
                    start = range.end;
                }
            }
            word if depth == 0 => elements.push(word),
            _ => {}
        }
    }
    if depth > 0 && elements.len() < most {
        elements.push(&text[start..]);
    }
    elements
}

/// Returns the text between the parentheses of a list; `None` for a word.
pub(crate) fn inside(element: &str) -> Option<&str> {
    let inner = element.trim().strip_prefix('(')?;
    Some(inner.strip_suffix(')').unwrap_or(inner))
}

/// Shortens text to `max_chars` characters, and marks the cut with `…`.
pub fn shortened(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(elements(text), expected, "{text}");
    }

    #[test]
    fn words_and_lists_are_elements() {
        check("a (b (c) d) e", &["a", "(b (c) d)", "e"]);
        check("(a)(b)c(d)", &["(a)", "(b)", "c", "(d)"]);
        check("\r\n\t a\u{0}b ", &["a", "b"]);
        check("", &[]);
        assert_eq!(first_elements("a (b (c) d) e", 2), ["a", "(b (c) d)"]);
        assert_eq!(first_elements("a (b (c) d", 1), ["a"]);
    }

    #[test]
    fn parentheses_need_not_match() {
        check(") a ) (b) ) c", &["a", "(b)", "c"]);
        check("a (b (c", &["a", "(b (c"]);
        assert_eq!(inside("(b (c"), Some("b (c"));
        assert_eq!(inside("word"), None);
    }

    #[test]
    fn a_comment_ends_with_its_line() {
        check("a ; ( b\n c", &["a", "c"]);
        check("a ;b c", &["a", ";b", "c"]);
    }

    #[test]
    fn no_text_is_too_deep_or_too_odd() {
        let deep = "(".repeat(1_000_000);
        assert_eq!(elements(&deep).len(), 1);
        assert_eq!(elements(&"; ".repeat(1_000_000)).len(), 1_000_000);
    }
}
