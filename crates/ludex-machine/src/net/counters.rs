//! A net of counters, updated incrementally from one state to the next.
//!
//! A node is a fluent or a conjunction. A conjunction counts its literals that are false. When a
//! fluent changes, the nodes that read it update their counts, and the change propagates from those
//! whose count reaches or leaves zero. Nodes that do not change cost nothing.
//!
//! Moves are handled separately: a step applies the [`Effects`](crate::net::effects) of its moves.
//! Nodes that only the effects or the goals need are *lazy*: evaluated on demand, and cached until
//! the state changes.

use std::ops::Range;

use ludex_base::{BitSet, MoveId, Rng};

use crate::net::conjunctions::Literal;
use crate::net::effects::Lists;
use crate::net::split::Guard;

/// A circuit without loops as a net.
#[derive(Clone, Debug)]
pub(crate) struct Net {
    /// Nodes are the constant, the fluents, the moves, the counters, and from this number on the
    /// lazy nodes.
    pub(crate) first_lazy: usize,
    pub(crate) first_move: usize,
    /// The readers and flips of each fluent and counter.
    pub(crate) fans: Vec<Fan>,
    /// The counters that read a node, then those that read its negation.
    pub(crate) readers: Vec<u32>,
    /// The output bits that change with a node: words and bits.
    pub(crate) flips: Vec<(u32, u64)>,
    /// For each lazy node, the end of its literals.
    pub(crate) lazy_ends: Vec<u32>,
    pub(crate) lazy_literals: Vec<Literal>,
    /// Lazy nodes that are evaluated first, ascending, so that no evaluation recurses deeply.
    pub(crate) landings: Vec<u32>,

    pub(crate) layout: Layout,
    /// For each fluent, the fluents of the next state that are true if it and a literal are true,
    /// unless a move changes them.
    pub(crate) gated: Lists<(u32, Literal)>,
    /// The fluents that have such a list: words and bits.
    pub(crate) gates: Vec<(u32, u64)>,
    /// For each move, its effects: see [`Effects`](crate::net::effects::Effects).
    pub(crate) effects: Vec<MoveEffects>,
    pub(crate) changes: Vec<(u32, Literal)>,
    pub(crate) keeps: Vec<(u32, u64)>,
    pub(crate) touches: Vec<u32>,
    /// For outputs that moves of several roles may change at once, the literal that decides them.
    pub(crate) joint: Vec<Literal>,
    /// Whether changes of moves propagate to some output.
    pub(crate) propagates_moves: bool,
    /// For each role, the condition that most of its moves share.
    pub(crate) guards: Vec<Guard>,
    /// The game is over if one of these is true, or if the terminal bit is set.
    pub(crate) endings: Vec<Ending>,
    /// The literal of each goal of the circuit.
    pub(crate) goals: Vec<Literal>,
    /// The net in the initial state.
    pub(crate) initial: NetState,
}

/// The places of the effects of a move, stored together because every step looks them up at random.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MoveEffects {
    pub changes: (u32, u32),
    pub keeps: (u32, u32),
    pub touches: (u32, u32),
}

impl MoveEffects {
    fn is_none(&self) -> bool {
        let is_empty = |span: (u32, u32)| span.0 == span.1;
        is_empty(self.changes) && is_empty(self.keeps) && is_empty(self.touches)
    }
}

/// Returns the part of a list that belongs to a move.
#[inline]
fn part<T>(list: &[T], span: (u32, u32)) -> &[T] {
    &list[span.0 as usize..span.1 as usize]
}

/// The start of a node's readers, of the readers of its negation, and of its flips; readers and
/// flips end where those of the next node begin.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Fan {
    pub plain: u32,
    pub negated: u32,
    pub flips: u32,
}

