//! CaDiCaL, a solver in C++ that simplifies its clauses while it searches.

use std::cell::Cell;
use std::rc::Rc;

use cadical::{Callbacks, Solver};
use ludex_base::{Deadline, StopReason};

use super::SatSolver;

pub(super) struct Cadical {
    solver: Solver<Watch>,
    n_conflicts: Rc<Cell<u64>>,
}

impl Cadical {
    pub fn new() -> Self {
        Self { solver: Solver::new(), n_conflicts: Rc::default() }
    }
}

impl SatSolver for Cadical {
    fn add_clause(&mut self, literals: &[i32]) {
        self.solver.add_clause(literals.iter().copied());
    }

    fn solve(
        &mut self,
        assumptions: &[i32],
        deadline: &Deadline,
        max_conflicts: u64,
    ) -> Result<bool, StopReason> {
        let n_conflicts = Rc::clone(&self.n_conflicts);
        let watch = Watch { deadline: deadline.clone(), n_conflicts };
        self.solver.set_callbacks(Some(watch));
        if let Ok(limit) = i32::try_from(max_conflicts) {
            self.solver.set_limit("conflicts", limit).expect("CaDiCaL has this limit");
        }
        if let Some(reason) = deadline.stop_reason() {
            return Err(reason);
        }
        let answer = self.solver.solve_with(assumptions.iter().copied());
        answer.ok_or_else(|| deadline.stop_reason().unwrap_or(StopReason::Count))
    }

    fn holds(&self, literal: i32) -> bool {
        // A variable without a value may have either.
        self.solver.value(literal).unwrap_or(literal < 0)
    }

    fn n_conflicts(&self) -> u64 {
        self.n_conflicts.get()
    }
}

/// Counts learned clauses and looks at the clock.
struct Watch {
    deadline: Deadline,
    n_conflicts: Rc<Cell<u64>>,
}

impl Callbacks for Watch {
    fn terminate(&mut self) -> bool {
        self.deadline.reached()
    }

    fn max_length(&self) -> i32 {
        i32::MAX
    }

    fn learn(&mut self, _: &[i32]) {
        self.n_conflicts.set(self.n_conflicts.get() + 1);
    }
}
