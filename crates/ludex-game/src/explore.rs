//! Exploration of every reachable state, and the properties that a competition asks of a rulesheet.
//!
//! A game *terminates* if every play ends. It is *playable* if every role has a legal move in every
//! nonterminal state, *weakly winnable* if for each role some play ends with its best goal, and
//! *strongly winnable* if some role can force its best goal whatever the others do. It is
//! *well-formed* if it terminates, is playable and weakly winnable (Genesereth and Thielscher; É.
//! Piette's thesis, definitions 1.27 to 1.31). The best goal is 100. `random` is not a player: it
//! need not be able to win, and it never cooperates.
//!
//! Invariant: a [`Finding::Yes`] or [`Finding::No`] is proved by the states that were visited. If a
//! limit left states unvisited that could change a finding, it is [`Finding::Unknown`].

use std::collections::{HashMap, VecDeque};
use std::ops::ControlFlow;

use ludex_base::{Deadline, Goal, Rng, RoleId, StopReason, memory};

use crate::game::{Cursor, Game, StateOf};
use crate::joint::JointMoves;
use crate::random_play::{PlayEnd, PlayVisitor, RandomPlay, stop_if};

/// Limits of an exploration.
#[derive(Clone, Debug)]
pub struct ExploreLimits {
    /// Largest number of states to store.
    pub max_states: usize,
    /// Largest number of transitions to store, one for each joint move of each state.
    pub max_transitions: usize,
    /// When to stop; checked at every 64th state or joint move. The last part of the time is kept
    /// for deciding the properties.
    pub deadline: Deadline,
}

/// A proved answer, or none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Finding {
    /// It holds.
    Yes,
    /// It does not hold.
    No,
    /// A limit was reached first, or the question has no meaning here.
    Unknown,
}

/// The result of an exploration.
#[derive(Clone, Debug)]
pub struct Exploration<S> {
    /// States reached.
    pub n_states: usize,
    /// Terminal states among them.
    pub n_terminal: usize,
    /// Pairs of a state and one of its successors.
    pub n_arcs: usize,
    /// Pairs of a state and a legal joint move in it.
    pub n_transitions: usize,
    /// Why states are missing, if some are.
    pub stopped: Option<StopReason>,
    /// The longest play in joint moves, when the game is known to terminate.
    pub longest_play: Option<usize>,
    /// For each role, its best goal in a reached terminal state.
    pub best_goals: Vec<Option<Goal>>,
    /// A role without a legal move in a nonterminal state, and the state.
    pub stuck: Option<(RoleId, S)>,
    /// A state that a play can return to.
    pub repeated: Option<S>,
    /// A role with no goal or several in a terminal state, and the state.
    pub unclear_goal: Option<(RoleId, S)>,
    /// Roles that can force their best goal.
    pub forced_by: Vec<RoleId>,
    /// Whether every play ends.
    pub is_terminating: Finding,
    /// Whether every role has a legal move in every nonterminal state.
    pub is_playable: Finding,
    /// Whether each role gets its best goal in some play.
    pub is_weakly_winnable: Finding,
    /// Whether some role can force its best goal.
    pub is_strongly_winnable: Finding,
}

impl<S> Exploration<S> {
    /// Whether the game terminates, is playable and weakly winnable.
    pub fn is_well_formed(&self) -> Finding {
        [self.is_terminating, self.is_playable, self.is_weakly_winnable]
            .into_iter()
            .fold(Finding::Yes, Finding::and)
    }
}

impl Finding {
    /// Returns whether both hold.
    pub fn and(self, other: Finding) -> Finding {
        match (self, other) {
            (Finding::No, _) | (_, Finding::No) => Finding::No,
            (Finding::Yes, Finding::Yes) => Finding::Yes,
            _ => Finding::Unknown,
        }
    }

    fn no_or(is_refuted: bool, otherwise: Finding) -> Finding {
        if is_refuted { Finding::No } else { otherwise }
    }
}

