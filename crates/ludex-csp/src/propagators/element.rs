//! A list of variables indexed by a variable.

use crate::domains::{Conflict, Domains, Events, VarId};
use crate::propagator::{Cost, Propagator, Pruning, Setup};
use crate::{Value, duplicate_by_clone};

/// `list[index - start] = value`, domain consistent except between wide ranges.
#[derive(Clone)]
pub struct Element {
    /// The index, the value, then the list.
    scope: Vec<VarId>,
    start: Value,
    /// By index of a value of `value`: the position in the list where it was last found.
    residues: Vec<u32>,
    /// Scratch: the indexes to remove.
    lost: Vec<u32>,
}

/// Largest domains compared value by value; larger ones are compared by bounds.
const MAX_COMPARED: u64 = 4096;

impl Element {
    /// Creates the constraint `list[index - start] = value`.
    pub fn new(list: &[VarId], start: Value, index: VarId, value: VarId) -> Self {
        let scope = [index, value].into_iter().chain(list.iter().copied()).collect();
        Self { scope, start, residues: Vec::new(), lost: Vec::new() }
    }

    fn may_meet(&self, x: VarId, y: VarId, domains: &Domains) -> bool {
        if domains.max(x) < domains.min(y) || domains.max(y) < domains.min(x) {
            return false;
        }
        if let Some(value) = domains.fixed_value(y) {
            return domains.contains(x, value);
        }
        let (small, large) = if domains.size(x) <= domains.size(y) { (x, y) } else { (y, x) };
        if domains.size(small) > MAX_COMPARED {
            return true;
        }
        domains.values(small).any(|value| domains.contains(large, value))
    }
}

impl Propagator for Element {
    fn name(&self) -> &'static str {
        "element"
    }

    fn scope(&self) -> &[VarId] {
        &self.scope
    }

    fn holds(&self, tuple: &[Value]) -> bool {
        let place = i64::from(tuple[0]) - i64::from(self.start);
        usize::try_from(place).is_ok_and(|place| tuple[2..].get(place) == Some(&tuple[1]))
    }

    fn post(&mut self, setup: &mut Setup<'_>) {
        self.residues = match setup.domains().bits(self.scope[1]) {
            Some(bits) => vec![0; bits.len() * 64],
            None => Vec::new(),
        };
        for &x in &self.scope {
            setup.subscribe(x, Events::ANY);
        }
    }

    fn propagate(&mut self, domains: &mut Domains) -> Result<Pruning, Conflict> {
        let (index, value) = (self.scope[0], self.scope[1]);
        let n = self.scope.len() - 2;
        domains.at_least(index, self.start)?;
        domains.at_most_wide(index, i64::from(self.start) + n as i64 - 1)?;
        // Step 1. Remove indexes whose variable has no value in common with the result.
        let place_of = |i: Value| (i64::from(i) - i64::from(self.start)) as usize;
        self.lost.clear();
        for at in domains.indexes(index) {
            let x = self.scope[2 + place_of(domains.value_at(index, at))];
            if !self.may_meet(x, value, domains) {
                self.lost.push(at);
            }
        }
        if !self.lost.is_empty() {
            let mut lost = self.lost.iter().copied().peekable();
            domains.retain_indexes(index, |at| lost.next_if_eq(&at).is_none())?;
        }
        // Step 2. If the index is fixed, the variable there and the result are equal.
        if let Some(i) = domains.fixed_value(index) {
            let x = self.scope[2 + place_of(i)];
            loop {
                let mut is_reduced = domains.at_least(x, domains.min(value))?;
                is_reduced |= domains.at_most(x, domains.max(value))?;
                is_reduced |= domains.at_least(value, domains.min(x))?;
                is_reduced |= domains.at_most(value, domains.max(x))?;
                if !is_reduced {
                    break;
                }
            }
            if domains.size(x).max(domains.size(value)) <= 1 << 16 {
                for (a, b) in [(x, value), (value, x)] {
                    let lost: Vec<Value> =
                        domains.values(a).filter(|&v| !domains.contains(b, v)).collect();
                    for v in lost {
                        domains.remove(a, v)?;
                    }
                }
            }
            let is_done = domains.is_fixed(x) && domains.is_fixed(value);
            return Ok(if is_done { Pruning::Entailed } else { Pruning::Fixpoint });
        }
        // Step 3. Remove results found at no possible index.
        if self.residues.is_empty() || domains.size(value) > MAX_COMPARED {
            let places = domains.values(index).map(|i| self.scope[2 + place_of(i)]);
            let (lo, hi) = places.fold((Value::MAX, Value::MIN), |(lo, hi), x| {
                (lo.min(domains.min(x)), hi.max(domains.max(x)))
            });
            domains.at_least(value, lo)?;
            domains.at_most(value, hi)?;
            return Ok(Pruning::MayPruneMore);
        }
        let mut lost = Vec::new();
        for at in domains.indexes(value) {
            let v = domains.value_at(value, at);
            let residue = self.residues[at as usize] as usize;
            let residue_index = i64::from(self.start) + residue as i64;
            let is_found = domains.contains(self.scope[2 + residue], v)
                && domains.contains(index, residue_index as Value);
            if is_found {
                continue;
            }
            let found = domains
                .values(index)
                .map(place_of)
                .find(|&place| domains.contains(self.scope[2 + place], v));
            match found {
                Some(place) => self.residues[at as usize] = place as u32,
                None => lost.push(at),
            }
        }
        for at in lost {
            domains.remove_index(value, at)?;
        }
        Ok(Pruning::Fixpoint)
    }

    fn cost(&self) -> Cost {
        Cost::Quadratic
    }

    duplicate_by_clone!();
}
