//! The syntax tree of a rulesheet: what the author wrote, with places.

use ludex_base::{Span, Symbol, Symbols};

/// A rulesheet as it was read: clauses in order of writing, and the names they use.
///
/// Keywords are in lower case whatever the author wrote; a parenthesised name without
/// arguments, `(p)`, is the name alone.
#[derive(Clone, Debug, Default)]
pub struct Rulesheet {
    /// The names of the tree.
    pub symbols: Symbols,
    /// Facts and rules, in order of writing.
    pub clauses: Vec<Clause>,
}

/// A fact (no body) or a rule: the head holds when every formula of the body does.
#[derive(Clone, Debug)]
pub struct Clause {
    /// What is derived.
    pub head: Term,
    /// From what; a conjunction.
    pub body: Vec<Formula>,
    /// The whole clause.
    pub span: Span,
}

/// A formula with its place.
#[derive(Clone, Debug)]
pub struct Formula {
    /// What it says.
    pub kind: FormulaKind,
    /// Where it stands.
    pub span: Span,
}

/// What a formula says.
#[derive(Clone, Debug)]
pub enum FormulaKind {
    /// An atom: a relation applied to terms, written as a term.
    Atom(Term),
    /// It does not hold.
    Not(Box<Formula>),
    /// All hold.
    And(Vec<Formula>),
    /// At least one holds.
    Or(Vec<Formula>),
    /// The two terms differ.
    Distinct(Term, Term),
}

/// A term, or an atom, with its place.
#[derive(Clone, Debug)]
pub struct Term {
    /// What it is.
    pub kind: TermKind,
    /// Where it stands.
    pub span: Span,
}

/// What a term is.
#[derive(Clone, Debug)]
pub enum TermKind {
    /// `?x`; the name is kept without the question mark.
    Variable(Symbol),
    /// A name.
    Constant(Symbol),
    /// A name applied to at least one argument.
    Compound(Symbol, Vec<Term>),
}

impl Term {
    /// The name of a constant or compound term; `None` for a variable.
    pub fn name(&self) -> Option<Symbol> {
        match self.kind {
            TermKind::Variable(_) => None,
            TermKind::Constant(name) | TermKind::Compound(name, _) => Some(name),
        }
    }

    /// The arguments; none for variables and constants.
    pub fn args(&self) -> &[Term] {
        match &self.kind {
            TermKind::Compound(_, args) => args,
            _ => &[],
        }
    }

    /// Calls `visit` with each variable in the term and its place, in order of writing.
    pub fn for_each_variable(&self, visit: &mut impl FnMut(Symbol, Span)) {
        match &self.kind {
            TermKind::Variable(name) => visit(*name, self.span),
            TermKind::Constant(_) => {}
            TermKind::Compound(_, args) => {
                args.iter().for_each(|arg| arg.for_each_variable(visit));
            }
        }
    }
}

/// Trees are equal when they say the same: places do not count, and names are compared as
/// text, since two sheets have two tables of names.
impl PartialEq for Rulesheet {
    fn eq(&self, other: &Self) -> bool {
        let names = Names { left: &self.symbols, right: &other.symbols };
        self.clauses.len() == other.clauses.len()
            && self.clauses.iter().zip(&other.clauses).all(|(a, b)| {
                names.same_term(&a.head, &b.head) && names.same_formulas(&a.body, &b.body)
            })
    }
}

impl Eq for Rulesheet {}

/// Compares parts of two trees.
struct Names<'a> {
    left: &'a Symbols,
    right: &'a Symbols,
}

impl Names<'_> {
    fn same_name(&self, a: Symbol, b: Symbol) -> bool {
        self.left.name(a) == self.right.name(b)
    }

    fn same_term(&self, a: &Term, b: &Term) -> bool {
        use TermKind::{Compound, Constant, Variable};
        match (&a.kind, &b.kind) {
            (Variable(a), Variable(b)) | (Constant(a), Constant(b)) => self.same_name(*a, *b),
            (Compound(f, xs), Compound(g, ys)) => {
                self.same_name(*f, *g)
                    && xs.len() == ys.len()
                    && xs.iter().zip(ys).all(|(x, y)| self.same_term(x, y))
            }
            _ => false,
        }
    }

    fn same_formulas(&self, a: &[Formula], b: &[Formula]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.same_formula(a, b))
    }

    fn same_formula(&self, a: &Formula, b: &Formula) -> bool {
        use FormulaKind::{And, Atom, Distinct, Not, Or};
        match (&a.kind, &b.kind) {
            (Atom(a), Atom(b)) => self.same_term(a, b),
            (Not(a), Not(b)) => self.same_formula(a, b),
            (And(a), And(b)) | (Or(a), Or(b)) => self.same_formulas(a, b),
            (Distinct(a, b), Distinct(c, d)) => self.same_term(a, c) && self.same_term(b, d),
            _ => false,
        }
    }
}
