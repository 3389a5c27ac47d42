//! All variables different, in three strengths.
//!
//! The versions by value and by matching support excepted values, which may be repeated; the
//! version by bounds does not.

mod bounds;
mod gac;
mod value;

pub use bounds::AllDifferentBounds;
pub use gac::AllDifferentGac;
pub use value::AllDifferentValue;

use rustc_hash::FxHashSet;

use crate::{Value, ValueSet};

/// Whether the tuple satisfies the constraint; all three strengths share this meaning.
fn all_different(tuple: &[Value], except: &ValueSet) -> bool {
    let mut seen = FxHashSet::default();
    tuple.iter().all(|&value| except.contains(value) || seen.insert(value))
}
