//! Collection of diagnostics, with a bounded number of each kind.

use ludex_base::{Diagnostic, Severity};
use rustc_hash::FxHashMap;

use crate::limits::MAX_MISTAKES;

/// The diagnostics collected so far.
#[derive(Default)]
pub(crate) struct Report {
    diagnostics: Vec<Diagnostic>,
    counts: FxHashMap<(&'static str, Severity), usize>,
}

impl Report {
    /// Adds a diagnostic, unless there are already very many of the same code and severity.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        let count = self.counts.entry((diagnostic.code, diagnostic.severity)).or_default();
        *count += 1;
        if *count <= MAX_MISTAKES {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Returns whether diagnostics of this code are still accepted; if not, the caller may stop
    /// looking.
    pub fn has_room(&self, code: &'static str, severity: Severity) -> bool {
        self.counts.get(&(code, severity)).is_none_or(|&count| count < MAX_MISTAKES)
    }

    pub fn extend(&mut self, diagnostics: impl IntoIterator<Item = Diagnostic>) {
        diagnostics.into_iter().for_each(|diagnostic| self.push(diagnostic));
    }

    pub fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.diagnostics
    }
}
