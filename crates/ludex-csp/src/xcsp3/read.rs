//! From XCSP3 text to a network.
//!
//! Groups and slides are templates: their arguments are put in as text, and what comes out
//! is read like a constraint of its own. Tables are read once per template.

use std::fmt::Write;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::text::{self, Problem};
use super::xml::{self, Node};
use crate::domains::VarId;
use crate::error::CspError;
use crate::expr::{Comparison, Expr, Operation};
use crate::network::{Condition, Constraint, Network, Objective};
use crate::propagators::table::Table;
use crate::propagators::{Automaton, Mdd};
use crate::{Value, ValueSet};

/// An instance of XCSP3.
#[derive(Clone)]
pub struct Instance {
    /// Variables, constraints and objective.
    pub network: Network,
    /// What the file declared, in its order: the name to print and the variables, `None`
    /// for cells of an array that don't exist.
    pub(super) declared: Vec<(String, Vec<Option<VarId>>)>,
}

impl Instance {
    /// The variables that the file declared; others in the network are ours.
    pub fn variables(&self) -> impl Iterator<Item = VarId> + '_ {
        self.declared.iter().flat_map(|(_, cells)| cells.iter().flatten().copied())
    }

    /// A solution as an XCSP3 instantiation, on one line.
    pub fn instantiation(&self, solution: &[Value]) -> String {
        let (mut list, mut values) = (String::new(), String::new());
        for (name, cells) in &self.declared {
            list.push_str(name);
            list.push(' ');
            for cell in cells {
                match cell {
                    Some(x) => write!(values, "{} ", solution[x.index()]),
                    None => write!(values, "* "),
                }
                .expect("writing to a string does not fail");
            }
        }
        format!("<instantiation> <list> {list}</list> <values> {values}</values> </instantiation>")
    }
}

/// Reads an instance of the frameworks CSP and COP.
///
/// ```
/// let instance = ludex_csp::xcsp3::read(r#"
///     <instance format="XCSP3" type="CSP">
///       <variables> <array id="x" size="[3]"> 1..3 </array> </variables>
///       <constraints> <allDifferent> x[] </allDifferent> </constraints>
///     </instance>"#)?;
/// assert_eq!(instance.network.variables()[2].name, "x[2]");
/// # Ok::<(), ludex_csp::CspError>(())
/// ```
///
/// # Errors
/// [`CspError::Syntax`] for what is no XCSP3, [`CspError::Unsupported`] for what we don't
/// have.
pub fn read(text: &str) -> Result<Instance, CspError> {
    let root = xml::parse(text)?;
    if root.name != "instance" {
        return Err(root.error(format!("the root element is `{}`, not `instance`", root.name)));
    }
    match root.attribute("type") {
        Some("CSP" | "COP") | None => {}
        Some(other) => return Err(root.unsupported(format!("the framework {other}"))),
    }
    let mut reader = Reader::default();
    for child in &root.children {
        match &*child.name {
            "variables" => reader.variables(child)?,
            "constraints" => reader.constraints(child)?,
            "objectives" => reader.objectives(child)?,
            "annotations" => {}
            other => return Err(child.unsupported(other)),
        }
    }
    Ok(Instance { network: reader.network, declared: reader.declared })
}

#[derive(Default)]
struct Reader {
    network: Network,
    declared: Vec<(String, Vec<Option<VarId>>)>,
    singles: FxHashMap<String, VarId>,
    arrays: FxHashMap<String, Array>,
    /// Elements by `id`, for `as`.
    known: FxHashMap<String, Node>,
    /// Tables by where their text is and their arity.
    tables: FxHashMap<(usize, usize), Arc<Table>>,
    /// Keeps the texts of `tables` where they are.
    table_texts: Vec<Arc<str>>,
}

struct Array {
    sizes: Vec<usize>,
    starts: Vec<i64>,
    cells: Vec<Option<VarId>>,
}

/// Arrays have up to this many cells.
const MAX_CELLS: usize = 10_000_000;

impl Reader {
    // ---- Variables ----

    fn variables(&mut self, node: &Node) -> Result<(), CspError> {
        for child in &node.children {
            let id = child.attribute("id").ok_or_else(|| child.error("a variable has no `id`"))?;
            if self.singles.contains_key(id) || self.arrays.contains_key(id) {
                return Err(child.error(format!("the name `{id}` is used twice")));
            }
            if let Some(kind) = child.attribute("type")
                && kind != "integer"
            {
                return Err(child.unsupported(format!("variables of type {kind}")));
            }
            match &*child.name {
                "var" => {
                    let domain = self.domain(child)?;
                    let x = self.network.int(id, domain);
                    self.singles.insert(id.to_string(), x);
                    self.declared.push((id.to_string(), vec![Some(x)]));
                }
                "array" => self.array(child, id)?,
                other => return Err(child.unsupported(other)),
            }
            self.known.insert(id.to_string(), child.clone());
        }
        Ok(())
    }

    /// The domain of a variable: its text, or that of the element it is like.
    fn domain(&self, node: &Node) -> Result<ValueSet, CspError> {
        let source = match node.attribute("as") {
            Some(other) => self
                .known
                .get(other)
                .ok_or_else(|| node.error(format!("there is no `{other}` to be like")))?,
            None => node,
        };
        let set = text::value_set(&source.text).map_err(|problem| node.error(problem))?;
        if set.is_empty() {
            let variable = node.attribute("id").unwrap_or_default().to_string();
            return Err(CspError::EmptyDomain { variable });
        }
        Ok(set)
    }

