//! The engine: derives what follows from a state, component by component.
//!
//! In a component that depends on itself, rounds are semi-naive: each joins only combinations with
//! a row that the previous round added (Ullman, *Principles of Database and Knowledge-Base
//! Systems*, 1988). A component that negates itself gets the well-founded model by the alternating
//! fixpoint (Van Gelder, *The Alternating Fixpoint of Logic Programs with Negation*, PODS 1989); if
//! that leaves an atom undefined, the rules have no meaning.
//!
//! A component on demand derives the rows that literals ask for, when they ask, and keeps them:
//! tabling, as in Tamaki and Sato, *OLD Resolution with Tabulation*, ICLP 1986, with plain
//! repetition instead of suspended calls where a component calls itself.
//!
//! Invariant: the tables of a derived component hold exactly what follows from the loaded state and
//! joint move; those of other components may hold anything and are not read.

use std::sync::Arc;

use ludex_base::diagnostic::shortened;
use ludex_base::ids::narrow;
use ludex_base::{Deadline, Limits, StopReason};
use ludex_gdl::{Keyword, RulePlace, Stage, TermId};
use smallvec::SmallVec;

use crate::calls::{Calls, Keys, Open};
use crate::error::{ReasonerError, max_atoms};
use crate::flatten::table_of;
use crate::join_plan::{Contains, Expression, Join, JoinPlan, Statistics, Step};
use crate::rules::{PlannedComponent, Rules};
use crate::table::{Table, TableId};
use crate::vocabulary::Vocabulary;

/// The tables of one cursor, and the working memory for filling them.
#[derive(Clone, Debug)]
pub(crate) struct Engine {
    pub(crate) vocabulary: Vocabulary,
    pub(crate) deadline: Deadline,
    slots: Vec<Slot>,
    /// For each component, whether its tables are filled.
    is_derived: Vec<bool>,
    calls: Calls,
    /// Values of the variables and constants of the running rule.
    registers: Vec<TermId>,
    /// Spare registers for rules that wait for a call.
    spare_registers: Vec<Vec<TermId>>,
    /// The component that could not be derived.
    pub(crate) failed: Option<usize>,
    n_atoms: usize,
    pub(crate) max_atoms: usize,
    n_steps_until_look: u32,
    /// Looks at the clock since the state or the joint move was loaded.
    n_looks: u64,
    max_steps: u64,
}

/// Steps of plans between two checks of the clock: about a millisecond of work.
const STEPS_PER_LOOK: u32 = 1 << 14;

/// Largest number of rows and keys of a static relation that calls may keep over many states.
const MAX_KEPT_ROWS: usize = 1 << 18;

#[derive(Clone, Debug)]
enum Slot {
    /// Immutable, and shared by all cursors.
    Fixed(Arc<Table>),
    /// Filled anew in every state.
    Working(Table),
}

/// Deepest nesting of calls that are answered at once. Deeper ones are answered when the outermost
/// is repeated, because the stack of a thread is small.
const MAX_CALL_DEPTH: usize = 100;

/// A row or a key, on the stack if it is short.
type Row = SmallVec<[TermId; 8]>;

/// The result of work that may fail.
type Outcome<T = ()> = Result<T, ReasonerError>;

impl Engine {
    /// Creates an engine with empty tables.
    pub(crate) fn new(rules: &Rules, vocabulary: Vocabulary, limits: &Limits) -> Self {
        let tables = rules.schema().tables.iter();
        Self {
            vocabulary,
            deadline: limits.deadline.clone(),
            slots: tables.map(|info| Slot::Working(Table::new(info.n_columns))).collect(),
            is_derived: vec![false; rules.components.len()],
            calls: Calls::default(),
            registers: Vec::new(),
            spare_registers: Vec::new(),
            failed: None,
            n_atoms: 0,
            max_atoms: max_atoms(limits),
            n_steps_until_look: STEPS_PER_LOOK,
            n_looks: 0,
            max_steps: limits.sizes.steps,
        }
    }

    /// Returns the table, whatever it holds.
    #[inline]
    pub(crate) fn table(&self, id: TableId) -> &Table {
        self.slots[id.index()].table()
    }

    /// Loads a state, without a joint move.
    pub(crate) fn load_state(&mut self, rules: &Rules, fluents: &[TermId]) {
        self.vocabulary.ensure_known(fluents);
        self.n_looks = 0;
        self.forget(rules, Stage::State);
        self.load(rules, Keyword::True, fluents.chunks_exact(1));
        self.load(rules, Keyword::Does, [].into_iter());
    }

