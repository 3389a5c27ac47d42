//! Truth of a conjunction or disjunction of literals.

use crate::domains::{Cell, Conflict, Domains, VarId};
use crate::propagator::{Cost, Propagator, Pruning, Setup};
use crate::propagators::Literal;
use crate::{Value, duplicate_by_clone};

/// One literal, the result, holds exactly when all the others do.
///
/// Domain consistent where no variable is in two literals.
#[derive(Clone)]
pub struct Conjunction {
    /// The variable of the result, then those of the literals.
    scope: Vec<VarId>,
    result: Literal,
    literals: Vec<Literal>,
    /// The literals by number; those from the limit on are known to be true.
    order: Vec<u32>,
    limit: Option<Cell>,
}

/// Largest number of literals for which a call counts as cheap.
const MAX_CHEAP: usize = 8;

impl Conjunction {
    /// Creates the constraint that `result` holds exactly when all literals do.
    pub fn all(result: Literal, literals: Vec<Literal>) -> Self {
        let scope = [result].iter().chain(&literals).map(|literal| literal.var()).collect();
        let order = (0..literals.len() as u32).collect();
        Self { scope, result, literals, order, limit: None }
    }

    /// Creates the constraint that `result` holds exactly when at least one of the literals
    /// does.
    pub fn any(result: Literal, literals: Vec<Literal>) -> Self {
        Self::all(result.negated(), literals.into_iter().map(Literal::negated).collect())
    }

    /// Moves literals that have become true behind the limit. Reports whether one is false, and
    /// up to two open ones. After two open ones it stops, unless `wants_false` asks for a false
    /// one.
    fn look(&mut self, limit: Cell, wants_false: bool, domains: &mut Domains) -> Seen {
        let old_end = domains.get(limit) as usize;
        let (mut at, mut end) = (0, old_end);
        let (mut first, mut n_open) = (None, 0);
        let mut is_false = false;
        while at < end {
            let number = self.order[at];
            match self.literals[number as usize].status(domains) {
                Some(true) => {
                    end -= 1;
                    self.order.swap(at, end);
                    continue;
                }
                Some(false) => {
                    is_false = true;
                    // The next call then finds it first.
                    self.order.swap(0, at);
                    break;
                }
                None => {
                    first.get_or_insert(number);
                    n_open += 1;
                    if n_open == 2 && !wants_false {
                        break;
                    }
                }
            }
            at += 1;
        }
        if end != old_end {
            domains.set(limit, end as u64);
        }
        match first {
            _ if is_false => Seen::False,
            None => Seen::AllTrue,
            Some(number) if n_open == 1 => Seen::OneOpen(self.literals[number as usize]),
            Some(_) => Seen::Open,
        }
    }
}

enum Seen {
    /// A literal is false.
    False,
    /// All are true.
    AllTrue,
    /// All but this one are true.
    OneOpen(Literal),
    /// More than one is open.
    Open,
}

impl Propagator for Conjunction {
    fn name(&self) -> &'static str {
        "conjunction"
    }

    fn scope(&self) -> &[VarId] {
        &self.scope
    }

    fn holds(&self, tuple: &[Value]) -> bool {
        let all = self.literals.iter().zip(&tuple[1..]).all(|(it, &value)| it.holds(value));
        self.result.holds(tuple[0]) == all
    }

    fn post(&mut self, setup: &mut Setup<'_>) {
        self.limit = Some(setup.domains().new_cell(self.literals.len() as u64));
        for literal in [self.result].iter().chain(&self.literals) {
            setup.subscribe(literal.var(), literal.deciding());
        }
    }

    fn propagate(&mut self, domains: &mut Domains) -> Result<Pruning, Conflict> {
        let limit = self.limit.expect("a propagator is posted before it propagates");
        let result = self.result.status(domains);
        if result == Some(true) {
            for at in 0..domains.get(limit) as usize {
                self.literals[self.order[at] as usize].assert(domains)?;
            }
            return Ok(Pruning::Entailed);
        }
        match (self.look(limit, result.is_none(), domains), result) {
            (Seen::False, None) => self.result.negated().assert(domains)?,
            (Seen::AllTrue, None) => self.result.assert(domains)?,
            (Seen::False, Some(_)) => true,
            (Seen::AllTrue, Some(_)) => return Err(Conflict),
            (Seen::OneOpen(last), Some(_)) => last.negated().assert(domains)?,
            (Seen::OneOpen(_), None) | (Seen::Open, _) => return Ok(Pruning::Fixpoint),
        };
        Ok(Pruning::Entailed)
    }

    fn cost(&self) -> Cost {
        if self.literals.len() <= MAX_CHEAP { Cost::Constant } else { Cost::Linear }
    }

    duplicate_by_clone!();
}
