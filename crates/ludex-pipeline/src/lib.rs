//! All stages in one readable function: from rulesheet text to a game that is ready to play.
//!
//! [`load`] is the entry point for play; [`check`] reports what is wrong with a rulesheet. Both use
//! only the crates before this one. Everything that plays, solves or shows games starts from a
//! [`LoadedGame`].

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ludex_base::{Deadline, Diagnostic, RoleId, Severity, Source, Span};
use ludex_gdl::{Found, Program, TermId, codes};
use ludex_ground::{Declared, GroundError, GroundLimits, GroundProgram};
use ludex_machine::{Machine, PlayoutStyle};
use ludex_reasoner::{Reasoner, ReasonerError, ReasonerLimits};

/// Reads, checks, grounds and compiles a rulesheet.
///
/// If a game can't be grounded within the limits, the reasoner plays it, unless the options require
/// a circuit; [`LoadedGame::fallback`] gives the reason.
///
/// # Errors
/// When the rulesheet has a fatal mistake, or a limit prevents building the requested engine.
pub fn load(source: Source, options: &LoadOptions) -> Result<LoadedGame, LoadError> {
    load_unless(source, options, &Arc::default())
}

/// Does the same as [`load`], but stops when the flag is set: between two stages, and within the
/// stages that check a deadline.
///
/// # Errors
/// As [`load`], and when the flag is set.
pub fn load_unless(
    source: Source,
    options: &LoadOptions,
    stopped: &Arc<AtomicBool>,
) -> Result<LoadedGame, LoadError> {
    let go_on = || {
        if stopped.load(Ordering::Relaxed) {
            Err(LoadError::Limit { reason: "loading was stopped".into() })
        } else {
            Ok(())
        }
    };
    // Text to program; this reports all mistakes at once.
    let checked = ludex_gdl::check_source(&source);
    let mut diagnostics = checked.diagnostics;
    let Some(program) = checked.program else {
        return Err(LoadError::Rules { diagnostics });
    };
    go_on()?;
    let deadline = Deadline::after(options.time).or_when(Arc::clone(stopped));
    let fallback = match options.engine {
        EngineChoice::Reasoner => None,
        EngineChoice::Auto | EngineChoice::Circuit | EngineChoice::Wide => {
            // Program to ground program, to circuit, to machine.
            let limits = GroundLimits { deadline: deadline.clone(), ..options.ground_limits() };
            match ludex_ground::ground(&program, &limits) {
                Ok(ground_program) => {
                    go_on()?;
                    let sizes = GameSizes::of(&ground_program);
                    let circuit = ludex_circuit::compile(&ground_program);
                    go_on()?;
                    let (gates, edges) = (circuit.n_gates(), circuit.n_edges());
                    let machine = styled(Machine::new(circuit), options.engine);
                    let sizes = GameSizes {
                        gates,
                        edges,
                        optimized_gates: machine.circuit().n_gates(),
                        optimized_edges: machine.circuit().n_edges(),
                        ..sizes
                    };
                    return Ok(LoadedGame {
                        source,
                        diagnostics,
                        program: Arc::new(program),
                        engine: Engine::Machine(machine),
                        sizes: Some(sizes),
                        fallback: None,
                    });
                }
                Err(error) => match meaningless(&error) {
                    Some(diagnostic) => {
                        diagnostics.push(diagnostic);
                        return Err(LoadError::Rules { diagnostics });
                    }
                    None if options.engine != EngineChoice::Auto => {
                        return Err(LoadError::Limit { reason: reason(&source, &error) });
                    }
                    None => Some(reason(&source, &error)),
                },
            }
        }
    };

    // Program to reasoner.
    go_on()?;
    let deadline = Deadline::after(options.time).or_when(Arc::clone(stopped));
    let limits = ReasonerLimits { deadline, ..ReasonerLimits::within(options.memory) };
    match Reasoner::new(&program, &limits) {
        Ok(reasoner) => Ok(LoadedGame {
            source,
            diagnostics,
            program: Arc::new(program),
            engine: Engine::Reasoner(reasoner),
            sizes: None,
            fallback,
        }),
        Err(ReasonerError::NegativeCycle { relation, name }) => {
            let rule = program.negating_rule(relation);
            diagnostics.push(negative_cycle(rule.map_or_else(Span::default, |it| it.span), &name));
            Err(LoadError::Rules { diagnostics })
        }
        Err(error) => Err(LoadError::Limit { reason: error.to_string() }),
    }
}

