//! Writes a network as XCSP3 text.

use std::fmt::Write;

use ludex_csp::propagators::table::{STAR, Table};
use ludex_csp::{Condition, Constraint, Expr, Network, Objective, Value, ValueSet, VarId};
use ludex_model::unused_name;
use rustc_hash::FxHashSet;

use crate::FormatError;

/// Writes a network as an instance.
///
/// Variables keep their names where XCSP3 allows them; other characters become `_`, and a
/// number is appended where two names would coincide. Symbols are written as their numbers.
///
/// ```
/// use ludex_csp::Network;
/// use ludex_formats::xcsp3;
/// let mut network = Network::new();
/// let [x, y] = ["x", "y"].map(|name| network.int(name, 1..=3));
/// network.require(x.less_than(y));
/// let text = xcsp3::write(&network)?;
/// assert!(text.contains("<intension> lt(x,y) </intension>"));
/// # Ok::<(), ludex_formats::FormatError>(())
/// ```
///
/// # Errors
/// [`FormatError::Unwritable`] for a caller's own propagator, for an indexed list inside an
/// expression, and for conditions on numbers of occurrences and on the size of a circuit that
/// the format does not have.
pub fn write(network: &Network) -> Result<String, FormatError> {
    let writer = Writer::new(network);
    let kind = if network.objective().is_some() { "COP" } else { "CSP" };
    let mut out = format!("<instance format=\"XCSP3\" type=\"{kind}\">\n  <variables>\n");
    for i in 0..network.variables().len() {
        out += &writer.declaration(VarId::new(i));
    }
    out += "  </variables>\n  <constraints>\n";
    for (index, constraint) in network.constraints().iter().enumerate() {
        let _ = writeln!(out, "    {}", writer.element(index, constraint)?);
    }
    out += "  </constraints>\n";
    if let Some(objective) = network.objective() {
        out += &writer.objectives(objective)?;
    }
    Ok(out + "</instance>\n")
}

/// Creates the error for a part that XCSP3 cannot express.
pub(super) fn unwritable(what: impl Into<String>) -> FormatError {
    FormatError::Unwritable { format: "XCSP3", what: what.into() }
}

fn names(network: &Network) -> Vec<String> {
    let mut taken = FxHashSet::default();
    let mut names = Vec::new();
    for variable in network.variables() {
        let mut name: String = variable
            .name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' })
            .collect();
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            name.insert(0, 'v');
        }
        names.push(unused_name(name.trim_end_matches('_'), &mut taken));
    }
    names
}

/// The part that can't be written.
type Unwritable = String;

/// Writes the parts of an instance of any framework.
pub(super) struct Writer<'a> {
    network: &'a Network,
    names: Vec<String>,
}

impl<'a> Writer<'a> {
    /// Creates a writer for the variables of a network.
    pub fn new(network: &'a Network) -> Self {
        Self { network, names: names(network) }
    }

    /// Returns the line that declares a variable.
    pub fn declaration(&self, x: VarId) -> String {
        let domain = &self.network.variable(x).domain;
        format!("    <var id=\"{}\"> {domain} </var>\n", self.name(x))
    }

    /// Returns the element of constraint number `index`, counted from 0.
    pub fn element(&self, index: usize, constraint: &Constraint) -> Result<String, FormatError> {
        let mut terms = Ok(());
        constraint.for_each_term(&mut |e| terms = terms.clone().and(writable(e)));
        terms.and_then(|()| self.constraint(constraint)).map_err(|what| {
            unwritable(format!("constraint {}, `{}`: {what}", index + 1, constraint.name()))
        })
    }

    /// Returns the element of the objective.
    pub fn objectives(&self, objective: &Objective) -> Result<String, FormatError> {
        writable(&objective.expr).map_err(|what| unwritable(format!("objective: {what}")))?;
        let tag = if objective.is_minimized { "minimize" } else { "maximize" };
        let expr = self.expr(&objective.expr);
        Ok(format!("  <objectives>\n    <{tag}> {expr} </{tag}>\n  </objectives>\n"))
    }

    /// Returns the written name of a variable.
    pub fn name(&self, x: VarId) -> &str {
        &self.names[x.index()]
    }

