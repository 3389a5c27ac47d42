//! Quantified networks as XCSP3: the frameworks QCSP, QCSP+ and QCOP+.
//!
//! The element `quantification` lists the scopes in order. A scope without a restrictor holds
//! the names of its variables; one with a restrictor or a criterion holds them in `list`, its
//! constraints in `constraints`, and `minimize` or `maximize` with one variable. The goal is
//! in the `constraints` of the instance. Definitions are written as constraints.
//!
//! [`crate::xcsp3`] reads and writes the constraints themselves. XCSP3 has no element for
//! aggregates and for ties other than optimistic; an error names them.

use std::fmt::Write;

use ludex_base::Deadline;
use ludex_csp::{Constraint, Expr, Network, VarId};
use ludex_qcsp::{Measure, Model, Scope, Ties};

use super::read::{read_quantified, root};
use super::write::{Writer, unwritable};
use crate::FormatError;

/// Reads an instance.
///
/// # Errors
/// When the text is not a quantified instance, or has unsupported elements, with the line.
pub fn read(text: &str, deadline: &Deadline) -> Result<Model, FormatError> {
    read_quantified(&root(text, deadline)?, deadline)
}

/// Writes a model as an instance.
///
/// ```
/// use ludex_base::Deadline;
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
/// let again = quantified::read(&text, &Deadline::never())?;
/// assert_eq!(again.scopes().len(), 2);
/// # Ok::<(), ludex_formats::FormatError>(())
/// ```
///
/// # Errors
/// When XCSP3 has no element for a part of the model.
pub fn write(model: &Model) -> Result<String, FormatError> {
    if let Some(aggregate) = model.aggregates().first() {
        return Err(unwritable(format!("the aggregate `{}`", aggregate.name)));
    }
    let mut network = Network::new();
    for variable in model.variables() {
        network.int(variable.variable.name.clone(), variable.variable.domain.clone());
    }
    let writer = Writer::new(&network);
    let mut blocks = String::new();
    let mut is_restricted = false;
    for scope in model.scopes() {
        let constraints = elements(&writer, &restrictor(model, scope))?;
        let list: Vec<&str> = scope.variables.iter().map(|&x| writer.name(x)).collect();
        let (tag, list) = (scope.quantifier.name(), list.join(" "));
        let criterion = criterion(model, scope, &writer)?;
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
    let ids = (0..network.variables().len()).map(VarId::new);
    let variables: String = ids.map(|x| writer.declaration(x)).collect();
    let goal = elements(&writer, model.goal_constraints())?;
    Ok(format!(
        "<instance format=\"XCSP3\" type=\"{kind}\">\n  <variables>\n{variables}  </variables>\n  \
         <quantification>\n{blocks}  </quantification>\n  <constraints>\n{goal}  </constraints>\n</instance>\n"
    ))
}

/// Returns the constraints of a scope, definitions included.
fn restrictor(model: &Model, scope: &Scope) -> Vec<Constraint> {
    let definitions = scope.variables.iter().filter_map(|&x| {
        let definition = model.variable(x).definition.clone()?;
        Some(Constraint::Intension(Expr::Var(x).equals(definition)))
    });
    definitions.chain(scope.restrictor.iter().cloned()).collect()
}

fn criterion(model: &Model, scope: &Scope, writer: &Writer<'_>) -> Result<String, FormatError> {
    let Some(criterion) = scope.criterion else { return Ok(String::new()) };
    if scope.ties != Ties::Optimistic {
        return Err(unwritable(format!("the ties of scope `{}`", scope.name)));
    }
    let Measure::Variable(x) = criterion.measure else {
        return Err(unwritable(format!("`{}`", model.measure_name(criterion.measure))));
    };
    let tag = if criterion.is_minimized { "minimize" } else { "maximize" };
    Ok(format!("    <{tag}> {} </{tag}>\n", writer.name(x)))
}

/// Returns the constraints, one per line.
fn elements(writer: &Writer<'_>, constraints: &[Constraint]) -> Result<String, FormatError> {
    let element = |(i, constraint)| Ok(format!("    {}\n", writer.element(i, constraint)?));
    constraints.iter().enumerate().map(element).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ludex_model::Problem;
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
        let model = read(NIM, &Deadline::never()).expect("a quantified instance");
        assert_eq!(model.scopes().len(), 5);
        assert!(by_definition(&model).0);
        assert!(
            !by_definition(&read(&NIM.replace("(eq,10)", "(eq,12)"), &Deadline::never()).unwrap())
                .0
        );
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
            let never = Deadline::never();
            let compiled =
                ludex_model::compile(&source, &Default::default(), &Default::default(), &never);
            let Problem::Quantified(model) = compiled.expect("a model").problem else {
                panic!("nothing is drawn");
            };
            let again = read(&write(&model).expect("XCSP3 has all of it"), &Deadline::never())
                .expect("written text is read back");
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
        assert!(read("<instance> </instance>", &Deadline::never()).is_err());
        assert!(read(&NIM.replace("<exists> x[4] </exists>", ""), &Deadline::never()).is_err());
    }
}
