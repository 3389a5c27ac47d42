//! What a role knows of a game that it does not see, and searches that know no more.
//!
//! A [`Follower`] is told a role's own moves and percepts, step by step, and keeps the states that
//! agree with them. What it knows at some step is an [`Information`], which nothing else can make:
//! there is no way to put the true state into one. An [`InformationSearcher`] is given that and
//! never a state.
//!
//! Read the modules in this order:
//!
//! 1. `known`: what is known, and the trait.
//! 2. `sight`: what roles see of a step.
//! 3. `model`: how the others are taken to play.
//! 4. `kinship`: which of their moves have to do with what is seen.
//! 5. `possible`: possible states, with the trajectory that led to each.
//! 6. `exact`: every state that agrees, while they are few.
//! 7. `certainty`: the legal moves without any state.
//! 8. `draws`: what the next particle is made from.
//! 9. `follow`: the exact set, particles after it, and what is done when they run out.

mod known;
mod sight;
mod model;
mod kinship;
mod possible;
mod exact;
mod certainty;
mod draws;
mod follow;

pub use certainty::Certainty;
pub use follow::{Follower, Patience};
pub use known::{Information, InformationSearcher, Observation, Possible};
pub use model::Model;
pub use sight::{AllMoves, OwnPercepts, Sight};

pub(crate) use known::Weights;
pub(crate) use sight::{first_view, view_after};
