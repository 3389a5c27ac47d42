//! Transcripts as text.

use std::fmt::Write as _;

use ludex_analysis::Layout;
use ludex_record::Transcript;
use ludex_record::transcript::TranscriptEnding;

use crate::board::{draw, in_columns};

/// The width of a transcript.
const WIDTH: usize = 78;
/// Most legal moves of a role that are listed; beyond that, only their number is shown.
const MAX_LISTED: usize = 12;

/// Formats a transcript, with every state drawn.
pub fn transcript_text(transcript: &Transcript, layout: &Layout) -> String {
    let Transcript { name, seed, roles, states, ending, goals } = transcript;
    let mut text = format!("a random play of {name}, seed {seed}\nroles: {}\n", roles.join(" "));
    for (step, state) in states.iter().enumerate() {
        let (n_fluents, hash) = (state.fluents.len(), &state.hash);
        line(&mut text, format_args!("\nstep {step}: {n_fluents} fluents, {hash}"));
        text.push_str(&draw(&layout.picture(&state.fluents), WIDTH));
        for (role, moves) in roles.iter().zip(&state.legal) {
            line(&mut text, format_args!("legal for {role}: {}", moves.len()));
            if (2..=MAX_LISTED).contains(&moves.len()) {
                text.push_str(&in_columns(moves, WIDTH));
            }
        }
        if !state.joint.is_empty() {
            let played =
                roles.iter().zip(&state.joint).map(|(role, text)| format!("{role} {text}"));
            line(&mut text, format_args!("played: {}", played.collect::<Vec<_>>().join(", ")));
        }
        for (role, percepts) in roles.iter().zip(&state.percepts) {
            if !percepts.is_empty() {
                line(&mut text, format_args!("{role} sees: {}", percepts.join(" ")));
            }
        }
    }
    match ending {
        TranscriptEnding::Terminal => {
            let goals = roles.iter().zip(goals.iter().flatten());
            let goals = goals.map(|(role, goals)| format!("{role} {}", goals_text(goals)));
            line(
                &mut text,
                format_args!("terminal, goals: {}", goals.collect::<Vec<_>>().join(", ")),
            );
        }
        TranscriptEnding::Cut => {
            line(&mut text, format_args!("cut after {} steps", states.len() - 1));
        }
        TranscriptEnding::Stuck => line(&mut text, format_args!("stuck: a role has no legal move")),
    }
    text
}

fn goals_text(goals: &[u8]) -> String {
    let goals: Vec<String> = goals.iter().map(ToString::to_string).collect();
    if goals.is_empty() { "none".into() } else { goals.join("/") }
}

fn line(text: &mut String, words: std::fmt::Arguments<'_>) {
    writeln!(text, "{words}").expect("writing to a string");
}
