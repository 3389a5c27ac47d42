//! Stochastic networks as XCSP3: the frameworks SCSP and SCOP.
//!
//! A variable of type `stochastic` has a probability behind each value, `1:1/6 2..3:5/6`; that of
//! a range is shared by its values. The element `stages` lists the variables in order, as children
//! `decision` and `stochastic`. The attribute `threshold` of `constraints` says how likely they
//! hold together, that of one constraint how likely it holds by itself. In an SCOP the objective,
//! which is maximized, is what a play is worth in which the constraints hold.
//!
//! Probabilities that depend on earlier variables have no form and are refused by name.

use std::fmt::Write;

use ludex_base::Deadline;
use ludex_csp::{CspError, Expr, Network, Value, VarId};
use ludex_scsp::{
    Distribution, Rational, ScspError, StochasticNetwork, StochasticVariable, parse_probability,
};
use rustc_hash::FxHashMap;

use super::read::{Stated, StochasticInstance, read_stochastic};

/// A variable that is drawn lists at most this many values.
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
/// # Ok::<(), ludex_scsp::ScspError>(())
/// ```
///
/// # Errors
/// [`ScspError::Syntax`] with the line for what is no such instance, or means nothing;
/// [`ScspError::Constraint`] when the time was up.
pub fn read(text: &str, deadline: &Deadline) -> Result<StochasticNetwork, ScspError> {
    let file = read_stochastic(text, deadline).map_err(at_line)?;
    let reader = Reader { file: &file, renamed: Vec::new(), network: StochasticNetwork::new() };
    let network = reader.read()?;
    match network.check_by(deadline).into_iter().next() {
        None => Ok(network),
        Some(error) => Err(syntax(line_of(&file, &error), error.to_string())),
    }
}

fn syntax(line: usize, problem: impl Into<String>) -> ScspError {
    ScspError::Syntax { line, problem: problem.into() }
}

/// An error of the reader of networks, with its line apart.
fn at_line(error: CspError) -> ScspError {
    match error {
        CspError::Syntax { line, problem } => syntax(line, problem),
        CspError::AtLine { line, problem } => syntax(line, problem.to_string()),
        CspError::Unsupported { line, element } => {
            syntax(line, format!("{element} is not supported"))
        }
        other => ScspError::Constraint(other),
    }
}

