//! A game and its states.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use ludex_base::{
    BitSet, Deadline, FluentId, Limits, MoveId, PerceptId, RoleId, Seed, Severity, Source,
};
use ludex_board::{Table, svg};
use ludex_game::trace::End;
use ludex_game::{
    Cursor, Describe, Game as _, Observe, PlayoutRequest, PlayoutResults, PlayoutRunner, Playouts,
    StateOf, perft,
};
use ludex_machine::Machine;
use ludex_pipeline::{Engine, EngineChoice, LoadOptions, LoadedGame};
use ludex_reasoner::{Reasoner, ReasonerState};
use ludex_record::TraceRecord;
use numpy::PyArray1;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{IllegalMoveError, LimitError, LudexError, interruptible, load_error};

/// Returns the names of the games that come with Ludex.
#[pyfunction]
pub fn games() -> Vec<&'static str> {
    ludex_library::games().iter().map(|game| game.name).collect()
}

/// Finds the rules: a text in parentheses, a path, or the name of a game of the library.
fn find_source(rules: &str, name: Option<&str>) -> PyResult<Source> {
    if rules.contains('(') {
        return Ok(Source::new(name.unwrap_or("rules"), rules));
    }
    let path = std::path::Path::new(rules);
    let file = if path.is_dir() { path.join("rules.kif") } else { path.to_owned() };
    if file.is_file() {
        let text = std::fs::read_to_string(&file)?;
        let stem = path.file_stem().map_or(rules.into(), |stem| stem.to_string_lossy());
        return Ok(Source::new(name.unwrap_or(&stem), text));
    }
    match ludex_library::find(rules) {
        Some(game) => Ok(Source::new(name.unwrap_or(game.name), game.rules)),
        None => {
            let similar = ludex_library::suggestions(rules);
            let hint = match similar[..] {
                [] => "; `ludex.games()` lists the library".to_owned(),
                _ => format!("; did you mean {}?", similar.join(", ")),
            };
            let message = format!("`{rules}` is neither rules, nor a file, nor a game{hint}");
            Err(PyValueError::new_err(message))
        }
    }
}

/// What is wrong with a rulesheet, or looks wrong.
#[pyclass(frozen, get_all, module = "ludex")]
pub struct Diagnostic {
    code: &'static str,
    severity: &'static str,
    message: String,
    line: usize,
    column: usize,
    help: Option<String>,
}

#[pymethods]
impl Diagnostic {
    fn __repr__(&self) -> String {
        let Self { code, severity, message, line, column, .. } = self;
        format!("{line}:{column}: {severity}: {message} [{code}]")
    }
}

impl Diagnostic {
    fn new(source: &Source, diagnostic: &ludex_base::Diagnostic) -> Self {
        let (line, column) = source.line_column(diagnostic.span.start);
        let severity = match diagnostic.severity {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Tolerated => "tolerated",
            Severity::Fatal => "fatal",
        };
        let (code, message) = (diagnostic.code, diagnostic.message.clone());
        Self { code, severity, message, line, column, help: diagnostic.help.clone() }
    }
}

/// Checks a rulesheet and returns its diagnostics. Unlike `Game`, it accepts rules with mistakes.
#[pyfunction]
#[pyo3(signature = (rules, *, time = 60.0))]
pub fn check(py: Python<'_>, rules: &str, time: f64) -> PyResult<Vec<Diagnostic>> {
    let source = find_source(rules, None)?;
    let options = LoadOptions { time: seconds(time)?, ..LoadOptions::default() };
    let report =
        interruptible(py, &AtomicBool::new(false), || ludex_pipeline::check(&source, &options))?;
    let report = report.map_err(|error| load_error(&source, error))?;
    Ok(report.diagnostics.iter().map(|it| Diagnostic::new(&source, it)).collect())
}

/// What pickles an object: a function, and its arguments.
type Pickled<A> = (Py<PyAny>, A);

/// Reads a number of seconds.
pub fn seconds(time: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(time)
        .map_err(|_| PyValueError::new_err(format!("{time} is not a number of seconds")))
}

