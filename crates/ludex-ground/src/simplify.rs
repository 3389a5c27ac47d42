//! The last step: folds what is always true or never true, and numbers the rest.
//!
//! An atom with an unconditional instance is true, one without instances is false, and each such
//! result may shorten or remove other instances. A fluent that is neither in the initial state nor
//! ever derived for the next is never true; a move that is never legal is never played.

use std::sync::Arc;

use ludex_base::ids::narrow;
use ludex_base::{FluentId, Goal, Limits, Pace, RoleId, StopReason};
use ludex_gdl::{Keyword, Program, RelationId, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::clauses::RelationInfo;
use crate::instantiate::Instances;
use crate::limits::{GroundError, Progress};
use crate::program::{
    AtomId, DerivedAtoms, GroundLiteral, GroundProgram, GroundSizes, StaticPairs, Vocabulary,
};
use crate::tables::{Status, Table};

/// The known value of an atom.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Value {
    Open,
    True,
    False,
}

pub(crate) fn simplify(
    program: &Program,
    instances: Instances,
    limits: &Limits,
) -> Result<GroundProgram, GroundError> {
    let pace = Pace::new(&limits.deadline, STEPS_PER_CHECK);
    let fold = || number(program, &instances, &Folding::run(&instances, &pace)?, &pace);
    fold().map_err(|reason| {
        let progress = Box::new(Progress {
            n_atoms: instances.tables.iter().map(Table::n_rows).sum(),
            n_rules: instances.n_instances(),
            largest: None,
            rule: None,
        });
        match reason {
            StopReason::Memory => {
                GroundError::OutOfMemory { progress, max_bytes: limits.max_bytes }
            }
            _ => GroundError::OutOfTime { progress },
        }
    })
}

/// Atoms, literals or instances between two checks of the deadline.
const STEPS_PER_CHECK: usize = 1 << 14;

/// The result of folding.
struct Folding {
    values: Vec<Value>,
    /// By instance, whether it can still fire.
    is_alive: Vec<bool>,
}

/// A compact list of lists.
struct Lists {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    fn new(n_lists: usize, pairs: &[(u32, u32)], pace: &Pace<'_>) -> Result<Self, StopReason> {
        let mut starts = vec![0_u32; n_lists + 1];
        pairs.iter().for_each(|&(list, _)| starts[list as usize + 1] += 1);
        pace.check()?;
        for list in 0..n_lists {
            starts[list + 1] += starts[list];
        }
        let mut fill = starts.clone();
        let mut items = vec![0; starts[n_lists] as usize];
        for &(list, item) in pairs {
            pace.step()?;
            items[fill[list as usize] as usize] = item;
            fill[list as usize] += 1;
        }
        Ok(Self { starts, items })
    }

    fn get(&self, list: usize) -> &[u32] {
        &self.items[self.starts[list] as usize..self.starts[list + 1] as usize]
    }
}

impl Instances {
    fn n_instances(&self) -> usize {
        self.heads.len()
    }

    /// Returns the numbers of all instances.
    fn ids(&self) -> std::ops::Range<u32> {
        0..narrow(self.n_instances())
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

    /// Returns the number of the atom of another relation with the same arguments.
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
    fn run(instances: &Instances, pace: &Pace<'_>) -> Result<Self, StopReason> {
        let mut folder = Folder::new(instances, pace)?;
        while let Some((atom, value)) = folder.queue.pop() {
            pace.steps(1 + folder.uses.get(atom as usize).len())?;
            if folder.values[atom as usize] == Value::Open {
                folder.values[atom as usize] = value;
                folder.update_instances(atom, value);
                folder.update_twin(atom, value);
            }
        }
        Ok(Self { values: folder.values, is_alive: folder.is_alive })
    }

    fn is_false(&self, atom: u32) -> bool {
        self.values[atom as usize] == Value::False
    }
}

/// The state of folding.
struct Folder<'a> {
    instances: &'a Instances,
    /// For each atom, the instances whose bodies contain it, doubled, plus one where it is negated.
    uses: Lists,
    values: Vec<Value>,
    is_alive: Vec<bool>,
    /// For each atom, its instances that can still fire.
    n_alive: Vec<u32>,
    /// For each instance, its literals that are not known to be true.
    n_open: Vec<u32>,
    /// Values that are known but not propagated yet.
    queue: Vec<(u32, Value)>,
}

