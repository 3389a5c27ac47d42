//! Chance in a model: distributions of variables, thresholds of goals, and the utility of a
//! play.

use ludex_csp::{Constraint, Expr as Formula, Operation, all_of, if_then_else};
use ludex_qcsp::ScopeId;
use ludex_scsp::{Rational, rational};

use crate::codes;
use crate::conditions::conjuncts;
use crate::draft::{Drawing, Owner, Stated};
use crate::eval::Evaluated;
use crate::lower::Lowering;
use crate::syntax::{self, Clause, Expr, Fraction};
use crate::value::Value;

impl Lowering<'_, '_> {
    /// Reads the distribution of the variable of a `random` scope from the clauses of the
    /// scope.
    pub(crate) fn drawing(&mut self, scope: &syntax::Scope, id: ScopeId) -> Evaluated<()> {
        let n_drawn = self.draft.scope(id).variables.len();
        let mut conditions: Vec<Formula> = Vec::new();
        let mut weight: Option<(Formula, Option<i64>)> = None;
        // The conditions under which the weight has a value.
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
                _ => unreachable!("other clauses are handled above"),
            }
        }
        if !conditions.is_empty() {
            let (formula, total) = weight.unwrap_or((Formula::Constant(1), None));
            let condition = all_of(conditions);
            // Where the condition is false, the weight is not used and needs no value.
            let needed = needs.into_iter().map(|need| Formula::Or(vec![!condition.clone(), need]));
            needs = needed.collect();
            weight = Some((if_then_else(condition, formula, Formula::Constant(0)), total));
        }
        let weight = weight.map(|(formula, total)| (only_where(formula, needs), total));
        self.draft.scope_mut(id).owner = Owner::Chance(Drawing { weight, at });
        Ok(())
    }

    /// Returns a number as a formula, with the conditions under which it has a value.
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
        if self.draft.threshold.replace(threshold).is_some() {
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
        // A conjunction stays one constraint; otherwise each part would get the threshold.
        let constraint = match value {
            Value::Law(mut laws) if laws.len() == 1 => laws.remove(0),
            value => {
                let term = self.evaluator.truth(value, goal.at.0)?;
                Constraint::Intension(term.formula)
            }
        };
        self.draft.likely_goals.push((Stated { constraint, at: goal.at.0 }, threshold));
        Ok(())
    }

    pub(crate) fn utility(&mut self, utility: &Expr) -> Evaluated<()> {
        let (mut formula, needs) = self.formula(utility)?;
        if !needs.is_empty() {
            formula = if_then_else(all_of(needs), formula, Formula::Constant(0));
        }
        if self.draft.utility.replace((formula, utility.at.0)).is_some() {
            let message = "a model has one utility";
            return self.evaluator.fail(codes::MISPLACED, utility.at.0, message);
        }
        Ok(())
    }
}

/// Makes a formula undefined where one of its conditions is false: it divides 0 by the
/// condition.
fn only_where(formula: Formula, needs: Vec<Formula>) -> Formula {
    if needs.is_empty() {
        return formula;
    }
    let (zero, needs) = (Box::new(Formula::Constant(0)), Box::new(all_of(needs)));
    formula + Formula::Binary(Operation::Div, zero, needs)
}
