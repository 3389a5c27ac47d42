//! The syntax tree of a rulesheet: what the author wrote, with places.

use ludex_base::{Span, Symbol, Symbols};

use crate::keyword::Keyword;

/// The form in which a rulesheet is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Notation {
    /// `(<= (p ?x) (q ?x))`: the prefix form of the community.
    #[default]
    Kif,
    /// `p(X) :- q(X).`: the infix form of the papers.
    Infix,
}

/// A rulesheet as it was read: clauses in order of writing, and the names they use.
///
/// Keywords are in lower case, whatever the author wrote; a name in parentheses without arguments,
/// `(p)`, is the name alone.
#[derive(Clone, Debug, Default)]
pub struct Rulesheet {
    /// The form in which it was written; messages quote the author in the same form.
    pub notation: Notation,
    /// The names of the tree.
    pub symbols: Symbols,
    /// Facts and rules, in order of writing.
    pub clauses: Vec<Clause>,
}

/// A fact (no body) or a rule: the head is true when every formula of the body is.
#[derive(Clone, Debug)]
pub struct Clause {
    /// The derived atom.
    pub head: Term,
    /// The condition: a conjunction of formulas.
    pub body: Vec<Formula>,
    /// The place of the whole clause.
    pub span: Span,
}

impl Rulesheet {
    /// Returns whether a clause is of `base` or `input`, with the right number of arguments or without.
    pub(crate) fn is_declaration(&self, clause: &Clause) -> bool {
        clause.keyword(&self.symbols).is_some_and(Keyword::is_declaration)
    }

    /// Returns whether a rule of another relation depends on `base` or `input`.
    pub(crate) fn uses_declarations(&self) -> bool {
        let mut is_used = false;
        for clause in self.clauses.iter().filter(|clause| !self.is_declaration(clause)) {
            clause.for_each_atom(&mut |atom, _| {
                let keyword = atom.name().and_then(|name| Keyword::parse(self.symbols.name(name)));
                is_used |= keyword.is_some_and(Keyword::is_declaration);
            });
        }
        is_used
    }
}

impl Clause {
    /// Returns the keyword of the head, if it is one.
    pub fn keyword(&self, symbols: &Symbols) -> Option<Keyword> {
        self.head.name().and_then(|name| Keyword::parse(symbols.name(name)))
    }

    /// Returns how deeply its parentheses are nested in prefix form.
    pub(crate) fn depth(&self) -> usize {
        let inner = self.body.iter().map(Formula::depth).max().unwrap_or(0);
        usize::from(!self.body.is_empty()) + inner.max(self.head.depth())
    }

    /// Calls `visit` with each atom of the body and whether it occurs positively, in order of
    /// writing.
    pub fn for_each_atom<'a>(&'a self, visit: &mut impl FnMut(&'a Term, bool)) {
        self.body.iter().for_each(|formula| formula.for_each_atom(true, visit));
    }
}

/// A formula with its place.
#[derive(Clone, Debug)]
pub struct Formula {
    /// The kind of formula.
    pub kind: FormulaKind,
    /// Its place.
    pub span: Span,
}

/// The kinds of formulas.
#[derive(Clone, Debug)]
pub enum FormulaKind {
    /// An atom: a relation applied to terms, written as a term.
    Atom(Term),
    /// The formula is false.
    Not(Box<Formula>),
    /// All formulas are true.
    And(Vec<Formula>),
    /// At least one formula is true.
    Or(Vec<Formula>),
    /// The two terms differ.
    Distinct(Term, Term),
}

/// A term, or an atom, with its place.
#[derive(Clone, Debug)]
pub struct Term {
    /// The kind of term.
    pub kind: TermKind,
    /// Its place.
    pub span: Span,
}

/// The kinds of terms.
#[derive(Clone, Debug)]
pub enum TermKind {
    /// `?x`; the name is stored without the question mark.
    Variable(Symbol),
    /// A name.
    Constant(Symbol),
    /// A name applied to at least one argument.
    Compound(Symbol, Vec<Term>),
}

impl Formula {
    /// Calls `visit` with each variable in the formula and its place, in order of writing.
    pub fn for_each_variable(&self, visit: &mut impl FnMut(Symbol, Span)) {
        match &self.kind {
            FormulaKind::Atom(atom) => atom.for_each_variable(visit),
            FormulaKind::Distinct(left, right) => {
                left.for_each_variable(visit);
                right.for_each_variable(visit);
            }
            FormulaKind::Not(inner) => inner.for_each_variable(visit),
            FormulaKind::And(parts) | FormulaKind::Or(parts) => {
                parts.iter().for_each(|part| part.for_each_variable(visit));
            }
        }
    }

    fn for_each_atom<'a>(&'a self, is_positive: bool, visit: &mut impl FnMut(&'a Term, bool)) {
        match &self.kind {
            FormulaKind::Atom(atom) => visit(atom, is_positive),
            FormulaKind::Distinct(..) => {}
            FormulaKind::Not(inner) => inner.for_each_atom(!is_positive, visit),
            FormulaKind::And(parts) | FormulaKind::Or(parts) => {
                parts.iter().for_each(|part| part.for_each_atom(is_positive, visit));
            }
        }
    }

    /// Calls `visit` with each term of the formula and each term inside it, but not with atoms.
    pub(crate) fn for_each_term(&self, visit: &mut impl FnMut(&Term)) {
        match &self.kind {
            FormulaKind::Atom(atom) => {
                atom.args().iter().for_each(|arg| arg.for_each_subterm(visit));
            }
            FormulaKind::Distinct(left, right) => {
                left.for_each_subterm(visit);
                right.for_each_subterm(visit);
            }
            FormulaKind::Not(inner) => inner.for_each_term(visit),
            FormulaKind::And(parts) | FormulaKind::Or(parts) => {
                parts.iter().for_each(|part| part.for_each_term(visit));
            }
        }
    }

    fn depth(&self) -> usize {
        match &self.kind {
            FormulaKind::Atom(atom) => atom.depth(),
            FormulaKind::Distinct(left, right) => 1 + left.depth().max(right.depth()),
            FormulaKind::Not(inner) => 1 + inner.depth(),
            FormulaKind::And(parts) | FormulaKind::Or(parts) => {
                1 + parts.iter().map(Formula::depth).max().unwrap_or(0)
            }
        }
    }
}

impl Term {
    /// Returns how deeply its parentheses are nested in prefix form.
    fn depth(&self) -> usize {
        match &self.kind {
            TermKind::Compound(_, args) => 1 + args.iter().map(Term::depth).max().unwrap_or(0),
            _ => 0,
        }
    }

    /// Returns the name of a constant or compound term; `None` for a variable.
    pub fn name(&self) -> Option<Symbol> {
        match self.kind {
            TermKind::Variable(_) => None,
            TermKind::Constant(name) | TermKind::Compound(name, _) => Some(name),
        }
    }

    /// Returns the arguments; none for variables and constants.
    pub fn args(&self) -> &[Term] {
        match &self.kind {
            TermKind::Compound(_, args) => args,
            _ => &[],
        }
    }

    /// Calls `visit` with the term and each term inside it, in order of writing.
    pub(crate) fn for_each_subterm(&self, visit: &mut impl FnMut(&Term)) {
        visit(self);
        self.args().iter().for_each(|arg| arg.for_each_subterm(visit));
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

/// Compares two trees by their contents: places do not count, and names are compared as text, since
/// two rulesheets have two tables of names.
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
