//! The players there are: the flagship, and every search by its own name.

use std::fmt;

use ludex_macucb::{NETWORK_SEARCHES, NetworkSpec};
use ludex_search::options::{Options, Written, read_into};
use ludex_search::{Claim, GamesMeant, OptionError, OptionInfo, SEARCHES, SearchSpec};

use crate::flagship::FlagshipOptions;

/// Who plays.
#[derive(Clone)]
pub enum PlayerSpec {
    /// The player that chooses its searches by the game.
    Flagship(FlagshipOptions),
    /// One search, always.
    Search(SearchSpec),
    /// One search on networks, always.
    Network(NetworkSpec),
}

/// The name of the flagship.
pub const FLAGSHIP: &str = "ludex";

const FLAGSHIP_CLAIMS: &[Claim] =
    &[Claim::Legal, Claim::NeverLoses, Claim::BestGoal, Claim::HiddenInformation];

/// A player as lists show it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlayerInfo {
    /// Its name.
    pub name: &'static str,
    /// What it does, in a few words.
    pub summary: &'static str,
    /// The games it is meant for, in words.
    pub games: Vec<String>,
    /// What it claims; the conformance tests hold it against that.
    pub claims: Vec<&'static str>,
    /// Options with their defaults and what they do.
    pub options: Vec<(&'static str, String, &'static str)>,
}

/// All players, the flagship first.
pub fn players() -> Vec<PlayerInfo> {
    let mut all = vec![PlayerInfo {
        name: FLAGSHIP,
        summary: "chooses its searches by the game; hidden information by what its role has seen",
        games: vec!["any".into()],
        claims: FLAGSHIP_CLAIMS.iter().map(|claim| claim.name()).collect(),
        options: in_columns(FlagshipOptions::default().list()),
    }];
    let info = |name, summary, games: &GamesMeant, claims: &[Claim], options: Vec<OptionInfo>| {
        PlayerInfo {
            name,
            summary,
            games: games_in_words(games),
            claims: claims.iter().map(|claim| claim.name()).collect(),
            options: in_columns(options),
        }
    };
    all.extend(
        SEARCHES
            .iter()
            .map(|it| info(it.name, it.summary, &it.games, it.claims, it.spec().options())),
    );
    all.extend(
        NETWORK_SEARCHES
            .iter()
            .map(|it| info(it.name, it.summary, &it.games, it.claims, it.spec().options())),
    );
    all
}

fn in_columns(options: Vec<OptionInfo>) -> Vec<(&'static str, String, &'static str)> {
    options.into_iter().map(|it| (it.name, it.value, it.help)).collect()
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

impl PlayerSpec {
    /// Reads the name of a player, with options if it has any: `ludex`, `uct:c=0.7`.
    ///
    /// # Errors
    /// A name or option that does not exist, with its place.
    pub fn parse(text: &str) -> Result<Self, OptionError> {
        let name = text.split(':').next().unwrap_or("").trim();
        if name == FLAGSHIP {
            let mut options = FlagshipOptions::default();
            if let Some(colon) = text.find(':') {
                read_into(&mut options, text, colon + 1)?;
            }
            return Ok(PlayerSpec::Flagship(options));
        }
        if let Some(spec) = NetworkSpec::parse(text)? {
            return Ok(PlayerSpec::Network(spec));
        }
        SearchSpec::parse(text).map(PlayerSpec::Search).map_err(|error| {
            let is_name = !SEARCHES.iter().any(|entry| entry.name == name);
            let known: Vec<&str> = players().iter().map(|info| info.name).collect();
            let message = if is_name {
                format!("there is no player `{name}`; there are {}", known.join(", "))
            } else {
                error.message.clone()
            };
            OptionError { message, ..error }
        })
    }

    /// Whether it thinks before it moves.
    pub fn takes_time(&self) -> bool {
        self.name() != "random"
    }

    /// The name alone.
    pub fn name(&self) -> &'static str {
        match self {
            PlayerSpec::Flagship(_) => FLAGSHIP,
            PlayerSpec::Search(spec) => spec.entry().name,
            PlayerSpec::Network(spec) => spec.entry().name,
        }
    }
}

impl fmt::Display for PlayerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlayerSpec::Flagship(options) if *options == FlagshipOptions::default() => {
                f.write_str(FLAGSHIP)
            }
            PlayerSpec::Flagship(options) => write!(f, "{FLAGSHIP}:{}", Written(&options.list())),
            PlayerSpec::Search(spec) => spec.fmt(f),
            PlayerSpec::Network(spec) => spec.fmt(f),
        }
    }
}

impl fmt::Debug for PlayerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PlayerSpec({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_player_of_the_list_can_be_named() {
        for info in players() {
            let spec = PlayerSpec::parse(info.name).expect("it is in the list");
            assert_eq!(spec.name(), info.name);
            assert!(info.claims.contains(&"legal") && !info.games.is_empty(), "{info:?}");
        }
    }

    #[test]
    fn who_is_not_there_is_told_who_is() {
        let error = PlayerSpec::parse("deepblue").expect_err("nobody");
        assert!(error.message.contains("there are ludex, random"), "{error}");
        assert!(PlayerSpec::parse("ludex:c=1").is_err());
    }
}
