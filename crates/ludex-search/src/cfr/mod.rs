//! Counterfactual regret: play that nobody can exploit, where roles choose at once or hide something.
//!
//! | search | games | how |
//! | --- | --- | --- |
//! | cfr | those whose state is known | regret on the plays of the next few steps, playouts beyond |
//! | nash | the same | on these plays, from the last step back, an equilibrium of each state |
//!
//! Read the modules in this order: `form` (a game as a tree of choices and what roles know), `solver`
//! (regret on it), `profile` (what strategies are worth, exactly). [`Cfr`] is the search; `nash` the
//! one by backward induction.
//!
//! The move is drawn from the mean strategy, so that it is as mixed as it has to be.

use ludex_base::{Deadline, MoveId, RoleId, StopReason};
use ludex_game::{Cursor, Playouts};

use crate::clock::Clock;
use crate::limits::Limits;
use crate::playout::{Desk, End, play_uniform};
use crate::report::{MoveReport, SearchReport};
use crate::roles::Roles;
use crate::searcher::Searcher;

mod form;
mod solver;
mod profile;
mod nash;

pub use form::{AllMoves, Form, FormLimits, InformationSet, OwnPercepts, Sight};
pub use nash::{Induction, Nash, NashOptions};
pub use profile::Profile;
pub use solver::{Solver, Variant};

crate::search_options! {
    /// Options of [`Cfr`].
    pub struct CfrOptions {
        /// which plays an iteration looks at: cfr, plus, external or outcome
        variant: Variant = Variant::Plus,
        /// most steps that are worked out before plays are estimated
        depth: usize = 8,
        /// playouts by which a state at the horizon is estimated
        playouts: usize = 4,
        /// parts of the mean strategy below this are not played
        least: f64 = 0.02,
    }
}

/// Regret on the plays of the next few steps.
pub struct Cfr<G> {
    options: CfrOptions,
    roles: Roles,
    game: std::marker::PhantomData<fn(G)>,
}

/// The part of the time in which plays are worked out; regrets get the rest.
const GROWING_PART: f64 = 0.3;
/// Another step is worked out only if the last one took no more than this part of the time for it.
const NEXT_STEP_PART: f64 = 0.2;
/// About what a node takes, with its edge and its part of sets and pasts.
const NODE_BYTES: usize = 200;
const MAX_NODES: usize = 1 << 20;
/// With a limit of iterations nothing may depend on the clock: so many nodes then.
const MAX_NODES_WITHOUT_CLOCK: usize = 1 << 14;

impl<G: Playouts> Cfr<G> {
    /// A search that knows nothing yet.
    pub fn new(game: &G, options: CfrOptions) -> Self {
        Self { options, roles: Roles::of(game), game: std::marker::PhantomData }
    }

    /// The plays of as many steps as there is time for; `None` if not even one could be worked out.
    fn form(&self, root: &G::Cursor, limits: &Limits) -> Option<Form> {
        let mut cursor = root.clone();
        let starts = [(root.state().clone(), 1.0)];
        let deadline = match (limits.deadline.remaining(), limits.iterations) {
            (Some(left), None) => {
                let end = std::time::Instant::now() + left.mul_f64(GROWING_PART);
                limits.deadline.no_later_than(end)
            }
            _ => limits.deadline.clone(),
        };
        let max_nodes = match limits.iterations {
            Some(_) => MAX_NODES_WITHOUT_CLOCK,
            None => MAX_NODES,
        };
        let mut rng = limits.seed.child(1).rng();
        let mut best: Option<Form> = None;
        for horizon in 1..=self.options.depth.max(1) {
            let form_limits = FormLimits {
                horizon,
                max_nodes: max_nodes.min(limits.memory / NODE_BYTES),
                deadline: deadline.clone(),
            };
            let before = deadline.remaining();
            let mut estimate = |cursor: &mut G::Cursor, goals: &mut Vec<f32>| {
                estimate_by(self.options.playouts, &self.roles, cursor, goals, &mut rng, &deadline);
            };
            let Roles { n, random } = self.roles;
            let found =
                Form::new(n, random, &mut cursor, &starts, &AllMoves, &form_limits, &mut estimate);
            match found {
                Ok(form) => {
                    let is_cut = form.is_cut();
                    best = Some(form);
                    if !is_cut {
                        break;
                    }
                }
                Err(_) => break,
            }
            if let (Some(before), Some(left)) = (before, deadline.remaining())
                && before.saturating_sub(left) > left.mul_f64(NEXT_STEP_PART)
            {
                break;
            }
        }
        best
    }
}

