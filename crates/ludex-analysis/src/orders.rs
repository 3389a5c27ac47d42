//! Successor relations, by what they are and not by what they are called.
//!
//! A static relation of two arguments is a successor relation if it is antisymmetric, functional,
//! injective and acyclic; then it is a set of chains, and each chain puts its terms in a row.
//!
//! After Schiffel and Thielscher, *Fluxplayer: A Successful General Game Player*, 2007, who took the
//! idea of Kuhlmann, Dresner and Stone, *Automatic heuristic construction in a complete general game
//! player*, 2006, from syntax to meaning.

use ludex_base::Symbol;
use ludex_gdl::TermId;
use ludex_ground::{StaticPairs, Vocabulary};
use rustc_hash::{FxHashMap, FxHashSet};

/// Terms in a row, as a successor relation has them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Order {
    /// The relation.
    pub relation: Symbol,
    /// The terms, each before its successor.
    pub terms: Vec<TermId>,
}

/// Two terms in a row are a pair and no order.
const MIN_TERMS: usize = 3;

/// The chains of all successor relations, in the order of the rulesheet.
pub fn find_orders(vocabulary: &Vocabulary) -> Vec<Order> {
    let of = |it: &StaticPairs| {
        let chains = chains(&it.pairs).unwrap_or_default().into_iter();
        let long = chains.filter(|chain| chain.len() >= MIN_TERMS);
        long.map(|terms| Order { relation: it.name, terms }).collect::<Vec<_>>()
    };
    vocabulary.static_pairs.iter().flat_map(of).collect()
}

/// The chains of a relation; `None` if it is no successor relation.
fn chains(pairs: &[(TermId, TermId)]) -> Option<Vec<Vec<TermId>>> {
    let mut after: FxHashMap<TermId, TermId> = FxHashMap::default();
    let mut has_one_before: FxHashSet<TermId> = FxHashSet::default();
    for &(from, to) in pairs {
        // One successor each, and each of one term only.
        if after.insert(from, to).is_some() || !has_one_before.insert(to) {
            return None;
        }
    }
    let first = pairs.iter().map(|pair| pair.0).filter(|term| !has_one_before.contains(term));
    let chains: Vec<Vec<TermId>> = first
        .map(|first| std::iter::successors(Some(first), |term| after.get(term).copied()).collect())
        .collect();
    // What is on no chain goes round in a circle.
    let n_steps: usize = chains.iter().map(|chain| chain.len() - 1).sum();
    (n_steps == pairs.len()).then_some(chains)
}

impl Order {
    /// Where each term stands.
    pub(crate) fn places(&self) -> FxHashMap<TermId, i32> {
        self.terms.iter().enumerate().map(|(place, &term)| (term, place as i32)).collect()
    }
}

/// The smallest order that has all these terms, which are at least two; of equal ones the first.
pub(crate) fn order_of(orders: &[Order], terms: &FxHashSet<TermId>) -> Option<usize> {
    if terms.len() < 2 {
        return None;
    }
    let has_all = |order: &Order| {
        order.terms.iter().filter(|term| terms.contains(term)).count() == terms.len()
    };
    let fitting = (0..orders.len()).filter(|&at| has_all(&orders[at]));
    fitting.min_by_key(|&at| orders[at].terms.len())
}