    fn array(&mut self, node: &Node, id: &str) -> Result<(), CspError> {
        let sizes = node.attribute("size").ok_or_else(|| node.error("an array has no `size`"))?;
        let sizes = brackets(sizes).map_err(|problem| node.error(problem))?;
        let sizes: Vec<usize> = sizes
            .iter()
            .map(|size| size.parse().ok().filter(|&size| size > 0))
            .collect::<Option<_>>()
            .ok_or_else(|| node.error(format!("`{id}` has a size that is no positive integer")))?;
        let starts = match node.attribute("startIndex") {
            Some(starts) => brackets(starts)
                .ok()
                .and_then(|s| {
                    s.iter().map(|start| start.parse().ok()).collect::<Option<Vec<i64>>>()
                })
                .filter(|starts| starts.len() == sizes.len())
                .ok_or_else(|| node.error(format!("`{id}` has a wrong `startIndex`")))?,
            None => vec![0; sizes.len()],
        };
        let n_cells = sizes.iter().try_fold(1_usize, |n, &size| n.checked_mul(size));
        let n_cells = n_cells
            .filter(|&n| n <= MAX_CELLS && !sizes.is_empty())
            .ok_or_else(|| node.error(format!("the array `{id}` is too large")))?;
        let source = match node.attribute("as") {
            Some(other) => self
                .known
                .get(other)
                .cloned()
                .ok_or_else(|| node.error(format!("there is no `{other}` to be like")))?,
            None => node.clone(),
        };
        let mut array = Array { sizes, starts, cells: vec![None; n_cells] };
        let mut domains: Vec<Option<Arc<ValueSet>>> = vec![None; n_cells];
        if source.child("domain").is_none() {
            let domain = Arc::new(self.domain(&source)?);
            domains.fill(Some(domain));
        }
        for part in source.children_named("domain") {
            let domain = Arc::new(self.domain(part)?);
            let which = part.attribute("for").ok_or_else(|| part.error("a domain has no `for`"))?;
            if which.trim() == "others" {
                domains.iter_mut().filter(|d| d.is_none()).for_each(|d| *d = Some(domain.clone()));
                continue;
            }
            for token in which.split_whitespace() {
                let own_name = token.split('[').next().unwrap_or_default();
                if Some(own_name) != source.attribute("id") {
                    return Err(part.error(format!("`{token}` is no cell of `{id}`")));
                }
                let cells = array.places(&token[own_name.len()..]);
                for cell in cells.map_err(|problem| part.error(problem))? {
                    domains[cell] = Some(Arc::clone(&domain));
                }
            }
        }
        for (cell, domain) in domains.into_iter().enumerate() {
            if let Some(domain) = domain {
                let name = format!("{id}{}", array.suffix(cell));
                array.cells[cell] = Some(self.network.int(name, (*domain).clone()));
            }
        }
        let printed = format!("{id}{}", "[]".repeat(array.sizes.len()));
        self.declared.push((printed, array.cells.clone()));
        self.arrays.insert(id.to_string(), array);
        Ok(())
    }

    /// The variables of a token: one, or several when it has open or ranged indexes.
    fn vars(&self, token: &str) -> Result<Vec<VarId>, Problem> {
        if let Some(&x) = self.singles.get(token) {
            return Ok(vec![x]);
        }
        let name = token.split('[').next().unwrap_or_default();
        let unknown = || format!("there is no variable `{token}`");
        let array =
            self.arrays.get(name).filter(|_| token.len() > name.len()).ok_or_else(unknown)?;
        let is_one = !token.contains("[]") && !token.contains("..");
        let mut vars = Vec::new();
        for place in array.places(&token[name.len()..])? {
            match array.cells[place] {
                Some(x) => vars.push(x),
                // Cells that don't exist are left out of ranges.
                None if is_one => return Err(unknown()),
                None => {}
            }
        }
        Ok(vars)
    }

    // ---- Pieces of constraints ----

    fn expr(&self, node: &Node, text: &str) -> Result<Expr, CspError> {
        self.expr_of(text).map_err(|problem| problem_at(node, problem))
    }

    fn expr_of(&self, text: &str) -> Result<Expr, Problem> {
        text::expression(text, &|name| match self.vars(name)?[..] {
            [x] => Ok(Expr::Var(x)),
            _ => Err(format!("`{name}` is not one variable")),
        })
    }

    /// A list of variables, numbers and expressions.
    fn list(&self, node: &Node) -> Result<Vec<Expr>, CspError> {
        self.list_of(&node.text).map_err(|problem| problem_at(node, problem))
    }

    fn list_of(&self, text: &str) -> Result<Vec<Expr>, Problem> {
        let mut list = Vec::new();
        for token in text::tokens(text) {
            let is_number = token.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+');
            if is_number {
                list.extend(text::integers(token)?.into_iter().map(Expr::from));
            } else if token.contains('(') {
                list.push(self.expr_of(token)?);
            } else {
                list.extend(self.vars(token)?.into_iter().map(Expr::Var));
            }
        }
        Ok(list)
    }

    fn child_list(&self, node: &Node, name: &str) -> Result<Vec<Expr>, CspError> {
        self.list(required(node, name)?)
    }

    /// The list of a constraint that may be written without an element for it.
    fn direct_list(&self, node: &Node) -> Result<Vec<Expr>, CspError> {
        self.list(node.child("list").unwrap_or(node))
    }

    fn child_integers(&self, node: &Node, name: &str) -> Result<Vec<Value>, CspError> {
        let child = required(node, name)?;
        text::integers(&child.text).map_err(|problem| child.error(problem))
    }

    /// Only variables.
    fn scope(&self, node: &Node) -> Result<Vec<VarId>, CspError> {
        let as_var = |e: Expr| match e {
            Expr::Var(x) => Ok(x),
            _ => Err(node.unsupported("something other than variables in a scope")),
        };
        self.list(node)?.into_iter().map(as_var).collect()
    }

    /// The rows of a matrix: tuples, or an array of two dimensions.
    fn matrix(&self, node: &Node) -> Result<Vec<Vec<Expr>>, CspError> {
        let text = node.text.trim();
        if text.starts_with('(') {
            let rows = text::tuples(text).map_err(|problem| node.error(problem))?;
            let row = |row: Vec<&str>| {
                let cells: Result<Vec<Vec<Expr>>, Problem> =
                    row.into_iter().map(|cell| self.list_of(cell)).collect();
                cells.map(|cells| cells.concat()).map_err(|problem| problem_at(node, problem))
            };
            return rows.into_iter().map(row).collect();
        }
        let name = text.split('[').next().unwrap_or_default();
        let array = self.arrays.get(name).filter(|array| array.sizes.len() == 2);
        let array = array.ok_or_else(|| node.error(format!("`{text}` is no matrix")))?;
        let places = array.indexes(&text[name.len()..]).map_err(|problem| node.error(problem))?;
        let [rows, columns] = &places[..] else {
            return Err(node.error(format!("`{text}` is no matrix")));
        };
        let cell = |row: usize, column: usize| {
            let x = array.cells[row * array.sizes[1] + column];
            x.map(Expr::Var).ok_or_else(|| node.error(format!("`{text}` has missing cells")))
        };
        rows.clone().map(|row| columns.clone().map(|column| cell(row, column)).collect()).collect()
    }

