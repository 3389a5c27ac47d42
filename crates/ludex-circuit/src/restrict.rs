//! A part of a game as a circuit of its own: some fluents, and the moves by what they do to these.
//!
//! Fluents outside the part are unknown, so a gate of the game becomes two: whether it must be true
//! and whether it may be, whatever the unknown fluents are. The next values of the part must not
//! depend on unknown fluents, or there is no such circuit. Moves that change the part alike become
//! one move.

use std::sync::Arc;

use ludex_base::{BitSet, Deadline, FluentId, MoveId, RoleId};
use ludex_ground::Vocabulary;
use rustc_hash::FxHashMap;

use crate::builder::Builder;
use crate::circuit::{Circuit, Gate, GateId};

/// What to keep of a game.
#[derive(Clone, Copy, Debug)]
pub struct Restriction<'a> {
    /// The fluents of the part.
    pub part: &'a [FluentId],
    /// Fluents that the moves do not influence, such as whose turn it is.
    pub clock: &'a [FluentId],
    /// Fluents that never change; they have their values in `state`.
    pub fixed: &'a BitSet,
    /// The state that the part begins in.
    pub state: &'a BitSet,
    /// Gates to make at most.
    pub max_gates: usize,
    /// When to give up.
    pub deadline: &'a Deadline,
}

/// A part of a game, and how it belongs to the whole.
#[derive(Clone, Debug)]
pub struct Restricted {
    /// The part as a game.
    ///
    /// A move is legal if the unknown fluents may be such that it is. The game is over if the whole
    /// may be over; if that tells nothing at the start, when the whole must be over. Goals are in
    /// the same way the best that the unknown fluents allow, or the best that they leave.
    pub circuit: Circuit,
    /// By fluent of the part, the fluent of the whole.
    pub fluents: Vec<FluentId>,
    /// By move of the part, the moves of the whole that do the same to it, ascending.
    pub moves: Vec<Vec<MoveId>>,
    /// By move of the part, whether it is a waiting move: the rules of the part do not name it, or
    /// it leaves every fluent of the part as it is.
    pub is_waiting: Vec<bool>,
    /// By move of the part, whether it provably leaves every fluent of the part as it is.
    pub is_still: Vec<bool>,
    /// By move of the part, whether the part alone decides that it is legal: one of the moves of the
    /// whole that it stands for is then legal whatever the unknown fluents are.
    pub is_decided: Vec<bool>,
    /// Whether the next values of the part or its legal moves read the clock.
    pub reads_clock: bool,
}

impl Restricted {
    /// Returns the move of the part that a move of the whole is; `None` if there is none.
    pub fn move_of(&self, played: MoveId) -> Option<MoveId> {
        let is_it = |it: &Vec<MoveId>| it.binary_search(&played).is_ok();
        self.moves.iter().position(is_it).map(MoveId::new)
    }
}

impl Circuit {
    /// Returns a part of the game; `None` if it depends on more than its fluents, the clock and the
    /// moves, if it would have too many gates, or if the deadline is reached.
    pub fn restricted(&self, restriction: &Restriction<'_>) -> Option<Restricted> {
        let unrolled;
        let whole = if self.loops.is_empty() {
            self
        } else {
            unrolled = self.unrolled(restriction.max_gates)?;
            &unrolled
        };
        Restrictor::new(whole, restriction)?.finish()
    }
}

/// Whether a gate must be true, and whether it may be.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Pair {
    must: GateId,
    may: GateId,
}

struct Restrictor<'a> {
    whole: &'a Circuit,
    restriction: &'a Restriction<'a>,
    builder: Builder,
    /// By gate of the whole.
    pairs: Vec<Pair>,
    /// The fluents to keep, ascending.
    kept: Vec<FluentId>,
}

