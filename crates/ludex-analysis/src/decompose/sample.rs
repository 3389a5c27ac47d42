//! Random playouts in lanes, and the states kept from them.

use ludex_base::{BitSet, Deadline, MoveId, Rng, RoleId};
use ludex_circuit::Circuit;

use super::lanes::{Lanes, N_LANES, lanes_of};

/// Nonterminal states of random playouts.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    /// The states, each with the number of steps before it; the first is the start.
    pub states: Vec<(BitSet, usize)>,
    pub n_playouts: usize,
}

/// How much to play.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    pub n_playouts: usize,
    /// States to keep.
    pub max_states: usize,
    /// Gates and inputs of gates to evaluate, each for all lanes, before the playouts end.
    pub max_work: usize,
}

/// Longer playouts are abandoned.
const MAX_STEPS: usize = 500;

/// Plays random games from a state and keeps a uniform choice of the states on the way.
pub(super) fn sample(
    circuit: &Circuit,
    start: &BitSet,
    effort: Effort,
    rng: &mut Rng,
    deadline: &Deadline,
) -> Sample {
    let mut lanes = Lanes::new(circuit);
    let moves = moves_by_role(circuit);
    let mut sample = Sample { states: Vec::new(), n_playouts: 0 };
    let mut n_started = 0;
    let mut n_seen = 0;
    let mut steps = [0; N_LANES];
    let mut active = 0_u64;
    loop {
        // Step 1. Begin playouts in idle lanes.
        for lane in lanes_of(!active) {
            if n_started < effort.n_playouts {
                n_started += 1;
                steps[lane] = 0;
                active |= 1 << lane;
                lanes.set_state(start, 1 << lane);
            }
        }
        if active == 0 || lanes.work > effort.max_work || deadline.reached() {
            return sample;
        }

        // Step 2. End the playouts that are over.
        lanes.evaluate_state();
        let mut over = lanes.value(circuit.terminal) & active;
        sample.n_playouts += over.count_ones() as usize;
        over |= lanes_of(active & !over)
            .filter(|&lane| steps[lane] >= MAX_STEPS)
            .fold(0, |all, lane| all | 1 << lane);
        active &= !over;

        // Step 3. Keep some of the states; the start only once.
        for lane in lanes_of(active) {
            if steps[lane] == 0 && !sample.states.is_empty() {
                continue;
            }
            n_seen += 1;
            if sample.states.len() < effort.max_states {
                sample.states.push((lanes.state(lane), steps[lane]));
            } else {
                let place = rng.below(n_seen);
                if (1..effort.max_states).contains(&place) {
                    sample.states[place] = (lanes.state(lane), steps[lane]);
                }
            }
        }

        // Step 4. Play a random move for each role. A role without one ends the playout.
        lanes.moves.fill(0);
        for of_role in &moves {
            let drawn = draw(&lanes, of_role, active, rng);
            for lane in lanes_of(active) {
                match drawn[lane] {
                    Some(played) => lanes.moves[played.index()] |= 1 << lane,
                    None => active &= !(1 << lane),
                }
            }
        }
        lanes.evaluate_moves();
        lanes.advance();
        lanes_of(active).for_each(|lane| steps[lane] += 1);
    }
}

/// Returns the moves of each role.
pub(super) fn moves_by_role(circuit: &Circuit) -> Vec<Vec<MoveId>> {
    let mut moves = vec![Vec::new(); circuit.n_roles()];
    for (idx, (role, _)) in circuit.vocabulary.moves.iter().enumerate() {
        moves[RoleId::index(*role)].push(MoveId::new(idx));
    }
    moves
}

/// Moves that are tried at random before all are counted.
const MAX_TRIES: usize = 16;

/// Draws a legal move in each lane of a mask, uniformly.
fn draw(
    lanes: &Lanes<'_>,
    moves: &[MoveId],
    mask: u64,
    rng: &mut Rng,
) -> [Option<MoveId>; N_LANES] {
    let mut drawn = [None; N_LANES];
    let mut open = 0;
    for lane in lanes_of(if moves.is_empty() { 0 } else { mask }) {
        let tries = (0..MAX_TRIES).map(|_| moves[rng.below(moves.len())]);
        drawn[lane] = { tries }.find(|&played| lanes.legal(played) >> lane & 1 == 1);
        open |= u64::from(drawn[lane].is_none()) << lane;
    }
    if open == 0 {
        return drawn;
    }
    let mut counts = [0; N_LANES];
    for &played in moves {
        lanes_of(lanes.legal(played) & open).for_each(|lane| counts[lane] += 1);
    }
    let mut places = [0; N_LANES];
    for lane in lanes_of(open) {
        places[lane] = if counts[lane] == 0 { 0 } else { rng.below(counts[lane]) };
    }
    for &played in moves {
        for lane in lanes_of(lanes.legal(played) & open) {
            if places[lane] == 0 {
                drawn[lane] = Some(played);
                open &= !(1 << lane);
            } else {
                places[lane] -= 1;
            }
        }
    }
    drawn
}