/// An engine with cursors that are ready.
pub struct Pool<G: ludex_game::Game> {
    pub game: G,
    cursors: Mutex<Vec<G::Cursor>>,
}

impl<G: ludex_game::Game> Pool<G> {
    fn new(game: G) -> Self {
        Self { game, cursors: Mutex::new(Vec::new()) }
    }

    /// Runs work with a cursor on a state.
    fn with<T>(&self, state: &StateOf<G>, work: impl FnOnce(&G, &mut G::Cursor) -> T) -> T {
        let kept = self.cursors.lock().ok().and_then(|mut cursors| cursors.pop());
        let mut cursor = kept.unwrap_or_else(|| self.game.cursor());
        cursor.set_state(state);
        let result = work(&self.game, &mut cursor);
        if let Ok(mut cursors) = self.cursors.lock() {
            cursors.push(cursor);
        }
        result
    }
}

/// The engine of a game.
pub enum Pools {
    /// The fast engine.
    Machine(Pool<Machine>),
    /// The slow engine, for games that can't be grounded.
    Reasoner(Pool<Reasoner>),
}

/// Runs code on the engine of a game, of either kind.
macro_rules! with_pool {
    ($game:expr, |$pool:ident| $body:expr) => {
        match &$game.pools {
            $crate::game::Pools::Machine($pool) => $body,
            $crate::game::Pools::Reasoner($pool) => $body,
        }
    };
}
pub(crate) use with_pool;

/// Runs code with a cursor on a state.
macro_rules! at {
    ($state:expr, |$game:ident, $cursor:ident| $body:expr) => {
        match (&$state.game.pools, &$state.place) {
            (Pools::Machine(pool), Place::Machine(place)) => {
                pool.with(place, |$game, $cursor| $body)
            }
            (Pools::Reasoner(pool), Place::Reasoner(place)) => {
                pool.with(place, |$game, $cursor| $body)
            }
            _ => unreachable!("a state belongs to the engine of its game"),
        }
    };
}

/// What all handles on a game share.
pub struct Core {
    /// The rules, their diagnostics, and the engine as it was loaded.
    pub loaded: LoadedGame,
    pub pools: Pools,
    pub role_names: Vec<String>,
    /// The start of each role's moves, and the end of the last; empty for the reasoner.
    pub move_starts: Vec<usize>,
    percept_starts: Vec<usize>,
    /// What the rules say about boards; made with the first drawing.
    table: OnceLock<Table>,
}

impl Core {
    pub fn role(&self, role: &Bound<'_, PyAny>) -> PyResult<RoleId> {
        let known = || format!("the roles are {}", self.role_names.join(", "));
        if let Ok(name) = role.extract::<String>() {
            let place = self.role_names.iter().position(|it| *it == name);
            let missing =
                || PyValueError::new_err(format!("no role is called `{name}`; {}", known()));
            return place.map(RoleId::new).ok_or_else(missing);
        }
        let number: usize =
            role.extract().map_err(|_| PyTypeError::new_err("a role is its name or its number"))?;
        if number >= self.role_names.len() {
            return Err(PyValueError::new_err(format!("there is no role {number}; {}", known())));
        }
        Ok(RoleId::new(number))
    }

    /// Returns the machine.
    pub fn machine(&self) -> PyResult<&Machine> {
        match &self.pools {
            Pools::Machine(pool) => Ok(&pool.game),
            Pools::Reasoner(_) => {
                let why = self.loaded.fallback.as_deref().unwrap_or("the reasoner was asked for");
                let message = format!(
                    "the moves and fluents of this game are not numbered, because it has no circuit: {why}"
                );
                Err(LudexError::new_err(message))
            }
        }
    }

    /// Returns the numbers of a role's moves.
    pub fn moves_of(&self, role: RoleId) -> std::ops::Range<usize> {
        self.move_starts[role.index()]..self.move_starts[role.index() + 1]
    }
}

