//! Bounds on the profit of a load within a capacity.
//!
//! Two sums over the same variables, one limited by a capacity and one to maximize, prune more
//! together than each alone. For any rate `r >= 0` the sum of `(profit - r * weight) * x` plus
//! `r * capacity` is at least the profit of a load that fits. The best rate is that of the item
//! that fits only in part when items are packed in order of profit per weight. The bound is
//! then that of the linear relaxation, and the coefficient of each variable limits how far the
//! variable can deviate from it.
//!
//! After Dantzig, *Discrete-variable extremum problems*, 1957, and, for the pruning of items,
//! Fahle and Sellmann, *Cost based filtering for the constrained knapsack problem*, 2002.

use crate::domains::{Conflict, Domains, Events, VarId};
use crate::propagator::{Cost, Propagator, Pruning, Setup};
use crate::{Value, duplicate_by_clone};

/// The items fit, and `value` is at most their profit: `sum of weight * x <= capacity` and
/// `sign * value <= sum of profit * x + extra`.
#[derive(Clone)]
pub struct Knapsack {
    /// The variables of the items, then the value.
    scope: Vec<VarId>,
    items: Vec<Item>,
    /// Items whose profit costs capacity, by decreasing profit per weight.
    by_rate: Vec<u32>,
    capacity: i64,
    sign: i64,
    extra: i64,
}

/// The weight and profit of one unit of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Item {
    /// The variable.
    pub x: VarId,
    /// The weight of one unit.
    pub weight: i64,
    /// The profit of one unit.
    pub profit: i64,
}

impl Item {
    /// Whether more profit costs more weight, in either direction.
    fn is_traded(&self) -> bool {
        (self.weight > 0 && self.profit > 0) || (self.weight < 0 && self.profit < 0)
    }
}

impl Knapsack {
    /// Creates the constraint on items for a value to maximize (`sign` 1) or minimize (`sign`
    /// -1).
    ///
    /// Returns `None` when fewer than two items compete for the capacity, or the numbers are
    /// too large.
    pub fn new(
        items: Vec<Item>,
        capacity: i64,
        value: VarId,
        sign: i64,
        extra: i64,
    ) -> Option<Self> {
        const LIMIT: u64 = 1 << 30;
        let fits = |n: i64| n.unsigned_abs() <= LIMIT;
        let mut by_rate: Vec<u32> =
            (0..items.len() as u32).filter(|&at| items[at as usize].is_traded()).collect();
        if by_rate.len() < 2 || !items.iter().all(|item| fits(item.weight) && fits(item.profit)) {
            return None;
        }
        by_rate.sort_by_key(|&at| {
            let Item { weight, profit, .. } = items[at as usize];
            // The quotient is rounded, which is exact enough: the bound is valid for any order.
            -((i128::from(profit) << 32) / i128::from(weight))
        });
        let scope = items.iter().map(|item| item.x).chain([value]).collect();
        Some(Self { scope, items, by_rate, capacity, sign, extra })
    }

    fn value(&self) -> VarId {
        self.scope[self.items.len()]
    }

    /// Returns the profit and weight whose quotient is the best rate.
    fn rate(&self, domains: &Domains) -> Result<(i64, i64), Conflict> {
        let mut left = i128::from(self.capacity);
        for item in &self.items {
            let (lo, hi) = (domains.min(item.x), domains.max(item.x));
            // Start from the lightest load.
            let lightest = if item.weight > 0 { lo } else { hi };
            left -= i128::from(item.weight) * i128::from(lightest);
        }
        if left < 0 {
            return Err(Conflict);
        }
        for &at in &self.by_rate {
            let item = &self.items[at as usize];
            let n_units = i64::from(domains.max(item.x)) - i64::from(domains.min(item.x));
            left -= i128::from(item.weight.abs()) * i128::from(n_units);
            if left < 0 {
                return Ok((item.profit.abs(), item.weight.abs()));
            }
        }
        Ok((0, 1))
    }
}

impl Propagator for Knapsack {
    fn name(&self) -> &'static str {
        "knapsack"
    }

    fn scope(&self) -> &[VarId] {
        &self.scope
    }

    fn holds(&self, tuple: &[Value]) -> bool {
        let (values, value) = tuple.split_at(self.items.len());
        let sum = |of: fn(&Item) -> i64| -> i64 {
            self.items.iter().zip(values).map(|(item, &v)| of(item) * i64::from(v)).sum()
        };
        sum(|item| item.weight) <= self.capacity
            && self.sign * i64::from(value[0]) <= sum(|item| item.profit) + self.extra
    }

    fn post(&mut self, setup: &mut Setup<'_>) {
        setup.subscribe_all(&self.scope, Events::BOUNDS);
    }

    fn propagate(&mut self, domains: &mut Domains) -> Result<Pruning, Conflict> {
        // Step 1. The best rate of profit per weight, as a fraction.
        let (profit, weight) = self.rate(domains)?;
        let net = |item: &Item| item.profit * weight - item.weight * profit;
        // Step 2. The greatest profit of the items; all quantities are multiplied by `weight`.
        let mut most = i128::from(profit) * i128::from(self.capacity)
            + i128::from(weight) * i128::from(self.extra);
        for item in &self.items {
            let net = net(item);
            let best = if net > 0 { domains.max(item.x) } else { domains.min(item.x) };
            most += i128::from(net) * i128::from(best);
        }
        let bound = most.div_euclid(i128::from(weight));
        let bound =
            i64::try_from(bound).unwrap_or(if bound > 0 { i64::MAX / 2 } else { i64::MIN / 2 });
        let value = self.value();
        let least = if self.sign > 0 {
            domains.at_most_wide(value, bound)?;
            i64::from(domains.min(value))
        } else {
            domains.at_least_wide(value, -bound)?;
            -i64::from(domains.max(value))
        };
        // Step 3. Prune values of items that lower the greatest profit by more than the slack.
        let slack = most - i128::from(weight) * i128::from(least);
        for item in &self.items {
            let net = net(item);
            let (lo, hi) = (i64::from(domains.min(item.x)), i64::from(domains.max(item.x)));
            if i128::from(net.abs()) * i128::from(hi - lo) > slack {
                let room = (slack / i128::from(net.abs())) as i64;
                if net > 0 {
                    domains.at_least_wide(item.x, hi - room)?;
                } else {
                    domains.at_most_wide(item.x, lo + room)?;
                }
            }
        }
        Ok(Pruning::MayPruneMore)
    }

    fn cost(&self) -> Cost {
        Cost::Quadratic
    }

    duplicate_by_clone!();
}
