//! The searches of this crate, in the order of the help texts.
//!
//! A crate with other searches has its own list of [`SearchSpec`]s over its own enum of kinds; a
//! crate that knows both lists joins them with [`SearchSpec::of`].

use crate::alphabeta::{DepthFirstOptions, Rule};
use crate::cfr::{CfrOptions, NashOptions};
use crate::claims::{Claim, GamesMeant};
use crate::flat::FlatOptions;
use crate::hyperplay::{HyperPlayOptions, ImperfectPlayOptions};
use crate::ingredients::Ingredients;
use crate::ismcts::IsmctsOptions;
use crate::iss::IssOptions;
use crate::mcts::registry::{PlayoutName, SelectionName};
use crate::mcts::root::RootOptions;
use crate::mcts::{Simultaneous, UctOptions};
use crate::nested::combined::UctNestedOptions;
use crate::nested::{NmcsOptions, NrpaOptions};
use crate::random::RandomOptions;
use crate::spec::SearchSpec;

crate::search_enum! {
    /// Every kind of search of this crate.
    pub enum PlainSearch from Ingredients {
        /// Plays a random legal move.
        Random(RandomOptions),
        /// Flat Monte Carlo.
        Flat(FlatOptions),
        /// Monte Carlo tree search.
        Uct(UctOptions),
        /// Monte Carlo tree search with several trees.
        Root(RootOptions),
        /// Depth-first search.
        DepthFirst(DepthFirstOptions),
        /// Counterfactual regret minimization.
        Cfr(CfrOptions),
        /// Backward induction.
        Nash(NashOptions),
        /// Nested Monte Carlo search.
        Nmcs(NmcsOptions),
        /// Nested rollout policy adaptation.
        Nrpa(NrpaOptions),
        /// Monte Carlo tree search and nested Monte Carlo search.
        UctNested(UctNestedOptions),
        /// Searches possible states as if they were known.
        HyperPlay(HyperPlayOptions),
        /// Samples games in which every role knows only what it sees.
        ImperfectPlay(ImperfectPlayOptions),
        /// Information set search.
        Iss(IssOptions),
        /// Monte Carlo tree search over what the roles have seen.
        Ismcts(IsmctsOptions),
    }
}

