//! Successors that form one circuit.
//!
//! A variable equal to its own index is not on the circuit. Chains of fixed successors must not
//! close before they contain every node that must be on the circuit, and these nodes must be
//! strongly connected.

use crate::domains::{Conflict, Domains, VarId};
use crate::propagator::{Cost, Propagator, Pruning};
use crate::{Value, duplicate_by_clone};

/// The variables are the successors in one circuit of two nodes or more; nodes outside point to
/// themselves.
#[derive(Clone)]
pub struct Circuit {
    scope: Vec<VarId>,
    start: Value,
}

impl Circuit {
    /// Creates the constraint on successors, with indexes counted from `start`.
    pub fn new(successors: &[VarId], start: Value) -> Self {
        Self { scope: successors.to_vec(), start }
    }

    fn place(&self, value: Value) -> usize {
        (value - self.start) as usize
    }

    /// Whether a node must be on the circuit.
    fn is_bound(&self, place: usize, domains: &Domains) -> bool {
        !domains.contains(self.scope[place], place as Value + self.start)
    }

    /// Forbids closing a chain that lacks a node which must be on the circuit.
    fn forbid_short_circuits(&self, domains: &mut Domains) -> Result<(), Conflict> {
        let n = self.scope.len();
        let mut has_fixed_predecessor = vec![false; n];
        for (i, &x) in self.scope.iter().enumerate() {
            if let Some(value) = domains.fixed_value(x)
                && self.place(value) != i
            {
                has_fixed_predecessor[self.place(value)] = true;
            }
        }
        let n_bound = (0..n).filter(|&place| self.is_bound(place, domains)).count();
        let mut in_chain = vec![false; n];
        for (head, &has_predecessor) in has_fixed_predecessor.iter().enumerate() {
            let starts_chain = !has_predecessor
                && domains.fixed_value(self.scope[head]).is_some_and(|v| self.place(v) != head);
            if !starts_chain {
                continue;
            }
            let mut end = head;
            let mut n_members = 1;
            while let Some(value) = domains.fixed_value(self.scope[end]) {
                in_chain[end] = true;
                end = self.place(value);
                n_members += 1;
                if n_members > n + 1 {
                    return Err(Conflict);
                }
            }
            in_chain[end] = true;
            // All members but the last are bound; the last is bound when it can't point to
            // itself.
            let n_bound_members = n_members - 1 + usize::from(self.is_bound(end, domains));
            if n_bound > n_bound_members {
                domains.remove(self.scope[end], head as Value + self.start)?;
            }
            // The last member has a predecessor, so it must not point to itself.
            domains.remove(self.scope[end], end as Value + self.start)?;
        }
        // Fixed nodes in no chain form a closed circuit, which is then the only one.
        let closed: Vec<usize> = (0..n)
            .filter(|&i| {
                !in_chain[i]
                    && domains.fixed_value(self.scope[i]).is_some_and(|v| self.place(v) != i)
            })
            .collect();
        let Some(&first) = closed.first() else {
            return Ok(());
        };
        let mut on_circuit = vec![false; n];
        let mut at = first;
        loop {
            on_circuit[at] = true;
            at = self.place(domains.fixed_value(self.scope[at]).ok_or(Conflict)?);
            if at == first {
                break;
            }
            if on_circuit[at] {
                return Err(Conflict);
            }
        }
        for (place, &x) in self.scope.iter().enumerate() {
            if !on_circuit[place] {
                domains.fix(x, place as Value + self.start)?;
            }
        }
        Ok(())
    }

    /// Checks that all bound nodes reach each other.
    fn check_connected(&self, domains: &Domains) -> Result<(), Conflict> {
        let n = self.scope.len();
        let Some(root) = (0..n).find(|&place| self.is_bound(place, domains)) else {
            return Ok(());
        };
        let mut backward = vec![Vec::new(); n];
        let forward: Vec<Vec<usize>> = (0..n)
            .map(|i| {
                domains.values(self.scope[i]).map(|v| self.place(v)).filter(|&j| j != i).collect()
            })
            .collect();
        for (i, next) in forward.iter().enumerate() {
            for &j in next {
                backward[j].push(i);
            }
        }
        for arcs in [&forward, &backward] {
            let mut seen = vec![false; n];
            let mut stack = vec![root];
            seen[root] = true;
            while let Some(i) = stack.pop() {
                for &j in &arcs[i] {
                    if !seen[j] {
                        seen[j] = true;
                        stack.push(j);
                    }
                }
            }
            if (0..n).any(|place| !seen[place] && self.is_bound(place, domains)) {
                return Err(Conflict);
            }
        }
        Ok(())
    }
}

impl Propagator for Circuit {
    fn name(&self) -> &'static str {
        "circuit"
    }

    fn scope(&self) -> &[VarId] {
        &self.scope
    }

    fn holds(&self, tuple: &[Value]) -> bool {
        let n = tuple.len() as i64;
        let places: Vec<i64> =
            tuple.iter().map(|&v| i64::from(v) - i64::from(self.start)).collect();
        if places.iter().any(|place| !(0..n).contains(place)) {
            return false;
        }
        let n_members = (0..tuple.len()).filter(|&i| places[i] != i as i64).count();
        let Some(first) = (0..tuple.len()).find(|&i| places[i] != i as i64) else {
            return false;
        };
        let mut at = first;
        for step in 1..=n_members {
            at = places[at] as usize;
            if at == first {
                return step == n_members;
            }
        }
        false
    }

    fn propagate(&mut self, domains: &mut Domains) -> Result<Pruning, Conflict> {
        let n = self.scope.len() as Value;
        for &x in &self.scope {
            domains.at_least(x, self.start)?;
            domains.at_most(x, self.start + n - 1)?;
        }
        let all_loop = |domains: &Domains| {
            (self.scope.iter().enumerate())
                .all(|(i, &x)| domains.fixed_value(x) == Some(i as Value + self.start))
        };
        if all_loop(domains) {
            return Err(Conflict);
        }
        self.forbid_short_circuits(domains)?;
        self.check_connected(domains)?;
        Ok(Pruning::MayPruneMore)
    }

    fn cost(&self) -> Cost {
        Cost::Heavy
    }

    duplicate_by_clone!();
}
