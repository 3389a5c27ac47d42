//! The limits of time and memory of a translation.

use ludex_base::Deadline;
use ludex_csp::{Constraint, Network};

use crate::config::EncodeError;

/// Limits that are checked after each piece of work; only the part added since the last check is
/// measured.
pub(crate) struct Bounds {
    deadline: Deadline,
    max_bytes: u64,
    n_bytes: u64,
    /// Variables and constraints of the network measured so far.
    n_constraints: usize,
    n_variables: usize,
}

impl Bounds {
    pub fn new(deadline: Deadline, max_bytes: u64) -> Self {
        Self { deadline, max_bytes, n_bytes: 0, n_constraints: 0, n_variables: 0 }
    }

    /// Adds bytes in use besides the network.
    pub fn add(&mut self, n_bytes: u64) {
        self.n_bytes = self.n_bytes.saturating_add(n_bytes);
    }

    /// Returns an error if a limit is reached.
    pub fn go_on(&mut self, network: &Network) -> Result<(), EncodeError> {
        let (variables, constraints) = (network.variables(), network.constraints());
        for variable in &variables[self.n_variables..] {
            let labels = variable.labels.as_ref().map_or(0, |labels| {
                labels.iter().map(|label| size_of::<String>() + label.len()).sum()
            });
            self.n_bytes += (size_of_val(variable) + variable.name.len() + labels) as u64;
        }
        for constraint in &constraints[self.n_constraints..] {
            self.n_bytes += constraint_bytes(constraint);
        }
        (self.n_variables, self.n_constraints) = (variables.len(), constraints.len());
        if self.n_bytes > self.max_bytes {
            return Err(EncodeError::TooLarge {
                n_variables: variables.len(),
                n_constraints: constraints.len(),
                max_bytes: self.max_bytes,
            });
        }
        if self.deadline.reached() {
            Err(EncodeError::TooLong {
                n_variables: variables.len(),
                n_constraints: constraints.len(),
            })
        } else {
            Ok(())
        }
    }
}

fn constraint_bytes(constraint: &Constraint) -> u64 {
    let listed = match constraint {
        Constraint::Table { scope, table, .. } => {
            (4 * table.len() * table.arity() + size_of_val(&scope[..])) as u64
        }
        Constraint::Intension(expr) => expr.n_bytes(),
        other => other.terms().iter().map(|expr| expr.n_bytes()).sum(),
    };
    size_of::<Constraint>() as u64 + listed
}
