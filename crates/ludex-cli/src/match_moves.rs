//! The moves of a match, one per line, with how each was chosen.

use std::fmt::Write as _;

use ludex_player::Thought;
use ludex_referee::{AnswerRecord, MatchRecord};

/// Formats a match move by move.
pub fn text(record: &MatchRecord) -> String {
    let players: Vec<&str> =
        record.seats.iter().map(|seat| seat.player.as_deref().unwrap_or(&seat.role)).collect();
    let mut text = format!("match {}: {}\n", record.number, players.join(" against "));
    for (step_idx, step) in record.steps.iter().enumerate() {
        for (role_idx, answer) in step.answers.iter().enumerate() {
            let Some(answer) = answer else { continue };
            let (seat, played) = (&record.seats[role_idx].role, &step.moves[role_idx]);
            let line = format!("{:>4} {seat}: {played}{}", step_idx + 1, how(answer));
            writeln!(text, "{line}").expect("writing to a string");
        }
    }
    text
}

fn how(answer: &AnswerRecord) -> String {
    let Some(thought) = &answer.thought else { return String::new() };
    let mut words = format!(" ({}", thought.rung.name());
    if !thought.search.is_empty() {
        write!(words, ", {}", thought.search).expect("writing to a string");
    }
    if let Some(goal) = thought.goal {
        let proved = if thought.is_proven { " proved" } else { "" };
        write!(words, ", goal {goal:.0}{proved}").expect("writing to a string");
    }
    if thought.n_iterations > 0 {
        let (iterations, playouts) = (thought.n_iterations, thought.n_playouts);
        write!(words, ", {iterations} iterations, {playouts} playouts")
            .expect("writing to a string");
    }
    words += &network(thought);
    if !thought.note.is_empty() {
        write!(words, "; {}", thought.note).expect("writing to a string");
    }
    words + ")"
}

fn network(thought: &Thought) -> String {
    let Some(work) = &thought.network else { return String::new() };
    let millis = |time: std::time::Duration| format!("{:.1} ms", 1e3 * time.as_secs_f64());
    let mut words = format!(
        ", {} networks solved, {} subtrees closed, resolution {}, simulation {}, injection {}",
        work.n_solved,
        work.n_closed,
        millis(work.resolution),
        millis(work.simulation),
        millis(work.injection)
    );
    if !work.plan.is_empty() {
        words += &format!(", plan {}", work.plan);
    }
    if !work.note.is_empty() {
        words += &format!("; no network: {}", work.note);
    }
    words
}
