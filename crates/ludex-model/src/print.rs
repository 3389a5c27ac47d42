//! Prints a tree as text that parses to the same tree.

use std::fmt::Write;

use crate::expressions::SET_RANK;
use crate::syntax::*;

/// Returns the text of a model.
pub fn print(model: &Model) -> String {
    let mut printer = Printer { out: String::new(), indent: 0 };
    printer.items(&model.items);
    printer.out
}

/// Returns the text of an expression.
pub fn print_expression(expr: &Expr) -> String {
    let mut printer = Printer { out: String::new(), indent: 0 };
    printer.expr(expr, 0);
    printer.out
}

struct Printer {
    out: String,
    indent: usize,
}

/// Binds tighter than any operator: the operand before `[` or after a sign.
const TIGHTEST: u8 = 12;
/// Binds as tightly as `-x`.
const UNARY: u8 = 11;

impl Printer {
    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn line(&mut self, write: impl FnOnce(&mut Self)) {
        self.out.extend(std::iter::repeat_n("  ", self.indent));
        write(self);
        self.out.push('\n');
    }

    fn items(&mut self, items: &[Item]) {
        for item in items {
            self.line(|printer| printer.item(item));
        }
    }

    fn block(&mut self, items: &[Item]) {
        self.put("{\n");
        self.indent += 1;
        self.items(items);
        self.indent -= 1;
        self.out.extend(std::iter::repeat_n("  ", self.indent));
        self.put("}");
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Param(param) => {
                let _ = write!(self.out, "param {}: ", param.name.text);
                self.ty(&param.ty);
                if let Some(default) = &param.default {
                    self.put(" = ");
                    self.expr(default, 0);
                }
                self.put(";");
            }
            Item::Enum { name, members } => {
                let members: Vec<&str> = members.iter().map(|name| name.text.as_str()).collect();
                let _ = write!(self.out, "enum {} = {{{}}};", name.text, members.join(", "));
            }
            Item::Let(definition) => {
                self.put("let ");
                self.definition(definition);
                self.put(";");
            }
            Item::Function(function) => {
                let names: Vec<&str> =
                    function.arguments.iter().map(|name| name.text.as_str()).collect();
                let name = &function.name.text;
                let _ = write!(self.out, "function {name}({}) = ", names.join(", "));
                self.expr(&function.body, 0);
                self.put(";");
            }
            Item::Assert { condition, message } => {
                self.put("assert ");
                self.expr(condition, 0);
                if let Some(message) = message {
                    let _ = write!(self.out, ", \"{message}\"");
                }
                self.put(";");
            }
            Item::Scope(scope) => self.scope(scope),
            Item::For { generators, body } => {
                self.put("for (");
                self.generators(generators);
                self.put(") ");
                self.block(body);
            }
            Item::If { condition, then, otherwise } => {
                self.put("if ");
                self.expr(condition, 0);
                self.put(" ");
                self.block(then);
                if !otherwise.is_empty() {
                    self.put(" else ");
                    match &otherwise[..] {
                        [only @ Item::If { .. }] => self.item(only),
                        items => self.block(items),
                    }
                }
            }
            Item::Game(game) => self.game(game),
            Item::LikelyGoal { goal, threshold } => {
                self.put("goal ");
                self.expr(goal, 0);
                self.put(" threshold ");
                self.fraction(threshold);
                self.put(";");
            }
            Item::Threshold(threshold) => {
                self.put("threshold ");
                self.fraction(threshold);
                self.put(";");
            }
            Item::Utility(utility) => {
                self.put("utility ");
                self.expr(utility, 0);
                self.put(";");
            }
            Item::Goal(goal) => {
                self.put("goal ");
                self.expr(goal, 0);
                self.put(";");
            }
        }
    }

    fn fraction(&mut self, fraction: &Fraction) {
        self.expr(&fraction.part, 0);
        self.put(" of ");
        self.expr(&fraction.whole, 0);
    }

    fn definition(&mut self, definition: &Let) {
        self.put(&definition.name.text);
        self.index(&definition.index);
        self.put(" = ");
        self.expr(&definition.value, 0);
    }

    fn index(&mut self, index: &[Expr]) {
        if !index.is_empty() {
            self.put("[");
            self.list(index);
            self.put("]");
        }
    }

    fn list(&mut self, list: &[Expr]) {
        for (i, expr) in list.iter().enumerate() {
            if i > 0 {
                self.put(", ");
            }
            self.expr(expr, 0);
        }
    }

    fn ty(&mut self, ty: &Type) {
        match ty {
            Type::Int => self.put("int"),
            Type::Bool => self.put("bool"),
            Type::Set => self.put("set of int"),
            // A comparison would swallow the `=` that may follow.
            Type::Domain(domain) => self.expr(domain, SET_RANK),
            Type::Array { dimensions, of } => {
                self.put("array[");
                self.list(dimensions);
                self.put("] of ");
                self.ty(of);
            }
        }
    }

    fn quantifier(&mut self, quantifier: &Quantifier) {
        match quantifier {
            Quantifier::Exists => self.put("exists"),
            Quantifier::Forall => self.put("forall"),
            Quantifier::Random => self.put("random"),
            Quantifier::If(condition, then, otherwise) => {
                self.put("if ");
                self.expr(condition, 0);
                self.put(" then ");
                self.quantifier(then);
                self.put(" else ");
                self.quantifier(otherwise);
                self.put(" endif");
            }
        }
    }

    fn declarations(&mut self, declarations: &[Declaration]) {
        for (i, declaration) in declarations.iter().enumerate() {
            self.put(if i == 0 { " " } else { ", " });
            self.put(&declaration.name.text);
            self.index(&declaration.index);
            self.put(": ");
            self.ty(&declaration.ty);
        }
    }

    fn scope(&mut self, scope: &Scope) {
        self.quantifier(&scope.quantifier);
        self.declarations(&scope.declarations);
        for clause in &scope.clauses {
            self.put(" ");
            match clause {
                Clause::Let(definition) => {
                    self.put("let ");
                    self.definition(definition);
                }
                Clause::Where(condition) => {
                    self.put("where ");
                    self.expr(condition, 0);
                }
                Clause::Optimize { is_minimized, expr, ties, .. } => {
                    self.put(if *is_minimized { "minimize " } else { "maximize " });
                    self.expr(expr, 0);
                    if let Some(ties) = ties {
                        let _ = write!(self.out, " ties {}", ties.text);
                    }
                }
                Clause::Aggregate { name, function, expr } => {
                    let _ = write!(self.out, "aggregate {} = {}(", name.text, function.text);
                    self.expr(expr, 0);
                    self.put(")");
                }
                Clause::Order(order) => {
                    self.put("order ");
                    self.expr(order, 0);
                }
                Clause::Symmetry(equations) => self.symmetry(equations),
                Clause::NonBlocking => self.put("nonblocking"),
                Clause::Weight { weight, total, .. } => {
                    self.put("weight ");
                    self.expr(weight, 0);
                    if let Some(total) = total {
                        self.put(" of ");
                        self.expr(total, 0);
                    }
                }
            }
        }
        self.put(";");
    }

    fn game(&mut self, game: &Game) {
        self.put("game {\n");
        self.indent += 1;
        self.line(|printer| {
            printer.put("rounds ");
            printer.expr(&game.rounds, 0);
            printer.put(";");
        });
        self.line(|printer| {
            for (i, player) in game.players.iter().enumerate() {
                printer.put(if i == 0 { "players " } else { ", " });
                printer.quantifier(player);
            }
            printer.put(";");
        });
        for clause in &game.clauses {
            self.line(|printer| {
                printer.game_clause(clause);
                printer.put(";");
            });
        }
        self.indent -= 1;
        self.out.extend(std::iter::repeat_n("  ", self.indent));
        self.put("}");
    }

    fn game_clause(&mut self, clause: &GameClause) {
        match clause {
            GameClause::State { name, ty, initial } => {
                let _ = write!(self.out, "state {}: ", name.text);
                self.ty(ty);
                self.put(" = ");
                self.expr(initial, 0);
            }
            GameClause::Let(definition) => {
                self.put("let ");
                self.definition(definition);
            }
            GameClause::Move { declarations, legal, order } => {
                self.put("move");
                self.declarations(declarations);
                for condition in legal {
                    self.put(" where ");
                    self.expr(condition, 0);
                }
                if let Some(order) = order {
                    self.put(" order ");
                    self.expr(order, 0);
                }
            }
            GameClause::Next { name, value } => {
                let _ = write!(self.out, "next {} = ", name.text);
                self.expr(value, 0);
            }
            GameClause::End { condition, outcome } => {
                self.put("end when ");
                self.expr(condition, 0);
                let _ = write!(self.out, " {}", outcome.word());
            }
            GameClause::Blocked { outcome, .. } => {
                let _ = write!(self.out, "blocked {}", outcome.word());
            }
            GameClause::Symmetry(equations) => self.symmetry(equations),
            GameClause::NonBlocking => self.put("nonblocking"),
        }
    }

    fn symmetry(&mut self, equations: &[Expr]) {
        for (i, equation) in equations.iter().enumerate() {
            self.put(if i == 0 { "symmetry " } else { ", " });
            self.expr(equation, 0);
        }
    }

    fn generators(&mut self, generators: &[Generator]) {
        for (i, generator) in generators.iter().enumerate() {
            if i > 0 {
                self.put(", ");
            }
            let names: Vec<&str> = generator.names.iter().map(|name| name.text.as_str()).collect();
            let _ = write!(self.out, "{} in ", names.join(", "));
            self.expr(&generator.over, 0);
            if let Some(condition) = &generator.condition {
                self.put(" where ");
                self.expr(condition, 0);
            }
        }
    }

    /// Prints an expression, in parentheses if it binds looser than `least`.
    fn expr(&mut self, expr: &Expr, least: u8) {
        let rank = match &expr.kind {
            ExprKind::Binary(op, ..) => op.about().1,
            ExprKind::Unary(..) => UNARY,
            ExprKind::Int(number) if *number < 0 => UNARY,
            // The expression after `in` extends as far as possible.
            ExprKind::Let(..) => 0,
            _ => TIGHTEST,
        };
        if rank < least {
            self.put("(");
            self.kind(&expr.kind);
            self.put(")");
        } else {
            self.kind(&expr.kind);
        }
    }

    fn kind(&mut self, kind: &ExprKind) {
        match kind {
            ExprKind::Int(number) => {
                let _ = write!(self.out, "{number}");
            }
            ExprKind::Bool(truth) => self.put(if *truth { "true" } else { "false" }),
            ExprKind::Name(name) => self.put(name),
            ExprKind::All => self.put("_"),
            ExprKind::Unary(op, inner) => {
                self.put(if *op == Unary::Neg { "-" } else { "not " });
                // `-5` would be a number.
                let is_number = matches!(inner.kind, ExprKind::Int(_));
                self.expr(inner, if is_number && *op == Unary::Neg { TIGHTEST } else { UNARY });
            }
            ExprKind::Binary(op, left, right) => {
                let (sign, rank, grouping) = op.about();
                let (before, after) = match grouping {
                    Grouping::Left => (rank, rank + 1),
                    Grouping::Right => (rank + 1, rank),
                    Grouping::None => (rank + 1, rank + 1),
                };
                self.expr(left, before);
                let _ = write!(self.out, " {sign} ");
                self.expr(right, after);
            }
            ExprKind::If(branches, otherwise) => {
                for (i, (condition, value)) in branches.iter().enumerate() {
                    self.put(if i == 0 { "if " } else { " elseif " });
                    self.expr(condition, 0);
                    self.put(" then ");
                    self.expr(value, 0);
                }
                self.put(" else ");
                self.expr(otherwise, 0);
                self.put(" endif");
            }
            ExprKind::Index(base, index) => {
                self.expr(base, TIGHTEST);
                self.index(index);
            }
            ExprKind::Call(name, arguments) => {
                let _ = write!(self.out, "{}(", name.text);
                self.list(arguments);
                self.put(")");
            }
            ExprKind::Fold(name, generators, body) => {
                let _ = write!(self.out, "{}(", name.text);
                self.generators(generators);
                self.put(")(");
                self.expr(body, 0);
                self.put(")");
            }
            ExprKind::List(list) => {
                self.put("[");
                self.list(list);
                self.put("]");
            }
            ExprKind::Rows(rows) => {
                self.put("[|");
                for row in rows {
                    self.put(" ");
                    self.list(row);
                    self.put(" |");
                }
                self.put("|]");
            }
            ExprKind::Each(body, generators) => {
                self.put("[");
                self.expr(body, 0);
                self.put(" | ");
                self.generators(generators);
                self.put("]");
            }
            ExprKind::Set(set) => {
                self.put("{");
                self.list(set);
                self.put("}");
            }
            ExprKind::SetOf(body, generators) => {
                self.put("{");
                self.expr(body, 0);
                self.put(" | ");
                self.generators(generators);
                self.put("}");
            }
            ExprKind::Let(names, body) => {
                self.put("let {");
                for (name, value) in names {
                    let _ = write!(self.out, " {} = ", name.text);
                    self.expr(value, 0);
                    self.put(";");
                }
                self.put(" } in ");
                self.expr(body, 0);
            }
            ExprKind::Optimum(items) => {
                self.put("optimum ");
                self.block(items);
            }
        }
    }
}
