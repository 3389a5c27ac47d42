//! Reads XCSP3 text into a network.
//!
//! Groups and slides are templates: the reader inserts their arguments as text and reads each
//! result as a constraint of its own. Tables are read once per template.

mod constraints;
mod counting;
mod ordering;
mod packing;
mod pieces;
mod quantified;
mod stochastic;
mod tables;
mod templates;
mod variables;

use crate::FormatError;
use std::fmt::Write;
use std::sync::Arc;

use ludex_base::{Deadline, StopReason};
use ludex_csp::propagators::table::Table;
use ludex_csp::{
    Comparison, Condition, Constraint, CspError, Expr, Network, Objective, Value, ValueSet, VarId,
};
use rustc_hash::FxHashMap;

pub use self::quantified::read_quantified;
use self::stochastic::Drawn;
pub use self::stochastic::{Stated, StochasticInstance, read_stochastic};
use self::variables::Array;
use super::text::{self, Problem, Symbols};
use super::xml::{self, Node};

/// An instance of XCSP3.
#[derive(Clone)]
pub struct Instance {
    /// Variables, constraints and objective.
    pub network: Network,
    /// The declarations of the file, in order: the name to print and the variables; `None` for
    /// cells of an array that don't exist.
    pub(super) declared: Vec<(String, Vec<Option<VarId>>)>,
    /// The lines of variables, constraints and the objective.
    lines: Lines,
}

#[derive(Clone, Default)]
struct Lines {
    variables: Vec<usize>,
    constraints: Vec<usize>,
    objective: usize,
}

impl Instance {
    /// Returns the variables that the file declares; the network may have auxiliary ones
    /// besides.
    pub fn variables(&self) -> impl Iterator<Item = VarId> + '_ {
        self.declared.iter().flat_map(|(_, cells)| cells.iter().flatten().copied())
    }

    /// Returns the line that declares a variable.
    pub fn variable_line(&self, x: VarId) -> usize {
        self.lines.variables.get(x.index()).copied().unwrap_or(1)
    }

    /// Returns the line of a constraint, by number.
    pub fn constraint_line(&self, index: usize) -> usize {
        self.lines.constraints.get(index).copied().unwrap_or(1)
    }

    /// Returns the line of the objective.
    pub fn objective_line(&self) -> usize {
        self.lines.objective
    }

    /// Returns a solution as an XCSP3 instantiation, on one line.
    pub fn instantiation(&self, solution: &[Value]) -> String {
        let (mut list, mut values) = (String::new(), String::new());
        for (name, cells) in &self.declared {
            list.push_str(name);
            list.push(' ');
            for cell in cells {
                match cell {
                    Some(x) => write!(values, "{} ", self.network.label(*x, solution[x.index()])),
                    None => write!(values, "* "),
                }
                .expect("writing to a string does not fail");
            }
        }
        format!("<instantiation> <list> {list}</list> <values> {values}</values> </instantiation>")
    }

    /// Adds the line of the mistake to an error in the network.
    pub fn locate(&self, problem: CspError) -> FormatError {
        let line = match &problem {
            CspError::Stopped(reason) => return FormatError::Stopped(*reason),
            CspError::InConstraint { number, .. } => {
                self.lines.constraints.get(number - 1).copied()
            }
            CspError::InObjective { .. } => Some(self.lines.objective),
            CspError::EmptyDomain { variable }
            | CspError::DomainOutOfRange { variable }
            | CspError::DomainTooLarge { variable }
            | CspError::WideDomain { variable, .. } => {
                self.lines.variables.get(variable.id.index()).copied()
            }
            _ => None,
        };
        FormatError::Meaning { line, problem: problem.into() }
    }
}

/// Reads an instance of the frameworks CSP and COP.
///
/// ```
/// let instance = ludex_formats::xcsp3::read(r#"
///     <instance format="XCSP3" type="CSP">
///       <variables> <array id="x" size="[3]"> 1..3 </array> </variables>
///       <constraints> <allDifferent> x[] </allDifferent> </constraints>
///     </instance>"#)?;
/// assert_eq!(instance.network.variables()[2].name, "x[2]");
/// # Ok::<(), ludex_formats::FormatError>(())
/// ```
///
/// # Errors
/// [`FormatError::Syntax`] for text that is not XCSP3, [`FormatError::Unsupported`] for
/// elements that Ludex does not support.
pub fn read(text: &str) -> Result<Instance, FormatError> {
    read_by(text, &Deadline::never())
}

/// Works as [`read`], but stops at a deadline, which it checks at each element, at each
/// constraint and every 16,384 tuples.
///
/// # Errors
/// As [`read`], and [`FormatError::Stopped`].
pub fn read_by(text: &str, deadline: &Deadline) -> Result<Instance, FormatError> {
    plain(&root(text, deadline)?, deadline)
}

/// Reads the element of an instance of the frameworks CSP and COP.
pub(super) fn plain(root: &Node, deadline: &Deadline) -> Result<Instance, FormatError> {
    match root.attribute("type") {
        Some("CSP" | "COP") | None => {}
        Some(other) => return Err(root.unsupported(format!("the framework {other}"))),
    }
    let mut reader = Reader { deadline: deadline.clone(), ..Reader::default() };
    root.children.iter().try_for_each(|child| reader.part(child))?;
    reader.finish()
}