/// The rules of a game, ready to play.
///
/// `rules` is a rulesheet as text, the path of one, or the name of a game of the library.
#[pyclass(frozen, module = "ludex")]
pub struct Game {
    pub core: Arc<Core>,
}

#[pymethods]
impl Game {
    #[new]
    #[pyo3(signature = (rules, *, name = None, engine = "auto", time = 60.0, memory = None))]
    fn new(
        py: Python<'_>,
        rules: &Bound<'_, PyAny>,
        name: Option<&str>,
        engine: &str,
        time: f64,
        memory: Option<u64>,
    ) -> PyResult<Self> {
        let rules: String = match rules.extract::<String>() {
            Ok(rules) => rules,
            // A `pathlib.Path`.
            Err(_) => rules.call_method0("__fspath__")?.extract()?,
        };
        let source = find_source(&rules, name)?;
        let engine = match engine {
            "auto" => EngineChoice::Auto,
            "circuit" => EngineChoice::Circuit,
            "reasoner" => EngineChoice::Reasoner,
            other => {
                let message = format!("`{other}` is no engine: auto, circuit or reasoner");
                return Err(PyValueError::new_err(message));
            }
        };
        let mut options = LoadOptions { engine, time: seconds(time)?, ..LoadOptions::default() };
        if let Some(memory) = memory {
            options.memory = memory;
        }
        let stop = Arc::new(AtomicBool::new(false));
        let loaded = interruptible(py, &stop, || {
            ludex_pipeline::load_unless(source.clone(), &options, &stop)
        })?;
        let loaded = loaded.map_err(|error| load_error(&source, error))?;
        let (mut move_starts, mut percept_starts) = (Vec::new(), Vec::new());
        let pools = match &loaded.engine {
            Engine::Machine(machine) => {
                let vocabulary = &machine.circuit().vocabulary;
                let n_roles = machine.roles().len();
                let starts = |roles: Vec<RoleId>| {
                    (0..=n_roles)
                        .map(|role| roles.partition_point(|it| it.index() < role))
                        .collect::<Vec<usize>>()
                };
                move_starts = starts(vocabulary.moves.iter().map(|it| it.0).collect());
                percept_starts = starts(vocabulary.percepts.iter().map(|it| it.0).collect());
                Pools::Machine(Pool::new(machine.clone()))
            }
            Engine::Reasoner(reasoner) => Pools::Reasoner(Pool::new(reasoner.clone())),
        };
        let role_names = match &loaded.engine {
            Engine::Machine(game) => game.roles().iter().map(|it| it.name.clone()).collect(),
            Engine::Reasoner(game) => game.roles().iter().map(|it| it.name.clone()).collect(),
        };
        let table = OnceLock::new();
        let core = Core { loaded, pools, role_names, move_starts, percept_starts, table };
        Ok(Self { core: Arc::new(core) })
    }

    /// The name of the game.
    #[getter]
    fn name(&self) -> &str {
        self.core.loaded.source.name()
    }

    /// The text of the rules.
    #[getter]
    fn rules(&self) -> &str {
        self.core.loaded.source.text()
    }

