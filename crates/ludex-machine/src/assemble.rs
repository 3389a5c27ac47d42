//! Puts a [`Net`] together: from a circuit to counters, lazy nodes and outputs.

use std::ops::Range;

use ludex_circuit::{Circuit, GateId};

use crate::conjunctions::{Conjunctions, Literal};
use crate::effects::{Effects, Lists, sorted_lists};
use crate::net::{Fan, Home, Layout, MoveEffects, Net, NetState};

/// A literal that stands in the conditions of so many legal moves guards them.
const MIN_GUARDED: usize = 8;

impl Net {
    /// The net of a circuit; `None` if it has loops.
    pub fn new(circuit: &Circuit) -> Option<Self> {
        if !circuit.loops.is_empty() {
            return None;
        }
        let (mut table, of_gates) = Conjunctions::of_circuit(circuit);
        let literals = |ids: &[GateId]| ids.iter().map(|id| of_gates[id.index()]).collect();
        let moves_of = moves_of(circuit);
        let layout = Layout::new(circuit, &moves_of);

        // Outputs of a transition, with the percepts in words of their own.
        let mut outputs: Vec<Literal> = literals(&circuit.next);
        outputs.resize(layout.n_fluent_words * 64, Literal::FALSE);
        outputs.extend(literals(&circuit.sees));
        let waiting = waiting_moves(circuit, &moves_of);
        let effects = Effects::new(&mut table, &outputs, &moves_of, &waiting);

        let legal: Vec<Literal> = literals(&circuit.legal);
        let guarding = Guarding::new(&mut table, &legal);
        let goals = circuit.goals.iter().map(|(_, _, id)| of_gates[id.index()]).collect();
        let terminal = of_gates[circuit.terminal.index()];
        let plan = Plan { circuit, table, layout, outputs, effects, guarding, goals, terminal };
        Some(plan.assemble())
    }
}

/// The moves of each role, which are sorted by role.
fn moves_of(circuit: &Circuit) -> Vec<Range<usize>> {
    let moves = &circuit.vocabulary.moves;
    let start = |role: usize| moves.partition_point(|(of, _)| of.index() < role);
    (0..circuit.n_roles()).map(|role| start(role)..start(role + 1)).collect()
}

/// For each role, the move by which it lets the others play, if it seems to have one: a role that has
/// a single legal move in the initial state plays that, and the others play the one of the same name
/// when it is not their turn. A wrong guess costs time and nothing else.
fn waiting_moves(circuit: &Circuit, moves_of: &[Range<usize>]) -> Vec<Option<usize>> {
    if moves_of.len() < 2 {
        return vec![None; moves_of.len()];
    }
    let values = circuit.evaluate(&circuit.init, &[]);
    let is_legal = |idx: &usize| values[circuit.legal[*idx].index()];
    let only = |moves: &Range<usize>| {
        let mut legal = moves.clone().filter(is_legal);
        legal.next().filter(|_| legal.next().is_none())
    };
    let moves = &circuit.vocabulary.moves;
    let name = moves_of.iter().find_map(only).map(|idx| moves[idx].1);
    let same_name = |of: &Range<usize>| of.clone().find(|&idx| Some(moves[idx].1) == name);
    moves_of.iter().map(|of| only(of).or_else(|| same_name(of))).collect()
}

impl Layout {
    fn new(circuit: &Circuit, moves_of: &[Range<usize>]) -> Self {
        let n_fluent_words = circuit.next.len().div_ceil(64);
        let n_next_words = n_fluent_words + circuit.sees.len().div_ceil(64);
        let mut end = n_next_words;
        let legal = moves_of.iter().map(|moves| {
            let start = end;
            end += moves.len().div_ceil(64);
            start..end
        });
        Self {
            n_fluent_words,
            n_next_words,
            legal: legal.collect(),
            first_moves: moves_of.iter().map(|moves| moves.start).collect(),
            terminal: end,
        }
    }

    fn n_words(&self) -> usize {
        self.terminal + 1
    }

    /// The bit of a move in the legal sets.
    fn legal_bit(&self, played: usize) -> usize {
        let role = self.first_moves.partition_point(|&first| first <= played) - 1;
        self.legal[role].start * 64 + played - self.first_moves[role]
    }
}

/// Legal moves have a condition in common with many others, above all whose turn it is. What is in
/// common is looked at once for all of them.
struct Guarding {
    /// For each move, its guard, if any, and what else it needs.
    of_moves: Vec<(Option<u32>, Literal)>,
    guards: Vec<Literal>,
}

