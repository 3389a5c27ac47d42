//! Numbers of a state that its rules suggest, for searches that have to say what a state is worth.
//!
//! Who knows the rules finds them, who searches learns what they are worth; neither knows of the other.

use std::fmt;
use std::sync::Arc;

use ludex_base::{BitSet, Deadline};

/// Numbers of a state, by the fluents that hold.
#[derive(Clone, Default, Debug)]
pub struct Features {
    /// Those that are a sum over the fluents that hold, which are cheap however many there are.
    pub linear: Vec<LinearFeature>,
    /// Those that are not.
    pub graded: Vec<Arc<dyn Graded>>,
}

/// Which features are worth finding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// Those that are sums over fluents.
    Sums,
    /// The graded ones too.
    All,
}

/// Finds the features of a game, or what can be found of them in the time.
pub type FeatureFinder = Arc<dyn Fn(Wanted, &Deadline) -> Features + Send + Sync>;

/// A number that is a sum over the fluents that hold.
#[derive(Clone, PartialEq, Debug)]
pub struct LinearFeature {
    /// What it is, for people.
    pub name: String,
    /// What each fluent adds, by its number; nothing for all others.
    pub weights: Vec<(u32, f32)>,
}

/// Numbers that are worked out together.
pub trait Graded: Send + Sync + fmt::Debug {
    /// What each of them is, for people.
    fn names(&self) -> &[String];

    /// Appends the numbers of a state to `values`, one for each name. The desk is working memory, which
    /// may have anything in it.
    fn grade(&self, fluents: &BitSet, desk: &mut Vec<f32>, values: &mut Vec<f32>);
}

impl LinearFeature {
    /// The number, worked out as plainly as it can be.
    pub fn value(&self, fluents: &BitSet) -> f32 {
        let holds = |(fluent, _): &&(u32, f32)| fluents.contains(*fluent as usize);
        self.weights.iter().filter(holds).map(|it| it.1).sum()
    }
}