impl<'a> Folder<'a> {
    fn new(instances: &'a Instances, pace: &Pace<'_>) -> Result<Self, StopReason> {
        let n_atoms = instances.atoms.len();
        let mut literals = Vec::with_capacity(instances.literals.len());
        for instance in instances.ids() {
            let body = instances.body(instance as usize);
            pace.steps(1 + body.len())?;
            literals.extend(body.iter().map(|&it| (it >> 1, instance << 1 | it & 1)));
        }
        let mut folder = Self {
            instances,
            uses: Lists::new(n_atoms, &literals, pace)?,
            values: vec![Value::Open; n_atoms],
            is_alive: vec![true; instances.n_instances()],
            n_alive: vec![0; n_atoms],
            n_open: Vec::with_capacity(instances.n_instances()),
            queue: Vec::new(),
        };
        folder.queue_facts();
        pace.check()?;
        folder.queue_underivable();
        Ok(folder)
    }

    /// Counts the literals of all instances; one without any makes its head true.
    fn queue_facts(&mut self) {
        for instance in 0..self.instances.n_instances() {
            let n_literals = narrow(self.instances.body(instance).len());
            let head = self.instances.heads[instance];
            self.n_open.push(n_literals);
            self.n_alive[head as usize] += 1;
            if n_literals == 0 {
                self.queue.push((head, Value::True));
            }
        }
    }

    /// Queues as false the atoms without an instance, and the fluents and moves that only occur in
    /// bodies.
    fn queue_underivable(&mut self) {
        let inputs = [Keyword::True, Keyword::Does].map(RelationId::from);
        for atom in 0..narrow(self.instances.atoms.len()) {
            let (relation, _) = self.instances.atoms[atom as usize];
            let is_never = if inputs.contains(&relation) {
                self.instances.status(atom) == Status::Mentioned
            } else {
                self.n_alive[atom as usize] == 0
            };
            if is_never {
                self.queue.push((atom, Value::False));
            }
        }
    }

    /// Shortens or removes the instances whose bodies contain the atom.
    fn update_instances(&mut self, atom: u32, value: Value) {
        for &used in self.uses.get(atom as usize) {
            let (instance, is_negated) = ((used >> 1) as usize, used & 1 != 0);
            if !self.is_alive[instance] {
                continue;
            }
            let head = self.instances.heads[instance];
            if (value == Value::True) != is_negated {
                self.n_open[instance] -= 1;
                if self.n_open[instance] == 0 {
                    self.queue.push((head, Value::True));
                }
            } else {
                self.is_alive[instance] = false;
                self.n_alive[head as usize] -= 1;
                if self.n_alive[head as usize] == 0 {
                    self.queue.push((head, Value::False));
                }
            }
        }
    }

    /// Propagates to the twin: a fluent that is never derived for the next state and not initially
    /// true is never true; a move that is never legal is never played.
    fn update_twin(&mut self, atom: u32, value: Value) {
        if value != Value::False {
            return;
        }
        let (relation, _) = self.instances.atoms[atom as usize];
        let twin = if relation == Keyword::Next.into() {
            let is_initial = self.instances.is_initial(self.instances.tuple(atom)[0]);
            (!is_initial).then(|| self.instances.twin(atom, Keyword::True.into())).flatten()
        } else if relation == Keyword::Legal.into() {
            self.instances.twin(atom, Keyword::Does.into())
        } else {
            None
        };
        self.queue.extend(twin.map(|twin| (twin, Value::False)));
    }
}

/// Assigns the remaining atoms their final numbers.
fn number(
    program: &Program,
    instances: &Instances,
    folded: &Folding,
    pace: &Pace<'_>,
) -> Result<GroundProgram, StopReason> {
    let inputs = Inputs::new(program, instances, folded);
    pace.check()?;
    let outputs = Outputs::new(instances, folded, &inputs);
    pace.check()?;
    let mut numbering = Numbering::new(instances, folded, &inputs, pace)?;
    for atom in outputs.atoms() {
        numbering.reach(atom, pace)?;
    }
    // Fluents that are initially true and then never again have no `next` atom.
    let never = numbering.needs_never(&outputs).then(|| numbering.never());
    numbering.write_rules(pace)?;
    Ok(finish(inputs, outputs, numbering, never))
}

/// An atom with a role and a term, such as `(does ROLE TERM)`.
type OfRole = (u32, RoleId, TermId);

/// The remaining fluents and moves, sorted as in the vocabulary.
struct Inputs {
    roles: Vec<TermId>,
    fluents: Vec<(u32, TermId)>,
    moves: Vec<OfRole>,
}

impl Inputs {
    fn new(program: &Program, instances: &Instances, folded: &Folding) -> Self {
        let derived = &instances.tables[RelationId::from(Keyword::Role).index()];
        let roles = program.ordered_roles(&instances.terms, derived.rows().map(|row| row[0]));
        let mut fluents: Vec<(u32, TermId)> = instances
            .atoms_of(Keyword::True)
            .iter()
            .filter(|&&atom| !folded.is_false(atom))
            .map(|&atom| (atom, instances.tuple(atom)[0]))
            .collect();
        fluents.sort_by(|&(_, a), &(_, b)| instances.terms.compare_texts(a, b));
        let moves = of_roles(instances, folded, &roles, Keyword::Does);
        Self { roles, fluents, moves }
    }

