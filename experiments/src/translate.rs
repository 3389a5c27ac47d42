//! How large are the networks of games, and how fast are they encoded, beside the published tables?

use std::time::Duration;

use anyhow::Result;
use clap::{Args, FromArgMatches as _};
use serde_json::Value;
use xtask::tools::{build_ludex, shared_folder};

use crate::command::run_for;
use crate::published::{Published, index};
use crate::registry::Experiment;
use crate::run::Run;
use crate::tables::Form;

pub static EXPERIMENT: Experiment = Experiment {
    name: "translate",
    question: "How large are the networks of games, and how fast are they encoded?",
    command: "cargo experiment translate",
    table: "translate.tsv, translate.md",
    options: Options::augment_args,
    run: |run, given| translate(run, &Options::from_arg_matches(given)?),
};

#[derive(Args)]
struct Options {
    /// Seconds after which grounding is given up, and after which translating is
    #[arg(long, default_value_t = 60)]
    seconds: u64,
}

/// The published tables of translation times.
const PUBLISHED: [(&str, &str); 5] = [
    ("T3.4:", "thesis-3.4-translation-single.tsv"),
    ("T3.5:", "thesis-3.5-translation-multi-A-C.tsv"),
    ("T3.6:", "thesis-3.6-translation-multi-D-R.tsv"),
    ("T3.7:", "thesis-3.7-translation-multi-S-Z.tsv"),
    ("T3.8:", "thesis-3.8-translation-gdl2.tsv"),
];

/// A game of the corpus and its row in a published table.
struct Row {
    game: String,
    /// Its name there, with a `~` if the published game is only similar.
    name: String,
    /// Variables, largest domain, constraints, seconds.
    published: [String; 4],
    report: Option<Value>,
    note: String,
}

/// Translates every game of the published tables that is in the corpus, each in a process of its own.
fn translate(run: &Run, &Options { seconds }: &Options) -> Result<()> {
    let ludex = build_ludex()?;
    let shared = shared_folder()?;
    let mut rows = published_rows()?;
    let finished = run.finished("translate", &format!("--seconds {seconds}"))?;
    for (idx, row) in rows.iter_mut().enumerate() {
        let path = shared.join("games").join(format!("{}.kif", row.game)).display().to_string();
        let time = seconds.to_string();
        let args = ["translate", &path, "--json", "--time", &time, "--memory", "4GB"];
        // `--time` bounds grounding and translating separately.
        let translate = || match run_for(&ludex, &args, Duration::from_secs(3 * seconds + 30)) {
            Err(note) => (None, note),
            Ok(text) => match serde_json::from_str::<Value>(&text) {
                Ok(report) if report["ok"] != false => (Some(report), String::new()),
                Ok(report) => (None, report["error"].as_str().unwrap_or("no report").into()),
                Err(_) => (None, "no report".into()),
            },
        };
        // A game may be in several tables.
        let part = format!("{idx} {}", row.game);
        (row.report, row.note) = finished.part(&part, || Ok(translate()))?;
        let time =
            row.report.as_ref().map_or("-".into(), |report| report["cpu_seconds"].to_string());
        eprintln!("{}\t{time}\t{}", row.game, row.note);
    }
    write_table(run, &rows, seconds)?;
    finished.remove()
}

fn published_rows() -> Result<Vec<Row>> {
    let index = index()?;
    let mut rows = Vec::new();
    for (mark, file) in PUBLISHED {
        let table = Published::thesis(file)?;
        let published = table.by_name();
        for sheet in &index {
            let like = format!("~{mark}");
            let (name, sign) = match (sheet.name_in(mark), sheet.name_in(&like)) {
                (Some(name), _) => (name, ""),
                (None, Some(name)) => (name, "~ "),
                (None, None) => continue,
            };
            let Some(cells) = published.get(name) else { continue };
            let cell = |column| table.cell(cells, column).unwrap_or("-").to_string();
            rows.push(Row {
                game: sheet.game.clone(),
                name: format!("{sign}{name}"),
                published: ["vars", "max_dom", "constraints", "time_s"].map(cell),
                report: None,
                note: String::new(),
            });
        }
    }
    Ok(rows)
}

