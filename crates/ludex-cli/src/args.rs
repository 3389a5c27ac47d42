//! The command line: verbs and options.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use ludex_base::{Deadline, Seed};
use ludex_csp::propagators::table::TableAlgorithm;
use ludex_csp::{
    AllDifferentStrength, Branching, Restarts, SearchConfig, SearchMethod, SolveOptions,
    ValueOrder, VariableOrder,
};
use ludex_pipeline::EngineChoice;
use ludex_player::{PlayerConfig, memory_of_each};
use ludex_qcsp::{Consistency, Propagation, Ties, ValueOrder as QcspValueOrder};
use ludex_referee::Shard;
use ludex_scsp::{Method as StochasticMethod, SolveConfig as StochasticConfig};

use crate::net_args::{FileArgs, PlayerArgs, RefereeArgs};

/// Play, check and measure games from their rules, and solve constraint problems
#[derive(Clone, Debug, Parser)]
#[command(name = "ludex", version, arg_required_else_help = true)]
pub struct Cli {
    /// The verb.
    #[command(subcommand)]
    pub verb: Verb,
    /// Options of every verb.
    #[command(flatten)]
    pub common: Common,
}

/// Options of every verb.
#[derive(Clone, Debug, Args)]
pub struct Common {
    /// Print the report as JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Set the seed: the same seed gives the same random choices [default: 1; `play` uses the
    /// clock, `referee` a secret]
    #[arg(long, global = true, value_name = "N")]
    pub seed: Option<u64>,
    /// Use N threads [default: the number of cores]
    #[arg(long, global = true, value_name = "N", value_parser = parse_threads)]
    pub threads: Option<usize>,
    /// Limit the memory of the whole call, in MB or with a unit: 500MB, 4GB; players share what is
    /// left after loading [default: 4GB, and at most 512MB per player]
    #[arg(long, global = true, value_name = "SIZE", value_parser = parse_memory)]
    pub memory: Option<u64>,
    /// Limit the time of the work, in seconds [default: 60 for grounding, otherwise no limit]
    #[arg(long, global = true, value_name = "SECONDS", value_parser = parse_seconds)]
    pub time: Option<Duration>,
}

/// The format of a network.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum NetworkFormat {
    /// XCSP3, the XML format of the constraint community.
    Xcsp3,
    /// The text language, `.qcp`; comments hold names and values that it cannot express.
    Text,
    /// A quantified model, `.qcp`: can a role force a goal within --steps steps? For two roles who
    /// move in turn.
    Qcp,
}