impl<'a> Restrictor<'a> {
    fn new(whole: &'a Circuit, restriction: &'a Restriction<'a>) -> Option<Self> {
        let mut kept: Vec<FluentId> = restriction.part.to_vec();
        kept.extend(restriction.clock);
        kept.sort_unstable();
        let mut new = vec![None; whole.next.len()];
        for (idx, fluent) in kept.iter().enumerate() {
            new[fluent.index()] = Some(FluentId::new(idx));
        }
        let mut builder = Builder::default();
        let (never, always) = (builder.constant(false), builder.constant(true));
        let mut pairs: Vec<Pair> = Vec::with_capacity(whole.n_gates());
        for id in whole.gate_ids() {
            if builder.n_gates() > restriction.max_gates {
                return None;
            }
            let both = |gate: GateId| Pair { must: gate, may: gate };
            pairs.push(match whole.gate(id) {
                Gate::Constant(value) => both(builder.constant(value)),
                Gate::Fluent(fluent) => match new[fluent.index()] {
                    Some(new) => both(builder.fluent(new)),
                    None if restriction.fixed.contains(fluent.index()) => {
                        both(builder.constant(restriction.state.contains(fluent.index())))
                    }
                    None => Pair { must: never, may: always },
                },
                Gate::Move(played) => both(builder.played(played)),
                Gate::Feedback => return None,
                Gate::Not(input) => {
                    let input = pairs[input.index()];
                    Pair { must: builder.not(input.may), may: builder.not(input.must) }
                }
                gate @ (Gate::And(inputs) | Gate::Or(inputs)) => {
                    let mut join = |side: fn(&Pair) -> GateId| {
                        let mut list = inputs.iter().map(|it| side(&pairs[it.index()])).collect();
                        match gate {
                            Gate::And(_) => builder.and(&mut list),
                            _ => builder.or(&mut list),
                        }
                    };
                    Pair { must: join(|it| it.must), may: join(|it| it.may) }
                }
            });
        }
        Some(Self { whole, restriction, builder, pairs, kept })
    }

    fn pair(&self, gate: GateId) -> Pair {
        self.pairs[gate.index()]
    }

