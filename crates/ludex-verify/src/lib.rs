//! Certificates of exact answers, and the checker that accepts or refutes them.
//!
//! A [`Certificate`] says what a role can force in a game and contains the evidence: a plan, a
//! strategy, or a table of values. [`verify`] replays the evidence with the reasoner alone. It uses
//! no solver and no compiled engine, so a mistake there cannot hide here. `docs/certificates.md`
//! describes the format and what each claim means.
//!
//! Read the modules in this order:
//!
//! 1. `value`: fractions of goals, without rounding errors.
//! 2. `certificate`: the types and their text.
//! 3. `walk`: every state that the evidence leads to.

mod certificate;
mod value;
mod walk;

use ludex_base::{Limits, Source, StopReason};
use ludex_reasoner::Reasoner;

pub use certificate::{Certificate, Claim, Proof, choice_line, rules_hash, state_key};
pub use value::Value;

/// What the checker says about a certificate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Every claim holds.
    Accepted,
    /// Some claim does not follow from its evidence.
    Refuted {
        /// The state and the move at fault, as far as there are any.
        reason: String,
    },
    /// A limit was reached before all states were seen.
    Unknown(StopReason),
}

/// Checks every claim of a certificate against the rules.
///
/// The deadline is checked in every state, and every few thousand moves of a state.
pub fn verify(certificate: &Certificate, rules: &Source, limits: &Limits) -> Verdict {
    match check(certificate, rules, limits) {
        Ok(()) => Verdict::Accepted,
        Err(failure) => failure,
    }
}

fn check(certificate: &Certificate, rules: &Source, limits: &Limits) -> Result<(), Verdict> {
    let hash = rules_hash(rules.text());
    if certificate.rules_hash != hash {
        return Err(refuted(format!(
            "the certificate is for rules with the hash {}, and these have {hash}",
            certificate.rules_hash
        )));
    }
    let checked = ludex_gdl::check_source_within(rules, limits).map_err(Verdict::Unknown)?;
    let Some(program) = checked.program else {
        return Err(refuted("the rules have errors; `ludex check` shows them"));
    };
    let reasoner = Reasoner::new(&program, limits).map_err(|_| {
        Verdict::Unknown(limits.deadline.stop_reason().unwrap_or(StopReason::Fault))
    })?;
    if certificate.proofs.is_empty() {
        return Err(refuted("the certificate claims nothing"));
    }
    certificate
        .proofs
        .iter()
        .try_for_each(|proof| walk::check(&reasoner, certificate.start.as_deref(), proof, limits))
}

pub(crate) fn refuted(reason: impl Into<String>) -> Verdict {
    Verdict::Refuted { reason: reason.into() }
}
