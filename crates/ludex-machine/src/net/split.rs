//! Conditions of outputs, split into parts that are cheap to keep up to date.
//!
//! Many conditions have a part in common: all moves of a role need its turn, all cells of a chain
//! stay as they are unless the chain ends, and the value of a counter decides all fluents of that
//! number. If each such pair had a counter, every change of the common part would visit all of
//! them. So the parts are stored as separate bits and combined a word at a time; or they are
//! evaluated only while the fluent is true without which they do not matter.

use std::ops::Range;

use ludex_base::BitSet;
use rustc_hash::FxHashMap;

use crate::net::conjunctions::{Conjunctions, Literal};

/// Largest number of conditions of a move that are stored separately.
pub(crate) const MAX_PLANES: usize = 4;

/// A literal in the conditions of at least this many legal moves is stored separately.
const MIN_GUARDED: usize = 8;

/// A literal that at least this many fluents gate is evaluated through them; at most one in this
/// many of them may be true in the initial state.
const MIN_GATES: usize = 8;

/// A case of the terminal condition is evaluated on demand if that looks at no more than one in
/// this many of the nodes that would otherwise be kept up to date.
const MIN_SAVED: u64 = 8;

/// Splits the conditions of the legal moves.
///
/// Returns for each move literals that must all be true; at most [`MAX_PLANES`]. `is_counter` marks
/// the nodes that are kept up to date in any case.
pub(crate) fn split_legal(
    table: &mut Conjunctions,
    legal: &[Literal],
    is_counter: &[bool],
) -> Vec<Vec<Literal>> {
    let position = |it: Literal| 2 * it.node() + usize::from(it.is_negated());
    let is_counter = |it: Literal| is_counter.get(it.node()).is_some_and(|it| *it);
    let count = |lists: &[Vec<Literal>]| {
        let mut n_guarded = vec![0_usize; 2 * table.n_nodes()];
        lists.iter().flatten().for_each(|&it| n_guarded[position(it)] += 1);
        n_guarded
    };
    let mut lists: Vec<Vec<Literal>> = legal.iter().map(|&it| conditions(table, it)).collect();
    let n_guarded = count(&lists);
    for list in &mut lists {
        // A condition of this move alone is split into its parts.
        let is_own = |it: &Literal| n_guarded[position(*it)] == 1 && !is_counter(*it);
        if let Some(own) = list.iter().position(is_own) {
            let parts = conditions(table, list[own]);
            if list.len() - 1 + parts.len() <= MAX_PLANES {
                list.splice(own..=own, parts);
                list.sort_unstable();
                list.dedup();
            }
        }
    }
    let n_guarded = count(&lists);
    let mut planes = Vec::with_capacity(legal.len());
    for mut parts in lists {
        parts.sort_by_key(|&it| std::cmp::Reverse(n_guarded[position(it)]));
        let is_guard = |it: &&Literal| n_guarded[position(**it)] >= MIN_GUARDED;
        let n_guards = usize::from(parts.first().filter(is_guard).is_some());
        let rest = table.and(&mut parts[n_guards..].to_vec());
        if is_counter(rest) && rest.node() >= table.first() {
            parts.truncate(n_guards);
            parts.push(rest);
        } else if parts.len() > MAX_PLANES {
            let last = table.and(&mut parts.split_off(MAX_PLANES - 1));
            parts.push(last);
        }
        planes.push(parts);
    }
    planes
}

/// A condition that most moves of a role share, typically that it is its turn. It is checked once
/// for all of them, so a change of it costs nothing.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    pub literal: Literal,
    /// The moves that do not need it: words and bits, the role's first move in the first bit.
    pub others: Vec<(usize, u64)>,
}

impl Guard {
    /// Returns whether a move of the role needs it; the role's first move is number 0.
    pub fn is_needed(&self, idx: usize) -> bool {
        let is_other =
            |&(word, mask): &(usize, u64)| word == idx / 64 && mask >> (idx % 64) & 1 != 0;
        self.literal != Literal::TRUE && !self.others.iter().any(is_other)
    }
}