    /// Loads a joint move, given as rows of `does`, in addition to the state.
    pub(crate) fn load_joint_move(&mut self, rules: &Rules, does: &[[TermId; 2]]) {
        self.vocabulary.ensure_known(does.as_flattened());
        self.n_looks = 0;
        self.forget(rules, Stage::Transition);
        self.load(rules, Keyword::Does, does.iter().map(|row| row.as_slice()));
    }

    /// Derives the components that are not derived yet, given in order.
    pub(crate) fn derive(&mut self, rules: &Rules, components: &[usize]) -> Outcome {
        for &component in components {
            if !self.is_derived[component] && !rules.is_called(component) {
                if let Err(error) = self.derive_component(rules, component) {
                    self.calls.abandon();
                    self.failed = Some(component);
                    return Err(error);
                }
                self.is_derived[component] = true;
            }
        }
        Ok(())
    }

    /// Derives a component with this limit on atoms.
    pub(crate) fn derive_within(
        &mut self,
        rules: &Rules,
        component: usize,
        max_atoms: usize,
    ) -> Outcome {
        let usual = std::mem::replace(&mut self.max_atoms, max_atoms);
        self.n_atoms = 0;
        let outcome = self.derive(rules, &[component]);
        self.max_atoms = usual;
        outcome
    }

    /// Makes room for the keys of newly planned calls.
    pub(crate) fn expect_calls(&mut self, rules: &Rules) {
        let new_calls = rules.calls.iter().skip(self.calls.keys.len());
        self.calls.keys.extend(new_calls.map(|call| Keys::new(call.columns.len())));
        self.calls.open.resize_with(rules.components.len(), Open::default);
    }

    /// Removes the calls, which are then planned anew.
    pub(crate) fn drop_calls(&mut self) {
        self.calls = Calls::default();
    }

    /// Returns the number of the index of a table on some columns, for planning.
    pub(crate) fn index_on(&mut self, id: TableId, columns: &[usize]) -> usize {
        self.working(id).index_on(columns)
    }

    /// Adds the current sizes of these tables to the statistics.
    pub(crate) fn observe(&self, statistics: &mut Statistics, tables: &[TableId]) {
        tables.iter().for_each(|&id| statistics.observe(id, self.table(id)));
    }

    /// Adds the current sizes of all tables to the statistics.
    pub(crate) fn observe_all(&self, statistics: &mut Statistics) {
        let tables: Vec<TableId> = (0..self.slots.len()).map(TableId::new).collect();
        self.observe(statistics, &tables);
    }

    /// Makes the tables of the static components immutable and shared.
    pub(crate) fn freeze(&mut self, rules: &Rules) {
        for (component_idx, component) in rules.components.iter().enumerate() {
            if rules.stage(component_idx) == Stage::Static && !rules.is_called(component_idx) {
                component.tables.iter().for_each(|&id| self.slots[id.index()].freeze());
            }
        }
    }