    fn condition(&self, node: &Node) -> Result<Condition, CspError> {
        let text = node.text.trim();
        let inside = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
        let (op, right) = inside
            .and_then(|inside| inside.split_once(','))
            .ok_or_else(|| node.error(format!("`{text}` is no condition")))?;
        let right = right.trim();
        let op = match op.trim() {
            "in" | "notin" => {
                let set = right.trim_start_matches('{').trim_end_matches('}').replace(',', " ");
                let set = text::value_set(&set).map_err(|problem| node.error(problem))?;
                if op.trim() == "notin" {
                    return Err(node.unsupported("a condition with `notin`"));
                }
                return Ok(Condition::In(set));
            }
            op => comparison(op).ok_or_else(|| node.unsupported(op))?,
        };
        Ok(Condition::Compare(op, self.expr(node, right)?))
    }

    fn child_condition(&self, node: &Node) -> Result<Condition, CspError> {
        self.condition(required(node, "condition")?)
    }

    // ---- Constraints ----

    fn constraints(&mut self, node: &Node) -> Result<(), CspError> {
        node.children.iter().try_for_each(|child| self.constraint(child))
    }

    fn constraint(&mut self, node: &Node) -> Result<(), CspError> {
        if let Some(id) = node.attribute("id") {
            self.known.insert(id.to_string(), node.clone());
        }
        if let Some(other) = node.attribute("as") {
            let mut like = self
                .known
                .get(other)
                .cloned()
                .ok_or_else(|| node.error(format!("there is no `{other}` to be like")))?;
            // Given parts replace those of the other.
            for child in &node.children {
                like.children.retain(|own| own.name != child.name);
            }
            like.children.extend(node.children.iter().cloned());
            like.attributes.retain(|(key, _)| key != "id" && key != "as");
            return self.constraint(&like);
        }
        let add = |reader: &mut Reader, constraint| reader.network.add(constraint);
        match &*node.name {
            "block" => self.constraints(node)?,
            "group" => self.group(node)?,
            "slide" => self.slide(node)?,
            "intension" => {
                let source = node.child("function").unwrap_or(node);
                let e = self.expr(source, &source.text)?;
                add(self, Constraint::Intension(e));
            }
            "extension" => self.extension(node)?,
            "regular" => self.regular(node)?,
            "mdd" => {
                let list = self.child_list(node, "list")?;
                let transitions = self.transitions(node)?;
                let arcs = transitions.iter().map(|(a, v, b)| (a.as_str(), *v, b.as_str()));
                let mdd = Mdd::from_transitions(list.len(), arcs)
                    .ok_or_else(|| node.error("the diagram is not layered like its list"))?;
                add(self, Constraint::Mdd { list, mdd: Arc::new(mdd) });
            }
            "allDifferent" => self.all_different(node)?,
            "allEqual" => {
                let list = self.direct_list(node)?;
                add(self, Constraint::Intension(Expr::AllEqual(list)));
            }
            "ordered" => self.ordered(node)?,
            "lex" => self.lex(node)?,
            "precedence" => self.precedence(node)?,
            "sum" => {
                let sum = self.weighted_sum(node)?;
                let condition = self.child_condition(node)?;
                add(self, Constraint::Intension(condition.on(sum)));
            }
            "count" => self.count(node)?,
            "nValues" => {
                let list = self.child_list(node, "list")?;
                let except = self.except(node)?;
                let condition = self.child_condition(node)?;
                add(self, Constraint::NValues { list, except, condition });
            }
            "cardinality" => self.cardinality(node)?,
            "minimum" | "maximum" => {
                let list = self.child_list(node, "list")?;
                if list.is_empty() || node.child("index").is_some() {
                    return Err(node.unsupported(format!("`{}` with an index", node.name)));
                }
                let condition = self.child_condition(node)?;
                let extremum =
                    if node.name == "minimum" { Expr::Min(list) } else { Expr::Max(list) };
                add(self, Constraint::Intension(condition.on(extremum)));
            }
            "minimumArg" | "maximumArg" => self.extremum_place(node)?,
            "element" => self.element(node)?,
            "channel" => self.channel(node)?,
            "noOverlap" => self.no_overlap(node)?,
            "cumulative" => self.cumulative(node)?,
            "binPacking" => self.bin_packing(node)?,
            "knapsack" => self.knapsack(node)?,
            "circuit" => {
                let start = start_index(node.child("list").unwrap_or(node))?;
                let list = self.direct_list(node)?;
                let size = match node.child("size") {
                    Some(size) => Some(Condition::equals(self.expr(size, &size.text)?)),
                    None => None,
                };
                add(self, Constraint::Circuit { list, start, size });
            }
            "instantiation" => {
                let scope = self.scope(required(node, "list")?)?;
                let values = self.child_integers(node, "values")?;
                if scope.len() != values.len() {
                    return Err(node.error("the list and its values differ in number"));
                }
                for (x, value) in scope.into_iter().zip(values) {
                    add(self, Constraint::Intension(x.equals(value)));
                }
            }
            "clause" => {
                let list = self.direct_list(node)?;
                add(self, Constraint::Intension(Expr::Or(list)));
            }
            other => return Err(node.unsupported(other)),
        }
        Ok(())
    }

    fn group(&mut self, node: &Node) -> Result<(), CspError> {
        let template = node.children.iter().find(|child| child.name != "args");
        let template = template.ok_or_else(|| node.error("a group has no template"))?;
        for args in node.children_named("args") {
            let tokens = self.arguments(args)?;
            let filled = fill(template, &tokens).map_err(|problem| args.error(problem))?;
            self.constraint(&filled)?;
        }
        Ok(())
    }