/// Checks a rulesheet, including what only grounding shows: negative cycles between ground atoms,
/// terms that grow without end, and incomplete `base` and `input`.
pub fn check(source: &Source, options: &LoadOptions) -> CheckReport {
    let checked = ludex_gdl::check_source(source);
    let mut report =
        CheckReport { diagnostics: checked.diagnostics, is_playable: true, ungrounded: None };
    let Some(program) = checked.program else {
        return CheckReport { is_playable: false, ..report };
    };
    let limits = options.ground_limits();
    match ludex_ground::ground(&program, &limits) {
        Ok(ground_program) => {
            // Declarations are only informative: if they take too long, they are not compared.
            if let Ok(declared) = ludex_ground::declared(&program, &limits) {
                let found = found(&ground_program, declared);
                report.diagnostics.extend(ludex_gdl::check_declarations(&program, &found));
            }
        }
        Err(error) => match meaningless(&error) {
            Some(diagnostic) => {
                report.diagnostics.push(diagnostic);
                report.is_playable = false;
            }
            None => report.ungrounded = Some(reason(source, &error)),
        },
    }
    report
}

/// The result of [`check`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckReport {
    /// All diagnostics.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether the rulesheet has a meaning, perhaps in spite of errors.
    pub is_playable: bool,
    /// Why it was not grounded within the limits; the diagnostics of grounding are then missing.
    pub ungrounded: Option<String>,
}

impl CheckReport {
    /// Returns whether the rulesheet has no errors; it may have warnings and notes.
    pub fn is_ok(&self) -> bool {
        !self.diagnostics.iter().any(|diagnostic| diagnostic.severity.is_error())
    }
}

/// Sets the playout style to the requested one, or to the faster one.
fn styled(machine: Machine, choice: EngineChoice) -> Machine {
    match choice {
        EngineChoice::Circuit => machine.with_playouts(PlayoutStyle::OneByOne),
        EngineChoice::Wide => machine.with_playouts(PlayoutStyle::Wide),
        EngineChoice::Auto | EngineChoice::Reasoner => machine.with_measured_playouts(),
    }
}

/// Lists what may occur in a game, and what is declared.
fn found(program: &GroundProgram, declared: Declared) -> Found {
    let vocabulary = &program.vocabulary;
    let display = |term| vocabulary.terms.display(term);
    let with_role = |&(role, term): &(RoleId, TermId)| {
        format!("({} {})", display(vocabulary.roles[role.index()]), display(term))
    };
    Found {
        fluents: vocabulary.fluents.iter().map(|&fluent| display(fluent).to_string()).collect(),
        base: declared.base,
        moves: vocabulary.moves.iter().map(with_role).collect(),
        input: declared.input,
    }
}

/// Options of [`load`].
#[derive(Clone, Debug)]
pub struct LoadOptions {
    /// The engine to build.
    pub engine: EngineChoice,
    /// Time limit of grounding, and again of building the reasoner.
    pub time: Duration,
    /// Memory limit of grounding or the reasoner, in bytes.
    pub memory: u64,
}

impl LoadOptions {
    fn ground_limits(&self) -> GroundLimits {
        GroundLimits {
            deadline: Deadline::after(self.time),
            max_bytes: usize::try_from(self.memory).unwrap_or(usize::MAX),
            ..GroundLimits::default()
        }
    }
}

impl Default for LoadOptions {
    /// The fastest engine, within 60 seconds and 4 GB.
    fn default() -> Self {
        Self { engine: EngineChoice::Auto, time: Duration::from_secs(60), memory: 4_000_000_000 }
    }
}

/// The engine to build.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EngineChoice {
    /// The fastest engine that can be built within the limits.
    Auto,
    /// The machine on a circuit, with playouts one after the other.
    Circuit,
    /// The machine on a circuit, with playouts side by side in the bits of words.
    Wide,
    /// The reasoner.
    Reasoner,
}

/// A game that is ready to play.
#[derive(Debug)]
pub struct LoadedGame {
    /// The text of the rulesheet.
    pub source: Source,
    /// The diagnostics of the rulesheet; none is fatal.
    pub diagnostics: Vec<Diagnostic>,
    /// The rules.
    pub program: Arc<Program>,
    /// The engine that plays it.
    pub engine: Engine,
    /// The sizes of the ground game; `None` if it was not grounded.
    pub sizes: Option<GameSizes>,
    /// Why the reasoner plays although a machine was preferred.
    pub fallback: Option<String>,
}

