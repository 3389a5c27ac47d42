//! The extensive form of a game: a tree of choices and chance, with the information of the roles.
//!
//! Roles that move simultaneously choose one after another, and the later ones do not know the
//! earlier choices. An *information set* is what a role knows when it chooses: everything it has
//! played and seen since the start of the form. So every role has perfect recall, which the theory
//! of regret requires.
//!
//! Invariant: the children of a node have larger ids than the node itself.

use ludex_base::{Deadline, MoveId, RoleId, StopReason};
use ludex_game::Cursor;
use rustc_hash::FxHashMap;

use crate::clock::Clock;
use crate::information::{Observation, Possible, Sight, first_view};
use crate::roles::Roles;

/// The extensive form of a game.
#[derive(Clone, Debug)]
pub struct ExtensiveForm {
    pub(super) nodes: Vec<Node>,
    /// By node, whether a step begins there; with complete information all roles know its state.
    pub(super) begins: Vec<bool>,
    /// The children of nodes, and the probabilities with which `random` chooses them.
    pub(super) edges: Vec<(u32, f32)>,
    /// The goals of all roles, 0 to 1, for one end of play after another.
    pub(super) goals: Vec<f32>,
    pub(super) sets: Vec<InformationSet>,
    /// The roles that have information sets.
    pub(super) deciders: Vec<RoleId>,
    /// The number of each past of a role; 0 is the start.
    pasts: FxHashMap<Past, u32>,
    /// The information set of each past with these moves.
    sets_by_past: FxHashMap<(usize, u32, Vec<MoveId>), u32>,
    /// Whether some play ends at the horizon, where goals are only estimated.
    pub(super) is_cut: bool,
}

/// A node of the tree.
#[derive(Clone, Copy, Debug)]
pub(super) enum Node {
    /// The play ends; its goals begin at this index.
    End { first_goal: u32 },
    /// Chance chooses one of the edges.
    Chance { first: u32, n: u32 },
    /// A role chooses one of the edges, of which there are as many as moves in its set.
    Choice { set: u32, first: u32 },
}

/// What a role knows when it chooses, with its legal moves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InformationSet {
    /// The role that chooses.
    pub role: RoleId,
    /// The legal moves.
    pub moves: Vec<MoveId>,
    /// The index of its first move in arrays over all moves of all sets.
    pub(super) first: usize,
}

/// Limits on the size of a form.
#[derive(Clone, Debug)]
pub struct ExtensiveFormLimits {
    /// Maximum number of steps; longer plays are cut and estimated.
    pub horizon: usize,
    /// Maximum number of nodes.
    pub max_nodes: usize,
    /// When to stop, checked at every node.
    pub deadline: Deadline,
}

impl ExtensiveForm {
    /// Expands all plays from weighted states. `estimate` appends the goals of all roles, 0 to 1,
    /// where a play is cut.
    ///
    /// # Errors
    /// If there are more nodes than allowed or the deadline is reached.
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

    /// Expands all plays from possible states in which roles know what they saw before.
    pub(super) fn from_possible<C: Cursor>(
        roles: Roles,
        cursor: &mut C,
        starts: &[Possible<C::State>],
        sight: &impl Sight<C>,
        limits: &ExtensiveFormLimits,
        estimate: &mut dyn FnMut(&mut C, &mut Vec<f32>),
    ) -> Result<Self, StopReason> {
        assert!(!starts.is_empty(), "a form needs a start");
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
        // Pasts from before the form are numbered like those within it.
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

    /// Returns all information sets.
    pub fn sets(&self) -> &[InformationSet] {
        &self.sets
    }

    /// Returns the index of the set in which a role chooses from these moves after these
    /// observations since the start of the form; `None` if no play leads there.
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

    /// Returns the number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// Whether some goals are estimated at the horizon.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Returns the number of moves of all sets.
    pub(super) fn n_moves(&self) -> usize {
        self.sets.last().map_or(0, |set| set.first + set.moves.len())
    }

    pub(super) fn goal(&self, first_goal: u32, role: RoleId) -> f64 {
        f64::from(self.goals[first_goal as usize + role.index()])
    }
}

/// The predecessor of pasts from before the form.
const NO_PAST: u32 = u32::MAX;

/// What a role has played and seen: the role, the number of its previous past, and the latest
/// observation.
type Past = (usize, u32, Vec<u32>);

struct Grower<'a, C, S> {
    form: ExtensiveForm,
    roles: Roles,
    sight: &'a S,
    limits: &'a ExtensiveFormLimits,
    clock: Clock<'a>,
    estimate: &'a mut dyn FnMut(&mut C, &mut Vec<f32>),
}

/// A step whose moves are being chosen.
struct Step<'s, S> {
    state: &'s S,
    legal: &'s [Vec<MoveId>],
    pasts: &'s [u32],
    depth: usize,
}

impl<C: Cursor, S: Sight<C>> Grower<'_, C, S> {
    /// Creates the node of the cursor's state.
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

    /// Creates the node in which the next role chooses, after those in `joint`.
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

    /// Creates the node after a complete step.
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

    /// Creates a node where the play ends, with the goals of the rules or, at the horizon, an
    /// estimate.
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
        assert_eq!(self.form.goals.len(), first_goal as usize + self.roles.n, "one goal per role");
        let node = self.push(Node::End { first_goal })?;
        self.form.begins[node as usize] = true;
        Ok(node)
    }

    /// Creates a chance node with `n` edges and returns the first edge.
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
            return Err(StopReason::of_deadline());
        }
        if self.form.nodes.len() >= self.limits.max_nodes {
            return Err(StopReason::Memory);
        }
        self.form.nodes.push(node);
        self.form.begins.push(false);
        Ok(self.form.nodes.len() as u32 - 1)
    }

    /// Returns the number of a past.
    fn past(&mut self, past: Past) -> u32 {
        let n_pasts = self.form.pasts.len() as u32;
        *self.form.pasts.entry(past).or_insert(n_pasts + 1)
    }

    /// The moves are part of the key: a role is told its legal moves, even if it could not infer
    /// them.
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
