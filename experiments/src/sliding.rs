//! How much do lower bounds save? Counts the states that searches for shortest plays expand in sliding puzzles.

use std::fmt::Write as _;

use anyhow::{Context as _, Result, ensure};
use clap::{Args, FromArgMatches as _};
use ludex_base::{Limits, Rng, Seed, Source};
use ludex_pipeline::{Engine, LoadOptions, load};
use ludex_solve::puzzle::bound::Estimate;
use ludex_solve::{Method, Problem, Progress, SolveOptions, solve};

use crate::registry::Experiment;
use crate::run::Run;
use crate::tables::Form;

pub static EXPERIMENT: Experiment = Experiment {
    name: "sliding",
    question: "How many states do Dijkstra's algorithm, A* and IDA* expand in the fifteen puzzle?",
    command: "cargo experiment sliding",
    table: "sliding.tsv, sliding.md",
    options: Options::augment_args,
    run: |run, given| count_all(run, &Options::from_arg_matches(given)?),
};

#[derive(Args)]
struct Options {
    /// Rows and columns of the board
    #[arg(long, default_value_t = 4)]
    size: usize,
    /// Random moves from the solved board, for each row of the table
    #[arg(long, value_delimiter = ',', default_values_t = [10, 20, 30, 40, 60, 80])]
    moves: Vec<usize>,
    /// States after which a search is stopped
    #[arg(long, default_value_t = 1_000_000)]
    max_states: u64,
}

/// The searches, with the words of the table.
const SEARCHES: [(&str, Method, Estimate); 4] = [
    ("Dijkstra", Method::Dijkstra, Estimate::Best),
    ("A*, misplaced tiles", Method::AStar, Estimate::Misplaced),
    ("A*, Manhattan distance", Method::AStar, Estimate::Patterns),
    ("IDA*, Manhattan distance", Method::IdaStar, Estimate::Patterns),
];

/// Counts states for boards that are more and more disordered.
fn count_all(run: &Run, options: &Options) -> Result<()> {
    let Options { size, moves, max_states } = options;
    ensure!((2..=9).contains(size), "a board has 2 to 9 rows and columns");
    let columns: Vec<&str> =
        ["random moves", "steps"].into_iter().chain(SEARCHES.map(|it| it.0)).collect();
    let mut tsv = run.rows(Form::Tsv, &columns);
    let mut rows = run.rows(Form::Markdown, &columns);
    for &n_moves in moves {
        let rules = rules(*size, n_moves);
        let mut cells = vec![n_moves.to_string(), "-".into()];
        for (_, method, estimate) in SEARCHES {
            let (n_steps, n_states) = count(&rules, method, estimate, *max_states)?;
            cells.push(match n_steps {
                Some(_) => n_states.to_string(),
                None => format!("more than {max_states}"),
            });
            if let Some(n_steps) = n_steps {
                let n_steps = n_steps.to_string();
                ensure!(cells[1] == "-" || cells[1] == n_steps, "the searches do not agree");
                cells[1] = n_steps;
            }
        }
        eprintln!("{}", cells.join("\t"));
        tsv.push(&cells);
        rows.push(&cells);
    }
    let mut text = format!(
        "# States expanded in sliding puzzles\n\n{}: a board of {size} rows and columns, after some random moves from \
         the solved board, none of which takes back the one before.\n\
         *Steps* is the length of a shortest play; the searches agree on it.\n\
         The other columns count the states that a search expands, and for IDA* the states that it enters, again and \
         again.\n\
         Both bounds are derived from the rules: the tiles are groups of fluents, and no step changes two of them.\n\n",
        run.made_by("sliding")
    );
    write!(text, "{}", rows.text())?;
    run.write("sliding", &tsv, &text)?;
    print!("{text}");
    Ok(())
}

/// Returns the length of a shortest play, if it is found, and the states expanded.
fn count(
    rules: &str,
    method: Method,
    estimate: Estimate,
    max_states: u64,
) -> Result<(Option<usize>, u64)> {
    let loaded = load(Source::new("sliding", rules), &LoadOptions::default());
    let loaded = loaded.ok().context("the rules of the puzzle are wrong")?;
    let Engine::Machine(game) = &loaded.engine else { anyhow::bail!("the board is too large") };
    let options = SolveOptions {
        limits: Limits::usual(),
        methods: vec![method],
        max_nodes: max_states,
        estimate,
        ..SolveOptions::default()
    };
    let problem = Problem::initial(game).with_circuit(game.circuit());
    let solution = solve(&problem, &options, &Progress::new());
    Ok((solution.is_shortest.then_some(solution.line.len()), solution.n_nodes))
}

/// Returns the rules of a board after some random moves.
fn rules(size: usize, n_moves: usize) -> String {
    let mut tiles: Vec<usize> = (1..size * size).chain([0]).collect();
    let mut rng: Rng = Seed(n_moves as u64).rng();
    let (mut blank, mut before) = (size * size - 1, usize::MAX);
    for _ in 0..n_moves {
        let mut choices = neighbors(size, blank);
        choices.retain(|&place| place != before);
        let chosen = choices[rng.below(choices.len())];
        tiles.swap(blank, chosen);
        (before, blank) = (blank, chosen);
    }
    let name = |tile: usize| if tile == 0 { "b".into() } else { tile.to_string() };
    let mut text = String::from("(role you)\n");
    let mut solved = String::new();
    for (place, &tile) in tiles.iter().enumerate() {
        text += &format!("(init (cell {place} {}))\n", name(tile));
        solved += &format!(" (true (cell {place} {}))", name((place + 1) % tiles.len()));
        for other in neighbors(size, place) {
            text += &format!("(next-to {place} {other})\n");
        }
    }
    text + &format!(
        "(<= (legal you (slide ?x)) (true (cell ?u b)) (next-to ?u ?x))
        (<= (next (cell ?x b)) (does you (slide ?x)))
        (<= (next (cell ?u ?t)) (does you (slide ?x)) (true (cell ?u b)) (true (cell ?x ?t)))
        (<= (next (cell ?u ?t)) (does you (slide ?x)) (true (cell ?u ?t)) (distinct ?t b) (distinct ?u ?x))
        (<= solved{solved})
        (<= terminal solved)
        (<= (goal you 100) solved)"
    )
}

/// Returns the places beside a place.
fn neighbors(size: usize, place: usize) -> Vec<usize> {
    let (row, column) = (place / size, place % size);
    let mut places = Vec::new();
    if row > 0 {
        places.push(place - size);
    }
    if column > 0 {
        places.push(place - 1);
    }
    if column + 1 < size {
        places.push(place + 1);
    }
    if row + 1 < size {
        places.push(place + size);
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn better_bounds_expand_fewer_states() -> Result<()> {
        let rules = rules(3, 20);
        let counts = SEARCHES.map(|(_, method, estimate)| count(&rules, method, estimate, 200_000));
        let [dijkstra, misplaced, manhattan, deepening] = counts;
        let (dijkstra, misplaced, manhattan) = (dijkstra?, misplaced?, manhattan?);
        assert!(dijkstra.0.is_some());
        assert_eq!([misplaced.0, manhattan.0, deepening?.0], [dijkstra.0; 3]);
        assert!(manhattan.1 < misplaced.1 && misplaced.1 < dijkstra.1);
        Ok(())
    }
}
