//! A search by name with its options, such as `uct:c=0.7,threads=2`.

use std::fmt;

use crate::claims::{Claim, GamesMeant};
use crate::ingredients::{HiddenSearcher, Ingredients, OpenSearcher, Search};
use crate::options::{OptionError, OptionInfo, Options, Written, read_into};
use crate::registry::{FORMER_NAMES, PlainSearch, SEARCHES};

/// A named search with its options.
///
/// A registry is a list of these, each with the options that its name stands for.
#[derive(Clone, PartialEq, Debug)]
pub struct SearchSpec<S = PlainSearch> {
    /// The name that users write.
    pub name: &'static str,
    /// A summary in a few words.
    pub summary: &'static str,
    /// The games it is meant for. In any other game it still returns a legal move.
    pub games: GamesMeant,
    /// The promises that `tests/searchers.rs` checks.
    pub claims: &'static [Claim],
    /// The kind of search, with its options.
    pub search: S,
}

impl SearchSpec {
    /// Parses the name of a search of this crate, or a name with options: `uct:c=0.7,threads=2`.
    ///
    /// # Errors
    /// If the name or an option does not exist or a value is invalid, with its position.
    pub fn parse(text: &str) -> Result<Self, OptionError> {
        Self::parse_in(SEARCHES, "search", text)
    }
}

impl<S: Options + Clone> SearchSpec<S> {
    /// Parses a name of `list`, or a name with options. Error messages call the names of the list
    /// `kind`.
    ///
    /// # Errors
    /// If the name or an option does not exist or a value is invalid, with its position.
    pub fn parse_in(list: &[Self], kind: &str, text: &str) -> Result<Self, OptionError> {
        let name_end = text.find(':').unwrap_or(text.len());
        let name = text[..name_end].trim();
        let Some(entry) = list.iter().find(|entry| entry.name == name) else {
            let message = unknown_name(list, kind, name);
            return Err(OptionError { text: text.into(), span: 0..name_end, message });
        };
        let mut spec = entry.clone();
        if name_end < text.len() {
            read_into(&mut spec.search, text, name_end + 1)?;
        }
        Ok(spec)
    }

    /// Converts the search to an entry of another list.
    pub fn of<T>(&self) -> SearchSpec<T>
    where
        T: From<S>,
    {
        let Self { name, summary, games, claims, ref search } = *self;
        SearchSpec { name, summary, games, claims, search: search.clone().into() }
    }

    /// Returns all options with their values.
    pub fn options(&self) -> Vec<OptionInfo> {
        self.search.list()
    }

    /// Builds a searcher for a game whose state is known.
    pub fn build<I>(&self, from: &I) -> OpenSearcher<I::Game>
    where
        I: Ingredients,
        S: Search<I>,
    {
        self.search.build(self.name, from)
    }

    /// Builds a searcher for a role that does not see the state.
    pub fn build_informed<I>(&self, from: &I) -> HiddenSearcher<I::Game>
    where
        I: Ingredients,
        S: Search<I>,
    {
        self.search.build_informed(self.name, from)
    }
}

fn unknown_name<S>(list: &[SearchSpec<S>], kind: &str, name: &str) -> String {
    if let Some((_, now)) = FORMER_NAMES.iter().find(|(former, _)| *former == name) {
        return format!("there is no {kind} `{name}` any more; use `{now}`");
    }
    let known: Vec<&str> = list.iter().map(|entry| entry.name).collect();
    format!("there is no {kind} `{name}`; there are {}", known.join(", "))
}

impl<S: Options> fmt::Display for SearchSpec<S> {
    /// Writes the name with every option; parsing that returns the same search.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let options = self.search.list();
        let colon = if options.is_empty() { "" } else { ":" };
        write!(f, "{}{colon}{}", self.name, Written(&options))
    }
}
