//! Schedules: the order in which the search decides variables, and what follows at once.
//!
//! A scope becomes *levels*, one for each variable to decide. Its other variables are functions of
//! those, by their definition or by a constraint (`arrange`). Every definition is computed and
//! every constraint checked at the first level where its variables are known. The search therefore
//! only writes values and runs *steps*, and has nothing to undo.

mod arrange;
pub(crate) mod code;
pub(crate) mod fold;
mod implied;
pub(crate) mod interval;
mod key;
pub(crate) mod measures;
mod probe;

use ludex_csp::{Constraint, Expr, Value, ValueSet, VarId, conjuncts};
use rustc_hash::FxHashSet;

use crate::error::ModelError;
use crate::measure::interests;
use crate::model::Model;
use crate::scope::{Measure, Quantifier};
use arrange::{Arranged, arrange};
use code::{Code, compile};
use fold::{fold, is_total};
pub(crate) use key::{Key, mix};
use measures::Measures;

/// A model prepared for the search.
pub(crate) struct Schedule<'m> {
    pub model: &'m Model,
    pub levels: Vec<Level>,
    /// Whether the owner of each scope can be blocked, as far as a cheap test shows.
    pub can_block: Vec<bool>,
    /// The number of variables of earlier scopes, by scope; at the end, of all.
    pub n_variables_before: Vec<usize>,
    /// Whether each variable gets a value; unused definitions do not.
    pub is_known: Vec<bool>,
    /// The first level of each scope; at the end, the number of levels.
    pub first_level: Vec<usize>,
    /// The key of the verdict from each scope on.
    pub keys: Vec<Key>,
    /// The earlier variables that are read from each scope on.
    pub live: Vec<Vec<VarId>>,
    /// The levels that decide the variables of the key of each scope.
    pub key_levels: Vec<Vec<usize>>,
    pub measures: Measures,
    /// Whether part of the goal is in the restrictor of the last scope.
    pub is_fused: bool,
    /// The value of the goal if there is no level to check it at.
    pub goal_without_levels: bool,
    /// The sizes of the histories, one for each class of levels.
    pub history_sizes: Vec<usize>,
}

/// One variable to decide, or a scope without any.
pub(crate) struct Level {
    pub scope: usize,
    pub quantifier: Quantifier,
    /// The variable; `None` in a scope in which everything follows.
    pub x: Option<VarId>,
    /// Its values, in the order to try.
    pub values: Vec<Value>,
    /// Whether the user gave that order.
    pub is_ordered: bool,
    /// At the first level of a scope, the steps that need no variable of it. If a step fails, the
    /// owner of the scope is blocked.
    pub opening: Vec<Step>,
    /// The steps once the variable has its value, by the place of the value, or the same for all
    /// values. If a step fails, the choice is illegal.
    pub steps: Vec<Box<[Step]>>,
    /// The steps for any value.
    pub generic: Box<[Step]>,
    /// The variables of earlier scopes that the steps read, indexed like `steps`.
    pub reads: Vec<Box<[VarId]>>,
    /// The parts of the goal checked here. If one fails, the existential player has lost.
    pub goal: Vec<Check>,
    /// Whether the existential player has won if the goal checks up to here hold.
    pub is_won: bool,
    pub is_last_of_scope: bool,
    /// The class of levels that share the history of their values.
    pub class: usize,
    /// Whether so much follows that a bound is cheaper than the search.
    pub is_worth_bounding: bool,
    /// The levels that the constraints of opening, steps and goal depend on.
    pub reasons: Reasons,
}

/// The levels, up to this one, that checks depend on.
#[derive(Default)]
pub(crate) struct Reasons {
    pub opening: Vec<usize>,
    pub steps: Vec<usize>,
    pub goal: Vec<usize>,
}

/// An action once values are known.
#[derive(Clone)]
pub(crate) enum Step {
    /// Consecutive variables take the values of others.
    Copy { from: u32, to: u32, n: u32 },
    /// A variable takes the value of an expression if it is in the domain.
    Define { to: u32, code: Code, domain: Domain },
    /// A constraint must hold.
    Check(Check),
}

/// The allowed values.
#[derive(Clone)]
pub(crate) enum Domain {
    /// Any value of the expression.
    Any,
    Range(Value, Value),
    Set(ValueSet),
}

/// A constraint whose variables are known.
#[derive(Clone)]
pub(crate) enum Check {
    Code(Code),
    /// A positive table without stars.
    Tuples(Box<[u32]>, std::sync::Arc<FxHashSet<Box<[Value]>>>),
    Constraint(std::sync::Arc<Constraint>),
}

