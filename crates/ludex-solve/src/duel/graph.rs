//! The game graph: every state that can be reached, each once, with its successors.

use std::hash::{BuildHasher, Hash};

use hashbrown::HashTable;
use ludex_base::{Goal, Limits, MoveId, RoleId, StopReason};
use ludex_game::{Children, Cursor, Expanded, Game, JointMoves, StateOf};
use rustc_hash::FxBuildHasher;

use crate::problem::Problem;

/// The number of a state in a graph. The first state has the number 0.
pub(crate) type StateNumber = u32;

/// The limits are checked after this many expansions.
const N_UNCHECKED: usize = 64;
/// About the bytes of a state of an engine that does not number its fluents.
const UNKNOWN_STATE_BYTES: usize = 400;

/// The states that can be reached from one, and their successors.
///
/// A graph whose making was stopped has *open* states: their successors are not known.
pub(crate) struct Graph<S> {
    states: Vec<S>,
    numbers: HashTable<StateNumber>,
    nodes: Vec<Node>,
    successors: Vec<StateNumber>,
    /// Goals of terminal states, one for each role.
    goals: Vec<Goal>,
    /// Numbers of moves of each role, for states in which several roles choose.
    sizes: Vec<u32>,
    n_roles: usize,
    n_expanded: usize,
    /// Why not every state was expanded.
    pub(crate) stopped: Option<StopReason>,
}

/// What is known about a state. The numbers are places in lists of the graph.
#[derive(Clone, Copy)]
enum Node {
    Open,
    Terminal {
        goals: u32,
    },
    /// One role chooses among `n` moves; its moves lead to the successors in order.
    Single {
        first: u64,
        n: u32,
        role: u8,
    },
    /// Several roles choose; joint moves are in the order of [`JointMoves`].
    Joint {
        first: u64,
        n: u32,
        sizes: u32,
    },
}

