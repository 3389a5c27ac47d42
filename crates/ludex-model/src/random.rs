//! Scopes of chance, and models with them as stochastic networks.

use std::cell::Cell;

use ludex_base::Span;
use ludex_csp::{Constraint, Expr as Formula, Operation, VarId, all_of, if_then_else};
use ludex_qcsp::{Model, Quantifier, ScopeId};
use ludex_scsp::{
    Distribution, Rational, ScspError, StochasticNetwork, StochasticVariable, rational,
};

use crate::codes;
use crate::conditions::conjuncts;
use crate::eval::Evaluated;
use crate::lower::{Compiled, Lowering};
use crate::syntax::{self, Clause, Expr, Fraction};
use crate::value::Value;

/// What a model says of chance.
#[derive(Clone, Default)]
pub struct Chance {
    /// The scopes that are drawn.
    pub scopes: Vec<ChanceScope>,
    /// How likely the goals have to hold together, if that is said.
    pub threshold: Option<Rational>,
    /// Goals with thresholds of their own.
    pub goals: Vec<(Constraint, Rational)>,
    /// What a play is worth in which the goals hold.
    pub utility: Option<Formula>,
    /// Where that is said.
    pub utility_at: Option<Span>,
}

/// A scope that is drawn.
#[derive(Clone, Debug)]
pub struct ChanceScope {
    /// The scope.
    pub scope: ScopeId,
    /// The weight of what is drawn, and what weights sum to; without one, all values are as
    /// likely.
    pub weight: Option<(Formula, Option<i64>)>,
    /// Where it says how values are drawn.
    pub at: Span,
}

impl Chance {
    /// Whether the model says anything of chance.
    pub(crate) fn is_there(&self) -> bool {
        !self.scopes.is_empty()
            || self.threshold.is_some()
            || !self.goals.is_empty()
            || self.utility.is_some()
    }
}

impl Compiled {
    /// What the text says of that which is wrong with its network.
    pub fn place_of(&self, error: &ScspError) -> Option<Span> {
        let chance = self.chance.as_ref();
        let of_scope = |name: &str| {
            let is_drawn = |drawn: &&ChanceScope| {
                let variables = &self.model.scope(drawn.scope).variables;
                variables.iter().any(|&x| self.model.variable(x).variable.name == name)
            };
            chance?.scopes.iter().find(is_drawn).map(|drawn| drawn.at)
        };
        match error {
            ScspError::Distribution { variable, .. } | ScspError::LaterParent { variable, .. } => {
                of_scope(variable)
            }
            ScspError::WideDomain { variable, .. } | ScspError::EmptyDomain { variable } => {
                let mut variables = self.model.variables().iter();
                let at = variables.position(|own| own.variable.name == *variable)?;
                self.places.get(at).copied()
            }
            ScspError::NegativeUtility { .. } | ScspError::LargeUtility { .. } => {
                chance?.utility_at
            }
            _ => None,
        }
    }
}

impl Lowering<'_, '_> {
    /// Whether a scope is drawn.
    pub(crate) fn is_random(&mut self, quantifier: &syntax::Quantifier) -> Evaluated<bool> {
        match quantifier {
            syntax::Quantifier::Random => Ok(true),
            syntax::Quantifier::Exists | syntax::Quantifier::Forall => Ok(false),
            syntax::Quantifier::If(condition, then, otherwise) => {
                if self.evaluator.constant_bool(condition)? {
                    self.is_random(then)
                } else {
                    self.is_random(otherwise)
                }
            }
        }
    }

