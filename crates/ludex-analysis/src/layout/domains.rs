//! Domains: the constants that can occur in each argument of a fluent, read off the rules.
//!
//! A position is an argument of a relation or of a function. Constants flow from the body of a rule to
//! its head along variables; a variable with several positions in the body takes the constants they
//! share. The domains are an overestimate and need no play, so they are cheap for every game.

use std::collections::{BTreeMap, BTreeSet};

use ludex_base::Symbol;
use ludex_gdl::{Atom, Keyword, Literal, Pattern, Program, RelationId, Rule, TermId};

/// A value that can occur in a position.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Value {
    /// A constant.
    Constant(Symbol),
    /// A function with its arity; the values of its arguments are in its own positions.
    Function(Symbol, usize),
}

/// An argument of a relation or of a function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Position {
    /// A relation and the index of its argument.
    Relation(RelationId, usize),
    /// A function, its arity and the index of its argument.
    Function(Symbol, usize, usize),
}

/// The domain of every position.
#[derive(Clone, Debug, Default)]
pub(super) struct Domains {
    values: BTreeMap<Position, BTreeSet<Value>>,
    /// The values that `base` declares for the positions of fluents.
    declared: BTreeMap<Position, BTreeSet<Value>>,
    /// The values in the positions of fluents in the initial state.
    initial: BTreeMap<Position, BTreeSet<Value>>,
}

/// Limit on the rounds of propagation. A chain of rules that is written backwards needs one round
/// per link; a drawing can do without the rest.
const MAX_ROUNDS: usize = 50;

impl Domains {
    /// Computes the domains of all positions of a program.
    pub(super) fn of(program: &Program) -> Self {
        let mut domains = Self::default();
        let is = |rule: &Rule, keyword: Keyword| rule.head.relation == keyword.into();
        let (facts, rules): (Vec<&Rule>, Vec<&Rule>) = program
            .rules
            .iter()
            .filter(|rule| !is(rule, Keyword::Base) && !is(rule, Keyword::Input))
            .partition(|rule| rule.body.is_empty());
        for fact in facts {
            domains.flow(program, fact);
        }
        for _ in 0..MAX_ROUNDS {
            let mut has_grown = false;
            for rule in &rules {
                has_grown |= domains.flow(program, rule);
            }
            if !has_grown {
                break;
            }
        }
        domains.declared = domains.heads_of(program, Keyword::Base);
        domains.initial = domains.heads_of(program, Keyword::Init);
        domains
    }

    /// Returns the values of a position according to the rules, restricted by `base` unless that
    /// leaves none.
    pub(super) fn values(&self, position: Position) -> BTreeSet<Value> {
        let derived = self.values.get(&position).cloned().unwrap_or_default();
        let Some(declared) = self.declared.get(&position) else { return derived };
        let both: BTreeSet<Value> = derived.intersection(declared).copied().collect();
        if both.is_empty() { derived } else { both }
    }

    /// Returns the values in a position of a fluent in the initial state.
    pub(super) fn initial(&self, position: Position) -> BTreeSet<Value> {
        self.initial.get(&position).cloned().unwrap_or_default()
    }

    /// Returns the functions and constants that can be true in a state.
    pub(super) fn fluents(&self) -> BTreeSet<Value> {
        self.values(position_of(Keyword::True.into(), 0))
    }

    /// Propagates constants through one rule; returns whether any was new to its head.
    fn flow(&mut self, program: &Program, rule: &Rule) -> bool {
        let bindings = self.bindings(rule);
        if bindings.iter().flatten().any(BTreeSet::is_empty) {
            return false;
        }
        let mut has_grown = false;
        for (argument, pattern) in rule.head.args.iter().enumerate() {
            let position = position_of(rule.head.relation, argument);
            has_grown |= self.fill(program, position, pattern, &bindings);
        }
        has_grown
    }

