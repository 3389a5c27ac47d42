//! Join plans: the order in which a rule joins the tables of its body, and the indexes it uses.
//!
//! The order is chosen once, from the sizes of the tables at that time: it minimises the total
//! number of rows looked at, under the textbook assumption that columns are independent (Selinger
//! et al., *Access Path Selection in a Relational Database Management System*, SIGMOD 1979). Tests
//! (`not`, `distinct`) run as soon as their variables have values.

use ludex_base::{Span, Symbol};
use ludex_gdl::{Pattern, TermId};
use rustc_hash::FxHashSet;

use crate::flatten::{FlatArg, FlatAtom, FlatRule};
use crate::table::{Rows, Table, TableId};

/// A rule ready to run: nested loops, outermost first.
#[derive(Debug)]
pub(crate) struct JoinPlan {
    /// The table of the derived rows.
    pub(crate) table: TableId,
    pub(crate) head: Box<[Expression]>,
    /// The inputs of a call: positions in its key and the registers that they assign, then those
    /// that must agree with a register.
    pub(crate) inputs: Box<[(usize, usize)]>,
    pub(crate) input_checks: Box<[(usize, usize)]>,
    pub(crate) steps: Box<[Step]>,
    /// Registers with constant values. Variables have the first registers.
    pub(crate) constants: Box<[(usize, TermId)]>,
    pub(crate) n_registers: usize,
    /// Tables that must have rows for the rule to derive anything.
    pub(crate) needs: Box<[(TableId, Rows)]>,
    /// The clause it comes from.
    pub(crate) span: Span,
}

impl JoinPlan {
    /// Lists the calls that it makes.
    pub(crate) fn calls(&self) -> impl Iterator<Item = usize> + '_ {
        self.steps.iter().filter_map(|step| match step {
            Step::Join(join) => join.call,
            Step::Contains(contains) => contains.call,
            Step::Distinct(..) => None,
        })
    }
}

#[derive(Debug)]
pub(crate) enum Step {
    /// Continues with every row of a table that agrees with the registers.
    Join(Join),
    /// Continues if the row exists, or if it does not.
    Contains(Contains),
    /// Continues if the terms differ.
    Distinct(Expression, Expression),
}

#[derive(Debug)]
pub(crate) struct Contains {
    pub(crate) table: TableId,
    pub(crate) rows: Rows,
    pub(crate) call: Option<usize>,
    /// The registers of all columns.
    pub(crate) key: Box<[usize]>,
    pub(crate) is_positive: bool,
}

#[derive(Debug)]
pub(crate) struct Join {
    pub(crate) table: TableId,
    pub(crate) rows: Rows,
    /// The call that derives the rows of the key, if the table is filled on demand.
    pub(crate) call: Option<usize>,
    /// The index on the columns of `key`; none if no column has a value yet.
    pub(crate) index: Option<usize>,
    /// Columns and the registers they must equal.
    pub(crate) key: Box<[(usize, usize)]>,
    /// Columns and the registers that they assign.
    pub(crate) binds: Box<[(usize, usize)]>,
    /// Columns of variables that an earlier column of the same literal assigns.
    pub(crate) checks: Box<[(usize, usize)]>,
    pub(crate) repeat: Repeat,
}

/// When a join stops looking for further rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Repeat {
    /// After the last row.
    Every,
    /// When the rule has fired: further rows could only lead to the same head.
    UntilFired,
    /// After one row: nothing later depends on which.
    Once,
}

impl Repeat {
    /// Returns whether this row is the last to look at.
    #[inline]
    pub(crate) fn is_over(self, has_fired: bool) -> bool {
        match self {
            Repeat::Every => false,
            Repeat::UntilFired => has_fired,
            Repeat::Once => true,
        }
    }
}

/// A term to build from registers.
#[derive(Debug)]
pub(crate) enum Expression {
    Register(usize),
    Compound(Symbol, Box<[Expression]>),
}

/// The planner's knowledge of the sizes of tables.
#[derive(Clone, Debug)]
pub(crate) struct Statistics {
    tables: Vec<Option<TableStatistics>>,
}

