//! The terms of a game, as the cursors of all threads know them.
//!
//! New terms turn up while playing, and their numbers must mean the same to every cursor. One
//! table behind a lock gives the numbers; each cursor has a copy of its own and goes to the
//! shared table only for terms its copy lacks.
//!
//! Invariant: a copy is a prefix of the shared table.

use std::cmp::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ludex_base::Symbol;
use ludex_gdl::{Literal, Pattern, Program, TermId, Terms};

use crate::error::{ReasonerError, ReasonerLimits};

/// One cursor's view of the terms.
#[derive(Clone, Debug)]
pub(crate) struct Vocabulary {
    shared: Arc<Mutex<Terms>>,
    own: Terms,
    /// For each symbol, its place among all in byte order of the names.
    ranks: Arc<[u32]>,
    max_depth: usize,
    max_terms: usize,
}

impl Vocabulary {
    pub(crate) fn new(program: &Program, limits: &ReasonerLimits) -> Self {
        Self {
            shared: Arc::new(Mutex::new(program.terms.clone())),
            own: program.terms.clone(),
            ranks: rank_symbols(program),
            max_depth: limits.max_term_depth,
            max_terms: limits.max_terms,
        }
    }

    /// The term `name(args…)`, made now if no cursor knows it.
    #[inline]
    pub(crate) fn term(&mut self, name: Symbol, args: &[TermId]) -> Result<TermId, ReasonerError> {
        match self.own.find(name, args) {
            Some(term) => Ok(term),
            None => self.learn(name, args),
        }
    }

    /// The outermost name of a term and its arguments.
    #[inline]
    pub(crate) fn open(&self, term: TermId) -> (Symbol, &[TermId]) {
        (self.own.name(term), self.own.args(term))
    }

    /// The text of a constant; `None` for other terms.
    pub(crate) fn constant_name(&self, term: TermId) -> Option<&str> {
        let (name, args) = self.open(term);
        args.is_empty().then(|| self.symbol_name(name))
    }

    pub(crate) fn symbol_name(&self, symbol: Symbol) -> &str {
        self.own.symbols().name(symbol)
    }

    /// Learns the terms that other cursors made, if some of these are unknown.
    pub(crate) fn ensure_known(&mut self, terms: &[TermId]) {
        let n_own = self.own.len();
        if terms.iter().any(|term| term.index() >= n_own) {
            catch_up(&mut self.own, &lock(&self.shared));
        }
    }

    /// The shared table, for names outside of play.
    pub(crate) fn shared(&self) -> MutexGuard<'_, Terms> {
        lock(&self.shared)
    }

    /// The term with this text, made now if no cursor knows it; `None` if it is no term, has words
    /// that the rules do not have, or is one too many.
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
                    terms.compound(name?, &args)
                }
                word => {
                    let symbol = terms.symbols().get(word)?;
                    let is_inside = open.len() > 1;
                    match open.last_mut()? {
                        (name @ None, _) if is_inside => {
                            *name = Some(symbol);
                            continue;
                        }
                        _ => terms.constant(symbol),
                    }
                }
            };
            if terms.len() > self.max_terms {
                return None;
            }
            open.last_mut()?.1.push(term);
        }
        match &open[..] {
            [(None, found)] => (found.len() == 1).then(|| found[0]),
            _ => None,
        }
    }

    /// A total order of terms that no numbering has a part in: the byte order of their texts,
    /// provided that names have no characters that sort before `)`.
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
        let depth = 1 + args.iter().map(|&arg| self.own.depth(arg)).max().unwrap_or(0);
        if depth > self.max_depth {
            return Err(ReasonerError::TermTooDeep { limit: self.max_depth });
        }
        let mut shared = lock(&self.shared);
        if shared.len() >= self.max_terms {
            return Err(ReasonerError::TooManyTerms { limit: self.max_terms });
        }
        let term = shared.compound(name, args);
        catch_up(&mut self.own, &shared);
        Ok(term)
    }
}

/// The table stays whole even if a thread dies while it holds the lock: terms are only added.
fn lock(shared: &Mutex<Terms>) -> MutexGuard<'_, Terms> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn catch_up(own: &mut Terms, shared: &Terms) {
    for index in own.len()..shared.len() {
        let term = TermId::new(index);
        let copy = own.compound(shared.name(term), shared.args(term));
        debug_assert!(copy == term, "a copy is a prefix of the shared table");
    }
}

/// Play makes new terms but no new names, so the order of names is settled beforehand.
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
        ranks[symbol.index()] = u32::try_from(rank).expect("symbols fit in 32 bits");
    }
    ranks.into()
}

fn names_of(pattern: &Pattern, names: &mut Vec<Symbol>) {
    if let Pattern::Compound(name, args) = pattern {
        names.push(*name);
        args.iter().for_each(|arg| names_of(arg, names));
    }
}
