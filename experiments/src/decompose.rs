//! Does the decomposition of games agree with the answers written down beforehand?

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use clap::{Args, FromArgMatches as _};
use ludex_analysis::decompose::{DecomposeConfig, Decomposition, Worth, decompose};
use ludex_base::{Deadline, FluentId, Seed, Source};
use ludex_machine::Machine;
use ludex_pipeline::{Engine, EngineChoice, LoadOptions, load};
use ludex_testkit::{corpus, rewritten};
use xtask::tools::shared_folder;

use crate::registry::Experiment;
use crate::run::Run;
use crate::tables::Table;

pub static EXPERIMENT: Experiment = Experiment {
    name: "decompose",
    question: "Into which subgames do games come apart, is that right, and how long does it take?",
    command: "cargo experiment decompose",
    table: "decompose.tsv, decompose.md; with --rewritings, decompose-rewritings.tsv and .md",
    options: Options::augment_args,
    run: |run, given| take_apart(run, &Options::from_arg_matches(given)?),
};

#[derive(Args)]
struct Options {
    /// Only these games
    games: Vec<String>,
    /// Random playouts for each game
    #[arg(long, default_value_t = 1_000)]
    playouts: usize,
    /// Take this many rewritings of each of 20 games apart instead, and compare
    #[arg(long, default_value_t = 0)]
    rewritings: u64,
    /// Seed of the playouts
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Time for one game; what is found by then counts.
const MAX_TIME: Duration = Duration::from_secs(60);

/// The answers that were written down before the program gave its own.
const EXPECTED: &str = include_str!("../../tests/data/decompositions.tsv");

/// What a sheet should come apart into.
struct Expected {
    n_subgames: usize,
    /// Groups of fluents, each by words that occur in their texts: a group is in one subgame, and
    /// no two groups are in the same.
    groups: Vec<Vec<String>>,
}

fn expected(game: &str) -> Result<Option<Expected>> {
    let rows = EXPECTED.lines().skip(1).map(|line| line.split('\t').collect::<Vec<_>>());
    let Some(row) = { rows }.find(|row| row[0] == game) else { return Ok(None) };
    let groups = row[2].split(" | ").filter(|group| *group != "-").map(words).collect();
    let n_subgames = row[1].parse().with_context(|| format!("the row of {game}"))?;
    Ok(Some(Expected { n_subgames, groups }))
}

/// The words of a group: each begins with `(`, the start of a fluent, or with `_`, its end.
fn words(group: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for piece in group.split(' ') {
        match words.last_mut() {
            Some(word) if !piece.starts_with(['(', '_']) => {
                word.push(' ');
                word.push_str(piece);
            }
            _ => words.push(piece.to_owned()),
        }
    }
    words
}

/// Whether a fluent is meant by a word of a group.
fn is_meant(text: &str, word: &str) -> bool {
    match word.strip_prefix('_') {
        Some(end) => text.ends_with(end),
        None => text.strip_prefix(word).is_some_and(|rest| rest.starts_with([' ', ')'])),
    }
}

/// Compares a decomposition with what was expected; an empty text if they agree.
fn difference(machine: &Machine, found: &Decomposition, expected: &Expected) -> String {
    let n_useful = found.useful().count();
    if n_useful != expected.n_subgames {
        return format!("{n_useful} instead of {}", expected.n_subgames);
    }
    let mut owners: Vec<usize> = Vec::new();
    for group in &expected.groups {
        let is_of_group = |fluent: &FluentId| {
            let text = machine.circuit().vocabulary.fluent_text(*fluent);
            group.iter().any(|word| is_meant(&text, word))
        };
        let of_group = |it: &usize| found.subgames[*it].fluents.iter().any(is_of_group);
        let mut subgames: Vec<usize> = (0..found.subgames.len()).filter(of_group).collect();
        subgames.retain(|&it| found.subgames[it].worth != Worth::Useless);
        let &[owner] = &subgames[..] else {
            return format!("{} is in {} subgames", group.join(" "), subgames.len());
        };
        if owners.contains(&owner) {
            return format!("{} is not apart", group.join(" "));
        }
        owners.push(owner);
    }
    String::new()
}

/// Takes every game of the corpus apart and compares.
fn take_apart(run: &Run, options: &Options) -> Result<()> {
    if options.rewritings > 0 {
        return rewrite(run, options);
    }
    let columns = "game\tplayouts asked\tgates\tsubgames\tuseless\tindependent\tcrossings\tplayouts\t\
                   states\tload seconds\tseconds\tdifference";
    let table = Table::open(run, "decompose", columns)?;
    let asked = options.playouts.to_string();
    for rules in corpus(&shared_folder()?) {
        let is_wanted = options.games.is_empty() || options.games.contains(&rules.name);
        if !is_wanted || table.has(&[&rules.name, &asked]) {
            continue;
        }
        let began = Instant::now();
        let load_options = LoadOptions { engine: EngineChoice::Circuit, ..LoadOptions::default() };
        let loaded = load(Source::new(&rules.name, rules.text()), &load_options);
        let loaded = loaded.ok().map(|it| it.engine);
        let Some(Engine::Machine(machine)) = &loaded else {
            let mut cells = vec![rules.name.as_str(), asked.as_str()];
            cells.resize(12, "-");
            table.append(&cells)?;
            continue;
        };
        let load_seconds = began.elapsed().as_secs_f64();
        let circuit = machine.circuit();
        let config = DecomposeConfig {
            n_playouts: options.playouts,
            seed: Seed(options.seed),
            ..DecomposeConfig::usual()
        };
        let deadline = Deadline::after(MAX_TIME);
        let found = decompose(circuit, &circuit.init, &config, &deadline);
        let seconds = began.elapsed().as_secs_f64();
        let n_useful = found.useful().count();
        let difference = match expected(&rules.name)? {
            None => "?".into(),
            Some(expected) => match difference(machine, &found, &expected) {
                text if text.is_empty() => "none".into(),
                text => text,
            },
        };
        table.append(&[
            rules.name.clone(),
            asked.clone(),
            circuit.n_gates().to_string(),
            n_useful.to_string(),
            (found.subgames.len() - n_useful).to_string(),
            found.independent_parts.len().to_string(),
            found.crossings.len().to_string(),
            found.n_playouts.to_string(),
            found.n_states.to_string(),
            format!("{load_seconds:.3}"),
            format!("{seconds:.3}"),
            difference,
        ])?;
    }
    describe(run, &table)
}

/// Games whose rewritings are taken apart.
const REWRITTEN: [&str; 20] = [
    "asteroidsParallel",
    "asteroidsSerial",
    "bandl3",
    "blocksWorldParallel",
    "buttons",
    "doubletictactoe",
    "eightPuzzle",
    "factoringEasyTurtleBrain",
    "hanoi",
    "lightsOn",
    "lightsOnParallel",
    "multiple_buttons_and_lights",
    "nim1",
    "nonogram_5x5_1",
    "queens06ug",
    "seed_fourLamps",
    "ticTacToe",
    "ticTacToeParallel",
    "ticTacToeSerial",
    "troublemaker01",
];

/// Takes rewritings apart, and compares them with the sheets as they are.
fn rewrite(run: &Run, options: &Options) -> Result<()> {
    let columns = "game\trewritings\tsubgames\tsame answer";
    let table = Table::open(run, "decompose-rewritings", columns)?;
    let parts = |text: &str| -> Option<Vec<(Worth, usize, usize)>> {
        let load_options = LoadOptions { engine: EngineChoice::Circuit, ..LoadOptions::default() };
        let loaded = load(Source::new("rewritten", text), &load_options).ok()?;
        let Engine::Machine(machine) = &loaded.engine else { return None };
        let config = DecomposeConfig {
            n_playouts: options.playouts,
            seed: Seed(options.seed),
            ..DecomposeConfig::usual()
        };
        let circuit = machine.circuit();
        let found = decompose(circuit, &circuit.init, &config, &Deadline::after(MAX_TIME));
        let mut sizes: Vec<(Worth, usize, usize)> = (found.subgames.iter())
            .map(|it| (it.worth, it.fluents.len(), it.moves.len()))
            .collect();
        sizes.sort_unstable();
        Some(sizes)
    };
    for rules in corpus(&shared_folder()?) {
        if !REWRITTEN.contains(&rules.name.as_str()) || table.has(&[&rules.name]) {
            continue;
        }
        let text = rules.text();
        let original = parts(&text);
        let same = (1..=options.rewritings)
            .filter(|&seed| original.is_some() && parts(&rewritten(&text, Seed(seed))) == original)
            .count();
        let n_subgames = original.map_or_else(|| "-".into(), |it| it.len().to_string());
        table.append(&[
            rules.name.clone(),
            options.rewritings.to_string(),
            n_subgames,
            same.to_string(),
        ])?;
    }
    let rows = table.rows()?;
    let mut text = format!(
        "# Rewritings of rulesheets\n\n{}: clauses and literals in another order, bodies as predicates of their own, \
         literals and rules twice.\n*Same answer* counts the rewritings with as many subgames of the same worth, \
         with as many fluents and moves.\n{}\n\n\
         | game | rewritings | subgames | same answer |\n| --- | --- | --- | --- |\n",
        run.made_by("decompose --rewritings 5"),
        table.commits_in_words()?
    );
    let mut totals = (0, 0);
    for row in &rows {
        writeln!(text, "| {} |", row[..4].join(" | "))?;
        totals.0 += row[1].parse().unwrap_or(0);
        totals.1 += row[3].parse().unwrap_or(0);
    }
    writeln!(text, "\nSame answer: {} of {}.", totals.1, totals.0)?;
    table.describe(&text)
}

fn describe(run: &Run, table: &Table) -> Result<()> {
    let rows = table.rows()?;
    let mut text = format!(
        "# Decomposition of the corpus\n\n{}.\n\
         *Seconds* are from the text to the answer, *load* of them to the circuit. *Difference* \
         compares with `tests/data/decompositions.tsv`; `?` if nothing was written down, `-` if \
         the game has no circuit.\n{}\n\n\
         | game | playouts | gates | subgames | useless | independent | crossings | played | states | \
         load | seconds | difference |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
        run.made_by("decompose"),
        table.commits_in_words()?
    );
    let (mut n_right, mut n_compared, mut n_quick, mut n_timed) = (0, 0, 0, 0);
    for row in &rows {
        writeln!(text, "| {} |", row[..12].join(" | "))?;
        n_compared += usize::from(!matches!(row[11].as_str(), "?" | "-"));
        n_right += usize::from(row[11] == "none");
        if let Ok(seconds) = row[10].parse::<f64>() {
            n_timed += 1;
            n_quick += usize::from(seconds < 3.0);
        }
    }
    let share = |part: usize, of: usize| 100.0 * part as f64 / of.max(1) as f64;
    let summary = format!(
        "Right: {n_right} of {n_compared} ({:.1} %). Under 3 s: {n_quick} of {n_timed} ({:.1} %).",
        share(n_right, n_compared),
        share(n_quick, n_timed)
    );
    println!("{summary}");
    writeln!(text, "\n{summary}")?;
    table.describe(&text)
}
