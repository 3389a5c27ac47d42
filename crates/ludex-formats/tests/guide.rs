//! Solves the instances of the guide.

use ludex_csp::{Goal, SolveOptions};
use ludex_formats::xcsp3::{Status, solve_text};

#[test]
fn the_instances_of_the_guide_have_the_answers_it_gives() {
    let guide = include_str!("../../../docs/constraints.md");
    let instances: Vec<&str> = guide
        .split("```xml\n")
        .skip(1)
        .map(|rest| rest.split("```").next().expect("split gives a first part"))
        .collect();
    let [queens, money, schedule] = instances[..] else {
        panic!("the guide has three instances");
    };
    let options = SolveOptions { goal: Goal::All, ..SolveOptions::default() };
    let solve = |text: &str| solve_text(text, &options, &mut |_| {}).unwrap();
    assert_eq!(solve(queens).n_solutions, 2);
    assert_eq!(solve(money).solutions, [[9, 5, 6, 7, 1, 0, 8, 2]]);
    let answer = solve(schedule);
    assert_eq!((answer.status, answer.values.last()), (Status::Optimum, Some(&7)));
}
