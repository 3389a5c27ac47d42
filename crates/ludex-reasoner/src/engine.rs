//! The engine: derives what follows from a state, component by component.
//!
//! Within a component that depends on itself, rounds are semi-naive: each joins only
//! combinations with a row that the round before added (Ullman, *Principles of Database and
//! Knowledge-Base Systems*, 1988). A component that negates itself gets the well-founded model
//! by the alternating fixpoint (Van Gelder, *The Alternating Fixpoint of Logic Programs with
//! Negation*, PODS 1989); where that leaves something open, the rules have no meaning.
//!
//! Invariant: the tables of a derived component hold exactly what follows from the loaded state
//! and joint move; those of other components may hold anything and are not read.

use std::sync::Arc;

use ludex_base::Deadline;
use ludex_gdl::{Keyword, Stage, TermId};
use smallvec::SmallVec;

use crate::error::{ReasonerError, ReasonerLimits};
use crate::flatten::{Schema, table_of};
use crate::plan::{Expression, Join, Plan, Statistics, Step};
use crate::rules::{PlannedComponent, Rules};
use crate::table::{Table, TableId};
use crate::vocabulary::Vocabulary;

/// The tables of one cursor, and what it takes to fill them.
#[derive(Clone, Debug)]
pub(crate) struct Engine {
    pub(crate) vocabulary: Vocabulary,
    pub(crate) deadline: Deadline,
    slots: Vec<Slot>,
    /// For each component, whether its tables are filled.
    is_derived: Vec<bool>,
    /// Values of the variables and constants of the rule that runs.
    registers: Vec<TermId>,
    n_atoms: usize,
    max_atoms: usize,
    n_steps_until_look: u32,
}

/// Steps of plans between two looks at the clock: about a millisecond of work.
const STEPS_PER_LOOK: u32 = 1 << 14;

#[derive(Clone, Debug)]
enum Slot {
    /// Never to change again, and shared by all cursors.
    Fixed(Arc<Table>),
    /// Filled anew in every state.
    Working(Table),
}

/// A row or a key, on the stack if it is short.
type Row = SmallVec<[TermId; 8]>;

/// Either the work is done or it can't be.
type Outcome<T = ()> = Result<T, ReasonerError>;

impl Engine {
    /// With empty tables.
    pub(crate) fn new(rules: &Rules, vocabulary: Vocabulary, limits: &ReasonerLimits) -> Self {
        let tables = rules.schema().tables.iter();
        Self {
            vocabulary,
            deadline: limits.deadline.clone(),
            slots: tables.map(|info| Slot::Working(Table::new(info.n_columns))).collect(),
            is_derived: vec![false; rules.components.len()],
            registers: Vec::new(),
            n_atoms: 0,
            max_atoms: limits.max_atoms,
            n_steps_until_look: STEPS_PER_LOOK,
        }
    }

    /// The table, whatever it holds.
    #[inline]
    pub(crate) fn table(&self, id: TableId) -> &Table {
        self.slots[id.index()].table()
    }

    /// Puts the engine on a state. No joint move is played.
    pub(crate) fn load_state(&mut self, rules: &Rules, fluents: &[TermId]) {
        self.vocabulary.ensure_known(fluents);
        self.forget(rules, Stage::State);
        self.load(rules, Keyword::True, fluents.chunks_exact(1));
        self.load(rules, Keyword::Does, [].into_iter());
    }

    /// Plays a joint move, given as rows of `does`, on the loaded state.
    pub(crate) fn load_joint_move(&mut self, rules: &Rules, does: &[[TermId; 2]]) {
        self.forget(rules, Stage::Transition);
        self.load(rules, Keyword::Does, does.iter().map(|row| row.as_slice()));
    }

    /// Derives the components that are not derived yet, given in order.
    pub(crate) fn derive(&mut self, rules: &Rules, components: &[usize]) -> Outcome {
        for &component in components {
            if !self.is_derived[component] {
                self.derive_component(rules, component)?;
                self.is_derived[component] = true;
            }
        }
        Ok(())
    }

    /// The number of the index of a table on some columns, for planning.
    pub(crate) fn index_on(&mut self, id: TableId, columns: &[usize]) -> usize {
        self.working(id).index_on(columns)
    }

    /// Shows these tables as they are to the statistics.
    pub(crate) fn observe(&self, statistics: &mut Statistics, tables: &[TableId]) {
        tables.iter().for_each(|&id| statistics.observe(id, self.table(id)));
    }

    /// Likewise all tables.
    pub(crate) fn observe_all(&self, statistics: &mut Statistics) {
        let tables: Vec<TableId> = (0..self.slots.len()).map(TableId::new).collect();
        self.observe(statistics, &tables);
    }

    /// Atoms derived from the loaded state, or from the joint move if there is one.
    pub(crate) fn n_atoms(&self) -> usize {
        self.n_atoms
    }

    /// Shares the tables of the static components from now on.
    pub(crate) fn freeze(&mut self, rules: &Rules) {
        for (component_idx, component) in rules.components.iter().enumerate() {
            if rules.stage(component_idx) == Stage::Static {
                component.tables.iter().for_each(|&id| self.slots[id.index()].freeze());
            }
        }
    }

