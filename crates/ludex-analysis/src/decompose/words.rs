//! Lists of fluents and moves in few words.
//!
//! Terms of one name are said together: `(cell 1 … b)` is one term, `cell (27)` are 27 terms named
//! `cell`. If the terms of a name have the same value at some argument while other fluents of the
//! game have another, the words keep it: `cell 1 * *` (12).

use std::collections::BTreeMap;

use ludex_base::{FluentId, MoveId, RoleId, Symbol};
use ludex_gdl::TermId;
use ludex_ground::Vocabulary;

/// Says which fluents a list holds.
pub fn fluents_in_words(fluents: &[FluentId], vocabulary: &Vocabulary) -> String {
    let terms: Vec<TermId> = fluents.iter().map(|it| vocabulary.fluents[it.index()]).collect();
    in_words(&terms, vocabulary)
}

/// Says which moves a list holds, by role.
pub fn moves_in_words(moves: &[MoveId], vocabulary: &Vocabulary) -> String {
    let mut by_role: BTreeMap<RoleId, Vec<TermId>> = BTreeMap::new();
    for played in moves {
        let (role, term) = vocabulary.moves[played.index()];
        by_role.entry(role).or_default().push(term);
    }
    let mut phrases: Vec<(Vec<String>, String)> = Vec::new();
    for (role, terms) in by_role {
        let words = in_words(&terms, vocabulary);
        let role = vocabulary.role_text(role);
        match phrases.iter_mut().find(|it| it.1 == words) {
            Some((roles, _)) => roles.push(role),
            None => phrases.push((vec![role], words)),
        }
    }
    let phrases: Vec<String> = phrases
        .into_iter()
        .map(|(roles, words)| format!("{}: {words}", roles.join(", ")))
        .collect();
    phrases.join("; ")
}

/// Terms that are listed one by one.
const MAX_LISTED: usize = 3;

fn in_words(terms: &[TermId], vocabulary: &Vocabulary) -> String {
    let all = &vocabulary.terms;
    let mut by_name: BTreeMap<(Symbol, usize), Vec<TermId>> = BTreeMap::new();
    for &term in terms {
        by_name.entry((all.name(term), all.args(term).len())).or_default().push(term);
    }
    let mut phrases: Vec<String> = Vec::new();
    for ((name, n_args), terms) in by_name {
        if terms.len() <= MAX_LISTED {
            phrases.extend(terms.iter().map(|&it| all.display(it).to_string()));
            continue;
        }
        let pattern: Vec<String> = (0..n_args)
            .map(|at| {
                let first = all.args(terms[0])[at];
                let is_same = terms.iter().all(|&it| all.args(it)[at] == first);
                if is_same { all.display(first).to_string() } else { "*".into() }
            })
            .collect();
        let name = all.symbols().name(name);
        phrases.push(format!("({name} {}) × {}", pattern.join(" "), terms.len()));
    }
    phrases.sort();
    phrases.join(", ")
}
