//! Checks a network for mistakes: domains that cannot be represented, parts that do not fit
//! together.
//!
//! Every function that takes a network runs this check first. The code after it may therefore
//! index one list by positions of another.

use rustc_hash::FxHashSet;

use crate::VALUE_LIMIT;
use crate::constraint::Constraint;
use crate::domains::VarId;
use crate::error::CspError;
use crate::expr::Expr;
use crate::network::Network;

impl Network {
    /// Checks for mistakes that don't depend on how the network is solved.
    ///
    /// Repeating a variable is a mistake in the scope of a table, and among terms that must
    /// differ: those of all-different, of a circuit and of one side of a channel. Elsewhere a
    /// repetition has a meaning.
    ///
    /// # Errors
    /// Returns the first mistake, with the name of the variable or the number of the
    /// constraint.
    pub fn check(&self) -> Result<(), CspError> {
        self.ids().try_for_each(|x| self.check_domain(x))?;
        for (index, constraint) in self.constraints().iter().enumerate() {
            self.check_constraint(constraint)
                .map_err(|problem| problem.in_constraint(index, constraint.name()))?;
        }
        match self.objective() {
            Some(objective) => self
                .check_term(&objective.expr)
                .map_err(|problem| CspError::InObjective { problem: Box::new(problem) }),
            None => Ok(()),
        }
    }

    fn check_constraint(&self, constraint: &Constraint) -> Result<(), CspError> {
        let mut terms = Ok(());
        constraint.for_each_term(&mut |e| {
            if terms.is_ok() {
                terms = self.check_term(e);
            }
        });
        terms?;
        match constraint {
            Constraint::Table { scope, table, .. } => {
                require(table.arity() == scope.len(), || {
                    format!("tuples of {} values for {} variables", table.arity(), scope.len())
                })?;
                let scope: Vec<Expr> = scope.iter().map(Expr::from).collect();
                self.check_different(&scope)
            }
            Constraint::AllDifferent { list, .. } | Constraint::Circuit { list, .. } => {
                self.check_different(list)
            }
            Constraint::AllDifferentLists { lists } | Constraint::Lex { lists, .. } => {
                let fits = lists.windows(2).all(|pair| pair[0].len() == pair[1].len());
                require(fits, || "the lists have different lengths".into())
            }
            Constraint::Cardinality { values, occurrences, .. } => {
                require(values.len() == occurrences.len(), || {
                    "the numbers of values and occurrences differ".into()
                })
            }
            Constraint::NoOverlap { origins, lengths, .. } => {
                let n_dimensions = origins.first().map_or(0, Vec::len);
                let fits = origins.len() == lengths.len()
                    && origins.iter().chain(lengths).all(|list| list.len() == n_dimensions)
                    && (n_dimensions > 0 || origins.is_empty());
                require(fits, || "origins and lengths don't match".into())?;
                lengths.iter().flatten().try_for_each(|e| self.check_amount(e, "length"))
            }
            Constraint::Cumulative { origins, lengths, heights, .. } => {
                let fits = origins.len() == lengths.len() && origins.len() == heights.len();
                require(fits, || "the numbers of origins, lengths and heights differ".into())?;
                lengths.iter().try_for_each(|e| self.check_amount(e, "length"))?;
                heights.iter().try_for_each(|e| self.check_amount(e, "height"))
            }
            Constraint::Regular { automaton, .. } => {
                let n = automaton.n_states;
                let is_proper = automaton.start < n
                    && automaton.transitions.iter().all(|&(from, _, to)| from < n && to < n);
                require(is_proper, || "the automaton uses a state it does not have".into())
            }
            Constraint::Mdd { list, mdd } => require(mdd.layers().len() == list.len(), || {
                "the numbers of layers and variables differ".into()
            }),
            Constraint::Channel { first, second, .. } => {
                let fits = first.len() <= second.len();
                require(fits, || "the first list is longer than the second".into())?;
                self.check_different(first)?;
                self.check_different(second)
            }
            _ => Ok(()),
        }
    }

    /// Rejects an extremum or element of an empty list, and a variable of another network.
    fn check_term(&self, e: &Expr) -> Result<(), CspError> {
        match e {
            Expr::Var(x) => require(x.index() < self.variables().len(), || {
                "the term uses a variable of another network".into()
            }),
            Expr::Min(list) | Expr::Max(list) if list.is_empty() => {
                Err(CspError::malformed("the minimum or maximum of an empty list"))
            }
            Expr::Element(list, _) if list.is_empty() => {
                Err(CspError::malformed("an element of an empty list"))
            }
            e => e.children().into_iter().try_for_each(|e| self.check_term(e)),
        }
    }

    fn check_different(&self, list: &[Expr]) -> Result<(), CspError> {
        let mut seen = FxHashSet::default();
        let terms = list.iter().filter(|e| !matches!(e, Expr::Constant(_)));
        let repeated = terms.fold(None, |found, e| found.or((!seen.insert(e)).then_some(e)));
        match repeated {
            Some(Expr::Var(x)) => Err(CspError::RepeatedVariable { variable: self.named(*x) }),
            Some(_) => Err(CspError::malformed("a term is repeated where all terms must differ")),
            None => Ok(()),
        }
    }

    /// Rejects a length or height that is negative in every assignment.
    fn check_amount(&self, e: &Expr, what: &str) -> Result<(), CspError> {
        let (_, most) = e.bounds(&|x: VarId| {
            let domain = &self.variable(x).domain;
            (domain.min().unwrap_or(0).into(), domain.max().unwrap_or(0).into())
        });
        require(most >= 0, || format!("a {what} is negative"))
    }

    fn check_domain(&self, x: VarId) -> Result<(), CspError> {
        let domain = &self.variable(x).domain;
        let (Some(lo), Some(hi)) = (domain.min(), domain.max()) else {
            return Err(CspError::EmptyDomain { variable: self.named(x) });
        };
        if lo < -VALUE_LIMIT || hi > VALUE_LIMIT {
            return Err(CspError::DomainOutOfRange { variable: self.named(x) });
        }
        Ok(())
    }
}

fn require(holds: bool, problem: impl FnOnce() -> String) -> Result<(), CspError> {
    if holds { Ok(()) } else { Err(CspError::malformed(problem())) }
}
