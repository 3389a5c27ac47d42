//! The states that a search has met, each once, with the way to them.
//!
//! States that differ only in what happens by itself, such as a step counter, can count as one: see
//! [`Folding`].

use std::hash::{BuildHasher, Hash, Hasher};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use ludex_base::{BitSet, Deadline, FluentId, Goal, MoveId};
use ludex_circuit::{Gate, GateId, Rules};
use ludex_search::heap_bytes_of;
use rustc_hash::{FxBuildHasher, FxHasher};

use super::clock::Clock;
use super::effects::autonomous_fluents;
use super::lanes::{Assumptions, Cones, Groups, Lanes, Literal, first_lanes};

/// What adding a state changed.
pub(super) enum Added {
    /// It was not met before; its index.
    New(usize),
    /// It was met before, after more steps; its index. The way to it is now the shorter one.
    Sooner(usize),
    /// It was met before.
    Known,
}

/// The states met so far.
pub(super) struct States<'a, S> {
    list: Vec<S>,
    came_from: Vec<(u32, MoveId)>,
    depths: Vec<u32>,
    /// Finds the index of a state by its hash.
    indexes: HashTable<u32>,
    folding: Option<Folding<'a, S>>,
    bytes_per_state: usize,
}

impl<'a, S: Clone + Eq + Hash> States<'a, S> {
    /// Creates the set with one state, whose index is 0.
    pub fn new(first: &S, folding: Option<Folding<'a, S>>) -> Self {
        let bytes_per_state = heap_bytes_of(first)
            + size_of::<S>()
            + size_of::<(u32, MoveId)>()
            + 3 * size_of::<u32>();
        let mut states = Self {
            list: Vec::new(),
            came_from: Vec::new(),
            depths: Vec::new(),
            indexes: HashTable::new(),
            folding,
            bytes_per_state,
        };
        states.add(first, 0, MoveId::new(0));
        states
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn get(&self, idx: usize) -> Option<&S> {
        self.list.get(idx)
    }

    /// Returns the number of steps to a state.
    pub fn depth(&self, idx: usize) -> u32 {
        self.depths[idx]
    }

    /// Adds a state that a move leads to.
    pub fn add(&mut self, state: &S, before: usize, chosen: MoveId) -> Added {
        let Self { list, indexes, .. } = self;
        let folding = self.folding.as_ref();
        let hash = |state: &S| match folding {
            Some(folding) => folding.hash(state),
            None => FxBuildHasher.hash_one(state),
        };
        let is_same = |other: &S| match folding {
            Some(folding) => folding.is_same(state, other),
            None => state == other,
        };
        let entry = indexes.entry(
            hash(state),
            |&idx| is_same(&list[idx as usize]),
            |&idx| hash(&list[idx as usize]),
        );
        let depth = self.depths.get(before).map_or(0, |depth| depth + 1);
        match entry {
            Entry::Occupied(entry) => {
                let idx = *entry.get() as usize;
                if depth >= self.depths[idx] {
                    return Added::Known;
                }
                list[idx] = state.clone();
                self.came_from[idx] = (before as u32, chosen);
                self.depths[idx] = depth;
                Added::Sooner(idx)
            }
            Entry::Vacant(entry) => {
                let idx = list.len();
                entry.insert(idx as u32);
                list.push(state.clone());
                self.came_from.push((before as u32, chosen));
                self.depths.push(depth);
                Added::New(idx)
            }
        }
    }

    /// Returns the joint moves from the first state to another.
    pub fn line_to(&self, mut idx: usize) -> Vec<Vec<MoveId>> {
        let mut line = Vec::new();
        while idx != 0 {
            let (before, chosen) = self.came_from[idx];
            line.push(vec![chosen]);
            idx = before as usize;
        }
        line.reverse();
        line
    }

    /// Returns the states on the way to a state, from the second on.
    pub fn path_to(&self, mut idx: usize) -> Vec<&S> {
        let mut path = Vec::new();
        while idx != 0 {
            path.push(&self.list[idx]);
            idx = self.came_from[idx].0 as usize;
        }
        path.reverse();
        path
    }

    /// Returns about how many bytes it takes, with vectors that may be half empty.
    pub fn n_bytes(&self) -> u64 {
        2 * (self.list.len() * self.bytes_per_state) as u64
    }

    /// Returns whether no goal above `best` can be reached, if all states of the set and no others
    /// can be. It is not proved if the deadline is reached.
    pub fn proves(&self, best: Goal, deadline: &Deadline) -> bool {
        let proves = |folding: &Folding<'_, S>| {
            let mut batches = self.list.chunks(64).zip(self.depths.chunks(64));
            let mut check = Check::new(folding, best);
            batches.all(|(states, depths)| !deadline.reached() && check.holds(states, depths))
        };
        self.folding.as_ref().is_none_or(proves)
    }
}

