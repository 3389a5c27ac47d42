//! Diagnostics as text and as JSON.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use ludex_base::{Diagnostic, Severity, Source, Span};
use serde::Serialize;

/// A diagnostic as JSON.
#[derive(Clone, Debug, Serialize)]
pub struct DiagnosticJson {
    code: &'static str,
    severity: &'static str,
    message: String,
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
}

impl DiagnosticJson {
    /// Converts a diagnostic about `source`.
    pub fn new(source: &Source, diagnostic: &Diagnostic) -> Self {
        let (line, column) = source.line_column(diagnostic.span.start);
        let (end_line, end_column) = source.line_column(diagnostic.span.end);
        Self {
            code: diagnostic.code,
            severity: match diagnostic.severity {
                Severity::Fatal => "fatal",
                Severity::Tolerated => "tolerated",
                Severity::Warning => "warning",
                Severity::Note => "note",
            },
            message: diagnostic.message.clone(),
            line,
            column,
            end_line,
            end_column,
            help: diagnostic.help.clone(),
        }
    }

    /// Creates an error of which only the line is known.
    pub fn on_line(code: &'static str, message: String, line: usize) -> Self {
        Self {
            code,
            severity: "fatal",
            message,
            line,
            column: 1,
            end_line: line,
            end_column: 1,
            help: None,
        }
    }
}

/// Splits diagnostics into errors and the rest, each in order of position.
pub fn split_json(
    source: &Source,
    diagnostics: &[Diagnostic],
) -> (Vec<DiagnosticJson>, Vec<DiagnosticJson>) {
    let mut sorted: Vec<&Diagnostic> = diagnostics.iter().collect();
    sorted.sort_by_key(|diagnostic| diagnostic.span);
    let (errors, rest): (Vec<_>, Vec<_>) =
        sorted.into_iter().partition(|diagnostic| diagnostic.severity.is_error());
    let to_json = |diagnostics: Vec<&Diagnostic>| {
        diagnostics.into_iter().map(|diagnostic| DiagnosticJson::new(source, diagnostic)).collect()
    };
    (to_json(errors), to_json(rest))
}

/// Most diagnostics shown; the rest are only counted.
const MAX_SHOWN: usize = 40;

/// Writes diagnostics to standard error, the worst first.
///
/// With `is_lenient`, tolerated errors are shown as warnings, because the game is played anyway.
pub fn report(source: &Source, diagnostics: &[Diagnostic], is_lenient: bool) {
    let is_terminal = io::stderr().is_terminal();
    let renderer = if is_terminal { Renderer::styled() } else { Renderer::plain() };
    let mut stderr = io::stderr().lock();
    let mut sorted: Vec<&Diagnostic> = diagnostics.iter().collect();
    sorted.sort_by_key(|diagnostic| (std::cmp::Reverse(diagnostic.severity), diagnostic.span));
    for diagnostic in sorted.iter().take(MAX_SHOWN) {
        let text = render(&renderer, source, diagnostic, is_lenient);
        // If standard error fails, there is nowhere to report it.
        let _ = writeln!(stderr, "{text}");
    }
    if sorted.len() > MAX_SHOWN {
        let _ = writeln!(stderr, "… and {} more", sorted.len() - MAX_SHOWN);
    }
}

/// Renders a diagnostic with its line, a caret under the position, and its help.
pub fn render(
    renderer: &Renderer,
    source: &Source,
    diagnostic: &Diagnostic,
    is_lenient: bool,
) -> String {
    let level = match diagnostic.severity {
        Severity::Fatal => Level::ERROR,
        Severity::Tolerated if is_lenient => Level::WARNING,
        Severity::Tolerated => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let title = level.primary_title(&diagnostic.message).id(diagnostic.code);
    let spans = || diagnostic.labels.iter().map(|label| label.span).chain([diagnostic.span]);
    let mut window = window(source, spans());
    if window.end - window.start > MAX_SNIPPET {
        window = self::window(source, std::iter::once(diagnostic.span));
    }
    if window.end - window.start > MAX_SNIPPET {
        let (line, column) = source.line_column(diagnostic.span.start);
        let origin = Origin::path(source.name()).line(line).char_column(column);
        return render_group(renderer, title.element(origin), diagnostic);
    }
    let within = |span: Span| {
        let clip = |offset: u32| {
            (offset as usize).clamp(window.start as usize, window.end as usize)
                - window.start as usize
        };
        clip(span.start)..clip(span.end)
    };
    // Lines of old files end with carriage returns alone, which the renderer does not know.
    let text = source.slice(window);
    let has_line_feeds = text.contains('\n') || !text.contains('\r');
    let text = if has_line_feeds { Cow::Borrowed(text) } else { text.replace('\r', "\n").into() };
    let mut snippet = Snippet::source(text)
        .path(source.name())
        .line_start(source.line_column(window.start).0)
        .annotation(AnnotationKind::Primary.span(within(diagnostic.span)));
    for label in diagnostic
        .labels
        .iter()
        .filter(|label| window.start <= label.span.start && label.span.end <= window.end)
    {
        let annotation = AnnotationKind::Context.span(within(label.span));
        snippet = snippet.annotation(annotation.label(&label.message));
    }
    render_group(renderer, title.element(snippet), diagnostic)
}

/// Longest part of a rulesheet that is shown, in bytes.
const MAX_SNIPPET: u32 = 20_000;

fn render_group<'a>(
    renderer: &Renderer,
    mut group: Group<'a>,
    diagnostic: &'a Diagnostic,
) -> String {
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(help));
    }
    renderer.render(&[group])
}

