//! Equilibria by backward induction, for games with complete information.
//!
//! Every joint move leads to a subgame whose values are known by the time they are needed. So each
//! state is a game in normal form ([`NormalForm`]): a single role takes its best choice, and two
//! roles with opposite goals mix by linear programming. If goals are not opposite, there may be
//! several equilibria, or none that is quick to find; [`Induction::new`] says what is chosen then.

use ludex_base::{Deadline, MoveId, RoleId, StopReason};
use ludex_game::{Cursor, Playouts};

use super::form::{ExtensiveForm, ExtensiveFormLimits, Node};
use super::{MAX_NODES, MAX_NODES_WITHOUT_CLOCK, NODE_BYTES, estimate_by, without_small};
use crate::information::AllMoves;
use crate::ingredients::{HiddenSearcher, Ingredients, OpenSearcher, Search, as_if_known};
use crate::limits::SearchLimits;
use crate::normal::NormalForm;
use crate::report::{MoveReport, SearchReport};
use crate::roles::Roles;
use crate::searcher::Searcher;

/// The strategies of all roles in every state of a form, and their values.
#[derive(Clone, Debug)]
pub struct Induction {
    /// The probability of each move of each set, set after set, as [`Profile`](super::Profile)
    /// takes it.
    pub parts: Vec<f64>,
    /// The expected goal of each role at the root, 0 to 1.
    pub values: Vec<f64>,
    /// By role, its expected goal after each of its moves at the root.
    pub worth: Vec<Vec<f64>>,
}

impl Induction {
    /// Solves a form backwards. Each of its sets must belong to one state, as in a form made with
    /// [`AllMoves`].
    ///
    /// Where several roles choose simultaneously, it takes a pure equilibrium, the one with the
    /// largest sum of goals if there are several; otherwise, for two roles and a constant sum, the
    /// mixed one; otherwise, at the root, one found by support enumeration; otherwise the maxmin
    /// strategy of each role.
    ///
    /// # Errors
    /// If the deadline is reached.
    pub fn new(
        form: &ExtensiveForm,
        n_roles: usize,
        deadline: &Deadline,
    ) -> Result<Self, StopReason> {
        let n_nodes = form.n_nodes();
        let mut induction = Self {
            parts: vec![0.0; form.n_moves()],
            values: Vec::new(),
            worth: vec![Vec::new(); n_roles],
        };
        let mut values = vec![0.0; n_nodes * n_roles];
        // Children have larger ids than their parents.
        for id in (0..n_nodes).rev().filter(|&id| form.begins[id] || id == 0) {
            if deadline.reached() {
                return Err(StopReason::of_deadline());
            }
            let found = match form.nodes[id] {
                Node::End { first_goal } => {
                    let goals = &form.goals[first_goal as usize..][..n_roles];
                    goals.iter().map(|&goal| f64::from(goal)).collect()
                }
                _ => induction.state(form, id, n_roles, &values, deadline),
            };
            values[id * n_roles..][..n_roles].copy_from_slice(&found);
        }
        induction.values = values[..n_roles].to_vec();
        Ok(induction)
    }

    /// Returns the values of one state for all roles, and stores their strategies there.
    fn state(
        &mut self,
        form: &ExtensiveForm,
        id: usize,
        n_roles: usize,
        values: &[f64],
        deadline: &Deadline,
    ) -> Vec<f64> {
        let step = Step::of(form, id, n_roles, values);
        let profile = step.solve(id == 0, deadline);
        for (&set, mixed) in step.sets.iter().zip(&profile) {
            let first = form.sets[set].first;
            self.parts[first..first + mixed.len()].copy_from_slice(mixed);
        }
        let mut joint = vec![0; step.sets.len()];
        let mut all = vec![0.0; n_roles];
        let mut worth: Vec<Vec<f64>> = step.sizes.iter().map(|&size| vec![0.0; size]).collect();
        for of_joint in step.payoffs.chunks_exact(n_roles) {
            let parts: Vec<f64> =
                joint.iter().zip(&profile).map(|(&choice, mixed)| mixed[choice]).collect();
            let likely: f64 = parts.iter().product();
            all.iter_mut().zip(of_joint).for_each(|(sum, value)| *sum += likely * value);
            for (idx, &set) in step.sets.iter().enumerate() {
                let others = (0..parts.len()).filter(|&at| at != idx).map(|at| parts[at]);
                let role = form.sets[set].role.index();
                worth[idx][joint[idx]] += others.product::<f64>() * of_joint[role];
            }
            next_joint(&mut joint, &step.sizes);
        }
        if id == 0 {
            for (&set, worth) in step.sets.iter().zip(worth) {
                self.worth[form.sets[set].role.index()] = worth;
            }
        }
        all
    }
}

