//! Tapes as machine code for x86-64 with AVX2.

pub(crate) mod straight; // 1. the operations as straight-line code
pub(crate) mod emit; // 2. straight-line code as machine code
pub(crate) mod function; // 3. executable memory and calls
pub(crate) mod code; // 4. the tapes of a step as functions
