//! Domain consistency by matching.
//!
//! A value is possible exactly when its edge is in some matching of all variables to values: it
//! is in the current matching, or on an alternating cycle (inside a strongly connected
//! component), or on an alternating path from a free value (followed backwards here). The
//! matching is kept between calls and only repaired.
//!
//! After Régin, *A filtering algorithm for constraints of difference in CSPs*, AAAI 1994.
//! Values that may be repeated have no node, and variables that can take one need no partner.

use super::all_different;
use crate::domains::{Conflict, Domains, Events, VarId};
use crate::propagator::{Cost, Propagator, Pruning, Setup};
use crate::{Value, ValueSet, duplicate_by_clone};

/// All different, domain consistent.
#[derive(Clone)]
pub struct AllDifferentGac {
    scope: Vec<VarId>,
    except: ValueSet,
    /// The values of all domains, ascending; the node of a value is its index here.
    values: Vec<Value>,
    /// Whether the values are consecutive, so that subtraction gives the node.
    is_dense: bool,
    /// By variable, its value node, or `NONE`; by value node, its variable.
    value_of: Vec<u32>,
    var_of: Vec<u32>,
    work: Work,
}

#[derive(Clone, Default)]
struct Work {
    seen: Vec<u32>,
    stamp: u32,
    /// By variable: the variable from which the path search reached it.
    parent: Vec<(u32, u32)>,
    queue: Vec<u32>,
    /// The nodes of each variable's values, all in one list.
    edges: Vec<u32>,
    first_edge: Vec<u32>,
    /// Tarjan's algorithm over variables: an arc leads from a variable to the partner of a
    /// value in its domain.
    order: Vec<u32>,
    low: Vec<u32>,
    component: Vec<u32>,
    stack: Vec<u32>,
    frames: Vec<(u32, u32)>,
    /// By value node: an alternating path leads from it to a free value.
    reaches_free: Vec<bool>,
}

const NONE: u32 = u32::MAX;

impl AllDifferentGac {
    /// Creates the constraint that the variables differ, except for the excepted values.
    pub fn new(scope: &[VarId], except: impl Into<ValueSet>) -> Self {
        Self {
            scope: scope.to_vec(),
            except: except.into(),
            values: Vec::new(),
            is_dense: false,
            value_of: Vec::new(),
            var_of: Vec::new(),
            work: Work::default(),
        }
    }

    #[inline]
    fn node(&self, value: Value) -> u32 {
        if self.is_dense {
            return (value - self.values[0]) as u32;
        }
        self.values.binary_search(&value).expect("every value has a node") as u32
    }

    /// Lists the nodes in each domain; a variable that may take an excepted value gets none.
    fn list_edges(&mut self, domains: &Domains) {
        self.work.edges.clear();
        self.work.first_edge.clear();
        for &x in &self.scope {
            self.work.first_edge.push(self.work.edges.len() as u32);
            let start = self.work.edges.len();
            for value in domains.values(x) {
                if !self.except.is_empty() && self.except.contains(value) {
                    self.work.edges.truncate(start);
                    break;
                }
                let node = self.node(value);
                self.work.edges.push(node);
            }
        }
        self.work.first_edge.push(self.work.edges.len() as u32);
    }

    #[inline]
    fn edges(&self, var: usize) -> std::ops::Range<usize> {
        self.work.first_edge[var] as usize..self.work.first_edge[var + 1] as usize
    }

    /// Drops partners that left the domain and finds new ones.
    fn repair(&mut self) -> Result<(), Conflict> {
        for var in 0..self.scope.len() {
            let node = self.value_of[var];
            if node != NONE && self.work.edges[self.edges(var)].binary_search(&node).is_err() {
                self.value_of[var] = NONE;
                self.var_of[node as usize] = NONE;
            }
        }
        for var in 0..self.scope.len() {
            if self.value_of[var] == NONE && !self.edges(var).is_empty() && !self.augment(var) {
                return Err(Conflict);
            }
        }
        Ok(())
    }

    /// Finds a path from a variable without partner to a free value, breadth first.
    fn augment(&mut self, start: usize) -> bool {
        self.work.stamp += 1;
        let stamp = self.work.stamp;
        self.work.queue.clear();
        self.work.queue.push(start as u32);
        let mut head = 0;
        while head < self.work.queue.len() {
            let var = self.work.queue[head] as usize;
            head += 1;
            for at in self.edges(var) {
                let node = self.work.edges[at];
                if self.work.seen[node as usize] == stamp {
                    continue;
                }
                self.work.seen[node as usize] = stamp;
                let next = self.var_of[node as usize];
                if next != NONE {
                    self.work.parent[next as usize] = (var as u32, node);
                    self.work.queue.push(next);
                    continue;
                }
                // Give each variable on the path the value through which the path left it.
                let (mut var, mut node) = (var, node);
                loop {
                    self.value_of[var] = node;
                    self.var_of[node as usize] = var as u32;
                    if var == start {
                        return true;
                    }
                    (var, node) = {
                        let (previous, through) = self.work.parent[var];
                        (previous as usize, through)
                    };
                }
            }
        }
        false
    }

