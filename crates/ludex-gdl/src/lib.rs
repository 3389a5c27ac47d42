//! The front end: from rulesheet text to a [`Program`] that means something.
//!
//! GDL and GDL-II, in the prefix form of the community (KIF) and in the infix form of the
//! papers.
//!
//! Read the modules in this order; each uses only those before it.

mod demand; // 5. rules with unbound variables made safe
mod keyword; // 1. the words with a meaning
mod kif; // 3. text in prefix form to the tree
mod lower;
mod program; // the result: rules without `or`, safe, over relations
mod syntax; // 2. the tree that the author wrote
mod terms; // 4. ground terms as numbers // 6. the tree to the program

pub use keyword::Keyword;
pub use kif::parse_kif;
pub use lower::lower;
pub use program::{Atom, Component, Literal, Pattern, Program, Relation, RelationId, Rule, Stage};
pub use syntax::{Clause, Formula, FormulaKind, Rulesheet, Term, TermKind};
pub use terms::{TermId, Terms};