/// One state: the roles that choose there, and what follows.
struct Step<'a> {
    form: &'a ExtensiveForm,
    n_roles: usize,
    /// The sets of the roles that choose, in role order.
    sets: Vec<usize>,
    /// The number of moves of each of them.
    sizes: Vec<usize>,
    /// The expected goals of all roles, joint choice by joint choice; the last choice changes
    /// fastest.
    payoffs: Vec<f64>,
}

impl<'a> Step<'a> {
    fn of(form: &'a ExtensiveForm, id: usize, n_roles: usize, values: &[f64]) -> Self {
        let mut sets = Vec::new();
        let mut at = id;
        // Every path through a step meets the same sets.
        while let Some(first) = match form.nodes[at] {
            Node::End { .. } => None,
            Node::Chance { first, .. } => Some(first),
            Node::Choice { set, first } => {
                sets.push(set as usize);
                Some(first)
            }
        } {
            at = form.edges[first as usize].0 as usize;
            if form.begins[at] {
                break;
            }
        }
        let sizes: Vec<usize> = sets.iter().map(|&set| form.sets[set].moves.len()).collect();
        let n_joint: usize = sizes.iter().product();
        let payoffs = vec![0.0; n_joint * n_roles];
        let mut step = Self { form, n_roles, sets, sizes, payoffs };
        step.walk(id, true, 0, 1.0, values);
        step
    }

    /// Adds the values of a node that follows a joint choice and draws with probability `likely`.
    fn walk(&mut self, id: usize, is_first: bool, joint: usize, likely: f64, values: &[f64]) {
        if self.form.begins[id] && !is_first {
            for role in 0..self.n_roles {
                let value = values[id * self.n_roles + role];
                self.payoffs[joint * self.n_roles + role] += likely * value;
            }
            return;
        }
        match self.form.nodes[id] {
            Node::End { .. } => unreachable!("every end is the beginning of a step"),
            Node::Chance { first, n } => {
                for at in first..first + n {
                    let (child, part) = self.form.edges[at as usize];
                    self.walk(child as usize, false, joint, likely * f64::from(part), values);
                }
            }
            Node::Choice { set, first } => {
                let n_moves = self.form.sets[set as usize].moves.len();
                for choice in 0..n_moves {
                    let child = self.form.edges[first as usize + choice].0;
                    self.walk(child as usize, false, joint * n_moves + choice, likely, values);
                }
            }
        }
    }

    /// Returns the probability of each choice of each role that chooses.
    fn solve(&self, is_root: bool, deadline: &Deadline) -> Vec<Vec<f64>> {
        if self.sets.is_empty() {
            return Vec::new();
        }
        let roles: Vec<usize> =
            self.sets.iter().map(|&set| self.form.sets[set].role.index()).collect();
        let of_deciders = self.payoffs.chunks_exact(self.n_roles);
        let payoffs = of_deciders.flat_map(|of_joint| roles.iter().map(|&role| of_joint[role]));
        let game = NormalForm::new(&self.sizes, payoffs.collect());
        let sum = |joint: &[usize]| (0..roles.len()).map(|at| game.payoff(joint, at)).sum::<f64>();
        let pure = game.pure_equilibria(deadline).into_iter();
        if let Some(joint) = pure.max_by(|a, b| sum(a).total_cmp(&sum(b)).then(b.cmp(a))) {
            let certain = |(&choice, &size): (&usize, &usize)| {
                (0..size).map(|at| f64::from(u8::from(at == choice))).collect()
            };
            return joint.iter().zip(&self.sizes).map(certain).collect();
        }
        let mixed =
            if is_root || game.is_constant_sum() { game.mixed_equilibrium(deadline) } else { None };
        let even = |size: usize| vec![1.0 / size as f64; size];
        let sure = |at: usize| {
            let guarantee = if deadline.reached() { None } else { game.maxmin(at) };
            guarantee.map_or_else(|| even(self.sizes[at]), |guarantee| guarantee.mixed)
        };
        mixed.unwrap_or_else(|| (0..roles.len()).map(sure).collect())
    }
}

/// Advances to the next joint choice; the last one changes fastest.
fn next_joint(joint: &mut [usize], sizes: &[usize]) {
    for (choice, size) in joint.iter_mut().zip(sizes).rev() {
        *choice += 1;
        if *choice < *size {
            return;
        }
        *choice = 0;
    }
}

