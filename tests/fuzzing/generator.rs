//! All generators of inputs, by name.

use ludex_base::{Rng, Seed};
use ludex_testkit::hostile;

use super::{certificates, fresh, nearly, others, parts};

/// A generator of inputs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Generator {
    /// Bytes, some of them of rulesheets.
    Bytes,
    /// Words of rulesheets in any order.
    Tokens,
    /// Built-in games with changes.
    Nearly,
    /// New random rules.
    Fresh,
    /// New random rules with changes.
    FreshChanged,
    /// Models in the language `.qcp`.
    Models,
    /// XCSP3 instances.
    Xcsp3,
    /// Quantified Boolean formulas.
    Qdimacs,
    /// Certificates of exact values.
    Certificates,
    /// Match records, reports, transcripts and traces as JSON.
    Records,
    /// Messages of the protocol.
    Messages,
    /// HTTP requests to a player, and replies to a referee.
    Http,
}

impl Generator {
    /// All generators.
    pub const ALL: [Generator; 12] = [
        Generator::Bytes,
        Generator::Tokens,
        Generator::Nearly,
        Generator::Fresh,
        Generator::FreshChanged,
        Generator::Models,
        Generator::Xcsp3,
        Generator::Qdimacs,
        Generator::Certificates,
        Generator::Records,
        Generator::Messages,
        Generator::Http,
    ];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Generator::Bytes => "bytes",
            Generator::Tokens => "tokens",
            Generator::Nearly => "nearly",
            Generator::Fresh => "fresh",
            Generator::FreshChanged => "fresh-changed",
            Generator::Models => "models",
            Generator::Xcsp3 => "xcsp3",
            Generator::Qdimacs => "qdimacs",
            Generator::Certificates => "certificates",
            Generator::Records => "records",
            Generator::Messages => "messages",
            Generator::Http => "http",
        }
    }

    /// Finds a generator by its name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|generator| generator.name() == name)
    }

    /// Builds the input with this number. The same seed and number give the same input.
    pub fn input(self, seed: Seed, number: u64) -> Vec<u8> {
        let seed = seed.child(number);
        let mut rng = seed.rng();
        match self {
            Generator::Bytes => bytes(&mut rng),
            Generator::Tokens => tokens(&mut rng).into_bytes(),
            Generator::Nearly => nearly::sheet(seed).into_bytes(),
            Generator::Fresh => fresh::sheet(seed).into_bytes(),
            Generator::FreshChanged => {
                let mut clauses = parts::read(&fresh::sheet(seed));
                nearly::change(&mut clauses, &mut rng);
                parts::write(&clauses).into_bytes()
            }
            Generator::Models => others::model(&mut rng),
            Generator::Xcsp3 => others::xcsp3(&mut rng),
            Generator::Qdimacs => others::qdimacs(&mut rng),
            Generator::Certificates => certificates::certificate(&mut rng),
            Generator::Records => others::record(&mut rng),
            Generator::Messages => others::message(&mut rng),
            Generator::Http => others::http(&mut rng),
        }
    }
}

/// Noise, or a sheet with some changed bytes.
fn bytes(rng: &mut Rng) -> Vec<u8> {
    match rng.below(4) {
        0 => (0..rng.below(400)).map(|_| rng.below(256) as u8).collect(),
        1 => {
            let sheets = hostile::sheets();
            let mut bytes = sheets[rng.below(sheets.len())].bytes();
            bytes.truncate(2000);
            others::change_bytes(&mut bytes, rng);
            bytes
        }
        _ => {
            let games = ludex_library::games();
            let mut bytes = games[rng.below(games.len())].rules.as_bytes().to_vec();
            bytes.truncate(4000);
            others::change_bytes(&mut bytes, rng);
            bytes
        }
    }
}

const TOKENS: [&str; 60] = [
    "(",
    "(",
    "(",
    "(",
    "(",
    ")",
    ")",
    ")",
    ")",
    ")",
    " ",
    "\n",
    "<=",
    "(<= ",
    "(not ",
    "(or ",
    "(and ",
    "(distinct ",
    "?x",
    "?y",
    "?z",
    "(role p)",
    "(role q)",
    "(role random)",
    "(init ",
    "(init (f a))",
    "(true ",
    "(true (f ?x))",
    "(does ",
    "(does p ",
    "(legal ",
    "(legal p go)",
    "(legal ?p ?m)",
    "(next ",
    "(next (f ?x))",
    "(sees ",
    "(goal ",
    "(goal p 100)",
    "terminal",
    "(base ",
    "(input ",
    "p",
    "q",
    "f",
    "g",
    "a",
    "b",
    "0",
    "1",
    "100",
    "-1",
    "99999999999",
    ".",
    ":-",
    "&",
    "~",
    "'",
    ";",
    "\u{feff}",
    "\0",
];

/// Words in any order, most of them after a sheet that can be played.
fn tokens(rng: &mut Rng) -> String {
    let mut text = String::new();
    if rng.below(3) > 0 {
        text += "(role p) (init (f a)) (legal p go) (<= terminal (true (f b))) (goal p 100) ";
    }
    let between = ["", " "][rng.below(2)];
    for _ in 0..rng.below(80) {
        text += TOKENS[rng.below(TOKENS.len())];
        text += between;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_number_gives_the_same_input_and_another_number_another() {
        for generator in Generator::ALL {
            assert_eq!(Generator::find(generator.name()), Some(generator));
            let input = |number| generator.input(Seed(3), number);
            assert_eq!(input(1), input(1), "{}", generator.name());
            let differs = (2..20).filter(|&number| input(number) != input(1)).count();
            assert!(differs >= 15, "{}: only {differs}", generator.name());
        }
    }
}