    /// The arguments of a template; a token for several variables is several arguments.
    fn arguments(&self, node: &Node) -> Result<Vec<String>, CspError> {
        let mut arguments = Vec::new();
        for token in text::tokens(&node.text) {
            let is_number = token.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+');
            if !is_number && !token.contains('(') && (token.contains("[]") || token.contains(".."))
            {
                let vars = self.vars(token).map_err(|problem| node.error(problem))?;
                arguments.extend(vars.iter().map(|&x| self.network.variable(x).name.clone()));
            } else if is_number && (token.contains("..") || token.contains('x')) {
                let values = text::integers(token).map_err(|problem| node.error(problem))?;
                arguments.extend(values.iter().map(Value::to_string));
            } else {
                arguments.push(token.to_string());
            }
        }
        Ok(arguments)
    }

    fn slide(&mut self, node: &Node) -> Result<(), CspError> {
        let lists: Vec<&Node> = node.children_named("list").collect();
        let [list] = lists[..] else {
            return Err(node.unsupported("`slide` over several lists"));
        };
        let template = node.children.iter().find(|child| child.name != "list");
        let template = template.ok_or_else(|| node.error("a slide has no template"))?;
        let attribute = |name: &str, default: usize| -> Result<usize, CspError> {
            let Some(text) = list.attribute(name) else {
                return Ok(default);
            };
            let n: Option<usize> = text.parse().ok().filter(|&n| n > 0);
            n.ok_or_else(|| list.error(format!("`{name}` is no positive integer")))
        };
        let offset = attribute("offset", 1)?;
        let width = attribute("collect", n_parameters(template))?;
        if width == 0 {
            return Err(node.error("the template of a slide has no parameters"));
        }
        let tokens = self.arguments(list)?;
        let is_circular = node.attribute("circular") == Some("true");
        let mut at = 0;
        while at < tokens.len() && (is_circular || at + width <= tokens.len()) {
            let window: Vec<String> =
                (at..at + width).map(|i| tokens[i % tokens.len()].clone()).collect();
            let filled = fill(template, &window).map_err(|problem| node.error(problem))?;
            self.constraint(&filled)?;
            at += offset;
        }
        Ok(())
    }

