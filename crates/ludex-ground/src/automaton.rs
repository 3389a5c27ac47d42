//! Lookups in huge relations become automata.
//!
//! A rule such as
//!
//! ```text
//! good(I) :- true(mark(I,1,A)), true(mark(I,2,B)), true(mark(I,3,C)), one(1,A,B,C), one(2,A,B,C), one(3,A,B,C).
//! ```
//!
//! has an instance for all values of `A`, `B` and `C`, and `one` may have billions of atoms that nobody lists. But
//! after `A` is known, all that matters is what the lookups still say about `B` and `C`. So the rule becomes a chain:
//! each link reads one variable and goes from what was left of the lookups to what is left now. These are the
//! states of an automaton, or the nodes of a decision diagram; for a permutation of nine values there are 512.
//!
//! A lookup can be taken apart like this if its rules, one put into the other down to facts, say of each variable
//! for itself which values it may have. Such a rule is a box, and a lookup is a union of boxes.

use std::collections::{BTreeSet, HashMap, HashSet};

use ludex_base::ids::narrow;
use ludex_base::{Pace, Span, StopReason};
use ludex_gdl::{Atom, Keyword, Pattern, RelationId, TermId};

use crate::clauses::{Clause, Clauses, MAX_VARIABLES, Positive, RelationInfo};
use crate::estimate::{Found, VariableSet, variable_list, variables_of, variables_of_pattern};

/// Lookups of fewer variables are joined as any other condition.
const MIN_VARIABLES: u32 = 3;
/// Most boxes of a lookup.
const MAX_BOXES: usize = 64;
/// Most transitions of an automaton.
const MAX_TRANSITIONS: usize = 100_000;
/// Deepest nesting of rules that are put into each other.
const MAX_DEPTH: usize = 8;

/// Replaces rules with lookups in relations that are not known to be small by chains.
///
/// # Errors
/// When the deadline is reached.
pub(crate) fn replace(
    clauses: &mut Clauses,
    found: &[Found],
    pace: &Pace<'_>,
) -> Result<(), StopReason> {
    let definitions = Definitions::of(clauses, found);
    if definitions.large.is_empty() {
        return Ok(());
    }
    let mut known = HashMap::new();
    for clause in std::mem::take(&mut clauses.clauses) {
        pace.steps(1 + clause.positives.len())?;
        let chain = Chain::of(&clause, clauses, &definitions, pace)?;
        match chain {
            Some(chain) => chain.write(&clause, clauses, &mut known),
            None => clauses.clauses.push(clause),
        }
    }
    Ok(())
}

/// The rules of the relations that do not depend on the state.
struct Definitions {
    rules: HashMap<RelationId, Vec<Clause>>,
    /// Relations of which all atoms are written as facts.
    facts: HashMap<RelationId, HashSet<Box<[TermId]>>>,
    /// Relations with rules that are not known to be small.
    large: HashSet<RelationId>,
}

impl Definitions {
    fn of(clauses: &Clauses, found: &[Found]) -> Self {
        let mut rules: HashMap<RelationId, Vec<Clause>> = HashMap::new();
        for clause in &clauses.clauses {
            let relation = clause.head.relation;
            if relation.index() >= Keyword::ALL.len() && clauses.info(relation).is_static {
                rules.entry(relation).or_default().push(clause.clone());
            }
        }
        let facts: HashMap<_, HashSet<Box<[TermId]>>> = rules
            .iter()
            .filter_map(|(&relation, rules)| {
                Some((relation, rules.iter().map(fact).collect::<Option<_>>()?))
            })
            .collect();
        let is_small = |id: &RelationId| found.get(id.index()).is_some_and(Found::is_small);
        let large = rules.keys().filter(|id| !facts.contains_key(id) && !is_small(id));
        Self { large: large.copied().collect(), facts, rules }
    }

    /// Returns the boxes of an atom; `None` if it cannot be taken apart.
    fn boxes(&self, atom: &Atom, depth: usize) -> Option<Vec<Extents>> {
        let rules = self.rules.get(&atom.relation)?;
        let mut boxes = Vec::new();
        for rule in rules {
            boxes.extend(self.boxes_of_rule(rule, atom, depth.checked_sub(1)?)?);
            if boxes.len() > MAX_BOXES {
                return None;
            }
        }
        Some(boxes)
    }