    /// Declares what is drawn in a scope that was just opened.
    pub(crate) fn random_scope(&mut self, scope: &syntax::Scope, id: ScopeId) -> Evaluated<()> {
        for declaration in &scope.declarations {
            self.declaration(declaration)?;
        }
        let n_drawn = self.model.scope(id).variables.len();
        let mut conditions: Vec<Formula> = Vec::new();
        let mut weight: Option<(Formula, Option<i64>)> = None;
        // What gives the weight a value.
        let mut needs: Vec<Formula> = Vec::new();
        let mut at = scope.at.0;
        for clause in &scope.clauses {
            let place = match clause {
                Clause::Let(definition) => {
                    self.definition(definition)?;
                    continue;
                }
                Clause::Where(condition) => condition.at.0,
                Clause::Weight { at, .. } => at.0,
                _ => {
                    let message = "a scope of chance has `where`, `weight` and `let`";
                    return self.evaluator.fail(codes::MISPLACED, scope.at.0, message);
                }
            };
            if n_drawn != 1 {
                return self.evaluator.fail_with_help(
                    codes::MISPLACED,
                    place,
                    "the weight is that of one variable",
                    "draw several variables in scopes of their own, one after the other",
                );
            }
            at = place;
            match clause {
                Clause::Where(condition) => {
                    let value = self.evaluator.eval(condition)?;
                    let term = self.evaluator.truth(value, place)?;
                    conditions.extend(term.defined.into_iter().chain(conjuncts(term.formula)));
                }
                Clause::Weight { weight: expr, total, .. } => {
                    if weight.is_some() {
                        let message = "a scope of chance has one weight";
                        return self.evaluator.fail(codes::MISPLACED, place, message);
                    }
                    let formula;
                    (formula, needs) = self.formula(expr)?;
                    let total = match total {
                        Some(total) => Some(self.evaluator.constant_int(total)?),
                        None => None,
                    };
                    weight = Some((formula, total));
                }
                _ => unreachable!("the others were dealt with"),
            }
        }
        if !conditions.is_empty() {
            let (formula, total) = weight.unwrap_or((Formula::Constant(1), None));
            let condition = all_of(conditions);
            // Where the condition is false, nothing is needed.
            let needed = needs.into_iter().map(|need| Formula::Or(vec![!condition.clone(), need]));
            needs = needed.collect();
            weight = Some((if_then_else(condition, formula, Formula::Constant(0)), total));
        }
        let weight = weight.map(|(formula, total)| (only_where(formula, needs), total));
        self.chance.scopes.push(ChanceScope { scope: id, weight, at });
        Ok(())
    }

    /// A number as a formula, and what gives it a value.
    fn formula(&mut self, expr: &Expr) -> Evaluated<(Formula, Vec<Formula>)> {
        let value = self.evaluator.eval(expr)?;
        let term = crate::arithmetic::number(&mut self.evaluator, value, expr.at.0)?;
        Ok((term.formula, term.defined))
    }

    fn probability(&mut self, fraction: &Fraction) -> Evaluated<Rational> {
        let part = self.evaluator.constant_int(&fraction.part)?;
        let whole = self.evaluator.constant_int(&fraction.whole)?;
        if whole <= 0 || part < 0 || part > whole {
            let span = fraction.part.at.0.to(fraction.whole.at.0);
            let message = format!("{part} of {whole} is no probability");
            let help = "a probability lies between 0 of 1 and 1 of 1";
            return self.evaluator.fail_with_help(codes::TYPE, span, message, help);
        }
        Ok(rational(part, whole))
    }

    pub(crate) fn threshold(&mut self, fraction: &Fraction) -> Evaluated<()> {
        let threshold = self.probability(fraction)?;
        if self.chance.threshold.replace(threshold).is_some() {
            let message = "a model has one threshold";
            return self.evaluator.fail_with_help(
                codes::MISPLACED,
                fraction.part.at.0,
                message,
                "a goal may have its own: `goal x > 0 threshold 1 of 2;`",
            );
        }
        Ok(())
    }

    pub(crate) fn likely_goal(&mut self, goal: &Expr, threshold: &Fraction) -> Evaluated<()> {
        let threshold = self.probability(threshold)?;
        let value = self.evaluator.eval(goal)?;
        // One constraint, as its parts would each get the threshold.
        let constraint = match value {
            Value::Law(mut laws) if laws.len() == 1 => laws.remove(0),
            value => {
                let term = self.evaluator.truth(value, goal.at.0)?;
                Constraint::Intension(term.formula)
            }
        };
        self.chance.goals.push((constraint, threshold));
        Ok(())
    }

