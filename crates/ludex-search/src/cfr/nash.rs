//! Equilibria from the last step back, where everybody sees every move.
//!
//! What follows a joint move is a game of its own, whose values are known when its turn comes. So a
//! state is a game in normal form ([`NormalForm`]): one role takes its best choice, two roles with
//! opposite goals mix by linear programming. Where goals are not opposite there may be several
//! equilibria or none that is quick to find; see [`Induction::new`] for what is taken then.

use ludex_base::{Deadline, MoveId, RoleId, StopReason};
use ludex_game::{Cursor, Playouts};

use super::form::{ExtensiveForm, ExtensiveFormLimits, Node};
use super::{MAX_NODES, MAX_NODES_WITHOUT_CLOCK, NODE_BYTES, estimate_by, without_small};
use crate::information::AllMoves;
use crate::ingredients::{HiddenSearcher, Ingredients, OpenSearcher, Search, as_if_known};
use crate::limits::Limits;
use crate::normal::NormalForm;
use crate::report::{MoveReport, SearchReport};
use crate::roles::Roles;
use crate::searcher::Searcher;

/// What all roles do at every state of a form, and what that is worth.
#[derive(Clone, Debug)]
pub struct Induction {
    /// How likely each move of each set is, set after set, as [`Profile`](super::Profile) takes it.
    pub parts: Vec<f64>,
    /// What each role expects at the beginning, 0 to 1.
    pub values: Vec<f64>,
    /// What each role expects after each of its own moves at the beginning, by role.
    pub worth: Vec<Vec<f64>>,
}

impl Induction {
    /// Works back from the ends of a form whose sets belong to one state each, as those made with
    /// [`AllMoves`] do.
    ///
    /// Where several roles choose at once: a pure equilibrium, of several the one that is best for all
    /// together; else, with two roles and a constant sum, the mixed one; else, at the first state,
    /// what supports give; else what each role can be sure of.
    ///
    /// # Errors
    /// When the time is over.
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
        // Children come after their node.
        for id in (0..n_nodes).rev().filter(|&id| form.begins[id] || id == 0) {
            if deadline.reached() {
                return Err(StopReason::Time);
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

    /// What one state is worth to all roles; notes what they do there.
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

/// One state: who chooses there, and what follows.
struct Step<'a> {
    form: &'a ExtensiveForm,
    n_roles: usize,
    /// The sets of those who choose, in the order of the roles.
    sets: Vec<usize>,
    /// How many moves each of them has.
    sizes: Vec<usize>,
    /// Joint choice after joint choice, the last one's fastest: what all roles get, chance averaged.
    payoffs: Vec<f64>,
}

impl<'a> Step<'a> {
    fn of(form: &'a ExtensiveForm, id: usize, n_roles: usize, values: &[f64]) -> Self {
        let mut sets = Vec::new();
        let mut at = id;
        // Every way through a step meets the same sets.
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

    /// Adds what a node is worth: it was reached by a joint choice, so likely by chance.
    fn walk(&mut self, id: usize, is_first: bool, joint: usize, likely: f64, values: &[f64]) {
        if self.form.begins[id] && !is_first {
            for role in 0..self.n_roles {
                let value = values[id * self.n_roles + role];
                self.payoffs[joint * self.n_roles + role] += likely * value;
            }
            return;
        }
        match self.form.nodes[id] {
            Node::End { .. } => unreachable!("a step begins with every end"),
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

    /// How likely each choice of each of those who choose is.
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

/// The next joint choice, the last one's changing fastest.
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
        /// most steps that are worked out before plays are estimated
        depth: usize = 8,
        /// playouts by which a state at the horizon is estimated
        playouts: usize = 8,
        /// parts of a mixed choice below this are not played
        least: f64 = 0.02,
    }
}

/// Backward induction on the plays of the next few steps.
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
    /// A search that knows nothing yet.
    pub fn new(game: &G, options: NashOptions) -> Self {
        Self { options, roles: Roles::of(game), game: std::marker::PhantomData }
    }

    /// The plays of so many steps, solved.
    fn solved(
        &self,
        root: &G::Cursor,
        horizon: usize,
        limits: &Limits,
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

    fn search(&mut self, root: &G::Cursor, role: RoleId, limits: &Limits) -> SearchReport {
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
            // None where another role has no move: nobody can go on there.
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
