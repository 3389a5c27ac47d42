//! Flat Monte Carlo: the move after which random play does best.
//!
//! The moves of one role are the arms of a bandit. UCB1 says where the next playouts go; they
//! come in batches, so that an engine can play them side by side. The other roles, chance
//! among them, are taken to play at random. For any number of roles; the value of a move is
//! the mean goal of the role itself.
//!
//! After Auer, Cesa-Bianchi and Fischer, *Finite-time Analysis of the Multiarmed Bandit
//! Problem*, 2002. This is the opponent of the command line until there are players.

use std::time::{Duration, Instant};

use ludex_base::{Deadline, MoveId, Rng, RoleId, Seed};
use ludex_game::{
    Cursor, Game, Observe, PlayoutRequest, PlayoutResults, PlayoutRunner, Playouts, StateOf,
};

/// How to choose.
#[derive(Clone, Debug)]
pub struct FlatConfig {
    /// When to answer.
    pub deadline: Deadline,
    /// How many threads to use.
    pub n_threads: usize,
    /// Where the randomness comes from.
    pub seed: Seed,
    /// Playouts longer than this are given up.
    pub max_steps: usize,
}

/// What was chosen, and on what ground.
#[derive(Clone, Copy, Debug)]
pub struct FlatChoice {
    /// The move.
    pub chosen: MoveId,
    /// Playouts behind the choice, over all moves; with none the move was drawn.
    pub n_playouts: u64,
    /// The mean goal after the move, 0 to 100.
    pub mean_goal: f64,
}

/// Moves that get playouts in one batch, and the most playouts each of them gets. An engine
/// that plays side by side wants large batches, a slow one must look at the clock: a batch grows
/// while it takes less than the time below.
const N_PICKS: usize = 16;
const MAX_PER_PICK: usize = 32;
const BATCH_TIME: Duration = Duration::from_millis(5);

/// Chooses a move for a role that is in one of the states `roots`, as far as it knows.
///
/// # Panics
/// When `roots` or `legal` is empty.
pub fn choose<G: Playouts>(
    game: &G,
    roots: &[StateOf<G>],
    role: RoleId,
    legal: &[MoveId],
    config: &FlatConfig,
) -> FlatChoice {
    assert!(!roots.is_empty() && !legal.is_empty(), "there is something to choose");
    let mut arms = vec![Arm::default(); legal.len()];
    if legal.len() > 1 {
        let found: Vec<Vec<Arm>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..config.n_threads)
                .map(|thread_idx| {
                    let rng = config.seed.child(thread_idx as u64).rng();
                    scope.spawn(move || sample_arms(game, roots, role, legal, config, rng))
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().expect("no playout panics")).collect()
        });
        for (arm, found) in found.iter().flat_map(|found| found.iter().enumerate()) {
            arms[arm].n_visits += found.n_visits;
            arms[arm].goal_sum += found.goal_sum;
        }
    }
    let n_playouts = arms.iter().map(|arm| arm.n_visits).sum();
    // The most visited move is the one UCB trusts; without playouts any move will do.
    let best = (0..arms.len())
        .max_by(|&a, &b| {
            let key = |arm: &Arm| (arm.n_visits, arm.mean());
            key(&arms[a]).partial_cmp(&key(&arms[b])).expect("means are numbers")
        })
        .filter(|_| n_playouts > 0)
        .unwrap_or_else(|| config.seed.rng().below(legal.len()));
    FlatChoice { chosen: legal[best], n_playouts, mean_goal: arms[best].mean() * 100.0 }
}

#[derive(Clone, Copy, Debug, Default)]
struct Arm {
    n_visits: u64,
    /// Sum of goals, 0 to 1 each.
    goal_sum: f64,
}

impl Arm {
    fn mean(&self) -> f64 {
        if self.n_visits == 0 { 0.0 } else { self.goal_sum / self.n_visits as f64 }
    }
}

fn sample_arms<G: Playouts>(
    game: &G,
    roots: &[StateOf<G>],
    role: RoleId,
    legal: &[MoveId],
    config: &FlatConfig,
    mut rng: Rng,
) -> Vec<Arm> {
    let mut arms = vec![Arm::default(); legal.len()];
    let mut cursor = game.cursor();
    let mut runner = game.runner();
    let mut joint = Vec::new();
    let mut n_per_pick = 1;
    while !config.deadline.reached() {
        let batch_start = Instant::now();
        // Step 1. Pick moves; a pick counts at once, or the batch would be one move.
        let mut hopes = arms.clone();
        let mut picks = Vec::new();
        let mut starts = Vec::new();
        for _ in 0..N_PICKS {
            let pick = ucb1(&hopes, &mut rng);
            hopes[pick].goal_sum += hopes[pick].mean() * n_per_pick as f64;
            hopes[pick].n_visits += n_per_pick as u64;
            // Step 2. Play it, against any reply.
            cursor.set_state(&roots[rng.below(roots.len())]);
            if draw_joint(game, &mut cursor, Some((role, legal[pick])), &mut rng, &mut joint) {
                cursor.play(&joint);
                starts.push(cursor.state().clone());
                picks.push(pick);
            }
        }
        // Step 3. Play on at random.
        let mut results = PlayoutResults::default();
        let request = PlayoutRequest {
            starts: &starts,
            n_per_start: n_per_pick,
            max_steps: config.max_steps,
            wants_moves: false,
            deadline: &config.deadline,
        };
        runner.run(&request, &mut rng, &mut results);
        // Step 4. Keep what came out.
        for (&pick, start) in picks.iter().zip(&results.starts) {
            arms[pick].n_visits += start.n_playouts;
            let sum = start.goal_sums.get(role.index()).copied().unwrap_or(0);
            arms[pick].goal_sum += sum as f64 / 100.0;
        }
        if batch_start.elapsed() < BATCH_TIME {
            n_per_pick = (2 * n_per_pick).min(MAX_PER_PICK);
        }
    }
    arms
}

