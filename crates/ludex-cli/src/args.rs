//! What can be said on the command line.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use ludex_base::Seed;
use ludex_csp::propagators::table::TableAlgorithm;
use ludex_csp::{
    AllDifferentStrength, Branching, Restarts, SearchConfig, SearchMethod, SolveOptions,
    ValueOrder, VariableOrder,
};
use ludex_pipeline::EngineChoice;
use ludex_qcsp::{Consistency, Propagation, Ties, ValueOrder as QcspValueOrder};
use ludex_scsp::{Method as StochasticMethod, SolveConfig as StochasticConfig};

use crate::net_args::{PlayerArgs, RefereeArgs};

/// Play games from their rules, and solve constraint problems
#[derive(Clone, Debug, Parser)]
#[command(name = "ludex", version, arg_required_else_help = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
    /// Options of every verb.
    #[command(flatten)]
    pub common: Common,
}

/// Options of every verb.
#[derive(Clone, Debug, Args)]
pub struct Common {
    /// Report as JSON on standard output
    #[arg(long, global = true)]
    pub json: bool,
    /// Make the run repeatable: the same seed gives the same choices [default: 1, for `play` the clock, for `referee` a secret]
    #[arg(long, global = true, value_name = "N")]
    pub seed: Option<u64>,
    /// How many threads work [default: the cores there are]
    #[arg(long, global = true, value_name = "N", value_parser = parse_threads)]
    pub threads: Option<usize>,
    /// How much memory grounding, the reasoner, a solver or the trees of all players of `match` together may use, in MB or with a unit: 500MB, 4GB [default: 4GB, and 512MB a player]
    #[arg(long, global = true, value_name = "SIZE", value_parser = parse_memory)]
    pub memory: Option<u64>,
    /// How long the work may take, in seconds [default: 60 for grounding, else no limit]
    #[arg(long, global = true, value_name = "SECONDS", value_parser = parse_seconds)]
    pub time: Option<Duration>,
}

/// How a network is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum NetworkFormat {
    /// The format of the constraint community.
    Xcsp3,
    /// The text language, `.qcp`: names and values that it has no words for stand in comments.
    Text,
}