/// Visits the reachable states breadth first and decides the properties of this module.
pub fn explore<G: Game>(game: &G, limits: &ExploreLimits) -> Exploration<StateOf<G>> {
    let mut graph = Graph::new(game);
    let visiting = ExploreLimits { deadline: limits.deadline.part(VISIT_PART), ..limits.clone() };
    let stopped = graph.visit_all(game, &visiting).err();
    graph.answer(game, stopped, &limits.deadline)
}

/// The part of the time in which states are visited.
const VISIT_PART: f64 = 0.8;
/// States and joint moves between two checks of the deadline.
const CHECK_INTERVAL: usize = 64;

/// The reached states, numbered in the order of discovery.
struct Graph<S> {
    numbers: HashMap<S, u32>,
    nodes: Vec<Node>,
    /// Successors of all nodes: for each node one per joint move, the last role changing fastest.
    successors: Vec<u32>,
    /// For each expanded node, how many moves each role has.
    sizes: Vec<u32>,
    /// For each node, the last node that was counted as leading to it, plus 1.
    last_parents: Vec<u32>,
    n_roles: usize,
    /// States and joint moves visited.
    n_visits: usize,
    n_arcs: usize,
    n_terminal: usize,
    best_goals: Vec<Option<Goal>>,
    stuck: Option<(RoleId, S)>,
    unclear_goal: Option<(RoleId, S)>,
}

#[derive(Clone, Copy)]
enum Node {
    /// Reached but not expanded.
    Open,
    /// Terminal; `won` is the mask of roles with their best goal.
    Terminal { won: RoleMask },
    /// Expanded; its successors begin at `first` and its numbers of moves at `sizes`.
    Inner { first: usize, n: usize, sizes: usize },
}

/// One bit for each role. Roles beyond the 64th have no bit and are never reported as winning.
type RoleMask = u64;

impl<S: Clone + Eq + std::hash::Hash> Graph<S> {
    fn new<G: Game>(game: &G) -> Self {
        let n_roles = game.roles().len();
        Self {
            numbers: HashMap::new(),
            nodes: Vec::new(),
            successors: Vec::new(),
            sizes: Vec::new(),
            last_parents: Vec::new(),
            n_roles,
            n_visits: 0,
            n_arcs: 0,
            n_terminal: 0,
            best_goals: vec![None; n_roles],
            stuck: None,
            unclear_goal: None,
        }
    }

    fn visit_all<G>(&mut self, game: &G, limits: &ExploreLimits) -> Result<(), StopReason>
    where
        G: Game,
        G::Cursor: Cursor<State = S>,
    {
        let mut cursor = game.cursor();
        let mut open = VecDeque::new();
        self.number(cursor.state(), &mut open);
        let mut n_visited = 0_usize;
        while let Some(state) = open.pop_front() {
            self.tick(&limits.deadline)?;
            cursor.set_state(&state);
            let is_terminal = cursor.is_terminal();
            if cursor.has_fault() {
                return Err(StopReason::Fault);
            }
            if is_terminal {
                self.visit_terminal(n_visited, &mut cursor);
            } else {
                self.visit_inner(n_visited, &state, &mut cursor, &mut open, limits)?;
            }
            n_visited += 1;
        }
        Ok(())
    }

    /// Counts a state or joint move, and returns an error at the deadline.
    fn tick(&mut self, deadline: &Deadline) -> Result<(), StopReason> {
        let is_checked = self.n_visits.is_multiple_of(CHECK_INTERVAL);
        self.n_visits += 1;
        match is_checked.then(|| deadline.stop_reason()).flatten() {
            Some(reason) => Err(reason),
            None => Ok(()),
        }
    }

    /// Returns an error if there is no room for one more state or transition.
    fn check_room(&self, limits: &ExploreLimits) -> Result<(), StopReason> {
        if self.nodes.len() >= limits.max_states.min(u32::MAX as usize)
            || self.successors.len() >= limits.max_transitions
        {
            return Err(StopReason::Count);
        }
        let n_bytes = self.bytes_to_grow();
        if n_bytes > 0 && !memory::has_room(n_bytes) { Err(StopReason::Memory) } else { Ok(()) }
    }

