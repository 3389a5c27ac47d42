//! The built-in games of `games/`: their rules and descriptions.
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

/// The description of a game in its `about.toml`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct About {
    /// The name for people.
    pub title: String,
    /// A description in one sentence.
    pub summary: String,
    /// The kind of game, in the words of the corpus index.
    pub kind: String,
    /// Whether two roles ever choose simultaneously.
    pub simultaneous: bool,
    /// Whether the role `random` takes part.
    pub chance: bool,
    /// Whether the game has imperfect information.
    pub hidden: bool,
    /// The source of the rules.
    pub rules_from: String,
    /// Depth to which `perft.txt` counts.
    pub perft_depth: usize,
}

static GAMES: &[LibraryGame] = include!(concat!(env!("OUT_DIR"), "/library.rs"));

/// Returns all games of the library, sorted by name.
pub fn games() -> &'static [LibraryGame] {
    GAMES
}

/// Finds a game by name, ignoring letter case, hyphens, underscores and blanks.
pub fn find(name: &str) -> Option<&'static LibraryGame> {
    let wanted = fold(name);
    GAMES.iter().find(|game| fold(game.name) == wanted)
}

/// Returns at most three similar names of the library, the closest first.
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
    /// Returns the description of the game; empty without an `about.toml`.
    ///
    /// # Panics
    /// When the `about.toml` is not well-formed, which a test rules out.
    pub fn about(&self) -> About {
        toml::from_str(self.about).expect("the about.toml of a built-in game is well-formed")
    }
}

fn fold(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).flat_map(char::to_lowercase).collect()
}

/// Counts the insertions, deletions and replacements that turn one word into the other.
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
    fn names_are_found_in_any_spelling() {
        for name in ["tictactoe", "TicTacToe", "tic-tac-toe", "tic_tac_toe"] {
            assert_eq!(find(name).map(|game| game.name), Some("tictactoe"), "{name}");
        }
        assert!(find("no such game").is_none());
    }

    #[test]
    fn a_typo_gets_a_suggestion() {
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
    fn every_game_has_a_description() {
        for game in games() {
            let about = game.about();
            assert!(!about.title.is_empty() && !about.summary.is_empty(), "{}", game.name);
            assert!(about.perft_depth > 0, "{}", game.name);
        }
    }
}
