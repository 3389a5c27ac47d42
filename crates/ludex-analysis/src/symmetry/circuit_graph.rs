//! The circuit of a game as a colored graph, whose automorphisms are the symmetries of the game,
//! and the proof that a permutation is one of them.
//!
//! The vertices are the points of the game, its goals and its gates. Arcs lead from the inputs of
//! a gate to the gate, and from the gate of an output to what it decides: from the gate of `next`
//! to the fluent, from the gate of `legal` to the move, from the gate of a goal to the goal. Other
//! arcs lead from moves, percepts and goals to their roles. Nothing in the graph depends on the
//! names of the rulesheet, on the order of its rules, or on relations in between.
//!
//! In a loop, a feedback gate and the gate that it copies are one vertex, and so are gates that
//! have the same inputs then: which atoms got feedback gates is an accident of compilation.

use ludex_automorphism::{ColoredGraph, GraphBuilder, SparsePermutation};
use ludex_base::seed::mix;
use ludex_base::{BitSet, FluentId, MoveId, PerceptId, RoleId};
use ludex_circuit::{Circuit, Gate, GateId};
use rustc_hash::FxHashMap;

use super::points::{Points, Symmetry};

/// Which roles a symmetry may exchange.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RoleExchange {
    /// Every role stays itself.
    Forbidden,
    /// Roles may be exchanged, `random` excepted.
    Allowed,
}

/// The circuit of a game as a colored graph.
#[derive(Clone, Debug)]
pub struct CircuitGraph {
    points: Points,
    graph: ColoredGraph,
    /// Role and color of each goal, sorted. Goals are the first vertices after the points;
    /// `terminal` follows, then the gates.
    goals: Vec<(RoleId, u32)>,
    has_loops: bool,
}

mod color {
    pub const FLUENT: u32 = 0;
    pub const TRUE_FLUENT: u32 = 1;
    pub const MOVE: u32 = 2;
    pub const PERCEPT: u32 = 3;
    pub const TERMINAL: u32 = 4;
    pub const FALSE: u32 = 5;
    pub const TRUE: u32 = 6;
    pub const NOT: u32 = 7;
    pub const AND: u32 = 8;
    pub const OR: u32 = 9;
    pub const ROLE: u32 = 10;
    pub const CHANCE: u32 = 11;
    /// The goal of value 0; the others follow.
    pub const GOAL: u32 = 12;
    /// The first role, if roles stay themselves; the others follow.
    pub const KEPT_ROLE: u32 = 200;
    /// The first fluent that has no part in the game; the others follow.
    pub const IDLE_FLUENT: u32 = 1 << 30;
}

