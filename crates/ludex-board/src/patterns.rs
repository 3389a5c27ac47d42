//! The terms of rules, flattened to their leaves.

use ludex_base::Symbol;
use ludex_gdl::{Atom, Keyword, Literal, Pattern, Program, Rule, TermId};

/// A constant or variable of a pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Leaf {
    /// The variable with this number in its rule.
    Variable(u32),
    /// A constant.
    Constant(Symbol),
}

/// A function and its leaves, in order of writing.
pub(crate) struct Flat {
    pub(crate) name: Symbol,
    pub(crate) leaves: Vec<Leaf>,
}

/// Flattens a pattern; `None` for a variable or a constant.
pub(crate) fn flatten(program: &Program, pattern: &Pattern) -> Option<Flat> {
    let mut leaves = Vec::new();
    let name = match pattern {
        Pattern::Variable(_) => return None,
        Pattern::Ground(term) if program.terms.args(*term).is_empty() => return None,
        Pattern::Ground(term) => {
            for &arg in program.terms.args(*term) {
                push_term(program, arg, &mut leaves);
            }
            program.terms.name(*term)
        }
        Pattern::Compound(name, args) => {
            for arg in args {
                push(program, arg, &mut leaves);
            }
            *name
        }
    };
    Some(Flat { name, leaves })
}

fn push(program: &Program, pattern: &Pattern, leaves: &mut Vec<Leaf>) {
    match pattern {
        Pattern::Variable(variable) => leaves.push(Leaf::Variable(*variable)),
        Pattern::Ground(term) => push_term(program, *term, leaves),
        Pattern::Compound(_, args) => args.iter().for_each(|arg| push(program, arg, leaves)),
    }
}

fn push_term(program: &Program, term: TermId, leaves: &mut Vec<Leaf>) {
    match program.terms.args(term) {
        [] => leaves.push(Leaf::Constant(program.terms.name(term))),
        args => args.iter().for_each(|&arg| push_term(program, arg, leaves)),
    }
}

/// Returns all atoms of a rule, the head first; negated ones too.
pub(crate) fn atoms(rule: &Rule) -> impl Iterator<Item = &Atom> {
    let body = rule.body.iter().filter_map(|literal| match literal {
        Literal::Positive(atom) | Literal::Negative(atom) => Some(atom),
        Literal::Distinct(..) => None,
    });
    std::iter::once(&rule.head).chain(body)
}

/// Returns the fluents that a rule mentions, flattened.
pub(crate) fn fluents(program: &Program, rule: &Rule) -> Vec<Flat> {
    let wanted = [Keyword::True, Keyword::Next, Keyword::Init];
    let found = atoms(rule).filter(|atom| wanted.iter().any(|&it| atom.relation == it.into()));
    found.filter_map(|atom| flatten(program, atom.args.first()?)).collect()
}

/// Returns the moves that a rule mentions, each with the pattern of its role.
pub(crate) fn moves<'a>(program: &Program, rule: &'a Rule) -> Vec<(&'a Pattern, Flat)> {
    let wanted = [Keyword::Does, Keyword::Legal];
    let found = atoms(rule).filter(|atom| wanted.iter().any(|&it| atom.relation == it.into()));
    let flat = |atom: &'a Atom| Some((atom.args.first()?, flatten(program, atom.args.get(1)?)?));
    found.filter_map(flat).collect()
}

/// Returns the name of a symbol.
pub(crate) fn text(program: &Program, symbol: Symbol) -> String {
    program.terms.symbols().name(symbol).to_string()
}

/// Returns the constant that a pattern is.
pub(crate) fn constant(program: &Program, pattern: &Pattern) -> Option<Symbol> {
    match pattern {
        Pattern::Ground(term) if program.terms.args(*term).is_empty() => {
            Some(program.terms.name(*term))
        }
        _ => None,
    }
}
