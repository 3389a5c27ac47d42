//! The searches there are: one plain list, in the order help texts show it.

use ludex_game::{FeatureFinder, Observe, Playouts, StateOf};

use crate::alphabeta::{DepthFirst, DepthFirstOptions, Rule};
use crate::cfr::{Cfr, CfrOptions, Nash, NashOptions};
use crate::flat::{Flat, FlatOptions};
use crate::hyperplay::{HyperPlay, HyperPlayOptions, ImperfectPlay, ImperfectPlayOptions};
use crate::information::InformationSearcher;
use crate::ismcts::{Ismcts, IsmctsOptions};
use crate::iss::{Iss, IssOptions};
use crate::mcts::registry::{PlayoutName, SelectionName};
use crate::mcts::root::{RootOptions, RootParallel};
use crate::mcts::{Simultaneous, Uct, UctOptions};
use crate::nested::combined::{UctNested, UctNestedOptions};
use crate::nested::{Nested, NmcsOptions, NrpaOptions, Rule as NestedRule};
use crate::options::{self, OptionError, OptionInfo, Options};
use crate::random::{Random, RandomOptions};
use crate::searcher::Searcher;

/// Every search.
pub static SEARCHES: &[SearchEntry] = &[
    SearchEntry {
        name: "random",
        summary: "a legal move drawn at random",
        games: GamesMeant::ANY,
        claims: &[Claim::Legal],
        preset: || Plan::Random(RandomOptions::default()),
    },
    SearchEntry {
        name: "flat",
        summary: "flat Monte Carlo with UCB at the root",
        games: GamesMeant::COMPLETE,
        claims: &[Claim::Legal],
        preset: || Plan::Flat(FlatOptions::default()),
    },
    SearchEntry {
        name: "uct",
        summary: "Monte Carlo tree search, one playout a leaf",
        games: GamesMeant::COMPLETE,
        claims: TREE_CLAIMS,
        preset: || Plan::Uct(UctOptions::default()),
    },
    SearchEntry {
        name: "uct-joint",
        summary: "uct in which roles that choose at once do so in stages",
        games: GamesMeant::COMPLETE,
        claims: TREE_CLAIMS,
        preset: || {
            let simultaneous = Simultaneous::Joint;
            Plan::Uct(UctOptions { simultaneous, ..UctOptions::default() })
        },
    },
    SearchEntry {
        name: "uct-leaf",
        summary: "uct with a batch of playouts from each leaf",
        games: GamesMeant::COMPLETE,
        claims: TREE_CLAIMS,
        preset: || Plan::Uct(UctOptions { playouts: 64, ..UctOptions::default() }),
    },
    SearchEntry {
        name: "uct-lanes",
        summary: "uct with a batch of leaves, one playout from each",
        games: GamesMeant::COMPLETE,
        claims: TREE_CLAIMS,
        preset: || Plan::Uct(UctOptions { leaves: 64, ..UctOptions::default() }),
    },
    SearchEntry {
        name: "uct-root",
        summary: "several uct trees, a thread each, their root moves merged",
        games: GamesMeant::COMPLETE,
        claims: TREE_CLAIMS,
        preset: || Plan::Root(RootOptions::default()),
    },
    SearchEntry {
        name: "rave",
        summary: "uct with all-moves-as-first statistics of each node",
        games: GamesMeant::COMPLETE,
        claims: TREE_CLAIMS,
        preset: || {
            let selection = SelectionName::Rave;
            Plan::Uct(UctOptions { selection, c: 0.2, ..UctOptions::default() })
        },
    },
    SearchEntry {
        name: "grave",
        summary: "uct with all-moves-as-first statistics of an ancestor",
        games: GamesMeant::COMPLETE,
        claims: TREE_CLAIMS,
        preset: || {
            let selection = SelectionName::Grave;
            Plan::Uct(UctOptions { selection, c: 0.2, ..UctOptions::default() })
        },
    },
    SearchEntry {
        name: "mast",
        summary: "uct whose playouts prefer moves that did well before",
        games: GamesMeant::COMPLETE,
        claims: TREE_CLAIMS,
        preset: || {
            let playout = PlayoutName::Mast;
            Plan::Uct(UctOptions { playout, ..UctOptions::default() })
        },
    },
    SearchEntry {
        name: "to-mast",
        summary: "uct whose playouts prefer moves that did well in the tree",
        games: GamesMeant::COMPLETE,
        claims: TREE_CLAIMS,
        preset: || {
            let playout = PlayoutName::ToMast;
            Plan::Uct(UctOptions { playout, ..UctOptions::default() })
        },
    },
    SearchEntry {
        name: "nst",
        summary: "uct whose playouts prefer moves that did well after the last two",
        games: GamesMeant::COMPLETE,
        claims: TREE_CLAIMS,
        preset: || {
            let playout = PlayoutName::Nst;
            Plan::Uct(UctOptions { playout, ..UctOptions::default() })
        },
    },
    SearchEntry {
        name: "past",
        summary: "uct whose playouts prefer moves that did well while the same fluents held",
        games: GamesMeant::COMPLETE,
        claims: TREE_CLAIMS,
        preset: || {
            let playout = PlayoutName::Past;
            Plan::Uct(UctOptions { playout, ..UctOptions::default() })
        },
    },
    SearchEntry {
        name: "fast",
        summary: "uct whose playouts prefer moves that lead to fluents of a high learned value",
        games: GamesMeant::COMPLETE,
        claims: TREE_CLAIMS,
        preset: || {
            let playout = PlayoutName::Fast;
            Plan::Uct(UctOptions { playout, ..UctOptions::default() })
        },
    },
    SearchEntry {
        name: "history",
        summary: "uct with a bonus for moves that did well elsewhere",
        games: GamesMeant::COMPLETE,
        claims: TREE_CLAIMS,
        preset: || {
            let selection = SelectionName::History;
            Plan::Uct(UctOptions { selection, c: 0.3, ..UctOptions::default() })
        },
    },
    SearchEntry {
        name: "minimax",
        summary: "minimax with a moving horizon, nothing pruned: for comparison",
        games: GamesMeant { max_roles: 2, ..GamesMeant::COMPLETE },
        claims: DEPTH_FIRST_CLAIMS,
        preset: || depth_first(Rule::Minimax),
    },
    SearchEntry {
        name: "negamax",
        summary: "minimax from the view of who chooses, nothing pruned: for comparison",
        games: GamesMeant { max_roles: 2, ..GamesMeant::COMPLETE },
        claims: DEPTH_FIRST_CLAIMS,
        preset: || depth_first(Rule::Negamax),
    },
    SearchEntry {
        name: "alphabeta",
        summary: "alpha-beta with a moving horizon, table, killers and history",
        games: GamesMeant {
            max_roles: 2,
            simultaneous: false,
            chance: false,
            ..GamesMeant::COMPLETE
        },
        claims: DEPTH_FIRST_CLAIMS,
        preset: || depth_first(Rule::AlphaBeta),
    },
    SearchEntry {
        name: "paranoid",
        summary: "alpha-beta in which all other roles play against us",
        games: GamesMeant { min_roles: 3, chance: false, ..GamesMeant::COMPLETE },
        claims: DEPTH_FIRST_CLAIMS,
        preset: || depth_first(Rule::AlphaBeta),
    },
    SearchEntry {
        name: "maxn",
        summary: "every role for its own goal, nothing pruned",
        games: GamesMeant { min_roles: 2, ..GamesMeant::COMPLETE },
        claims: TREE_CLAIMS,
        preset: || depth_first(Rule::Maxn),
    },
    SearchEntry {
        name: "expectimax",
        summary: "alpha-beta that averages over chance",
        games: GamesMeant { max_roles: 2, simultaneous: false, ..GamesMeant::COMPLETE },
        claims: DEPTH_FIRST_CLAIMS,
        preset: || depth_first(Rule::AlphaBeta),
    },
    SearchEntry {
        name: "cfr",
        summary: "counterfactual regret on a small game, or on the plays of the next few steps",
        games: GamesMeant::ANY,
        claims: &[Claim::Legal, Claim::Mixes, Claim::HiddenInformation, Claim::ValuesInformation],
        preset: || Plan::Cfr(CfrOptions::default()),
    },
    SearchEntry {
        name: "nash",
        summary: "backward induction on the next few steps, an equilibrium where roles choose at once",
        games: GamesMeant::COMPLETE,
        claims: &[Claim::Legal, Claim::Mixes],
        preset: || Plan::Nash(NashOptions::default()),
    },
    SearchEntry {
        name: "nmcs",
        summary: "nested Monte Carlo: the best line of playouts of playouts, for puzzles",
        games: PUZZLES,
        claims: &[Claim::Legal],
        preset: || Plan::Nmcs(NmcsOptions::default()),
    },
    SearchEntry {
        name: "nrpa",
        summary: "playouts that lean towards the best line so far, at several levels, for puzzles",
        games: PUZZLES,
        claims: &[Claim::Legal],
        preset: || Plan::Nrpa(NrpaOptions::default()),
    },
    SearchEntry {
        name: "uct-nested",
        summary: "uct and nmcs, half of the time each, for puzzles",
        games: PUZZLES,
        claims: &[Claim::Legal],
        preset: || Plan::UctNested(UctNestedOptions::default()),
    },
    SearchEntry {
        name: "hyperplay",
        summary: "possible states drawn by their weights, each searched as if it were known",
        games: GamesMeant::ANY,
        claims: &[Claim::Legal, Claim::HiddenInformation],
        preset: || Plan::HyperPlay(HyperPlayOptions::default()),
    },
    SearchEntry {
        name: "hyperplay-ii",
        summary: "games sampled in which everybody chooses by what it has seen",
        games: GamesMeant::ANY,
        claims: HIDDEN_CLAIMS,
        preset: || Plan::ImperfectPlay(ImperfectPlayOptions::default()),
    },
    SearchEntry {
        name: "iss",
        summary: "all moves to a moving horizon, over sets of states that look the same",
        games: GamesMeant::ANY,
        claims: HIDDEN_CLAIMS,
        preset: || Plan::Iss(IssOptions::default()),
    },
    SearchEntry {
        name: "ismcts",
        summary: "Monte Carlo tree search over what each role has seen",
        games: GamesMeant::ANY,
        claims: HIDDEN_CLAIMS,
        preset: || Plan::Ismcts(IsmctsOptions::default()),
    },
];