    pub(crate) fn utility(&mut self, utility: &Expr) -> Evaluated<()> {
        let (mut formula, needs) = self.formula(utility)?;
        if !needs.is_empty() {
            formula = if_then_else(all_of(needs), formula, Formula::Constant(0));
        }
        self.chance.utility_at = Some(utility.at.0);
        if self.chance.utility.replace(formula).is_some() {
            let message = "a model has one utility";
            return self.evaluator.fail(codes::MISPLACED, utility.at.0, message);
        }
        Ok(())
    }
}

/// A formula that has no value where something is false that it needs: 0 is divided by it.
fn only_where(formula: Formula, needs: Vec<Formula>) -> Formula {
    if needs.is_empty() {
        return formula;
    }
    let (zero, needs) = (Box::new(Formula::Constant(0)), Box::new(all_of(needs)));
    formula + Formula::Binary(Operation::Div, zero, needs)
}

/// A model whose scopes are `exists` and `random` as a stochastic network. What follows by
/// definition is put where it is used.
///
/// # Errors
/// When the model has universal scopes or optimizes, a table mentions a definition, or
/// definitions grow too large where they are used.
pub fn to_stochastic(compiled: &Compiled) -> Result<StochasticNetwork, ScspError> {
    let model = &compiled.model;
    if model.is_optimization() {
        return refused("the model has criteria or aggregates; state a `utility`");
    }
    let nothing = Chance::default();
    let chance = compiled.chance.as_ref().unwrap_or(&nothing);
    let meaning = Meaning::new(model);
    let mut network = StochasticNetwork::new();
    let mut stage = 0;
    let mut was_drawn = false;
    for (i, scope) in model.scopes().iter().enumerate() {
        let drawn = chance.scopes.iter().find(|drawn| drawn.scope.index() == i);
        if drawn.is_none() && scope.quantifier == Quantifier::Forall {
            return refused("the model has scopes of an opponent (`forall`)");
        }
        if drawn.is_none() && was_drawn {
            stage += 1;
        }
        was_drawn = drawn.is_some();
        for &x in &scope.variables {
            let variable = model.variable(x);
            let domain = &variable.variable.domain;
            if variable.definition.is_some() {
                let (low, high) = meaning.bounds[x.index()];
                let is_within = domain
                    .ranges()
                    .iter()
                    .any(|&(first, last)| i64::from(first) <= low && high <= i64::from(last));
                if !is_within {
                    network.require(meaning.of(x)?.is_in(domain.clone()));
                }
                continue;
            }
            let distribution = match drawn.map(|drawn| &drawn.weight) {
                None => None,
                Some(None) => Some(Distribution::Uniform),
                Some(Some((weight, total))) => {
                    let weight = meaning.expanded(weight)?;
                    Some(Distribution::Weighted { weight, total: *total })
                }
            };
            network.variable_with(StochasticVariable {
                variable: variable.variable.clone(),
                stage,
                distribution,
            });
        }
    }
    let renamed = |constraint: &Constraint| -> Result<Constraint, ScspError> {
        let needs_variables =
            matches!(constraint, Constraint::Table { .. } | Constraint::Custom(_));
        let is_defined = |x: &VarId| meaning.same[x.index()].is_none();
        if needs_variables && constraint.scope().iter().any(is_defined) {
            return refused("a table mentions what follows by definition");
        }
        let variable = |x: VarId| meaning.same[x.index()].unwrap_or(x);
        let renamed = constraint.renamed(&variable, &|x| meaning.part(x));
        meaning.fits().map(|()| renamed)
    };
    let restrictors = model.scopes().iter().flat_map(|scope| &scope.restrictor);
    for constraint in restrictors.chain(model.goal_constraints()) {
        network.add(renamed(constraint)?);
    }
    for (goal, threshold) in &chance.goals {
        network.add_with_threshold(renamed(goal)?, threshold.clone());
    }
    if let Some(threshold) = &chance.threshold {
        network.set_threshold(threshold.clone());
    }
    if let Some(utility) = &chance.utility {
        network.set_utility(meaning.expanded(utility)?);
    }
    Ok(network)
}

