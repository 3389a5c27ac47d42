//! Symmetries in words.
//!
//! A symmetry of a board takes every term of one name to a term of that name, by permuting the
//! arguments and replacing the values of each. If one such rule explains all terms of a name, the
//! words say what it does to the arguments; otherwise they list what is exchanged.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use ludex_base::{FluentId, MoveId, RoleId, Symbol};
use ludex_gdl::TermId;
use ludex_ground::Vocabulary;
use rustc_hash::{FxHashMap, FxHashSet};

use super::points::{Point, Symmetry};
use crate::orders::{Order, find_orders, order_of};

/// Says what a symmetry does, in a few words: `cell, mark: reverses argument 1`.
pub fn in_words(symmetry: &Symmetry, vocabulary: &Vocabulary) -> String {
    let speaker = Speaker { vocabulary, orders: find_orders(vocabulary) };
    speaker.describe(symmetry)
}

struct Speaker<'a> {
    vocabulary: &'a Vocabulary,
    orders: Vec<Order>,
}

/// Where the arguments of a term come from: by argument of the image, the argument it is computed
/// from, and what becomes of its values.
type Rule = Vec<(usize, BTreeMap<TermId, TermId>)>;

/// Cycles that are listed before the rest is counted.
const MAX_CYCLES: usize = 4;

impl Speaker<'_> {
    fn describe(&self, symmetry: &Symmetry) -> String {
        let mut phrases: Vec<String> = Vec::new();
        let n_roles = self.vocabulary.roles.len();
        let roles = (0..n_roles).map(RoleId::new);
        let role_map: BTreeMap<TermId, TermId> = roles
            .map(|role| [role, symmetry.role(role)].map(|it| self.vocabulary.roles[it.index()]))
            .map(|[from, to]| (from, to))
            .filter(|(from, to)| from != to)
            .collect();
        if !role_map.is_empty() {
            phrases.push(format!("roles: exchanges {}", self.cycles(&role_map)));
        }
        // The names of what is done alike are said together.
        let mut done: Vec<(String, Vec<String>)> = Vec::new();
        let mut unexplained: BTreeMap<TermId, TermId> = BTreeMap::new();
        for ((name, _), pairs) in self.by_name(symmetry) {
            let Some(phrase) = self.explain(&pairs) else {
                unexplained.extend(pairs.iter().filter(|(from, to)| from != to).copied());
                continue;
            };
            let name = self.vocabulary.terms.symbols().name(name).to_owned();
            match phrase {
                None => {}
                Some(phrase) => match done.iter_mut().find(|(other, _)| *other == phrase) {
                    Some((_, names)) => names.push(name),
                    None => done.push((phrase, vec![name])),
                },
            }
        }
        phrases.extend(done.into_iter().map(|(phrase, mut names)| {
            names.dedup();
            format!("{}: {phrase}", names.join(", "))
        }));
        if !unexplained.is_empty() {
            phrases.push(format!("exchanges {}", self.cycles(&unexplained)));
        }
        phrases.join("; ")
    }

    /// All fluents and moves with their images, by name and number of arguments.
    fn by_name(&self, symmetry: &Symmetry) -> BTreeMap<(Symbol, usize), Vec<(TermId, TermId)>> {
        let Vocabulary { terms, fluents, moves, .. } = self.vocabulary;
        let mut by_name: BTreeMap<(Symbol, usize), BTreeSet<(TermId, TermId)>> = BTreeMap::new();
        let mut add = |from: TermId, to: TermId| {
            let key = (terms.name(from), terms.args(from).len());
            by_name.entry(key).or_default().insert((from, to));
        };
        for (idx, &term) in fluents.iter().enumerate() {
            add(term, fluents[symmetry.fluent(FluentId::new(idx)).index()]);
        }
        for (idx, &(_, term)) in moves.iter().enumerate() {
            add(term, moves[symmetry.played(MoveId::new(idx)).index()].1);
        }
        by_name.into_iter().map(|(key, pairs)| (key, pairs.into_iter().collect())).collect()
    }

    /// What happens to the terms of one name; `Some(None)` if nothing does, `None` if no rule about
    /// the arguments explains it.
    fn explain(&self, pairs: &[(TermId, TermId)]) -> Option<Option<String>> {
        if pairs.iter().all(|(from, to)| from == to) {
            return Some(None);
        }
        let rule = self.rule(pairs)?;
        let mut phrases = Vec::new();
        let turned: Vec<usize> = (0..rule.len()).filter(|&at| rule[at].0 != at).collect();
        let reversed: Vec<usize> =
            (0..rule.len()).filter(|&at| self.is_reversed(&rule[at].1)).collect();
        let is_said = match (&turned[..], &reversed[..]) {
            ([], []) => Vec::new(),
            ([], some) => {
                phrases.push(format!("reverses {}", arguments(some)));
                some.to_vec()
            }
            ([_, _], []) => {
                phrases.push(format!("exchanges {}", arguments(&turned)));
                Vec::new()
            }
            ([_, _], [_]) => {
                phrases.push(format!("turns {} by a quarter", arguments(&turned)));
                reversed.clone()
            }
            ([_, _], some) => {
                phrases.push(format!("exchanges and reverses {}", arguments(&turned)));
                some.to_vec()
            }
            (_, some) => {
                phrases.push(format!("permutes {}", arguments(&turned)));
                if !some.is_empty() {
                    phrases.push(format!("reverses {}", arguments(some)));
                }
                some.to_vec()
            }
        };
        let mut said: Vec<String> = Vec::new();
        for (at, (_, values)) in rule.iter().enumerate() {
            let moved: BTreeMap<TermId, TermId> =
                values.iter().filter(|(from, to)| from != to).map(|(&a, &b)| (a, b)).collect();
            if moved.is_empty() || is_said.contains(&at) {
                continue;
            }
            let phrase = format!("exchanges {}", self.cycles(&moved));
            if !said.contains(&phrase) {
                said.push(phrase);
            }
        }
        phrases.extend(said);
        Some((!phrases.is_empty()).then(|| phrases.join(", ")))
    }

    /// The rule that explains what becomes of terms of one name.
    fn rule(&self, pairs: &[(TermId, TermId)]) -> Option<Rule> {
        let terms = &self.vocabulary.terms;
        let (first, _) = pairs.first()?;
        let (name, n_args) = (terms.name(*first), terms.args(*first).len());
        if n_args == 0 {
            return None;
        }
        let keeps_name =
            |&(_, to): &(TermId, TermId)| terms.name(to) == name && terms.args(to).len() == n_args;
        if !pairs.iter().all(keeps_name) {
            return None;
        }
        let mut is_used = vec![false; n_args];
        let mut rule: Rule = Vec::new();
        for at in 0..n_args {
            let sources = std::iter::once(at).chain((0..n_args).filter(|&other| other != at));
            let found = sources.filter(|&source| !is_used[source]).find_map(|source| {
                let values =
                    pairs.iter().map(|&(from, to)| (terms.args(from)[source], terms.args(to)[at]));
                one_to_one(values).map(|values| (source, values))
            })?;
            is_used[found.0] = true;
            rule.push(found);
        }
        Some(rule)
    }

    /// Whether values that have an order are taken to those from the other end.
    fn is_reversed(&self, values: &BTreeMap<TermId, TermId>) -> bool {
        let mut sorted: Vec<TermId> = values.keys().copied().collect();
        if sorted.len() < 3 || values.values().any(|value| !values.contains_key(value)) {
            return false;
        }
        let all: FxHashSet<TermId> = sorted.iter().copied().collect();
        if let Some(order) = order_of(&self.orders, &all) {
            let place = self.orders[order].indices();
            sorted.sort_by_key(|term| place[term]);
        } else {
            sorted.sort_by(|&a, &b| self.natural(a, b));
        }
        sorted.iter().zip(sorted.iter().rev()).all(|(from, to)| values[from] == *to)
    }

    /// Numbers by value, others by text.
    fn natural(&self, a: TermId, b: TermId) -> Ordering {
        let text = |term| self.vocabulary.terms.display(term).to_string();
        let (a, b) = (text(a), text(b));
        match (a.parse::<i64>(), b.parse::<i64>()) {
            (Ok(a), Ok(b)) => a.cmp(&b),
            _ => a.cmp(&b),
        }
    }

    /// The cycles of a permutation of terms: `x and o`, `a, b and c in turn`.
    fn cycles(&self, images: &BTreeMap<TermId, TermId>) -> String {
        let mut cycles: Vec<String> = Vec::new();
        let mut seen: FxHashSet<TermId> = FxHashSet::default();
        let mut starts: Vec<TermId> = images.keys().copied().collect();
        starts.sort_by(|&a, &b| self.natural(a, b));
        for start in starts {
            let mut cycle: Vec<String> = Vec::new();
            let mut at = start;
            while seen.insert(at) {
                cycle.push(self.vocabulary.terms.display(at).to_string());
                match images.get(&at) {
                    Some(&next) => at = next,
                    None => break,
                }
            }
            match &cycle[..] {
                [] | [_] => {}
                [a, b] => cycles.push(format!("{a} and {b}")),
                [all @ .., last] => cycles.push(format!("{} and {last} in turn", all.join(", "))),
            }
        }
        let n_more = cycles.len().saturating_sub(MAX_CYCLES);
        cycles.truncate(MAX_CYCLES);
        let listed = cycles.join(", ");
        if n_more == 0 { listed } else { format!("{listed}, and {n_more} more") }
    }
}