    fn finish(mut self) -> Option<Restricted> {
        let mut next: Vec<GateId> = Vec::with_capacity(self.kept.len());
        for fluent in &self.kept {
            let pair = self.pair(self.whole.next[fluent.index()]);
            if pair.must != pair.may {
                return None;
            }
            next.push(pair.must);
        }
        let classes = self.classes(&next)?;

        // The first move of each class stands for it; the others are never played.
        let mut moves: Vec<Class> = classes;
        moves.sort_unstable_by_key(|it| it.moves[0]);
        let mut new_move = vec![None; self.whole.legal.len()];
        for (idx, class) in moves.iter().enumerate() {
            new_move[class.moves[0].index()] = Some(MoveId::new(idx));
        }
        let legal: Vec<GateId> = (moves.iter())
            .map(|class| {
                let may = class.moves.iter().map(|it| self.pair(self.whole.legal[it.index()]).may);
                let mut may: Vec<GateId> = may.collect();
                self.builder.or(&mut may)
            })
            .collect();
        let is_decided = (moves.iter().zip(&legal))
            .map(|(class, gate)| {
                class.moves.iter().any(|it| self.pair(self.whole.legal[it.index()]).must == *gate)
            })
            .collect();
        let terminal = self.pair(self.whole.terminal);
        let goals: Vec<(RoleId, _, Pair)> = self
            .whole
            .goals
            .iter()
            .map(|&(role, goal, gate)| (role, goal, self.pair(gate)))
            .collect();

        let mut init = BitSet::new(self.kept.len());
        let is_true = |it: &&FluentId| self.restriction.state.contains(it.index());
        for (idx, _) in self.kept.iter().enumerate().filter(|it| is_true(&it.1)) {
            init.insert(idx);
        }
        let vocabulary = &self.whole.vocabulary;
        let vocabulary = Arc::new(Vocabulary {
            terms: vocabulary.terms.clone(),
            roles: vocabulary.roles.clone(),
            fluents: self.kept.iter().map(|it| vocabulary.fluents[it.index()]).collect(),
            moves: moves.iter().map(|it| vocabulary.moves[it.moves[0].index()]).collect(),
            percepts: Vec::new(),
            static_pairs: vocabulary.static_pairs.clone(),
        });
        let at_start = |gates: &Builder, gate: GateId| value_in(gates, gate, &init);
        let is_over = at_start(&self.builder, terminal.may);
        let terminal = if is_over { terminal.must } else { terminal.may };

        // Of several goals of a role, the largest counts; if none is known, the smallest.
        let mut scores = Vec::new();
        for of_role in goals.chunk_by(|a, b| a.0 == b.0) {
            let (_, _, best) = of_role[of_role.len() - 1];
            let is_promised = best.must != best.may && at_start(&self.builder, best.may);
            let side = |it: &Pair| if is_promised { it.must } else { it.may };
            let mut better: Vec<GateId> = Vec::new();
            for (place, (role, goal, pair)) in of_role.iter().enumerate().rev() {
                let some_better = self.builder.or(&mut better.clone());
                let none_better = self.builder.not(some_better);
                let own = side(pair);
                let mut gates = if place == 0 { vec![none_better] } else { vec![own, none_better] };
                better.push(own);
                scores.push((*role, *goal, self.builder.and(&mut gates)));
            }
        }
        scores.sort_unstable_by_key(|it| (it.0, it.1));

        let first_moves = Circuit {
            vocabulary,
            has_percepts: false,
            init,
            next,
            legal,
            sees: Vec::new(),
            terminal,
            goals: scores,
            loops: Vec::new(),
            gates: self.builder.finish(),
        };
        // Replace the moves of the whole by those of the part.
        let mut builder = Builder::default();
        let mut new_ids: Vec<GateId> = Vec::with_capacity(first_moves.n_gates());
        for id in first_moves.gate_ids() {
            let new = |it: &GateId| new_ids[it.index()];
            let gate = match first_moves.gate(id) {
                Gate::Constant(value) => builder.constant(value),
                Gate::Fluent(fluent) => builder.fluent(fluent),
                Gate::Move(played) => match new_move[played.index()] {
                    Some(played) => builder.played(played),
                    None => builder.constant(false),
                },
                Gate::Feedback => return None,
                Gate::Not(input) => builder.not(new(&input)),
                Gate::And(inputs) => builder.and(&mut inputs.iter().map(new).collect()),
                Gate::Or(inputs) => builder.or(&mut inputs.iter().map(new).collect()),
            };
            new_ids.push(gate);
        }
        let gates = builder.finish();
        let circuit = first_moves.over(gates, Vec::new(), |id| new_ids[id.index()]).pruned();
        let own: Vec<GateId> = (circuit.next.iter().zip(&self.kept))
            .filter(|(_, it)| self.restriction.part.contains(it))
            .map(|it| *it.0)
            .chain(circuit.legal.iter().copied())
            .collect();
        let is_read = circuit.cone(own);
        let reads_clock = circuit.gate_ids().any(|id| match circuit.gate(id) {
            Gate::Fluent(fluent) => {
                is_read[id.index()] && self.restriction.clock.contains(&self.kept[fluent.index()])
            }
            _ => false,
        });
        Some(Restricted {
            circuit,
            fluents: self.kept,
            is_waiting: moves.iter().map(|it| it.is_waiting || it.is_still).collect(),
            is_still: moves.iter().map(|it| it.is_still).collect(),
            moves: moves.into_iter().map(|it| it.moves).collect(),
            is_decided,
            reads_clock,
        })
    }

