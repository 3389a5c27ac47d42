//! Measures the speedup of several threads over one.
//!
//! `threads [N] [QUEENS] [MARKS]`: N threads, by default one per core, count the solutions of
//! QUEENS queens (13) and find the shortest Golomb ruler of MARKS marks (10). One thread does
//! the same before them. The answers are checked.

use std::num::NonZero;

use ludex_csp::{Goal, Network, SearchConfig, distance, solve};

/// The number of placements of n queens, from 8 queens on.
const PLACEMENTS: [i64; 8] = [92, 352, 724, 2680, 14_200, 73_712, 365_596, 2_279_184];
/// The length of the shortest ruler, from 8 marks on.
const RULERS: [i64; 5] = [34, 44, 55, 72, 85];

fn main() {
    let mut numbers = std::env::args().skip(1).map(|arg| arg.parse().expect("a number"));
    let n_cores = || std::thread::available_parallelism().map_or(1, NonZero::get);
    let n_threads: usize = numbers.next().unwrap_or_else(n_cores);
    let n_queens = numbers.next().unwrap_or(13);
    let n_marks = numbers.next().unwrap_or(10);
    println!("| problem | answer | seconds, 1 thread | {n_threads} threads | sooner by |");
    println!("| --- | ---: | ---: | ---: | ---: |");
    let known = |list: &[i64], n: usize| *list.get(n - 8).expect("a size with a known answer");
    let expected = known(&PLACEMENTS, n_queens);
    compare(&format!("{n_queens} queens, counted"), &queens(n_queens), expected, n_threads);
    let expected = known(&RULERS, n_marks);
    compare(&format!("Golomb ruler of {n_marks} marks"), &golomb(n_marks), expected, n_threads);
}

fn compare(name: &str, network: &Network, expected: i64, n_threads: usize) {
    let seconds = [1, n_threads].map(|n_threads| {
        let config = SearchConfig { goal: Goal::Count, n_threads, ..SearchConfig::default() };
        let report = solve(network, &config).expect("a network without mistakes");
        assert!(report.is_complete());
        assert_eq!(report.value.unwrap_or(report.n_solutions as i64), expected, "{name}");
        report.statistics.time.as_secs_f64()
    });
    let ratio = seconds[0] / seconds[1];
    println!("| {name} | {expected} | {:.2} | {:.2} | {ratio:.2} |", seconds[0], seconds[1]);
}

fn queens(n: usize) -> Network {
    let mut network = Network::new();
    let queens = network.ints("q", n, 0..n as i32);
    network.all_different(&queens);
    network.all_different(queens.iter().enumerate().map(|(i, &q)| q + i as i32));
    network.all_different(queens.iter().enumerate().map(|(i, &q)| q - i as i32));
    network
}

fn golomb(n: usize) -> Network {
    let mut network = Network::new();
    let marks = network.ints("mark", n, 0..=(n * n) as i32);
    network.require(marks[0].equals(0));
    for pair in marks.windows(2) {
        network.require(pair[0].less_than(pair[1]));
    }
    let pairs = (0..n).flat_map(|j| (0..j).map(move |i| (i, j)));
    network.all_different(pairs.map(|(i, j)| distance(marks[i], marks[j])));
    network.minimize(marks[n - 1]);
    network
}