/// What to do.
#[derive(Clone, Debug, Subcommand)]
pub enum Verb {
    /// Validate a rulesheet and report every mistake
    Check {
        /// Which rulesheet.
        #[command(flatten)]
        rules: Rules,
        /// Also test termination, playability and winnability
        #[arg(long)]
        deep: bool,
        /// How many states `--deep` may visit before it turns to playouts
        #[arg(long, value_name = "N", default_value_t = 1_000_000, requires = "deep")]
        states: usize,
    },
    /// Ground and compile a rulesheet and print the sizes
    Ground {
        /// Which rulesheet.
        #[command(flatten)]
        rules: Rules,
    },
    /// Play the two fixed lines by which engines are compared
    Trace {
        /// Which rulesheet.
        #[command(flatten)]
        rules: Rules,
        /// Which engine.
        #[command(flatten)]
        engine: EngineArgs,
    },
    /// Count the paths of joint moves
    Perft {
        /// Which rulesheet.
        #[command(flatten)]
        rules: Rules,
        /// Longest paths to count, in joint moves
        #[arg(long, value_name = "N")]
        depth: usize,
        /// Which engine.
        #[command(flatten)]
        engine: EngineArgs,
    },
    /// Play in the terminal
    Play {
        /// Which rulesheet.
        #[command(flatten)]
        rules: Rules,
        /// The role to play, by name or number from 1; `none` to watch [default: the first]
        #[arg(long, value_name = "R")]
        role: Option<String>,
        /// Who plays the other roles and gives hints; `ludex players` lists them
        #[arg(long, value_name = "P", default_value = ludex_player::FLAGSHIP)]
        player: String,
        /// How long the other roles think about a move, in seconds
        #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = parse_seconds)]
        move_time: Duration,
        /// Which engine.
        #[command(flatten)]
        engine: EngineArgs,
    },
    /// Play matches between players
    ///
    /// As many players as roles, or two: one against all others. Seats rotate. `--threads` matches
    /// are played at once, by default one a core; within a match the players think one after the
    /// other, each on one thread, so that none takes another's time. Answers count by the wall clock.
    Match(MatchArgs),
    /// Answer game managers as a player of the General Game Playing protocol
    #[command(after_help = PLAYER_EXAMPLES)]
    Player(PlayerArgs),
    /// Manage matches between players elsewhere, players here and people
    #[command(after_help = REFEREE_EXAMPLES)]
    Referee(RefereeArgs),
    /// List the players and what each is meant for
    Players,
    /// Measure how many playouts a second there are
    Bench {
        /// Which rulesheet.
        #[command(flatten)]
        rules: Rules,
        /// How long to play
        #[arg(long, value_name = "S", default_value = "5", value_parser = parse_seconds)]
        seconds: Duration,
        /// Which engine.
        #[command(flatten)]
        engine: EngineArgs,
    },
    /// Write a game as a constraint network: one step of it, or whole plays
    ///
    /// With --json or --output, its sizes and what roles learn of a step are printed. The information is `complete` without
    /// `sees` rules, `shared` if it is proved that whatever one role sees all roles see, `private` if
    /// some state was found where that is not so, and `unknown` otherwise.
    Translate {
        /// Which rulesheet.
        #[command(flatten)]
        rules: Rules,
        /// The form of the network
        #[arg(long, value_enum, value_name = "FORM", default_value_t = NetworkFormat::Xcsp3)]
        to: NetworkFormat,
        /// Unroll N steps: the solutions are the plays that end within them; in text, the moves of `random`
        /// are drawn [default: one step, from any state]
        #[arg(long, value_name = "N")]
        steps: Option<usize>,
        /// Do not write the network: print the legal moves that it leaves in the initial state, and whether
        /// propagation, singleton consistency or a search found them
        #[arg(long, conflicts_with_all = ["steps", "output"])]
        legal: bool,
        /// Write to this file [default: standard output, unless --json]
        #[arg(short, long, value_name = "FILE")]
        output: Option<std::path::PathBuf>,
    },
    /// Solve constraint networks
    Csp {
        /// What to do with them.
        #[command(subcommand)]
        job: CspJob,
    },
    /// Solve quantified constraint networks: QCSP, QCSP+ and QCOP+
    Qcsp {
        /// What to do with them.
        #[command(subcommand)]
        job: QcspJob,
    },
    /// Solve stochastic constraint networks: decisions, chance and thresholds
    Scsp {
        /// What to do with them.
        #[command(subcommand)]
        job: ScspJob,
    },
    /// List the games that are built in
    Games,
    /// Play one random game and write down every state
    Transcript {
        /// Which rulesheet.
        #[command(flatten)]
        rules: Rules,
        /// Most joint moves to play
        #[arg(long, value_name = "N", default_value_t = 200)]
        steps: usize,
        /// Which engine.
        #[command(flatten)]
        engine: EngineArgs,
    },
    /// Print a rulesheet with every name replaced by another
    Scramble {
        /// Which rulesheet.
        #[command(flatten)]
        rules: Rules,
    },
    /// Print a rulesheet in one of the two forms
    Print {
        /// Which rulesheet.
        #[command(flatten)]
        rules: Rules,
        /// Which form
        #[arg(long, value_enum, default_value_t = Notation::Kif)]
        form: Notation,
    },
    /// Print the completions of this command for a shell
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions {
        /// Which shell
        #[arg(value_enum, value_name = "SHELL")]
        shell: clap_complete::Shell,
    },
    /// Print the manual page of this command, or write the pages of all verbs
    #[command(after_help = "Example:\n  ludex man --output ~/.local/share/man/man1")]
    Man {
        /// Write one page a verb to this folder instead
        #[arg(short, long, value_name = "FOLDER")]
        output: Option<std::path::PathBuf>,
    },
}

const COMPLETIONS_EXAMPLES: &str = "Examples:
  ludex completions bash > ~/.local/share/bash-completion/completions/ludex
  ludex completions fish > ~/.config/fish/completions/ludex.fish";

