//! The rules as the engine runs them: components with their plans.

use ludex_base::Symbol;
use ludex_gdl::{Keyword, RelationId, Stage};

use crate::flatten::{FlatComponent, FlatProgram, Schema, table_of};
use crate::plan::{IndexOn, Plan, Statistics, plan};
use crate::table::TableId;

/// All that the engine runs. Shared by every cursor.
#[derive(Debug)]
pub(crate) struct Rules {
    program: FlatProgram,
    /// In an order in which they can be derived.
    pub(crate) components: Vec<PlannedComponent>,
    true_tables: Vec<TableId>,
    does_tables: Vec<TableId>,
}

/// Rules whose heads depend on each other.
#[derive(Debug, Default)]
pub(crate) struct PlannedComponent {
    /// The tables its rules fill.
    pub(crate) tables: Vec<TableId>,
    /// Rules that ask nothing of the component itself.
    pub(crate) first: Vec<Plan>,
    /// The others, once for each literal that does.
    pub(crate) rounds: Vec<Plan>,
    /// Where the component negates itself.
    pub(crate) assumed: Vec<Assumed>,
}

/// What is assumed of a relation while the component that negates it is derived.
#[derive(Debug)]
pub(crate) struct Assumed {
    pub(crate) derived: TableId,
    pub(crate) assumed: TableId,
    /// The table of the assumption and its views.
    pub(crate) tables: Vec<TableId>,
}

impl Rules {
    /// The components, yet without plans.
    pub(crate) fn new(program: FlatProgram) -> Self {
        let schema = &program.schema;
        let components = program.components.iter().map(|component| PlannedComponent {
            tables: component
                .relations
                .iter()
                .flat_map(|&relation| schema.with_views(table_of(relation)))
                .collect(),
            assumed: assumptions(component, schema),
            ..PlannedComponent::default()
        });
        Self {
            components: components.collect(),
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

    /// The name of one of the relations of a component.
    pub(crate) fn name(&self, component: usize) -> Symbol {
        let relation = self.program.components[component].relations[0];
        self.schema().tables[table_of(relation).index()].name
    }

    /// The tables that a given row of `true` or `does` goes to.
    pub(crate) fn tables_of(&self, keyword: Keyword) -> &[TableId] {
        if keyword == Keyword::True { &self.true_tables } else { &self.does_tables }
    }

    /// Plans a component anew.
    pub(crate) fn plan(
        &mut self,
        component: usize,
        statistics: &Statistics,
        index_on: &mut IndexOn<'_>,
    ) {
        let planned = &mut self.components[component];
        planned.first.clear();
        planned.rounds.clear();
        for rule in &self.program.components[component].rules {
            let recursive = (0..rule.positive.len()).filter(|&idx| rule.positive[idx].is_recursive);
            let n_rounds = planned.rounds.len();
            planned
                .rounds
                .extend(recursive.map(|delta| plan(rule, Some(delta), statistics, index_on)));
            if planned.rounds.len() == n_rounds {
                planned.first.push(plan(rule, None, statistics, index_on));
            }
        }
    }

    /// The components that a relation depends on and its own, in order.
    pub(crate) fn cone(&self, root: Keyword) -> Vec<usize> {
        let components = &self.program.components;
        let mut wanted: Vec<RelationId> = vec![root.into()];
        let mut cone = Vec::new();
        for (component_idx, component) in components.iter().enumerate().rev() {
            if component.relations.iter().any(|relation| wanted.contains(relation)) {
                cone.push(component_idx);
                wanted.extend(&component.needs);
            }
        }
        cone.reverse();
        cone
    }
}

fn assumptions(component: &FlatComponent, schema: &Schema) -> Vec<Assumed> {
    let assumed = component.assumed.iter().map(|&(relation, assumed)| Assumed {
        derived: table_of(relation),
        assumed,
        tables: schema.with_views(assumed),
    });
    assumed.collect()
}
