//! Stochastic networks as XCSP3: the frameworks SCSP and SCOP.
//!
//! A variable of type `stochastic` has a probability after each value, `1:1/6 2..3:5/6`; the
//! values of a range share its probability equally. The element `stages` lists the variables in
//! order, as children `decision` and `stochastic`. The attribute `threshold` of `constraints`
//! is the probability with which they must hold together, that of one constraint the
//! probability with which it must hold by itself. In an SCOP the objective, which is maximized,
//! is the utility of a play in which the constraints hold.
//!
//! XCSP3 cannot express probabilities that depend on earlier variables; an error names them.

use std::fmt::Write;

use ludex_base::Deadline;
use ludex_csp::{CspError, Expr, Network, Value, VarId};
use ludex_scsp::{
    Distribution, Part, Rational, ScspError, StochasticNetwork, StochasticVariable,
    parse_probability,
};
use rustc_hash::FxHashMap;

use super::read::{Stated, StochasticInstance, read_stochastic, root};
use super::write::{Writer, unwritable};
use super::xml::Node;
use crate::FormatError;

/// Largest number of values of a random variable.
const MAX_LISTED: i64 = 1 << 20;

/// Reads an instance.
///
/// ```
/// use ludex_base::Deadline;
/// use ludex_formats::xcsp3::stochastic;
/// use ludex_scsp::{SolveConfig, solve};
/// let text = r#"<instance format="XCSP3" type="SCSP">
///   <variables>
///     <var id="x"> 0..2 </var>
///     <var id="y" type="stochastic"> 0:1/2 1..2:1/2 </var>
///   </variables>
///   <constraints threshold="3/4"> <intension> gt(add(x,y),1) </intension> </constraints>
///   <stages> <decision> x </decision> <stochastic> y </stochastic> </stages>
/// </instance>"#;
/// let network = stochastic::read(text, &Deadline::never())?;
/// let report = solve(&network, &SolveConfig::best())?;
/// assert_eq!(report.value, 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns an error with the line when the text is no such instance or states an invalid
/// network; [`FormatError::Stopped`] when the deadline is reached.
pub fn read(text: &str, deadline: &Deadline) -> Result<StochasticNetwork, FormatError> {
    read_element(&root(text, deadline)?, deadline)
}

/// Reads the element `instance`.
pub(super) fn read_element(
    root: &Node,
    deadline: &Deadline,
) -> Result<StochasticNetwork, FormatError> {
    let file = read_stochastic(root, deadline)?;
    let reader = Reader { file: &file, renamed: Vec::new(), network: StochasticNetwork::new() };
    let (network, renamed) = reader.read()?;
    match network.check_by(deadline).into_iter().next() {
        None => Ok(network),
        Some(problem) => {
            let line = Some(line_of(&file, &renamed, &problem));
            Err(FormatError::Meaning { line, problem: problem.into() })
        }
    }
}

fn syntax(line: usize, problem: impl Into<String>) -> FormatError {
    FormatError::Syntax { line, problem: problem.into() }
}

/// Returns the line of the variable, constraint or threshold that caused an error.
fn line_of(file: &StochasticInstance, renamed: &[Option<VarId>], error: &ScspError) -> usize {
    let of_variable = |x: VarId| {
        let at = renamed.iter().position(|own| *own == Some(x));
        at.map_or(1, |at| file.instance.variable_line(VarId::new(at)))
    };
    match error {
        ScspError::EmptyDomain { variable }
        | ScspError::WideDomain { variable, .. }
        | ScspError::StageOrder { variable, .. }
        | ScspError::Distribution { variable, .. }
        | ScspError::LaterParent { variable, .. } => of_variable(variable.id),
        ScspError::Threshold { part, .. } => {
            let is_own = |(index, _): &&(usize, Stated)| *part == Part::Constraint(*index);
            let own = file.thresholds.iter().find(is_own).map(|(_, stated)| stated);
            own.or(file.threshold.as_ref()).map_or(1, |stated| stated.line)
        }
        ScspError::NegativeUtility { .. } | ScspError::LargeUtility { .. } => {
            file.instance.objective_line()
        }
        ScspError::Constraint(CspError::InConstraint { number, .. }) => {
            file.instance.constraint_line(number - 1)
        }
        _ => 1,
    }
}