/// Returns the whole lines that contain the spans; a large rulesheet is not shown in full.
fn window(source: &Source, spans: impl Iterator<Item = Span> + Clone) -> Span {
    let text = source.text();
    let limit = |offset: u32| {
        let mut offset = (offset as usize).min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    };
    let start = limit(spans.clone().map(|span| span.start).min().unwrap_or(0));
    let end = limit(spans.map(|span| span.end).max().unwrap_or(0)).max(start);
    let start = text[..start].rfind(['\n', '\r']).map_or(0, |newline| newline + 1);
    let end = text[end..].find(['\n', '\r']).map_or(text.len(), |newline| end + newline);
    Span::new(start, end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diagnostic_shows_its_line_and_its_help() {
        let source = Source::new("broken.kif", "(role a)\n(<= (p ?x) (q ?y))\n");
        let diagnostic =
            Diagnostic::new(Severity::Fatal, "unsafe-rule", Span::new(16, 18), "`?x` is loose")
                .with_help("bind it");
        let text = render(&Renderer::plain(), &source, &diagnostic, false);
        assert!(text.starts_with("error[unsafe-rule]: `?x` is loose"), "{text}");
        assert!(text.contains("broken.kif:2:8"), "{text}");
        assert!(text.contains("^^"), "{text}");
        assert!(text.contains("help: bind it"), "{text}");
    }

    #[test]
    fn tolerated_errors_are_warnings_when_lenient() {
        let source = Source::new("x", "a");
        let diagnostic = Diagnostic::new(Severity::Tolerated, "odd", Span::new(0, 1), "odd");
        assert!(render(&Renderer::plain(), &source, &diagnostic, true).starts_with("warning"));
        assert!(render(&Renderer::plain(), &source, &diagnostic, false).starts_with("error"));
    }

    #[test]
    fn lines_may_end_with_carriage_returns_alone() {
        let source = Source::new("old.kif", "(role a)\r(p)\r(<= (p ?x) (q ?y))\r(r)");
        let diagnostic =
            Diagnostic::new(Severity::Fatal, "unsafe-rule", Span::new(20, 22), "`?x` is loose");
        let text = render(&Renderer::plain(), &source, &diagnostic, false);
        assert!(text.contains("old.kif:3:8") && text.contains("3 | (<= (p ?x) (q ?y))"), "{text}");
        assert!(!text.contains("role") && !text.contains("(r)"), "{text}");
    }

    #[test]
    fn of_very_long_lines_only_the_place_is_shown() {
        let source = Source::new("long.kif", format!("(p)\n{}", "(p a) ".repeat(100_000)));
        let diagnostic = Diagnostic::new(Severity::Warning, "odd", Span::new(4, 9), "odd")
            .with_label(Span::new(500_000, 500_005), "here")
            .with_help("remove it");
        let text = render(&Renderer::plain(), &source, &diagnostic, false);
        assert!(text.contains("long.kif:2:1") && text.contains("remove it"), "{text}");
        assert!(text.len() < 200, "{text}");
    }

    #[test]
    fn a_place_at_the_end_of_the_text_is_shown() {
        let source = Source::new("x", "(role a");
        let diagnostic = Diagnostic::new(Severity::Fatal, "open", Span::new(7, 7), "open");
        assert!(render(&Renderer::plain(), &source, &diagnostic, false).contains("x:1:"));
    }
}
