//! Serial games: subgames of which the one is over before the other begins.
//!
//! Two subgames are serial if no state offers choices in both, and if something separates them. A
//! *crossing point* is one fluent, or a pair of fluents, whose truth proves by itself that no move
//! of the first subgame is legal any more, while moves of the second may be. If there is none, a
//! fluent counts that has one value while there are choices in the first subgame and the other one,
//! for good, while there are choices in the second.
//!
//! The paper finds crossing points as nodes without a cycle in a causal graph; ours are proved by
//! three-valued evaluation of the legal moves.

use ludex_base::{BitSet, FluentId};
use ludex_circuit::Circuit;

use super::Subgame;
use super::evidence::Evidence;
use super::known::{Known, Truth};
use super::lanes::N_LANES;
use super::sample::Sample;
use super::structure::Reader;

/// What separates two subgames that are played one after the other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Crossing {
    /// The subgame that is played first, by position.
    pub from: usize,
    /// The subgame that is played afterwards.
    pub to: usize,
    /// The crossing points: each is a set of fluents with the values they have afterwards.
    pub points: Vec<Vec<(FluentId, bool)>>,
    /// Whether each of the points is proved to close the first subgame.
    pub is_proved: bool,
}

/// States with choices in a subgame that are needed before it counts as seen.
const MIN_STATES: usize = 4;

/// Fluents that are tried in pairs.
const MAX_PAIRED: usize = 256;

/// Finds the crossing points between subgames.
pub(super) fn find_crossings(
    circuit: &Circuit,
    subgames: &[Subgame],
    fixed: &BitSet,
    evidence: &Evidence,
    sample: &Sample,
) -> Vec<Crossing> {
    // By subgame, the sampled states with choices in it.
    let mut part_of = vec![None; circuit.next.len()];
    for (idx, subgame) in subgames.iter().enumerate() {
        subgame.fluents.iter().for_each(|it| part_of[it.index()] = Some(idx));
    }
    let mut states: Vec<Vec<usize>> = vec![Vec::new(); subgames.len()];
    for (state_idx, chosen) in evidence.chosen.iter().enumerate() {
        let mut parts: Vec<usize> = chosen.iter().filter_map(|it| part_of[it.index()]).collect();
        parts.sort_unstable();
        parts.dedup();
        parts.into_iter().for_each(|part| states[part].push(state_idx));
    }
    let mean_step = |part: usize| {
        let steps: usize = states[part].iter().map(|&idx| sample.states[idx].1).sum();
        steps as f64 / states[part].len() as f64
    };
    let mut order: Vec<usize> =
        (0..subgames.len()).filter(|&part| states[part].len() >= MIN_STATES).collect();
    order.sort_by(|&a, &b| mean_step(a).total_cmp(&mean_step(b)));
    let mut crossings = Vec::new();
    // Neighbours in time: what is between others is separated from both.
    for pair in order.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        if states[from].iter().any(|it| states[to].binary_search(it).is_ok()) {
            continue;
        }
        let mut points = closing_points(circuit, &subgames[from], &subgames[to], fixed);
        let is_proved = !points.is_empty();
        if !is_proved {
            let of = |part: usize| states[part].iter().map(|&idx| &sample.states[idx].0);
            points = (0..circuit.next.len())
                .map(FluentId::new)
                .filter_map(|it| Some(vec![(it, separates(it, of(from), of(to), evidence)?)]))
                .collect();
        }
        if !points.is_empty() {
            crossings.push(Crossing { from, to, points, is_proved });
        }
    }
    crossings
}

/// Finds the fluents, and the pairs of others, that prove the moves of `from` illegal while moves of
/// `to` may be legal.
fn closing_points(
    circuit: &Circuit,
    from: &Subgame,
    to: &Subgame,
    fixed: &BitSet,
) -> Vec<Vec<(FluentId, bool)>> {
    let legal = |subgame: &Subgame| -> Vec<_> {
        // Moves of both subgames do not tell them apart.
        let own = subgame.moves.iter().filter(|&it| {
            let is_shared =
                from.moves.binary_search(it).is_ok() && to.moves.binary_search(it).is_ok();
            !is_shared
        });
        own.map(|it| circuit.legal[it.index()]).collect()
    };
    let (closed, open) = (legal(from), legal(to));
    if closed.is_empty() || open.is_empty() {
        return Vec::new();
    }
    let mut reader = Reader::new(circuit, fixed);
    let mut read: Vec<FluentId> =
        closed.iter().flat_map(|&gate| reader.reads(gate).fluents).collect();
    read.sort_unstable();
    read.dedup();
    let is_wanted = circuit.cone(closed.iter().chain(&open).copied());
    let mut known = Known::new(circuit, &is_wanted);
    let mut closing = |sets: &[Vec<FluentId>]| -> Vec<bool> {
        let mut found = Vec::new();
        for chunk in sets.chunks(N_LANES) {
            known.fluents.fill(Truth::UNKNOWN);
            for (lane, fluents) in chunk.iter().enumerate() {
                for fluent in fluents {
                    known.fluents[fluent.index()].must |= 1 << lane;
                }
            }
            known.evaluate(Vec::new());
            let may = |gates: &[_]| gates.iter().fold(0, |any, &it| any | known.value(it).may);
            let closing = !may(&closed) & may(&open);
            found.extend((0..chunk.len()).map(|lane| closing >> lane & 1 == 1));
        }
        found
    };
    let single: Vec<Vec<FluentId>> = read.iter().map(|&it| vec![it]).collect();
    let is_closing = closing(&single);
    let (mut points, mut others) = (Vec::new(), Vec::new());
    for (&fluent, is_closing) in read.iter().zip(is_closing) {
        if is_closing { points.push(vec![fluent]) } else { others.push(fluent) }
    }
    if others.len() <= MAX_PAIRED {
        let pairs: Vec<Vec<FluentId>> = (others.iter().enumerate())
            .flat_map(|(place, &a)| others[place + 1..].iter().map(move |&b| vec![a, b]))
            .collect();
        let is_closing = closing(&pairs);
        points.extend(pairs.into_iter().zip(is_closing).filter(|it| it.1).map(|it| it.0));
    }
    let with_values = |point: Vec<FluentId>| point.into_iter().map(|it| (it, true)).collect();
    points.into_iter().map(with_values).collect()
}

/// The value that a fluent has after the crossing, if it separates the states.
fn separates<'a>(
    fluent: FluentId,
    before: impl Iterator<Item = &'a BitSet>,
    mut after: impl Iterator<Item = &'a BitSet>,
    evidence: &Evidence,
) -> Option<bool> {
    let idx = fluent.index();
    let mut before = before.map(|state| state.contains(idx));
    let value = !before.next()?;
    if before.any(|it| it == value) || !after.all(|state| state.contains(idx) == value) {
        return None;
    }
    let returns = if value { &evidence.fell } else { &evidence.rose };
    (!returns.contains(idx)).then_some(value)
}