impl Guarding {
    fn new(table: &mut Conjunctions, legal: &[Literal]) -> Self {
        let mut n_guarded = vec![0_usize; 2 * table.n_nodes()];
        let position = |it: Literal| 2 * it.node() + usize::from(it.is_negated());
        for &literal in legal {
            conditions(table, literal).iter().for_each(|&it| n_guarded[position(it)] += 1);
        }
        let mut guards: Vec<Literal> = Vec::new();
        let mut number = vec![None; n_guarded.len()];
        let mut of_moves = Vec::with_capacity(legal.len());
        for &literal in legal {
            let mut rest = conditions(table, literal).to_vec();
            let guard = rest.iter().copied().max_by_key(|&it| n_guarded[position(it)]);
            let guard = guard.filter(|&it| n_guarded[position(it)] >= MIN_GUARDED);
            rest.retain(|&it| Some(it) != guard);
            let guard = guard.map(|guard| {
                *number[position(guard)].get_or_insert_with(|| {
                    guards.push(guard);
                    guards.len() as u32 - 1
                })
            });
            of_moves.push(match guard {
                Some(_) => (guard, table.and(&mut rest)),
                None => (None, literal),
            });
        }
        Self { of_moves, guards }
    }
}

/// The literals that must all hold for a literal to hold.
fn conditions(table: &Conjunctions, literal: Literal) -> Vec<Literal> {
    match table.literals(literal.node()) {
        [] if literal.node() == 0 => Vec::new(),
        literals if literals.is_empty() || literal.is_negated() => vec![literal],
        literals => literals.to_vec(),
    }
}

struct Plan<'a> {
    circuit: &'a Circuit,
    table: Conjunctions,
    layout: Layout,
    outputs: Vec<Literal>,
    effects: Effects,
    guarding: Guarding,
    goals: Vec<Literal>,
    terminal: Literal,
}

impl Plan<'_> {
    fn assemble(self) -> Net {
        // Step 1. Which bit is which literal.
        let (mut bits, persistent) = self.idle_bits();
        for (played, &(_, literal)) in self.guarding.of_moves.iter().enumerate() {
            bits.push((self.layout.legal_bit(played) as u32, literal));
        }
        bits.push((self.layout.terminal as u32 * 64, self.terminal));
        let n_bits = self.layout.n_words() * 64;
        let guards = self.guarding.guards.iter().enumerate();
        bits.extend(guards.map(|(idx, &guard)| ((n_bits + idx) as u32, guard)));

        // Step 2. Which nodes count and which are lazy. Number them in that order.
        let mut is_counter = vec![false; self.table.n_nodes()];
        bits.iter().for_each(|&(_, literal)| self.table.mark_cone(literal, &mut is_counter));
        let mut is_needed = is_counter.clone();
        self.lazy_literals().for_each(|literal| self.table.mark_cone(literal, &mut is_needed));
        let first = self.table.first();
        let gates = || first..self.table.n_nodes();
        let counters = gates().filter(|&node| is_counter[node]);
        let lazy = gates().filter(|&node| is_needed[node] && !is_counter[node]);
        let mut numbers: Vec<usize> = (0..first).collect();
        numbers.resize(self.table.n_nodes(), usize::MAX);
        let order: Vec<usize> = counters.clone().chain(lazy.clone()).collect();
        order.iter().enumerate().for_each(|(idx, &node)| numbers[node] = first + idx);
        let first_lazy = first + counters.clone().count();
        let new = |it: Literal| Literal::of(numbers[it.node()]).negated_if(it.is_negated());

        // Step 3. Who is told of a change.
        let mut edges: Vec<(u32, (u8, u32))> = Vec::new();
        for node in counters {
            let reader = numbers[node] as u32;
            let edge =
                |it: &Literal| (numbers[it.node()] as u32, (u8::from(it.is_negated()), reader));
            edges.extend(self.table.literals(node).iter().map(edge));
        }
        let is_variable = |it: &Literal| it.node() != 0;
        let changing = bits.iter().filter(|(_, it)| is_variable(it));
        edges.extend(changing.map(|&(bit, it)| (numbers[it.node()] as u32, (2, bit))));
        let (fans, readers) = fans(first_lazy, edges);

        // Step 4. What lazy nodes read.
        let (mut lazy_ends, mut lazy_literals) = (Vec::new(), Vec::new());
        for node in lazy {
            lazy_literals.extend(self.table.literals(node).iter().map(|&it| new(it)));
            lazy_ends.push(lazy_literals.len() as u32);
        }

        // Step 5. The initial state.
        let initial = self.initial(&order, &new, first_lazy, &bits);

        let joint = self.outputs.iter().zip(&self.effects.is_joint);
        let joint = joint.map(|(&it, &is_joint)| if is_joint { new(it) } else { Literal::FALSE });
        let joint = joint.collect();
        let effects = (0..self.table.n_moves).map(|played| MoveEffects {
            changes: self.effects.changes.span(played),
            keeps: self.effects.keeps.span(played),
            touches: self.effects.touches.span(played),
        });
        let effects = effects.collect();
        let changes = self.effects.changes.all().iter().map(|it| (it.output, new(it.value)));
        Net {
            first_lazy,
            first_move: self.table.move_node(0),
            fans,
            readers,
            lazy_ends,
            lazy_literals,
            persistent,
            effects,
            changes: changes.collect(),
            keeps: self.effects.keeps.into_entries(),
            touches: self.effects.touches.into_entries(),
            joint,
            tells_moves: self.effects.is_told.contains(&true),
            guards: guard_masks(&self.layout, &self.guarding),
            goals: self.goals.into_iter().map(new).collect(),
            layout: self.layout,
            initial,
        }
    }

    /// The idle or told values of fluents and percepts, but for the fluents that simply persist, which are the
    /// second part.
    fn idle_bits(&self) -> (Vec<(u32, Literal)>, Vec<u64>) {
        let mut persistent = vec![0; self.layout.n_fluent_words];
        let mut bits = Vec::new();
        for (idx, &literal) in self.effects.idle.iter().enumerate() {
            if self.effects.is_told[idx] {
                bits.push((idx as u32, self.outputs[idx]));
            } else if idx < self.table.n_fluents
                && literal == Literal::of(self.table.fluent_node(idx))
            {
                persistent[idx / 64] |= 1 << (idx % 64);
            } else if literal != Literal::FALSE {
                bits.push((idx as u32, literal));
            }
        }
        (bits, persistent)
    }

    /// What is asked for now and then.
    fn lazy_literals(&self) -> impl Iterator<Item = Literal> {
        let changes = self.effects.changes.all().iter().map(|change| change.value);
        let joint = self.outputs.iter().zip(&self.effects.is_joint);
        let joint = joint.filter(|(_, is_joint)| **is_joint).map(|(&literal, _)| literal);
        changes.chain(joint).chain(self.goals.iter().copied())
    }

    fn initial(
        &self,
        order: &[usize],
        new: &impl Fn(Literal) -> Literal,
        first_lazy: usize,
        bits: &[(u32, Literal)],
    ) -> NetState {
        let first = self.table.first();
        let mut counts = vec![1; first + order.len()];
        counts[0] = 0;
        for fluent in self.circuit.init.iter() {
            counts[self.table.fluent_node(fluent)] = 0;
        }
        for (idx, &node) in order[..first_lazy - first].iter().enumerate() {
            let is_wrong = |&&it: &&Literal| !holds(&counts, new(it));
            counts[first + idx] = self.table.literals(node).iter().filter(is_wrong).count() as u32;
        }
        let n_words = self.layout.n_words();
        let mut words = vec![0; n_words];
        // Moves without a guard are never held back.
        let mut guarded = vec![u64::MAX; n_words];
        let masks = guard_masks(&self.layout, &self.guarding);
        for &(bit, literal) in bits {
            let value = holds(&counts, new(literal));
            match words.get_mut(bit as usize / 64) {
                Some(word) => *word |= u64::from(value) << (bit % 64),
                None if value => {}
                None => {
                    for &(word, mask) in masks.of(bit as usize - n_words * 64) {
                        guarded[word as usize] &= !mask;
                    }
                }
            }
        }
        NetState {
            is_pending: vec![false; first_lazy],
            queue: Vec::new(),
            played: Vec::new(),
            next: vec![0; self.layout.n_next_words],
            epochs: vec![0; counts.len() - first_lazy],
            epoch: 1,
            frames: Vec::new(),
            reached: vec![0; self.outputs.len()],
            met: Vec::new(),
            home: Home::default(),
            counts,
            bits: words,
            guarded,
        }
    }
}

