//! Lapses of each role, by step.

use ludex_referee::{AnswerRecord, Lapse, MatchRecord};

/// Maps each answer with `take`: one list per step, one entry per role; `None` for `random`.
pub(crate) fn by_step<T>(
    record: &MatchRecord,
    take: impl Fn(&AnswerRecord) -> Option<T>,
) -> Vec<Vec<Option<T>>> {
    let row = |answers: &Vec<Option<AnswerRecord>>| {
        answers.iter().map(|answer| answer.as_ref().and_then(&take)).collect()
    };
    record.steps.iter().map(|step| row(&step.answers)).collect()
}

/// Returns one list for the start and one per step; an empty text stands for no error.
pub(crate) fn errors(record: &MatchRecord, text: impl Fn(&Lapse) -> String) -> Vec<Vec<String>> {
    let start = record.seats.iter().map(|seat| seat.lapse.as_ref().map(&text).unwrap_or_default());
    let steps = by_step(record, |answer| answer.lapse.as_ref().map(&text));
    let steps =
        steps.into_iter().map(|row| row.into_iter().map(Option::unwrap_or_default).collect());
    std::iter::once(start.collect()).chain(steps).collect()
}
