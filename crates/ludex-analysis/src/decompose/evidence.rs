//! What the choices of the roles change, and what the choices depend on, found in sampled states.
//!
//! In each state we ask three questions, each for up to 64 cases at once.
//!
//! 1. What would change if a role chose another of its legal moves, all other moves being equal?
//!    A fluent whose next value differs is *chosen* by the role. Correlations do not disturb this
//!    count: the alternatives share the state and the other moves.
//! 2. Do two chosen fluents belong together? If some move changes both, then they are free of each
//!    other only if there are moves that change one, the other, and neither. That is the free
//!    choice of a transition (definition 1 of the paper), and so compound moves come apart.
//! 3. What if one fluent had the other value? The next value of another fluent may differ, or all
//!    moves that change it may become illegal: then it depends on the flipped one.
//!
//! Hufschmitt, Vittaut and Jouandeau, *Décomposition des jeux pour le General Game Playing*, JIAF
//! 2018, count effects over joint moves and filter correlations with thresholds instead.

use ludex_base::{BitSet, Deadline, FluentId, MoveId, Rng};
use ludex_circuit::Circuit;
use rustc_hash::{FxHashMap, FxHashSet};

use super::lanes::{Lanes, N_LANES, lanes_of};
use super::sample::{Sample, moves_by_role};

/// What the sampled states say about two fluents.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Tally {
    /// States in which every choice that changes the one is bound to the other.
    pub bound: u32,
    /// States in which choices about the one are free of the other, although some move is about
    /// both.
    pub free: u32,
    /// States in which no move at all is left with another value of the one. That binds the other
    /// unless they are seen to be free: a part of a compound move may have run out of alternatives.
    pub stuck: u32,
    /// States in which the one changes with most moves, those about the other among them: it needs
    /// a move to stay.
    pub tempo: u32,
    /// States in which the next value of the one differs with the value of the other.
    pub read: u32,
}

/// Counts over sampled states.
#[derive(Clone, Debug)]
pub(super) struct Evidence {
    /// By pair of fluents, the smaller one first.
    pub tallies: FxHashMap<(FluentId, FluentId), Tally>,
    /// By fluent, the roles whose choice it was, one bit each; roles above 63 share the last bit.
    pub choosers: Vec<u64>,
    /// The fluents that were seen to change.
    pub changed: BitSet,
    /// Which moves changed which fluents by choice, with the number of states.
    pub effects: FxHashMap<(MoveId, FluentId), u32>,
    /// By fluent, the fluents that its next value was seen to depend on.
    pub premises: FxHashSet<(FluentId, FluentId)>,
    /// The fluents that were chosen in each state.
    pub chosen: Vec<Vec<FluentId>>,
    /// All choices of roles in all states.
    pub choices: Vec<Choice>,
    /// The fluents that were seen to become false, and those seen to become true.
    pub fell: BitSet,
    pub rose: BitSet,
    pub n_states: usize,
}

/// Moves of a role that are compared in one state.
const MAX_OPTIONS: usize = 128;

/// Changed fluents of one move that are compared pair by pair.
const MAX_CLASSES: usize = 48;

/// Fluents that are flipped in one state.
const MAX_FLIPS: usize = 63 * 16;

/// Questions the states of a sample, until the work is done or the deadline is reached.
pub(super) fn gather(
    circuit: &Circuit,
    sample: &Sample,
    ignored: &BitSet,
    max_work: usize,
    rng: &mut Rng,
    deadline: &Deadline,
) -> Evidence {
    let n_fluents = circuit.next.len();
    let mut gatherer = Gatherer {
        circuit,
        lanes: Lanes::new(circuit),
        moves: moves_by_role(circuit),
        watched: (0..n_fluents).filter(|&it| !ignored.contains(it)).map(FluentId::new).collect(),
        evidence: Evidence {
            tallies: FxHashMap::default(),
            choosers: vec![0; n_fluents],
            changed: BitSet::new(n_fluents),
            effects: FxHashMap::default(),
            premises: FxHashSet::default(),
            chosen: Vec::new(),
            choices: Vec::new(),
            fell: BitSet::new(n_fluents),
            rose: BitSet::new(n_fluents),
            n_states: 0,
        },
        in_play: BitSet::new(n_fluents),
    };
    for (state, _) in &sample.states {
        if gatherer.lanes.work > max_work || deadline.reached() {
            break;
        }
        gatherer.question(state, rng);
    }
    gatherer.evidence
}

struct Gatherer<'a> {
    circuit: &'a Circuit,
    lanes: Lanes<'a>,
    moves: Vec<Vec<MoveId>>,
    /// The fluents that are looked at.
    watched: Vec<FluentId>,
    evidence: Evidence,
    /// The fluents that some move changes in the present state.
    in_play: BitSet,
}

/// The legal moves of a role in one state, and the fluents it can choose.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    role_idx: usize,
    /// How many moves are legal.
    pub n_legal: usize,
    /// Up to 128 of them.
    pub options: Vec<MoveId>,
    /// Fluents that the same options change, with these options.
    pub classes: Vec<(u128, Vec<FluentId>)>,
}

