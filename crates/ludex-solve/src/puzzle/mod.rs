//! Puzzles: one role, no chance, nothing hidden.
//!
//! The value of a puzzle is the largest goal of a play that ends. Every method plays the line that
//! it found before it reports it, so a line is right whatever the method assumed.
//!
//! Read the modules in this order:
//!
//! 1. `lanes`: circuits evaluated with unknown inputs; `groups`: fluents that exclude each other;
//!    `effects`: what moves change; `clock`: what happens by itself; `analysis`: all of
//!    these together.
//! 2. `states`: the states that a search has met; [`breadth`]: every state, in the order of its
//!    distance.
//! 3. `relaxed` and `patterns`: how far the goal is at least; [`bound`]: the better of both;
//!    [`best_first`]: the states that look nearest first; [`deepening`]: the same in little memory;
//!    [`beam`]: some states of each step.
//! 4. `final_state`: what the rules require of a final state; [`placement`]: puzzles solved as one
//!    network over it; [`unrolled`]: puzzles solved as one network over all steps.
//! 5. `steps`: the steps of a play as clauses; [`satisfiable`]: puzzles solved by a SAT solver.
//! 6. [`dive`]: depth first, by the number of ways on; [`nested`]: random plays that lean towards
//!    the best line.

mod analysis;
pub mod beam;
pub mod best_first;
pub mod bound;
pub mod breadth;
mod clock;
pub mod deepening;
pub mod dive;
mod effects;
mod final_state;
mod groups;
mod lanes;
pub mod nested;
mod patterns;
pub mod placement;
mod relaxed;
pub mod satisfiable;
mod states;
mod steps;
pub mod unrolled;

use ludex_base::{Goal, MoveId, RoleId};
use ludex_circuit::Circuit;
use ludex_game::{Cursor, Game, play_checked};

use crate::problem::Problem;

/// Returns the goals that the rules of a puzzle derive, ascending.
pub(crate) fn goals_of(circuit: &Circuit) -> Vec<Goal> {
    let mut goals: Vec<Goal> = circuit.goals.iter().map(|&(_, goal, _)| goal).collect();
    goals.sort_unstable();
    goals.dedup();
    goals
}

/// Returns the only role of a puzzle.
pub(crate) fn puzzle_role() -> RoleId {
    RoleId::new(0)
}

/// Plays a line; returns the goal in its last state, if that is the first terminal one.
pub(crate) fn play_out<G: Game>(problem: &Problem<'_, G>, line: &[Vec<MoveId>]) -> Option<Goal> {
    let mut cursor = problem.game.cursor();
    cursor.set_state(&problem.state);
    for joint in line {
        if cursor.is_terminal() {
            return None;
        }
        play_checked(&mut cursor, 1, joint).ok()?;
    }
    (cursor.is_terminal() && !cursor.has_fault()).then(|| cursor.goal(puzzle_role()))
}

#[cfg(test)]
pub(crate) mod tests {
    use ludex_base::Source;
    use ludex_machine::Machine;
    use ludex_pipeline::{Engine, LoadOptions, load};

    /// Climb five steps, one or two at a time; arriving after at most three moves is worth 60, and
    /// later 30.
    pub const STAIRS: &str = "
        (role climber) (init (at 0)) (init (time 0))
        (succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5)
        (<= (legal climber one) (true (at ?x)) (succ ?x ?y))
        (<= (legal climber two) (true (at ?x)) (succ ?x ?y) (succ ?y ?z))
        (<= (next (at ?y)) (does climber one) (true (at ?x)) (succ ?x ?y))
        (<= (next (at ?z)) (does climber two) (true (at ?x)) (succ ?x ?y) (succ ?y ?z))
        (<= (next (time ?y)) (true (time ?x)) (succ ?x ?y))
        (<= terminal (true (at 5)))
        (<= (goal climber 60) (true (time 3)))
        (<= (goal climber 30) (true (time ?x)) (distinct ?x 3))";

    pub fn machine(rules: &str) -> Machine {
        let source = Source::new("puzzle", rules);
        let loaded = load(source, &LoadOptions::default()).expect("the rules are fine");
        match loaded.engine {
            Engine::Machine(machine) => machine,
            Engine::Reasoner(_) => panic!("the game is small"),
        }
    }

    /// Loads a game of the library.
    pub fn library_game(name: &str) -> Machine {
        let rules = ludex_testkit::library().into_iter().find(|rules| rules.name == name);
        machine(&rules.expect("a game of the library").text())
    }
}