/// The positions of the outputs in the words of a [`NetState`].
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub n_fluent_words: usize,
    /// Number of words of fluents and percepts; percepts begin with a new word.
    pub n_next_words: usize,
    /// The words that say which fluents keep their values unless a move changes them.
    pub kept: Range<usize>,
    /// The word whose lowest bit says whether the game is over.
    pub terminal: usize,
    /// The words of each role's moves in the first plane, the first move in the first bit. A move
    /// is legal if its bit is set in every plane, and the guard of its role is true or the move
    /// does not need it.
    pub legal: Vec<Range<usize>>,
    /// The move in the first of those bits.
    pub first_moves: Vec<usize>,
    /// The distance between planes, in words.
    pub n_plane_words: usize,
    pub n_planes: usize,
}

/// A case of the terminal condition that is evaluated on demand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ending {
    pub literal: Literal,
    /// If there is a role, the case requires the guard of this role, and any legal move that needs
    /// the guard refutes the case.
    pub refuting_role: Option<usize>,
}

/// The values of a net.
#[derive(Clone, Debug)]
pub(crate) struct NetState {
    /// For each node, how many of its literals are false. Lazy nodes have 0 or 1, valid in the
    /// epoch in which they were evaluated.
    pub counts: Vec<Count>,
    /// Outputs, see [`Layout`]: idle values of fluents and percepts, the terminal bit, and the
    /// conditions of legal moves.
    pub bits: Vec<u64>,
    /// The changed nodes that have yet to propagate, at the front of the list.
    pub queue: Vec<u32>,
    pub n_queued: usize,
    /// The nonzero words of a role's legal moves, computed on demand.
    pub legal: Vec<u64>,
    /// The moves that are set, if any.
    pub played: Vec<MoveId>,
    /// The fluents and percepts of the next state.
    pub next: Vec<u64>,
    /// For each lazy node, the epoch in which it was evaluated.
    pub epochs: Vec<u32>,
    pub epoch: u32,
    /// For each lazy node, the index of the literal to check first: in nodes with many literals,
    /// the one that was false last time, because it often decides again.
    pub witnesses: Vec<u32>,
    /// For each output, the last epoch in which a move reached it.
    pub reached: Vec<u32>,
    pub met: Vec<u32>,
    /// For each role, the word in which a legal move was found last; it often has one again.
    pub found: Vec<usize>,
    pub home: Home,
}

/// How many literals of a node are false, doubled; plus one if its readers have counted it as true.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Count(u32);

impl Count {
    /// Creates the count of a node whose readers have counted its value.
    pub fn propagated(n_false: usize) -> Self {
        let n_false = u32::try_from(n_false).expect("the number of literals must fit in 31 bits");
        Count(n_false * 2 + u32::from(n_false == 0))
    }

    #[inline]
    pub fn holds(self) -> bool {
        self.0 < 2
    }

    /// Returns whether its readers have counted its value.
    #[inline]
    fn is_propagated(self) -> bool {
        self.holds() == (self.0 & 1 != 0)
    }

    #[inline]
    fn mark_propagated(&mut self) {
        self.0 ^= 1;
    }

    /// Negates the value of a fluent or move.
    #[inline]
    fn flip(&mut self) {
        self.0 ^= 2;
    }

    /// Counts a literal that became true or false; returns whether the value of the node changed.
    #[inline]
    fn count(&mut self, holds: bool) -> bool {
        if holds {
            self.0 -= 2;
            self.holds()
        } else {
            self.0 += 2;
            self.0 < 4
        }
    }
}

/// Updates counters after a literal became true or false. Writes those whose values changed to the
/// front of the list, which has room for all, and returns their number.
///
/// Which counters change can't be predicted, so each is written to the list and stays there only if
/// it changed.
#[inline(always)]
fn count(readers: &[u32], holds: bool, counts: &mut [Count], list: &mut [u32]) -> usize {
    let list = &mut list[..readers.len()];
    let mut n_crossed = 0;
    for &reader in readers {
        let crosses = counts[reader as usize].count(holds);
        list[n_crossed] = reader;
        n_crossed += usize::from(crosses);
    }
    n_crossed
}

