//! The last step: fold what is always true or never true, and number what is left.
//!
//! An atom with an instance without conditions is true, one without instances is false, and each
//! such finding may shorten or remove other instances. A fluent that is neither in the initial
//! state nor ever derived for the next is never true; a move that is never legal is never played.

use std::sync::Arc;

use ludex_base::{FluentId, Goal, RoleId};
use ludex_gdl::{Keyword, RelationId, TermId};
use rustc_hash::FxHashSet;

use crate::clauses::RelationInfo;
use crate::instantiate::Instances;
use crate::limits::{GroundError, GroundLimits};
use crate::program::{
    AtomId, DerivedAtoms, GroundLiteral, GroundProgram, GroundSizes, StaticPairs, Vocabulary,
};
use crate::tables::Status;

/// What is known of an atom.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Value {
    Open,
    True,
    False,
}

pub(crate) fn simplify(
    instances: Instances,
    limits: &GroundLimits,
) -> Result<GroundProgram, GroundError> {
    let folded = Folding::run(&instances, limits)?;
    Ok(number(&instances, &folded))
}

/// What folding found.
struct Folding {
    values: Vec<Value>,
    /// Whether an instance can still fire.
    is_alive: Vec<bool>,
}

/// A compact list of lists.
struct Lists {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    fn new(n_lists: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut starts = vec![0_u32; n_lists + 1];
        pairs.clone().for_each(|(list, _)| starts[list as usize + 1] += 1);
        for list in 0..n_lists {
            starts[list + 1] += starts[list];
        }
        let mut fill = starts.clone();
        let mut items = vec![0; starts[n_lists] as usize];
        for (list, item) in pairs {
            items[fill[list as usize] as usize] = item;
            fill[list as usize] += 1;
        }
        Self { starts, items }
    }

    fn get(&self, list: usize) -> &[u32] {
        &self.items[self.starts[list] as usize..self.starts[list + 1] as usize]
    }
}

impl Instances {
    fn n_instances(&self) -> usize {
        self.heads.len()
    }

    fn body(&self, instance: usize) -> &[u32] {
        let start = if instance == 0 { 0 } else { self.ends[instance - 1] };
        &self.literals[start as usize..self.ends[instance] as usize]
    }

    fn tuple(&self, atom: u32) -> &[TermId] {
        let (relation, row) = self.atoms[atom as usize];
        self.tables[relation.index()].row(row)
    }

    fn status(&self, atom: u32) -> Status {
        let (relation, row) = self.atoms[atom as usize];
        self.tables[relation.index()].status(row)
    }

    /// The number of the atom of another relation with the same arguments.
    fn twin(&self, atom: u32, relation: RelationId) -> Option<u32> {
        let row = self.tables[relation.index()].find(self.tuple(atom))?;
        Some(self.ids[relation.index()][row as usize])
    }

    fn atoms_of(&self, keyword: Keyword) -> &[u32] {
        &self.ids[RelationId::from(keyword).index()]
    }

    fn is_initial(&self, fluent: TermId) -> bool {
        self.tables[RelationId::from(Keyword::Init).index()].find(&[fluent]).is_some()
    }
}

