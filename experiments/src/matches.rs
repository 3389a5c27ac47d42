//! Long series of matches: `puzzles` and `loaded`, and what they share with `strength`.
//!
//! Each appends one line to a table under `benches/runs` when a series is finished, and skips what the
//! table has already: a run that was stopped goes on where it was.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use ludex_testkit::{corpus, library};
use serde_json::Value;

use crate::tools::{build_ludex, processor, runs_folder, shared_folder};

/// Plays the puzzles of the published table that the corpus has, and sets the goals beside those of
/// other players.
pub fn puzzles(games: &[String]) -> Result<()> {
    let ludex = build_ludex()?;
    let shared = shared_folder()?;
    let index = fs::read_to_string(shared.join("games/INDEX.tsv")).context("games/INDEX.tsv")?;
    let published =
        fs::read_to_string(shared.join("reference/tables/thesis-4.3-single-player-scores.tsv"))
            .context("the table of single-player scores")?;
    let published: BTreeMap<&str, Vec<&str>> = published
        .lines()
        .skip(1)
        .map(|line| line.split('\t').collect::<Vec<_>>())
        .map(|cells| (cells[0], cells[1..].to_vec()))
        .collect();
    let table =
        Table::open("puzzles", "game\tname\tludex\tmac_ucb\tuct\tcfr\tgrave\tsancho\tseconds")?;
    for line in index.lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        let Some(name) = cells.get(7).and_then(|seed| seed_name(seed, "T3.4:")) else { continue };
        let Some(others) = published.get(name) else { continue };
        let is_wanted = games.is_empty() || games.iter().any(|game| game == cells[0]);
        if !is_wanted || table.has(&[cells[0], name]) {
            continue;
        }
        let path = shared.join("games").join(format!("{}.kif", cells[0])).display().to_string();
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
        let Some(report) = run(&ludex, &args)? else { continue };
        let goal = report["players"][0]["mean_goal"].to_string();
        let seconds = report["matches"][0]["seconds"].to_string();
        let mut row = vec![cells[0], name, &goal];
        row.extend(others.iter().take(5));
        row.push(&seconds);
        table.append(&row)?;
    }
    let mut text = format!(
        "# Puzzles\n\nMade by `cargo xtask puzzles` on {}: start clock 20 s, play clock 2 s, one thread, one match each.\n\
         The other columns are the published best goals of other players at a start clock of 180 s and a play clock of 15 s.\n\n\
         | game | ludex | MAC-UCB | UCT | CFR | GRAVE | Sancho |\n| --- | --- | --- | --- | --- | --- | --- |\n",
        processor()
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

/// The name that a game has in a table of the index.
pub(crate) fn seed_name<'a>(cell: &'a str, table: &str) -> Option<&'a str> {
    cell.split("; ").find_map(|name| name.strip_prefix(table))
}

/// Plays with a short clock while another process keeps every core busy.
pub fn loaded(count: usize) -> Result<()> {
    let ludex = build_ludex()?;
    let table = Table::open(
        "loaded",
        "game\tplayers\tmatches\tmoves\tlate\tillegal\tfailed\tfallbacks\tunfinished",
    )?;
    let games = library();
    ensure!(games.len() >= 50, "only {} games in the library", games.len());
    let per_game = count.div_ceil(50).to_string();
    let _burners = burn()?;
    for rules in games.iter().take(50) {
        if table.has(&[&rules.name]) {
            continue;
        }
        let path = rules.path.display().to_string();
        let n_roles = n_roles(&ludex, &path)?;
        let players = vec!["ludex"; n_roles.max(1)].join(",");
        let args = [
            "match",
            &path,
            "--players",
            &players,
            "--count",
            &per_game,
            "--start-clock",
            "0.5",
            "--play-clock",
            "0.05",
            "--json",
        ];
        let Some(report) = run(&ludex, &args)? else { continue };
        let of = |key: &str| sum(&report, key).to_string();
        let row = [
            rules.name.as_str(),
            &players,
            &report["played"].to_string(),
            &of("moves"),
            &of("late"),
            &of("illegal"),
            &of("failed"),
            &of("fallbacks"),
            &report["unfinished"].to_string(),
        ];
        table.append(&row)?;
    }
    let mut sums = [0_u64; 7];
    for row in table.rows()? {
        for (sum, cell) in sums.iter_mut().zip(&row[2..]) {
            *sum += cell.parse::<u64>().unwrap_or(0);
        }
    }
    let [matches, moves, late, illegal, failed, fallbacks, unfinished] = sums;
    table.describe(&format!(
        "# A short clock on a loaded machine\n\nMade by `cargo xtask loaded` on {}: `ludex` in every seat, play clock 50 ms, start clock 0.5 s, one match a core, while a process of its own keeps every core busy.\n\n\
         | matches | moves | late | illegal | failed | fallbacks | unfinished |\n| --- | --- | --- | --- | --- | --- | --- |\n\
         | {matches} | {moves} | {late} ({:.3} %) | {illegal} | {failed} | {fallbacks} | {unfinished} |\n",
        processor(),
        100.0 * late as f64 / moves.max(1) as f64,
    ))
}

