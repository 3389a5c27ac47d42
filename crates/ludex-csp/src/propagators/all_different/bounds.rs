//! Bounds consistency by unions of critical intervals.
//!
//! After López-Ortiz, Quimper, Tromp and van Beek, *A Fast and Simple Algorithm for Bounds
//! Consistency of the AllDifferent Constraint*, IJCAI 2003. `tree` links an interval
//! endpoint to the next one with room, `hall` to the end of its critical interval, and `room`
//! counts the values left below an endpoint.

use super::all_different;
use crate::domains::{Conflict, Domains, Events, VarId};
use crate::propagator::{Cost, Propagator, Pruning, Setup};
use crate::{Value, ValueSet, duplicate_by_clone};

/// All different, bounds consistent.
#[derive(Clone)]
pub struct AllDifferentBounds {
    scope: Vec<VarId>,
}

impl AllDifferentBounds {
    /// Creates the constraint that the variables differ.
    pub fn new(scope: &[VarId]) -> Self {
        Self { scope: scope.to_vec() }
    }
}

impl Propagator for AllDifferentBounds {
    fn name(&self) -> &'static str {
        "all different by bounds"
    }

    fn scope(&self) -> &[VarId] {
        &self.scope
    }

    fn holds(&self, tuple: &[Value]) -> bool {
        all_different(tuple, &ValueSet::default())
    }

    fn post(&mut self, setup: &mut Setup<'_>) {
        for &x in &self.scope {
            setup.subscribe(x, Events::BOUNDS);
        }
    }

    fn propagate(&mut self, domains: &mut Domains) -> Result<Pruning, Conflict> {
        loop {
            let ranges: Vec<(i64, i64)> = (self.scope.iter())
                .map(|&x| (i64::from(domains.min(x)), i64::from(domains.max(x))))
                .collect();
            let raised = raise_lower_bounds(&ranges).ok_or(Conflict)?;
            // Upper bounds are lower bounds of the mirror image.
            let mirrored: Vec<(i64, i64)> = ranges.iter().map(|&(lo, hi)| (-hi, -lo)).collect();
            let lowered = raise_lower_bounds(&mirrored).ok_or(Conflict)?;
            let mut is_reduced = false;
            for (at, &x) in self.scope.iter().enumerate() {
                is_reduced |= domains.at_least_wide(x, raised[at])?;
                is_reduced |= domains.at_most_wide(x, -lowered[at])?;
            }
            if !is_reduced {
                return Ok(Pruning::Fixpoint);
            }
        }
    }

    fn cost(&self) -> Cost {
        Cost::Quadratic
    }

    duplicate_by_clone!();
}

/// Returns the raised lower bound of each range if all values are different; `None` if they
/// cannot be.
fn raise_lower_bounds(ranges: &[(i64, i64)]) -> Option<Vec<i64>> {
    // Step 1. Endpoints: lower bounds and upper bounds plus one, each once, with sentinels.
    let mut ends: Vec<i64> = ranges.iter().flat_map(|&(lo, hi)| [lo, hi + 1]).collect();
    ends.sort_unstable();
    ends.dedup();
    ends.insert(0, ends.first()? - 2);
    ends.push(ends[ends.len() - 1] + 2);
    let rank = |value: i64| ends.binary_search(&value).expect("every bound is an endpoint");
    let mut by_upper: Vec<usize> = (0..ranges.len()).collect();
    by_upper.sort_unstable_by_key(|&at| ranges[at].1);

    // Step 2. Assign the ranges by increasing upper bound, each to the lowest endpoint with
    // room.
    let mut tree: Vec<usize> = (0..ends.len()).map(|i| i.saturating_sub(1)).collect();
    let mut hall = tree.clone();
    let mut room: Vec<i64> =
        (0..ends.len()).map(|i| if i == 0 { 0 } else { ends[i] - ends[i - 1] }).collect();
    let mut lower: Vec<i64> = ranges.iter().map(|range| range.0).collect();
    for at in by_upper {
        let (x, y) = (rank(ranges[at].0), rank(ranges[at].1 + 1));
        let mut z = follow_up(&tree, x + 1);
        let before = tree[z];
        room[z] -= 1;
        if room[z] == 0 {
            tree[z] = z + 1;
            z = follow_up(&tree, tree[z]);
            tree[z] = before;
        }
        compress(&mut tree, x + 1, z);
        if room[z] < ends[z] - ends[y] {
            return None;
        }
        if hall[x] > x {
            let w = follow_up(&hall, hall[x]);
            lower[at] = ends[w];
            compress(&mut hall, x, w);
        }
        if room[z] == ends[z] - ends[y] {
            let from = hall[y];
            link(&mut hall, from, before.wrapping_sub(1), y);
            hall[y] = before.wrapping_sub(1);
        }
    }
    Some(lower)
}

/// Follows links upwards while they rise.
fn follow_up(links: &[usize], mut at: usize) -> usize {
    while links[at] > at {
        at = links[at];
    }
    at
}

/// Makes every link on the path up from `from` to `to` point to `to`.
fn compress(links: &mut [usize], mut from: usize, to: usize) {
    while from != to {
        let next = links[from];
        links[from] = to;
        if next <= from {
            break;
        }
        from = next;
    }
}

/// Makes every link on the path down from `from` to `to` point to `target`.
fn link(links: &mut [usize], mut from: usize, to: usize, target: usize) {
    while from != to {
        let next = links[from];
        links[from] = target;
        if next >= from {
            break;
        }
        from = next;
    }
}
