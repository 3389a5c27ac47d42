//! Games as constraint networks: one step, or several steps in a row.
//!
//! [`encode`] builds the [`Template`] of one step. With a state injected, its solutions are exactly
//! the legal joint moves with the states they lead to; [`Steps`] enumerates them.
//! [`Template::unrolled`] joins several steps into a network whose solutions are plays.
//! [`Template::stochastic`] and [`Unrolled::stochastic`] return these networks with the moves of
//! `random` as chance variables.
//!
//! ```
//! use ludex_base::Source;
//! use ludex_encode::{EncodeConfig, Steps, encode};
//! let rules = "(role you) (init (light off))
//!     (<= (legal you press) (true (light off))) (<= (legal you wait) (true (light off)))
//!     (<= (next (light on)) (does you press)) (<= (next (light off)) (does you wait))
//!     (<= terminal (true (light on)))
//!     (<= (goal you 100) (true (light on))) (<= (goal you 0) (true (light off)))";
//! let program = ludex_gdl::check_source(&Source::new("light.kif", rules)).program.unwrap();
//! let ground = ludex_ground::ground(&program, &Default::default()).unwrap();
//! let circuit = ludex_circuit::compile(&ground);
//! let template = encode(&circuit, &EncodeConfig::default())?;
//! let mut steps = Steps::new(&template)?;
//! assert!(steps.inject(&circuit.init));
//! let mut n_joint_moves = 0;
//! steps.for_each_solution(&mut |_| {
//!     n_joint_moves += 1;
//!     true
//! });
//! assert_eq!(n_joint_moves, 2);
//! # Ok::<(), ludex_encode::EncodeError>(())
//! ```
//!
//! With hidden information, a [`Belief`](ludex_game::Belief) replaces the state.
//! [`Template::decision`] returns the template under a belief as a stochastic network: roles
//! decide, and the state and the moves of others are drawn. [`Template::lookahead`] covers several
//! steps, and draws the observations after each.
//!
//! The rules become constraints by completion: a gate is true if and only if its inputs make it so.
//! This is correct only if nothing supports itself, so loops are unrolled first. Function terms
//! need no special treatment, such as the completion of Lifschitz and Yang, *Eliminating Function
//! Symbols from a Nonmonotonic Causal Theory*: after grounding there are only names.
//!
//! Read the modules in this order; each uses only those before it.

mod prove; // 1. what can't be true at once, in one step
mod groups; // 2. fluents of which at most one is true: they share a variable
mod config; // 3. what may be asked, and how large it may become
mod bounds;
mod condition; // 4. conditions on few variables
mod gates; // 5. gates as such conditions, cut where they grow too large
mod information; // 6. whether all roles see the same
mod template; // 7. one step as a network
mod steps; // 8. states in, joint moves and successors out
mod legal; // 9. the legal moves, and what it takes to find them
mod frames; // 10. what moves leave as it is
mod unroll; // 11. several steps as one network
mod chance; // 12. the same with the moves of `random` drawn
mod lookahead; // 13. several steps of roles who don't know the state, by what they learn
mod decision; // 14. one step of them, by the constraints of the template
mod symmetry; // 15. permutations under which the network of a step stays the same

#[cfg(test)]
mod tests;

pub use config::{EncodeConfig, EncodeError, Sizes};
pub use decision::Decision;
pub use groups::{GroupEffort, find_groups};
pub use information::Information;
pub use legal::{FoundBy, PossibleMoves};
pub use lookahead::{Lookahead, LookaheadError, LookaheadLimits};
pub use prove::Group;
pub use steps::{Solution, Steps};
pub use symmetry::{StepSymmetries, StepSymmetry, SymmetryRequest};
pub use template::{Chance, MoveVar, StateVar, Template, encode};
pub use unroll::Unrolled;
