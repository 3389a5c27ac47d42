//! Interned names: comparing two names compares two integers.

use string_interner::backend::StringBackend;
use string_interner::symbol::SymbolU32;
use string_interner::{DefaultHashBuilder, StringInterner};

/// A name in a [`Symbols`] table; it has no meaning in another table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Symbol(SymbolU32);

impl Symbol {
    /// Returns a small number that identifies the name, counted from 0.
    pub fn index(self) -> usize {
        string_interner::Symbol::to_usize(self.0)
    }
}

/// A table of interned names.
///
/// ```
/// use ludex_base::Symbols;
/// let mut symbols = Symbols::default();
/// let cell = symbols.intern("cell");
/// assert_eq!(symbols.intern("cell"), cell);
/// assert_eq!(symbols.name(cell), "cell");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    interner: StringInterner<StringBackend<SymbolU32>, DefaultHashBuilder>,
}

impl Symbols {
    /// Returns the symbol of `name`, adding it if it is new.
    pub fn intern(&mut self, name: &str) -> Symbol {
        Symbol(self.interner.get_or_intern(name))
    }

    /// Returns the symbol of `name`, if the table contains it.
    pub fn get(&self, name: &str) -> Option<Symbol> {
        self.interner.get(name).map(Symbol)
    }

    /// Returns the name of a symbol of this table.
    ///
    /// # Panics
    /// When the symbol comes from another table and has no name here.
    pub fn name(&self, symbol: Symbol) -> &str {
        self.interner.resolve(symbol.0).expect("the symbol must belong to this table")
    }

    /// Returns the number of names.
    pub fn len(&self) -> usize {
        self.interner.len()
    }

    /// Returns whether there are no names.
    pub fn is_empty(&self) -> bool {
        self.interner.is_empty()
    }
}