/// What definitions may grow to where they are used.
const MAX_PARTS: u64 = 1_000_000;
/// How deep they may get.
const MAX_DEPTH: u64 = 2_000;

fn refused<T>(reason: &str) -> Result<T, ScspError> {
    let option = "solving as a stochastic network";
    Err(ScspError::Option { option, reason: reason.to_string() })
}

/// What stands for the variables of a model in the network.
struct Meaning<'a> {
    model: &'a Model,
    /// The variable of the network that is the same.
    same: Vec<Option<VarId>>,
    bounds: Vec<(i64, i64)>,
    /// How many parts what stands for the variable has, and how deep it is.
    sizes: Vec<(u64, u64)>,
    /// Parts put in so far. Beyond the limits nothing is.
    n_parts: Cell<u64>,
}

impl<'a> Meaning<'a> {
    fn new(model: &'a Model) -> Self {
        let mut meaning = Self {
            model,
            same: Vec::new(),
            bounds: Vec::new(),
            sizes: Vec::new(),
            n_parts: Cell::new(0),
        };
        let mut n_variables = 0;
        for variable in model.variables() {
            let (same, bounds, size) = match &variable.definition {
                None => {
                    n_variables += 1;
                    let domain = &variable.variable.domain;
                    let bounds = (domain.min().unwrap_or(0), domain.max().unwrap_or(0));
                    let bounds = (bounds.0.into(), bounds.1.into());
                    (Some(VarId::new(n_variables - 1)), bounds, (1, 1))
                }
                Some(definition) => {
                    let same = match definition {
                        Formula::Var(y) => meaning.same[y.index()],
                        _ => None,
                    };
                    let bounds = definition.bounds(&|y| meaning.bounds[y.index()]);
                    (same, bounds, meaning.size(definition))
                }
            };
            meaning.same.push(same);
            meaning.bounds.push(bounds);
            meaning.sizes.push(size);
        }
        meaning
    }

    /// The parts and the depth of a formula in which definitions are put.
    fn size(&self, formula: &Formula) -> (u64, u64) {
        if let Formula::Var(x) = formula {
            return self.sizes[x.index()];
        }
        let (mut n_parts, mut depth) = (1_u64, 0);
        for child in formula.children() {
            let size = self.size(child);
            n_parts = n_parts.saturating_add(size.0);
            depth = depth.max(size.1);
        }
        (n_parts, depth.saturating_add(1))
    }

    /// What stands for a variable, if all that was put in fits.
    fn of(&self, x: VarId) -> Result<Formula, ScspError> {
        self.expanded(&Formula::Var(x))
    }

    fn expanded(&self, formula: &Formula) -> Result<Formula, ScspError> {
        let formula = formula.rename(&|x| self.part(x));
        self.fits().map(|()| formula)
    }

    /// What stands for a variable.
    fn part(&self, x: VarId) -> Formula {
        if let Some(same) = self.same[x.index()] {
            return Formula::Var(same);
        }
        let (n_parts, depth) = self.sizes[x.index()];
        let n_parts = if depth > MAX_DEPTH { u64::MAX } else { n_parts };
        self.n_parts.set(self.n_parts.get().saturating_add(n_parts));
        if self.n_parts.get() > MAX_PARTS {
            return Formula::Constant(0);
        }
        self.inside(x)
    }

    fn inside(&self, x: VarId) -> Formula {
        match (self.same[x.index()], &self.model.variable(x).definition) {
            (None, Some(definition)) => definition.rename(&|y| self.inside(y)),
            (same, _) => Formula::Var(same.unwrap_or(x)),
        }
    }

    fn fits(&self) -> Result<(), ScspError> {
        if self.n_parts.get() <= MAX_PARTS {
            Ok(())
        } else {
            refused(&format!(
                "definitions (`let`), put where they are used, have more than {MAX_PARTS} parts or \
             are deeper than {MAX_DEPTH}; mention each fewer times, or state goals instead"
            ))
        }
    }
}
