//! Follows the evidence of one claim through every state that it leads to.
//!
//! The walk is depth first, so that it notices plays that return to a state. When all successors of
//! a state have outcomes, the state has one: a mean over chance and over mixed choices, then the
//! worst, or the best, of what those can choose who are not bound by the evidence.

use ludex_base::{Limits, MoveId, Pace, RoleId, StopReason};
use ludex_game::{Cursor, Describe, Game, JointMoves, count_joint_moves};
use ludex_reasoner::{Reasoner, ReasonerCursor, ReasonerState};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::certificate::{Claim, Proof, state_key, terms_of};
use crate::value::Value;
use crate::{Verdict, refuted};

/// States with more joint moves are not checked.
const MAX_JOINT_MOVES: u64 = 10_000_000;

/// Comparisons of moves between two checks of the deadline.
const STEPS_PER_CHECK: usize = 1 << 14;

/// About the memory of a state, apart from its fluents.
const BYTES_OF_STATE: usize = 200;

/// The values of a state, one for each role that the claim is about.
type Outcome = Vec<Value>;

/// Checks one claim, from the state with the given fluents or from the initial one.
pub(crate) fn check(
    game: &Reasoner,
    start: Option<&[String]>,
    proof: &Proof,
    limits: &Limits,
) -> Result<(), Verdict> {
    if game.has_percepts() && game.roles().len() > 1 {
        return Err(refuted("the roles do not see the state, so they cannot play by it"));
    }
    let players: Vec<RoleId> =
        game.role_ids().filter(|role| !game.roles()[role.index()].is_random).collect();
    let find_role = |name: &str| {
        let role = players.iter().copied().find(|role| game.roles()[role.index()].name == name);
        role.ok_or_else(|| refuted(format!("the game has no role `{name}`")))
    };
    let mut walk = Walk {
        cursor: game.cursor(),
        game,
        limits,
        judged: players.clone(),
        deciders: players.clone(),
        followers: Vec::new(),
        side: Side::Own,
        choices: FxHashMap::default(),
        outcomes: FxHashMap::default(),
        used: FxHashSet::default(),
        has_cycle: false,
        has_mean: false,
    };
    walk.cursor.set_deadline(limits.deadline.clone());
    if let Some(fluents) = start {
        let state = game.find_state(fluents);
        walk.cursor.set_state(&state.ok_or_else(|| refuted("`state` has names of no rule"))?);
    }
    let (holds, found) = match &proof.claim {
        Claim::Plan(role, value) => {
            let found = walk.follow_plan(find_role(role)?, &proof.evidence)?;
            (found >= *value, vec![found])
        }
        Claim::AtLeast(role, value) | Claim::AtMost(role, value) => {
            let is_lower = matches!(proof.claim, Claim::AtLeast(..));
            let role = find_role(role)?;
            let follows = |player: &RoleId| (*player == role) == is_lower;
            (walk.followers, walk.deciders) = players.into_iter().partition(follows);
            walk.judged = vec![role];
            walk.side = if is_lower { Side::Least } else { Side::Most };
            walk.read_choices(&proof.evidence)?;
            let found = walk.run()?;
            (if is_lower { found[0] >= *value } else { found[0] <= *value }, found)
        }
        Claim::Values(values) => {
            let found = walk.run()?;
            (found == *values, found)
        }
    };
    let found: Vec<String> = found.iter().map(Value::to_string).collect();
    let reason = || refuted(format!("`{}` does not hold: it is {}", proof.claim, found.join(" ")));
    if holds { Ok(()) } else { Err(reason()) }
}

/// Which free choice decides a state: the least, the most, or the first best of who chooses.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Least,
    Most,
    Own,
}

struct Walk<'a> {
    game: &'a Reasoner,
    cursor: ReasonerCursor,
    limits: &'a Limits,
    /// The roles that the claim is about.
    judged: Vec<RoleId>,
    /// The roles who choose freely.
    deciders: Vec<RoleId>,
    /// The roles who follow the strategy.
    followers: Vec<RoleId>,
    side: Side,
    /// The weights and moves of the strategy.
    choices: FxHashMap<&'a str, Vec<(u64, Vec<&'a str>)>>,
    /// The keys of `choices` that were reached.
    used: FxHashSet<String>,
    /// The states seen; `None` while a state is on the path.
    outcomes: FxHashMap<ReasonerState, Option<Outcome>>,
    has_cycle: bool,
    has_mean: bool,
}

