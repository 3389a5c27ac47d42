//! The front end: from rulesheet text to a [`Program`] that means something.
//!
//! GDL and GDL-II, in the prefix form of the community (KIF) and in the infix form of the
//! papers. [`check_source`] does all of it; [`parse`] gives the tree, [`check`] everything that
//! is wrong with it and the program, [`lower`] the program alone.
//!
//! Read the modules in this order; each uses only those before it.
//!
//! | module | holds |
//! | --- | --- |
//! | [`codes`] | the names of all that can be said about a rulesheet |
//! | `keyword` | the words with a meaning |
//! | `syntax` | the tree that the author wrote |
//! | `limits` | how much is read |
//! | `report` | what has been found so far |
//! | `print` | the tree as text, in both forms |
//! | `kif` | text in prefix form to the tree |
//! | `infix` | text in infix form to the tree |
//! | `read` | bytes to text, and which form it is |
//! | `terms` | ground terms as numbers |
//! | `program` | the result: rules without `or`, safe, over relations |
//! | `safety` | variables that nothing binds, found |
//! | `demand` | variables that nothing binds, made safe |
//! | `lower` | the tree to the program |
//! | `check` | everything that is wrong, at once |
//! | `scramble` | the same game in other words |
//!
//! To add a diagnostic, add its code to [`codes`], its page to `docs/diagnostics`, a sheet that
//! shows it to `docs/spec`, and the check to the module of `check` that looks at such things.

mod check;
pub mod codes;
mod demand;
mod infix;
mod keyword;
mod kif;
mod limits;
mod lower;
mod print;
mod program;
mod read;
mod report;
mod safety;
mod scramble;
mod syntax;
mod terms;
#[cfg(test)]
mod testing;

pub use check::{Checked, Found, check, check_declarations, check_source};
pub use infix::parse_infix;
pub use keyword::{Keyword, RANDOM_ROLE, is_random_role};
pub use kif::parse_kif;
pub use limits::{MAX_ARGS, MAX_BYTES, MAX_DEPTH, MAX_VARIABLES};
pub use lower::lower;
pub use print::{print, print_infix, print_kif, term_text};
pub use program::{
    Atom, Component, Literal, OnDemand, Pattern, Program, Relation, RelationId, Rule, Stage,
};
pub use read::{decode, parse};
pub use scramble::{Renaming, scramble};
pub use syntax::{Clause, Formula, FormulaKind, Notation, Rulesheet, Term, TermKind};
pub use terms::{TermId, Terms};
