//! Propagators for global constraints.

use std::sync::Arc;

use super::linear::SUM_LIMIT;
use super::{AllDifferentStrength, Poster};
use crate::constraint::{Condition, Constraint};
use crate::domains::VarId;
use crate::error::CspError;
use crate::expr::{Comparison, Expr};
use crate::propagators::table::{Table, table_propagator};
use crate::propagators::*;
use crate::{Value, ValueSet};

/// Largest number of steps of an unrolled automaton; more would not fit in a gigabyte.
const MAX_UNROLLED: usize = 1 << 26;

impl Poster<'_> {
    pub(super) fn constraint(&mut self, constraint: &Constraint) -> Result<(), CspError> {
        match constraint {
            Constraint::Intension(e) => self.require(e),
            Constraint::Table { scope, table, is_positive } => {
                self.table(scope, table, *is_positive)
            }
            Constraint::AllDifferent { list, except } => {
                let vars = self.vars_of(list)?;
                self.all_different(&vars, except);
                Ok(())
            }
            Constraint::AllDifferentLists { lists } => self.all_different_lists(lists),
            Constraint::Count { list, values, condition } => {
                let vars = self.vars_of(list)?;
                let n = self.number(condition, list.len())?;
                self.post(Count::new(&vars, values.clone(), n));
                self.counted.entry(vars).or_default().push((values.clone(), n));
                Ok(())
            }
            Constraint::NValues { list, except, condition } => {
                let vars = self.vars_of(list)?;
                let n = self.number(condition, list.len())?;
                self.post(NValues::new(&vars, except.clone(), n));
                Ok(())
            }
            Constraint::Cardinality { list, values, occurrences, is_closed } => {
                self.cardinality(list, values, occurrences, *is_closed)
            }
            Constraint::Element { list, start, index, condition } => {
                self.element(list, *start, index, condition)
            }
            Constraint::Lex { lists, is_strict } => {
                let lists: Vec<Vec<VarId>> =
                    lists.iter().map(|list| self.vars_of(list)).collect::<Result<_, _>>()?;
                for pair in lists.windows(2) {
                    self.post(Lex::new(&pair[0], &pair[1], *is_strict));
                }
                Ok(())
            }
            Constraint::NoOverlap { origins, lengths, ignores_zeros } => {
                self.no_overlap(origins, lengths, *ignores_zeros)
            }
            Constraint::Cumulative { origins, lengths, heights, limit } => {
                let [origins, lengths, heights] =
                    [self.vars_of(origins)?, self.vars_of(lengths)?, self.vars_of(heights)?];
                let limit = self.var_of(limit)?;
                self.cumulative(&origins, &lengths, &heights, limit)
            }
            Constraint::Circuit { list, start, size } => {
                let vars = self.vars_of(list)?;
                if let Some(size) = size {
                    let start = *start;
                    let on_circuit = (vars.iter().enumerate())
                        .map(|(i, &x)| x.differs(Expr::Constant(i64::from(start) + i as i64)));
                    self.require(&size.on(Expr::Sum(on_circuit.collect())))?;
                }
                self.all_different(&vars, &ValueSet::default());
                self.post(Circuit::new(&vars, *start));
                Ok(())
            }
            Constraint::Regular { list, automaton } => {
                let vars = self.vars_of(list)?;
                self.narrow_scope(&vars, "an automaton")?;
                let n_steps = automaton.transitions.len().max(automaton.n_states);
                if n_steps.saturating_mul(vars.len()) > MAX_UNROLLED {
                    return Err(CspError::out_of_range("the size of the unrolled automaton"));
                }
                let domains = self.engine.domains();
                let allows = |at: usize, value: Value| domains.contains(vars[at], value);
                match automaton.unroll(vars.len(), allows) {
                    Some(mdd) => self.post(MddPropagator::new(&vars, Arc::new(mdd))),
                    None => self.fail(),
                }
                Ok(())
            }
            Constraint::Mdd { list, mdd } => {
                let vars = self.vars_of(list)?;
                self.narrow_scope(&vars, "a decision diagram")?;
                self.post(MddPropagator::new(&vars, Arc::clone(mdd)));
                Ok(())
            }
            Constraint::Channel { first, start_first, second, start_second } => {
                let (a, b) = (self.vars_of(first)?, self.vars_of(second)?);
                self.all_different(&a, &ValueSet::default());
                if a.len() == b.len() && a != b {
                    self.all_different(&b, &ValueSet::default());
                }
                self.post(Channel::new(&a, *start_first, &b, *start_second));
                Ok(())
            }
            Constraint::Custom(propagator) => {
                self.post_boxed(propagator.duplicate());
                Ok(())
            }
        }
    }

    /// Whether terms stated as different turned out to be one variable.
    pub(super) fn has_repeats(&self, vars: &[VarId]) -> bool {
        let mut sorted = vars.to_vec();
        sorted.sort_unstable();
        sorted.windows(2).any(|pair| pair[0] == pair[1])
    }

    /// Checks that the domains are narrow enough for constraints that list values.
    pub(super) fn narrow_scope(&self, vars: &[VarId], what: &'static str) -> Result<(), CspError> {
        match vars.iter().find(|&&x| self.domains().bits(x).is_none()) {
            Some(&x) => Err(CspError::WideDomain { variable: self.named(x), what }),
            None => Ok(()),
        }
    }

    pub(super) fn table(
        &mut self,
        scope: &[VarId],
        table: &Arc<Table>,
        is_positive: bool,
    ) -> Result<(), CspError> {
        self.narrow_scope(scope, "a table")?;
        if let [x] = *scope {
            let set: rustc_hash::FxHashSet<Value> = table.tuples().map(|tuple| tuple[0]).collect();
            let has_star = table.has_stars();
            self.prune(|d| d.retain(x, |v| (has_star || set.contains(&v)) == is_positive));
            return Ok(());
        }
        if table.is_empty() {
            if is_positive {
                self.fail();
            }
            return Ok(());
        }
        let propagator =
            table_propagator(scope, table, is_positive, self.config.table, self.engine.domains());
        self.post_boxed(propagator);
        Ok(())
    }

    fn all_different(&mut self, vars: &[VarId], except: &ValueSet) {
        match *vars {
            _ if self.has_repeats(vars) && except.is_empty() => self.fail(),
            [x, y] if except.is_empty() => self.post(NotEqual::new(x, y, 0)),
            _ => self.all_different_many(vars, except),
        }
    }

    pub(super) fn all_different_many(&mut self, vars: &[VarId], except: &ValueSet) {
        if vars.len() < 2 {
            return;
        }
        let n_values: u64 = vars.iter().map(|&x| self.domains().size(x)).sum();
        let strength = match self.config.all_different {
            AllDifferentStrength::Auto if n_values > 20_000 => AllDifferentStrength::Bounds,
            AllDifferentStrength::Auto => AllDifferentStrength::Gac,
            // Matching lists every value.
            AllDifferentStrength::Gac if n_values > 1 << 22 => AllDifferentStrength::Bounds,
            strength => strength,
        };
        self.post(AllDifferentValue::new(vars, except.clone()));
        match strength {
            AllDifferentStrength::Gac => self.post(AllDifferentGac::new(vars, except.clone())),
            AllDifferentStrength::Bounds if except.is_empty() => {
                self.post(AllDifferentBounds::new(vars));
            }
            _ => {}
        }
    }

    pub(super) fn all_different_lists(&mut self, lists: &[Vec<Expr>]) -> Result<(), CspError> {
        for (i, first) in lists.iter().enumerate() {
            self.check_deadline()?;
            for second in &lists[..i] {
                let differs = first.iter().zip(second).map(|(a, b)| a.clone().differs(b));
                self.require(&Expr::Or(differs.collect()))?;
            }
        }
        Ok(())
    }

    /// Returns the variable for a number between 0 and `most` that meets the condition.
    pub(super) fn number(&mut self, condition: &Condition, most: usize) -> Result<VarId, CspError> {
        if let Condition::Compare(Comparison::Eq, right) = condition {
            return self.var_of(right);
        }
        let n = self.aux_range(0, most as i64)?;
        self.require(&condition.on(Expr::Var(n)))?;
        Ok(n)
    }

    pub(super) fn cardinality(
        &mut self,
        list: &[Expr],
        values: &[Value],
        occurrences: &[Condition],
        is_closed: bool,
    ) -> Result<(), CspError> {
        let vars = self.vars_of(list)?;
        for (&value, condition) in values.iter().zip(occurrences) {
            let n = self.number(condition, list.len())?;
            self.post(Count::new(&vars, [value], n));
            self.counted.entry(vars.clone()).or_default().push(([value].into(), n));
        }
        if is_closed {
            let set: ValueSet = values.iter().copied().collect();
            for &x in &vars {
                self.require_member(x, &set)?;
            }
        }
        Ok(())
    }

    /// Posts that the counts over one list sum to its length, where the counted sets partition
    /// the values of its variables. The counts do not see this by themselves.
    pub(super) fn add_up_counts(&mut self) -> Result<(), CspError> {
        for (vars, counts) in std::mem::take(&mut self.counted) {
            let all = ValueSet::from_ranges(
                counts.iter().flat_map(|(values, _)| values.ranges().iter().copied()),
            );
            let is_disjoint =
                counts.iter().map(|(values, _)| values.len()).sum::<u64>() == all.len();
            let is_covered = |x: VarId| {
                self.domains().size(x) <= 1 << 16
                    && self.domains().values(x).all(|v| all.contains(v))
            };
            if !is_disjoint || counts.len() < 2 || !vars.iter().all(|&x| is_covered(x)) {
                continue;
            }
            // The same variable may count several sets.
            let numbers = Expr::Sum(counts.iter().map(|&(_, n)| Expr::Var(n)).collect());
            let (terms, constant) = self.linear_terms(&numbers)?;
            self.linear(&terms, Comparison::Eq, vars.len() as i64 - constant)?;
        }
        Ok(())
    }

    pub(super) fn element(
        &mut self,
        list: &[Expr],
        start: Value,
        index: &Expr,
        condition: &Condition,
    ) -> Result<(), CspError> {
        if list.is_empty() {
            self.fail();
            return Ok(());
        }
        let index = self.var_of(index)?;
        let value = match condition {
            Condition::Compare(Comparison::Eq, right) => self.var_of(right)?,
            _ => {
                let bounds = list.iter().map(|e| e.bounds(&|x| self.bounds_of(x)));
                let (lo, hi) = bounds
                    .reduce(|(l1, h1), (l2, h2)| (l1.min(l2), h1.max(h2)))
                    .expect("the list is not empty");
                let value = self.aux_range(lo, hi)?;
                self.require(&condition.on(Expr::Var(value)))?;
                value
            }
        };
        let n = list.len() as i64;
        self.prune(|d| d.at_least(index, start));
        self.prune(|d| d.at_most_wide(index, i64::from(start) + n - 1));
        let constants: Option<Vec<i64>> = (list.iter())
            .map(|e| match e {
                Expr::Constant(value) => Some(*value),
                Expr::Var(x) => self.domains().fixed_value(*x).map(i64::from),
                _ => None,
            })
            .collect();
        let has_bits = self.domains().bits(index).is_some() && self.domains().bits(value).is_some();
        match constants {
            Some(constants) if has_bits && index != value => {
                let pairs = constants
                    .iter()
                    .enumerate()
                    .filter_map(|(i, &v)| Some([start + i as Value, Value::try_from(v).ok()?]));
                let table = Arc::new(Table::from_tuples(2, pairs));
                self.table(&[index, value], &table, true)
            }
            _ => {
                let vars = self.vars_of(list)?;
                self.post(Element::new(&vars, start, index, value));
                Ok(())
            }
        }
    }

    fn cumulative(
        &mut self,
        origins: &[VarId],
        lengths: &[VarId],
        heights: &[VarId],
        limit: VarId,
    ) -> Result<(), CspError> {
        let most = |x: VarId| i128::from(self.bounds_of(x).1).max(0);
        let energy: i128 = lengths.iter().zip(heights).map(|(&l, &h)| most(l) * most(h)).sum();
        let latest = origins.iter().zip(lengths).map(|(&x, &l)| {
            let (lo, hi) = self.bounds_of(x);
            i128::from(lo.abs().max(hi.abs())) + most(l)
        });
        // Capacity beyond the demand of all tasks together limits nothing.
        let all_heights = heights.iter().map(|&h| most(h)).sum();
        if energy + most(limit).min(all_heights) * latest.max().unwrap_or(0) > SUM_LIMIT {
            return Err(CspError::out_of_range("the total length times height of the tasks"));
        }
        self.post(Cumulative::new(origins, lengths, heights, limit));
        Ok(())
    }

    pub(super) fn no_overlap(
        &mut self,
        origins: &[Vec<Expr>],
        lengths: &[Vec<Expr>],
        ignores_zeros: bool,
    ) -> Result<(), CspError> {
        let n_dimensions = origins.first().map_or(0, Vec::len);
        let mut boxes: Vec<Vec<(VarId, VarId)>> = Vec::new();
        for (origin, length) in origins.iter().zip(lengths) {
            let origin = self.vars_of(origin)?;
            let length = self.vars_of(length)?;
            boxes.push(origin.into_iter().zip(length).collect());
        }
        if n_dimensions == 1 {
            let starts: Vec<VarId> = boxes.iter().map(|sides| sides[0].0).collect();
            let lengths: Vec<VarId> = boxes.iter().map(|sides| sides[0].1).collect();
            self.post(NoOverlap::new(&starts, &lengths, ignores_zeros));
            return Ok(());
        }
        for (i, first) in boxes.iter().enumerate() {
            self.check_deadline()?;
            for second in &boxes[..i] {
                self.post(DisjointBoxes::new(first, second, ignores_zeros));
            }
        }
        Ok(())
    }
}
