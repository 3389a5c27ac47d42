//! The parts of SCSP and SCOP instances beyond a network: random variables, stages, and
//! thresholds of constraints.

use ludex_base::Deadline;
use ludex_csp::{Value, ValueSet, VarId};

use super::super::text::Symbols;
use super::super::xml::Node;
use super::{Instance, Reader};
use crate::FormatError;

/// An instance with stages. Probabilities are kept as written.
#[derive(Clone)]
pub struct StochasticInstance {
    /// Variables, constraints and objective, with their lines.
    pub instance: Instance,
    /// The random variables.
    pub drawn: Vec<Drawn>,
    /// The decisions and draws, in order.
    pub stages: Vec<StageBlock>,
    /// The probability with which all constraints must hold together.
    pub threshold: Option<Stated>,
    /// Constraints with their own threshold: the number of each, and the probability.
    pub thresholds: Vec<(usize, Stated)>,
}

/// The distribution of a random variable.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// The variable.
    pub variable: VarId,
    /// Ranges of values, each with the probability of the whole range.
    pub probabilities: Vec<((Value, Value), String)>,
}

/// Consecutive variables that are all decided or all random.
#[derive(Clone, Debug)]
pub struct StageBlock {
    /// Whether they are random.
    pub is_drawn: bool,
    /// The variables.
    pub variables: Vec<VarId>,
    /// The line that lists them.
    pub line: usize,
}

/// A piece of text with its line.
#[derive(Clone, Debug)]
pub struct Stated {
    /// The text.
    pub text: String,
    /// The line.
    pub line: usize,
}

/// Reads the element of an instance of the frameworks SCSP and SCOP.
///
/// A variable of type `stochastic` has a probability after each value, `1:1/6 2..3:5/6`. The
/// element `stages` lists the variables in order, as children `decision` and `stochastic`.
///
/// # Errors
/// As [`read_by`](super::read_by).
pub fn read_stochastic(
    root: &Node,
    deadline: &Deadline,
) -> Result<StochasticInstance, FormatError> {
    match root.attribute("type") {
        Some("SCSP" | "SCOP") => {}
        other => {
            let kind = other.unwrap_or("CSP");
            let problem = format!("the framework is {kind}, not SCSP or SCOP");
            return Err(root.error(problem));
        }
    }
    let mut reader =
        Reader { deadline: deadline.clone(), is_stochastic: true, ..Reader::default() };
    let (mut stages, mut threshold) = (None, None);
    for child in &root.children {
        match &*child.name {
            "stages" if stages.is_some() => {
                return Err(child.error("the stages are stated twice"));
            }
            "stages" => stages = Some(child),
            _ => reader.part(child)?,
        }
        if let Some(text) = child.attribute("threshold").filter(|_| child.name == "constraints") {
            if threshold.is_some() {
                return Err(child.error("the threshold of all constraints is stated twice"));
            }
            threshold = Some(child.stated(text));
        }
    }
    let stages = stages.ok_or_else(|| {
        root.error("there is no element `stages`; list decisions and draws in order")
    })?;
    let stages =
        stages.children.iter().map(|block| reader.stage(block)).collect::<Result<_, _>>()?;
    let (drawn, thresholds) =
        (std::mem::take(&mut reader.drawn), std::mem::take(&mut reader.thresholds));
    Ok(StochasticInstance { instance: reader.finish()?, drawn, stages, threshold, thresholds })
}

impl Node {
    fn stated(&self, text: &str) -> Stated {
        Stated { text: text.to_string(), line: self.line }
    }
}

impl Reader {
    fn stage(&self, block: &Node) -> Result<StageBlock, FormatError> {
        let is_drawn = match &*block.name {
            "decision" => false,
            "stochastic" => true,
            other => return Err(block.unsupported(format!("`{other}` in `stages`"))),
        };
        let mut variables = Vec::new();
        for token in block.text.split_whitespace() {
            variables.extend(self.vars(token).map_err(|problem| block.error(problem))?);
        }
        Ok(StageBlock { is_drawn, variables, line: block.line })
    }

    /// Gives the threshold of an element to its constraint, the one after the first `n_before`.
    pub(super) fn threshold(&mut self, node: &Node, n_before: usize) -> Result<(), FormatError> {
        let Some(text) = node.attribute("threshold").filter(|_| self.is_stochastic) else {
            return Ok(());
        };
        let n_stated = self.network.constraints().len() - n_before;
        if n_stated != 1 {
            return Err(node.error(format!(
                "a threshold is that of one constraint, and `{}` states {n_stated}",
                node.name
            )));
        }
        if self.thresholds.iter().any(|(index, _)| *index == n_before) {
            return Err(node.error(format!(
                "the constraint in `{}` has a threshold of its own; state one of them",
                node.name
            )));
        }
        self.thresholds.push((n_before, node.stated(text)));
        Ok(())
    }
}

/// Ranges of values, each with the probability of the whole range.
pub(super) type Probabilities = Vec<((Value, Value), String)>;

/// Returns the values of a stochastic domain without their probabilities.
pub(super) fn values_text(text: &str) -> String {
    let values = text.split_whitespace().map(|token| token.split(':').next().unwrap_or(token));
    values.collect::<Vec<_>>().join(" ")
}

/// Reads the values of a stochastic domain with their probabilities.
pub(super) fn probabilities(
    node: &Node,
    text: &str,
    symbols: &Symbols,
) -> Result<Probabilities, FormatError> {
    let pair = |token: &str| {
        let (values, probability) = token.split_once(':').ok_or_else(|| {
            node.error(format!("`{token}` has no probability; write `{token}:1/2`"))
        })?;
        let values: ValueSet =
            super::text::value_set(values, symbols).map_err(|problem| node.error(problem))?;
        match values.ranges() {
            [range] => Ok((*range, probability.to_string())),
            _ => Err(node.error(format!("`{token}` is not a value with its probability"))),
        }
    };
    text.split_whitespace().map(pair).collect()
}
