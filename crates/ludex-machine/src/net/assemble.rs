//! Assembly of a [`Net`] from a circuit: counters, lazy nodes and outputs.

use std::collections::BTreeMap;
use std::ops::Range;

use ludex_base::{Pace, StopReason};
use ludex_circuit::{Circuit, GateId};

use crate::net::conjunctions::{Conjunctions, Literal};
use crate::net::counters::{Count, Ending, Fan, Home, Layout, MoveEffects, Net, NetState};
use crate::net::effects::{Effects, sorted_lists};
use crate::net::refute::refuting_role;
use crate::net::split::{Guard, NextParts, split_legal, split_terminal, take_guards};
use crate::net::weigh::better_kept;

/// Deepest recursion when evaluating a lazy node.
const MAX_DEPTH: usize = 512;

impl Net {
    /// Makes the net of a circuit; `None` if it has loops.
    ///
    /// # Errors
    /// When the deadline of the pace is reached.
    pub fn new(circuit: &Circuit, pace: &Pace<'_>) -> Result<Option<Self>, StopReason> {
        if !circuit.loops.is_empty() {
            return Ok(None);
        }
        let (mut table, of_gates) = Conjunctions::of_circuit(circuit, pace)?;
        let literals = |ids: &[GateId]| ids.iter().map(|id| of_gates[id.index()]).collect();
        let moves_of = moves_of(circuit);
        let mut layout = Layout::new(circuit, &moves_of);

        // Outputs of a transition; the percepts begin with a new word.
        let mut outputs: Vec<Literal> = literals(&circuit.next);
        outputs.resize(layout.n_fluent_words * 64, Literal::FALSE);
        outputs.extend(literals(&circuit.sees));
        let waiting = waiting_moves(circuit, &moves_of);
        let effects = Effects::new(&mut table, &outputs, &moves_of, &waiting, pace)?;

        let value =
            |idx: usize| if effects.follows_moves[idx] { outputs[idx] } else { effects.idle[idx] };
        let n_fluents = circuit.next.len();
        let next = NextParts::new(
            &mut table,
            &(0..n_fluents).map(value).collect::<Vec<_>>(),
            &circuit.init,
        );

        // The literal of each bit.
        let mut bits: Vec<(usize, Literal)> = Vec::new();
        bits.extend(next.set.iter().copied().enumerate());
        bits.extend((n_fluents..outputs.len()).map(|idx| (idx, value(idx))));
        let first_kept = layout.kept.start * 64;
        bits.extend(next.kept.iter().enumerate().map(|(idx, &it)| (first_kept + idx, it)));

        let mut is_counter = vec![false; table.n_nodes()];
        bits.iter().for_each(|&(_, it)| table.mark_cone(it, &mut is_counter));
        next.gated.iter().for_each(|&(_, (_, it))| table.mark_cone(it, &mut is_counter));
        let mut planes = split_legal(&mut table, &literals(&circuit.legal), &is_counter);
        let guards = take_guards(&mut planes, &moves_of);
        layout.n_planes = planes.iter().map(Vec::len).max().unwrap_or(0).max(1);
        for (played, parts) in planes.iter().enumerate() {
            for plane in 0..layout.n_planes {
                let literal = parts.get(plane).copied().unwrap_or(Literal::TRUE);
                bits.push((layout.legal_bit(played, plane), literal));
            }
        }

        pace.check()?;
        is_counter.resize(table.n_nodes(), false);
        bits.iter().for_each(|&(_, it)| table.mark_cone(it, &mut is_counter));
        guards.iter().for_each(|it| table.mark_cone(it.literal, &mut is_counter));
        let terminal = of_gates[circuit.terminal.index()];
        let (terminal, asked) = split_terminal(&mut table, terminal, &is_counter, &circuit.init);
        let mut endings = Vec::with_capacity(asked.len());
        for literal in asked {
            pace.check()?;
            let refuting_role = refuting_role(&table, literal, &planes, &moves_of, &guards);
            endings.push(Ending { literal, refuting_role });
        }
        bits.push((layout.terminal * 64, terminal));

        let goals = circuit.goals.iter().map(|(_, _, id)| of_gates[id.index()]).collect();
        let assembly = Assembly {
            circuit,
            table,
            layout,
            outputs,
            effects,
            bits,
            gated: next.gated,
            guards,
            endings,
            goals,
        };
        assembly.assemble_weighed(pace).map(Some)
    }
}

/// Returns the range of each role's moves: moves are sorted by role.
fn moves_of(circuit: &Circuit) -> Vec<Range<usize>> {
    let moves = &circuit.vocabulary.moves;
    let start = |role: usize| moves.partition_point(|(of, _)| of.index() < role);
    (0..circuit.n_roles()).map(|role| start(role)..start(role + 1)).collect()
}

