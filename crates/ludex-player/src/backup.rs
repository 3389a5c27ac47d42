//! The backup: when the search has failed, the reasoner plays.
//!
//! The reasoner shares only the rules with the engine that failed. It is built when it is first needed,
//! replays the match by the texts of its moves, and searches for the rest of the turn.

use std::io;
use std::sync::Arc;

use ludex_base::{Limits, MoveId, RoleId};
use ludex_game::{Cursor, Describe, Game};
use ludex_gdl::Program;
use ludex_reasoner::{Reasoner, ReasonerCursor};
use ludex_search::flat::{Flat, FlatOptions};
use ludex_search::{SearchLimits, SearchReport, Searcher};

use crate::worker::Worker;

/// A question to the reasoner; the match so far is given as texts.
pub(crate) struct BackupQuestion {
    pub history: Vec<Vec<String>>,
    pub role: RoleId,
    pub limits: SearchLimits,
}

/// A move as a text with its report; `None` when the reasoner could not replay the match.
pub(crate) type BackupAnswer = Option<(String, SearchReport)>;

/// Starts a thread with a reasoner of its own.
pub(crate) fn backup(program: Arc<Program>) -> io::Result<Worker<BackupQuestion, BackupAnswer>> {
    Worker::new(move |is_cancelled| {
        let mut reasoner: Option<Reasoner> = None;
        Box::new(move |mut question: BackupQuestion| {
            let limits = &mut question.limits;
            limits.deadline = limits.deadline.clone().or_when(Arc::clone(&is_cancelled));
            if reasoner.is_none() {
                let bounds = Limits::usual().until(limits.deadline.clone());
                reasoner = Reasoner::new(&program, &bounds).ok();
            }
            choose(reasoner.as_ref()?, &question)
        })
    })
}

fn choose(reasoner: &Reasoner, question: &BackupQuestion) -> BackupAnswer {
    let mut cursor = reasoner.cursor();
    cursor.set_deadline(question.limits.deadline.clone());
    for joint in &question.history {
        let joint: Option<Vec<MoveId>> = reasoner
            .role_ids()
            .zip(joint)
            .map(|(role, text)| find_move(reasoner, &mut cursor, role, text))
            .collect();
        cursor.play(&joint?);
    }
    let mut searcher = Flat::new(reasoner, FlatOptions::DEFAULT);
    let report = searcher.search(&cursor, question.role, &question.limits);
    Some((reasoner.move_text(report.chosen?), report))
}

fn find_move(
    reasoner: &Reasoner,
    cursor: &mut ReasonerCursor,
    role: RoleId,
    text: &str,
) -> Option<MoveId> {
    cursor.legal_moves(role).iter().copied().find(|&id| reasoner.move_text(id) == text)
}