/// A state on the path, and the outcomes of its first steps.
struct Frame {
    state: ReasonerState,
    steps: Vec<Step>,
    outcomes: Vec<Outcome>,
}

struct Step {
    joint: Vec<MoveId>,
    weight: u64,
    /// Equal for steps with the same moves of the deciders; counted from 0 in their order.
    group: usize,
}

impl<'a> Walk<'a> {
    fn follow_plan(&mut self, role: RoleId, moves: &[String]) -> Result<Value, Verdict> {
        if self.game.roles().len() != 1 {
            return Err(refuted("a plan is for a game of one role"));
        }
        for text in moves {
            self.check_limits()?;
            if self.cursor.is_terminal() {
                return Err(self.refuted("the plan goes on after the end"));
            }
            let id = self.legal_move(role, text)?;
            self.cursor.play(&[id]);
        }
        let (is_over, goal) = (self.cursor.is_terminal(), self.cursor.goal(role));
        self.check_limits()?;
        if is_over { Ok(goal.into()) } else { Err(self.refuted("the plan does not end the game")) }
    }

    fn read_choices(&mut self, lines: &'a [String]) -> Result<(), Verdict> {
        for line in lines {
            let malformed = || refuted(format!("`{line}` is not a key, a weight and moves"));
            let terms = terms_of(line).ok_or_else(malformed)?;
            let [key, weight, moves @ ..] = &terms[..] else { return Err(malformed()) };
            let weight: u32 = weight.parse().map_err(|_| malformed())?;
            if weight == 0 || moves.len() != self.followers.len() {
                return Err(malformed());
            }
            self.choices.entry(key).or_default().push((weight.into(), moves.to_vec()));
        }
        Ok(())
    }

    /// Returns the outcome of the cursor's state.
    fn run(&mut self) -> Result<Outcome, Verdict> {
        let mut path: Vec<Frame> = Vec::new();
        // The outcome of the state just left, for the state before it.
        let mut left = self.enter(&mut path)?;
        while let Some(frame) = path.last_mut() {
            frame.outcomes.extend(left.take());
            self.cursor.set_state(&frame.state);
            if let Some(step) = frame.steps.get(frame.outcomes.len()) {
                self.cursor.play(&step.joint);
                left = self.enter(&mut path)?;
            } else {
                let outcome = self.combine(frame)?;
                self.outcomes.insert(frame.state.clone(), Some(outcome.clone()));
                left = Some(outcome);
                path.pop();
            }
        }
        match self.choices.keys().find(|key| !self.used.contains(**key)) {
            Some(key) => Err(refuted(format!("the strategy never reaches the state {key}"))),
            None => Ok(left.expect("the first state has an outcome")),
        }
    }

    /// Returns the outcome of the cursor's state if it is known; else puts it on the path.
    fn enter(&mut self, path: &mut Vec<Frame>) -> Result<Option<Outcome>, Verdict> {
        self.check_limits()?;
        let state = self.cursor.state().clone();
        match self.outcomes.get(&state) {
            Some(Some(outcome)) => return Ok(Some(outcome.clone())),
            // A play that goes round never ends, and so gives the role nothing.
            Some(None) if self.side == Side::Most => {
                self.has_cycle = true;
                return Ok(Some(vec![Value::MIN]));
            }
            Some(None) => return Err(self.refuted("play can return to this state for ever")),
            None => {}
        }
        let is_over = self.cursor.is_terminal();
        let goals = self.judged.iter().map(|&role| self.cursor.goal(role).into());
        let outcome = is_over.then(|| goals.collect());
        self.check_limits()?;
        self.outcomes.insert(state.clone(), outcome.clone());
        if !is_over {
            path.push(Frame { state, steps: self.steps()?, outcomes: Vec::new() });
        }
        Ok(outcome)
    }

