//! The seventh step: every rule instance that can ever fire.
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

use ludex_base::diagnostic::shortened;
use ludex_base::graph::Graph;
use ludex_base::ids::narrow;
use ludex_base::{Limits, Pace, Span, StopReason, Symbol};
use ludex_gdl::{Atom, Keyword, Pattern, RelationId, RulePlace, TermId, Terms};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::clauses::{Clause, Clauses, RelationInfo};
use crate::estimate::{Found, Stats};
use crate::join_plan::{JoinPlan, JoinPlanner, Key, Match, Step};
use crate::limits::{GroundError, Progress};
use crate::split::Splitter;
use crate::tables::{END, KeyHash, Status, Table};

/// Rows and rule instances between two checks of the limits.
const LIMIT_INTERVAL: u32 = 1 << 14;

/// Rules, or ways to split a rule, between two checks of the deadline.
const RULES_PER_CHECK: usize = 1 << 8;

/// Largest number of atoms, whatever [`Sizes`](ludex_base::Sizes) allows: a literal is a number of
/// 32 bits, with one bit for its sign.
const MAX_ATOMS: usize = 1 << 31;

/// Why instantiating has stopped.
pub(crate) struct Halt {
    pub error: GroundError,
    /// If the work or the atoms have become too much for an attempt: by relation, what it has found.
    pub found: Option<Vec<Found>>,
}

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

/// Finds the instances of all rules, with at most `max_steps` steps of joins.
pub(crate) fn instantiate(
    clauses: Clauses,
    limits: &Limits,
    max_steps: u64,
) -> Result<Instances, Halt> {
    let mut engine = Engine::new(&clauses, limits);
    engine.max_steps = max_steps;
    let n_relations = clauses.relations.len();
    match engine.instantiate(clauses) {
        Ok(clauses) => Ok(engine.finish(clauses)),
        Err(error) => {
            let found = |idx: usize| Found {
                is_finished: engine.is_finished[idx],
                n_rows: engine.tables[idx].n_rows(),
            };
            let is_full =
                matches!(error, GroundError::TooManyAtoms { .. } | GroundError::OutOfMemory { .. });
            let has_overrun = engine.n_steps() > max_steps || is_full;
            let found = has_overrun.then(|| (0..n_relations).map(found).collect());
            Err(Halt { error, found })
        }
    }
}

/// Evaluates only the static relations, and returns their terms and tables.
pub(crate) fn evaluate_static(
    mut clauses: Clauses,
    limits: &Limits,
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
            let from = narrow(clause.head.relation.index());
            let positives = clause.positives.iter().map(|positive| &positive.atom);
            positives.chain(&clause.negatives).map(move |to| (from, narrow(to.relation.index())))
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

/// There may be no more atoms.
struct Full;

struct Engine<'a> {
    limits: &'a Limits,
    max_atoms: usize,
    terms: Terms,
    tables: Vec<Table>,
    /// The names of the relations.
    names: Vec<Symbol>,
    /// Whether the atoms of a relation get numbers, as all that are not static do.
    is_numbered: Vec<bool>,
    is_guard: Vec<bool>,
    /// The demand of each relation that is derived on demand.
    demands: Vec<Option<(RelationId, Vec<usize>)>>,
    atoms: Vec<(RelationId, u32)>,
    ids: Vec<Vec<u32>>,
    heads: Vec<u32>,
    ends: Vec<u32>,
    literals: Vec<u32>,
    /// Atoms of all relations.
    n_rows: usize,

    /// Of the clauses that are being evaluated: the relations that they derive, or that follow.
    can_be_new: Vec<bool>,
    /// For each relation, the plans in which an atom of it is the new one.
    triggers: Vec<Triggers>,
    queue: VecDeque<(RelationId, u32)>,
    /// The values of the variables of the current clause.
    bindings: Vec<TermId>,
    /// The rows that its positive literals match.
    matched: Vec<u32>,
    new_row: u32,
    n_until_limits: u32,
    /// Checks of the limits so far.
    n_checks: u64,
    /// The steps after which the attempt is given up.
    max_steps: u64,
    /// By relation, whether it is complete.
    is_finished: Vec<bool>,
}

/// The plans in which an atom of a relation is the new one.
///
/// A rulesheet may have many rules that differ only in a name, such as one for each cell. Those that
/// start with another name than the new atom has are not tried.
#[derive(Default)]
struct Triggers {
    /// Plans that start with any atom.
    any: Vec<usize>,
    /// By place of a name in the atom, the plans that start with an atom that has this term there.
    by_name: Vec<(Path, FxHashMap<TermId, Vec<usize>>)>,
}

