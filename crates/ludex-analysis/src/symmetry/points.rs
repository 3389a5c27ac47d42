//! Roles, fluents, moves and percepts in one row of numbers, and permutations of them.

use ludex_automorphism::SparsePermutation;
use ludex_base::{BitSet, FluentId, MoveId, PerceptId, RoleId};
use ludex_circuit::Circuit;

/// Numbers all that a symmetry may exchange: roles first, then fluents, moves and percepts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Points {
    n_roles: usize,
    n_fluents: usize,
    n_moves: usize,
    n_percepts: usize,
}

/// What a point stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Point {
    /// A role.
    Role(RoleId),
    /// A fluent.
    Fluent(FluentId),
    /// A move.
    Move(MoveId),
    /// A percept.
    Percept(PerceptId),
}

impl Points {
    /// The points of a game.
    pub fn of(circuit: &Circuit) -> Self {
        Self {
            n_roles: circuit.n_roles(),
            n_fluents: circuit.next.len(),
            n_moves: circuit.legal.len(),
            n_percepts: circuit.sees.len(),
        }
    }

    /// How many fluents there are.
    pub fn n_fluents(self) -> usize {
        self.n_fluents
    }

    /// How many moves there are.
    pub fn n_moves(self) -> usize {
        self.n_moves
    }

    /// How many points there are.
    pub fn n_points(self) -> usize {
        self.n_roles + self.n_fluents + self.n_moves + self.n_percepts
    }

    /// The point of a role.
    pub fn role(self, role: RoleId) -> u32 {
        role.index() as u32
    }

    /// The point of a fluent.
    #[inline]
    pub fn fluent(self, fluent: FluentId) -> u32 {
        (self.n_roles + fluent.index()) as u32
    }

    /// The point of a move.
    #[inline]
    pub fn played(self, played: MoveId) -> u32 {
        (self.n_roles + self.n_fluents + played.index()) as u32
    }

    /// The point of a percept.
    pub fn percept(self, percept: PerceptId) -> u32 {
        (self.n_roles + self.n_fluents + self.n_moves + percept.index()) as u32
    }

    /// What a point stands for.
    ///
    /// # Panics
    /// When there is no such point.
    pub fn point(self, point: u32) -> Point {
        let mut idx = point as usize;
        if idx < self.n_roles {
            return Point::Role(RoleId::new(idx));
        }
        idx -= self.n_roles;
        if idx < self.n_fluents {
            return Point::Fluent(FluentId::new(idx));
        }
        idx -= self.n_fluents;
        if idx < self.n_moves {
            return Point::Move(MoveId::new(idx));
        }
        idx -= self.n_moves;
        assert!(idx < self.n_percepts, "a point of the game");
        Point::Percept(PerceptId::new(idx))
    }
}

/// A permutation of the roles, fluents, moves and percepts of a game.
///
/// Fluents go to fluents, moves to moves of the image of their role, and so on; whether the rules
/// stay the same is for [`CircuitGraph::proves`](super::CircuitGraph::proves) to say.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Symmetry {
    points: Points,
    permutation: SparsePermutation,
}

impl Symmetry {
    /// A symmetry from a permutation of points; `None` if it mixes the kinds of points, or takes
    /// a move or percept to another role than the image of its own.
    pub fn new(circuit: &Circuit, permutation: SparsePermutation) -> Option<Self> {
        let points = Points::of(circuit);
        let vocabulary = &circuit.vocabulary;
        let role_image = |role| match points.point(permutation.image(points.role(role))) {
            Point::Role(image) => Some(image),
            _ => None,
        };
        let keeps_kind = |&(from, to): &(u32, u32)| {
            if from as usize >= points.n_points() || to as usize >= points.n_points() {
                return false;
            }
            match (points.point(from), points.point(to)) {
                (Point::Role(_), Point::Role(_)) | (Point::Fluent(_), Point::Fluent(_)) => true,
                (Point::Move(from), Point::Move(to)) => {
                    let role = |it: MoveId| vocabulary.moves[it.index()].0;
                    role_image(role(from)) == Some(role(to))
                }
                (Point::Percept(from), Point::Percept(to)) => {
                    let role = |it: PerceptId| vocabulary.percepts[it.index()].0;
                    role_image(role(from)) == Some(role(to))
                }
                _ => false,
            }
        };
        permutation.moves().iter().all(keeps_kind).then_some(Self { points, permutation })
    }

    /// What it permutes.
    pub fn points(&self) -> Points {
        self.points
    }

    /// The permutation of points.
    pub fn permutation(&self) -> &SparsePermutation {
        &self.permutation
    }

    /// Whether every role stays itself.
    pub fn keeps_roles(&self) -> bool {
        let first = self.permutation.moves().first();
        first.is_none_or(|&(from, _)| !matches!(self.points.point(from), Point::Role(_)))
    }

    /// The image of a role.
    pub fn role(&self, role: RoleId) -> RoleId {
        match self.points.point(self.permutation.image(self.points.role(role))) {
            Point::Role(image) => image,
            _ => unreachable!("the kinds of points are kept"),
        }
    }

    /// The image of a fluent.
    pub fn fluent(&self, fluent: FluentId) -> FluentId {
        match self.points.point(self.permutation.image(self.points.fluent(fluent))) {
            Point::Fluent(image) => image,
            _ => unreachable!("the kinds of points are kept"),
        }
    }

    /// The image of a move.
    pub fn played(&self, played: MoveId) -> MoveId {
        match self.points.point(self.permutation.image(self.points.played(played))) {
            Point::Move(image) => image,
            _ => unreachable!("the kinds of points are kept"),
        }
    }

    /// The image of a percept.
    pub fn percept(&self, percept: PerceptId) -> PerceptId {
        match self.points.point(self.permutation.image(self.points.percept(percept))) {
            Point::Percept(image) => image,
            _ => unreachable!("the kinds of points are kept"),
        }
    }

    /// The image of a state.
    pub fn state(&self, state: &BitSet) -> BitSet {
        let mut image = BitSet::new(self.points.n_fluents);
        state.iter().for_each(|idx| image.insert(self.fluent(FluentId::new(idx)).index()));
        image
    }

    /// The image of a joint move: the image of each move, at the image of its role.
    pub fn joint(&self, joint: &[MoveId]) -> Vec<MoveId> {
        let mut image = joint.to_vec();
        for (idx, &played) in joint.iter().enumerate() {
            image[self.role(RoleId::new(idx)).index()] = self.played(played);
        }
        image
    }

    /// The symmetry that undoes this one.
    pub fn inverse(&self) -> Self {
        Self { points: self.points, permutation: self.permutation.inverse() }
    }

    /// This symmetry, then another.
    pub fn then(&self, other: &Self) -> Self {
        Self { points: self.points, permutation: self.permutation.then(&other.permutation) }
    }
}