/// Updates counters after a literal became true. It is a separate function because it needs all
/// registers, and so is [`count_up`].
#[inline(never)]
fn count_down(readers: &[u32], counts: &mut [Count], list: &mut [u32]) -> usize {
    count(readers, true, counts, list)
}

/// Updates counters after a literal became false.
#[inline(never)]
fn count_up(readers: &[u32], counts: &mut [Count], list: &mut [u32]) -> usize {
    count(readers, false, counts, list)
}

/// A state that was jumped to twice, with its values: searches enter trees at their roots again and
/// again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Home {
    state: BitSet,
    is_kept: bool,
    counts: Vec<Count>,
    bits: Vec<u64>,
    played: Vec<MoveId>,
}

/// Propagating a changed fluent costs about as much as copying this many counters.
const COPIES_A_CHANGE: usize = 64;

/// Lazy nodes with at least this many literals remember the literal that decided them.
const MIN_WITNESSED_LITERALS: usize = 5;

impl Net {
    /// Returns the net in the initial state.
    pub fn initial(&self) -> NetState {
        self.initial.clone()
    }

    /// Moves from a state to any other.
    pub fn jump(&self, net: &mut NetState, state: &mut BitSet, to: &BitSet) {
        let changed = state.words().iter().zip(to.words()).map(|(old, new)| old ^ new);
        let n_changed: u32 = changed.map(u64::count_ones).sum();
        let is_home = net.home.state == *to;
        if is_home && net.home.is_kept && n_changed as usize * COPIES_A_CHANGE > self.first_lazy {
            state.copy_from(to);
            net.counts[..self.first_lazy].copy_from_slice(&net.home.counts);
            net.bits.copy_from_slice(&net.home.bits);
            net.played.clone_from(&net.home.played);
            self.forget(net);
            return;
        }
        self.go(net, state, to.words());
        if !is_home {
            net.home.state.clone_from(to);
            net.home.is_kept = false;
        } else if !net.home.is_kept {
            net.home.is_kept = true;
            net.home.counts.clear();
            net.home.counts.extend_from_slice(&net.counts[..self.first_lazy]);
            net.home.bits.clone_from(&net.bits);
            net.home.played.clone_from(&net.played);
        }
    }

    /// Plays a joint move. Afterwards `next` holds the percepts, after the fluents.
    pub fn play(&self, net: &mut NetState, state: &mut BitSet, joint: &[MoveId]) {
        // Step 1. Propagate the moves, if some output needs that.
        let is_active = |played: &&MoveId| !self.effects[played.index()].is_none();
        let may_meet = joint.len() > 1 && joint.iter().filter(is_active).count() > 1;
        if may_meet || self.propagates_moves {
            self.set_moves(net, joint);
        }

        // Step 2. Compute the successor for the case that every role waits.
        let Layout { n_fluent_words, n_next_words, .. } = self.layout;
        for (word, next) in net.next[..n_fluent_words].iter_mut().enumerate() {
            *next =
                (state.words()[word] & net.bits[self.layout.kept.start + word]) | net.bits[word];
        }
        net.next[n_fluent_words..].copy_from_slice(&net.bits[n_fluent_words..n_next_words]);

        for &(word, mask) in &self.gates {
            let mut open = state.words()[word as usize] & mask;
            while open != 0 {
                let gate = word as usize * 64 + open.trailing_zeros() as usize;
                open &= open - 1;
                for &(fluent, literal) in self.gated.of(gate) {
                    let value = self.ask(net, literal);
                    net.next[fluent as usize / 64] |= u64::from(value) << (fluent % 64);
                }
            }
        }

        // Step 3. Apply the effects of each move, then those of several moves together.
        for played in joint {
            let effects = self.effects[played.index()];
            for &(word, mask) in part(&self.keeps, effects.keeps) {
                let word = word as usize;
                net.next[word] = (net.next[word] & !mask) | (state.words()[word] & mask);
            }
            for &(output, value) in part(&self.changes, effects.changes) {
                let value = self.ask(net, value);
                set_bit(&mut net.next, output, value);
            }
        }
        if may_meet {
            self.play_together(net, joint);
        }

        // Step 4. Move to the successor.
        let next = std::mem::take(&mut net.next);
        self.go(net, state, &next[..n_fluent_words]);
        net.next = next;
    }