impl Choice {
    fn all(&self) -> u128 {
        mask_of(self.options.len())
    }
}

fn mask_of(n_options: usize) -> u128 {
    if n_options >= 128 { u128::MAX } else { (1 << n_options) - 1 }
}

impl Gatherer<'_> {
    fn question(&mut self, state: &BitSet, rng: &mut Rng) {
        self.lanes.set_state(state, u64::MAX);
        self.lanes.evaluate_state();
        let mut options: Vec<(usize, Vec<MoveId>)> = Vec::new();
        for of_role in &self.moves {
            let legal = of_role.iter().copied().filter(|&it| self.lanes.legal(it) & 1 == 1);
            let mut legal: Vec<MoveId> = legal.collect();
            if legal.is_empty() {
                return;
            }
            // A random choice of the moves, the first of which is played.
            for place in 0..legal.len().min(MAX_OPTIONS) {
                let other = place + rng.below(legal.len() - place);
                legal.swap(place, other);
            }
            let n_legal = legal.len();
            legal.truncate(MAX_OPTIONS);
            options.push((n_legal, legal));
        }
        let joint: Vec<MoveId> = options.iter().map(|of_role| of_role.1[0]).collect();
        self.in_play.clear();
        let mut choices: Vec<Choice> = Vec::new();
        for (role_idx, (n_legal, options)) in options.into_iter().enumerate() {
            if n_legal > 1 {
                let classes = self.compare(state, role_idx, &options, &joint);
                choices.push(Choice { role_idx, n_legal, options, classes });
            }
        }
        for choice in &choices {
            self.count_pairs(choice);
        }
        let chosen: FxHashSet<FluentId> = (choices.iter())
            .flat_map(|it| it.classes.iter().flat_map(|class| class.1.iter().copied()))
            .collect();
        let mut chosen: Vec<FluentId> = chosen.into_iter().collect();
        chosen.sort_unstable();
        self.evidence.chosen.push(chosen);
        self.flip(state, &choices, &joint, rng);
        self.evidence.choices.extend(choices);
        self.evidence.n_states += 1;
    }

    /// Compares the next states of the options of a role, the other moves being those of `joint`.
    fn compare(
        &mut self,
        state: &BitSet,
        role_idx: usize,
        options: &[MoveId],
        joint: &[MoveId],
    ) -> Vec<(u128, Vec<FluentId>)> {
        let mut changes: Vec<u128> = vec![0; self.watched.len()];
        for (chunk_idx, chunk) in options.chunks(N_LANES).enumerate() {
            self.lanes.moves.fill(0);
            for (other_idx, &played) in joint.iter().enumerate() {
                if other_idx != role_idx {
                    self.lanes.moves[played.index()] = u64::MAX;
                }
            }
            for (lane, &option) in chunk.iter().enumerate() {
                self.lanes.moves[option.index()] |= 1 << lane;
            }
            self.lanes.evaluate_moves();
            let mask = if chunk.len() == N_LANES { u64::MAX } else { (1 << chunk.len()) - 1 };
            for (changes, &fluent) in changes.iter_mut().zip(&self.watched) {
                let before = if state.contains(fluent.index()) { u64::MAX } else { 0 };
                let changed = (self.lanes.value(self.circuit.next[fluent.index()]) ^ before) & mask;
                *changes |= u128::from(changed) << (chunk_idx * N_LANES);
            }
        }
        let all = mask_of(options.len());
        let mut by_changes: FxHashMap<u128, Vec<FluentId>> = FxHashMap::default();
        for (&changes, &fluent) in changes.iter().zip(&self.watched) {
            if changes == 0 {
                continue;
            }
            self.evidence.changed.insert(fluent.index());
            self.in_play.insert(fluent.index());
            let was_true = state.contains(fluent.index());
            let seen = if was_true { &mut self.evidence.fell } else { &mut self.evidence.rose };
            seen.insert(fluent.index());
            if changes == all {
                continue;
            }
            self.evidence.choosers[fluent.index()] |= 1 << role_idx.min(63);
            if !is_most(changes, options.len()) {
                for option in bits(changes) {
                    *self.evidence.effects.entry((options[option], fluent)).or_default() += 1;
                }
            }
            by_changes.entry(changes).or_default().push(fluent);
        }
        let mut classes: Vec<(u128, Vec<FluentId>)> = by_changes.into_iter().collect();
        classes.sort_unstable_by_key(|it| it.1[0]);
        classes
    }

    /// Counts which fluents are bound by the choice of a role, and which are free.
    fn count_pairs(&mut self, choice: &Choice) {
        for (_, fluents) in &choice.classes {
            for &fluent in &fluents[1..] {
                self.tally(fluents[0], fluent).bound += 1;
            }
        }
        let mut met: FxHashSet<(usize, usize)> = FxHashSet::default();
        for option in 0..choice.options.len() {
            let changed = choice.classes.iter().enumerate().filter(|it| it.1.0 >> option & 1 == 1);
            let changed: Vec<usize> = changed.map(|it| it.0).take(MAX_CLASSES).collect();
            for (place, &one) in changed.iter().enumerate() {
                met.extend(changed[place + 1..].iter().map(|&other| (one, other)));
            }
        }
        for (one, other) in met {
            let (a, b) = (&choice.classes[one], &choice.classes[other]);
            let is_free = a.0 & !b.0 != 0 && b.0 & !a.0 != 0 && choice.all() & !(a.0 | b.0) != 0;
            let holds = |most: u128, few: u128| {
                let n_options = choice.options.len();
                few & !most == 0 && is_most(most, n_options) && !is_most(few, n_options)
            };
            let is_tempo = holds(a.0, b.0) || holds(b.0, a.0);
            let (a, b) = (a.1[0], b.1[0]);
            let tally = self.tally(a, b);
            if is_free {
                tally.free += 1;
            } else if is_tempo {
                tally.tempo += 1;
            } else {
                tally.bound += 1;
            }
        }
    }

    /// Flips one fluent after the other, and compares the legal moves and the next state.
    fn flip(&mut self, state: &BitSet, choices: &[Choice], joint: &[MoveId], rng: &mut Rng) {
        let mut flips = self.watched.clone();
        if flips.len() > MAX_FLIPS {
            // True fluents first, then a random choice of the others.
            for place in 0..flips.len() {
                let other = place + rng.below(flips.len() - place);
                flips.swap(place, other);
            }
            flips.sort_by_key(|it| !state.contains(it.index()));
            flips.truncate(MAX_FLIPS);
        }
        for chunk in flips.chunks(N_LANES - 1) {
            self.lanes.set_state(state, u64::MAX);
            for (lane, fluent) in chunk.iter().enumerate() {
                self.lanes.fluents[fluent.index()] ^= 1 << lane;
            }
            self.lanes.evaluate_state();
            for choice in choices {
                self.count_lost(choice, chunk);
            }
            self.count_reads(chunk, joint);
        }
    }

    /// Counts the fluents that a role can no longer choose after a flip.
    fn count_lost(&mut self, choice: &Choice, flipped: &[FluentId]) {
        let mut lost = [0_u128; N_LANES];
        for (option, &played) in choice.options.iter().enumerate() {
            for lane in lanes_of(!self.lanes.legal(played)) {
                lost[lane] |= 1 << option;
            }
        }
        for (lane, &flipped) in flipped.iter().enumerate() {
            let lost = lost[lane];
            if lost == 0 {
                continue;
            }
            // With all moves replaced by others, this is another phase of the game and says
            // nothing about this one. With none left, all of them needed the fluent, if it is in
            // play.
            let some_legal = || {
                let moves = &self.moves[choice.role_idx];
                moves.iter().any(|&it| self.lanes.legal(it) >> lane & 1 == 1)
            };
            let is_stuck = lost == choice.all();
            // A fluent that no move changes any more is the end of an earlier phase.
            if is_stuck && (!self.in_play.contains(flipped.index()) || some_legal()) {
                continue;
            }
            for (changes, fluents) in &choice.classes {
                if changes & lost == 0 || fluents[0] == flipped {
                    continue;
                }
                let tally = self.evidence.tally(fluents[0], flipped);
                if is_stuck {
                    tally.stuck += 1;
                } else if changes & !lost == 0 {
                    tally.bound += 1;
                } else {
                    tally.free += 1;
                }
            }
        }
    }

    /// Counts the fluents whose next value differs after a flip, if the joint move is still legal.
    fn count_reads(&mut self, flipped: &[FluentId], joint: &[MoveId]) {
        let is_legal = joint.iter().fold(u64::MAX, |all, &it| all & self.lanes.legal(it));
        if is_legal & (u64::MAX >> 1) == 0 {
            return;
        }
        self.lanes.moves.fill(0);
        for played in joint {
            self.lanes.moves[played.index()] = u64::MAX;
        }
        self.lanes.evaluate_moves();
        for &fluent in &self.watched {
            let next = self.lanes.value(self.circuit.next[fluent.index()]);
            // The last lane has no flip.
            let usual = if next >> (N_LANES - 1) == 1 { u64::MAX } else { 0 };
            for lane in lanes_of((next ^ usual) & is_legal) {
                if flipped[lane] != fluent {
                    self.evidence.tally(fluent, flipped[lane]).read += 1;
                    self.evidence.premises.insert((fluent, flipped[lane]));
                }
            }
        }
    }

    fn tally(&mut self, a: FluentId, b: FluentId) -> &mut Tally {
        self.evidence.tally(a, b)
    }
}

impl Evidence {
    fn tally(&mut self, a: FluentId, b: FluentId) -> &mut Tally {
        self.tallies.entry((a.min(b), a.max(b))).or_default()
    }
}

/// Whether at least three quarters of the options are in a mask: then the others stand out, as the
/// one lamp that is pressed does among those that fade.
pub(super) fn is_most(mask: u128, n_options: usize) -> bool {
    4 * mask.count_ones() as usize >= 3 * n_options
}

/// Iterates over the options of a mask.
pub(super) fn bits(mut mask: u128) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (mask != 0).then(|| mask.trailing_zeros() as usize)?;
        mask &= mask - 1;
        Some(bit)
    })
}
