//! Perft: the number of sequences of joint moves, depth by depth.
//!
//! Two engines that implement the same rules get the same counts, and so do two versions of one
//! engine. Terminal states extend no path, nor do states in which some role has no legal move.

use ludex_base::{Deadline, StopReason};

use crate::game::{Cursor, Game};
use crate::joint::{JointMoves, count_joint_moves};

/// The counts, and why there are fewer than requested, if so.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Perft {
    /// Paths of 1, 2, 3, … joint moves from the initial state.
    pub nodes: Vec<u64>,
    /// Why counting ended early. The counts in `nodes` are exact all the same.
    pub stopped: Option<StopReason>,
}

/// Counts the paths of each length from 1 to `max_depth`; the counts end with the first 0.
///
/// Each depth is counted anew, so that a deadline leaves complete depths. The last level is counted
/// without playing its moves. The deadline is checked at every 16th state.
pub fn perft<G: Game>(game: &G, max_depth: usize, deadline: &Deadline) -> Perft {
    let mut nodes = Vec::new();
    for depth in 1..=max_depth {
        match paths_of_length(game, depth, deadline) {
            Ok(n_paths) => nodes.push(n_paths),
            Err(reason) => return Perft { nodes, stopped: Some(reason) },
        }
        // Once a depth has no paths, no longer depth has any.
        if nodes.last() == Some(&0) {
            break;
        }
    }
    Perft { nodes, stopped: None }
}

/// A state on the current path, with the joint moves still to try there.
struct Level<S> {
    state: S,
    joints: JointMoves,
}

fn paths_of_length<G: Game>(
    game: &G,
    depth: usize,
    deadline: &Deadline,
) -> Result<u64, StopReason> {
    let n_roles = game.roles().len();
    let mut cursor = game.cursor();
    // An explicit stack: a game may be longer than the thread's stack is deep.
    let mut levels = Vec::new();
    let mut n_paths = 0_u64;
    let mut n_states = 0_u64;
    loop {
        // Step 1. The cursor is on a new state: count its joint moves, or go deeper.
        n_states += 1;
        if n_states.is_multiple_of(16) && deadline.reached() {
            return Err(StopReason::of_deadline());
        }
        if !cursor.is_terminal() {
            if levels.len() + 1 == depth {
                n_paths = count_joint_moves(&mut cursor, n_roles)
                    .and_then(|n_joints| n_paths.checked_add(n_joints))
                    .ok_or(StopReason::Count)?;
            } else {
                let joints = JointMoves::of(&mut cursor, n_roles);
                levels.push(Level { state: cursor.state().clone(), joints });
            }
        }
        if cursor.has_fault() {
            return Err(StopReason::Fault);
        }
        // Step 2. Play the next joint move of the deepest level that has one left.
        loop {
            let Some(level) = levels.last_mut() else { return Ok(n_paths) };
            if let Some(joint) = level.joints.next_joint() {
                cursor.set_state(&level.state);
                cursor.play(joint);
                break;
            }
            levels.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_games::Nim;

    #[test]
    fn paths_of_a_small_nim() {
        // From heaps 2 and 1: three moves; then (1,1) has two, (0,1) one, (2,0) two.
        let game = Nim::new(&[2, 1]);
        let counted = perft(&game, 5, &Deadline::never());
        assert_eq!(counted, Perft { nodes: vec![3, 5, 3, 0], stopped: None });
    }

    #[test]
    fn a_deadline_leaves_whole_depths() {
        let game = Nim::new(&[9, 9, 9]);
        let counted = perft(&game, 9, &Deadline::after(std::time::Duration::ZERO));
        assert_eq!(counted.stopped, Some(StopReason::Time));
        assert_eq!(counted.nodes[0], 27);
    }
}