    /// Invalidates what depends on this stage or a later one.
    fn forget(&mut self, rules: &Rules, stage: Stage) {
        self.n_atoms = 0;
        self.failed = None;
        for (component, is_derived) in self.is_derived.iter_mut().enumerate() {
            *is_derived &= rules.stage(component) < stage;
        }
        let is_void = |engine: &Self, component: usize| {
            let table = rules.components[component].tables[0];
            let n_kept = engine.table(table).n_rows() + engine.calls.open[component].n_keys;
            rules.stage(component) >= stage || engine.calls.is_broken || n_kept > MAX_KEPT_ROWS
        };
        // The keys of all calls of a component are removed together with its rows.
        for (call_idx, call) in rules.calls.iter().enumerate() {
            if is_void(self, call.component) {
                self.calls.keys[call_idx].clear();
            }
        }
        for call in &rules.calls {
            if is_void(self, call.component) {
                self.clear(&rules.components[call.component].tables);
                self.calls.open[call.component].n_keys = 0;
            }
        }
        self.calls.is_broken = false;
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
            self.feed_views(rules, table, row);
        }
        self.advance(tables);
    }

    fn derive_component(&mut self, rules: &Rules, component_idx: usize) -> Outcome {
        let component = &rules.components[component_idx];
        if component.assumed.is_empty() {
            return self.derive_fixpoint(rules, component);
        }
        let is_total = self.derive_alternating(rules, component)?;
        if is_total {
            return Ok(());
        }
        let relation = rules.name(component_idx);
        let name = self.vocabulary.symbol_name(relation).to_owned();
        Err(ReasonerError::NegativeCycle { relation, name })
    }

    /// Derives the least set of rows that satisfies the rules.
    fn derive_fixpoint(&mut self, rules: &Rules, component: &PlannedComponent) -> Outcome {
        self.clear(&component.tables);
        self.fire_all(rules, &component.first)?;
        while self.advance(&component.tables) && !component.rounds.is_empty() {
            self.fire_all(rules, &component.rounds)?;
        }
        Ok(())
    }

    /// Derives the well-founded model; returns whether it is total.
    ///
    /// Assuming too few atoms in negations derives too many, and vice versa, so the results
    /// approach the model from above and from below.
    fn derive_alternating(&mut self, rules: &Rules, component: &PlannedComponent) -> Outcome<bool> {
        component.assumed.iter().for_each(|assumed| self.clear(&assumed.tables));
        let (mut before_last, mut last) = (usize::MAX, 0);
        loop {
            self.derive_fixpoint(rules, component)?;
            let sizes = component.assumed.iter().map(|entry| self.table(entry.derived).n_rows());
            let n_rows = sizes.sum();
            // Bounds from one side contain each other, so equal sizes mean equal sets.
            if n_rows == last || n_rows == before_last {
                return Ok(n_rows == last);
            }
            (before_last, last) = (last, n_rows);
            self.assume_derived(rules, component);
        }
    }

    fn assume_derived(&mut self, rules: &Rules, component: &PlannedComponent) {
        for entry in &component.assumed {
            self.clear(&entry.tables);
            for row_idx in self.table(entry.derived).row_ids() {
                let row = Row::from_slice(self.table(entry.derived).row(row_idx));
                self.working(entry.assumed).push(&row);
                self.feed_views(rules, entry.assumed, &row);
            }
            self.advance(&entry.tables);
        }
    }

    fn fire_all(&mut self, rules: &Rules, plans: &[JoinPlan]) -> Outcome {
        for plan in plans {
            self.fire_with(rules, plan, &[])?;
        }
        Ok(())
    }

    /// Runs a plan, with the key of the call if it is for one.
    fn fire_with(&mut self, rules: &Rules, plan: &JoinPlan, key: &[TermId]) -> Outcome {
        let is_empty = |&(table, rows)| self.table(table).range(rows).is_empty();
        if plan.needs.iter().any(is_empty) {
            return Ok(());
        }
        // Registers without a value may hold any term: they get one before they are read.
        let registers = &mut self.registers;
        registers.clear();
        registers.resize(plan.n_registers, TermId::new(0));
        plan.constants.iter().for_each(|&(register, term)| registers[register] = term);
        plan.inputs.iter().for_each(|&(position, register)| registers[register] = key[position]);
        let mut checks = plan.input_checks.iter();
        if checks.all(|&(position, register)| registers[register] == key[position]) {
            self.run(rules, plan, 0).map_err(|error| error.in_rule(|| self.place(rules, plan)))?;
        }
        Ok(())
    }

    #[cold]
    fn place(&self, rules: &Rules, plan: &JoinPlan) -> RulePlace {
        let relation = rules.schema().tables[plan.table.index()].name;
        let name = shortened(self.vocabulary.symbol_name(relation).to_owned());
        RulePlace { relation, name, span: plan.span }
    }

    /// Derives the rows of a key, unless that was done before.
    ///
    /// In a component that calls itself, a key may recur before its rows are complete. The
    /// outermost call then repeats all calls made since, until they add nothing new.
    fn call(&mut self, rules: &Rules, call_idx: usize, key: &[TermId]) -> Outcome {
        let component = rules.calls[call_idx].component;
        let Some(key_idx) = self.calls.keys[call_idx].add(key) else {
            let is_open = !self.calls.keys[call_idx].is_answered(key);
            self.calls.open[component].is_incomplete |= is_open;
            return Ok(());
        };
        self.count_atom()?;
        let open = &mut self.calls.open[component];
        open.n_keys += 1;
        let is_outermost = open.keys.is_empty();
        open.keys.push((call_idx, key_idx));
        if self.calls.depth >= MAX_CALL_DEPTH && !is_outermost {
            open.is_incomplete = true;
            return Ok(());
        }
        self.calls.depth += 1;
        self.answer(rules, call_idx, key)?;
        self.calls.keys[call_idx].is_answered[key_idx] = true;
        if is_outermost {
            self.complete(rules, component)?;
        }
        self.calls.depth -= 1;
        Ok(())
    }

    /// Runs the rules of a call.
    fn answer(&mut self, rules: &Rules, call_idx: usize, key: &[TermId]) -> Outcome {
        let call = &rules.calls[call_idx];
        let spare = self.spare_registers.pop().unwrap_or_default();
        let waiting = std::mem::replace(&mut self.registers, spare);
        for plan in &call.plans {
            self.fire_with(rules, plan, key)?;
        }
        self.advance(&rules.components[call.component].tables);
        self.spare_registers.push(std::mem::replace(&mut self.registers, waiting));
        Ok(())
    }

    /// Runs the rules of a call that was made before.
    fn answer_again(&mut self, rules: &Rules, call_idx: usize, key_idx: usize) -> Outcome {
        let key = Row::from_slice(self.calls.keys[call_idx].table.row(narrow(key_idx)));
        self.answer(rules, call_idx, &key)?;
        self.calls.keys[call_idx].is_answered[key_idx] = true;
        Ok(())
    }

    /// Repeats the open calls of a component until they are complete.
    fn complete(&mut self, rules: &Rules, component: usize) -> Outcome {
        // First every call is answered once, however deep: what an answer postpones is added at the end.
        let mut open_idx = 0;
        while let Some(&(call_idx, key_idx)) = self.calls.open[component].keys.get(open_idx) {
            open_idx += 1;
            if !self.calls.keys[call_idx].is_answered[key_idx] {
                self.answer_again(rules, call_idx, key_idx)?;
            }
        }
        let mut n_before = None;
        while self.calls.open[component].is_incomplete {
            let tables = rules.components[component].tables.iter();
            let n_rows: usize = tables.map(|&id| self.table(id).n_rows()).sum();
            let n_keys = self.calls.open[component].keys.len();
            if n_before == Some((n_rows, n_keys)) {
                break;
            }
            n_before = Some((n_rows, n_keys));
            // Later calls were made for earlier ones, so the earlier ones come last.
            for open_idx in (0..n_keys).rev() {
                let (call_idx, key_idx) = self.calls.open[component].keys[open_idx];
                self.answer_again(rules, call_idx, key_idx)?;
            }
        }
        let open = &mut self.calls.open[component];
        open.is_incomplete = false;
        open.keys.clear();
        Ok(())
    }

    /// Runs the steps of a plan from this one on; returns whether the rule fired.
    fn run(&mut self, rules: &Rules, plan: &JoinPlan, step_idx: usize) -> Outcome<bool> {
        self.look_at_clock()?;
        let goes_on = match plan.steps.get(step_idx) {
            None => return self.fire(rules, plan).map(|()| true),
            Some(Step::Join(join)) => return self.run_join(rules, plan, step_idx, join),
            Some(Step::Contains(contains)) => self.contains(rules, contains)?,
            Some(Step::Distinct(left, right)) => self.term(left)? != self.term(right)?,
        };
        if goes_on { self.run(rules, plan, step_idx + 1) } else { Ok(false) }
    }

    fn contains(&mut self, rules: &Rules, contains: &Contains) -> Outcome<bool> {
        let key: Row = contains.key.iter().map(|&register| self.registers[register]).collect();
        if let Some(call) = contains.call {
            self.call(rules, call, &key)?;
        }
        if let Slot::Working(table) = &mut self.slots[contains.table.index()] {
            table.fill_set();
        }
        let table = self.table(contains.table);
        let range = table.range(contains.rows);
        let is_there = table.find(&key).is_some_and(|row| range.contains(&row));
        Ok(is_there == contains.is_positive)
    }

    /// Continues with every row that agrees with the registers.
    fn run_join(
        &mut self,
        rules: &Rules,
        plan: &JoinPlan,
        step_idx: usize,
        join: &Join,
    ) -> Outcome<bool> {
        let key: Row = join.key.iter().map(|&(_, register)| self.registers[register]).collect();
        if let Some(call) = join.call {
            self.call(rules, call, &key)?;
        }
        match join.index {
            Some(index) if !self.table(join.table).has_few_rows() => {
                self.run_indexed(rules, plan, step_idx, join, index, &key)
            }
            _ => self.run_scan(rules, plan, step_idx, join),
        }
    }

    /// Continues with the rows that an index returns.
    fn run_indexed(
        &mut self,
        rules: &Rules,
        plan: &JoinPlan,
        step_idx: usize,
        join: &Join,
        index: usize,
        key: &[TermId],
    ) -> Outcome<bool> {
        if let Slot::Working(table) = &mut self.slots[join.table.index()] {
            table.fill_index(index);
        }
        let table = self.table(join.table);
        let range = table.range(join.rows);
        let mut next = table.latest(index, key);
        let mut has_fired = false;
        while let Some(row) = next.filter(|&row| row >= range.start) {
            let table = self.table(join.table);
            next = table.previous(index, row);
            if row < range.end && self.bind(join, row) {
                has_fired |= self.run(rules, plan, step_idx + 1)?;
                if join.repeat.is_over(has_fired) {
                    break;
                }
            } else {
                self.look_at_clock()?;
            }
        }
        Ok(has_fired)
    }

    /// Continues with every row of a table that has the values of the key.
    fn run_scan(
        &mut self,
        rules: &Rules,
        plan: &JoinPlan,
        step_idx: usize,
        join: &Join,
    ) -> Outcome<bool> {
        let mut has_fired = false;
        let range = self.table(join.table).range(join.rows);
        self.look_after(range.end - range.start)?;
        for row in range {
            let values = self.table(join.table).row(row);
            let registers = &self.registers;
            let is_match = join.key.iter().all(|&(column, reg)| values[column] == registers[reg]);
            if is_match && self.bind(join, row) {
                has_fired |= self.run(rules, plan, step_idx + 1)?;
                if join.repeat.is_over(has_fired) {
                    break;
                }
            }
        }
        Ok(has_fired)
    }

    /// Assigns the values of a row to registers; returns false if the row contradicts itself.
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
    fn fire(&mut self, rules: &Rules, plan: &JoinPlan) -> Outcome {
        let mut row = Row::new();
        for arg in &plan.head {
            row.push(self.term(arg)?);
        }
        if self.working(plan.table).insert(&row) {
            self.count_atom()?;
            self.feed_views(rules, plan.table, &row);
        }
        Ok(())
    }

    #[inline]
    fn count_atom(&mut self) -> Outcome {
        self.n_atoms += 1;
        if self.n_atoms <= self.max_atoms {
            return Ok(());
        }
        Err(ReasonerError::TooManyAtoms { limit: self.max_atoms, rule: None })
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

    /// Adds the new row of a table to its views.
    fn feed_views(&mut self, rules: &Rules, table: TableId, row: &[TermId]) {
        for views in &rules.schema().tables[table.index()].views {
            let (name, args) = self.vocabulary.open(row[views.column]);
            if args.is_empty() {
                continue;
            }
            if let Some(&view) = views.tables.get(&(name, args.len())) {
                let mut opened = Row::from_slice(&row[..views.column]);
                opened.extend_from_slice(args);
                opened.extend_from_slice(&row[views.column + 1..]);
                self.working(view).push(&opened);
                self.feed_views(rules, view, &opened);
            }
        }
    }

    /// Checks the clock once every few steps.
    #[inline]
    fn look_at_clock(&mut self) -> Outcome {
        self.look_after(1)
    }

    /// Checks the clock if it is time after so many steps.
    #[inline]
    fn look_after(&mut self, n_steps: u32) -> Outcome {
        self.n_steps_until_look = self.n_steps_until_look.saturating_sub(n_steps);
        if self.n_steps_until_look > 0 { Ok(()) } else { self.look_now() }
    }

    /// Checks the number of steps, the clock and the memory of the process.
    #[cold]
    pub(crate) fn look_now(&mut self) -> Outcome {
        self.n_steps_until_look = STEPS_PER_LOOK;
        self.n_looks += 1;
        if self.n_looks.saturating_mul(STEPS_PER_LOOK.into()) > self.max_steps {
            return Err(ReasonerError::TooManySteps { limit: self.max_steps, rule: None });
        }
        match self.deadline.stop_reason() {
            None => Ok(()),
            Some(StopReason::Memory) => Err(ReasonerError::OutOfMemory { rule: None }),
            Some(_) => Err(ReasonerError::OutOfTime { rule: None }),
        }
    }

    /// Empties tables.
    pub(crate) fn clear(&mut self, tables: &[TableId]) {
        tables.iter().for_each(|&id| self.working(id).clear());
    }

    /// Makes the rows added since the last round visible; returns whether there are any.
    fn advance(&mut self, tables: &[TableId]) -> bool {
        tables.iter().fold(false, |has_new, &id| self.working(id).advance() | has_new)
    }

    #[inline]
    fn working(&mut self, id: TableId) -> &mut Table {
        match &mut self.slots[id.index()] {
            Slot::Working(table) => table,
            Slot::Fixed(_) => unreachable!("shared static tables never change"),
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