    fn extension(&mut self, node: &Node) -> Result<(), CspError> {
        let scope = self.scope(required(node, "list")?)?;
        let (tuples, is_positive) = match (node.child("supports"), node.child("conflicts")) {
            (Some(supports), None) => (supports, true),
            (None, Some(conflicts)) => (conflicts, false),
            _ => return Err(node.error("a table has either `supports` or `conflicts`")),
        };
        if scope.is_empty() {
            return Err(node.error("a table over no variables"));
        }
        let mut sorted = scope.clone();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(CspError::RepeatedVariable {
                constraint: "extension".into(),
                variable: self.network.variable(pair[0]).name.clone(),
            });
        }
        if tuples.text.contains(['{', '%']) || (scope.len() > 1 && tuples.text.contains("..")) {
            return Err(tuples.unsupported("a table with sets or ranges in its tuples"));
        }
        let key = (tuples.text.as_ptr() as usize, scope.len());
        let table = match self.tables.get(&key) {
            Some(table) => Arc::clone(table),
            None => {
                let table = text::table(&tuples.text, scope.len())
                    .map_err(|problem| problem_at(tuples, problem))?;
                let table = Arc::new(table);
                self.tables.insert(key, Arc::clone(&table));
                self.table_texts.push(Arc::clone(&tuples.text));
                table
            }
        };
        self.network.add(Constraint::Table { scope, table, is_positive });
        Ok(())
    }

    fn transitions(&self, node: &Node) -> Result<Vec<(String, Value, String)>, CspError> {
        let source = required(node, "transitions")?;
        let tuples = text::tuples(&source.text).map_err(|problem| source.error(problem))?;
        let transition = |parts: Vec<&str>| match parts[..] {
            [from, value, to] => Ok((from.to_string(), text::integer(value)?, to.to_string())),
            _ => Err("a transition has three parts".to_string()),
        };
        let all: Result<Vec<_>, Problem> = tuples.into_iter().map(transition).collect();
        all.map_err(|problem| source.error(problem))
    }

    fn regular(&mut self, node: &Node) -> Result<(), CspError> {
        let list = self.child_list(node, "list")?;
        let mut numbers: FxHashMap<String, usize> = FxHashMap::default();
        let mut number = |name: &str| {
            let next = numbers.len();
            *numbers.entry(name.to_string()).or_insert(next)
        };
        let start = number(required(node, "start")?.text.trim());
        let accepting: Vec<usize> =
            required(node, "final")?.text.split_whitespace().map(&mut number).collect();
        let transitions: Vec<(usize, Value, usize)> = self
            .transitions(node)?
            .iter()
            .map(|(from, value, to)| (number(from), *value, number(to)))
            .collect();
        let n_states = numbers.len();
        let automaton = Arc::new(Automaton { n_states, start, accepting, transitions });
        self.network.add(Constraint::Regular { list, automaton });
        Ok(())
    }

    fn except(&self, node: &Node) -> Result<ValueSet, CspError> {
        match node.child("except") {
            Some(except) => text::value_set(&except.text).map_err(|problem| except.error(problem)),
            None => Ok(ValueSet::default()),
        }
    }

    fn all_different(&mut self, node: &Node) -> Result<(), CspError> {
        let except = self.except(node)?;
        if let Some(matrix) = node.child("matrix") {
            let rows = self.matrix(matrix)?;
            for list in rows.iter().cloned().chain(transposed(&rows)) {
                self.network.add(Constraint::AllDifferent { list, except: except.clone() });
            }
            return Ok(());
        }
        let lists: Vec<&Node> = node.children_named("list").collect();
        if lists.len() > 1 {
            if !except.is_empty() {
                return Err(node.unsupported("`allDifferent` of lists with `except`"));
            }
            let lists = lists.iter().map(|list| self.list(list)).collect::<Result<_, _>>()?;
            self.network.add(Constraint::AllDifferentLists { lists });
            return Ok(());
        }
        let list = self.direct_list(node)?;
        self.network.add(Constraint::AllDifferent { list, except });
        Ok(())
    }

    fn ordered(&mut self, node: &Node) -> Result<(), CspError> {
        let list = self.child_list(node, "list")?;
        let op = operator(node)?;
        let lengths = match node.child("lengths") {
            Some(lengths) => self.list(lengths)?,
            None => vec![Expr::from(0); list.len().saturating_sub(1)],
        };
        if lengths.len() + 1 < list.len() {
            return Err(node.error("there are too few lengths"));
        }
        for (pair, length) in list.windows(2).zip(lengths) {
            let left = Expr::Sum(vec![pair[0].clone(), length]);
            let e = Expr::Compare(op, Box::new(left), Box::new(pair[1].clone()));
            self.network.add(Constraint::Intension(e));
        }
        Ok(())
    }

    fn lex(&mut self, node: &Node) -> Result<(), CspError> {
        let op = operator(node)?;
        let mut orders: Vec<Vec<Vec<Expr>>> = Vec::new();
        if let Some(matrix) = node.child("matrix") {
            let rows = self.matrix(matrix)?;
            orders.push(transposed(&rows).collect());
            orders.push(rows);
        } else {
            let lists = node.children_named("list").map(|list| self.list(list));
            orders.push(lists.collect::<Result<_, _>>()?);
        }
        for mut lists in orders {
            let is_strict = matches!(op, Comparison::Lt | Comparison::Gt);
            match op {
                Comparison::Lt | Comparison::Le => {}
                Comparison::Gt | Comparison::Ge => lists.reverse(),
                _ => return Err(node.error("`lex` orders by lt, le, ge or gt")),
            }
            self.network.add(Constraint::Lex { lists, is_strict });
        }
        Ok(())
    }

    /// Each value first occurs after the one before it in the list, if it occurs: a word of
    /// an automaton that counts how many of the values were seen.
    fn precedence(&mut self, node: &Node) -> Result<(), CspError> {
        let list = self.direct_list(node)?;
        let values = match node.child("values") {
            Some(_) => self.child_integers(node, "values")?,
            None => {
                let mut all: Vec<Value> = Vec::new();
                for e in &list {
                    if let Expr::Var(x) = e {
                        all.extend(self.network.variable(*x).domain.iter().take(1 << 16));
                    }
                }
                all.sort_unstable();
                all.dedup();
                all
            }
        };
        let covered = required_flag(node.child("values"), "covered");
        let mut letters: FxHashSet<Value> = values.iter().copied().collect();
        for e in &list {
            let bounds = e.bounds(&|x| {
                let domain = &self.network.variable(x).domain;
                (domain.min().unwrap_or(0).into(), domain.max().unwrap_or(0).into())
            });
            if bounds.1.saturating_sub(bounds.0) > 1 << 16 {
                return Err(node.unsupported("`precedence` over very large domains"));
            }
            letters.extend((bounds.0..=bounds.1).filter_map(|v| Value::try_from(v).ok()));
        }
        let mut transitions = Vec::new();
        let mut letters: Vec<Value> = letters.into_iter().collect();
        letters.sort_unstable();
        for n_seen in 0..=values.len() {
            for &letter in &letters {
                match values.iter().position(|&value| value == letter) {
                    Some(at) if at > n_seen => {}
                    Some(at) if at == n_seen => transitions.push((n_seen, letter, n_seen + 1)),
                    _ => transitions.push((n_seen, letter, n_seen)),
                }
            }
        }
        let n_states = values.len() + 1;
        let accepting = if covered { vec![values.len()] } else { (0..n_states).collect() };
        let automaton = Arc::new(Automaton { n_states, start: 0, accepting, transitions });
        self.network.add(Constraint::Regular { list, automaton });
        Ok(())
    }

    /// The list times its coefficients, if it has some.
    fn weighted_sum(&self, node: &Node) -> Result<Expr, CspError> {
        let list = self.direct_list(node)?;
        let Some(coefficients) = node.child("coeffs") else {
            return Ok(Expr::Sum(list));
        };
        let factors = self.list(coefficients)?;
        if factors.len() != list.len() {
            return Err(node.error("the list and its coefficients differ in number"));
        }
        let product = |(a, b): (Expr, Expr)| Expr::Binary(Operation::Mul, Box::new(a), Box::new(b));
        Ok(Expr::Sum(factors.into_iter().zip(list).map(product).collect()))
    }

    fn count(&mut self, node: &Node) -> Result<(), CspError> {
        let list = self.child_list(node, "list")?;
        let values = self.child_list(node, "values")?;
        let condition = self.child_condition(node)?;
        let constants: Option<Vec<Value>> = values
            .iter()
            .map(|e| match e {
                Expr::Constant(value) => Value::try_from(*value).ok(),
                _ => None,
            })
            .collect();
        let constraint = match constants {
            Some(constants) => Constraint::Count { list, values: constants.into(), condition },
            // Values that are variables are compared one by one.
            None => {
                let is_one =
                    |e: &Expr| Expr::Or(values.iter().map(|v| e.clone().equals(v)).collect());
                Constraint::Intension(condition.on(Expr::Sum(list.iter().map(is_one).collect())))
            }
        };
        self.network.add(constraint);
        Ok(())
    }

    fn cardinality(&mut self, node: &Node) -> Result<(), CspError> {
        let list = self.child_list(node, "list")?;
        let values_node = required(node, "values")?;
        let values = match text::integers(&values_node.text) {
            Ok(values) => values,
            Err(problem)
                if values_node.text.contains('[') || problem.contains("not an integer") =>
            {
                return Err(values_node.unsupported("`cardinality` with variable values"));
            }
            Err(problem) => return Err(values_node.error(problem)),
        };
        let occurs = required(node, "occurs")?;
        let mut occurrences = Vec::new();
        for token in text::tokens(&occurs.text) {
            let is_number = token.starts_with(|c: char| c.is_ascii_digit() || c == '-');
            if is_number && token.contains("..") {
                let set = text::value_set(token).map_err(|problem| occurs.error(problem))?;
                occurrences.push(Condition::In(set));
            } else {
                let terms = self.list_of(token).map_err(|problem| problem_at(occurs, problem))?;
                occurrences.extend(terms.into_iter().map(Condition::equals));
            }
        }
        let is_closed = required_flag(Some(values_node), "closed");
        self.network.add(Constraint::Cardinality { list, values, occurrences, is_closed });
        Ok(())
    }

    fn extremum_place(&mut self, node: &Node) -> Result<(), CspError> {
        let list = self.child_list(node, "list")?;
        if list.is_empty() {
            return Err(node.error("an extremum of nothing"));
        }
        let is_maximum = node.name == "maximumArg";
        let start = start_index(required(node, "list")?)?;
        let end = start + list.len() as Value - 1;
        let place = match self.child_condition(node)? {
            Condition::Compare(Comparison::Eq, place) => place,
            condition => {
                // The place is a variable of ours, a function of the list by its rank.
                let rank = node.attribute("rank").unwrap_or("any");
                if rank == "any" {
                    return Err(node.unsupported("a condition other than `eq` on any place"));
                }
                let name = format!("_place{}", self.network.variables().len());
                let place = self.network.int(name, start..=end);
                self.network.add(Constraint::Intension(condition.on(Expr::Var(place))));
                Expr::Var(place)
            }
        };
        let extremum = if is_maximum { Expr::Max(list.clone()) } else { Expr::Min(list.clone()) };
        self.network.add(Constraint::Element {
            list: list.clone(),
            start,
            index: place.clone(),
            condition: Condition::equals(extremum.clone()),
        });
        let rank = node.attribute("rank").unwrap_or("any");
        if rank == "any" {
            return Ok(());
        }
        for (at, e) in list.into_iter().enumerate() {
            let number = Expr::from(start + at as Value);
            let is_passed = match rank {
                "first" => number.less_than(&place),
                "last" => number.greater_than(&place),
                other => return Err(node.unsupported(format!("the rank {other}"))),
            };
            self.network.add(Constraint::Intension(is_passed.implies(e.differs(&extremum))));
        }
        Ok(())
    }

    fn element(&mut self, node: &Node) -> Result<(), CspError> {
        let condition = match (node.child("value"), node.child("condition")) {
            (Some(value), None) => Condition::equals(self.expr(value, &value.text)?),
            (None, Some(condition)) => self.condition(condition)?,
            _ => return Err(node.error("`element` has either a value or a condition")),
        };
        if let Some(matrix_node) = node.child("matrix") {
            let rows = self.matrix(matrix_node)?;
            let index_node = required(node, "index")?;
            let [i, j]: [Expr; 2] = self
                .list(index_node)?
                .try_into()
                .map_err(|_| index_node.error("a matrix has two indexes"))?;
            let n_columns = rows.first().map_or(0, Vec::len);
            if n_columns == 0 || rows.iter().any(|row| row.len() != n_columns) {
                return Err(matrix_node.error("the rows of the matrix differ in length"));
            }
            let (start_row, start_column) = match matrix_node.attribute("startRowIndex") {
                None if matrix_node.attribute("startColIndex").is_none() => (0, 0),
                _ => {
                    return Err(matrix_node.unsupported("`element` with start indexes of a matrix"));
                }
            };
            let in_range = |e: &Expr, start: Value, n: usize| {
                e.clone().at_least(start) & e.clone().at_most(start + n as Value - 1)
            };
            self.network.add(Constraint::Intension(in_range(&i, start_row, rows.len())));
            self.network.add(Constraint::Intension(in_range(&j, start_column, n_columns)));
            let index = i * n_columns as Value + j;
            let list = rows.concat();
            self.network.add(Constraint::Element { list, start: 0, index, condition });
            return Ok(());
        }
        let list_node = required(node, "list")?;
        let list = self.list(list_node)?;
        match node.child("index") {
            Some(index_node) => {
                if index_node.attribute("rank").is_some_and(|rank| rank != "any") {
                    return Err(index_node.unsupported("`element` with a rank"));
                }
                let index = self.expr(index_node, &index_node.text)?;
                let start = start_index(list_node)?;
                self.network.add(Constraint::Element { list, start, index, condition });
            }
            None => {
                let some = list.into_iter().map(|e| condition.on(e)).collect();
                self.network.add(Constraint::Intension(Expr::Or(some)));
            }
        }
        Ok(())
    }

    fn channel(&mut self, node: &Node) -> Result<(), CspError> {
        let lists: Vec<&Node> = node.children_named("list").collect();
        if let Some(value) = node.child("value") {
            let list_node = required(node, "list")?;
            let start = start_index(list_node)?;
            let list = self.list(list_node)?;
            let value = self.expr(value, &value.text)?;
            let last = start + list.len() as Value - 1;
            self.network.add(Constraint::Intension(
                value.clone().at_least(start) & value.clone().at_most(last),
            ));
            for (at, e) in list.into_iter().enumerate() {
                let is_here = value.clone().equals(start + at as Value);
                self.network.add(Constraint::Intension(e.equals(is_here)));
            }
            return Ok(());
        }
        let (first, second) = match lists[..] {
            [] => (node, node),
            [list] => (list, list),
            [first, second] => (first, second),
            _ => return Err(node.unsupported("`channel` of more than two lists")),
        };
        let (mut start_first, mut start_second) = (start_index(first)?, start_index(second)?);
        let (mut first, mut second) = (self.list(first)?, self.list(second)?);
        if first.len() > second.len() {
            std::mem::swap(&mut first, &mut second);
            std::mem::swap(&mut start_first, &mut start_second);
        }
        self.network.add(Constraint::Channel { first, start_first, second, start_second });
        Ok(())
    }

    fn no_overlap(&mut self, node: &Node) -> Result<(), CspError> {
        let boxes = |name: &str| -> Result<Vec<Vec<Expr>>, CspError> {
            let child = required(node, name)?;
            if child.text.trim().starts_with('(') {
                return self.matrix(child);
            }
            Ok(self.list(child)?.into_iter().map(|e| vec![e]).collect())
        };
        let (origins, lengths) = (boxes("origins")?, boxes("lengths")?);
        let ignores_zeros = node.attribute("zeroIgnored") != Some("false");
        self.network.add(Constraint::NoOverlap { origins, lengths, ignores_zeros });
        Ok(())
    }

    fn cumulative(&mut self, node: &Node) -> Result<(), CspError> {
        let origins = self.child_list(node, "origins")?;
        let lengths = self.child_list(node, "lengths")?;
        let heights = self.child_list(node, "heights")?;
        if origins.len() != lengths.len() || origins.len() != heights.len() {
            return Err(node.error("origins, lengths and heights differ in number"));
        }
        if node.child("ends").is_some() {
            let ends = self.child_list(node, "ends")?;
            for ((origin, length), end) in origins.iter().zip(&lengths).zip(ends) {
                let e = (origin.clone() + length).equals(end);
                self.network.add(Constraint::Intension(e));
            }
        }
        let limit = match self.child_condition(node)? {
            Condition::Compare(Comparison::Le, limit) => limit,
            Condition::Compare(Comparison::Lt, limit) => limit - 1,
            _ => return Err(node.unsupported("`cumulative` with a condition other than le or lt")),
        };
        self.network.add(Constraint::Cumulative { origins, lengths, heights, limit });
        Ok(())
    }

    fn bin_packing(&mut self, node: &Node) -> Result<(), CspError> {
        let list = self.child_list(node, "list")?;
        let sizes = self.child_integers(node, "sizes")?;
        if list.len() != sizes.len() {
            return Err(node.error("the list and the sizes differ in number"));
        }
        let load = |bin: Value| {
            let part = |(e, &size): (&Expr, &Value)| e.clone().equals(bin) * size;
            Expr::Sum(list.iter().zip(&sizes).map(part).collect())
        };
        let mut total = Vec::new();
        let numbered = match (node.child("limits"), node.child("loads")) {
            (Some(child), None) | (None, Some(child)) => Some(child),
            (None, None) => None,
            _ => return Err(node.error("`binPacking` has either limits or loads")),
        };
        if let Some(child) = numbered {
            let terms = self.list(child)?;
            let start = start_index(child)?;
            let last = start + terms.len() as Value - 1;
            for e in &list {
                let is_inside = e.clone().at_least(start) & e.clone().at_most(last);
                self.network.add(Constraint::Intension(is_inside));
            }
            for (at, term) in terms.into_iter().enumerate() {
                let load = load(start + at as Value);
                let e = if child.name == "loads" {
                    total.push(term.clone());
                    load.equals(term)
                } else {
                    load.at_most(term)
                };
                self.network.add(Constraint::Intension(e));
            }
        } else {
            let condition = self.child_condition(node)?;
            let mut bins: Vec<Value> = Vec::new();
            for e in &list {
                let Expr::Var(x) = e else {
                    return Err(node.unsupported("`binPacking` of something other than variables"));
                };
                let domain = &self.network.variable(*x).domain;
                if domain.len() > 1 << 16 {
                    return Err(node.unsupported("`binPacking` with very many bins"));
                }
                bins.extend(domain.iter());
            }
            bins.sort_unstable();
            bins.dedup();
            for bin in bins {
                self.network.add(Constraint::Intension(condition.on(load(bin))));
            }
        }
        if !total.is_empty() {
            let all: i64 = sizes.iter().map(|&size| i64::from(size)).sum();
            let e = Expr::Sum(total).equals(Expr::Constant(all));
            self.network.add(Constraint::Intension(e));
        }
        Ok(())
    }

    fn knapsack(&mut self, node: &Node) -> Result<(), CspError> {
        let list = self.child_list(node, "list")?;
        let conditions: Vec<&Node> = node.children_named("condition").collect();
        let mut conditions = conditions.into_iter();
        for name in ["weights", "profits"] {
            let factors = self.child_integers(node, name)?;
            if factors.len() != list.len() {
                return Err(node.error(format!("the list and the {name} differ in number")));
            }
            let condition = match (name, node.child("limit")) {
                ("weights", Some(limit)) => Condition::at_most(self.expr(limit, &limit.text)?),
                _ => {
                    let next = conditions.next();
                    self.condition(next.ok_or_else(|| node.error("a condition is missing"))?)?
                }
            };
            let products = list.iter().zip(factors).map(|(e, factor)| e.clone() * factor);
            let sum = Expr::Sum(products.collect());
            self.network.add(Constraint::Intension(condition.on(sum)));
        }
        Ok(())
    }

    // ---- Objectives ----

    fn objectives(&mut self, node: &Node) -> Result<(), CspError> {
        let [objective] = &node.children[..] else {
            return match node.children.is_empty() {
                true => Ok(()),
                false => Err(node.unsupported("several objectives")),
            };
        };
        let is_minimized = match &*objective.name {
            "minimize" => true,
            "maximize" => false,
            other => return Err(objective.unsupported(other)),
        };
        let expr = match objective.attribute("type").unwrap_or("expression") {
            "expression" => self.expr(objective, &objective.text)?,
            "sum" => self.weighted_sum(objective)?,
            "minimum" => Expr::Min(self.weighted_list(objective)?),
            "maximum" => Expr::Max(self.weighted_list(objective)?),
            "product" => self
                .weighted_list(objective)?
                .into_iter()
                .reduce(|a, b| a * b)
                .ok_or_else(|| objective.error("a product of nothing"))?,
            "nValues" => {
                let list = self.weighted_list(objective)?;
                let most = Value::try_from(list.len()).unwrap_or(Value::MAX);
                let n = self.network.int("_values", 0..=most);
                let condition = Condition::equals(n);
                self.network.add(Constraint::NValues {
                    list,
                    except: ValueSet::default(),
                    condition,
                });
                Expr::Var(n)
            }
            other => return Err(objective.unsupported(format!("an objective of type {other}"))),
        };
        self.network.set_objective(Some(Objective { expr, is_minimized }));
        Ok(())
    }

    fn weighted_list(&self, node: &Node) -> Result<Vec<Expr>, CspError> {
        match self.weighted_sum(node)? {
            Expr::Sum(list) if !list.is_empty() => Ok(list),
            _ => Err(node.error("an objective over nothing")),
        }
    }
}