/// What searches promise that count what a move tells.
const HIDDEN_CLAIMS: &[Claim] = &[Claim::Legal, Claim::HiddenInformation, Claim::ValuesInformation];

/// What depth-first searches promise that take the others for enemies.
const DEPTH_FIRST_CLAIMS: &[Claim] = &[Claim::Legal, Claim::NeverLoses];

fn depth_first(rule: Rule) -> Plan {
    Plan::DepthFirst(DepthFirstOptions { rule, ..DepthFirstOptions::default() })
}

/// One role, and nothing left to chance: what was found once can be played.
const PUZZLES: GamesMeant = GamesMeant { max_roles: 1, chance: false, ..GamesMeant::COMPLETE };

/// What every tree search promises.
const TREE_CLAIMS: &[Claim] = &[Claim::Legal, Claim::NeverLoses, Claim::BestGoal];

/// A search by name.
pub struct SearchEntry {
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

/// Which games a search is meant for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GamesMeant {
    /// The fewest roles, `random` not counted.
    pub min_roles: usize,
    /// The most roles, `random` not counted.
    pub max_roles: usize,
    /// Games in which several roles choose at once.
    pub simultaneous: bool,
    /// Games with `random`.
    pub chance: bool,
    /// Games in which roles do not know the state.
    pub hidden_information: bool,
}