    fn boxes_of_rule(&self, rule: &Clause, atom: &Atom, depth: usize) -> Option<Vec<Extents>> {
        // Step 1. Match the head with the call.
        let mut values: HashMap<u32, &Pattern> = HashMap::new();
        let mut first = Extents::new();
        for (arg, given) in rule.head.args.iter().zip(&atom.args) {
            match (arg, given) {
                (Pattern::Variable(variable), given) => match values.insert(*variable, given) {
                    Some(before) if before != given => return None,
                    _ => {}
                },
                (Pattern::Ground(term), Pattern::Ground(other)) if term == other => {}
                (Pattern::Ground(_), Pattern::Ground(_)) => return Some(Vec::new()),
                (Pattern::Ground(term), Pattern::Variable(variable)) => {
                    if !narrow_to(&mut first, *variable, &BTreeSet::from([*term])) {
                        return Some(Vec::new());
                    }
                }
                _ => return None,
            }
        }
        let given = |pattern: &Pattern| match pattern {
            Pattern::Variable(variable) => values.get(variable).map(|it| (*it).clone()),
            Pattern::Ground(_) => Some(pattern.clone()),
            Pattern::Compound(..) => None,
        };
        let called = |atom: &Atom| {
            let args = atom.args.iter().map(given).collect::<Option<_>>()?;
            Some(Atom { relation: atom.relation, args })
        };
        // Step 2. Intersect what the conditions allow.
        let mut boxes = vec![first];
        for positive in &rule.positives {
            let atom = called(&positive.atom)?;
            let parts = match self.facts.get(&atom.relation) {
                Some(facts) => match matching(&atom, facts)? {
                    Matching::Always => continue,
                    Matching::Never => return Some(Vec::new()),
                    Matching::For(variable, terms) => vec![Extents::from([(variable, terms)])],
                },
                None => self.boxes(&atom, depth)?,
            };
            boxes = intersected(&boxes, &parts)?;
        }
        // Step 3. Take away what they exclude.
        for negative in &rule.negatives {
            let atom = called(negative)?;
            match matching(&atom, self.facts.get(&atom.relation)?)? {
                Matching::Always => return Some(Vec::new()),
                Matching::Never => {}
                Matching::For(variable, terms) => exclude(&mut boxes, variable, &terms)?,
            }
        }
        for (left, right) in &rule.distinct {
            match (given(left)?, given(right)?) {
                (Pattern::Ground(one), Pattern::Ground(other)) if one == other => {
                    return Some(Vec::new());
                }
                (Pattern::Ground(_), Pattern::Ground(_)) => {}
                (Pattern::Variable(variable), Pattern::Ground(term))
                | (Pattern::Ground(term), Pattern::Variable(variable)) => {
                    exclude(&mut boxes, variable, &BTreeSet::from([term]))?;
                }
                _ => return None,
            }
        }
        let variables = variables_of(atom).count_ones() as usize;
        boxes.iter().all(|it| it.len() == variables).then_some(boxes)
    }
}

/// Returns the arguments of a fact; `None` if it is a rule.
fn fact(clause: &Clause) -> Option<Box<[TermId]>> {
    let term = |arg: &Pattern| match arg {
        Pattern::Ground(term) => Some(*term),
        _ => None,
    };
    let has_body =
        !clause.positives.is_empty() || !clause.negatives.is_empty() || !clause.distinct.is_empty();
    (!has_body).then(|| clause.head.args.iter().map(term).collect())?
}

/// A box: by variable, the values it may have.
type Extents = std::collections::BTreeMap<u32, BTreeSet<TermId>>;

enum Matching {
    Always,
    Never,
    For(u32, BTreeSet<TermId>),
}

/// Returns for which values of its only variable an atom is among facts; `None` if it has several.
fn matching(atom: &Atom, facts: &HashSet<Box<[TermId]>>) -> Option<Matching> {
    let variables = variable_list(variables_of(atom));
    let [variable] = variables[..] else {
        let term = |arg: &Pattern| match arg {
            Pattern::Ground(term) => Some(*term),
            _ => None,
        };
        let row: Box<[TermId]> = atom.args.iter().map(term).collect::<Option<_>>()?;
        return Some(if facts.contains(&row) { Matching::Always } else { Matching::Never });
    };
    let value = |row: &[TermId]| {
        let mut value = None;
        for (arg, &term) in atom.args.iter().zip(row.iter()) {
            match arg {
                Pattern::Ground(ground) if *ground != term => return None,
                Pattern::Variable(_) if value.is_some_and(|it| it != term) => return None,
                Pattern::Variable(_) => value = Some(term),
                _ => {}
            }
        }
        value
    };
    Some(Matching::For(variable, facts.iter().filter_map(|row| value(row)).collect()))
}