/// All searches of this crate.
pub static SEARCHES: &[SearchSpec] = &[
    SearchSpec {
        name: "random",
        summary: "a legal move drawn at random",
        games: GamesMeant::ANY,
        claims: &[Claim::Legal],
        search: PlainSearch::Random(RandomOptions::DEFAULT),
    },
    SearchSpec {
        name: "flat",
        summary: "flat Monte Carlo with UCB at the root",
        games: GamesMeant::COMPLETE,
        claims: &[Claim::Legal],
        search: PlainSearch::Flat(FlatOptions::DEFAULT),
    },
    SearchSpec {
        name: "uct",
        summary: "Monte Carlo tree search, one playout per leaf",
        games: GamesMeant::COMPLETE,
        claims: TREE_CLAIMS,
        search: PlainSearch::Uct(UctOptions::DEFAULT),
    },
    SearchSpec {
        name: "uct-joint",
        summary: "uct that lets simultaneous roles choose one after another, in stages",
        games: GamesMeant::COMPLETE,
        claims: TREE_CLAIMS,
        search: PlainSearch::Uct(UctOptions {
            simultaneous: Simultaneous::Joint,
            ..UctOptions::DEFAULT
        }),
    },
    SearchSpec {
        name: "uct-leaf",
        summary: "uct with a batch of playouts from each leaf",
        games: GamesMeant::COMPLETE,
        claims: TREE_CLAIMS,
        search: PlainSearch::Uct(UctOptions { playouts: 64, ..UctOptions::DEFAULT }),
    },
    SearchSpec {
        name: "uct-lanes",
        summary: "uct with a batch of leaves, one playout from each",
        games: GamesMeant::COMPLETE,
        claims: TREE_CLAIMS,
        search: PlainSearch::Uct(UctOptions { leaves: 64, ..UctOptions::DEFAULT }),
    },
    SearchSpec {
        name: "uct-root",
        summary: "several uct trees, one per thread, with merged root moves",
        games: GamesMeant::COMPLETE,
        claims: TREE_CLAIMS,
        search: PlainSearch::Root(RootOptions::DEFAULT),
    },
    SearchSpec {
        name: "rave",
        summary: "uct with all-moves-as-first statistics of each node",
        games: GamesMeant::COMPLETE,
        claims: TREE_CLAIMS,
        search: PlainSearch::Uct(UctOptions {
            selection: SelectionName::Rave,
            c: 0.2,
            ..UctOptions::DEFAULT
        }),
    },
    SearchSpec {
        name: "grave",
        summary: "uct with all-moves-as-first statistics of an ancestor",
        games: GamesMeant::COMPLETE,
        claims: TREE_CLAIMS,
        search: PlainSearch::Uct(UctOptions::GRAVE),
    },
    SearchSpec {
        name: "mast",
        summary: "uct whose playouts prefer moves that did well before",
        games: GamesMeant::COMPLETE,
        claims: TREE_CLAIMS,
        search: PlainSearch::Uct(UctOptions::MAST),
    },
    SearchSpec {
        name: "to-mast",
        summary: "uct whose playouts prefer moves that did well in the tree",
        games: GamesMeant::COMPLETE,
        claims: TREE_CLAIMS,
        search: PlainSearch::Uct(UctOptions {
            playout: PlayoutName::ToMast,
            ..UctOptions::DEFAULT
        }),
    },
    SearchSpec {
        name: "nst",
        summary: "uct whose playouts prefer moves that did well after the same previous moves",
        games: GamesMeant::COMPLETE,
        claims: TREE_CLAIMS,
        search: PlainSearch::Uct(UctOptions { playout: PlayoutName::Nst, ..UctOptions::DEFAULT }),
    },
    SearchSpec {
        name: "past",
        summary: "uct whose playouts prefer moves that did well while the same fluents held",
        games: GamesMeant::COMPLETE,
        claims: TREE_CLAIMS,
        search: PlainSearch::Uct(UctOptions { playout: PlayoutName::Past, ..UctOptions::DEFAULT }),
    },
    SearchSpec {
        name: "fast",
        summary: "uct whose playouts prefer moves that lead to fluents with high learned values",
        games: GamesMeant::COMPLETE,
        claims: TREE_CLAIMS,
        search: PlainSearch::Uct(UctOptions { playout: PlayoutName::Fast, ..UctOptions::DEFAULT }),
    },
    SearchSpec {
        name: "history",
        summary: "uct with a bonus for moves that did well elsewhere",
        games: GamesMeant::COMPLETE,
        claims: TREE_CLAIMS,
        search: PlainSearch::Uct(UctOptions {
            selection: SelectionName::History,
            c: 0.3,
            ..UctOptions::DEFAULT
        }),
    },
    SearchSpec {
        name: "minimax",
        summary: "minimax with iterative deepening, without pruning; for comparison",
        games: GamesMeant { max_roles: 2, ..GamesMeant::COMPLETE },
        claims: DEPTH_FIRST_CLAIMS,
        search: depth_first(Rule::Minimax),
    },
    SearchSpec {
        name: "negamax",
        summary: "minimax scored for the role that chooses, without pruning; for comparison",
        games: GamesMeant { max_roles: 2, ..GamesMeant::COMPLETE },
        claims: DEPTH_FIRST_CLAIMS,
        search: depth_first(Rule::Negamax),
    },
    SearchSpec {
        name: "alphabeta",
        summary: "alpha-beta with iterative deepening, table, killers and history",
        games: GamesMeant::COMPLETE,
        claims: DEPTH_FIRST_CLAIMS,
        search: depth_first(Rule::AlphaBeta),
    },
    SearchSpec {
        name: "maxn",
        summary: "every role maximizes its own goal, without pruning",
        games: GamesMeant { min_roles: 2, ..GamesMeant::COMPLETE },
        claims: TREE_CLAIMS,
        search: depth_first(Rule::Maxn),
    },
    SearchSpec {
        name: "cfr",
        summary: "counterfactual regret minimization on small games, or on the next few steps",
        games: GamesMeant::ANY,
        claims: &[Claim::Legal, Claim::Mixes, Claim::HiddenInformation, Claim::ValuesInformation],
        search: PlainSearch::Cfr(CfrOptions::DEFAULT),
    },
    SearchSpec {
        name: "nash",
        summary: "backward induction over a few steps, with equilibria of simultaneous choices",
        games: GamesMeant::COMPLETE,
        claims: &[Claim::Legal, Claim::Mixes],
        search: PlainSearch::Nash(NashOptions::DEFAULT),
    },
    SearchSpec {
        name: "nmcs",
        summary: "nested Monte Carlo search: playouts guided by playouts, for puzzles",
        games: PUZZLES,
        claims: &[Claim::Legal],
        search: PlainSearch::Nmcs(NmcsOptions::DEFAULT),
    },
    SearchSpec {
        name: "nrpa",
        summary: "nested rollout policy adaptation: playouts that learn the best line, for puzzles",
        games: PUZZLES,
        claims: &[Claim::Legal],
        search: PlainSearch::Nrpa(NrpaOptions::DEFAULT),
    },
    SearchSpec {
        name: "uct-nested",
        summary: "uct and nmcs with half of the time each, for puzzles",
        games: PUZZLES,
        claims: &[Claim::Legal],
        search: PlainSearch::UctNested(UctNestedOptions::DEFAULT),
    },
    SearchSpec {
        name: "hyperplay",
        summary: "draws possible states by weight and searches each as if it were known",
        games: GamesMeant::ANY,
        claims: &[Claim::Legal, Claim::HiddenInformation],
        search: PlainSearch::HyperPlay(HyperPlayOptions::DEFAULT),
    },
    SearchSpec {
        name: "hyperplay-ii",
        summary: "samples games in which every role chooses by what it has seen",
        games: GamesMeant::ANY,
        claims: HIDDEN_CLAIMS,
        search: PlainSearch::ImperfectPlay(ImperfectPlayOptions::DEFAULT),
    },
    SearchSpec {
        name: "iss",
        summary: "exhaustive search with iterative deepening over sets of indistinguishable states",
        games: GamesMeant::ANY,
        claims: HIDDEN_CLAIMS,
        search: PlainSearch::Iss(IssOptions::DEFAULT),
    },
    SearchSpec {
        name: "ismcts",
        summary: "Monte Carlo tree search over what each role has seen",
        games: GamesMeant::ANY,
        claims: HIDDEN_CLAIMS,
        search: PlainSearch::Ismcts(IsmctsOptions::DEFAULT),
    },
];