/// A place in an atom: an argument of the relation, an argument of that argument, and so on.
type Path = SmallVec<[usize; 4]>;

impl Triggers {
    fn add(&mut self, plan_idx: usize, plan: &JoinPlan) {
        let trigger = plan.trigger.as_deref().unwrap_or_default();
        let Some((path, term)) = first_ground(trigger) else {
            self.any.push(plan_idx);
            return;
        };
        let known = self.by_name.iter().position(|(other, _)| *other == path);
        let idx = known.unwrap_or_else(|| {
            self.by_name.push((path, FxHashMap::default()));
            self.by_name.len() - 1
        });
        self.by_name[idx].1.entry(term).or_default().push(plan_idx);
    }

    /// Collects the plans that a row may start, ascending.
    fn find(&self, row: &[TermId], terms: &Terms, found: &mut Vec<usize>) {
        found.clear();
        found.extend(&self.any);
        for (path, plans) in &self.by_name {
            let term = subterm(row, path, terms);
            found.extend(term.and_then(|term| plans.get(&term)).into_iter().flatten());
        }
        found.sort_unstable();
    }
}

/// Returns the first place at which the patterns have a term, and the term.
fn first_ground(patterns: &[Match]) -> Option<(Path, TermId)> {
    patterns.iter().enumerate().find_map(|(idx, pattern)| match pattern {
        Match::Ground(term) => Some((Path::from_slice(&[idx]), *term)),
        Match::Compound(_, parts) => first_ground(parts).map(|(mut path, term)| {
            path.insert(0, idx);
            (path, term)
        }),
        Match::Bind(_) | Match::Check(_) => None,
    })
}

/// Returns the term at a place, if there is one.
fn subterm<'a>(mut row: &'a [TermId], path: &[usize], terms: &'a Terms) -> Option<TermId> {
    let (&last, before) = path.split_last()?;
    for &idx in before {
        row = terms.args(*row.get(idx)?);
    }
    row.get(last).copied()
}

/// The plans of some clauses; each plan comes with the index of its clause.
struct Plans {
    /// Plans of clauses without a literal that can be new; each is run once.
    at_once: Vec<(usize, JoinPlan)>,
    plans: Vec<(usize, JoinPlan)>,
}

impl<'a> Engine<'a> {
    fn new(clauses: &Clauses, limits: &'a Limits) -> Self {
        let mut engine = Self {
            limits,
            max_atoms: limits.sizes.atoms.min(MAX_ATOMS),
            terms: clauses.terms.clone(),
            tables: Vec::new(),
            names: Vec::new(),
            is_numbered: Vec::new(),
            is_guard: Vec::new(),
            demands: Vec::new(),
            atoms: Vec::new(),
            ids: Vec::new(),
            heads: Vec::new(),
            ends: Vec::new(),
            literals: Vec::new(),
            n_rows: 0,
            can_be_new: Vec::new(),
            triggers: Vec::new(),
            queue: VecDeque::new(),
            bindings: Vec::new(),
            matched: Vec::new(),
            new_row: 0,
            n_until_limits: LIMIT_INTERVAL,
            n_checks: 0,
            max_steps: u64::MAX,
            is_finished: Vec::new(),
        };
        engine.add_relations(clauses);
        engine
    }

    /// Finds the instances of all rules, and returns the clauses with those that were added.
    fn instantiate(&mut self, mut clauses: Clauses) -> Result<Clauses, GroundError> {
        let role_rule = clauses.place_of(Keyword::Role);
        let init_rule = clauses.place_of(Keyword::Init);
        let (static_groups, dynamic) = group(&mut clauses);
        let mut stats = vec![Stats::Unknown { max_rows: f64::INFINITY }; clauses.relations.len()];
        let mut splitter = Splitter::default();
        let pace = Pace::new(&self.limits.deadline, RULES_PER_CHECK);
        let mut split_all = |group: Vec<Clause>, clauses: &mut Clauses, stats: &mut Vec<Stats>| {
            let mut split = Vec::new();
            for clause in group {
                let (relation, span) = (clause.head.relation, clause.span);
                let stopped = |reason| (reason, relation, span);
                pace.step().map_err(stopped)?;
                split.extend(splitter.split(clause, clauses, stats, &pace).map_err(stopped)?);
            }
            Ok(split)
        };
        for group in static_groups {
            let split =
                split_all(group, &mut clauses, &mut stats).map_err(|at| self.stopped(at))?;
            self.evaluate(split, &clauses, &mut stats)?;
        }
        self.check_roles(&role_rule)?;
        let split: Vec<Clause> =
            split_all(dynamic, &mut clauses, &mut stats).map_err(|at| self.stopped(at))?;
        let (static_parts, dynamic): (Vec<Clause>, Vec<Clause>) =
            split.into_iter().partition(|clause| clauses.info(clause.head.relation).is_static);
        self.evaluate(static_parts, &clauses, &mut stats)?;
        self.seed(&init_rule)?;
        self.evaluate(dynamic, &clauses, &mut stats)?;
        self.check_roles(&role_rule)?;
        Ok(clauses)
    }

