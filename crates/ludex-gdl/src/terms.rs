//! Interned ground terms.
//!
//! Every ground term is stored once, so equal terms have equal [`TermId`]s, and comparing them
//! compares two integers. The size of its text is stored beside it, so that no caller writes out a
//! term that is small only because its parts are shared.

use std::cmp::Ordering;
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
    /// The bytes of the term when it is written out; saturates.
    size: u32,
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

    /// Estimates how many bytes the terms take, without their names.
    pub fn n_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
            + self.args.capacity() * size_of::<TermId>()
            + self.index.capacity() * (size_of::<TermId>() + 2)
    }

    /// Returns whether there are no terms.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns the term `name(args…)`, adding it if it is new; a constant if there are no
    /// arguments.
    ///
    /// Returns `None` if the table can't hold it: there are more than 65,535 arguments or levels of
    /// nesting, or four billion terms. Callers have far lower limits, so that this is the answer to
    /// a request that no limit bounds.
    pub fn compound(&mut self, name: Symbol, args: &[TermId]) -> Option<TermId> {
        let hash = hash_of(name, args);
        if let Some(&id) = self.index.find(hash, |&id| self.is(id, name, args)) {
            return Some(id);
        }
        let node = Node {
            name,
            args_start: u32::try_from(self.args.len()).ok()?,
            n_args: u16::try_from(args.len()).ok()?,
            depth: u16::try_from(self.depth_of(args)).ok()?,
            size: u32::try_from(self.size_of(name, args)).unwrap_or(u32::MAX),
        };
        let id = TermId::checked(self.nodes.len())?;
        self.nodes.push(node);
        self.args.extend_from_slice(args);
        let Self { nodes, args: pool, index, .. } = self;
        index.insert_unique(hash, id, |&other| {
            let node = nodes[other.index()];
            hash_of(node.name, args_of(pool, node))
        });
        Some(id)
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

    /// Returns the depth of a term with these arguments.
    pub fn depth_of(&self, args: &[TermId]) -> usize {
        1 + args.iter().map(|&arg| self.depth(arg)).max().unwrap_or(0)
    }

    /// Returns how many bytes [`Terms::display`] writes; four billion stands for all that is more.
    ///
    /// Equal parts are stored once, so that a term can be far larger than the memory it takes.
    #[inline]
    pub fn size(&self, term: TermId) -> usize {
        self.nodes[term.index()].size as usize
    }

    /// Returns the size of the term `name(args…)`.
    pub fn size_of(&self, name: Symbol, args: &[TermId]) -> usize {
        let name = self.symbols.name(name).len();
        // Parentheses, and a blank before each argument.
        let signs = if args.is_empty() { 0 } else { 2 + args.len() };
        args.iter().fold(name + signs, |size, &arg| size.saturating_add(self.size(arg)))
    }

    /// Displays the term as rulesheets and protocols write it: `(cell 1 1 b)`.
    ///
    /// A term of more than a million bytes, which no engine builds, ends with `…` instead.
    pub fn display(&self, term: TermId) -> impl fmt::Display + '_ {
        DisplayTerm { terms: self, term }
    }

    /// Compares two terms by the bytes of their texts, without writing these out.
    pub fn compare_texts(&self, left: TermId, right: TermId) -> Ordering {
        self.compare_before(left, 0, right, 0)
    }

    /// Compares the texts of two terms, each followed by one more byte, which is no byte of a name.
    /// If the terms are equal, these bytes do not count.
    fn compare_before(&self, left: TermId, after: u8, right: TermId, right_after: u8) -> Ordering {
        if left == right {
            return Ordering::Equal;
        }
        let name = |term: TermId| self.symbols.name(self.name(term)).bytes();
        let (args, right_args) = (self.args(left), self.args(right));
        match (args.is_empty(), right_args.is_empty()) {
            (true, true) => name(left).chain([after]).cmp(name(right).chain([right_after])),
            (true, false) => name(left).chain([after]).cmp([b'(']),
            (false, true) => [b'('].into_iter().cmp(name(right).chain([right_after])),
            (false, false) if self.name(left) != self.name(right) => {
                name(left).chain([b' ']).cmp(name(right).chain([b' ']))
            }
            (false, false) => {
                let after = |idx: usize, n: usize| if idx + 1 == n { b')' } else { b' ' };
                for (idx, (&arg, &other)) in args.iter().zip(right_args).enumerate() {
                    let (after, other_after) =
                        (after(idx, args.len()), after(idx, right_args.len()));
                    let order = self.compare_before(arg, after, other, other_after);
                    if order.is_ne() {
                        return order;
                    }
                }
                // A blank before a further argument sorts before a parenthesis.
                right_args.len().cmp(&args.len())
            }
        }
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

/// Most bytes of a term that are displayed.
const MAX_SHOWN: usize = 1_000_000;

impl fmt::Display for DisplayTerm<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.terms.size(self.term) <= MAX_SHOWN {
            return self.whole(self.term, f);
        }
        // The beginning, without the closing parentheses: what is shown is no term anyway.
        let mut n_shown = 0;
        let mut open: Vec<TermId> = vec![self.term];
        while let Some(term) = open.pop() {
            let (name, args) = (self.terms.name(term), self.terms.args(term));
            let name = self.terms.symbols.name(name);
            n_shown += name.len() + 2;
            if n_shown > MAX_SHOWN {
                break;
            }
            write!(f, "{}{name} ", if args.is_empty() { "" } else { "(" })?;
            open.extend(args.iter().rev());
        }
        f.write_str("…")
    }
}

