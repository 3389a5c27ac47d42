//! What roles see of a step.

use ludex_base::{MoveId, PerceptId, RoleId};
use ludex_game::{Cursor, Observe};

use crate::roles::mix;

/// What roles see of a step besides their own move.
pub trait Sight<C> {
    /// Returns what a role saw of the step that led to the cursor's state; `None` if every role
    /// knows the joint move.
    fn percepts<'c>(&self, cursor: &'c C, role: RoleId) -> Option<&'c [PerceptId]>;
}

/// Every role sees every move: games without `sees` rules.
#[derive(Clone, Copy, Debug)]
pub struct AllMoves;

/// Roles see their percepts: games in GDL-II.
#[derive(Clone, Copy, Debug)]
pub struct OwnPercepts;

impl<C: Cursor> Sight<C> for AllMoves {
    fn percepts<'c>(&self, _cursor: &'c C, _role: RoleId) -> Option<&'c [PerceptId]> {
        None
    }
}

impl<C: Observe> Sight<C> for OwnPercepts {
    fn percepts<'c>(&self, cursor: &'c C, role: RoleId) -> Option<&'c [PerceptId]> {
        Some(cursor.percepts(role))
    }
}

/// Returns the view of a role before the first step.
pub(crate) fn first_view(role: RoleId) -> u64 {
    mix(role.index() as u64 + 1)
}

/// Returns the view of a role after the step that led to the cursor's state. It adds the role's own
/// move and percepts, or the joint move if every role knows it.
pub(crate) fn view_after<C: Cursor>(
    sight: &impl Sight<C>,
    cursor: &C,
    view: u64,
    role: RoleId,
    joint: &[MoveId],
) -> u64 {
    let add = |view: u64, number: usize| mix(view ^ mix(number as u64 + 1));
    let view = mix(view);
    match sight.percepts(cursor, role) {
        None => joint.iter().fold(view, |view, id| add(view, id.index())),
        Some(percepts) => {
            let mut percepts: smallvec::SmallVec<[PerceptId; 16]> = percepts.into();
            percepts.sort_unstable();
            let view = add(view, joint[role.index()].index());
            percepts.iter().fold(view, |view, id| add(view, id.index()))
        }
    }
}
