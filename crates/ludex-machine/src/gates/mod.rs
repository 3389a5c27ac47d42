//! Evaluation gate by gate, for circuits with loops that are too large to unroll.

pub(crate) mod schedule; // 1. which gates to evaluate for which question, and in which order
pub(crate) mod evaluate; // 2. the values of the gates