impl DisplayTerm<'_> {
    fn whole(&self, term: TermId, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.terms.symbols.name(self.terms.name(term));
        let args = self.terms.args(term);
        if args.is_empty() {
            return f.write_str(name);
        }
        write!(f, "({name}")?;
        for &arg in args {
            f.write_str(" ")?;
            self.whole(arg, f)?;
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
        let one = terms.compound(one, &[]).expect("there is room");
        let a = terms.compound(cell, &[one, one]).expect("there is room");
        let b = terms.compound(cell, &[one, one]).expect("there is room");
        assert_eq!(a, b);
        assert_ne!(Some(a), terms.compound(cell, &[one]));
        assert_eq!(terms.display(a).to_string(), "(cell 1 1)");
        assert_eq!((terms.depth(one), terms.depth(a), terms.len()), (1, 2, 3));
        assert_eq!((terms.size(one), terms.size(a)), (1, "(cell 1 1)".len()));
    }

    #[test]
    fn terms_that_double_have_a_size_and_are_cut_when_displayed() {
        let mut terms = Terms::default();
        let [f, z] = ["f", "z"].map(|name| terms.symbols_mut().intern(name));
        let mut term = terms.compound(z, &[]).expect("there is room");
        let mut sizes = vec![terms.size(term)];
        for _ in 0..60 {
            term = terms.compound(f, &[term, term]).expect("there is room");
            sizes.push(terms.size(term));
        }
        assert_eq!(sizes[..4], [1, "(f z z)".len(), 19, 43]);
        assert_eq!(sizes[60], u32::MAX as usize);
        let text = terms.display(term).to_string();
        assert!(text.len() < 3 * MAX_SHOWN && text.ends_with('…'), "{} bytes", text.len());
    }

    #[test]
    fn terms_compare_like_their_texts() {
        let mut terms = Terms::default();
        let names =
            ["a", "a!", "ab", "a-b", "b", "1", "10"].map(|name| terms.symbols_mut().intern(name));
        let mut all: Vec<TermId> =
            names.iter().filter_map(|&name| terms.compound(name, &[])).collect();
        for n_args in [1, 2] {
            let known = all.clone();
            for (idx, &arg) in known.iter().enumerate() {
                let other = known[idx * 7 % known.len()];
                let args = [arg, other];
                all.extend(names.iter().filter_map(|&it| terms.compound(it, &args[..n_args])));
            }
        }
        for &left in &all {
            for &right in &all {
                let texts = [left, right].map(|term| terms.display(term).to_string());
                let expected = texts[0].cmp(&texts[1]);
                assert_eq!(terms.compare_texts(left, right), expected, "{texts:?}");
            }
        }
    }

    #[test]
    fn what_the_table_cannot_hold_is_refused() {
        let mut terms = Terms::default();
        let name = terms.symbols_mut().intern("f");
        let constant = terms.compound(name, &[]).expect("there is room");
        assert_eq!(terms.compound(name, &vec![constant; 65_536]), None);
        let mut deepest = constant;
        for _ in 1..65_535 {
            deepest = terms.compound(name, &[deepest]).expect("there is room");
        }
        assert_eq!(terms.compound(name, &[deepest]), None);
    }
}
