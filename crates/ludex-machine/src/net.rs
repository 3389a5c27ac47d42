//! A net of counters, for moving from a state to its neighbours.
//!
//! A node is a fluent or a conjunction that counts those of its literals that do not hold. A change of
//! a fluent is told to the nodes that read it, and goes on from those whose count reaches or leaves
//! zero. What does not change costs nothing.
//!
//! Moves are no part of that: a step applies the [`Effects`](crate::effects) of its moves. What only
//! they need, and the goals, are *lazy* nodes: evaluated when asked for, and remembered until the
//! state changes.

use std::ops::Range;

use ludex_base::{BitSet, MoveId, Rng};

use crate::conjunctions::Literal;
use crate::effects::Lists;

/// A circuit without loops as a net.
#[derive(Clone, Debug)]
pub(crate) struct Net {
    /// Nodes are the constant, the fluents, the moves, the counters, and the lazy nodes from here on.
    pub(crate) first_lazy: usize,
    pub(crate) first_move: usize,
    /// Who is told of a change of a fluent or counter.
    pub(crate) fans: Vec<Fan>,
    pub(crate) readers: Vec<u32>,
    /// For each lazy node, where its literals end.
    pub(crate) lazy_ends: Vec<u32>,
    pub(crate) lazy_literals: Vec<Literal>,

    pub(crate) layout: Layout,
    /// The fluents that keep their value unless a move changes them.
    pub(crate) persistent: Vec<u64>,
    /// For each move, its effects: see [`Effects`](crate::effects::Effects).
    pub(crate) effects: Vec<MoveEffects>,
    pub(crate) changes: Vec<(u32, Literal)>,
    pub(crate) keeps: Vec<(u32, u64)>,
    pub(crate) touches: Vec<u32>,
    /// For outputs that several roles' moves may change at once, what decides them.
    pub(crate) joint: Vec<Literal>,
    /// Whether some output is told of moves.
    pub(crate) tells_moves: bool,
    /// For each guard, the legal moves that need it: words and the bits in them.
    pub(crate) guards: Lists<(u32, u64)>,
    /// For each goal of the circuit.
    pub(crate) goals: Vec<Literal>,
    /// The net in the initial state.
    pub(crate) initial: NetState,
}

/// Where the effects of a move are: side by side, as every step looks them up at random.
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

/// The part of a list that a move has.
#[inline]
fn part<T>(list: &[T], span: (u32, u32)) -> &[T] {
    &list[span.0 as usize..span.1 as usize]
}

/// The readers of a node: counters of the node, counters of its negation, then outputs, until those of
/// the next node begin.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Fan {
    pub plain: u32,
    pub negated: u32,
    pub outputs: u32,
}

/// Where the outputs are in the words of a [`NetState`]. An output beyond the words is a guard.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub n_fluent_words: usize,
    /// Of fluents and percepts, which begin with a new word.
    pub n_next_words: usize,
    /// The words of each role's legal moves, the first move in the first bit.
    pub legal: Vec<Range<usize>>,
    /// The move in the first of those bits.
    pub first_moves: Vec<usize>,
    /// The word whose lowest bit says whether the game is over: the last.
    pub terminal: usize,
}

/// The values of a net.
#[derive(Clone, Debug)]
pub(crate) struct NetState {
    /// How many literals of a node do not hold, so that it holds at 0. Lazy nodes have 0 or 1, which is
    /// valid in the epoch they were evaluated in.
    pub counts: Vec<u32>,
    /// Outputs, see [`Layout`]: idle values of fluents and percepts, moves that are legal if their guard
    /// holds, and whether the game is over.
    pub bits: Vec<u64>,
    /// The moves whose guards hold; only the words of legal moves are used.
    pub guarded: Vec<u64>,
    /// For each node that is told of, whether it has changed since it told its readers.
    pub is_pending: Vec<bool>,
    pub queue: Vec<u32>,
    /// The moves that are set, if any.
    pub played: Vec<MoveId>,
    /// What is true and seen next.
    pub next: Vec<u64>,
    /// For each lazy node, when it was evaluated.
    pub epochs: Vec<u32>,
    pub epoch: u32,
    pub frames: Vec<(u32, u32)>,
    /// For each output, the last epoch in which a move reached it.
    pub reached: Vec<u32>,
    pub met: Vec<u32>,
    pub home: Home,
}

/// A state that was jumped to twice, with its values: trees are entered at their roots again and again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Home {
    state: BitSet,
    is_kept: bool,
    counts: Vec<u32>,
    bits: Vec<u64>,
    guarded: Vec<u64>,
    played: Vec<MoveId>,
}

