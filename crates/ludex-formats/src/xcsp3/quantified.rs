//! Quantified networks as XCSP3: the frameworks QCSP, QCSP+ and QCOP+.
//!
//! The element `quantification` lists the scopes in order. A scope without a restrictor holds
//! the names of its variables; one with a restrictor or a criterion holds them in `list`, its
//! constraints in `constraints`, and `minimize` or `maximize` with one variable. The goal is
//! in the `constraints` of the instance. Definitions are written as constraints.
//!
//! Constraints themselves are read and written by [`crate::xcsp3`]. Aggregates and ties
//! other than optimistic have no element and are refused by name.

use std::fmt::Write;

use ludex_csp::{Condition, Constraint, CspError, Expr, Network, VarId, Variable};
use ludex_qcsp::{Measure, Model, ModelError, Quantifier, Scope, Ties};

/// Writes a model as an instance.
///
/// ```
/// use ludex_formats::xcsp3::quantified;
/// use ludex_qcsp::Model;
/// let mut model = Model::new();
/// model.exists("first");
/// let x = model.int("x", 0..=1);
/// model.forall("second");
/// let y = model.int("y", 0..=1);
/// model.require(y.differs(x));
/// model.goal((x + y).equals(1));
/// let text = quantified::write(&model)?;
/// assert!(text.contains("type=\"QCSP+\"") && text.contains("<exists> x </exists>"));
/// let again = quantified::read(&text)?;
/// assert_eq!(again.scopes().len(), 2);
/// # Ok::<(), ludex_qcsp::ModelError>(())
/// ```
///
/// # Errors
/// When XCSP3 has no element for a part of the model.
pub fn write(model: &Model) -> Result<String, ModelError> {
    if let Some(aggregate) = model.aggregates().first() {
        return Err(unwritable(format!("the aggregate `{}`", aggregate.name)));
    }
    let mut blocks = String::new();
    let mut is_restricted = false;
    for scope in model.scopes() {
        let constraints = written(model, &restrictor(model, scope))?;
        let names = names(model)?;
        let list: Vec<&str> = scope.variables.iter().map(|x| names[x.index()].as_str()).collect();
        let (tag, list) = (scope.quantifier.name(), list.join(" "));
        let criterion = criterion(model, scope, &names)?;
        if constraints.is_empty() && criterion.is_empty() {
            let _ = writeln!(blocks, "    <{tag}> {list} </{tag}>");
            continue;
        }
        is_restricted |= !constraints.is_empty();
        let _ = writeln!(
            blocks,
            "    <{tag}>\n    <list> {list} </list>\n    <constraints>\n{constraints}    </constraints>\n{criterion}    </{tag}>"
        );
    }
    let kind = match (model.is_optimization(), is_restricted) {
        (true, _) => "QCOP+",
        (false, true) => "QCSP+",
        (false, false) => "QCSP",
    };
    let text = written_instance(model, &[])?;
    let variables = inside(&text, "variables").unwrap_or("");
    let goal = written(model, model.goal_constraints())?;
    Ok(format!(
        "<instance format=\"XCSP3\" type=\"{kind}\">\n  <variables>{variables}</variables>\n  \
         <quantification>\n{blocks}  </quantification>\n  <constraints>\n{goal}  </constraints>\n</instance>\n"
    ))
}

fn unwritable(what: impl std::fmt::Display) -> ModelError {
    ModelError::Option { option: "XCSP3", reason: format!("it has no element for {what}") }
}

/// The constraints of a scope, definitions included.
fn restrictor(model: &Model, scope: &Scope) -> Vec<Constraint> {
    let definitions = scope.variables.iter().filter_map(|&x| {
        let definition = model.variable(x).definition.clone()?;
        Some(Constraint::Intension(Expr::Var(x).equals(definition)))
    });
    definitions.chain(scope.restrictor.iter().cloned()).collect()
}