    fn expr(&self, e: &Expr) -> String {
        let call = |name: &str, list: &[&Expr]| {
            let args: Vec<String> = list.iter().map(|e| self.expr(e)).collect();
            format!("{name}({})", args.join(","))
        };
        let all = |name: &str, list: &[Expr]| call(name, &list.iter().collect::<Vec<_>>());
        // XCSP3 operators need two arguments or more, so a single argument is written alone.
        let many = |name: &str, list: &[Expr]| match list {
            [e] => self.expr(e),
            list => all(name, list),
        };
        match e {
            Expr::Constant(value) => value.to_string(),
            Expr::Var(x) => self.name(*x).to_string(),
            Expr::Sum(list) if list.is_empty() => "0".to_string(),
            Expr::Sum(list) => many("add", list),
            Expr::Neg(e) => call("neg", &[e]),
            Expr::Abs(e) => call("abs", &[e]),
            Expr::Binary(op, a, b) => call(op.name(), &[a, b]),
            Expr::Min(list) => many("min", list),
            Expr::Max(list) => many("max", list),
            Expr::Compare(op, a, b) => call(op.name(), &[a, b]),
            Expr::AllEqual(list) if list.len() < 2 => "1".to_string(),
            Expr::AllEqual(list) => all("eq", list),
            Expr::In(e, set) => {
                let values = set.to_string().replace(' ', ",");
                format!("in({},set({values}))", self.expr(e))
            }
            Expr::Not(e) => call("not", &[e]),
            Expr::And(list) if list.is_empty() => "1".to_string(),
            Expr::Or(list) if list.is_empty() => "0".to_string(),
            Expr::And(list) => all("and", list),
            Expr::Or(list) => all("or", list),
            Expr::Xor(list) if list.is_empty() => "0".to_string(),
            Expr::Xor(list) => all("xor", list),
            Expr::If(c, a, b) => call("if", &[c, a, b]),
            Expr::Element(..) => unreachable!("refused before it is written"),
        }
    }

    fn list(&self, list: &[Expr]) -> String {
        list.iter().map(|e| self.expr(e)).collect::<Vec<_>>().join(" ")
    }

    fn condition(&self, condition: &Condition) -> String {
        let inside = match condition {
            Condition::Compare(op, right) => format!("{},{}", op.name(), self.expr(right)),
            Condition::In(set) => match set.ranges() {
                [(lo, hi)] => format!("in,{lo}..{hi}"),
                _ => format!("in,{{{}}}", set.to_string().replace(' ', ",")),
            },
        };
        format!("<condition> ({inside}) </condition>")
    }

    fn tuples(&self, lists: &[Vec<Expr>]) -> String {
        let tuple = |list: &Vec<Expr>| {
            let parts: Vec<String> = list.iter().map(|e| self.expr(e)).collect();
            format!("({})", parts.join(","))
        };
        lists.iter().map(tuple).collect()
    }

