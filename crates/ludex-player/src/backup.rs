//! The second rung of the ladder: when the search broke down, the reasoner plays.
//!
//! It shares nothing with the engine that failed but the rules. It is built when it is first needed,
//! replays the match by the texts of its moves, and searches with what is left of the clock.

use std::sync::Arc;

use ludex_base::{MoveId, RoleId};
use ludex_game::{Cursor, Describe, Game};
use ludex_gdl::Program;
use ludex_reasoner::{Reasoner, ReasonerCursor, ReasonerLimits};
use ludex_search::flat::{Flat, FlatOptions};
use ludex_search::{Limits, SearchReport, Searcher};

use crate::worker::Worker;

/// What the reasoner is asked: the joint moves so far, as texts.
pub(crate) struct BackupQuestion {
    pub history: Vec<Vec<String>>,
    pub role: RoleId,
    pub limits: Limits,
}

/// A move as a text, and what was thought about it; `None` when the rules could not be followed.
pub(crate) type BackupAnswer = Option<(String, SearchReport)>;

/// A thread with a reasoner of its own.
pub(crate) fn backup(program: Arc<Program>) -> Worker<BackupQuestion, BackupAnswer> {
    Worker::new(move |is_cancelled| {
        let mut reasoner: Option<Reasoner> = None;
        Box::new(move |mut question: BackupQuestion| {
            let limits = &mut question.limits;
            limits.deadline = limits.deadline.clone().or_when(Arc::clone(&is_cancelled));
            if reasoner.is_none() {
                let deadline = limits.deadline.clone();
                let bounds = ReasonerLimits { deadline, ..ReasonerLimits::default() };
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