/// Restricts a variable; returns whether values are left.
fn narrow_to(extents: &mut Extents, variable: u32, terms: &BTreeSet<TermId>) -> bool {
    let slot = extents.entry(variable).or_insert_with(|| terms.clone());
    slot.retain(|term| terms.contains(term));
    !slot.is_empty()
}

fn intersected(some: &[Extents], others: &[Extents]) -> Option<Vec<Extents>> {
    let mut boxes = Vec::new();
    for one in some {
        for other in others {
            let mut both = one.clone();
            if other.iter().all(|(&variable, terms)| narrow_to(&mut both, variable, terms)) {
                boxes.push(both);
            }
        }
    }
    (boxes.len() <= MAX_BOXES).then_some(boxes)
}

/// Takes values away from a variable, of which each box must say what it may be.
fn exclude(boxes: &mut Vec<Extents>, variable: u32, terms: &BTreeSet<TermId>) -> Option<()> {
    for extents in boxes.iter_mut() {
        extents.get_mut(&variable)?.retain(|term| !terms.contains(term));
    }
    boxes.retain(|it| !it[&variable].is_empty());
    Some(())
}

/// What is left of the lookups: for each a set of boxes over the variables that are not read yet.
type Left = Vec<BTreeSet<Vec<Option<BTreeSet<TermId>>>>>;

/// A rule as a chain.
struct Chain {
    /// The variables that lookups are about, in the order in which they are read.
    variables: Vec<u32>,
    /// The places of the lookups among the conditions.
    lookups: Vec<usize>,
    /// By variable: the number of a state, a value, and the number of the next state.
    links: Vec<Vec<(usize, TermId, usize)>>,
}

impl Chain {
    /// Finds the chain of a rule; `None` if it has no lookups that can be taken apart.
    fn of(
        clause: &Clause,
        clauses: &Clauses,
        definitions: &Definitions,
        pace: &Pace<'_>,
    ) -> Result<Option<Self>, StopReason> {
        if clauses.info(clause.head.relation).is_static || clause.n_variables + 2 > MAX_VARIABLES {
            return Ok(None);
        }
        let is_lookup = |atom: &Atom| {
            definitions.large.contains(&atom.relation)
                && variables_of(atom).count_ones() >= MIN_VARIABLES
        };
        let positives = || clause.positives.iter().map(|it| &it.atom).enumerate();
        let lookups: Vec<usize> = positives().filter(|it| is_lookup(it.1)).map(|it| it.0).collect();
        let read =
            lookups.iter().fold(0, |set, &idx| set | variables_of(&clause.positives[idx].atom));
        let others = || positives().filter(|it| !is_lookup(it.1)).map(|it| it.1);
        // Each other condition must be about one of these variables at most, and bind it.
        let is_apart = |set: VariableSet| set & read == 0;
        let is_plain = others().all(|it| (variables_of(it) & read).count_ones() <= 1)
            && is_apart(variables_of(&clause.head))
            && clause.negatives.iter().all(|it| is_apart(variables_of(it)))
            && clause.distinct.iter().all(|(left, right)| {
                is_apart(variables_of_pattern(left) | variables_of_pattern(right))
            })
            && others().fold(0, |set, it| set | variables_of(it)) & read == read;
        if lookups.is_empty() || !is_plain {
            return Ok(None);
        }
        let mut variables = Vec::new();
        for atom in others() {
            variables.extend(variable_list(variables_of(atom) & read));
        }
        let mut seen = HashSet::new();
        variables.retain(|variable| seen.insert(*variable));
        let mut left = Left::new();
        for &idx in &lookups {
            let Some(boxes) = definitions.boxes(&clause.positives[idx].atom, MAX_DEPTH) else {
                return Ok(None);
            };
            let row =
                |it: &Extents| variables.iter().map(|variable| it.get(variable).cloned()).collect();
            left.push(boxes.iter().map(row).collect());
        }
        let links = find_links(left, variables.len(), pace)?;
        Ok(links.map(|links| Self { variables, lookups, links }))
    }