fn criterion(model: &Model, scope: &Scope, names: &[String]) -> Result<String, ModelError> {
    let Some(criterion) = scope.criterion else { return Ok(String::new()) };
    if scope.ties != Ties::Optimistic {
        return Err(unwritable(format!("the ties of scope `{}`", scope.name)));
    }
    let Measure::Variable(x) = criterion.measure else {
        return Err(unwritable(format!("`{}`", model.measure_name(criterion.measure))));
    };
    let tag = if criterion.is_minimized { "minimize" } else { "maximize" };
    Ok(format!("    <{tag}> {} </{tag}>\n", names[x.index()]))
}

/// A network of all variables and some constraints, as an instance of its own.
fn written_instance(model: &Model, constraints: &[Constraint]) -> Result<String, ModelError> {
    let mut network = Network::new();
    for variable in model.variables() {
        network.int(variable.variable.name.clone(), variable.variable.domain.clone());
    }
    constraints.iter().for_each(|constraint| network.add(constraint.clone()));
    super::write(&network).map_err(unwritable)
}

fn written(model: &Model, constraints: &[Constraint]) -> Result<String, ModelError> {
    let text = written_instance(model, constraints)?;
    let lines = inside(&text, "constraints").unwrap_or("").lines();
    Ok(lines
        .filter(|line| !line.trim().is_empty())
        .fold(String::new(), |all, line| all + line + "\n"))
}

/// The names under which variables are written.
fn names(model: &Model) -> Result<Vec<String>, ModelError> {
    let text = written_instance(model, &[])?;
    let parts = text.split("<var id=\"").skip(1);
    Ok(parts.filter_map(|part| part.split('"').next()).map(String::from).collect())
}

/// Reads an instance.
///
/// # Errors
/// [`ModelError::Syntax`] with a line where the text is no quantified instance, or has elements
/// that are not supported.
pub fn read(text: &str) -> Result<Model, ModelError> {
    let text = without_comments(text);
    let syntax = |problem: &str| ModelError::Syntax { line: 1, problem: problem.into() };
    let variables = inside(&text, "variables").ok_or_else(|| syntax("there are no `variables`"))?;
    let prefix =
        inside(&text, "quantification").ok_or_else(|| syntax("there is no `quantification`"))?;
    let after = text.split("</quantification>").nth(1).unwrap_or("");
    let before = text.split("<quantification>").next().unwrap_or("");
    let goal = inside(after, "constraints").or_else(|| inside(before, "constraints"));
    let reader = Reader { variables };
    let all = reader.network("")?;
    let n_variables = all.variables().len();
    let mut model = Model::new();
    let mut renamed: Vec<Option<VarId>> = vec![None; n_variables];
    let mut criteria = Vec::new();
    for block in blocks(prefix)? {
        let scope = model.open(format!("{}", model.scopes().len() + 1), block.quantifier);
        for x in reader.list(block.list)? {
            let Some(place) = renamed.get_mut(x.index()).filter(|place| place.is_none()) else {
                return Err(syntax("a variable is quantified twice"));
            };
            let Variable { name, domain, .. } = all.variable(x).clone();
            *place = Some(model.variable_with(Variable { name, domain, labels: None }, None));
        }
        if let Some(constraints) = block.constraints {
            for constraint in reader.network(constraints)?.constraints() {
                model.restrict(rename(constraint, &renamed)?);
            }
        }
        if let Some((list, is_minimized)) = block.criterion {
            criteria.push((scope, list, is_minimized));
        }
    }
    for constraint in reader.network(goal.unwrap_or(""))?.constraints() {
        model.goal_constraint(rename(constraint, &renamed)?);
    }
    for (scope, list, is_minimized) in criteria {
        let [x] = reader.list(list)?[..] else {
            return Err(syntax("a criterion is one variable"));
        };
        let x = renamed[x.index()].ok_or_else(|| syntax("a criterion is a variable of a scope"))?;
        if is_minimized { model.minimize(scope, x) } else { model.maximize(scope, x) }
    }
    match model.check().into_iter().next() {
        Some(error) => Err(error),
        None => Ok(model),
    }
}

