//! Turns a draft with `exists` and `random` scopes into a stochastic network.
//!
//! A stochastic network has no definitions, so each defined variable is replaced by its
//! definition.

use std::cell::Cell;

use ludex_base::Span;
use ludex_csp::{Constraint, Expr as Formula, VarId};
use ludex_qcsp::Quantifier;
use ludex_scsp::{Distribution, ScspError, StochasticNetwork, StochasticVariable};

use crate::draft::{Draft, DraftScope, Drawing, Owner, Refused, Stated};

/// Largest number of parts after definitions are inserted.
const MAX_PARTS: u64 = 1_000_000;
/// Greatest depth after definitions are inserted.
const MAX_DEPTH: u64 = 2_000;

impl Draft {
    /// Returns the stochastic network of a draft.
    ///
    /// # Errors
    /// When the draft has universal scopes or optimizes, a table uses a defined variable, or
    /// the definitions grow too large when inserted.
    pub fn stochastic(&self) -> Result<StochasticNetwork, Refused> {
        self.check_stochastic()?;
        let expansion = Expansion::new(self);
        let mut network = StochasticNetwork::new();
        self.add_variables(&expansion, &mut network)?;
        let restrictors = self.scopes.iter().flat_map(|scope| &scope.restrictor);
        for stated in restrictors.chain(&self.goals) {
            network.add(expansion.constraint(stated)?);
        }
        for (goal, threshold) in &self.likely_goals {
            network.add_with_threshold(expansion.constraint(goal)?, threshold.clone());
        }
        if let Some(threshold) = &self.threshold {
            network.set_threshold(threshold.clone());
        }
        if let Some((utility, at)) = &self.utility {
            network.set_utility(expansion.formula(utility, *at)?);
        }
        Ok(network)
    }

    /// Checks that there is neither an opponent nor anything to optimize.
    fn check_stochastic(&self) -> Result<(), Refused> {
        let refused = |scope: &DraftScope, reason: &str| {
            Err(Refused { at: scope.at, reason: reason.to_string() })
        };
        let is_optimizing = |scope: &&DraftScope| scope.criterion.is_some();
        let aggregated = self.aggregates.first().map(|aggregate| self.scope(aggregate.scope));
        if let Some(scope) = self.scopes.iter().find(is_optimizing).or(aggregated) {
            let reason =
                "a stochastic network has no criteria and no aggregates; state a `utility`";
            return refused(scope, reason);
        }
        let is_universal =
            |scope: &&DraftScope| matches!(scope.owner, Owner::Player(Quantifier::Forall));
        match self.scopes.iter().find(is_universal) {
            None => Ok(()),
            Some(scope) => {
                refused(scope, "a stochastic network has no scopes of an opponent (`forall`)")
            }
        }
    }

    /// Adds the decisions and random variables in stages: each decision after a draw begins a
    /// stage.
    fn add_variables(
        &self,
        expansion: &Expansion<'_>,
        network: &mut StochasticNetwork,
    ) -> Result<(), Refused> {
        let mut stage = 0;
        let mut was_drawn = false;
        for scope in &self.scopes {
            let drawing = match &scope.owner {
                Owner::Chance(drawing) => Some(drawing),
                Owner::Player(_) => None,
            };
            if drawing.is_none() && was_drawn {
                stage += 1;
            }
            was_drawn = drawing.is_some();
            for &x in &scope.variables {
                let own = self.variable(x);
                if own.definition.is_some() {
                    if !expansion.is_within_domain(x) {
                        let value = expansion.formula(&Formula::Var(x), own.at)?;
                        network.require(value.is_in(own.variable.domain.clone()));
                    }
                    continue;
                }
                let distribution = drawing.map(|it| expansion.distribution(it)).transpose()?;
                let variable = own.variable.clone();
                network.variable_with(StochasticVariable { variable, stage, distribution });
            }
        }
        Ok(())
    }