impl Folding {
    fn run(instances: &Instances, limits: &GroundLimits) -> Result<Self, GroundError> {
        let n_atoms = instances.atoms.len();
        let [is_true, does] = [Keyword::True, Keyword::Does].map(RelationId::from);
        let [next, legal] = [Keyword::Next, Keyword::Legal].map(RelationId::from);
        let literals = || {
            let mut instance = 0;
            instances.literals.iter().enumerate().map(move |(position, &literal)| {
                while instances.ends[instance] as usize <= position {
                    instance += 1;
                }
                (literal >> 1, (instance as u32) << 1 | literal & 1)
            })
        };
        let uses = Lists::new(n_atoms, literals().collect::<Vec<_>>().into_iter());
        let mut values = vec![Value::Open; n_atoms];
        let mut n_alive = vec![0_u32; n_atoms];
        let mut n_open: Vec<u32> = Vec::with_capacity(instances.n_instances());
        let mut is_alive = vec![true; instances.n_instances()];
        let mut queue: Vec<(u32, Value)> = Vec::new();
        for instance in 0..instances.n_instances() {
            let n_literals = instances.body(instance).len() as u32;
            n_open.push(n_literals);
            n_alive[instances.heads[instance] as usize] += 1;
            if n_literals == 0 {
                queue.push((instances.heads[instance], Value::True));
            }
        }
        for atom in 0..n_atoms as u32 {
            let (relation, _) = instances.atoms[atom as usize];
            let is_input = relation == is_true || relation == does;
            let is_never = if is_input {
                instances.status(atom) == Status::Mentioned
            } else {
                n_alive[atom as usize] == 0
            };
            if is_never {
                queue.push((atom, Value::False));
            }
        }

        let mut n_steps = 0_u32;
        while let Some((atom, value)) = queue.pop() {
            n_steps += 1;
            if n_steps.is_multiple_of(1 << 14) && limits.deadline.reached() {
                let n_rules = instances.n_instances();
                return Err(GroundError::OutOfTime { n_atoms, n_rules });
            }
            if values[atom as usize] != Value::Open {
                continue;
            }
            values[atom as usize] = value;
            for &used in uses.get(atom as usize) {
                let (instance, is_negated) = ((used >> 1) as usize, used & 1 != 0);
                if !is_alive[instance] {
                    continue;
                }
                let head = instances.heads[instance];
                if (value == Value::True) != is_negated {
                    n_open[instance] -= 1;
                    if n_open[instance] == 0 {
                        queue.push((head, Value::True));
                    }
                } else {
                    is_alive[instance] = false;
                    n_alive[head as usize] -= 1;
                    if n_alive[head as usize] == 0 {
                        queue.push((head, Value::False));
                    }
                }
            }
            let (relation, _) = instances.atoms[atom as usize];
            if value == Value::False && relation == next {
                let fluent = instances.tuple(atom)[0];
                if !instances.is_initial(fluent) {
                    queue.extend(instances.twin(atom, is_true).map(|twin| (twin, Value::False)));
                }
            } else if value == Value::False && relation == legal {
                queue.extend(instances.twin(atom, does).map(|twin| (twin, Value::False)));
            }
        }
        Ok(Self { values, is_alive })
    }

    fn is_false(&self, atom: u32) -> bool {
        self.values[atom as usize] == Value::False
    }
}

