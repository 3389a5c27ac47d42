//! Scrambling: replaces every name of a game by a meaningless one.
//!
//! Competitions scramble rulesheets so that players can't recognize a game by its words, and so do
//! people who test language models.
//!
//! Names with a meaning stay: keywords in the place of relations, connectives, the role `random`,
//! and goal values. A number is a goal value if it occurs in the value place of `goal`; then it
//! stays everywhere, so that the same name is replaced by the same name everywhere. If a variable
//! occurs in a value place, any number from 0 to 100 may get there, and all of them stay. Other
//! numbers are replaced like any name.
//!
//! A keyword in the place of a term, as in `(true (goal 3))`, is replaced like any name, too.

use std::collections::BTreeMap;

use ludex_base::{Goal, Rng, Seed, Symbol, Symbols};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::keyword::{Keyword, RANDOM_ROLE};
use crate::print::CONNECTIVES;
use crate::syntax::{Clause, Formula, FormulaKind, Rulesheet, Term, TermKind};

/// The mapping between old and new names, without variables, which are local to a clause.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Renaming {
    scrambled: BTreeMap<String, String>,
    original: BTreeMap<String, String>,
}

impl Renaming {
    /// Returns the new name of an old one; the name itself if it stayed.
    pub fn scrambled<'a>(&'a self, name: &'a str) -> &'a str {
        self.scrambled.get(name).map_or(name, String::as_str)
    }

    /// Returns the old name of a new one; the name itself if it stayed.
    pub fn original<'a>(&'a self, name: &'a str) -> &'a str {
        self.original.get(name).map_or(name, String::as_str)
    }

    /// Translates a term such as a move, `(mark 1 2)`, into the new names.
    pub fn scramble_term(&self, text: &str) -> String {
        by_word(text, |name| self.scrambled(name))
    }

    /// Translates a term such as a move into the old names.
    pub fn unscramble_term(&self, text: &str) -> String {
        by_word(text, |name| self.original(name))
    }

    /// Iterates over the pairs of old and new names, sorted by the old.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.scrambled.iter().map(|(old, new)| (old.as_str(), new.as_str()))
    }
}

/// Renames everything without a predefined meaning. The same seed gives the same names.
///
/// ```
/// use ludex_base::{Seed, Source};
/// let source = Source::new("t", "(role me) (<= (goal me 100) (true (cell ?x)))");
/// let (sheet, _) = ludex_gdl::parse(&source);
/// let (scrambled, renaming) = ludex_gdl::scramble(&sheet, Seed(1));
/// assert!(!ludex_gdl::print_kif(&scrambled).contains("cell"));
/// let there = renaming.scramble_term("(cell 100)");
/// assert_eq!(renaming.unscramble_term(&there), "(cell 100)");
/// ```
pub fn scramble(sheet: &Rulesheet, seed: Seed) -> (Rulesheet, Renaming) {
    let mut scrambler = Scrambler {
        old: &sheet.symbols,
        kept: kept_values(sheet),
        taken: FxHashSet::default(),
        names: FxHashMap::default(),
        variables: FxHashMap::default(),
        rng: seed.rng(),
        new: Symbols::default(),
        renaming: Renaming::default(),
    };
    scrambler.take_old_names(sheet);
    let clauses = sheet.clauses.iter().map(|clause| scrambler.clause(clause)).collect();
    let scrambled = Rulesheet { notation: sheet.notation, symbols: scrambler.new, clauses };
    (scrambled, scrambler.renaming)
}

