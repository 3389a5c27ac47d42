//! The effects of moves: the circuit specialised to each move.
//!
//! Every role plays one move, and a move affects few of the many fluents. So an output of a
//! transition (a fluent of the next state, or a percept) is split in two: its *idle* value, when
//! every role waits; and for each move that changes it, its simplified value when one role plays
//! the move and the others wait. The latter is mostly a constant or the fluent itself; the moves
//! that keep fluents store them as a set. A step then takes the idle values, keeps what the move
//! keeps, and applies its short list of changes.
//!
//! A role *waits* by playing the one move that it has when it is not its turn, if there is such a
//! move; otherwise by playing none.
//!
//! Where moves of several roles affect the same output, their lists can't decide it, so the circuit
//! itself is evaluated for it. An output that nearly every move changes in its own way is not
//! specialised: changes of moves propagate to it like changes of fluents.

use std::ops::Range;

use ludex_base::{Pace, StopReason};

use crate::net::conjunctions::{Conjunctions, Literal};

/// Specialising stops after this many literals: in some games many moves affect everything.
const MAX_WORK: usize = 30_000_000;

/// Number of moves to try when looking for outputs that nearly every move changes.
const N_TRIED: usize = 6;

/// Largest number of words for the sets of fluents that moves keep.
const MAX_MASK_WORDS: usize = 4_000_000;

/// The outputs of a transition, by what changes them.
#[derive(Clone, Debug)]
pub(crate) struct Effects {
    /// For each output, its value if every role waits.
    pub idle: Vec<Literal>,
    /// For each move, the outputs that it changes, and their values if the others wait.
    pub changes: Lists<Change>,
    /// For each move, the fluents that keep their values if the others wait: words and bits.
    pub keeps: Lists<(u32, u64)>,
    /// For each move, the outputs that have their idle values if the others wait, but that it may
    /// change together with a move of another role.
    pub touches: Lists<u32>,
    /// For each output, whether moves of several roles may affect it together.
    pub is_joint: Vec<bool>,
    /// For each output, whether it counts moves like fluents; it is then in no list.
    pub follows_moves: Vec<bool>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    pub output: u32,
    pub value: Literal,
    /// Whether the output is a fluent and the value is the fluent itself.
    pub is_keeping: bool,
}

/// One list for each of many numbers, stored contiguously.
#[derive(Clone, Debug)]
pub(crate) struct Lists<T> {
    ends: Vec<u32>,
    entries: Vec<T>,
}

impl<T> Lists<T> {
    fn new() -> Self {
        Self { ends: Vec::new(), entries: Vec::new() }
    }

    /// Creates an empty list for each of `n` numbers.
    fn empty(n: usize) -> Self {
        Self { ends: vec![0; n], entries: Vec::new() }
    }

    /// Ends the list that is being filled.
    fn end(&mut self) {
        self.ends.push(
            u32::try_from(self.entries.len()).expect("the number of entries must fit in 32 bits"),
        );
    }

    #[inline]
    pub fn of(&self, idx: usize) -> &[T] {
        let start = if idx == 0 { 0 } else { self.ends[idx - 1] as usize };
        &self.entries[start..self.ends[idx] as usize]
    }

    /// Returns the range of the list of a number among all entries.
    pub fn span(&self, idx: usize) -> (u32, u32) {
        (if idx == 0 { 0 } else { self.ends[idx - 1] }, self.ends[idx])
    }

    /// Returns the entries of all lists.
    pub fn all(&self) -> &[T] {
        &self.entries
    }
}

/// The roles whose moves a node depends on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reads {
    Nothing,
    Role(u32),
    Many,
}

