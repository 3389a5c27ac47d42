//! Checks that every name is declared where it is used.
//!
//! The check uses only the text, with all branches and all functions, before any parameter has
//! a value.

use std::collections::{HashMap, HashSet};

use ludex_base::{Diagnostic, Severity, Span};

use crate::syntax::*;
use crate::{builtins, codes, suggest};

/// Reports undeclared names, names used too early and names declared twice.
pub fn check_names(model: &Model) -> Vec<Diagnostic> {
    let mut resolver = Resolver::default();
    resolver.collect(&model.items);
    resolver.items(&model.items);
    resolver.diagnostics
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// A parameter, a constant or a member of an enumeration.
    Constant,
    /// A variable, or a value computed from variables.
    Variable,
    /// An aggregate.
    Aggregate,
    /// A function.
    Function,
}

/// The context of an expression.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Restrictor,
    Objective,
    Aggregate,
}

#[derive(Default)]
struct Resolver {
    /// All names of the text, with the position of their first declaration.
    declared: HashMap<String, (Kind, Span)>,
    seen: HashSet<String>,
    locals: Vec<String>,
    /// Whether the expression may use later names, as objectives and aggregates do.
    looks_ahead: bool,
    place: Option<Place>,
    diagnostics: Vec<Diagnostic>,
}

impl Resolver {
    // ---- what is declared ----