impl Step {
    /// Runs the step, and returns whether it succeeds.
    #[inline]
    pub fn run(&self, values: &mut [Value]) -> bool {
        match self {
            Step::Copy { from, to, n } => {
                values.copy_within(*from as usize..(*from + *n) as usize, *to as usize);
                true
            }
            Step::Define { to, code, domain } => {
                let Some(value) = code.eval(values) else { return false };
                let Ok(value) = Value::try_from(value) else { return false };
                values[*to as usize] = value;
                match domain {
                    Domain::Any => true,
                    Domain::Range(lo, hi) => *lo <= value && value <= *hi,
                    Domain::Set(set) => set.contains(value),
                }
            }
            Step::Check(check) => check.holds(values),
        }
    }
}

impl Check {
    #[inline]
    pub fn holds(&self, values: &[Value]) -> bool {
        match self {
            Check::Code(code) => code.holds(values),
            Check::Tuples(scope, tuples) => {
                let tuple: Box<[Value]> = scope.iter().map(|&x| values[x as usize]).collect();
                tuples.contains(&tuple)
            }
            Check::Constraint(constraint) => {
                constraint.holds(&|x: VarId| i64::from(values[x.index()]))
            }
        }
    }

    fn new(constraint: &Constraint, model: &Model) -> Self {
        match constraint {
            Constraint::Intension(e) => Check::Code(compile(e, &|x| model.bounds(x))),
            Constraint::Table { scope, table, is_positive: true } if !table.has_stars() => {
                let scope = scope.iter().map(|x| x.index() as u32).collect();
                let tuples = table.tuples().map(Box::from).collect();
                Check::Tuples(scope, std::sync::Arc::new(tuples))
            }
            other => Check::Constraint(std::sync::Arc::new(other.clone())),
        }
    }
}

/// A constraint or a definition before it is compiled.
#[derive(Clone)]
pub(crate) enum Rule {
    Define { x: VarId, expr: Expr, is_declared: bool },
    Check(Constraint),
}

impl Rule {
    fn reads(&self) -> Vec<VarId> {
        match self {
            Rule::Define { expr, .. } => expr.scope(),
            Rule::Check(constraint) => constraint.scope(),
        }
    }
}

/// Makes the schedule of a valid model.
///
/// With `fuses_goal`, goal constraints that mention the last scope join its restrictor if it is
/// existential. The verdict is the same, but losing choices become illegal there.
///
/// # Errors
/// Returns an error if a variable to decide has too many values.
pub(crate) fn schedule(
    model: &Model,
    uses_symmetry: bool,
    fuses_goal: bool,
) -> Result<Schedule<'_>, ModelError> {
    let n_scopes = model.scopes().len();
    let is_fused = |constraint: &Constraint| {
        let mut scope = constraint.scope().into_iter();
        fuses_goal
            && model.scopes().last().is_some_and(|last| last.quantifier == Quantifier::Exists)
            && scope.any(|x| model.variable(x).scope.index() + 1 == n_scopes)
    };
    let (fused, goal): (Vec<Constraint>, Vec<Constraint>) =
        conjuncts(model.goal_constraints()).into_iter().partition(is_fused);
    let arranged: Vec<Arranged> = (0..n_scopes)
        .map(|scope| arrange(model, scope, if scope + 1 == n_scopes { &fused } else { &[] }))
        .collect();
    let decided = arranged.iter().flat_map(|arranged| arranged.levels.iter().map(|level| level.0));
    for x in decided {
        if model.domain(x).len() > MAX_VALUES {
            return Err(ModelError::WideDomain { variable: model.named(x) });
        }
    }
    Scheduler { model, arranged, goal, is_fused: !fused.is_empty() }.schedule(uses_symmetry)
}

/// The maximal number of values of a variable to decide, because the search tries each.
const MAX_VALUES: u64 = 1 << 20;

/// The maximal total number of earlier variables that scopes read: the schedule takes about 50
/// bytes for each.
const MAX_LIVE: usize = 10_000_000;

struct Scheduler<'m> {
    model: &'m Model,
    arranged: Vec<Arranged>,
    /// The goal constraints that are checked as such.
    goal: Vec<Constraint>,
    is_fused: bool,
}

