//! Players, single moves and matches.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use ludex_base::{Deadline, MoveId, RoleId, Seed};
use ludex_game::{Cursor as _, Game as _, StateOf};
use ludex_player::{Minds, Playable, Player, PlayerConfig, PlayerSpec, Seen};
use ludex_record::{Heading, MatchKey, MatchReport, SeriesReport};
use ludex_referee::{
    Answer, Clocks, Decision, Lapse, LocalSeat, MAX_STEPS, Reply, Seat, Seating, SequentialTest,
    Series, SeriesConfig, SeriesEnd, Shard, Tally, decision, play_one,
};
use ludex_search::SearchLimits;
use pyo3::exceptions::{PyTimeoutError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{LudexError, interruptible};
use crate::game::{Core, Game, Place, Pools, State, as_json, seconds, with_pool};

/// Returns the players by name, with what each does.
#[pyfunction]
pub fn players() -> std::collections::BTreeMap<&'static str, &'static str> {
    ludex_player::players().into_iter().map(|info| (info.name, info.summary)).collect()
}

/// Returns the options of a player: name, default and meaning of each.
#[pyfunction]
pub fn player_options(player: &str) -> PyResult<Vec<(&'static str, String, &'static str)>> {
    let name = parse(player)?.name();
    let info = ludex_player::players().into_iter().find(|info| info.name == name);
    Ok(info.map_or_else(Vec::new, |info| info.options))
}

/// Checks the description of a player, such as `uct:c=0.7`, and returns it in full.
#[pyfunction]
pub fn parse_player(player: &str) -> PyResult<String> {
    Ok(parse(player)?.to_string())
}

/// Returns the name of a match: equal for equal rules, engine, players, clocks, options, seed and number.
#[pyfunction]
#[pyo3(signature = (game, players, number, *, start_clock, play_clock, iterations, seed))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub fn match_id(
    py: Python<'_>,
    game: &Game,
    players: Vec<String>,
    number: usize,
    start_clock: f64,
    play_clock: f64,
    iterations: Option<u64>,
    seed: u64,
) -> PyResult<String> {
    let key = MatchKey {
        rules_hash: &game.rules_hash(py)?,
        engine: game.core.loaded.engine.name(),
        players: &players,
        start_clock,
        play_clock,
        iterations,
        options: &[],
        seed,
    };
    Ok(key.id(number))
}

fn parse(player: &str) -> PyResult<PlayerSpec> {
    PlayerSpec::parse(player).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Chooses a move of a role in a state, by a player: the move, its value and what else the search says.
///
/// With `iterations` and without `time`, equal seeds give equal answers.
#[pyfunction]
#[pyo3(signature = (state, role, player = "ludex", *, time = None, iterations = None, seed = 0, threads = 1))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub fn choose<'py>(
    py: Python<'py>,
    state: &State,
    role: &Bound<'_, PyAny>,
    player: &str,
    time: Option<f64>,
    iterations: Option<u64>,
    seed: u64,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let (spec, role) = (parse(player)?, state.game.role(role)?);
    if with_pool!(state.game, |pool| pool.game.has_percepts()) {
        let message = "roles of this game do not see the state; let players play a match";
        return Err(LudexError::new_err(message));
    }
    let time = time.or_else(|| iterations.is_none().then_some(1.0)).map(seconds).transpose()?;
    let stop = Arc::new(AtomicBool::new(false));
    let deadline = time.map_or_else(Deadline::never, Deadline::after).or_when(Arc::clone(&stop));
    let limits = SearchLimits {
        iterations,
        threads: threads.max(1),
        ..SearchLimits::until(deadline, Seed(seed))
    };
    let found = interruptible(py, &stop, || match (&state.game.pools, &state.place) {
        (Pools::Machine(pool), Place::Machine(place)) => {
            opinion(&pool.game, place, &spec, role, &limits)
        }
        (Pools::Reasoner(pool), Place::Reasoner(place)) => {
            opinion(&pool.game, place, &spec, role, &limits)
        }
        _ => unreachable!("a state belongs to the engine of its game"),
    })?;
    let report = PyDict::new(py);
    report.set_item("move", found.chosen)?;
    report.set_item("value", found.value)?;
    report.set_item("proved", found.is_proven)?;
    report.set_item("search", found.search)?;
    report.set_item("iterations", found.n_iterations)?;
    report.set_item("playouts", found.n_playouts)?;
    report.set_item("line", found.line)?;
    report.set_item("moves", found.moves)?;
    Ok(report)
}

/// What a search says, in words and numbers.
struct Found {
    chosen: Option<String>,
    value: Option<f64>,
    is_proven: bool,
    search: String,
    n_iterations: u64,
    n_playouts: u64,
    line: Vec<Vec<String>>,
    moves: Vec<(String, Option<f64>, u64)>,
}

