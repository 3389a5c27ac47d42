//! Small random games, for comparing searches with exhaustive values.

use ludex_base::{Goal, MoveId, PerceptId, RoleId, Seed};
use ludex_game::{Cursor, Describe, Game, Observe, OneByOne, Playouts, Role};

/// The parameters of a random game.
#[derive(Clone, Debug)]
pub struct RandomGameConfig {
    /// Number of roles without `random`.
    pub n_roles: usize,
    /// Whether there is a role `random`, last in order, which chooses in every third step.
    pub has_chance: bool,
    /// Whether all roles choose in every step; otherwise they take turns.
    pub is_simultaneous: bool,
    /// Whether the goals of two roles sum to 100.
    pub is_constant_sum: bool,
    /// Number of steps to the end.
    pub n_steps: usize,
    /// Number of states per step: few, so that paths meet.
    pub n_places: u64,
}

/// A game whose state is a step and a number; moves, successors and goals are drawn from them.
#[derive(Clone, Debug)]
pub struct RandomGame {
    config: RandomGameConfig,
    roles: Vec<Role>,
    seed: Seed,
}

impl RandomGame {
    /// Creates the game of a seed.
    pub fn new(config: RandomGameConfig, seed: Seed) -> Self {
        let mut roles: Vec<Role> = (0..config.n_roles)
            .map(|idx| Role { name: format!("r{idx}"), is_random: false })
            .collect();
        if config.has_chance {
            roles.push(Role { name: "random".into(), is_random: true });
        }
        Self { config, roles, seed }
    }
}

impl Game for RandomGame {
    type Cursor = RandomCursor;

    fn roles(&self) -> &[Role] {
        &self.roles
    }

    fn cursor(&self) -> RandomCursor {
        RandomCursor { game: self.clone(), state: (0, 0), moves: Vec::new(), goals: Vec::new() }
    }

    fn has_percepts(&self) -> bool {
        false
    }
}

impl Playouts for RandomGame {
    type Runner = OneByOne<RandomCursor>;

    fn runner(&self) -> Self::Runner {
        OneByOne::new(self)
    }
}

impl Describe for RandomGame {
    fn move_text(&self, id: MoveId) -> String {
        format!("m{}", id.index())
    }

    fn state_texts(&self, state: &(usize, u64)) -> Vec<String> {
        vec![format!("{state:?}")]
    }

    fn percept_text(&self, id: PerceptId) -> String {
        unreachable!("the game has no percept {id:?}")
    }

    fn find_move(&self, _role: RoleId, text: &str) -> Option<MoveId> {
        text.strip_prefix('m')?.parse().ok().map(MoveId::new)
    }

    fn find_percept(&self, _role: RoleId, _text: &str) -> Option<PerceptId> {
        None
    }
}

/// A cursor whose state is a step and a number.
#[derive(Clone, Debug)]
pub struct RandomCursor {
    game: RandomGame,
    state: (usize, u64),
    moves: Vec<MoveId>,
    goals: Vec<Goal>,
}

impl RandomCursor {
    fn drawn(&self, what: u64) -> u64 {
        let seed = self.game.seed.child(self.state.0 as u64).child(self.state.1);
        seed.child(what).rng().next_u64()
    }

    /// Returns the number of moves of a role in this state: one, or two to four.
    fn n_moves(&self, role: RoleId) -> usize {
        let config = &self.game.config;
        let is_chance = self.game.roles[role.index()].is_random;
        let is_chance_step = config.has_chance && self.state.0 % 3 == 2;
        let chooses = match (is_chance, is_chance_step) {
            (is_chance, true) => is_chance,
            (true, false) => false,
            (false, false) => {
                config.is_simultaneous || self.state.0 % config.n_roles == role.index()
            }
        };
        if chooses { 2 + (self.drawn(role.index() as u64) % 3) as usize } else { 1 }
    }
}

impl Cursor for RandomCursor {
    type State = (usize, u64);

    fn state(&self) -> &Self::State {
        &self.state
    }

    fn set_state(&mut self, state: &Self::State) {
        self.state = *state;
    }

    fn play(&mut self, joint: &[MoveId]) {
        let joined = joint.iter().fold(7, |sum: u64, id| sum * 31 + id.index() as u64);
        self.state = (self.state.0 + 1, self.drawn(1000 + joined) % self.game.config.n_places);
    }

    fn is_terminal(&mut self) -> bool {
        // Some branches end early.
        self.state.0 >= self.game.config.n_steps
            || self.state.0 > 2 && self.drawn(500).is_multiple_of(8)
    }

    fn legal_moves(&mut self, role: RoleId) -> &[MoveId] {
        let n_moves = self.n_moves(role);
        self.moves.clear();
        self.moves.extend((0..n_moves).map(|idx| MoveId::new(role.index() * 10 + idx)));
        &self.moves
    }

    fn goals(&mut self, role: RoleId) -> &[Goal] {
        let drawn = |idx: usize| (self.drawn(600 + idx as u64) % 5) as u32 * 25;
        let is_second = self.game.config.is_constant_sum && role.index() == 1;
        let goal = if is_second { 100 - drawn(0) } else { drawn(role.index()) };
        self.goals.clear();
        self.goals.extend(Goal::new(goal));
        &self.goals
    }
}

impl Observe for RandomCursor {
    fn percepts(&self, _role: RoleId) -> &[PerceptId] {
        &[]
    }
}
