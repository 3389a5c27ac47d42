//! The owners of pieces, read off the rules.
//!
//! A piece belongs to a role that has its name, else to the role with which rules mention it most
//! often: a fact with both, such as `(owns white wk)`, or a rule whose head or body names the role
//! as the one who moves and a fluent with the piece.

use std::collections::{BTreeMap, BTreeSet};

use ludex_base::Symbol;
use ludex_gdl::{Keyword, Program, Rule};

use crate::patterns::{Leaf, atoms, constant, fluents, text};

/// The role of each name that has one, as an index into the roles.
pub(crate) fn find_owners(program: &Program, roles: &[String]) -> BTreeMap<String, usize> {
    let role_of: BTreeMap<String, usize> =
        roles.iter().enumerate().map(|(idx, name)| (name.clone(), idx)).collect();
    let mut votes: BTreeMap<String, BTreeMap<usize, usize>> = BTreeMap::new();
    let mut vote = |name: String, role: usize| {
        *votes.entry(name).or_default().entry(role).or_default() += 1;
    };
    for rule in &program.rules {
        let (named, others) = mentioned(program, rule, &role_of);
        // Who moves in a rule that names two roles is unclear.
        if let [role] = named.iter().copied().collect::<Vec<_>>()[..] {
            others.into_iter().for_each(|name| vote(name, role));
        }
    }
    let mut owners = role_of.clone();
    for (name, votes) in votes {
        let most = votes.values().copied().max().unwrap_or(0);
        let mut best = votes.iter().filter(|(_, n)| **n == most);
        if let (Some((&role, _)), None) = (best.next(), best.next()) {
            owners.entry(name).or_insert(role);
        }
    }
    owners
}

/// Returns the roles that a rule names, and the names that it could give to them.
fn mentioned(
    program: &Program,
    rule: &Rule,
    role_of: &BTreeMap<String, usize>,
) -> (BTreeSet<usize>, BTreeSet<String>) {
    let role = |symbol: Symbol| role_of.get(&text(program, symbol)).copied();
    let (mut named, mut others) = (BTreeSet::new(), BTreeSet::new());
    if rule.body.is_empty() {
        let head = rule.head.args.iter().filter_map(|arg| constant(program, arg));
        for symbol in head.collect::<Vec<_>>() {
            match role(symbol) {
                Some(role) => _ = named.insert(role),
                None => _ = others.insert(text(program, symbol)),
            }
        }
        let is_game_fact = Keyword::ALL.iter().any(|&it| rule.head.relation == it.into());
        return if is_game_fact { Default::default() } else { (named, others) };
    }
    let movers = [Keyword::Does, Keyword::Legal];
    for atom in atoms(rule).filter(|atom| movers.iter().any(|&it| atom.relation == it.into())) {
        named.extend(atom.args.first().and_then(|arg| constant(program, arg)).and_then(role));
    }
    for fluent in fluents(program, rule) {
        let constants = fluent.leaves.iter().filter_map(|leaf| match leaf {
            Leaf::Constant(symbol) => Some(*symbol),
            Leaf::Variable(_) => None,
        });
        others.extend(constants.filter(|&it| role(it).is_none()).map(|it| text(program, it)));
    }
    (named, others)
}