    /// Marks the values from which an alternating path leads to a free value: the free ones,
    /// and those whose partner could move to a marked one.
    fn mark_free_paths(&mut self) {
        let n_vars = self.scope.len();
        self.work.reaches_free.clear();
        self.work.reaches_free.extend(self.var_of.iter().map(|&var| var == NONE));
        // A worklist would need the reversed edges. Domains are so small that repeated passes
        // over the open variables suffice, and in practice few passes are needed.
        let mut open: Vec<u32> =
            (0..n_vars as u32).filter(|&v| self.value_of[v as usize] != NONE).collect();
        loop {
            let n_before = open.len();
            let work = &mut self.work;
            let value_of = &self.value_of;
            open.retain(|&var| {
                let range = work.first_edge[var as usize] as usize
                    ..work.first_edge[var as usize + 1] as usize;
                let moves = work.edges[range].iter().any(|&node| work.reaches_free[node as usize]);
                if moves {
                    work.reaches_free[value_of[var as usize] as usize] = true;
                }
                !moves
            });
            if open.len() == n_before {
                return;
            }
        }
    }

    /// Computes the strongly connected components of the variables that have a partner.
    fn components(&mut self) {
        let n_vars = self.scope.len();
        self.work.order.clear();
        self.work.order.resize(n_vars, NONE);
        self.work.component.clear();
        self.work.component.resize(n_vars, NONE);
        self.work.low.resize(n_vars, 0);
        let mut n_seen = 0;
        let mut n_components = 0;
        for root in 0..n_vars {
            if self.work.order[root] != NONE || self.value_of[root] == NONE {
                continue;
            }
            self.work.frames.push((root as u32, self.work.first_edge[root]));
            self.work.order[root] = n_seen;
            self.work.low[root] = n_seen;
            n_seen += 1;
            self.work.stack.push(root as u32);
            while let Some((var, next_edge)) = self.work.frames.last_mut() {
                let var = *var as usize;
                if *next_edge < self.work.first_edge[var + 1] {
                    let node = self.work.edges[*next_edge as usize];
                    *next_edge += 1;
                    let other = self.var_of[node as usize];
                    if other == NONE || other as usize == var {
                        continue;
                    }
                    let other = other as usize;
                    if self.work.order[other] == NONE {
                        self.work.order[other] = n_seen;
                        self.work.low[other] = n_seen;
                        n_seen += 1;
                        self.work.stack.push(other as u32);
                        self.work.frames.push((other as u32, self.work.first_edge[other]));
                    } else if self.work.component[other] == NONE {
                        self.work.low[var] = self.work.low[var].min(self.work.order[other]);
                    }
                    continue;
                }
                self.work.frames.pop();
                if let Some(&(parent, _)) = self.work.frames.last() {
                    let parent = parent as usize;
                    self.work.low[parent] = self.work.low[parent].min(self.work.low[var]);
                }
                if self.work.low[var] == self.work.order[var] {
                    loop {
                        let member = self.work.stack.pop().expect("the root is on the stack");
                        self.work.component[member as usize] = n_components;
                        if member as usize == var {
                            break;
                        }
                    }
                    n_components += 1;
                }
            }
        }
    }
}

impl Propagator for AllDifferentGac {
    fn name(&self) -> &'static str {
        "all different by matching"
    }

    fn scope(&self) -> &[VarId] {
        &self.scope
    }

    fn holds(&self, tuple: &[Value]) -> bool {
        all_different(tuple, &self.except)
    }

    fn post(&mut self, setup: &mut Setup<'_>) {
        let domains = setup.domains();
        let mut values: Vec<Value> =
            self.scope.iter().flat_map(|&x| domains.values(x).collect::<Vec<_>>()).collect();
        values.sort_unstable();
        values.dedup();
        self.is_dense =
            values.len() as i64 == i64::from(values[values.len() - 1]) - i64::from(values[0]) + 1;
        self.value_of = vec![NONE; self.scope.len()];
        self.var_of = vec![NONE; values.len()];
        self.work.seen = vec![0; values.len()];
        self.work.parent = vec![(0, 0); self.scope.len()];
        self.values = values;
        for &x in &self.scope {
            setup.subscribe(x, Events::ANY);
        }
    }

    fn propagate(&mut self, domains: &mut Domains) -> Result<Pruning, Conflict> {
        self.list_edges(domains);
        self.repair()?;
        self.mark_free_paths();
        self.components();
        for var in 0..self.scope.len() {
            let range = self.edges(var);
            if self.value_of[var] == NONE || range.len() <= 1 {
                continue;
            }
            for at in range {
                let node = self.work.edges[at];
                if self.work.reaches_free[node as usize] || node == self.value_of[var] {
                    continue;
                }
                let owner = self.var_of[node as usize] as usize;
                if self.work.component[owner] != self.work.component[var] {
                    domains.remove(self.scope[var], self.values[node as usize])?;
                }
            }
        }
        // A variable that may take an excepted value is not part of the matching, but it still
        // loses the values that a critical set of the others needs.
        if !self.except.is_empty() {
            self.prune_flexible(domains)?;
        }
        Ok(Pruning::Fixpoint)
    }

    fn cost(&self) -> Cost {
        Cost::Heavy
    }

    duplicate_by_clone!();
}

impl AllDifferentGac {
    /// Removes the values that the other variables need from the variables that may also take
    /// an excepted value.
    fn prune_flexible(&self, domains: &mut Domains) -> Result<(), Conflict> {
        for (var, &x) in self.scope.iter().enumerate() {
            if self.value_of[var] != NONE {
                continue;
            }
            domains.retain(x, |value| {
                self.except.contains(value) || self.work.reaches_free[self.node(value) as usize]
            })?;
        }
        Ok(())
    }
}
