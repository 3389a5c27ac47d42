//! Floors: a test that compared too little has shown nothing, and fails.

/// Fails with every difference, and where less was compared than `floor`.
///
/// Each result is how much of one game was compared, or what differs there. Set the floor near what
/// is compared today. Where a deadline decides, leave room for a machine that is slow.
#[track_caller]
pub fn assert_compared(
    what: &str,
    results: impl IntoIterator<Item = Result<usize, String>>,
    floor: usize,
) {
    let (mut n_compared, mut n_results) = (0, 0);
    let mut wrong = Vec::new();
    for result in results {
        n_results += 1;
        match result {
            Ok(n) => n_compared += n,
            Err(words) => wrong.push(words),
        }
    }
    assert!(wrong.is_empty(), "{} of {n_results} differ:\n{}", wrong.len(), wrong.join("\n"));
    println!("{what}: {n_compared} compared in {n_results} parts");
    assert!(n_compared >= floor, "{what}: only {n_compared} were compared, {floor} are expected");
}

#[cfg(test)]
mod tests {
    use super::assert_compared;

    #[test]
    fn as_much_as_the_floor_is_enough() {
        assert_compared("states", [Ok(2), Ok(3)], 5);
    }

    #[test]
    #[should_panic(expected = "states: only 5 were compared, 6 are expected")]
    fn less_than_the_floor_fails() {
        assert_compared("states", [Ok(2), Ok(3)], 6);
    }

    #[test]
    #[should_panic(expected = "1 of 2 differ:\nnim: goals")]
    fn a_difference_fails_however_much_was_compared() {
        assert_compared("states", [Ok(2), Err("nim: goals".into())], 1);
    }
}