const PLAYER_EXAMPLES: &str = "Examples:
  ludex player
  ludex player --listen 0.0.0.0 --port 9147 --name Ludex --log-dir matches";

const REFEREE_EXAMPLES: &str = "Examples:
  ludex referee tictactoe --players http://localhost:9147,http://localhost:9148 --json
  ludex referee connectfour --players http://localhost:9147,ludex --count 4 --scramble
  ludex referee tictactoe --players http://localhost:9147,person --play-clock 60";

/// Which rulesheet.
#[derive(Clone, Debug, Args)]
pub struct Rules {
    /// A path, the name of a built-in game, or `-` for standard input
    #[arg(value_name = "RULES")]
    pub rules: String,
}

/// Which engine plays.
#[derive(Clone, Copy, Debug, Args)]
pub struct EngineArgs {
    /// Which engine plays the game
    #[arg(long, visible_alias = "machine", value_enum, value_name = "E", default_value_t = EngineName::Auto)]
    pub engine: EngineName,
}

impl EngineArgs {
    /// The choice, as the pipeline takes it.
    pub fn choice(&self) -> EngineChoice {
        match self.engine {
            EngineName::Auto => EngineChoice::Auto,
            EngineName::Circuit => EngineChoice::Circuit,
            EngineName::Wide => EngineChoice::Wide,
            EngineName::Reasoner => EngineChoice::Reasoner,
        }
    }
}

/// Which matches to play.
#[derive(Clone, Debug, Args)]
pub struct MatchArgs {
    /// Which rulesheet.
    #[command(flatten)]
    pub rules: Rules,
    /// Who plays, with options where wanted: `ludex,uct:c=0.7`; `ludex players` lists them
    #[arg(long, value_name = "A,B")]
    pub players: String,
    /// How many matches, all together
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = parse_count)]
    pub count: usize,
    /// Time before the first move, in seconds
    #[arg(long, value_name = "S", default_value = "2", value_parser = parse_clock)]
    pub start_clock: Duration,
    /// Time for each move, in seconds
    #[arg(long, value_name = "S", default_value = "1", value_parser = parse_clock)]
    pub play_clock: Duration,
    /// Stop when a sequential test knows which of two players is the stronger: 35 against 65 %
    /// share, wrong in one of twenty
    #[arg(long)]
    pub stop_early: bool,
    /// Most iterations of each search; with long clocks, a seed then repeats a match exactly
    #[arg(long, value_name = "N")]
    pub iterations: Option<u64>,
    /// Let players think while it is not their turn, at the cost of the time of others
    #[arg(long)]
    pub ponder: bool,
    /// Explain how each move was chosen
    #[arg(long, short)]
    pub verbose: bool,
    /// Which engine.
    #[command(flatten)]
    pub engine: EngineArgs,
}

/// What to do with a constraint network.
#[derive(Clone, Debug, Subcommand)]
pub enum CspJob {
    /// Solve an XCSP3 instance and answer as the XCSP3 competition asks
    Solve(CspSolve),
}