/// A verb of the command.
#[derive(Clone, Debug, Subcommand)]
pub enum Verb {
    /// Check a rulesheet and report every mistake
    Check {
        /// The rulesheet.
        #[command(flatten)]
        rules: Rules,
        /// Also test termination, playability and winnability
        #[arg(long)]
        deep: bool,
        /// Visit at most N states with `--deep`, and then play random games instead
        #[arg(long, value_name = "N", default_value_t = 1_000_000, requires = "deep")]
        states: usize,
    },
    /// Ground and compile a rulesheet, and print the sizes
    Ground {
        /// The rulesheet.
        #[command(flatten)]
        rules: Rules,
    },
    /// Play two fixed lines of a game, to compare engines
    Trace {
        /// The rulesheet.
        #[command(flatten)]
        rules: Rules,
        /// The engine.
        #[command(flatten)]
        engine: EngineArgs,
    },
    /// Count the sequences of joint moves of each length
    Perft {
        /// The rulesheet.
        #[command(flatten)]
        rules: Rules,
        /// Count sequences of up to N joint moves
        #[arg(long, value_name = "N")]
        depth: usize,
        /// The engine.
        #[command(flatten)]
        engine: EngineArgs,
    },
    /// Find the exact value of a game, and a line that reaches it
    ///
    /// It reports bounds that contain the value if it stops before they meet; Ctrl-C stops it.
    #[command(after_help = SOLVE_EXAMPLES)]
    Solve(SolveArgs),
    /// Find the symmetries of a game
    ///
    /// A symmetry permutes fluents, moves and perhaps roles, and the rules stay the same. Each is
    /// found from the circuit of the game and proved.
    #[command(after_help = SYMMETRIES_EXAMPLES)]
    Symmetries {
        /// The rulesheet.
        #[command(flatten)]
        rules: Rules,
        /// List what each generator takes to what
        #[arg(long)]
        cycles: bool,
        /// Draw the board with the orbits of the first moves as letters, as an SVG image
        #[arg(long, value_name = "FILE")]
        svg: Option<std::path::PathBuf>,
    },
    /// Take a game apart into subgames
    ///
    /// Subgames share no moves that bind one to the other, and each has winning conditions of its
    /// own. What the rules do not prove, random playouts decide.
    #[command(after_help = DECOMPOSE_EXAMPLES)]
    Decompose(DecomposeArgs),
    /// Play a game in the terminal
    Play {
        /// The rulesheet.
        #[command(flatten)]
        rules: Rules,
        /// Play this role, by name or number from 1; `none` to watch [default: the first role]
        #[arg(long, value_name = "R")]
        role: Option<String>,
        /// Let this player play the other roles and give hints; `ludex players` lists the players
        #[arg(long, value_name = "P", default_value = ludex_player::FLAGSHIP)]
        player: String,
        /// Let the other roles think this long about each move, in seconds
        #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = parse_seconds)]
        move_time: Duration,
        /// Let the player `ludex` play the strategies of this file, made by `ludex solve --save`
        #[arg(long, value_name = "FILE")]
        saved: Option<std::path::PathBuf>,
        /// The engine.
        #[command(flatten)]
        engine: EngineArgs,
    },
    /// Draw a state of a game as an SVG image, from the rules alone
    #[command(after_help = DRAW_EXAMPLES)]
    Draw {
        /// The rulesheet: a path, the name of a built-in game, or `-` for standard input
        #[arg(value_name = "RULES", required_unless_present = "library")]
        rules: Option<String>,
        /// Draw the initial states of all built-in games on one sheet
        #[arg(long, conflicts_with_all = ["rules", "state"])]
        library: bool,
        /// Draw this state: a file of fluents that are true in a state of the game [default: the
        /// initial state]
        #[arg(long, value_name = "FILE")]
        state: Option<std::path::PathBuf>,
        /// Write the image to a file [default: standard output, unless --json]
        #[arg(short, long, value_name = "FILE")]
        output: Option<std::path::PathBuf>,
    },
    /// Serve a page to play, watch, study and write games in a browser
    #[command(after_help = SERVE_EXAMPLES)]
    Serve(ServeArgs),
    /// Play matches between players
    ///
    /// Name one player per role, or two players: one against all others. Seats rotate. `--threads`
    /// sets the number of matches played at once, by default one per core. Within a match the
    /// players think one after the other, each on one thread, so that none takes another's time.
    /// Clocks measure wall-clock time.
    Match(MatchArgs),
    /// Put the shards of a series together: the files of `ludex match --shard`
    ///
    /// The report is that of the whole series in one process. Exits with 3 if matches are missing.
    #[command(after_help = MERGE_EXAMPLES)]
    Merge {
        /// The files of all shards
        #[arg(value_name = "FILE", required = true)]
        files: Vec<std::path::PathBuf>,
        /// Write the whole series to this file, which `ludex match --resume` can go on with
        #[arg(short, long, value_name = "FILE")]
        output: Option<std::path::PathBuf>,
    },
    /// Serve a player to game managers, over the General Game Playing protocol
    #[command(after_help = PLAYER_EXAMPLES)]
    Player(PlayerArgs),
    /// Manage matches between remote players, local players and people
    #[command(after_help = REFEREE_EXAMPLES)]
    Referee(RefereeArgs),
    /// List the players and the games they are for
    Players,
    /// Measure the number of playouts per second
    Bench {
        /// The rulesheet.
        #[command(flatten)]
        rules: Rules,
        /// Play for this many seconds
        #[arg(long, value_name = "S", default_value = "5", value_parser = parse_seconds)]
        seconds: Duration,
        /// The engine.
        #[command(flatten)]
        engine: EngineArgs,
    },
    /// Write a game as a constraint network: one step, or whole plays
    ///
    /// With --json or --output, it prints the sizes of the network and which information the roles
    /// get from a step: `complete` without `sees` rules, `shared` if every role is proved to see
    /// whatever another role sees, `private` if a state was found that refutes this, and `unknown`
    /// otherwise.
    Translate {
        /// The rulesheet.
        #[command(flatten)]
        rules: Rules,
        /// Write the network in this format
        #[arg(long, value_enum, value_name = "FORM", default_value_t = NetworkFormat::Xcsp3)]
        to: NetworkFormat,
        /// Unroll N steps: the solutions are the plays that end within N steps; in text, the moves
        /// of `random` are drawn [default: one step, from any state]
        #[arg(long, value_name = "N")]
        steps: Option<usize>,
        /// In a quantified model, ask about this role, by name or number from 1 [default: the first]
        #[arg(long, value_name = "R")]
        role: Option<String>,
        /// In a quantified model, ask for at least this goal
        #[arg(long, value_name = "V", default_value_t = 100, value_parser = clap::value_parser!(u8).range(1..=100))]
        at_least: u8,
        /// In a quantified model, start from this state: a file of fluents that are true
        #[arg(long, value_name = "FILE")]
        state: Option<std::path::PathBuf>,
        /// Instead of the network, print the legal moves that it leaves in the initial state, and
        /// whether propagation, singleton consistency or a search found them
        #[arg(long, conflicts_with_all = ["steps", "output"])]
        legal: bool,
        /// Write the network to a file [default: standard output, unless --json]
        #[arg(short, long, value_name = "FILE")]
        output: Option<std::path::PathBuf>,
    },
    /// Accept or refute a certificate of `ludex solve`, with the reasoner alone
    ///
    /// Exits with 0 if every claim of the certificate follows from the rules, with 1 if one does
    /// not, and with 3 if a limit was reached before.
    Verify {
        /// The certificate: a path, or `-` for standard input
        #[arg(value_name = "CERTIFICATE")]
        certificate: String,
        /// The rulesheet.
        #[command(flatten)]
        rules: Rules,
    },
    /// Solve constraint networks
    Csp {
        /// The job.
        #[command(subcommand)]
        job: CspJob,
    },
    /// Solve quantified constraint networks: QCSP, QCSP+ and QCOP+
    Qcsp {
        /// The job.
        #[command(subcommand)]
        job: QcspJob,
    },
    /// Solve stochastic constraint networks: decisions, chance and thresholds
    Scsp {
        /// The job.
        #[command(subcommand)]
        job: ScspJob,
    },
    /// List the built-in games
    Games,
    /// Play one random game and print every state
    Transcript {
        /// The rulesheet.
        #[command(flatten)]
        rules: Rules,
        /// Play at most N joint moves
        #[arg(long, value_name = "N", default_value_t = 200)]
        steps: usize,
        /// The engine.
        #[command(flatten)]
        engine: EngineArgs,
    },
    /// Print a rulesheet with every name replaced
    Scramble {
        /// The rulesheet.
        #[command(flatten)]
        rules: Rules,
    },
    /// Print a rulesheet in prefix or infix form
    Print {
        /// The rulesheet.
        #[command(flatten)]
        rules: Rules,
        /// Print this form
        #[arg(long, value_enum, default_value_t = Notation::Kif)]
        form: Notation,
    },
    /// Print completions for a shell
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions {
        /// The shell
        #[arg(value_enum, value_name = "SHELL")]
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write the pages of all verbs
    #[command(after_help = "Example:\n  ludex man --output ~/.local/share/man/man1")]
    Man {
        /// Write one page per verb to this folder instead
        #[arg(short, long, value_name = "FOLDER")]
        output: Option<std::path::PathBuf>,
    },
}

impl Verb {
    /// Returns whether `--time` bounds the whole call. The other verbs go on for as long as matches
    /// or people do, and `--time` bounds the loading of their games.
    pub fn ends_in_time(&self) -> bool {
        !matches!(
            self,
            Verb::Match(_)
                | Verb::Player(_)
                | Verb::Referee(_)
                | Verb::Serve(_)
                | Verb::Qcsp { job: QcspJob::Play(_) }
        )
    }
}

const COMPLETIONS_EXAMPLES: &str = "Examples:
  ludex completions bash > ~/.local/share/bash-completion/completions/ludex
  ludex completions fish > ~/.config/fish/completions/ludex.fish";

const SOLVE_EXAMPLES: &str = "Examples:
  ludex solve n-queens
  ludex solve eight-puzzle --shortest --budget 30s --json";

const SYMMETRIES_EXAMPLES: &str = "Examples:
  ludex symmetries tictactoe
  ludex symmetries connectfour --cycles --json";

const DRAW_EXAMPLES: &str = "Examples:
  ludex draw hex -o hex.svg
  ludex draw chess --state opening.txt -o opening.svg
  ludex draw --library -o games.svg";

const MERGE_EXAMPLES: &str = "Examples:
  ludex match nim --players uct,random --count 100 --shard 1/2 -o one.jsonl
  ludex match nim --players uct,random --count 100 --shard 2/2 -o two.jsonl
  ludex merge one.jsonl two.jsonl --json";

const SERVE_EXAMPLES: &str = "Examples:
  ludex serve
  ludex serve --port 8080 --no-open --database matches.db
  ludex serve --listen 0.0.0.0";

const DECOMPOSE_EXAMPLES: &str = "Examples:
  ludex decompose tictactoe
  ludex decompose nim --playouts 5000 --json
  ludex decompose lights-out --dot | dot -Tsvg -o parts.svg";

/// What `ludex decompose` takes.
#[derive(Clone, Debug, Args)]
pub struct DecomposeArgs {
    /// The rulesheet.
    #[command(flatten)]
    pub rules: Rules,
    /// Take the game apart from this state on: a file of fluents that are true in it
    #[arg(long, value_name = "FILE")]
    pub state: Option<std::path::PathBuf>,
    /// Play this many random playouts
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub playouts: usize,
    /// Print the subgames as a graph for Graphviz
    #[arg(long)]
    pub dot: bool,
    /// Print an SVG image: the board with its cells colored by subgame, and the graph of the subgames
    #[arg(long, conflicts_with = "dot")]
    pub svg: bool,
}

const PLAYER_EXAMPLES: &str = "Examples:
  ludex player
  ludex player --listen 0.0.0.0 --port 9147 --name Ludex --log-dir matches";

const REFEREE_EXAMPLES: &str = "Examples:
  ludex referee tictactoe --players http://localhost:9147,http://localhost:9148 --json
  ludex referee connectfour --players http://localhost:9147,ludex --count 4 --scramble
  ludex referee tictactoe --players http://localhost:9147,person --play-clock 60";

/// The rulesheet.
#[derive(Clone, Debug, Args)]
pub struct Rules {
    /// The rulesheet: a path, the name of a built-in game, or `-` for standard input
    #[arg(value_name = "RULES")]
    pub rules: String,
}

/// The options of `serve`.
#[derive(Clone, Debug, Args)]
pub struct ServeArgs {
    /// Listen at this port; 0 takes any free one
    #[arg(long, value_name = "PORT", default_value_t = 8017)]
    pub port: u16,
    /// Listen at this address; any other than the default needs a token, which is part of the
    /// printed link
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub listen: String,
    /// Do not open a browser
    #[arg(long)]
    pub no_open: bool,
    /// Keep matches in this file [default: ludex/ludex.db in the data folder of the user]
    #[arg(long, value_name = "FILE")]
    pub database: Option<std::path::PathBuf>,
}

/// The options of `solve`.
#[derive(Clone, Debug, Args)]
pub struct SolveArgs {
    /// The rulesheet.
    #[command(flatten)]
    pub rules: Rules,
    /// Solve from this state: a file of fluents that are true in a state of the game
    #[arg(long, value_name = "FILE")]
    pub state: Option<std::path::PathBuf>,
    /// Use these methods in this order, separated by commas [default: those that suit the game]
    #[arg(long, value_name = "M", value_delimiter = ',', value_parser = method_parser())]
    pub method: Vec<ludex_solve::Method>,
    /// Stop after this time: 60s, 5m, or a number of seconds [default: --time, or 60s]
    #[arg(long, value_name = "TIME", value_parser = parse_budget)]
    pub budget: Option<Duration>,
    /// Also find a shortest line, for puzzles
    #[arg(long)]
    pub shortest: bool,
    /// Search symmetric states apart
    #[arg(long)]
    pub no_symmetries: bool,
    /// Write a certificate of the value, for `ludex verify`
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<std::path::PathBuf>,
    /// Keep the strategies that were found, for `--saved` of `match` and `play`
    #[arg(long, value_name = "FILE")]
    pub save: Option<std::path::PathBuf>,
    /// Draw the game graph with its winning regions, as SVG or else for Graphviz, by the ending of
    /// the file
    #[arg(long, value_name = "FILE")]
    pub graph: Option<std::path::PathBuf>,
    /// The engine.
    #[command(flatten)]
    pub engine: EngineArgs,
}

fn method_parser() -> impl TypedValueParser<Value = ludex_solve::Method> {
    let names = ludex_solve::METHODS
        .iter()
        .map(|method| clap::builder::PossibleValue::new(method.name()).help(method.about()));
    PossibleValuesParser::new(names.collect::<Vec<_>>())
        .map(|name| ludex_solve::Method::by_name(&name).expect("the parser admits only methods"))
}

/// The engine.
#[derive(Clone, Copy, Debug, Args)]
pub struct EngineArgs {
    /// Run the game on this engine
    #[arg(long, visible_alias = "machine", value_enum, value_name = "E", default_value_t = EngineName::Auto)]
    pub engine: EngineName,
}

impl EngineArgs {
    /// Converts the choice for the pipeline.
    pub fn choice(&self) -> EngineChoice {
        match self.engine {
            EngineName::Auto => EngineChoice::Auto,
            EngineName::Circuit => EngineChoice::Circuit,
            EngineName::Wide => EngineChoice::Wide,
            EngineName::Reasoner => EngineChoice::Reasoner,
        }
    }
}

/// The options of `ludex match`.
#[derive(Clone, Debug, Args)]
pub struct MatchArgs {
    /// The rulesheet.
    #[command(flatten)]
    pub rules: Rules,
    /// Seat these players, with options if needed: `ludex,uct:c=0.7`; `ludex players` lists them
    #[arg(long, value_name = "A,B")]
    pub players: String,
    /// Play N matches in total
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = parse_count)]
    pub count: usize,
    /// Give players this long before the first move, in seconds
    #[arg(long, value_name = "S", default_value = "2", value_parser = parse_clock)]
    pub start_clock: Duration,
    /// Give players this long for each move, in seconds
    #[arg(long, value_name = "S", default_value = "1", value_parser = parse_clock)]
    pub play_clock: Duration,
    /// Stop as soon as a sequential test decides which of two players is stronger: a share of 35 or
    /// of 65 %, wrong in one case of twenty
    #[arg(long)]
    pub stop_early: bool,
    /// Play only part I of N of the matches, into the file of --output; `ludex merge` puts the parts
    /// together
    #[arg(long, value_name = "I/N", value_parser = parse_shard, requires = "output",
        conflicts_with = "stop_early")]
    pub shard: Option<Shard>,
    /// Limit each search to N iterations; with long clocks, the same seed then repeats a match
    /// exactly
    #[arg(long, value_name = "N")]
    pub iterations: Option<u64>,
    /// Let players think during the turns of others, which slows the others down
    #[arg(long)]
    pub ponder: bool,
    /// Explain how each move was chosen
    #[arg(long, short)]
    pub verbose: bool,
    /// Show the matches while they are played on the page of a running `ludex serve`, by its link
    #[arg(long, value_name = "LINK")]
    pub page: Option<String>,
    /// Let the player `ludex` play the strategies of this file, made by `ludex solve --save`
    #[arg(long, value_name = "FILE")]
    pub saved: Option<std::path::PathBuf>,
    /// The file.
    #[command(flatten)]
    pub file: FileArgs,
    /// The engine.
    #[command(flatten)]
    pub engine: EngineArgs,
}