/// What a state looks like to a solver.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Shape<'a> {
    /// Not expanded.
    Open,
    /// The game is over, with these goals.
    Terminal(&'a [Goal]),
    /// One role chooses a successor.
    Single(RoleId, &'a [StateNumber]),
    /// Several roles choose, as many moves as their sizes; the last role's choice changes fastest.
    Joint(&'a [u32], &'a [StateNumber]),
}

impl<S: Clone + Eq + Hash> Graph<S> {
    /// Visits the states in the order of their distance from the first, until a limit is reached, or
    /// `stop` says so when it is shown the graph: now and then, and at the end.
    pub(crate) fn explore<G: Game>(
        game: &G,
        start: &S,
        limits: &Limits,
        mut stop: impl FnMut(&Self) -> Option<StopReason>,
    ) -> Self
    where
        G::Cursor: Cursor<State = S>,
    {
        let n_roles = game.roles().len();
        let mut graph = Self {
            states: Vec::new(),
            numbers: HashTable::new(),
            nodes: Vec::new(),
            successors: Vec::new(),
            goals: Vec::new(),
            sizes: Vec::new(),
            n_roles,
            n_expanded: 0,
            stopped: None,
        };
        let cursor = game.cursor();
        let bytes_of_state = cursor.fluents().map_or(UNKNOWN_STATE_BYTES, |fluents| {
            // The allocator keeps some bytes of its own for each state.
            std::mem::size_of::<S>() + 16 + 8 * fluents.words().len()
        });
        graph.number(start);
        let mut expander = game.expander();
        let mut children = Children::new(n_roles);
        while graph.stopped.is_none() && graph.n_expanded < graph.states.len() {
            let first = graph.n_expanded;
            let open = &graph.states[first..graph.states.len().min(first + expander.n_at_once())];
            graph.stopped = expander.expand(open, &limits.deadline, &mut children).err();
            for idx in 0..children.n_parents() {
                if graph.stopped.is_none() && graph.n_expanded.is_multiple_of(N_UNCHECKED) {
                    let stopped = limits.stop_reason(graph.bytes(bytes_of_state));
                    graph.stopped = stop(&graph).or(stopped);
                }
                if graph.stopped.is_some() {
                    break;
                }
                graph.stopped = graph.add(idx, &children).err();
            }
        }
        if graph.stopped.is_none() {
            graph.stopped = stop(&graph);
        }
        graph
    }

    /// Adds what was found about the next state.
    fn add(&mut self, idx: usize, children: &Children<S>) -> Result<(), StopReason> {
        let node = match children.of(idx) {
            Expanded::Terminal(goals) => {
                let place = u32::try_from(self.goals.len()).map_err(|_| StopReason::Memory)?;
                self.goals.extend_from_slice(goals);
                Node::Terminal { goals: place }
            }
            // A role without a move leaves the rules without a meaning.
            Expanded::Inner([]) => return Err(StopReason::Fault),
            Expanded::Inner(successors) => self.add_successors(idx, children, successors)?,
        };
        self.nodes[self.n_expanded] = node;
        self.n_expanded += 1;
        Ok(())
    }

    fn add_successors(
        &mut self,
        idx: usize,
        children: &Children<S>,
        successors: &[S],
    ) -> Result<Node, StopReason> {
        let first = self.successors.len();
        for successor in successors {
            let Some(number) = self.number(successor) else {
                self.successors.truncate(first);
                return Err(StopReason::Memory);
            };
            self.successors.push(number);
        }
        let n = successors.len() as u32;
        let first = first as u64;
        let n_moves = |role| children.legal_moves(idx, RoleId::new(role)).len() as u32;
        let mut choosers = (0..self.n_roles).filter(|&role| n_moves(role) > 1);
        match (choosers.next(), choosers.next()) {
            (Some(_), Some(_)) => {
                let place = u32::try_from(self.sizes.len()).map_err(|_| StopReason::Memory)?;
                self.sizes.extend((0..self.n_roles).map(n_moves));
                Ok(Node::Joint { first, n, sizes: place })
            }
            (only, _) => {
                let role = u8::try_from(only.unwrap_or(0)).map_err(|_| StopReason::Count)?;
                Ok(Node::Single { first, n, role })
            }
        }
    }

    /// Returns the number of a state, a new one if it has none; `None` if there are too many.
    fn number(&mut self, state: &S) -> Option<StateNumber> {
        let hash = |state: &S| FxBuildHasher.hash_one(state);
        let (states, key) = (&self.states, hash(state));
        if let Some(&number) = self.numbers.find(key, |&it| states[it as usize] == *state) {
            return Some(number);
        }
        let number = StateNumber::try_from(self.states.len()).ok()?;
        self.numbers.insert_unique(key, number, |&it| hash(&states[it as usize]));
        self.states.push(state.clone());
        self.nodes.push(Node::Open);
        Some(number)
    }

    /// Returns about the bytes of the graph, with those that solving it will need.
    fn bytes(&self, bytes_of_state: usize) -> u64 {
        // Per state a node, a place in the hash table, and values, ranks and counters of a solver;
        // per edge its two ends.
        let of_states = self.states.len() * (bytes_of_state + 24 + 8 + 32);
        (of_states + self.successors.len() * 8 + self.goals.len()) as u64
    }

    /// Returns the number of a state that was met.
    pub(crate) fn find(&self, state: &S) -> Option<StateNumber> {
        let key = FxBuildHasher.hash_one(state);
        self.numbers.find(key, |&it| self.states[it as usize] == *state).copied()
    }

    /// Returns whether several roles choose in a state that was met.
    pub(crate) fn has_joint_choices(&self) -> bool {
        !self.sizes.is_empty()
    }

    /// Returns how many states were met.
    pub(crate) fn len(&self) -> usize {
        self.states.len()
    }

    /// Returns the state with a number.
    pub(crate) fn state(&self, number: StateNumber) -> &S {
        &self.states[number as usize]
    }

    /// Returns what is known about a state.
    pub(crate) fn shape(&self, number: StateNumber) -> Shape<'_> {
        let successors = |first: u64, n: u32| {
            let first = first as usize;
            &self.successors[first..first + n as usize]
        };
        match self.nodes[number as usize] {
            Node::Open => Shape::Open,
            Node::Terminal { goals } => {
                Shape::Terminal(&self.goals[goals as usize..goals as usize + self.n_roles])
            }
            Node::Single { first, n, role } => {
                Shape::Single(RoleId::new(role as usize), successors(first, n))
            }
            Node::Joint { first, n, sizes } => {
                let sizes = &self.sizes[sizes as usize..sizes as usize + self.n_roles];
                Shape::Joint(sizes, successors(first, n))
            }
        }
    }

    /// Returns the successors of a state.
    pub(crate) fn successors(&self, number: StateNumber) -> &[StateNumber] {
        match self.shape(number) {
            Shape::Single(_, successors) | Shape::Joint(_, successors) => successors,
            Shape::Open | Shape::Terminal(_) => &[],
        }
    }

    /// Returns all states, in the order in which they were met.
    pub(crate) fn numbers(&self) -> std::ops::Range<StateNumber> {
        0..self.states.len() as StateNumber
    }
}

