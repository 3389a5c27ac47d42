//! Floors: a test that compares too little proves nothing, so it fails.

/// Panics with all differences, or if fewer than `floor` items were compared.
///
/// Each result is the number of items compared in one game, or its difference. Set the floor near
/// the number compared today. If a deadline limits the test, leave room for a slow machine.
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
    fn reaching_the_floor_passes() {
        assert_compared("states", [Ok(2), Ok(3)], 5);
    }

    #[test]
    #[should_panic(expected = "states: only 5 were compared, 6 are expected")]
    fn staying_below_the_floor_fails() {
        assert_compared("states", [Ok(2), Ok(3)], 6);
    }

    #[test]
    #[should_panic(expected = "1 of 2 differ:\nnim: goals")]
    fn a_difference_fails_above_the_floor_too() {
        assert_compared("states", [Ok(2), Err("nim: goals".into())], 1);
    }
}