/// A job on a constraint network.
#[derive(Clone, Debug, Subcommand)]
pub enum CspJob {
    /// Solve an XCSP3 instance and answer in the format of the XCSP3 competition
    Solve(CspSolve),
    /// Find the symmetries of an XCSP3 instance: exchanges of variables and values that take
    /// solutions to solutions
    #[command(after_help = "Examples:
  ludex csp symmetries queens.xml
  ludex csp symmetries queens.xml --json --time 10")]
    Symmetries {
        /// An XCSP3 file, or `-` for standard input
        #[arg(value_name = "FILE")]
        file: String,
    },
}

/// The options of `ludex csp solve`.
#[derive(Clone, Debug, Args)]
pub struct CspSolve {
    /// An XCSP3 file, or `-` for standard input
    #[arg(value_name = "FILE")]
    pub file: String,
    /// Find all solutions
    #[arg(long, conflicts_with_all = ["count", "limit"])]
    pub all: bool,
    /// Count the solutions and print only the last
    #[arg(long, conflicts_with = "limit")]
    pub count: bool,
    /// Find the first N solutions [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub limit: Option<u64>,
    /// Propagate tables with this algorithm
    #[arg(long, value_name = "P", value_parser = choice(&TableAlgorithm::ALL),
        default_value = name_of(&TableAlgorithm::ALL, &defaults().post.table))]
    pub propagator: TableAlgorithm,
    /// Prune with all-different constraints to this strength
    #[arg(long, value_name = "P", value_parser = choice(&AllDifferentStrength::ALL),
        default_value = name_of(&AllDifferentStrength::ALL, &defaults().post.all_different))]
    pub all_different: AllDifferentStrength,
    /// Run this search: maintaining arc consistency (`mac`), forward checking, min-conflicts, or
    /// one kept for study; of the options below, all but `--order` apply only to `mac`
    #[arg(long, value_name = "S", value_parser = choice(&SearchMethod::ALL),
        default_value = name_of(&SearchMethod::ALL, &SolveOptions::default().method))]
    pub search: SearchMethod,
    /// Choose variables in this order; forward checking supports all but the last two, the other
    /// searches only `lex` [default: dom/wdeg for `mac`, otherwise lex]
    #[arg(long, value_name = "O", value_parser = choice(&VariableOrder::ALL))]
    pub order: Option<VariableOrder>,
    /// Try values in this order
    #[arg(long, value_name = "O", value_parser = choice(&ValueOrder::ALL),
        default_value = name_of(&ValueOrder::ALL, &defaults().value_order))]
    pub values: ValueOrder,
    /// Branch into `x = a` and `x != a` (binary), or into one branch per value (d-way)
    #[arg(long, value_name = "B", value_parser = choice(&Branching::ALL),
        default_value = name_of(&Branching::ALL, &defaults().branching))]
    pub branching: Branching,
    /// Restart from the root on this schedule; ignored when several solutions are wanted
    #[arg(long, value_name = "R", value_parser = choice(&Restarts::ALL),
        default_value = name_of(&Restarts::ALL, &defaults().restarts))]
    pub restarts: Restarts,
    /// Enforce singleton arc consistency before the search: remove values that fail by propagation
    /// alone
    #[arg(long)]
    pub sac: bool,
    /// Do not simplify the network: keep constraints on one variable, tables over the same
    /// variables, and universal constraints
    #[arg(long)]
    pub no_preprocess: bool,
    /// Find the symmetries of the network first and add constraints that break them: at least one
    /// of several symmetric solutions is left, and `--all` and `--count` see only those left
    #[arg(long)]
    pub break_symmetries: bool,
}