    /// Iterates over the atoms in the order of their final numbers.
    fn atoms(&self) -> impl Iterator<Item = u32> + '_ {
        let fluents = self.fluents.iter().map(|&(atom, _)| atom);
        fluents.chain(self.moves.iter().map(|&(atom, ..)| atom))
    }
}

/// Returns the remaining atoms of a keyword with their roles, sorted by role and text. Atoms whose
/// first argument is not a role are left out.
fn of_roles(
    instances: &Instances,
    folded: &Folding,
    roles: &[TermId],
    keyword: Keyword,
) -> Vec<OfRole> {
    let ids: FxHashMap<TermId, RoleId> =
        roles.iter().enumerate().map(|(idx, &role)| (role, RoleId::new(idx))).collect();
    let role_of = |term: TermId| ids.get(&term).copied();
    let mut list: Vec<OfRole> = instances
        .atoms_of(keyword)
        .iter()
        .filter(|&&atom| !folded.is_false(atom))
        .filter_map(|&atom| {
            let tuple = instances.tuple(atom);
            Some((atom, role_of(tuple[0])?, tuple[1]))
        })
        .collect();
    let compare = |&(_, role, term): &OfRole, &(_, other_role, other): &OfRole| {
        role.cmp(&other_role).then_with(|| instances.terms.compare_texts(term, other))
    };
    list.sort_by(compare);
    list
}

/// The atoms that play asks for.
struct Outputs {
    /// By fluent; `None` if no rule derives it for the next state.
    next: Vec<Option<u32>>,
    /// By move.
    legal: Vec<Option<u32>>,
    terminal: Option<u32>,
    goals: Vec<(RoleId, Goal, u32)>,
    percepts: Vec<OfRole>,
}

impl Outputs {
    fn new(instances: &Instances, folded: &Folding, inputs: &Inputs) -> Self {
        let twin = |atom: u32, keyword: Keyword| instances.twin(atom, keyword.into());
        let terminal = instances.atoms_of(Keyword::Terminal).first().copied();
        let goal = |(atom, role, term): OfRole| {
            Some((role, Goal::parse(&instances.terms.display(term).to_string())?, atom))
        };
        let goals = of_roles(instances, folded, &inputs.roles, Keyword::Goal);
        let mut goals: Vec<(RoleId, Goal, u32)> = goals.into_iter().filter_map(goal).collect();
        goals.sort_unstable();
        Self {
            next: inputs.fluents.iter().map(|&(atom, _)| twin(atom, Keyword::Next)).collect(),
            legal: inputs.moves.iter().map(|&(atom, ..)| twin(atom, Keyword::Legal)).collect(),
            terminal: terminal.filter(|&atom| !folded.is_false(atom)),
            goals,
            percepts: of_roles(instances, folded, &inputs.roles, Keyword::Sees),
        }
    }

    fn atoms(&self) -> impl Iterator<Item = u32> + '_ {
        (self.next.iter().chain(&self.legal).copied().flatten())
            .chain(self.terminal)
            .chain(self.goals.iter().map(|&(_, _, atom)| atom))
            .chain(self.percepts.iter().map(|&(atom, ..)| atom))
    }
}