impl Effects {
    /// Specialises the outputs to each move. `moves_of` holds the moves of each role, ascending,
    /// and `waiting` the move by which it waits. A step of the pace is a visit of a node.
    pub fn new(
        table: &mut Conjunctions,
        outputs: &[Literal],
        moves_of: &[Range<usize>],
        waiting: &[Option<usize>],
        pace: &Pace<'_>,
    ) -> Result<Effects, StopReason> {
        let reads = reads(table, moves_of);
        let idle = Idle::new(table, &reads, waiting);
        let is_joint = outputs.iter().map(|it| reads[it.node()] == Reads::Many).collect();
        let mut effects = Effects {
            idle: outputs.iter().map(|&it| idle.value(it)).collect(),
            changes: Lists::new(),
            keeps: Lists::new(),
            touches: Lists::new(),
            is_joint,
            follows_moves: vec![false; outputs.len()],
        };
        let moves: Vec<(usize, Option<usize>)> = (moves_of.iter().zip(waiting))
            .flat_map(|(moves, &waiting)| moves.clone().map(move |it| (it, waiting)))
            .collect();

        // Step 1. Try some moves, to find the outputs that are not worth specialising.
        let n_old = table.n_nodes();
        let mut n_own = vec![0; outputs.len()];
        let step = moves.len().div_ceil(N_TRIED).max(1);
        let mut pass = Pass::new(table, &idle, &reads, outputs, &effects.follows_moves);
        for &(played, waiting) in moves.iter().step_by(step) {
            pace.check()?;
            pass.specialise(played, waiting, &mut effects);
        }
        let is_own = |change: &&Change| change.value.node() >= n_old;
        effects.changes.entries.iter().filter(is_own).for_each(|it| n_own[it.output as usize] += 1);
        let n_tried = moves.len().div_ceil(step);
        for (follows_moves, n_own) in effects.follows_moves.iter_mut().zip(n_own) {
            *follows_moves = 2 * n_own > n_tried && n_tried > 4;
        }

        // Step 2. Specialise to all moves.
        effects.changes = Lists::new();
        effects.touches = Lists::new();
        let mut pass = Pass::new(table, &idle, &reads, outputs, &effects.follows_moves);
        for &(played, waiting) in &moves {
            if pass.n_work <= MAX_WORK {
                let n_before = pass.n_work;
                pass.specialise(played, waiting, &mut effects);
                pace.steps(1 + pass.n_work - n_before)?;
            }
            effects.end_move();
        }
        if pass.n_work > MAX_WORK {
            effects.changes = Lists::empty(moves.len());
            effects.keeps = Lists::empty(moves.len());
            effects.touches = Lists::empty(moves.len());
            for (follows_moves, output) in effects.follows_moves.iter_mut().zip(outputs) {
                *follows_moves = reads[output.node()] != Reads::Nothing;
            }
        }
        Ok(effects)
    }

    /// Ends the lists of a move, and moves the fluents that it keeps to a separate list.
    fn end_move(&mut self) {
        let start = self.changes.ends.last().map_or(0, |&end| end as usize);
        if self.keeps.entries.len() < MAX_MASK_WORDS {
            let first_keep = self.keeps.entries.len();
            let mut n_left = start;
            self.changes.entries[start..].sort_unstable_by_key(|change| change.output);
            for idx in start..self.changes.entries.len() {
                let change = self.changes.entries[idx];
                if !change.is_keeping {
                    self.changes.entries[n_left] = change;
                    n_left += 1;
                    continue;
                }
                let (word, bit) = (change.output / 64, 1 << (change.output % 64));
                match self.keeps.entries[first_keep..].last_mut() {
                    Some((last, mask)) if *last == word => *mask |= bit,
                    _ => self.keeps.entries.push((word, bit)),
                }
            }
            self.changes.entries.truncate(n_left);
        }
        self.changes.end();
        self.keeps.end();
        self.touches.end();
    }
}

fn reads(table: &Conjunctions, moves_of: &[Range<usize>]) -> Vec<Reads> {
    let mut reads = vec![Reads::Nothing; table.n_nodes()];
    for (role, moves) in moves_of.iter().enumerate() {
        for played in moves.clone() {
            reads[table.move_node(played)] = Reads::Role(role as u32);
        }
    }
    for node in table.first()..table.n_nodes() {
        let of_inputs = table.literals(node).iter().map(|literal| reads[literal.node()]);
        reads[node] = of_inputs.fold(Reads::Nothing, |a, b| match (a, b) {
            (Reads::Nothing, other) | (other, Reads::Nothing) => other,
            (a, b) if a == b => a,
            _ => Reads::Many,
        });
    }
    reads
}

