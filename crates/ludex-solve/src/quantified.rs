//! A game for two roles as a quantified model: can a role force a goal within some steps?
//!
//! Every step is a round of the model. The role that is asked about is the existential player, the
//! other one the universal player, and they move in turn. A fluent is a number of the state, 0 or 1;
//! a gate that reads no move has a name of its own. The role that is not in turn has one legal move,
//! so that move is played if it is legal.
//!
//! The model is true exactly if the role can force the goal, so its solver and those of this crate
//! check each other.

use std::fmt::Write as _;

use ludex_base::{BitSet, FluentId, Goal, MoveId, RoleId};
use ludex_circuit::{Circuit, Gate, GateId};
use ludex_game::{Cursor, Game, JointMoves};
use rustc_hash::FxHashSet;

use crate::problem::{Kind, Problem};

/// Whether a role can force at least a goal within some steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Question {
    /// The role.
    pub role: RoleId,
    /// The goal.
    pub goal: Goal,
    /// The most steps of a play; one that is longer counts as lost.
    pub n_steps: usize,
}

/// Why a game has no model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum NoModel {
    /// There are not two roles, or there is chance, or something is hidden.
    NotADuel,
    /// The engine has no circuit.
    NoCircuit,
    /// A role has a choice although it is the turn of the other.
    NotInTurn,
    /// More states than this must be visited to see that the roles move in turn, or the text would
    /// be too large.
    TooLarge,
}

impl std::fmt::Display for NoModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            NoModel::NotADuel => {
                "the game is not one for two roles without chance who see everything"
            }
            NoModel::NoCircuit => "the game cannot be grounded within the limits",
            NoModel::NotInTurn => "the roles do not move in turn",
            NoModel::TooLarge => "the model would be too large; ask for fewer steps",
        })
    }
}

/// States to visit at most.
const MAX_STATES: usize = 1_000_000;
/// Gates that unrolling the loops of a circuit may add.
const MAX_UNROLLED: usize = 100_000;
/// Bytes of a text at most.
const MAX_BYTES: usize = 16 << 20;

/// Writes a question about a game as a model in the language of `docs/language.md`.
///
/// # Errors
/// When the game is not of the kind that the model can express, or is too large.
pub fn write_question<G: Game>(
    problem: &Problem<'_, G>,
    question: Question,
) -> Result<String, NoModel> {
    if problem.kind() != Kind::Duel {
        return Err(NoModel::NotADuel);
    }
    let rules = problem.rules.ok_or(NoModel::NoCircuit)?;
    let circuit = rules.circuit();
    let unrolled = circuit.unrolled(circuit.n_gates() + MAX_UNROLLED).ok_or(NoModel::TooLarge)?;
    let first = first_to_move(problem, question.n_steps)?;
    Writer::new(&unrolled, first).text(rules.fluents(&problem.state), question)
}

/// Finds the role that moves first, if the roles move in turn in every state that can be reached.
fn first_to_move<G: Game>(problem: &Problem<'_, G>, n_steps: usize) -> Result<RoleId, NoModel> {
    let (one, two) = (RoleId::new(0), RoleId::new(1));
    match moves_in_turn(problem, n_steps, [one, two])? {
        true => Ok(one),
        false if moves_in_turn(problem, n_steps, [two, one])? => Ok(two),
        false => Err(NoModel::NotInTurn),
    }
}

fn moves_in_turn<G: Game>(
    problem: &Problem<'_, G>,
    n_steps: usize,
    order: [RoleId; 2],
) -> Result<bool, NoModel> {
    let mut cursor = problem.game.cursor();
    let mut layer = FxHashSet::from_iter([problem.state.clone()]);
    let mut n_visited = 0;
    for step in 0..n_steps {
        n_visited += layer.len();
        if n_visited > MAX_STATES {
            return Err(NoModel::TooLarge);
        }
        let waiting = order[(step + 1) % 2];
        let mut next = FxHashSet::default();
        for state in &layer {
            cursor.set_state(state);
            if cursor.is_terminal() {
                continue;
            }
            if cursor.legal_moves(waiting).len() != 1 {
                return Ok(false);
            }
            let mut joints = JointMoves::of(&mut cursor, 2);
            while let Some(joint) = joints.next_joint() {
                cursor.set_state(state);
                cursor.play(joint);
                next.insert(cursor.state().clone());
            }
        }
        layer = next;
    }
    Ok(true)
}

struct Writer<'a> {
    circuit: &'a Circuit,
    /// The role that moves first: player 1 of the model.
    first: RoleId,
    /// By gate, whether it depends on a move.
    reads_move: Vec<bool>,
    /// By move, its number among the moves of its role, from 1.
    numbers: Vec<usize>,
}

impl<'a> Writer<'a> {
    fn new(circuit: &'a Circuit, first: RoleId) -> Self {
        let mut reads_move = vec![false; circuit.n_gates()];
        for gate in circuit.gate_ids() {
            reads_move[gate.index()] = match circuit.gate(gate) {
                Gate::Move(_) => true,
                _ => circuit.inputs(gate).iter().any(|input| reads_move[input.index()]),
            };
        }
        let mut n_moves = [0; 2];
        let number = |&(role, _): &(RoleId, _)| {
            n_moves[role.index()] += 1;
            n_moves[role.index()]
        };
        let numbers = circuit.vocabulary.moves.iter().map(number).collect();
        Self { circuit, first, reads_move, numbers }
    }

