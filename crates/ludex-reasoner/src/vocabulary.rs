//! The terms of a game, shared by the cursors of all threads.
//!
//! New terms turn up during play, and their numbers must mean the same to every cursor. One table
//! behind a lock assigns the numbers. Each cursor has its own copy, and accesses the shared table
//! only for terms that its copy lacks.
//!
//! Invariant: a copy is a prefix of the shared table.

use std::cmp::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ludex_base::ids::narrow;
use ludex_base::{Limits, Symbol};
use ludex_gdl::{Literal, Pattern, Program, TermId, Terms};

use crate::error::{ReasonerError, max_terms};

/// One cursor's view of the terms.
#[derive(Clone, Debug)]
pub(crate) struct Vocabulary {
    shared: Arc<Mutex<Terms>>,
    own: Terms,
    /// For each symbol, its rank in byte order of the names.
    ranks: Arc<[u32]>,
    max_depth: usize,
    max_size: usize,
    max_terms: usize,
}

impl Vocabulary {
    pub(crate) fn new(program: &Program, limits: &Limits) -> Self {
        Self {
            shared: Arc::new(Mutex::new(program.terms.clone())),
            own: program.terms.clone(),
            ranks: rank_symbols(program),
            max_depth: limits.sizes.term_depth,
            max_size: limits.sizes.term_size,
            max_terms: max_terms(limits),
        }
    }

    /// Bounds the number of terms for this many roles: the number of a move or percept is made of
    /// the numbers of its role and its term, and has 32 bits.
    pub(crate) fn expect_roles(&mut self, n_roles: usize) -> Result<(), ReasonerError> {
        let limit = u32::MAX as usize / n_roles.max(1);
        self.max_terms = self.max_terms.min(limit);
        if self.own.len() > limit {
            return Err(ReasonerError::TooManyTerms { limit, rule: None });
        }
        Ok(())
    }

    /// Returns the term `name(args…)`, adding it if no cursor knows it.
    #[inline]
    pub(crate) fn term(&mut self, name: Symbol, args: &[TermId]) -> Result<TermId, ReasonerError> {
        match self.own.find(name, args) {
            Some(term) => Ok(term),
            None => self.learn(name, args),
        }
    }

    /// Returns the outermost name of a term and its arguments.
    #[inline]
    pub(crate) fn open(&self, term: TermId) -> (Symbol, &[TermId]) {
        (self.own.name(term), self.own.args(term))
    }

    /// Returns the text of a constant; `None` for other terms.
    pub(crate) fn constant_name(&self, term: TermId) -> Option<&str> {
        let (name, args) = self.open(term);
        args.is_empty().then(|| self.symbol_name(name))
    }

    pub(crate) fn symbol_name(&self, symbol: Symbol) -> &str {
        self.own.symbols().name(symbol)
    }

    /// Copies the terms that other cursors added, if some of these are unknown.
    pub(crate) fn ensure_known(&mut self, terms: &[TermId]) {
        let n_own = self.own.len();
        if terms.iter().any(|term| term.index() >= n_own) {
            catch_up(&mut self.own, &lock(&self.shared));
        }
    }

