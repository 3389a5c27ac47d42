//! Evaluation gate by gate, for circuits with loops that are too large to unroll.

pub(crate) mod schedule; // 1. the gates that each question needs, in order
pub(crate) mod evaluate; // 2. their evaluation