    /// Returns the bytes that the next state or transition allocates for the tables: a full table
    /// doubles.
    fn bytes_to_grow(&self) -> u64 {
        let doubled = |len: usize, capacity: usize, item_bytes: usize| {
            if len < capacity { 0 } else { 2 * (capacity * item_bytes) as u64 }
        };
        let Self { numbers, nodes, successors, .. } = self;
        doubled(numbers.len(), numbers.capacity(), size_of::<(S, u32)>() + 1)
            + doubled(nodes.len(), nodes.capacity(), size_of::<Node>() + size_of::<u32>())
            + doubled(successors.len(), successors.capacity(), size_of::<u32>())
    }

    /// Returns the number of a state; appends a new state to the queue.
    fn number(&mut self, state: &S, open: &mut VecDeque<S>) -> u32 {
        if let Some(&number) = self.numbers.get(state) {
            return number;
        }
        let number = u32::try_from(self.nodes.len()).expect("the limit fits in 32 bits");
        self.numbers.insert(state.clone(), number);
        self.nodes.push(Node::Open);
        self.last_parents.push(0);
        open.push_back(state.clone());
        number
    }

    fn visit_terminal<C: Cursor<State = S>>(&mut self, number: usize, cursor: &mut C) {
        let mut won = 0;
        for role in (0..self.n_roles).map(RoleId::new) {
            if cursor.goals(role).len() != 1 && self.unclear_goal.is_none() {
                self.unclear_goal = Some((role, cursor.state().clone()));
            }
            let goal = cursor.goal(role);
            let best = &mut self.best_goals[role.index()];
            *best = (*best).max(Some(goal));
            if goal == Goal::MAX && role.index() < RoleMask::BITS as usize {
                won |= 1 << role.index();
            }
        }
        self.n_terminal += 1;
        self.nodes[number] = Node::Terminal { won };
    }

    fn visit_inner<C: Cursor<State = S>>(
        &mut self,
        number: usize,
        state: &S,
        cursor: &mut C,
        open: &mut VecDeque<S>,
        limits: &ExploreLimits,
    ) -> Result<(), StopReason> {
        let mut joints = JointMoves::of(cursor, self.n_roles);
        let sizes: Vec<usize> = joints.sizes().collect();
        if let Some(role_idx) = sizes.iter().position(|&n_moves| n_moves == 0)
            && self.stuck.is_none()
        {
            self.stuck = Some((RoleId::new(role_idx), state.clone()));
        }
        let first = self.successors.len();
        while let Some(joint) = joints.next_joint() {
            let played = self.tick(&limits.deadline).and_then(|()| {
                self.check_room(limits)?;
                cursor.set_state(state);
                cursor.play(joint);
                if cursor.has_fault() { Err(StopReason::Fault) } else { Ok(()) }
            });
            if let Err(reason) = played {
                self.successors.truncate(first);
                return Err(reason);
            }
            let successor = self.number(cursor.state(), open);
            self.successors.push(successor);
        }
        let n = self.successors.len() - first;
        let parent = number as u32 + 1;
        for &successor in &self.successors[first..] {
            let last_parent = &mut self.last_parents[successor as usize];
            self.n_arcs += usize::from(*last_parent != parent);
            *last_parent = parent;
        }
        self.nodes[number] = Node::Inner { first, n, sizes: self.sizes.len() };
        self.sizes.extend(sizes.iter().map(|&size| size as u32));
        Ok(())
    }