    /// The engine that plays it: `circuit` or `reasoner`.
    #[getter]
    fn engine(&self) -> &'static str {
        self.core.loaded.engine.name()
    }

    /// The roles, in the order of the rules.
    #[getter]
    fn roles(&self) -> Vec<String> {
        self.core.role_names.clone()
    }

    /// The roles that are played by chance.
    #[getter]
    fn random_roles(&self) -> Vec<String> {
        with_pool!(self.core, |pool| {
            let random = pool.game.roles().iter().filter(|role| role.is_random);
            random.map(|role| role.name.clone()).collect()
        })
    }

    /// Whether roles see only their own moves and percepts.
    #[getter]
    fn has_percepts(&self) -> bool {
        with_pool!(self.core, |pool| pool.game.has_percepts())
    }

    /// What `check` says about the rules; none of it is fatal.
    #[getter]
    fn diagnostics(&self) -> Vec<Diagnostic> {
        let LoadedGame { source, diagnostics, .. } = &self.core.loaded;
        diagnostics.iter().map(|it| Diagnostic::new(source, it)).collect()
    }

    /// The fluents in the order of observations. Needs a circuit.
    #[getter]
    fn fluents(&self) -> PyResult<Vec<String>> {
        let vocabulary = &self.core.machine()?.circuit().vocabulary;
        let numbers = 0..vocabulary.fluents.len();
        Ok(numbers.map(|idx| vocabulary.fluent_text(FluentId::new(idx))).collect())
    }

    /// Returns the moves of a role in the order of actions. Needs a circuit.
    fn moves(&self, role: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
        let role = self.core.role(role)?;
        let machine = self.core.machine()?;
        Ok(self.core.moves_of(role).map(|idx| machine.move_text(MoveId::new(idx))).collect())
    }

    /// Returns the percepts of a role in the order of `State.percept_observation`. Needs a circuit.
    fn percepts(&self, role: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
        let role = self.core.role(role)?.index();
        let machine = self.core.machine()?;
        let own = self.core.percept_starts[role]..self.core.percept_starts[role + 1];
        Ok(own.map(|idx| machine.percept_text(PerceptId::new(idx))).collect())
    }

    /// Returns the initial state.
    fn initial_state(&self) -> State {
        let place = match &self.core.pools {
            Pools::Machine(pool) => Place::Machine(pool.game.circuit().init.clone()),
            Pools::Reasoner(pool) => Place::Reasoner(pool.game.cursor().state().clone()),
        };
        State { game: Arc::clone(&self.core), place, seen: Vec::new() }
    }

    /// Returns the state in which exactly these fluents are true.
    fn state(&self, fluents: Vec<String>) -> PyResult<State> {
        let unknown = |fluent: &str| PyValueError::new_err(format!("no state contains `{fluent}`"));
        let place = match &self.core.pools {
            Pools::Machine(pool) => {
                let vocabulary = &pool.game.circuit().vocabulary;
                let numbers = 0..vocabulary.fluents.len();
                let texts: HashMap<String, usize> =
                    numbers.map(|idx| (vocabulary.fluent_text(FluentId::new(idx)), idx)).collect();
                let mut state = BitSet::new(texts.len());
                for fluent in &fluents {
                    state.insert(*texts.get(fluent).ok_or_else(|| unknown(fluent))?);
                }
                Place::Machine(state)
            }
            Pools::Reasoner(pool) => {
                let missing = || unknown(fluents.first().map_or("", String::as_str));
                Place::Reasoner(pool.game.find_state(&fluents).ok_or_else(missing)?)
            }
        };
        Ok(State { game: Arc::clone(&self.core), place, seen: Vec::new() })
    }

    /// Counts the paths of each length from the initial state.
    #[pyo3(signature = (depth, *, time = 60.0))]
    fn perft(&self, py: Python<'_>, depth: usize, time: f64) -> PyResult<Vec<u64>> {
        let stop = Arc::new(AtomicBool::new(false));
        let deadline = Deadline::after(seconds(time)?).or_when(Arc::clone(&stop));
        let counts = interruptible(py, &stop, || {
            with_pool!(self.core, |pool| perft(&pool.game, depth, &deadline))
        })?;
        if counts.nodes.len() < depth && deadline.reached() {
            return Err(LimitError::new_err(format!("depth {depth} takes more than {time} s")));
        }
        Ok(counts.nodes)
    }

    /// Returns the same game with names that say nothing, and the new name of each old one.
    #[pyo3(signature = (seed = 0))]
    fn scramble(&self, py: Python<'_>, seed: u64) -> PyResult<(Self, HashMap<String, String>)> {
        let (sheet, _) = ludex_gdl::parse_within(&self.core.loaded.source, &Limits::usual())
            .map_err(|stop| LimitError::new_err(stop.name()))?;
        let (scrambled, renaming) = ludex_gdl::scramble(&sheet, Seed(seed));
        let text = ludex_gdl::print(&scrambled, ludex_gdl::Notation::Kif);
        let name = format!("{}-{seed}", self.name());
        let text = text.into_pyobject(py)?.into_any();
        let game = Self::new(py, &text, Some(&name), "auto", 60.0, None)?;
        let names = renaming.iter().map(|(old, new)| (old.to_owned(), new.to_owned())).collect();
        Ok((game, names))
    }

    /// Returns the rules printed in a form, `kif` or `infix`.
    #[pyo3(signature = (form = "kif"))]
    fn print(&self, form: &str) -> PyResult<String> {
        let notation = match form {
            "kif" => ludex_gdl::Notation::Kif,
            "infix" => ludex_gdl::Notation::Infix,
            other => {
                let message = format!("`{other}` is no form: kif or infix");
                return Err(PyValueError::new_err(message));
            }
        };
        let (sheet, _) = ludex_gdl::parse_within(&self.core.loaded.source, &Limits::usual())
            .map_err(|stop| LimitError::new_err(stop.name()))?;
        Ok(ludex_gdl::print(&sheet, notation))
    }

    /// Plays the two fixed lines that engines are compared on, and returns them as JSON.
    #[pyo3(signature = (*, time = 60.0))]
    fn trace_json(&self, py: Python<'_>, time: f64) -> PyResult<String> {
        let stop = Arc::new(AtomicBool::new(false));
        let deadline = Deadline::after(seconds(time)?).or_when(Arc::clone(&stop));
        let lines = interruptible(py, &stop, || {
            with_pool!(self.core, |pool| ludex_game::trace::trace(&pool.game, &deadline))
        })?;
        if [&lines.min, &lines.mix].iter().any(|it| matches!(it.end, End::Stopped(_))) {
            return Err(LimitError::new_err(format!("the lines take more than {time} s")));
        }
        as_json(&TraceRecord::of(self.name(), &self.rules_hash(py)?, lines))
    }

    fn __repr__(&self) -> String {
        format!("ludex.Game({:?}, engine={:?})", self.name(), self.engine())
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    fn __reduce__(&self, py: Python<'_>) -> PyResult<Pickled<(String, String)>> {
        let make = PyModule::import(py, "ludex")?.getattr("_load")?.unbind();
        Ok((make, (self.name().to_owned(), self.rules().to_owned())))
    }
}

