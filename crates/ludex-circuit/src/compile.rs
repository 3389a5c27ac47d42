//! Compilation of ground rules to gates.

use ludex_base::{BitSet, Limits, Pace, StopReason};
use ludex_ground::{AtomId, AtomKind, GroundLiteral, GroundProgram};
use rustc_hash::FxHashMap;

use crate::builder::Builder;
use crate::circuit::{Circuit, Gate, GateId, Gates, Loop};

/// Rules and literals between two checks of the deadline.
pub(crate) const STEPS_PER_CHECK: usize = 1 << 14;

/// Turns a ground program into a circuit.
///
/// # Panics
/// When the circuit needs more than four billion edges; [`compile_within`] refuses that.
pub fn compile(program: &GroundProgram) -> Circuit {
    compile_at(program, &Pace::unlimited()).expect("the circuit has fewer than 2^32 edges")
}

/// Does the same as [`compile`] within some limits.
///
/// # Errors
/// When the deadline is reached, or the circuit has more than four billion edges.
pub fn compile_within(program: &GroundProgram, limits: &Limits) -> Result<Circuit, StopReason> {
    compile_at(program, &Pace::new(&limits.deadline, STEPS_PER_CHECK))
}

fn compile_at(program: &GroundProgram, pace: &Pace<'_>) -> Result<Circuit, StopReason> {
    let mut compiler = Compiler { program, builder: Builder::default(), loops: Vec::new(), pace };
    let components = program.components();
    pace.check()?;
    let on_transition = compiler.compile_atoms(&components, Moves::Inputs)?;
    // `does` is false while moves are chosen. This matters only for rulesheets that break the rules
    // of GDL.
    let state_atoms: Vec<AtomId> = (program.legal.iter().copied())
        .chain(program.terminal)
        .chain(program.goals.iter().map(|&(_, _, atom)| atom))
        .collect();
    let on_state = if depend_on_moves(program, &components, &state_atoms) {
        compiler.compile_atoms(&components, Moves::NoneIsPlayed)?
    } else {
        on_transition.clone()
    };

    let never = compiler.builder.constant(false);
    let mut init = BitSet::new(program.vocabulary.fluents.len());
    program.init.iter().for_each(|fluent| init.insert(fluent.index()));
    let Compiler { builder, loops, .. } = compiler;
    let circuit = Circuit {
        vocabulary: program.vocabulary.clone(),
        has_percepts: program.has_percepts,
        init,
        next: program.next.iter().map(|atom| on_transition[atom.index()]).collect(),
        legal: program.legal.iter().map(|atom| on_state[atom.index()]).collect(),
        sees: program.sees.iter().map(|atom| on_transition[atom.index()]).collect(),
        terminal: program.terminal.map_or(never, |atom| on_state[atom.index()]),
        goals: program
            .goals
            .iter()
            .map(|&(role, goal, atom)| (role, goal, on_state[atom.index()]))
            .collect(),
        loops,
        gates: builder.finish(),
    };
    pace.check()?;
    Ok(circuit.pruned())
}

/// The meaning of `does` in the rules.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moves {
    Inputs,
    NoneIsPlayed,
}

struct Compiler<'a> {
    program: &'a GroundProgram,
    builder: Builder,
    loops: Vec<Loop>,
    pace: &'a Pace<'a>,
}