    /// Groups the moves of each role by what they do to the part.
    fn classes(&mut self, next: &[GateId]) -> Option<Vec<Class>> {
        let n_gates = self.builder.n_gates();
        let is_needed = cone(&self.builder, next, n_gates);
        let mut classes = Vec::new();
        for role in 0..self.whole.n_roles() {
            let of_role: Vec<MoveId> = (self.whole.vocabulary.moves.iter().enumerate())
                .filter(|it| it.1.0.index() == role)
                .map(|it| MoveId::new(it.0))
                .collect();
            // The needed gates that depend on the moves of this role, in order.
            let mut depends = vec![false; n_gates];
            let mut dependents = Vec::new();
            let mut named: Vec<MoveId> = Vec::new();
            for idx in (0..n_gates).filter(|&idx| is_needed[idx]) {
                let id = GateId::new(idx);
                let gate = self.builder.gate_of(id);
                if let Gate::Move(played) = gate
                    && of_role.binary_search(&played).is_ok()
                {
                    named.push(played);
                    depends[idx] = true;
                }
                if depends[idx] || inputs_of(gate).iter().any(|it| depends[it.index()]) {
                    depends[idx] = true;
                    dependents.push(id);
                }
            }
            named.sort_unstable();
            if named.len().saturating_mul(dependents.len()) > self.restriction.max_gates * 64 {
                return None;
            }
            let mut by_effect: FxHashMap<Vec<GateId>, Class> = FxHashMap::default();
            let mut special: Vec<GateId> = (0..n_gates).map(GateId::new).collect();
            let unnamed: Vec<MoveId> =
                of_role.iter().copied().filter(|it| named.binary_search(it).is_err()).collect();
            let first_unnamed = unnamed.first().copied();
            for &played in named.iter().chain(&first_unnamed) {
                if self.restriction.deadline.reached() {
                    return None;
                }
                for &id in &dependents {
                    let new = |it: &GateId| special[it.index()];
                    let copied = match self.builder.gate_of(id) {
                        Gate::Move(it) => Copied::Constant(it == played),
                        Gate::Not(input) => Copied::Not(new(&input)),
                        Gate::And(inputs) => Copied::And(inputs.iter().map(new).collect()),
                        Gate::Or(inputs) => Copied::Or(inputs.iter().map(new).collect()),
                        _ => continue,
                    };
                    special[id.index()] = match copied {
                        Copied::Constant(value) => self.builder.constant(value),
                        Copied::Not(input) => self.builder.not(input),
                        Copied::And(mut inputs) => self.builder.and(&mut inputs),
                        Copied::Or(mut inputs) => self.builder.or(&mut inputs),
                    };
                    if self.builder.n_gates() > self.restriction.max_gates {
                        return None;
                    }
                }
                let effect: Vec<GateId> = next.iter().map(|it| special[it.index()]).collect();
                let is_still =
                    (effect.iter().zip(&self.kept).enumerate()).all(|(idx, (it, kept))| {
                        let same = Gate::Fluent(FluentId::new(idx));
                        self.builder.gate_of(*it) == same || !self.restriction.part.contains(kept)
                    });
                let class = by_effect.entry(effect).or_insert_with(|| Class {
                    moves: Vec::new(),
                    is_waiting: false,
                    is_still,
                });
                if Some(played) == first_unnamed {
                    class.moves.extend(&unnamed);
                    class.is_waiting = true;
                } else {
                    class.moves.push(played);
                }
            }
            classes.extend(by_effect.into_values());
        }
        classes.iter_mut().for_each(|it| it.moves.sort_unstable());
        Some(classes)
    }
}

/// A gate whose inputs are gates with one move played.
enum Copied {
    Constant(bool),
    Not(GateId),
    And(Vec<GateId>),
    Or(Vec<GateId>),
}

/// Moves that do the same to a part.
struct Class {
    moves: Vec<MoveId>,
    is_waiting: bool,
    is_still: bool,
}

fn inputs_of(gate: Gate<'_>) -> Vec<GateId> {
    match gate {
        Gate::Not(input) => vec![input],
        Gate::And(inputs) | Gate::Or(inputs) => inputs.to_vec(),
        _ => Vec::new(),
    }
}

/// By gate, whether one of `outputs` depends on it.
fn cone(builder: &Builder, outputs: &[GateId], n_gates: usize) -> Vec<bool> {
    let mut is_needed = vec![false; n_gates];
    let mut open = outputs.to_vec();
    while let Some(gate) = open.pop() {
        if !std::mem::replace(&mut is_needed[gate.index()], true) {
            open.extend(inputs_of(builder.gate_of(gate)));
        }
    }
    is_needed
}

/// The value of a gate without moves in a state.
fn value_in(builder: &Builder, gate: GateId, state: &BitSet) -> bool {
    let n_gates = gate.index() + 1;
    let is_needed = cone(builder, &[gate], n_gates);
    let mut values = vec![false; n_gates];
    for idx in (0..n_gates).filter(|&idx| is_needed[idx]) {
        values[idx] = match builder.gate_of(GateId::new(idx)) {
            Gate::Constant(value) => value,
            Gate::Fluent(fluent) => state.contains(fluent.index()),
            Gate::Move(_) | Gate::Feedback => false,
            Gate::Not(input) => !values[input.index()],
            Gate::And(inputs) => inputs.iter().all(|it| values[it.index()]),
            Gate::Or(inputs) => inputs.iter().any(|it| values[it.index()]),
        };
    }
    values[gate.index()]
}
