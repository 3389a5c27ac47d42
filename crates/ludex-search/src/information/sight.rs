//! What roles see of a step.

use ludex_base::{MoveId, PerceptId, RoleId};
use ludex_game::{Cursor, Observe};

use crate::roles::mix;

/// What roles see of a step besides their own move.
pub trait Sight<C> {
    /// What a role saw of the step that led to where the cursor stands; `None` if every role knows
    /// the joint move.
    fn percepts<'c>(&self, cursor: &'c C, role: RoleId) -> Option<&'c [PerceptId]>;
}

/// Everybody sees every move: games without `sees` rules.
#[derive(Clone, Copy, Debug)]
pub struct AllMoves;

/// Roles see their percepts: GDL-II.
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

/// What a role has seen before the first step, as one number.
pub(crate) fn first_view(role: RoleId) -> u64 {
    mix(role.index() as u64 + 1)
}

/// What a role has seen after the step that led to where the cursor stands, if that was its view
/// before it: its own move and percepts, or the joint move where everybody knows it.
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
