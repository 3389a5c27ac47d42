//! The types of certificates, and their text.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};

use crate::value::Value;

/// The first line of every certificate.
const HEADER: &str = "ludex-certificate 1";

/// Claims about one game, each with its evidence.
///
/// Its text is what `Display` writes and [`Certificate::read`] reads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Certificate {
    /// The hash of the rules, by [`rules_hash`](crate::rules_hash).
    pub rules_hash: String,
    /// The fluents of the state that the claims are about; the initial state if `None`.
    pub start: Option<Vec<String>>,
    /// The claims with their evidence.
    pub proofs: Vec<Proof>,
}

/// A claim and its evidence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Proof {
    /// What is claimed.
    pub claim: Claim,
    /// For a plan the moves; for a strategy lines made by [`choice_line`], for each state that can be
    /// reached and leaves a choice; for values nothing.
    pub evidence: Vec<String>,
}

/// What a certificate claims.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Claim {
    /// The only role of the game can reach a goal of at least this.
    Plan(String, Value),
    /// A role can force at least this: every play ends, and gives it that, in the mean if there is
    /// chance.
    AtLeast(String, Value),
    /// The other roles can hold a role to this: no play that ends gives it more, in the mean if
    /// there is chance.
    AtMost(String, Value),
    /// Backward induction gives these values, one for each role but `random`. Of several moves that
    /// are best for a role, the first in byte order counts.
    Values(Vec<Value>),
}

/// Returns the name of a state in a certificate: 64 bits of SHA-256 of its fluents, which are given
/// in byte order.
///
/// Two states with one name can only make a certificate be refuted: the checker tells states apart
/// by their fluents, and uses names to find what the certificate says about them.
pub fn state_key(fluents: &[String]) -> String {
    let mut hash = Sha256::new();
    for text in fluents {
        hash.update(text.as_bytes());
        hash.update(b"\n");
    }
    hex(&hash.finalize()[..8])
}

/// Returns the hash of a rulesheet: SHA-256 of its text, in hexadecimal digits.
pub fn rules_hash(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns a line of a strategy: in the state with this key its roles play these moves, one each in
/// role order. The lines of a state share the probability by their weights, which are at least 1.
pub fn choice_line(key: &str, weight: u32, moves: &[String]) -> String {
    format!("{key} {weight} {}", moves.join(" "))
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Claim::Plan(role, value) => write!(f, "plan {role} {value}"),
            Claim::AtLeast(role, value) => write!(f, "at-least {role} {value}"),
            Claim::AtMost(role, value) => write!(f, "at-most {role} {value}"),
            Claim::Values(values) => {
                f.write_str("values")?;
                values.iter().try_for_each(|value| write!(f, " {value}"))
            }
        }
    }
}

impl FromStr for Claim {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let words = terms_of(text).ok_or(())?;
        match words[..] {
            ["plan", role, value] => Ok(Claim::Plan(role.into(), value.parse()?)),
            ["at-least", role, value] => Ok(Claim::AtLeast(role.into(), value.parse()?)),
            ["at-most", role, value] => Ok(Claim::AtMost(role.into(), value.parse()?)),
            ["values", ref values @ ..] => {
                Ok(Claim::Values(values.iter().map(|word| word.parse()).collect::<Result<_, _>>()?))
            }
            _ => Err(()),
        }
    }
}

impl fmt::Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEADER}\nrules {}", self.rules_hash)?;
        if let Some(fluents) = &self.start {
            writeln!(f, "state")?;
            fluents.iter().try_for_each(|fluent| writeln!(f, "  {fluent}"))?;
        }
        for proof in &self.proofs {
            writeln!(f, "{}", proof.claim)?;
            proof.evidence.iter().try_for_each(|line| writeln!(f, "  {line}"))?;
        }
        writeln!(f, "end")
    }
}

impl Certificate {
    /// Reads the text of a certificate, in time linear in its length.
    ///
    /// # Errors
    /// When a line is not what the format says; the error names the line and what it should be.
    pub fn read(text: &str) -> Result<Self, String> {
        let expected = |n_line: usize, what: &str| Err(format!("line {n_line}: expected {what}"));
        let mut lines = text.lines();
        if lines.next() != Some(HEADER) {
            return expected(1, &format!("`{HEADER}`"));
        }
        let Some(hash) = lines.next().and_then(|line| line.strip_prefix("rules ")) else {
            return expected(2, "`rules` and their hash");
        };
        let mut certificate = Certificate { rules_hash: hash.into(), start: None, proofs: vec![] };
        for (n_line, line) in (3..).zip(&mut lines) {
            if let Some(indented) = line.strip_prefix("  ") {
                match (certificate.proofs.last_mut(), &mut certificate.start) {
                    (Some(proof), _) => proof.evidence.push(indented.into()),
                    (None, Some(fluents)) => fluents.push(indented.into()),
                    (None, None) => return expected(n_line, "`state` or a claim"),
                }
            } else if line == "state" && n_line == 3 {
                certificate.start = Some(Vec::new());
            } else if let Ok(claim) = line.parse() {
                certificate.proofs.push(Proof { claim, evidence: Vec::new() });
            } else if line == "end" && lines.next().is_none() {
                return Ok(certificate);
            } else {
                return expected(
                    n_line,
                    "`plan`, `at-least`, `at-most`, `values`, or a last `end`",
                );
            }
        }
        expected(text.lines().count() + 1, "`end`")
    }
}

/// Splits a line at the blanks outside of parentheses; `None` if these do not match.
pub(crate) fn terms_of(line: &str) -> Option<Vec<&str>> {
    let (mut terms, mut start, mut depth) = (Vec::new(), None, 0_usize);
    for (idx, byte) in line.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if byte.is_ascii_whitespace() && depth == 0 {
            terms.extend(start.take().map(|start| &line[start..idx]));
        } else {
            start.get_or_insert(idx);
        }
    }
    terms.extend(start.map(|start| &line[start..]));
    (depth == 0).then_some(terms)
}
