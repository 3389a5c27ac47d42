//! Winning regions by attractors: what a role, or those against it, can force in every state of a
//! graph.
//!
//! For every goal, from the largest down, the states from which the role can force it are those
//! that already give it, those in which the role can move to such a state, and those in which
//! others must. A counter in each state of the others says how many of its moves still avoid the
//! region, so the whole takes time linear in the edges, for all goals together. What the others can
//! hold the role to is found in the same way, from the smallest goal up.
//!
//! Play that never ends forces nothing, so the regions also hold for graphs with cycles. Strategies
//! are memoryless: ranks fall along the moves of their side, so it cannot be led round in a circle.
//! Where each side can prevent an end that the other wants, what the role can force is less than
//! what the others can hold it to.

use std::hash::Hash;

use ludex_base::{Goal, RoleId};

use super::graph::{Graph, Predecessors, Shape, StateNumber};
use super::proof::Side;

/// What one side can force in each state, whatever the other does.
pub(crate) struct Regions {
    side: Side,
    /// The goals, or [`ENDLESS`].
    goals: Vec<u8>,
    /// The order in which the states joined their regions.
    ranks: Vec<u32>,
}

/// The other side can go on for ever.
const ENDLESS: u8 = u8::MAX;

impl Regions {
    /// Finds what a role can force, or what the others can hold it to, in a graph where one role
    /// chooses at a time and none at random; open states count as ends with the goal `open`.
    pub(crate) fn of<S: Clone + Eq + Hash>(
        graph: &Graph<S>,
        predecessors: &Predecessors,
        role: RoleId,
        side: Side,
        open: Goal,
    ) -> Self {
        let (goals, ranks) = (vec![ENDLESS; graph.len()], vec![u32::MAX; graph.len()]);
        let mut regions = Self { side, goals, ranks };
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
        let mut from_best: Vec<(usize, Vec<StateNumber>)> = ends.into_iter().enumerate().collect();
        if side == Side::Own {
            from_best.reverse();
        }
        for (goal, mut joining) in from_best {
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
                    let is_of_role =
                        matches!(graph.shape(before), Shape::Single(it, _) if it == role);
                    let is_own = is_of_role == (side == Side::Own);
                    *n_left = if is_own { 0 } else { *n_left - 1 };
                    if *n_left == 0 {
                        joining.push(before);
                    }
                }
            }
        }
        regions
    }

    /// Returns the goal that the side can force; the worst for it if the other side can go on for
    /// ever.
    pub(crate) fn goal(&self, number: StateNumber) -> Goal {
        match (self.goals[number as usize], self.side) {
            (ENDLESS, Side::Own) => Goal::MIN,
            (ENDLESS, Side::Others) => Goal::MAX,
            (goal, _) => Goal::new(goal.into()).expect("regions have goals of states"),
        }
    }

    /// Returns whether the other side can go on for ever.
    pub(crate) fn is_endless(&self, number: StateNumber) -> bool {
        self.goals[number as usize] == ENDLESS
    }

    /// Returns the place of the side's best move: to the best goal for it, and there on the way to
    /// the end. Of equal moves it is the first.
    pub(crate) fn best(&self, successors: &[StateNumber]) -> usize {
        let loss = |&place: &usize| {
            let number = successors[place];
            let goal = self.goal(number).value();
            let loss = if self.side == Side::Own { Goal::MAX.value() - goal } else { goal };
            (loss, self.ranks[number as usize])
        };
        (0..successors.len()).min_by_key(loss).expect("a state before the end has a move")
    }
}
