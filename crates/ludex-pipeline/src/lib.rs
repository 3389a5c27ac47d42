//! The stages in one readable function: from rulesheet text to a game that is ready to play.
//!
//! [`load`] is the entry, and [`check`] for people who want to know what is wrong. Everything they
//! use is in the crates before this one; everything that plays, solves or shows games begins with
//! the [`LoadedGame`].

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
/// A game that can't be grounded within the limits is played by the reasoner, unless the options
/// ask for a circuit; [`LoadedGame::fallback`] says so.
///
/// # Errors
/// When the rulesheet has a fatal mistake, and when a limit keeps the engine asked for from being
/// built.
pub fn load(source: Source, options: &LoadOptions) -> Result<LoadedGame, LoadError> {
    load_unless(source, options, &Arc::default())
}

/// The same as [`load`], given up when the flag is set: between two stages, and within those that
/// look at a deadline.
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
            Err(LoadError::Limit { reason: "loading was broken off".into() })
        } else {
            Ok(())
        }
    };
    // Text to program: all mistakes at once.
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

/// Says all there is to say about a rulesheet, what only grounding shows included: negative circles
/// between ground atoms, terms without end, and `base` and `input` that miss something.
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
            // A declaration that takes too long is not compared: it is informative only.
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

/// What [`check`] found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckReport {
    /// All there is to say.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether the rulesheet has a meaning, in spite of errors perhaps.
    pub is_playable: bool,
    /// Why it was not grounded within the limits, so that what only grounding shows is not known.
    pub ungrounded: Option<String>,
}

impl CheckReport {
    /// Whether the rulesheet has no errors; it may have warnings and notes.
    pub fn is_ok(&self) -> bool {
        !self.diagnostics.iter().any(|diagnostic| diagnostic.severity.is_error())
    }
}

/// The machine, playing playouts as was asked for, or as is faster.
fn styled(machine: Machine, choice: EngineChoice) -> Machine {
    match choice {
        EngineChoice::Circuit => machine.with_playouts(PlayoutStyle::OneByOne),
        EngineChoice::Wide => machine.with_playouts(PlayoutStyle::Wide),
        EngineChoice::Auto | EngineChoice::Reasoner => machine.with_measured_playouts(),
    }
}

/// What may occur in a game beside what is declared.
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

/// What to build, and with what.
#[derive(Clone, Debug)]
pub struct LoadOptions {
    /// The engine.
    pub engine: EngineChoice,
    /// How long grounding may take.
    pub time: Duration,
    /// Bytes that grounding, or the reasoner, may take.
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
    /// The fastest engine there is, within 60 seconds and 4 GB.
    fn default() -> Self {
        Self { engine: EngineChoice::Auto, time: Duration::from_secs(60), memory: 4_000_000_000 }
    }
}

/// Which engine is to play.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EngineChoice {
    /// The fastest that can be built within the limits.
    Auto,
    /// The machine on a circuit, playouts one after the other.
    Circuit,
    /// The machine on a circuit, playouts side by side in the bits of words.
    Wide,
    /// The reasoner.
    Reasoner,
}

/// A game that is ready to play.
#[derive(Debug)]
pub struct LoadedGame {
    /// The text it came from.
    pub source: Source,
    /// What there is to say about the rulesheet; nothing fatal.
    pub diagnostics: Vec<Diagnostic>,
    /// The rules.
    pub program: Arc<Program>,
    /// What plays it.
    pub engine: Engine,
    /// How large it is; `None` when it was not grounded.
    pub sizes: Option<GameSizes>,
    /// Why the reasoner plays although a machine was welcome.
    pub fallback: Option<String>,
}

/// How large a ground game is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GameSizes {
    /// What can be true.
    pub fluents: usize,
    /// What can be played, role by role.
    pub moves: usize,
    /// Ground rules.
    pub rules: usize,
    /// Gates of the circuit, inputs included.
    pub gates: usize,
    /// Inputs of all gates together.
    pub edges: usize,
    /// Gates of the circuit that the machine evaluates.
    pub optimized_gates: usize,
    /// Inputs of those gates together.
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

/// What plays a game. Use [`with_game!`] to run generic code on whichever it is.
#[derive(Debug)]
pub enum Engine {
    /// Fast.
    Machine(Machine),
    /// Slow, and for games that can't be grounded.
    Reasoner(Reasoner),
}

impl Engine {
    /// Its name in reports about playouts.
    pub fn playout_name(&self) -> &'static str {
        match self {
            Engine::Machine(machine) if machine.playout_style() != PlayoutStyle::OneByOne => "wide",
            _ => self.name(),
        }
    }

    /// Its name in reports.
    pub fn name(&self) -> &'static str {
        match self {
            Engine::Machine(_) => "circuit",
            Engine::Reasoner(_) => "reasoner",
        }
    }
}

/// Runs generic code on the game of an [`Engine`], whichever it is.
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

/// Why there is no game.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LoadError {
    /// The rulesheet has a fatal mistake.
    Rules {
        /// All that is wrong with it.
        diagnostics: Vec<Diagnostic>,
    },
    /// A limit was reached.
    Limit {
        /// Which, and what was done until then.
        reason: String,
    },
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Rules { diagnostics } => {
                let n_errors = diagnostics.iter().filter(|it| it.severity.is_error()).count();
                write!(f, "the rulesheet has {n_errors} errors")
            }
            LoadError::Limit { reason } => f.write_str(reason),
        }
    }
}

impl std::error::Error for LoadError {}

/// The diagnostic for a ground program without a meaning; `None` when a limit was reached.
fn meaningless(error: &GroundError) -> Option<Diagnostic> {
    match error {
        GroundError::NegativeCycle { atom, rule } => Some(negative_cycle(rule.span, atom)),
        GroundError::Unbounded { rule, .. } => {
            let code = codes::ENDLESS_GROUNDING;
            let diagnostic = Diagnostic::new(Severity::Fatal, code, rule.span, error.to_string());
            Some(diagnostic.with_help("bound the recursion that builds these terms"))
        }
        _ => None,
    }
}

fn negative_cycle(span: Span, atom: &str) -> Diagnostic {
    let message = format!("`{atom}` depends on its own negation");
    Diagnostic::new(Severity::Fatal, codes::NEGATIVE_CYCLE, span, message)
        .with_help("break the circle: what is negated must be decided before")
}

/// Why there is no ground program, with the place of the rule that is at fault if there is one.
fn reason(source: &Source, error: &GroundError) -> String {
    let Some(rule) = error.rule() else { return error.to_string() };
    let (line, column) = source.line_column(rule.span.start);
    format!("{error} ({}:{line}:{column})", source.name())
}