fn holds(counts: &[u32], literal: Literal) -> bool {
    (counts[literal.node()] == 0) != literal.is_negated()
}

fn guard_masks(layout: &Layout, guarding: &Guarding) -> Lists<(u32, u64)> {
    let mut masks: Vec<(u32, (u32, u64))> = Vec::new();
    for (played, &(guard, _)) in guarding.of_moves.iter().enumerate() {
        let Some(guard) = guard else { continue };
        let bit = layout.legal_bit(played);
        masks.push((guard, ((bit / 64) as u32, 1 << (bit % 64))));
    }
    masks.sort_by_key(|&(guard, (word, _))| (guard, word));
    masks.dedup_by(|later, first| {
        let is_same = (later.0, later.1.0) == (first.0, first.1.0);
        if is_same {
            first.1.1 |= later.1.1;
        }
        is_same
    });
    sorted_lists(guarding.guards.len(), masks)
}

/// Edges, each from a node to a reader of a kind, by node and kind.
fn fans(n_nodes: usize, mut edges: Vec<(u32, (u8, u32))>) -> (Vec<Fan>, Vec<u32>) {
    edges.sort_unstable();
    let mut fans = vec![Fan::default(); n_nodes + 1];
    for &(node, (kind, _)) in &edges {
        let fan = &mut fans[node as usize];
        match kind {
            0 => fan.plain += 1,
            1 => fan.negated += 1,
            _ => fan.outputs += 1,
        }
    }
    let mut start = 0;
    for fan in &mut fans {
        let counts = *fan;
        fan.plain = start;
        fan.negated = fan.plain + counts.plain;
        fan.outputs = fan.negated + counts.negated;
        start = fan.outputs + counts.outputs;
    }
    (fans, edges.into_iter().map(|(_, (_, reader))| reader).collect())
}
