//! Successor relations, recognized by their properties instead of their names.
//!
//! [`find_orders`] looks at a ground program and [`stated_orders`] at the facts of a rulesheet.
//!
//! A static relation of two arguments is a successor relation if it is antisymmetric, functional,
//! injective and acyclic; then it is a set of chains, and each chain orders its terms.
//!
//! After Schiffel and Thielscher, *Fluxplayer: A Successful General Game Player*, 2007, who took the
//! idea of Kuhlmann, Dresner and Stone, *Automatic heuristic construction in a complete general game
//! player*, 2006, from syntax to meaning.

use std::collections::BTreeMap;

use ludex_base::Symbol;
use ludex_gdl::{Pattern, Program, RelationId, Stage, TermId};
use ludex_ground::{StaticPairs, Vocabulary};
use rustc_hash::{FxHashMap, FxHashSet};

/// A chain of terms ordered by a successor relation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Order {
    /// The relation.
    pub relation: Symbol,
    /// The terms, each before its successor.
    pub terms: Vec<TermId>,
}

/// A shorter chain is not an order.
const MIN_TERMS: usize = 3;

/// Returns the chains of all successor relations, in the order of the rulesheet.
pub fn find_orders(vocabulary: &Vocabulary) -> Vec<Order> {
    let of = |it: &StaticPairs| {
        let chains = chains(&it.pairs).filter(|it| it.has_no_cycle);
        let chains = chains.map(|it| it.terms).unwrap_or_default().into_iter();
        let long = chains.filter(|chain| chain.len() >= MIN_TERMS);
        long.map(|terms| Order { relation: it.name, terms }).collect::<Vec<_>>()
    };
    vocabulary.static_pairs.iter().flat_map(of).collect()
}

/// Returns the orders stated by the facts of a program, with at least two terms.
///
/// This needs no grounding, so it works for every game, including those that only the reasoner
/// plays; it misses orders that are derived by rules.
pub fn stated_orders(program: &Program) -> Vec<Order> {
    let orders = |(&relation, pairs): (&RelationId, &Vec<[TermId; 2]>)| {
        let pairs: Vec<(TermId, TermId)> = pairs.iter().map(|&[from, to]| (from, to)).collect();
        let relation = program.relation(relation).name;
        let chains = chains(&pairs).map(|it| it.terms).unwrap_or_default().into_iter();
        chains.map(move |terms| Order { relation, terms }).collect::<Vec<_>>()
    };
    ground_facts(program).iter().flat_map(orders).collect()
}

/// Returns the facts of every static relation of `N` arguments.
pub(crate) fn ground_facts<const N: usize>(
    program: &Program,
) -> BTreeMap<RelationId, Vec<[TermId; N]>> {
    let mut facts: BTreeMap<RelationId, Vec<[TermId; N]>> = BTreeMap::new();
    for rule in program.rules.iter().filter(|rule| rule.body.is_empty()) {
        let relation = rule.head.relation;
        let term = |pattern: &Pattern| match pattern {
            Pattern::Ground(term) => Some(*term),
            _ => None,
        };
        let terms: Option<Vec<TermId>> = rule.head.args.iter().map(term).collect();
        if let Some(Ok(terms)) = terms.map(<[TermId; N]>::try_from)
            && program.relation(relation).stage == Stage::Static
        {
            facts.entry(relation).or_default().push(terms);
        }
    }
    facts
}

/// The chains of a successor relation.
struct Chains {
    terms: Vec<Vec<TermId>>,
    /// Whether every pair of the relation is on a chain.
    has_no_cycle: bool,
}

/// Returns the chains of a relation; `None` if a term has two successors or two predecessors.
fn chains(pairs: &[(TermId, TermId)]) -> Option<Chains> {
    let mut after: FxHashMap<TermId, TermId> = FxHashMap::default();
    let mut has_one_before: FxHashSet<TermId> = FxHashSet::default();
    let mut starts: Vec<TermId> = Vec::new();
    for &(from, to) in pairs {
        match after.insert(from, to) {
            // Tolerate a fact that is written twice.
            Some(before) if before == to => continue,
            Some(_) => return None,
            None => starts.push(from),
        }
        if !has_one_before.insert(to) {
            return None;
        }
    }
    starts.retain(|term| !has_one_before.contains(term));
    let terms: Vec<Vec<TermId>> = (starts.into_iter())
        .map(|first| std::iter::successors(Some(first), |term| after.get(term).copied()).collect())
        .collect();
    // Pairs that are on no chain form a cycle.
    let n_steps: usize = terms.iter().map(|chain| chain.len() - 1).sum();
    Some(Chains { terms, has_no_cycle: n_steps == after.len() })
}

impl Order {
    /// The index of each term.
    pub(crate) fn indices(&self) -> FxHashMap<TermId, i32> {
        self.terms.iter().enumerate().map(|(index, &term)| (term, index as i32)).collect()
    }
}

/// Returns the smallest order that contains all these terms, at least two; the first among equals.
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