impl GamesMeant {
    /// Every game.
    pub const ANY: Self = Self {
        min_roles: 1,
        max_roles: usize::MAX,
        simultaneous: true,
        chance: true,
        hidden_information: true,
    };
    /// Every game whose state is known to all.
    pub const COMPLETE: Self = Self { hidden_information: false, ..Self::ANY };

    /// Whether a game with these features is one of them.
    pub fn covers(&self, features: &GameFeatures) -> bool {
        (self.min_roles..=self.max_roles).contains(&features.n_roles)
            && (self.simultaneous || !features.simultaneous)
            && (self.chance || !features.chance)
            && (self.hidden_information || !features.hidden_information)
    }
}

/// What a search has to know about a game to say whether it is meant for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GameFeatures {
    /// Roles, `random` not counted.
    pub n_roles: usize,
    /// Several roles, `random` not counted, choose at once in some state.
    pub simultaneous: bool,
    /// There is a role `random`.
    pub chance: bool,
    /// Roles see only their own moves and percepts.
    pub hidden_information: bool,
}

/// What a search promises; the conformance suite tests each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Claim {
    /// Its moves are legal, in whatever time.
    Legal,
    /// Finds a win in one, avoids a loss in one, and never loses a small game it need not lose.
    NeverLoses,
    /// Takes the best goal that play for one's own goal allows, also where goals do not sum up to
    /// a constant.
    BestGoal,
    /// Approaches a mixed equilibrium where pure play can be exploited.
    Mixes,
    /// Plays well without knowing the state: by how likely the possible states are.
    HiddenInformation,
    /// Pays for information if that is worth it, and only then.
    ValuesInformation,
}

