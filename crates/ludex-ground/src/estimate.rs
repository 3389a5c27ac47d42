//! Estimates of the number of rows of a join.
//!
//! Static relations are known by the time it matters, so their fan-out is the number of rows
//! divided by the numbers of different values of the bound arguments, as in a database. Nothing is
//! known of other relations: a variable is assumed to have as many values as the static relations
//! of the clause allow, or [`UNKNOWN_DOMAIN`].

use ludex_gdl::{Atom, Pattern};

/// Assumed number of values of a variable without further knowledge.
const UNKNOWN_DOMAIN: f64 = 10.0;

/// Statistics of a relation.
#[derive(Clone, Debug)]
pub(crate) enum Stats {
    /// It is complete: its rows, and the different values of each argument.
    Known { n_rows: f64, n_distinct: Vec<f64> },
    /// It is still being derived, or depends on the state. It has at most `max_rows` rows.
    Unknown { max_rows: f64 },
}

/// What an attempt that was given up has found of a relation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    /// It does not depend on the state, and all of its atoms are known.
    pub is_finished: bool,
    pub n_rows: usize,
}

/// A relation with at most this many atoms is small.
const SMALL_ROWS: usize = 20_000;

impl Found {
    /// Returns whether the relation does not depend on the state and is known to be small.
    pub fn is_small(&self) -> bool {
        self.is_finished && self.n_rows <= SMALL_ROWS
    }
}

/// The estimated number of values of each variable of a clause.
#[derive(Clone, Debug)]
pub(crate) struct Domains(Vec<f64>);

impl Domains {
    /// Estimates the domains from the literals in which the variables occur.
    pub fn new<'a>(
        n_variables: usize,
        literals: impl IntoIterator<Item = (&'a Atom, &'a Stats)>,
    ) -> Self {
        let mut sizes = vec![f64::INFINITY; n_variables];
        for (atom, stats) in literals {
            let Stats::Known { n_distinct, .. } = stats else { continue };
            for (arg, &n) in atom.args.iter().zip(n_distinct) {
                if let Pattern::Variable(variable) = arg {
                    let size = &mut sizes[*variable as usize];
                    *size = size.min(n.max(1.0));
                }
            }
        }
        let or_unknown = |size: f64| if size.is_finite() { size } else { UNKNOWN_DOMAIN };
        Self(sizes.into_iter().map(or_unknown).collect())
    }

    fn of(&self, variables: VariableSet) -> f64 {
        let sizes = self.0.iter().enumerate();
        sizes.filter(|(idx, _)| variables >> idx & 1 != 0).map(|(_, size)| size).product()
    }
}

/// A set of variables of a clause, by number. Clauses with more than 128 variables are refused.
pub(crate) type VariableSet = u128;

pub(crate) fn variables_of(atom: &Atom) -> VariableSet {
    let mut set = 0;
    atom.for_each_variable(&mut |variable| set |= 1 << variable);
    set
}

pub(crate) fn variables_of_pattern(pattern: &Pattern) -> VariableSet {
    let mut set = 0;
    pattern.for_each_variable(&mut |variable| set |= 1 << variable);
    set
}

/// Lists the variables of a set, ascending.
pub(crate) fn variable_list(set: VariableSet) -> Vec<u32> {
    (0..VariableSet::BITS).filter(|variable| set >> variable & 1 != 0).collect()
}

/// Estimates how many rows of a literal match the bound variables.
pub(crate) fn fan_out(atom: &Atom, stats: &Stats, bound: VariableSet, domains: &Domains) -> f64 {
    match stats {
        Stats::Known { n_rows, n_distinct } => {
            let n_keys: f64 = atom
                .args
                .iter()
                .zip(n_distinct)
                .filter(|(arg, _)| variables_of_pattern(arg) & !bound == 0)
                .map(|(_, &n)| n.max(1.0))
                .product();
            n_rows / n_keys
        }
        Stats::Unknown { max_rows } => domains.of(variables_of(atom) & !bound).min(*max_rows),
    }
}

/// Estimates the rows of the join of some literals, and the work of joining them in a good order:
/// the total rows of all its prefixes.
pub(crate) fn join_cost(literals: &[(&Atom, &Stats)], domains: &Domains) -> (f64, f64) {
    let mut waiting: Vec<usize> = (0..literals.len()).collect();
    let (mut bound, mut n_rows, mut work) = (0, 1.0, 0.0);
    while let Some((position, fan_out)) = waiting
        .iter()
        .map(|&idx| fan_out(literals[idx].0, literals[idx].1, bound, domains))
        .enumerate()
        .min_by(|a, b| a.1.total_cmp(&b.1))
    {
        let idx = waiting.remove(position);
        bound |= variables_of(literals[idx].0);
        n_rows *= fan_out;
        work += n_rows;
    }
    (n_rows, work)
}