impl<'m> Scheduler<'m> {
    fn schedule(mut self, uses_symmetry: bool) -> Result<Schedule<'m>, ModelError> {
        // Symmetries keep verdicts, but not measures.
        let uses_symmetry = uses_symmetry && !self.model.is_optimization();
        let live = self.drop_unused()?;
        let can_block: Vec<bool> =
            (0..self.arranged.len()).map(|scope| self.can_block(scope)).collect();
        let mut levels = Vec::new();
        let mut first_level = Vec::new();
        let mut classes: Vec<(Quantifier, Vec<Value>)> = Vec::new();
        for scope in 0..self.arranged.len() {
            first_level.push(levels.len());
            self.levels_of(scope, &mut levels, &mut classes);
        }
        first_level.push(levels.len());
        self.place_goal(&mut levels, &can_block);
        mark_worth_bounding(&mut levels);
        let mut keys: Vec<Key> =
            live.iter().enumerate().map(|(scope, live)| self.key(scope, live)).collect();
        for (key, scope) in keys.iter_mut().zip(self.model.scopes()).filter(|_| uses_symmetry) {
            key.add_symmetries(self.model, &scope.symmetries);
        }
        let mut n_variables_before = vec![0];
        let mut is_known = vec![false; self.model.variables().len()];
        for (scope, arranged) in self.model.scopes().iter().zip(&self.arranged) {
            n_variables_before
                .push(n_variables_before[n_variables_before.len() - 1] + scope.variables.len());
            let rules = arranged.levels.iter().flat_map(|(_, rules)| rules);
            for rule in arranged.opening.iter().chain(rules) {
                if let Rule::Define { x, .. } = rule {
                    is_known[x.index()] = true;
                }
            }
            for (x, _) in &arranged.levels {
                is_known[x.index()] = true;
            }
        }
        let mut schedule = Schedule {
            model: self.model,
            can_block,
            n_variables_before,
            is_known,
            levels,
            first_level,
            keys,
            live,
            key_levels: Vec::new(),
            measures: Measures::new(self.model),
            is_fused: self.is_fused,
            goal_without_levels: true,
            history_sizes: classes.iter().map(|(_, values)| values.len()).collect(),
        };
        if schedule.levels.is_empty() {
            let constraints = self.goal.iter();
            schedule.goal_without_levels =
                constraints.map(|c| Check::new(c, self.model)).all(|check| check.holds(&[]));
        }
        schedule.explain(&self.arranged, &self.goal);
        Ok(schedule)
    }

    /// Drops unused definitions that always have a value, and returns for each scope the earlier
    /// variables that are read from there on.
    fn drop_unused(&mut self) -> Result<Vec<Vec<VarId>>, ModelError> {
        let model = self.model;
        let mut needed: FxHashSet<VarId> = FxHashSet::default();
        for constraint in &self.goal {
            needed.extend(constraint.scope());
        }
        for scope in 0..model.scopes().len() {
            needed.extend(model.scopes()[scope].memory_key.iter().flatten());
            let measures = interests(model, scope).into_iter().map(|interest| interest.measure);
            let aggregated = model.aggregates().iter().map(|aggregate| aggregate.of);
            needed.extend(measures.chain(aggregated).filter_map(|measure| match measure {
                Measure::Variable(x) => Some(x),
                Measure::Aggregate(_) => None,
            }));
        }
        let mut live = Vec::new();
        let mut n_live = 0;
        for scope in (0..self.arranged.len()).rev() {
            let arranged = &mut self.arranged[scope];
            for rules in arranged.levels.iter_mut().map(|(_, rules)| rules).rev() {
                retain_needed(model, rules, &mut needed);
            }
            retain_needed(model, &mut arranged.opening, &mut needed);
            let mut before: Vec<VarId> = needed
                .iter()
                .copied()
                .filter(|&x| model.variable(x).scope.index() < scope)
                .collect();
            before.sort_unstable();
            n_live += before.len();
            if n_live > MAX_LIVE {
                return Err(ModelError::TooLarge { limit: MAX_LIVE });
            }
            live.push(before);
        }
        live.reverse();
        Ok(live)
    }

    /// Returns the key of a scope: the variables read from there on, or the declared ones if they
    /// are fewer.
    fn key(&self, scope: usize, live: &[VarId]) -> Key {
        let found = Key::new(self.model, live);
        // A declared key determines the verdict, but not the measures.
        let declared = self.model.scopes()[scope].memory_key.as_ref();
        let Some(declared) = declared.filter(|_| !self.model.is_optimization()) else {
            return found;
        };
        let mut declared = declared.clone();
        declared.sort_unstable();
        declared.dedup();
        let declared = Key::new(self.model, &declared);
        if declared.n_bits() < found.n_bits() { declared } else { found }
    }

    /// Whether the owner of a scope can be blocked, as far as a cheap test shows.
    fn can_block(&self, scope: usize) -> bool {
        let gets_goal = self.is_fused && scope + 1 == self.arranged.len();
        if self.model.scopes()[scope].is_non_blocking && !gets_goal {
            return false;
        }
        let arranged = &self.arranged[scope];
        let rules = arranged.levels.iter().flat_map(|(_, rules)| rules).chain(&arranged.opening);
        rules.into_iter().any(|rule| can_fail(self.model, rule))
    }

    fn levels_of(
        &self,
        scope: usize,
        levels: &mut Vec<Level>,
        classes: &mut Vec<(Quantifier, Vec<Value>)>,
    ) {
        let arranged = &self.arranged[scope];
        let quantifier = self.model.scopes()[scope].quantifier;
        let n_levels = arranged.levels.len().max(1);
        for at in 0..n_levels {
            let (x, rules) = match arranged.levels.get(at) {
                Some((x, rules)) => (Some(*x), &rules[..]),
                None => (None, &[][..]),
            };
            let (values, is_ordered) = x.map_or((vec![0], true), |x| self.values_of(scope, x));
            let place = classes.iter().position(|c| c.0 == quantifier && c.1 == values);
            let class = place.unwrap_or_else(|| {
                classes.push((quantifier, values.clone()));
                classes.len() - 1
            });
            let opening = if at == 0 { &arranged.opening[..] } else { &[] };
            levels.push(Level {
                scope,
                quantifier,
                x,
                opening: self.steps(opening, None),
                steps: self.steps_by_value(x, &values, rules),
                reads: self.reads_by_value(scope, x, &values, rules),
                generic: self.steps(rules, None).into(),
                values,
                is_ordered,
                goal: Vec::new(),
                is_won: false,
                is_last_of_scope: at + 1 == n_levels,
                class,
                is_worth_bounding: false,
                reasons: Reasons::default(),
            });
        }
    }

    fn values_of(&self, scope: usize, x: VarId) -> (Vec<Value>, bool) {
        let given = self.model.scopes()[scope].value_orders.iter().rfind(|(y, _)| *y == x);
        let mut values: Vec<Value> = given.map_or_else(Vec::new, |(_, values)| values.clone());
        let mut seen: FxHashSet<Value> = values.iter().copied().collect();
        values.extend(self.model.domain(x).iter().filter(|&value| seen.insert(value)));
        (values, given.is_some())
    }

    /// Returns the steps specialized for each value of the variable, unless there are too many.
    fn steps_by_value(
        &self,
        x: Option<VarId>,
        values: &[Value],
        rules: &[Rule],
    ) -> Vec<Box<[Step]>> {
        match x.filter(|_| is_specialized(values, rules)) {
            Some(x) => {
                values.iter().map(|&value| self.steps(rules, Some((x, value))).into()).collect()
            }
            None => vec![self.steps(rules, None).into()],
        }
    }

    /// Returns the variables of earlier scopes that the steps read, if bounds use them.
    fn reads_by_value(
        &self,
        scope: usize,
        x: Option<VarId>,
        values: &[Value],
        rules: &[Rule],
    ) -> Vec<Box<[VarId]>> {
        let model = self.model;
        let Some(x) = x.filter(|_| model.is_optimization() && is_specialized(values, rules)) else {
            return Vec::new();
        };
        let reads = |value: Value| {
            let known = |y: VarId| (y == x).then_some(value);
            let folded = |e: &Expr| fold(e, &known, &|y| model.bounds(y)).scope();
            let all = rules.iter().flat_map(|rule| match rule {
                Rule::Define { expr, .. } => folded(expr),
                Rule::Check(Constraint::Intension(e)) => folded(e),
                Rule::Check(constraint) => constraint.scope(),
            });
            let mut all: Vec<VarId> =
                all.filter(|y| model.variable(*y).scope.index() < scope).collect();
            all.sort_unstable();
            all.dedup();
            all.into()
        };
        values.iter().map(|&value| reads(value)).collect()
    }

    fn steps(&self, rules: &[Rule], known: Option<(VarId, Value)>) -> Vec<Step> {
        let model = self.model;
        let bounds = |x: VarId| model.bounds(x);
        let known = |x: VarId| known.filter(|(y, _)| *y == x).map(|(_, value)| value);
        let mut steps: Vec<Step> = Vec::new();
        for rule in rules {
            match rule {
                Rule::Define { x, expr, .. } => {
                    let expr = fold(expr, &known, &bounds);
                    let (lo, hi) = expr.bounds(&bounds);
                    let to = x.index() as u32;
                    let domain = domain_test(model.domain(*x), lo, hi);
                    if let (Expr::Var(from), Domain::Any) = (&expr, &domain) {
                        push_copy(&mut steps, from.index() as u32, to);
                        continue;
                    }
                    let code = compile(&expr, &bounds);
                    steps.push(Step::Define { to, code, domain });
                }
                Rule::Check(Constraint::Intension(e)) => {
                    let e = fold(e, &known, &bounds);
                    if !matches!(e, Expr::Constant(value) if value != 0) {
                        steps.push(Step::Check(Check::Code(compile(&e, &bounds))));
                    }
                }
                Rule::Check(constraint) => steps.push(Step::Check(Check::new(constraint, model))),
            }
        }
        steps
    }

    /// Puts each goal constraint at the first level where it decides: where its variables are
    /// known, and where no universal player can be blocked later if it fails.
    fn place_goal(&self, levels: &mut [Level], can_block: &[bool]) {
        if levels.is_empty() {
            return;
        }
        let known_at = self.levels_of_variables(levels);
        let n_levels = levels.len();
        let can_still_block = |level: usize, quantifier: Quantifier| {
            let scope = levels[level].scope;
            let later = (scope + 1..can_block.len())
                .any(|s| can_block[s] && self.model.scopes()[s].quantifier == quantifier);
            let here = levels[level].quantifier == quantifier
                && levels[level + 1..]
                    .iter()
                    .take_while(|l| l.scope == scope)
                    .any(|l| l.steps.iter().any(|steps| steps.iter().any(step_can_fail)));
            later || here
        };
        let mut places: Vec<(usize, Check)> = Vec::new();
        let mut last_placed = 0;
        for constraint in &self.goal {
            let known = constraint.scope().iter().map(|x| known_at[x.index()]).max();
            let mut level = known.unwrap_or(0);
            while level + 1 < n_levels && can_still_block(level, Quantifier::Forall) {
                level += 1;
            }
            last_placed = last_placed.max(level);
            places.push((level, Check::new(constraint, self.model)));
        }
        let won: Vec<bool> = (0..n_levels)
            .map(|level| {
                level >= last_placed
                    && (level + 1 == n_levels || !can_still_block(level, Quantifier::Exists))
            })
            .collect();
        for (level, check) in places {
            levels[level].goal.push(check);
        }
        for (level, is_won) in levels.iter_mut().zip(won) {
            level.is_won = is_won;
        }
    }

    /// Returns the level after which each variable is known.
    fn levels_of_variables(&self, levels: &[Level]) -> Vec<usize> {
        let mut known_at = vec![0; self.model.variables().len()];
        let mut level = 0;
        for arranged in &self.arranged {
            for rule in &arranged.opening {
                if let Rule::Define { x, .. } = rule {
                    known_at[x.index()] = level;
                }
            }
            for (at, (x, rules)) in arranged.levels.iter().enumerate() {
                known_at[x.index()] = level + at;
                for rule in rules {
                    if let Rule::Define { x, .. } = rule {
                        known_at[x.index()] = level + at;
                    }
                }
            }
            level += arranged.levels.len().max(1);
        }
        debug_assert_eq!(level, levels.len(), "every scope has its levels");
        known_at
    }
}

