//! Many games side by side, with actions from Python and results in arrays.

use std::sync::Arc;

use ludex_base::{MoveId, RoleId, Seed};
use ludex_game::Game as _;
use ludex_machine::{Machine, Positions};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::{IllegalMoveError, LudexError};
use crate::game::{Core, Game};

/// `count` games side by side. A game that ends begins again at once.
///
/// The arrays are always the same ones: each step writes them anew.
#[pyclass(module = "ludex")]
pub struct Lanes {
    core: Arc<Core>,
    chunks: Vec<Chunk>,
    n_games: usize,
    n_threads: usize,
    max_steps: u32,
    shape: Shape,
    #[pyo3(get)]
    observations: Py<PyArray2<u8>>,
    #[pyo3(get)]
    masks: Py<PyArray2<bool>>,
    #[pyo3(get)]
    rewards: Py<PyArray2<f32>>,
    #[pyo3(get)]
    terminated: Py<PyArray1<bool>>,
    #[pyo3(get)]
    truncated: Py<PyArray1<bool>>,
    #[pyo3(get)]
    deciders: Py<PyArray1<u8>>,
}

/// The sizes of rows.
#[derive(Clone)]
struct Shape {
    n_fluents: usize,
    n_roles: usize,
    /// The most moves of a role.
    n_moves: usize,
    move_starts: Vec<usize>,
    random: Vec<RoleId>,
}

/// As many games as there are lanes.
struct Chunk {
    positions: Positions,
    steps: Vec<u32>,
    /// The moves of the next step, game by game.
    chosen: Vec<Option<MoveId>>,
    goals: Vec<u8>,
}

/// What a chunk writes.
struct Rows<'a> {
    observations: &'a mut [u8],
    masks: &'a mut [u8],
    rewards: &'a mut [f32],
    terminated: &'a mut [u8],
    truncated: &'a mut [u8],
    deciders: &'a mut [u8],
}

#[pymethods]
impl Lanes {
    #[new]
    #[pyo3(signature = (game, count, *, seed = 0, threads = 0, max_steps = 0))]
    fn new(
        py: Python<'_>,
        game: &Game,
        count: usize,
        seed: u64,
        threads: usize,
        max_steps: u32,
    ) -> PyResult<Self> {
        let core = Arc::clone(&game.core);
        let machine: &Machine = core.machine()?;
        if count == 0 {
            return Err(PyValueError::new_err("at least one game is needed"));
        }
        let n_roles = machine.roles().len();
        if n_roles > usize::from(u8::MAX) {
            return Err(LudexError::new_err(format!("{n_roles} roles are too many for lanes")));
        }
        let shape = Shape {
            n_fluents: machine.circuit().vocabulary.fluents.len(),
            n_roles,
            n_moves: core.move_starts.windows(2).map(|it| it[1] - it[0]).max().unwrap_or(0),
            move_starts: core.move_starts.clone(),
            random: machine.role_ids().filter(|it| machine.roles()[it.index()].is_random).collect(),
        };
        // The first positions compile the game.
        let chunks = py.detach(|| {
            let mut rng = Seed(seed).rng();
            let mut chunks = Vec::new();
            let mut n_left = count;
            while n_left > 0 {
                let positions = machine.positions(&mut rng);
                let n_here = n_left.min(positions.n_lanes());
                n_left -= n_here;
                chunks.push(Chunk {
                    positions,
                    steps: vec![0; n_here],
                    chosen: vec![None; n_here * n_roles],
                    goals: vec![0; n_here],
                });
            }
            chunks
        });
        let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
        let mut lanes = Self {
            n_threads: if threads == 0 { n_cores } else { threads }.clamp(1, chunks.len()),
            core,
            chunks,
            n_games: count,
            max_steps: if max_steps == 0 { u32::MAX } else { max_steps },
            observations: PyArray2::zeros(py, [count, shape.n_fluents], false).unbind(),
            masks: PyArray2::zeros(py, [count, shape.n_moves], false).unbind(),
            rewards: PyArray2::zeros(py, [count, n_roles], false).unbind(),
            terminated: PyArray1::zeros(py, [count], false).unbind(),
            truncated: PyArray1::zeros(py, [count], false).unbind(),
            deciders: PyArray1::zeros(py, [count], false).unbind(),
            shape,
        };
        lanes.reset(py);
        Ok(lanes)
    }

    /// Begins all games again.
    fn reset(&mut self, py: Python<'_>) {
        self.on_threads(py, |chunk, rows, shape| chunk.begin(rows, shape));
    }

