//! Parses expressions, with the operators and ranks of MiniZinc.

use crate::codes;
use crate::lexer::TokenKind;
use crate::parse::{Parsed, Parser};
use crate::syntax::*;

/// The loosest rank in the type of a name, where `=` assigns a value and is no comparison.
pub(crate) const SET_RANK: u8 = 6;

impl Parser {
    pub(crate) fn expr(&mut self) -> Parsed<Expr> {
        self.nested(|parser| parser.operators(1))
    }

    /// Parses an expression that can't be a comparison, so that it stops before `=`.
    pub(crate) fn set_expr(&mut self) -> Parsed<Expr> {
        self.nested(|parser| parser.operators(SET_RANK))
    }

    /// Parses an expression whose operators all bind at least as tightly as `least`.
    fn operators(&mut self, least: u8) -> Parsed<Expr> {
        let mut left = self.unary()?;
        let mut n_read = 0_usize;
        let mut ungrouped_rank = None;
        while let Some((op, rank, grouping)) = self.operator().filter(|found| found.1 >= least) {
            let span = self.span();
            if ungrouped_rank == Some(rank) {
                let (sign, ..) = op.about();
                self.error(
                    codes::SYNTAX,
                    span,
                    format!("`{sign}` can't follow another of its rank"),
                )
                .help = Some("join two comparisons with `/\\`, or use parentheses".into());
                return Err(crate::parse::Broken);
            }
            // The tree of a chain is as deep as the chain is long.
            n_read += 1;
            if n_read > MAX_CHAIN {
                let message = format!("a chain of more than {MAX_CHAIN} operators");
                self.error(codes::TOO_DEEP, span, message).help =
                    Some("use `sum`, `forall` or another function of a list".into());
                return Err(crate::parse::Broken);
            }
            self.advance();
            let next = if grouping == Grouping::Right { rank } else { rank + 1 };
            let right = self.nested(|parser| parser.operators(next))?;
            let at = At(left.at.0.to(right.at.0));
            left = Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), at };
            ungrouped_rank = (grouping == Grouping::None).then_some(rank);
        }
        Ok(left)
    }

    fn operator(&mut self) -> Option<(Binary, u8, Grouping)> {
        match self.peek() {
            TokenKind::Sign(sign) => Binary::find(sign),
            TokenKind::Word(word) => Binary::find(word),
            _ => None,
        }
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let op = if self.is_sign("-") {
            Unary::Neg
        } else if self.is_word("not") {
            Unary::Not
        } else if self.take_sign("+") {
            return self.nested(Self::unary);
        } else {
            return self.postfix();
        };
        self.advance();
        let inner = self.nested(Self::unary)?;
        let at = self.since(start);
        // `-5` is a number, not the negation of one.
        let kind = match (op, &inner.kind) {
            (Unary::Neg, ExprKind::Int(number)) if *number > 0 => ExprKind::Int(-number),
            _ => ExprKind::Unary(op, Box::new(inner)),
        };
        Ok(Expr { kind, at })
    }

    fn postfix(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let mut expr = self.primary()?;
        let mut n_read = 0;
        while self.is_sign("[") && n_read < MAX_CHAIN {
            self.advance();
            n_read += 1;
            let mut index = vec![self.expr()?];
            while self.take_sign(",") {
                index.push(self.expr()?);
            }
            self.expect_sign("]")?;
            let kind = ExprKind::Index(Box::new(expr), index);
            expr = Expr { kind, at: self.since(start) };
        }
        Ok(expr)
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let kind = match self.peek().clone() {
            TokenKind::Number(number) => {
                self.advance();
                ExprKind::Int(number)
            }
            TokenKind::Sign("_") => {
                self.advance();
                ExprKind::All
            }
            TokenKind::Sign("(") => {
                self.advance();
                let inner = self.expr()?;
                self.expect_sign(")")?;
                return Ok(Expr { kind: inner.kind, at: self.since(start) });
            }
            TokenKind::Sign("[") => self.list()?,
            TokenKind::Sign("[|") => self.rows()?,
            TokenKind::Sign("{") => self.set()?,
            TokenKind::Word(word) => self.word(&word)?,
            _ => return self.unexpected("an expression"),
        };
        Ok(Expr { kind, at: self.since(start) })
    }

    fn word(&mut self, word: &str) -> Parsed<ExprKind> {
        match word {
            "true" | "false" => {
                self.advance();
                Ok(ExprKind::Bool(word == "true"))
            }
            "if" => self.conditional(),
            "let" => self.local_names(),
            "optimum" => {
                self.advance();
                self.expect_sign("{")?;
                let items = self.nested(|parser| Ok(parser.items(Some("}"))))?;
                self.expect_sign("}")?;
                Ok(ExprKind::Optimum(items))
            }
            "exists" | "forall" => {
                if *self.peek_after(1) != TokenKind::Sign("(") {
                    let span = self.span();
                    let message =
                        format!("`{word}` begins a scope and can't stand in an expression");
                    self.error(codes::SYNTAX, span, message).help = Some(format!(
                        "over indices it is `{word}(i in 1..n)(…)`; a scope follows a `;`"
                    ));
                    return Err(crate::parse::Broken);
                }
                let name = Name { text: word.into(), at: At(self.span()) };
                self.advance();
                self.call(name)
            }
            _ => {
                let name = self.name("an expression")?;
                if self.is_sign("(") { self.call(name) } else { Ok(ExprKind::Name(name.text)) }
            }
        }
    }

    fn conditional(&mut self) -> Parsed<ExprKind> {
        let mut branches = Vec::new();
        loop {
            self.advance();
            let condition = self.expr()?;
            self.expect_word("then")?;
            branches.push((condition, self.expr()?));
            if !self.is_word("elseif") {
                break;
            }
        }
        self.expect_word("else")?;
        let otherwise = self.expr()?;
        self.expect_word("endif")?;
        Ok(ExprKind::If(branches, Box::new(otherwise)))
    }

    fn local_names(&mut self) -> Parsed<ExprKind> {
        self.advance();
        self.expect_sign("{")?;
        let mut names = Vec::new();
        while !self.is_sign("}") {
            let name = self.name("a name")?;
            self.expect_sign("=")?;
            names.push((name, self.expr()?));
            if !self.take_sign(";") && !self.take_sign(",") {
                break;
            }
        }
        self.expect_sign("}")?;
        self.expect_word("in")?;
        let body = self.expr()?;
        Ok(ExprKind::Let(names, Box::new(body)))
    }

    /// Parses `f(x, y)` or `f(i in S)(e)`.
    fn call(&mut self, name: Name) -> Parsed<ExprKind> {
        self.expect_sign("(")?;
        if self.is_generator() {
            let generators = self.generators()?;
            self.expect_sign(")")?;
            self.expect_sign("(")?;
            let body = self.expr()?;
            self.expect_sign(")")?;
            return Ok(ExprKind::Fold(name, generators, Box::new(body)));
        }
        let mut arguments = Vec::new();
        if !self.is_sign(")") {
            arguments.push(self.expr()?);
            while self.take_sign(",") {
                arguments.push(self.expr()?);
            }
        }
        self.expect_sign(")")?;
        Ok(ExprKind::Call(name, arguments))
    }

    /// Whether names and then `in` follow and, in a call, `(` after the closing parenthesis.
    fn is_generator(&self) -> bool {
        let mut n = 0;
        loop {
            match (self.peek_after(n), self.peek_after(n + 1)) {
                (TokenKind::Word(name), TokenKind::Sign(",")) if !is_keyword(name) => {
                    n += 2;
                }
                (TokenKind::Word(name), TokenKind::Word(word))
                    if word == "in" && !is_keyword(name) =>
                {
                    return self.is_followed_by_body(n);
                }
                _ => return false,
            }
        }
    }

    /// Whether `(` follows the parenthesis that closes the open one: without it, `f(x in S)` is
    /// a call with a comparison.
    fn is_followed_by_body(&self, mut n: usize) -> bool {
        let mut n_open = 1_usize;
        loop {
            match self.peek_after(n) {
                TokenKind::Sign("(" | "[" | "{" | "[|") => n_open += 1,
                TokenKind::Sign(")" | "]" | "}" | "|]") => n_open -= 1,
                TokenKind::End | TokenKind::Sign(";") => return false,
                _ => {}
            }
            n += 1;
            if n_open == 0 {
                return *self.peek_after(n) == TokenKind::Sign("(");
            }
        }
    }

    pub(crate) fn generators(&mut self) -> Parsed<Vec<Generator>> {
        let mut generators = Vec::new();
        loop {
            let mut names = vec![self.name("the name of an index")?];
            while self.take_sign(",") {
                names.push(self.name("the name of an index")?);
            }
            self.expect_word("in")?;
            let over = self.expr()?;
            let condition = if self.take_word("where") { Some(self.expr()?) } else { None };
            generators.push(Generator { names, over, condition });
            if !self.take_sign(",") {
                return Ok(generators);
            }
        }
    }

    fn list(&mut self) -> Parsed<ExprKind> {
        self.advance();
        if self.take_sign("]") {
            return Ok(ExprKind::List(Vec::new()));
        }
        let first = self.expr()?;
        if self.take_sign("|") {
            let generators = self.generators()?;
            self.expect_sign("]")?;
            return Ok(ExprKind::Each(Box::new(first), generators));
        }
        let mut list = vec![first];
        while self.take_sign(",") {
            if self.is_sign("]") {
                break;
            }
            list.push(self.expr()?);
        }
        self.expect_sign("]")?;
        Ok(ExprKind::List(list))
    }

    fn rows(&mut self) -> Parsed<ExprKind> {
        self.advance();
        let mut rows = Vec::new();
        while !self.take_sign("|]") {
            let mut row = vec![self.expr()?];
            while self.take_sign(",") {
                if self.is_sign("|") || self.is_sign("|]") {
                    break;
                }
                row.push(self.expr()?);
            }
            rows.push(row);
            if !self.take_sign("|") && !self.is_sign("|]") {
                return self.unexpected("`|` or `|]`");
            }
        }
        Ok(ExprKind::Rows(rows))
    }

    fn set(&mut self) -> Parsed<ExprKind> {
        self.advance();
        if self.take_sign("}") {
            return Ok(ExprKind::Set(Vec::new()));
        }
        let first = self.expr()?;
        if self.take_sign("|") {
            let generators = self.generators()?;
            self.expect_sign("}")?;
            return Ok(ExprKind::SetOf(Box::new(first), generators));
        }
        let mut set = vec![first];
        while self.take_sign(",") {
            if self.is_sign("}") {
                break;
            }
            set.push(self.expr()?);
        }
        self.expect_sign("}")?;
        Ok(ExprKind::Set(set))
    }
}

/// Length of the longest chain `a + b + …` or `a[i][j]…`.
const MAX_CHAIN: usize = 400;
