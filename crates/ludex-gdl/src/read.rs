//! Reading of bytes in either form.

use ludex_base::{Diagnostic, Limits, Severity, Sizes, Source, Span, StopReason};

use crate::codes;
use crate::infix::read_infix;
use crate::kif::read_kif;
use crate::limits::{Budget, too_large, unstopped};
use crate::print::word_length;
use crate::syntax::{Notation, Rulesheet};

/// Reads a rulesheet in either form. Clauses with mistakes are left out of the tree.
///
/// ```
/// let source = ludex_base::Source::new("t", "p(X) :- q(X, a), not r(X).");
/// let (sheet, diagnostics) = ludex_gdl::parse(&source);
/// assert!(diagnostics.is_empty());
/// assert_eq!(ludex_gdl::print_kif(&sheet), "(<= (p ?x)\n    (q ?x a)\n    (not (r ?x)))\n");
/// ```
pub fn parse(source: &Source) -> (Rulesheet, Vec<Diagnostic>) {
    unstopped(read(source, &Budget::unlimited()))
}

/// Does the same as [`parse`] within some limits.
///
/// # Errors
/// When the deadline is reached, which is checked every few thousand tokens. A text that exceeds
/// the sizes is not an error here: a diagnostic says so.
pub fn parse_within(
    source: &Source,
    limits: &Limits,
) -> Result<(Rulesheet, Vec<Diagnostic>), StopReason> {
    read(source, &Budget::new(limits))
}

/// The result of reading, unless the deadline stops it.
pub(crate) type Parsed = Result<(Rulesheet, Vec<Diagnostic>), StopReason>;

pub(crate) fn read(source: &Source, budget: &Budget<'_>) -> Parsed {
    let notation = detect(source.text());
    if source.text().len() > budget.sizes.text_bytes {
        let sheet = Rulesheet { notation, ..Rulesheet::default() };
        return Ok((sheet, vec![too_large(source.text().len(), &budget.sizes)]));
    }
    match notation {
        Notation::Kif => read_kif(source, budget),
        Notation::Infix => read_infix(source, budget),
    }
}

/// Decodes bytes leniently.
///
/// Bytes that are not UTF-8 are read as UTF-16 if they are marked so, or else as Latin-1, in which
/// every byte is a letter; a warning says so. Rulesheets are mostly ASCII, and other letters occur
/// mostly in comments.
///
/// Bytes that are not text, or too many of them, give an empty text and a fatal diagnostic.
pub fn decode(name: impl Into<String>, bytes: &[u8]) -> (Source, Vec<Diagnostic>) {
    let sizes = Sizes::default();
    if bytes.len() > sizes.text_bytes {
        return (Source::new(name, ""), vec![too_large(bytes.len(), &sizes)]);
    }
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => return (Source::new(name, text), Vec::new()),
        Err(error) => error,
    };
    let warn = |span: Span, message: &str| {
        let code = codes::NOT_UTF8;
        Diagnostic::new(Severity::Warning, code, span, message).with_help("save the file as UTF-8")
    };
    if let Some(text) = utf16(bytes) {
        let warning = warn(Span::default(), "the text is UTF-16, not UTF-8");
        return (Source::new(name, text), vec![warning]);
    }
    if bytes.contains(&0) {
        let code = codes::NOT_UTF8;
        let message = "these bytes are not text";
        let diagnostic = Diagnostic::new(Severity::Fatal, code, Span::default(), message)
            .with_help("a rulesheet is a text file in UTF-8");
        return (Source::new(name, ""), vec![diagnostic]);
    }
    let text: String = bytes.iter().map(|&byte| char::from(byte)).collect();
    // Up to here, the two readings differ in length only by the letters beyond ASCII.
    let before = &bytes[..error.valid_up_to()];
    let start = before.len() + before.iter().filter(|byte| !byte.is_ascii()).count();
    let warning =
        warn(Span::new(start, start + 2), "this letter is not UTF-8; the text is read as Latin-1");
    (Source::new(name, text), vec![warning])
}

/// Decodes bytes that begin with the byte order mark of UTF-16.
fn utf16(bytes: &[u8]) -> Option<String> {
    let (mark, rest) = bytes.split_at_checked(2)?;
    let join = match mark {
        [0xFF, 0xFE] => u16::from_le_bytes,
        [0xFE, 0xFF] => u16::from_be_bytes,
        _ => return None,
    };
    if rest.len() % 2 == 1 {
        return None;
    }
    let units = rest.chunks_exact(2).map(|pair| join([pair[0], pair[1]]));
    char::decode_utf16(units).collect::<Result<_, _>>().ok()
}

