//! A circuit as a net of counters, updated incrementally from one state to the next.

pub(crate) mod conjunctions; // 1. gates of one kind
pub(crate) mod effects; // 2. the effects of moves
pub(crate) mod split; // 3. conditions in parts
pub(crate) mod refute; // 4. endings that a legal move refutes
pub(crate) mod counters; // 5. the net: counters and lazy nodes
pub(crate) mod weigh; // 6. which lazy nodes to keep up to date
pub(crate) mod assemble; // 7. from the circuit to the net