/// Guesses for each role the move by which it waits while others play.
///
/// A role with a single legal move in the initial state waits by that move; the others wait by the
/// move of the same name. A wrong guess costs only time.
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
        let kept = n_next_words..n_next_words + n_fluent_words;
        let terminal = kept.end;
        let mut end = terminal + 1;
        let legal = moves_of.iter().map(|moves| {
            let start = end;
            end += moves.len().div_ceil(64);
            start..end
        });
        Self {
            n_fluent_words,
            n_next_words,
            kept,
            terminal,
            legal: legal.collect(),
            first_moves: moves_of.iter().map(|moves| moves.start).collect(),
            n_plane_words: end - terminal - 1,
            n_planes: 0,
        }
    }

    fn n_words(&self) -> usize {
        self.terminal + 1 + self.n_planes * self.n_plane_words
    }

    /// Returns the bit of a move in a plane.
    fn legal_bit(&self, played: usize, plane: usize) -> usize {
        let role = self.first_moves.partition_point(|&first| first <= played) - 1;
        let word = self.legal[role].start + plane * self.n_plane_words;
        word * 64 + played - self.first_moves[role]
    }
}

struct Assembly<'a> {
    circuit: &'a Circuit,
    table: Conjunctions,
    layout: Layout,
    outputs: Vec<Literal>,
    effects: Effects,
    /// The bits of outputs, each with its literal.
    bits: Vec<(usize, Literal)>,
    /// See [`NextParts`].
    gated: Vec<(u32, (u32, Literal))>,
    guards: Vec<Guard>,
    endings: Vec<Ending>,
    goals: Vec<Literal>,
}

impl Assembly<'_> {
    /// Assembles the net, keeping those nodes up to date for which that is cheaper than evaluating
    /// them on demand.
    fn assemble_weighed(&self, pace: &Pace<'_>) -> Result<Net, StopReason> {
        pace.check()?;
        let (net, lazy) = self.assemble(&[]);
        pace.check()?;
        let is_kept = better_kept(&net, &self.circuit.init);
        if !is_kept.contains(&true) {
            return Ok(net);
        }
        drop(net);
        pace.check()?;
        let kept = lazy.into_iter().zip(is_kept).filter(|(_, is_kept)| *is_kept);
        Ok(self.assemble(&kept.map(|(node, _)| node).collect::<Vec<_>>()).0)
    }

    /// Assembles the net with the given nodes kept up to date; also returns which nodes are lazy.
    fn assemble(&self, kept: &[usize]) -> (Net, Vec<usize>) {
        // Step 1. Decide which nodes are counters and which are lazy. Number them in that order.
        let mut is_counter = vec![false; self.table.n_nodes()];
        kept.iter().for_each(|&node| self.table.mark_cone(Literal::of(node), &mut is_counter));
        let gated = self.gated.iter().map(|&(_, (_, literal))| literal);
        let guards = self.guards.iter().map(|guard| guard.literal);
        let counted = self.bits.iter().map(|&(_, literal)| literal).chain(gated).chain(guards);
        counted.for_each(|literal| self.table.mark_cone(literal, &mut is_counter));
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

        // Step 2. Collect the readers of each node.
        let mut edges: Vec<(Literal, u32)> = Vec::new();
        for node in counters {
            let reader = numbers[node] as u32;
            edges.extend(self.table.literals(node).iter().map(|&it| (new(it), reader)));
        }
        let is_variable = |it: &Literal| it.node() != 0;
        let changing = self.bits.iter().filter(|(_, it)| is_variable(it));
        let flips = changing.map(|&(bit, it)| (numbers[it.node()] as u32, bit as u32)).collect();
        let (fans, readers, flips) = fans(first_lazy, edges, flips);

        // Step 3. Collect the inputs of lazy nodes.
        let (mut lazy_ends, mut lazy_literals) = (Vec::new(), Vec::new());
        for node in lazy.clone() {
            lazy_literals.extend(self.table.literals(node).iter().map(|&it| new(it)));
            lazy_ends.push(lazy_literals.len() as u32);
        }

        // Step 4. Compute the initial state.
        let initial = self.initial(&order, &new, first_lazy, &lazy_ends);

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
        let n_gates = self.circuit.next.len();
        let gated = self.gated.iter().map(|&(gate, (fluent, it))| (gate, (fluent, new(it))));
        let net = Net {
            first_lazy,
            first_move: self.table.move_node(0),
            fans,
            readers,
            flips,
            landings: landings(first_lazy, &lazy_ends, &lazy_literals),
            lazy_ends,
            lazy_literals,
            gated: sorted_lists(n_gates, gated.collect()),
            gates: gate_words(&self.gated),
            effects,
            changes: changes.collect(),
            keeps: self.effects.keeps.all().to_vec(),
            touches: self.effects.touches.all().to_vec(),
            joint,
            guards: (self.guards.iter())
                .map(|it| Guard { literal: new(it.literal), others: it.others.clone() })
                .collect(),
            propagates_moves: self.effects.follows_moves.contains(&true),
            endings: (self.endings.iter())
                .map(|it| Ending { literal: new(it.literal), ..*it })
                .collect(),
            goals: self.goals.iter().map(|&it| new(it)).collect(),
            layout: self.layout.clone(),
            initial,
        };
        (net, lazy.collect())
    }

    /// Lists the literals that are evaluated on demand.
    fn lazy_literals(&self) -> impl Iterator<Item = Literal> {
        let changes = self.effects.changes.all().iter().map(|change| change.value);
        let joint = self.outputs.iter().zip(&self.effects.is_joint);
        let joint = joint.filter(|(_, is_joint)| **is_joint).map(|(&literal, _)| literal);
        changes
            .chain(joint)
            .chain(self.goals.iter().copied())
            .chain(self.endings.iter().map(|it| it.literal))
    }

    fn initial(
        &self,
        order: &[usize],
        new: &impl Fn(Literal) -> Literal,
        first_lazy: usize,
        lazy_ends: &[u32],
    ) -> NetState {
        let first = self.table.first();
        let mut counts = vec![Count::propagated(1); first + order.len()];
        counts[0] = Count::propagated(0);
        for fluent in self.circuit.init.iter() {
            counts[self.table.fluent_node(fluent)] = Count::propagated(0);
        }
        for (idx, &node) in order[..first_lazy - first].iter().enumerate() {
            let is_false = |&&it: &&Literal| !holds(&counts, new(it));
            let n_false = self.table.literals(node).iter().filter(is_false).count();
            counts[first + idx] = Count::propagated(n_false);
        }
        let mut words = vec![0; self.layout.n_words()];
        for &(bit, literal) in &self.bits {
            words[bit / 64] |= u64::from(holds(&counts, new(literal))) << (bit % 64);
        }
        NetState {
            queue: Vec::new(),
            n_queued: 0,
            legal: Vec::new(),
            played: Vec::new(),
            next: vec![0; self.layout.n_next_words],
            epochs: vec![0; counts.len() - first_lazy],
            epoch: 1,
            witnesses: [0].iter().chain(lazy_ends).take(lazy_ends.len()).copied().collect(),
            reached: vec![0; self.outputs.len()],
            met: Vec::new(),
            found: vec![0; self.layout.legal.len()],
            home: Home::default(),
            counts,
            bits: words,
        }
    }
}

