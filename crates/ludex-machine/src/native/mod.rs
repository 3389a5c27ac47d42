//! Tapes as machine code, where the processor is one that we know.

pub(crate) mod straight; // 1. the operations as straight-line code
pub(crate) mod emit; // 2. straight-line code as machine code
pub(crate) mod function; // 3. machine code that is called
pub(crate) mod code; // 4. the tapes for a step as machine code