    /// Makes room for relations that were added.
    fn add_relations(&mut self, clauses: &Clauses) {
        for info in &clauses.relations[self.tables.len()..] {
            self.tables.push(Table::new(info.arity));
            self.names.push(info.name);
            self.is_numbered.push(!info.is_static && !info.is_lazy);
            self.demands.push(info.demand.clone());
            self.is_guard.push(info.is_guard);
            self.ids.push(Vec::new());
            self.can_be_new.push(false);
            self.is_finished.push(false);
            self.triggers.push(Triggers::default());
        }
    }

    /// Starts the play: the fluents of `init` are true.
    fn seed(&mut self, init_rule: &RulePlace) -> Result<(), GroundError> {
        let init = RelationId::from(Keyword::Init).index();
        for row in self.tables[init].row_ids() {
            let tuple: Tuple = self.tables[init].row(row).into();
            self.derive(Keyword::True.into(), &tuple)
                .map_err(|Full| self.too_many_atoms(Some(init_rule.clone())))?;
        }
        Ok(())
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
        // What is derived here, which may be a small part of all relations.
        let mut derived: Vec<RelationId> = clauses.iter().map(|it| it.head.relation).collect();
        let is_dynamic = derived.iter().any(|&relation| !all.info(relation).is_static);
        if is_dynamic {
            derived.extend([Keyword::True, Keyword::Does].map(RelationId::from));
            // What occurs negated is asked for without a rule.
            derived.extend(self.demands.iter().flatten().map(|(demand, _)| *demand));
        }
        derived.sort_unstable();
        derived.dedup();
        derived.iter().for_each(|relation| self.can_be_new[relation.index()] = true);

        let Plans { at_once, plans } = self.plan(&clauses, all, stats)?;
        for (clause_idx, plan) in &at_once {
            self.begin(&clauses[*clause_idx]);
            self.join(&clauses[*clause_idx], plan, 0)?;
        }
        let mut fitting = Vec::new();
        while let Some((relation, row)) = self.queue.pop_front() {
            let table = &mut self.tables[relation.index()];
            table.finish(row, &self.terms);
            self.triggers[relation.index()].find(table.row(row), &self.terms, &mut fitting);
            for &plan_idx in &fitting {
                let (clause_idx, plan) = &plans[plan_idx];
                let clause = &clauses[*clause_idx];
                self.count_down(clause)?;
                self.begin(clause);
                self.new_row = row;
                let trigger = plan.trigger.as_ref().expect("a plan with a new atom has a trigger");
                if self.match_row(relation, row, trigger) {
                    self.matched[plan.trigger_idx] = row;
                    self.join(clause, plan, 0)?;
                }
            }
        }

        for relation in derived.into_iter().map(RelationId::index) {
            self.can_be_new[relation] = false;
            self.is_finished[relation] = true;
            self.triggers[relation] = Triggers::default();
            if !self.is_numbered[relation] {
                let table = &self.tables[relation];
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
        all: &Clauses,
        stats: &[Stats],
    ) -> Result<Plans, GroundError> {
        let is_complete = |relation: RelationId| all.info(relation).is_static;
        let pace = Pace::new(&self.limits.deadline, RULES_PER_CHECK);
        let mut planner = JoinPlanner {
            terms: &self.terms,
            tables: &mut self.tables,
            stats,
            is_complete: &is_complete,
        };
        let mut plans = Plans { at_once: Vec::new(), plans: Vec::new() };
        for (clause_idx, clause) in clauses.iter().enumerate() {
            let news: Vec<usize> = (0..clause.positives.len())
                .filter(|&idx| self.can_be_new[clause.positives[idx].atom.relation.index()])
                .collect();
            if let Err(reason) = pace.steps(1 + news.len()) {
                return Err(self.stopped((reason, clause.head.relation, clause.span)));
            }
            if news.is_empty() {
                plans.at_once.push((clause_idx, planner.plan(clause, None)));
            }
            for trigger_idx in news {
                let relation = clause.positives[trigger_idx].atom.relation;
                let plan = planner.plan(clause, Some(trigger_idx));
                self.triggers[relation.index()].add(plans.plans.len(), &plan);
                plans.plans.push((clause_idx, plan));
            }
        }
        Ok(plans)
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
                    self.count_down(clause)?;
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
                self.count_down(clause)
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
                let left = self.built(clause, left)?;
                let right = self.built(clause, right)?;
                if left == right { Ok(()) } else { self.join(clause, plan, step_idx + 1) }
            }
        }
    }