    /// Sets the moves that are played.
    fn set_moves(&self, net: &mut NetState, joint: &[MoveId]) {
        if net.played.is_empty() {
            joint.iter().for_each(|&new| net.flip(self.first_move + new.index()));
        }
        let mut played = std::mem::take(&mut net.played);
        for (old, new) in played.iter().zip(joint).filter(|(old, new)| old != new) {
            net.flip(self.first_move + old.index());
            net.flip(self.first_move + new.index());
        }
        played.clear();
        played.extend_from_slice(joint);
        net.played = played;
        self.propagate(net);
    }

    /// Decides the outputs that several moves of a joint move reach; the moves must be set.
    fn play_together(&self, net: &mut NetState, joint: &[MoveId]) {
        net.met.clear();
        for played in joint {
            let NetState { reached, met, epoch, .. } = &mut *net;
            let mut reach = |output: u32| {
                if std::mem::replace(&mut reached[output as usize], *epoch) == *epoch {
                    met.push(output);
                }
            };
            let effects = self.effects[played.index()];
            part(&self.changes, effects.changes).iter().for_each(|&(output, _)| reach(output));
            part(&self.touches, effects.touches).iter().for_each(|&output| reach(output));
            for &(word, mut mask) in part(&self.keeps, effects.keeps) {
                while mask != 0 {
                    reach(word * 64 + mask.trailing_zeros());
                    mask &= mask - 1;
                }
            }
        }
        for idx in 0..net.met.len() {
            let output = net.met[idx];
            let value = self.ask(net, self.joint[output as usize]);
            set_bit(&mut net.next, output, value);
        }
    }

    /// Returns whether a literal is true in this state.
    #[inline]
    pub fn ask(&self, net: &mut NetState, literal: Literal) -> bool {
        let node = literal.node();
        if node >= self.first_lazy && net.epochs[node - self.first_lazy] != net.epoch {
            for &landing in self.landings.iter().take_while(|&&landing| (landing as usize) < node) {
                if net.epochs[landing as usize - self.first_lazy] != net.epoch {
                    self.evaluate(net, landing as usize);
                }
            }
            self.evaluate(net, node);
        }
        net.counts[node].holds() != literal.is_negated()
    }

    /// Evaluates a lazy node and its inputs until its value is decided.
    fn evaluate(&self, net: &mut NetState, node: usize) -> bool {
        let idx = node - self.first_lazy;
        let range = self.lazy_range(idx);
        let witness = net.witnesses[idx] as usize;
        let found = self.find_false(net, witness..range.end);
        let found = found.or_else(|| self.find_false(net, range.start..witness));
        if let Some(literal_idx) = found.filter(|_| range.len() >= MIN_WITNESSED_LITERALS) {
            net.witnesses[idx] = literal_idx as u32;
        }
        net.counts[node] = Count::propagated(usize::from(found.is_some()));
        net.epochs[idx] = net.epoch;
        found.is_none()
    }

    /// Returns the index of the first false literal in a range of literals of lazy nodes.
    #[inline]
    fn find_false(&self, net: &mut NetState, mut range: Range<usize>) -> Option<usize> {
        range.find(|&literal_idx| {
            let literal = self.lazy_literals[literal_idx];
            let node = literal.node();
            let is_known =
                node < self.first_lazy || net.epochs[node - self.first_lazy] == net.epoch;
            let holds = if is_known { net.counts[node].holds() } else { self.evaluate(net, node) };
            holds == literal.is_negated()
        })
    }

