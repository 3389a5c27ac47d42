//! What can be found in the rules of a game: words, symmetries, subgames, unused rules, its value.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ludex_analysis::decompose::{DecomposeConfig, decompose, fluents_in_words};
use ludex_analysis::symmetry::{RoleExchange, find_symmetries, in_words};
use ludex_base::{Deadline, FluentId, Limits, Source};
use ludex_board::svg;
use ludex_game::Game;
use ludex_machine::Machine;
use ludex_pipeline::{Engine, EngineChoice, LoadOptions, LoadedGame};
use ludex_solve::{Bounds, Problem, Progress, SolveOptions, points, solve};
use serde::Serialize;

use crate::sheet::{self, DiagnosticView};

/// Time for the symmetries, for the subgames and for the value, each.
const TIME: Duration = Duration::from_secs(2);
/// Memory for the value, in bytes.
const MEMORY: u64 = 200_000_000;
/// Random games for the subgames.
const N_PLAYOUTS: usize = 1_000;
/// Most sentences of a kind, and most generators and subgames.
const MAX_LISTED: usize = 30;
/// Most steps of a line.
const MAX_LINE: usize = 100;

/// What was found in the rules.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct AnalysisView {
    /// Who may do what, and when.
    pub moves: Vec<String>,
    /// When the game ends.
    pub ends: Vec<String>,
    /// What it is worth then.
    pub goals: Vec<String>,
    /// What roles see, in a game with hidden information.
    pub percepts: Vec<String>,
    /// Warnings about rules that do nothing, and others.
    pub remarks: Vec<DiagnosticView>,
    /// Why the rest is missing: the game has no circuit.
    pub missing: Option<String>,
    /// The symmetries.
    pub symmetries: Option<SymmetriesView>,
    /// The subgames; none if the game is one piece.
    pub subgames: Vec<SubgameView>,
    /// The board with a color for each subgame, if there are several.
    pub subgames_svg: Option<String>,
    /// The value of the game, or bounds.
    pub value: Option<ValueView>,
}

/// The symmetries of a game.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SymmetriesView {
    /// Their number, in digits.
    pub order: String,
    /// Their number if roles may be exchanged.
    pub order_with_roles: String,
    /// Whether there was time for all.
    pub is_complete: bool,
    /// Generators, in words.
    pub generators: Vec<String>,
}

/// A subgame.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SubgameView {
    /// What it is for the goals.
    pub worth: &'static str,
    /// Its fluents, in words.
    pub words: String,
    /// Whether the rules alone prove that it depends on no other part.
    pub is_proved: bool,
}

/// The value of a game.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ValueView {
    /// Whether the bounds meet.
    pub is_solved: bool,
    /// What each role gets with best play.
    pub roles: Vec<RoleValue>,
    /// The method that found it.
    pub method: String,
    /// A line of best play: joint moves.
    pub line: Vec<Vec<String>>,
}

/// What a role gets with best play.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RoleValue {
    /// Its name.
    pub role: String,
    /// At least.
    pub lower: f64,
    /// At most.
    pub upper: f64,
}

/// Analyses the rules of a game within limits.
///
/// # Errors
/// When the game cannot be loaded.
pub(crate) fn analyze(rules: &str, stopped: &Arc<AtomicBool>) -> Result<AnalysisView, String> {
    let loaded = sheet::load("game", rules, stopped).map_err(|error| error.to_string())?;
    let words = ludex_gdl::in_words(&loaded.program, MAX_LISTED);
    let source = Source::new("game", rules);
    let options = LoadOptions { engine: EngineChoice::Reasoner, time: TIME, memory: sheet::MEMORY };
    let checked = ludex_pipeline::check(&source, &options);
    let remarks = checked.map(|report| report.diagnostics).unwrap_or_default();
    let mut view = AnalysisView {
        moves: words.moves,
        ends: words.ends,
        goals: words.goals,
        percepts: words.percepts,
        remarks: sheet::diagnostics(&source, &remarks),
        missing: None,
        symmetries: None,
        subgames: Vec::new(),
        subgames_svg: None,
        value: None,
    };
    match &loaded.engine {
        Engine::Machine(machine) => look_into(machine, &loaded, stopped, &mut view),
        Engine::Reasoner(_) => view.missing = Some(loaded.fallback.clone().unwrap_or_default()),
    }
    Ok(view)
}

fn look_into(
    machine: &Machine,
    loaded: &LoadedGame,
    stopped: &Arc<AtomicBool>,
    view: &mut AnalysisView,
) {
    let deadline = || Deadline::after(TIME).or_when(Arc::clone(stopped));
    let circuit = machine.circuit();
    let vocabulary = &circuit.vocabulary;

    let until = deadline();
    let kept = find_symmetries(circuit, RoleExchange::Forbidden, None, &until);
    let exchanged = find_symmetries(circuit, RoleExchange::Allowed, None, &until);
    let generators = exchanged.generators.iter().take(MAX_LISTED);
    view.symmetries = Some(SymmetriesView {
        order: kept.order.to_string(),
        order_with_roles: exchanged.order.to_string(),
        is_complete: kept.is_complete && exchanged.is_complete,
        generators: generators.map(|it| in_words(it, vocabulary)).collect(),
    });

    let config = DecomposeConfig { n_playouts: N_PLAYOUTS, ..DecomposeConfig::usual() };
    let parts = decompose(circuit, &circuit.init, &config, &deadline());
    if parts.subgames.len() > 1 {
        view.subgames = (parts.subgames.iter().take(MAX_LISTED))
            .map(|part| SubgameView {
                worth: part.worth.name(),
                words: fluents_in_words(&part.fluents, vocabulary),
                is_proved: part.is_proved,
            })
            .collect();
        let state: Vec<String> =
            circuit.init.iter().map(|at| vocabulary.fluent_text(FluentId::new(at))).collect();
        let texts = |list: &[FluentId]| list.iter().map(|&it| vocabulary.fluent_text(it)).collect();
        let groups: Vec<Vec<String>> = parts.subgames.iter().map(|it| texts(&it.fluents)).collect();
        let (scene, by_cell) = sheet::table(loaded).grouped_scene(&state, &groups);
        view.subgames_svg = Some(svg::render_groups(&scene, |cell| by_cell.get(&cell).copied()));
    }

    let problem = Problem::initial(machine).with_circuit(circuit);
    let options = SolveOptions {
        limits: Limits { deadline: deadline(), max_bytes: MEMORY, ..Limits::usual() },
        ..SolveOptions::default()
    };
    let solution = solve(&problem, &options, &Progress::new());
    let interval = |(at, it): (usize, &Bounds)| match solution.means.get(at) {
        Some(&(lower, upper)) => (points(lower), points(upper)),
        None => (f64::from(it.lower.value()), f64::from(it.upper.value())),
    };
    let bounds = machine.roles().iter().zip(solution.bounds.iter().enumerate().map(interval));
    let bounds = bounds.filter(|(role, _)| !role.is_random);
    view.value = Some(ValueView {
        is_solved: solution.is_solved(),
        roles: bounds
            .map(|(role, (lower, upper))| RoleValue { role: role.name.clone(), lower, upper })
            .collect(),
        method: solution.method.map_or_else(String::new, |method| method.name().into()),
        line: (solution.line.iter().take(MAX_LINE))
            .map(|joint| joint.iter().map(|&id| vocabulary.move_text(id)).collect())
            .collect(),
    });
}
