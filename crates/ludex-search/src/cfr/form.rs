//! A game as a tree of choices, chance and what roles know of them: its extensive form.
//!
//! Roles that choose at once do so one after the other, and none of those that come later knows what
//! was chosen before it. An *information set* is what a role knows when it chooses: all that it has
//! played and seen since the beginning of the form. So nobody forgets anything, which the theory of
//! regret needs.
//!
//! Invariant: the children of a node have larger ids than the node itself.

use ludex_base::{Deadline, MoveId, RoleId, StopReason};
use ludex_game::Cursor;
use rustc_hash::FxHashMap;

use crate::clock::Clock;
use crate::information::{Observation, Possible, Sight, first_view};
use crate::roles::Roles;

/// The tree.
#[derive(Clone, Debug)]
pub struct ExtensiveForm {
    pub(super) nodes: Vec<Node>,
    /// By node, whether a step begins with it: its state is known where all moves are seen.
    pub(super) begins: Vec<bool>,
    /// Where the edges of nodes lead, and how likely `random` takes them.
    pub(super) edges: Vec<(u32, f32)>,
    /// The goals of all roles where a play ends, 0 to 1, end after end.
    pub(super) goals: Vec<f32>,
    pub(super) sets: Vec<InformationSet>,
    /// The roles that have sets.
    pub(super) deciders: Vec<RoleId>,
    /// The number of each past, role by role; 0 is the beginning.
    pasts: FxHashMap<Past, u32>,
    /// The set of each past with these moves.
    sets_by_past: FxHashMap<(usize, u32, Vec<MoveId>), u32>,
    /// Whether some play ends at the horizon, where goals are only estimated.
    pub(super) is_cut: bool,
}

/// What happens at a node.
#[derive(Clone, Copy, Debug)]
pub(super) enum Node {
    /// The play ends, with the goals that begin there.
    End { first_goal: u32 },
    /// Chance takes one of the edges.
    Chance { first: u32, n: u32 },
    /// A role chooses one of the edges: as many as its set has moves.
    Choice { set: u32, first: u32 },
}

/// What a role knows when it chooses, and what it can choose from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InformationSet {
    /// Who chooses.
    pub role: RoleId,
    /// The moves.
    pub moves: Vec<MoveId>,
    /// Where the numbers of its moves begin in arrays over all moves of all sets.
    pub(super) first: usize,
}

/// How far a form is worked out.
#[derive(Clone, Debug)]
pub struct ExtensiveFormLimits {
    /// Steps; a play that is longer is cut off and estimated.
    pub horizon: usize,
    /// Nodes.
    pub max_nodes: usize,
    /// When to stop; asked at every node.
    pub deadline: Deadline,
}

impl ExtensiveForm {
    /// Works out all plays from states that are as likely as the weights beside them say. `estimate`
    /// gives the goals of all roles, 0 to 1, where a play is cut off.
    ///
    /// # Errors
    /// When there are more nodes than allowed or the time is over.
    pub fn new<C: Cursor>(
        n_roles: usize,
        random: Option<RoleId>,
        cursor: &mut C,
        starts: &[(C::State, f64)],
        sight: &impl Sight<C>,
        limits: &ExtensiveFormLimits,
        estimate: &mut dyn FnMut(&mut C, &mut Vec<f32>),
    ) -> Result<Self, StopReason> {
        let roles = Roles { n: n_roles, random };
        let views: Vec<u64> = roles.ids().map(first_view).collect();
        let start = |(state, weight): &(C::State, f64)| Possible {
            state: state.clone(),
            weight: *weight,
            views: views.clone(),
        };
        let starts: Vec<_> = starts.iter().map(start).collect();
        Self::from_possible(roles, cursor, &starts, sight, limits, estimate)
    }

