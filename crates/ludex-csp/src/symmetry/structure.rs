//! The complement of the micro-structure: a network as a graph.
//!
//! The vertices are the literals. Two values of one variable exclude each other, and so do
//! literals that a constraint forbids together: two of them are joined, more meet in a vertex of
//! their own. A solution takes one literal for each variable and nothing that is forbidden, so
//! every automorphism takes solutions to solutions.
//!
//! A constraint on many variables would forbid too much to list. What it means is then drawn as it
//! is written: weights of literals in a sum, allowed tuples of a table, expressions by their parts.
//! Such a graph may miss symmetries, but never shows a false one.
//!
//! Invariant: an automorphism takes the part of the graph that stands for a constraint to the part
//! that stands for another with the same meaning under the exchange of literals.

use ludex_automorphism::ColoredGraph;
use ludex_base::{Deadline, StopReason};
use rustc_hash::{FxHashMap, FxHashSet};
use thiserror::Error;

use super::graph::{Kind, Nodes};
use crate::constraint::{Condition, Constraint, conjuncts};
use crate::domains::VarId;
use crate::expr::{Comparison, Expr, Operation};
use crate::network::Network;
use crate::propagators::table::{STAR, Table};
use crate::{Value, ValueSet};

/// How large the graph of a network may become.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StructureLimits {
    /// Constraints with at most this many assignments of their variables are taken apart into
    /// forbidden tuples.
    pub max_tuples: u64,
    /// Up to this many pairs of literals are joined one by one; if there were more, literals that
    /// exclude each other meet in a vertex.
    pub max_pairs: u64,
    /// The maximal number of literals and of arcs.
    pub max_size: usize,
}

impl Default for StructureLimits {
    fn default() -> Self {
        Self { max_tuples: 4_096, max_pairs: 200_000, max_size: 8_000_000 }
    }
}

/// Why there is no graph of a network.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum StructureError {
    /// The graph would be too large.
    #[error("the graph of the network would have more than {max_size} literals or arcs")]
    TooLarge {
        /// The limit.
        max_size: usize,
    },
    /// The deadline was reached.
    #[error("stopped by the limit of {}", .0.name())]
    Stopped(StopReason),
}

/// What a caller knows about literals beside the network.
#[derive(Clone, Debug, Default)]
pub struct Extra {
    /// Literals that may be exchanged only with others of the same number.
    pub kinds: Vec<((VarId, Value), i64)>,
    /// Literals that belong together, with the number of their kind: an automorphism takes such a
    /// set to a set of the same kind.
    pub groups: Vec<(i64, Vec<(VarId, Value)>)>,
    /// By constraint: the part of the network that it belongs to. A constraint goes to one of the
    /// same part. Constraints without an entry are of part 0, and only those may be simplified
    /// together.
    pub parts: Vec<i64>,
}

/// The complement of the micro-structure of a network.
#[derive(Clone, Debug)]
pub struct Microstructure {
    pub(super) literals: Vec<(VarId, Value)>,
    pub(super) graph: ColoredGraph,
    pub(super) n_nogoods: usize,
}

impl Microstructure {
    /// The graph of a network.
    ///
    /// # Errors
    /// When it would be too large, or the deadline is reached.
    pub fn new(
        network: &Network,
        extra: &Extra,
        limits: &StructureLimits,
        deadline: &Deadline,
    ) -> Result<Self, StructureError> {
        let n_literals = network.variables().iter().map(|x| x.domain.len());
        let n_literals = n_literals.fold(0_u64, u64::saturating_add);
        if n_literals > limits.max_size as u64 {
            return Err(StructureError::TooLarge { max_size: limits.max_size });
        }
        let mut builder = Builder::new(network, *limits);
        builder.domains();
        for (idx, whole) in network.constraints().iter().enumerate() {
            builder.part = extra.parts.get(idx).copied().unwrap_or(0);
            for constraint in conjuncts(std::slice::from_ref(whole)) {
                builder.constraint(&constraint);
            }
            builder.check(deadline)?;
        }
        builder.part = 0;
        if let Some(objective) = network.objective() {
            let value = builder.expr(&objective.expr);
            builder
                .nodes
                .node(("objective", i64::from(objective.is_minimized), 0), vec![(0, value)]);
        }
        builder.extra(extra);
        builder.finish(deadline)
    }