#[derive(Clone, Debug)]
struct TableStatistics {
    n_rows: f64,
    /// Different values, by column.
    n_values: Box<[f64]>,
}

impl Statistics {
    pub(crate) fn new(n_tables: usize) -> Self {
        Self { tables: vec![None; n_tables] }
    }

    /// Records the size of a table, unless a larger one is known.
    pub(crate) fn observe(&mut self, id: TableId, table: &Table) {
        let n_rows = table.n_rows() as f64;
        let seen = &mut self.tables[id.index()];
        if n_rows > seen.as_ref().map_or(0.0, |seen| seen.n_rows) {
            let n_values = (0..table.n_columns()).map(|column| {
                let values: FxHashSet<TermId> = table.iter().map(|row| row[column]).collect();
                values.len() as f64
            });
            *seen = Some(TableStatistics { n_rows, n_values: n_values.collect() });
        }
    }

    /// Returns the largest number of rows seen in a table.
    pub(crate) fn n_rows(&self, table: TableId) -> f64 {
        self.tables[table.index()].as_ref().map_or(0.0, |seen| seen.n_rows)
    }

    /// Estimates how many rows agree with given values of these columns.
    fn n_matches(&self, table: TableId, columns: impl Iterator<Item = usize>) -> f64 {
        // A table without known rows is assumed to be small, but to have more than one row. A wrong
        // guess costs only time.
        match &self.tables[table.index()] {
            Some(seen) => columns.fold(seen.n_rows, |n, column| n / seen.n_values[column]),
            None => columns.fold(10.0, |n, _| n / 4.0),
        }
    }
}

/// The planner's access to tables and rules.
pub(crate) trait Catalog {
    /// Returns the number of the index of a table on some columns.
    fn index_on(&mut self, table: TableId, columns: &[usize]) -> usize;

    /// Returns whether the table is filled on demand.
    fn is_called(&self, table: TableId) -> bool;

    /// Returns the number of the call that fills a table for given values of these columns.
    fn call_on(&mut self, table: TableId, columns: &[usize]) -> usize;
}

/// The purpose of a plan.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose<'a> {
    /// Derives everything that the rule derives.
    All,
    /// Derives what follows from rows of the last round, read by this positive literal.
    Delta(usize),
    /// Derives the rows of a key; holds the pattern of the head for each part of the key.
    Call(&'a [Option<&'a Pattern>]),
}

/// Plans one rule.
pub(crate) fn plan(
    rule: &FlatRule,
    purpose: Purpose<'_>,
    statistics: &Statistics,
    catalog: &mut dyn Catalog,
) -> JoinPlan {
    let mut builder = Builder::new(rule, purpose);
    let order = Search::run(&builder, statistics, catalog);
    builder.add_steps(&order, catalog);
    builder.finish(catalog)
}

/// A depth-first search for the cheapest order of the positive literals.
struct Search<'a> {
    rule: &'a FlatRule,
    statistics: &'a Statistics,
    catalog: &'a dyn Catalog,
    /// Variables that have a value before the first literal.
    is_input: &'a [bool],
    order: Vec<usize>,
    best: Vec<usize>,
    best_cost: f64,
    n_nodes_left: usize,
}

/// Largest number of orders to try: all of them for up to about five literals, and those close to
/// the greedy one for longer bodies.
const MAX_NODES: usize = 2000;

/// Returns the number of orders to try for a body of this length. A very long body gets fewer: each
/// order takes time quadratic in its length.
fn max_nodes(n_literals: usize) -> usize {
    let long = n_literals.max(32);
    (MAX_NODES * 32 * 32 / (long * long)).max(n_literals)
}

/// Assumed number of values of a column of a table that is filled on demand. Such a table is best
/// called when most columns have values.
const N_VALUES_CALLED: f64 = 10.0;

impl<'a> Search<'a> {
    fn run(
        builder: &'a Builder<'a>,
        statistics: &'a Statistics,
        catalog: &'a dyn Catalog,
    ) -> Vec<usize> {
        let mut search = Self {
            rule: builder.rule,
            statistics,
            catalog,
            is_input: &builder.is_bound,
            order: Vec::new(),
            best: Vec::new(),
            best_cost: f64::INFINITY,
            n_nodes_left: max_nodes(builder.rule.positive.len()),
        };
        // The rows of the last round are few, so the order begins with them.
        if let Purpose::Delta(idx) = builder.purpose {
            search.order.push(idx);
        }
        search.extend(0.0, 1.0);
        search.best
    }

