//! Regret where the state is not known.
//!
//! What a role should do depends on what the others think it may have seen, also where it has not
//! seen that. So the whole game is solved from its beginning if it is small enough, once for a
//! match, and every turn goes on with it: that is play which nobody can exploit. A larger game is
//! solved for a few steps from the states that the role thinks possible. The others know in each
//! what they have seen, and take the role to know what it knows: it does not bluff then.
//!
//! With depth limit after Shafiei, Sturtevant and Schaeffer, *Comparing UCT versus CFR in Simultaneous Games*,
//! 2009.

use ludex_base::StopReason;
use ludex_game::{Cursor, Observe, Playouts, StateOf};

use super::{Cfr, ExtensiveForm, ExtensiveFormLimits, Solver, growing, max_nodes};
use crate::information::{
    Information, InformationSearcher, Observation, OwnPercepts, Possible, Weights,
};
use crate::limits::Limits;
use crate::report::SearchReport;

/// All plays of a game.
pub(super) enum Whole {
    /// Nobody has tried to work them out.
    Untried,
    /// They are too many.
    TooLarge,
    /// These, and what was learned of them.
    Known(Box<(ExtensiveForm, Solver)>),
}

/// Possible states that plays are worked out from, of more those that are drawn.
const N_STARTS: [usize; 3] = [24, 6, 1];
/// Longer games are too large.
const MAX_STEPS: usize = 100;

impl<G: Playouts> Cfr<G>
where
    G::Cursor: Observe,
{
    /// Works out the whole game, if that was not tried.
    fn work_out(&mut self, limits: &Limits) {
        if !matches!(self.whole, Whole::Untried) {
            return;
        }
        let mut cursor = self.initial.clone();
        let starts = [(cursor.state().clone(), 1.0)];
        let form_limits = ExtensiveFormLimits {
            horizon: MAX_STEPS,
            max_nodes: max_nodes(limits),
            deadline: growing(limits),
        };
        let (n, random) = (self.roles.n, self.roles.random);
        // A play that is cut off is one that the whole game does not have.
        let mut cut = |_: &mut G::Cursor, goals: &mut Vec<f32>| goals.resize(goals.len() + n, 0.5);
        let form = ExtensiveForm::new(
            n,
            random,
            &mut cursor,
            &starts,
            &OwnPercepts,
            &form_limits,
            &mut cut,
        );
        self.whole = match form {
            Ok(form) if !form.is_cut() => {
                let solver = Solver::new(&form, self.options.variant, limits.seed);
                Whole::Known(Box::new((form, solver)))
            }
            _ => Whole::TooLarge,
        };
    }
}

impl<G: Playouts> InformationSearcher<StateOf<G>> for Cfr<G>
where
    G::Cursor: Observe,
{
    fn name(&self) -> &'static str {
        "cfr"
    }

    fn search(&mut self, known: &Information<StateOf<G>>, limits: &Limits) -> SearchReport {
        let (role, legal) = (known.role(), known.legal_moves());
        let nothing = SearchReport::unsearched(legal);
        if legal.len() < 2 || known.possible().is_empty() {
            return nothing;
        }
        limits.hint.set(legal[0]);
        self.work_out(limits);
        let observed: Option<Vec<Observation>> = known.steps().iter().cloned().collect();
        if let Whole::Known(mut whole) = std::mem::replace(&mut self.whole, Whole::Untried) {
            let (form, solver) = &mut *whole;
            let set = observed.and_then(|observed| form.find_set(role, &observed, legal));
            let report = set.map(|set| self.solve(form, solver, set, legal, limits));
            self.whole = Whole::Known(whole);
            if let Some(report) = report {
                return report;
            }
        } else {
            self.whole = Whole::TooLarge;
        }
        // With less time from fewer states.
        let mut forms = N_STARTS.iter().map(|&n| {
            let starts = self.starts(known, n, limits);
            self.form(&starts, &OwnPercepts, limits)
        });
        let Some(form) = forms.find_map(|form| form) else {
            return SearchReport { stopped: Some(StopReason::Time), ..nothing };
        };
        if form.sets().iter().any(|set| set.role == role) {
            self.solve_from(&form, role, legal, limits)
        } else {
            nothing
        }
    }
}

impl<G: Playouts> Cfr<G> {
    /// The possible states, or some of them drawn by their weights.
    fn starts(
        &self,
        known: &Information<StateOf<G>>,
        max_starts: usize,
        limits: &Limits,
    ) -> Vec<Possible<StateOf<G>>> {
        let possible = known.possible();
        if possible.len() <= max_starts {
            return possible.to_vec();
        }
        let weights = Weights::new(possible.iter().map(|it| it.weight));
        let mut rng = limits.seed.child(3).rng();
        let draw = |_| Possible { weight: 1.0, ..possible[weights.draw(&mut rng)].clone() };
        (0..max_starts).map(draw).collect()
    }
}