/// Which instance to solve, and how.
#[derive(Clone, Debug, Args)]
pub struct CspSolve {
    /// An XCSP3 file, or `-` for standard input
    #[arg(value_name = "FILE")]
    pub file: String,
    /// Find all solutions
    #[arg(long, conflicts_with_all = ["count", "limit"])]
    pub all: bool,
    /// Count the solutions and show only the last
    #[arg(long, conflicts_with = "limit")]
    pub count: bool,
    /// Find the first N solutions [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub limit: Option<u64>,
    /// How tables are propagated
    #[arg(long, value_name = "P", value_parser = choice(&TableAlgorithm::ALL),
        default_value = name_of(&TableAlgorithm::ALL, &defaults().post.table))]
    pub propagator: TableAlgorithm,
    /// How much all-different prunes
    #[arg(long, value_name = "P", value_parser = choice(&AllDifferentStrength::ALL),
        default_value = name_of(&AllDifferentStrength::ALL, &defaults().post.all_different))]
    pub all_different: AllDifferentStrength,
    /// Which search to run: maintaining consistency, forward checking, min-conflicts, or one
    /// kept for study; the options that follow, but for `--order`, are those of `mac`
    #[arg(long, value_name = "S", value_parser = choice(&SearchMethod::ALL),
        default_value = name_of(&SearchMethod::ALL, &SolveOptions::default().method))]
    pub search: SearchMethod,
    /// Which variable to branch on; forward checking knows all but the last two, the others
    /// `lex` [default: dom/wdeg for `mac`, else lex]
    #[arg(long, value_name = "O", value_parser = choice(&VariableOrder::ALL))]
    pub order: Option<VariableOrder>,
    /// Which value to try first
    #[arg(long, value_name = "O", value_parser = choice(&ValueOrder::ALL),
        default_value = name_of(&ValueOrder::ALL, &defaults().value_order))]
    pub values: ValueOrder,
    /// Whether a value that failed is refuted before another variable may be chosen
    #[arg(long, value_name = "B", value_parser = choice(&Branching::ALL),
        default_value = name_of(&Branching::ALL, &defaults().branching))]
    pub branching: Branching,
    /// When to start again from the root; never when several solutions are wanted
    #[arg(long, value_name = "R", value_parser = choice(&Restarts::ALL),
        default_value = name_of(&Restarts::ALL, &defaults().restarts))]
    pub restarts: Restarts,
    /// Remove values that fail by propagation alone before the search
    #[arg(long)]
    pub sac: bool,
    /// Leave the network as it is: no constraints on one variable made part of its domain,
    /// no tables over the same variables merged, no universal constraints removed
    #[arg(long)]
    pub no_preprocess: bool,
}

/// What to do with a quantified network.
#[derive(Clone, Debug, Subcommand)]
pub enum QcspJob {
    /// Decide a model, find its optimum and its winning strategy
    #[command(after_help = QCSP_EXAMPLES)]
    Solve(Box<QcspSolve>),
    /// Play against the winning strategy of a model
    #[command(after_help = "Example:\n  ludex qcsp play models/nim.qcp -D n=10")]
    Play(QcspFile),
}

const QCSP_EXAMPLES: &str = "Examples:
  ludex qcsp solve models/nim.qcp -D n=27
  ludex qcsp solve models/connect-four.qcp -D columns=5 -D rows=4 --json
  ludex qcsp solve models/link-pricing.qcp -D links=6 --ties pessimistic
  ludex qcsp solve models/nim.qcp --strategy nim.svg
  ludex qcsp solve formula.qdimacs";

/// What to do with a stochastic network.
#[derive(Clone, Debug, Subcommand)]
pub enum ScspJob {
    /// Find a policy that reaches the thresholds of a model, or the best one
    #[command(after_help = SCSP_EXAMPLES)]
    Solve(ScspSolve),
}

const SCSP_EXAMPLES: &str = "Examples:
  ludex scsp solve models/two-stages.qcp
  ludex scsp solve models/two-stages.qcp --best --exact --json
  ludex scsp solve models/stock.qcp -D months=3 --best --policy policy.json
  ludex scsp solve models/stock.qcp -D months=3 --check-policy policy.json
  ludex scsp solve models/one-stage.qcp --two-parts
  ludex scsp solve models/two-stages.qcp --xcsp3 two-stages.xml
  ludex scsp solve two-stages.xml";