struct Reader<'a> {
    variables: &'a str,
}

impl Reader<'_> {
    /// The variables of the instance with some constraints.
    fn network(&self, constraints: &str) -> Result<Network, ModelError> {
        let text = format!(
            "<instance format=\"XCSP3\" type=\"CSP\">\n<variables>{}</variables>\n<constraints>{constraints}</constraints></instance>",
            self.variables
        );
        let instance = super::read(&text).map_err(|error| {
            let line = error.line().unwrap_or(1);
            let problem = match error {
                CspError::Syntax { problem, .. } => problem,
                other => other.to_string(),
            };
            ModelError::Syntax { line, problem }
        })?;
        Ok(instance.network)
    }

    /// The variables of a list, in which arrays may be abbreviated.
    fn list(&self, list: &str) -> Result<Vec<VarId>, ModelError> {
        let sum =
            format!("<sum> <list> {list} </list> <condition> (ge,-2000000000) </condition> </sum>");
        let network = self.network(&sum)?;
        Ok(network.constraints().first().map(Constraint::scope).unwrap_or_default())
    }
}

/// A scope as it stands in the text.
struct Block<'a> {
    quantifier: Quantifier,
    list: &'a str,
    constraints: Option<&'a str>,
    criterion: Option<(&'a str, bool)>,
}

fn blocks(prefix: &str) -> Result<Vec<Block<'_>>, ModelError> {
    let mut blocks = Vec::new();
    let mut rest = prefix;
    loop {
        let next = [("exists", Quantifier::Exists), ("forall", Quantifier::Forall)]
            .into_iter()
            .filter_map(|(tag, quantifier)| {
                rest.find(&format!("<{tag}")).map(|at| (at, tag, quantifier))
            })
            .min_by_key(|found| found.0);
        let Some((at, tag, quantifier)) = next else { return Ok(blocks) };
        let from = &rest[at..];
        let Some(body) = inside(from, tag) else {
            return Err(ModelError::Syntax {
                line: 1,
                problem: format!("`{tag}` is never closed"),
            });
        };
        let criterion = inside(body, "minimize")
            .map(|list| (list, true))
            .or_else(|| inside(body, "maximize").map(|list| (list, false)));
        blocks.push(Block {
            quantifier,
            list: inside(body, "list")
                .filter(|_| body.trim_start().starts_with("<list"))
                .unwrap_or(body),
            constraints: inside(body, "constraints"),
            criterion,
        });
        let end = format!("</{tag}>");
        let closed = from.find(&end).expect("it was found before") + end.len();
        rest = &from[closed..];
    }
}

/// What is between the first opening tag of this name and its closing tag.
fn inside<'a>(text: &'a str, tag: &str) -> Option<&'a str> {
    let opening = format!("<{tag}");
    let mut from = 0;
    loop {
        let at = from + text[from..].find(&opening)?;
        let after = &text[at + opening.len()..];
        if after.starts_with(|c: char| c == '>' || c.is_whitespace()) {
            let start = after.find('>')? + 1;
            let end = after.find(&format!("</{tag}>"))?;
            return after.get(start..end);
        }
        from = at + opening.len();
    }
}

fn without_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("<!--") {
        out.push_str(&rest[..at]);
        rest = rest[at..].find("-->").map_or("", |end| &rest[at + end + 3..]);
    }
    out + rest
}