/// Extracts the guard of each role; the moves that need it have one condition less afterwards.
pub(crate) fn take_guards(planes: &mut [Vec<Literal>], moves_of: &[Range<usize>]) -> Vec<Guard> {
    let mut guards = Vec::new();
    for moves in moves_of {
        let planes = &mut planes[moves.clone()];
        let mut n_guarded: FxHashMap<Literal, usize> = FxHashMap::default();
        for &literal in planes.iter().filter_map(|parts| parts.first()) {
            *n_guarded.entry(literal).or_default() += 1;
        }
        n_guarded.retain(|&it, n| *n >= MIN_GUARDED && 2 * *n >= moves.len() && it.node() != 0);
        let mut guard = Guard { literal: Literal::TRUE, others: Vec::new() };
        if let Some((&literal, _)) = n_guarded.iter().max_by_key(|&(&literal, &n)| (n, literal)) {
            guard.literal = literal;
            for (idx, parts) in planes.iter_mut().enumerate() {
                if parts.first() == Some(&literal) {
                    parts.remove(0);
                    continue;
                }
                match guard.others.last_mut() {
                    Some((word, mask)) if *word == idx / 64 => *mask |= 1 << (idx % 64),
                    _ => guard.others.push((idx / 64, 1 << (idx % 64))),
                }
            }
        }
        guards.push(guard);
    }
    guards
}

/// Returns the literals that must all be true for a literal to be true.
fn conditions(table: &Conjunctions, literal: Literal) -> Vec<Literal> {
    match table.literals(literal.node()) {
        [] if literal == Literal::TRUE => Vec::new(),
        literals if literals.is_empty() || literal.is_negated() => vec![literal],
        literals => literals.to_vec(),
    }
}

/// Returns the literals of which one must be true for a literal to be true.
fn cases(table: &Conjunctions, literal: Literal) -> Vec<Literal> {
    match literal {
        Literal::FALSE => Vec::new(),
        it if !it.is_negated() => vec![it],
        it => match table.literals(it.node()) {
            [] => vec![it],
            literals => literals.iter().map(|it| it.negated()).collect(),
        },
    }
}

/// Splits the terminal condition into the part that is kept up to date and the cases that are
/// evaluated on demand.
///
/// Cases are evaluated on demand if they have many nodes behind them of which few need to be looked
/// at. The main example is that nobody can move, which one legal move refutes. `is_counter` marks
/// the nodes that are kept up to date in any case.
pub(crate) fn split_terminal(
    table: &mut Conjunctions,
    terminal: Literal,
    is_counter: &[bool],
    init: &BitSet,
) -> (Literal, Vec<Literal>) {
    let proofs = Proofs::new(table, init);
    let (mut kept, mut asked) = (Vec::new(), Vec::new());
    for case in cases(table, terminal) {
        let mut cone = vec![false; table.n_nodes()];
        table.mark_cone(case, &mut cone);
        let is_new = |&node: &usize| cone[node] && !is_counter[node];
        let n_new = (table.first()..table.n_nodes()).filter(is_new).count() as u64;
        let is_asked =
            !proofs.holds(case) && proofs.sizes[case.node()].saturating_mul(MIN_SAVED) <= n_new;
        if is_asked { asked.push(case) } else { kept.push(case.negated()) }
    }
    (table.and(&mut kept).negated(), asked)
}

/// The work of proving the values of nodes in the initial state.
struct Proofs {
    holds: Vec<bool>,
    /// For each node, the least number of nodes to look at; nodes that are looked at twice count
    /// twice.
    sizes: Vec<u64>,
}

