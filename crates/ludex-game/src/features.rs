//! Features: numbers that describe a state, for searches that evaluate states.
//!
//! The crate that knows the rules finds the features, and the search learns their weights; neither
//! depends on the other.

use std::fmt;
use std::sync::Arc;

use ludex_base::{BitSet, Deadline};

/// Numbers that describe a state, computed from its fluents.
#[derive(Clone, Default, Debug)]
pub struct Features {
    /// Features that are a sum over the true fluents; they are cheap however many there are.
    pub linear: Vec<LinearFeature>,
    /// All other features.
    pub graded: Vec<Arc<dyn Graded>>,
}

/// Which features to find.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// Only sums over fluents.
    Sums,
    /// Graded features as well.
    All,
}

/// Finds the features of a game, or as many as the deadline allows.
pub type FeatureFinder = Arc<dyn Fn(Wanted, &Deadline) -> Features + Send + Sync>;

/// A feature that is a sum over the true fluents.
#[derive(Clone, PartialEq, Debug)]
pub struct LinearFeature {
    /// A name for people.
    pub name: String,
    /// The weight of each fluent, by its number; fluents that are not listed add nothing.
    pub weights: Vec<(u32, f32)>,
}

/// Features that are computed together.
pub trait Graded: Send + Sync + fmt::Debug {
    /// The name of each feature, for people.
    fn names(&self) -> &[String];

    /// Appends the values for a state to `values`, one for each name. `desk` is working memory with
    /// arbitrary contents.
    fn grade(&self, fluents: &BitSet, desk: &mut Vec<f32>, values: &mut Vec<f32>);
}

impl LinearFeature {
    /// Computes the value directly, without increments.
    pub fn value(&self, fluents: &BitSet) -> f32 {
        let holds = |(fluent, _): &&(u32, f32)| fluents.contains(*fluent as usize);
        self.weights.iter().filter(holds).map(|&(_, weight)| weight).sum()
    }
}
