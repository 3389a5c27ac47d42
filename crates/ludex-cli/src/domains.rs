//! Which constants can stand in which place of a fluent, read off the rules.
//!
//! A place is an argument of a relation or of a function. Constants flow from the body of a
//! rule to its head along variables; a variable that stands in several places of the body
//! takes the constants they share. That is more than ever occurs and never less, and needs
//! no play, so it costs the same for every game.

use std::collections::{BTreeMap, BTreeSet};

use ludex_base::Symbol;
use ludex_gdl::{Atom, Keyword, Literal, Pattern, Program, RelationId, Rule, TermId};

/// What can stand in a place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Filler {
    /// A constant.
    Constant(Symbol),
    /// A function of so many arguments; what they can be is in its own places.
    Function(Symbol, usize),
}

/// An argument of a relation or of a function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Place {
    /// Argument of a relation.
    Relation(RelationId, usize),
    /// Argument of a function of so many arguments.
    Function(Symbol, usize, usize),
}

/// The fillers of every place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Domains {
    fillers: BTreeMap<Place, BTreeSet<Filler>>,
    /// What the author says by `base` can stand in the places of fluents.
    declared: BTreeMap<Place, BTreeSet<Filler>>,
    /// What stands in the places of fluents at the beginning.
    initial: BTreeMap<Place, BTreeSet<Filler>>,
}

/// Rounds after which flowing stops. The rules of a chain may be written backwards, one round
/// a link; a drawing can do without the rest.
const MAX_ROUNDS: usize = 50;

impl Domains {
    /// The fillers of every place of a program.
    pub(crate) fn of(program: &Program) -> Self {
        let mut domains = Self::default();
        let is = |rule: &Rule, keyword: Keyword| rule.head.relation == keyword.into();
        let (facts, rules): (Vec<&Rule>, Vec<&Rule>) = program
            .rules
            .iter()
            .filter(|rule| !is(rule, Keyword::Base) && !is(rule, Keyword::Input))
            .partition(|rule| rule.body.is_empty());
        for fact in facts {
            domains.flow(program, fact);
        }
        for _ in 0..MAX_ROUNDS {
            let mut has_grown = false;
            for rule in &rules {
                has_grown |= domains.flow(program, rule);
            }
            if !has_grown {
                break;
            }
        }
        domains.declared = domains.heads_of(program, Keyword::Base);
        domains.initial = domains.heads_of(program, Keyword::Init);
        domains
    }

    /// What can stand in a place: what the rules say, and where `base` says less, that.
    pub(crate) fn fillers(&self, place: Place) -> BTreeSet<Filler> {
        let derived = self.fillers.get(&place).cloned().unwrap_or_default();
        let Some(declared) = self.declared.get(&place) else { return derived };
        let both: BTreeSet<Filler> = derived.intersection(declared).copied().collect();
        if both.is_empty() { derived } else { both }
    }

    /// What stands in a place of a fluent at the beginning.
    pub(crate) fn initial(&self, place: Place) -> BTreeSet<Filler> {
        self.initial.get(&place).cloned().unwrap_or_default()
    }

    /// What can be true in a state.
    pub(crate) fn fluents(&self) -> BTreeSet<Filler> {
        self.fillers(place_of(Keyword::True.into(), 0))
    }

    /// Lets constants flow through one rule; whether any was new to its head.
    fn flow(&mut self, program: &Program, rule: &Rule) -> bool {
        let values = self.values(rule);
        if values.iter().flatten().any(BTreeSet::is_empty) {
            return false;
        }
        let mut has_grown = false;
        for (argument, pattern) in rule.head.args.iter().enumerate() {
            let place = place_of(rule.head.relation, argument);
            has_grown |= self.fill(program, place, pattern, &values);
        }
        has_grown
    }