    fn text(&self, state: &BitSet, question: Question) -> Result<String, NoModel> {
        let mut text = String::new();
        let mut line = |line: String| writeln!(text, "{line}").expect("writing to a string");
        let circuit = self.circuit;
        let Question { role, goal, n_steps } = question;
        let is_first = role == self.first;
        let quantifiers = if is_first { "exists, forall" } else { "forall, exists" };
        let n_fluents = circuit.next.len();
        let vocabulary = &circuit.vocabulary;
        let name = vocabulary.role_text(role);
        line(format!("% Can {name} force at least {} within {n_steps} steps?", goal.value()));
        for (idx, number) in self.numbers.iter().enumerate() {
            let (role, _) = vocabulary.moves[idx];
            let text = vocabulary.move_text(MoveId::new(idx));
            let role = vocabulary.role_text(role);
            line(format!("% move {number} of {role} is {text}"));
        }
        for idx in 0..n_fluents {
            let text = vocabulary.fluent_text(FluentId::new(idx));
            line(format!("% f[{}] is {text}", idx + 1));
        }
        line("game {".into());
        line(format!("  rounds {n_steps};\n  players {quantifiers};"));
        let values: Vec<&str> =
            (0..n_fluents).map(|idx| if state.contains(idx) { "1" } else { "0" }).collect();
        line(format!("  state f: array[1..{n_fluents}] of 0..1 = [{}];", values.join(", ")));
        for gate in circuit.gate_ids().filter(|gate| self.has_name(*gate)) {
            let meaning = self.meaning(gate)?;
            line(format!("  let g{} = {meaning};", gate.index()));
        }
        // Ends are seen by the player whose turn it would be.
        let wanted: Vec<GateId> =
            circuit.goals.iter().filter(|it| it.0 == role && it.1 >= goal).map(|it| it.2).collect();
        let mut reached = Vec::new();
        for gate in wanted {
            reached.push(self.expression(gate)?);
        }
        let reached = if reached.is_empty() {
            "false".into()
        } else {
            format!("({})", reached.join(" \\/ "))
        };
        let (asked, terminal) = (if is_first { 1 } else { 2 }, self.expression(circuit.terminal)?);
        let is_good =
            format!("(player = {asked} /\\ {reached} \\/ player != {asked} /\\ not {reached})");
        line(format!("  end when {terminal} /\\ {is_good} wins;"));
        line(format!("  end when {terminal} loses;"));
        let mut legal = Vec::new();
        for (idx, number) in self.numbers.iter().enumerate() {
            let player = self.player(vocabulary.moves[idx].0);
            let gate = self.expression(circuit.legal[idx])?;
            legal.push(format!("(player = {player} /\\ m = {number} /\\ {gate})"));
        }
        let n_moves = self.numbers.iter().max().copied().unwrap_or(1);
        line(format!("  move m: 1..{n_moves} where {};", legal.join(" \\/ ")));
        let mut next = Vec::new();
        for &gate in &circuit.next {
            next.push(format!("if {} then 1 else 0 endif", self.expression(gate)?));
        }
        line(format!("  next f = [{}];", next.join(",\n    ")));
        line("}\n% A play that goes on is lost.\ngoal false;".into());
        if text.len() > MAX_BYTES { Err(NoModel::TooLarge) } else { Ok(text) }
    }

    /// Returns the number of a role among the players.
    fn player(&self, role: RoleId) -> usize {
        if role == self.first { 1 } else { 2 }
    }

    /// Returns whether a gate has a name: it combines fluents, and reads no move.
    fn has_name(&self, gate: GateId) -> bool {
        let is_combined = matches!(self.circuit.gate(gate), Gate::And(_) | Gate::Or(_));
        is_combined && !self.reads_move[gate.index()]
    }

    /// Returns a gate in terms of the state and of gates with names.
    fn expression(&self, gate: GateId) -> Result<String, NoModel> {
        if self.has_name(gate) { Ok(format!("g{}", gate.index())) } else { self.meaning(gate) }
    }

    fn meaning(&self, gate: GateId) -> Result<String, NoModel> {
        let all = |inputs: &[GateId], operator: &str| {
            let mut parts = Vec::new();
            let mut n_bytes = 0;
            for &input in inputs {
                parts.push(self.expression(input)?);
                n_bytes += parts.last().map_or(0, String::len);
                if n_bytes > MAX_BYTES {
                    return Err(NoModel::TooLarge);
                }
            }
            Ok(format!("({})", parts.join(operator)))
        };
        Ok(match self.circuit.gate(gate) {
            Gate::Constant(value) => value.to_string(),
            Gate::Fluent(fluent) => format!("(f[{}] = 1)", fluent.index() + 1),
            Gate::Move(played) => {
                let player = self.player(self.circuit.vocabulary.moves[played.index()].0);
                let legal = self.expression(self.circuit.legal[played.index()])?;
                let number = self.numbers[played.index()];
                format!("(player = {player} /\\ m = {number} \\/ player != {player} /\\ {legal})")
            }
            Gate::Not(input) => format!("(not {})", self.expression(input)?),
            Gate::And(inputs) => all(inputs, " /\\ ")?,
            Gate::Or(inputs) => all(inputs, " \\/ ")?,
            Gate::Feedback => return Err(NoModel::NoCircuit),
        })
    }
}