/// Returns the numbers that are or may become goal values.
fn kept_values(sheet: &Rulesheet) -> FxHashSet<Symbol> {
    let mut kept = FxHashSet::default();
    let mut has_variable = false;
    let goal = sheet.symbols.get(Keyword::Goal.name());
    let mut visit = |atom: &Term| {
        let value = atom.args().get(1).filter(|_| goal.is_some() && atom.name() == goal);
        match value.map(|value| &value.kind) {
            Some(TermKind::Constant(name)) => {
                kept.insert(*name);
            }
            Some(TermKind::Variable(_)) => has_variable = true,
            _ => {}
        }
    };
    for clause in &sheet.clauses {
        visit(&clause.head);
        clause.for_each_atom(&mut |atom, _| visit(atom));
    }
    if has_variable {
        let mut keep_numbers = |term: &Term| kept.extend(term.name());
        for clause in &sheet.clauses {
            clause.head.args().iter().for_each(|arg| arg.for_each_subterm(&mut keep_numbers));
            clause.body.iter().for_each(|formula| formula.for_each_term(&mut keep_numbers));
        }
    }
    kept.retain(|&name| Goal::parse(sheet.symbols.name(name)).is_some());
    kept
}

struct Scrambler<'a> {
    old: &'a Symbols,
    kept: FxHashSet<Symbol>,
    /// Names that must not be used: the old ones, those with a meaning, and those already assigned.
    taken: FxHashSet<String>,
    names: FxHashMap<Symbol, Symbol>,
    variables: FxHashMap<Symbol, Symbol>,
    rng: Rng,
    new: Symbols,
    renaming: Renaming,
}

impl Scrambler<'_> {
    fn take_old_names(&mut self, sheet: &Rulesheet) {
        let mut names: Vec<Symbol> = Vec::new();
        let mut visit = |term: &Term| names.extend(term.name());
        for clause in &sheet.clauses {
            clause.head.for_each_subterm(&mut visit);
            clause.for_each_atom(&mut |atom, _| visit(atom));
            clause.body.iter().for_each(|formula| formula.for_each_term(&mut visit));
        }
        self.taken.extend(names.into_iter().map(|name| self.old.name(name).to_owned()));
        let keywords = Keyword::ALL.iter().map(|keyword| keyword.name());
        self.taken.extend(keywords.chain(CONNECTIVES).chain([RANDOM_ROLE]).map(str::to_owned));
    }

    fn clause(&mut self, clause: &Clause) -> Clause {
        Clause {
            head: self.atom(&clause.head),
            body: clause.body.iter().map(|formula| self.formula(formula)).collect(),
            span: clause.span,
        }
    }

    fn formula(&mut self, formula: &Formula) -> Formula {
        let kind = match &formula.kind {
            FormulaKind::Atom(atom) => FormulaKind::Atom(self.atom(atom)),
            FormulaKind::Not(inner) => FormulaKind::Not(Box::new(self.formula(inner))),
            FormulaKind::And(parts) => {
                FormulaKind::And(parts.iter().map(|part| self.formula(part)).collect())
            }
            FormulaKind::Or(parts) => {
                FormulaKind::Or(parts.iter().map(|part| self.formula(part)).collect())
            }
            FormulaKind::Distinct(left, right) => {
                FormulaKind::Distinct(self.term(left), self.term(right))
            }
        };
        Formula { kind, span: formula.span }
    }

    fn atom(&mut self, atom: &Term) -> Term {
        let keyword = atom.name().and_then(|name| Keyword::parse(self.old.name(name)));
        let Some(keyword) = keyword else { return self.term(atom) };
        let name = self.new.intern(keyword.name());
        let kind = match &atom.kind {
            TermKind::Compound(_, args) => {
                TermKind::Compound(name, args.iter().map(|arg| self.term(arg)).collect())
            }
            _ => TermKind::Constant(name),
        };
        Term { kind, span: atom.span }
    }

    fn term(&mut self, term: &Term) -> Term {
        let kind = match &term.kind {
            TermKind::Variable(name) => TermKind::Variable(self.variable(*name)),
            TermKind::Constant(name) => TermKind::Constant(self.name(*name)),
            TermKind::Compound(name, args) => {
                let name = self.name(*name);
                TermKind::Compound(name, args.iter().map(|arg| self.term(arg)).collect())
            }
        };
        Term { kind, span: term.span }
    }

    fn variable(&mut self, name: Symbol) -> Symbol {
        let n_variables = self.variables.len();
        *self
            .variables
            .entry(name)
            .or_insert_with(|| self.new.intern(&format!("v{}", n_variables + 1)))
    }

    fn name(&mut self, name: Symbol) -> Symbol {
        if let Some(&renamed) = self.names.get(&name) {
            return renamed;
        }
        let old = self.old.name(name);
        let renamed = if old == RANDOM_ROLE || self.kept.contains(&name) {
            self.new.intern(old)
        } else {
            let word = self.fresh_word();
            self.renaming.scrambled.insert(old.to_owned(), word.clone());
            self.renaming.original.insert(word.clone(), old.to_owned());
            self.new.intern(&word)
        };
        self.names.insert(name, renamed);
        renamed
    }

    /// Returns a new pronounceable word without meaning; longer ones when short ones run out.
    fn fresh_word(&mut self) -> String {
        const CONSONANTS: &[u8] = b"bdfghjklmnprstvwz";
        const VOWELS: &[u8] = b"aeiou";
        let mut n_syllables = 2;
        loop {
            let mut word = String::new();
            for _ in 0..n_syllables {
                for letters in [CONSONANTS, VOWELS] {
                    word.push(char::from(letters[self.rng.below(letters.len())]));
                }
            }
            if self.taken.insert(word.clone()) {
                return word;
            }
            n_syllables += 1;
        }
    }
}