/// A constraint on the variables of the model.
fn rename(constraint: &Constraint, renamed: &[Option<VarId>]) -> Result<Constraint, ModelError> {
    let unknown = |problem: String| ModelError::Syntax { line: 1, problem };
    let var = |x: VarId| renamed.get(x.index()).copied().flatten();
    if constraint.scope().into_iter().any(|x| var(x).is_none()) {
        let problem = format!(
            "a constraint `{}` mentions a variable of a later scope, or of none",
            constraint.name()
        );
        return Err(unknown(problem));
    }
    let expr = |e: &Expr| e.rename(&|x| Expr::Var(var(x).expect("looked at above")));
    let all = |list: &[Expr]| list.iter().map(expr).collect::<Vec<_>>();
    let on = |condition: &Condition| match condition {
        Condition::Compare(op, right) => Condition::Compare(*op, expr(right)),
        other => other.clone(),
    };
    Ok(match constraint {
        Constraint::Intension(e) => Constraint::Intension(expr(e)),
        Constraint::Table { scope, table, is_positive } => Constraint::Table {
            scope: scope.iter().filter_map(|&x| var(x)).collect(),
            table: table.clone(),
            is_positive: *is_positive,
        },
        Constraint::AllDifferent { list, except } => {
            Constraint::AllDifferent { list: all(list), except: except.clone() }
        }
        Constraint::Count { list, values, condition } => {
            Constraint::Count { list: all(list), values: values.clone(), condition: on(condition) }
        }
        Constraint::Element { list, start, index, condition } => Constraint::Element {
            list: all(list),
            start: *start,
            index: expr(index),
            condition: on(condition),
        },
        Constraint::Cumulative { origins, lengths, heights, limit } => Constraint::Cumulative {
            origins: all(origins),
            lengths: all(lengths),
            heights: all(heights),
            limit: expr(limit),
        },
        other => {
            return Err(unknown(format!(
                "`{}` is not supported in a quantified instance",
                other.name()
            )));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ludex_qcsp::by_definition;

    const NIM: &str = r#"<instance format="XCSP3" type="QCSP">
      <variables> <array id="x" size="[5]"> 1..3 </array> </variables>
      <constraints> <sum> <list> x[] </list> <condition> (eq,10) </condition> </sum> </constraints>
      <quantification>
        <exists> x[0] </exists> <forall> x[1] </forall> <exists> x[2] </exists>
        <forall> x[3] </forall> <exists> x[4] </exists>
      </quantification>
    </instance>"#;

    #[test]
    fn nim_is_read() {
        let model = read(NIM).expect("a quantified instance");
        assert_eq!(model.scopes().len(), 5);
        assert!(by_definition(&model).0);
        assert!(!by_definition(&read(&NIM.replace("(eq,10)", "(eq,12)")).unwrap()).0);
    }

    #[test]
    fn what_is_written_means_the_same() {
        for text in [
            "exists x: 0..2 where x != 1; forall y: 0..2 where y < x; goal x + y >= 2;",
            "exists x: 0..2 let d = 2 * x; forall y: {0, 3}; exists z: 0..9 where z = d + y; goal z < 7;",
            "exists x: 0..3 maximize z; exists y: 0..3 where y != x minimize y; exists z: 0..9 where z = x + 2 * y; goal true;",
            "forall p: array[1..3] of 1..3 where all_different(p); exists q: 1..3 where q > p[1] \\/ q = 3; goal q >= p[1];",
        ] {
            let source = ludex_base::Source::new("t.qcp", text);
            let never = ludex_base::Deadline::never();
            let compiled =
                ludex_model::compile(&source, &Default::default(), &Default::default(), &never);
            let model = compiled.expect("a model").model;
            let again = read(&write(&model).expect("XCSP3 has all of it")).expect("it reads");
            assert_eq!(by_definition(&model), by_definition(&again), "{text}");
        }
    }

    #[test]
    fn what_xcsp3_can_t_say_is_named() {
        let mut model = Model::new();
        let all = model.forall("k");
        model.int("k", 0..=1);
        model.exists("x");
        let x = model.int("x", 0..=1);
        model.aggregate(all, "total", ludex_qcsp::AggregateFunction::Sum, x);
        assert!(write(&model).unwrap_err().to_string().contains("aggregate `total`"));
        assert!(read("<instance> </instance>").is_err());
        assert!(read(&NIM.replace("<exists> x[4] </exists>", "")).is_err());
    }
}
