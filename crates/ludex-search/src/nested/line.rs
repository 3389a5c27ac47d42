//! A line of play from a state to the end of the game, kept from move to move.

use ludex_base::{Goal, MoveId, RoleId, StopReason};
use ludex_game::Cursor;

use crate::limits::Hint;
use crate::report::{MoveReport, SearchReport};

/// The moves from a state to the end of the game, and their result.
#[derive(Clone, PartialEq, Debug)]
pub struct Found {
    /// The goal of the searching role.
    pub goal: Goal,
    /// Joint moves one after another, role by role.
    pub moves: Vec<MoveId>,
    /// The number of states from the first on in which the goal was above 0 before the end.
    pub n_good: usize,
    /// Whether no line is better.
    pub is_proven: bool,
}

/// The best known line: the states on the way, each with the joint move to play there.
#[derive(Clone, Debug)]
pub struct Line<S> {
    steps: Vec<(S, Vec<MoveId>)>,
    goal: Goal,
    is_proven: bool,
}

impl<S: Clone + Eq> Line<S> {
    /// Creates the line that was found from a state.
    pub fn new<C: Cursor<State = S>>(
        cursor: &mut C,
        n_roles: usize,
        from: &S,
        found: &Found,
    ) -> Self {
        cursor.set_state(from);
        let mut steps = Vec::with_capacity(found.moves.len() / n_roles);
        for joint in found.moves.chunks(n_roles) {
            steps.push((cursor.state().clone(), joint.to_vec()));
            cursor.play(joint);
        }
        // Other roles and chance do not have to follow a line.
        let is_proven = n_roles == 1 && (found.is_proven || found.goal == Goal::MAX);
        Self { steps, goal: found.goal, is_proven }
    }

    /// Returns the goal at its end.
    pub fn goal(&self) -> Goal {
        self.goal
    }

    /// Returns the states on the way, each with the joint move to play there.
    pub fn steps(&self) -> &[(S, Vec<MoveId>)] {
        &self.steps
    }

    /// Whether nothing better can be found.
    pub fn is_settled(&self) -> bool {
        self.is_proven
    }

    /// Records that no line is better.
    pub fn settle(&mut self) {
        self.is_proven = true;
    }

    /// Returns the rest of the line if it leads through a state.
    pub fn from_here(mut self, state: &S) -> Option<Self> {
        let n_done = self.steps.iter().position(|(there, _)| there == state)?;
        self.steps.drain(..n_done);
        Some(self)
    }

    /// Stores its first move as the hint.
    pub fn note(&self, role: RoleId, hint: &Hint) {
        if let Some((_, joint)) = self.steps.first() {
            hint.set(joint[role.index()]);
        }
    }

    /// Returns the report of a search that knows only this line.
    pub fn report(&self, legal: &[MoveId], role: RoleId) -> SearchReport {
        let mut report = SearchReport::unsearched(legal);
        report.stopped = Some(StopReason::of_deadline());
        let Some((_, joint)) = self.steps.first() else { return report };
        let chosen = joint[role.index()];
        let reward = f64::from(self.goal.value()) / 100.0;
        report.chosen = Some(chosen);
        report.reward = Some(reward);
        report.is_proven = self.is_proven;
        if self.is_proven {
            report.stopped = None;
        }
        report.depth = self.steps.len() as u32;
        report.line = self.steps.iter().map(|(_, joint)| joint.clone()).collect();
        for it in report.moves.iter_mut().filter(|it| it.id == chosen) {
            let proven = self.is_proven.then_some(reward);
            *it = MoveReport { n_visits: 1, mean_reward: Some(reward), proven, ..*it };
        }
        report
    }
}