    /// Drops what depends on this stage or a later one.
    fn forget(&mut self, rules: &Rules, stage: Stage) {
        self.n_atoms = 0;
        for (component, is_derived) in self.is_derived.iter_mut().enumerate() {
            *is_derived &= rules.stage(component) < stage;
        }
    }

    fn load<'a>(
        &mut self,
        rules: &Rules,
        keyword: Keyword,
        rows: impl Iterator<Item = &'a [TermId]>,
    ) {
        let (table, tables) = (table_of(keyword), rules.tables_of(keyword));
        self.clear(tables);
        for row in rows {
            self.working(table).push(row);
            self.feed_views(rules.schema(), table, row);
        }
        self.advance(tables);
    }

    fn derive_component(&mut self, rules: &Rules, component_idx: usize) -> Outcome {
        let component = &rules.components[component_idx];
        if component.assumed.is_empty() {
            return self.derive_fixpoint(rules.schema(), component);
        }
        let is_total = self.derive_alternating(rules.schema(), component)?;
        if is_total {
            return Ok(());
        }
        let name = rules.name(component_idx);
        Err(ReasonerError::NegativeCycle { relation: self.vocabulary.symbol_name(name).to_owned() })
    }

    /// The least set of rows that the rules are content with.
    fn derive_fixpoint(&mut self, schema: &Schema, component: &PlannedComponent) -> Outcome {
        self.clear(&component.tables);
        self.fire_all(schema, &component.first)?;
        while self.advance(&component.tables) && !component.rounds.is_empty() {
            self.fire_all(schema, &component.rounds)?;
        }
        Ok(())
    }

    /// The well-founded model; whether it is total.
    ///
    /// Assuming too little true in negations derives too much and the other way round, so the
    /// results close in on the model from above and from below.
    fn derive_alternating(
        &mut self,
        schema: &Schema,
        component: &PlannedComponent,
    ) -> Outcome<bool> {
        component.assumed.iter().for_each(|assumed| self.clear(&assumed.tables));
        let (mut before_last, mut last) = (usize::MAX, 0);
        loop {
            self.derive_fixpoint(schema, component)?;
            let sizes = component.assumed.iter().map(|entry| self.table(entry.derived).n_rows());
            let n_rows = sizes.sum();
            // Bounds from one side contain each other, so equal sizes are equal sets.
            if n_rows == last || n_rows == before_last {
                return Ok(n_rows == last);
            }
            (before_last, last) = (last, n_rows);
            self.assume_derived(schema, component);
        }
    }

    fn assume_derived(&mut self, schema: &Schema, component: &PlannedComponent) {
        for entry in &component.assumed {
            self.clear(&entry.tables);
            for row_idx in 0..self.table(entry.derived).n_rows() {
                let row = Row::from_slice(self.table(entry.derived).row(row_idx as u32));
                self.working(entry.assumed).push(&row);
                self.feed_views(schema, entry.assumed, &row);
            }
            self.advance(&entry.tables);
        }
    }

    fn fire_all(&mut self, schema: &Schema, plans: &[Plan]) -> Outcome {
        for plan in plans {
            let is_empty = |&(table, rows)| self.table(table).range(rows).is_empty();
            if plan.needs.iter().any(is_empty) {
                continue;
            }
            // Any term will do for registers without a value: they get one before they are read.
            self.registers.clear();
            self.registers.resize(plan.n_registers, TermId::new(0));
            for &(register, term) in &plan.constants {
                self.registers[register] = term;
            }
            self.run(schema, plan, 0)?;
        }
        Ok(())
    }

    /// Runs the steps of a plan from this one on; whether the rule fired.
    fn run(&mut self, schema: &Schema, plan: &Plan, step_idx: usize) -> Outcome<bool> {
        self.look_at_clock()?;
        match plan.steps.get(step_idx) {
            None => self.fire(schema, plan).map(|()| true),
            Some(Step::Join(join)) if join.index.is_some() => {
                self.run_indexed(schema, plan, step_idx, join)
            }
            Some(Step::Join(join)) => self.run_scan(schema, plan, step_idx, join),
            Some(Step::Contains { table, rows, key, is_positive }) => {
                let row: Row = key.iter().map(|&register| self.registers[register]).collect();
                if let Slot::Working(table) = &mut self.slots[table.index()] {
                    table.fill_set();
                }
                let table = self.table(*table);
                let range = table.range(*rows);
                let is_there = table.find(&row).is_some_and(|row| range.contains(&row));
                if is_there == *is_positive {
                    self.run(schema, plan, step_idx + 1)
                } else {
                    Ok(false)
                }
            }
            Some(Step::Distinct(left, right)) => {
                let (left, right) = (self.term(left)?, self.term(right)?);
                if left != right { self.run(schema, plan, step_idx + 1) } else { Ok(false) }
            }
        }
    }

    /// Goes on with the rows that an index gives.
    fn run_indexed(
        &mut self,
        schema: &Schema,
        plan: &Plan,
        step_idx: usize,
        join: &Join,
    ) -> Outcome<bool> {
        let index = join.index.expect("the caller has seen it");
        if self.table(join.table).has_few_rows() {
            return self.run_scan(schema, plan, step_idx, join);
        }
        if let Slot::Working(table) = &mut self.slots[join.table.index()] {
            table.fill_index(index);
        }
        let table = self.table(join.table);
        let range = table.range(join.rows);
        let key: Row = join.key.iter().map(|&(_, register)| self.registers[register]).collect();
        let mut next = table.latest(index, &key);
        let mut has_fired = false;
        while let Some(row) = next.filter(|&row| row >= range.start) {
            let table = self.table(join.table);
            next = table.previous(index, row);
            if row < range.end && self.bind(join, row) {
                has_fired |= self.run(schema, plan, step_idx + 1)?;
                if join.repeat.is_over(has_fired) {
                    break;
                }
            }
        }
        Ok(has_fired)
    }

    /// Goes on with every row of a table that has the values of the key.
    fn run_scan(
        &mut self,
        schema: &Schema,
        plan: &Plan,
        step_idx: usize,
        join: &Join,
    ) -> Outcome<bool> {
        let mut has_fired = false;
        for row in self.table(join.table).range(join.rows) {
            let values = self.table(join.table).row(row);
            let registers = &self.registers;
            let is_match = join.key.iter().all(|&(column, reg)| values[column] == registers[reg]);
            if is_match && self.bind(join, row) {
                has_fired |= self.run(schema, plan, step_idx + 1)?;
                if join.repeat.is_over(has_fired) {
                    break;
                }
            }
        }
        Ok(has_fired)
    }

    /// Gives registers the values of a row, unless the row contradicts itself.
    #[inline]
    fn bind(&mut self, join: &Join, row: u32) -> bool {
        let Self { slots, registers, .. } = self;
        let row = slots[join.table.index()].table().row(row);
        for &(column, register) in &join.binds {
            registers[register] = row[column];
        }
        join.checks.iter().all(|&(column, register)| registers[register] == row[column])
    }

    /// Derives the head.
    fn fire(&mut self, schema: &Schema, plan: &Plan) -> Outcome {
        let mut row = Row::new();
        for arg in &plan.head {
            row.push(self.term(arg)?);
        }
        if self.working(plan.table).insert(&row) {
            self.n_atoms += 1;
            if self.n_atoms > self.max_atoms {
                return Err(ReasonerError::TooManyAtoms { limit: self.max_atoms });
            }
            self.feed_views(schema, plan.table, &row);
        }
        Ok(())
    }

    fn term(&mut self, expression: &Expression) -> Outcome<TermId> {
        match expression {
            Expression::Register(register) => Ok(self.registers[*register]),
            Expression::Compound(name, args) => {
                let mut terms = Row::new();
                for arg in args {
                    terms.push(self.term(arg)?);
                }
                self.vocabulary.term(*name, &terms)
            }
        }
    }

    /// Adds what the views of a table make of its new row.
    fn feed_views(&mut self, schema: &Schema, table: TableId, row: &[TermId]) {
        for views in &schema.tables[table.index()].views {
            let (name, args) = self.vocabulary.open(row[views.column]);
            if args.is_empty() {
                continue;
            }
            if let Some(&view) = views.tables.get(&(name, args.len())) {
                let mut opened = Row::from_slice(&row[..views.column]);
                opened.extend_from_slice(args);
                opened.extend_from_slice(&row[views.column + 1..]);
                self.working(view).push(&opened);
                self.feed_views(schema, view, &opened);
            }
        }
    }

    /// Looks once every few steps.
    #[inline]
    fn look_at_clock(&mut self) -> Outcome {
        self.n_steps_until_look -= 1;
        if self.n_steps_until_look > 0 {
            return Ok(());
        }
        self.n_steps_until_look = STEPS_PER_LOOK;
        if self.deadline.reached() { Err(ReasonerError::OutOfTime) } else { Ok(()) }
    }

    fn clear(&mut self, tables: &[TableId]) {
        tables.iter().for_each(|&id| self.working(id).clear());
    }

    /// Shows the rows added since the last round; whether there are any.
    fn advance(&mut self, tables: &[TableId]) -> bool {
        tables.iter().fold(false, |has_new, &id| self.working(id).advance() | has_new)
    }

    #[inline]
    fn working(&mut self, id: TableId) -> &mut Table {
        match &mut self.slots[id.index()] {
            Slot::Working(table) => table,
            Slot::Fixed(_) => unreachable!("static tables are filled before they are shared"),
        }
    }
}

impl Slot {
    #[inline]
    fn table(&self) -> &Table {
        match self {
            Slot::Fixed(table) => table,
            Slot::Working(table) => table,
        }
    }

    fn freeze(&mut self) {
        if let Slot::Working(table) = self {
            let mut table = std::mem::replace(table, Table::new(0));
            table.fill();
            *self = Slot::Fixed(Arc::new(table));
        }
    }
}