    fn answer<G: Game>(
        self,
        game: &G,
        stopped: Option<StopReason>,
        deadline: &Deadline,
    ) -> Exploration<S> {
        let unseen = if stopped.is_some() { Finding::Unknown } else { Finding::Yes };
        let (order, repeated) = self.postorder();
        let longest_play =
            (stopped.is_none() && repeated.is_none()).then(|| self.longest_play(&order));
        let (won, is_fixpoint) = self.forced(&order, repeated.is_none(), deadline);
        let players = || game.role_ids().filter(|role| !game.roles()[role.index()].is_random);
        let forced_by: Vec<RoleId> =
            players().filter(|role| role.index() < 64 && won >> role.index() & 1 != 0).collect();
        let all_win = players().all(|role| self.best_goals[role.index()] == Some(Goal::MAX));
        let is_weakly_winnable = match (all_win, stopped) {
            (true, _) => Finding::Yes,
            (false, None) => Finding::No,
            (false, Some(_)) => Finding::Unknown,
        };
        let is_strongly_winnable = if forced_by.is_empty() {
            // A role that can't force its best goal with full information can't do so with less.
            if stopped.is_none() && is_fixpoint { Finding::No } else { Finding::Unknown }
        } else if game.has_percepts() && players().count() + n_random(game) > 1 {
            Finding::Unknown
        } else {
            Finding::Yes
        };
        let repeated = repeated.map(|number| self.state(number));
        Exploration {
            n_states: self.nodes.len(),
            n_terminal: self.n_terminal,
            n_arcs: self.n_arcs,
            n_transitions: self.successors.len(),
            stopped,
            longest_play,
            is_terminating: Finding::no_or(repeated.is_some(), unseen),
            is_playable: Finding::no_or(self.stuck.is_some(), unseen),
            is_weakly_winnable,
            is_strongly_winnable,
            best_goals: self.best_goals,
            stuck: self.stuck,
            repeated,
            unclear_goal: self.unclear_goal,
            forced_by,
        }
    }

    fn state(&self, number: u32) -> S {
        let found = self.numbers.iter().find(|&(_, &other)| other == number);
        found.expect("every number has its state").0.clone()
    }

    fn successors_of(&self, number: u32) -> &[u32] {
        match self.nodes[number as usize] {
            Node::Inner { first, n, .. } => &self.successors[first..first + n],
            Node::Open | Node::Terminal { .. } => &[],
        }
    }

    /// Returns the states in postorder, each after its successors as far as there are no cycles,
    /// and a state on a cycle if there is one.
    fn postorder(&self) -> (Vec<u32>, Option<u32>) {
        #[derive(Clone, Copy, PartialEq)]
        enum Mark {
            New,
            OnPath,
            Done,
        }
        let mut marks = vec![Mark::New; self.nodes.len()];
        let mut order = Vec::with_capacity(self.nodes.len());
        let mut repeated = None;
        let mut path: Vec<(u32, usize)> = vec![(0, 0)];
        marks[0] = Mark::OnPath;
        while let Some((number, n_followed)) = path.last_mut() {
            let Some(&successor) = self.successors_of(*number).get(*n_followed) else {
                marks[*number as usize] = Mark::Done;
                order.push(*number);
                path.pop();
                continue;
            };
            *n_followed += 1;
            match marks[successor as usize] {
                Mark::New => {
                    marks[successor as usize] = Mark::OnPath;
                    path.push((successor, 0));
                }
                Mark::OnPath => repeated = repeated.or(Some(successor)),
                Mark::Done => {}
            }
        }
        (order, repeated)
    }

    fn longest_play(&self, order: &[u32]) -> usize {
        let mut lengths = vec![0_usize; self.nodes.len()];
        for &number in order {
            let after = self.successors_of(number).iter().map(|&next| lengths[next as usize] + 1);
            lengths[number as usize] = after.max().unwrap_or(0);
        }
        lengths[0]
    }