struct Reader<'a> {
    file: &'a StochasticInstance,
    /// By variable of the file: its variable in the network, once its stage was read.
    renamed: Vec<Option<VarId>>,
    network: StochasticNetwork,
}

impl Reader<'_> {
    /// Returns the network, and for each variable of the file its variable in the network.
    fn read(mut self) -> Result<(StochasticNetwork, Vec<Option<VarId>>), FormatError> {
        self.renamed = vec![None; self.file.instance.network.variables().len()];
        self.stages()?;
        self.constraints()?;
        if let Some(stated) = &self.file.threshold {
            let threshold = probability(stated)?;
            self.network.set_threshold(threshold);
        }
        if let Some(objective) = self.file.instance.network.objective() {
            let line = self.file.instance.objective_line();
            if objective.is_minimized {
                return Err(syntax(line, "`minimize` is not supported; a utility is maximized"));
            }
            self.check_scope(&objective.expr.scope(), line)?;
            let utility = objective.expr.rename(&|x| Expr::Var(self.var(x)));
            self.network.set_utility(utility);
        }
        Ok((self.network, self.renamed))
    }

    /// Reads the variables in the order of the stages: each decision after a draw begins a
    /// stage.
    fn stages(&mut self) -> Result<(), FormatError> {
        let instance = &self.file.instance;
        let mut stage = 0;
        let mut was_drawn = false;
        for block in &self.file.stages {
            if was_drawn && !block.is_drawn {
                stage += 1;
            }
            was_drawn = block.is_drawn;
            for &x in &block.variables {
                let variable = instance.network.variable(x).clone();
                let name = &variable.name;
                if self.renamed[x.index()].is_some() {
                    return Err(syntax(block.line, format!("`{name}` is listed in two stages")));
                }
                let distribution = self.distribution(x)?;
                match (block.is_drawn, &distribution) {
                    (true, None) => {
                        let problem = format!(
                            "`{name}` is drawn, but has no probabilities; \
                             declare it with the type `stochastic`"
                        );
                        return Err(syntax(block.line, problem));
                    }
                    (false, Some(_)) => {
                        let problem = format!(
                            "`{name}` is decided, but has probabilities; list it in `stochastic`"
                        );
                        return Err(syntax(block.line, problem));
                    }
                    _ => {}
                }
                let id = self.network.variable_with(StochasticVariable {
                    variable,
                    stage,
                    distribution,
                });
                self.renamed[x.index()] = Some(id);
            }
        }
        let left = instance.variables().find(|x| self.renamed[x.index()].is_none());
        match left {
            None => Ok(()),
            Some(x) => {
                let name = &instance.network.variable(x).name;
                Err(syntax(instance.variable_line(x), format!("`{name}` is not listed in a stage")))
            }
        }
    }

    fn distribution(&self, x: VarId) -> Result<Option<Distribution>, FormatError> {
        let Some(drawn) = self.file.drawn.iter().find(|drawn| drawn.variable == x) else {
            return Ok(None);
        };
        let line = self.file.instance.variable_line(x);
        let mut weights: Vec<(Value, Rational)> = Vec::new();
        for ((first, last), text) in &drawn.probabilities {
            let together = probability(&Stated { text: text.clone(), line })?;
            let n_values = i64::from(*last) - i64::from(*first) + 1;
            if weights.len() as i64 + n_values > MAX_LISTED {
                return Err(syntax(
                    line,
                    format!("a random variable has more than {MAX_LISTED} values"),
                ));
            }
            let share = together / Rational::from_integer(n_values.into());
            weights.extend((*first..=*last).map(|value| (value, share.clone())));
        }
        Ok(Some(Distribution::Weights(weights)))
    }

    fn constraints(&mut self) -> Result<(), FormatError> {
        let instance = &self.file.instance;
        for (index, constraint) in instance.network.constraints().iter().enumerate() {
            self.check_scope(&constraint.scope(), instance.constraint_line(index))?;
            let constraint = constraint.renamed(&|x| self.var(x), &|x| Expr::Var(self.var(x)));
            match self.file.thresholds.iter().find(|(own, _)| *own == index) {
                Some((_, stated)) => {
                    self.network.add_with_threshold(constraint, probability(stated)?);
                }
                None => self.network.add(constraint),
            }
        }
        Ok(())
    }

    /// Rejects constraints with auxiliary variables, which no stage decides.
    fn check_scope(&self, scope: &[VarId], line: usize) -> Result<(), FormatError> {
        if scope.iter().all(|x| self.renamed[x.index()].is_some()) {
            Ok(())
        } else {
            Err(syntax(line, "this element is not supported in a stochastic instance"))
        }
    }

    fn var(&self, x: VarId) -> VarId {
        self.renamed[x.index()].expect("every variable has a stage")
    }
}

