//! How good is `ludex` at puzzles? Compares the goals it reaches with those published for other players.

use std::fmt::Write as _;

use anyhow::Result;
use clap::{Args, FromArgMatches as _};
use xtask::tools::{build_ludex, shared_folder};

use crate::command::ask;
use crate::published::{Published, index};
use crate::registry::Experiment;
use crate::run::Run;
use crate::tables::Table;

pub static EXPERIMENT: Experiment = Experiment {
    name: "puzzles",
    question: "Does `ludex` reach the published best goals of the puzzles?",
    command: "cargo experiment puzzles",
    table: "puzzles.tsv, puzzles.md",
    options: Options::augment_args,
    run: |run, given| puzzles(run, &Options::from_arg_matches(given)?),
};

#[derive(Args)]
struct Options {
    /// Only these games
    games: Vec<String>,
}

/// Plays the puzzles of the published table that are in the corpus, and compares the goals.
fn puzzles(run: &Run, Options { games }: &Options) -> Result<()> {
    let ludex = build_ludex()?;
    let shared = shared_folder()?;
    let published = Published::thesis("thesis-4.3-single-player-scores.tsv")?;
    let published = published.by_name();
    let columns = "game\tname\tludex\tmac_ucb\tuct\tcfr\tgrave\tsancho\tseconds";
    let table = Table::open(run, "puzzles", columns)?;
    for sheet in index()? {
        let Some(name) = sheet.name_in("T3.4:") else { continue };
        let Some(others) = published.get(name) else { continue };
        let is_wanted = games.is_empty() || games.contains(&sheet.game);
        if !is_wanted || table.has(&[&sheet.game, name]) {
            continue;
        }
        let path = shared.join("games").join(format!("{}.kif", sheet.game)).display().to_string();
        let args = [
            "match",
            &path,
            "--players",
            "ludex",
            "--count",
            "1",
            "--start-clock",
            "20",
            "--play-clock",
            "2",
            "--json",
        ];
        let Some(report) = ask(&ludex, &args)? else { continue };
        let goal = report["players"][0]["mean_goal"].to_string();
        let seconds = report["matches"][0]["seconds"].to_string();
        let mut row = vec![sheet.game.as_str(), name, &goal];
        row.extend(others.iter().take(5).map(String::as_str));
        row.push(&seconds);
        table.append(&row)?;
    }
    let mut text = format!(
        "# Puzzles\n\n{}: start clock 20 s, play clock 2 s, one thread, one match each.\n\
         The other columns are the published best goals of other players, with a start clock of 180 s and a play clock of 15 s.\n\
         {}\n\n\
         | game | ludex | MAC-UCB | UCT | CFR | GRAVE | Sancho |\n| --- | --- | --- | --- | --- | --- | --- |\n",
        run.made_by("puzzles"),
        table.commits_in_words()?
    );
    let (mut n_reached, mut n_all) = (0, 0);
    for row in table.rows()? {
        let number =
            |idx: usize| row.get(idx).and_then(|cell| cell.parse::<f64>().ok()).unwrap_or(0.0);
        let best = (4..8).map(number).fold(0.0, f64::max);
        n_all += 1;
        n_reached += usize::from(number(2) >= best);
        writeln!(text, "| {} | {} |", row[1], row[2..8].join(" | "))?;
    }
    writeln!(text, "\nAt least the best of UCT, CFR, GRAVE and Sancho: {n_reached} of {n_all}.")?;
    table.describe(&text)
}
