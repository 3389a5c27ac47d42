//! Files with the state of a game: its true fluents, in prefix form.
//!
//! ```text
//! ; A comment ends with the line.
//! (cell 1 1 x)
//! (true (control oplayer))
//! ```

use std::fs;
use std::path::Path;

use ludex_base::{BitSet, FluentId};
use ludex_machine::Machine;
use ludex_reasoner::{Reasoner, ReasonerState};

use crate::failure::Failure;

/// The fluents of a file, with the lines on which they begin.
pub struct StateFile {
    path: String,
    fluents: Vec<(usize, String)>,
}

impl StateFile {
    /// Reads a file. A fluent may be wrapped in `true` or `init`.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let text = fs::read_to_string(path).map_err(|error| Failure::File {
            path: path.display().to_string(),
            code: "unreadable",
            line: None,
            message: error.to_string(),
        })?;
        let path = path.display().to_string();
        match fluents_of(&text) {
            Ok(fluents) => Ok(Self { path, fluents }),
            Err(line) => Err(Failure::File {
                path,
                code: "parenthesis",
                line: Some(line),
                message: "this parenthesis has no partner".into(),
            }),
        }
    }

    /// Returns the texts of the fluents, sorted, each once.
    pub fn texts(&self) -> Vec<String> {
        let mut texts: Vec<String> = self.fluents.iter().map(|it| it.1.clone()).collect();
        texts.sort_unstable();
        texts.dedup();
        texts
    }

    /// Returns the state of a machine with these fluents.
    pub fn for_machine(&self, game: &Machine) -> Result<BitSet, Failure> {
        let vocabulary = &game.circuit().vocabulary;
        let n_fluents = vocabulary.fluents.len();
        let texts: Vec<String> =
            (0..n_fluents).map(|idx| vocabulary.fluent_text(FluentId::new(idx))).collect();
        let mut state = BitSet::new(n_fluents);
        for (line, fluent) in &self.fluents {
            let place = texts.binary_search(fluent).map_err(|_| self.unknown(*line, fluent))?;
            state.insert(place);
        }
        Ok(state)
    }

    /// Returns the state of a reasoner with these fluents.
    pub fn for_reasoner(&self, game: &Reasoner) -> Result<ReasonerState, Failure> {
        for (line, fluent) in &self.fluents {
            let known = game.find_state(std::slice::from_ref(fluent));
            known.ok_or_else(|| self.unknown(*line, fluent))?;
        }
        Ok(game.find_state(&self.texts()).expect("every fluent is known"))
    }

    fn unknown(&self, line: usize, fluent: &str) -> Failure {
        Failure::File {
            path: self.path.clone(),
            code: "unknown-fluent",
            line: Some(line),
            message: format!(
                "no state of the game contains `{fluent}`; write fluents as the rules of `init` do"
            ),
        }
    }
}

/// Returns the terms of a text in their usual form, with their lines; the line of a parenthesis
/// without a partner if there is one.
fn fluents_of(text: &str) -> Result<Vec<(usize, String)>, usize> {
    let mut fluents = Vec::new();
    // The term that is being read, and the lines of its open parentheses.
    let (mut term, mut open) = (String::new(), Vec::new());
    for (idx, line) in text.lines().enumerate() {
        let line_number = idx + 1;
        let line = line.split(';').next().unwrap_or("");
        let spaced = line.replace('(', " ( ").replace(')', " ) ");
        for word in spaced.split_whitespace() {
            let needs_blank = word != ")" && !term.is_empty() && !term.ends_with('(');
            if needs_blank {
                term.push(' ');
            }
            term.push_str(word);
            match word {
                "(" => open.push(line_number),
                ")" => drop(open.pop().ok_or(line_number)?),
                _ => {}
            }
            if open.is_empty() {
                fluents.push((line_number, unwrapped(&std::mem::take(&mut term)).to_owned()));
            }
        }
    }
    open.first().map_or(Ok(fluents), |&line| Err(line))
}

/// Removes `true` or `init` around a fluent.
fn unwrapped(term: &str) -> &str {
    let inner = term.strip_prefix("(true ").or_else(|| term.strip_prefix("(init "));
    inner.and_then(|inner| inner.strip_suffix(')')).unwrap_or(term)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fluents_are_read_in_their_usual_form() {
        let text = "; a comment\n(cell 1 1 x) (true ( control\n  oplayer))\nopen (init (step 3))";
        let fluents = fluents_of(text).expect("the parentheses match");
        let expected =
            [(2, "(cell 1 1 x)"), (3, "(control oplayer)"), (4, "open"), (4, "(step 3)")];
        assert_eq!(fluents, expected.map(|(line, fluent)| (line, fluent.to_owned())));
    }

    #[test]
    fn parentheses_without_partners_are_found() {
        assert_eq!(fluents_of("(a)\n(b))"), Err(2));
        assert_eq!(fluents_of("\n(a (b)"), Err(2));
    }
}