/// The sizes of a ground game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GameSizes {
    /// Fluents.
    pub fluents: usize,
    /// Moves of all roles.
    pub moves: usize,
    /// Ground rules.
    pub rules: usize,
    /// Gates of the circuit, inputs included.
    pub gates: usize,
    /// Inputs of all gates together.
    pub edges: usize,
    /// Gates of the optimised circuit, which the machine evaluates.
    pub optimized_gates: usize,
    /// Inputs of all gates of the optimised circuit.
    pub optimized_edges: usize,
}

impl GameSizes {
    fn of(program: &GroundProgram) -> Self {
        let (fluents, moves) = (program.vocabulary.fluents.len(), program.vocabulary.moves.len());
        Self {
            fluents,
            moves,
            rules: program.n_rules(),
            gates: 0,
            edges: 0,
            optimized_gates: 0,
            optimized_edges: 0,
        }
    }
}

/// The engine of a game. Use [`with_game!`] to run generic code on either kind.
#[derive(Debug)]
pub enum Engine {
    /// The fast engine.
    Machine(Machine),
    /// The slow engine, for games that can't be grounded.
    Reasoner(Reasoner),
}

impl Engine {
    /// Returns its name in reports about playouts.
    pub fn playout_name(&self) -> &'static str {
        match self {
            Engine::Machine(machine) if machine.playout_style() != PlayoutStyle::OneByOne => "wide",
            _ => self.name(),
        }
    }

    /// Returns its name in reports.
    pub fn name(&self) -> &'static str {
        match self {
            Engine::Machine(_) => "circuit",
            Engine::Reasoner(_) => "reasoner",
        }
    }
}

/// Runs generic code on the game of an [`Engine`], of either kind.
///
/// ```
/// use ludex_game::Game;
/// use ludex_pipeline::{LoadOptions, load, with_game};
///
/// let rules = "(role me) (init a) (legal me wait) (<= terminal (true a)) (goal me 100)";
/// let source = ludex_base::Source::new("example", rules);
/// let loaded = load(source, &LoadOptions::default()).expect("the rules are fine");
/// assert_eq!(with_game!(&loaded.engine, |game| game.roles().len()), 1);
/// ```
#[macro_export]
macro_rules! with_game {
    ($engine:expr, |$game:ident| $body:expr) => {
        match $engine {
            $crate::Engine::Machine($game) => $body,
            $crate::Engine::Reasoner($game) => $body,
        }
    };
}

/// Why a game could not be loaded.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LoadError {
    /// The rulesheet has a fatal mistake.
    Rules {
        /// All diagnostics, fatal or not.
        diagnostics: Vec<Diagnostic>,
    },
    /// A limit was reached.
    Limit {
        /// The limit, the progress so far and the remedy.
        reason: String,
    },
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Rules { diagnostics } => {
                let mut errors = diagnostics.iter().filter(|it| it.severity.is_error());
                let first = errors.next().map_or("no message", |it| it.message.as_str());
                match errors.count() {
                    0 => write!(f, "the rulesheet has an error: {first}")?,
                    n => write!(f, "the rulesheet has {} errors, the first: {first}", n + 1)?,
                }
                f.write_str("; `ludex check` shows where")
            }
            LoadError::Limit { reason } => f.write_str(reason),
        }
    }
}

impl std::error::Error for LoadError {}

/// Returns the diagnostic for rules without a meaning; `None` if a limit was reached.
fn meaningless(error: &GroundError) -> Option<Diagnostic> {
    match error {
        GroundError::NegativeCycle { atom, rule } => Some(negative_cycle(rule.span, atom)),
        GroundError::Unbounded { rule, .. } => {
            let code = codes::ENDLESS_GROUNDING;
            let diagnostic = Diagnostic::new(Severity::Fatal, code, rule.span, error.to_string());
            Some(
                diagnostic
                    .with_help("bound the terms by a condition on facts, such as `(succ ?n ?m)`"),
            )
        }
        _ => None,
    }
}

fn negative_cycle(span: Span, atom: &str) -> Diagnostic {
    let message = format!("`{atom}` depends on its own negation");
    Diagnostic::new(Severity::Fatal, codes::NEGATIVE_CYCLE, span, message)
        .with_help("break the cycle: a rule must not derive an atom from its own negation")
}

/// Describes why grounding failed, with the place of the rule at fault if there is one.
fn reason(source: &Source, error: &GroundError) -> String {
    let Some(rule) = error.rule() else { return error.to_string() };
    let (line, column) = source.line_column(rule.span.start);
    format!("{}:{line}:{column}: {error}", source.name())
}