const COLUMNS: [&str; 6] =
    ["variables", "max_domain", "constraints", "tuples", "cpu_seconds", "peak_mb"];

fn write_table(run: &Run, rows: &[Row], seconds: u64) -> Result<()> {
    let number = |row: &Row, key: &str| row.report.as_ref().and_then(|it| it[key].as_f64());
    let mut times: Vec<f64> = rows.iter().filter_map(|row| number(row, "cpu_seconds")).collect();
    times.sort_by(f64::total_cmp);
    let n_fast = times.iter().filter(|&&time| time < 2.0).count();
    let is_checkers = |row: &&Row| row.name.starts_with("Checkers");
    let checkers: Vec<&Row> = rows.iter().filter(is_checkers).collect();
    let greatest =
        |key: &str| checkers.iter().filter_map(|row| number(row, key)).fold(0.0, f64::max);
    let speedups = rows.iter().filter_map(|row| {
        let published: f64 = row.published[3].parse().ok()?;
        Some(published / number(row, "cpu_seconds")?.max(1e-4))
    });
    let mut speedups: Vec<f64> = speedups.collect();
    speedups.sort_by(f64::total_cmp);
    let median = |sorted: &[f64]| sorted.get(sorted.len() / 2).copied().unwrap_or(0.0);
    let mut markdown = format!(
        "# Games as networks\n\n\
         {}: each game in a process of \
         its own, `ludex translate --json`. Seconds are processor time from the circuit to the \
         network, after grounding; those of the thesis are for the network of a turn, on a Xeon E5-2643 at 3.4 GHz. \
         Peak memory is that of the whole process, grounding included. `~` marks a game similar to the \
         published one. The thesis has one constraint a rule, and ours are split, so their \
         numbers can't be compared.\n\n\
         | | |\n| --- | --- |\n\
         | games of tables 3.4 to 3.8 in the corpus | {} |\n| translated | {} |\n\
         | in under 2 s | {n_fast} ({:.1} %) |\n| median seconds | {:.4} |\n\
         | median of thesis seconds / ours | {:.0} |\n\
         | checkers family | {} games, at most {:.3} s, largest domain {} |\n\n\
",
        run.made_by(&format!("translate --seconds {seconds}")),
        rows.len(),
        times.len(),
        100.0 * n_fast as f64 / rows.len().max(1) as f64,
        median(&times),
        median(&speedups),
        checkers.len(),
        greatest("cpu_seconds"),
        greatest("max_domain"),
    );
    let thesis = [
        "game",
        "name",
        "thesis_variables",
        "thesis_max_domain",
        "thesis_constraints",
        "thesis_seconds",
    ];
    let mut tsv = run.rows(Form::Tsv, &[&thesis[..], &COLUMNS, &["note"]].concat());
    let mut table = run.rows(
        Form::Markdown,
        &[
            "game",
            "name in the thesis",
            "variables",
            "largest domain",
            "constraints",
            "seconds",
            "variables here",
            "largest domain",
            "constraints",
            "tuples",
            "seconds",
            "MB",
        ],
    );
    for row in rows {
        let cell = |key: &&str| match &row.report {
            Some(report) => report[*key].to_string(),
            None => "-".into(),
        };
        let cells: Vec<String> = COLUMNS.iter().map(cell).collect();
        let of = |game: String| [&[game, row.name.clone()], &row.published[..], &cells].concat();
        tsv.push(&[of(row.game.clone()), vec![row.note.clone()]].concat());
        let note = if row.note.is_empty() { String::new() } else { format!(" ({})", row.note) };
        table.push(&of(format!("{}{note}", row.game)));
    }
    markdown += table.text();
    run.write("translate", &tsv, &markdown)?;
    println!(
        "{} of {} translated, {n_fast} in under 2 s, median {:.4} s",
        times.len(),
        rows.len(),
        median(&times)
    );
    Ok(())
}
