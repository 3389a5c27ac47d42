//! The information of a role in a game that it does not see, and searches that use only that.
//!
//! A [`Follower`] receives a role's own moves and percepts step by step, and keeps the states that
//! agree with them. Its knowledge at some step is an [`Information`], which nothing else can
//! create: there is no way to put the true state into one. An [`InformationSearcher`] receives that
//! and never a state.
//!
//! Read the modules in this order:
//!
//! 1. `known`: the information of a role, and the trait.
//! 2. `sight`: what roles see of a step.
//! 3. `model`: the opponent model.
//! 4. `kinship`: which moves are related to percepts.
//! 5. `possible`: possible states, each with a trajectory that leads to it.
//! 6. `exact`: all states that agree, while they are few.
//! 7. `certainty`: legal moves without any state.
//! 8. `draws`: draws for the next particle.
//! 9. `follow`: the exact set, then particles, and their repair when they run out.

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
