//! What a load that fits can be worth.
//!
//! Two sums over the same variables, one bounded by a capacity and one to be large, say more
//! together than each alone. For any rate `r >= 0` the sum of `(profit - r * weight) * x` plus
//! `r * capacity` is at least the profit of a load that fits. The best rate is that of the
//! last item that still goes in, in part, when items are taken by profit for weight; the
//! bound is then that of the linear relaxation, and what each variable can deviate from it
//! is known by its coefficient.
//!
//! After Dantzig, *Discrete-variable extremum problems*, 1957, and, for the pruning of items,
//! Fahle and Sellmann, *Cost based filtering for the constrained knapsack problem*, 2002.

use crate::domains::{Conflict, Domains, Events, VarId};
use crate::propagator::{Cost, Propagator, Pruning, Setup};
use crate::{Value, duplicate_by_clone};

/// The variables fit, and `value` is at most what they are worth:
/// `sum of weight * x <= capacity` and `sign * value <= sum of profit * x + extra`.
#[derive(Clone)]
pub struct Knapsack {
    /// The variables of the items, then the value.
    scope: Vec<VarId>,
    items: Vec<Item>,
    /// Items that are worth something for what they weigh, the best rate first.
    by_rate: Vec<u32>,
    capacity: i64,
    sign: i64,
    extra: i64,
}

/// What one unit of a variable weighs and is worth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Item {
    /// The variable.
    pub x: VarId,
    /// What a unit of it weighs.
    pub weight: i64,
    /// What a unit of it is worth.
    pub profit: i64,
}

impl Item {
    /// Whether more worth costs more weight, one way or the other.
    fn is_traded(&self) -> bool {
        (self.weight > 0 && self.profit > 0) || (self.weight < 0 && self.profit < 0)
    }
}

impl Knapsack {
    /// The constraint on items with a value to be large (`sign` 1) or small (`sign` -1).
    ///
    /// `None` where there is nothing to choose between, or the numbers are too large.
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
            // A fraction of whole numbers is compared by its digits, which is exact enough
            // for an order, and any order is right.
            -((i128::from(profit) << 32) / i128::from(weight))
        });
        let scope = items.iter().map(|item| item.x).chain([value]).collect();
        Some(Self { scope, items, by_rate, capacity, sign, extra })
    }

    fn value(&self) -> VarId {
        self.scope[self.items.len()]
    }

    /// The profit and weight whose quotient is the best rate.
    fn rate(&self, domains: &Domains) -> Result<(i64, i64), Conflict> {
        let mut left = i128::from(self.capacity);
        for item in &self.items {
            let (lo, hi) = (domains.min(item.x), domains.max(item.x));
            // What is free of charge is taken, all else is left out.
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
        // Step 1. The rate at which capacity is paid for, as a fraction.
        let (profit, weight) = self.rate(domains)?;
        let net = |item: &Item| item.profit * weight - item.weight * profit;
        // Step 2. Everything times `weight`: what the items can be worth at most.
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
        // Step 3. No item is further from its best than the value can bear.
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
