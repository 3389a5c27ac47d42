//! The sixth step: every rule instance that can ever fire.
//!
//! Static relations come first, component by component: their negations are decided at once. Then
//! all others are derived together, in a play without forgetting: `true` holds for every term that
//! `init` or `next` ever derives, `does` for every term that `legal` derives, and negations of
//! relations that depend on the state are assumed to be possible.
//!
//! Each atom is joined once with all atoms before it and itself, so that no instance of a rule is
//! found twice (semi-naive evaluation, one atom at a time). A literal before the one that matches
//! the new atom must match an older atom.
//!
//! Invariant: when [`instantiate`] returns, every rule instance that can fire has fired.

use std::collections::VecDeque;

use ludex_base::Symbol;
use ludex_base::graph::Graph;
use ludex_gdl::{Atom, Keyword, Pattern, RelationId, TermId, Terms};
use smallvec::SmallVec;

use crate::clauses::{Clause, Clauses, RelationInfo};
use crate::estimate::Stats;
use crate::join_plan::{JoinPlan, JoinPlanner, Key, Match, Step};
use crate::limits::{GroundError, GroundLimits, RulePlace};
use crate::split::Splitter;
use crate::tables::{END, KeyHash, Status, Table};

/// Number of joins between two checks of the limits.
const LIMIT_INTERVAL: u32 = 1 << 14;

/// All rule instances and atoms that were found.
pub(crate) struct Instances {
    pub terms: Terms,
    pub relations: Vec<RelationInfo>,
    pub tables: Vec<Table>,
    /// The atoms of relations that are not static, by number.
    pub atoms: Vec<(RelationId, u32)>,
    /// By relation and row, the number of the atom.
    pub ids: Vec<Vec<u32>>,
    pub heads: Vec<u32>,
    /// The end of the body of each instance in `literals`.
    pub ends: Vec<u32>,
    /// Numbers of atoms, doubled, plus one when negated.
    pub literals: Vec<u32>,
}

/// Finds the instances of all rules.
pub(crate) fn instantiate(
    mut clauses: Clauses,
    limits: &GroundLimits,
) -> Result<Instances, GroundError> {
    let (static_groups, dynamic) = group(&mut clauses);
    let mut stats = vec![Stats::Unknown { max_rows: f64::INFINITY }; clauses.relations.len()];
    let mut splitter = Splitter::default();
    let mut engine = Engine::new(&clauses, limits);
    for group in static_groups {
        let split = group
            .into_iter()
            .flat_map(|clause| splitter.split(clause, &mut clauses, &mut stats))
            .collect();
        engine.evaluate(split, &clauses, &mut stats)?;
    }
    let split: Vec<Clause> = dynamic
        .into_iter()
        .flat_map(|clause| splitter.split(clause, &mut clauses, &mut stats))
        .collect();
    let (static_parts, dynamic): (Vec<Clause>, Vec<Clause>) =
        split.into_iter().partition(|clause| clauses.info(clause.head.relation).is_static);
    engine.evaluate(static_parts, &clauses, &mut stats)?;
    engine.seed();
    engine.evaluate(dynamic, &clauses, &mut stats)?;
    Ok(engine.finish(clauses))
}

/// Evaluates only the static relations, and returns their terms and tables.
pub(crate) fn evaluate_static(
    mut clauses: Clauses,
    limits: &GroundLimits,
) -> Result<(Terms, Vec<Table>), GroundError> {
    let (groups, _) = group(&mut clauses);
    let mut stats = vec![Stats::Unknown { max_rows: f64::INFINITY }; clauses.relations.len()];
    let mut engine = Engine::new(&clauses, limits);
    for group in groups {
        engine.evaluate(group, &clauses, &mut stats)?;
    }
    Ok((engine.terms, engine.tables))
}

