//! The conditions of outputs, split into parts that are cheap to keep up to date.
//!
//! Many conditions have a part in common: all moves of a role need its turn, all cells of a chain
//! stay as they are unless the chain ends, and what a counter stands at decides for all fluents of
//! that number. A counter for each such pair would be visited whenever the part in common changes. So
//! the parts are stored apart, as bits of their own, and put together a word at a time; or they are
//! asked for only while the fluent holds without which they do not matter.

use std::ops::Range;

use ludex_base::BitSet;
use rustc_hash::FxHashMap;

use crate::net::conjunctions::{Conjunctions, Literal};

/// A move has at most so many conditions that are stored apart.
pub(crate) const MAX_PLANES: usize = 4;

/// A literal that stands in the conditions of so many legal moves is stored apart from the others.
const MIN_GUARDED: usize = 8;

/// A literal that so many fluents gate is asked for through them; at most one in so many of them may
/// hold in the initial state.
const MIN_GATES: usize = 8;

/// A case of the end of the game is asked for if that looks at no more than one in so many of the nodes
/// that would have to be kept up to date otherwise.
const MIN_SAVED: u64 = 8;

/// The conditions of the legal moves.
///
/// For each move, literals that must all hold; at most [`MAX_PLANES`]. `is_counter` marks the nodes
/// that are kept up to date in any case.
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
        // A condition of this move alone is nothing but its parts.
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

/// What most moves of a role need, mostly that it is its turn. It is looked at once for all of them, so
/// a change of it costs nothing.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    pub literal: Literal,
    /// The moves that don't need it: words and bits, the role's first move in the first bit.
    pub others: Vec<(usize, u64)>,
}

impl Guard {
    /// Whether a move of the role needs it, the role's first move being number 0.
    pub fn is_needed(&self, idx: usize) -> bool {
        let is_other =
            |&(word, mask): &(usize, u64)| word == idx / 64 && mask >> (idx % 64) & 1 != 0;
        self.literal != Literal::TRUE && !self.others.iter().any(is_other)
    }
}

/// The guard of each role; the moves that need it have one condition less then.
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

/// The literals that must all hold for a literal to hold.
fn conditions(table: &Conjunctions, literal: Literal) -> Vec<Literal> {
    match table.literals(literal.node()) {
        [] if literal == Literal::TRUE => Vec::new(),
        literals if literals.is_empty() || literal.is_negated() => vec![literal],
        literals => literals.to_vec(),
    }
}

/// The literals of which one must hold for a literal to hold.
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

/// The end of the game as what is kept up to date, and the cases that are asked for.
///
/// The latter are those with much behind them of which little needs to be looked at: above all that
/// nobody can move, which one legal move refutes. `is_counter` marks the nodes that are kept up to date
/// in any case.
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

/// What must be looked at to know the nodes in the initial state.
struct Proofs {
    holds: Vec<bool>,
    /// For each node, how many nodes at least; those that are looked at twice count twice.
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

/// What decides the fluents of the next state, in parts: a fluent is true if it is true now and kept, or
/// if it is set, or if a gate opens to it.
#[derive(Default)]
pub(crate) struct NextParts {
    /// For each fluent, when it is kept.
    pub kept: Vec<Literal>,
    /// For each fluent, when it is set.
    pub set: Vec<Literal>,
    /// Fluents of this state, each with a fluent of the next that is true if this one and the literal
    /// hold.
    pub gated: Vec<(u32, (u32, Literal))>,
}

impl NextParts {
    /// The parts of a literal for each fluent.
    pub fn new(table: &mut Conjunctions, next: &[Literal], init: &BitSet) -> Self {
        // Step 1. What keeps a fluent, and what else makes it true.
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

        // Step 2. Which literals matter only while one of many fluents holds.
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

        // Step 3. Set apart what is asked for through gates.
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

/// A case as a fluent and something else that must hold.
fn gate(table: &mut Conjunctions, case: Literal) -> Option<(usize, Literal)> {
    let mut rest = conditions(table, case);
    let fluents = 1..1 + table.n_fluents;
    let position = rest.iter().position(|it| !it.is_negated() && fluents.contains(&it.node()))?;
    let gate = rest.remove(position);
    let rest = table.and(&mut rest);
    (rest.node() >= table.first()).then_some((gate.node() - 1, rest))
}
