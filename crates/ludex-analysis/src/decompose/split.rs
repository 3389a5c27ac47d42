//! Parts that are proved to be games of their own, and each of them as a circuit.
//!
//! A [`Decomposition`] rests on sampled states. [`Split::prove`] joins its parts until the rules
//! prove the rest: the next value of a fluent reads its own part, the clock and the moves, and
//! nothing else. The clock is what no move can influence. Each part then is a game: see
//! [`Split::subgame`].

use ludex_base::{BitSet, Deadline, FluentId, MoveId, Rng};
use ludex_circuit::{Circuit, Restricted, Restriction};

use super::Decomposition;
use super::known::fixed_fluents;
use super::lanes::depends_on_moves;
use super::parts::Parts;
use super::sample::{Effort, moves_by_role, sample};
use super::structure::{Reader, proved_independent};

/// Parts whose transitions are proved to depend on nothing but themselves, the clock and the moves.
#[derive(Clone, Debug)]
pub struct Split {
    /// The parts, by their fluents.
    pub parts: Vec<Vec<FluentId>>,
    /// The fluents that no move can influence, such as whose turn it is, or steps.
    pub clock: Vec<FluentId>,
    /// The fluents that never change after the state.
    pub fixed: BitSet,
    /// The state that the parts begin in.
    pub state: BitSet,
    /// Fluents that can change and that no legal move, no goal and no end depends on.
    pub n_unread: usize,
}

/// How a game and its parts were compared on sampled states.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Composition {
    /// Steps that were compared.
    pub n_steps: usize,
    /// Steps after which a part is not what its own rules say.
    pub n_wrong: usize,
    /// Moves that are legal in the game and not in a part.
    pub n_illegal: usize,
}

impl Composition {
    /// Returns whether the parts compose to the game wherever we looked.
    pub fn holds(&self) -> bool {
        self.n_wrong == 0 && self.n_illegal == 0
    }
}

impl Split {
    /// Takes a game apart as far as the rules prove, without playing: fluents that read each other
    /// are one part. These are the smallest parts that any decomposition can have.
    pub fn smallest(circuit: &Circuit, state: &BitSet) -> Self {
        Self::joined(circuit, state, &[])
    }

    /// Joins the parts of a decomposition until the rules prove that each depends on no other.
    pub fn prove(circuit: &Circuit, state: &BitSet, found: &Decomposition) -> Self {
        let parts: Vec<&[FluentId]> = found.subgames.iter().map(|it| &it.fluents[..]).collect();
        Self::joined(circuit, state, &parts)
    }

    fn joined(circuit: &Circuit, state: &BitSet, given: &[&[FluentId]]) -> Self {
        let n_fluents = circuit.next.len();
        let fixed = fixed_fluents(circuit, state);
        let mut is_clock = proved_independent(circuit, &depends_on_moves(circuit));
        fixed.iter().for_each(|idx| is_clock.remove(idx));

        // Only what legal moves, goals and the end read, or what such fluents read, matters.
        let mut reader = Reader::new(circuit, &fixed);
        let mut reads: Vec<Option<Vec<FluentId>>> = vec![None; n_fluents];
        let state_gates = circuit.legal.iter().copied();
        let state_gates = state_gates.chain(circuit.goals.iter().map(|it| it.2));
        let mut open: Vec<FluentId> = Vec::new();
        let mut is_met = BitSet::new(n_fluents);
        let mut meet = |fluents: &[FluentId], open: &mut Vec<FluentId>| {
            for fluent in fluents {
                if !is_met.contains(fluent.index()) {
                    is_met.insert(fluent.index());
                    open.push(*fluent);
                }
            }
        };
        for gate in state_gates.chain([circuit.terminal]) {
            meet(&reader.reads(gate).fluents, &mut open);
        }
        while let Some(fluent) = open.pop() {
            let of_next = reader.reads(circuit.next[fluent.index()]).fluents;
            meet(&of_next, &mut open);
            reads[fluent.index()] = Some(of_next);
        }

        let is_inside = |it: FluentId| {
            reads[it.index()].is_some()
                && !is_clock.contains(it.index())
                && !fixed.contains(it.index())
        };
        let all = (0..n_fluents).map(FluentId::new);
        let mut parts = Parts::new(n_fluents);
        for fluents in given {
            let inside: Vec<FluentId> =
                fluents.iter().copied().filter(|&it| is_inside(it)).collect();
            parts.join_all(&inside);
        }
        for fluent in all.clone().filter(|&it| is_inside(it)) {
            for &other in reads[fluent.index()].iter().flatten() {
                if is_inside(other) {
                    parts.join(fluent, other);
                }
            }
        }
        let mut lists: Vec<Vec<FluentId>> = vec![Vec::new(); n_fluents];
        for fluent in all.clone().filter(|&it| is_inside(it)) {
            lists[parts.part(fluent)].push(fluent);
        }
        lists.retain(|it| !it.is_empty());
        let is_unread = |it: &FluentId| reads[it.index()].is_none() && !fixed.contains(it.index());
        let n_unread = all.clone().filter(is_unread).count();
        let clock = all.filter(|it| is_clock.contains(it.index()) && reads[it.index()].is_some());
        Self {
            n_unread,
            parts: lists,
            clock: clock.collect(),
            fixed: fixed.clone(),
            state: state.clone(),
        }
    }

