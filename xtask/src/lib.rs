//! Tools that the project's tasks share with its experiments.

pub mod tools;
