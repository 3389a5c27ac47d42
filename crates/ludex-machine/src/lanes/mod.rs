//! A circuit as operations on words; each bit of a word, a *lane*, belongs to one of many playouts.

pub(crate) mod word; // 1. a bit for each lane
pub(crate) mod fuse; // 2. gates evaluated within others
pub(crate) mod tape; // 3. the circuit as a list of operations on words
pub(crate) mod run; // 4. the interpreter of tapes
pub(crate) mod options; // 5. the legal moves of a role in blocks
pub(crate) mod draw; // 6. a random legal move in every lane
pub(crate) mod step_tapes; // 7. the tapes of a step, one per question