    /// The literals, which are the first vertices: by variable, then by value.
    pub fn literals(&self) -> &[(VarId, Value)] {
        &self.literals
    }

    /// The graph.
    pub fn graph(&self) -> &ColoredGraph {
        &self.graph
    }

    /// How many sets of literals are listed as forbidden, two values of one variable included.
    pub fn n_nogoods(&self) -> usize {
        self.n_nogoods
    }
}

struct Builder<'a> {
    network: &'a Network,
    limits: StructureLimits,
    literals: Vec<(VarId, Value)>,
    /// By variable: its first literal.
    first: Vec<u32>,
    nodes: Nodes,
    /// Sets of literals that are forbidden, each sorted.
    nogoods: FxHashSet<Box<[u32]>>,
    /// Whether literals that exclude each other meet in a vertex.
    groups_pairs: bool,
    sets: FxHashMap<ValueSet, i64>,
    n_unique: i64,
    /// The part of the constraint that is looked at.
    part: i64,
}

/// A part of a constraint that depends on one variable: its value by literal, `None` where it is
/// undefined.
struct Unary {
    values: Vec<(u32, Option<i64>)>,
}

impl<'a> Builder<'a> {
    fn new(network: &'a Network, limits: StructureLimits) -> Self {
        let mut literals = Vec::new();
        let mut first = Vec::new();
        for (idx, variable) in network.variables().iter().enumerate() {
            first.push(literals.len() as u32);
            literals.extend(variable.domain.iter().map(|value| (VarId::new(idx), value)));
        }
        first.push(literals.len() as u32);
        let nodes = Nodes::new(literals.len());
        let mut builder = Self {
            network,
            limits,
            literals,
            first,
            nodes,
            nogoods: FxHashSet::default(),
            groups_pairs: false,
            sets: FxHashMap::default(),
            n_unique: 0,
            part: 0,
        };
        builder.groups_pairs = builder.n_pairs() > limits.max_pairs;
        builder
    }

    fn check(&self, deadline: &Deadline) -> Result<(), StructureError> {
        if let Some(reason) = deadline.stop_reason() {
            return Err(StructureError::Stopped(reason));
        }
        if self.nodes.n_arcs() + 2 * self.nogoods.len() > self.limits.max_size {
            return Err(StructureError::TooLarge { max_size: self.limits.max_size });
        }
        Ok(())
    }

    /// About how many pairs of literals exclude each other by domains and all-different
    /// constraints.
    fn n_pairs(&self) -> u64 {
        let pairs = |n: u64| n.saturating_mul(n.saturating_sub(1)) / 2;
        let of_domains = self.network.variables().iter().map(|x| pairs(x.domain.len()));
        let of_constraints = self.network.constraints().iter().map(|constraint| {
            let Constraint::AllDifferent { list, .. } = constraint else { return 0 };
            let widest = list.iter().flat_map(Expr::scope).map(|x| self.domain(x).len()).max();
            pairs(list.len() as u64).saturating_mul(widest.unwrap_or(0))
        });
        of_domains.chain(of_constraints).fold(0, u64::saturating_add)
    }