/// For each state those that lead to it, once for each joint move that does.
pub(crate) struct Predecessors {
    /// The start of each state's list, and the end of the last.
    starts: Vec<usize>,
    lists: Vec<StateNumber>,
}

impl Predecessors {
    /// Turns the edges of a graph around.
    pub(crate) fn of<S: Clone + Eq + Hash>(graph: &Graph<S>) -> Self {
        let mut starts = vec![0; graph.len() + 1];
        for &successor in &graph.successors {
            starts[successor as usize + 1] += 1;
        }
        for number in 0..graph.len() {
            starts[number + 1] += starts[number];
        }
        let mut next = starts.clone();
        let mut lists = vec![0; graph.successors.len()];
        for number in graph.numbers() {
            for &successor in graph.successors(number) {
                lists[next[successor as usize]] = number;
                next[successor as usize] += 1;
            }
        }
        Self { starts, lists }
    }

    /// Returns the states that lead to a state.
    pub(crate) fn before(&self, number: StateNumber) -> &[StateNumber] {
        &self.lists[self.starts[number as usize]..self.starts[number as usize + 1]]
    }

    /// Returns every state after its successors, as far as no state on a cycle comes before it: all
    /// of them exactly if no play returns to a state.
    pub(crate) fn backward_order<S: Clone + Eq + Hash>(
        &self,
        graph: &Graph<S>,
    ) -> Vec<StateNumber> {
        let mut n_left: Vec<u32> =
            graph.numbers().map(|number| graph.successors(number).len() as u32).collect();
        let mut order: Vec<StateNumber> =
            graph.numbers().filter(|&number| n_left[number as usize] == 0).collect();
        let mut n_followed = 0;
        while n_followed < order.len() {
            for &number in self.before(order[n_followed]) {
                n_left[number as usize] -= 1;
                if n_left[number as usize] == 0 {
                    order.push(number);
                }
            }
            n_followed += 1;
        }
        order
    }
}

/// Returns the first joint move of a state that leads to the state with a number, or to one that it
/// stands for, and where that move leads.
pub(crate) fn step_to<G: Game>(
    problem: &Problem<'_, G>,
    graph: &Graph<StateOf<G>>,
    cursor: &mut G::Cursor,
    state: &StateOf<G>,
    target: StateNumber,
) -> Option<(Vec<MoveId>, StateOf<G>)> {
    cursor.set_state(state);
    let mut joints = JointMoves::of(cursor, problem.game.roles().len());
    while let Some(joint) = joints.next_joint() {
        cursor.set_state(state);
        cursor.play(joint);
        if graph.find(&problem.canonical(cursor.state())) == Some(target) {
            return Some((joint.to_vec(), cursor.state().clone()));
        }
    }
    None
}

/// Returns the moves of the roles for a joint move of a state, by its place among the successors.
pub(crate) fn joint_move<G: Game>(
    game: &G,
    cursor: &mut G::Cursor,
    state: &StateOf<G>,
    place: usize,
) -> Vec<MoveId> {
    cursor.set_state(state);
    let mut joints = JointMoves::of(cursor, game.roles().len());
    for _ in 0..place {
        joints.next_joint();
    }
    joints.next_joint().expect("the place is that of a successor").to_vec()
}
