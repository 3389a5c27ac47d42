//! Numeric features of a state, derived from the facts about its rules.
//!
//! - The number of each piece, and the sums of its positions along each ordered coordinate and of
//!   its distances from the middle.
//! - The values of counters, and their distances from the values that goals ask for.
//! - Degrees of truth of goals ([`FuzzyGoals`]), and the facts needed to reach them
//!   ([`Conjunctions`]).
//!
//! The caller learns which of these features matter in a game, and how much.

use std::sync::Arc;

use ludex_base::{Deadline, Seed};
use ludex_circuit::Circuit;
use ludex_game::{Features, Game, LinearFeature, Wanted};

use crate::conjunctions::Conjunctions;
use crate::facts::{Board, Counter, Effort, Facts, Piece, find_facts, in_words};
use crate::fuzzy::FuzzyGoals;

/// Largest number of linear features.
const MAX_LINEAR: usize = 96;
/// Shortest axis with a middle.
const MIN_VALUES_FOR_MIDDLE: usize = 4;
const MIN_VALUES_FOR_AXIS: usize = 3;
/// If goals ask for more values of a counter, none of them is a target.
const MAX_ASKED: usize = 3;
/// Share of the time spent on facts.
const FACTS_PART: f64 = 0.3;

/// Finds the features of a game, as far as the time allows.
pub fn find_features<G: Game>(
    game: &G,
    circuit: &Circuit,
    wanted: Wanted,
    seed: Seed,
    deadline: &Deadline,
) -> Features {
    let effort = Effort { seed, deadline: deadline.part(FACTS_PART), ..Effort::default() };
    let facts = find_facts(game, circuit, &effort);
    let mut features = Features { linear: linear(circuit, &facts), graded: Vec::new() };
    if wanted == Wanted::Sums {
        return features;
    }
    if let Some(goals) = FuzzyGoals::new(circuit, &facts) {
        features.graded.push(Arc::new(goals));
    }
    if let Some(found) = Conjunctions::learn(game, circuit, seed.child(2), deadline) {
        features.graded.push(Arc::new(found));
    }
    features
}

fn linear(circuit: &Circuit, facts: &Facts) -> Vec<LinearFeature> {
    let mut features = Vec::new();
    for board in &facts.boards {
        let is_owned = board.pieces.iter().any(|piece| piece.owner.is_some());
        for piece in board.pieces.iter().filter(|piece| piece.comes || piece.goes) {
            features.push(count(circuit, board, piece));
            // The positions of unowned pieces follow from those of the others.
            if piece.owner.is_some() || !is_owned {
                features.extend(positions(circuit, board, piece));
            }
        }
    }
    let is_in_goals = circuit.cone(circuit.goals.iter().map(|goal| goal.2));
    let mut is_asked = vec![false; circuit.vocabulary.fluents.len()];
    for gate in circuit.gate_ids().filter(|gate| is_in_goals[gate.index()]) {
        if let ludex_circuit::Gate::Fluent(fluent) = circuit.gate(gate) {
            is_asked[fluent.index()] = true;
        }
    }
    for counter in facts.counters.iter().filter(|counter| !counter.is_clock) {
        features.extend(counted(counter, &is_asked));
    }
    features.truncate(MAX_LINEAR);
    features
}

fn name_of(circuit: &Circuit, board: &Board, piece: &Piece) -> String {
    let terms = &circuit.vocabulary.terms;
    let content = in_words(&circuit.vocabulary, &piece.content);
    format!("{} {content}", terms.symbols().name(board.name))
}

fn count(circuit: &Circuit, board: &Board, piece: &Piece) -> LinearFeature {
    let weights = piece.cells.iter().map(|(fluent, _)| (fluent.index() as u32, 1.0)).collect();
    LinearFeature { name: format!("number of {}", name_of(circuit, board, piece)), weights }
}

