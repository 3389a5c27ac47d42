//! The list of searches on networks, in the order of the help texts.

use std::sync::Arc;

use ludex_game::StateOf;
use ludex_search::hyperplay::HyperPlay;
use ludex_search::{Claim, GamesMeant, HiddenSearcher, OpenSearcher, Search, SearchSpec};

use crate::faithful::{Faithful, FaithfulOptions, Method, Order, PlayedBy};
use crate::improved::{Improved, ImprovedOptions};
use crate::informed::{Informed, OpenStates, PlanOptions, Shared};
use crate::networks::{NetworkIngredients, Networks};

ludex_search::search_enum! {
    /// Any search on networks.
    pub enum NetworkSearch from NetworkIngredients {
        /// By maintaining consistency.
        Mac(MacOptions),
        /// By forward checking.
        Forward(ForwardOptions),
    }
}

/// Every search on networks.
pub static NETWORK_SEARCHES: &[SearchSpec<NetworkSearch>] = &[
    SearchSpec {
        name: "mac-ucb",
        summary: "Monte Carlo tree search that closes subtrees by constraint propagation; `faithful` is the published search",
        games: GamesMeant::ANY,
        claims: &[
            Claim::Legal,
            Claim::NeverLoses,
            Claim::BestGoal,
            Claim::HiddenInformation,
            Claim::ValuesInformation,
        ],
        search: NetworkSearch::Mac(MacOptions::DEFAULT),
    },
    SearchSpec {
        name: "fc-ucb",
        summary: "mac-ucb as published, with forward checking in place of consistency",
        games: GamesMeant::ANY,
        claims: FAITHFUL_CLAIMS,
        search: NetworkSearch::Forward(ForwardOptions::DEFAULT),
    },
];

/// Claims of the published search, which treats all other roles as enemies and may solve few networks in
/// its time.
const FAITHFUL_CLAIMS: &[Claim] =
    &[Claim::Legal, Claim::HiddenInformation, Claim::ValuesInformation];

/// The claims of a search with its options: `mac-ucb:faithful` claims less than `mac-ucb`.
pub fn claims(spec: &SearchSpec<NetworkSearch>) -> &'static [Claim] {
    match &spec.search {
        NetworkSearch::Mac(options) if options.faithful => FAITHFUL_CLAIMS,
        _ => spec.claims,
    }
}

/// The part of the time for planning with hidden information, in the published search.
const FAITHFUL_PLAN_SHARE: f64 = 0.5;
/// The part of the time for planning in `mac-ucb`, smaller because its tree search makes good use of the rest.
const PLAN_SHARE: f64 = 0.2;

ludex_search::search_options! {
    /// Options of `mac-ucb`.
    pub struct MacOptions {
        /// play as published: solve networks, best first
        faithful: bool = false,
        /// faithful: the part of the time for solving networks; playouts get the rest
        ratio: f64 = 0.9,
        /// faithful: exploration constant, the factor of √(2 ln n / nᵢ), for rewards from 0 to 1
        c: f64 = 1.0,
        /// faithful: the role whose reward orders the list, mover or own
        order: Order = Order::Mover,
        /// faithful: the engine of the playouts, network or machine
        playouts: PlayedBy = PlayedBy::Network,
        /// faithful: the part of the time for symmetric networks; published are 0.25 with a ratio of 0.45
        symmetry: f64 = 0.0,
        /// the part of the time that networks may take as long as they close subtrees
        share: f64 = 0.1,
        /// visits after which a node of the tree is put to the network
        visits: usize = 64,
        /// search for forced results before growing the tree, in duels
        forced: bool = true,
    }
}

ludex_search::search_options! {
    /// Options of `fc-ucb`.
    pub struct ForwardOptions {
        /// the part of the time for solving networks; playouts get the rest
        ratio: f64 = 0.9,
        /// exploration constant, the factor of √(2 ln n / nᵢ), for rewards from 0 to 1
        c: f64 = 1.0,
        /// the role whose reward orders the list, mover or own
        order: Order = Order::Mover,
        /// the engine of the playouts, network or machine
        playouts: PlayedBy = PlayedBy::Network,
    }
}

