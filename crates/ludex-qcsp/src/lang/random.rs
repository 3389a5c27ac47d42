//! Scopes of chance, and models with them as stochastic networks.

use ludex_base::Span;
use ludex_csp::{Constraint, Expr as Formula, VarId, if_then_else};

use super::codes;
use super::conditions::conjuncts;
use super::eval::Evaluated;
use super::lower::{Compiled, Lowering};
use super::syntax::{self, Clause, Expr, Fraction};
use super::value::Value;
use crate::stochastic::{
    Distribution, Rational, StochasticError, StochasticNetwork, StochasticVariable, rational,
};
use crate::{Quantifier, ScopeId};

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
    pub(super) fn is_there(&self) -> bool {
        !self.scopes.is_empty()
            || self.threshold.is_some()
            || !self.goals.is_empty()
            || self.utility.is_some()
    }
}

impl Compiled {
    /// What the text says of that which is wrong with its network.
    pub fn place_of(&self, error: &StochasticError) -> Option<Span> {
        let chance = self.chance.as_ref()?;
        let of_scope = |name: &str| {
            let is_drawn = |drawn: &&ChanceScope| {
                let variables = &self.model.scope(drawn.scope).variables;
                variables.iter().any(|&x| self.model.variable(x).variable.name == name)
            };
            chance.scopes.iter().find(is_drawn).map(|drawn| drawn.at)
        };
        match error {
            StochasticError::Distribution { variable, .. }
            | StochasticError::WideDomain { variable, .. }
            | StochasticError::LaterParent { variable, .. } => of_scope(variable),
            StochasticError::NegativeUtility { .. } => chance.utility_at,
            _ => None,
        }
    }
}

impl Lowering<'_, '_> {
    /// Whether a scope is drawn.
    pub(super) fn is_random(&mut self, quantifier: &syntax::Quantifier) -> Evaluated<bool> {
        match quantifier {
            syntax::Quantifier::Random => Ok(true),
            syntax::Quantifier::Exists | syntax::Quantifier::Forall => Ok(false),
            syntax::Quantifier::If(condition, then, otherwise) => {
                match self.evaluator.constant_bool(condition)? {
                    true => self.is_random(then),
                    false => self.is_random(otherwise),
                }
            }
        }
    }

    /// Declares what is drawn in a scope that was just opened.
    pub(super) fn random_scope(&mut self, scope: &syntax::Scope, id: ScopeId) -> Evaluated<()> {
        for declaration in &scope.declarations {
            self.declaration(declaration)?;
        }
        let n_drawn = self.model.scope(id).variables.len();
        let mut conditions: Vec<Formula> = Vec::new();
        let mut weight: Option<(Formula, Option<i64>)> = None;
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
                    let formula = self.formula(expr)?;
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
            let condition = ludex_csp::all_of(conditions);
            weight = Some((if_then_else(condition, formula, Formula::Constant(0)), total));
        }
        self.chance.scopes.push(ChanceScope { scope: id, weight, at });
        Ok(())
    }

    /// A number as a formula.
    fn formula(&mut self, expr: &Expr) -> Evaluated<Formula> {
        let value = self.evaluator.eval(expr)?;
        Ok(super::arithmetic::number(&mut self.evaluator, value, expr.at.0)?.formula)
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

    pub(super) fn threshold(&mut self, fraction: &Fraction) -> Evaluated<()> {
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

    pub(super) fn likely_goal(&mut self, goal: &Expr, threshold: &Fraction) -> Evaluated<()> {
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

    pub(super) fn utility(&mut self, utility: &Expr) -> Evaluated<()> {
        let formula = self.formula(utility)?;
        self.chance.utility_at = Some(utility.at.0);
        if self.chance.utility.replace(formula).is_some() {
            let message = "a model has one utility";
            return self.evaluator.fail(codes::MISPLACED, utility.at.0, message);
        }
        Ok(())
    }
}

/// A model whose scopes are `exists` and `random` as a stochastic network. What follows by
/// definition is put where it is used.
///
/// # Errors
/// When the model has universal scopes or optimizes, or a table mentions a definition.
pub fn to_stochastic(compiled: &Compiled) -> Result<StochasticNetwork, StochasticError> {
    let refused = |reason: &str| {
        let option = "solving as a stochastic network";
        Err(StochasticError::Option { option, reason: reason.to_string() })
    };
    let model = &compiled.model;
    if model.is_optimization() {
        return refused("the model has criteria or aggregates; state a `utility`");
    }
    let nothing = Chance::default();
    let chance = compiled.chance.as_ref().unwrap_or(&nothing);
    let mut network = StochasticNetwork::new();
    // By variable of the model, what stands for it.
    let mut meaning: Vec<Formula> = Vec::new();
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
            if let Some(definition) = &variable.definition {
                let value = definition.rename(&|y| meaning[y.index()].clone());
                let (low, high) = value.bounds(&|y| {
                    let domain = network.domain(y);
                    (domain.min().unwrap_or(0).into(), domain.max().unwrap_or(0).into())
                });
                let domain = &variable.variable.domain;
                let is_within = domain
                    .ranges()
                    .iter()
                    .any(|&(first, last)| i64::from(first) <= low && high <= i64::from(last));
                if !is_within {
                    network.require(value.clone().is_in(domain.clone()));
                }
                meaning.push(value);
                continue;
            }
            let id = VarId::new(network.variables().len());
            meaning.push(Formula::Var(id));
            let distribution = drawn.map(|drawn| match &drawn.weight {
                None => Distribution::Uniform,
                Some((weight, total)) => Distribution::Weighted {
                    weight: weight.rename(&|y| meaning[y.index()].clone()),
                    total: *total,
                },
            });
            network.variable_with(StochasticVariable {
                variable: variable.variable.clone(),
                stage,
                distribution,
            });
        }
    }
    let is_defined = |x: &VarId| !matches!(meaning[x.index()], Formula::Var(_));
    let renamed = |constraint: &Constraint| {
        let needs_variables =
            matches!(constraint, Constraint::Table { .. } | Constraint::Custom(_));
        if needs_variables && constraint.scope().iter().any(is_defined) {
            return None;
        }
        let variable = |x: VarId| match meaning[x.index()] {
            Formula::Var(y) => y,
            _ => x,
        };
        Some(constraint.renamed(&variable, &|x| meaning[x.index()].clone()))
    };
    let on_definitions = "a table mentions what follows by definition";
    let restrictors = model.scopes().iter().flat_map(|scope| &scope.restrictor);
    for constraint in restrictors.chain(model.goal_constraints()) {
        let Some(constraint) = renamed(constraint) else { return refused(on_definitions) };
        network.add(constraint);
    }
    for (goal, threshold) in &chance.goals {
        let Some(goal) = renamed(goal) else { return refused(on_definitions) };
        network.add_with_threshold(goal, threshold.clone());
    }
    if let Some(threshold) = &chance.threshold {
        network.set_threshold(threshold.clone());
    }
    if let Some(utility) = &chance.utility {
        network.set_utility(utility.rename(&|x| meaning[x.index()].clone()));
    }
    Ok(network)
}