    /// Plays a step of every game.
    ///
    /// `actions` has a row for each game: one action for the role that decides, or one for each role.
    /// A negative action is drawn at random among the legal ones.
    fn step(&mut self, py: Python<'_>, actions: PyReadonlyArrayDyn<'_, i32>) -> PyResult<()> {
        let (n_games, n_roles) = (self.n_games, self.shape.n_roles);
        let is_joint = match *actions.shape() {
            [n] if n == n_games => false,
            [n, m] if n == n_games && m == n_roles => true,
            _ => {
                let message = format!(
                    "actions of shape {:?}, not [{n_games}] or [{n_games}, {n_roles}]",
                    actions.shape()
                );
                return Err(PyValueError::new_err(message));
            }
        };
        let actions = actions.as_slice().map_err(|_| {
            PyValueError::new_err("the actions are not contiguous; use numpy.ascontiguousarray")
        })?;
        self.choose(py, actions, is_joint)?;
        let max_steps = self.max_steps;
        self.on_threads(py, move |chunk, rows, shape| chunk.step(rows, shape, max_steps));
        Ok(())
    }

    /// Plays steps at random and returns how many were played: what the engine can do alone.
    fn play_randomly(&mut self, py: Python<'_>, n_steps: usize) -> usize {
        let max_steps = self.max_steps;
        self.on_threads(py, move |chunk, rows, shape| {
            for _ in 0..n_steps {
                chunk.chosen.fill(None);
                chunk.step(rows, shape, max_steps);
            }
        });
        n_steps * self.n_games
    }

    /// Returns the true fluents of one game as text.
    fn fluents(&self, number: usize) -> PyResult<Vec<String>> {
        let n_lanes = self.chunks[0].positions.n_lanes();
        if number >= self.n_games {
            return Err(PyValueError::new_err(format!("there are only {} games", self.n_games)));
        }
        let state = self.chunks[number / n_lanes].positions.state(number % n_lanes);
        Ok(ludex_game::Describe::state_texts(self.core.machine()?, &state))
    }
}

impl Lanes {
    /// Notes the actions as moves, or says which one is illegal.
    fn choose(&mut self, py: Python<'_>, actions: &[i32], is_joint: bool) -> PyResult<()> {
        let shape = &self.shape;
        let n_lanes = self.chunks[0].positions.n_lanes();
        let width = if is_joint { shape.n_roles } else { 1 };
        // SAFETY: this object has the only writers, and it is borrowed mutably.
        let deciders = unsafe { self.deciders.bind(py).as_slice() }.expect("it is contiguous");
        let deciders = deciders.to_vec();
        let chunks = &mut self.chunks;
        let illegal = py.detach(|| {
            let mut illegal = None;
            for (idx, chunk) in chunks.iter_mut().enumerate() {
                let first = idx * n_lanes;
                let n_here = chunk.steps.len();
                chunk.chosen.fill(None);
                let rows = actions[first * width..].chunks_exact(width).take(n_here);
                for (lane, row) in rows.enumerate() {
                    for (column, &action) in row.iter().enumerate() {
                        let role = if is_joint { column } else { deciders[first + lane].into() };
                        let moves = shape.move_starts[role]..shape.move_starts[role + 1];
                        let Ok(number) = usize::try_from(action) else { continue };
                        let played = MoveId::new(moves.start.saturating_add(number));
                        let is_legal = moves.contains(&played.index())
                            && chunk.positions.is_legal(lane, played);
                        if !is_legal && illegal.is_none() {
                            illegal = Some((first + lane, role, action));
                        }
                        chunk.chosen[lane * shape.n_roles + role] = is_legal.then_some(played);
                    }
                }
            }
            illegal
        });
        match illegal {
            None => Ok(()),
            Some((game, role, action)) => Err(IllegalMoveError::new_err(format!(
                "action {action} of `{}` is not legal in game {game}; nothing was played",
                self.core.role_names[role]
            ))),
        }
    }