/// For each coordinate, the sum of the indices scaled to -1..1, and the sum of their distances from
/// 0.
fn positions(circuit: &Circuit, board: &Board, piece: &Piece) -> Vec<LinearFeature> {
    let mut features = Vec::new();
    for (at, coordinate) in board.coordinates.iter().enumerate() {
        let of_board = board.pieces.iter().flat_map(|it| &it.cells);
        let indices = of_board.filter_map(|(_, cell)| cell[at]);
        let (Some(first), Some(last)) = (indices.clone().min(), indices.max()) else { continue };
        if coordinate.n_values < MIN_VALUES_FOR_AXIS || first == last {
            continue;
        }
        let scaled = |index: i32| 2.0 * (index - first) as f32 / (last - first) as f32 - 1.0;
        let sum = |name: &str, value: &dyn Fn(f32) -> f32| {
            let of = |cell: &Vec<Option<i32>>| cell[at].map_or(0.0, |it| value(scaled(it)));
            let cells = piece.cells.iter();
            LinearFeature {
                name: format!("{name} of {}, {}", name_of(circuit, board, piece), at + 1),
                weights: cells.map(|(fluent, cell)| (fluent.index() as u32, of(cell))).collect(),
            }
        };
        features.push(sum("places", &|scaled| scaled));
        if coordinate.n_values >= MIN_VALUES_FOR_MIDDLE {
            features.push(sum("distance from the middle", &|scaled| scaled.abs()));
        }
    }
    features
}

/// The value of a counter from 0 to 1, and its distances from the values that goals ask for.
fn counted(counter: &Counter, is_asked: &[bool]) -> Vec<LinearFeature> {
    let [(first, _), .., (last, _)] = counter.values[..] else { return Vec::new() };
    let part = |by: i32| by as f32 / (last - first).max(1) as f32;
    let sum = |name: String, value: &dyn Fn(i32) -> f32| {
        let weights = counter.values.iter().map(|&(at, it)| (it.index() as u32, value(at)));
        LinearFeature { name, weights: weights.collect() }
    };
    let mut features = vec![sum(format!("value of {}", counter.name), &|at| part(at - first))];
    let asked = counter.values.iter().filter(|(_, fluent)| is_asked[fluent.index()]);
    let asked: Vec<i32> = asked.map(|value| value.0).collect();
    if asked.len() <= MAX_ASKED {
        // The distance from an end is linear in the value itself.
        for &to in asked.iter().filter(|&&to| to != first && to != last) {
            let name = format!("distance of {} from {to}", counter.name);
            features.push(sum(name, &|at| part((at - to).abs())));
        }
    }
    features
}

#[cfg(test)]
mod tests {
    use ludex_machine::Machine;

    use super::*;
    use crate::tests::library;

    fn all_of(machine: &Machine) -> Features {
        find_features(machine, machine.circuit(), Wanted::All, Seed(1), &Deadline::never())
    }

    fn names(game: &str) -> Vec<String> {
        let machine = library(game);
        let found = all_of(&machine);
        let graded = found.graded.iter().flat_map(|it| it.names()).cloned();
        found.linear.into_iter().map(|it| it.name).chain(graded).collect()
    }

    #[test]
    fn features_of_breakthrough_are_those_a_player_would_name() {
        let names = names("breakthrough-small");
        let has = |part: &str| names.iter().any(|name| name.contains(part));
        for part in
            ["number of", "places of", "distance from the middle", "goal of", "conjunctions"]
        {
            assert!(has(part), "{part}: {names:?}");
        }
    }

    #[test]
    fn linear_features_agree_with_all_features() {
        let machine = library("breakthrough-small");
        let (circuit, never) = (machine.circuit(), Deadline::never());
        let sums = find_features(&machine, circuit, Wanted::Sums, Seed(1), &never);
        assert_eq!(sums.linear, all_of(&machine).linear);
        assert!(sums.graded.is_empty());
    }

    /// Compares sums over fluents with the positions of the pieces.
    #[test]
    fn pieces_at_the_beginning_are_in_balance() {
        let machine = library("breakthrough-small");
        let circuit = machine.circuit();
        let found = all_of(&machine);
        let values: Vec<(&str, f32)> =
            found.linear.iter().map(|it| (&*it.name, it.value(&circuit.init))).collect();
        let of = |part: &'static str| values.iter().filter(move |it| it.0.starts_with(part));
        let counts: Vec<f32> = of("number of").map(|it| it.1).collect();
        assert!(
            counts.iter().filter(|&&n| n == counts[counts.len() - 1]).count() >= 2,
            "{values:?}"
        );
        let places: f32 = of("places of").map(|it| it.1).sum();
        assert!(places.abs() < 1e-4, "{values:?}");
    }
}