/// Splits the clauses: those of static relations by component, in order of evaluation, and all
/// others.
fn group(clauses: &mut Clauses) -> (Vec<Vec<Clause>>, Vec<Clause>) {
    let all = std::mem::take(&mut clauses.clauses);
    let edges: Vec<(u32, u32)> = all
        .iter()
        .flat_map(|clause| {
            let from = clause.head.relation.index() as u32;
            let positives = clause.positives.iter().map(|positive| &positive.atom);
            positives.chain(&clause.negatives).map(move |to| (from, to.relation.index() as u32))
        })
        .collect();
    let components = Graph::new(clauses.relations.len(), &edges).components();
    let mut group_of = vec![0; clauses.relations.len()];
    for (group_idx, component) in components.iter().enumerate() {
        component.iter().for_each(|&relation| group_of[relation as usize] = group_idx);
    }
    let mut groups = vec![Vec::new(); components.len()];
    let mut dynamic = Vec::new();
    for clause in all {
        let relation = clause.head.relation;
        if clauses.info(relation).is_static {
            groups[group_of[relation.index()]].push(clause);
        } else {
            dynamic.push(clause);
        }
    }
    groups.retain(|group| !group.is_empty());
    (groups, dynamic)
}

type Tuple = SmallVec<[TermId; 8]>;

struct Engine<'a> {
    limits: &'a GroundLimits,
    terms: Terms,
    tables: Vec<Table>,
    /// The names of the relations.
    names: Vec<Symbol>,
    /// Whether the atoms of a relation get numbers, as all that are not static do.
    is_numbered: Vec<bool>,
    is_guard: Vec<bool>,
    atoms: Vec<(RelationId, u32)>,
    ids: Vec<Vec<u32>>,
    heads: Vec<u32>,
    ends: Vec<u32>,
    literals: Vec<u32>,

    queue: VecDeque<(RelationId, u32)>,
    /// The values of the variables of the current clause.
    bindings: Vec<TermId>,
    /// The rows that its positive literals match.
    matched: Vec<u32>,
    new_row: u32,
    n_until_limits: u32,
}

/// The plans of some clauses; each plan comes with the index of its clause.
struct Plans {
    /// Plans of clauses without a literal that can be new; each is run once.
    at_once: Vec<(usize, JoinPlan)>,
    plans: Vec<(usize, JoinPlan)>,
    /// For each relation, the plans in which an atom of it is the new one.
    triggers: Vec<Vec<usize>>,
}

impl<'a> Engine<'a> {
    fn new(clauses: &Clauses, limits: &'a GroundLimits) -> Self {
        let mut engine = Self {
            limits,
            terms: clauses.terms.clone(),
            tables: Vec::new(),
            names: Vec::new(),
            is_numbered: Vec::new(),
            is_guard: Vec::new(),
            atoms: Vec::new(),
            ids: Vec::new(),
            heads: Vec::new(),
            ends: Vec::new(),
            literals: Vec::new(),
            queue: VecDeque::new(),
            bindings: Vec::new(),
            matched: Vec::new(),
            new_row: 0,
            n_until_limits: LIMIT_INTERVAL,
        };
        engine.add_relations(clauses);
        engine
    }

    /// Makes room for relations that were added.
    fn add_relations(&mut self, clauses: &Clauses) {
        for info in &clauses.relations[self.tables.len()..] {
            self.tables.push(Table::new(info.arity));
            self.names.push(info.name);
            self.is_numbered.push(!info.is_static);
            self.is_guard.push(info.is_guard);
            self.ids.push(Vec::new());
        }
    }

    /// Starts the play: the fluents of `init` are true.
    fn seed(&mut self) {
        let init = RelationId::from(Keyword::Init).index();
        for row in 0..self.tables[init].n_rows() as u32 {
            let tuple: Tuple = self.tables[init].row(row).into();
            self.derive(Keyword::True.into(), &tuple);
        }
    }