    /// Tries every order that begins with `self.order`, which costs `cost` and passes `n_reached`
    /// combinations of rows.
    fn extend(&mut self, cost: f64, n_reached: f64) {
        if cost >= self.best_cost || (self.n_nodes_left == 0 && !self.best.is_empty()) {
            return;
        }
        self.n_nodes_left = self.n_nodes_left.saturating_sub(1);
        if self.order.len() == self.rule.positive.len() {
            self.best = self.order.clone();
            self.best_cost = cost;
            return;
        }
        let is_bound = self.bound_variables();
        let mut candidates: Vec<(usize, f64)> = (0..self.rule.positive.len())
            .filter(|idx| !self.order.contains(idx))
            .map(|idx| (idx, self.n_matches(idx, &is_bound)))
            .collect();
        candidates.sort_by(|(_, a), (_, b)| a.total_cmp(b));
        for (idx, n_matches) in candidates {
            self.order.push(idx);
            let kept = self.share_kept(&is_bound);
            self.extend(cost + n_reached * (1.0 + n_matches), n_reached * n_matches * kept);
            self.order.pop();
        }
    }

    fn bound_variables(&self) -> Vec<bool> {
        let mut is_bound = self.is_input.to_vec();
        for &idx in &self.order {
            variables(&self.rule.positive[idx]).for_each(|variable| is_bound[variable] = true);
        }
        is_bound
    }

    fn n_matches(&self, idx: usize, is_bound: &[bool]) -> f64 {
        let atom = &self.rule.positive[idx];
        let has_value = |arg: &FlatArg| match arg {
            FlatArg::Variable(variable) => is_bound[*variable as usize],
            FlatArg::Ground(_) => true,
        };
        let columns = (0..atom.args.len()).filter(|&column| has_value(&atom.args[column]));
        let n_matches = if self.catalog.is_called(atom.table) {
            N_VALUES_CALLED.powi(exponent(atom.args.len() - columns.count()))
        } else {
            self.statistics.n_matches(atom.table, columns)
        };
        if atom.args.iter().all(has_value) { n_matches.min(1.0) } else { n_matches }
    }

    /// Estimates the share of combinations that pass the tests that become possible here.
    fn share_kept(&self, was_bound: &[bool]) -> f64 {
        let is_bound = self.bound_variables();
        let is_due = |variables: &[usize]| {
            variables.iter().all(|&v| is_bound[v]) && !variables.iter().all(|&v| was_bound[v])
        };
        let negative = self.rule.negative.iter();
        let n_negative = negative.filter(|atom| is_due(&variables(atom).collect::<Vec<_>>()));
        let distinct = self.rule.distinct.iter();
        let n_distinct = distinct.filter(|pair| is_due(&variables_of_pair(pair)));
        0.7_f64.powi(exponent(n_negative.count())) * 0.9_f64.powi(exponent(n_distinct.count()))
    }
}

fn exponent(n: usize) -> i32 {
    i32::try_from(n).unwrap_or(i32::MAX)
}

fn variables(atom: &FlatAtom) -> impl Iterator<Item = usize> + '_ {
    atom.args.iter().filter_map(|arg| match arg {
        FlatArg::Variable(variable) => Some(*variable as usize),
        FlatArg::Ground(_) => None,
    })
}

fn variables_of_pair((left, right): &(Pattern, Pattern)) -> Vec<usize> {
    let mut variables = Vec::new();
    left.for_each_variable(&mut |variable| variables.push(variable as usize));
    right.for_each_variable(&mut |variable| variables.push(variable as usize));
    variables
}

/// Converts an order into steps.
struct Builder<'a> {
    rule: &'a FlatRule,
    purpose: Purpose<'a>,
    is_bound: Vec<bool>,
    inputs: Vec<(usize, usize)>,
    input_checks: Vec<(usize, usize)>,
    constants: Vec<(usize, TermId)>,
    negative: Vec<&'a FlatAtom>,
    distinct: Vec<&'a (Pattern, Pattern)>,
    steps: Vec<Step>,
}