/// The values of the nodes while every role waits.
struct Idle {
    values: Vec<Literal>,
    /// For each node that reads moves, its inputs that are not constantly true when idle.
    open_inputs: Lists<Literal>,
}

impl Idle {
    fn new(table: &mut Conjunctions, reads: &[Reads], waiting: &[Option<usize>]) -> Self {
        let n_nodes = reads.len();
        let mut values: Vec<Literal> = (0..n_nodes).map(Literal::of).collect();
        let mut open_inputs = Lists::new();
        let first_move = table.move_node(0);
        values[first_move..table.first()].fill(Literal::FALSE);
        for &played in waiting.iter().flatten() {
            values[table.move_node(played)] = Literal::TRUE;
        }
        let mut list = Vec::new();
        for node in 0..n_nodes {
            if node >= table.first() && reads[node] != Reads::Nothing {
                let value = |it: &Literal| values[it.node()].negated_if(it.is_negated());
                let is_open = |it: &&Literal| value(it) != Literal::TRUE;
                open_inputs.entries.extend(table.literals(node).iter().filter(is_open));
                list.clear();
                list.extend(table.literals(node).iter().map(value));
                values[node] = table.and(&mut list);
            }
            open_inputs.end();
        }
        Self { values, open_inputs }
    }

    fn value(&self, literal: Literal) -> Literal {
        self.values[literal.node()].negated_if(literal.is_negated())
    }
}

struct Pass<'a> {
    table: &'a mut Conjunctions,
    idle: &'a Idle,
    reads: &'a [Reads],
    outputs: &'a [Literal],
    /// The conjunctions that read a node that depends on moves: their numbers, with the literal.
    readers: Lists<(u32, Literal)>,
    /// The outputs that are a node that depends on moves, or its negation.
    outputs_of: Lists<u32>,
    /// The set of nodes to be specialised, processed in ascending order.
    open: Vec<u64>,
    /// The first and the last word of that set that may be nonzero.
    open_words: (usize, usize),
    /// For each node of the set, the last link in the chain of its literals that the move reaches.
    last_links: Vec<u32>,
    links: Vec<(Literal, u32)>,
    /// The specialised values of the nodes that the move reaches.
    values: Vec<Literal>,
    /// The last move that reached a node.
    reached_by: Vec<u32>,
    n_work: usize,
}

const NO_MOVE: u32 = u32::MAX;
const NO_LINK: u32 = u32::MAX;

impl<'a> Pass<'a> {
    fn new(
        table: &'a mut Conjunctions,
        idle: &'a Idle,
        reads: &'a [Reads],
        outputs: &'a [Literal],
        follows_moves: &[bool],
    ) -> Self {
        let n_nodes = reads.len();
        // Only nodes that specialised outputs depend on matter.
        let mut is_needed = vec![false; table.n_nodes()];
        let specialised =
            || outputs.iter().zip(follows_moves).enumerate().filter(|(_, (_, follows))| !**follows);
        specialised().for_each(|(_, (&literal, _))| table.mark_cone(literal, &mut is_needed));
        let depends = |literal: &Literal| reads[literal.node()] != Reads::Nothing;
        let mut edges: Vec<(u32, (u32, Literal))> = Vec::new();
        for node in (table.first()..n_nodes).filter(|&node| is_needed[node]) {
            let inputs = table.literals(node).iter().filter(|it| depends(it));
            edges.extend(inputs.map(|&it| (it.node() as u32, (node as u32, it))));
        }
        let of_outputs = specialised().filter(|(_, (it, _))| depends(it));
        let of_outputs = of_outputs.map(|(idx, (it, _))| (it.node() as u32, idx as u32)).collect();
        Self {
            readers: sorted_lists(n_nodes, edges),
            outputs_of: sorted_lists(n_nodes, of_outputs),
            open: vec![0; n_nodes.div_ceil(64)],
            open_words: (usize::MAX, 0),
            last_links: vec![NO_LINK; n_nodes],
            links: Vec::new(),
            values: vec![Literal::FALSE; n_nodes],
            reached_by: vec![NO_MOVE; n_nodes],
            n_work: 0,
            table,
            idle,
            reads,
            outputs,
        }
    }

