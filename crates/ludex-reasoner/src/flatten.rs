//! Flattening: rules over flat columns, without nested terms in bodies.
//!
//! A literal such as `(true (cell ?x ?y b))` reads a *view*: a separate table with the arguments of
//! every `cell` of three arguments in a row of `true`. Every row added to a table is added to its
//! views as well, so a join compares and indexes the inner arguments like any other column. Heads
//! keep their nested terms, which are built when a row is derived.

use ludex_base::{Span, Symbol};
use ludex_gdl::{Atom, Component, Keyword, Literal, Pattern, Program, RelationId, Stage, TermId};
use rustc_hash::FxHashMap;

use crate::table::TableId;

/// The rules that play needs, over tables of flat columns.
#[derive(Debug)]
pub(crate) struct FlatProgram {
    pub(crate) schema: Schema,
    /// In an order in which they can be derived.
    pub(crate) components: Vec<FlatComponent>,
}

/// The tables: first one for each relation of the program, with its number, then the others.
#[derive(Debug)]
pub(crate) struct Schema {
    pub(crate) tables: Vec<TableInfo>,
}

#[derive(Debug)]
pub(crate) struct TableInfo {
    pub(crate) n_columns: usize,
    /// The name of the relation that its rows come from.
    pub(crate) name: Symbol,
    pub(crate) views: Vec<Views>,
    /// If it is a view, the column of the table that it opens.
    pub(crate) opens: Option<Opening>,
}

/// How a view derives from its table: the terms `name(…)` of a column are opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opening {
    pub(crate) table: TableId,
    pub(crate) column: usize,
    pub(crate) name: Symbol,
    pub(crate) n_args: usize,
}

/// The views of one table that open the terms of one column.
#[derive(Debug)]
pub(crate) struct Views {
    pub(crate) column: usize,
    /// By outermost name and number of arguments.
    pub(crate) tables: FxHashMap<(Symbol, usize), TableId>,
}

/// Rules whose heads depend on each other.
#[derive(Debug)]
pub(crate) struct FlatComponent {
    pub(crate) stage: Stage,
    /// The relations it defines.
    pub(crate) relations: Vec<RelationId>,
    /// The relations outside of it that it reads.
    pub(crate) needs: Vec<RelationId>,
    pub(crate) rules: Vec<FlatRule>,
    /// If it negates itself: a second table for each relation, with what is assumed of the
    /// relation. Negative literals read that table.
    pub(crate) assumed: Vec<(RelationId, TableId)>,
}