/// The mean goals of a few playouts; the middle where none ended.
fn estimate_by<C: Cursor>(
    n_playouts: usize,
    roles: &Roles,
    cursor: &mut C,
    goals: &mut Vec<f32>,
    rng: &mut ludex_base::Rng,
    deadline: &Deadline,
) {
    let here = cursor.state().clone();
    let mut clock = Clock::new(deadline);
    let mut sums = vec![0.0_f32; roles.n];
    let mut desk = Desk::default();
    let mut n_ended = 0;
    for _ in 0..n_playouts.max(1) {
        cursor.set_state(&here);
        match play_uniform(cursor, roles.n, rng, &mut clock, &mut desk) {
            End::Terminal => {
                n_ended += 1;
                for (role, sum) in roles.ids().zip(&mut sums) {
                    *sum += f32::from(cursor.goal(role).value()) / 100.0;
                }
            }
            End::Cut | End::GivenUp => {}
            End::Time => break,
        }
    }
    goals.extend(sums.iter().map(|sum| match n_ended {
        0 => 0.5,
        n => sum / n as f32,
    }));
}

impl<G: Playouts> Searcher<G::Cursor> for Cfr<G> {
    fn name(&self) -> &'static str {
        "cfr"
    }

    fn search(&mut self, root: &G::Cursor, role: RoleId, limits: &Limits) -> SearchReport {
        let legal = root.clone().legal_moves(role).to_vec();
        let nothing = SearchReport::unsearched(&legal);
        if legal.len() < 2 {
            return nothing;
        }
        limits.hint.set(legal[0]);
        let stopped = Some(StopReason::Time);
        let Some(form) = self.form(root, limits) else {
            return SearchReport { stopped, ..nothing };
        };
        // The sets of the first step are made before any others.
        let set = form.sets().iter().find(|set| set.role == role).expect("the role has a choice");
        let mut solver = Solver::new(&form, self.options.variant, limits.seed);
        let most = limits.iterations.unwrap_or(u64::MAX);
        while solver.n_iterations() < most && !limits.deadline.reached() {
            solver.iterate(&form);
        }
        if solver.n_iterations() == 0 {
            return SearchReport { stopped, ..nothing };
        }
        let parts = without_small(solver.mean(set), self.options.least);
        let place = limits.seed.child(2).rng().weighted(&parts);
        let means = solver.means(&form);
        let reward = Profile::new(&form, &means).value(role);
        let n_iterations = solver.n_iterations();
        let report = |(&id, part): (&MoveId, &f64)| MoveReport {
            n_visits: (part * n_iterations as f64).round() as u64,
            ..MoveReport::untried(id)
        };
        SearchReport {
            chosen: Some(legal[place]),
            moves: legal.iter().zip(&parts).map(report).collect(),
            reward: Some(reward),
            n_iterations,
            n_nodes: form.n_nodes() as u64,
            n_bytes: (form.n_nodes() * NODE_BYTES) as u64,
            stopped: Some(if n_iterations >= most { StopReason::Count } else { StopReason::Time }),
            ..nothing
        }
    }
}

/// Moves that are hardly ever played are mostly what is left from the first iterations.
fn without_small(mut parts: Vec<f64>, least: f64) -> Vec<f64> {
    let largest = parts.iter().copied().fold(0.0, f64::max);
    parts.iter_mut().filter(|part| **part < least.min(largest)).for_each(|part| *part = 0.0);
    let total: f64 = parts.iter().sum();
    parts.iter_mut().for_each(|part| *part /= total);
    parts
}