impl Array {
    /// The indexes meant by `[..]` in each dimension, counted from 0.
    fn indexes(&self, suffix: &str) -> Result<Vec<std::ops::Range<usize>>, Problem> {
        let parts = brackets(suffix)?;
        if parts.len() != self.sizes.len() {
            return Err(format!(
                "`{suffix}` has {} indexes, not {}",
                parts.len(),
                self.sizes.len()
            ));
        }
        let outside = || format!("an index of `{suffix}` is outside the array");
        let number = |text: &str, dimension: usize| -> Result<usize, Problem> {
            let index: i64 = text.trim().parse().map_err(|_| format!("`{text}` is no index"))?;
            usize::try_from(index - self.starts[dimension])
                .ok()
                .filter(|&index| index < self.sizes[dimension])
                .ok_or_else(outside)
        };
        let mut ranges = Vec::new();
        for (dimension, part) in parts.iter().enumerate() {
            ranges.push(if part.trim().is_empty() {
                0..self.sizes[dimension]
            } else if let Some((lo, hi)) = part.split_once("..") {
                let (lo, hi) = (number(lo, dimension)?, number(hi, dimension)?);
                lo..hi + 1
            } else {
                let index = number(part, dimension)?;
                index..index + 1
            });
        }
        Ok(ranges)
    }

