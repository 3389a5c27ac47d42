//! Parses items, scopes and games. Expressions are in [`crate::expressions`].
//!
//! A mistake ends its item; the parser continues after the next `;`, so that one run finds
//! mistakes in the whole text.

use ludex_base::{Diagnostic, Severity, Span};

use crate::codes;
use crate::lexer::{Token, TokenKind, tokenize};
use crate::syntax::*;

/// Parses a model.
pub fn parse(text: &str) -> (Model, Vec<Diagnostic>) {
    let mut parser = Parser::new(text);
    let items = parser.items(None);
    (Model { items }, parser.diagnostics)
}

/// Parses assignments `name = value;`, the form of data files.
pub fn parse_assignments(text: &str) -> (Vec<(Name, Expr)>, Vec<Diagnostic>) {
    let mut parser = Parser::new(text);
    let mut assignments = Vec::new();
    while !parser.is_at_end() {
        match parser.assignment() {
            Ok(assignment) => assignments.push(assignment),
            Err(Broken) => parser.recover(),
        }
    }
    (assignments, parser.diagnostics)
}

/// Parses one expression and nothing after it.
pub fn parse_expression(text: &str) -> (Option<Expr>, Vec<Diagnostic>) {
    let mut parser = Parser::new(text);
    let expr = parser.expr().ok();
    if expr.is_some() && !parser.is_at_end() {
        let _ = parser.unexpected::<()>("the end of the value");
    }
    (expr.filter(|_| parser.diagnostics.is_empty()), parser.diagnostics)
}

/// Largest number of diagnostics to report.
const MAX_DIAGNOSTICS: usize = 100;
/// Deepest nesting of expressions and blocks.
pub(crate) const MAX_DEPTH: usize = 150;

/// A mistake was reported, so the item has no tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Broken;

pub(crate) type Parsed<T> = Result<T, Broken>;

