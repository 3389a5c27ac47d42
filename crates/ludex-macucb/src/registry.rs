//! The searches on networks: one plain list, in the order help texts show it.

use std::sync::Arc;

use ludex_game::{Describe, Observe, Playouts, StateOf};
use ludex_search::hyperplay::HyperPlay;
use ludex_search::options::{Options, Written, read_into};
use ludex_search::{Claim, GamesMeant, InformationSearcher, OptionError, OptionInfo, Searcher};

use crate::faithful::{Faithful, FaithfulOptions, Method, Order, PlayedBy};
use crate::improved::{Improved, ImprovedOptions};
use crate::informed::{Informed, OpenStates, PlanOptions, Shared};
use crate::rules::Networks;

/// Every search on networks.
pub static NETWORK_SEARCHES: &[NetworkEntry] = &[
    NetworkEntry {
        name: "mac-ucb",
        summary: "a tree search that closes subtrees by consistency of networks; `faithful` solves networks only",
        games: GamesMeant::ANY,
        claims: &[
            Claim::Legal,
            Claim::NeverLoses,
            Claim::BestGoal,
            Claim::HiddenInformation,
            Claim::ValuesInformation,
        ],
        preset: || Plan::Mac(MacOptions::default()),
    },
    NetworkEntry {
        name: "fc-ucb",
        summary: "mac-ucb as it was published, with forward checking in place of consistency",
        games: GamesMeant::ANY,
        claims: FAITHFUL_CLAIMS,
        preset: || Plan::Forward(ForwardOptions::default()),
    },
];

/// What a search promises that takes all others for enemies and may see little in its time.
const FAITHFUL_CLAIMS: &[Claim] =
    &[Claim::Legal, Claim::HiddenInformation, Claim::ValuesInformation];

/// The part of the time in which a role who does not know the state plans: as published, and where a
/// tree can use the time as well.
const FAITHFUL_PLAN_SHARE: f64 = 0.5;
const PLAN_SHARE: f64 = 0.2;

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
        /// looks for what is forced before the tree is grown, where two roles take turns
        forced: bool = true,
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
        match self.method() {
            Built::Improved(options) => Box::new(Improved::new(name, game, networks, options)),
            Built::Faithful(options) => Box::new(Faithful::new(name, game, networks, options)),
        }
    }

    /// A searcher for a role who does not see the state.
    pub fn build_informed<G>(
        &self,
        game: &G,
        networks: &Arc<Networks<StateOf<G>>>,
    ) -> Box<dyn InformationSearcher<StateOf<G>> + Send>
    where
        G: Playouts + Describe + Clone + 'static,
        G::Cursor: Observe + 'static,
    {
        let name = self.entry.name;
        let (options, otherwise): (_, Box<dyn InformationSearcher<StateOf<G>> + Send>) =
            match self.method() {
                Built::Improved(it) => (
                    PlanOptions { share: PLAN_SHARE, only_exact: true },
                    Box::new(OpenStates::new(name, game, networks, it.share)),
                ),
                Built::Faithful(it) => {
                    let one = Shared::new(Faithful::new(name, game, networks, it));
                    let build =
                        move |_: &G| Box::new(one.clone()) as Box<dyn Searcher<G::Cursor> + Send>;
                    (
                        PlanOptions { share: FAITHFUL_PLAN_SHARE, only_exact: false },
                        Box::new(HyperPlay::over(name, game, Box::new(build))),
                    )
                }
            };
        Box::new(Informed::new(name, game, networks, options, otherwise))
    }

    fn method(&self) -> Built {
        match &self.plan {
            Plan::Mac(it) if !it.faithful => {
                let MacOptions { share, forced, .. } = *it;
                Built::Improved(ImprovedOptions { share, visits: it.visits.max(1), forced })
            }
            Plan::Mac(it) => Built::Faithful(FaithfulOptions {
                method: Method::Mac,
                ratio: it.ratio.min(1.0),
                c: it.c,
                order: it.order,
                playouts: it.playouts,
            }),
            Plan::Forward(it) => Built::Faithful(FaithfulOptions {
                method: Method::ForwardChecking,
                ratio: it.ratio.min(1.0),
                c: it.c,
                order: it.order,
                playouts: it.playouts,
            }),
        }
    }
}

/// What a search is made of.
enum Built {
    Improved(ImprovedOptions),
    Faithful(FaithfulOptions),
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
