//! The games of `games/`, built in: their rules, and what each is.
//!
//! ```
//! let game = ludex_library::find("Tic-Tac-Toe").expect("a built-in game");
//! assert_eq!(game.name, "tictactoe");
//! assert!(game.rules.contains("(role"));
//! assert_eq!(ludex_library::suggestions("tictactow"), ["tictactoe"]);
//! ```
//!
//! To add a game, add a folder; the build script finds it.

use serde::Deserialize;

/// A game of the library. Its folder is `games/<name>/`.
#[derive(Clone, Copy, Debug)]
pub struct LibraryGame {
    /// The name of its folder.
    pub name: &'static str,
    /// The text of its `rules.kif`.
    pub rules: &'static str,
    about: &'static str,
}

/// What `about.toml` says of a game.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct About {
    /// The name for people.
    pub title: String,
    /// What it is, in a sentence.
    pub summary: String,
    /// The kind of game, in the words of the corpus index.
    pub kind: String,
    /// Whether two roles ever choose at once.
    pub simultaneous: bool,
    /// Whether the role `random` takes part.
    pub chance: bool,
    /// Whether roles see only part of what happens.
    pub hidden: bool,
    /// Where the rules of the game come from.
    pub rules_from: String,
    /// How deep `perft.txt` counts.
    pub perft_depth: usize,
}

static GAMES: &[LibraryGame] = include!(concat!(env!("OUT_DIR"), "/library.rs"));

/// Every game of the library, by name.
pub fn games() -> &'static [LibraryGame] {
    GAMES
}

/// The game of this name. Letter case, hyphens, underscores and blanks do not count.
pub fn find(name: &str) -> Option<&'static LibraryGame> {
    let wanted = fold(name);
    GAMES.iter().find(|game| fold(game.name) == wanted)
}

/// Names of the library that are close to this one, the closest first, at most three.
pub fn suggestions(name: &str) -> Vec<&'static str> {
    let wanted = fold(name);
    let mut close: Vec<(usize, &str)> = GAMES
        .iter()
        .map(|game| {
            let folded = fold(game.name);
            let is_part =
                wanted.len() >= 3 && (folded.contains(&wanted) || wanted.contains(&folded));
            (if is_part { 0 } else { edit_distance(&wanted, &folded) }, game.name)
        })
        .filter(|&(distance, _)| distance <= 2.max(wanted.len() / 3))
        .collect();
    close.sort();
    close.into_iter().map(|(_, name)| name).take(3).collect()
}

impl LibraryGame {
    /// What is said about it; empty where nothing is.
    ///
    /// # Panics
    /// When its `about.toml` is not well-formed, which a test rules out.
    pub fn about(&self) -> About {
        toml::from_str(self.about).expect("the about.toml of a built-in game is well-formed")
    }
}

fn fold(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).flat_map(char::to_lowercase).collect()
}

/// Insertions, deletions and replacements that lead from one word to the other.
fn edit_distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_however_they_are_written() {
        for name in ["tictactoe", "TicTacToe", "tic-tac-toe", "tic_tac_toe"] {
            assert_eq!(find(name).map(|game| game.name), Some("tictactoe"), "{name}");
        }
        assert!(find("no such game").is_none());
    }

    #[test]
    fn a_slip_gets_a_suggestion() {
        assert_eq!(suggestions("tictactow").first(), Some(&"tictactoe"));
        assert!(suggestions("connect").contains(&"connectfour"));
        assert!(suggestions("zzzzzzzzzzzz").is_empty());
    }

    #[test]
    fn distance_between_words() {
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("", "abc"), 3);
    }

    #[test]
    fn every_game_says_what_it_is() {
        for game in games() {
            let about = game.about();
            assert!(!about.title.is_empty() && !about.summary.is_empty(), "{}", game.name);
            assert!(about.perft_depth > 0, "{}", game.name);
        }
    }
}
