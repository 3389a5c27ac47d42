//! The searches on networks: one plain list, in the order help texts show it.

use std::sync::Arc;

use ludex_game::{Playouts, StateOf};
use ludex_search::options::{Options, Written, read_into};
use ludex_search::{Claim, GamesMeant, OptionError, OptionInfo, Searcher};

use crate::faithful::{Faithful, FaithfulOptions, Method, Order, PlayedBy};
use crate::improved::{Improved, ImprovedOptions};
use crate::rules::Networks;

/// Every search on networks.
pub static NETWORK_SEARCHES: &[NetworkEntry] = &[
    NetworkEntry {
        name: "mac-ucb",
        summary: "a tree search that closes subtrees by consistency of networks; `faithful` solves networks only",
        games: GamesMeant::COMPLETE,
        claims: &[Claim::Legal, Claim::NeverLoses, Claim::BestGoal],
        preset: || Plan::Mac(MacOptions::default()),
    },
    NetworkEntry {
        name: "fc-ucb",
        summary: "mac-ucb as it was published, with forward checking in place of consistency",
        games: GamesMeant::COMPLETE,
        claims: FAITHFUL_CLAIMS,
        preset: || Plan::Forward(ForwardOptions::default()),
    },
];

/// What a search promises that takes all others for enemies and may see little in its time.
const FAITHFUL_CLAIMS: &[Claim] = &[Claim::Legal];

ludex_search::search_options! {
    /// Options of `mac-ucb`.
    pub struct MacOptions {
        /// as it was published: networks are solved, best first
        faithful: bool = false,
        /// faithful: the part of the time in which networks are solved; the rest is for playouts
        ratio: f64 = 0.9,
        /// faithful: exploration constant, before √(2 ln n / nᵢ) for rewards from 0 to 1
        c: f64 = 1.0,
        /// faithful: whose reward orders the list, mover or own
        order: Order = Order::Mover,
        /// faithful: what plays games out, network or machine
        playouts: PlayedBy = PlayedBy::Network,
        /// the part of the time that networks may take while they close subtrees
        share: f64 = 0.1,
        /// visits at which a node of the tree is asked about
        visits: usize = 64,
    }
}

ludex_search::search_options! {
    /// Options of `fc-ucb`.
    pub struct ForwardOptions {
        /// the part of the time in which networks are solved; the rest is for playouts
        ratio: f64 = 0.9,
        /// exploration constant, before √(2 ln n / nᵢ) for rewards from 0 to 1
        c: f64 = 1.0,
        /// whose reward orders the list, mover or own
        order: Order = Order::Mover,
        /// what plays games out, network or machine
        playouts: PlayedBy = PlayedBy::Network,
    }
}

/// A search on networks by name.
pub struct NetworkEntry {
    /// The name people write.
    pub name: &'static str,
    /// What it does, in a few words.
    pub summary: &'static str,
    /// The games it is meant for. It gives a legal move in any other game too.
    pub games: GamesMeant,
    /// What it is held against by `tests/searchers.rs`.
    pub claims: &'static [Claim],
    preset: fn() -> Plan,
}

impl NetworkEntry {
    /// The search with the options it has by default.
    pub fn spec(&'static self) -> NetworkSpec {
        NetworkSpec { entry: self, plan: (self.preset)() }
    }
}

/// The entry of this name.
pub fn find(name: &str) -> Option<&'static NetworkEntry> {
    NETWORK_SEARCHES.iter().find(|entry| entry.name == name)
}

/// A search on networks with its options: what `mac-ucb:faithful,ratio=0.5` describes.
#[derive(Clone)]
pub struct NetworkSpec {
    entry: &'static NetworkEntry,
    plan: Plan,
}

#[derive(Clone, Debug)]
enum Plan {
    Mac(MacOptions),
    Forward(ForwardOptions),
}

impl NetworkSpec {
    /// Reads a name, or a name with options; `None` when no search on networks has this name.
    ///
    /// # Errors
    /// An option that does not exist, or a value that can't be read, with its place.
    pub fn parse(text: &str) -> Result<Option<Self>, OptionError> {
        let name_end = text.find(':').unwrap_or(text.len());
        let Some(entry) = find(text[..name_end].trim()) else { return Ok(None) };
        let mut spec = entry.spec();
        if name_end < text.len() {
            let options: &mut dyn Options = match &mut spec.plan {
                Plan::Mac(options) => options,
                Plan::Forward(options) => options,
            };
            read_into(options, text, name_end + 1)?;
        }
        Ok(Some(spec))
    }

    /// The entry it was made from.
    pub fn entry(&self) -> &'static NetworkEntry {
        self.entry
    }

    /// What it promises with these options.
    pub fn claims(&self) -> &'static [Claim] {
        match &self.plan {
            Plan::Mac(options) if options.faithful => FAITHFUL_CLAIMS,
            _ => self.entry.claims,
        }
    }

    /// All options with their values.
    pub fn options(&self) -> Vec<OptionInfo> {
        match &self.plan {
            Plan::Mac(options) => options.list(),
            Plan::Forward(options) => options.list(),
        }
    }

    /// A searcher for a game with its networks, which the searchers of a match share. Copies of the
    /// game must be cheap.
    pub fn build<G>(
        &self,
        game: &G,
        networks: &Arc<Networks<StateOf<G>>>,
    ) -> Box<dyn Searcher<G::Cursor> + Send>
    where
        G: Playouts + Clone + 'static,
    {
        let name = self.entry.name;
        match &self.plan {
            Plan::Mac(it) if !it.faithful => {
                let options = ImprovedOptions { share: it.share, visits: it.visits.max(1) };
                Box::new(Improved::new(name, game, networks, options))
            }
            Plan::Mac(it) => {
                let options = FaithfulOptions {
                    method: Method::Mac,
                    ratio: it.ratio.min(1.0),
                    c: it.c,
                    order: it.order,
                    playouts: it.playouts,
                };
                Box::new(Faithful::new(name, game, networks, options))
            }
            Plan::Forward(it) => {
                let options = FaithfulOptions {
                    method: Method::ForwardChecking,
                    ratio: it.ratio.min(1.0),
                    c: it.c,
                    order: it.order,
                    playouts: it.playouts,
                };
                Box::new(Faithful::new(name, game, networks, options))
            }
        }
    }
}

impl std::fmt::Display for NetworkSpec {
    /// The name with every option, so that [`NetworkSpec::parse`] gives the same search.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.entry.name, Written(&self.options()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_search_reads_what_it_writes() {
        for text in ["mac-ucb", "fc-ucb", "mac-ucb:faithful", "mac-ucb:faithful,ratio=0.5"] {
            let spec = NetworkSpec::parse(text).expect("good options").expect("it is there");
            let written = spec.to_string();
            let read = NetworkSpec::parse(&written).expect("good options").expect("it is there");
            assert_eq!(read.to_string(), written);
            assert!(spec.claims().contains(&Claim::Legal));
        }
        assert!(NetworkSpec::parse("uct").expect("another search").is_none());
        assert!(NetworkSpec::parse("mac-ucb:unfaithful").is_err());
        assert!(NetworkSpec::parse("fc-ucb:faithful").is_err());
    }
}