    /// Returns the roles that can force their best goal from the initial state: the least fixpoint
    /// of "the goal is reached, or some move leads there whatever the others play". Without cycles,
    /// one sweep in postorder computes the fixpoint.
    ///
    /// The roles grow from sweep to sweep, so those found by the deadline are right, and there may
    /// be others: the second value is false then. The deadline is checked about every 64 joint
    /// moves.
    fn forced(&self, order: &[u32], is_acyclic: bool, deadline: &Deadline) -> (RoleMask, bool) {
        let mut won: Vec<RoleMask> = vec![0; self.nodes.len()];
        let mut n_checked = 0;
        loop {
            let mut has_changed = false;
            for &number in order {
                let now = match self.nodes[number as usize] {
                    Node::Open => 0,
                    Node::Terminal { won } => won,
                    Node::Inner { first, n, sizes } => {
                        n_checked += n;
                        if n_checked >= CHECK_INTERVAL {
                            n_checked = 0;
                            if deadline.reached() {
                                return (won[0], false);
                            }
                        }
                        self.forced_in_one(first, n, sizes, &won)
                    }
                };
                has_changed |= now != won[number as usize];
                won[number as usize] = now;
            }
            if is_acyclic || !has_changed {
                return (won[0], true);
            }
        }
    }

    fn forced_in_one(
        &self,
        first: usize,
        n_joints: usize,
        sizes: usize,
        won: &[RoleMask],
    ) -> RoleMask {
        let sizes = &self.sizes[sizes..sizes + self.n_roles];
        let successors = &self.successors[first..first + n_joints];
        let won_after = |&successor: &u32| won[successor as usize];
        // Few roles win anywhere, and a role that does not is skipped.
        let somewhere = successors.iter().map(won_after).fold(0, |all, one| all | one);
        let mut mask = 0;
        let mut stride = n_joints;
        for (role_idx, &size) in sizes.iter().enumerate().take(RoleMask::BITS as usize) {
            if n_joints == 0 {
                break;
            }
            let size = size as usize;
            stride /= size;
            if somewhere >> role_idx & 1 == 0 {
                continue;
            }
            let mut can_fail = vec![false; size];
            for (joint_idx, successor) in successors.iter().enumerate() {
                can_fail[joint_idx / stride % size] |= won_after(successor) >> role_idx & 1 == 0;
            }
            if can_fail.contains(&false) {
                mask |= 1 << role_idx;
            }
        }
        mask
    }
}

fn n_random<G: Game>(game: &G) -> usize {
    game.roles().iter().filter(|role| role.is_random).count()
}

/// Findings of random play, for games with too many states to explore.
#[derive(Clone, Debug)]
pub struct Evidence<S> {
    /// Playouts that reached a terminal state.
    pub n_finished: u64,
    /// Playouts that were abandoned at the step limit.
    pub n_endless: u64,
    /// Steps of the finished playouts, summed.
    pub n_steps: u64,
    /// Steps of the longest finished playout.
    pub longest: usize,
    /// For each role, its best goal at the end of a playout.
    pub best_goals: Vec<Option<Goal>>,
    /// A role without a legal move in a nonterminal state, and the state.
    pub stuck: Option<(RoleId, S)>,
    /// A role with no goal or several in a terminal state, and the state.
    pub unclear_goal: Option<(RoleId, S)>,
}

/// Plays up to `n_playouts` random games of at most `max_steps` joint moves each.
/// The deadline is checked after every step.
pub fn sample<G: Game>(
    game: &G,
    n_playouts: u64,
    max_steps: usize,
    rng: &mut Rng,
    deadline: &Deadline,
) -> Evidence<StateOf<G>> {
    let mut evidence = Evidence {
        n_finished: 0,
        n_endless: 0,
        n_steps: 0,
        longest: 0,
        best_goals: vec![None; game.roles().len()],
        stuck: None,
        unclear_goal: None,
    };
    let mut cursor = game.cursor();
    let start = cursor.state().clone();
    let mut play = RandomPlay::within(game.roles().len(), max_steps);
    for _ in 0..n_playouts {
        cursor.set_state(&start);
        match play.run(&mut cursor, rng, &mut UntilDeadline(deadline)) {
            PlayEnd::Stopped => break,
            PlayEnd::TooLong => evidence.n_endless += 1,
            PlayEnd::NoLegalMove(role) => {
                evidence.stuck.get_or_insert_with(|| (role, cursor.state().clone()));
            }
            PlayEnd::Terminal(n_steps) => evidence.add_end(game, &mut cursor, n_steps),
        }
    }
    evidence
}

