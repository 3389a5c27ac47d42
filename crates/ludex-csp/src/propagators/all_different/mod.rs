//! All variables different, in three strengths.
//!
//! By value and by matching, values may be excepted that can be repeated; by bounds not.

mod bounds;
mod gac;
mod value;

pub use bounds::AllDifferentBounds;
pub use gac::AllDifferentGac;
pub use value::AllDifferentValue;

use rustc_hash::FxHashSet;

use crate::{Value, ValueSet};

/// What all three mean.
fn all_different(tuple: &[Value], except: &ValueSet) -> bool {
    let mut seen = FxHashSet::default();
    tuple.iter().all(|&value| except.contains(value) || seen.insert(value))
}