/// Replaces each word of a text.
fn by_word<'a>(text: &'a str, replace: impl Fn(&'a str) -> &'a str) -> String {
    let is_edge = |c: char| c == '(' || c == ')' || c.is_whitespace();
    let mut result = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let length = rest.find(is_edge).unwrap_or(rest.len());
        if length > 0 {
            result.push_str(replace(&rest[..length]));
        }
        let edge = rest[length..].chars().next();
        result.extend(edge);
        rest = &rest[length + edge.map_or(0, char::len_utf8)..];
    }
    result
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use ludex_base::Source;

    use super::*;
    use crate::kif::parse_kif;
    use crate::print::print_kif;

    fn scrambled(rules: &str) -> (String, Renaming) {
        let (sheet, diagnostics) = parse_kif(&Source::new("t", rules));
        assert_eq!(diagnostics, []);
        let (sheet, renaming) = scramble(&sheet, Seed(5));
        (print_kif(&sheet), renaming)
    }

    #[test]
    fn names_change_and_keywords_do_not() {
        let (text, renaming) = scrambled(
            "(role white) (role random) (init (cell 1 white))
             (<= (goal white 100) (true (cell 1 ?x)) (not (line ?x)) (distinct ?x 7))
             (<= (line ?x) (cell ?x 100))",
        );
        expect![[r#"
            (role hoda)
            (role random)
            (init (mola wuwu hoda))

            (<= (goal hoda 100)
                (true (mola wuwu ?v1))
                (not (wipu ?v1))
                (distinct ?v1 sodi))

            (<= (wipu ?v1)
                (mola ?v1 100))
        "#]]
        .assert_eq(&text);
        assert_eq!(
            renaming.unscramble_term(&renaming.scramble_term("(cell 1 100 7)")),
            "(cell 1 100 7)"
        );
    }

    #[test]
    fn numbers_that_may_become_goal_values_stay() {
        let (text, _) =
            scrambled("(<= (goal r ?v) (true (score ?v))) (init (score 50)) (init (score 101))");
        expect![[r#"
            (<= (goal hoda ?v1)
                (true (mola ?v1)))

            (init (mola 50))
            (init (mola wuwu))
        "#]]
        .assert_eq(&text);
    }

    #[test]
    fn keywords_in_the_place_of_terms_are_names() {
        let (text, _) = scrambled("(init (true goal)) (<= terminal (true (true goal)))");
        expect![[r#"
            (init (hoda mola))

            (<= terminal
                (true (hoda mola)))
        "#]]
        .assert_eq(&text);
    }

    #[test]
    fn the_same_seed_gives_the_same_names() {
        let rules = "(role a) (p b c (f d))";
        assert_eq!(scrambled(rules), scrambled(rules));
    }
}