/// A job on a quantified network.
#[derive(Clone, Debug, Subcommand)]
pub enum QcspJob {
    /// Decide a model, and find its optimum and a winning strategy
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

/// A job on a stochastic network.
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

/// The options of `ludex scsp solve`.
#[derive(Clone, Debug, Args)]
pub struct ScspSolve {
    /// The model.
    #[command(flatten)]
    pub file: QcspFile,
    /// Find the policy of greatest expected utility among those that reach every threshold; without
    /// a utility, the policy of greatest satisfaction among those that reach the thresholds of
    /// single goals
    #[arg(long)]
    pub best: bool,
    /// Rule out values by this method: stochastic backtracking, forward checking, or propagation of
    /// all constraints
    #[arg(long, value_name = "M", value_parser = choice(&StochasticMethod::ALL),
        default_value = name_of(&StochasticMethod::ALL, &StochasticConfig::default().method))]
    pub method: StochasticMethod,
    /// Compute probabilities as fractions
    #[arg(long)]
    pub exact: bool,
    /// Make the domains of decisions stochastically arc consistent before the search
    #[arg(long)]
    pub consistency: bool,
    /// Write the policy as JSON, to FILE or `-`
    #[arg(long, value_name = "FILE")]
    pub policy: Option<String>,
    /// Instead of solving, evaluate the policy in a JSON file and check whether it reaches every
    /// threshold
    #[arg(long, value_name = "FILE", conflicts_with_all = ["policy", "consistency", "scenarios"])]
    pub check_policy: Option<String>,
    /// Expand all scenarios to one ordinary network and solve that, instead of searching for a
    /// policy
    #[arg(long, conflicts_with_all = ["policy", "consistency"])]
    pub scenarios: bool,
    /// Instead of a policy, list the decisions of a one-stage model that reach its threshold, by
    /// solving the constraints without chance variables and the rest separately
    #[arg(long, conflicts_with_all = ["policy", "consistency", "check_policy", "scenarios", "best"])]
    pub two_parts: bool,
    /// Instead of solving, write the model as XCSP3, to FILE or `-`
    #[arg(long, value_name = "FILE")]
    pub xcsp3: Option<String>,
}