crate::search_options! {
    /// Options of [`Nash`].
    pub struct NashOptions {
        /// maximum number of steps to expand before plays are estimated
        depth: usize = 8,
        /// playouts per estimate at the horizon
        playouts: usize = 8,
        /// smallest probability that is played
        least: f64 = 0.02,
    }
}

/// Backward induction on the next few steps.
pub struct Nash<G> {
    options: NashOptions,
    roles: Roles,
    game: std::marker::PhantomData<fn(G)>,
}

impl<I: Ingredients> Search<I> for NashOptions {
    fn build(&self, _name: &'static str, from: &I) -> OpenSearcher<I::Game> {
        Box::new(Nash::new(from.game(), self.clone()))
    }

    fn build_informed(&self, name: &'static str, from: &I) -> HiddenSearcher<I::Game> {
        as_if_known(self, name, from.game())
    }
}

impl<G: Playouts> Nash<G> {
    /// Creates a search without knowledge.
    pub fn new(game: &G, options: NashOptions) -> Self {
        Self { options, roles: Roles::of(game), game: std::marker::PhantomData }
    }

    /// Expands and solves `horizon` steps.
    fn solved(
        &self,
        root: &G::Cursor,
        horizon: usize,
        limits: &SearchLimits,
    ) -> Result<(ExtensiveForm, Induction), StopReason> {
        let max_nodes = match limits.iterations {
            Some(_) => MAX_NODES_WITHOUT_CLOCK,
            None => MAX_NODES,
        };
        let form_limits = ExtensiveFormLimits {
            horizon,
            max_nodes: max_nodes.min(limits.memory / NODE_BYTES),
            deadline: limits.deadline.clone(),
        };
        let mut rng = limits.seed.child(horizon as u64).rng();
        let mut cursor = root.clone();
        let starts = [(root.state().clone(), 1.0)];
        let mut estimate = |cursor: &mut G::Cursor, goals: &mut Vec<f32>| {
            let n_playouts = self.options.playouts;
            estimate_by(n_playouts, &self.roles, cursor, goals, &mut rng, &limits.deadline);
        };
        let Roles { n, random } = self.roles;
        let form = ExtensiveForm::new(
            n,
            random,
            &mut cursor,
            &starts,
            &AllMoves,
            &form_limits,
            &mut estimate,
        )?;
        let induction = Induction::new(&form, n, &limits.deadline)?;
        Ok((form, induction))
    }
}

impl<G: Playouts> Searcher<G::Cursor> for Nash<G> {
    fn name(&self) -> &'static str {
        "nash"
    }

    fn search(&mut self, root: &G::Cursor, role: RoleId, limits: &SearchLimits) -> SearchReport {
        let legal = root.clone().legal_moves(role).to_vec();
        let mut report = SearchReport::unsearched(&legal);
        if legal.len() < 2 {
            return report;
        }
        limits.hint.set(legal[0]);
        let most = limits.iterations.unwrap_or(u64::MAX);
        for horizon in 1..=self.options.depth.max(1) {
            let found = if report.n_iterations >= most {
                Err(StopReason::Count)
            } else {
                self.solved(root, horizon, limits)
            };
            let (form, induction) = match found {
                Ok(found) => found,
                Err(reason) => {
                    report.stopped = Some(reason);
                    break;
                }
            };
            // There is no set if another role has no legal move, so that play cannot go on.
            let Some(set) = form.sets().iter().find(|set| set.role == role) else {
                report.stopped = Some(StopReason::Fault);
                break;
            };
            let parts = induction.parts[set.first..set.first + legal.len()].to_vec();
            let parts = without_small(parts, self.options.least);
            let idx = limits.seed.child(0).rng().weighted(&parts);
            limits.hint.set(legal[idx]);
            let worth = &induction.worth[role.index()];
            let report_of = |(at, &id): (usize, &MoveId)| MoveReport {
                n_visits: (parts[at] * form.n_nodes() as f64).round() as u64,
                mean_reward: worth.get(at).copied(),
                ..MoveReport::untried(id)
            };
            report = SearchReport {
                chosen: Some(legal[idx]),
                moves: legal.iter().enumerate().map(report_of).collect(),
                reward: Some(induction.values[role.index()]),
                n_iterations: report.n_iterations + 1,
                n_nodes: form.n_nodes() as u64,
                n_bytes: (form.n_nodes() * NODE_BYTES) as u64,
                depth: horizon as u32,
                stopped: form.is_cut().then_some(StopReason::Count),
                ..report
            };
            if !form.is_cut() {
                break;
            }
        }
        report
    }
}
