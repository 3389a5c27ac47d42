//! The report on MAC-UCB: tables beside the published ones, and a plot.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use anyhow::{Context as _, Result};
use ludex_referee::{Comparison, Estimate};

use super::{
    CLOCK_GAMES, CLOCKS, Key, PUBLISHED_GAMES, RATIOS, START_CLOCK, Work, series_of, work_of,
};
use crate::plot::{Plot, Scale, Series};
use crate::published::{Published, index};
use crate::run::Run;
use crate::series::{PairSeries, lapses_in_words, mean_over_games, share_cell};
use crate::tables::Table;

/// Writes `macucb.md` and `macucb-ratio.svg` from the table. The hand-written `macucb-notes.md` is appended to
/// the report.
pub(crate) fn summarize(run: &Run, table: &Table, work_table: &Table) -> Result<()> {
    let series = series_of(table)?;
    let work = work_of(work_table)?;
    let mut text = format!(
        "# MAC-UCB\n\n\
         {}: start clock {START_CLOCK} s, one thread a player, one match a core, seats exchanged.\n\
         A series stops when the sequential test finds the stronger player, which overstates shares far from 50 % a little.\n\
         Each share has its 95 % interval and the number of matches in parentheses.\n\
         All exchanges of seats are in `macucb.tsv`; the thesis played 30 s a move (tables 4.1, 4.2) and 15 s (4.4 to 4.9) on another machine, against players without our engine.\n\
         {} {}\n\n",
        run.made_by("macucb"),
        table.commits_in_words()?,
        work_table.commits_in_words()?,
    );
    ratio(run, &mut text, &series, &work)?;
    published(&mut text, &series, &work)?;
    strength(&mut text, &series)?;
    clock(&mut text, &series)?;
    hidden(&mut text, &series)?;
    writeln!(text, "\n{}", lapses_in_words(series.values().map(|found| found.lapses)))?;
    first_lapses(&mut text, &series)?;
    let notes = run.folder()?.join("macucb-notes.md");
    if notes.exists() {
        let notes = fs::read_to_string(&notes).with_context(|| format!("{}", notes.display()))?;
        write!(text, "\n{}", notes.trim_start())?;
    }
    table.describe(&text)
}

/// Writes the lapses of the first player alone, by experiment, for series whose rows have them.
fn first_lapses(text: &mut String, series: &All) -> Result<()> {
    let mut of: BTreeMap<[&str; 2], [u64; 4]> = BTreeMap::new();
    for (key, found) in series {
        let Some(lapses) = found.first_lapses else { continue };
        let player = key[2].split(',').next().unwrap_or_default();
        let sums = of.entry([&key[0], player]).or_default();
        sums.iter_mut().zip(lapses).for_each(|(sum, more)| *sum += more);
    }
    if of.is_empty() {
        return Ok(());
    }
    writeln!(
        text,
        "\nThe first player alone, in series that count it apart:\n\n\
         | experiment | player | moves | late | illegal | from a fallback |\n\
         | --- | --- | --- | --- | --- | --- |"
    )?;
    for ([experiment, player], [late, illegal, fallbacks, moves]) in of {
        writeln!(text, "| {experiment} | {player} | {moves} | {late} | {illegal} | {fallbacks} |")?;
    }
    Ok(())
}

type All = BTreeMap<Key, PairSeries>;

/// The share of the first player, in percent.
fn share(series: &All, key: [&str; 5]) -> Option<(Estimate, usize)> {
    let found = series.get(&key.map(String::from))?;
    let exchanges: Vec<_> = (found.exchanges.iter())
        .filter(|it| !it.first.is_nan() && !it.second.is_nan())
        .copied()
        .collect();
    let n_matches = 2 * exchanges.len();
    Comparison::new(exchanges).map(|it| (it.share.scaled(100.0), n_matches))
}

fn cell(share: Option<(Estimate, usize)>) -> String {
    match share {
        Some((it, n)) => share_cell(&it, n),
        None => "-".into(),
    }
}

