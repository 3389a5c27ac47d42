//! Choice of the lazy nodes to keep up to date, measured in a few playouts.
//!
//! A lazy node costs time when it is evaluated, a counter when its inputs change. Which costs more
//! depends on the game: every move asks of each cell of a column whether it is open, but that
//! changes in only one of them. So the net plays, and counts both for every lazy node.

use ludex_base::{BitSet, Seed};

use crate::net::conjunctions::Literal;
use crate::net::counters::{Net, NetState};

/// Measuring stops after this many steps, or after looking at this many nodes and literals.
const MAX_STEPS: usize = 1000;
const MAX_WORK: usize = 5_000_000;

/// Fewer steps than this say too little.
const MIN_STEPS: usize = 50;

/// The costs of evaluating a node, and of propagating its change, in visits of counters.
const VISITS_AN_EVALUATION: u64 = 8;
const VISITS_A_CHANGE: u64 = 6;

/// Returns for each lazy node of a net whether it should be a counter instead; then all its inputs
/// are counters or should be.
pub(crate) fn better_kept(net: &Net, init: &BitSet) -> Vec<bool> {
    let n_lazy = net.lazy_ends.len();
    let work_a_step = net.first_lazy + n_lazy + 2 * net.lazy_literals.len();
    let n_steps = (MAX_WORK / work_a_step).min(MAX_STEPS);
    if n_lazy == 0 || n_steps < MIN_STEPS {
        return vec![false; n_lazy];
    }
    let uses = Uses::measure(net, init, n_steps);
    let moves = net.first_move..net.first_move + net.effects.len();
    let mut is_kept = vec![false; n_lazy];
    for idx in 0..n_lazy {
        let mut inputs = net.lazy_inputs(idx).iter().map(|literal| literal.node());
        let can_be_kept = inputs.all(|input| match input.checked_sub(net.first_lazy) {
            Some(lazy) => is_kept[lazy],
            None => !moves.contains(&input),
        });
        let asking = uses.n_evaluated[idx] * VISITS_AN_EVALUATION;
        let keeping = uses.n_visits[idx] + uses.n_changed[idx] * VISITS_A_CHANGE;
        is_kept[idx] = can_be_kept && keeping < asking;
    }
    is_kept
}

/// The evaluations and changes of the lazy nodes of a net.
struct Uses {
    n_evaluated: Vec<u64>,
    n_changed: Vec<u64>,
    /// How often a literal of the node changed.
    n_visits: Vec<u64>,
}

impl Uses {
    fn measure(net: &Net, init: &BitSet, n_steps: usize) -> Self {
        let n_lazy = net.lazy_ends.len();
        let mut uses = Uses {
            n_evaluated: vec![0; n_lazy],
            n_changed: vec![0; n_lazy],
            n_visits: vec![0; n_lazy],
        };
        let mut rng = Seed(0).rng();
        let n_roles = net.layout.legal.len();
        let mut joint = Vec::with_capacity(n_roles);
        let mut values = net.initial();
        let mut state = init.clone();
        let mut old = all_values(net, &values);
        for _ in 0..n_steps {
            let epoch = values.epoch;
            joint.clear();
            if !net.is_terminal(&mut values) {
                let draw = |role: usize| net.draw_move(&mut values, role, &mut rng);
                joint.extend((0..n_roles).map_while(draw));
            }
            if joint.len() == n_roles {
                net.play(&mut values, &mut state, &joint);
                uses.count_evaluated(&values.epochs, epoch);
                let new = all_values(net, &values);
                uses.count_changes(net, &old, &new);
                old = new;
            } else {
                net.goals.iter().for_each(|&goal| _ = net.ask(&mut values, goal));
                uses.count_evaluated(&values.epochs, epoch);
                net.jump(&mut values, &mut state, init);
                old = all_values(net, &values);
            }
        }
        uses
    }

    /// Counts the nodes that were evaluated in an epoch.
    fn count_evaluated(&mut self, epochs: &[u32], epoch: u32) {
        for (n_evaluated, &last) in self.n_evaluated.iter_mut().zip(epochs) {
            *n_evaluated += u64::from(last == epoch);
        }
    }

    fn count_changes(&mut self, net: &Net, old: &[bool], new: &[bool]) {
        for idx in 0..self.n_changed.len() {
            let has_changed = |node: usize| u64::from(old[node] != new[node]);
            self.n_changed[idx] += has_changed(net.first_lazy + idx);
            let literals = net.lazy_inputs(idx).iter();
            self.n_visits[idx] += literals.map(|it| has_changed(it.node())).sum::<u64>();
        }
    }
}

/// Computes the values of all nodes of a net, including those that were not evaluated.
fn all_values(net: &Net, values: &NetState) -> Vec<bool> {
    let counters = values.counts[..net.first_lazy].iter();
    let mut all: Vec<bool> = counters.map(|count| count.holds()).collect();
    for idx in 0..net.lazy_ends.len() {
        let holds = |literal: &Literal| all[literal.node()] != literal.is_negated();
        let value = net.lazy_inputs(idx).iter().all(holds);
        all.push(value);
    }
    all
}
