//! What moves change, proved on the circuit.
//!
//! For each fluent, the moves that may make it true and those that may make it false; for each
//! move, what surely holds when it is played and after it, and which moves can never be played
//! again. Every statement holds for all reachable states that are not terminal; each was proved by
//! evaluating the circuit with the rest of the state unknown (see [`lanes`](super::lanes)).

use ludex_base::{BitSet, Deadline, FluentId, MoveId};
use ludex_circuit::{Circuit, Gate, GateId};

use super::lanes::{Assumptions, Cones, Groups, Lanes, Literal, first_lanes, implied};

/// What the moves of a puzzle change.
pub(crate) struct Effects {
    /// For each fluent, the moves that may change it from false to true.
    pub makes_true: Vec<Vec<MoveId>>,
    /// For each fluent, the moves that may change it from true to false.
    pub makes_false: Vec<Vec<MoveId>>,
    /// For each move, literals that hold whenever it is legal.
    pub before: Vec<Vec<Literal>>,
    /// For each move, literals that hold after it.
    pub after: Vec<Vec<Literal>>,
    /// For each move, the moves that are illegal forever once it was played.
    pub forbids: Vec<BitSet>,
    /// For each move, whether the game is over after it.
    pub ends: Vec<bool>,
    /// Fluents that no move influences.
    pub autonomous: BitSet,
}

/// Total size of the cones of all fluents, beyond which there is no analysis.
const MAX_CONES: usize = 60_000_000;

impl Effects {
    /// Analyses a circuit without loops; `None` if it is too large or the deadline is reached,
    /// which is checked for each fluent and each batch of moves.
    pub fn of(circuit: &Circuit, groups: &Groups, deadline: &Deadline) -> Option<Self> {
        let n_fluents = circuit.vocabulary.fluents.len();
        let all_moves: Vec<MoveId> = (0..circuit.vocabulary.moves.len()).map(MoveId::new).collect();
        let mut cones = Cones::new(circuit);
        let mut next_cones: Vec<Vec<GateId>> = Vec::with_capacity(n_fluents);
        let mut size = 0;
        for &gate in &circuit.next {
            next_cones.push(cones.of([gate]));
            size += next_cones[next_cones.len() - 1].len();
            if size > MAX_CONES || deadline.reached() {
                return None;
            }
        }
        let goes_on = implied(circuit, circuit.terminal, false);
        let before: Vec<Vec<Literal>> =
            circuit.legal.iter().map(|&gate| implied(circuit, gate, true)).collect();
        let mut effects = Self {
            makes_true: vec![Vec::new(); n_fluents],
            makes_false: vec![Vec::new(); n_fluents],
            after: vec![Vec::new(); before.len()],
            before,
            forbids: Vec::new(),
            ends: Vec::new(),
            autonomous: autonomous_fluents(circuit),
        };
        let mut lanes = Lanes::new(circuit);
        for batch in all_moves.chunks(64) {
            let mut assumptions = Assumptions::new(circuit, groups);
            assumptions.play(batch);
            for &literal in &goes_on {
                assumptions.assume(literal, first_lanes(batch.len()));
            }
            for (lane, played) in batch.iter().enumerate() {
                for &literal in &effects.before[played.index()] {
                    assumptions.assume(literal, 1 << lane);
                }
            }
            let impossible = assumptions.contradictory();
            for (idx, cone) in next_cones.iter().enumerate() {
                if deadline.reached() {
                    return None;
                }
                effects.of_fluent(idx, cone, batch, impossible, &mut assumptions, &mut lanes);
            }
        }
        effects.find_consequences(circuit, groups, &mut cones, &mut lanes);
        Some(effects)
    }

    /// Finds which moves of a batch may change a fluent, and which surely decide it.
    fn of_fluent(
        &mut self,
        idx: usize,
        cone: &[GateId],
        batch: &[MoveId],
        impossible: u64,
        assumptions: &mut Assumptions<'_>,
        lanes: &mut Lanes<'_>,
    ) {
        let fluent = FluentId::new(idx);
        let Some(&next) = cone.last() else { return };
        let all = first_lanes(batch.len());
        // By value before: the lanes that can't occur, and those in which the value after is known.
        let mut sure = [[0; 2]; 2];
        for value in [false, true] {
            let mark = assumptions.mark();
            assumptions.assume(Literal { fluent, value }, all);
            lanes.evaluate(cone, assumptions);
            let excluded = (assumptions.undo(mark) | impossible) & all;
            let known = lanes.known(next);
            let stays = excluded | known.lanes(value);
            let list = if value { &mut self.makes_false[idx] } else { &mut self.makes_true[idx] };
            list.extend(in_lanes(batch, all & !stays));
            sure[usize::from(value)] = [excluded | known.no, excluded | known.yes];
        }
        for value in [false, true] {
            let lanes =
                sure[0][usize::from(value)] & sure[1][usize::from(value)] & all & !impossible;
            for played in in_lanes(batch, lanes) {
                self.after[played.index()].push(Literal { fluent, value });
            }
        }
    }