    /// The places of the cells meant by `[..]…`, in order.
    fn places(&self, suffix: &str) -> Result<Vec<usize>, Problem> {
        let mut places = vec![0];
        for (range, size) in self.indexes(suffix)?.into_iter().zip(&self.sizes) {
            places = places
                .into_iter()
                .flat_map(|place| range.clone().map(move |index| place * size + index))
                .collect();
        }
        Ok(places)
    }

    /// How a cell is written after the name of the array.
    fn suffix(&self, mut cell: usize) -> String {
        let mut indexes = Vec::new();
        for (size, start) in self.sizes.iter().zip(&self.starts).rev() {
            indexes.push(format!("[{}]", (cell % size) as i64 + start));
            cell /= size;
        }
        indexes.reverse();
        indexes.concat()
    }
}

/// The insides of `[a][b]…`.
fn brackets(text: &str) -> Result<Vec<&str>, Problem> {
    let mut parts = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let inside = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let (part, after) = inside.ok_or_else(|| format!("`{text}` is no list of indexes"))?;
        parts.push(part);
        rest = after.trim_start();
    }
    Ok(parts)
}

fn required<'a>(node: &'a Node, name: &str) -> Result<&'a Node, CspError> {
    node.child(name).ok_or_else(|| node.error(format!("`{}` has no `{name}`", node.name)))
}