/// Which stochastic network to solve, and how.
#[derive(Clone, Debug, Args)]
pub struct ScspSolve {
    /// Which model.
    #[command(flatten)]
    pub file: QcspFile,
    /// Find the policy of greatest expected utility among those that reach every threshold; without
    /// a utility, the one of greatest satisfaction among those that reach the thresholds of single
    /// goals
    #[arg(long)]
    pub best: bool,
    /// How values are ruled out: stochastic backtracking, forward checking, or with all
    /// constraints propagated
    #[arg(long, value_name = "M", value_parser = choice(&StochasticMethod::ALL),
        default_value = name_of(&StochasticMethod::ALL, &StochasticConfig::default().method))]
    pub method: StochasticMethod,
    /// Compute probabilities as fractions
    #[arg(long)]
    pub exact: bool,
    /// First make the domains of decisions stochastically arc consistent
    #[arg(long)]
    pub consistency: bool,
    /// Write the policy as JSON, to FILE or `-`
    #[arg(long, value_name = "FILE")]
    pub policy: Option<String>,
    /// Do not solve: say what the policy in a JSON file is worth, and whether it reaches every
    /// threshold
    #[arg(long, value_name = "FILE", conflicts_with_all = ["policy", "consistency", "scenarios"])]
    pub check_policy: Option<String>,
    /// Do not search: expand all scenarios to one ordinary network and solve that
    #[arg(long, conflicts_with_all = ["policy", "consistency"])]
    pub scenarios: bool,
    /// Do not look for a policy: list the decisions of a model of one stage that reach its threshold,
    /// by solving what chance has no part in and the rest apart
    #[arg(long, conflicts_with_all = ["policy", "consistency", "check_policy", "scenarios", "best"])]
    pub two_parts: bool,
    /// Do not solve: write the model as XCSP3, to FILE or `-`
    #[arg(long, value_name = "FILE")]
    pub xcsp3: Option<String>,
}

/// Which model, with which data.
#[derive(Clone, Debug, Args)]
pub struct QcspFile {
    /// A model: .qcp, .xml (XCSP3), .qdimacs (for `qcsp` only), or `-` for a .qcp text on
    /// standard input
    #[arg(value_name = "FILE")]
    pub file: String,
    /// The value of a parameter; goes before the data files
    #[arg(short = 'D', long = "define", value_name = "NAME=VALUE")]
    pub define: Vec<String>,
    /// A file with values of parameters, JSON or `name = value;`
    #[arg(short, long, value_name = "FILE")]
    pub data: Vec<String>,
}

/// Which model to solve, and how.
#[derive(Clone, Debug, Args)]
pub struct QcspSolve {
    /// Which model.
    #[command(flatten)]
    pub file: QcspFile,
    /// Write the winner's strategy to a file: .json, .dot or .svg
    #[arg(long, value_name = "FILE")]
    pub strategy: Option<String>,
    /// Find all winning strategies, and say how many there are
    #[arg(long)]
    pub all_strategies: bool,
    /// Do not solve: accept or refute the strategy in a JSON file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["strategy", "all_strategies"])]
    pub check_strategy: Option<String>,
    /// Do not solve: write a model of Boolean variables as QDIMACS, to FILE or `-`
    #[arg(long, value_name = "FILE")]
    pub qdimacs: Option<String>,
    /// Do not solve: write the model as XCSP3, to FILE or `-`
    #[arg(long, value_name = "FILE")]
    pub xcsp3: Option<String>,
    /// How ties of every optimizing scope are settled, whatever the model says
    #[arg(long, value_name = "T", value_parser = choice(&Ties::ALL))]
    pub ties: Option<Ties>,
    /// How far constraints are propagated
    #[arg(long, value_name = "P", value_parser = choice(&Propagation::ALL),
        default_value = name_of(&Propagation::ALL, &qcsp_defaults().propagation))]
    pub propagation: Propagation,
    /// A quantified consistency to bring domains to before the search
    #[arg(long, value_name = "C", value_parser = choice(&Consistency::ALL))]
    pub consistency: Option<Consistency>,
    /// In which order values are tried where the model gives none
    #[arg(long, value_name = "O", value_parser = choice(&QcspValueOrder::ALL),
        default_value = name_of(&QcspValueOrder::ALL, &qcsp_defaults().value_order))]
    pub order: QcspValueOrder,
    /// Do not remember verdicts
    #[arg(long)]
    pub no_memory: bool,
    /// Do not use declared symmetries
    #[arg(long)]
    pub no_symmetry: bool,
    /// Spare values that a verdict does not depend on
    #[arg(long)]
    pub backjumping: bool,
    /// Remember the part of the assignment that decided a verdict
    #[arg(long)]
    pub learning: bool,
    /// Take values that can't hurt their owner at once
    #[arg(long)]
    pub pure_values: bool,
    /// Look at all choices of optimizing scopes
    #[arg(long)]
    pub no_bounds: bool,
    /// Cut the prefix after few rounds first, then after more and more
    #[arg(long)]
    pub deepening: bool,
}

