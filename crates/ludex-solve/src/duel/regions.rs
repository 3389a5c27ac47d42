//! Winning regions by attractors: what a role can force in every state of a graph.
//!
//! For every goal, from the largest down, the states from which the role can force it are those
//! that already give it, those in which the role can move to such a state, and those in which
//! others must. A counter in each state of the others says how many of its moves still avoid the
//! region, so the whole takes time linear in the edges, for all goals together.
//!
//! Play that never ends forces nothing, so the regions also hold for graphs with cycles. Strategies
//! are memoryless: ranks fall along the moves of the role, so it cannot be led round in a circle.

use std::hash::Hash;

use ludex_base::{Goal, RoleId};

use super::graph::{Graph, Predecessors, Shape, StateNumber};

/// What a role can force in each state, whatever the others do.
pub(crate) struct Regions {
    /// The goals, or [`ENDLESS`].
    goals: Vec<u8>,
    /// The order in which the states joined their regions.
    ranks: Vec<u32>,
}

/// The others can go on for ever.
const ENDLESS: u8 = u8::MAX;

impl Regions {
    /// Finds the regions of a role in a graph where one role chooses at a time and none at random;
    /// open states count as ends with the goal `open`.
    pub(crate) fn of<S: Clone + Eq + Hash>(
        graph: &Graph<S>,
        predecessors: &Predecessors,
        role: RoleId,
        open: Goal,
    ) -> Self {
        let mut regions =
            Self { goals: vec![ENDLESS; graph.len()], ranks: vec![u32::MAX; graph.len()] };
        let mut n_avoiding = vec![0_u32; graph.len()];
        let mut ends: Vec<Vec<StateNumber>> = vec![Vec::new(); usize::from(Goal::MAX.value()) + 1];
        for number in graph.numbers() {
            match graph.shape(number) {
                Shape::Terminal(goals) => {
                    ends[usize::from(goals[role.index()].value())].push(number);
                }
                Shape::Open => ends[usize::from(open.value())].push(number),
                Shape::Single(_, successors) | Shape::Joint(_, successors) => {
                    n_avoiding[number as usize] = successors.len() as u32;
                }
            }
        }
        let mut n_joined = 0;
        for (goal, ends) in ends.into_iter().enumerate().rev() {
            let mut joining = ends;
            let mut n_followed = 0;
            while n_followed < joining.len() {
                let number = joining[n_followed];
                n_followed += 1;
                regions.goals[number as usize] = goal as u8;
                regions.ranks[number as usize] = n_joined;
                n_joined += 1;
                for &before in predecessors.before(number) {
                    let n_left = &mut n_avoiding[before as usize];
                    if *n_left == 0 {
                        continue;
                    }
                    let is_own = matches!(graph.shape(before), Shape::Single(it, _) if it == role);
                    *n_left = if is_own { 0 } else { *n_left - 1 };
                    if *n_left == 0 {
                        joining.push(before);
                    }
                }
            }
        }
        regions
    }

    /// Returns what the role can force; the smallest goal if the others can go on for ever.
    pub(crate) fn goal(&self, number: StateNumber) -> Goal {
        match self.goals[number as usize] {
            ENDLESS => Goal::MIN,
            goal => Goal::new(goal.into()).expect("regions have goals of states"),
        }
    }

    /// Returns whether the others can go on for ever.
    pub(crate) fn is_endless(&self, number: StateNumber) -> bool {
        self.goals[number as usize] == ENDLESS
    }

    /// Returns the place of the role's best move: to the largest goal, and there on the way to the
    /// end.
    pub(crate) fn best(&self, successors: &[StateNumber]) -> usize {
        let worth = |&place: &usize| {
            let number = successors[place];
            (self.goal(number), std::cmp::Reverse(self.ranks[number as usize]))
        };
        // The first of equal moves.
        (0..successors.len()).rev().max_by_key(worth).expect("a state before the end has a move")
    }

    /// Returns the place of the best move against the role: to the smallest goal, and there the
    /// longest way to the end.
    pub(crate) fn worst(&self, successors: &[StateNumber]) -> usize {
        let worth = |&place: &usize| {
            let number = successors[place];
            (self.goal(number), std::cmp::Reverse(self.ranks[number as usize]))
        };
        (0..successors.len()).min_by_key(worth).expect("a state before the end has a move")
    }
}
