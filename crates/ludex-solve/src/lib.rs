//! Exact answers: the value of a game from its rules, with a line that reaches it.
//!
//! [`solve`] takes a [`Problem`], runs the [`Method`]s that fit the game, and returns a
//! [`Solution`]. Each method reports to one [`Progress`] what it has proved, so the bounds close
//! while the work goes on. Stopped at any moment, they contain the true value.
//!
//! ```
//! use ludex_base::{Goal, Source};
//! use ludex_game::Game;
//! use ludex_pipeline::{Engine, LoadOptions, load};
//! use ludex_solve::{Problem, Progress, SolveOptions, solve};
//!
//! let rules = "(role you) (init (at 0)) (succ 0 1) (succ 1 2)
//!     (legal you stay) (legal you go)
//!     (<= (next (at ?x)) (true (at ?x)) (does you stay))
//!     (<= (next (at ?y)) (true (at ?x)) (succ ?x ?y) (does you go))
//!     (<= terminal (true (at 2))) (<= (goal you 100) (true (at 2)))";
//! let loaded = load(Source::new("walk", rules), &LoadOptions::default()).expect("a good sheet");
//! let Engine::Machine(game) = &loaded.engine else { panic!("the game is small") };
//! let problem = Problem::initial(game).with_circuit(game.circuit());
//! let solution = solve(&problem, &SolveOptions::default(), &Progress::new());
//! assert_eq!(solution.value(ludex_base::RoleId::new(0)), Some(Goal::MAX));
//! assert_eq!(solution.line.len(), 2);
//! ```
//!
//! Read the modules in this order; the methods in the folders use those before them.
//!
//! 1. `solution`: what an answer says.
//! 2. `progress`: what is known so far, shared by all methods.
//! 3. `folded`: a game folded by symmetries; `problem`: a game and a state; what kind of game it is.
//! 4. `method`: the list of methods.
//! 5. `portfolio`: the choice of methods, and the entry point.
//! 6. `sat`: the interface to SAT solvers.
//! 7. [`puzzle`]: methods for one role without chance.
//! 8. [`duel`]: methods for two roles and more.
//! 9. `decomposed`: games solved by their parts.
//! 10. `saved`: strategies kept for later matches.
//! 11. [`quantified`]: games as quantified models, for another solver.

mod solution;
mod progress;
mod folded;
mod problem;
mod method;
mod portfolio;
mod sat;
pub mod puzzle;
pub mod duel;
pub(crate) mod decomposed;
mod saved;
pub mod quantified;

pub use folded::Folded;
pub use method::{METHODS, Method};
pub use portfolio::{SolveOptions, solve};
pub use problem::{Kind, Problem};
pub use progress::Progress;
pub use saved::{Saved, SavedChoice};
pub use solution::{Bounds, Evidence, Solution, TOLERANCE, points};