    /// Works out all plays from possible states, of which roles know what they have seen before.
    pub(super) fn from_possible<C: Cursor>(
        roles: Roles,
        cursor: &mut C,
        starts: &[Possible<C::State>],
        sight: &impl Sight<C>,
        limits: &ExtensiveFormLimits,
        estimate: &mut dyn FnMut(&mut C, &mut Vec<f32>),
    ) -> Result<Self, StopReason> {
        assert!(!starts.is_empty(), "a form begins somewhere");
        let form = ExtensiveForm {
            nodes: Vec::new(),
            begins: Vec::new(),
            edges: Vec::new(),
            goals: Vec::new(),
            sets: Vec::new(),
            deciders: Vec::new(),
            pasts: FxHashMap::default(),
            sets_by_past: FxHashMap::default(),
            is_cut: false,
        };
        let clock = Clock::new(&limits.deadline);
        let mut grower = Grower { form, roles, sight, limits, clock, estimate };
        let total: f64 = starts.iter().map(|start| start.weight).sum();
        // Pasts before the form begins are numbered like those in it.
        let pasts_of = |grower: &mut Grower<'_, C, _>, start: &Possible<C::State>| {
            let past = |(role, &view): (RoleId, &u64)| {
                if view == starts[0].views[role.index()] {
                    0
                } else {
                    grower.past((role.index(), NO_PAST, vec![view as u32, (view >> 32) as u32]))
                }
            };
            roles.ids().zip(&start.views).map(past).collect::<Vec<u32>>()
        };
        if let [start] = starts {
            let pasts = pasts_of(&mut grower, start);
            cursor.set_state(&start.state);
            grower.grow(cursor, &pasts, 0)?;
        } else {
            let first = grower.chance(starts.len())?;
            for (idx, start) in starts.iter().enumerate() {
                let pasts = pasts_of(&mut grower, start);
                cursor.set_state(&start.state);
                let child = grower.grow(cursor, &pasts, 0)?;
                grower.form.edges[first + idx] = (child, (start.weight / total) as f32);
            }
        }
        Ok(grower.form)
    }

    /// What roles may know when they choose.
    pub fn sets(&self) -> &[InformationSet] {
        &self.sets
    }

    /// The place of the set in which a role chooses from these moves after it was told this since
    /// the beginning of the form; `None` if no play comes there.
    pub(super) fn find_set(
        &self,
        role: RoleId,
        observed: &[Observation],
        moves: &[MoveId],
    ) -> Option<usize> {
        let mut past = 0;
        for step in observed {
            let mut seen: Vec<u32> = step.percepts.iter().map(|id| id.index() as u32).collect();
            seen.push(step.own.index() as u32);
            past = *self.pasts.get(&(role.index(), past, seen))?;
        }
        let key = (role.index(), past, moves.to_vec());
        self.sets_by_past.get(&key).map(|&set| set as usize)
    }

    /// How many nodes it has.
    pub fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// Whether goals are estimated at a horizon somewhere.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// How many moves all sets have together.
    pub(super) fn n_moves(&self) -> usize {
        self.sets.last().map_or(0, |set| set.first + set.moves.len())
    }

    pub(super) fn goal(&self, first_goal: u32, role: RoleId) -> f64 {
        f64::from(self.goals[first_goal as usize + role.index()])
    }
}

/// The past of pasts before the form begins.
const NO_PAST: u32 = u32::MAX;

/// What a role has played and seen, in numbers: which past it had before, and what was added.
type Past = (usize, u32, Vec<u32>);

struct Grower<'a, C, S> {
    form: ExtensiveForm,
    roles: Roles,
    sight: &'a S,
    limits: &'a ExtensiveFormLimits,
    clock: Clock<'a>,
    estimate: &'a mut dyn FnMut(&mut C, &mut Vec<f32>),
}

/// One step that is being chosen.
struct Step<'s, S> {
    state: &'s S,
    legal: &'s [Vec<MoveId>],
    pasts: &'s [u32],
    depth: usize,
}