/// Gives the atoms that are left their final numbers.
fn number(instances: &Instances, folded: &Folding) -> GroundProgram {
    let terms = &instances.terms;
    let text = |term: TermId| terms.display(term).to_string();
    let roles = roles(instances);
    let role_of = |term: TermId| roles.iter().position(|&role| role == term).map(RoleId::new);

    // Fluents and moves.
    let mut fluents: Vec<(u32, TermId)> = instances
        .atoms_of(Keyword::True)
        .iter()
        .filter(|&&atom| !folded.is_false(atom))
        .map(|&atom| (atom, instances.tuple(atom)[0]))
        .collect();
    fluents.sort_by_cached_key(|&(_, term)| text(term));
    let with_role = |keyword: Keyword| {
        let mut list: Vec<(u32, RoleId, TermId)> = instances
            .atoms_of(keyword)
            .iter()
            .filter(|&&atom| !folded.is_false(atom))
            .filter_map(|&atom| {
                let tuple = instances.tuple(atom);
                Some((atom, role_of(tuple[0])?, tuple[1]))
            })
            .collect();
        list.sort_by_cached_key(|&(_, role, term)| (role, text(term)));
        list
    };
    let moves = with_role(Keyword::Does);
    let percepts = with_role(Keyword::Sees);
    let mut numbers = vec![u32::MAX; instances.atoms.len()];
    let inputs = fluents.iter().map(|&(atom, _)| atom).chain(moves.iter().map(|&(atom, ..)| atom));
    for (position, atom) in inputs.enumerate() {
        numbers[atom as usize] = position as u32;
    }

    // What is asked of the program, and what that depends on.
    let next: Vec<Option<u32>> =
        fluents.iter().map(|&(atom, _)| instances.twin(atom, Keyword::Next.into())).collect();
    let legal: Vec<Option<u32>> =
        moves.iter().map(|&(atom, ..)| instances.twin(atom, Keyword::Legal.into())).collect();
    let terminal =
        instances.atoms_of(Keyword::Terminal).first().copied().filter(|&a| !folded.is_false(a));
    let mut goals: Vec<(RoleId, Goal, u32)> = with_role(Keyword::Goal)
        .into_iter()
        .filter_map(|(atom, role, term)| Some((role, Goal::parse(&text(term))?, atom)))
        .collect();
    goals.sort_unstable();
    let outputs = (next.iter().chain(&legal).copied().flatten())
        .chain(terminal)
        .chain(goals.iter().map(|&(_, _, atom)| atom))
        .chain(percepts.iter().map(|&(atom, ..)| atom));
    let mut numbering = Numbering {
        instances,
        folded,
        rules: rules_by_head(instances, folded),
        numbers,
        derived: DerivedAtoms { atom_starts: vec![0], rule_starts: vec![0], ..Default::default() },
        first_derived: (fluents.len() + moves.len()) as u32,
        order: Vec::new(),
    };
    outputs.for_each(|atom| numbering.reach(atom));
    // Fluents that are initially true and then never again have no `next` atom.
    let never = numbering.needs_never(&next, &legal).then(|| numbering.never());
    numbering.write_rules();

    let id = |atom: u32| AtomId::new(numbering.numbers[atom as usize] as usize);
    let or_never = |atom: Option<u32>| {
        atom.filter(|&a| numbering.numbers[a as usize] != u32::MAX)
            .map_or_else(|| never.expect("it was made if it is needed"), id)
    };
    let init = (0..fluents.len())
        .filter(|&idx| instances.is_initial(fluents[idx].1))
        .map(FluentId::new)
        .collect();
    let n_static_atoms = instances
        .tables
        .iter()
        .zip(&instances.relations)
        .filter(|(_, info)| info.is_static)
        .map(|(table, _)| table.n_rows())
        .sum();
    GroundProgram {
        init,
        next: next.iter().map(|&atom| or_never(atom)).collect(),
        legal: legal.iter().map(|&atom| or_never(atom)).collect(),
        sees: percepts.iter().map(|&(atom, ..)| id(atom)).collect(),
        terminal: terminal.map(id),
        goals: goals.iter().map(|&(role, goal, atom)| (role, goal, id(atom))).collect(),
        has_percepts: !instances.atoms_of(Keyword::Sees).is_empty(),
        sizes: GroundSizes {
            n_static_atoms,
            n_atoms: instances.atoms.len(),
            n_instances: instances.n_instances(),
        },
        vocabulary: Arc::new(Vocabulary {
            fluents: fluents.into_iter().map(|(_, term)| term).collect(),
            moves: moves.into_iter().map(|(_, role, term)| (role, term)).collect(),
            percepts: percepts.into_iter().map(|(_, role, term)| (role, term)).collect(),
            roles,
            static_pairs: static_pairs(instances),
            terms: instances.terms.clone(),
        }),
        derived: numbering.derived,
    }
}

/// A relation of more pairs is no structure that anybody looks for, and not worth the memory.
const MAX_STATIC_PAIRS: usize = 10_000;

fn static_pairs(instances: &Instances) -> Vec<StaticPairs> {
    let is_asked = |info: &RelationInfo| info.is_static && info.is_written && info.arity == 2;
    (instances.relations.iter().zip(&instances.tables))
        .filter(|(info, table)| is_asked(info) && (1..=MAX_STATIC_PAIRS).contains(&table.n_rows()))
        .map(|(info, table)| {
            let is_derived = |row: &u32| table.status(*row) != Status::Mentioned;
            let rows = (0..table.n_rows() as u32).filter(is_derived).map(|row| table.row(row));
            StaticPairs { name: info.name, pairs: rows.map(|row| (row[0], row[1])).collect() }
        })
        .collect()
}