/// Telling a changed fluent costs about as much as copying so many counters.
const COPIES_A_CHANGE: usize = 64;

impl Net {
    /// The net in the initial state.
    pub fn initial(&self) -> NetState {
        self.initial.clone()
    }

    /// Goes from a state to any other.
    pub fn jump(&self, net: &mut NetState, state: &mut BitSet, to: &BitSet) {
        let changed = state.words().iter().zip(to.words()).map(|(old, new)| old ^ new);
        let n_changed: u32 = changed.map(u64::count_ones).sum();
        let is_home = net.home.state == *to;
        if is_home && net.home.is_kept && n_changed as usize * COPIES_A_CHANGE > self.first_lazy {
            state.copy_from(to);
            net.counts[..self.first_lazy].copy_from_slice(&net.home.counts);
            net.bits.copy_from_slice(&net.home.bits);
            net.guarded.copy_from_slice(&net.home.guarded);
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
            net.home.guarded.clone_from(&net.guarded);
            net.home.played.clone_from(&net.played);
        }
    }

    /// Plays a joint move. What was seen is in `next` then, after the fluents.
    pub fn play(&self, net: &mut NetState, state: &mut BitSet, joint: &[MoveId]) {
        // Step 1. Tell the moves, where that is needed.
        let is_active = |played: &&MoveId| !self.effects[played.index()].is_none();
        let may_meet = joint.len() > 1 && joint.iter().filter(is_active).count() > 1;
        if may_meet || self.tells_moves {
            self.set_moves(net, joint);
        }

        // Step 2. What follows if every role waits.
        let Layout { n_fluent_words, n_next_words, .. } = self.layout;
        for (word, next) in net.next[..n_fluent_words].iter_mut().enumerate() {
            *next = (state.words()[word] & self.persistent[word]) | net.bits[word];
        }
        net.next[n_fluent_words..].copy_from_slice(&net.bits[n_fluent_words..n_next_words]);

        // Step 3. What the moves change, each by itself, then together.
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

        // Step 4. Go there.
        let next = std::mem::take(&mut net.next);
        self.go(net, state, &next[..n_fluent_words]);
        net.next = next;
    }

    /// Sets the moves that are played.
    fn set_moves(&self, net: &mut NetState, joint: &[MoveId]) {
        let NetState { counts, is_pending, queue, played, .. } = net;
        let mut flip = |changed: MoveId| {
            let node = self.first_move + changed.index();
            counts[node] ^= 1;
            is_pending[node] = true;
            queue.push(node as u32);
        };
        if played.is_empty() {
            joint.iter().for_each(|&new| flip(new));
        }
        for (&old, &new) in played.iter().zip(joint).filter(|(old, new)| old != new) {
            flip(old);
            flip(new);
        }
        played.clear();
        played.extend_from_slice(joint);
        self.tell(net);
    }

    /// Decides the outputs that several moves of a joint move reach; the moves are set.
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

    /// Whether a literal holds in this state.
    #[inline]
    pub fn ask(&self, net: &mut NetState, literal: Literal) -> bool {
        let node = literal.node();
        if node >= self.first_lazy && net.epochs[node - self.first_lazy] != net.epoch {
            self.evaluate(net, node);
        }
        (net.counts[node] == 0) != literal.is_negated()
    }

