//! Methods for two roles and more: game graphs, alpha-beta.
//!
//! | method | games | answer |
//! | --- | --- | --- |
//! | `graph` | few enough states to list them all | winning regions if one role moves at a time; backward induction with chance, with moves at the same time, and with several roles |
//! | `alphabeta` | two roles, no chance, one role moves at a time | one question after the other: can the first role force at least this goal? |
//! | `proof-number` | the same, best with few goals; play may return to a state | the same |
//! | `expectimax` | chance, at most two others who play for opposite goals, one of them moves at a time | means by Star2 |
//!
//! The value of a role is what it can force and what the others can hold it to, if two roles play
//! for opposite goals. If they do not, or there are more roles, every role plays for its own goal,
//! and of several moves that are best for it takes the first.
//!
//! Read the modules in this order:
//!
//! 1. `graph`: states and successors.
//! 2. `regions`: winning regions by attractors.
//! 3. `induction`: chance, moves at the same time, several roles.
//! 4. `proof`: strategies as lines of certificates.
//! 5. `picture`: graphs as Graphviz and SVG.
//! 6. `enumeration`: the method that lists all states.
//! 7. `questions`: what a role can force, asked goal by goal.
//! 8. `transpositions`: what alpha-beta remembers.
//! 9. `alphabeta`: the method that answers depth first.
//! 10. `buckets`: a table for what the two next methods remember.
//! 11. `proof_number`: the method that answers where a proof looks smallest.
//! 12. `expectimax`: the method for chance, depth first.

pub(crate) mod alphabeta;
mod buckets;
pub(crate) mod enumeration;
pub(crate) mod expectimax;
pub(crate) mod graph;
mod induction;
mod picture;
mod proof;
pub(crate) mod proof_number;
mod questions;
mod regions;
mod transpositions;

use ludex_base::{Goal, RoleId, Seed};
use ludex_game::{Cursor, Game};

use crate::problem::Problem;

pub use enumeration::{Table, draw};
pub use picture::Picture;

/// Whether two roles play for opposite goals.
///
/// All methods must answer this alike, because it decides what the value of a role means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Opposition {
    /// The rules show it: the goals always have this sum.
    Proved(u8),
    /// In random games the goals always had the same sum. The value of each role is then what it can
    /// force and what the other can hold it to.
    Likely,
    /// There are more or fewer roles, or the sums differ.
    None,
}

/// Random games to play when the rules do not show the sum, and their longest.
const N_GAMES: usize = 100;
const MAX_STEPS: usize = 500;

impl Opposition {
    /// Finds out about a problem.
    pub(crate) fn of<G: Game>(problem: &Problem<'_, G>) -> Self {
        let roles = problem.game.roles();
        let players: Vec<RoleId> =
            problem.game.role_ids().filter(|role| !roles[role.index()].is_random).collect();
        let &[one, two] = &players[..] else { return Opposition::None };
        match proved_sum(problem, one, two) {
            Some(sum) => Opposition::Proved(sum),
            None if has_same_sums(problem, one, two) => Opposition::Likely,
            None => Opposition::None,
        }
    }

    /// Returns the sum, if the rules show it.
    pub(crate) fn sum(self) -> Option<u8> {
        match self {
            Opposition::Proved(sum) => Some(sum),
            Opposition::Likely | Opposition::None => None,
        }
    }
}

/// Returns the sum of the goals of two roles if the rules show that it is the same wherever each
/// role has one goal: the gate that derives a goal for one role derives the rest for the other.
fn proved_sum<G: Game>(problem: &Problem<'_, G>, one: RoleId, two: RoleId) -> Option<u8> {
    let circuit = problem.rules?.circuit();
    let of = |role: RoleId| circuit.goals.iter().filter(move |it| it.0 == role);
    let sum = of(one).map(|it| it.1.value()).max()? + of(two).map(|it| it.1.value()).min()?;
    let is_matched = |role: RoleId, other: RoleId| {
        of(role).all(|&(_, goal, gate)| {
            of(other).any(|&(_, rest, it)| it == gate && goal.value() + rest.value() == sum)
        })
    };
    (is_matched(one, two) && is_matched(two, one)).then_some(sum)
}

fn has_same_sums<G: Game>(problem: &Problem<'_, G>, one: RoleId, two: RoleId) -> bool {
    let mut rng = Seed(0).rng();
    let mut cursor = problem.game.cursor();
    let mut sum = None;
    for _ in 0..N_GAMES {
        cursor.set_state(&problem.state);
        for _ in 0..MAX_STEPS {
            if cursor.is_terminal() {
                let here = cursor.goal(one).value() + cursor.goal(two).value();
                if *sum.get_or_insert(here) != here {
                    return false;
                }
                break;
            }
            let drawn = problem.game.role_ids().map(|role| cursor.draw_move(role, &mut rng));
            let Some(joint) = drawn.collect::<Option<Vec<_>>>() else { return false };
            cursor.play(&joint);
        }
    }
    sum.is_some()
}

/// Returns what is left of a sum.
pub(crate) fn rest_of(sum: u8, goal: Goal) -> Goal {
    Goal::new(u32::from(sum.saturating_sub(goal.value()))).unwrap_or(Goal::MAX)
}