/// Promises of searches that weigh the information a move brings.
const HIDDEN_CLAIMS: &[Claim] = &[Claim::Legal, Claim::HiddenInformation, Claim::ValuesInformation];

/// Promises of depth-first searches that treat the other roles as opponents.
const DEPTH_FIRST_CLAIMS: &[Claim] = &[Claim::Legal, Claim::NeverLoses];

const fn depth_first(rule: Rule) -> PlainSearch {
    PlainSearch::DepthFirst(DepthFirstOptions { rule, ..DepthFirstOptions::DEFAULT })
}

/// Games of one role without chance: a line that was found once can be followed.
const PUZZLES: GamesMeant = GamesMeant { max_roles: 1, chance: false, ..GamesMeant::COMPLETE };

/// Promises of every tree search.
const TREE_CLAIMS: &[Claim] = &[Claim::Legal, Claim::NeverLoses, Claim::BestGoal];

/// Former names of searches, and their replacements.
pub(crate) static FORMER_NAMES: &[(&str, &str)] =
    &[("paranoid", "alphabeta"), ("expectimax", "alphabeta")];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_search_parses_back_from_its_text() {
        for entry in SEARCHES {
            let written = entry.to_string();
            let read = SearchSpec::parse(&written).expect("a written search can be parsed");
            assert_eq!(read, *entry);
            assert_eq!(SearchSpec::parse(entry.name).expect("its name"), *entry);
            assert!(entry.claims.contains(&Claim::Legal), "{}", entry.name);
        }
    }

    #[test]
    fn names_are_unique_and_unknown_ones_are_errors() {
        for (idx, entry) in SEARCHES.iter().enumerate() {
            let first = SEARCHES.iter().position(|it| it.name == entry.name);
            assert_eq!(first, Some(idx), "{}", entry.name);
        }
        let error = SearchSpec::parse("unknown:c=1").expect_err("no such search");
        assert_eq!(error.span, 0..7);
        assert!(error.to_string().contains("random"), "{error}");
    }

    #[test]
    fn the_error_for_a_former_name_names_the_new_one() {
        for (former, now) in FORMER_NAMES {
            assert!(SearchSpec::parse(now).is_ok(), "{now}");
            let error = SearchSpec::parse(former).expect_err("the name is gone");
            assert!(error.message.ends_with(&format!("use `{now}`")), "{error}");
        }
    }
}
