//! A way from a state to the end of the game, kept from move to move.

use ludex_base::{Goal, MoveId, RoleId, StopReason};
use ludex_game::Cursor;

use crate::limits::Hint;
use crate::report::{MoveReport, SearchReport};

/// What was played from a state to the end.
#[derive(Clone, PartialEq, Debug)]
pub struct Found {
    /// The goal of the role that searches.
    pub goal: Goal,
    /// Joint moves one after the other, role by role.
    pub moves: Vec<MoveId>,
    /// States from the first on in which the goal was above 0, though the game went on.
    pub n_good: usize,
    /// Whether there is no better way.
    pub is_proven: bool,
}

/// The best line that is known: the states on the way, each with the joint move that is played there.
#[derive(Clone, Debug)]
pub struct Line<S> {
    steps: Vec<(S, Vec<MoveId>)>,
    goal: Goal,
    is_proven: bool,
}

impl<S: Clone + Eq> Line<S> {
    /// The line that was found from a state.
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
        // Where others choose too, or chance does, nobody has to follow it.
        let is_proven = n_roles == 1 && (found.is_proven || found.goal == Goal::MAX);
        Self { steps, goal: found.goal, is_proven }
    }

    /// What it leads to.
    pub fn goal(&self) -> Goal {
        self.goal
    }

    /// The states on the way, each with the joint move that is played there.
    pub fn steps(&self) -> &[(S, Vec<MoveId>)] {
        &self.steps
    }

    /// Whether nothing better can be found.
    pub fn is_settled(&self) -> bool {
        self.is_proven
    }

    /// It was shown that there is no better one.
    pub fn settle(&mut self) {
        self.is_proven = true;
    }

    /// What is left of the line if it leads through a state.
    pub fn from_here(mut self, state: &S) -> Option<Self> {
        let n_done = self.steps.iter().position(|(there, _)| there == state)?;
        self.steps.drain(..n_done);
        Some(self)
    }

    /// Notes its first move for those who can't wait.
    pub fn note(&self, role: RoleId, hint: &Hint) {
        if let Some((_, joint)) = self.steps.first() {
            hint.set(joint[role.index()]);
        }
    }

    /// The report of a search that has this line and has looked at nothing else.
    pub fn report(&self, legal: &[MoveId], role: RoleId) -> SearchReport {
        let mut report = SearchReport::unsearched(legal);
        report.stopped = Some(StopReason::Time);
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