/// The games of an experiment, in order.
fn games<'a>(series: &'a All, experiment: &str) -> Vec<&'a str> {
    let mut games: Vec<&str> =
        series.keys().filter(|key| key[0] == experiment).map(|key| key[1].as_str()).collect();
    games.dedup();
    games
}

/// The player with as many playouts a move as `mac-ucb:faithful` has iterations.
fn equal(work: &BTreeMap<String, Work>, game: &str) -> Option<String> {
    Some(format!("uct:iterations={}", work.get(game)?.iterations.max(1.0)))
}

fn ratio(run: &Run, text: &mut String, series: &All, work: &BTreeMap<String, Work>) -> Result<()> {
    writeln!(
        text,
        "## Time ratio (figure 4.4)\n\n\
         `mac-ucb:faithful` at 50 ms a move, by the part of the time for solving networks, against `uct` with as many playouts a move as `mac-ucb:faithful` has networks and playouts at 90 % (`macucb_work.tsv`). \
         The thesis played against UCT with equal time, and found 90 % best.\n\n| game | {} |\n| --- |{}",
        RATIOS.iter().map(|it| format!("{it} %")).collect::<Vec<_>>().join(" | "),
        " --- |".repeat(RATIOS.len())
    )?;
    let mut means: Vec<Vec<Estimate>> = vec![Vec::new(); RATIOS.len()];
    for game in games(series, "ratio") {
        let mut cells = Vec::new();
        for (ratio, means) in RATIOS.iter().zip(&mut means) {
            let first = format!("mac-ucb:faithful,ratio={}", f64::from(*ratio) / 100.0);
            let against = equal(work, game).unwrap_or_default();
            let found = share(series, ["ratio", game, &first, &against, "50"]);
            means.extend(found.map(|it| it.0));
            cells.push(cell(found));
        }
        writeln!(text, "| {game} | {} |", cells.join(" | "))?;
    }
    let of_all = |of_games: &Vec<Estimate>| {
        let Estimate { mean, low, high } = mean_over_games(of_games);
        format!("{mean:.1} ({low:.1} to {high:.1})")
    };
    let cells: Vec<String> = means.iter().map(of_all).collect();
    writeln!(text, "| mean | {} |\n", cells.join(" | "))?;
    let points = RATIOS.iter().zip(&means).filter(|it| !it.1.is_empty());
    let plot = Plot {
        title: "Share of mac-ucb:faithful against uct with as many playouts, mean over games",
        x_label: "percent of the time for solving networks",
        y_label: "percent",
        scale: Scale::Percent,
        series: vec![Series {
            name: "mac-ucb:faithful",
            color: "#2471a3",
            points: points
                .map(|(ratio, means)| (f64::from(*ratio), mean_over_games(means).mean))
                .collect(),
        }],
    };
    run.write_file("macucb-ratio.svg", &plot.to_svg())
}

/// The rows of a published table, by game.
fn thesis(file: &str) -> Result<BTreeMap<String, Vec<String>>> {
    let table = Published::thesis(file)?;
    let of = |(name, cells): (&str, &[String])| (name.to_string(), cells.to_vec());
    Ok(table.by_name().into_iter().map(of).collect())
}

