//! Glyphs for names that people know.

use std::collections::BTreeSet;

const CHESS: [(&str, char, char); 6] = [
    ("king", 'k', '♚'),
    ("queen", 'q', '♛'),
    ("rook", 'r', '♜'),
    ("bishop", 'b', '♝'),
    ("knight", 'n', '♞'),
    ("pawn", 'p', '♟'),
];

/// Returns the glyph of a piece with these names: a chess piece that is spelled out, or its letter
/// where a game has pieces for all six.
pub(crate) fn glyph(names: &[String], all_names: &BTreeSet<String>) -> Option<char> {
    let has = |word: &str| names.iter().any(|name| name.to_ascii_lowercase().contains(word));
    if let Some((_, _, glyph)) = CHESS.iter().find(|(word, _, _)| has(word)) {
        return Some(*glyph);
    }
    let letter = |name: &String| -> Option<char> {
        match name.to_ascii_lowercase().as_bytes() {
            [b'w' | b'b', letter] => Some(char::from(*letter)),
            _ => None,
        }
    };
    let letters: BTreeSet<char> = all_names.iter().filter_map(letter).collect();
    let is_chess = CHESS.iter().all(|(_, it, _)| letters.contains(it));
    let own = names.iter().find_map(letter).filter(|_| is_chess)?;
    CHESS.iter().find(|(_, it, _)| *it == own).map(|(_, _, glyph)| *glyph)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chess_pieces_are_read_from_words_or_from_a_whole_set_of_letters() {
        let set = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        let all: BTreeSet<String> = set(&["wk", "wq", "wr", "wb", "wn", "wp"]);
        assert_eq!(glyph(&["wn".into()], &all), Some('♞'));
        assert_eq!(glyph(&["wn".into()], &set(&["wn", "wp"])), None);
        assert_eq!(glyph(&["black".into(), "queen".into()], &set(&[])), Some('♛'));
        assert_eq!(glyph(&["x".into()], &set(&["x", "o"])), None);
    }
}