impl Game {
    /// Returns the SHA-256 of the rules.
    pub fn rules_hash(&self, py: Python<'_>) -> PyResult<String> {
        let hash = PyModule::import(py, "hashlib")?;
        let hash = hash.call_method1("sha256", (self.rules().as_bytes(),))?;
        hash.call_method0("hexdigest")?.extract()
    }
}

/// A state of either engine.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Place {
    Machine(BitSet),
    Reasoner(ReasonerState),
}

/// A state of a game. States never change; `play` returns the next one.
#[pyclass(frozen, module = "ludex")]
pub struct State {
    pub game: Arc<Core>,
    pub place: Place,
    /// What each role saw of the step that led here.
    seen: Vec<Vec<PerceptId>>,
}

#[pymethods]
impl State {
    /// The game.
    #[getter]
    fn game(&self) -> Game {
        Game { core: Arc::clone(&self.game) }
    }

    /// Whether the game is over.
    #[getter]
    fn is_terminal(&self) -> bool {
        at!(self, |_game, cursor| cursor.is_terminal())
    }

    /// Returns the legal moves of a role as text.
    fn legal_moves(&self, role: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
        let role = self.game.role(role)?;
        Ok(at!(self, |game, cursor| {
            cursor.legal_moves(role).iter().map(|&it| game.move_text(it)).collect()
        }))
    }

    /// Returns the legal moves of a role as numbers. Needs a circuit.
    fn legal_actions(&self, role: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
        let role = self.game.role(role)?;
        self.game.machine()?;
        let first = self.game.moves_of(role).start;
        let number = |it: &MoveId| it.index() - first;
        Ok(at!(self, |_game, cursor| cursor.legal_moves(role).iter().map(number).collect()))
    }