    /// Visits all nodes that a move reaches, inputs before the conjunctions that read them.
    fn specialise(&mut self, played: usize, waiting: Option<usize>, effects: &mut Effects) {
        if waiting == Some(played) {
            return;
        }
        let mut list = Vec::new();
        self.links.clear();
        self.reach(self.table.move_node(played), Literal::TRUE, played, effects);
        if let Some(waiting) = waiting {
            self.reach(self.table.move_node(waiting), Literal::FALSE, played, effects);
        }
        while let Some(node) = self.next_open() {
            list.clear();
            let mut link = std::mem::replace(&mut self.last_links[node], NO_LINK);
            while link != NO_LINK {
                let (literal, before) = self.links[link as usize];
                list.push(self.value(literal, played));
                link = before;
            }
            if !list.contains(&Literal::FALSE) {
                let rest = self.idle.open_inputs.of(node).iter();
                let rest = rest.filter(|it| self.reached_by[it.node()] != played as u32);
                list.extend(rest.map(|&it| self.idle.value(it)));
            }
            self.n_work += list.len() + self.readers.of(node).len() + 1;
            let value = if list.contains(&Literal::FALSE) {
                Literal::FALSE
            } else {
                self.table.and(&mut list)
            };
            // A node that depends on one role's moves and keeps its idle value changes nothing
            // further. A node that depends on several roles may still change together with another
            // move.
            if value != self.idle.values[node] || self.reads[node] == Reads::Many {
                self.reach(node, value, played, effects);
            }
        }
    }

    /// Records the value of a node and continues with its readers.
    fn reach(&mut self, node: usize, value: Literal, played: usize, effects: &mut Effects) {
        self.values[node] = value;
        self.reached_by[node] = played as u32;
        for &(reader, literal) in self.readers.of(node) {
            let reader = reader as usize;
            let before = std::mem::replace(&mut self.last_links[reader], self.links.len() as u32);
            self.links.push((literal, before));
            let word = reader / 64;
            self.open[word] |= 1 << (reader % 64);
            self.open_words = (self.open_words.0.min(word), self.open_words.1.max(word));
        }
        for &output in self.outputs_of.of(node) {
            let value = value.negated_if(self.outputs[output as usize].is_negated());
            if value != effects.idle[output as usize] {
                let is_keeping = (output as usize) < self.table.n_fluents
                    && value == Literal::of(self.table.fluent_node(output as usize));
                effects.changes.entries.push(Change { output, value, is_keeping });
            } else if effects.is_joint[output as usize] {
                effects.touches.entries.push(output);
            }
        }
    }

    /// Removes and returns the first node of the set.
    fn next_open(&mut self) -> Option<usize> {
        while self.open_words.0 <= self.open_words.1 {
            let word = &mut self.open[self.open_words.0];
            if *word != 0 {
                let bit = word.trailing_zeros() as usize;
                *word &= *word - 1;
                return Some(self.open_words.0 * 64 + bit);
            }
            self.open_words.0 += 1;
        }
        self.open_words = (usize::MAX, 0);
        None
    }

    fn value(&self, literal: Literal, played: usize) -> Literal {
        debug_assert_eq!(self.reached_by[literal.node()], played as u32);
        self.values[literal.node()].negated_if(literal.is_negated())
    }
}

/// Groups the second elements of pairs into lists by their first elements.
pub(crate) fn sorted_lists<T: Copy>(n: usize, mut pairs: Vec<(u32, T)>) -> Lists<T> {
    pairs.sort_by_key(|&(idx, _)| idx);
    let mut ends = vec![0; n];
    pairs.iter().for_each(|&(idx, _)| ends[idx as usize] += 1);
    for idx in 1..n {
        ends[idx] += ends[idx - 1];
    }
    Lists { ends, entries: pairs.into_iter().map(|(_, entry)| entry).collect() }
}