/// Detects the form of a text by its first word: prefix form begins with a parenthesis, infix form
/// with a name that arguments, an arrow or a full stop follow.
fn detect(text: &str) -> Notation {
    let mut rest = text;
    loop {
        rest = rest
            .trim_start_matches(|c: char| c.is_whitespace() || c.is_control() || c == '\u{feff}');
        let is_comment = rest.starts_with([';', '%', '#']) || rest.starts_with("//");
        if rest.starts_with("/*") {
            return Notation::Infix;
        }
        if !is_comment {
            break;
        }
        rest = &rest[rest.find(['\n', '\r']).unwrap_or(rest.len())..];
    }
    let after = if let Some(inner) = rest.strip_prefix('\'') {
        inner.find('\'').map_or("", |end| &inner[end + 1..])
    } else {
        &rest[word_length(rest)..]
    };
    if after.len() == rest.len() {
        let is_arrow = [":-", "←", "<-"].iter().any(|arrow| rest.starts_with(arrow));
        return if is_arrow { Notation::Infix } else { Notation::Kif };
    }
    let follows = after.trim_start();
    let is_applied = after.starts_with('(');
    let signs = [".", ":-", "<=", "←", "<-", "⇐"];
    if is_applied || signs.iter().any(|sign| follows.starts_with(sign)) {
        Notation::Infix
    } else {
        Notation::Kif
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use ludex_base::Deadline;

    use super::*;

    #[test]
    fn the_form_is_found_from_the_first_word() {
        let kif = ["", "(role a)", "; p.\n(role a)", "p (q)", "p", ")", "% x\n(p)", "?x"];
        let infix = [
            "role(a).",
            "p.",
            "p :- q.",
            "'P'(a).",
            "% (p)\np <= q.",
            "/* c */ p.",
            ":- p.",
            "X :- p.",
        ];
        for text in kif {
            assert_eq!(detect(text), Notation::Kif, "{text}");
        }
        for text in infix {
            assert_eq!(detect(text), Notation::Infix, "{text}");
        }
    }

    #[track_caller]
    fn check_bytes(bytes: &[u8], text: &str, severity: Option<Severity>, at: u32) {
        let (source, diagnostics) = decode("t", bytes);
        assert_eq!(source.text(), text);
        assert_eq!(diagnostics.first().map(|it| it.severity), severity);
        assert_eq!(diagnostics.first().map_or(0, |it| it.span.start), at);
        diagnostics.iter().for_each(|it| assert!(!source.slice(it.span).contains('\0')));
    }

    #[test]
    fn bytes_that_are_not_utf8_are_decoded_leniently() {
        check_bytes("(p é)".as_bytes(), "(p é)", None, 0);
        check_bytes(b"(p \xE9)", "(p é)", Some(Severity::Warning), 3);
        check_bytes(b"\xC3\xA9 \xE9", "Ã© é", Some(Severity::Warning), 5);
        check_bytes(b"\xFF\xFEp\0.\0", "p.", Some(Severity::Warning), 0);
        check_bytes(b"\xFE\xFF\0p\0.", "p.", Some(Severity::Warning), 0);
        check_bytes(b"\x7FELF\0\xFF", "", Some(Severity::Fatal), 0);
    }

    #[test]
    fn files_beyond_the_limit_are_not_read() {
        let n_bytes = Sizes::default().text_bytes + 1;
        let (source, diagnostics) = decode("t", &vec![b' '; n_bytes]);
        assert_eq!((source.text(), diagnostics[0].code), ("", codes::TOO_LARGE));
        let (_, diagnostics) = parse(&Source::new("t", " ".repeat(n_bytes)));
        assert_eq!(diagnostics[0].code, codes::TOO_LARGE);
        assert!(diagnostics[0].message.contains("has 67108865 bytes, more than 67108864"));
    }

    #[test]
    fn the_sizes_and_the_deadline_of_the_caller_count() {
        let sizes = |change: fn(&mut Sizes)| {
            let mut limits = Limits::usual();
            change(&mut limits.sizes);
            limits
        };
        let facts = "(p (f a) b) ".repeat(3_000);
        let source = Source::new("t", facts.as_str());
        let said = |limits: &Limits| {
            let (sheet, diagnostics) = parse_within(&source, limits).expect("there is time");
            (sheet.clauses.len(), diagnostics.first().map(|it| it.code))
        };
        assert_eq!(said(&Limits::usual()), (3_000, None));
        assert_eq!(said(&sizes(|it| it.text_bytes = 100)), (0, Some(codes::TOO_LARGE)));
        assert_eq!(said(&sizes(|it| it.rules = 100)), (100, Some(codes::TOO_LARGE)));
        assert_eq!(said(&sizes(|it| it.nesting = 1)), (0, Some(codes::TOO_DEEP)));
        assert_eq!(said(&sizes(|it| it.arguments = 1)), (0, Some(codes::TOO_WIDE)));
        let infix = Source::new("t", "p(f(a), b). ".repeat(3_000));
        let over = Limits::usual().until(Deadline::after(Duration::ZERO));
        for source in [&source, &infix] {
            let stopped = parse_within(source, &over).map(|_| ());
            assert_eq!(stopped, Err(StopReason::Time));
        }
    }
}