impl Proofs {
    fn new(table: &Conjunctions, init: &BitSet) -> Self {
        let is_true = |node: usize| node == 0 || node <= table.n_fluents && init.contains(node - 1);
        let mut proofs = Self {
            holds: (0..table.first()).map(is_true).collect(),
            sizes: vec![1; table.first()],
        };
        for node in table.first()..table.n_nodes() {
            let literals = table.literals(node).iter();
            let not_held = literals.clone().filter(|it| !proofs.holds(**it));
            let least = not_held.map(|it| proofs.sizes[it.node()]).min();
            let sum =
                || literals.fold(0, |sum: u64, it| sum.saturating_add(proofs.sizes[it.node()]));
            let size = least.unwrap_or_else(sum).saturating_add(1);
            proofs.holds.push(least.is_none());
            proofs.sizes.push(size);
        }
        proofs
    }

    fn holds(&self, literal: Literal) -> bool {
        self.holds[literal.node()] != literal.is_negated()
    }
}

/// The conditions of the fluents of the next state, in parts: a fluent is true if it is true now
/// and kept, or if it is set, or if a gate opens to it.
#[derive(Default)]
pub(crate) struct NextParts {
    /// For each fluent, when it is kept.
    pub kept: Vec<Literal>,
    /// For each fluent, when it is set.
    pub set: Vec<Literal>,
    /// Gates: fluents of this state, each with a fluent of the next state that is true if the gate
    /// and the literal are true.
    pub gated: Vec<(u32, (u32, Literal))>,
}

impl NextParts {
    /// Splits the literal of each fluent.
    pub fn new(table: &mut Conjunctions, next: &[Literal], init: &BitSet) -> Self {
        // Step 1. Separate what keeps a fluent from what else makes it true.
        let mut parts = NextParts::default();
        let mut others: Vec<Vec<Literal>> = Vec::with_capacity(next.len());
        for (fluent, &literal) in next.iter().enumerate() {
            let own = Literal::of(table.fluent_node(fluent));
            let (mut keeping, mut setting) = (Vec::new(), Vec::new());
            for case in cases(table, literal) {
                let mut rest = conditions(table, case);
                match rest.iter().position(|&it| it == own) {
                    None => setting.push(case),
                    Some(position) => {
                        rest.remove(position);
                        keeping.push(table.and(&mut rest).negated());
                    }
                }
            }
            parts.kept.push(table.and(&mut keeping).negated());
            others.push(setting);
        }

        // Step 2. Find the literals that matter only while one of many fluents is true.
        let mut gates: FxHashMap<Literal, Vec<usize>> = FxHashMap::default();
        for &case in others.iter().flatten() {
            if let Some((gate, rest)) = gate(table, case) {
                gates.entry(rest).or_default().push(gate);
            }
        }
        gates.retain(|_, gates| {
            let n_open = gates.iter().filter(|&&gate| init.contains(gate)).count();
            gates.len() >= MIN_GATES && n_open * MIN_GATES <= gates.len()
        });

        // Step 3. Separate the literals that are evaluated through gates.
        for (fluent, mut setting) in others.into_iter().enumerate() {
            setting.retain(|&case| match gate(table, case) {
                Some((gate, rest)) if gates.contains_key(&rest) => {
                    parts.gated.push((gate as u32, (fluent as u32, rest)));
                    false
                }
                _ => true,
            });
            setting.iter_mut().for_each(|it| *it = it.negated());
            parts.set.push(table.and(&mut setting).negated());
        }
        parts
    }
}

/// Splits a case into a fluent and the rest that must be true.
fn gate(table: &mut Conjunctions, case: Literal) -> Option<(usize, Literal)> {
    let mut rest = conditions(table, case);
    let fluents = 1..1 + table.n_fluents;
    let position = rest.iter().position(|it| !it.is_negated() && fluents.contains(&it.node()))?;
    let gate = rest.remove(position);
    let rest = table.and(&mut rest);
    (rest.node() >= table.first()).then_some((gate.node() - 1, rest))
}
