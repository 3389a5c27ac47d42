//! The front end: from rulesheet text to a checked [`Program`].
//!
//! It reads GDL and GDL-II, in the prefix form of the community (KIF) and in the infix form of the
//! papers. [`check_source_within`] is the whole front end in one call, within limits of time, memory
//! and sizes; [`parse`] returns the tree, [`check`] all diagnostics and the program, [`lower`] the
//! program alone.
//!
//! Read the modules in this order; each uses only those before it.
//!
//! | module | holds |
//! | --- | --- |
//! | [`codes`] | the codes of all diagnostics |
//! | `keyword` | the keywords of GDL |
//! | `syntax` | the syntax tree |
//! | `limits` | limits on the size of a rulesheet |
//! | `report` | collects diagnostics |
//! | `print` | prints the tree in both forms |
//! | `kif` | reads prefix form |
//! | `infix` | reads infix form |
//! | `read` | decodes bytes and detects the form |
//! | `terms` | interned ground terms |
//! | `program` | the main type: safe rules without `or`, over relations |
//! | `safety` | finds variables that nothing binds |
//! | `demand` | makes rules with such variables safe |
//! | `lower` | turns the tree into the program |
//! | `check` | reports all mistakes at once |
//! | `scramble` | replaces the names of a game |
//! | `words` | says the rules in words |
//!
//! To add a diagnostic, add its code to [`codes`], its page to `docs/diagnostics`, a rulesheet that
//! shows it to `docs/spec`, and the check to the matching module of `check`.

// Sizes come from texts of strangers: a number that does not fit must be noticed.
#![deny(clippy::cast_possible_truncation)]

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
mod words;

pub use check::{Checked, Found, check, check_declarations, check_source, check_source_within};
pub use infix::parse_infix;
pub use keyword::{Keyword, RANDOM_ROLE, is_random_role};
pub use kif::parse_kif;
pub use lower::lower;
pub use print::{print, print_infix, print_kif, term_text};
pub use program::{
    Atom, Component, Literal, OnDemand, Pattern, Program, Relation, RelationId, Rule, RulePlace,
    Stage,
};
pub use read::{decode, parse, parse_within};
pub use scramble::{Renaming, scramble};
pub use syntax::{Clause, Formula, FormulaKind, Notation, Rulesheet, Term, TermKind};
pub use terms::{TermId, Terms};
pub use words::{Words, in_words};
