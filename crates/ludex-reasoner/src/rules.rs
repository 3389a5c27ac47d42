//! The rules as the engine runs them: components and calls, with their plans.
//!
//! Most components are derived in full before anything reads them. That is infeasible for a
//! relation like "in check if the piece on (u, v) were gone", which holds for very many values of
//! which only a few are needed. Such a component is *called* on demand: when a literal asks for
//! rows with certain values, its rules run for those values, once.

use ludex_base::Symbol;
use ludex_gdl::{Keyword, Pattern, RelationId, Stage};

use crate::flatten::{FlatComponent, FlatProgram, Schema, table_of};
use crate::join_plan::{Catalog, JoinPlan, Purpose, Statistics, plan};
use crate::table::TableId;

/// All rules that the engine runs, shared by every cursor.
#[derive(Debug)]
pub(crate) struct Rules {
    program: FlatProgram,
    /// In an order in which they can be derived.
    pub(crate) components: Vec<PlannedComponent>,
    /// For each table, the component that fills it.
    component_of: Vec<Option<usize>>,
    /// For each table, whether its component is called on demand.
    is_called: Vec<bool>,
    pub(crate) calls: Vec<Call>,
    true_tables: Vec<TableId>,
    does_tables: Vec<TableId>,
}

/// Rules whose heads depend on each other.
#[derive(Debug, Default)]
pub(crate) struct PlannedComponent {
    /// The tables that its rules fill.
    pub(crate) tables: Vec<TableId>,
    /// Rules that do not read the component itself.
    pub(crate) first: Vec<JoinPlan>,
    /// The other rules, one plan for each literal that reads the component.
    pub(crate) rounds: Vec<JoinPlan>,
    /// The assumptions, if the component negates itself.
    pub(crate) assumed: Vec<Assumed>,
}

/// The assumption about a relation while the component that negates it is derived.
#[derive(Debug)]
pub(crate) struct Assumed {
    pub(crate) derived: TableId,
    pub(crate) assumed: TableId,
    /// The table of the assumption and its views.
    pub(crate) tables: Vec<TableId>,
}

/// The plans that fill a table for given values of some columns.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) component: usize,
    table: TableId,
    pub(crate) columns: Box<[usize]>,
    pub(crate) plans: Vec<JoinPlan>,
}

/// Number of conditions from which on planning them takes long.
const LONG: usize = 50;

/// Returns the number of the index of a table on some columns.
pub(crate) type IndexOn<'a> = dyn FnMut(TableId, &[usize]) -> usize + 'a;

impl Rules {
    /// Creates the components without plans. None is called on demand.
    pub(crate) fn new(program: FlatProgram) -> Self {
        let schema = &program.schema;
        let components: Vec<PlannedComponent> =
            program.components.iter().map(|flat| PlannedComponent::new(flat, schema)).collect();
        let mut component_of = vec![None; schema.tables.len()];
        for (component_idx, component) in components.iter().enumerate() {
            component.tables.iter().for_each(|id| component_of[id.index()] = Some(component_idx));
        }
        Self {
            components,
            is_called: vec![false; component_of.len()],
            component_of,
            calls: Vec::new(),
            true_tables: schema.with_views(table_of(Keyword::True)),
            does_tables: schema.with_views(table_of(Keyword::Does)),
            program,
        }
    }

    pub(crate) fn schema(&self) -> &Schema {
        &self.program.schema
    }

    pub(crate) fn stage(&self, component: usize) -> Stage {
        self.program.components[component].stage
    }

    /// Returns the name of one of the relations of a component.
    pub(crate) fn name(&self, component: usize) -> Symbol {
        let relation = self.program.components[component].relations[0];
        self.schema().tables[table_of(relation).index()].name
    }

    /// Returns the tables that a given row of `true` or `does` is added to.
    pub(crate) fn tables_of(&self, keyword: Keyword) -> &[TableId] {
        if keyword == Keyword::True { &self.true_tables } else { &self.does_tables }
    }

    /// Returns the components that a relation depends on, and its own, in order.
    pub(crate) fn cone(&self, root: Keyword) -> Vec<usize> {
        let components = &self.program.components;
        // By relation; the table of a relation has its number.
        let mut is_wanted = vec![false; self.schema().tables.len()];
        is_wanted[RelationId::from(root).index()] = true;
        let mut cone = Vec::new();
        for (component_idx, component) in components.iter().enumerate().rev() {
            if component.relations.iter().any(|relation| is_wanted[relation.index()]) {
                cone.push(component_idx);
                component.needs.iter().for_each(|relation| is_wanted[relation.index()] = true);
            }
        }
        cone.reverse();
        cone
    }

    /// Returns whether the rules of a component can run on demand: it must not negate itself, so
    /// that answers may come one by one, and play must not ask for all of its rows.
    pub(crate) fn can_be_called(&self, component: usize) -> bool {
        let component = &self.program.components[component];
        let is_keyword = |id: &RelationId| id.index() < Keyword::ALL.len();
        let has_conditions = component.rules.iter().any(|rule| !rule.positive.is_empty());
        component.assumed.is_empty()
            && !component.relations.iter().any(is_keyword)
            && has_conditions
    }

