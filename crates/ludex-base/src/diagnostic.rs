//! Diagnostics: messages for the author of a text.

use crate::Span;

/// How serious a diagnostic is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Note,
    /// Probably not what the author meant.
    Warning,
    /// Against the rules of the language, but the text still has a meaning.
    Tolerated,
    /// The text has no meaning.
    Fatal,
}

impl Severity {
    /// Returns whether a text with such a diagnostic is wrong.
    pub fn is_error(self) -> bool {
        self >= Severity::Tolerated
    }
}

/// A further place that a diagnostic points at, with an optional message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// What to see there; may be empty.
    pub message: String,
}

/// A message with its place, its code and its remedy. The outermost crates render it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// The name of the rule that was broken, in kebab case; it has a page in
    /// `docs/diagnostics`.
    pub code: &'static str,
    /// How serious it is.
    pub severity: Severity,
    /// What is wrong: lower case, no full stop, the thing in backquotes.
    pub message: String,
    /// The main place.
    pub span: Span,
    /// Further places that explain it.
    pub labels: Vec<Label>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// Creates a diagnostic without help and labels. A very long message is cut.
    pub fn new(
        severity: Severity,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
    ) -> Self {
        let message = shortened(message.into());
        Self { code, severity, message, span, labels: Vec::new(), help: None }
    }

    /// Adds the remedy.
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(shortened(help.into()));
        self
    }

    /// Adds a further place.
    pub fn with_label(mut self, span: Span, message: impl Into<String>) -> Self {
        self.labels.push(Label { span, message: shortened(message.into()) });
        self
    }
}

/// Longest text of a message, in bytes. Only texts that quote a huge name or term are longer.
const MAX_TEXT: usize = 2_000;

/// Returns a text for people, cut with a count of what is missing if it is very long.
///
/// ```
/// use ludex_base::diagnostic::shortened;
/// assert_eq!(shortened("(cell 1 1 b)".into()), "(cell 1 1 b)");
/// assert!(shortened("7".repeat(5_000)).ends_with("7… (3000 more characters)"));
/// ```
pub fn shortened(mut text: String) -> String {
    if text.len() > MAX_TEXT {
        let end = text.floor_char_boundary(MAX_TEXT);
        let n_more = text[end..].chars().count();
        text.truncate(end);
        text.push_str(&format!("… ({n_more} more characters)"));
    }
    text
}
