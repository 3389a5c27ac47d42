//! Orders of groups: products of many small numbers.

use num_bigint::BigUint;

/// The product of numbers.
///
/// Factors are first multiplied in words, then pairwise, so that large numbers meet large ones.
pub(crate) fn product(factors: impl IntoIterator<Item = usize>) -> BigUint {
    let mut words: Vec<u64> = vec![1];
    for factor in factors {
        let last = words.last_mut().expect("there is a word");
        match last.checked_mul(factor as u64) {
            Some(product) => *last = product,
            None => words.push(factor as u64),
        }
    }
    let mut factors: Vec<BigUint> = words.into_iter().map(BigUint::from).collect();
    while factors.len() > 1 {
        factors = factors
            .chunks(2)
            .map(|pair| pair.iter().skip(1).fold(pair[0].clone(), |a, b| a * b))
            .collect();
    }
    factors.pop().expect("there is a factor")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factorials_have_their_digits() {
        assert_eq!(product([]), BigUint::from(1_u32));
        assert_eq!(product(1..=5), BigUint::from(120_u32));
        let expected = "265252859812191058636308480000000";
        assert_eq!(product(1..=30).to_string(), expected);
    }
}