    /// Returns the range of the literals of a lazy node; the first lazy node is number 0.
    #[inline]
    fn lazy_range(&self, idx: usize) -> Range<usize> {
        let start = if idx == 0 { 0 } else { self.lazy_ends[idx - 1] };
        start as usize..self.lazy_ends[idx] as usize
    }

    /// Returns the inputs of a lazy node; the first lazy node is number 0.
    pub fn lazy_inputs(&self, idx: usize) -> &[Literal] {
        &self.lazy_literals[self.lazy_range(idx)]
    }

    /// Returns whether a percept was seen in the last step.
    pub fn is_seen(&self, net: &NetState, percept: usize) -> bool {
        let bit = self.layout.n_fluent_words * 64 + percept;
        net.next[bit / 64] >> (bit % 64) & 1 != 0
    }

    /// Returns whether the game is over.
    pub fn is_terminal(&self, net: &mut NetState) -> bool {
        net.bits[self.layout.terminal] & 1 != 0
            || self.endings.iter().any(|ending| {
                let is_refuted = |role| self.refutes_endings(net, role);
                !ending.refuting_role.is_some_and(is_refuted) && self.ask(net, ending.literal)
            })
    }

    /// Returns whether the guard of a role is false, or a move that needs it is legal.
    fn refutes_endings(&self, net: &mut NetState, role: usize) -> bool {
        let Guard { literal, others } = &self.guards[role];
        if net.counts[literal.node()].holds() == literal.is_negated() {
            return true;
        }
        let words = &self.layout.legal[role];
        let has_move = |word: usize| {
            let planes = net.bits[words.start + word..].iter().step_by(self.layout.n_plane_words);
            let legal = planes.take(self.layout.n_planes).fold(u64::MAX, |legal, it| legal & it);
            let unguarded = others.iter().filter(|(of, _)| *of == word);
            unguarded.fold(legal, |legal, (_, mask)| legal & !mask) != 0
        };
        if has_move(net.found[role]) {
            return true;
        }
        let found = (0..words.len()).find(|&word| has_move(word));
        net.found[role] = found.unwrap_or(0);
        found.is_some()
    }

    /// Computes the legal moves of a role as a bit set and returns its first word. Word 0 begins
    /// with the role's first move; words that are left out are zero.
    #[inline(always)]
    fn find_legal(&self, net: &mut NetState, role: usize) -> usize {
        let words = self.layout.legal[role].clone();
        let Guard { literal, others } = &self.guards[role];
        net.legal.clear();
        if net.counts[literal.node()].holds() == literal.is_negated() {
            let first = others.first().map_or(0, |&(word, _)| word);
            for &(word, mask) in others {
                let planes =
                    net.bits[words.start + word..].iter().step_by(self.layout.n_plane_words);
                let legal = planes.take(self.layout.n_planes).fold(mask, |legal, it| legal & it);
                net.legal.resize(word - first, 0);
                net.legal.push(legal);
            }
            return first;
        }
        net.legal.extend_from_slice(&net.bits[words.clone()]);
        for plane in 1..self.layout.n_planes {
            let start = words.start + plane * self.layout.n_plane_words;
            let plane = &net.bits[start..start + words.len()];
            for (word, plane) in net.legal.iter_mut().zip(plane) {
                *word &= plane;
            }
        }
        0
    }

    /// Lists the legal moves of a role, ascending.
    pub fn list_legal_moves(&self, net: &mut NetState, role: usize, list: &mut Vec<MoveId>) {
        let first_word = self.find_legal(net, role);
        list.clear();
        let first = self.layout.first_moves[role] + first_word * 64;
        for (word_idx, &word) in net.legal.iter().enumerate() {
            let mut word = word;
            while word != 0 {
                list.push(MoveId::new(first + word_idx * 64 + word.trailing_zeros() as usize));
                word &= word - 1;
            }
        }
    }

