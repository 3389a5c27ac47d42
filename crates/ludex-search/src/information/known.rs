//! What a role knows, and the trait of searches that know no more.

use ludex_base::{MoveId, PerceptId, Rng, RoleId};

use crate::limits::Limits;
use crate::report::SearchReport;

/// Finds a move for a role that does not see the state.
///
/// It is given the role's own moves and percepts so far, with the states that agree with them, and
/// never the true state. It may keep what it learned from one call to the next, as long as the
/// calls follow one role through one match.
pub trait InformationSearcher<S> {
    /// The name it is registered under.
    fn name(&self) -> &'static str;

    /// Searches for the role that knows this, in a match that is not over.
    ///
    /// The move is one of [`Information::legal_moves`], also when the limits leave no time to look
    /// at anything.
    fn search(&mut self, known: &Information<S>, limits: &Limits) -> SearchReport;
}

/// What a role is told of a step.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Observation {
    /// The move that was played for it.
    pub own: MoveId,
    /// What it saw, ascending.
    pub percepts: Vec<PerceptId>,
}

impl Observation {
    /// The percepts in any order; what is told twice is seen once.
    pub fn new(own: MoveId, percepts: &[PerceptId]) -> Self {
        let mut percepts = percepts.to_vec();
        percepts.sort_unstable();
        percepts.dedup();
        Self { own, percepts }
    }
}

/// What one role knows at some step of a match: its own moves and percepts, and what follows from
/// them.
#[derive(Clone, Debug)]
pub struct Information<S> {
    pub(super) role: RoleId,
    pub(super) steps: Vec<Option<Observation>>,
    pub(super) legal: Vec<MoveId>,
    pub(super) possible: Vec<Possible<S>>,
    pub(super) is_exact: bool,
    pub(super) is_inconsistent: bool,
}

/// A state that agrees with what a role was told.
#[derive(Clone, Debug)]
pub struct Possible<S> {
    /// The state.
    pub state: S,
    /// How likely it is; the weights of all possible states sum to 1.
    pub weight: f64,
    /// What each role has played and seen on the way here, as one number: the same number for a
    /// role means that it can't tell the two apart. Of several ways to the state, those of one that
    /// was drawn.
    pub(crate) views: Vec<u64>,
}

impl<S> Information<S> {
    /// The role that knows this.
    pub fn role(&self) -> RoleId {
        self.role
    }

    /// What it was told, step by step; `None` of a step that it was not told of.
    pub fn steps(&self) -> &[Option<Observation>] {
        &self.steps
    }

    /// The moves it may choose from: those that are legal in every state that was looked at. If what is
    /// known [is inconsistent](Self::is_inconsistent), those that are likely to be, and there may be states
    /// without them.
    pub fn legal_moves(&self) -> &[MoveId] {
        &self.legal
    }

    /// The states that agree, at least one. If none was found, those that disagree least, and
    /// [`is_inconsistent`](Self::is_inconsistent) says so.
    pub fn possible(&self) -> &[Possible<S>] {
        &self.possible
    }

    /// Whether these are all states that agree, each with its probability, and not a sample of
    /// them.
    pub fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// Whether no state was found that agrees with everything the role was told.
    pub fn is_inconsistent(&self) -> bool {
        self.is_inconsistent
    }
}

impl<S: Clone> Information<S> {
    /// The same without some of the possible states, the others as much likelier; `None` if none is
    /// left.
    pub fn without(&self, is_left_out: impl Fn(usize) -> bool) -> Option<Self> {
        let kept = self.possible.iter().enumerate().filter(|(idx, _)| !is_left_out(*idx));
        let mut possible: Vec<Possible<S>> = kept.map(|(_, it)| it.clone()).collect();
        let total: f64 = possible.iter().map(|it| it.weight).sum();
        possible.iter_mut().for_each(|it| it.weight /= total);
        let (steps, legal) = (self.steps.clone(), self.legal.clone());
        let (is_exact, is_inconsistent) = (self.is_exact, self.is_inconsistent);
        let has_some = total > 0.0;
        has_some.then(|| Self {
            role: self.role,
            steps,
            legal,
            possible,
            is_exact,
            is_inconsistent,
        })
    }
}

/// Draws places by their weights.
#[derive(Clone, Debug, Default)]
pub(crate) struct Weights {
    /// Sums of the weights up to each place.
    sums: Vec<f64>,
}

impl Weights {
    pub(crate) fn new(weights: impl Iterator<Item = f64>) -> Self {
        let mut sum = 0.0;
        let sums = weights.map(|weight| {
            sum += weight;
            sum
        });
        Self { sums: sums.collect() }
    }

    /// A place; there is at least one.
    pub(crate) fn draw(&self, rng: &mut Rng) -> usize {
        self.at(rng.unit())
    }

    /// The place at some part of the whole weight, from 0 to 1; there is at least one.
    pub(crate) fn at(&self, part: f64) -> usize {
        let weight = part * self.sums[self.sums.len() - 1];
        self.sums.partition_point(|&upto| upto <= weight).min(self.sums.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use ludex_base::Seed;

    use super::*;

    #[test]
    fn what_is_left_out_makes_the_rest_likelier() {
        let possible = |state: u8, weight: f64| Possible { state, weight, views: vec![0] };
        let known = Information {
            role: RoleId::new(0),
            steps: Vec::new(),
            legal: vec![MoveId::new(0)],
            possible: vec![possible(7, 0.5), possible(8, 0.25), possible(9, 0.25)],
            is_exact: true,
            is_inconsistent: false,
        };
        let fewer = known.without(|idx| idx == 0).expect("two are left");
        let left: Vec<(u8, f64)> =
            fewer.possible().iter().map(|it| (it.state, it.weight)).collect();
        assert_eq!(left, [(8, 0.5), (9, 0.5)]);
        assert_eq!(fewer.legal_moves(), known.legal_moves());
        assert!(known.without(|_| true).is_none());
    }

    #[test]
    fn places_are_drawn_by_their_weights() {
        let weights = Weights::new([1.0, 0.0, 3.0].into_iter());
        let mut rng = Seed(1).rng();
        let mut counts = [0; 3];
        for _ in 0..4_000 {
            counts[weights.draw(&mut rng)] += 1;
        }
        assert_eq!(counts[1], 0);
        assert!((900..1_100).contains(&counts[0]), "{counts:?}");
    }
}
