//! The searches of this crate: one plain list, in the order help texts show it.
//!
//! A crate with other searches has a list of its own, of [`SearchSpec`]s over its own enum of kinds;
//! whoever knows both joins them by [`SearchSpec::of`].

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
        /// A random move.
        Random(RandomOptions),
        /// Flat Monte Carlo.
        Flat(FlatOptions),
        /// A tree.
        Uct(UctOptions),
        /// Several trees.
        Root(RootOptions),
        /// In depth.
        DepthFirst(DepthFirstOptions),
        /// Counterfactual regret.
        Cfr(CfrOptions),
        /// Backward induction.
        Nash(NashOptions),
        /// Nested Monte Carlo.
        Nmcs(NmcsOptions),
        /// Nested rollout policy adaptation.
        Nrpa(NrpaOptions),
        /// A tree, and nested Monte Carlo.
        UctNested(UctNestedOptions),
        /// Possible states as if they were known.
        HyperPlay(HyperPlayOptions),
        /// Games in which everybody knows only what it sees.
        ImperfectPlay(ImperfectPlayOptions),
        /// Sets of states that look the same.
        Iss(IssOptions),
        /// A tree over what roles have seen.
        Ismcts(IsmctsOptions),
    }
}

/// Every search.
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
        summary: "Monte Carlo tree search, one playout a leaf",
        games: GamesMeant::COMPLETE,
        claims: TREE_CLAIMS,
        search: PlainSearch::Uct(UctOptions::DEFAULT),
    },
    SearchSpec {
        name: "uct-joint",
        summary: "uct in which roles that choose at once do so in stages",
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
        summary: "several uct trees, a thread each, their root moves merged",
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
        summary: "uct whose playouts prefer moves that did well after the last two",
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
        summary: "uct whose playouts prefer moves that lead to fluents of a high learned value",
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
        summary: "minimax with a moving horizon, nothing pruned: for comparison",
        games: GamesMeant { max_roles: 2, ..GamesMeant::COMPLETE },
        claims: DEPTH_FIRST_CLAIMS,
        search: depth_first(Rule::Minimax),
    },
    SearchSpec {
        name: "negamax",
        summary: "minimax from the view of who chooses, nothing pruned: for comparison",
        games: GamesMeant { max_roles: 2, ..GamesMeant::COMPLETE },
        claims: DEPTH_FIRST_CLAIMS,
        search: depth_first(Rule::Negamax),
    },
    SearchSpec {
        name: "alphabeta",
        summary: "alpha-beta with a moving horizon, table, killers and history",
        games: GamesMeant::COMPLETE,
        claims: DEPTH_FIRST_CLAIMS,
        search: depth_first(Rule::AlphaBeta),
    },
    SearchSpec {
        name: "maxn",
        summary: "every role for its own goal, nothing pruned",
        games: GamesMeant { min_roles: 2, ..GamesMeant::COMPLETE },
        claims: TREE_CLAIMS,
        search: depth_first(Rule::Maxn),
    },
    SearchSpec {
        name: "cfr",
        summary: "counterfactual regret on a small game, or on the plays of the next few steps",
        games: GamesMeant::ANY,
        claims: &[Claim::Legal, Claim::Mixes, Claim::HiddenInformation, Claim::ValuesInformation],
        search: PlainSearch::Cfr(CfrOptions::DEFAULT),
    },
    SearchSpec {
        name: "nash",
        summary: "backward induction on the next few steps, an equilibrium where roles choose at once",
        games: GamesMeant::COMPLETE,
        claims: &[Claim::Legal, Claim::Mixes],
        search: PlainSearch::Nash(NashOptions::DEFAULT),
    },
    SearchSpec {
        name: "nmcs",
        summary: "nested Monte Carlo: the best line of playouts of playouts, for puzzles",
        games: PUZZLES,
        claims: &[Claim::Legal],
        search: PlainSearch::Nmcs(NmcsOptions::DEFAULT),
    },
    SearchSpec {
        name: "nrpa",
        summary: "playouts that lean towards the best line so far, at several levels, for puzzles",
        games: PUZZLES,
        claims: &[Claim::Legal],
        search: PlainSearch::Nrpa(NrpaOptions::DEFAULT),
    },
    SearchSpec {
        name: "uct-nested",
        summary: "uct and nmcs, half of the time each, for puzzles",
        games: PUZZLES,
        claims: &[Claim::Legal],
        search: PlainSearch::UctNested(UctNestedOptions::DEFAULT),
    },
    SearchSpec {
        name: "hyperplay",
        summary: "possible states drawn by their weights, each searched as if it were known",
        games: GamesMeant::ANY,
        claims: &[Claim::Legal, Claim::HiddenInformation],
        search: PlainSearch::HyperPlay(HyperPlayOptions::DEFAULT),
    },
    SearchSpec {
        name: "hyperplay-ii",
        summary: "games sampled in which everybody chooses by what it has seen",
        games: GamesMeant::ANY,
        claims: HIDDEN_CLAIMS,
        search: PlainSearch::ImperfectPlay(ImperfectPlayOptions::DEFAULT),
    },
    SearchSpec {
        name: "iss",
        summary: "all moves to a moving horizon, over sets of states that look the same",
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

/// What searches promise that count what a move tells.
const HIDDEN_CLAIMS: &[Claim] = &[Claim::Legal, Claim::HiddenInformation, Claim::ValuesInformation];

/// What depth-first searches promise that take the others for enemies.
const DEPTH_FIRST_CLAIMS: &[Claim] = &[Claim::Legal, Claim::NeverLoses];

const fn depth_first(rule: Rule) -> PlainSearch {
    PlainSearch::DepthFirst(DepthFirstOptions { rule, ..DepthFirstOptions::DEFAULT })
}

/// One role, and nothing left to chance: what was found once can be played.
const PUZZLES: GamesMeant = GamesMeant { max_roles: 1, chance: false, ..GamesMeant::COMPLETE };

/// What every tree search promises.
const TREE_CLAIMS: &[Claim] = &[Claim::Legal, Claim::NeverLoses, Claim::BestGoal];

/// Names that searches had before, and what to write instead.
pub(crate) static FORMER_NAMES: &[(&str, &str)] =
    &[("paranoid", "alphabeta"), ("expectimax", "alphabeta")];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_search_reads_what_it_writes() {
        for entry in SEARCHES {
            let written = entry.to_string();
            let read = SearchSpec::parse(&written).expect("what was written can be read");
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
    fn a_former_name_is_an_error_that_says_the_new_one() {
        for (former, now) in FORMER_NAMES {
            assert!(SearchSpec::parse(now).is_ok(), "{now}");
            let error = SearchSpec::parse(former).expect_err("the name is gone");
            assert!(error.message.ends_with(&format!("use `{now}`")), "{error}");
        }
    }
}