impl<C: Cursor, S: Sight<C>> Grower<'_, C, S> {
    /// The node of the state the cursor stands on.
    fn grow(&mut self, cursor: &mut C, pasts: &[u32], depth: usize) -> Result<u32, StopReason> {
        if cursor.is_terminal() || depth >= self.limits.horizon {
            return self.end(cursor);
        }
        let legal: Vec<Vec<MoveId>> =
            self.roles.ids().map(|role| cursor.legal_moves(role).to_vec()).collect();
        if legal.iter().any(Vec::is_empty) {
            return self.end(cursor);
        }
        let state = cursor.state().clone();
        let step = Step { state: &state, legal: &legal, pasts, depth };
        let node = self.choose(cursor, &step, &mut Vec::with_capacity(legal.len()))?;
        self.form.begins[node as usize] = true;
        Ok(node)
    }

    /// The node in which the next role chooses, after those in `joint`.
    fn choose(
        &mut self,
        cursor: &mut C,
        step: &Step<'_, C::State>,
        joint: &mut Vec<MoveId>,
    ) -> Result<u32, StopReason> {
        let Some(moves) = step.legal.get(joint.len()) else {
            return self.play(cursor, step, joint);
        };
        if let [only] = moves[..] {
            joint.push(only);
            let node = self.choose(cursor, step, joint);
            joint.pop();
            return node;
        }
        let role = RoleId::new(joint.len());
        let id = self.form.nodes.len() as u32;
        let first = if Some(role) == self.roles.random {
            self.chance(moves.len())?
        } else {
            let set = self.set_of(role, step.pasts[role.index()], moves);
            let first = self.edges(moves.len());
            self.push(Node::Choice { set, first: first as u32 })?;
            first
        };
        let weight = 1.0 / moves.len() as f32;
        for (idx, &chosen) in moves.iter().enumerate() {
            joint.push(chosen);
            let child = self.choose(cursor, step, joint)?;
            joint.pop();
            self.form.edges[first + idx] = (child, weight);
        }
        Ok(id)
    }

    /// The node after a whole step.
    fn play(
        &mut self,
        cursor: &mut C,
        step: &Step<'_, C::State>,
        joint: &[MoveId],
    ) -> Result<u32, StopReason> {
        cursor.set_state(step.state);
        cursor.play(joint);
        let mut pasts = Vec::with_capacity(joint.len());
        for role in self.roles.ids() {
            let number = |id: &MoveId| id.index() as u32;
            let seen: Vec<u32> = match self.sight.percepts(cursor, role) {
                None => joint.iter().map(number).collect(),
                Some(percepts) => {
                    let mut seen: Vec<u32> = percepts.iter().map(|id| id.index() as u32).collect();
                    seen.sort_unstable();
                    seen.push(number(&joint[role.index()]));
                    seen
                }
            };
            pasts.push(self.past((role.index(), step.pasts[role.index()], seen)));
        }
        self.grow(cursor, &pasts, step.depth + 1)
    }

    /// A node where the play ends, with the goals the rules give or, before its end, an estimate.
    fn end(&mut self, cursor: &mut C) -> Result<u32, StopReason> {
        let first_goal = self.form.goals.len() as u32;
        if cursor.is_terminal() {
            for role in self.roles.ids() {
                self.form.goals.push(f32::from(cursor.goal(role).value()) / 100.0);
            }
        } else {
            self.form.is_cut = true;
            (self.estimate)(cursor, &mut self.form.goals);
        }
        assert_eq!(self.form.goals.len(), first_goal as usize + self.roles.n, "a goal a role");
        let node = self.push(Node::End { first_goal })?;
        self.form.begins[node as usize] = true;
        Ok(node)
    }

    /// A node with that many edges for chance; its first edge.
    fn chance(&mut self, n: usize) -> Result<usize, StopReason> {
        let first = self.edges(n);
        self.push(Node::Chance { first: first as u32, n: n as u32 })?;
        Ok(first)
    }

    fn edges(&mut self, n: usize) -> usize {
        let first = self.form.edges.len();
        self.form.edges.resize(first + n, (0, 0.0));
        first
    }

    fn push(&mut self, node: Node) -> Result<u32, StopReason> {
        if self.clock.tick() {
            return Err(StopReason::Time);
        }
        if self.form.nodes.len() >= self.limits.max_nodes {
            return Err(StopReason::Memory);
        }
        self.form.nodes.push(node);
        self.form.begins.push(false);
        Ok(self.form.nodes.len() as u32 - 1)
    }

    /// The number of a past.
    fn past(&mut self, past: Past) -> u32 {
        let n_pasts = self.form.pasts.len() as u32;
        *self.form.pasts.entry(past).or_insert(n_pasts + 1)
    }

    /// Where a role can't know which moves it has, its set is that of the moves it finds: it is told.
    fn set_of(&mut self, role: RoleId, past: u32, moves: &[MoveId]) -> u32 {
        let next = self.form.sets.len() as u32;
        let key = (role.index(), past, moves.to_vec());
        let set = *self.form.sets_by_past.entry(key).or_insert(next);
        if set == next {
            let first = self.form.n_moves();
            if !self.form.deciders.contains(&role) {
                self.form.deciders.push(role);
            }
            self.form.sets.push(InformationSet { role, moves: moves.to_vec(), first });
        }
        set
    }
}
