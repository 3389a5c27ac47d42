//! Compares the solutions of a game's network with the steps of its machine.

use std::collections::HashSet;

use ludex_base::{BitSet, Deadline, Goal, MoveId, Rng, RoleId, Seed};
use ludex_csp::CspError;
use ludex_encode::{EncodeError, FoundBy, Solution, Steps, Template};
use ludex_game::{Cursor, Game, Observe, draw_joint};
use ludex_machine::{Machine, MachineCursor};

/// Most joint moves to compare in one state; if there are more, this many are drawn at random.
pub const MAX_JOINT_MOVES: usize = 10_000;
/// Bytes that a posted network may take.
const MAX_BYTES: u64 = 4_000_000_000;
/// Steps after which a random walk starts again.
const MAX_WALK: usize = 200;

/// Counts of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Compared {
    /// Compared states.
    pub n_states: usize,
    /// States with too many joint moves, of which a sample was compared.
    pub n_sampled: usize,
    /// Compared joint moves.
    pub n_joint_moves: usize,
    /// States whose legal moves were found by propagation, by singleton consistency, and by search.
    pub n_found_by: [usize; 3],
}

/// Compares the solutions of the injected template with the steps of the machine on random reachable
/// states: legal joint moves, next states, percepts, end and goals, as sets. Also checks that the network
/// finds the legal moves by itself, and counts the method that it needs.
///
/// # Errors
/// A description of the first difference.
pub fn compare(
    machine: &Machine,
    template: &Template,
    n_states: usize,
    max_joint_moves: usize,
    deadline: &Deadline,
) -> Result<Compared, String> {
    let mut steps = match Steps::within(template, &Deadline::never(), MAX_BYTES) {
        Ok(steps) => steps,
        // A network that is too large to post is not wrong; no state is compared.
        Err(EncodeError::Network(CspError::Stopped(_))) => return Ok(Compared::default()),
        Err(error) => return Err(error.to_string()),
    };
    let mut rng = Seed(1).rng();
    let mut compared = Compared::default();
    let mut seen: HashSet<BitSet> = HashSet::new();
    let mut n_repeated = 0;
    // At least one state is compared, however little time there is.
    while compared.n_states < n_states
        && n_repeated < 10 * n_states
        && (compared.n_states == 0 || !deadline.reached())
    {
        let mut cursor = machine.cursor();
        for _ in 0..MAX_WALK {
            if seen.insert(cursor.state().clone()) {
                compare_state(
                    machine,
                    template,
                    &mut cursor,
                    &mut steps,
                    max_joint_moves,
                    &mut rng,
                )
                .map(|(is_sampled, n, found_by)| {
                    compared.n_found_by[found_by as usize] += 1;
                    compared.n_states += 1;
                    compared.n_sampled += usize::from(is_sampled);
                    compared.n_joint_moves += n;
                })?;
            } else {
                n_repeated += 1;
            }
            let is_enough = compared.n_states >= n_states || deadline.reached();
            if is_enough || cursor.is_terminal() {
                break;
            }
            match draw_joint(machine, &mut cursor, &mut rng) {
                Some(joint) => cursor.play(&joint),
                None => break,
            }
        }
    }
    Ok(compared)
}

/// The solution that the network must have for a step of the machine.
fn expected(machine: &Machine, cursor: &mut MachineCursor, joint: &[MoveId]) -> Solution {
    let is_terminal = cursor.is_terminal();
    let goal = |cursor: &mut MachineCursor, role: RoleId| {
        if is_terminal { cursor.goal(role) } else { Goal::MIN }
    };
    let goals = machine.role_ids().map(|role| goal(cursor, role)).collect();
    let mut after = cursor.clone();
    let mut percepts = Vec::new();
    if !is_terminal {
        after.play(joint);
        percepts.extend(machine.role_ids().flat_map(|role| after.percepts(role).to_vec()));
        percepts.sort_unstable();
    }
    Solution { joint: joint.to_vec(), next: after.state().clone(), is_terminal, goals, percepts }
}

fn compare_state(
    machine: &Machine,
    template: &Template,
    cursor: &mut MachineCursor,
    steps: &mut Steps<'_>,
    max_joint_moves: usize,
    rng: &mut Rng,
) -> Result<(bool, usize, FoundBy), String> {
    let state = cursor.state().clone();
    let is_terminal = cursor.is_terminal();
    let legal: Vec<Vec<MoveId>> = if is_terminal {
        Vec::new()
    } else {
        machine.role_ids().map(|role| cursor.legal_moves(role).to_vec()).collect()
    };
    let is_stuck = legal.iter().any(Vec::is_empty);
    if !steps.inject(&state) {
        steps.take_back();
        return if is_stuck {
            Ok((false, 0, FoundBy::Propagation))
        } else {
            Err("the injected network has no solution".into())
        };
    }
    // Propagation alone may leave illegal moves; then a stronger method has to find the legal ones.
    let mut found_by = FoundBy::Propagation;
    for (role, moves) in legal.iter().enumerate() {
        let left: Vec<MoveId> = steps.moves_left(role).collect();
        if left != *moves {
            let found = steps.legal_moves(&state);
            if found.moves != legal {
                return Err(format!(
                    "the network finds the moves {:?}, legal are {legal:?}",
                    found.moves
                ));
            }
            found_by = found_by.max(found.found_by);
        }
    }
    let n_joint = legal.iter().fold(1_usize, |n, moves| n.saturating_mul(moves.len()));
    let result = if n_joint <= max_joint_moves {
        compare_all(machine, template, cursor, steps, &legal).map(|()| (false, n_joint, found_by))
    } else {
        compare_sample(machine, cursor, steps, max_joint_moves, rng)
            .map(|()| (true, max_joint_moves, found_by))
    };
    steps.take_back();
    result
}

fn compare_all(
    machine: &Machine,
    template: &Template,
    cursor: &mut MachineCursor,
    steps: &mut Steps<'_>,
    legal: &[Vec<MoveId>],
) -> Result<(), String> {
    let mut expect: HashSet<Solution> = HashSet::new();
    for joint in product(legal) {
        expect.insert(expected(machine, cursor, &joint));
    }
    let mut wrong = None;
    steps.for_each_solution(&mut |engine| {
        let solution = Solution::read(template, engine);
        if !expect.remove(&solution) {
            wrong = Some(format!("only the network has the solution {solution:?}"));
        }
        wrong.is_none()
    });
    match (wrong, expect.into_iter().next()) {
        (Some(difference), _) => Err(difference),
        (None, Some(missing)) => Err(format!("only the machine has the step {missing:?}")),
        (None, None) => Ok(()),
    }
}

fn compare_sample(
    machine: &Machine,
    cursor: &mut MachineCursor,
    steps: &mut Steps<'_>,
    n: usize,
    rng: &mut Rng,
) -> Result<(), String> {
    for _ in 0..n {
        let joint = draw_joint(machine, cursor, rng).expect("there are many joint moves");
        let right = expected(machine, cursor, &joint);
        match steps.play(&joint) {
            Some(solution) if solution == right => {}
            other => return Err(format!("the network gives {other:?} instead of {right:?}")),
        }
    }
    Ok(())
}

/// All joint moves; a single empty one if no role moves.
fn product(legal: &[Vec<MoveId>]) -> Vec<Vec<MoveId>> {
    legal.iter().fold(vec![Vec::new()], |joints, moves| {
        let extend = |joint: &Vec<MoveId>| {
            let joint = joint.clone();
            moves.iter().map(move |&id| [&joint[..], &[id]].concat()).collect::<Vec<_>>()
        };
        joints.iter().flat_map(extend).collect()
    })
}