/// The model and its data.
#[derive(Clone, Debug, Args)]
pub struct QcspFile {
    /// The model: .qcp, .xml (XCSP3), .qdimacs (for `qcsp` only), or `-` for a .qcp text on
    /// standard input
    #[arg(value_name = "FILE")]
    pub file: String,
    /// Set a parameter; overrides the data files
    #[arg(short = 'D', long = "define", value_name = "NAME=VALUE")]
    pub define: Vec<String>,
    /// Read parameters from a file, JSON or `name = value;`
    #[arg(short, long, value_name = "FILE")]
    pub data: Vec<String>,
}

/// The options of `ludex qcsp solve`.
#[derive(Clone, Debug, Args)]
pub struct QcspSolve {
    /// The model.
    #[command(flatten)]
    pub file: QcspFile,
    /// Write the winner's strategy to a file: .json, .dot or .svg
    #[arg(long, value_name = "FILE")]
    pub strategy: Option<String>,
    /// Find and count all winning strategies
    #[arg(long)]
    pub all_strategies: bool,
    /// Instead of solving, accept or refute the strategy in a JSON file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["strategy", "all_strategies"])]
    pub check_strategy: Option<String>,
    /// Instead of solving, write a model of Boolean variables as QDIMACS, to FILE or `-`
    #[arg(long, value_name = "FILE")]
    pub qdimacs: Option<String>,
    /// Instead of solving, write the model as XCSP3, to FILE or `-`
    #[arg(long, value_name = "FILE")]
    pub xcsp3: Option<String>,
    /// Break ties in every optimizing scope this way; overrides the model
    #[arg(long, value_name = "T", value_parser = choice(&Ties::ALL))]
    pub ties: Option<Ties>,
    /// Propagate constraints this far
    #[arg(long, value_name = "P", value_parser = choice(&Propagation::ALL),
        default_value = name_of(&Propagation::ALL, &qcsp_defaults().propagation))]
    pub propagation: Propagation,
    /// Enforce this quantified consistency before the search
    #[arg(long, value_name = "C", value_parser = choice(&Consistency::ALL))]
    pub consistency: Option<Consistency>,
    /// Try values in this order if the model gives none
    #[arg(long, value_name = "O", value_parser = choice(&QcspValueOrder::ALL),
        default_value = name_of(&QcspValueOrder::ALL, &qcsp_defaults().value_order))]
    pub order: QcspValueOrder,
    /// Do not store verdicts of positions
    #[arg(long)]
    pub no_memory: bool,
    /// Do not use declared symmetries
    #[arg(long)]
    pub no_symmetry: bool,
    /// Skip values that a verdict does not depend on
    #[arg(long)]
    pub backjumping: bool,
    /// Learn from verdicts: store the part of the assignment that decided each
    #[arg(long)]
    pub learning: bool,
    /// Assign values immediately if they cannot hurt their owner
    #[arg(long)]
    pub pure_values: bool,
    /// Examine all choices of optimizing scopes, without bounds
    #[arg(long)]
    pub no_bounds: bool,
    /// Search with iterative deepening: cut the prefix after few rounds first, then after more
    #[arg(long)]
    pub deepening: bool,
}

