//! What a match depends on, as a short name.

use ludex_game::trace::hash_texts;
use serde::Serialize;

/// All that decides how the matches of a series are played.
///
/// Invariant: matches with the same name were played with the same rules, players, options and seed. Whoever
/// finds the name of a match need not play it.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct MatchKey<'a> {
    /// SHA-256 of the rulesheet.
    pub rules_hash: &'a str,
    /// The engine.
    pub engine: &'a str,
    /// The players, in the order in which they were named.
    pub players: &'a [String],
    /// Seconds before the first move.
    pub start_clock: f64,
    /// Seconds for each move.
    pub play_clock: f64,
    /// Limit of each search.
    pub iterations: Option<u64>,
    /// Other options that change how matches are played.
    pub options: &'a [String],
    /// The seed of the series.
    pub seed: u64,
}

impl MatchKey<'_> {
    /// Returns the name of a match of the series: 16 digits.
    pub fn id(&self, number: usize) -> String {
        let settings = serde_json::to_string(self).expect("settings are plain numbers and texts");
        hash_texts([settings, number.to_string()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_difference_gives_another_name() {
        let (players, others) = (["a".to_string(), "b".into()], ["b".to_string(), "a".into()]);
        let options = ["ponder".to_string()];
        let key = MatchKey {
            rules_hash: "00",
            engine: "circuit",
            players: &players,
            start_clock: 1.0,
            play_clock: 0.5,
            iterations: None,
            options: &[],
            seed: 1,
        };
        let keys = [
            key,
            MatchKey { rules_hash: "01", ..key },
            MatchKey { engine: "reasoner", ..key },
            MatchKey { players: &others, ..key },
            MatchKey { start_clock: 2.0, ..key },
            MatchKey { play_clock: 0.25, ..key },
            MatchKey { iterations: Some(1), ..key },
            MatchKey { options: &options, ..key },
            MatchKey { seed: 2, ..key },
        ];
        let ids: Vec<String> = keys.iter().flat_map(|key| [key.id(0), key.id(1)]).collect();
        let different: std::collections::BTreeSet<&String> = ids.iter().collect();
        assert_eq!(different.len(), ids.len());
        assert_eq!(key.id(7), key.id(7));
    }
}
