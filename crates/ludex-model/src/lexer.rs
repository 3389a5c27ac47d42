//! Splits text into tokens.

use ludex_base::{Diagnostic, Severity, Span};

use crate::codes;

/// A token with its position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Token {
    /// The kind.
    pub kind: TokenKind,
    /// The position.
    pub span: Span,
}

/// The kind of a token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TokenKind {
    /// A name or a keyword; the parser decides which by the context.
    Word(String),
    /// A number.
    Number(i64),
    /// A text in quotes, without them.
    Text(String),
    /// An operator or a bracket.
    Sign(&'static str),
    /// The end of the text.
    End,
}

impl TokenKind {
    /// Returns the token as messages show it.
    pub fn shown(&self) -> String {
        match self {
            TokenKind::Word(word) => format!("`{word}`"),
            TokenKind::Number(number) => format!("`{number}`"),
            TokenKind::Text(_) => "a text in quotes".into(),
            TokenKind::Sign(sign) => format!("`{sign}`"),
            TokenKind::End => "the end of the file".into(),
        }
    }
}

/// Operators and brackets; if one is a prefix of another, the longer comes first.
const SIGNS: &[&str] = &[
    "<->", "->", "<-", "..", "/\\", "\\/", "<=", ">=", "==", "!=", "++", "[|", "|]", "=", "<", ">",
    "+", "-", "*", "/", "^", "(", ")", "[", "]", "{", "}", ",", ";", ":", "|", "_",
];

/// Returns all tokens, the end last; reports and skips characters that are no token.
pub fn tokenize(text: &str) -> (Vec<Token>, Vec<Diagnostic>) {
    let mut lexer = Lexer { text, at: 0, tokens: Vec::new(), diagnostics: Vec::new() };
    lexer.run();
    (lexer.tokens, lexer.diagnostics)
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    tokens: Vec<Token>,
    diagnostics: Vec<Diagnostic>,
}

impl Lexer<'_> {
    fn run(&mut self) {
        loop {
            self.skip_blanks();
            let start = self.at;
            let Some(first) = self.rest().chars().next() else { break };
            let kind = if first.is_alphabetic() || (first == '_' && self.is_word_after_underscore())
            {
                let word = self.take_while(|c| c.is_alphanumeric() || c == '_');
                Some(TokenKind::Word(word))
            } else if first.is_ascii_digit() {
                self.number()
            } else if first == '"' {
                self.quoted()
            } else if let Some(sign) = SIGNS.iter().find(|sign| self.rest().starts_with(**sign)) {
                self.at += sign.len();
                Some(TokenKind::Sign(sign))
            } else {
                self.at += first.len_utf8();
                self.stray(start, first);
                None
            };
            if let Some(kind) = kind {
                self.tokens.push(Token { kind, span: Span::new(start, self.at) });
            }
        }
        let end = Span::new(self.text.len(), self.text.len());
        self.tokens.push(Token { kind: TokenKind::End, span: end });
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn is_word_after_underscore(&self) -> bool {
        self.rest()[1..].starts_with(|c: char| c.is_alphanumeric() || c == '_')
    }

    fn take_while(&mut self, keep: impl Fn(char) -> bool) -> String {
        let end = self.rest().find(|c| !keep(c)).unwrap_or(self.rest().len());
        let taken = self.rest()[..end].to_string();
        self.at += end;
        taken
    }

    fn skip_blanks(&mut self) {
        loop {
            self.take_while(char::is_whitespace);
            if self.rest().starts_with('%') {
                self.take_while(|c| c != '\n');
            } else if self.rest().starts_with("/*") {
                match self.rest().find("*/") {
                    Some(end) => self.at += end + 2,
                    None => {
                        let span = Span::new(self.at, self.at + 2);
                        self.report(codes::UNCLOSED, span, "this comment is never closed").help =
                            Some("close it with `*/`".into());
                        self.at = self.text.len();
                    }
                }
            } else {
                return;
            }
        }
    }

    fn number(&mut self) -> Option<TokenKind> {
        let start = self.at;
        let digits = self.take_while(|c| c.is_ascii_digit());
        let is_real = self.rest().starts_with('.')
            && self.rest()[1..].starts_with(|c: char| c.is_ascii_digit());
        if is_real {
            self.at += 1;
            self.take_while(|c| c.is_ascii_digit());
            let span = Span::new(start, self.at);
            self.report(codes::NUMBER, span, "numbers are integers").help =
                Some("scale the quantity: write cents for euros, or percent for factors".into());
            return None;
        }
        match digits.parse() {
            Ok(number) => Some(TokenKind::Number(number)),
            Err(_) => {
                let span = Span::new(start, self.at);
                self.report(codes::NUMBER, span, format!("`{digits}` does not fit in 64 bits"));
                None
            }
        }
    }

    fn quoted(&mut self) -> Option<TokenKind> {
        let start = self.at;
        self.at += 1;
        let inside = self.take_while(|c| c != '"' && c != '\n');
        if self.rest().starts_with('"') {
            self.at += 1;
            return Some(TokenKind::Text(inside));
        }
        let span = Span::new(start, self.at);
        self.report(codes::UNCLOSED, span, "this text is never closed").help =
            Some("close it with `\"` on the same line".into());
        None
    }

    fn stray(&mut self, start: usize, found: char) {
        let help = match found {
            '&' => Some("`and` is written `/\\`"),
            '!' | '~' | '¬' => Some("`not` is written `not`, and `different` is written `!=`"),
            '#' => Some("comments begin with `%`"),
            _ => None,
        };
        let span = Span::new(start, self.at);
        let diagnostic = self.report(codes::CHARACTER, span, format!("`{found}` has no meaning"));
        diagnostic.help = help.map(String::from);
    }

    fn report(
        &mut self,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        self.diagnostics.push(Diagnostic::new(Severity::Fatal, code, span, message));
        self.diagnostics.last_mut().expect("it was just added")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let (tokens, diagnostics) = tokenize(text);
        let mut shown: Vec<String> = tokens.iter().map(|token| token.kind.shown()).collect();
        shown.pop();
        shown.extend(diagnostics.iter().map(|diagnostic| diagnostic.code.to_string()));
        assert_eq!(shown.join(" "), expected);
    }

    #[test]
    fn signs_are_as_long_as_they_can_be() {
        check("a<->b..c[|1|]", "`a` `<->` `b` `..` `c` `[|` `1` `|]`");
        check("1..3 x_1 _", "`1` `..` `3` `x_1` `_`");
    }

    #[test]
    fn comments_are_blanks() {
        check("a % b\n/* c\n */ d", "`a` `d`");
        check("a /* b", "`a` unclosed");
    }

    #[test]
    fn what_is_no_token_is_named() {
        check("a & b", "`a` `b` character");
        check("1.5 99999999999999999999", "number number");
        check("\"open", "unclosed");
    }
}