    /// Locks the shared table, for names outside of play.
    pub(crate) fn shared(&self) -> MutexGuard<'_, Terms> {
        lock(&self.shared)
    }

    /// Returns the term with this text, adding it if no cursor knows it; `None` if the text is not
    /// a term, contains names that the rules do not, or exceeds the limit of terms.
    pub(crate) fn read(&self, text: &str) -> Option<TermId> {
        let mut terms = self.shared();
        // Open lists, the outermost first: their names and arguments.
        let mut open: Vec<(Option<Symbol>, Vec<TermId>)> = vec![(None, Vec::new())];
        for token in text.replace('(', " ( ").replace(')', " ) ").split_whitespace() {
            let term = match token {
                "(" if open.len() <= self.max_depth => {
                    open.push((None, Vec::new()));
                    continue;
                }
                "(" => return None,
                ")" => {
                    let (name, args) = open.pop()?;
                    terms.compound(name?, &args)?
                }
                word => {
                    let symbol = terms.symbols().get(word)?;
                    let is_inside = open.len() > 1;
                    match open.last_mut()? {
                        (name @ None, _) if is_inside => {
                            *name = Some(symbol);
                            continue;
                        }
                        _ => terms.compound(symbol, &[])?,
                    }
                }
            };
            if terms.len() > self.max_terms || terms.size(term) > self.max_size {
                return None;
            }
            open.last_mut()?.1.push(term);
        }
        match &open[..] {
            [(None, found)] => (found.len() == 1).then(|| found[0]),
            _ => None,
        }
    }

    /// Compares terms independently of their numbers: by the byte order of their texts, if no name
    /// has characters that sort before `)`.
    pub(crate) fn compare(&self, left: TermId, right: TermId) -> Ordering {
        if left == right {
            return Ordering::Equal;
        }
        let (left_name, left_args) = self.open(left);
        let (right_name, right_args) = self.open(right);
        // In texts a parenthesis sorts before a letter, and a blank before a parenthesis.
        left_args
            .is_empty()
            .cmp(&right_args.is_empty())
            .then_with(|| self.rank(left_name).cmp(&self.rank(right_name)))
            .then_with(|| self.compare_args(left_args, right_args))
            .then_with(|| right_args.len().cmp(&left_args.len()))
    }

    fn compare_args(&self, left: &[TermId], right: &[TermId]) -> Ordering {
        let mut pairs = left.iter().zip(right).filter(|(left, right)| left != right);
        pairs.next().map_or(Ordering::Equal, |(&left, &right)| self.compare(left, right))
    }

    fn rank(&self, name: Symbol) -> u32 {
        self.ranks[name.index()]
    }

    #[cold]
    fn learn(&mut self, name: Symbol, args: &[TermId]) -> Result<TermId, ReasonerError> {
        let Self { max_depth, max_size, max_terms, .. } = *self;
        if self.own.depth_of(args) > max_depth {
            return Err(ReasonerError::TermTooDeep { limit: max_depth, rule: None });
        }
        if self.own.size_of(name, args) > max_size {
            return Err(ReasonerError::TermTooLarge { limit: max_size, rule: None });
        }
        let mut shared = lock(&self.shared);
        let has_room = shared.len() < max_terms;
        let Some(term) = has_room.then(|| shared.compound(name, args)).flatten() else {
            return Err(ReasonerError::TooManyTerms { limit: max_terms, rule: None });
        };
        catch_up(&mut self.own, &shared);
        Ok(term)
    }
}

/// The table stays valid even if a thread panics while it holds the lock: terms are only added.
fn lock(shared: &Mutex<Terms>) -> MutexGuard<'_, Terms> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn catch_up(own: &mut Terms, shared: &Terms) {
    for index in own.len()..shared.len() {
        let term = TermId::new(index);
        let copy = own.compound(shared.name(term), shared.args(term));
        debug_assert!(copy == Some(term), "a copy is a prefix of the shared table");
    }
}

/// Ranks the names. Play adds terms but no names, so their order is fixed beforehand.
fn rank_symbols(program: &Program) -> Arc<[u32]> {
    let terms = &program.terms;
    let mut symbols: Vec<Symbol> =
        (0..terms.len()).map(|index| terms.name(TermId::new(index))).collect();
    for rule in &program.rules {
        rule.head.args.iter().for_each(|arg| names_of(arg, &mut symbols));
        for literal in &rule.body {
            match literal {
                Literal::Positive(atom) | Literal::Negative(atom) => {
                    atom.args.iter().for_each(|arg| names_of(arg, &mut symbols));
                }
                Literal::Distinct(left, right) => {
                    names_of(left, &mut symbols);
                    names_of(right, &mut symbols);
                }
            }
        }
    }
    symbols.sort_unstable();
    symbols.dedup();
    symbols.sort_by_key(|&symbol| terms.symbols().name(symbol));
    let mut ranks = vec![0; terms.symbols().len()];
    for (rank, symbol) in symbols.into_iter().enumerate() {
        ranks[symbol.index()] = narrow(rank);
    }
    ranks.into()
}

fn names_of(pattern: &Pattern, names: &mut Vec<Symbol>) {
    if let Pattern::Compound(name, args) = pattern {
        names.push(*name);
        args.iter().for_each(|arg| names_of(arg, names));
    }
}