impl Claim {
    /// The claim in one word, for reports.
    pub fn name(self) -> &'static str {
        match self {
            Claim::Legal => "legal",
            Claim::NeverLoses => "never-loses",
            Claim::BestGoal => "best-goal",
            Claim::Mixes => "mixes",
            Claim::HiddenInformation => "hidden-information",
            Claim::ValuesInformation => "values-information",
        }
    }
}

/// The entry of this name.
pub fn find(name: &str) -> Option<&'static SearchEntry> {
    SEARCHES.iter().find(|entry| entry.name == name)
}

impl SearchEntry {
    /// The search with the options it has by default.
    pub fn spec(&'static self) -> SearchSpec {
        SearchSpec { entry: self, plan: (self.preset)() }
    }
}

/// A search with its options: what `uct:c=0.7,threads=2` describes.
#[derive(Clone)]
pub struct SearchSpec {
    entry: &'static SearchEntry,
    plan: Plan,
}

/// The typed options of each family of searches.
#[derive(Clone, Debug)]
enum Plan {
    Random(RandomOptions),
    Flat(FlatOptions),
    Uct(UctOptions),
    Root(RootOptions),
    DepthFirst(DepthFirstOptions),
    Cfr(CfrOptions),
    Nash(NashOptions),
    Nmcs(NmcsOptions),
    Nrpa(NrpaOptions),
    UctNested(UctNestedOptions),
    HyperPlay(HyperPlayOptions),
    ImperfectPlay(ImperfectPlayOptions),
    Iss(IssOptions),
    Ismcts(IsmctsOptions),
}

impl SearchSpec {
    /// Reads a name, or a name with options: `uct:c=0.7,threads=2`.
    ///
    /// # Errors
    /// A name or option that does not exist, or a value that can't be read, with its place.
    pub fn parse(text: &str) -> Result<Self, OptionError> {
        let name_end = text.find(':').unwrap_or(text.len());
        let name = text[..name_end].trim();
        let Some(entry) = find(name) else {
            let known: Vec<&str> = SEARCHES.iter().map(|entry| entry.name).collect();
            let message = format!("there is no search `{name}`; there are {}", known.join(", "));
            return Err(OptionError { text: text.into(), place: 0..name_end, message });
        };
        let mut spec = entry.spec();
        if name_end < text.len() {
            options::read_into(spec.plan.options_mut(), text, name_end + 1)?;
        }
        Ok(spec)
    }