fn opinion<G: Playable>(
    game: &G,
    state: &StateOf<G>,
    spec: &PlayerSpec,
    role: RoleId,
    limits: &SearchLimits,
) -> Found {
    let text = |id: MoveId| game.move_text(id);
    let mut cursor = game.cursor();
    cursor.set_state(state);
    if let [only] = cursor.legal_moves(role)[..] {
        return Found {
            chosen: Some(text(only)),
            value: None,
            is_proven: false,
            search: "forced".into(),
            n_iterations: 0,
            n_playouts: 0,
            line: Vec::new(),
            moves: vec![(text(only), None, 0)],
        };
    }
    let (report, search) = Minds::new(spec, game).think_once(state, role, limits);
    Found {
        chosen: report.chosen.map(text),
        value: report.reward.map(|reward| 100.0 * reward),
        is_proven: report.is_proven,
        search,
        n_iterations: report.n_iterations,
        n_playouts: report.n_playouts,
        line: report.line.iter().map(|joint| joint.iter().map(|&it| text(it)).collect()).collect(),
        moves: report
            .moves
            .iter()
            .map(|it| (text(it.id), it.proven.or(it.mean_reward).map(|it| 100.0 * it), it.n_visits))
            .collect(),
    }
}

/// A player of a match, as Python names it.
enum Named {
    Spec(PlayerSpec),
    /// An object with a method `choose(role, fluents, legal_moves, seen, seconds)`.
    Object(Arc<Py<PyAny>>),
}

/// Ends matches on other threads, which Ctrl-C does not reach.
#[pyclass(frozen, module = "ludex")]
#[derive(Default)]
pub struct Stop {
    flag: Arc<AtomicBool>,
}

#[pymethods]
impl Stop {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Ends all matches that were given this object.
    fn set(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }
}

/// Plays one match of a series, by its number, and returns its record as JSON.
///
/// Numbers decide the seats and, with the seed of the series, all randomness: whoever plays match 7
/// plays the same match.
#[pyfunction]
#[pyo3(signature = (game, players, number, *, start_clock, play_clock, iterations, seed, stop = None))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub fn play_match(
    py: Python<'_>,
    game: &Game,
    players: Vec<Bound<'_, PyAny>>,
    number: usize,
    start_clock: f64,
    play_clock: f64,
    iterations: Option<u64>,
    seed: u64,
    stop: Option<&Stop>,
) -> PyResult<String> {
    let mut named = Vec::new();
    for player in &players {
        named.push(match player.extract::<String>() {
            Ok(text) => (text.clone(), Named::Spec(parse(&text)?)),
            Err(_) => (name_of(player)?, Named::Object(Arc::new(player.clone().unbind()))),
        });
    }
    let core = &game.core;
    let seating = seating(core, named.len())?;
    let stop = stop.map_or_else(Default::default, |it| Arc::clone(&it.flag));
    let config = SeriesConfig {
        count: number + 1,
        shard: Shard::WHOLE,
        clocks: clocks(start_clock, play_clock)?,
        seed: Seed(seed),
        n_parallel: 1,
        test: None,
        max_steps: MAX_STEPS,
        stop: Deadline::never().or_when(Arc::clone(&stop)),
        watcher: None,
    };
    let record = interruptible(py, &stop, || {
        with_pool!(core, |pool| {
            let game = &pool.game;
            let make_seat = |player: usize, seed: Seed| -> Box<dyn Seat + '_> {
                let (name, named) = &named[player];
                match named {
                    Named::Spec(spec) => {
                        let stop = Some(Arc::clone(&stop));
                        let config = PlayerConfig { iterations, stop, ..PlayerConfig::new(seed) };
                        let program = Arc::clone(&core.loaded.program);
                        let player = Player::new(spec, game, program, config);
                        Box::new(LocalSeat::new(player.named(name.clone())))
                    }
                    Named::Object(object) => {
                        Box::new(PythonSeat::new(name.clone(), Arc::clone(object), game))
                    }
                }
            };
            MatchReport::of(&play_one(game, &seating, &make_seat, &config, number))
        })
    })?;
    as_json(&record)
}