/// Chooses lazy nodes such that every other is at most [`MAX_DEPTH`] steps above one of them, or
/// above a node that is kept up to date.
fn landings(first_lazy: usize, lazy_ends: &[u32], lazy_literals: &[Literal]) -> Vec<u32> {
    let (mut depths, mut landings): (Vec<usize>, Vec<u32>) = (Vec::new(), Vec::new());
    let mut start = 0;
    for (idx, &end) in lazy_ends.iter().enumerate() {
        let inputs = lazy_literals[start..end as usize].iter();
        let inputs = inputs.filter_map(|it| it.node().checked_sub(first_lazy));
        let depth = inputs.map(|input| depths[input] + 1).max().unwrap_or(0);
        if depth == MAX_DEPTH {
            landings.push((first_lazy + idx) as u32);
        }
        depths.push(if depth == MAX_DEPTH { 0 } else { depth });
        start = end as usize;
    }
    landings
}

/// Returns the fluents that are gates, as a set.
fn gate_words(gated: &[(u32, (u32, Literal))]) -> Vec<(u32, u64)> {
    let mut words = BTreeMap::new();
    for (gate, _) in gated {
        *words.entry(gate / 64).or_default() |= 1_u64 << (gate % 64);
    }
    words.into_iter().collect()
}

fn holds(counts: &[Count], literal: Literal) -> bool {
    counts[literal.node()].holds() != literal.is_negated()
}

/// Groups readers and flipped bits by node; each comes with the literal or node it belongs to.
fn fans(
    n_nodes: usize,
    mut edges: Vec<(Literal, u32)>,
    mut flips: Vec<(u32, u32)>,
) -> (Vec<Fan>, Vec<u32>, Vec<(u32, u64)>) {
    edges.sort_unstable();
    flips.sort_unstable();
    let mut masks: Vec<(u32, (u32, u64))> = Vec::with_capacity(flips.len());
    for (node, bit) in flips {
        let (word, mask) = (bit / 64, 1 << (bit % 64));
        match masks.last_mut() {
            Some((last_node, (last, bits))) if (*last_node, *last) == (node, word) => *bits |= mask,
            _ => masks.push((node, (word, mask))),
        }
    }
    let first_reader = |literal: Literal| edges.partition_point(|&(of, _)| of < literal) as u32;
    let fans = (0..=n_nodes).map(|node| Fan {
        plain: first_reader(Literal::of(node)),
        negated: first_reader(Literal::of(node).negated()),
        flips: masks.partition_point(|&(of, _)| (of as usize) < node) as u32,
    });
    let fans = fans.collect();
    let second = |(_, reader)| reader;
    (fans, edges.into_iter().map(second).collect(), masks.into_iter().map(|(_, it)| it).collect())
}