impl Schedule<'_> {
    /// Computes the levels that checks depend on.
    fn explain(&mut self, arranged: &[Arranged], goal: &[Constraint]) {
        let mut depends: Vec<Vec<usize>> = vec![Vec::new(); self.model.variables().len()];
        let union = |depends: &[Vec<usize>], rules: &mut dyn Iterator<Item = VarId>| {
            let mut levels: Vec<usize> =
                rules.flat_map(|x| depends[x.index()].iter().copied()).collect();
            levels.sort_unstable();
            levels.dedup();
            levels
        };
        for (scope, arranged) in arranged.iter().enumerate() {
            let first = self.first_level[scope];
            let run = |rules: &[Rule], depends: &mut Vec<Vec<usize>>| {
                for rule in rules {
                    if let Rule::Define { x, .. } = rule {
                        depends[x.index()] = union(depends, &mut rule.reads().into_iter());
                    }
                }
                let fails = rules.iter().filter(|rule| can_fail(self.model, rule));
                union(depends, &mut fails.flat_map(Rule::reads))
            };
            self.levels[first].reasons.opening = run(&arranged.opening, &mut depends);
            for (at, (x, rules)) in arranged.levels.iter().enumerate() {
                depends[x.index()] = vec![first + at];
                self.levels[first + at].reasons.steps = run(rules, &mut depends);
            }
        }
        let keys = self.keys.iter();
        self.key_levels =
            keys.map(|key| union(&depends, &mut key.variables.iter().copied())).collect();
        let all = union(&depends, &mut goal.iter().flat_map(Constraint::scope));
        for level in &mut self.levels {
            level.reasons.goal = all.clone();
        }
    }
}