    /// The roles that have a choice, without those of chance.
    #[getter]
    fn to_play(&self) -> Vec<String> {
        if self.is_terminal() {
            return Vec::new();
        }
        at!(self, |game, cursor| {
            let has_choice = |role: &RoleId, cursor: &mut _| {
                n_legal(cursor, *role) > 1 && !game.roles()[role.index()].is_random
            };
            let roles: Vec<RoleId> =
                game.role_ids().filter(|role| has_choice(role, cursor)).collect();
            roles.iter().map(|role| game.roles()[role.index()].name.clone()).collect()
        })
    }

    /// Plays a joint move and returns the next state.
    ///
    /// `joint` is a list of moves in the order of the roles, or a dictionary from roles to moves; a
    /// move is its text or its number. Roles with only one legal move may be left out.
    fn play(&self, joint: &Bound<'_, PyAny>) -> PyResult<State> {
        let n_roles = self.game.role_names.len();
        let mut chosen: Vec<Option<Bound<'_, PyAny>>> = vec![None; n_roles];
        if let Ok(by_role) = joint.cast::<PyDict>() {
            for (role, played) in by_role {
                chosen[self.game.role(&role)?.index()] = Some(played);
            }
        } else if let (1, Ok(text)) = (n_roles, joint.extract::<String>()) {
            chosen[0] = Some(text.into_pyobject(joint.py())?.into_any());
        } else {
            let listed: Vec<Bound<'_, PyAny>> = joint.extract()?;
            if listed.len() != n_roles {
                let message = format!("{} moves for {n_roles} roles", listed.len());
                return Err(PyValueError::new_err(message));
            }
            chosen = listed.into_iter().map(Some).collect();
        }
        let chosen: Vec<Option<Move>> = chosen
            .into_iter()
            .map(|it| it.filter(|it| !it.is_none()).map(|it| Move::read(&it)).transpose())
            .collect::<PyResult<_>>()?;
        let moves = at!(self, |game, cursor| self.joint(game, cursor, &chosen))?;
        Ok(self.after(&moves))
    }

    /// Draws a joint move at random and returns the next state.
    #[pyo3(signature = (seed = 0))]
    fn play_randomly(&self, seed: u64) -> PyResult<State> {
        let mut rng = Seed(seed).rng();
        let moves: Option<Vec<MoveId>> = at!(self, |game, cursor| {
            game.role_ids().map(|role| cursor.draw_move(role, &mut rng)).collect()
        });
        let moves =
            moves.ok_or_else(|| IllegalMoveError::new_err("some role has no legal move"))?;
        Ok(self.after(&moves))
    }

    /// Returns the goal of each role by the rules; `None` where they give none.
    #[getter]
    fn goals(&self) -> HashMap<String, Option<u8>> {
        at!(self, |game, cursor| {
            let ids: Vec<RoleId> = game.role_ids().collect();
            let goal = |role: RoleId, cursor: &mut _| last_goal(cursor, role);
            ids.iter()
                .map(|&role| (game.roles()[role.index()].name.clone(), goal(role, cursor)))
                .collect()
        })
    }

    /// The true fluents as text, sorted.
    #[getter]
    fn fluents(&self) -> Vec<String> {
        at!(self, |game, cursor| game.state_texts(cursor.state()))
    }

    /// Returns the state as a vector: 1 for each fluent that is true. Needs a circuit.
    fn observation<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u8>>> {
        let n_fluents = self.game.machine()?.circuit().vocabulary.fluents.len();
        let Place::Machine(state) = &self.place else {
            unreachable!("the game has a circuit");
        };
        let bit = |idx| u8::from(state.contains(idx));
        Ok(PyArray1::from_iter(py, (0..n_fluents).map(bit)))
    }

    /// Returns what a role saw of the last step, as text.
    fn percepts(&self, role: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
        let role = self.game.role(role)?;
        let none = Vec::new();
        let seen = self.seen.get(role.index()).unwrap_or(&none);
        Ok(with_pool!(self.game, |pool| {
            seen.iter().map(|&it| pool.game.percept_text(it)).collect()
        }))
    }

