//! BatSat, a solver in Rust after MiniSat.

use std::cell::Cell;

use batsat::{Callbacks, ClauseKind, Lit, Solver, SolverInterface, SolverOpts, lbool};
use ludex_base::{Deadline, StopReason};

use super::SatSolver;

/// Questions whether to stop for each check of the deadline.
const CHECK_INTERVAL: u32 = 256;

pub(super) struct BatSat {
    solver: Solver<Watch>,
}

impl BatSat {
    pub fn new() -> Self {
        let watch = Watch {
            deadline: Deadline::never(),
            n_conflicts: 0,
            max_conflicts: u64::MAX,
            n_asked: Cell::new(0),
            stopped: Cell::new(None),
        };
        Self { solver: Solver::new(SolverOpts::default(), watch) }
    }

    fn literal(&mut self, literal: i32) -> Lit {
        // Creates the variable if it is new.
        let var = self.solver.var_of_int(literal.unsigned_abs() - 1);
        Lit::new(var, literal > 0)
    }

    fn literals(&mut self, literals: &[i32]) -> Vec<Lit> {
        literals.iter().map(|&literal| self.literal(literal)).collect()
    }
}

impl SatSolver for BatSat {
    fn add_clause(&mut self, literals: &[i32]) {
        let mut clause = self.literals(literals);
        self.solver.add_clause_reuse(&mut clause);
    }

    fn solve(
        &mut self,
        assumptions: &[i32],
        deadline: &Deadline,
        max_conflicts: u64,
    ) -> Result<bool, StopReason> {
        let assumptions = self.literals(assumptions);
        let watch = self.solver.cb_mut();
        watch.deadline = deadline.clone();
        watch.max_conflicts = watch.n_conflicts.saturating_add(max_conflicts);
        watch.n_asked.set(0);
        watch.stopped.set(None);
        let answer = self.solver.solve_limited(&assumptions);
        if answer == lbool::UNDEF {
            return Err(self.solver.cb().stopped.get().expect("only the watch stops it"));
        }
        Ok(answer == lbool::TRUE)
    }

    fn holds(&self, literal: i32) -> bool {
        let var = batsat::Var::unsafe_from_idx(literal.unsigned_abs() - 1);
        self.solver.value_lit(Lit::new(var, literal > 0)) == lbool::TRUE
    }

    fn n_conflicts(&self) -> u64 {
        self.solver.cb().n_conflicts
    }
}

/// Counts conflicts and looks at the clock.
struct Watch {
    deadline: Deadline,
    n_conflicts: u64,
    max_conflicts: u64,
    n_asked: Cell<u32>,
    stopped: Cell<Option<StopReason>>,
}

impl Callbacks for Watch {
    fn on_new_clause(&mut self, _: &[Lit], kind: ClauseKind) {
        self.n_conflicts += u64::from(kind == ClauseKind::Learnt);
    }

    fn stop(&self) -> bool {
        if self.n_conflicts >= self.max_conflicts {
            self.stopped.set(Some(StopReason::Count));
        } else if self.n_asked.get().is_multiple_of(CHECK_INTERVAL) {
            self.stopped.set(self.stopped.get().or_else(|| self.deadline.stop_reason()));
        }
        self.n_asked.set(self.n_asked.get().wrapping_add(1));
        self.stopped.get().is_some()
    }
}