    /// What the rules of one keyword alone put into the places of their heads.
    fn heads_of(&self, program: &Program, keyword: Keyword) -> BTreeMap<Place, BTreeSet<Filler>> {
        let mut heads = Self::default();
        for rule in program.rules.iter().filter(|rule| rule.head.relation == keyword.into()) {
            let values = self.values(rule);
            for (argument, pattern) in rule.head.args.iter().enumerate() {
                heads.fill(program, place_of(keyword.into(), argument), pattern, &values);
            }
        }
        heads.fillers
    }

    /// What each variable of a rule can be; `None` for one that its body does not bind.
    fn values(&self, rule: &Rule) -> Vec<Option<BTreeSet<Filler>>> {
        let mut values = vec![None; rule.n_variables()];
        for literal in &rule.body {
            if let Literal::Positive(atom) = literal {
                self.restrict_atom(atom, &mut values);
            }
        }
        values
    }

    fn restrict_atom(&self, atom: &Atom, values: &mut [Option<BTreeSet<Filler>>]) {
        for (argument, pattern) in atom.args.iter().enumerate() {
            self.restrict(place_of(atom.relation, argument), pattern, values);
        }
    }

    fn restrict(&self, place: Place, pattern: &Pattern, values: &mut [Option<BTreeSet<Filler>>]) {
        match pattern {
            Pattern::Ground(_) => {}
            Pattern::Compound(name, args) => {
                for (argument, arg) in args.iter().enumerate() {
                    self.restrict(Place::Function(*name, args.len(), argument), arg, values);
                }
            }
            Pattern::Variable(variable) => {
                let here = self.fillers.get(&place).cloned().unwrap_or_default();
                let value = &mut values[*variable as usize];
                *value = Some(match value.take() {
                    Some(before) => before.intersection(&here).copied().collect(),
                    None => here,
                });
            }
        }
    }

    /// Adds what a pattern of a head can be to its place; whether any was new.
    fn fill(
        &mut self,
        program: &Program,
        place: Place,
        pattern: &Pattern,
        values: &[Option<BTreeSet<Filler>>],
    ) -> bool {
        match pattern {
            Pattern::Ground(term) => self.fill_ground(program, place, *term),
            Pattern::Variable(variable) => {
                let Some(value) = &values[*variable as usize] else { return false };
                let fillers = self.fillers.entry(place).or_default();
                let n_before = fillers.len();
                fillers.extend(value);
                fillers.len() > n_before
            }
            Pattern::Compound(name, args) => {
                let mut has_grown = self.add(place, Filler::Function(*name, args.len()));
                for (argument, arg) in args.iter().enumerate() {
                    let inner = Place::Function(*name, args.len(), argument);
                    has_grown |= self.fill(program, inner, arg, values);
                }
                has_grown
            }
        }
    }

    fn fill_ground(&mut self, program: &Program, place: Place, term: TermId) -> bool {
        let name = program.terms.name(term);
        let args = program.terms.args(term);
        if args.is_empty() {
            return self.add(place, Filler::Constant(name));
        }
        let mut has_grown = self.add(place, Filler::Function(name, args.len()));
        for (argument, &arg) in args.iter().enumerate() {
            let inner = Place::Function(name, args.len(), argument);
            has_grown |= self.fill_ground(program, inner, arg);
        }
        has_grown
    }

    fn add(&mut self, place: Place, filler: Filler) -> bool {
        self.fillers.entry(place).or_default().insert(filler)
    }
}

/// The place of an argument. What is derived by `init` and `next` is what `true` asks for, and
/// what is `legal` is what `does` asks for.
fn place_of(relation: RelationId, argument: usize) -> Place {
    let is = |keyword: Keyword| relation == RelationId::from(keyword);
    if is(Keyword::Init) || is(Keyword::Next) {
        Place::Relation(Keyword::True.into(), argument)
    } else if is(Keyword::Legal) {
        Place::Relation(Keyword::Does.into(), argument)
    } else {
        Place::Relation(relation, argument)
    }
}