    /// Records an instance of the current clause under the bindings.
    fn fire(&mut self, clause: &Clause) -> Result<(), GroundError> {
        self.count_down(clause)?;
        let relation = clause.head.relation;
        let tuple = self.new_tuple(clause, &clause.head)?;
        let head = self
            .derive(relation, &tuple)
            .map_err(|Full| self.too_many_atoms(Some(self.place(clause))))?;
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
                let row = self
                    .mention(atom.relation, &tuple)
                    .map_err(|Full| self.too_many_atoms(Some(self.place(clause))))?;
                self.literals.push(self.ids[atom.relation.index()][row as usize] << 1 | 1);
            }
        }
        // Simplifying doubles the number of an instance, as it does that of an atom.
        if self.heads.len() >= MAX_ATOMS {
            return Err(self.out_of_memory(Some(self.place(clause))));
        }
        let Ok(end) = u32::try_from(self.literals.len()) else {
            return Err(self.out_of_memory(Some(self.place(clause))));
        };
        self.heads.push(self.ids[relation.index()][head as usize]);
        self.ends.push(end);
        Ok(())
    }

    /// Adds an atom and what follows from it in some state; returns its row.
    fn derive(&mut self, relation: RelationId, tuple: &[TermId]) -> Result<u32, Full> {
        let (row, before) = self.insert(relation, tuple, Status::Queued)?;
        if matches!(before, None | Some(Status::Mentioned)) {
            self.queue.push_back((relation, row));
            if relation == Keyword::Next.into() {
                self.derive(Keyword::True.into(), tuple)?;
            } else if relation == Keyword::Legal.into() {
                let is_role = self.tables[RelationId::from(Keyword::Role).index()]
                    .find(&tuple[..1])
                    .is_some();
                if is_role {
                    self.derive(Keyword::Does.into(), tuple)?;
                }
            }
        }
        Ok(row)
    }

    /// Adds an atom that occurs negated, and asks for it; returns its row.
    fn mention(&mut self, relation: RelationId, tuple: &[TermId]) -> Result<u32, Full> {
        let (row, before) = self.insert(relation, tuple, Status::Mentioned)?;
        if before.is_none()
            && let Some((demand, inputs)) = &self.demands[relation.index()]
        {
            let (demand, inputs): (_, Tuple) =
                (*demand, inputs.iter().map(|&idx| tuple[idx]).collect());
            self.derive(demand, &inputs)?;
        }
        Ok(row)
    }

    /// Adds an atom if it is new and there may be one more, and numbers it; returns its row and its
    /// previous status.
    fn insert(
        &mut self,
        relation: RelationId,
        tuple: &[TermId],
        status: Status,
    ) -> Result<(u32, Option<Status>), Full> {
        if self.n_rows >= self.max_atoms {
            return Err(Full);
        }
        let (row, before) = self.tables[relation.index()].insert(tuple, status);
        if before.is_none() {
            self.n_rows += 1;
            if self.is_numbered[relation.index()] {
                let ids = &mut self.ids[relation.index()];
                debug_assert_eq!(ids.len(), row as usize);
                ids.push(narrow(self.atoms.len()));
                self.atoms.push((relation, row));
            }
        }
        Ok((row, before))
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
            let term = self.built(clause, arg)?;
            let name = || self.text(self.terms.name(term));
            let (max_depth, max_size) = (self.limits.sizes.term_depth, self.limits.sizes.term_size);
            if self.terms.depth(term) > max_depth {
                let rule = self.place(clause);
                return Err(GroundError::Unbounded { term: name(), rule, max_depth });
            }
            if self.terms.size(term) > max_size {
                let rule = self.place(clause);
                return Err(GroundError::HugeTerm { term: name(), rule, max_size });
            }
            tuple.push(term);
        }
        Ok(tuple)
    }

    fn built(&mut self, clause: &Clause, pattern: &Pattern) -> Result<TermId, GroundError> {
        build(pattern, &self.bindings, &mut self.terms)
            .ok_or_else(|| self.too_many_atoms(Some(self.place(clause))))
    }

    /// Checks the limits at regular intervals.
    #[inline]
    fn count_down(&mut self, clause: &Clause) -> Result<(), GroundError> {
        self.n_until_limits -= 1;
        if self.n_until_limits > 0 { Ok(()) } else { self.check_limits(clause) }
    }

    #[cold]
    fn check_limits(&mut self, clause: &Clause) -> Result<(), GroundError> {
        self.n_until_limits = LIMIT_INTERVAL;
        self.n_checks += 1;
        if self.n_steps() > self.max_steps {
            return Err(self.stopped((StopReason::Time, clause.head.relation, clause.span)));
        }
        if let Some(reason) = self.limits.stop_reason(self.n_bytes()) {
            return Err(self.stopped((reason, clause.head.relation, clause.span)));
        }
        let max_moves = self.limits.sizes.moves;
        if self.tables[RelationId::from(Keyword::Does).index()].n_rows() > max_moves {
            return Err(GroundError::TooManyMoves { rule: self.place(clause), max_moves });
        }
        Ok(())
    }

    /// Returns the steps of joins so far, in whole intervals.
    fn n_steps(&self) -> u64 {
        self.n_checks * u64::from(LIMIT_INTERVAL)
    }

    /// Estimates the bytes of everything found so far. Simplifying needs about as much memory again
    /// for the instances.
    fn n_bytes(&self) -> u64 {
        let n_bytes: usize = self.tables.iter().map(Table::n_bytes).sum::<usize>()
            + self.terms.n_bytes()
            + (self.literals.capacity() + self.heads.capacity() + self.ends.capacity()) * 4 * 3
            + self.atoms.capacity() * 12
            + self.queue.capacity() * 8;
        // A block that is full is copied to one of twice its size, and both exist meanwhile.
        let largest_table = self.tables.iter().map(Table::largest_block).max().unwrap_or(0);
        let largest = largest_table.max(self.terms.n_bytes()).max(self.literals.capacity() * 4);
        n_bytes.saturating_add(2 * largest) as u64
    }

    /// Checks the number of roles, once their relation is complete.
    fn check_roles(&self, rule: &RulePlace) -> Result<(), GroundError> {
        let n_roles = self.tables[RelationId::from(Keyword::Role).index()].n_rows();
        let max_roles = self.limits.sizes.roles;
        if n_roles > max_roles {
            return Err(GroundError::TooManyRoles { rule: rule.clone(), n_roles, max_roles });
        }
        Ok(())
    }

    /// Returns the error for a rule, by its relation and place, at which the work must stop.
    fn stopped(&self, (reason, relation, span): (StopReason, RelationId, Span)) -> GroundError {
        let relation = self.names[relation.index()];
        let rule = Some(RulePlace { relation, name: self.text(relation), span });
        match reason {
            StopReason::Memory => self.out_of_memory(rule),
            _ => GroundError::OutOfTime { progress: self.progress(rule) },
        }
    }

    fn out_of_memory(&self, rule: Option<RulePlace>) -> GroundError {
        let max_bytes = self.limits.max_bytes;
        GroundError::OutOfMemory { progress: self.progress(rule), max_bytes }
    }

    #[cold]
    fn too_many_atoms(&self, rule: Option<RulePlace>) -> GroundError {
        let max_atoms = self.max_atoms;
        GroundError::TooManyAtoms { progress: self.progress(rule), max_atoms }
    }

    fn progress(&self, rule: Option<RulePlace>) -> Box<Progress> {
        let largest = (self.tables.iter().zip(&self.names)).max_by_key(|(table, _)| table.n_rows());
        Box::new(Progress {
            n_atoms: self.n_rows,
            n_rules: self.heads.len(),
            largest: largest
                .filter(|(table, _)| table.n_rows() > 0)
                .map(|(table, &name)| (self.text(name), table.n_rows())),
            rule,
        })
    }

    fn place(&self, clause: &Clause) -> RulePlace {
        let relation = self.names[clause.head.relation.index()];
        RulePlace { relation, name: self.text(relation), span: clause.span }
    }

    fn text(&self, symbol: Symbol) -> String {
        shortened(self.terms.symbols().name(symbol).to_owned())
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

/// Builds a term; `None` if there are too many of them.
fn build(pattern: &Pattern, bindings: &[TermId], terms: &mut Terms) -> Option<TermId> {
    match pattern {
        Pattern::Ground(term) => Some(*term),
        Pattern::Variable(variable) => Some(bindings[*variable as usize]),
        Pattern::Compound(name, args) => {
            let args: Option<Tuple> = args.iter().map(|arg| build(arg, bindings, terms)).collect();
            terms.compound(*name, &args?)
        }
    }
}
