//! Subgames with the same rules: a symmetry of the game takes one to the other.

use ludex_base::{BitSet, Deadline, FluentId};
use ludex_circuit::Circuit;

use super::Subgame;
use crate::symmetry::{RoleExchange, find_symmetries};

/// Sets `equal_to` of each subgame.
///
/// The symmetries keep the state, so that equal subgames have equal positions too.
pub(super) fn mark_equal(
    circuit: &Circuit,
    state: &BitSet,
    subgames: &mut [Subgame],
    deadline: &Deadline,
) {
    for (idx, subgame) in subgames.iter_mut().enumerate() {
        subgame.equal_to = idx;
    }
    let sizes = |it: &Subgame| (it.fluents.len(), it.worth);
    let some_alike = (0..subgames.len())
        .any(|idx| subgames[..idx].iter().any(|other| sizes(other) == sizes(&subgames[idx])));
    if !some_alike {
        return;
    }
    let symmetries = find_symmetries(circuit, RoleExchange::Forbidden, Some(state), deadline);
    let mut part_of = vec![None; circuit.next.len()];
    for (idx, subgame) in subgames.iter().enumerate() {
        subgame.fluents.iter().for_each(|it| part_of[it.index()] = Some(idx));
    }
    // A generator that takes a whole subgame to another makes them equal; so do chains of these.
    let mut is_open = true;
    while is_open {
        is_open = false;
        for generator in &symmetries.generators {
            for idx in 0..subgames.len() {
                let fluents = &subgames[idx].fluents;
                let image = |it: &FluentId| part_of[generator.fluent(*it).index()];
                let Some(to) = image(&fluents[0]) else { continue };
                let is_whole = fluents.len() == subgames[to].fluents.len()
                    && fluents.iter().all(|it| image(it) == Some(to));
                let first = subgames[idx].equal_to.min(subgames[to].equal_to);
                if is_whole && (subgames[idx].equal_to, subgames[to].equal_to) != (first, first) {
                    subgames[idx].equal_to = first;
                    subgames[to].equal_to = first;
                    is_open = true;
                }
            }
        }
    }
}