/// Adds up the records of a series and returns its table as JSON.
#[pyfunction]
#[pyo3(signature = (game, names, records, *, count, start_clock, play_clock, test = None))]
pub fn tally(
    game: &Game,
    names: Vec<String>,
    records: Vec<String>,
    count: usize,
    start_clock: f64,
    play_clock: f64,
    test: Option<(f64, f64)>,
) -> PyResult<String> {
    let core = &game.core;
    let seating = seating(core, names.len())?;
    let clocks = clocks(start_clock, play_clock)?;
    let mut matches = Vec::with_capacity(records.len());
    for text in &records {
        let unreadable = |error| PyValueError::new_err(format!("not a record of a match: {error}"));
        let report: MatchReport = serde_json::from_str(text).map_err(unreadable)?;
        let record = report.to_record(clocks);
        matches.push(record.ok_or_else(|| PyValueError::new_err("a record is not complete"))?);
    }
    matches.sort_by_key(|record| record.number);
    let tally = Tally::new(&names, &seating, &matches);
    let decision = match test {
        None => Decision::Open,
        Some((margin, error)) if 0.0 < margin && margin < 0.5 && 0.0 < error && error < 1.0 => {
            decision(&SequentialTest { margin, error }, &seating, &matches)
        }
        Some(_) => {
            let message = "a margin is between 0 and 0.5, an error between 0 and 1";
            return Err(PyValueError::new_err(message));
        }
    };
    let series = Series { records: matches, end: SeriesEnd::Complete, decision };
    let heading = Heading {
        name: core.loaded.source.name().to_owned(),
        engine: core.loaded.engine.name().into(),
        clocks,
        count,
        is_cooperative: false,
    };
    let mut report = SeriesReport::of(&heading, &series, &tally);
    report.matches.clear();
    as_json(&report)
}

fn seating(core: &Core, n_players: usize) -> PyResult<Seating> {
    let n_seats = with_pool!(core, |pool| {
        pool.game.roles().iter().filter(|role| !role.is_random).count()
    });
    Seating::new(n_players, n_seats).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn clocks(start: f64, play: f64) -> PyResult<Clocks> {
    Ok(Clocks { start: seconds(start)?, play: seconds(play)? })
}

/// Returns the name of a player that is an object: its attribute `name`, or its class.
fn name_of(player: &Bound<'_, PyAny>) -> PyResult<String> {
    match player.getattr("name") {
        Ok(name) => name.extract(),
        Err(_) => Ok(player.get_type().name()?.to_string()),
    }
}

/// A player written in Python. Its method `choose` keeps the clock: it raises `TimeoutError` when the
/// player is late.
struct PythonSeat<'g, G: Playable> {
    name: String,
    object: Arc<Py<PyAny>>,
    game: &'g G,
    cursor: G::Cursor,
    role: RoleId,
}

impl<'g, G: Playable> PythonSeat<'g, G> {
    fn new(name: String, object: Arc<Py<PyAny>>, game: &'g G) -> Self {
        let (cursor, role) = (game.cursor(), RoleId::new(0));
        Self { name, object, game, cursor, role }
    }

    /// What the role has seen, as text.
    fn seen(&mut self, seen: Seen<'_>) -> Vec<String> {
        match seen {
            Seen::Nothing => Vec::new(),
            Seen::Joint(joint) => {
                self.cursor.play(joint);
                joint.iter().map(|&it| self.game.move_text(it)).collect()
            }
            Seen::Own { own, percepts } => std::iter::once(self.game.move_text(own))
                .chain(percepts.iter().map(|&it| self.game.percept_text(it)))
                .collect(),
        }
    }
}

impl<G: Playable> Seat for PythonSeat<'_, G> {
    fn name(&self) -> &str {
        &self.name
    }

    fn start(&mut self, role: RoleId, _deadline: Instant) -> Result<(), Lapse> {
        self.role = role;
        self.cursor = self.game.cursor();
        Ok(())
    }

    fn play(&mut self, seen: Seen<'_>, deadline: Instant) -> Answer {
        let is_hidden = self.game.has_percepts();
        let seen = self.seen(seen);
        let role = self.game.roles()[self.role.index()].name.clone();
        let game = self.game;
        let (fluents, legal): (Option<Vec<String>>, Option<Vec<String>>) = if is_hidden {
            (None, None)
        } else {
            let legal = self.cursor.legal_moves(self.role).to_vec();
            let texts = legal.into_iter().map(|it| game.move_text(it)).collect();
            (Some(game.state_texts(self.cursor.state())), Some(texts))
        };
        let left = deadline.saturating_duration_since(Instant::now()).as_secs_f64();
        let answer = Python::attach(|py| {
            let player = self.object.bind(py);
            let asked = player.call_method1("choose", (role, fluents, legal, seen, left));
            asked.and_then(|it| it.extract::<String>()).map_err(|error| {
                let is_late = error.is_instance_of::<PyTimeoutError>(py);
                if is_late { Lapse::Late } else { Lapse::Failed(error.to_string()) }
            })
        });
        Answer { reply: answer.map_or_else(Reply::Lapse, Reply::Text), thought: None }
    }

    fn stop(&mut self, _seen: Seen<'_>) {}
}