    /// Lists the joint moves that agree with the strategy.
    fn steps(&mut self) -> Result<Vec<Step>, Verdict> {
        let n_roles = self.game.roles().len();
        match count_joint_moves(&mut self.cursor, n_roles) {
            Some(0) => return Err(self.refuted("a role has no legal move")),
            Some(n_joints) if n_joints <= MAX_JOINT_MOVES => {}
            _ => return Err(Verdict::Unknown(StopReason::Count)),
        }
        let choices = self.choices()?;
        let pace = Pace::new(&self.limits.deadline, STEPS_PER_CHECK);
        let mut joints = JointMoves::of(&mut self.cursor, n_roles);
        let (mut steps, mut groups) = (Vec::new(), FxHashMap::default());
        while let Some(joint) = joints.next_joint() {
            pace.steps(1 + choices.len()).map_err(Verdict::Unknown)?;
            let of = |roles: &[RoleId]| roles.iter().map(|role| joint[role.index()]).collect();
            let followed: Vec<MoveId> = of(&self.followers);
            let weights = choices.iter().filter(|(_, moves)| *moves == followed);
            let weight = weights.map(|(weight, _)| weight).sum();
            if weight > 0 {
                let (chosen, n_groups): (Vec<MoveId>, usize) = (of(&self.deciders), groups.len());
                let group = *groups.entry(chosen).or_insert(n_groups);
                steps.push(Step { joint: joint.to_vec(), weight, group });
            }
        }
        Ok(steps)
    }

    /// Returns what the followers play in the cursor's state, with weights.
    fn choices(&mut self) -> Result<Vec<(u64, Vec<MoveId>)>, Verdict> {
        let key = state_key(&self.game.state_texts(self.cursor.state()));
        let followers = self.followers.clone();
        let Some(listed) = self.choices.get(&key[..]).cloned() else {
            let only = followers.iter().map(|&role| match self.cursor.legal_moves(role) {
                &[id] => Ok(id),
                _ => Err(self.refuted("the strategy has no move here")),
            });
            return Ok(vec![(1, only.collect::<Result<_, _>>()?)]);
        };
        self.used.insert(key);
        let mut choices = Vec::new();
        for (weight, texts) in listed {
            self.check_limits()?;
            let moves =
                followers.iter().zip(texts).map(|(&role, text)| self.legal_move(role, text));
            choices.push((weight, moves.collect::<Result<_, _>>()?));
        }
        Ok(choices)
    }

    fn legal_move(&mut self, role: RoleId, text: &str) -> Result<MoveId, Verdict> {
        let found = self.game.find_move(role, text);
        let legal = found.filter(|id| self.cursor.legal_moves(role).contains(id));
        legal.ok_or_else(|| self.refuted(&format!("the move `{text}` is not legal")))
    }

    /// Returns the outcome of a state from those of its steps.
    fn combine(&mut self, frame: &Frame) -> Result<Outcome, Verdict> {
        let n_groups = frame.steps.iter().map(|step| step.group + 1).max().unwrap_or(0);
        self.has_mean |= n_groups < frame.steps.len();
        if self.has_mean && self.has_cycle {
            return Err(self.refuted("play with chance can return to a state for ever"));
        }
        let mut groups = vec![Vec::new(); n_groups];
        for (step, outcome) in frame.steps.iter().zip(&frame.outcomes) {
            groups[step.group].push((step.weight, outcome));
        }
        let mean = |group: &Vec<(u64, &Outcome)>| -> Outcome {
            let of = |idx: usize| group.iter().map(move |(weight, it)| (*weight, it[idx]));
            let roles = 0..self.judged.len();
            roles.map(|idx| Value::mean(of(idx), self.side == Side::Most)).collect()
        };
        let means = groups.iter().map(mean);
        let deciders = 0..self.deciders.len();
        let has_choice = |&idx: &usize| self.cursor.legal_moves(self.deciders[idx]).len() > 1;
        let movers: Vec<usize> = deciders.filter(has_choice).collect();
        let outcome = match (self.side, &movers[..]) {
            (Side::Least, _) => means.min(),
            (Side::Most, _) | (Side::Own, []) => means.max(),
            // `max_by_key` returns the last of several, and the first counts.
            (Side::Own, &[mover]) => means.rev().max_by_key(|outcome| outcome[mover]),
            (Side::Own, _) => return Err(self.refuted("several roles choose at the same time")),
        };
        Ok(outcome.expect("a state before the end has a step"))
    }

    fn check_limits(&self) -> Result<(), Verdict> {
        let n_bytes = self.outcomes.len() * (BYTES_OF_STATE + 4 * self.cursor.state().n_fluents());
        let fault = self.cursor.has_fault().then_some(StopReason::Fault);
        let stopped = self.limits.stop_reason(n_bytes as u64).or(fault);
        stopped.map_or(Ok(()), |reason| Err(Verdict::Unknown(reason)))
    }

    /// Says what is wrong in the cursor's state.
    fn refuted(&self, what: &str) -> Verdict {
        let fluents = self.game.state_texts(self.cursor.state());
        refuted(format!("{what}: state {} {}", state_key(&fluents), fluents.join(" ")))
    }
}