/// The map from first to second values, if it is one-to-one.
fn one_to_one(pairs: impl Iterator<Item = (TermId, TermId)>) -> Option<BTreeMap<TermId, TermId>> {
    let mut images: BTreeMap<TermId, TermId> = BTreeMap::new();
    let mut preimages: FxHashMap<TermId, TermId> = FxHashMap::default();
    for (from, to) in pairs {
        if *images.entry(from).or_insert(to) != to || *preimages.entry(to).or_insert(from) != from {
            return None;
        }
    }
    Some(images)
}

/// `argument 1`, `arguments 1 and 2`.
fn arguments(places: &[usize]) -> String {
    let numbers: Vec<String> = places.iter().map(|place| (place + 1).to_string()).collect();
    match &numbers[..] {
        [one] => format!("argument {one}"),
        [all @ .., last] => format!("arguments {} and {last}", all.join(", ")),
        [] => String::new(),
    }
}

impl Symmetry {
    /// Says which point goes where, one line for each cycle, for people who want all of it.
    pub fn cycle_texts(&self, vocabulary: &Vocabulary) -> Vec<String> {
        let text = |point: &u32| match self.points().point(*point) {
            Point::Role(role) => vocabulary.role_text(role),
            Point::Fluent(fluent) => vocabulary.fluent_text(fluent),
            Point::Move(played) => vocabulary.move_text(played),
            Point::Percept(percept) => vocabulary.percept_text(percept),
        };
        let cycles = self.permutation().cycles();
        cycles.iter().map(|it| it.iter().map(text).collect::<Vec<_>>().join(" → ")).collect()
    }
}