#[derive(Debug)]
pub(crate) struct FlatRule {
    pub(crate) table: TableId,
    pub(crate) head: Box<[Pattern]>,
    pub(crate) positive: Vec<FlatAtom>,
    pub(crate) negative: Vec<FlatAtom>,
    pub(crate) distinct: Vec<(Pattern, Pattern)>,
    pub(crate) n_variables: usize,
    /// The clause it comes from.
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) struct FlatAtom {
    pub(crate) table: TableId,
    pub(crate) args: Vec<FlatArg>,
    /// Whether its relation belongs to the component of the rule.
    pub(crate) is_recursive: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FlatArg {
    Variable(u32),
    Ground(TermId),
}

/// The keywords that play asks for; `base` and `input` are not among them.
const ROOTS: [Keyword; 7] = [
    Keyword::Role,
    Keyword::Init,
    Keyword::Legal,
    Keyword::Next,
    Keyword::Sees,
    Keyword::Goal,
    Keyword::Terminal,
];

pub(crate) fn flatten(program: &Program) -> FlatProgram {
    let mut schema = Schema::new(program);
    let is_relevant = program.relevant_to(&ROOTS);
    let mut rules_of: Vec<Vec<usize>> = vec![Vec::new(); program.relations.len()];
    for (rule_idx, rule) in program.rules.iter().enumerate() {
        rules_of[rule.head.relation.index()].push(rule_idx);
    }
    let mut components = Vec::new();
    for component in program.components() {
        let is_wanted = component.relations.iter().any(|id| is_relevant[id.index()]);
        let rules: Vec<usize> =
            component.relations.iter().flat_map(|id| rules_of[id.index()].clone()).collect();
        if is_wanted && !rules.is_empty() {
            components.push(schema.component(program, component, &rules));
        }
    }
    FlatProgram { schema, components }
}

/// Returns the table of a relation.
pub(crate) fn table_of(relation: impl Into<RelationId>) -> TableId {
    TableId::new(relation.into().index())
}

impl Schema {
    fn new(program: &Program) -> Self {
        let mut schema = Self { tables: Vec::new() };
        for relation in &program.relations {
            schema.add(relation.arity, relation.name);
        }
        schema
    }

    /// Returns the table itself and all views that its rows reach.
    pub(crate) fn with_views(&self, table: TableId) -> Vec<TableId> {
        let mut found = vec![table];
        let mut next = 0;
        while let Some(&table) = found.get(next) {
            let mut views: Vec<TableId> = self.tables[table.index()]
                .views
                .iter()
                .flat_map(|views| views.tables.values().copied())
                .collect();
            views.sort_unstable();
            found.extend(views);
            next += 1;
        }
        found
    }

    /// Returns the patterns by which the head of a rule fills the columns of a table: its own or a
    /// view of it. `None` for the whole if the rule adds no row to the table, and for columns that
    /// the head does not spell out.
    pub(crate) fn head_columns<'a>(
        &self,
        rule: &'a FlatRule,
        table: TableId,
    ) -> Option<Vec<Option<&'a Pattern>>> {
        let Some(opening) = self.tables[table.index()].opens else {
            // A component may have rules of several relations.
            return (rule.table == table).then(|| rule.head.iter().map(Some).collect());
        };
        let mut columns = self.head_columns(rule, opening.table)?;
        let opened: Vec<Option<&Pattern>> = match columns[opening.column] {
            Some(Pattern::Compound(name, args)) => {
                if (*name, args.len()) != (opening.name, opening.n_args) {
                    return None;
                }
                args.iter().map(Some).collect()
            }
            _ => vec![None; opening.n_args],
        };
        columns.splice(opening.column..=opening.column, opened);
        Some(columns)
    }

    fn component(
        &mut self,
        program: &Program,
        component: Component,
        rules: &[usize],
    ) -> FlatComponent {
        let relations = component.relations;
        let assumed: Vec<(RelationId, TableId)> = if component.has_inner_negation {
            let add = |&id: &RelationId| {
                let relation = program.relation(id);
                (id, self.add(relation.arity, relation.name))
            };
            relations.iter().map(add).collect()
        } else {
            Vec::new()
        };
        let mut needs: Vec<RelationId> = rules
            .iter()
            .flat_map(|&rule| program.rules[rule].dependencies().map(|(id, _)| id))
            .filter(|id| relations.binary_search(id).is_err())
            .collect();
        needs.sort_unstable();
        needs.dedup();
        let stages = relations.iter().map(|&id| program.relation(id).stage);
        FlatComponent {
            stage: stages.max().expect("a component has a relation"),
            rules: rules
                .iter()
                .map(|&rule| self.rule(&program.rules[rule], &relations, &assumed))
                .collect(),
            relations,
            needs,
            assumed,
        }
    }

    fn rule(
        &mut self,
        rule: &ludex_gdl::Rule,
        component: &[RelationId],
        assumed: &[(RelationId, TableId)],
    ) -> FlatRule {
        let mut flat = FlatRule {
            table: table_of(rule.head.relation),
            head: rule.head.args.clone(),
            positive: Vec::new(),
            negative: Vec::new(),
            distinct: Vec::new(),
            n_variables: rule.n_variables(),
            span: rule.span,
        };
        for literal in &rule.body {
            match literal {
                Literal::Positive(atom) => {
                    let table = table_of(atom.relation);
                    let is_recursive = component.binary_search(&atom.relation).is_ok();
                    flat.positive.push(self.atom(table, atom, is_recursive));
                }
                Literal::Negative(atom) => {
                    let position = assumed.binary_search_by_key(&atom.relation, |&(id, _)| id);
                    let table = position.map_or(table_of(atom.relation), |idx| assumed[idx].1);
                    flat.negative.push(self.atom(table, atom, false));
                }
                Literal::Distinct(left, right) => flat.distinct.push((left.clone(), right.clone())),
            }
        }
        flat
    }

    fn atom(&mut self, mut table: TableId, atom: &Atom, is_recursive: bool) -> FlatAtom {
        let mut patterns: Vec<Pattern> = atom.args.to_vec();
        let is_compound = |pattern: &Pattern| matches!(pattern, Pattern::Compound(..));
        while let Some(column) = patterns.iter().position(is_compound) {
            let Pattern::Compound(name, args) = patterns[column].clone() else {
                unreachable!("the argument here is a compound pattern");
            };
            table = self.view(table, column, name, args.len());
            patterns.splice(column..=column, args);
        }
        let args = patterns.iter().map(|pattern| match pattern {
            Pattern::Variable(variable) => FlatArg::Variable(*variable),
            Pattern::Ground(term) => FlatArg::Ground(*term),
            Pattern::Compound(..) => unreachable!("compound patterns are opened"),
        });
        FlatAtom { table, args: args.collect(), is_recursive }
    }

    /// Returns the view that opens the terms `name(…)` of a column.
    fn view(&mut self, table: TableId, column: usize, name: Symbol, n_args: usize) -> TableId {
        let TableInfo { n_columns, name: relation_name, .. } = self.tables[table.index()];
        let views = &self.tables[table.index()].views;
        let position = views.iter().position(|views| views.column == column);
        let known = position.and_then(|position| views[position].tables.get(&(name, n_args)));
        if let Some(&view) = known {
            return view;
        }
        let view = self.add(n_columns - 1 + n_args, relation_name);
        self.tables[view.index()].opens = Some(Opening { table, column, name, n_args });
        let views = &mut self.tables[table.index()].views;
        let position = position.unwrap_or_else(|| {
            views.push(Views { column, tables: FxHashMap::default() });
            views.len() - 1
        });
        views[position].tables.insert((name, n_args), view);
        view
    }

    fn add(&mut self, n_columns: usize, name: Symbol) -> TableId {
        self.tables.push(TableInfo { n_columns, name, views: Vec::new(), opens: None });
        TableId::new(self.tables.len() - 1)
    }
}