    fn collect(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Param(param) => self.declare(&param.name, Kind::Constant, false),
                Item::Enum { name, members } => {
                    self.declare(name, Kind::Constant, false);
                    for member in members {
                        self.declare(member, Kind::Constant, false);
                    }
                }
                Item::Let(definition) => self.declare(&definition.name, Kind::Variable, true),
                Item::Function(function) => self.declare(&function.name, Kind::Function, false),
                Item::Scope(scope) => {
                    for declaration in &scope.declarations {
                        let is_family = !declaration.index.is_empty();
                        self.declare(&declaration.name, Kind::Variable, is_family);
                    }
                    for clause in &scope.clauses {
                        match clause {
                            Clause::Let(definition) => {
                                self.declare(&definition.name, Kind::Variable, true);
                            }
                            Clause::Aggregate { name, .. } => {
                                self.declare(name, Kind::Aggregate, true);
                            }
                            _ => {}
                        }
                    }
                }
                Item::For { body, .. } => self.collect(body),
                Item::If { then, otherwise, .. } => {
                    // Only one of two branches is taken, so both may declare the same name.
                    let before: HashSet<String> = self.declared.keys().cloned().collect();
                    self.collect(then);
                    let added: Vec<(String, (Kind, Span))> = self
                        .declared
                        .iter()
                        .filter(|(name, _)| !before.contains(*name))
                        .map(|(name, about)| (name.clone(), *about))
                        .collect();
                    for (name, _) in &added {
                        self.declared.remove(name);
                    }
                    self.collect(otherwise);
                    for (name, about) in added {
                        self.declared.entry(name).or_insert(about);
                    }
                }
                Item::Game(game) => {
                    for clause in &game.clauses {
                        match clause {
                            GameClause::State { name, .. } => {
                                self.declare(name, Kind::Variable, false);
                            }
                            GameClause::Let(definition) => {
                                self.declare(&definition.name, Kind::Variable, true);
                            }
                            GameClause::Move { declarations, .. } => {
                                for declaration in declarations {
                                    self.declare(&declaration.name, Kind::Variable, false);
                                }
                            }
                            _ => {}
                        }
                    }
                }
                Item::Assert { .. }
                | Item::Goal(_)
                | Item::LikelyGoal { .. }
                | Item::Threshold(_)
                | Item::Utility(_) => {}
            }
        }
    }

    /// Records a declaration; only a name of a family or of a loop may repeat.
    fn declare(&mut self, name: &Name, kind: Kind, may_repeat: bool) {
        if let Some((own, first)) = self.declared.get(&name.text).copied() {
            if !may_repeat || own != kind {
                let message = format!("`{}` is declared twice", name.text);
                let diagnostic =
                    Diagnostic::new(Severity::Fatal, codes::DUPLICATE_NAME, name.at.0, message)
                        .with_label(first, "first declared here");
                self.diagnostics.push(diagnostic);
            }
            return;
        }
        if builtins::is_builtin(&name.text) && kind == Kind::Function {
            let message = format!("`{}` is a function of the language", name.text);
            self.diagnostics.push(
                Diagnostic::new(Severity::Fatal, codes::DUPLICATE_NAME, name.at.0, message)
                    .with_help("take another name"),
            );
        }
        self.declared.insert(name.text.clone(), (kind, name.at.0));
    }

    // ---- what is used ----

    fn see(&mut self, name: &Name) {
        self.seen.insert(name.text.clone());
    }

    fn items(&mut self, items: &[Item]) {
        for item in items {
            self.item(item);
        }
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Param(param) => {
                self.ty(&param.ty);
                if let Some(default) = &param.default {
                    self.expr(default);
                }
                self.see(&param.name);
            }
            Item::Enum { name, members } => {
                self.see(name);
                for member in members {
                    self.see(member);
                }
            }
            Item::Let(definition) => self.definition(definition),
            Item::Function(function) => {
                // A function may call itself, and use names declared before it is called.
                self.see(&function.name);
                let names: Vec<&Name> = function.arguments.iter().collect();
                let looks_ahead = std::mem::replace(&mut self.looks_ahead, true);
                self.with_locals(&names, |resolver| resolver.expr(&function.body));
                self.looks_ahead = looks_ahead;
            }
            Item::Assert { condition, .. } => self.expr(condition),
            Item::Scope(scope) => self.scope(scope),
            Item::For { generators, body } => {
                self.generators(generators, |resolver| resolver.items(body));
            }
            Item::If { condition, then, otherwise } => {
                self.expr(condition);
                self.items(then);
                self.items(otherwise);
            }
            Item::Game(game) => self.game(game),
            Item::Goal(expr) | Item::Utility(expr) => self.expr(expr),
            Item::LikelyGoal { goal, threshold } => {
                self.expr(goal);
                self.fraction(threshold);
            }
            Item::Threshold(threshold) => self.fraction(threshold),
        }
    }

    fn fraction(&mut self, fraction: &Fraction) {
        self.expr(&fraction.part);
        self.expr(&fraction.whole);
    }

    fn definition(&mut self, definition: &Let) {
        for index in &definition.index {
            self.expr(index);
        }
        self.expr(&definition.value);
        self.see(&definition.name);
    }

    fn declaration(&mut self, declaration: &Declaration) {
        for index in &declaration.index {
            self.expr(index);
        }
        self.ty(&declaration.ty);
        self.see(&declaration.name);
    }

    fn quantifier(&mut self, quantifier: &Quantifier) {
        if let Quantifier::If(condition, then, otherwise) = quantifier {
            self.expr(condition);
            self.quantifier(then);
            self.quantifier(otherwise);
        }
    }

    fn scope(&mut self, scope: &Scope) {
        self.quantifier(&scope.quantifier);
        for declaration in &scope.declarations {
            self.declaration(declaration);
        }
        for clause in &scope.clauses {
            match clause {
                Clause::Let(definition) => self.definition(definition),
                Clause::Where(condition) => self.at(Place::Restrictor, condition),
                Clause::Optimize { expr, .. } => self.at(Place::Objective, expr),
                Clause::Aggregate { name, expr, .. } => {
                    self.at(Place::Aggregate, expr);
                    self.see(name);
                }
                Clause::Order(order) => self.expr(order),
                Clause::NonBlocking => {}
                Clause::Symmetry(equations) => equations.iter().for_each(|e| self.expr(e)),
                Clause::Weight { weight, total, .. } => {
                    self.at(Place::Restrictor, weight);
                    total.iter().for_each(|total| self.expr(total));
                }
            }
        }
    }

    fn at(&mut self, place: Place, expr: &Expr) {
        self.place = Some(place);
        let looks_ahead = matches!(place, Place::Objective | Place::Aggregate);
        let before = std::mem::replace(&mut self.looks_ahead, looks_ahead);
        self.expr(expr);
        self.looks_ahead = before;
        self.place = None;
    }

    fn game(&mut self, game: &Game) {
        self.expr(&game.rounds);
        for player in &game.players {
            self.quantifier(player);
        }
        self.locals.extend(["round".to_string(), "player".to_string()]);
        for clause in &game.clauses {
            if let GameClause::State { name, ty, initial } = clause {
                self.ty(ty);
                self.expr(initial);
                self.see(name);
            }
        }
        for clause in &game.clauses {
            match clause {
                GameClause::State { .. } | GameClause::Blocked { .. } | GameClause::NonBlocking => {
                }
                GameClause::Let(definition) => self.definition(definition),
                GameClause::Symmetry(equations) => equations.iter().for_each(|e| self.expr(e)),
                GameClause::Move { declarations, legal, order } => {
                    for declaration in declarations {
                        self.declaration(declaration);
                    }
                    for condition in legal {
                        self.at(Place::Restrictor, condition);
                    }
                    if let Some(order) = order {
                        self.expr(order);
                    }
                }
                GameClause::Next { name, value } => {
                    let is_state = game.clauses.iter().any(
                        |clause| matches!(clause, GameClause::State { name: own, .. } if own.text == name.text),
                    );
                    if !is_state {
                        let states = game.clauses.iter().filter_map(|clause| match clause {
                            GameClause::State { name, .. } => Some(name.text.as_str()),
                            _ => None,
                        });
                        let message = format!("`{}` is no state variable of this game", name.text);
                        let near = suggest::closest(&name.text, states);
                        let diagnostic = Diagnostic::new(
                            Severity::Fatal,
                            codes::UNKNOWN_VARIABLE,
                            name.at.0,
                            message,
                        );
                        self.diagnostics.push(match near {
                            Some(near) => diagnostic.with_help(format!("did you mean `{near}`?")),
                            None => diagnostic,
                        });
                    }
                    self.expr(value);
                }
                GameClause::End { condition, .. } => self.expr(condition),
            }
        }
        self.locals.truncate(self.locals.len() - 2);
    }

    fn ty(&mut self, ty: &Type) {
        match ty {
            Type::Domain(domain) => self.expr(domain),
            Type::Array { dimensions, of } => {
                for dimension in dimensions {
                    self.expr(dimension);
                }
                self.ty(of);
            }
            Type::Int | Type::Bool | Type::Set => {}
        }
    }

    fn with_locals(&mut self, names: &[&Name], run: impl FnOnce(&mut Self)) {
        let n_before = self.locals.len();
        self.locals.extend(names.iter().map(|name| name.text.clone()));
        run(self);
        self.locals.truncate(n_before);
    }

    fn generators(&mut self, generators: &[Generator], run: impl FnOnce(&mut Self)) {
        let n_before = self.locals.len();
        for generator in generators {
            self.expr(&generator.over);
            self.locals.extend(generator.names.iter().map(|name| name.text.clone()));
            if let Some(condition) = &generator.condition {
                self.expr(condition);
            }
        }
        run(self);
        self.locals.truncate(n_before);
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Int(_) | ExprKind::Bool(_) | ExprKind::All => {}
            ExprKind::Name(name) => self.name(name, expr.at.0),
            ExprKind::Unary(_, inner) => self.expr(inner),
            ExprKind::Binary(_, left, right) => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::If(branches, otherwise) => {
                for (condition, value) in branches {
                    self.expr(condition);
                    self.expr(value);
                }
                self.expr(otherwise);
            }
            ExprKind::Index(base, index) => {
                self.expr(base);
                for place in index {
                    self.expr(place);
                }
            }
            ExprKind::Call(name, arguments) => {
                self.function(name);
                for argument in arguments {
                    self.expr(argument);
                }
            }
            ExprKind::Fold(name, generators, body) => {
                self.function(name);
                self.generators(generators, |resolver| resolver.expr(body));
            }
            ExprKind::List(list) | ExprKind::Set(list) => {
                for item in list {
                    self.expr(item);
                }
            }
            ExprKind::Rows(rows) => {
                for item in rows.iter().flatten() {
                    self.expr(item);
                }
            }
            ExprKind::Each(body, generators) | ExprKind::SetOf(body, generators) => {
                self.generators(generators, |resolver| resolver.expr(body));
            }
            ExprKind::Let(names, body) => {
                let n_before = self.locals.len();
                for (name, value) in names {
                    self.expr(value);
                    self.locals.push(name.text.clone());
                }
                self.expr(body);
                self.locals.truncate(n_before);
            }
            ExprKind::Optimum(items) => {
                // An inner model sees the names around it.
                let mut inner = Resolver {
                    declared: HashMap::new(),
                    seen: self.seen.clone(),
                    locals: self.locals.clone(),
                    ..Resolver::default()
                };
                inner.seen.extend(self.locals.iter().cloned());
                inner.collect(items);
                for (name, about) in &self.declared {
                    inner.declared.entry(name.clone()).or_insert(*about);
                }
                inner.items(items);
                self.diagnostics.extend(inner.diagnostics);
            }
        }
    }

    fn function(&mut self, name: &Name) {
        let is_own = matches!(self.declared.get(&name.text), Some((Kind::Function, _)));
        if is_own || builtins::is_builtin(&name.text) {
            return;
        }
        let own = self.declared.iter().filter(|(_, about)| about.0 == Kind::Function);
        let own: Vec<&str> = own.map(|(name, _)| name.as_str()).collect();
        let known = builtins::usages().map(|(name, _)| name).chain(own);
        let near = suggest::closest(&name.text, known).map(String::from);
        let message = format!("there is no function `{}`", name.text);
        let diagnostic = Diagnostic::new(Severity::Fatal, codes::UNKNOWN_NAME, name.at.0, message);
        self.diagnostics.push(match near {
            Some(near) => diagnostic.with_help(format!("did you mean `{near}`?")),
            None => diagnostic,
        });
    }

    fn name(&mut self, name: &str, span: Span) {
        if self.locals.iter().any(|own| own == name) || self.seen.contains(name) {
            return;
        }
        let diagnostic = match self.declared.get(name).copied() {
            Some(_) if self.looks_ahead => return,
            Some((_, place)) => self.too_early(name, span).with_label(place, "declared here"),
            None => self.unknown(name, span),
        };
        self.diagnostics.push(diagnostic);
    }

    fn too_early(&self, name: &str, span: Span) -> Diagnostic {
        if self.place == Some(Place::Restrictor) {
            let message = format!("this restrictor mentions `{name}`, which is chosen later");
            return Diagnostic::new(Severity::Fatal, codes::LATER_VARIABLE, span, message).with_help(
                "a restrictor can mention only variables of its own and of earlier scopes; move the condition to the scope that chooses the last of its variables, or to the goal",
            );
        }
        let message = format!("`{name}` is used before it is declared");
        Diagnostic::new(Severity::Fatal, codes::USED_BEFORE_SCOPE, span, message)
            .with_help("move this behind the declaration")
    }

    fn unknown(&self, name: &str, span: Span) -> Diagnostic {
        let (code, message) = match self.place {
            Some(Place::Aggregate) => (
                codes::UNKNOWN_VARIABLE,
                format!("this aggregate is of `{name}`, which no scope declares"),
            ),
            Some(Place::Objective) => (
                codes::UNKNOWN_VARIABLE,
                format!("this objective is `{name}`, which no scope declares"),
            ),
            _ => (codes::UNKNOWN_NAME, format!("`{name}` is not declared")),
        };
        let known = self.declared.keys().chain(&self.locals).map(String::as_str);
        let diagnostic = Diagnostic::new(Severity::Fatal, code, span, message);
        match suggest::closest(name, known) {
            Some(near) => diagnostic.with_help(format!("did you mean `{near}`?")),
            None => diagnostic,
        }
    }
}