fn qcsp_defaults() -> ludex_qcsp::SolveConfig {
    ludex_qcsp::SolveConfig::default()
}

fn defaults() -> SearchConfig {
    SearchConfig::default()
}

/// Accepts the names of a registry; the help text and the error for another name list them.
fn choice<T: Copy + Send + Sync + 'static>(
    all: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.iter().map(|(name, _)| *name)).map(|said| {
        let found = all.iter().find(|(name, _)| *name == said);
        found.expect("only names of the registry pass").1
    })
}

/// Returns the name of a value in its registry.
fn name_of<T: PartialEq>(all: &[(&'static str, T)], value: &T) -> &'static str {
    let found = all.iter().find(|(_, own)| own == value);
    found.expect("a default is in the registry").0
}

/// The names of the engines: [`EngineChoice`] with help texts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum EngineName {
    /// The circuit if the game can be grounded, otherwise the reasoner
    Auto,
    /// The compiled circuit, one state at a time
    Circuit,
    /// The compiled circuit, with many playouts in the bits of a word
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
    /// The seed, with a fixed default: all runs without a seed are the same.
    pub fn seed(&self) -> Seed {
        Seed(self.seed.unwrap_or(1))
    }

    /// The seed, or one from the clock: a person wants a different game each time.
    pub fn seed_or_clock(&self) -> Seed {
        let clock =
            || SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.as_nanos());
        Seed(self.seed.unwrap_or_else(|| clock() as u64))
    }

    /// The deadline of a call that begins now.
    pub fn deadline(&self) -> Deadline {
        self.time.map_or_else(Deadline::never, Deadline::after)
    }

    /// The bytes for the search of each of `n_players` players; without `--memory`, no more than a
    /// player usually has.
    pub fn memory_of_each(&self, n_players: usize) -> usize {
        let most = match self.memory {
            Some(_) => usize::MAX,
            None => PlayerConfig::new(self.seed()).memory,
        };
        memory_of_each(n_players, most)
    }

    /// The number of threads.
    pub fn n_threads(&self) -> usize {
        self.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
    }
}

fn parse_threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n_threads @ 1..=1024) => Ok(n_threads),
        _ => Err("use a number from 1 to 1024".into()),
    }
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 =
        text.parse().map_err(|_| "use a number of seconds, such as 0.5".to_string())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) if !time.is_zero() => Ok(time),
        Err(_) if seconds > 0.0 => Err("the time is too long".into()),
        _ => Err("use more than 0 seconds".into()),
    }
}