fn required_flag(node: Option<&Node>, name: &str) -> bool {
    node.is_some_and(|node| node.attribute(name) == Some("true"))
}

fn start_index(node: &Node) -> Result<Value, CspError> {
    match node.attribute("startIndex") {
        Some(start) => text::integer(start).map_err(|problem| node.error(problem)),
        None => Ok(0),
    }
}

fn comparison(name: &str) -> Option<Comparison> {
    Some(match name {
        "lt" => Comparison::Lt,
        "le" => Comparison::Le,
        "eq" => Comparison::Eq,
        "ne" => Comparison::Ne,
        "ge" => Comparison::Ge,
        "gt" => Comparison::Gt,
        _ => return None,
    })
}

fn operator(node: &Node) -> Result<Comparison, CspError> {
    let source = required(node, "operator")?;
    let name = source.text.trim();
    comparison(name).ok_or_else(|| source.error(format!("`{name}` is no comparison")))
}

/// An unknown operator is something we don't have, everything else a mistake.
fn problem_at(node: &Node, problem: Problem) -> CspError {
    let unsupported = problem.strip_suffix(" is not supported");
    match unsupported.and_then(|text| text.strip_prefix("the operator ")) {
        Some(operator) => node.unsupported(operator.trim_matches('`')),
        None => node.error(problem),
    }
}

fn transposed(rows: &[Vec<Expr>]) -> impl Iterator<Item = Vec<Expr>> {
    let n_columns = rows.first().map_or(0, Vec::len);
    (0..n_columns).map(|j| rows.iter().filter_map(|row| row.get(j).cloned()).collect())
}

/// The template with `%0`, `%1`, … and `%...` replaced by the arguments.
fn fill(template: &Node, args: &[String]) -> Result<Node, Problem> {
    let n_named = n_parameters(template);
    fill_node(template, args, n_named)
}

fn fill_node(template: &Node, args: &[String], n_named: usize) -> Result<Node, Problem> {
    let text = if template.text.contains('%') {
        fill_text(&template.text, args, n_named)?.into()
    } else {
        Arc::clone(&template.text)
    };
    let children: Result<Vec<Node>, Problem> =
        template.children.iter().map(|child| fill_node(child, args, n_named)).collect();
    Ok(Node {
        name: template.name.clone(),
        attributes: template.attributes.iter().filter(|(key, _)| key != "id").cloned().collect(),
        children: children?,
        text,
        line: template.line,
    })
}

fn fill_text(text: &str, args: &[String], n_named: usize) -> Result<String, Problem> {
    let mut filled = String::with_capacity(text.len() + 16);
    let mut parts = text.split('%');
    filled.push_str(parts.next().unwrap_or_default());
    for part in parts {
        if let Some(rest) = part.strip_prefix("...") {
            filled.push_str(&args.get(n_named..).unwrap_or_default().join(" "));
            filled.push_str(rest);
            continue;
        }
        let n_digits = part.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = part.split_at(n_digits);
        let number: usize = number.parse().map_err(|_| "a `%` without a number".to_string())?;
        let arg =
            args.get(number).ok_or_else(|| format!("there is no argument for `%{number}`"))?;
        filled.push_str(arg);
        filled.push_str(rest);
    }
    Ok(filled)
}

/// How many numbered parameters a template has: one more than the greatest number.
fn n_parameters(node: &Node) -> usize {
    let mut n = 0;
    if node.text.contains('%') {
        for part in node.text.split('%').skip(1) {
            let n_digits = part.bytes().take_while(u8::is_ascii_digit).count();
            if let Ok(number) = part[..n_digits].parse::<usize>() {
                n = n.max(number.saturating_add(1));
            }
        }
    }
    node.children.iter().map(n_parameters).fold(n, usize::max)
}