/// The arm with the highest upper confidence bound; an arm without visits goes first.
fn ucb1(arms: &[Arm], rng: &mut Rng) -> usize {
    let unvisited: Vec<usize> = (0..arms.len()).filter(|&arm| arms[arm].n_visits == 0).collect();
    if let Some(&arm) = rng.choose(&unvisited) {
        return arm;
    }
    let n_total: u64 = arms.iter().map(|arm| arm.n_visits).sum();
    let log = (n_total as f64).ln();
    let bound = |arm: &Arm| arm.mean() + (2.0 * log / arm.n_visits as f64).sqrt();
    (0..arms.len())
        .max_by(|&a, &b| bound(&arms[a]).total_cmp(&bound(&arms[b])))
        .expect("there is an arm")
}

/// Draws a legal move for every role but the one whose move is given; false if the state is
/// terminal, some role has no move, or the given move is not legal.
fn draw_joint<G: Game>(
    game: &G,
    cursor: &mut G::Cursor,
    given: Option<(RoleId, MoveId)>,
    rng: &mut Rng,
    joint: &mut Vec<MoveId>,
) -> bool {
    joint.clear();
    if cursor.is_terminal() {
        return false;
    }
    for role in game.role_ids() {
        let legal = cursor.legal_moves(role);
        let chosen = match given {
            Some((given_role, chosen)) if given_role == role => {
                Some(chosen).filter(|chosen| legal.contains(chosen))
            }
            _ => rng.choose(legal).copied(),
        };
        let Some(chosen) = chosen else { return false };
        joint.push(chosen);
    }
    true
}

/// What one role knows of a play with hidden information: its moves, and what it saw.
#[derive(Clone, Debug, Default)]
pub struct History {
    moves: Vec<MoveId>,
    percepts: Vec<Vec<ludex_base::PerceptId>>,
}

impl History {
    /// Adds a step: what the role played, and what the cursor says it saw.
    pub fn record<C: Observe>(&mut self, cursor: &C, role: RoleId, chosen: MoveId) {
        self.moves.push(chosen);
        self.percepts.push(sorted(cursor.percepts(role)));
    }

    /// States that agree with all the role knows, found by replaying with random moves of the
    /// others and dropping what it would have seen differently. May find none in time.
    pub fn possible_states<G>(
        &self,
        game: &G,
        role: RoleId,
        max_states: usize,
        rng: &mut Rng,
        deadline: &Deadline,
    ) -> Vec<StateOf<G>>
    where
        G: Game,
        G::Cursor: Observe,
    {
        let mut states = Vec::new();
        let mut cursor = game.cursor();
        let start = cursor.state().clone();
        let mut joint = Vec::new();
        while states.len() < max_states && !deadline.reached() {
            cursor.set_state(&start);
            let is_possible = self.moves.iter().zip(&self.percepts).all(|(&chosen, seen)| {
                draw_joint(game, &mut cursor, Some((role, chosen)), rng, &mut joint) && {
                    cursor.play(&joint);
                    sorted(cursor.percepts(role)) == *seen
                }
            });
            if is_possible {
                states.push(cursor.state().clone());
            }
        }
        states
    }
}

fn sorted(percepts: &[ludex_base::PerceptId]) -> Vec<ludex_base::PerceptId> {
    let mut percepts = percepts.to_vec();
    percepts.sort();
    percepts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ucb_tries_everything_and_then_the_better_arm() {
        let mut rng = Seed(1).rng();
        let arm = |n_visits, goal_sum| Arm { n_visits, goal_sum };
        assert_eq!(ucb1(&[arm(5, 5.0), arm(0, 0.0)], &mut rng), 1);
        assert_eq!(ucb1(&[arm(100, 90.0), arm(100, 10.0)], &mut rng), 0);
        assert_eq!(ucb1(&[arm(100_000, 60_000.0), arm(2, 1.0)], &mut rng), 1);
    }
}
