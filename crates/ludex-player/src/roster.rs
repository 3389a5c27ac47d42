//! The list of players: the flagship, and every search under its own name.

use std::fmt;

use ludex_macucb::{NETWORK_SEARCHES, NetworkIngredients, NetworkSearch};
use ludex_search::{Claim, GamesMeant, OptionError, OptionInfo, PlainSearch, SEARCHES, SearchSpec};

use ludex_search::options::Options;

use crate::flagship::FlagshipOptions;

ludex_search::search_enum! {
    /// Any search.
    pub enum AnySearch from NetworkIngredients {
        /// A search that needs only the game.
        Plain(PlainSearch),
        /// A search on constraint networks.
        Network(NetworkSearch),
    }
}

ludex_search::options_enum! {
    /// How a player chooses its moves.
    pub(crate) enum PlayedBy {
        /// By the searches that suit the game.
        Flagship(FlagshipOptions),
        /// By one search.
        Search(AnySearch),
        /// By one search on states folded by symmetries.
        Folded(FoldedSearch),
    }
}

/// A search on states folded by symmetries.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct FoldedSearch(pub(crate) AnySearch);

impl FoldedSearch {
    /// The search to run, and whether on folded states: the published search has a table of
    /// symmetric networks instead.
    pub(crate) fn search(&self) -> (AnySearch, bool) {
        match &self.0 {
            AnySearch::Network(NetworkSearch::Mac(options)) if options.is_faithful() => {
                let options = options.clone().with_symmetries();
                (AnySearch::Network(NetworkSearch::Mac(options)), false)
            }
            search => (search.clone(), true),
        }
    }
}

impl Options for FoldedSearch {
    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        self.0.set(name, value)
    }

    fn list(&self) -> Vec<OptionInfo> {
        self.0.list()
    }
}

/// The searches that can also be had on folded states: their names, those on folded states, and
/// what these do.
const FOLDED: [(&str, &str, &str); 5] = [
    ("uct", "uct-sym", "`uct` on states folded by the symmetries of the game"),
    ("grave", "grave-sym", "`grave` on states folded by the symmetries of the game"),
    ("alphabeta", "alphabeta-sym", "`alphabeta` on states folded by the symmetries of the game"),
    ("cfr", "cfr-sym", "`cfr` on states folded by the symmetries of the game"),
    (
        "mac-ucb",
        "mac-ucb-sym",
        "`mac-ucb` on states folded by the symmetries of the game; `faithful` is the published search, with a table of symmetric networks",
    ),
];

/// The searches on folded states.
fn folded_searches() -> impl Iterator<Item = SearchSpec<PlayedBy>> {
    searches().filter_map(|spec| {
        let &(_, name, summary) = FOLDED.iter().find(|(of, _, _)| *of == spec.name)?;
        let search = PlayedBy::Folded(FoldedSearch(spec.search));
        Some(SearchSpec { name, summary, games: spec.games, claims: spec.claims, search })
    })
}

/// Every search, in the order of the help texts.
pub fn searches() -> impl Iterator<Item = SearchSpec<AnySearch>> {
    SEARCHES.iter().map(SearchSpec::of).chain(NETWORK_SEARCHES.iter().map(SearchSpec::of))
}

/// The name of the flagship.
pub const FLAGSHIP: &str = "ludex";

const FLAGSHIP_SPEC: SearchSpec<PlayedBy> = SearchSpec {
    name: FLAGSHIP,
    summary: "studies the game and chooses the searches that suit it, also for hidden information",
    games: GamesMeant::ANY,
    claims: &[Claim::Legal, Claim::NeverLoses, Claim::BestGoal, Claim::HiddenInformation],
    search: PlayedBy::Flagship(FlagshipOptions::DEFAULT),
};

/// All players, the flagship first.
fn roster() -> Vec<SearchSpec<PlayedBy>> {
    let plain = searches().map(|spec| spec.of());
    std::iter::once(FLAGSHIP_SPEC).chain(plain).chain(folded_searches()).collect()
}

/// A player with its options.
#[derive(Clone)]
pub struct PlayerSpec(SearchSpec<PlayedBy>);

impl PlayerSpec {
    /// Parses the name of a player with optional options: `ludex`, `uct:c=0.7`.
    ///
    /// # Errors
    /// An unknown name or option, with its place in the text.
    pub fn parse(text: &str) -> Result<Self, OptionError> {
        SearchSpec::parse_in(&roster(), "player", text).map(Self)
    }

    /// Whether it uses its clock: every player but `random`.
    pub fn takes_time(&self) -> bool {
        self.name() != "random"
    }

    /// The name without options.
    pub fn name(&self) -> &'static str {
        self.0.name
    }

    /// How it chooses its moves.
    pub(crate) fn played_by(&self) -> &PlayedBy {
        &self.0.search
    }
}

impl fmt::Display for PlayerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == FLAGSHIP_SPEC { f.write_str(FLAGSHIP) } else { self.0.fmt(f) }
    }
}

impl fmt::Debug for PlayerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PlayerSpec({self})")
    }
}

/// An entry of the list of players.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlayerInfo {
    /// Its name.
    pub name: &'static str,
    /// What it does, in a few words.
    pub summary: &'static str,
    /// The games it is meant for, in words.
    pub games: Vec<String>,
    /// Its claims, which the conformance tests check.
    pub claims: Vec<&'static str>,
    /// Name, default and help of each option.
    pub options: Vec<(&'static str, String, &'static str)>,
}

/// All players, the flagship first.
pub fn players() -> Vec<PlayerInfo> {
    let info = |spec: SearchSpec<PlayedBy>| PlayerInfo {
        name: spec.name,
        summary: spec.summary,
        games: games_in_words(&spec.games),
        claims: spec.claims.iter().map(|claim| claim.name()).collect(),
        options: in_columns(spec.options()),
    };
    roster().into_iter().map(info).collect()
}

fn in_columns(options: Vec<OptionInfo>) -> Vec<(&'static str, String, &'static str)> {
    options.into_iter().map(|info| (info.name, info.value, info.help)).collect()
}

fn games_in_words(games: &GamesMeant) -> Vec<String> {
    if *games == GamesMeant::ANY {
        return vec!["any".into()];
    }
    let roles = match (games.min_roles, games.max_roles) {
        (1, usize::MAX) => "any number of roles".into(),
        (min, usize::MAX) => format!("{min} roles or more"),
        (min, max) if min == max => format!("{min} role{}", if min == 1 { "" } else { "s" }),
        (min, max) => format!("{min} to {max} roles"),
    };
    let abilities = [
        (games.simultaneous, "simultaneous moves"),
        (games.chance, "chance"),
        (games.hidden_information, "hidden information"),
    ];
    let able = abilities.into_iter().filter(|(is_able, _)| *is_able);
    std::iter::once(roles).chain(able.map(|(_, words)| words.to_string())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_name_parses() {
        for info in players() {
            let spec = PlayerSpec::parse(info.name).expect("it is in the list");
            assert_eq!(spec.name(), info.name);
            assert!(info.claims.contains(&"legal") && !info.games.is_empty(), "{info:?}");
        }
    }

    #[test]
    fn an_unknown_name_is_an_error_that_lists_the_players() {
        let error = PlayerSpec::parse("deepblue").expect_err("there is no such player");
        assert!(error.message.contains("there are ludex, random"), "{error}");
        assert!(PlayerSpec::parse("ludex:c=1").is_err());
    }
}