impl<'a> Builder<'a> {
    fn new(rule: &'a FlatRule, purpose: Purpose<'a>) -> Self {
        let mut builder = Self {
            rule,
            purpose,
            is_bound: vec![false; rule.n_variables],
            inputs: Vec::new(),
            input_checks: Vec::new(),
            constants: Vec::new(),
            negative: rule.negative.iter().collect(),
            distinct: rule.distinct.iter().collect(),
            steps: Vec::new(),
        };
        if let Purpose::Call(key) = purpose {
            builder.add_inputs(key);
        }
        builder
    }

    /// Uses as much of the key as possible. Ignoring a part derives more rows than requested, which
    /// does no harm.
    fn add_inputs(&mut self, key: &[Option<&Pattern>]) {
        for (position, pattern) in key.iter().enumerate() {
            match pattern {
                Some(Pattern::Variable(variable)) => {
                    let is_bound = &mut self.is_bound[*variable as usize];
                    let entries = if *is_bound { &mut self.input_checks } else { &mut self.inputs };
                    entries.push((position, *variable as usize));
                    *is_bound = true;
                }
                Some(Pattern::Ground(term)) => {
                    let register = self.constant(*term);
                    self.input_checks.push((position, register));
                }
                Some(Pattern::Compound(..)) | None => {}
            }
        }
    }

    fn add_steps(&mut self, order: &[usize], catalog: &mut dyn Catalog) {
        self.add_tests(catalog);
        for &idx in order {
            self.add_positive(idx, catalog);
            self.add_tests(catalog);
        }
        assert!(
            self.negative.is_empty() && self.distinct.is_empty(),
            "every variable of a rule stands in a positive literal"
        );
    }

    fn finish(mut self, catalog: &dyn Catalog) -> JoinPlan {
        let head: Box<[Expression]> =
            self.rule.head.iter().map(|arg| self.expression(arg)).collect();
        self.set_repeats(&head);
        let needs = (0..self.rule.positive.len())
            .map(|idx| (self.rule.positive[idx].table, self.rows(idx)))
            .filter(|&(table, _)| !catalog.is_called(table))
            .collect();
        JoinPlan {
            table: self.rule.table,
            head,
            inputs: self.inputs.into(),
            input_checks: self.input_checks.into(),
            steps: self.steps.into(),
            n_registers: self.rule.n_variables + self.constants.len(),
            constants: self.constants.into(),
            needs,
            span: self.rule.span,
        }
    }

    /// Returns which rows a literal reads, so that the plans of a rule, one for each delta,
    /// together find every new combination of rows exactly once.
    fn rows(&self, idx: usize) -> Rows {
        let Purpose::Delta(delta) = self.purpose else { return Rows::All };
        match idx.cmp(&delta) {
            std::cmp::Ordering::Equal => Rows::Delta,
            std::cmp::Ordering::Greater if self.rule.positive[idx].is_recursive => Rows::Old,
            _ => Rows::All,
        }
    }

    fn add_positive(&mut self, idx: usize, catalog: &mut dyn Catalog) {
        let atom = &self.rule.positive[idx];
        let (mut key, mut binds, mut checks) = (Vec::new(), Vec::new(), Vec::new());
        let was_bound = self.is_bound.clone();
        for (column, arg) in atom.args.iter().enumerate() {
            let register = self.register(*arg);
            match arg {
                FlatArg::Variable(variable) if !was_bound[*variable as usize] => {
                    let is_bound = &mut self.is_bound[*variable as usize];
                    let entries = if *is_bound { &mut checks } else { &mut binds };
                    entries.push((column, register));
                    *is_bound = true;
                }
                _ => key.push((column, register)),
            }
        }
        if key.len() == atom.args.len() {
            self.add_contains(atom, self.rows(idx), true, catalog);
            return;
        }
        let columns: Vec<usize> = key.iter().map(|&(column, _)| column).collect();
        self.steps.push(Step::Join(Join {
            table: atom.table,
            rows: self.rows(idx),
            call: catalog.is_called(atom.table).then(|| catalog.call_on(atom.table, &columns)),
            index: (!columns.is_empty()).then(|| catalog.index_on(atom.table, &columns)),
            key: key.into(),
            binds: binds.into(),
            checks: checks.into(),
            repeat: Repeat::Every,
        }));
    }