impl<I: NetworkIngredients> Search<I> for MacOptions {
    fn build(&self, name: &'static str, from: &I) -> OpenSearcher<I::Game> {
        let (game, networks) = (from.game(), from.networks());
        if self.faithful {
            Box::new(Faithful::new(name, game, networks, self.as_published()))
        } else {
            let MacOptions { share, forced, .. } = *self;
            let options = ImprovedOptions { share, visits: self.visits.max(1), forced };
            Box::new(Improved::new(name, game, networks, options))
        }
    }

    fn build_informed(&self, name: &'static str, from: &I) -> HiddenSearcher<I::Game> {
        if self.faithful {
            return build_faithful(name, from, self.as_published());
        }
        let (game, networks) = (from.game(), from.networks());
        let options = PlanOptions { share: PLAN_SHARE, only_exact: true };
        let otherwise = Box::new(OpenStates::new(name, game, networks, self.share));
        Box::new(Informed::new(name, game, networks, options, otherwise))
    }
}

impl<I: NetworkIngredients> Search<I> for ForwardOptions {
    fn build(&self, name: &'static str, from: &I) -> OpenSearcher<I::Game> {
        Box::new(Faithful::new(name, from.game(), from.networks(), self.as_published()))
    }

    fn build_informed(&self, name: &'static str, from: &I) -> HiddenSearcher<I::Game> {
        build_faithful(name, from, self.as_published())
    }
}

/// The published search for a role that does not see the state. All possible states share one searcher,
/// because what it knows about states holds whichever of them is the true one.
fn build_faithful<I: NetworkIngredients>(
    name: &'static str,
    from: &I,
    options: FaithfulOptions,
) -> HiddenSearcher<I::Game> {
    let networks: &Arc<Networks<StateOf<I::Game>>> = from.networks();
    let one = Shared::new(Faithful::new(name, from.game(), networks, options));
    let build = move |_: &I::Game| Box::new(one.clone()) as OpenSearcher<I::Game>;
    let otherwise = Box::new(HyperPlay::over(name, from.game(), Box::new(build)));
    let options = PlanOptions { share: FAITHFUL_PLAN_SHARE, only_exact: false };
    Box::new(Informed::new(name, from.game(), networks, options, otherwise))
}

impl MacOptions {
    /// MAC-UCB-SYM with the published parts of the time: 45 % for solving networks, 30 % for playouts,
    /// 25 % for symmetric networks.
    pub fn with_symmetries(self) -> Self {
        let ratio = if self.ratio == Self::DEFAULT.ratio { 0.45 } else { self.ratio };
        let symmetry = if self.symmetry == 0.0 { 0.25 } else { self.symmetry };
        Self { faithful: true, ratio, symmetry, ..self }
    }

    /// Whether it is the published search.
    pub fn is_faithful(&self) -> bool {
        self.faithful
    }

    /// The options of the published search.
    fn as_published(&self) -> FaithfulOptions {
        let Self { ratio, c, order, playouts, symmetry, .. } = *self;
        let (method, symmetry) = (Method::Mac, symmetry.clamp(0.0, 1.0));
        FaithfulOptions { method, ratio: ratio.min(1.0), c, order, playouts, symmetry }
    }
}

impl ForwardOptions {
    fn as_published(&self) -> FaithfulOptions {
        let Self { ratio, c, order, playouts } = *self;
        let method = Method::ForwardChecking;
        FaithfulOptions { method, ratio: ratio.min(1.0), c, order, playouts, symmetry: 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_search_reads_what_it_writes() {
        let parse = |text: &str| SearchSpec::parse_in(NETWORK_SEARCHES, "search", text);
        for text in ["mac-ucb", "fc-ucb", "mac-ucb:faithful", "mac-ucb:faithful,ratio=0.5"] {
            let spec = parse(text).expect("a registered search");
            assert_eq!(parse(&spec.to_string()).expect("a written search can be read"), spec);
            assert!(claims(&spec).contains(&Claim::Legal));
        }
        assert!(parse("uct").is_err());
        assert!(parse("mac-ucb:unfaithful").is_err());
        assert!(parse("fc-ucb:faithful").is_err());
    }
}