/// Counts states as one that differ only in fluents that no move influences.
///
/// That is allowed if moves and their effects do not depend on these fluents. Then what can be
/// reached from a state depends on them only through the end of the game, and a search that visits
/// each state after as few steps as possible loses nothing. When it is done, [`States::proves`] checks this.
pub(super) struct Folding<'a, S> {
    rules: &'a dyn Rules<S>,
    autonomous: BitSet,
    /// Whether the clock was followed until plays end or it repeats.
    is_followed: bool,
    clock_limit: Option<usize>,
}

impl<'a, S> Folding<'a, S> {
    /// Returns the folding for plays from a state; `None` if there is nothing to fold, or if it is
    /// not allowed.
    pub fn of(rules: &'a dyn Rules<S>, state: &S) -> Option<Self> {
        let circuit = rules.circuit();
        if !circuit.loops.is_empty() {
            return None;
        }
        let autonomous = autonomous_fluents(circuit);
        if autonomous.is_empty() {
            return None;
        }
        let of_moves = (0..circuit.next.len()).filter(|&idx| !autonomous.contains(idx));
        let gates = of_moves.map(|idx| circuit.next[idx]).chain(circuit.legal.iter().copied());
        let cone = Cones::new(circuit).of(gates);
        let reads = |gate: &_| match circuit.gate(*gate) {
            Gate::Fluent(fluent) => autonomous.contains(fluent.index()),
            _ => false,
        };
        if cone.iter().any(reads) {
            return None;
        }
        let groups = Groups::new(circuit, Vec::new());
        let clock = Clock::of(circuit, &groups, &autonomous, rules.fluents(state));
        let is_followed = clock.is_some();
        let clock_limit = clock.filter(|it| it.is_limit).map(|it| it.ticks.len() - 1);
        Some(Self { rules, autonomous, is_followed, clock_limit })
    }

    /// Returns whether folding provably loses no shortest play to a goal of at least `goal`.
    ///
    /// Otherwise a play that arrives sooner may be worth less than one that arrives in time. It is
    /// proved if these goals do not read the time, and if each condition for the end reads either
    /// nothing but the time or nothing of it. A condition of the first kind ends all plays at once,
    /// and before that the end does not depend on the time.
    pub fn keeps_shortest(&self, goal: Goal) -> bool {
        let circuit = self.rules.circuit();
        let mut cones = Cones::new(circuit);
        // Whether a gate reads the time, and whether it reads anything else.
        let mut reads = |gate: GateId| {
            let (mut time, mut other) = (false, false);
            for gate in cones.of([gate]) {
                if let Gate::Fluent(fluent) = circuit.gate(gate) {
                    let is_time = self.autonomous.contains(fluent.index());
                    (time, other) = (time | is_time, other | !is_time);
                }
            }
            (time, other)
        };
        let mut wanted = circuit.goals.iter().filter(|it| it.1 >= goal).map(|it| it.2);
        if !self.is_followed || wanted.any(|gate| reads(gate).0) {
            return false;
        }
        let mut conditions = vec![circuit.terminal];
        while let Some(gate) = conditions.pop() {
            match circuit.gate(gate) {
                Gate::Or(inputs) => conditions.extend(inputs),
                _ if reads(gate) == (true, true) => return false,
                _ => {}
            }
        }
        true
    }

    fn hash(&self, state: &S) -> u64 {
        let mut hasher = FxHasher::default();
        for (word, mask) in self.rules.fluents(state).words().iter().zip(self.autonomous.words()) {
            hasher.write_u64(word & !mask);
        }
        hasher.finish()
    }

    /// Returns whether two states count as one.
    pub fn is_same(&self, a: &S, b: &S) -> bool {
        let (a, b) = (self.rules.fluents(a).words(), self.rules.fluents(b).words());
        let mut words = a.iter().zip(b).zip(self.autonomous.words());
        words.all(|((a, b), mask)| (a ^ b) & !mask == 0)
    }
}

