//! The propagators, one file for each constraint.
//!
//! The suite of `ludex-testkit` checks each against its `holds`, in the top-level
//! `tests/propagators.rs`.

mod all_different;
mod arithmetic;
mod channel;
mod circuit;
mod clause;
mod conjunction;
mod count;
mod cumulative;
mod element;
mod equality;
mod extremum;
mod indicators;
mod knapsack;
mod lex;
mod linear;
mod mdd;
mod member;
mod n_values;
mod no_overlap;
mod objective;
mod reified;
pub mod table;
mod tasks;

pub use all_different::{AllDifferentBounds, AllDifferentGac, AllDifferentValue};
pub use arithmetic::Arithmetic;
pub use channel::Channel;
pub use circuit::Circuit;
pub use clause::{Clause, Literal, ReifiedLiteral};
pub use conjunction::Conjunction;
pub use count::Count;
pub use cumulative::Cumulative;
pub use element::Element;
pub use equality::{EqualOffset, NotEqual};
pub use extremum::Extremum;
pub use indicators::Indicators;
pub use knapsack::{Item, Knapsack};
pub use lex::Lex;
pub use linear::{Linear, LinearReified, LinearRelation};
pub use mdd::{Automaton, Mdd, MddPropagator};
pub use member::ReifiedMember;
pub use n_values::NValues;
pub use no_overlap::{DisjointBoxes, NoOverlap};
pub use objective::ObjectiveBound;
pub use reified::{HalfReified, Negation, Reified};