    fn constraint(&self, constraint: &Constraint) -> Result<String, Unwritable> {
        let tag = constraint.name();
        let wrap = |inside: String| format!("<{tag}> {inside} </{tag}>");
        let list = |list: &[Expr]| format!("<list> {} </list>", self.list(list));
        let start = |list: &[Expr], start: Value| {
            format!("<list startIndex=\"{start}\"> {} </list>", self.list(list))
        };
        let lists = |of: &[Vec<Expr>]| of.iter().map(|l| list(l)).collect::<Vec<_>>().join(" ");
        let except = |set: &ValueSet| {
            if set.is_empty() { String::new() } else { format!(" <except> {set} </except>") }
        };
        Ok(match constraint {
            Constraint::Intension(e) => wrap(self.expr(e)),
            Constraint::Table { scope, table, is_positive } => {
                let tuples = match scope[..] {
                    // Unary tables in XCSP3 have no `*`: it is written as every value.
                    [x] if table.tuples().any(|tuple| tuple == [STAR]) => {
                        self.network.variable(x).domain.to_string()
                    }
                    _ => table_text(table),
                };
                let scope: Vec<Expr> = scope.iter().map(Expr::from).collect();
                let kind = if *is_positive { "supports" } else { "conflicts" };
                wrap(format!("{} <{kind}> {tuples} </{kind}>", list(&scope)))
            }
            Constraint::AllDifferent { list: of, except: but } => {
                wrap(format!("{}{}", list(of), except(but)))
            }
            Constraint::AllDifferentLists { lists: of } => wrap(lists(of)),
            Constraint::Count { list: of, values, condition } => {
                let values = format!("<values> {values} </values>");
                wrap(format!("{} {values} {}", list(of), self.condition(condition)))
            }
            Constraint::NValues { list: of, except: but, condition } => {
                wrap(format!("{}{} {}", list(of), except(but), self.condition(condition)))
            }
            Constraint::Cardinality { list: of, values, occurrences, is_closed } => {
                let values: Vec<String> = values.iter().map(Value::to_string).collect();
                let mut occurs = Vec::new();
                for condition in occurrences {
                    occurs.push(match condition {
                        Condition::Compare(ludex_csp::Comparison::Eq, e) => self.expr(e),
                        Condition::In(set) if set.ranges().len() == 1 => {
                            format!("{}..{}", set.ranges()[0].0, set.ranges()[0].1)
                        }
                        Condition::Compare(ludex_csp::Comparison::Ge, Expr::Constant(least)) => {
                            format!("{least}..{}", of.len())
                        }
                        Condition::Compare(ludex_csp::Comparison::Le, Expr::Constant(most)) => {
                            format!("0..{most}")
                        }
                        _ => {
                            let what = "a condition on occurrences".to_string();
                            return Err(what);
                        }
                    });
                }
                wrap(format!(
                    "{} <values closed=\"{is_closed}\"> {} </values> <occurs> {} </occurs>",
                    list(of),
                    values.join(" "),
                    occurs.join(" ")
                ))
            }
            Constraint::Element { list: of, start: first, index, condition } => wrap(format!(
                "{} <index> {} </index> {}",
                start(of, *first),
                self.expr(index),
                self.condition(condition)
            )),
            Constraint::Lex { lists: of, is_strict } => {
                let op = if *is_strict { "lt" } else { "le" };
                wrap(format!("{} <operator> {op} </operator>", lists(of)))
            }
            Constraint::NoOverlap { origins, lengths, ignores_zeros } => {
                let one = |of: &[Vec<Expr>]| match of.first().map(Vec::len) {
                    Some(1) => self.list(&of.concat()),
                    _ => self.tuples(of),
                };
                format!(
                    "<{tag} zeroIgnored=\"{ignores_zeros}\"> <origins> {} </origins> \
                     <lengths> {} </lengths> </{tag}>",
                    one(origins),
                    one(lengths)
                )
            }
            Constraint::Cumulative { origins, lengths, heights, limit } => wrap(format!(
                "<origins> {} </origins> <lengths> {} </lengths> <heights> {} </heights> \
                 <condition> (le,{}) </condition>",
                self.list(origins),
                self.list(lengths),
                self.list(heights),
                self.expr(limit)
            )),
            Constraint::Circuit { list: of, start: first, size } => {
                let size = match size {
                    None => String::new(),
                    Some(Condition::Compare(ludex_csp::Comparison::Eq, e)) => {
                        format!(" <size> {} </size>", self.expr(e))
                    }
                    Some(_) => {
                        let what = "a condition on the size of a circuit".to_string();
                        return Err(what);
                    }
                };
                wrap(format!("{}{size}", start(of, *first)))
            }
            Constraint::Regular { list: of, automaton } => {
                let mut transitions = String::new();
                for (from, value, to) in &automaton.transitions {
                    write!(transitions, "(q{from},{value},q{to})").expect("a string");
                }
                let accepting: Vec<String> =
                    automaton.accepting.iter().map(|state| format!("q{state}")).collect();
                wrap(format!(
                    "{} <transitions> {transitions} </transitions> <start> q{} </start> \
                     <final> {} </final>",
                    list(of),
                    automaton.start,
                    accepting.join(" ")
                ))
            }
            Constraint::Mdd { list: of, mdd } => {
                let mut transitions = String::new();
                let last = mdd.layers().len();
                let node = |layer: usize, node: u32| match layer {
                    layer if layer == last => "t".to_string(),
                    layer => format!("n{layer}_{node}"),
                };
                for (at, layer) in mdd.layers().iter().enumerate() {
                    for &(from, value, to) in layer {
                        let (from, to) = (node(at, from), node(at + 1, to));
                        write!(transitions, "({from},{value},{to})").expect("a string");
                    }
                }
                wrap(format!("{} <transitions> {transitions} </transitions>", list(of)))
            }
            Constraint::Channel { first, start_first, second, start_second } => {
                wrap(format!("{} {}", start(first, *start_first), start(second, *start_second)))
            }
            Constraint::Custom(propagator) => {
                let what = format!("the propagator `{}`", propagator.name());
                return Err(what);
            }
        })
    }
}

/// Rejects an indexed list, for which XCSP3 has no operator.
fn writable(e: &Expr) -> Result<(), Unwritable> {
    if matches!(e, Expr::Element(..)) {
        let what = "an indexed list inside an expression".to_string();
        return Err(what);
    }
    e.children().into_iter().try_for_each(writable)
}

fn table_text(table: &Table) -> String {
    let cell = |value: &Value| match *value {
        STAR => "*".to_string(),
        value => value.to_string(),
    };
    let mut text = String::new();
    for tuple in table.tuples() {
        let cells: Vec<String> = tuple.iter().map(cell).collect();
        match table.arity() {
            1 => write!(text, "{} ", cells[0]),
            _ => write!(text, "({})", cells.join(",")),
        }
        .expect("a string");
    }
    text
}