    /// The entry it was made from.
    pub fn entry(&self) -> &'static SearchEntry {
        self.entry
    }

    /// All options with their values.
    pub fn options(&self) -> Vec<OptionInfo> {
        self.plan.options().list()
    }

    /// A searcher for a game. Copies of the game must be cheap: each thread takes one.
    pub fn build<G>(&self, game: &G) -> Box<dyn Searcher<G::Cursor> + Send>
    where
        G: Playouts + Clone + 'static,
    {
        self.build_with(game, None)
    }

    /// The same for a game whose rules somebody can look into.
    pub fn build_with<G>(
        &self,
        game: &G,
        finder: Option<FeatureFinder>,
    ) -> Box<dyn Searcher<G::Cursor> + Send>
    where
        G: Playouts + Clone + 'static,
    {
        match &self.plan {
            Plan::Random(_) => Box::new(Random::default()),
            Plan::Uct(options) => Box::new(Uct::new(self.entry.name, game, options.clone())),
            Plan::Flat(options) => Box::new(Flat::new(game, options.clone())),
            Plan::Root(options) => Box::new(RootParallel::new(game, options.clone())),
            Plan::DepthFirst(options) => {
                Box::new(DepthFirst::new(self.entry.name, game, options.clone(), finder))
            }
            Plan::Cfr(options) => Box::new(Cfr::new(game, options.clone())),
            Plan::Nash(options) => Box::new(Nash::new(game, options.clone())),
            Plan::Nmcs(options) => {
                let rule = NestedRule::Nmcs(options.clone());
                Box::new(Nested::new(self.entry.name, game, rule))
            }
            Plan::Nrpa(options) => {
                let rule = NestedRule::Nrpa(options.clone());
                Box::new(Nested::new(self.entry.name, game, rule))
            }
            Plan::UctNested(options) => Box::new(UctNested::new(game, options.clone())),
            Plan::HyperPlay(options) => Box::new(HyperPlay::new(self.entry.name, game, options)),
            Plan::ImperfectPlay(options) => Box::new(ImperfectPlay::new(game, options.clone())),
            Plan::Iss(options) => Box::new(Iss::new(game, options.clone())),
            Plan::Ismcts(options) => Box::new(Ismcts::new(game, options.clone())),
        }
    }

    /// A searcher for a role that does not see the state. A search for complete information looks
    /// at possible states as if each were known.
    pub fn build_informed<G>(&self, game: &G) -> Box<dyn InformationSearcher<StateOf<G>> + Send>
    where
        G: Playouts + Clone + 'static,
        G::Cursor: Observe,
    {
        match &self.plan {
            Plan::Random(_)
            | Plan::Uct(_)
            | Plan::Flat(_)
            | Plan::Root(_)
            | Plan::DepthFirst(_)
            | Plan::Nash(_)
            | Plan::Nmcs(_)
            | Plan::Nrpa(_)
            | Plan::UctNested(_) => {
                let spec = self.clone();
                let build = Box::new(move |game: &G| spec.build(game));
                Box::new(HyperPlay::over(self.entry.name, game, build))
            }
            Plan::Cfr(options) => Box::new(Cfr::new(game, options.clone())),
            Plan::HyperPlay(options) => Box::new(HyperPlay::new(self.entry.name, game, options)),
            Plan::ImperfectPlay(options) => Box::new(ImperfectPlay::new(game, options.clone())),
            Plan::Iss(options) => Box::new(Iss::new(game, options.clone())),
            Plan::Ismcts(options) => Box::new(Ismcts::new(game, options.clone())),
        }
    }
}

impl std::fmt::Display for SearchSpec {
    /// The name with every option, so that [`SearchSpec::parse`] gives the same search.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let options = self.options();
        let colon = if options.is_empty() { "" } else { ":" };
        write!(f, "{}{colon}{}", self.entry.name, options::Written(&options))
    }
}

impl Plan {
    fn options(&self) -> &dyn Options {
        match self {
            Plan::Random(options) => options,
            Plan::Flat(options) => options,
            Plan::Uct(options) => options,
            Plan::Root(options) => options,
            Plan::DepthFirst(options) => options,
            Plan::Cfr(options) => options,
            Plan::Nash(options) => options,
            Plan::Nmcs(options) => options,
            Plan::Nrpa(options) => options,
            Plan::UctNested(options) => options,
            Plan::HyperPlay(options) => options,
            Plan::ImperfectPlay(options) => options,
            Plan::Iss(options) => options,
            Plan::Ismcts(options) => options,
        }
    }

    fn options_mut(&mut self) -> &mut dyn Options {
        match self {
            Plan::Random(options) => options,
            Plan::Flat(options) => options,
            Plan::Uct(options) => options,
            Plan::Root(options) => options,
            Plan::DepthFirst(options) => options,
            Plan::Cfr(options) => options,
            Plan::Nash(options) => options,
            Plan::Nmcs(options) => options,
            Plan::Nrpa(options) => options,
            Plan::UctNested(options) => options,
            Plan::HyperPlay(options) => options,
            Plan::ImperfectPlay(options) => options,
            Plan::Iss(options) => options,
            Plan::Ismcts(options) => options,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_search_reads_what_it_writes() {
        for entry in SEARCHES {
            let written = entry.spec().to_string();
            let read = SearchSpec::parse(&written).expect("what was written can be read");
            assert_eq!(read.to_string(), written);
            assert_eq!(SearchSpec::parse(entry.name).expect("its name").to_string(), written);
            assert!(entry.claims.contains(&Claim::Legal), "{}", entry.name);
        }
    }

    #[test]
    fn names_are_unique_and_unknown_ones_are_errors() {
        for entry in SEARCHES {
            assert!(std::ptr::eq(find(entry.name).expect("it is there"), entry), "{}", entry.name);
        }
        let error = SearchSpec::parse("unknown:c=1").err().expect("no such search");
        assert_eq!(error.place, 0..7);
        assert!(error.to_string().contains("random"), "{error}");
    }
}