/// Checks in the end of a search that folding lost nothing.
struct Check<'a, S> {
    folding: &'a Folding<'a, S>,
    groups: Groups,
    /// Gates of the goals to rule out.
    better: Vec<GateId>,
    cone: Vec<GateId>,
    lanes: Lanes<'a>,
}

impl<'a, S> Check<'a, S> {
    fn new(folding: &'a Folding<'a, S>, best: Goal) -> Self {
        let circuit = folding.rules.circuit();
        let better = circuit.goals.iter().filter(|&&(_, goal, _)| goal > best);
        let better: Vec<GateId> = better.map(|&(_, _, gate)| gate).collect();
        let cone = Cones::new(circuit).of(better.iter().copied().chain([circuit.terminal]));
        let groups = Groups::new(circuit, Vec::new());
        Self { folding, groups, better, cone, lanes: Lanes::new(circuit) }
    }

    /// Returns whether none of up to 64 states could be terminal with a better goal at another time,
    /// and none that ended a play could go on at another time.
    fn holds(&mut self, states: &[S], depths: &[u32]) -> bool {
        let terminal = self.folding.rules.circuit().terminal;
        let all = first_lanes(states.len());
        let timely = assumptions(self.folding, &self.groups, states, true);
        self.lanes.evaluate(&self.cone, &timely);
        let ends_now = self.lanes.known(terminal).yes & all;
        let timeless = assumptions(self.folding, &self.groups, states, false);
        self.lanes.evaluate(&self.cone, &timeless);
        let ends = self.lanes.known(terminal);
        let is_possible = |may, &gate: &GateId| may | !self.lanes.known(gate).no;
        let may_be_better = self.better.iter().fold(0, is_possible);
        let mut is_last = 0;
        for (lane, &depth) in depths.iter().enumerate() {
            is_last |= u64::from(self.folding.clock_limit == Some(depth as usize)) << lane;
        }
        let could_end_better = !ends.no & may_be_better & all;
        let could_go_on = ends_now & !ends.yes & !is_last;
        could_end_better | could_go_on == 0
    }
}

/// Assumes in each lane the fluents of a state, with or without those that no move influences.
fn assumptions<'a, S>(
    folding: &Folding<'_, S>,
    groups: &'a Groups,
    states: &[S],
    with_time: bool,
) -> Assumptions<'a> {
    let circuit = folding.rules.circuit();
    let mut assumptions = Assumptions::new(circuit, groups);
    for (lane, state) in states.iter().enumerate() {
        let fluents = folding.rules.fluents(state);
        for idx in 0..circuit.next.len() {
            if with_time || !folding.autonomous.contains(idx) {
                let literal = Literal { fluent: FluentId::new(idx), value: fluents.contains(idx) };
                assumptions.assume(literal, 1 << lane);
            }
        }
    }
    assumptions
}

#[cfg(test)]
mod tests {
    use ludex_game::{Cursor, Game};

    use super::*;
    use crate::puzzle::tests::machine;

    #[test]
    fn a_clock_that_only_limits_plays_is_folded_in_searches_for_shortest_lines() {
        // A walk to and fro between two places, and on to a third.
        let walk = "(role you) (init (at a)) (init (time 0)) (arc a b) (arc b a) (arc b c)
            (succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5)
            (<= (legal you (go ?y)) (true (at ?x)) (arc ?x ?y))
            (<= (next (at ?y)) (does you (go ?y)))
            (<= (next (time ?y)) (true (time ?x)) (succ ?x ?y))
            (<= terminal (true (at c)))";
        let check = |rest: &str, goal: u32, expected: bool| {
            let game = machine(&format!("{walk} {rest}"));
            let folding = Folding::of(game.circuit(), game.cursor().state()).expect("a clock");
            let goal = Goal::new(goal).expect("a goal");
            assert_eq!(folding.keeps_shortest(goal), expected, "{rest}");
        };
        let limit = "(<= terminal (true (time 5)))";
        let home = "(<= (goal you 100) (true (at c)))";
        check(&format!("{limit} {home}"), 100, true);
        // Only some states end at that time.
        check(&format!("(<= terminal (true (time 4)) (true (at a))) {home}"), 100, false);
        // A goal that depends on the time matters only if it is enough.
        let graded = format!("{limit} {home} (<= (goal you 30) (true (time 3)))");
        check(&graded, 100, true);
        check(&graded, 30, false);
    }
}
