//! Compares two engines on the same random states.

use std::fmt;

use ludex_base::{Deadline, Goal, MoveId, Seed};
use ludex_game::trace::{sorted_moves, sorted_percepts};
use ludex_game::{Cursor, Describe, Observe};

/// The first difference between two engines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Disagreement {
    /// The joint moves from the initial state to the state where they differ.
    pub path: Vec<String>,
    /// The subject of the difference: `legal moves of red`.
    pub about: String,
    /// Texts that only the first engine has.
    pub only_first: Vec<String>,
    /// Texts that only the second engine has.
    pub only_second: Vec<String>,
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} differ after [{}]: only the first has {:?}, only the second {:?}",
            self.about,
            self.path.join("; "),
            self.only_first,
            self.only_second
        )
    }
}

/// Maximal length of a random walk. Walks are long, because the first states of a game are all
/// alike, but an endless game must not take up a single walk.
const MAX_WALK: usize = 200;

/// Maximal number of visited states kept as starts of further walks.
const MAX_KEPT: usize = 32;

/// Walks at random through a game with two engines and compares them in every state, until
/// `n_states` states were compared or the deadline is reached.
///
/// Some walks start from a state visited before. In each state, `terminal`, goals, legal moves,
/// fluents, and the percepts of the step that led there must be the same sets of texts.
///
/// Returns the number of states compared. It is small if an engine reaches its limits in a state, because
/// its answers there mean nothing.
///
/// # Errors
/// Returns the first difference.
pub fn agree<A, B>(
    first: &A,
    second: &B,
    n_states: usize,
    seed: Seed,
    deadline: &Deadline,
) -> Result<usize, Disagreement>
where
    A: Describe,
    A::Cursor: Observe,
    B: Describe,
    B::Cursor: Observe,
{
    let names = |roles: &[ludex_game::Role]| roles.iter().map(|role| role.name.clone()).collect();
    let roles: Vec<String> = names(first.roles());
    same(&[], "roles", roles.clone(), names(second.roles()))?;
    let mut rng = seed.rng();
    let mut n_compared = 0;
    let mut a = first.cursor();
    let mut b = second.cursor();
    // States with the paths that lead there; the initial state is the first.
    let mut kept = vec![(a.state().clone(), b.state().clone(), Vec::new())];
    while n_compared < n_states && !deadline.reached() {
        // A walk starts in the initial state or in a kept state, to which the cursors jump.
        let start = if rng.below(2) == 0 { 0 } else { rng.below(kept.len()) };
        let (state_a, state_b, mut path) = kept[start].clone();
        a.set_state(&state_a);
        b.set_state(&state_b);
        for _ in 0..MAX_WALK {
            // Step 1. Ask both engines everything. An engine that could not evaluate the state has no
            // answers, and the walk ends.
            let fluents = (first.state_texts(a.state()), second.state_texts(b.state()));
            let is_terminal = a.is_terminal();
            let ends = [is_terminal, b.is_terminal()].map(|it| vec![format!("terminal: {it}")]);
            let mut choices: Vec<(Moves, Moves)> = Vec::new();
            let mut goals: Vec<[Vec<String>; 2]> = Vec::new();
            for role in first.role_ids() {
                let texts = |goals: &[Goal]| goals.iter().map(Goal::to_string).collect();
                goals.push([texts(a.goals(role)), texts(b.goals(role))]);
                choices
                    .push((sorted_moves(first, &mut a, role), sorted_moves(second, &mut b, role)));
            }
            if a.has_fault() || b.has_fault() {
                return Ok(n_compared);
            }
            // Step 2. Compare the answers.
            same(&path, "fluents", fluents.0, fluents.1)?;
            let [end_a, end_b] = ends;
            same(&path, "ends", end_a, end_b)?;
            for ((name, [goals_a, goals_b]), (moves_a, moves_b)) in
                roles.iter().zip(goals).zip(&choices)
            {
                same(&path, &format!("goals of {name}"), goals_a, goals_b)?;
                same(&path, &format!("legal moves of {name}"), texts(moves_a), texts(moves_b))?;
            }
            n_compared += 1;
            if is_terminal || n_compared >= n_states || deadline.reached() {
                break;
            }
            // Step 3. Play one joint move, the same in both engines.
            if choices.iter().any(|(moves, _)| moves.is_empty()) {
                break;
            }
            let places: Vec<usize> =
                choices.iter().map(|(moves, _)| rng.below(moves.len())).collect();
            let joint_of = |pick: &dyn Fn(usize) -> MoveId| (0..places.len()).map(pick).collect();
            let joint_a: Vec<MoveId> =
                joint_of(&|role_idx| choices[role_idx].0[places[role_idx]].1);
            let joint_b: Vec<MoveId> =
                joint_of(&|role_idx| choices[role_idx].1[places[role_idx]].1);
            let words: Vec<&str> = places
                .iter()
                .zip(&choices)
                .map(|(&place, (moves, _))| moves[place].0.as_str())
                .collect();
            path.push(words.join(" "));
            a.play(&joint_a);
            b.play(&joint_b);
            if a.has_fault() || b.has_fault() {
                return Ok(n_compared);
            }
            if rng.below(8) == 0 {
                let place = 1 + rng.below(MAX_KEPT);
                let entry = (a.state().clone(), b.state().clone(), path.clone());
                match kept.get_mut(place) {
                    Some(old) => *old = entry,
                    None => kept.push(entry),
                }
            }
            for role in first.role_ids() {
                let about = format!("percepts of {}", roles[role.index()]);
                let seen = (sorted_percepts(first, &a, role), sorted_percepts(second, &b, role));
                same(&path, &about, seen.0, seen.1)?;
            }
        }
    }
    Ok(n_compared)
}

/// Legal moves with their texts, sorted.
type Moves = Vec<(String, MoveId)>;

fn texts(moves: &[(String, MoveId)]) -> Vec<String> {
    moves.iter().map(|(text, _)| text.clone()).collect()
}

fn same(
    path: &[String],
    about: &str,
    first: Vec<String>,
    second: Vec<String>,
) -> Result<(), Disagreement> {
    if first == second {
        return Ok(());
    }
    let only = |these: &[String], those: &[String]| {
        these.iter().filter(|text| !those.contains(text)).take(10).cloned().collect()
    };
    Err(Disagreement {
        path: path.to_vec(),
        about: about.into(),
        only_first: only(&first, &second),
        only_second: only(&second, &first),
    })
}
