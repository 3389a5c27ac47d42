//! From bytes to the tree, in whichever form they are written.

use ludex_base::{Diagnostic, Source};

use crate::kif::parse_kif;
use crate::syntax::Rulesheet;

/// Reads a rulesheet in either form. Clauses with mistakes are left out of the tree.
pub fn parse(source: &Source) -> (Rulesheet, Vec<Diagnostic>) {
    parse_kif(source)
}