    /// Returns a part as a game; `None` if it would have more than `max_gates` gates, or if
    /// the deadline is reached.
    ///
    /// The clock belongs to the game if `with_clock`; without it, what reads it is unknown.
    pub fn subgame(
        &self,
        circuit: &Circuit,
        part: usize,
        with_clock: bool,
        max_gates: usize,
        deadline: &Deadline,
    ) -> Option<Restricted> {
        circuit.restricted(&Restriction {
            part: &self.parts[part],
            clock: if with_clock { &self.clock } else { &[] },
            fixed: &self.fixed,
            state: &self.state,
            max_gates,
            deadline,
        })
    }

    /// Compares the steps of random games with those of the parts.
    ///
    /// The proof of the parts says that they agree. This is its slow twin, which trusts nothing.
    pub fn compare(
        &self,
        circuit: &Circuit,
        subgames: &[Restricted],
        n_states: usize,
        rng: &mut Rng,
        deadline: &Deadline,
    ) -> Composition {
        let effort = Effort { n_playouts: n_states, max_states: n_states, max_work: usize::MAX };
        let states = sample(circuit, &self.state, effort, rng, deadline).states;
        let by_role = moves_by_role(circuit);
        let mut found = Composition::default();
        for (state, _) in &states {
            if deadline.reached() {
                break;
            }
            let before = circuit.evaluate(state, &[]);
            let is_legal = |it: &MoveId| before[circuit.legal[it.index()].index()];
            let joint: Option<Vec<MoveId>> = (by_role.iter())
                .map(|moves| {
                    let legal: Vec<MoveId> = moves.iter().copied().filter(is_legal).collect();
                    rng.choose(&legal).copied()
                })
                .collect();
            let Some(joint) = joint else { continue };
            let after = circuit.evaluate(state, &joint);
            found.n_steps += 1;
            for subgame in subgames {
                let part = &subgame.circuit;
                let mut here = BitSet::new(subgame.fluents.len());
                for (idx, fluent) in subgame.fluents.iter().enumerate() {
                    if state.contains(fluent.index()) {
                        here.insert(idx);
                    }
                }
                let moves: Option<Vec<MoveId>> =
                    joint.iter().map(|it| subgame.move_of(*it)).collect();
                let Some(moves) = moves else {
                    found.n_wrong += 1;
                    continue;
                };
                let values = part.evaluate(&here, &moves);
                let is_same = (part.next.iter().zip(&subgame.fluents)).all(|(gate, it)| {
                    values[gate.index()] == after[circuit.next[it.index()].index()]
                });
                found.n_wrong += usize::from(!is_same);
                let may_play = |it: &MoveId| values[part.legal[it.index()].index()];
                found.n_illegal += usize::from(!moves.iter().all(may_play));
            }
        }
        found
    }
}
