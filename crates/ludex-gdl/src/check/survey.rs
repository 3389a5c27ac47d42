//! A survey of what the clauses of a rulesheet define and use.

use ludex_base::{Pace, Span, StopReason, Symbol};
use rustc_hash::FxHashMap;

use crate::keyword::Keyword;
use crate::print::{formula_text, name_text, term_text};
use crate::syntax::{Formula, Rulesheet, Term};

/// A relation of the tree: a name with a number of arguments.
pub(super) struct Relation {
    pub name: Symbol,
    pub arity: usize,
    pub keyword: Option<Keyword>,
    /// The heads of its clauses.
    pub heads: Vec<Span>,
    /// The atoms of bodies that use it.
    pub uses: Vec<Span>,
}

/// An atom of a body.
#[derive(Clone, Copy)]
pub(super) struct Use<'a> {
    /// The relation, as an index.
    pub relation: usize,
    pub atom: &'a Term,
    pub is_positive: bool,
}

pub(super) struct Survey<'a> {
    pub sheet: &'a Rulesheet,
    pub relations: Vec<Relation>,
    /// For each clause, the relation of its head and the atoms of its body.
    pub clauses: Vec<(usize, Vec<Use<'a>>)>,
    /// For loops over clauses and conditions, which count each of them as a step.
    pub pace: &'a Pace<'a>,
}

impl<'a> Survey<'a> {
    pub fn new(sheet: &'a Rulesheet, pace: &'a Pace<'a>) -> Result<Self, StopReason> {
        let mut relations: Vec<Relation> = Vec::new();
        let mut ids: FxHashMap<(Symbol, usize), usize> = FxHashMap::default();
        let mut relation_of = |atom: &Term, relations: &mut Vec<Relation>| {
            let name = atom.name().expect("readers refuse variables as atoms");
            let arity = atom.args().len();
            *ids.entry((name, arity)).or_insert_with(|| {
                let keyword = Keyword::parse(sheet.symbols.name(name));
                relations.push(Relation {
                    name,
                    arity,
                    keyword,
                    heads: Vec::new(),
                    uses: Vec::new(),
                });
                relations.len() - 1
            })
        };
        let mut clauses = Vec::new();
        for clause in &sheet.clauses {
            let head = relation_of(&clause.head, &mut relations);
            relations[head].heads.push(clause.head.span);
            let mut uses = Vec::new();
            clause.for_each_atom(&mut |atom, is_positive| {
                let relation = relation_of(atom, &mut relations);
                relations[relation].uses.push(atom.span);
                uses.push(Use { relation, atom, is_positive });
            });
            pace.steps(1 + uses.len())?;
            clauses.push((head, uses));
        }
        Ok(Self { sheet, relations, clauses, pace })
    }

    /// Returns the keyword that a relation is, by name and number of arguments.
    pub fn keyword(&self, relation: usize) -> Option<Keyword> {
        let relation = &self.relations[relation];
        relation.keyword.filter(|keyword| keyword.arity() == relation.arity)
    }

    /// Returns the relation of a keyword, if some clause mentions it.
    pub fn of_keyword(&self, keyword: Keyword) -> Option<usize> {
        (0..self.relations.len()).find(|&relation| self.keyword(relation) == Some(keyword))
    }

    /// Returns whether some clause has the keyword, with any number of arguments, in its head.
    pub fn is_defined(&self, keyword: Keyword) -> bool {
        self.relations.iter().any(|it| it.keyword == Some(keyword) && !it.heads.is_empty())
    }

    pub fn name(&self, name: Symbol) -> String {
        name_text(self.sheet.symbols.name(name), self.sheet.notation)
    }

    pub fn relation_name(&self, relation: usize) -> String {
        self.name(self.relations[relation].name)
    }

    pub fn term(&self, term: &Term) -> String {
        term_text(term, &self.sheet.symbols, self.sheet.notation)
    }

    pub fn formula(&self, formula: &Formula) -> String {
        formula_text(formula, &self.sheet.symbols, self.sheet.notation)
    }
}

/// Formats a number of arguments: `1 argument`, `2 arguments`.
pub(super) fn n_arguments(n: usize) -> String {
    if n == 1 { "1 argument".to_owned() } else { format!("{n} arguments") }
}

/// Largest number of names that [`similar`] compares; more would take too long.
pub(super) const N_SIMILAR: usize = 500;

/// Returns the name among `names` that `name` is most probably a misspelling of.
pub(super) fn similar<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let lower = name.to_lowercase();
    let max_distance = match name.chars().count() {
        0..3 => return None,
        3..5 => 1,
        _ => 2,
    };
    names
        .take(N_SIMILAR)
        .filter(|other| other.len().abs_diff(name.len()) <= max_distance)
        .map(|other| (distance(&lower, &other.to_lowercase()), other))
        .filter(|&(distance, other)| distance <= max_distance && other != name)
        .min()
        .map(|(_, other)| other)
}

/// Returns the number of letters to add, remove, replace or swap with a neighbor.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > 2 || a.len() > 40 {
        return usize::MAX;
    }
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}