fn published(text: &mut String, series: &All, work: &BTreeMap<String, Work>) -> Result<()> {
    let theirs = thesis("thesis-4.1-macucb-fcucb-uct-30s.tsv")?;
    writeln!(
        text,
        "## Consistency, forward checking and playouts (table 4.1)\n\n\
         At 50 ms a move; the thesis's percentage beside each.\n\
         The last columns show `mac-ucb:faithful` against `uct` with as many playouts a move as it has networks and playouts, the number of these, and the playouts of `uct` in the same time; when there is no network, plain `uct` plays instead.\n\n\
         | game | mac-ucb:faithful against uct | thesis | mac-ucb:faithful against fc-ucb | thesis | fc-ucb against uct | thesis | against uct with as many playouts | networks and playouts | playouts of uct |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    )?;
    for (game, name) in PUBLISHED_GAMES {
        let pairs =
            [("mac-ucb:faithful", "uct"), ("mac-ucb:faithful", "fc-ucb"), ("fc-ucb", "uct")];
        let theirs = theirs.get(*name);
        let cells = pairs.iter().enumerate().map(|(at, (first, against))| {
            let thesis = theirs.and_then(|it| it.get(2 * at)).map_or("-", String::as_str);
            let found = share(series, ["published", game, first, against, "50"]);
            format!("{} | {thesis}", cell(found))
        });
        let cells = cells.collect::<Vec<_>>().join(" | ");
        let counts = match work.get(*game) {
            Some(it) if it.networks > 0.0 => format!("{} | {}", it.iterations, it.uct),
            Some(it) if it.iterations == 0.0 => {
                format!("solved before the first move | {}", it.uct)
            }
            Some(it) => format!("no networks | {}", it.uct),
            None => "- | -".into(),
        };
        let against = equal(work, game).unwrap_or_default();
        let equal = cell(share(series, ["equal", game, "mac-ucb:faithful", &against, "50"]));
        writeln!(text, "| {game} | {cells} | {equal} | {counts} |")?;
    }
    writeln!(text)?;
    Ok(())
}

fn strength(text: &mut String, series: &All) -> Result<()> {
    let mut theirs: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in [
        "thesis-4.4-macucb-multi-A-C.tsv",
        "thesis-4.5-macucb-multi-D-R.tsv",
        "thesis-4.6-macucb-multi-S-Z.tsv",
    ] {
        theirs.extend(thesis(file)?);
    }
    let index = index()?;
    let name_of = |game: &str| {
        let sheet = index.iter().find(|sheet| sheet.game == game)?;
        ["T3.5:", "T3.6:", "T3.7:"].iter().find_map(|mark| sheet.name_in(mark))
    };
    let players = ["uct", "cfr", "grave"];
    writeln!(
        text,
        "## Strength (tables 4.4 to 4.6)\n\n`mac-ucb` at 25 ms a move; the thesis's percentage beside each.\n\n\
         | game | against uct | thesis | against cfr | thesis | against grave | thesis |\n\
         | --- | --- | --- | --- | --- | --- | --- |"
    )?;
    let mut found_of: BTreeMap<&str, Vec<Estimate>> = BTreeMap::new();
    for game in games(series, "strength") {
        let theirs = name_of(game).and_then(|name| theirs.get(name));
        let mut cells = Vec::new();
        for (at, player) in players.iter().enumerate() {
            let found = share(series, ["strength", game, "mac-ucb", player, "25"]);
            found_of.entry(player).or_default().extend(found.map(|it| it.0));
            let thesis = theirs.and_then(|it| it.get(at)).map_or("-", String::as_str);
            cells.push(format!("{} | {thesis}", cell(found)));
        }
        writeln!(text, "| {game} | {} |", cells.join(" | "))?;
    }
    writeln!(
        text,
        "\n| against | games | mean share | 95 % interval | games with an interval wholly above 50 % | wholly below |\n| --- | --- | --- | --- | --- | --- |"
    )?;
    for (player, found) in &found_of {
        let Estimate { mean, low, high } = mean_over_games(found);
        let above = found.iter().filter(|it| it.low > 50.0).count();
        let below = found.iter().filter(|it| it.high < 50.0).count();
        writeln!(
            text,
            "| {player} | {} | {mean:.1} | {low:.1} to {high:.1} | {above} | {below} |",
            found.len()
        )?;
    }
    writeln!(text)?;
    Ok(())
}

fn clock(text: &mut String, series: &All) -> Result<()> {
    let theirs = thesis("thesis-4.2-macucb-vs-uct-by-playclock.tsv")?;
    writeln!(
        text,
        "## Play clock (table 4.2, scaled down)\n\n`mac-ucb` against `uct`; the last two columns are the thesis at 1 s and 60 s.\n\n\
         | game | {} | 1 s | 60 s |\n| --- |{} --- | --- |",
        CLOCKS.iter().map(|it| format!("{it} ms")).collect::<Vec<_>>().join(" | "),
        " --- |".repeat(CLOCKS.len())
    )?;
    for (game, name) in CLOCK_GAMES {
        let of = |clock: &u32| {
            let clock = clock.to_string();
            cell(share(series, ["clock", game, "mac-ucb", "uct", &clock]))
        };
        let cells: Vec<String> = CLOCKS.iter().map(of).collect();
        let thesis = |at: usize| {
            theirs.get(*name).and_then(|it| it.get(at)).map_or("-", String::as_str).to_string()
        };
        writeln!(text, "| {game} | {} | {} | {} |", cells.join(" | "), thesis(0), thesis(7))?;
    }
    writeln!(text)?;
    Ok(())
}

fn hidden(text: &mut String, series: &All) -> Result<()> {
    writeln!(
        text,
        "## Hidden information (tables 4.7 to 4.9)\n\n\
         At 50 ms a move. Mean goals in games of one role:\n\n| game | mac-ucb | uct | cfr |\n| --- | --- | --- | --- |"
    )?;
    let goal = |game: &str, first: &str| {
        let key = ["hidden", game, first, "", "50"].map(String::from);
        let found = series.get(&key).map(|it| &it.exchanges)?;
        let goals: Vec<f64> = found.iter().map(|it| it.first).filter(|it| !it.is_nan()).collect();
        (!goals.is_empty()).then(|| goals.iter().sum::<f64>() / goals.len() as f64)
    };
    let is_single = |game: &str| {
        series.keys().any(|key| key[1] == game && key[0] == "hidden" && key[3].is_empty())
    };
    for game in games(series, "hidden").into_iter().filter(|game| is_single(game)) {
        let cells = ["mac-ucb", "uct", "cfr"]
            .map(|first| goal(game, first).map_or("-".into(), |goal| format!("{goal:.1}")));
        writeln!(text, "| {game} | {} |", cells.join(" | "))?;
    }
    let tables = [
        ("thesis-4.7-macucb2-gdl2-single.tsv", "Thesis, mean goals (MAC-UCB-II, UCT, CFR, GRAVE)"),
        ("thesis-4.8-macucb2-gdl2-imperfect.tsv", "Thesis, against UCT, CFR, GRAVE, Sancho"),
        ("thesis-4.9-macucb2-gdl2-shared.tsv", "Thesis, against UCT, CFR, GRAVE"),
    ];
    writeln!(
        text,
        "\nShares in the other games:\n\n| game | against uct | against cfr |\n| --- | --- | --- |"
    )?;
    for game in games(series, "hidden").into_iter().filter(|game| !is_single(game)) {
        let cells = ["uct", "cfr"]
            .map(|against| cell(share(series, ["hidden", game, "mac-ucb", against, "50"])));
        writeln!(text, "| {game} | {} |", cells.join(" | "))?;
    }
    for (file, title) in tables {
        writeln!(text, "\n{title}:\n\n| game | |\n| --- | --- |")?;
        for (game, cells) in thesis(file)? {
            writeln!(text, "| {game} | {} |", cells.join(", "))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_player_has_a_table_of_its_own_if_counted_apart() {
        let key = |first: &str| ["ratio", "nim", first, "uct", "50"].map(String::from);
        let with = |first_lapses| PairSeries { first_lapses, ..PairSeries::default() };
        let mut series = All::new();
        series.insert(key("fc-ucb"), with(None));
        let mut text = String::new();
        first_lapses(&mut text, &series).expect("writing to a string succeeds");
        assert_eq!(text, "");
        series.insert(key("mac-ucb:faithful,ratio=0.1"), with(Some([1, 0, 2, 30])));
        series.insert(key("mac-ucb:faithful,ratio=0.9"), with(Some([2, 0, 0, 20])));
        first_lapses(&mut text, &series).expect("writing to a string succeeds");
        assert!(text.ends_with("| ratio | mac-ucb:faithful | 50 | 3 | 0 | 2 |\n"), "{text}");
        assert!(!text.contains("fc-ucb"));
    }
}