    /// Returns what a role saw of the last step, as a vector. Needs a circuit.
    fn percept_observation<'py>(
        &self,
        py: Python<'py>,
        role: &Bound<'_, PyAny>,
    ) -> PyResult<Bound<'py, PyArray1<u8>>> {
        let role = self.game.role(role)?.index();
        self.game.machine()?;
        let (first, end) = (self.game.percept_starts[role], self.game.percept_starts[role + 1]);
        let mut vector = vec![0; end - first];
        for percept in self.seen.get(role).into_iter().flatten() {
            vector[percept.index() - first] = 1;
        }
        Ok(PyArray1::from_vec(py, vector))
    }

    /// Plays random games from here; returns their number, mean length and mean goals.
    #[pyo3(signature = (count, *, seed = 0, max_steps = 2_000, time = 3_600.0))]
    fn playouts<'py>(
        &self,
        py: Python<'py>,
        count: usize,
        seed: u64,
        max_steps: usize,
        time: f64,
    ) -> PyResult<Bound<'py, PyDict>> {
        let stop = Arc::new(AtomicBool::new(false));
        let deadline = Deadline::after(seconds(time)?).or_when(Arc::clone(&stop));
        let results = interruptible(py, &stop, || match (&self.game.pools, &self.place) {
            (Pools::Machine(pool), Place::Machine(place)) => {
                random_games(&pool.game, place, count, max_steps, seed, &deadline)
            }
            (Pools::Reasoner(pool), Place::Reasoner(place)) => {
                random_games(&pool.game, place, count, max_steps, seed, &deadline)
            }
            _ => unreachable!("a state belongs to the engine of its game"),
        })?;
        let total = results.total();
        let mean = |sum: u64| sum as f64 / total.n_playouts.max(1) as f64;
        let report = PyDict::new(py);
        report.set_item("count", total.n_playouts)?;
        report.set_item("given_up", results.n_given_up)?;
        report.set_item("mean_length", mean(total.n_steps))?;
        let goals = PyDict::new(py);
        for (name, &sum) in self.game.role_names.iter().zip(&total.goal_sums) {
            goals.set_item(name, mean(sum))?;
        }
        report.set_item("mean_goals", goals)?;
        Ok(report)
    }

    /// Returns a drawing of the state as SVG.
    fn svg(&self) -> String {
        let Core { loaded, role_names, table, .. } = &*self.game;
        let table = table.get_or_init(|| Table::of(&loaded.program, role_names));
        svg::render(&table.scene(&self.fluents()))
    }

    fn _repr_svg_(&self) -> String {
        self.svg()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<State>().is_ok_and(|other| {
            let other = other.get();
            Arc::ptr_eq(&self.game, &other.game) && self.place == other.place
                || !Arc::ptr_eq(&self.game, &other.game)
                    && self.game.loaded.source.text() == other.game.loaded.source.text()
                    && self.fluents() == other.fluents()
        })
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.fluents().hash(&mut hasher);
        hasher.finish()
    }

    fn __str__(&self) -> String {
        self.fluents().join("\n")
    }

    fn __repr__(&self) -> String {
        format!("<ludex.State of {}: {}>", self.game.loaded.source.name(), self.fluents().join(" "))
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    fn __reduce__(&self, py: Python<'_>) -> PyResult<Pickled<(Game, Vec<String>)>> {
        let make = PyModule::import(py, "ludex")?.getattr("_restore")?.unbind();
        Ok((make, (self.game(), self.fluents())))
    }
}

fn n_legal<C: Cursor>(cursor: &mut C, role: RoleId) -> usize {
    cursor.legal_moves(role).len()
}

fn last_goal<C: Cursor>(cursor: &mut C, role: RoleId) -> Option<u8> {
    cursor.goals(role).last().map(|goal| goal.value())
}

