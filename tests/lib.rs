//! Tests across crates; nothing to use from here.
