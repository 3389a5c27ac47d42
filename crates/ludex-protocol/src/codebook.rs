//! A match under new names, so that a player cannot recognize the game.
//!
//! The manager sends rules, role and moves with new names, and translates the player's answers
//! back. Match ids, clocks and the names of messages stay.

use ludex_base::Seed;
use ludex_gdl::{Renaming, Rulesheet, print_kif};

use crate::term::Term;

/// The mapping of names in one match, the same for all its players.
#[derive(Clone, Debug)]
pub struct Codebook {
    rules: String,
    renaming: Option<Renaming>,
}

impl Codebook {
    /// Keeps all names.
    pub fn plain(sheet: &Rulesheet) -> Self {
        Self { rules: print_kif(sheet), renaming: None }
    }

    /// Replaces every name except the keywords of the language. The same seed gives the same names.
    pub fn scrambled(sheet: &Rulesheet, seed: Seed) -> Self {
        let (scrambled, renaming) = ludex_gdl::scramble(sheet, seed);
        Self { rules: print_kif(&scrambled), renaming: Some(renaming) }
    }

    /// Whether the codebook replaces names.
    pub fn is_scrambled(&self) -> bool {
        self.renaming.is_some()
    }

    /// Returns the rules as sent.
    pub fn rules(&self) -> &str {
        &self.rules
    }

    /// Returns the name of a role as sent.
    pub fn role(&self, name: &str) -> String {
        match &self.renaming {
            Some(renaming) => renaming.scrambled(name).to_owned(),
            None => name.to_owned(),
        }
    }

    /// Translates a move or percept of the game; returns `None` if the text is not a term.
    pub fn send(&self, text: &str) -> Option<Term> {
        match &self.renaming {
            Some(renaming) => Term::read(&renaming.scramble_term(text)),
            None => Term::read(text),
        }
    }

    /// Translates a player's answer back to the names of the game.
    ///
    /// New names are lower case, and the player may answer in any letter case; unknown words stay
    /// as they are.
    pub fn receive(&self, answer: &Term) -> Term {
        let Some(renaming) = &self.renaming else { return answer.clone() };
        let original = renaming.unscramble_term(&answer.as_str().to_lowercase());
        Term::read(&original).unwrap_or_else(|| answer.clone())
    }
}

#[cfg(test)]
mod tests {
    use ludex_base::Source;

    use super::*;

    fn sheet() -> Rulesheet {
        let rules = "(role White) (role random) (init (Cell 1 b)) (legal White (Mark 1 b))
            (<= (goal White 100) (true (Cell 1 b)))";
        ludex_gdl::parse(&Source::new("test", rules)).0
    }

    #[test]
    fn a_plain_match_is_sent_as_it_is() {
        let book = Codebook::plain(&sheet());
        assert!(book.rules().contains("(Cell 1 b)") && !book.is_scrambled());
        let term = book.send("(Mark 1 b)").expect("a term");
        assert_eq!((term.as_str(), &book.receive(&term)), ("(Mark 1 b)", &term));
    }

    #[test]
    fn a_scrambled_match_comes_back_in_any_letter_case() {
        let book = Codebook::scrambled(&sheet(), Seed(3));
        for name in ["Cell", "White", "Mark"] {
            assert!(!book.rules().contains(name), "{}", book.rules());
        }
        assert!(book.rules().contains(&book.role("White")));
        assert_eq!(book.role("random"), "random");
        let sent = book.send("(Mark 1 b)").expect("a term");
        assert_eq!(sent.as_str(), sent.as_str().to_lowercase());
        let shouted = Term::read(&sent.as_str().to_uppercase()).expect("a term");
        assert_eq!(book.receive(&shouted).as_str(), "(Mark 1 b)");
        assert_eq!(book.receive(&Term::read("busy").expect("a term")).as_str(), "busy");
    }
}