    fn domain(&self, x: VarId) -> &'a ValueSet {
        &self.network.variable(x).domain
    }

    fn of_variable(&self, x: VarId) -> std::ops::Range<u32> {
        self.first[x.index()]..self.first[x.index() + 1]
    }

    fn literal(&self, x: VarId, value: Value) -> Option<u32> {
        let range = self.of_variable(x);
        let own = &self.literals[range.start as usize..range.end as usize];
        let place = own.binary_search_by_key(&value, |&(_, value)| value).ok()?;
        Some(range.start + place as u32)
    }

    /// Literals of which two never go together.
    fn exclude(&mut self, literals: &[u32]) {
        if self.groups_pairs {
            let children = literals.iter().map(|&literal| (0, literal)).collect();
            self.root(("at most one", 0, 0), children);
            return;
        }
        for (place, &a) in literals.iter().enumerate() {
            for &b in &literals[place + 1..] {
                self.forbid(vec![a, b]);
            }
        }
    }

    fn forbid(&mut self, mut literals: Vec<u32>) {
        literals.sort_unstable();
        literals.dedup();
        // Two values of one variable never meet anyway.
        let of = |literal: u32| self.literals[literal as usize].0;
        let is_void =
            literals.len() > 2 && literals.windows(2).any(|pair| of(pair[0]) == of(pair[1]));
        if is_void {
            return;
        }
        if self.part == 0 {
            self.nogoods.insert(literals.into_boxed_slice());
        } else {
            let children = literals.into_iter().map(|literal| (0, literal)).collect();
            self.root(("nogood", 0, 0), children);
        }
    }

    /// A vertex that stands for a constraint, or for a part of one that holds by itself.
    fn root(&mut self, kind: Kind, children: Vec<(i64, u32)>) {
        let vertex = self.nodes.node(kind, children);
        if self.part != 0 {
            self.nodes.node(("part", self.part, 0), vec![(0, vertex)]);
        }
    }

    fn domains(&mut self) {
        for idx in 0..self.network.variables().len() {
            let own: Vec<u32> = self.of_variable(VarId::new(idx)).collect();
            if own.len() > 1 {
                self.exclude(&own);
            }
        }
    }

    fn constraint(&mut self, constraint: &Constraint) {
        let scope = constraint.scope();
        let n_assignments =
            scope.iter().map(|&x| self.domain(x).len()).fold(1, u64::saturating_mul);
        match constraint {
            // Pairs are always better.
            Constraint::AllDifferent { list, except } if self.all_different(list, except) => {}
            Constraint::Table { scope, table, is_positive: true } => self.table(scope, table, true),
            _ if n_assignments <= self.limits.max_tuples => self.tuples(constraint, &scope),
            _ => self.by_meaning(constraint),
        }
    }

    /// Forbids all assignments of a small scope that violate the constraint.
    fn tuples(&mut self, constraint: &Constraint, scope: &[VarId]) {
        let ranges: Vec<std::ops::Range<u32>> =
            scope.iter().map(|&x| self.of_variable(x)).collect();
        if ranges.iter().any(|range| range.is_empty()) {
            return;
        }
        let mut tuple: Vec<u32> = ranges.iter().map(|range| range.start).collect();
        loop {
            let value_of = |x: VarId| {
                let place = scope.iter().position(|&y| y == x).expect("in the scope");
                i64::from(self.literals[tuple[place] as usize].1)
            };
            if !constraint.holds(&value_of) {
                self.forbid(tuple.clone());
            }
            let Some(place) = (0..tuple.len()).rev().find(|&at| tuple[at] + 1 < ranges[at].end)
            else {
                return;
            };
            tuple[place] += 1;
            for at in place + 1..tuple.len() {
                tuple[at] = ranges[at].start;
            }
        }
    }

    /// Literals that give two terms one value exclude each other; returns whether all terms depend
    /// on one variable each.
    fn all_different(&mut self, list: &[Expr], except: &ValueSet) -> bool {
        let terms: Option<Vec<Unary>> = list.iter().map(|e| self.unary(e)).collect();
        let Some(terms) = terms else { return false };
        let is_excepted =
            |value: i64| Value::try_from(value).is_ok_and(|value| except.contains(value));
        let mut by_value: FxHashMap<i64, Vec<u32>> = FxHashMap::default();
        for (literal, value) in terms.into_iter().flat_map(|term| term.values) {
            match value {
                None => self.forbid(vec![literal]),
                Some(value) if is_excepted(value) => {}
                Some(value) => by_value.entry(value).or_default().push(literal),
            }
        }
        for mut literals in by_value.into_values() {
            literals.sort_unstable();
            // One literal that gives two terms the same value.
            let twice: Vec<u32> =
                literals.windows(2).filter(|it| it[0] == it[1]).map(|it| it[0]).collect();
            twice.into_iter().for_each(|literal| self.forbid(vec![literal]));
            literals.dedup();
            if literals.len() > 1 {
                self.exclude(&literals);
            }
        }
        true
    }

    /// A constraint as it is written.
    fn by_meaning(&mut self, constraint: &Constraint) {
        match constraint {
            Constraint::Intension(e) => {
                let vertex = self.expr(e);
                self.root(("holds", 0, 0), vec![(0, vertex)]);
            }
            Constraint::Table { scope, table, is_positive } => {
                self.table(scope, table, *is_positive);
            }
            Constraint::AllDifferent { list, except } => {
                let children = self.children(list);
                let except = self.set(except);
                self.root(("all different", except, 0), children);
            }
            Constraint::Count { list, values, condition } => {
                self.count(list, values, condition);
            }
            Constraint::NValues { list, except, condition } => {
                let mut children = self.children(list);
                let except = self.set(except);
                let (kind, right) = self.condition(condition);
                children.extend(right.map(|right| (RIGHT, right)));
                self.root(("n values", except, kind), children);
            }
            Constraint::Cardinality { list, values, occurrences, is_closed } => {
                for (&value, condition) in values.iter().zip(occurrences) {
                    self.count(list, &ValueSet::from(value..=value), condition);
                }
                if *is_closed {
                    let others = values.iter().copied().collect::<ValueSet>().complement();
                    self.count(list, &others, &Condition::equals(0));
                }
            }
            Constraint::Element { list, start, index, condition } => {
                let children = self.element(list, i64::from(*start), index);
                let term = self.nodes.node(("element", 0, 0), children);
                let (kind, right) = self.condition(condition);
                let mut children = vec![(0, term)];
                children.extend(right.map(|right| (RIGHT, right)));
                self.root(("condition", kind, 0), children);
            }
            Constraint::NoOverlap { origins, lengths, ignores_zeros } => {
                let mut boxes = Vec::new();
                for (origin, length) in origins.iter().zip(lengths) {
                    let mut children = Vec::new();
                    for (dim, (origin, length)) in (0..).zip(origin.iter().zip(length)) {
                        children.push((2 * dim + 1, self.expr(origin)));
                        children.push((2 * dim + 2, self.expr(length)));
                    }
                    boxes.push((0, self.nodes.node(("box", 0, 0), children)));
                }
                self.root(("no overlap", i64::from(*ignores_zeros), 0), boxes);
            }
            Constraint::Cumulative { origins, lengths, heights, limit } => {
                let mut children = vec![(RIGHT, self.expr(limit))];
                for ((origin, length), height) in origins.iter().zip(lengths).zip(heights) {
                    let parts = [origin, length, height];
                    let parts = (1..).zip(parts).map(|(slot, e)| (slot, self.expr(e))).collect();
                    children.push((0, self.nodes.node(("task", 0, 0), parts)));
                }
                self.root(("cumulative", 0, 0), children);
            }
            Constraint::AllDifferentLists { lists } => {
                let mut children = Vec::new();
                for list in lists {
                    let parts = self.in_order(list);
                    children.push((0, self.nodes.node(("list", 0, 0), parts)));
                }
                self.root(("different lists", 0, 0), children);
            }
            // The order of terms matters, and what they must be is known to the constraint alone.
            Constraint::Lex { .. }
            | Constraint::Circuit { .. }
            | Constraint::Regular { .. }
            | Constraint::Mdd { .. }
            | Constraint::Channel { .. }
            | Constraint::Custom(_) => {
                let children = self.in_order(&constraint.terms());
                self.n_unique += 1;
                let number = self.n_unique;
                self.root(("other", number, 0), children);
            }
        }
    }

    /// A table: by the smallest sets of literals that it forbids, if these are few, because which
    /// short tuples say the same is an accident; otherwise by its tuples.
    fn table(&mut self, scope: &[VarId], table: &Table, is_positive: bool) {
        if is_positive && let Some(nogoods) = self.smallest_nogoods(scope, table) {
            nogoods.into_iter().for_each(|nogood| self.forbid(nogood));
        } else {
            self.tuples_of(scope, table, is_positive);
        }
    }

    /// The smallest sets of literals that contradict every tuple of a table; `None` if there are too
    /// many.
    ///
    /// A set contradicts a tuple if it has another value for one of its variables. Tuple by tuple,
    /// every set that does not contradict it is extended in all ways to one that does.
    fn smallest_nogoods(&self, scope: &[VarId], table: &Table) -> Option<Vec<Vec<u32>>> {
        let ranges: Vec<std::ops::Range<u32>> =
            scope.iter().map(|&x| self.of_variable(x)).collect();
        // By set: places in the scope with literals there, in order of places.
        let mut sets: Vec<Vec<(usize, u32)>> = vec![Vec::new()];
        let mut n_steps = 0;
        'tuples: for tuple in table.tuples() {
            let mut literals: Vec<Option<u32>> = Vec::new();
            for (&x, &value) in scope.iter().zip(tuple) {
                match value {
                    STAR => literals.push(None),
                    value => match self.literal(x, value) {
                        Some(literal) => literals.push(Some(literal)),
                        None => continue 'tuples,
                    },
                }
            }
            let contradicts = |set: &[(usize, u32)]| {
                set.iter().any(|&(place, it)| literals[place].is_some_and(|own| own != it))
            };
            let (mut kept, open): (Vec<_>, Vec<_>) =
                sets.into_iter().partition(|set| contradicts(set));
            let mut with: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
            for (idx, set) in kept.iter().enumerate() {
                set.iter().for_each(|&(_, literal)| with.entry(literal).or_default().push(idx));
            }
            let n_kept = kept.len();
            for set in &open {
                for (place, own) in literals.iter().enumerate() {
                    let Some(own) = *own else { continue };
                    if set.iter().any(|&(other, _)| other == place) {
                        continue;
                    }
                    for literal in ranges[place].clone().filter(|&it| it != own) {
                        let mut more = set.clone();
                        let at = more.partition_point(|&(other, _)| other < place);
                        more.insert(at, (place, literal));
                        // Only a set with the new literal can be part of this one.
                        let smaller = with.get(&literal).into_iter().flatten();
                        n_steps += 1 + with.get(&literal).map_or(0, Vec::len);
                        let is_part = |idx: &usize| kept[*idx].iter().all(|it| more.contains(it));
                        if n_steps > MAX_STEPS || kept.len() > MAX_NOGOODS {
                            return None;
                        }
                        if smaller.into_iter().all(|idx| !is_part(idx)) {
                            kept.push(more);
                        }
                    }
                }
            }
            // Of the new ones, several may be equal, or one a part of another.
            let mut new = kept.split_off(n_kept);
            new.sort_by_key(Vec::len);
            let mut by_literal: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
            for set in new {
                let candidates = set.iter().filter_map(|(_, literal)| by_literal.get(literal));
                let candidates: Vec<usize> = candidates.flatten().copied().collect();
                n_steps += candidates.len();
                let is_part = |idx: &usize| kept[*idx].iter().all(|it| set.contains(it));
                if candidates.iter().any(is_part) {
                    continue;
                }
                if n_steps > MAX_STEPS {
                    return None;
                }
                // Enough to find it by one of its literals.
                if let Some(&(_, literal)) = set.first() {
                    by_literal.entry(literal).or_default().push(kept.len());
                }
                kept.push(set);
            }
            sets = kept;
        }
        Some(sets.into_iter().map(|set| set.into_iter().map(|it| it.1).collect()).collect())
    }

    /// The tuples of a table: those that are forbidden, or those that are allowed, of which one
    /// must be taken.
    fn tuples_of(&mut self, scope: &[VarId], table: &Table, is_positive: bool) {
        let mut allowed = Vec::new();
        'tuples: for tuple in table.tuples() {
            let mut literals = Vec::new();
            for (&x, &value) in scope.iter().zip(tuple).filter(|(_, value)| **value != STAR) {
                // Values outside the domain make a tuple idle.
                let Some(literal) = self.literal(x, value) else { continue 'tuples };
                literals.push(literal);
            }
            literals.sort_unstable();
            literals.dedup();
            if is_positive {
                let children = literals.into_iter().map(|literal| (0, literal)).collect();
                allowed.push((0, self.nodes.node(("allowed", 0, 0), children)));
            } else {
                self.forbid(literals);
            }
        }
        if is_positive {
            allowed.sort_unstable();
            allowed.dedup();
            self.root(("one of", 0, 0), allowed);
        }
    }

    /// A condition on how many terms have a value of a set: a sum of literals.
    fn count(&mut self, list: &[Expr], values: &ValueSet, condition: &Condition) {
        let is_counted =
            |value: i64| i64::from(Value::try_from(value).is_ok_and(|it| values.contains(it)));
        let mut weights: FxHashMap<u32, i64> = FxHashMap::default();
        let mut children = Vec::new();
        for e in list {
            match self.unary(e) {
                Some(term) => {
                    for (literal, value) in term.values {
                        match value {
                            Some(value) => {
                                *weights.entry(literal).or_default() += is_counted(value)
                            }
                            None => self.forbid(vec![literal]),
                        }
                    }
                }
                None => {
                    let set = self.set(values);
                    let term = self.expr(e);
                    children.push((1, self.nodes.node(("in", set, 0), vec![(0, term)])));
                }
            }
        }
        children.extend(self.weighted(weights));
        let sum = self.nodes.node(("sum", 0, 0), children);
        let (kind, right) = self.condition(condition);
        let mut children = vec![(0, sum)];
        children.extend(right.map(|right| (RIGHT, right)));
        self.root(("condition", kind, 0), children);
    }

    /// A number for what the condition is, and its right side if that is an expression.
    fn condition(&mut self, condition: &Condition) -> (i64, Option<u32>) {
        match condition {
            Condition::Compare(op, right) => (*op as i64, Some(self.expr(right))),
            Condition::In(set) => (100 + self.set(set), None),
        }
    }

    fn set(&mut self, set: &ValueSet) -> i64 {
        let next = self.sets.len() as i64;
        *self.sets.entry(set.clone()).or_insert(next)
    }

    fn children(&mut self, list: &[Expr]) -> Vec<(i64, u32)> {
        list.iter().map(|e| (0, self.expr(e))).collect()
    }

    fn in_order(&mut self, list: &[Expr]) -> Vec<(i64, u32)> {
        (1..).zip(list).map(|(slot, e)| (slot, self.expr(e))).collect()
    }

    /// The values of an expression that depends on one variable.
    fn unary(&self, e: &Expr) -> Option<Unary> {
        let scope = e.scope();
        let [x] = scope[..] else { return None };
        let values = self.of_variable(x).map(|literal| {
            let value = i64::from(self.literals[literal as usize].1);
            (literal, e.eval(&|_| value))
        });
        Some(Unary { values: values.collect() })
    }

    /// Vertices for literals with equal weights; those of weight 0 have none.
    fn weighted(&mut self, weights: FxHashMap<u32, i64>) -> Vec<(i64, u32)> {
        let mut by_weight: FxHashMap<i64, Vec<(i64, u32)>> = FxHashMap::default();
        for (literal, weight) in weights.into_iter().filter(|(_, weight)| *weight != 0) {
            by_weight.entry(weight).or_default().push((0, literal));
        }
        let mut vertices: Vec<(i64, u32)> = by_weight
            .into_iter()
            .map(|(weight, literals)| (0, self.nodes.node(("weight", weight, 0), literals)))
            .collect();
        vertices.sort_unstable();
        vertices
    }

    /// The vertex of an expression.
    fn expr(&mut self, e: &Expr) -> u32 {
        if let Some(term) = self.unary(e) {
            let mut classes: FxHashMap<Option<i64>, Vec<(i64, u32)>> = FxHashMap::default();
            for (literal, value) in term.values {
                classes.entry(value).or_default().push((0, literal));
            }
            let mut children = Vec::new();
            for (value, literals) in classes {
                let kind = match value {
                    Some(value) => ("gives", value, 1),
                    None => ("gives", 0, 0),
                };
                children.push((0, self.nodes.node(kind, literals)));
            }
            return self.nodes.node(("function", 0, 0), children);
        }
        match e {
            Expr::Constant(value) => self.nodes.node(("constant", *value, 0), Vec::new()),
            // Only if its domain is empty, or the expression would depend on one variable.
            Expr::Var(x) => self.nodes.node(("variable", x.index() as i64, 0), Vec::new()),
            Expr::Sum(_) | Expr::Neg(_) => self.linear(e, 1),
            Expr::Abs(inner) => {
                let [plus, minus] = [1, -1].map(|sign| self.linear(inner, sign));
                self.nodes.node(("abs", 0, 0), vec![(0, plus), (0, minus)])
            }
            Expr::Binary(op, a, b) => {
                let is_symmetric = matches!(op, Operation::Mul | Operation::Dist);
                let [a, b] = [a, b].map(|e| self.expr(e));
                let slots = if is_symmetric { [0, 0] } else { [1, 2] };
                self.nodes.node(("operation", *op as i64, 0), vec![(slots[0], a), (slots[1], b)])
            }
            Expr::Min(list) => self.any_order("min", list),
            Expr::Max(list) => self.any_order("max", list),
            Expr::AllEqual(list) => self.any_order("all equal", list),
            Expr::And(list) => self.any_order("and", list),
            Expr::Or(list) => self.any_order("or", list),
            Expr::Xor(list) => {
                let children = self.children(list);
                self.nodes.node(("xor", 0, 0), children)
            }
            Expr::Compare(op, a, b) => self.compare(*op, a, b),
            Expr::In(inner, set) => {
                let set = self.set(set);
                let inner = self.expr(inner);
                self.nodes.node(("in", set, 0), vec![(0, inner)])
            }
            Expr::Not(inner) => {
                let inner = self.expr(inner);
                self.nodes.node(("not", 0, 0), vec![(0, inner)])
            }
            Expr::If(condition, yes, no) => {
                let [condition, yes, no] = [condition, yes, no].map(|e| self.expr(e));
                self.nodes.node(("if", 0, 0), vec![(0, condition), (1, yes), (2, no)])
            }
            Expr::Element(list, index) => {
                let children = self.element(list, 0, index);
                self.nodes.node(("element", 0, 0), children)
            }
        }
    }

    /// An operation that looks at each different part once, in any order.
    fn any_order(&mut self, name: &'static str, list: &[Expr]) -> u32 {
        let mut children = self.children(list);
        children.sort_unstable();
        children.dedup();
        self.nodes.node((name, 0, 0), children)
    }

    fn compare(&mut self, op: Comparison, a: &Expr, b: &Expr) -> u32 {
        let difference =
            |a: &Expr, b: &Expr| Expr::Sum(vec![a.clone(), Expr::Neg(b.clone().into())]);
        match op {
            // An equation may be read from either side.
            Comparison::Eq | Comparison::Ne => {
                let sides = [difference(a, b), difference(b, a)];
                let [one, other] = sides.map(|e| self.linear(&e, 1));
                self.nodes.node(("is zero", op as i64, 0), vec![(0, one), (0, other)])
            }
            Comparison::Lt | Comparison::Le => {
                let side = self.linear(&difference(a, b), 1);
                self.nodes.node(("below zero", op as i64, 0), vec![(0, side)])
            }
            Comparison::Gt | Comparison::Ge => self.compare(op.mirrored(), b, a),
        }
    }

    /// A weighted sum, times a sign.
    fn linear(&mut self, e: &Expr, sign: i64) -> u32 {
        let Some((terms, constant)) = e.linear_form() else {
            // Numbers that leave 64 bits: the parts as they are written.
            let children = e.children().into_iter().map(|part| self.expr(part));
            let children: Vec<(i64, u32)> = (1..).zip(children).collect();
            self.n_unique += 1;
            return self.nodes.node(("large sum", self.n_unique, sign), children);
        };
        let mut weights: FxHashMap<u32, i64> = FxHashMap::default();
        let mut children = Vec::new();
        for (factor, term) in terms {
            let factor = factor.wrapping_mul(sign);
            let unary = self.unary(term).and_then(|unary| {
                let weighted = unary.values.into_iter();
                let all: Option<Vec<(u32, i64)>> = weighted
                    .map(|(literal, value)| Some((literal, value?.checked_mul(factor)?)))
                    .collect();
                all
            });
            match unary {
                Some(values) => {
                    for (literal, value) in values {
                        let weight = weights.entry(literal).or_default();
                        *weight = weight.wrapping_add(value);
                    }
                }
                None => {
                    let term = self.expr(term);
                    children.push((factor, term));
                }
            }
        }
        children.extend(self.weighted(weights));
        self.nodes.node(("sum", constant.wrapping_mul(sign), 0), children)
    }

    /// The terms of a list, each with what chooses it: a literal of the index if that is a
    /// variable, otherwise a number.
    fn element(&mut self, list: &[Expr], start: i64, index: &Expr) -> Vec<(i64, u32)> {
        let terms: Vec<u32> = list.iter().map(|e| self.expr(e)).collect();
        let at = |place: i64| {
            let place = usize::try_from(place.checked_sub(start)?).ok()?;
            terms.get(place).copied()
        };
        if let Some(unary) = self.unary(index) {
            let mut children = Vec::new();
            for (literal, place) in unary.values {
                match place.and_then(at) {
                    Some(term) => {
                        let parts = vec![(0, literal), (1, term)];
                        children.push((0, self.nodes.node(("chosen", 0, 0), parts)));
                    }
                    None => {
                        let parts = vec![(0, literal)];
                        children.push((0, self.nodes.node(("chosen", 1, 0), parts)));
                    }
                }
            }
            return children;
        }
        let index = self.expr(index);
        let mut children = vec![(RIGHT, index)];
        children.extend(
            (start.wrapping_add(1)..).zip(terms).map(|(slot, term)| {
                (if slot >= RIGHT { slot.wrapping_add(1) } else { slot }, term)
            }),
        );
        children
    }

    fn extra(&mut self, extra: &Extra) {
        for &((x, value), kind) in &extra.kinds {
            if let Some(literal) = self.literal(x, value) {
                self.nodes.paint(literal, ("kind", kind, 0));
            }
        }
        for (kind, group) in &extra.groups {
            let literals = group.iter().filter_map(|&(x, value)| self.literal(x, value));
            let children = literals.map(|literal| (0, literal)).collect();
            self.nodes.node(("group", *kind, 0), children);
        }
    }

    /// Adds what is forbidden. What contains something forbidden says nothing new, and a literal
    /// that is in no solution takes part in no symmetry.
    fn finish(mut self, deadline: &Deadline) -> Result<Microstructure, StructureError> {
        self.check(deadline)?;
        let mut is_dead = vec![false; self.literals.len()];
        for nogood in self.nogoods.iter().filter(|nogood| nogood.len() == 1) {
            is_dead[nogood[0] as usize] = true;
        }
        for (literal, _) in is_dead.iter().enumerate().filter(|(_, is_dead)| **is_dead) {
            self.nodes.paint(literal as u32, ("dead", literal as i64, 0));
        }
        let nogoods = std::mem::take(&mut self.nogoods);
        let mut kept: Vec<&[u32]> = (nogoods.iter().map(AsRef::as_ref))
            .filter(|nogood: &&[u32]| {
                let has_dead = nogood.iter().any(|&literal| is_dead[literal as usize]);
                let has_pair = || {
                    nogood.len() > 2
                        && (0..nogood.len())
                            .any(|i| (0..i).any(|j| nogoods.contains(&[nogood[j], nogood[i]][..])))
                };
                nogood.len() != 1 && !has_dead && !has_pair()
            })
            .collect();
        kept.sort_unstable();
        for nogood in &kept {
            match nogood {
                [a, b] => self.nodes.join(*a, *b),
                _ => {
                    let children = nogood.iter().map(|&literal| (0, literal)).collect();
                    self.nodes.node(("nogood", 0, 0), children);
                }
            }
        }
        let n_dead = is_dead.iter().filter(|is_dead| **is_dead).count();
        let n_nogoods = kept.len() + n_dead;
        Ok(Microstructure { literals: self.literals, graph: self.nodes.build(), n_nogoods })
    }
}

/// The most sets of literals that a table is taken apart into, and the most steps for that.
const MAX_NOGOODS: usize = 4_096;
const MAX_STEPS: usize = 4_000_000;

/// The slot of what a term is compared with.
const RIGHT: i64 = 1 << 60;