/// Marks the levels where bounds pay off. A bound examines every choice of the following scopes, so
/// enough levels of its own scope must follow.
fn mark_worth_bounding(levels: &mut [Level]) {
    const MIN_FOLLOWING: f64 = 4.0;
    // The bound itself must stay cheap.
    const MAX_BRANCHES: f64 = 10_000.0;
    let (mut n_following, mut n_after) = (1.0, 1.0);
    for i in (0..levels.len()).rev() {
        if levels[i].is_last_of_scope {
            n_after *= n_following;
            n_following = 1.0;
        }
        levels[i].is_worth_bounding = n_following >= MIN_FOLLOWING && n_after <= MAX_BRANCHES;
        n_following *= levels[i].values.len() as f64;
    }
}

/// Whether steps are specialized for each value of their variable.
fn is_specialized(values: &[Value], rules: &[Rule]) -> bool {
    const MAX_SPECIALIZED: usize = 100_000;
    // With few rules and many values, specializing costs more than it gains.
    const MIN_RULES: usize = 8;
    let n_parts: usize = rules
        .iter()
        .map(|rule| match rule {
            Rule::Define { expr, .. } => n_parts(expr),
            Rule::Check(Constraint::Intension(e)) => n_parts(e),
            Rule::Check(_) => 1,
        })
        .sum();
    (rules.len() >= MIN_RULES || values.len() <= 16) && values.len() * n_parts <= MAX_SPECIALIZED
}