    /// Returns the values that the rules of one keyword alone put into the positions of their
    /// heads.
    fn heads_of(&self, program: &Program, keyword: Keyword) -> BTreeMap<Position, BTreeSet<Value>> {
        let mut heads = Self::default();
        for rule in program.rules.iter().filter(|rule| rule.head.relation == keyword.into()) {
            let bindings = self.bindings(rule);
            for (argument, pattern) in rule.head.args.iter().enumerate() {
                heads.fill(program, position_of(keyword.into(), argument), pattern, &bindings);
            }
        }
        heads.values
    }

    /// Returns the values of each variable of a rule; `None` for one that its body does not bind.
    fn bindings(&self, rule: &Rule) -> Vec<Option<BTreeSet<Value>>> {
        let mut bindings = vec![None; rule.n_variables()];
        for literal in &rule.body {
            if let Literal::Positive(atom) = literal {
                self.restrict_atom(atom, &mut bindings);
            }
        }
        bindings
    }

    fn restrict_atom(&self, atom: &Atom, bindings: &mut [Option<BTreeSet<Value>>]) {
        for (argument, pattern) in atom.args.iter().enumerate() {
            self.restrict(position_of(atom.relation, argument), pattern, bindings);
        }
    }

    fn restrict(
        &self,
        position: Position,
        pattern: &Pattern,
        bindings: &mut [Option<BTreeSet<Value>>],
    ) {
        match pattern {
            Pattern::Ground(_) => {}
            Pattern::Compound(name, args) => {
                for (argument, arg) in args.iter().enumerate() {
                    self.restrict(Position::Function(*name, args.len(), argument), arg, bindings);
                }
            }
            Pattern::Variable(variable) => {
                let here = self.values.get(&position).cloned().unwrap_or_default();
                let value = &mut bindings[*variable as usize];
                *value = Some(match value.take() {
                    Some(before) => before.intersection(&here).copied().collect(),
                    None => here,
                });
            }
        }
    }

    /// Adds the values of a head's pattern to its position; returns whether any was new.
    fn fill(
        &mut self,
        program: &Program,
        position: Position,
        pattern: &Pattern,
        bindings: &[Option<BTreeSet<Value>>],
    ) -> bool {
        match pattern {
            Pattern::Ground(term) => self.fill_ground(program, position, *term),
            Pattern::Variable(variable) => {
                let Some(value) = &bindings[*variable as usize] else { return false };
                let values = self.values.entry(position).or_default();
                let n_before = values.len();
                values.extend(value);
                values.len() > n_before
            }
            Pattern::Compound(name, args) => {
                let mut has_grown = self.add(position, Value::Function(*name, args.len()));
                for (argument, arg) in args.iter().enumerate() {
                    let inner = Position::Function(*name, args.len(), argument);
                    has_grown |= self.fill(program, inner, arg, bindings);
                }
                has_grown
            }
        }
    }

    fn fill_ground(&mut self, program: &Program, position: Position, term: TermId) -> bool {
        let name = program.terms.name(term);
        let args = program.terms.args(term);
        if args.is_empty() {
            return self.add(position, Value::Constant(name));
        }
        let mut has_grown = self.add(position, Value::Function(name, args.len()));
        for (argument, &arg) in args.iter().enumerate() {
            let inner = Position::Function(name, args.len(), argument);
            has_grown |= self.fill_ground(program, inner, arg);
        }
        has_grown
    }

    fn add(&mut self, position: Position, value: Value) -> bool {
        self.values.entry(position).or_default().insert(value)
    }
}

/// Returns the position of an argument. `init`, `next` and `true` share positions, and so do
/// `legal` and `does`.
fn position_of(relation: RelationId, argument: usize) -> Position {
    let is = |keyword: Keyword| relation == RelationId::from(keyword);
    if is(Keyword::Init) || is(Keyword::Next) {
        Position::Relation(Keyword::True.into(), argument)
    } else if is(Keyword::Legal) {
        Position::Relation(Keyword::Does.into(), argument)
    } else {
        Position::Relation(relation, argument)
    }
}
