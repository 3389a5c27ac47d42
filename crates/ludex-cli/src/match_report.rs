//! The report of a series of matches as text.

use std::fmt::Write as _;

use ludex_record::{Heading, ShareReport};
use ludex_referee::{Series, SeriesEnd, Tally};

use crate::board::cut;

/// Longest name of a player in a table, in characters. Remote players choose their own.
const MAX_NAME: usize = 200;
/// Longest message of a failed match, in characters.
const MAX_FAULT: usize = 300;

/// Formats the report of a series.
pub fn text(heading: &Heading, series: &Series, tally: &Tally) -> String {
    let mut text = format!(
        "{} on the {}, {} of {} matches, start clock {} s, play clock {} s\n",
        heading.name,
        heading.engine,
        series.records.len(),
        heading.count,
        heading.clocks.start.as_secs_f64(),
        heading.clocks.play.as_secs_f64(),
    );
    let names: Vec<_> = tally.players.iter().map(|player| cut(&player.name, MAX_NAME)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(6);
    line(
        &mut text,
        format_args!(
            "{:width$}  mean goal  95 % interval  wins draws losses illegal late fallbacks",
            "player"
        ),
    );
    for (player, name) in tally.players.iter().zip(&names) {
        let (mean, interval) = match player.goal {
            Some(goal) => {
                (format!("{:.1}", goal.mean), format!("{:.1} to {:.1}", goal.low, goal.high))
            }
            None => ("-".into(), "-".into()),
        };
        line(
            &mut text,
            format_args!(
                "{name:width$}  {mean:>9}  {interval:>13}  {:>4} {:>5} {:>6} {:>7} {:>4} {:>9}",
                player.n_wins,
                player.n_draws,
                player.n_losses,
                player.n_illegal,
                player.n_late,
                player.n_fallbacks,
            ),
        );
    }
    if let Some(share) = ShareReport::of(heading, series, tally) {
        line(
            &mut text,
            format_args!(
                "share of {}: {:.1} %, 95 % interval {:.1} to {:.1}",
                share.player, share.percent, share.ci95[0], share.ci95[1]
            ),
        );
        if let Some(stronger) = share.stronger {
            line(
                &mut text,
                format_args!("{stronger} is stronger: the sequential test has decided"),
            );
        }
    } else if heading.is_cooperative {
        line(
            &mut text,
            format_args!("cooperative game: all roles get the same goal, so there is no share"),
        );
    }
    if tally.n_unfinished > 0 {
        let n = tally.n_unfinished;
        line(
            &mut text,
            format_args!("{n} matches did not reach a terminal state and do not count"),
        );
    }
    for record in &series.records {
        if let Some(fault) = &record.fault {
            let (number, fault) = (record.number + 1, cut(fault, MAX_FAULT));
            line(&mut text, format_args!("match {number} failed: {fault}"));
        }
    }
    if series.end == SeriesEnd::Stopped {
        line(&mut text, format_args!("stopped before all matches were played"));
    }
    text
}

fn line(text: &mut String, words: std::fmt::Arguments<'_>) {
    writeln!(text, "{words}").expect("writing to a string");
}