    /// Returns whether planning a component takes long.
    pub(crate) fn is_long(&self, component: usize) -> bool {
        let rules = &self.program.components[component].rules;
        rules.iter().map(|rule| rule.positive.len()).sum::<usize>() > LONG
    }

    pub(crate) fn is_called(&self, component: usize) -> bool {
        self.is_called[self.components[component].tables[0].index()]
    }

    /// Returns whether a component, derived in full, would call for all rows of another.
    pub(crate) fn calls_for_all(&self, component: usize) -> bool {
        let component = &self.components[component];
        let plans = component.first.iter().chain(&component.rounds);
        let is_for_all = |call: usize| self.calls[call].columns.is_empty();
        plans.flat_map(JoinPlan::calls).any(is_for_all)
    }

    /// Makes a component run on demand. Plans that read it become invalid.
    pub(crate) fn set_called(&mut self, component: usize) {
        debug_assert!(
            self.can_be_called(component),
            "a component on demand must not negate itself"
        );
        let component = &mut self.components[component];
        component.tables.iter().for_each(|id| self.is_called[id.index()] = true);
        component.first.clear();
        component.rounds.clear();
    }

    /// Removes the calls. The caller must then plan all components.
    pub(crate) fn clear_calls(&mut self) {
        self.calls.clear();
    }

    /// Plans a component anew, and the calls it makes. A component on demand gets its plans when
    /// others call it.
    pub(crate) fn plan(
        &mut self,
        component: usize,
        statistics: &Statistics,
        index_on: &mut IndexOn<'_>,
    ) {
        if self.is_called(component) {
            return;
        }
        let Self { program, components, component_of, is_called, calls, .. } = self;
        let n_calls = calls.len();
        let mut catalog = RulesCatalog { component_of, is_called, calls, index_on };
        let (mut first, mut rounds) = (Vec::new(), Vec::new());
        for rule in &program.components[component].rules {
            let recursive = (0..rule.positive.len()).filter(|&idx| rule.positive[idx].is_recursive);
            let mut deltas = recursive.map(Purpose::Delta).peekable();
            if deltas.peek().is_none() {
                first.push(plan(rule, Purpose::All, statistics, &mut catalog));
            }
            rounds.extend(deltas.map(|purpose| plan(rule, purpose, statistics, &mut catalog)));
        }
        (components[component].first, components[component].rounds) = (first, rounds);
        catalog.plan_calls(program, statistics, n_calls);
    }
}

impl PlannedComponent {
    fn new(component: &FlatComponent, schema: &Schema) -> Self {
        let assumed = component.assumed.iter().map(|&(relation, assumed)| Assumed {
            derived: table_of(relation),
            assumed,
            tables: schema.with_views(assumed),
        });
        let relations = component.relations.iter();
        Self {
            tables: relations.flat_map(|&id| schema.with_views(table_of(id))).collect(),
            assumed: assumed.collect(),
            ..Self::default()
        }
    }
}

/// The planner's access to the rules and tables.
struct RulesCatalog<'a, 'b> {
    component_of: &'a [Option<usize>],
    is_called: &'a [bool],
    calls: &'a mut Vec<Call>,
    index_on: &'a mut IndexOn<'b>,
}

impl RulesCatalog<'_, '_> {
    /// Plans the calls from this one on; they may make further calls.
    fn plan_calls(&mut self, program: &FlatProgram, statistics: &Statistics, first: usize) {
        let mut call_idx = first;
        while let Some(call) = self.calls.get(call_idx) {
            let (component, table, columns) = (call.component, call.table, call.columns.clone());
            let mut plans = Vec::new();
            for rule in &program.components[component].rules {
                if let Some(head) = program.schema.head_columns(rule, table) {
                    let key: Vec<Option<&Pattern>> = columns.iter().map(|&c| head[c]).collect();
                    plans.push(plan(rule, Purpose::Call(&key), statistics, self));
                }
            }
            self.calls[call_idx].plans = plans;
            call_idx += 1;
        }
    }
}

impl Catalog for RulesCatalog<'_, '_> {
    fn index_on(&mut self, table: TableId, columns: &[usize]) -> usize {
        (self.index_on)(table, columns)
    }

    fn is_called(&self, table: TableId) -> bool {
        self.is_called[table.index()]
    }

    fn call_on(&mut self, table: TableId, columns: &[usize]) -> usize {
        let is_same = |call: &Call| call.table == table && *call.columns == *columns;
        self.calls.iter().position(is_same).unwrap_or_else(|| {
            let component = self.component_of[table.index()];
            self.calls.push(Call {
                component: component.expect("rules fill the table of a call"),
                table,
                columns: columns.into(),
                plans: Vec::new(),
            });
            self.calls.len() - 1
        })
    }
}