fn probability(stated: &Stated) -> Result<Rational, FormatError> {
    parse_probability(&stated.text).ok_or_else(|| {
        let problem = format!("`{}` is not a probability; write `1/3` or `0.25`", stated.text);
        syntax(stated.line, problem)
    })
}

/// Writes a network as an instance.
///
/// # Errors
/// When XCSP3 cannot express a part of the network.
pub fn write(network: &StochasticNetwork) -> Result<String, FormatError> {
    let mut plain = Network::new();
    for variable in network.variables() {
        plain.int(variable.variable.name.clone(), variable.variable.domain.clone());
    }
    if let Some(utility) = network.utility() {
        plain.maximize(utility.clone());
    }
    let writer = Writer::new(&plain);
    let kind = if network.utility().is_some() { "SCOP" } else { "SCSP" };
    let mut out = format!("<instance format=\"XCSP3\" type=\"{kind}\">\n  <variables>\n");
    for x in network.ids() {
        out += &match domain(network, x)? {
            None => writer.declaration(x),
            Some(domain) => {
                let name = writer.name(x);
                format!("    <var id=\"{name}\" type=\"stochastic\"> {domain} </var>\n")
            }
        };
    }
    out += "  </variables>\n";
    let _ = writeln!(out, "  <constraints threshold=\"{}\">", network.threshold());
    for (index, own) in network.constraints().iter().enumerate() {
        let element = writer.element(index, &own.constraint)?;
        let _ = match &own.threshold {
            None => writeln!(out, "    {element}"),
            Some(threshold) => {
                let tag = element.split(['>', ' ']).next().unwrap_or_default();
                let rest = &element[tag.len()..];
                writeln!(out, "    {tag} threshold=\"{threshold}\"{rest}")
            }
        };
    }
    out += "  </constraints>\n";
    if let Some(objective) = plain.objective() {
        out += &writer.objectives(objective)?;
    }
    Ok(out + &stages(network, &writer) + "</instance>\n")
}

/// Returns the values of a random variable with their probabilities.
fn domain(network: &StochasticNetwork, x: VarId) -> Result<Option<String>, FormatError> {
    let Some(distribution) = &network.variable(x).distribution else { return Ok(None) };
    if !distribution.parents(x).is_empty() {
        let name = network.name(x);
        let what = format!("the probabilities of `{name}`, which depend on earlier variables,");
        return Err(unwritable(what));
    }
    // Values of probability 0 stay in the domain.
    let outcomes = network.outcomes(x, &|_| 0);
    let outcomes: FxHashMap<Value, Rational> = outcomes.into_iter().collect();
    let pair = |value: Value| {
        let p = outcomes.get(&value).map(ToString::to_string);
        format!("{value}:{}", p.unwrap_or_else(|| "0".into()))
    };
    Ok(Some(network.domain(x).iter().map(pair).collect::<Vec<_>>().join(" ")))
}

fn stages(network: &StochasticNetwork, writer: &Writer<'_>) -> String {
    let mut text = "  <stages>\n".to_string();
    let ids: Vec<VarId> = network.ids().collect();
    let kind = |x: &VarId| (network.variable(*x).stage, network.is_chance(*x));
    for block in ids.chunk_by(|x, y| kind(x) == kind(y)) {
        let tag = if network.is_chance(block[0]) { "stochastic" } else { "decision" };
        let list: Vec<&str> = block.iter().map(|&x| writer.name(x)).collect();
        let _ = writeln!(text, "    <{tag}> {} </{tag}>", list.join(" "));
    }
    text + "  </stages>\n"
}