    /// Runs work on each chunk and its rows, on several threads and without the interpreter's lock.
    fn on_threads(
        &mut self,
        py: Python<'_>,
        work: impl Fn(&mut Chunk, &mut Rows<'_>, &Shape) + Sync,
    ) {
        let n_lanes = self.chunks[0].positions.n_lanes();
        let (shape, n_threads) = (&self.shape, self.n_threads);
        // SAFETY: only this object writes the arrays, and it is borrowed mutably; Python code that reads
        // them meanwhile from another thread reads bytes that are partly old and partly new.
        let (observations, masks, rewards, terminated, truncated, deciders) = unsafe {
            (
                slice(self.observations.bind(py)),
                as_bytes(slice(self.masks.bind(py))),
                slice(self.rewards.bind(py)),
                as_bytes(slice(self.terminated.bind(py))),
                as_bytes(slice(self.truncated.bind(py))),
                slice(self.deciders.bind(py)),
            )
        };
        let mut jobs: Vec<(&mut Chunk, Rows<'_>)> = Vec::new();
        let mut observations = observations.chunks_mut((n_lanes * shape.n_fluents).max(1));
        let mut masks = masks.chunks_mut((n_lanes * shape.n_moves).max(1));
        let mut rewards = rewards.chunks_mut(n_lanes * shape.n_roles);
        let mut terminated = terminated.chunks_mut(n_lanes);
        let mut truncated = truncated.chunks_mut(n_lanes);
        let mut deciders = deciders.chunks_mut(n_lanes);
        for chunk in &mut self.chunks {
            let rows = Rows {
                observations: observations.next().unwrap_or_default(),
                masks: masks.next().unwrap_or_default(),
                rewards: rewards.next().unwrap_or_default(),
                terminated: terminated.next().unwrap_or_default(),
                truncated: truncated.next().unwrap_or_default(),
                deciders: deciders.next().unwrap_or_default(),
            };
            jobs.push((chunk, rows));
        }
        let work = &work;
        py.detach(|| {
            std::thread::scope(|scope| {
                let n_each = jobs.len().div_ceil(n_threads);
                let mut parts = jobs.chunks_mut(n_each);
                let own = parts.next();
                for part in parts {
                    scope.spawn(move || {
                        for (chunk, rows) in part {
                            work(chunk, rows, shape);
                        }
                    });
                }
                for (chunk, rows) in own.into_iter().flatten() {
                    work(chunk, rows, shape);
                }
            });
        });
    }
}

/// # Safety
/// Nothing else writes the array while the result is used.
#[expect(clippy::mut_from_ref, reason = "an array of NumPy is behind a shared handle")]
unsafe fn slice<'a, T: numpy::Element, D: numpy::ndarray::Dimension>(
    array: &'a Bound<'_, numpy::PyArray<T, D>>,
) -> &'a mut [T] {
    // SAFETY: as the caller says; the arrays were made contiguous.
    unsafe { array.as_slice_mut() }.expect("it is contiguous")
}

/// Takes truth values as bytes; whoever writes them writes 0 or 1.
fn as_bytes(values: &mut [bool]) -> &mut [u8] {
    // SAFETY: a `bool` is a byte that is 0 or 1, and nothing else is written here.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), values.len()) }
}

impl Chunk {
    fn begin(&mut self, rows: &mut Rows<'_>, shape: &Shape) {
        let everything = vec![u64::MAX; self.positions.over().len()];
        self.positions.restart(&everything);
        self.steps.fill(0);
        rows.rewards.fill(0.0);
        rows.terminated.fill(0);
        rows.truncated.fill(0);
        self.show(rows, shape);
    }

    fn step(&mut self, rows: &mut Rows<'_>, shape: &Shape, max_steps: u32) {
        self.positions.play(&self.chosen);
        let n_here = self.steps.len();
        let mut ended = self.positions.over().to_vec();
        rows.rewards.fill(0.0);
        rows.truncated.fill(0);
        let has_end = ended.iter().any(|&word| word != 0);
        if has_end {
            for role in 0..shape.n_roles {
                self.positions.write_goals(RoleId::new(role), &mut self.goals);
                for lane in (0..n_here).filter(|&lane| ended[lane / 64] >> (lane % 64) & 1 != 0) {
                    rows.rewards[lane * shape.n_roles + role] = f32::from(self.goals[lane]) / 100.0;
                }
            }
        }
        for lane in 0..n_here {
            let is_over = ended[lane / 64] >> (lane % 64) & 1 != 0;
            rows.terminated[lane] = u8::from(is_over);
            self.steps[lane] += 1;
            if is_over {
                self.steps[lane] = 0;
            } else if self.steps[lane] >= max_steps {
                self.steps[lane] = 0;
                rows.truncated[lane] = 1;
                ended[lane / 64] |= 1 << (lane % 64);
            }
        }
        if ended.iter().any(|&word| word != 0) {
            self.positions.restart(&ended);
        }
        self.show(rows, shape);
    }

    fn show(&mut self, rows: &mut Rows<'_>, shape: &Shape) {
        self.positions.write_deciders(&shape.random, rows.deciders);
        self.positions.write_fluents(rows.observations);
        self.positions.write_legal(rows.deciders, shape.n_moves, rows.masks);
    }
}