/// How many roles besides `random` a game has.
pub(crate) fn n_roles(ludex: &Path, path: &str) -> Result<usize> {
    let args = ["bench", path, "--seconds", "0.01", "--threads", "1", "--json"];
    let report = run(ludex, &args)?.context("the game can't be played")?;
    let roles = report["roles"].as_array().cloned().unwrap_or_default();
    Ok(roles.iter().filter(|role| *role != "random").count())
}

/// Processes that burn a core each until they are dropped.
struct Burners(Vec<Child>);

impl Drop for Burners {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn burn() -> Result<Burners> {
    let own = std::env::current_exe().context("the path of this task")?;
    let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
    let start = |_| Command::new(&own).arg("burn").spawn().context("a burner does not start");
    (0..n_cores).map(start).collect::<Result<Vec<Child>>>().map(Burners)
}

/// Burns a core until the process is ended, an hour at most.
pub fn burn_a_core() -> Result<()> {
    let start = std::time::Instant::now();
    let mut number = 1_u64;
    while start.elapsed().as_secs() < 3_600 {
        for _ in 0..1_000_000 {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        }
        std::hint::black_box(number);
    }
    Ok(())
}

/// Runs the command and reads its report; `None`, with a word about it, if it has none.
pub(crate) fn run(ludex: &Path, args: &[&str]) -> Result<Option<Value>> {
    eprintln!("$ ludex {}", args.join(" "));
    let output = Command::new(ludex).args(args).stderr(Stdio::null()).output();
    let output = output.context("the command does not start")?;
    let report: Option<Value> = serde_json::from_slice(&output.stdout).ok();
    let report = report.filter(|report| report["ok"] != false);
    if report.is_none() {
        eprintln!("no report ({})", output.status);
    }
    Ok(report)
}

pub(crate) fn sum(report: &Value, key: &str) -> u64 {
    let players = report["players"].as_array();
    players.map_or(0, |players| players.iter().filter_map(|it| it[key].as_u64()).sum())
}

/// A rulesheet of the corpus, or else of the library.
pub(crate) fn find_game(name: &str) -> Result<PathBuf> {
    let all = corpus(&shared_folder()?).into_iter().chain(library());
    let found = all.into_iter().find(|rules| rules.name == name);
    Ok(found.with_context(|| format!("there is no game `{name}`"))?.path)
}

/// A table that only grows.
pub(crate) struct Table {
    path: PathBuf,
    done: BTreeSet<String>,
}

impl Table {
    pub(crate) fn open(name: &str, header: &str) -> Result<Self> {
        let path = runs_folder()?.join(format!("{name}.tsv"));
        let text = if path.exists() { fs::read_to_string(&path)? } else { String::new() };
        if let Some(text) = with_header(&text, header) {
            fs::write(&path, text).with_context(|| format!("{}", path.display()))?;
        }
        let mut table = Self { path, done: BTreeSet::new() };
        for row in table.rows()? {
            for n_cells in 1..=2.min(row.len()) {
                table.done.insert(row[..n_cells].join("\t"));
            }
        }
        Ok(table)
    }

    /// Whether there is a row that begins with these cells.
    pub(crate) fn has(&self, cells: &[&str]) -> bool {
        self.done.contains(&cells.join("\t"))
    }

    pub(crate) fn append(&self, cells: &[&str]) -> Result<()> {
        let line = cells.join("\t");
        println!("{line}");
        let mut file = OpenOptions::new().append(true).open(&self.path)?;
        writeln!(file, "{line}").with_context(|| format!("{}", self.path.display()))
    }

    pub(crate) fn rows(&self) -> Result<Vec<Vec<String>>> {
        let text = fs::read_to_string(&self.path)?;
        let cells = |line: &str| line.split('\t').map(String::from).collect();
        Ok(text.lines().skip(1).map(cells).collect())
    }

    pub(crate) fn describe(&self, text: &str) -> Result<()> {
        let path = self.path.with_extension("md");
        fs::write(&path, text).with_context(|| format!("{}", path.display()))?;
        println!("{text}");
        Ok(())
    }
}

/// The text of a table with a header that has grown at its end since, or of a new one; `None` if nothing is to
/// be done. Rows from before have fewer cells.
fn with_header(text: &str, header: &str) -> Option<String> {
    let (first, rows) = text.split_once('\n').unwrap_or((text, ""));
    let has_grown = header.len() > first.len() && header.starts_with(first);
    has_grown.then(|| format!("{header}\n{rows}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_that_has_grown_is_written_anew_and_rows_stay() {
        assert_eq!(with_header("", "a\tb").as_deref(), Some("a\tb\n"));
        assert_eq!(with_header("a\n1\n2\n", "a\tb").as_deref(), Some("a\tb\n1\n2\n"));
        assert_eq!(with_header("a\tb\n1\t2\n", "a\tb"), None);
        assert_eq!(with_header("other\n1\n", "a\tb"), None);
    }
}