fn qcsp_defaults() -> ludex_qcsp::SolveConfig {
    ludex_qcsp::SolveConfig::default()
}

fn defaults() -> SearchConfig {
    SearchConfig::default()
}

/// Takes the names of a registry, and shows them in the help text and where another is said.
fn choice<T: Copy + Send + Sync + 'static>(
    all: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.iter().map(|(name, _)| *name)).map(|said| {
        let found = all.iter().find(|(name, _)| *name == said);
        found.expect("only names of the registry pass").1
    })
}

/// The name of a value in its registry.
fn name_of<T: PartialEq>(all: &[(&'static str, T)], value: &T) -> &'static str {
    let found = all.iter().find(|(_, own)| own == value);
    found.expect("a default is in the registry").0
}

/// The names of the engines: [`EngineChoice`] with help texts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum EngineName {
    /// The circuit where the game can be grounded, else the reasoner
    Auto,
    /// The compiled circuit, one state at a time
    Circuit,
    /// The compiled circuit, many playouts in the bits of a word
    Wide,
    /// The reasoner, on rules with variables
    Reasoner,
}

/// The notations of a rulesheet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Notation {
    /// Prefix, as the community writes it
    Kif,
    /// Infix, as the papers write it
    Infix,
}

impl Common {
    /// Where the randomness comes from: every run without a seed is the same.
    pub fn seed(&self) -> Seed {
        Seed(self.seed.unwrap_or(1))
    }

    /// Where the randomness comes from when a person plays, who wants another game each time.
    pub fn seed_or_clock(&self) -> Seed {
        let clock =
            || SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.as_nanos());
        Seed(self.seed.unwrap_or_else(|| clock() as u64))
    }

    /// How many threads to use.
    pub fn n_threads(&self) -> usize {
        self.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
    }
}

fn parse_threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n_threads @ 1..=1024) => Ok(n_threads),
        _ => Err("a number of threads is 1 to 1024".into()),
    }
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "a time is a number of seconds".to_string())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) if !time.is_zero() => Ok(time),
        Err(_) if seconds > 0.0 => Err("so many seconds are longer than any clock".into()),
        _ => Err("a time is more than 0 seconds".into()),
    }
}

pub(crate) fn parse_clock(text: &str) -> Result<Duration, String> {
    let time = parse_seconds(text)?;
    if time > ludex_referee::MAX_CLOCK {
        return Err("a clock is a day at most".into());
    }
    Ok(time)
}

pub(crate) fn parse_count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count @ 1..=10_000_000) => Ok(count),
        _ => Err("a number of matches is 1 to 10000000".into()),
    }
}

/// Bytes from `500`, `500MB`, `4GB` or `2g`.
pub(crate) fn parse_memory(text: &str) -> Result<u64, String> {
    let lower = text.to_ascii_lowercase();
    let number = lower.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let bytes_per_unit = match lower[number.len()..].trim() {
        "" | "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        "k" | "kb" | "kib" => 1 << 10,
        unit => return Err(format!("`{unit}` is no unit of memory; say MB or GB")),
    };
    let amount: f64 = number.trim().parse().map_err(|_| "memory is a number of MB".to_string())?;
    match amount * f64::from(bytes_per_unit) {
        bytes if (1.0..1e18).contains(&bytes) => Ok(bytes as u64),
        _ => Err("memory is more than 0 MB".into()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_options_fit_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn memory_has_units() {
        assert_eq!(parse_memory("500"), Ok(500 << 20));
        assert_eq!(parse_memory("4GB"), Ok(4 << 30));
        assert_eq!(parse_memory("0.5g"), Ok(512 << 20));
        assert!(parse_memory("4 parsecs").is_err());
        assert!(parse_memory("-1").is_err());
    }

    #[test]
    fn times_are_positive() {
        assert_eq!(parse_seconds("0.5"), Ok(Duration::from_millis(500)));
        assert!(parse_seconds("0").is_err() && parse_seconds("NaN").is_err());
    }
}