    /// Returns the position in the text of an error in the network.
    pub fn place_of_stochastic(&self, error: &ScspError) -> Span {
        // The network has the variables of the draft except the defined ones.
        let own = |x: VarId| {
            let mut free = self.variables.iter().filter(|own| own.definition.is_none());
            free.nth(x.index())
        };
        let declared = |x: VarId| own(x).map(|own| own.at);
        let drawn = |x: VarId| match &self.scope(own(x)?.scope).owner {
            Owner::Chance(drawing) => Some(drawing.at),
            Owner::Player(_) => None,
        };
        let place = match error {
            ScspError::Distribution { variable, .. } | ScspError::LaterParent { variable, .. } => {
                drawn(variable.id)
            }
            ScspError::WideDomain { variable, .. } | ScspError::EmptyDomain { variable } => {
                declared(variable.id)
            }
            ScspError::NegativeUtility { .. } | ScspError::LargeUtility { .. } => {
                self.utility.as_ref().map(|(_, at)| *at)
            }
            _ => None,
        };
        place.unwrap_or(Span::new(0, 0))
    }
}

/// The mapping from variables of the draft to formulas over the network.
struct Expansion<'a> {
    draft: &'a Draft,
    /// The same variable in the network, if it is not defined.
    same: Vec<Option<VarId>>,
    bounds: Vec<(i64, i64)>,
    /// By variable: the number of parts and the depth of its formula.
    sizes: Vec<(u64, u64)>,
    /// Parts inserted so far. Nothing is inserted beyond the limits.
    n_parts: Cell<u64>,
}

impl<'a> Expansion<'a> {
    fn new(draft: &'a Draft) -> Self {
        let mut expansion = Self {
            draft,
            same: Vec::new(),
            bounds: Vec::new(),
            sizes: Vec::new(),
            n_parts: Cell::new(0),
        };
        let mut n_variables = 0;
        for variable in &draft.variables {
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
                        Formula::Var(y) => expansion.same[y.index()],
                        _ => None,
                    };
                    let bounds = definition.bounds(&|y| expansion.bounds[y.index()]);
                    (same, bounds, expansion.size(definition))
                }
            };
            expansion.same.push(same);
            expansion.bounds.push(bounds);
            expansion.sizes.push(size);
        }
        expansion
    }

    /// Returns the parts and the depth of a formula after definitions are inserted.
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

    /// Whether a definition can't leave its domain.
    fn is_within_domain(&self, x: VarId) -> bool {
        let (low, high) = self.bounds[x.index()];
        let ranges = self.draft.domain(x).ranges();
        ranges.iter().any(|&(first, last)| i64::from(first) <= low && high <= i64::from(last))
    }

    fn distribution(&self, drawing: &Drawing) -> Result<Distribution, Refused> {
        Ok(match &drawing.weight {
            None => Distribution::Uniform,
            Some((weight, total)) => {
                let weight = self.formula(weight, drawing.at)?;
                Distribution::Weighted { weight, total: *total }
            }
        })
    }

    fn constraint(&self, stated: &Stated) -> Result<Constraint, Refused> {
        let Stated { constraint, at } = stated;
        let needs_variables =
            matches!(constraint, Constraint::Table { .. } | Constraint::Custom(_));
        let is_defined = |x: &VarId| self.same[x.index()].is_none();
        if needs_variables && constraint.scope().iter().any(is_defined) {
            let reason = "a table mentions what follows by definition".to_string();
            return Err(Refused { at: *at, reason });
        }
        let variable = |x: VarId| self.same[x.index()].unwrap_or(x);
        let renamed = constraint.renamed(&variable, &|x| self.part(x));
        self.fits(*at).map(|()| renamed)
    }

    /// Inserts the definitions into a formula, if the result fits the limits.
    fn formula(&self, formula: &Formula, at: Span) -> Result<Formula, Refused> {
        let formula = formula.rename(&|x| self.part(x));
        self.fits(at).map(|()| formula)
    }

    /// Returns the formula of a variable.
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
        match (self.same[x.index()], &self.draft.variable(x).definition) {
            (None, Some(definition)) => definition.rename(&|y| self.inside(y)),
            (same, _) => Formula::Var(same.unwrap_or(x)),
        }
    }

    fn fits(&self, at: Span) -> Result<(), Refused> {
        if self.n_parts.get() <= MAX_PARTS {
            return Ok(());
        }
        let reason = format!(
            "definitions (`let`), put where they are used, have more than {MAX_PARTS} parts or \
             are deeper than {MAX_DEPTH}; mention each fewer times, or state goals instead"
        );
        Err(Refused { at, reason })
    }
}