    /// Writes the rules of the chain. Equal tables of links are written once.
    fn write(
        self,
        clause: &Clause,
        clauses: &mut Clauses,
        known: &mut HashMap<Vec<(usize, TermId, usize)>, RelationId>,
    ) {
        let relation = clause.head.relation;
        let n_variables = clause.n_variables + 2;
        let first_state = narrow(clause.n_variables);
        let [before, after] = [first_state, first_state + 1].map(Pattern::Variable);
        let read: VariableSet = self.variables.iter().fold(0, |set, variable| set | 1 << variable);
        let others: Vec<&Positive> = (clause.positives.iter().enumerate())
            .filter(|(idx, _)| !self.lookups.contains(idx))
            .map(|it| it.1)
            .collect();
        // By link, the conditions on its variable; the first has those on none as well.
        let is_of = |idx: usize, it: &Positive| {
            let own = variables_of(&it.atom) & read;
            own >> self.variables[idx] & 1 != 0 || idx == 0 && own == 0
        };
        let all = |set: VariableSet, it: &Positive| set | variables_of(&it.atom);
        let mut last: Option<Atom> = None;
        let mut bound: VariableSet = 0;
        for (idx, links) in self.links.iter().enumerate() {
            let mut positives: Vec<Positive> =
                last.take().into_iter().map(|atom| Positive { atom, is_guard: false }).collect();
            let own = others.iter().filter(|it| is_of(idx, it));
            positives.extend(own.map(|&it| it.clone()));
            let table = table_of(links, relation, clause.span, clauses, known);
            let value = Pattern::Variable(self.variables[idx]);
            let args = Box::new([before.clone(), value, after.clone()]);
            let link = Atom { relation: table, args };
            positives.push(Positive { atom: link, is_guard: false });
            if idx == 0 {
                let start = Atom {
                    relation: add(relation, 1, true, clauses),
                    args: Box::new([before.clone()]),
                };
                let first = [state_term(0, clauses)];
                clauses.clauses.push(fact_clause(start.relation, &first, clause.span));
                positives.push(Positive { atom: start, is_guard: false });
            }
            // What is needed later of what is known now.
            let later =
                others.iter().filter(|it| (idx + 1..self.links.len()).any(|next| is_of(next, it)));
            let needed = later.fold(variables_of(&clause.head), |set, it| all(set, it)) & !read;
            bound = positives.iter().fold(bound, all) & !read;
            let kept = variable_list(bound & needed & !(3 << first_state));
            let mut args = vec![after.clone()];
            args.extend(kept.into_iter().map(Pattern::Variable));
            let node =
                Atom { relation: add(relation, args.len(), false, clauses), args: args.into() };
            let is_first = idx == 0;
            clauses.clauses.push(Clause {
                head: node.clone(),
                positives,
                negatives: if is_first { clause.negatives.clone() } else { Vec::new() },
                distinct: if is_first { clause.distinct.clone() } else { Vec::new() },
                n_variables,
                span: clause.span,
            });
            let mut args = node.args.clone();
            args[0] = before.clone();
            last = Some(Atom { relation: node.relation, args });
        }
        let accepted = last.map(|mut atom| {
            atom.args[0] = Pattern::Ground(state_term(0, clauses));
            Positive { atom, is_guard: false }
        });
        clauses.clauses.push(Clause {
            head: clause.head.clone(),
            positives: accepted.into_iter().collect(),
            negatives: Vec::new(),
            distinct: Vec::new(),
            n_variables,
            span: clause.span,
        });
    }
}

/// Finds the links of all variables, from the state 0 to the state 0; `None` if there are too many.
#[expect(clippy::type_complexity, reason = "it is the table that callers write")]
fn find_links(
    first: Left,
    n_variables: usize,
    pace: &Pace<'_>,
) -> Result<Option<Vec<Vec<(usize, TermId, usize)>>>, StopReason> {
    let mut states = vec![first];
    let (mut all, mut n_links) = (Vec::new(), 0);
    for _ in 0..n_variables {
        let mut numbers: HashMap<Left, usize> = HashMap::new();
        let mut next: Vec<Left> = Vec::new();
        let mut links = Vec::new();
        for (number, state) in states.iter().enumerate() {
            let said = state.iter().flatten().filter_map(|row| row[0].as_ref());
            let values: BTreeSet<TermId> = said.flatten().copied().collect();
            for value in values {
                pace.steps(1 + state.len())?;
                let left: Left = state.iter().map(|rows| rest(rows, value)).collect();
                if left.iter().any(BTreeSet::is_empty) {
                    continue;
                }
                let target = *numbers.entry(left).or_insert_with_key(|left| {
                    next.push(left.clone());
                    next.len() - 1
                });
                links.push((number, value, target));
                n_links += 1;
                if n_links > MAX_TRANSITIONS {
                    return Ok(None);
                }
            }
        }
        all.push(links);
        states = next;
    }
    Ok(Some(all))
}