/// Returns the element `instance` of a text.
pub(super) fn root(text: &str, deadline: &Deadline) -> Result<Node, FormatError> {
    let root = xml::parse(text, deadline)?;
    if root.name == "instance" {
        Ok(root)
    } else {
        Err(root.error(format!("the root element is `{}`, not `instance`", root.name)))
    }
}

#[derive(Default)]
struct Reader {
    network: Network,
    declared: Vec<(String, Vec<Option<VarId>>)>,
    lines: Lines,
    /// The line of the element being read.
    line: usize,
    singles: FxHashMap<String, VarId>,
    arrays: FxHashMap<String, Array>,
    symbols: Symbols,
    /// Elements by `id`, for `as`.
    known: FxHashMap<String, Node>,
    /// Tables by the address of their text and their arity.
    tables: FxHashMap<(usize, usize), Arc<Table>>,
    /// Keeps the texts of `tables` alive, so that their addresses stay unique.
    table_texts: Vec<Arc<str>>,
    deadline: Deadline,
    /// Whether the framework has random variables and thresholds, and those read so far.
    is_stochastic: bool,
    drawn: Vec<Drawn>,
    thresholds: Vec<(usize, Stated)>,
}

impl Reader {
    /// Reads one of the elements that all frameworks share.
    fn part(&mut self, node: &Node) -> Result<(), FormatError> {
        match &*node.name {
            "variables" => self.variables(node),
            "constraints" => self.constraints(node),
            "objectives" => self.objectives(node),
            "annotations" => Ok(()),
            other => Err(node.unsupported(format!("`{other}`"))),
        }
    }

    fn finish(self) -> Result<Instance, FormatError> {
        let instance =
            Instance { network: self.network, declared: self.declared, lines: self.lines };
        match instance.network.check() {
            Ok(()) => Ok(instance),
            Err(problem) => Err(instance.locate(problem)),
        }
    }

    /// Adds a constraint and records its line.
    fn add(&mut self, constraint: Constraint) {
        self.network.add(constraint);
        self.lines.constraints.push(self.line);
    }

    /// Adds a variable, auxiliary if the file has no such name, and records its line.
    fn add_variable(&mut self, name: impl Into<String>, domain: ValueSet) -> VarId {
        self.lines.variables.push(self.line);
        self.network.int(name, domain)
    }

    fn check_deadline(&self) -> Result<(), FormatError> {
        if self.deadline.reached() {
            Err(FormatError::Stopped(StopReason::of_deadline()))
        } else {
            Ok(())
        }
    }

    fn objectives(&mut self, node: &Node) -> Result<(), FormatError> {
        let [objective] = &node.children[..] else {
            return if node.children.is_empty() {
                Ok(())
            } else {
                Err(node.unsupported("several objectives"))
            };
        };
        self.line = objective.line;
        self.lines.objective = objective.line;
        let is_minimized = match &*objective.name {
            "minimize" => true,
            "maximize" => false,
            other => return Err(objective.unsupported(format!("`{other}`"))),
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
                .ok_or_else(|| objective.error("the product has no terms"))?,
            "nValues" => {
                let list = self.weighted_list(objective)?;
                let most = Value::try_from(list.len()).unwrap_or(Value::MAX);
                let n = self.add_variable("_values", (0..=most).into());
                let condition = Condition::equals(n);
                self.add(Constraint::NValues { list, except: ValueSet::default(), condition });
                Expr::Var(n)
            }
            other => return Err(objective.unsupported(format!("an objective of type {other}"))),
        };
        self.network.set_objective(Some(Objective { expr, is_minimized }));
        Ok(())
    }

    fn weighted_list(&self, node: &Node) -> Result<Vec<Expr>, FormatError> {
        match self.weighted_sum(node)? {
            Expr::Sum(list) if !list.is_empty() => Ok(list),
            _ => Err(node.error("the objective has no terms")),
        }
    }
}

fn required<'a>(node: &'a Node, name: &str) -> Result<&'a Node, FormatError> {
    node.child(name).ok_or_else(|| node.error(format!("`{}` has no `{name}`", node.name)))
}

fn required_flag(node: Option<&Node>, name: &str) -> bool {
    node.is_some_and(|node| node.attribute(name) == Some("true"))
}

fn start_index(node: &Node) -> Result<Value, FormatError> {
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

fn operator(node: &Node) -> Result<Comparison, FormatError> {
    let source = required(node, "operator")?;
    let name = source.text.trim();
    comparison(name).ok_or_else(|| source.error(format!("`{name}` is not a comparison")))
}

/// An unknown operator is unsupported; every other problem is a mistake in the file.
fn problem_at(node: &Node, problem: Problem) -> FormatError {
    let unsupported = problem.strip_suffix(" is not supported");
    match unsupported.and_then(|text| text.strip_prefix("the operator ")) {
        Some(operator) => node.unsupported(operator),
        None => node.error(problem),
    }
}