    /// Finds what moves make illegal forever, and which of them end the game.
    fn find_consequences(
        &mut self,
        circuit: &Circuit,
        groups: &Groups,
        cones: &mut Cones<'_>,
        lanes: &mut Lanes<'_>,
    ) {
        let n_moves = self.after.len();
        let cone = cones.of(circuit.legal.iter().copied().chain([circuit.terminal]));
        self.forbids = vec![BitSet::new(n_moves); n_moves];
        self.ends = vec![false; n_moves];
        let all_moves: Vec<MoveId> = (0..n_moves).map(MoveId::new).collect();
        for batch in all_moves.chunks(64) {
            for only_permanent in [true, false] {
                let mut assumptions = Assumptions::new(circuit, groups);
                for (lane, played) in batch.iter().enumerate() {
                    for &literal in &self.after[played.index()] {
                        if !only_permanent || self.is_permanent(literal) {
                            assumptions.assume(literal, 1 << lane);
                        }
                    }
                }
                lanes.evaluate(&cone, &assumptions);
                for played in in_lanes(batch, lanes.known(circuit.terminal).yes) {
                    self.ends[played.index()] |= !only_permanent;
                }
                if only_permanent {
                    for (idx, &gate) in circuit.legal.iter().enumerate() {
                        for played in in_lanes(batch, lanes.known(gate).no) {
                            self.forbids[played.index()].insert(idx);
                        }
                    }
                }
            }
        }
    }

    /// Returns whether a literal that holds in some state holds in all later ones.
    pub fn is_permanent(&self, literal: Literal) -> bool {
        self.changers(literal).is_empty()
    }

    /// Returns the moves that may change a literal that holds.
    pub fn changers(&self, literal: Literal) -> &[MoveId] {
        let lists = if literal.value { &self.makes_false } else { &self.makes_true };
        &lists[literal.fluent.index()]
    }

    /// Returns whether a move can be played at most once.
    pub fn is_once(&self, played: MoveId) -> bool {
        self.ends[played.index()] || self.forbids[played.index()].contains(played.index())
    }

    /// Returns whether two moves can never occur in one play.
    pub fn excludes(&self, a: MoveId, b: MoveId) -> bool {
        let forbids = |a: MoveId, b: MoveId| {
            self.ends[a.index()] || self.forbids[a.index()].contains(b.index())
        };
        forbids(a, b) && forbids(b, a)
    }
}

/// Returns the moves of a batch whose lanes are set.
fn in_lanes(batch: &[MoveId], lanes: u64) -> impl Iterator<Item = MoveId> + '_ {
    batch.iter().enumerate().filter(move |(lane, _)| lanes >> lane & 1 == 1).map(|(_, &it)| it)
}

/// Returns the fluents that no move influences, directly or through other fluents.
pub(crate) fn autonomous_fluents(circuit: &Circuit) -> BitSet {
    let mut found = BitSet::new(circuit.next.len());
    (0..circuit.next.len()).for_each(|idx| found.insert(idx));
    // Each round drops the fluents that depend on a move or on a fluent dropped before.
    loop {
        let mut is_influenced = vec![false; circuit.n_gates()];
        for gate in circuit.gate_ids() {
            is_influenced[gate.index()] = match circuit.gate(gate) {
                Gate::Move(_) => true,
                Gate::Fluent(fluent) => !found.contains(fluent.index()),
                _ => circuit.inputs(gate).iter().any(|input| is_influenced[input.index()]),
            };
        }
        let n_before = found.count();
        for (idx, next) in circuit.next.iter().enumerate() {
            if is_influenced[next.index()] {
                found.remove(idx);
            }
        }
        if found.count() == n_before {
            return found;
        }
    }
}
