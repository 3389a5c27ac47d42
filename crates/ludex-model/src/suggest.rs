//! Suggestions for misspelt names.

/// Returns the candidate nearest to a misspelt name, if one is near.
pub fn closest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted: Vec<char> = name.to_lowercase().chars().take(MAX_LENGTH).collect();
    let near = candidates.into_iter().filter(|candidate| *candidate != name).map(|candidate| {
        let letters: Vec<char> = candidate.to_lowercase().chars().take(MAX_LENGTH).collect();
        (distance(&wanted, &letters), candidate)
    });
    let (distance, candidate) = near.min()?;
    (distance <= wanted.len().div_ceil(3)).then_some(candidate)
}

/// Number of letters compared; only the beginnings of longer names count.
const MAX_LENGTH: usize = 40;

/// Returns the edit distance: insertions, deletions and changes of letters.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let changed = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let names = ["columns", "rows", "depth"];
        assert_eq!(closest("colums", names), Some("columns"));
        assert_eq!(closest("row", names), Some("rows"));
        assert_eq!(closest("tariff", names), None);
    }
}
