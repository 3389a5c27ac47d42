//! Interned ground terms.
//!
//! Every ground term is stored once, so equal terms have equal [`TermId`]s, and comparing them
//! compares two integers.

use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher};

use hashbrown::HashTable;
use ludex_base::{Symbol, Symbols, define_id};
use rustc_hash::FxBuildHasher;

define_id! {
    /// A ground term of some [`Terms`].
    pub struct TermId;
}

/// The ground terms of one program, and the names they consist of.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    symbols: Symbols,
    nodes: Vec<Node>,
    args: Vec<TermId>,
    index: HashTable<TermId>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    name: Symbol,
    args_start: u32,
    n_args: u16,
    depth: u16,
}

impl Terms {
    /// Creates an empty table of terms over these names.
    pub fn new(symbols: Symbols) -> Self {
        Self { symbols, ..Self::default() }
    }

    /// Returns the names.
    pub fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    /// Returns the names, for adding to them.
    pub fn symbols_mut(&mut self) -> &mut Symbols {
        &mut self.symbols
    }

    /// Returns the number of terms.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns whether there are no terms.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns the constant of this name, adding it if it is new.
    pub fn constant(&mut self, name: Symbol) -> TermId {
        self.compound(name, &[])
    }

    /// Returns the term `name(args…)`, adding it if it is new; a constant if there are no
    /// arguments.
    ///
    /// # Panics
    /// When there are more than 65,535 arguments or levels of nesting. Readers refuse such terms,
    /// and grounding stops at a depth far below.
    pub fn compound(&mut self, name: Symbol, args: &[TermId]) -> TermId {
        let hash = hash_of(name, args);
        if let Some(&id) = self.index.find(hash, |&id| self.is(id, name, args)) {
            return id;
        }
        let depth = 1 + args.iter().map(|&arg| self.depth(arg)).max().unwrap_or(0);
        let node = Node {
            name,
            args_start: u32::try_from(self.args.len()).expect("arguments fit in 32 bits"),
            n_args: u16::try_from(args.len()).expect("a term has fewer than 65,536 arguments"),
            depth: u16::try_from(depth).expect("a term is less than 65,536 levels deep"),
        };
        let id = TermId::new(self.nodes.len());
        self.nodes.push(node);
        self.args.extend_from_slice(args);
        let Self { nodes, args: pool, index, .. } = self;
        index.insert_unique(hash, id, |&other| {
            let node = nodes[other.index()];
            hash_of(node.name, args_of(pool, node))
        });
        id
    }

    /// Returns the term `name(args…)`, if it exists.
    pub fn find(&self, name: Symbol, args: &[TermId]) -> Option<TermId> {
        self.index.find(hash_of(name, args), |&id| self.is(id, name, args)).copied()
    }

    /// Returns the outermost name.
    #[inline]
    pub fn name(&self, term: TermId) -> Symbol {
        self.nodes[term.index()].name
    }

    /// Returns the arguments of the outermost name.
    #[inline]
    pub fn args(&self, term: TermId) -> &[TermId] {
        args_of(&self.args, self.nodes[term.index()])
    }

    /// Returns the number of levels of nesting; 1 for a constant.
    #[inline]
    pub fn depth(&self, term: TermId) -> usize {
        self.nodes[term.index()].depth as usize
    }

    /// Displays the term as rulesheets and protocols write it: `(cell 1 1 b)`.
    pub fn display(&self, term: TermId) -> impl fmt::Display + '_ {
        DisplayTerm { terms: self, term }
    }

    fn is(&self, id: TermId, name: Symbol, args: &[TermId]) -> bool {
        self.name(id) == name && self.args(id) == args
    }
}

fn args_of(pool: &[TermId], node: Node) -> &[TermId] {
    &pool[node.args_start as usize..][..node.n_args as usize]
}

fn hash_of(name: Symbol, args: &[TermId]) -> u64 {
    let mut hasher = FxBuildHasher.build_hasher();
    name.hash(&mut hasher);
    for arg in args {
        arg.hash(&mut hasher);
    }
    hasher.finish()
}

struct DisplayTerm<'a> {
    terms: &'a Terms,
    term: TermId,
}

impl fmt::Display for DisplayTerm<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.terms.symbols.name(self.terms.name(self.term));
        let args = self.terms.args(self.term);
        if args.is_empty() {
            return f.write_str(name);
        }
        write!(f, "({name}")?;
        for &arg in args {
            write!(f, " {}", self.terms.display(arg))?;
        }
        f.write_str(")")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_terms_are_one() {
        let mut terms = Terms::default();
        let [cell, one] = ["cell", "1"].map(|name| terms.symbols_mut().intern(name));
        let one = terms.constant(one);
        let a = terms.compound(cell, &[one, one]);
        let b = terms.compound(cell, &[one, one]);
        assert_eq!(a, b);
        assert_ne!(a, terms.compound(cell, &[one]));
        assert_eq!(terms.display(a).to_string(), "(cell 1 1)");
        assert_eq!((terms.depth(one), terms.depth(a), terms.len()), (1, 2, 3));
    }
}