fn random_games<G: Playouts>(
    game: &G,
    start: &StateOf<G>,
    count: usize,
    max_steps: usize,
    seed: u64,
    deadline: &Deadline,
) -> PlayoutResults
where
    G::Runner: PlayoutRunner<State = StateOf<G>>,
{
    let request = PlayoutRequest {
        starts: std::slice::from_ref(start),
        n_per_start: count,
        max_steps,
        wants_moves: false,
        deadline,
    };
    let mut results = PlayoutResults::default();
    game.runner().run(&request, &mut Seed(seed).rng(), &mut results);
    results
}

/// A move as Python names it.
enum Move {
    Text(String),
    Number(usize),
}

impl Move {
    fn read(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(text) = value.extract::<String>() {
            return Ok(Move::Text(text));
        }
        let wrong = |_| PyTypeError::new_err("a move is its text or its number");
        value.extract::<usize>().map(Move::Number).map_err(wrong)
    }
}

/// Writes a report for Python to read.
pub fn as_json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| LudexError::new_err(error.to_string()))
}

impl State {
    /// Returns another state of the same game, of which nobody saw anything.
    pub fn moved(&self, bits: BitSet) -> State {
        State { game: Arc::clone(&self.game), place: Place::Machine(bits), seen: Vec::new() }
    }

    /// Finds the moves of all roles; each must be legal.
    fn joint<G: Describe>(
        &self,
        game: &G,
        cursor: &mut G::Cursor,
        chosen: &[Option<Move>],
    ) -> PyResult<Vec<MoveId>> {
        if cursor.is_terminal() {
            return Err(IllegalMoveError::new_err("the game is over"));
        }
        let mut joint = Vec::with_capacity(chosen.len());
        for (role, choice) in game.role_ids().zip(chosen) {
            let name = &game.roles()[role.index()].name;
            let legal = cursor.legal_moves(role);
            let found = match choice {
                None => match legal {
                    [only] => *only,
                    _ => {
                        let message =
                            format!("`{name}` has {} legal moves and none was chosen", legal.len());
                        return Err(IllegalMoveError::new_err(message));
                    }
                },
                Some(Move::Number(number)) => {
                    self.game.machine()?;
                    let moves = self.game.moves_of(role);
                    let id = MoveId::new(moves.start + number);
                    if !legal.contains(&id) {
                        let message = format!("action {number} of `{name}` is not legal here");
                        return Err(IllegalMoveError::new_err(message));
                    }
                    id
                }
                Some(Move::Text(text)) => {
                    let found = game.find_move(role, text).filter(|it| legal.contains(it));
                    let illegal = || {
                        IllegalMoveError::new_err(format!("`{text}` of `{name}` is not legal here"))
                    };
                    found.ok_or_else(illegal)?
                }
            };
            joint.push(found);
        }
        Ok(joint)
    }

    /// Returns the state after a joint move that is legal.
    fn after(&self, joint: &[MoveId]) -> State {
        fn follow<G: ludex_game::Game>(
            game: &G,
            cursor: &mut G::Cursor,
            joint: &[MoveId],
        ) -> Vec<Vec<PerceptId>>
        where
            G::Cursor: Observe,
        {
            cursor.play(joint);
            if !game.has_percepts() {
                return Vec::new();
            }
            game.role_ids().map(|role| cursor.percepts(role).to_vec()).collect()
        }
        let (place, seen) = match (&self.game.pools, &self.place) {
            (Pools::Machine(pool), Place::Machine(place)) => pool.with(place, |game, cursor| {
                let seen = follow(game, cursor, joint);
                (Place::Machine(cursor.state().clone()), seen)
            }),
            (Pools::Reasoner(pool), Place::Reasoner(place)) => pool.with(place, |game, cursor| {
                let seen = follow(game, cursor, joint);
                (Place::Reasoner(cursor.state().clone()), seen)
            }),
            _ => unreachable!("a state belongs to the engine of its game"),
        };
        State { game: Arc::clone(&self.game), place, seen }
    }
}