/// Returns what is left of a lookup when its first variable has a value.
fn rest(
    rows: &BTreeSet<Vec<Option<BTreeSet<TermId>>>>,
    value: TermId,
) -> BTreeSet<Vec<Option<BTreeSet<TermId>>>> {
    let allows =
        |row: &&Vec<Option<BTreeSet<TermId>>>| row[0].as_ref().is_none_or(|it| it.contains(&value));
    rows.iter().filter(allows).map(|row| row[1..].to_vec()).collect()
}

/// Returns the relation of a table of links.
fn table_of(
    links: &[(usize, TermId, usize)],
    of: RelationId,
    span: Span,
    clauses: &mut Clauses,
    known: &mut HashMap<Vec<(usize, TermId, usize)>, RelationId>,
) -> RelationId {
    if let Some(&relation) = known.get(links) {
        return relation;
    }
    let relation = add(of, 3, true, clauses);
    for &(from, value, to) in links {
        let row = [state_term(from, clauses), value, state_term(to, clauses)];
        clauses.clauses.push(fact_clause(relation, &row, span));
    }
    known.insert(links.to_vec(), relation);
    relation
}

fn add(of: RelationId, arity: usize, is_static: bool, clauses: &mut Clauses) -> RelationId {
    let name = clauses.info(of).name;
    clauses.add_relation(RelationInfo {
        name,
        arity,
        is_static,
        is_lazy: false,
        is_guard: false,
        is_written: false,
        demand: None,
    })
}

fn fact_clause(relation: RelationId, row: &[TermId], span: Span) -> Clause {
    Clause {
        head: Atom { relation, args: row.iter().map(|&term| Pattern::Ground(term)).collect() },
        positives: Vec::new(),
        negatives: Vec::new(),
        distinct: Vec::new(),
        n_variables: 0,
        span,
    }
}

/// Returns the constant that stands for a state; no rulesheet can write its name.
fn state_term(number: usize, clauses: &mut Clauses) -> TermId {
    let name = clauses.terms.symbols_mut().intern(&format!("state {number}"));
    clauses.terms.compound(name, &[]).expect("there is room for a few constants")
}

#[cfg(test)]
mod tests {
    use ludex_base::{Deadline, Source};

    use super::*;
    use crate::clauses::{ROOTS, gather};

    /// Nine cells of a row with one of nine values each, as a sheet of the public corpus writes it.
    fn row_of_nine() -> String {
        let vars: Vec<String> = (1..=9).map(|n| format!("?x{n}")).collect();
        let others = |n: usize| -> String {
            vars.iter().enumerate().filter(|it| it.0 != n).map(|it| format!("{} ", it.1)).collect()
        };
        let one: String = (0..9)
            .map(|n| {
                format!("(<= (one ?z {}) (first ?z {} {}))\n", vars.join(" "), vars[n], others(n))
            })
            .collect();
        let apart: String =
            vars[1..].iter().map(|x| format!("(n {x}) (not (same ?z {x}))")).collect();
        let marks: String = (1..=9).map(|n| format!("(true (mark {n} ?x{n}))")).collect();
        let lookups: String = (1..=9).map(|z| format!("(one {z} {})", vars.join(" "))).collect();
        let facts: String = (1..=9).map(|n| format!("(n {n}) (same {n} {n}) ")).collect();
        format!(
            "(role r) {facts} {one} (<= (first ?z {}) (same ?z ?x1) {apart})
            (<= (legal r (put ?c ?v)) (n ?c) (n ?v)) (<= (next (mark ?c ?v)) (does r (put ?c ?v)))
            (<= (goal r 100) {marks} {lookups}) (goal r 0) (<= terminal (true (mark 1 1)))",
            vars.join(" ")
        )
    }

    #[test]
    fn a_permutation_of_nine_has_as_many_states_as_sets() {
        let (sheet, _) = ludex_gdl::parse_kif(&Source::new("test", row_of_nine()));
        let program = ludex_gdl::lower(&sheet).0;
        let mut clauses = gather(&program, &ROOTS).expect("the rules are short");
        let n_written = clauses.relations.len();
        let deadline = Deadline::never();
        replace(&mut clauses, &[], &Pace::new(&deadline, 1_000)).expect("nothing stops it");
        let is_link =
            |it: &&Clause| it.head.relation.index() >= n_written && it.head.args.len() == 3;
        let n_links =
            clauses.clauses.iter().filter(is_link).filter(|it| fact(it).is_some()).count();
        // From each set of values, one link for each value that is not in it.
        assert_eq!(n_links, 9 << 8);
        let lookups = clauses.clauses.iter().filter(|it| it.head.relation == Keyword::Goal.into());
        assert!(
            lookups.flat_map(|it| &it.positives).all(|it| it.atom.relation.index() >= n_written)
        );
    }
}