fn parse_budget(text: &str) -> Result<Duration, String> {
    let (number, factor) = match text.strip_suffix('m') {
        Some(minutes) => (minutes, 60),
        None => (text.strip_suffix('s').unwrap_or(text), 1),
    };
    let time = parse_seconds(number)?;
    time.checked_mul(factor).ok_or_else(|| "the time is too long".into())
}

pub(crate) fn parse_clock(text: &str) -> Result<Duration, String> {
    let time = parse_seconds(text)?;
    if time > ludex_referee::MAX_CLOCK {
        return Err("use at most 86400 seconds, a day".into());
    }
    Ok(time)
}

pub(crate) fn parse_count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count @ 1..=10_000_000) => Ok(count),
        _ => Err("use a number from 1 to 10000000".into()),
    }
}

fn parse_shard(text: &str) -> Result<Shard, String> {
    let parts = text.split_once('/').and_then(|(index, of)| {
        let (index, of): (usize, usize) = (index.parse().ok()?, of.parse().ok()?);
        ((1..=MAX_SHARDS).contains(&of) && (1..=of).contains(&index))
            .then(|| Shard { index: index - 1, of })
    });
    parts.ok_or_else(|| format!("use a part and their number, at most {MAX_SHARDS}, such as 2/8"))
}

/// Most parts of a series.
const MAX_SHARDS: usize = 1_000_000;

/// Reads a number of bytes, as in `500`, `500MB`, `4GB` or `2g`.
pub(crate) fn parse_memory(text: &str) -> Result<u64, String> {
    let lower = text.to_ascii_lowercase();
    let number = lower.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let bytes_per_unit = match lower[number.len()..].trim() {
        "" | "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        "k" | "kb" | "kib" => 1 << 10,
        unit => return Err(format!("unknown unit `{unit}`; use MB or GB")),
    };
    let amount: f64 = number
        .trim()
        .parse()
        .map_err(|_| "use a number of MB, or a number with a unit, such as 4GB".to_string())?;
    match amount * f64::from(bytes_per_unit) {
        bytes if (1.0..1e18).contains(&bytes) => Ok(bytes as u64),
        _ => Err("use more than 0 MB".into()),
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