impl CircuitGraph {
    /// The graph of a circuit. Without a state its automorphisms are the symmetries of the rules;
    /// with one, those that also keep this state.
    ///
    /// The circuit should be [optimized](Circuit::optimized), but not rewritten in ways that treat
    /// equal parts differently.
    pub fn new(circuit: &Circuit, exchange: RoleExchange, state: Option<&BitSet>) -> Self {
        let points = Points::of(circuit);
        let vocabulary = &circuit.vocabulary;
        let mut builder = GraphBuilder::new();
        for role in (0..circuit.n_roles()).map(RoleId::new) {
            builder.add_vertex(match exchange {
                _ if vocabulary.is_random(role) => color::CHANCE,
                RoleExchange::Allowed => color::ROLE,
                RoleExchange::Forbidden => color::KEPT_ROLE + role.index() as u32,
            });
        }
        for (fluent, is_idle) in idle_fluents(circuit).into_iter().enumerate() {
            builder.add_vertex(match state.is_some_and(|state| state.contains(fluent)) {
                _ if is_idle => color::IDLE_FLUENT + fluent as u32,
                true => color::TRUE_FLUENT,
                false => color::FLUENT,
            });
        }
        for _ in &circuit.legal {
            builder.add_vertex(color::MOVE);
        }
        for _ in &circuit.sees {
            builder.add_vertex(color::PERCEPT);
        }
        let goals: Vec<(RoleId, u32)> = (circuit.goals.iter())
            .map(|&(role, goal, _)| (role, color::GOAL + u32::from(goal.value())))
            .collect();
        let first_goal = points.n_points() as u32;
        for &(_, color) in &goals {
            builder.add_vertex(color);
        }
        let terminal = builder.add_vertex(color::TERMINAL);

        let gates = Gates::new(circuit, points, &mut builder);
        let mut decide = |gate: GateId, vertex: u32| builder.add_arc(gates.vertex(gate), vertex);
        for (idx, &gate) in circuit.next.iter().enumerate() {
            decide(gate, points.fluent(FluentId::new(idx)));
        }
        for (idx, &gate) in circuit.legal.iter().enumerate() {
            decide(gate, points.played(MoveId::new(idx)));
        }
        for (idx, &gate) in circuit.sees.iter().enumerate() {
            decide(gate, points.percept(PerceptId::new(idx)));
        }
        for (idx, &(_, _, gate)) in circuit.goals.iter().enumerate() {
            decide(gate, first_goal + idx as u32);
        }
        decide(circuit.terminal, terminal);
        for (idx, &(role, _)) in vocabulary.moves.iter().enumerate() {
            builder.add_arc(points.played(MoveId::new(idx)), points.role(role));
        }
        for (idx, &(role, _)) in vocabulary.percepts.iter().enumerate() {
            builder.add_arc(points.percept(PerceptId::new(idx)), points.role(role));
        }
        for (idx, &(role, _)) in goals.iter().enumerate() {
            builder.add_arc(first_goal + idx as u32, points.role(role));
        }
        Self { points, graph: builder.build(), goals, has_loops: !circuit.loops.is_empty() }
    }

    /// The graph.
    pub fn graph(&self) -> &ColoredGraph {
        &self.graph
    }

    /// Whether a permutation of points is a symmetry of the rules (and of the state that the graph
    /// was made with): applied to `legal`, `next`, `terminal`, `goal` and `sees` of the ground
    /// program it gives the same program.
    ///
    /// This does not trust whoever found the permutation. Points decide where goals and gates must
    /// go; the result is compared with the graph arc by arc.
    pub fn proves(&self, symmetry: &Symmetry) -> bool {
        self.extended(symmetry).is_some_and(|all| self.graph.is_automorphism(&all))
    }

    /// Extends a permutation of points to goals and gates, `None` if there is no place for one of
    /// them.
    fn extended(&self, symmetry: &Symmetry) -> Option<SparsePermutation> {
        let first_goal = self.points.n_points();
        let mut moves = symmetry.permutation().moves().to_vec();
        for (idx, &(role, color)) in self.goals.iter().enumerate() {
            let image = self.goals.binary_search(&(symmetry.role(role), color)).ok()?;
            moves.push(((first_goal + idx) as u32, (first_goal + image) as u32));
        }
        let first_gate = first_goal + self.goals.len() + 1;
        moves.retain(|(from, to)| from != to);
        let leaves = SparsePermutation::new(moves.clone())?;
        // Gates are told apart by what they compute from the points. Both labelings start with the
        // numbers of the points, one of them with the numbers of their images.
        let plain = self.labels(first_gate, |vertex| vertex);
        let moved = self.labels(first_gate, |vertex| leaves.image(vertex));
        let mut place_of: FxHashMap<u64, u32> = FxHashMap::default();
        for (vertex, &label) in plain.iter().enumerate().skip(first_gate) {
            place_of.insert(label, vertex as u32);
        }
        for (vertex, label) in moved.iter().enumerate().skip(first_gate) {
            let image = *place_of.get(label)?;
            if image != vertex as u32 {
                moves.push((vertex as u32, image));
            }
        }
        SparsePermutation::new(moves)
    }