    /// Derives everything that these clauses derive; no other clauses may derive the same
    /// relations.
    fn evaluate(
        &mut self,
        clauses: Vec<Clause>,
        all: &Clauses,
        stats: &mut [Stats],
    ) -> Result<(), GroundError> {
        self.add_relations(all);
        let mut can_be_new = vec![false; self.tables.len()];
        clauses.iter().for_each(|clause| can_be_new[clause.head.relation.index()] = true);
        let is_dynamic = clauses.iter().any(|c| !all.info(c.head.relation).is_static);
        if is_dynamic {
            for keyword in [Keyword::True, Keyword::Does] {
                can_be_new[RelationId::from(keyword).index()] = true;
            }
        }

        let Plans { at_once, plans, triggers } = self.plan(&clauses, &can_be_new, all, stats);
        for (clause_idx, plan) in &at_once {
            self.begin(&clauses[*clause_idx]);
            self.join(&clauses[*clause_idx], plan, 0)?;
        }
        while let Some((relation, row)) = self.queue.pop_front() {
            self.tables[relation.index()].finish(row, &self.terms);
            for &plan_idx in &triggers[relation.index()] {
                let (clause_idx, plan) = &plans[plan_idx];
                let clause = &clauses[*clause_idx];
                self.begin(clause);
                self.new_row = row;
                let trigger = plan.trigger.as_ref().expect("a plan with a new atom has a trigger");
                if self.match_row(relation, row, trigger) {
                    self.matched[plan.trigger_idx] = row;
                    self.join(clause, plan, 0)?;
                }
            }
        }

        for (relation, table) in self.tables.iter().enumerate() {
            if can_be_new[relation] && !self.is_numbered[relation] {
                stats[relation] = Stats::Known {
                    n_rows: table.n_rows() as f64,
                    n_distinct: table.n_distinct().into_iter().map(|n| n as f64).collect(),
                };
            }
        }
        Ok(())
    }

    /// Plans the joins of clauses, one plan for each literal that can be new.
    fn plan(
        &mut self,
        clauses: &[Clause],
        can_be_new: &[bool],
        all: &Clauses,
        stats: &[Stats],
    ) -> Plans {
        let is_complete = |relation: RelationId| all.info(relation).is_static;
        let triggers = vec![Vec::new(); self.tables.len()];
        let mut planner = JoinPlanner {
            terms: &self.terms,
            tables: &mut self.tables,
            stats,
            is_complete: &is_complete,
        };
        let mut plans = Plans { at_once: Vec::new(), plans: Vec::new(), triggers };
        for (clause_idx, clause) in clauses.iter().enumerate() {
            let news: Vec<usize> = (0..clause.positives.len())
                .filter(|&idx| can_be_new[clause.positives[idx].atom.relation.index()])
                .collect();
            if news.is_empty() {
                plans.at_once.push((clause_idx, planner.plan(clause, None)));
            }
            for trigger_idx in news {
                let relation = clause.positives[trigger_idx].atom.relation;
                plans.triggers[relation.index()].push(plans.plans.len());
                plans.plans.push((clause_idx, planner.plan(clause, Some(trigger_idx))));
            }
        }
        plans
    }

    fn begin(&mut self, clause: &Clause) {
        self.bindings.clear();
        self.bindings.resize(clause.n_variables, TermId::new(0));
        self.matched.clear();
        self.matched.resize(clause.positives.len(), 0);
    }

