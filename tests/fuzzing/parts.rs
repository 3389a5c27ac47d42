//! Rulesheets as lists of words, which can be changed anywhere.

use std::fmt;

/// A word, or a list of parts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Part {
    /// A name, a number or a variable.
    Word(String),
    /// Parts in parentheses.
    List(Vec<Part>),
}

impl Part {
    /// A word.
    pub fn word(text: impl Into<String>) -> Self {
        Part::Word(text.into())
    }

    /// Whether it is a variable.
    pub fn is_variable(&self) -> bool {
        matches!(self, Part::Word(word) if word.starts_with('?'))
    }

    /// Whether it is a list that begins with this word.
    pub fn begins_with(&self, first: &str) -> bool {
        matches!(self, Part::List(parts) if matches!(parts.first(), Some(Part::Word(word)) if word == first))
    }

    /// The number of parts in it, itself included.
    pub fn n_parts(&self) -> usize {
        match self {
            Part::Word(_) => 1,
            Part::List(parts) => 1 + parts.iter().map(Part::n_parts).sum::<usize>(),
        }
    }

    /// The part with this number, counted in the order of the text from 0.
    pub fn nth_mut(&mut self, n: usize) -> Option<&mut Part> {
        if n == 0 {
            return Some(self);
        }
        let Part::List(parts) = self else { return None };
        let mut left = n - 1;
        for part in parts {
            let size = part.n_parts();
            if left < size {
                return part.nth_mut(left);
            }
            left -= size;
        }
        None
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Word(word) => f.write_str(word),
            Part::List(parts) => {
                f.write_str("(")?;
                for (place, part) in parts.iter().enumerate() {
                    f.write_str(if place == 0 { "" } else { " " })?;
                    write!(f, "{part}")?;
                }
                f.write_str(")")
            }
        }
    }
}

/// Reads the clauses of a rulesheet in prefix form. Lists that do not end are ended, and what is closed
/// twice is ignored.
pub fn read(text: &str) -> Vec<Part> {
    let mut open: Vec<Vec<Part>> = vec![Vec::new()];
    for line in text.lines() {
        let line = line.split(';').next().unwrap_or("");
        let spaced = line.replace('(', " ( ").replace(')', " ) ");
        for word in spaced.split_whitespace() {
            match word {
                "(" => open.push(Vec::new()),
                ")" => close(&mut open),
                _ => open.last_mut().expect("the sheet is never closed").push(Part::word(word)),
            }
        }
    }
    while open.len() > 1 {
        close(&mut open);
    }
    open.remove(0)
}

fn close(open: &mut Vec<Vec<Part>>) {
    if open.len() > 1
        && let Some(parts) = open.pop()
        && let Some(outer) = open.last_mut()
    {
        outer.push(Part::List(parts));
    }
}

/// Writes clauses, one per line.
pub fn write(clauses: &[Part]) -> String {
    clauses.iter().map(|clause| format!("{clause}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_written_as_they_were_read() {
        let clauses = read("(role p) ; comment\n(<= (next (f ?x)) (true ?x)) terminal (a (b");
        assert_eq!(write(&clauses), "(role p)\n(<= (next (f ?x)) (true ?x))\nterminal\n(a (b))\n");
        assert_eq!(clauses[1].n_parts(), 10);
        let mut rule = clauses[1].clone();
        assert_eq!(rule.nth_mut(6).map(|part| part.to_string()).as_deref(), Some("?x"));
        assert_eq!(rule.nth_mut(10), None);
    }
}