/// Stops a game at the deadline.
struct UntilDeadline<'a>(&'a Deadline);

impl<C: Cursor> PlayVisitor<C> for UntilDeadline<'_> {
    fn before(&mut self, _cursor: &mut C, _n_steps: usize, _rng: &mut Rng) -> ControlFlow<()> {
        stop_if(self.0.reached())
    }
}

impl<S: Clone> Evidence<S> {
    /// Records the terminal state of a playout.
    fn add_end<G>(&mut self, game: &G, cursor: &mut G::Cursor, n_steps: usize)
    where
        G: Game,
        G::Cursor: Cursor<State = S>,
    {
        self.n_finished += 1;
        self.n_steps += n_steps as u64;
        self.longest = self.longest.max(n_steps);
        for role in game.role_ids() {
            if cursor.goals(role).len() != 1 {
                self.unclear_goal.get_or_insert_with(|| (role, cursor.state().clone()));
            }
            let best = &mut self.best_goals[role.index()];
            *best = (*best).max(Some(cursor.goal(role)));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use ludex_base::{MoveId, Seed};

    use super::*;
    use crate::game::Role;
    use crate::test_games::Nim;

    fn limits(max_states: usize) -> ExploreLimits {
        ExploreLimits { max_states, max_transitions: 1_000_000, deadline: Deadline::never() }
    }

    #[test]
    fn nim_is_well_formed_and_solved() {
        // With equal heaps the first player loses, with unequal ones it wins.
        for (heaps, winner) in [([3, 3], 1), ([3, 2], 0)] {
            let found = explore(&Nim::new(&heaps), &limits(10_000));
            assert_eq!(found.is_well_formed(), Finding::Yes);
            assert_eq!(found.is_strongly_winnable, Finding::Yes);
            assert_eq!(found.forced_by, [RoleId::new(winner)]);
            assert_eq!(found.longest_play, Some((heaps[0] + heaps[1]) as usize));
            assert_eq!(found.stopped, None);
        }
    }

    #[test]
    fn a_small_nim_is_counted() {
        // (2,1,0); (1,1,1) (0,1,1) (2,0,1); (0,1,0) (1,0,0) (0,0,0); (0,0,1).
        let found = explore(&Nim::new(&[2, 1]), &limits(10_000));
        assert_eq!((found.n_states, found.n_terminal), (8, 2));
        assert_eq!((found.n_arcs, found.n_transitions), (10, 10));
    }

    #[test]
    fn findings_beyond_a_limit_are_unknown() {
        let found = explore(&Nim::new(&[9, 9, 9]), &limits(50));
        assert_eq!(found.stopped, Some(StopReason::Count));
        assert_eq!(found.is_terminating, Finding::Unknown);
        assert_eq!(found.is_playable, Finding::Unknown);
        assert_eq!(found.is_strongly_winnable, Finding::Unknown);
        assert_eq!(found.is_well_formed(), Finding::Unknown);
    }

    #[test]
    fn the_deadline_is_checked_between_joint_moves() {
        // The initial state alone has 2^60 joint moves.
        let game = Crowd::default();
        let limits = ExploreLimits {
            max_states: usize::MAX,
            max_transitions: usize::MAX,
            deadline: Deadline::never().or_when(Arc::clone(&game.stop)),
        };
        let found = explore(&game, &limits);
        let n_plays = game.n_plays.load(Ordering::Relaxed);
        assert!((STOPPED_AT..STOPPED_AT + CHECK_INTERVAL).contains(&n_plays), "{n_plays}");
        assert_eq!(found.stopped, Some(StopReason::Time));
        assert_eq!((found.n_states, found.n_transitions), (2, 0));
    }

    /// Sixty roles with two moves each; any joint move ends the game. It sets the flag when
    /// [`STOPPED_AT`] joint moves were played.
    #[derive(Clone, Default)]
    struct Crowd {
        n_plays: Arc<AtomicUsize>,
        stop: Arc<AtomicBool>,
    }

    const STOPPED_AT: usize = 1_000;

    impl Game for Crowd {
        type Cursor = CrowdCursor;

        fn roles(&self) -> &[Role] {
            static ROLES: [Role; 60] =
                [const { Role { name: String::new(), is_random: false } }; 60];
            &ROLES
        }

        fn cursor(&self) -> CrowdCursor {
            CrowdCursor { is_over: false, game: self.clone(), moves: [0, 1].map(MoveId::new) }
        }

        fn has_percepts(&self) -> bool {
            false
        }
    }

    #[derive(Clone)]
    struct CrowdCursor {
        is_over: bool,
        game: Crowd,
        moves: [MoveId; 2],
    }

    impl Cursor for CrowdCursor {
        type State = bool;

        fn state(&self) -> &bool {
            &self.is_over
        }

        fn set_state(&mut self, state: &bool) {
            self.is_over = *state;
        }

        fn play(&mut self, _joint: &[MoveId]) {
            self.is_over = true;
            let n_plays = self.game.n_plays.fetch_add(1, Ordering::Relaxed) + 1;
            self.game.stop.store(n_plays >= STOPPED_AT, Ordering::Relaxed);
        }

        fn is_terminal(&mut self) -> bool {
            self.is_over
        }

        fn legal_moves(&mut self, _role: RoleId) -> &[MoveId] {
            &self.moves
        }

        fn goals(&mut self, _role: RoleId) -> &[Goal] {
            &[Goal::MAX]
        }
    }

    /// What `forced_in_one` means, move by move.
    fn forced_by_definition(graph: &Graph<bool>, won: &[RoleMask]) -> RoleMask {
        let n_joints = graph.successors.len();
        let mut mask = 0;
        let mut stride = n_joints;
        for (role_idx, &size) in graph.sizes.iter().enumerate() {
            let size = size as usize;
            stride /= size;
            let leads_there =
                |joint_idx: usize| won[graph.successors[joint_idx] as usize] >> role_idx & 1 != 0;
            let forces = |chosen: usize| {
                (0..n_joints)
                    .filter(|joint_idx| joint_idx / stride % size == chosen)
                    .all(leads_there)
            };
            mask |= u64::from((0..size).any(forces)) << role_idx;
        }
        mask
    }

    #[test]
    fn a_move_forces_a_win_if_every_joint_move_with_it_wins() {
        let mut rng = Seed(5).rng();
        let mut n_forced = 0;
        for _ in 0..500 {
            let mut graph = Graph::new(&Crowd::default());
            graph.n_roles = 3;
            graph.sizes = (0..3).map(|_| 1 + rng.below(3) as u32).collect();
            let n_joints = graph.sizes.iter().product::<u32>() as usize;
            graph.successors = (0..n_joints).map(|_| rng.below(4) as u32).collect();
            let won: Vec<RoleMask> = (0..4).map(|_| rng.below(8) as RoleMask).collect();
            let forced = graph.forced_in_one(0, n_joints, 0, &won);
            assert_eq!(forced, forced_by_definition(&graph, &won));
            n_forced += usize::from(forced != 0);
        }
        assert!((50..450).contains(&n_forced), "{n_forced}");
    }

    #[test]
    fn playouts_give_evidence() {
        let found =
            sample(&Nim::new(&[9, 9, 9]), 100, 1_000, &mut Seed(1).rng(), &Deadline::never());
        assert_eq!((found.n_finished, found.n_endless), (100, 0));
        assert_eq!(found.best_goals, [Some(Goal::MAX); 2]);
        assert!(found.stuck.is_none() && found.unclear_goal.is_none());
        let cut = sample(&Nim::new(&[9, 9]), 10, 1, &mut Seed(1).rng(), &Deadline::never());
        assert_eq!((cut.n_finished, cut.n_endless), (0, 10));
    }
}