    /// Runs the steps of a plan from `step_idx` on, for every match.
    fn join(
        &mut self,
        clause: &Clause,
        plan: &JoinPlan,
        step_idx: usize,
    ) -> Result<(), GroundError> {
        let Some(step) = plan.steps.get(step_idx) else {
            return self.fire(clause);
        };
        match step {
            Step::Scan { relation, index, keys, matches, literal_idx, excludes_new } => {
                let mut key = KeyHash::default();
                for part in keys {
                    key.add(match part {
                        Key::Ground(term) => *term,
                        Key::Variable(variable) => self.bindings[*variable as usize],
                    });
                }
                let mut next = self.tables[relation.index()].chain(*index, key.finish());
                while next != END {
                    let entry = self.tables[relation.index()].entry(*index, next);
                    next = entry.next;
                    if *excludes_new && entry.row == self.new_row {
                        continue;
                    }
                    if self.match_row(*relation, entry.row, matches) {
                        self.matched[*literal_idx] = entry.row;
                        self.join(clause, plan, step_idx + 1)?;
                    }
                }
                self.count_down()
            }
            Step::Find { atom, literal_idx, excludes_new } => {
                let Some(tuple) = self.existing_tuple(atom) else { return Ok(()) };
                let table = &self.tables[atom.relation.index()];
                match table.find(&tuple) {
                    Some(row) if table.status(row) == Status::Done => {
                        if *excludes_new && row == self.new_row {
                            return Ok(());
                        }
                        self.matched[*literal_idx] = row;
                        self.join(clause, plan, step_idx + 1)
                    }
                    _ => Ok(()),
                }
            }
            Step::Absent(atom) => {
                let table = &self.tables[atom.relation.index()];
                let is_there = self.existing_tuple(atom).is_some_and(|t| table.find(&t).is_some());
                if is_there { Ok(()) } else { self.join(clause, plan, step_idx + 1) }
            }
            Step::Distinct(left, right) => {
                let left = build(left, &self.bindings, &mut self.terms);
                let right = build(right, &self.bindings, &mut self.terms);
                if left == right { Ok(()) } else { self.join(clause, plan, step_idx + 1) }
            }
        }
    }

    /// Records an instance of the current clause under the bindings.
    fn fire(&mut self, clause: &Clause) -> Result<(), GroundError> {
        self.count_down()?;
        let relation = clause.head.relation;
        let tuple = self.new_tuple(clause, &clause.head)?;
        let head = self.derive(relation, &tuple);
        if !self.is_numbered[relation.index()] || self.is_guard[relation.index()] {
            return Ok(());
        }
        for (positive, &row) in clause.positives.iter().zip(&self.matched) {
            let relation = positive.atom.relation.index();
            if !positive.is_guard && self.is_numbered[relation] {
                self.literals.push(self.ids[relation][row as usize] << 1);
            }
        }
        for atom in &clause.negatives {
            if self.is_numbered[atom.relation.index()] {
                let tuple = self.new_tuple(clause, atom)?;
                let (row, before) =
                    self.tables[atom.relation.index()].insert(&tuple, Status::Mentioned);
                if before.is_none() {
                    self.number(atom.relation, row);
                }
                self.literals.push(self.ids[atom.relation.index()][row as usize] << 1 | 1);
            }
        }
        self.heads.push(self.ids[relation.index()][head as usize]);
        self.ends.push(self.literals.len() as u32);
        Ok(())
    }

    /// Adds an atom and what follows from it in some state; returns its row.
    fn derive(&mut self, relation: RelationId, tuple: &[TermId]) -> u32 {
        let (row, before) = self.tables[relation.index()].insert(tuple, Status::Queued);
        if before.is_none() && self.is_numbered[relation.index()] {
            self.number(relation, row);
        }
        if matches!(before, None | Some(Status::Mentioned)) {
            self.queue.push_back((relation, row));
            if relation == Keyword::Next.into() {
                self.derive(Keyword::True.into(), tuple);
            } else if relation == Keyword::Legal.into() {
                let is_role = self.tables[RelationId::from(Keyword::Role).index()]
                    .find(&tuple[..1])
                    .is_some();
                if is_role {
                    self.derive(Keyword::Does.into(), tuple);
                }
            }
        }
        row
    }

    fn number(&mut self, relation: RelationId, row: u32) {
        let ids = &mut self.ids[relation.index()];
        debug_assert_eq!(ids.len(), row as usize);
        ids.push(self.atoms.len() as u32);
        self.atoms.push((relation, row));
    }

    fn match_row(&mut self, relation: RelationId, row: u32, matches: &[Match]) -> bool {
        let Self { tables, terms, bindings, .. } = self;
        let row = tables[relation.index()].row(row);
        matches.iter().zip(row).all(|(it, &term)| match_term(it, term, terms, bindings))
    }

    /// Returns the tuple of an atom under the bindings, unless one of its terms does not exist.
    fn existing_tuple(&self, atom: &Atom) -> Option<Tuple> {
        atom.args.iter().map(|arg| existing(arg, &self.bindings, &self.terms)).collect()
    }

