//! Satisfiability of clauses: the interface to SAT solvers, and the solvers behind it.
//!
//! A literal is a variable, counted from 1, or a negated variable, which is the negative number, as
//! in DIMACS. Clauses can be added between two questions; what a solver has learned stays.

#[cfg(not(feature = "cadical"))]
mod batsat;
#[cfg(feature = "cadical")]
mod cadical;

use ludex_base::{Deadline, StopReason};

/// A SAT solver.
pub(crate) trait SatSolver {
    /// Adds a clause: one of the literals must be true.
    fn add_clause(&mut self, literals: &[i32]);

    /// Returns whether all clauses can be true together with some literals. It checks the deadline at
    /// least once in 256 decisions.
    ///
    /// # Errors
    /// At the deadline, and after `max_conflicts` conflicts.
    fn solve(
        &mut self,
        assumptions: &[i32],
        deadline: &Deadline,
        max_conflicts: u64,
    ) -> Result<bool, StopReason>;

    /// Returns whether a literal is true in the solution found last.
    fn holds(&self, literal: i32) -> bool;

    /// Returns the conflicts of all questions so far.
    fn n_conflicts(&self) -> u64;
}

/// Returns the solver of this build: CaDiCaL with the feature `cadical`, and BatSat without.
pub(crate) fn new_solver() -> Box<dyn SatSolver> {
    #[cfg(feature = "cadical")]
    return Box::new(cadical::Cadical::new());
    #[cfg(not(feature = "cadical"))]
    Box::new(batsat::BatSat::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Says that pigeons sit in holes, each in one, and no two in the same.
    fn pigeons(n_pigeons: i32, n_holes: i32) -> Box<dyn SatSolver> {
        let mut solver = new_solver();
        let sits = |pigeon: i32, hole: i32| pigeon * n_holes + hole + 1;
        for pigeon in 0..n_pigeons {
            let somewhere: Vec<i32> = (0..n_holes).map(|hole| sits(pigeon, hole)).collect();
            solver.add_clause(&somewhere);
            for other in 0..pigeon {
                for hole in 0..n_holes {
                    solver.add_clause(&[-sits(pigeon, hole), -sits(other, hole)]);
                }
            }
        }
        solver
    }

    #[test]
    fn pigeons_fit_if_there_are_enough_holes() {
        let never = Deadline::never();
        let mut solver = pigeons(5, 5);
        assert_eq!(solver.solve(&[], &never, u64::MAX), Ok(true));
        for pigeon in 0..5 {
            let holes = (0..5).filter(|hole| solver.holds(pigeon * 5 + hole + 1));
            assert!(holes.count() >= 1, "pigeon {pigeon} sits somewhere");
        }
        assert_eq!(pigeons(6, 5).solve(&[], &never, u64::MAX), Ok(false));
    }

    #[test]
    fn assumptions_count_for_one_question_and_clauses_for_all() {
        let never = Deadline::never();
        let mut solver = new_solver();
        solver.add_clause(&[1, 2]);
        assert_eq!(solver.solve(&[-1], &never, u64::MAX), Ok(true));
        assert!(solver.holds(2) && solver.holds(-1));
        assert_eq!(solver.solve(&[-1, -2], &never, u64::MAX), Ok(false));
        assert_eq!(solver.solve(&[], &never, u64::MAX), Ok(true));
        solver.add_clause(&[-2]);
        assert_eq!(solver.solve(&[-1], &never, u64::MAX), Ok(false));
        assert_eq!(solver.solve(&[1], &never, u64::MAX), Ok(true));
        solver.add_clause(&[-1]);
        assert_eq!(solver.solve(&[], &never, u64::MAX), Ok(false));
    }

    #[test]
    fn limits_stop_it_and_leave_it_usable() {
        let mut solver = pigeons(9, 8);
        let never = Deadline::never();
        assert_eq!(solver.solve(&[], &never, 5), Err(StopReason::Count));
        assert!(solver.n_conflicts() >= 5);
        let past = Deadline::after(std::time::Duration::ZERO);
        assert_eq!(solver.solve(&[], &past, u64::MAX), Err(StopReason::Time));
        assert_eq!(solver.solve(&[], &never, u64::MAX), Ok(false));
    }
}