    /// Hashes of what gates compute, given names of the vertices before the first gate.
    ///
    /// Inputs come before the gates that use them, so one round is enough, except for loops: each
    /// round carries what they derived into the next.
    fn labels(&self, first_gate: usize, name: impl Fn(u32) -> u32) -> Vec<u64> {
        let n_vertices = self.graph.n_vertices();
        let mut labels: Vec<u64> = (0..n_vertices as u32)
            .map(|v| {
                let is_named = (v as usize) < first_gate;
                let color = u64::from(self.graph.colors()[v as usize]);
                scramble(if is_named { u64::from(name(v)) + 1 } else { color << 32 })
            })
            .collect();
        let mut carried = vec![0_u64; n_vertices];
        let mut n_distinct = 0;
        loop {
            let mut sums = std::mem::replace(&mut carried, vec![0; n_vertices]);
            for v in 0..n_vertices {
                if v >= first_gate {
                    labels[v] = scramble(labels[v].rotate_left(17) ^ sums[v]);
                }
                let share = scramble(!labels[v]);
                for &target in self.graph.neighbors(v as u32) {
                    let target = target as usize;
                    let sums = if target > v { &mut sums } else { &mut carried };
                    sums[target] = sums[target].wrapping_add(share);
                }
            }
            let mut distinct = labels[first_gate..].to_vec();
            distinct.sort_unstable();
            distinct.dedup();
            // What a round does not tell apart never is.
            if !self.has_loops || distinct.len() == n_distinct {
                return labels;
            }
            n_distinct = distinct.len();
        }
    }
}

/// Mixes the bits of a number; zero is no exception.
fn scramble(value: u64) -> u64 {
    mix(value.wrapping_add(0x9e37_79b9_7f4a_7c15))
}

/// Returns for each fluent whether it has no part in the game: nothing changes it, except perhaps
/// the first step, and nothing depends on it. Any exchange of such fluents keeps the rules, and says nothing about the game.
pub(super) fn idle_fluents(circuit: &Circuit) -> Vec<bool> {
    let mut is_idle: Vec<bool> = (circuit.next.iter().enumerate())
        .map(|(idx, &gate)| match circuit.gate(gate) {
            Gate::Fluent(fluent) => fluent.index() == idx,
            gate => matches!(gate, Gate::Constant(_)),
        })
        .collect();
    let mut needs = |gate: GateId| {
        if let Gate::Fluent(fluent) = circuit.gate(gate) {
            is_idle[fluent.index()] = false;
        }
    };
    let goals = circuit.goals.iter().map(|&(_, _, gate)| gate);
    let others = circuit.legal.iter().chain(&circuit.sees).copied().chain(goals);
    others.chain([circuit.terminal]).for_each(&mut needs);
    circuit.gate_ids().flat_map(|gate| circuit.inputs(gate)).for_each(|&input| needs(input));
    for (idx, &gate) in circuit.next.iter().enumerate() {
        if circuit.gate(gate) != Gate::Fluent(FluentId::new(idx)) {
            needs(gate);
        }
    }
    is_idle
}

/// The vertices of the gates.
struct Gates {
    vertices: Vec<u32>,
}