pub(crate) struct Parser {
    tokens: Vec<Token>,
    at: usize,
    pub(crate) depth: usize,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl Parser {
    fn new(text: &str) -> Self {
        let (tokens, diagnostics) = tokenize(text);
        Self { tokens, at: 0, depth: 0, diagnostics }
    }

    // ---- tokens ----

    pub(crate) fn peek(&self) -> &TokenKind {
        &self.tokens[self.at].kind
    }

    pub(crate) fn peek_after(&self, n: usize) -> &TokenKind {
        let last = self.tokens.len() - 1;
        &self.tokens[(self.at + n).min(last)].kind
    }

    pub(crate) fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    /// Returns the span from the start of `start` to the end of the last token read.
    pub(crate) fn since(&self, start: Span) -> At {
        At(start.to(self.tokens[self.at.saturating_sub(1)].span.to(start)))
    }

    pub(crate) fn advance(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    fn is_at_end(&self) -> bool {
        *self.peek() == TokenKind::End
    }

    pub(crate) fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), TokenKind::Sign(own) if *own == sign)
    }

    pub(crate) fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), TokenKind::Word(own) if own == word)
    }

    pub(crate) fn take_sign(&mut self, sign: &str) -> bool {
        let is_there = self.is_sign(sign);
        if is_there {
            self.advance();
        }
        is_there
    }

    pub(crate) fn take_word(&mut self, word: &str) -> bool {
        let is_there = self.is_word(word);
        if is_there {
            self.advance();
        }
        is_there
    }

    pub(crate) fn expect_sign(&mut self, sign: &str) -> Parsed<()> {
        if self.take_sign(sign) { Ok(()) } else { self.unexpected(&format!("`{sign}`")) }
    }

    pub(crate) fn expect_word(&mut self, word: &str) -> Parsed<()> {
        if self.take_word(word) { Ok(()) } else { self.unexpected(&format!("`{word}`")) }
    }

    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() < MAX_DIAGNOSTICS {
            self.diagnostics.push(diagnostic);
        }
    }

    pub(crate) fn error(
        &mut self,
        code: &'static str,
        span: Span,
        message: String,
    ) -> &mut Diagnostic {
        self.diagnostics.push(Diagnostic::new(Severity::Fatal, code, span, message));
        self.diagnostics.last_mut().expect("it was just added")
    }

    pub(crate) fn unexpected<T>(&mut self, expected: &str) -> Parsed<T> {
        let found = self.peek().shown();
        // A missing `;` is reported where it is missing, after the last token.
        let is_after = expected == "`;`" && self.at > 0;
        let span = if is_after {
            let end = self.tokens[self.at - 1].span.end;
            Span { start: end, end }
        } else {
            self.span()
        };
        let message = format!("expected {expected}, found {found}");
        self.report(Diagnostic::new(Severity::Fatal, codes::SYNTAX, span, message));
        Err(Broken)
    }

    /// Skips to the position after the next `;`, or before the `}` that closes the block.
    fn recover(&mut self) {
        let mut n_open = 0_usize;
        loop {
            match self.peek() {
                TokenKind::End => return,
                TokenKind::Sign("{" | "(" | "[" | "[|") => n_open += 1,
                TokenKind::Sign("}") if n_open == 0 => return,
                TokenKind::Sign("}" | ")" | "]" | "|]") => n_open = n_open.saturating_sub(1),
                TokenKind::Sign(";") if n_open == 0 => {
                    self.advance();
                    return;
                }
                // The broken item may begin with such a word itself.
                TokenKind::Word(word)
                    if n_open == 0
                        && self.is_behind_item()
                        && item_starts().any(|own| own == word) =>
                {
                    return;
                }
                _ => {}
            }
            self.advance();
        }
    }

    fn is_behind_item(&self) -> bool {
        self.at > 0 && matches!(self.tokens[self.at - 1].kind, TokenKind::Sign(";" | "}"))
    }

    /// Parses one level deeper, unless that is too deep.
    pub(crate) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            let span = self.span();
            self.error(codes::TOO_DEEP, span, format!("nested deeper than {MAX_DEPTH}")).help =
                Some("give parts names with `let`".into());
            // The enclosing expressions are as deep; one message is enough.
            self.at = self.tokens.len() - 1;
            return Err(Broken);
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    // ---- names ----

    pub(crate) fn name(&mut self, what: &str) -> Parsed<Name> {
        let span = self.span();
        match self.peek().clone() {
            TokenKind::Word(text) if !is_keyword(&text) => {
                self.advance();
                Ok(Name { text, at: At(span) })
            }
            TokenKind::Word(text) => {
                let message = format!("expected {what}, found `{text}`, a word of the language");
                self.error(codes::SYNTAX, span, message).help = Some("take another name".into());
                Err(Broken)
            }
            _ => self.unexpected(what),
        }
    }

    // ---- items ----

    /// Parses items up to `end`, which is left for the caller, or up to the end of the text.
    pub(crate) fn items(&mut self, end: Option<&str>) -> Vec<Item> {
        let mut items = Vec::new();
        loop {
            match end {
                Some(end) if self.is_sign(end) => return items,
                _ if self.is_at_end() => return items,
                _ => {}
            }
            // A stray semicolon has no meaning.
            if self.take_sign(";") {
                continue;
            }
            match self.item(&mut items) {
                Ok(()) => {}
                Err(Broken) => {
                    let before = self.at;
                    self.recover();
                    // Skips a brace that closes no block, or a token on which recovery made no
                    // progress.
                    let is_brace = self.is_sign("}");
                    if is_brace && end.is_none() || self.at == before && !is_brace {
                        self.advance();
                    }
                }
            }
        }
    }

    fn block(&mut self) -> Parsed<Vec<Item>> {
        self.expect_sign("{")?;
        let items = self.nested(|parser| Ok(parser.items(Some("}"))))?;
        self.expect_sign("}")?;
        Ok(items)
    }

    fn item(&mut self, items: &mut Vec<Item>) -> Parsed<()> {
        let TokenKind::Word(word) = self.peek().clone() else {
            return self.unexpected("a statement such as `param`, `exists` or `goal`");
        };
        let start = self.span();
        match word.as_str() {
            "param" => return self.params(items),
            "enum" => items.push(self.enumeration()?),
            "let" => {
                self.advance();
                items.push(Item::Let(self.definition()?));
                self.expect_sign(";")?;
            }
            "function" | "predicate" => items.push(Item::Function(self.function()?)),
            "assert" => items.push(self.assertion()?),
            "exists" | "forall" | "random" => items.push(Item::Scope(self.scope()?)),
            "for" => items.push(self.repetition()?),
            "if" => items.push(self.choice()?),
            "game" => items.push(Item::Game(self.game()?)),
            "goal" => {
                self.advance();
                let goal = self.expr()?;
                items.push(if self.take_word("threshold") {
                    Item::LikelyGoal { goal, threshold: self.fraction()? }
                } else {
                    Item::Goal(goal)
                });
                self.expect_sign(";")?;
            }
            "threshold" => {
                self.advance();
                items.push(Item::Threshold(self.fraction()?));
                self.expect_sign(";")?;
            }
            "utility" => {
                self.advance();
                items.push(Item::Utility(self.expr()?));
                self.expect_sign(";")?;
            }
            word if RESERVED.contains(&word) => {
                let message = format!("`{word}` is a word without a meaning yet");
                self.error(codes::RESERVED, start, message).help =
                    Some("scopes are `exists`, `forall` and `random`".into());
                return Err(Broken);
            }
            word => {
                let message = format!("`{word}` begins no statement");
                let help = statement_help(word);
                self.error(codes::SYNTAX, start, message).help = Some(help);
                return Err(Broken);
            }
        }
        Ok(())
    }

    fn params(&mut self, items: &mut Vec<Item>) -> Parsed<()> {
        self.advance();
        let mut names = vec![self.name("the name of a parameter")?];
        while self.take_sign(",") {
            names.push(self.name("the name of a parameter")?);
        }
        self.expect_sign(":")?;
        let ty = self.ty(true)?;
        let default = if self.take_sign("=") { Some(self.expr()?) } else { None };
        self.expect_sign(";")?;
        items.extend(
            names
                .into_iter()
                .map(|name| Item::Param(Param { name, ty: ty.clone(), default: default.clone() })),
        );
        Ok(())
    }

    fn enumeration(&mut self) -> Parsed<Item> {
        self.advance();
        let name = self.name("the name of the enumeration")?;
        self.expect_sign("=")?;
        self.expect_sign("{")?;
        let mut members = vec![self.name("a member")?];
        while self.take_sign(",") {
            members.push(self.name("a member")?);
        }
        self.expect_sign("}")?;
        self.expect_sign(";")?;
        Ok(Item::Enum { name, members })
    }

    /// Parses `name[index] = value`, after `let`.
    fn definition(&mut self) -> Parsed<Let> {
        let name = self.name("a name")?;
        let index = self.index()?;
        self.expect_sign("=")?;
        let value = self.expr()?;
        Ok(Let { name, index, value })
    }

    fn index(&mut self) -> Parsed<Vec<Expr>> {
        let mut index = Vec::new();
        if self.take_sign("[") {
            index.push(self.expr()?);
            while self.take_sign(",") {
                index.push(self.expr()?);
            }
            self.expect_sign("]")?;
        }
        Ok(index)
    }

    fn function(&mut self) -> Parsed<Function> {
        self.advance();
        let name = self.name("the name of the function")?;
        self.expect_sign("(")?;
        let mut arguments = Vec::new();
        if !self.is_sign(")") {
            arguments.push(self.name("the name of an argument")?);
            while self.take_sign(",") {
                arguments.push(self.name("the name of an argument")?);
            }
        }
        self.expect_sign(")")?;
        self.expect_sign("=")?;
        let body = self.expr()?;
        self.expect_sign(";")?;
        Ok(Function { name, arguments, body })
    }

    fn assertion(&mut self) -> Parsed<Item> {
        self.advance();
        let condition = self.expr()?;
        let mut message = None;
        if self.take_sign(",") {
            let TokenKind::Text(text) = self.peek().clone() else {
                return self.unexpected("a message in quotes");
            };
            self.advance();
            message = Some(text);
        }
        self.expect_sign(";")?;
        Ok(Item::Assert { condition, message })
    }

    fn repetition(&mut self) -> Parsed<Item> {
        self.advance();
        self.expect_sign("(")?;
        let generators = self.generators()?;
        self.expect_sign(")")?;
        let body = self.block()?;
        Ok(Item::For { generators, body })
    }

    /// Parses `if c { … }`, or a scope whose quantifier is `if c then exists else forall
    /// endif`.
    fn choice(&mut self) -> Parsed<Item> {
        let start = self.span();
        self.advance();
        let condition = self.expr()?;
        if self.is_word("then") {
            let quantifier = self.quantifier_after(condition)?;
            return Ok(Item::Scope(self.scope_of(quantifier, start)?));
        }
        let then = self.block()?;
        let mut otherwise = Vec::new();
        if self.take_word("else") {
            if self.is_word("if") {
                otherwise.push(self.nested(Self::choice)?);
            } else {
                otherwise = self.block()?;
            }
        }
        Ok(Item::If { condition, then, otherwise })
    }

    // ---- scopes ----

    fn scope(&mut self) -> Parsed<Scope> {
        let start = self.span();
        let quantifier = self.quantifier()?;
        self.scope_of(quantifier, start)
    }

    fn scope_of(&mut self, quantifier: Quantifier, start: Span) -> Parsed<Scope> {
        let declarations = self.declarations()?;
        let mut clauses = Vec::new();
        while !self.is_sign(";") {
            clauses.push(self.clause()?);
        }
        let at = self.since(start);
        self.advance();
        Ok(Scope { quantifier, declarations, clauses, at })
    }

    fn quantifier(&mut self) -> Parsed<Quantifier> {
        if self.take_word("exists") {
            Ok(Quantifier::Exists)
        } else if self.take_word("forall") {
            Ok(Quantifier::Forall)
        } else if self.take_word("random") {
            Ok(Quantifier::Random)
        } else if self.take_word("if") {
            let condition = self.expr()?;
            self.nested(|parser| parser.quantifier_after(condition))
        } else {
            self.unexpected("`exists`, `forall` or `random`")
        }
    }

    fn quantifier_after(&mut self, condition: Expr) -> Parsed<Quantifier> {
        self.expect_word("then")?;
        let then = self.nested(Self::quantifier)?;
        self.expect_word("else")?;
        let otherwise = self.nested(Self::quantifier)?;
        self.expect_word("endif")?;
        Ok(Quantifier::If(Box::new(condition), Box::new(then), Box::new(otherwise)))
    }

    fn declarations(&mut self) -> Parsed<Vec<Declaration>> {
        let mut declarations = Vec::new();
        loop {
            // Names that share a type: `x, y: 1..3`.
            let mut names = vec![self.declared()?];
            while self.take_sign(",") {
                names.push(self.declared()?);
            }
            self.expect_sign(":")?;
            let ty = self.ty(false)?;
            declarations.extend(names.into_iter().map(|(name, index)| {
                let ty = ty.clone();
                Declaration { name, index, ty }
            }));
            if !self.take_sign(",") {
                return Ok(declarations);
            }
        }
    }

    fn declared(&mut self) -> Parsed<(Name, Vec<Expr>)> {
        Ok((self.name("the name of a variable")?, self.index()?))
    }

    fn ty(&mut self, is_param: bool) -> Parsed<Type> {
        if self.take_word("int") {
            Ok(Type::Int)
        } else if self.take_word("bool") {
            Ok(Type::Bool)
        } else if self.is_word("set") && is_param {
            self.advance();
            self.expect_word("of")?;
            self.expect_word("int")?;
            Ok(Type::Set)
        } else if self.take_word("array") {
            self.expect_sign("[")?;
            let mut dimensions = vec![self.expr()?];
            while self.take_sign(",") {
                dimensions.push(self.expr()?);
            }
            self.expect_sign("]")?;
            self.expect_word("of")?;
            let of = self.nested(|parser| parser.ty(is_param))?;
            Ok(Type::Array { dimensions, of: Box::new(of) })
        } else {
            // In `0..n = n` the sign `=` assigns a value.
            Ok(Type::Domain(self.set_expr()?))
        }
    }

    fn clause(&mut self) -> Parsed<Clause> {
        let start = self.span();
        if self.take_word("let") {
            Ok(Clause::Let(self.definition()?))
        } else if self.take_word("where") {
            Ok(Clause::Where(self.expr()?))
        } else if self.is_word("minimize") || self.is_word("maximize") {
            let is_minimized = self.is_word("minimize");
            self.advance();
            let expr = self.expr()?;
            let ties = if self.take_word("ties") {
                Some(self.name("how ties are settled")?)
            } else {
                None
            };
            Ok(Clause::Optimize { is_minimized, expr, ties, at: self.since(start) })
        } else if self.take_word("aggregate") {
            let name = self.name("the name of the aggregate")?;
            self.expect_sign("=")?;
            let function = self.name("`sum`, `min`, `max`, `mean` or `count`")?;
            self.expect_sign("(")?;
            let expr = self.expr()?;
            self.expect_sign(")")?;
            Ok(Clause::Aggregate { name, function, expr })
        } else if self.take_word("order") {
            Ok(Clause::Order(self.expr()?))
        } else if self.take_word("symmetry") {
            Ok(Clause::Symmetry(self.equations()?))
        } else if self.take_word("nonblocking") {
            Ok(Clause::NonBlocking)
        } else if self.take_word("weight") {
            let weight = self.expr()?;
            let total = if self.take_word("of") { Some(self.expr()?) } else { None };
            Ok(Clause::Weight { weight, total, at: self.since(start) })
        } else {
            self.unexpected("`;`")
        }
    }

    /// Parses `3 of 4`.
    fn fraction(&mut self) -> Parsed<Fraction> {
        let part = self.expr()?;
        self.expect_word("of")?;
        Ok(Fraction { part, whole: self.expr()? })
    }

    // ---- games ----

    fn game(&mut self) -> Parsed<Game> {
        let at = At(self.span());
        self.advance();
        self.expect_sign("{")?;
        let mut rounds = None;
        let mut players = Vec::new();
        let mut clauses = Vec::new();
        while !self.is_sign("}") {
            if self.take_word("rounds") {
                rounds = Some(self.expr()?);
            } else if self.take_word("players") {
                players = vec![self.quantifier()?];
                while self.take_sign(",") {
                    players.push(self.quantifier()?);
                }
            } else {
                clauses.push(self.game_clause()?);
            }
            self.expect_sign(";")?;
        }
        self.advance();
        let Some(rounds) = rounds else {
            self.error(codes::SYNTAX, at.0, "this game does not say how long it lasts".into())
                .help = Some("add `rounds n;`, with the most moves a game can have".into());
            return Err(Broken);
        };
        if players.is_empty() {
            players = vec![Quantifier::Exists, Quantifier::Forall];
        }
        Ok(Game { rounds, players, clauses, at })
    }

    fn game_clause(&mut self) -> Parsed<GameClause> {
        let at = At(self.span());
        if self.take_word("state") {
            let name = self.name("the name of a state variable")?;
            self.expect_sign(":")?;
            let ty = self.ty(false)?;
            self.expect_sign("=")?;
            let initial = self.expr()?;
            Ok(GameClause::State { name, ty, initial })
        } else if self.take_word("let") {
            Ok(GameClause::Let(self.definition()?))
        } else if self.take_word("move") {
            let declarations = self.declarations()?;
            let mut legal = Vec::new();
            let mut order = None;
            while !self.is_sign(";") {
                if self.take_word("where") {
                    legal.push(self.expr()?);
                } else if self.take_word("order") {
                    order = Some(self.expr()?);
                } else {
                    return self.unexpected("`;`");
                }
            }
            Ok(GameClause::Move { declarations, legal, order })
        } else if self.take_word("next") {
            let name = self.name("the name of a state variable")?;
            self.expect_sign("=")?;
            Ok(GameClause::Next { name, value: self.expr()? })
        } else if self.take_word("end") {
            self.expect_word("when")?;
            let condition = self.expr()?;
            Ok(GameClause::End { condition, outcome: self.outcome()? })
        } else if self.take_word("blocked") {
            Ok(GameClause::Blocked { outcome: self.outcome()?, at })
        } else if self.take_word("symmetry") {
            Ok(GameClause::Symmetry(self.equations()?))
        } else if self.take_word("nonblocking") {
            Ok(GameClause::NonBlocking)
        } else {
            self.unexpected(
                "`rounds`, `players`, `state`, `let`, `move`, `next`, `end`, `blocked`, `symmetry` or `}`",
            )
        }
    }

    /// Parses `x = y, y = x`.
    fn equations(&mut self) -> Parsed<Vec<Expr>> {
        let mut equations = Vec::new();
        loop {
            let equation = self.expr()?;
            if !matches!(equation.kind, ExprKind::Binary(Binary::Eq, ..)) {
                self.error(
                    codes::SYNTAX,
                    equation.at.0,
                    "a symmetry is a list of equations".into(),
                )
                .help = Some("say what takes whose place: `symmetry x = y, y = x`".into());
                return Err(Broken);
            }
            equations.push(equation);
            if !self.take_sign(",") {
                return Ok(equations);
            }
        }
    }

    fn outcome(&mut self) -> Parsed<Outcome> {
        for (word, outcome) in Outcome::ALL {
            if self.take_word(word) {
                return Ok(outcome);
            }
        }
        self.unexpected("`loses`, `wins`, `ends` or `passes`")
    }

    fn assignment(&mut self) -> Parsed<(Name, Expr)> {
        let name = self.name("the name of a parameter")?;
        self.expect_sign("=")?;
        let value = self.expr()?;
        self.expect_sign(";")?;
        Ok((name, value))
    }
}

fn statement_help(word: &str) -> String {
    match word {
        "var" => "variables are declared by their scope: `exists x: 1..3;`".into(),
        "constraint" => {
            "a restrictor stands after `where` in its scope; what must hold in the end is the `goal`"
                .into()
        }
        "solve" | "satisfy" => {
            "`minimize` and `maximize` are clauses of an `exists` scope; without them, satisfying is meant"
                .into()
        }
        "include" => "data comes from `--data FILE` or `-D name=value`".into(),
        "state" | "move" | "next" => format!("`{word}` stands inside `game {{ … }}`"),
        word => match crate::suggest::closest(word, item_starts()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("statements begin with {}", item_starts().collect::<Vec<_>>().join(", ")),
        },
    }
}