/// The line of the variable, constraint or threshold that an error is about.
fn line_of(file: &StochasticInstance, error: &ScspError) -> usize {
    let names = file.instance.network.variables();
    let of_variable = |name: &str| {
        let at = names.iter().position(|variable| variable.name == name);
        at.map_or(1, |at| file.instance.variable_line(VarId::new(at)))
    };
    match error {
        ScspError::EmptyDomain { variable }
        | ScspError::WideDomain { variable, .. }
        | ScspError::StageOrder { variable, .. }
        | ScspError::Distribution { variable, .. }
        | ScspError::LaterParent { variable, .. } => of_variable(variable),
        ScspError::Threshold { place, .. } => {
            let is_own =
                |(index, _): &&(usize, Stated)| *place == format!("constraint {}", index + 1);
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
    /// By variable of the file, the one of the network, once its stage was read.
    renamed: Vec<Option<VarId>>,
    network: StochasticNetwork,
}

impl Reader<'_> {
    fn read(mut self) -> Result<StochasticNetwork, ScspError> {
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
                return Err(syntax(line, "a utility is maximized; `minimize` is not supported"));
            }
            self.check_scope(&objective.expr.scope(), line)?;
            let utility = objective.expr.rename(&|x| Expr::Var(self.var(x)));
            self.network.set_utility(utility);
        }
        Ok(self.network)
    }

    /// The variables in the order of the stages: one begins with each decision after a draw.
    fn stages(&mut self) -> Result<(), ScspError> {
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
                    return Err(syntax(block.line, format!("`{name}` is in two stages")));
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
                Err(syntax(instance.variable_line(x), format!("`{name}` is in no stage")))
            }
        }
    }

    fn distribution(&self, x: VarId) -> Result<Option<Distribution>, ScspError> {
        let Some(drawn) = self.file.drawn.iter().find(|drawn| drawn.variable == x) else {
            return Ok(None);
        };
        let line = self.file.instance.variable_line(x);
        let mut weights: Vec<(Value, Rational)> = Vec::new();
        for ((first, last), text) in &drawn.probabilities {
            let together = probability(&Stated { text: text.clone(), line })?;
            let n_values = i64::from(*last) - i64::from(*first) + 1;
            if weights.len() as i64 + n_values > MAX_LISTED {
                return Err(syntax(line, format!("more than {MAX_LISTED} values are drawn from")));
            }
            let share = together / Rational::from_integer(n_values.into());
            weights.extend((*first..=*last).map(|value| (value, share.clone())));
        }
        Ok(Some(Distribution::Weights(weights)))
    }

    fn constraints(&mut self) -> Result<(), ScspError> {
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

    /// Some constraints bring variables of their own, which no stage decides.
    fn check_scope(&self, scope: &[VarId], line: usize) -> Result<(), ScspError> {
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

fn probability(stated: &Stated) -> Result<Rational, ScspError> {
    parse_probability(&stated.text).ok_or_else(|| {
        let problem = format!("`{}` is no probability; write `1/3` or `0.25`", stated.text);
        syntax(stated.line, problem)
    })
}

/// Writes a network as an instance.
///
/// # Errors
/// When XCSP3 has no form for a part of the network.
pub fn write(network: &StochasticNetwork) -> Result<String, ScspError> {
    let mut plain = Network::new();
    for variable in network.variables() {
        plain.int(variable.variable.name.clone(), variable.variable.domain.clone());
    }
    network.constraints().iter().for_each(|own| plain.add(own.constraint.clone()));
    if let Some(utility) = network.utility() {
        plain.maximize(utility.clone());
    }
    let text = super::write(&plain)
        .map_err(|error| unwritable(format!("a part of the network: {error}")))?;
    let mut out = String::new();
    let mut names: Vec<String> = Vec::new();
    let mut n_constraints = 0;
    let mut is_inside = false;
    for line in text.lines() {
        match line.trim() {
            first if first.starts_with("<instance") => {
                let kind = if network.utility().is_some() { "SCOP" } else { "SCSP" };
                let _ = writeln!(out, "<instance format=\"XCSP3\" type=\"{kind}\">");
                continue;
            }
            var if var.starts_with("<var ") => {
                let name = var.split('"').nth(1).unwrap_or_default().to_string();
                let x = VarId::new(names.len());
                match domain(network, x)? {
                    None => out += line,
                    Some(domain) => {
                        let _ = write!(
                            out,
                            "    <var id=\"{name}\" type=\"stochastic\"> {domain} </var>"
                        );
                    }
                }
                out.push('\n');
                names.push(name);
                continue;
            }
            "<constraints>" => {
                is_inside = true;
                let _ = writeln!(out, "  <constraints threshold=\"{}\">", network.threshold());
                continue;
            }
            "</constraints>" => is_inside = false,
            "</instance>" => out += &stages(network, &names),
            constraint if is_inside => {
                if let Some(threshold) = &network.constraints()[n_constraints].threshold {
                    let tag = constraint.split(['>', ' ']).next().unwrap_or_default();
                    let rest = &constraint[tag.len()..];
                    let _ = writeln!(out, "    {tag} threshold=\"{threshold}\"{rest}");
                    n_constraints += 1;
                    continue;
                }
                n_constraints += 1;
            }
            _ => {}
        }
        out += line;
        out.push('\n');
    }
    Ok(out)
}

fn unwritable(what: impl std::fmt::Display) -> ScspError {
    ScspError::Option { option: "XCSP3", reason: format!("it has no form for {what}") }
}

/// The values of a variable that is drawn, with their probabilities.
fn domain(network: &StochasticNetwork, x: VarId) -> Result<Option<String>, ScspError> {
    let Some(distribution) = &network.variable(x).distribution else { return Ok(None) };
    if !distribution.parents(x).is_empty() {
        let name = network.name(x);
        let what = format!("the probabilities of `{name}`, which depend on earlier variables");
        return Err(unwritable(what));
    }
    // What is never drawn stays a value.
    let outcomes = network.outcomes(x, &|_| 0);
    let outcomes: FxHashMap<Value, Rational> = outcomes.into_iter().collect();
    let pair = |value: Value| {
        let p = outcomes.get(&value).map(ToString::to_string);
        format!("{value}:{}", p.unwrap_or_else(|| "0".into()))
    };
    Ok(Some(network.domain(x).iter().map(pair).collect::<Vec<_>>().join(" ")))
}

fn stages(network: &StochasticNetwork, names: &[String]) -> String {
    let mut text = "  <stages>\n".to_string();
    let ids: Vec<VarId> = network.ids().collect();
    let kind = |x: &VarId| (network.variable(*x).stage, network.is_chance(*x));
    for block in ids.chunk_by(|x, y| kind(x) == kind(y)) {
        let tag = if network.is_chance(block[0]) { "stochastic" } else { "decision" };
        let list: Vec<&str> = block.iter().map(|x| names[x.index()].as_str()).collect();
        let _ = writeln!(text, "    <{tag}> {} </{tag}>", list.join(" "));
    }
    text + "  </stages>\n"
}