impl Gates {
    /// Adds the vertices and arcs of the gates.
    fn new(circuit: &Circuit, points: Points, builder: &mut GraphBuilder) -> Self {
        let merged = Merged::new(circuit);
        let mut vertices = vec![u32::MAX; circuit.n_gates()];
        for gate in circuit.gate_ids().filter(|&gate| merged.own(gate) == gate) {
            vertices[gate.index()] = match circuit.gate(gate) {
                Gate::Fluent(fluent) => points.fluent(fluent),
                Gate::Move(played) => points.played(played),
                // A feedback gate that copies only itself stays false.
                Gate::Constant(false) | Gate::Feedback => builder.add_vertex(color::FALSE),
                Gate::Constant(true) => builder.add_vertex(color::TRUE),
                Gate::Not(_) => builder.add_vertex(color::NOT),
                Gate::And(_) => builder.add_vertex(color::AND),
                Gate::Or(_) => builder.add_vertex(color::OR),
            };
        }
        let vertices: Vec<u32> =
            circuit.gate_ids().map(|gate| vertices[merged.own(gate).index()]).collect();
        for gate in circuit.gate_ids().filter(|&gate| merged.own(gate) == gate) {
            for input in merged.inputs(circuit, gate) {
                builder.add_arc(vertices[input.index()], vertices[gate.index()]);
            }
        }
        Self { vertices }
    }

    fn vertex(&self, gate: GateId) -> u32 {
        self.vertices[gate.index()]
    }
}

/// Gates that always have the same value, as far as loops hide this.
struct Merged {
    /// For each gate, the one that stands for it.
    own: Vec<GateId>,
}

impl Merged {
    fn new(circuit: &Circuit) -> Self {
        let mut merged = Self { own: circuit.gate_ids().collect() };
        if circuit.loops.is_empty() {
            return merged;
        }
        for &(feedback, source) in circuit.loops.iter().flat_map(|it| &it.feedback) {
            merged.own[feedback.index()] = source;
        }
        merged.cut_circles();
        while merged.merge_equal(circuit) {}
        merged
    }

    /// In a circle of gates that only copy each other, the smallest stands for all.
    fn cut_circles(&mut self) {
        let mut visited_from = vec![u32::MAX; self.own.len()];
        for start in 0..self.own.len() {
            let mut at = start;
            while self.own[at].index() != at && visited_from[at] == u32::MAX {
                visited_from[at] = start as u32;
                at = self.own[at].index();
            }
            if self.own[at].index() != at && visited_from[at] == start as u32 {
                let circle = std::iter::successors(Some(self.own[at].index()), |&it| {
                    (it != at).then(|| self.own[it].index())
                });
                let smallest = circle.min().expect("a circle has a gate");
                self.own[smallest] = GateId::new(smallest);
            }
        }
    }

    fn own(&self, mut gate: GateId) -> GateId {
        while self.own[gate.index()] != gate {
            gate = self.own[gate.index()];
        }
        gate
    }

    /// The gates that a gate depends on, each once. A disjunction does not depend on itself: what
    /// it derives from itself it has already.
    fn inputs(&self, circuit: &Circuit, gate: GateId) -> Vec<GateId> {
        let mut inputs: Vec<GateId> =
            circuit.inputs(gate).iter().map(|&input| self.own(input)).collect();
        inputs.sort_unstable();
        inputs.dedup();
        if let Gate::Or(_) = circuit.gate(gate) {
            inputs.retain(|&input| input != gate);
        }
        inputs
    }

    /// Merges gates of one kind with the same inputs, and gates with one input into that; returns
    /// whether there were any.
    fn merge_equal(&mut self, circuit: &Circuit) -> bool {
        let mut has_merged = false;
        let mut gate_with: FxHashMap<(u32, Vec<GateId>), GateId> = FxHashMap::default();
        for gate in circuit.gate_ids() {
            if self.own(gate) != gate {
                continue;
            }
            let kind = match circuit.gate(gate) {
                Gate::Not(_) => color::NOT,
                Gate::And(_) => color::AND,
                Gate::Or(_) => color::OR,
                _ => continue,
            };
            let inputs = self.inputs(circuit, gate);
            let same = match inputs[..] {
                [only] if kind != color::NOT && only != gate => Some(only),
                _ => {
                    let first = *gate_with.entry((kind, inputs)).or_insert(gate);
                    (first != gate).then_some(first)
                }
            };
            if let Some(same) = same {
                self.own[gate.index()] = same;
                has_merged = true;
            }
        }
        has_merged
    }
}