/// Assembles the ground program.
fn finish(
    inputs: Inputs,
    outputs: Outputs,
    numbering: Numbering<'_>,
    never: Option<AtomId>,
) -> GroundProgram {
    let Inputs { roles, fluents, moves } = inputs;
    let Outputs { next, legal, terminal, goals, percepts } = outputs;
    let instances = numbering.instances;
    let id = |atom: u32| AtomId::new(numbering.numbers[atom as usize] as usize);
    let or_never = |atom: Option<u32>| {
        atom.filter(|&a| numbering.numbers[a as usize] != u32::MAX)
            .map_or_else(|| never.expect("the atom `never` exists if it is needed"), id)
    };
    let init = (0..fluents.len())
        .filter(|&idx| instances.is_initial(fluents[idx].1))
        .map(FluentId::new)
        .collect();
    GroundProgram {
        init,
        next: next.into_iter().map(or_never).collect(),
        legal: legal.into_iter().map(or_never).collect(),
        sees: percepts.iter().map(|&(atom, ..)| id(atom)).collect(),
        terminal: terminal.map(id),
        goals: goals.into_iter().map(|(role, goal, atom)| (role, goal, id(atom))).collect(),
        has_percepts: !instances.atoms_of(Keyword::Sees).is_empty(),
        sizes: GroundSizes {
            n_static_atoms: n_static_atoms(instances),
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

fn n_static_atoms(instances: &Instances) -> usize {
    let tables = instances.tables.iter().zip(&instances.relations);
    tables.filter(|(_, info)| info.is_static).map(|(table, _)| table.n_rows()).sum()
}

/// Larger relations are not kept: they show no structure of a game and are not worth the memory.
const MAX_STATIC_PAIRS: usize = 10_000;

fn static_pairs(instances: &Instances) -> Vec<StaticPairs> {
    let is_asked = |info: &RelationInfo| info.is_static && info.is_written && info.arity == 2;
    (instances.relations.iter().zip(&instances.tables))
        .filter(|(info, table)| is_asked(info) && (1..=MAX_STATIC_PAIRS).contains(&table.n_rows()))
        .map(|(info, table)| {
            let is_derived = |row: &u32| table.status(*row) != Status::Mentioned;
            let rows = table.row_ids().filter(is_derived).map(|row| table.row(row));
            StaticPairs { name: info.name, pairs: rows.map(|row| (row[0], row[1])).collect() }
        })
        .collect()
}

/// Returns for each atom its instances that can still fire; none for atoms that are always true.
fn rules_by_head(
    instances: &Instances,
    folded: &Folding,
    pace: &Pace<'_>,
) -> Result<Lists, StopReason> {
    let pairs: Vec<(u32, u32)> = instances
        .ids()
        .filter(|&instance| folded.is_alive[instance as usize])
        .map(|instance| (instances.heads[instance as usize], instance))
        .filter(|&(head, _)| folded.values[head as usize] == Value::Open)
        .collect();
    Lists::new(instances.atoms.len(), &pairs, pace)
}

struct Numbering<'a> {
    instances: &'a Instances,
    folded: &'a Folding,
    rules: Lists,
    /// The final number of each atom; `u32::MAX` for those that are not needed.
    numbers: Vec<u32>,
    derived: DerivedAtoms,
    first_derived: u32,
    /// The derived atoms in the order of their numbers; `None` for the one that is never true.
    order: Vec<Option<u32>>,
}

impl<'a> Numbering<'a> {
    /// Assigns the first numbers to the inputs.
    fn new(
        instances: &'a Instances,
        folded: &'a Folding,
        inputs: &Inputs,
        pace: &Pace<'_>,
    ) -> Result<Self, StopReason> {
        let mut numbers = vec![u32::MAX; instances.atoms.len()];
        for (position, atom) in inputs.atoms().enumerate() {
            numbers[atom as usize] = narrow(position);
        }
        Ok(Self {
            instances,
            folded,
            rules: rules_by_head(instances, folded, pace)?,
            numbers,
            derived: DerivedAtoms {
                atom_starts: vec![0],
                rule_starts: vec![0],
                ..Default::default()
            },
            first_derived: narrow(inputs.fluents.len() + inputs.moves.len()),
            order: Vec::new(),
        })
    }

    /// Numbers an atom and everything it depends on.
    fn reach(&mut self, atom: u32, pace: &Pace<'_>) -> Result<(), StopReason> {
        let mut open = vec![atom];
        while let Some(atom) = open.pop() {
            pace.step()?;
            if self.numbers[atom as usize] != u32::MAX || self.folded.is_false(atom) {
                continue;
            }
            self.numbers[atom as usize] = self.first_derived + narrow(self.order.len());
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
        Ok(())
    }

    fn needs_never(&self, outputs: &Outputs) -> bool {
        (outputs.next.iter().chain(&outputs.legal))
            .any(|atom| atom.is_none_or(|atom| self.numbers[atom as usize] == u32::MAX))
    }

    /// Adds an atom that is never true.
    fn never(&mut self) -> AtomId {
        let name = self.instances.relations[RelationId::from(Keyword::Next).index()].name;
        self.derived.names.push((name, Box::default()));
        self.order.push(None);
        AtomId::new(self.first_derived as usize + self.order.len() - 1)
    }

    /// Writes the rules of the numbered atoms, each once.
    fn write_rules(&mut self, pace: &Pace<'_>) -> Result<(), StopReason> {
        let mut seen: FxHashSet<Vec<GroundLiteral>> = FxHashSet::default();
        for position in 0..self.order.len() {
            seen.clear();
            if let Some(atom) = self.order[position] {
                if self.folded.values[atom as usize] == Value::True {
                    self.derived.rule_starts.push(narrow(self.derived.literals.len()));
                }
                for &instance in self.rules.get(atom as usize) {
                    let body = self.body(instance as usize);
                    pace.steps(1 + body.len())?;
                    if seen.insert(body.clone()) {
                        self.derived.literals.extend(body);
                        self.derived.rule_starts.push(narrow(self.derived.literals.len()));
                    }
                }
            }
            self.derived.atom_starts.push(narrow(self.derived.rule_starts.len() - 1));
        }
        Ok(())
    }

    /// Returns the body of an instance without literals that are always true, sorted.
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