    /// Evaluates a lazy node and what it needs, until it is decided.
    fn evaluate(&self, net: &mut NetState, node: usize) {
        let first_literal = |node: usize| match node - self.first_lazy {
            0 => 0,
            idx => self.lazy_ends[idx - 1],
        };
        net.frames.clear();
        net.frames.push((node as u32, first_literal(node)));
        'frames: while let Some((node, position)) = net.frames.last_mut() {
            let node = *node as usize;
            let end = self.lazy_ends[node - self.first_lazy];
            let mut holds = true;
            while *position < end {
                let literal = self.lazy_literals[*position as usize];
                let input = literal.node();
                if input >= self.first_lazy && net.epochs[input - self.first_lazy] != net.epoch {
                    net.frames.push((input as u32, first_literal(input)));
                    continue 'frames;
                }
                if (net.counts[input] == 0) == literal.is_negated() {
                    holds = false;
                    break;
                }
                *position += 1;
            }
            net.counts[node] = u32::from(!holds);
            net.epochs[node - self.first_lazy] = net.epoch;
            net.frames.pop();
        }
    }

    /// Whether a percept was seen in the last step.
    pub fn is_seen(&self, net: &NetState, percept: usize) -> bool {
        let bit = self.layout.n_fluent_words * 64 + percept;
        net.next[bit / 64] >> (bit % 64) & 1 != 0
    }

    /// Whether the game is over.
    pub fn is_terminal(&self, net: &NetState) -> bool {
        net.bits[self.layout.terminal] & 1 != 0
    }

    /// A role's legal moves as a set: the first of its moves is the first bit.
    #[inline]
    fn legal_words(&self, net: &NetState, role: usize) -> impl Iterator<Item = u64> {
        let words = self.layout.legal[role].clone();
        net.bits[words.clone()]
            .iter()
            .zip(&net.guarded[words])
            .map(|(word, guarded)| word & guarded)
    }

    /// A role's legal moves, ascending.
    pub fn list_legal_moves(&self, net: &NetState, role: usize, list: &mut Vec<MoveId>) {
        list.clear();
        let first = self.layout.first_moves[role];
        for (word_idx, mut word) in self.legal_words(net, role).enumerate() {
            while word != 0 {
                list.push(MoveId::new(first + word_idx * 64 + word.trailing_zeros() as usize));
                word &= word - 1;
            }
        }
    }

    /// One of a role's legal moves: the same as if drawn from the list of them.
    #[inline(always)]
    pub fn draw_move(&self, net: &NetState, role: usize, rng: &mut Rng) -> Option<MoveId> {
        let n_moves: u32 = self.legal_words(net, role).map(u64::count_ones).sum();
        if n_moves == 0 {
            return None;
        }
        let mut rest = rng.below(n_moves as usize) as u32;
        for (word_idx, mut word) in self.legal_words(net, role).enumerate() {
            let n_here = word.count_ones();
            if rest >= n_here {
                rest -= n_here;
                continue;
            }
            for _ in 0..rest {
                word &= word - 1;
            }
            let bit = word_idx * 64 + word.trailing_zeros() as usize;
            return Some(MoveId::new(self.layout.first_moves[role] + bit));
        }
        unreachable!("the number drawn is below the number of moves")
    }

    /// Makes the fluents those of a state and tells what has changed.
    fn go(&self, net: &mut NetState, state: &mut BitSet, to: &[u64]) {
        for (word_idx, (old, &new)) in state.words_mut().iter_mut().zip(to).enumerate() {
            let mut changed = *old ^ new;
            *old = new;
            while changed != 0 {
                let bit = changed.trailing_zeros() as usize;
                changed &= changed - 1;
                let node = 1 + word_idx * 64 + bit;
                net.counts[node] ^= 1;
                net.is_pending[node] = true;
                net.queue.push(node as u32);
            }
        }
        self.tell(net);
        self.forget(net);
    }

    /// Tells all changes until there are no more, in the order they came up, so that most of what a
    /// node reads has settled before it tells.
    fn tell(&self, net: &mut NetState) {
        let NetState { counts, bits, guarded, is_pending, queue, .. } = net;
        let mut n_told = 0;
        while n_told < queue.len() {
            let node = queue[n_told] as usize;
            n_told += 1;
            // It may have changed back while it waited.
            if !std::mem::take(&mut is_pending[node]) {
                continue;
            }
            let (fan, end) = (self.fans[node], self.fans[node + 1].plain);
            let plain = &self.readers[fan.plain as usize..fan.negated as usize];
            let negated = &self.readers[fan.negated as usize..fan.outputs as usize];
            let (falling, rising) =
                if counts[node] == 0 { (plain, negated) } else { (negated, plain) };
            let mut cross = |reader: u32| {
                let is_pending = &mut is_pending[reader as usize];
                *is_pending = !*is_pending;
                if *is_pending {
                    queue.push(reader);
                }
            };
            for &reader in falling {
                let count = &mut counts[reader as usize];
                *count -= 1;
                if *count == 0 {
                    cross(reader);
                }
            }
            for &reader in rising {
                let count = &mut counts[reader as usize];
                *count += 1;
                if *count == 1 {
                    cross(reader);
                }
            }
            for &output in &self.readers[fan.outputs as usize..end as usize] {
                match bits.get_mut(output as usize / 64) {
                    Some(word) => *word ^= 1 << (output % 64),
                    None => {
                        for &(word, mask) in self.guards.of(output as usize - bits.len() * 64) {
                            guarded[word as usize] ^= mask;
                        }
                    }
                }
            }
        }
        queue.clear();
    }

    /// What was evaluated lazily is of another state now.
    fn forget(&self, net: &mut NetState) {
        if net.epoch == u32::MAX {
            net.epochs.fill(0);
            net.reached.fill(0);
            net.epoch = 0;
        }
        net.epoch += 1;
    }
}

#[inline]
fn set_bit(words: &mut [u64], idx: u32, value: bool) {
    let word = &mut words[idx as usize / 64];
    *word = (*word & !(1 << (idx % 64))) | u64::from(value) << (idx % 64);
}