impl Compiler<'_> {
    /// Returns the gate of each atom.
    fn compile_atoms(
        &mut self,
        components: &[Vec<AtomId>],
        moves: Moves,
    ) -> Result<Vec<GateId>, StopReason> {
        let program = self.program;
        let never = self.builder.constant(false);
        let mut gates = vec![never; program.n_atoms()];
        for atom in (0..program.n_atoms()).map(AtomId::new) {
            match program.kind(atom) {
                AtomKind::Fluent(fluent) => gates[atom.index()] = self.builder.fluent(fluent),
                AtomKind::Move(played) if moves == Moves::Inputs => {
                    gates[atom.index()] = self.builder.played(played);
                }
                AtomKind::Move(_) => {}
                AtomKind::Derived => break,
            }
        }
        for component in components {
            match component[..] {
                [atom] if !depends_on_itself(program, atom) => {
                    gates[atom.index()] = self.compile_atom(atom, &gates)?;
                }
                _ => self.compile_loop(component, &mut gates)?,
            }
        }
        Ok(gates)
    }

    /// Makes the gate of an atom whose conditions have theirs: the disjunction of its rules.
    fn compile_atom(&mut self, atom: AtomId, gates: &[GateId]) -> Result<GateId, StopReason> {
        let mut rules = Vec::new();
        let mut body = Vec::new();
        for rule in self.program.rules_of(atom) {
            self.pace.steps(1 + rule.body.len())?;
            // A literal is an edge, and its negation another; the rule is an edge of the atom.
            if !self.builder.has_room_for(2 * rule.body.len() + 1 + rules.len()) {
                return Err(StopReason::Memory);
            }
            for &literal in rule.body {
                body.push(self.literal(literal, gates));
            }
            rules.push(self.builder.and(&mut body));
            body.clear();
        }
        Ok(self.builder.or(&mut rules))
    }

    fn literal(&mut self, literal: GroundLiteral, gates: &[GateId]) -> GateId {
        let gate = gates[literal.atom().index()];
        if literal.is_positive() { gate } else { self.builder.not(gate) }
    }

    /// Makes feedback gates for the atoms of a component that are used before their own gates
    /// exist.
    fn compile_loop(
        &mut self,
        component: &[AtomId],
        gates: &mut [GateId],
    ) -> Result<(), StopReason> {
        let start = self.builder.n_gates() as u32;
        let position_of: FxHashMap<AtomId, usize> =
            component.iter().enumerate().map(|(position, &atom)| (atom, position)).collect();
        let mut is_used_early = vec![false; component.len()];
        for (position, &user) in component.iter().enumerate() {
            for literal in self.program.rules_of(user).flat_map(|rule| rule.body) {
                if let Some(&used) = position_of.get(&literal.atom()) {
                    is_used_early[used] |= position <= used;
                }
            }
        }
        let mut feedback = Vec::new();
        for (&atom, _) in component.iter().zip(is_used_early).filter(|(_, is_early)| *is_early) {
            gates[atom.index()] = self.builder.feedback();
            feedback.push((gates[atom.index()], atom));
        }
        for &atom in component {
            gates[atom.index()] = self.compile_atom(atom, gates)?;
        }
        let end = self.builder.n_gates() as u32;
        let feedback = feedback.into_iter().map(|(gate, atom)| (gate, gates[atom.index()]));
        self.loops.push(Loop { gates: start..end, feedback: feedback.collect() });
        Ok(())
    }
}

fn depends_on_itself(program: &GroundProgram, atom: AtomId) -> bool {
    program.rules_of(atom).any(|rule| rule.body.iter().any(|literal| literal.atom() == atom))
}

/// Returns whether one of these atoms depends on a move.
fn depend_on_moves(program: &GroundProgram, components: &[Vec<AtomId>], atoms: &[AtomId]) -> bool {
    let mut does = vec![false; program.n_atoms()];
    for atom in (0..program.n_atoms()).map(AtomId::new) {
        does[atom.index()] = matches!(program.kind(atom), AtomKind::Move(_));
    }
    for component in components {
        let depends = component.iter().any(|&atom| {
            let mut literals = program.rules_of(atom).flat_map(|rule| rule.body);
            literals.any(|literal| does[literal.atom().index()])
        });
        component.iter().for_each(|atom| does[atom.index()] = depends);
    }
    atoms.iter().any(|atom| does[atom.index()])
}

impl Circuit {
    /// Removes the gates that no output needs.
    pub(crate) fn pruned(self) -> Circuit {
        let is_needed = self.cone(self.outputs());
        let mut gates = Gates::default();
        let mut new_ids: Vec<Option<GateId>> = Vec::with_capacity(self.n_gates());
        for id in self.gate_ids() {
            if !is_needed[id.index()] {
                new_ids.push(None);
                continue;
            }
            let new = |input: &GateId| new_ids[input.index()].expect("inputs are needed too");
            let inputs = self.inputs(id).iter().map(new).collect::<Vec<_>>();
            gates.inputs.extend(inputs);
            gates.kinds.push(self.gates.kinds[id.index()]);
            gates.ends.push(gates.inputs.len() as u32);
            new_ids.push(Some(GateId::new(gates.kinds.len() - 1)));
        }
        let new = |id: GateId| new_ids[id.index()].expect("outputs are needed");
        let n_before = |end: u32| {
            is_needed[..end as usize].iter().filter(|&&is_needed| is_needed).count() as u32
        };
        let loops = self
            .loops
            .iter()
            .map(|it| Loop {
                gates: n_before(it.gates.start)..n_before(it.gates.end),
                feedback: it
                    .feedback
                    .iter()
                    .filter(|(gate, _)| is_needed[gate.index()])
                    .map(|&(gate, source)| (new(gate), new(source)))
                    .collect(),
            })
            .filter(|it| !it.feedback.is_empty())
            .collect();
        self.over(gates, loops, new)
    }

    /// Returns whether a gate is an input or a constant, so that it needs no evaluation.
    pub fn is_leaf(&self, id: GateId) -> bool {
        matches!(self.gate(id), Gate::Constant(_) | Gate::Fluent(_) | Gate::Move(_))
    }
}