    fn add_contains(
        &mut self,
        atom: &FlatAtom,
        rows: Rows,
        is_positive: bool,
        catalog: &mut dyn Catalog,
    ) {
        let table = atom.table;
        let columns: Vec<usize> = (0..atom.args.len()).collect();
        let call = catalog.is_called(table).then(|| catalog.call_on(table, &columns));
        let key = atom.args.iter().map(|&arg| self.register(arg)).collect();
        self.steps.push(Step::Contains(Contains { table, rows, call, key, is_positive }));
    }

    /// Adds the tests whose variables all have values.
    fn add_tests(&mut self, catalog: &mut dyn Catalog) {
        let is_bound = self.is_bound.clone();
        let is_due = |pair: &mut &(Pattern, Pattern)| {
            variables_of_pair(pair).iter().all(|&variable| is_bound[variable])
        };
        for (left, right) in self.distinct.extract_if(.., is_due).collect::<Vec<_>>() {
            let (left, right) = (self.expression(left), self.expression(right));
            self.steps.push(Step::Distinct(left, right));
        }
        let is_due = |atom: &mut &FlatAtom| variables(atom).all(|variable| is_bound[variable]);
        for atom in self.negative.extract_if(.., is_due).collect::<Vec<_>>() {
            self.add_contains(atom, Rows::All, false, catalog);
        }
    }

    /// Determines where joins may stop early, from the end backwards.
    fn set_repeats(&mut self, head: &[Expression]) {
        let mut in_head = vec![false; self.rule.n_variables + self.constants.len()];
        head.iter().for_each(|arg| arg.mark_registers(&mut in_head));
        let mut is_used = in_head.clone();
        let mut head_is_settled = true;
        for step in self.steps.iter_mut().rev() {
            if let Step::Join(join) = step {
                head_is_settled &= !join.binds.iter().any(|&(_, register)| in_head[register]);
                let is_read = join.binds.iter().any(|&(_, register)| is_used[register]);
                join.repeat = match (is_read, head_is_settled) {
                    (false, _) => Repeat::Once,
                    (true, true) => Repeat::UntilFired,
                    (true, false) => Repeat::Every,
                };
            }
            step.mark_read(&mut is_used);
        }
    }

    fn expression(&mut self, pattern: &Pattern) -> Expression {
        match pattern {
            Pattern::Variable(variable) => Expression::Register(*variable as usize),
            Pattern::Ground(term) => Expression::Register(self.constant(*term)),
            Pattern::Compound(name, args) => {
                Expression::Compound(*name, args.iter().map(|arg| self.expression(arg)).collect())
            }
        }
    }

    fn register(&mut self, arg: FlatArg) -> usize {
        match arg {
            FlatArg::Variable(variable) => variable as usize,
            FlatArg::Ground(term) => self.constant(term),
        }
    }

    fn constant(&mut self, term: TermId) -> usize {
        let known = self.constants.iter().find(|(_, other)| *other == term);
        known.map(|&(register, _)| register).unwrap_or_else(|| {
            let register = self.rule.n_variables + self.constants.len();
            self.constants.push((register, term));
            register
        })
    }
}

impl Step {
    /// Marks the registers whose values the step depends on.
    fn mark_read(&self, is_used: &mut [bool]) {
        match self {
            Step::Join(join) => join.key.iter().for_each(|&(_, register)| is_used[register] = true),
            Step::Contains(contains) => {
                contains.key.iter().for_each(|&register| is_used[register] = true);
            }
            Step::Distinct(left, right) => {
                left.mark_registers(is_used);
                right.mark_registers(is_used);
            }
        }
    }
}

impl Expression {
    fn mark_registers(&self, marks: &mut [bool]) {
        match self {
            Expression::Register(register) => marks[*register] = true,
            Expression::Compound(_, args) => args.iter().for_each(|arg| arg.mark_registers(marks)),
        }
    }
}
