//! Names as numbers: comparing two names compares two integers.

use string_interner::backend::StringBackend;
use string_interner::symbol::SymbolU32;
use string_interner::{DefaultHashBuilder, StringInterner};

/// A name in some [`Symbols`]; it means nothing without it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Symbol(SymbolU32);

impl Symbol {
    /// A number that is small and different for every name, counted from 0.
    pub fn index(self) -> usize {
        string_interner::Symbol::to_usize(self.0)
    }
}

/// A table of names.
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
    /// The symbol of `name`, made now if it is new.
    pub fn intern(&mut self, name: &str) -> Symbol {
        Symbol(self.interner.get_or_intern(name))
    }

    /// The symbol of `name`, if the table has it.
    pub fn get(&self, name: &str) -> Option<Symbol> {
        self.interner.get(name).map(Symbol)
    }

    /// The name of a symbol of this table.
    ///
    /// # Panics
    /// When the symbol comes from another table and has no name here.
    pub fn name(&self, symbol: Symbol) -> &str {
        self.interner.resolve(symbol.0).expect("the symbol belongs to this table")
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.interner.len()
    }

    /// Whether there are no names.
    pub fn is_empty(&self) -> bool {
        self.interner.is_empty()
    }
}