/// The roles: those that are stated in the order of the sheet, then those that are derived in the
/// order of their text.
fn roles(instances: &Instances) -> Vec<TermId> {
    let table = &instances.tables[RelationId::from(Keyword::Role).index()];
    (0..table.n_rows() as u32).map(|row| table.row(row)[0]).collect()
}

/// For each atom, its instances that can still fire; none for atoms that are always true.
fn rules_by_head(instances: &Instances, folded: &Folding) -> Lists {
    let pairs: Vec<(u32, u32)> = (0..instances.n_instances() as u32)
        .filter(|&instance| folded.is_alive[instance as usize])
        .map(|instance| (instances.heads[instance as usize], instance))
        .filter(|&(head, _)| folded.values[head as usize] == Value::Open)
        .collect();
    Lists::new(instances.atoms.len(), pairs.into_iter())
}

struct Numbering<'a> {
    instances: &'a Instances,
    folded: &'a Folding,
    rules: Lists,
    /// The final number of each atom; `u32::MAX` for those that are not needed.
    numbers: Vec<u32>,
    derived: DerivedAtoms,
    first_derived: u32,
    /// The derived atoms in the order of their numbers; `None` for the one that never holds.
    order: Vec<Option<u32>>,
}

impl Numbering<'_> {
    /// Numbers an atom and everything it depends on.
    fn reach(&mut self, atom: u32) {
        let mut open = vec![atom];
        while let Some(atom) = open.pop() {
            if self.numbers[atom as usize] != u32::MAX || self.folded.is_false(atom) {
                continue;
            }
            self.numbers[atom as usize] = self.first_derived + self.order.len() as u32;
            self.order.push(Some(atom));
            let (relation, _) = self.instances.atoms[atom as usize];
            let name = self.instances.relations[relation.index()].name;
            self.derived.names.push((name, self.instances.tuple(atom).into()));
            for &instance in self.rules.get(atom as usize) {
                let body = self.instances.body(instance as usize);
                let is_open = |atom: u32| self.folded.values[atom as usize] == Value::Open;
                open.extend(body.iter().map(|&literal| literal >> 1).filter(|&a| is_open(a)));
            }
        }
    }

    fn needs_never(&self, next: &[Option<u32>], legal: &[Option<u32>]) -> bool {
        next.iter()
            .chain(legal)
            .any(|atom| atom.is_none_or(|atom| self.numbers[atom as usize] == u32::MAX))
    }

    /// An atom that never holds.
    fn never(&mut self) -> AtomId {
        let name = self.instances.relations[RelationId::from(Keyword::Next).index()].name;
        self.derived.names.push((name, Box::default()));
        self.order.push(None);
        AtomId::new(self.first_derived as usize + self.order.len() - 1)
    }

    /// Writes the rules of the numbered atoms, each once.
    fn write_rules(&mut self) {
        let mut seen: FxHashSet<Vec<GroundLiteral>> = FxHashSet::default();
        for position in 0..self.order.len() {
            seen.clear();
            if let Some(atom) = self.order[position] {
                if self.folded.values[atom as usize] == Value::True {
                    self.derived.rule_starts.push(self.derived.literals.len() as u32);
                }
                for &instance in self.rules.get(atom as usize) {
                    let body = self.body(instance as usize);
                    if seen.insert(body.clone()) {
                        self.derived.literals.extend(body);
                        self.derived.rule_starts.push(self.derived.literals.len() as u32);
                    }
                }
            }
            self.derived.atom_starts.push(self.derived.rule_starts.len() as u32 - 1);
        }
    }

    /// The body of an instance without what always holds, sorted.
    fn body(&self, instance: usize) -> Vec<GroundLiteral> {
        let mut body: Vec<GroundLiteral> = self
            .instances
            .body(instance)
            .iter()
            .filter(|&&literal| self.folded.values[(literal >> 1) as usize] == Value::Open)
            .map(|&literal| {
                let atom = AtomId::new(self.numbers[(literal >> 1) as usize] as usize);
                GroundLiteral::new(atom, literal & 1 == 0)
            })
            .collect();
        body.sort_unstable();
        body.dedup();
        body
    }
}