    /// Draws one of a role's legal moves: the same as a draw from the list of them.
    #[inline(always)]
    pub fn draw_move(&self, net: &mut NetState, role: usize, rng: &mut Rng) -> Option<MoveId> {
        let first_word = self.find_legal(net, role);
        // A loop, because the sum of an iterator would not use the instruction for counting bits.
        let mut n_moves = 0;
        for word in &net.legal {
            n_moves += word.count_ones();
        }
        if n_moves == 0 {
            return None;
        }
        let mut rest = rng.below(n_moves as usize) as u32;
        for (word_idx, &word) in net.legal.iter().enumerate() {
            let n_here = word.count_ones();
            if rest >= n_here {
                rest -= n_here;
                continue;
            }
            let mut word = word;
            for _ in 0..rest {
                word &= word - 1;
            }
            let bit = (first_word + word_idx) * 64 + word.trailing_zeros() as usize;
            return Some(MoveId::new(self.layout.first_moves[role] + bit));
        }
        unreachable!("the number drawn is below the number of moves")
    }

    /// Changes the fluents to those of a state and propagates the changes.
    fn go(&self, net: &mut NetState, state: &mut BitSet, to: &[u64]) {
        for (word_idx, (old, &new)) in state.words_mut().iter_mut().zip(to).enumerate() {
            let mut changed = *old ^ new;
            *old = new;
            while changed != 0 {
                let bit = changed.trailing_zeros() as usize;
                changed &= changed - 1;
                net.flip(1 + word_idx * 64 + bit);
            }
        }
        self.propagate(net);
        self.forget(net);
    }

    /// Propagates all changes, in the order in which they came up, so that most inputs of a node
    /// have settled before its readers count it.
    fn propagate(&self, net: &mut NetState) {
        let NetState { counts, bits, queue, .. } = net;
        let mut n_queued = std::mem::take(&mut net.n_queued);
        let mut n_propagated = 0;
        while n_propagated < n_queued {
            let node = queue[n_propagated] as usize;
            n_propagated += 1;
            // The node may have changed back while it waited.
            if counts[node].is_propagated() {
                continue;
            }
            counts[node].mark_propagated();
            let holds = counts[node].holds();
            let (fan, end) = (self.fans[node], self.fans[node + 1]);
            let plain = &self.readers[fan.plain as usize..fan.negated as usize];
            let negated = &self.readers[fan.negated as usize..end.plain as usize];
            let (down, up) = if holds { (plain, negated) } else { (negated, plain) };
            let n_readers = down.len() + up.len();
            if queue.len() < n_queued + n_readers {
                queue.resize(2 * (n_queued + n_readers), 0);
            }
            if !down.is_empty() {
                n_queued += count_down(down, counts, &mut queue[n_queued..]);
            }
            if !up.is_empty() {
                n_queued += count_up(up, counts, &mut queue[n_queued..]);
            }
            for &(word, mask) in &self.flips[fan.flips as usize..end.flips as usize] {
                bits[word as usize] ^= mask;
            }
        }
    }

    /// Invalidates all lazily evaluated nodes.
    fn forget(&self, net: &mut NetState) {
        if net.epoch == u32::MAX {
            net.epochs.fill(0);
            net.reached.fill(0);
            net.epoch = 0;
        }
        net.epoch += 1;
    }
}

impl NetState {
    /// Records a change of a fluent or move.
    #[inline]
    fn flip(&mut self, node: usize) {
        self.counts[node].flip();
        if self.n_queued == self.queue.len() {
            self.queue.resize(2 * self.n_queued + 64, 0);
        }
        self.queue[self.n_queued] = node as u32;
        self.n_queued += 1;
    }
}

#[inline]
fn set_bit(words: &mut [u64], idx: u32, value: bool) {
    let word = &mut words[idx as usize / 64];
    *word = (*word & !(1 << (idx % 64))) | u64::from(value) << (idx % 64);
}