fn n_parts(e: &Expr) -> usize {
    1 + e.children().into_iter().map(n_parts).sum::<usize>()
}

fn retain_needed(model: &Model, rules: &mut Vec<Rule>, needed: &mut FxHashSet<VarId>) {
    let mut kept = Vec::new();
    for rule in rules.drain(..).rev() {
        let is_unused = match &rule {
            // Variables without a declared definition are part of strategies.
            Rule::Define { x, is_declared: true, .. } => {
                !needed.contains(x) && !can_fail(model, &rule)
            }
            _ => false,
        };
        if !is_unused {
            needed.extend(rule.reads());
            kept.push(rule);
        }
    }
    kept.reverse();
    *rules = kept;
}

/// Whether the rule fails for some values, as far as a cheap test shows.
fn can_fail(model: &Model, rule: &Rule) -> bool {
    let bounds = |x: VarId| model.bounds(x);
    match rule {
        Rule::Check(_) => true,
        Rule::Define { x, expr, .. } => {
            let (lo, hi) = expr.bounds(&bounds);
            !is_total(expr, &bounds)
                || !matches!(domain_test(model.domain(*x), lo, hi), Domain::Any)
        }
    }
}

fn step_can_fail(step: &Step) -> bool {
    match step {
        Step::Copy { .. } => false,
        // Compiling lost the information whether the code always has a value.
        Step::Define { .. } | Step::Check(_) => true,
    }
}

/// Returns the test that a value between two bounds needs to be in the domain.
fn domain_test(domain: &ValueSet, lo: i64, hi: i64) -> Domain {
    match domain.ranges() {
        [(a, b)] if i64::from(*a) <= lo && hi <= i64::from(*b) => Domain::Any,
        [(a, b)] => Domain::Range(*a, *b),
        _ => Domain::Set(domain.clone()),
    }
}

fn push_copy(steps: &mut Vec<Step>, from: u32, to: u32) {
    if let Some(Step::Copy { from: f, to: t, n }) = steps.last_mut()
        && *f + *n == from
        && *t + *n == to
        // A copy reads everything before it writes anything.
        && from < *t
    {
        *n += 1;
        return;
    }
    steps.push(Step::Copy { from, to, n: 1 });
}