    /// Returns the tuple of an atom of a clause under the bindings, making its terms if necessary.
    fn new_tuple(&mut self, clause: &Clause, atom: &Atom) -> Result<Tuple, GroundError> {
        let mut tuple = Tuple::new();
        for arg in &atom.args {
            let term = build(arg, &self.bindings, &mut self.terms);
            if self.terms.depth(term) > self.limits.max_depth {
                let text = |symbol: Symbol| self.terms.symbols().name(symbol).to_owned();
                let relation = self.names[clause.head.relation.index()];
                return Err(GroundError::Unbounded {
                    term: text(self.terms.name(term)),
                    rule: RulePlace { relation, name: text(relation), span: clause.span },
                    max_depth: self.limits.max_depth,
                });
            }
            tuple.push(term);
        }
        Ok(tuple)
    }

    /// Checks the limits at regular intervals.
    fn count_down(&mut self) -> Result<(), GroundError> {
        self.n_until_limits -= 1;
        if self.n_until_limits > 0 {
            return Ok(());
        }
        self.n_until_limits = LIMIT_INTERVAL;
        let (n_atoms, n_rules) = (self.atoms.len(), self.heads.len());
        if self.limits.deadline.reached() {
            return Err(GroundError::OutOfTime { n_atoms, n_rules });
        }
        let n_rows: usize = self.tables.iter().map(Table::n_rows).sum();
        if n_rows > self.limits.max_atoms {
            return Err(GroundError::TooManyAtoms { max_atoms: self.limits.max_atoms });
        }
        // Simplifying needs about as much memory again for the instances.
        let n_bytes: usize = self.tables.iter().map(Table::n_bytes).sum::<usize>()
            + self.terms.len() * 32
            + (self.literals.capacity() + self.heads.capacity() + self.ends.capacity()) * 4 * 3
            + self.atoms.capacity() * 12;
        if n_bytes > self.limits.max_bytes || self.literals.len() > (u32::MAX / 2) as usize {
            let max_bytes = self.limits.max_bytes;
            return Err(GroundError::OutOfMemory { n_atoms, n_rules, max_bytes });
        }
        Ok(())
    }

    fn finish(self, clauses: Clauses) -> Instances {
        Instances {
            terms: self.terms,
            relations: clauses.relations,
            tables: self.tables,
            atoms: self.atoms,
            ids: self.ids,
            heads: self.heads,
            ends: self.ends,
            literals: self.literals,
        }
    }
}

fn match_term(it: &Match, term: TermId, terms: &Terms, bindings: &mut [TermId]) -> bool {
    match it {
        Match::Bind(variable) => {
            bindings[*variable as usize] = term;
            true
        }
        Match::Check(variable) => bindings[*variable as usize] == term,
        Match::Ground(ground) => *ground == term,
        Match::Compound(name, parts) => {
            let args = terms.args(term);
            terms.name(term) == *name
                && args.len() == parts.len()
                && parts.iter().zip(args).all(|(part, &arg)| match_term(part, arg, terms, bindings))
        }
    }
}

fn existing(pattern: &Pattern, bindings: &[TermId], terms: &Terms) -> Option<TermId> {
    match pattern {
        Pattern::Ground(term) => Some(*term),
        Pattern::Variable(variable) => Some(bindings[*variable as usize]),
        Pattern::Compound(name, args) => {
            let args: Option<Tuple> =
                args.iter().map(|arg| existing(arg, bindings, terms)).collect();
            terms.find(*name, &args?)
        }
    }
}

fn build(pattern: &Pattern, bindings: &[TermId], terms: &mut Terms) -> TermId {
    match pattern {
        Pattern::Ground(term) => *term,
        Pattern::Variable(variable) => bindings[*variable as usize],
        Pattern::Compound(name, args) => {
            let args: Tuple = args.iter().map(|arg| build(arg, bindings, terms)).collect();
            terms.compound(*name, &args)
        }
    }
}
