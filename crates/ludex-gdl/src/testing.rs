//! Helpers that the tests of several modules share.

use ludex_base::{Diagnostic, Severity, Source};

/// Formats diagnostics as lines of text: place, grade, code, message.
pub(crate) fn listed(source: &Source, diagnostics: &[Diagnostic]) -> String {
    let mut text = String::new();
    for it in diagnostics {
        let (line, column) = source.line_column(it.span.start);
        let grade = match it.severity {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Tolerated => "tolerated",
            Severity::Fatal => "fatal",
        };
        text.push_str(&format!("{line}:{column} {grade}[{}]: {}\n", it.code, it.message));
    }
    text
}
