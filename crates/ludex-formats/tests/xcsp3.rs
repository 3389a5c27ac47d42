//! XCSP3: reading, errors, writing.

use std::sync::Arc;

use std::time::Duration;

use ludex_base::{Deadline, Seed};
use ludex_csp::propagators::table::{STAR, Table};
use ludex_csp::propagators::{Automaton, Mdd};
use ludex_csp::*;
use ludex_formats::xcsp3::{Instance, Status, read, read_by, solve_instance, solve_text, write};

fn instance(variables: &str, constraints: &str) -> String {
    format!(
        "<instance format=\"XCSP3\" type=\"CSP\">\n<variables>\n{variables}\n</variables>\n\
         <constraints>\n{constraints}\n</constraints>\n</instance>"
    )
}

fn count_text(text: &str) -> u64 {
    let options = SolveOptions { goal: Goal::Count, ..SolveOptions::default() };
    solve_text(text, &options, &mut |_| {}).unwrap().n_solutions
}

/// Checks the assignments that a constraint allows, with x an array of `n` over `domain`.
#[track_caller]
fn check(n: usize, domain: &str, constraint: &str, expected: impl Fn(&[i64]) -> bool) {
    let text = instance(&format!("<array id=\"x\" size=\"[{n}]\"> {domain} </array>"), constraint);
    let network = read(&text).unwrap_or_else(|error| panic!("{error}\n{constraint}")).network;
    let mut all: Vec<Vec<Value>> = vec![Vec::new()];
    for _ in 0..n {
        let domain = &network.variables()[0].domain;
        all = all
            .iter()
            .flat_map(|tuple| domain.iter().map(move |v| [&tuple[..], &[v]].concat()))
            .collect();
    }
    let is_expected =
        |tuple: &&Vec<Value>| expected(&tuple.iter().map(|&v| i64::from(v)).collect::<Vec<_>>());
    let wanted: Vec<&Vec<Value>> = all.iter().filter(is_expected).collect();
    let config = SearchConfig { goal: Goal::All, ..SearchConfig::default() };
    let mut found = solve(&network, &config).unwrap().solutions;
    found.iter_mut().for_each(|solution| solution.truncate(n));
    found.sort_unstable();
    assert_eq!(found.iter().collect::<Vec<_>>(), wanted, "{constraint}");
}

fn is_different(values: &[i64]) -> bool {
    (0..values.len()).all(|i| (0..i).all(|j| values[i] != values[j]))
}

#[test]
fn every_constraint_means_what_the_format_says() {
    check(3, "0..2", "<intension> lt(add(x[0],x[1]),x[2]) </intension>", |x| x[0] + x[1] < x[2]);
    check(2, "-3..3", "<intension> eq(div(x[0],2),mod(x[1],3)) </intension>", |x| {
        x[0] / 2 == x[1] % 3
    });
    check(
        2,
        "0..4",
        "<extension> <list> x[] </list> <supports> (1,*)(2,3) </supports> </extension>",
        |x| x[0] == 1 || (x[0] == 2 && x[1] == 3),
    );
    check(
        2,
        "0..4",
        "<extension> <list> x[] </list> <conflicts> (1,*)(2,3) </conflicts> </extension>",
        |x| !(x[0] == 1 || (x[0] == 2 && x[1] == 3)),
    );
    check(
        1,
        "0..9",
        "<extension> <list> x[0] </list> <supports> 1 3..5 </supports> </extension>",
        |x| x[0] == 1 || (3..=5).contains(&x[0]),
    );
    check(3, "0..2", "<allDifferent> x[] </allDifferent>", is_different);
    check(3, "0..2", "<allDifferent> add(x[0],1) x[1] mul(x[2],2) </allDifferent>", |x| {
        is_different(&[x[0] + 1, x[1], 2 * x[2]])
    });
    check(
        3,
        "0..2",
        "<allDifferent> <list> x[] </list> <except> 0 </except> </allDifferent>",
        |x| {
            let some: Vec<i64> = x.iter().copied().filter(|&v| v != 0).collect();
            is_different(&some)
        },
    );
    check(
        4,
        "0..1",
        "<allDifferent> <matrix> (x[0],x[1])(x[2],x[3]) </matrix> </allDifferent>",
        |x| x[0] != x[1] && x[2] != x[3] && x[0] != x[2] && x[1] != x[3],
    );
    check(
        4,
        "0..2",
        "<allDifferent> <list> x[0] x[1] </list> <list> x[2..3] </list> </allDifferent>",
        |x| x[0..2] != x[2..4],
    );
    check(3, "0..2", "<allEqual> x[] </allEqual>", |x| x[0] == x[1] && x[1] == x[2]);
    check(
        3,
        "0..4",
        "<ordered> <list> x[] </list> <lengths> 1 2 </lengths> <operator> le </operator> </ordered>",
        |x| x[0] < x[1] && x[1] + 2 <= x[2],
    );
    check(
        4,
        "0..2",
        "<lex> <list> x[0..1] </list> <list> x[2..3] </list> <operator> gt </operator> </lex>",
        |x| x[0..2] > x[2..4],
    );
    check(
        4,
        "0..2",
        "<lex> <matrix> (x[0],x[1])(x[2],x[3]) </matrix> <operator> le </operator> </lex>",
        |x| x[0..2] <= x[2..4] && [x[0], x[2]] <= [x[1], x[3]],
    );
    check(
        3,
        "0..3",
        "<sum> <list> x[] </list> <coeffs> 1 -2 3 </coeffs> <condition> (in,1..4) </condition> </sum>",
        |x| (1..=4).contains(&(x[0] - 2 * x[1] + 3 * x[2])),
    );
    check(
        3,
        "0..3",
        "<sum> <list> x[0..1] </list> <coeffs> 1x2 </coeffs> <condition> (ne,x[2]) </condition> </sum>",
        |x| x[0] + x[1] != x[2],
    );
    check(
        3,
        "0..3",
        "<sum> <list> x[0..1] </list> <coeffs> x[1..2] </coeffs> <condition> (ge,5) </condition> </sum>",
        |x| x[0] * x[1] + x[1] * x[2] >= 5,
    );
    check(
        4,
        "0..2",
        "<count> <list> x[0..2] </list> <values> 1 2 </values> <condition> (eq,x[3]) </condition> </count>",
        |x| x[..3].iter().filter(|&&v| v > 0).count() as i64 == x[3],
    );
    check(
        4,
        "0..2",
        "<count> <list> x[0..2] </list> <values> x[3] </values> <condition> (ge,2) </condition> </count>",
        |x| x[..3].iter().filter(|&&v| v == x[3]).count() >= 2,
    );
    check(
        4,
        "0..3",
        "<nValues> <list> x[] </list> <except> 0 </except> <condition> (le,2) </condition> </nValues>",
        |x| (1..=3).filter(|v| x.contains(v)).count() <= 2,
    );
    check(
        4,
        "0..3",
        "<cardinality> <list> x[0..2] </list> <values closed=\"true\"> 0 1 2 </values> <occurs> 1 0..2 x[3] </occurs> </cardinality>",
        |x| {
            let n = |v: i64| x[..3].iter().filter(|&&w| w == v).count() as i64;
            n(0) == 1 && n(1) <= 2 && n(2) == x[3] && n(3) == 0
        },
    );
    check(
        3,
        "0..3",
        "<maximum> <list> x[0..1] </list> <condition> (lt,x[2]) </condition> </maximum>",
        |x| x[0].max(x[1]) < x[2],
    );
    check(
        3,
        "0..3",
        "<minimum> <list> x[0] mul(x[1],2) </list> <condition> (eq,x[2]) </condition> </minimum>",
        |x| x[0].min(2 * x[1]) == x[2],
    );
    check(
        4,
        "0..2",
        "<maximumArg> <list> x[0..2] </list> <condition> (eq,x[3]) </condition> </maximumArg>",
        |x| x[x[3] as usize] == *x[..3].iter().max().unwrap(),
    );
    check(
        4,
        "0..2",
        "<minimumArg rank=\"first\"> <list> x[0..2] </list> <condition> (ne,x[3]) </condition> </minimumArg>",
        |x| {
            let least = *x[..3].iter().min().unwrap();
            x[..3].iter().position(|&v| v == least).unwrap() as i64 != x[3]
        },
    );
    check(
        4,
        "0..3",
        "<element> <list startIndex=\"1\"> x[0..1] </list> <index> x[2] </index> <value> x[3] </value> </element>",
        |x| (1..=2).contains(&x[2]) && x[x[2] as usize - 1] == x[3],
    );
    check(
        2,
        "0..4",
        "<element> <list> 4 2 7 </list> <index> x[0] </index> <condition> (gt,x[1]) </condition> </element>",
        |x| x[0] < 3 && [4, 2, 7][x[0] as usize] > x[1],
    );
    check(
        3,
        "0..4",
        "<element> <matrix> (1,2,3)(4,0,1) </matrix> <index> x[0] x[1] </index> <value> x[2] </value> </element>",
        |x| x[0] < 2 && x[1] < 3 && [[1, 2, 3], [4, 0, 1]][x[0] as usize][x[1] as usize] == x[2],
    );
    check(3, "0..2", "<element> <list> x[0..1] </list> <value> x[2] </value> </element>", |x| {
        x[0] == x[2] || x[1] == x[2]
    });
    check(4, "0..3", "<channel> x[] </channel>", |x| (0..4).all(|i| x[x[i] as usize] == i as i64));
    check(4, "0..1", "<channel> <list> x[0..1] </list> <list> x[2..3] </list> </channel>", |x| {
        (0..2).all(|i| x[2 + x[i] as usize] == i as i64 && x[x[2 + i] as usize] == i as i64)
    });
    check(4, "0..2", "<channel> <list> x[0..2] </list> <value> x[3] </value> </channel>", |x| {
        (0..3).all(|i| x[i] == i64::from(x[3] == i as i64))
    });
    check(
        3,
        "0..4",
        "<noOverlap> <origins> x[] </origins> <lengths> 1 2 2 </lengths> </noOverlap>",
        |x| {
            let length = [1, 2, 2];
            (0..3).all(|i| (0..i).all(|j| x[i] + length[i] <= x[j] || x[j] + length[j] <= x[i]))
        },
    );
    check(
        4,
        "0..2",
        "<noOverlap> <origins> (x[0],x[1])(x[2],x[3]) </origins> <lengths> (2,1)(1,2) </lengths> </noOverlap>",
        |x| x[0] + 2 <= x[2] || x[2] < x[0] || x[1] < x[3] || x[3] + 2 <= x[1],
    );
    check(
        3,
        "0..3",
        "<cumulative> <origins> x[] </origins> <lengths> 2 1 2 </lengths> <heights> 1 2 1 </heights> <condition> (lt,3) </condition> </cumulative>",
        |x| {
            (0..6).all(|time| {
                let tasks = [(2, 1), (1, 2), (2, 1)];
                let used: i64 = (0..3)
                    .filter(|&i| x[i] <= time && time < x[i] + tasks[i].0)
                    .map(|i| tasks[i].1)
                    .sum();
                used <= 2
            })
        },
    );
    check(3, "0..2", "<circuit> x[] </circuit>", |x| {
        let n_moved = (0..3).filter(|&i| x[i] != i as i64).count();
        let first = (0..3).find(|&i| x[i] != i as i64);
        first.is_some_and(|first| {
            let mut at = first;
            (1..=n_moved).all(|step| {
                at = x[at] as usize;
                (at == first) == (step == n_moved)
            })
        })
    });
    check(
        3,
        "0..2",
        "<binPacking> <list> x[] </list> <sizes> 2 3 4 </sizes> <condition> (le,5) </condition> </binPacking>",
        |x| {
            let sizes = [2, 3, 4];
            (0..3).all(|bin| (0..3).filter(|&i| x[i] == bin).map(|i| sizes[i]).sum::<i64>() <= 5)
        },
    );
    check(
        3,
        "0..5",
        "<binPacking> <list> x[0..1] </list> <sizes> 2 3 </sizes> <loads> x[2] 2 </loads> </binPacking>",
        |x| {
            x[0] < 2 && x[1] < 2 && {
                let load = |bin| i64::from(x[0] == bin) * 2 + i64::from(x[1] == bin) * 3;
                load(0) == x[2] && load(1) == 2
            }
        },
    );
    check(
        3,
        "0..2",
        "<knapsack> <list> x[] </list> <weights> 2 3 4 </weights> <condition> (le,7) </condition> <profits> 1 2 3 </profits> <condition> (ge,4) </condition> </knapsack>",
        |x| 2 * x[0] + 3 * x[1] + 4 * x[2] <= 7 && x[0] + 2 * x[1] + 3 * x[2] >= 4,
    );
    check(4, "0..3", "<precedence> <list> x[] </list> <values> 2 1 </values> </precedence>", |x| {
        let first = |v: i64| x.iter().position(|&w| w == v);
        first(1).is_none_or(|one| first(2).is_some_and(|two| two < one))
    });
    check(
        2,
        "0..3",
        "<instantiation> <list> x[] </list> <values> 3 1 </values> </instantiation>",
        |x| x == [3, 1],
    );
    check(
        3,
        "0..1",
        "<regular> <list> x[] </list> <transitions> (a,0,a)(a,1,b)(b,0,a) </transitions> <start> a </start> <final> a b </final> </regular>",
        |x| x.windows(2).all(|pair| pair != [1, 1]),
    );
    check(
        2,
        "0..2",
        "<mdd> <list> x[] </list> <transitions> (r,0,p)(r,2,q)(p,1,t)(q,0,t)(q,2,t) </transitions> </mdd>",
        |x| [[0, 1], [2, 0], [2, 2]].contains(&[x[0], x[1]]),
    );
    check(
        4,
        "0..2",
        "<slide> <list> x[] </list> <intension> lt(%0,add(%1,1)) </intension> </slide>",
        |x| x.windows(2).all(|pair| pair[0] <= pair[1]),
    );
    check(
        3,
        "0..2",
        "<block> <group> <sum> <list> %... </list> <condition> (le,%0) </condition> </sum> <args> 2 x[] </args> <args> x[0] x[1..2] </args> </group> </block>",
        |x| x.iter().sum::<i64>() <= 2 && x[1] + x[2] <= x[0],
    );
    check(
        3,
        "0..2",
        "<group> <extension> <list> %0 %1 </list> <supports> (0,1)(1,2) </supports> </extension> <args> x[0] x[1] </args> <args> x[1] x[2] </args> </group>",
        |x| x == [0, 1, 2],
    );
}

#[test]
fn conditions_tuples_and_values_of_every_form() {
    let sum = |condition: &str| {
        format!("<sum> <list> x[] </list> <condition> {condition} </condition> </sum>")
    };
    check(2, "0..4", &sum("(in,{1,3,6..7})"), |x| [1, 3, 6, 7].contains(&(x[0] + x[1])));
    check(2, "0..4", &sum("(notin,{1,3,6..7})"), |x| ![1, 3, 6, 7].contains(&(x[0] + x[1])));
    check(2, "0..4", &sum("(notin,2..5)"), |x| !(2..=5).contains(&(x[0] + x[1])));
    check(
        3,
        "0..4",
        "<extension> <list> x[] </list> <supports> (0..2,{1,3},*)(4,4,4) </supports> </extension>",
        |x| (x[0] <= 2 && [1, 3].contains(&x[1])) || x == [4, 4, 4],
    );
    check(
        2,
        "0..4",
        "<extension> <list> x[] </list> <conflicts> ({0,4}, 1..3) </conflicts> </extension>",
        |x| !([0, 4].contains(&x[0]) && (1..=3).contains(&x[1])),
    );
    check(
        4,
        "0..2",
        "<cardinality> <list> x[0..1] </list> <values> x[2] 1 </values> <occurs> x[3] 0..1 \
         </occurs> </cardinality>",
        |x| {
            let count = |v: i64| x[..2].iter().filter(|&&w| w == v).count() as i64;
            count(x[2]) == x[3] && count(1) <= 1
        },
    );
    check(
        3,
        "0..2",
        "<cardinality> <list> x[0..1] </list> <values closed=\"true\"> x[2] </values> \
         <occurs> 0..2 </occurs> </cardinality>",
        |x| x[0] == x[2] && x[1] == x[2],
    );
    check(
        3,
        "0..3",
        "<element> <matrix startRowIndex=\"1\" startColIndex=\"2\"> (0,1)(2,3) </matrix> \
         <index> x[0] x[1] </index> <value> x[2] </value> </element>",
        |x| (1..=2).contains(&x[0]) && x[1] >= 2 && x[2] == 2 * (x[0] - 1) + x[1] - 2,
    );
    check(
        4,
        "0..1",
        "<allDifferent> <list> x[0] x[1] </list> <list> x[2] x[3] </list> \
         <except> (1,0)(0,0) </except> </allDifferent>",
        |x| x[..2] != x[2..] || x[1] == 0,
    );
    check(
        2,
        "0..3",
        "<cumulative> <origins> x[] </origins> <lengths> 2 2 </lengths> <heights> 1 1 </heights> \
         <condition> (in,0..1) </condition> </cumulative>",
        |x| (x[0] - x[1]).abs() >= 2,
    );
}

#[test]
fn one_variable_may_count_two_values() {
    check(
        3,
        "0..2",
        "<cardinality><list> x[0] x[1] </list><values closed=\"true\"> 0 1 </values>\
         <occurs> x[2] x[2] </occurs></cardinality>",
        |x| x[2] == 1 && x[0] < 2 && x[1] < 2 && x[0] != x[1],
    );
}

#[test]
fn arrays_have_holes_starts_and_likenesses() {
    let text = instance(
        "<array id=\"x\" size=\"[2][2]\" startIndex=\"[1][0]\"> <domain for=\"x[1][]\"> 0..2 </domain>\
         <domain for=\"x[2][0]\"> 5 </domain> </array> <var id=\"y\" as=\"z\"/> ",
        "",
    );
    assert!(read(&text).err().unwrap().to_string().contains("no `z`"));
    let text = text
        .replace(" <var id=\"y\" as=\"z\"/>", "<var id=\"z\"> 1 2 </var><var id=\"y\" as=\"z\"/>");
    let answer = solve_text(&text, &SolveOptions::default(), &mut |_| {}).unwrap();
    assert_eq!(
        answer.instantiation(&answer.solutions[0]),
        "<instantiation> <list> x[][] z y </list> <values> 0 0 5 * 1 1 </values> </instantiation>"
    );
}

#[test]
fn objectives_of_every_kind() {
    let solve = |objective: &str| {
        let text = instance(
            "<array id=\"x\" size=\"[3]\"> 1..4 </array>",
            "<allDifferent> x[] </allDifferent>",
        )
        .replace("</constraints>", &format!("</constraints><objectives>{objective}</objectives>"))
        .replace("\"CSP\"", "\"COP\"");
        let answer = solve_text(&text, &SolveOptions::default(), &mut |_| {}).unwrap();
        assert_eq!(answer.status, Status::Optimum);
        *answer.values.last().unwrap()
    };
    assert_eq!(solve("<minimize> add(x[0],mul(x[1],x[2])) </minimize>"), 5);
    assert_eq!(
        solve("<maximize type=\"sum\"> <list> x[] </list> <coeffs> 1 2 3 </coeffs> </maximize>"),
        20
    );
    assert_eq!(solve("<minimize type=\"maximum\"> x[] </minimize>"), 3);
    assert_eq!(solve("<maximize type=\"minimum\"> <list> x[] </list> </maximize>"), 2);
    assert_eq!(solve("<maximize type=\"product\"> x[] </maximize>"), 24);
    assert_eq!(solve("<minimize type=\"nValues\"> x[] </minimize>"), 3);
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    let error = |text: &str| read(text).err().map(|error| error.to_string()).unwrap_or_default();
    let with = |constraint: &str| {
        error(&instance("<array id=\"x\" size=\"[3]\"> 0..2 </array>", constraint))
    };
    assert_eq!(with("<stretch> x[] </stretch>"), "line 6: `stretch` is not supported");
    assert_eq!(with("<intension> sin(x[0]) </intension>"), "line 6: `sin` is not supported");
    assert_eq!(with("<sum> <list> x[] </list> </sum>"), "line 6: `sum` has no `condition`");
    assert_eq!(with("<allDifferent> y </allDifferent>"), "line 6: there is no variable `y`");
    assert_eq!(
        with("<allDifferent> x[5] </allDifferent>"),
        "line 6: an index of `[5]` is outside the array"
    );
    assert_eq!(
        with("<extension> <list> x[0] x[0] </list> <supports> (0,1) </supports> </extension>"),
        "line 6: constraint 1, `extension`: variable `x[0]` is in the scope twice"
    );
    assert_eq!(
        with("<extension> <list> x[0] x[1] </list> <supports> (0,1,2) </supports> </extension>"),
        "line 6: a tuple of 3 values for 2 variables"
    );
    assert_eq!(
        with("<intension> lt(x[0],99999999999999999999) </intension>"),
        "line 6: the number `99999999999999999999` is out of range"
    );
    assert_eq!(
        error(&instance("<var id=\"y\"> </var>", "")),
        "line 3: variable `y` has an empty domain"
    );
    assert_eq!(
        error(&instance("<var id=\"y\"> 5..1 </var>", "")),
        "line 3: the range `5..1` is empty"
    );
    assert!(error("<instance><variables>").contains("line 1"));
    assert!(error("<instance></instanc>").contains("line 1"));
    assert_eq!(
        error("<instance format=\"XCSP3\" type=\"WCSP\"/>"),
        "line 1: the framework WCSP is not supported"
    );
    let tasks = |lengths: &str, condition: &str| {
        with(&format!(
            "<cumulative> <origins> x[] </origins>\n<lengths> {lengths} </lengths> \
             <heights> 1 1 1 </heights>\n<condition> {condition} </condition> </cumulative>"
        ))
    };
    assert_eq!(
        tasks("1 1 1", "(ge,2)"),
        "line 6: `cumulative` with a condition other than an upper limit is not supported"
    );
    assert_eq!(
        tasks("1 -2 1", "(le,2)"),
        "line 6: constraint 1, `cumulative`: a length is negative"
    );
    assert_eq!(
        with(
            "<cumulative> <origins> x[] </origins> <lengths> 1 1 1 </lengths> <ends> x[0] x[1] </ends> \
             <heights> 1 1 1 </heights> <condition> (le,2) </condition> </cumulative>"
        ),
        "line 6: the numbers of origins and ends differ"
    );
    assert_eq!(
        with("<minimum> <list> </list> <condition> (eq,1) </condition> </minimum>"),
        "line 6: `minimum` of an empty list"
    );
    assert_eq!(
        with(
            "<slide> <list> x[] </list> <list> x[] </list> <intension> lt(%0,%1) </intension> </slide>"
        ),
        "line 6: `slide` over several lists is not supported"
    );
    // Errors in the arguments of a group have the line of the arguments.
    let group = "<group> <allDifferent> %... </allDifferent>\n<args> x[0] x[1] </args>\n\
                 <args> x[2] x[2] </args> </group>";
    assert_eq!(
        with(group),
        "line 8: constraint 2, `allDifferent`: variable `x[2]` is in the scope twice"
    );
    assert_eq!(
        error(&instance("<var id=\"y\" type=\"real\"> 1 </var>", "")),
        "line 3: a variable of type real is not supported"
    );
    assert!(error(&"<a>".repeat(10_000)).contains("deeper"));
    assert!(error("").contains("ends before its root"));
}

#[test]
fn a_billion_values_in_a_file() {
    let text =
        instance("<var id=\"y\"> 0..1000000000 </var>", "<intension> ge(y,999999999) </intension>");
    assert_eq!(count_text(&text), 2);
    let list = "<extension> <list> y </list> <supports> 0..1000000000 </supports> </extension>";
    let error = read(&instance("<var id=\"y\"> 0..9 </var>", list)).err().unwrap();
    assert!(error.to_string().contains("too many values"));
    let array = "<array id=\"x\" size=\"[100000][100000]\"> 0..1 </array>";
    assert!(read(&instance(array, "")).err().unwrap().to_string().contains("too large"));
}

/// Writes every constraint, reads it again, and compares the solutions.
#[test]
fn what_is_written_is_read_back() {
    let mut network = Network::new();
    let x = network.ints("x", 4, 0..=3);
    let terms =
        |range: std::ops::Range<usize>| -> Vec<Expr> { x[range].iter().map(Expr::from).collect() };
    let regular = Automaton {
        n_states: 2,
        start: 0,
        accepting: vec![0],
        transitions: vec![(0, 0, 0), (0, 1, 1), (1, 1, 0), (1, 3, 0), (0, 2, 0)],
    };
    let mdd =
        Mdd::from_transitions(2, [("r", 0, "a"), ("r", 3, "b"), ("a", 1, "t"), ("b", 2, "t")]);
    let constraints = vec![
        Constraint::Intension((x[0] * 2 - x[1]).abs().is_in([1, 3, 4]) | !x[2].equals(x[3])),
        Constraint::Intension(
            if_then_else(x[0].less_than(2), x[1], maximum([x[2], x[3]])).equals(2),
        ),
        Constraint::Intension(x[0].iff(x[1]) & (x[2] % 3).differs(-(x[3] / 2))),
        Constraint::Table {
            scope: x[..3].to_vec(),
            table: Arc::new(Table::from_tuples(3, [[0, STAR, 2], [1, 1, STAR]])),
            is_positive: true,
        },
        Constraint::Table {
            scope: x[1..2].to_vec(),
            table: Arc::new(Table::from_tuples(1, [[0], [3]])),
            is_positive: false,
        },
        Constraint::AllDifferent {
            list: vec![x[0] + 1, x[1].into(), x[2].into()],
            except: [0].into(),
        },
        Constraint::AllDifferentLists { lists: vec![terms(0..2), terms(2..4)] },
        Constraint::Count {
            list: terms(0..3),
            values: [1, 2].into(),
            condition: Condition::equals(x[3]),
        },
        Constraint::NValues {
            list: terms(0..4),
            except: [].into(),
            condition: Condition::In([2, 4].into()),
        },
        Constraint::Cardinality {
            list: terms(0..3),
            values: vec![0, 1, 2],
            occurrences: vec![
                Condition::equals(x[3]),
                Condition::at_least(1),
                Condition::In((0..=1).into()),
            ],
            is_closed: true,
        },
        Constraint::Element {
            list: terms(0..3),
            start: 1,
            index: x[3].into(),
            condition: Condition::at_least(2),
        },
        Constraint::Lex { lists: vec![terms(0..2), terms(2..4)], is_strict: true },
        Constraint::NoOverlap {
            origins: vec![terms(0..2), terms(2..4)],
            lengths: vec![vec![2.into(), 1.into()], vec![1.into(), 2.into()]],
            ignores_zeros: true,
        },
        Constraint::NoOverlap {
            origins: vec![terms(0..1), terms(1..2)],
            lengths: vec![vec![2.into()], terms(2..3)],
            ignores_zeros: false,
        },
        Constraint::Cumulative {
            origins: terms(0..3),
            lengths: vec![2.into(), 2.into(), 1.into()],
            heights: vec![1.into(), 2.into(), 1.into()],
            limit: x[3].into(),
        },
        Constraint::Circuit { list: terms(0..3), start: 0, size: Some(Condition::equals(x[3])) },
        Constraint::Regular { list: terms(0..4), automaton: Arc::new(regular) },
        Constraint::Mdd { list: terms(1..3), mdd: Arc::new(mdd.unwrap()) },
        Constraint::Channel {
            first: terms(0..2),
            start_first: 0,
            second: terms(2..4),
            start_second: 0,
        },
    ];
    let config = SearchConfig { goal: Goal::All, ..SearchConfig::default() };
    for constraint in constraints {
        let mut one = network.clone();
        one.add(constraint);
        one.maximize(x[0] + 2 * x[3]);
        let text = write(&one).unwrap();
        let again = read(&text).unwrap_or_else(|error| panic!("{error}\n{text}")).network;
        assert_eq!(
            write(&again).unwrap(),
            write(&read(&write(&again).unwrap()).unwrap().network).unwrap()
        );
        let all = |network: &Network| {
            let mut network = network.clone();
            let value = solve(&network, &config).unwrap().value;
            let objective = network.objective().cloned();
            assert!(objective.is_some());
            network = without_objective(&network);
            let mut solutions = solve(&network, &config).unwrap().solutions;
            solutions.sort_unstable();
            assert!(!solutions.is_empty(), "{text}");
            (solutions, value)
        };
        assert_eq!(all(&one), all(&again), "{text}");
    }
}

fn without_objective(network: &Network) -> Network {
    let mut other = Network::new();
    for variable in network.variables() {
        other.int(variable.name.clone(), variable.domain.clone());
    }
    for constraint in network.constraints() {
        other.add(constraint.clone());
    }
    other
}

#[test]
fn options_are_checked() {
    let mut options = SolveOptions::default();
    for (name, value) in [
        ("propagator", "str2"),
        ("search", "cbj"),
        ("order", "dom/ddeg"),
        ("values", "max"),
        ("threads", "2"),
        ("seed", "7"),
        ("time", "0.5"),
        ("sac", "true"),
        ("limit", "3"),
        ("all-different", "bounds"),
    ] {
        options.set(name, value).unwrap();
    }
    assert_eq!(
        options.set("propagator", "best").unwrap_err(),
        "`best` is not a value of `propagator`; use one of auto, ct, bit, ac2001, str2, str"
    );
    assert_eq!(options.set("speed", "9").unwrap_err(), "there is no option `speed`");
}

#[test]
fn every_search_answers_in_the_words_of_the_competition() {
    let text = instance(
        "<array id=\"q\" size=\"[4]\"> 0..3 </array>",
        "<allDifferent> q[] </allDifferent>\
         <allDifferent> q[0] add(q[1],1) add(q[2],2) add(q[3],3) </allDifferent>\
         <allDifferent> q[0] sub(q[1],1) sub(q[2],2) sub(q[3],3) </allDifferent>",
    );
    for search in ["mac", "bt", "bc", "cbj", "dbt", "fc"] {
        let mut options = SolveOptions { goal: Goal::All, ..SolveOptions::default() };
        options.set("search", search).unwrap();
        let answer = solve_text(&text, &options, &mut |_| {}).unwrap();
        let printed = answer.to_string();
        assert!(
            printed.starts_with("s SATISFIABLE\nv <instantiation> <list> q[] </list>"),
            "{search}"
        );
        assert_eq!(answer.n_solutions, 2, "{search}");
        assert!(printed.contains("d FOUND SOLUTIONS 2\nd COMPLETE EXPLORATION true\n"));
    }
    let none =
        instance("<array id=\"q\" size=\"[2]\"> 0 </array>", "<allDifferent> q[] </allDifferent>");
    let answer = solve_text(&none, &SolveOptions::default(), &mut |_| {}).unwrap();
    assert!(answer.to_string().starts_with("s UNSATISFIABLE\nd "));
}

#[test]
fn reading_and_posting_stop_at_the_deadline() {
    let text = include_str!("data/all_constraints.xml");
    let over = Deadline::after(Duration::ZERO);
    let stopped = read_by(text, &over).err();
    assert_eq!(stopped, Some(ludex_formats::FormatError::Stopped(ludex_base::StopReason::Time)));
    let instance = read(text).unwrap();
    let config = SearchConfig { deadline: over, ..SearchConfig::default() };
    let report = solve(&instance.network, &config).unwrap();
    assert_eq!(report.verdict(), Verdict::Unknown(ludex_base::StopReason::Time));
}

/// Damaged instances give an answer or an error, never a panic.
#[test]
fn damaged_instances_never_panic() {
    let whole = [
        include_str!("data/all_constraints.xml").to_string(),
        instance(
            "<array id=\"x\" size=\"[2][3]\"> <domain for=\"x[0][] x[1][0]\"> 0..2 </domain> <domain for=\"others\"> 1 2 </domain> </array>",
            "<group> <extension> <list> %0 %1 </list> <supports> (0,1)(1,*) </supports> </extension> <args> x[0][0] x[0][1] </args> </group>",
        ),
    ];
    let pieces = [
        "<",
        ">",
        "/",
        "(",
        ")",
        "[",
        "]",
        "%0",
        "%...",
        "..",
        ",",
        "x",
        "-",
        "99999999999",
        "*",
        "\"",
        "&",
        "add(",
        " ",
        "0",
        "é",
    ];
    let mut rng = Seed(11).rng();
    let (mut n_read, mut n_refused, mut n_solved) = (0, 0, 0);
    for round in 0..4000 {
        let mut bytes = whole[round % whole.len()].clone().into_bytes();
        for _ in 0..=rng.below(4) {
            let at = rng.below(bytes.len());
            match rng.below(4) {
                0 => {
                    bytes.remove(at);
                }
                1 => bytes[at] = rng.below(128) as u8,
                2 => {
                    let end = (at + rng.below(40)).min(bytes.len());
                    bytes.drain(at..end);
                }
                _ => {
                    let piece = *rng.choose(&pieces).unwrap();
                    bytes.splice(at..at, piece.bytes());
                }
            }
            if bytes.is_empty() {
                bytes.push(b'<');
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        match read(&text) {
            Ok(instance) => {
                n_read += 1;
                let _ = instance.network.post(&PostConfig::default());
                n_solved += usize::from(is_solved_or_refused(Arc::new(instance), round));
            }
            Err(error) => {
                n_refused += 1;
                assert!(!error.to_string().is_empty());
            }
        }
    }
    assert!(n_read > 100 && n_refused > 100, "{n_read} read, {n_refused} refused");
    assert!(n_solved > 150, "{n_solved} of {n_read} solved");
}

/// Solves an instance for a moment, by another search each time. Every reported solution must
/// be one.
fn is_solved_or_refused(instance: Arc<Instance>, round: usize) -> bool {
    let method = match instance.network.objective() {
        Some(_) => SearchMethod::Mac,
        None => SearchMethod::ALL[round % SearchMethod::ALL.len()].1,
    };
    let search = SearchConfig {
        n_threads: 1 + round % 2,
        preprocesses: !round.is_multiple_of(3),
        singleton_consistency: round.is_multiple_of(5),
        max_nodes: 20,
        deadline: Deadline::after(Duration::from_millis(5)),
        ..SearchConfig::default()
    };
    let options = SolveOptions { method, search, ..SolveOptions::default() };
    let Ok(answer) = solve_instance(Arc::clone(&instance), &options, &mut |_, _| {}) else {
        return false;
    };
    for solution in &answer.solutions {
        assert!(instance.network.is_solution(solution), "{}", answer.instantiation(solution));
    }
    true
}

/// Unary tables of XCSP3 have no `*`.
#[test]
fn a_star_for_one_variable_is_written_as_every_value() {
    for (is_positive, n_solutions) in [(true, 4), (false, 0)] {
        let mut network = Network::new();
        let x = network.int("x", vec![-2, 0, 1, 5]);
        let table = Table::from_tuples(1, [[STAR], [0]]).into();
        network.add(Constraint::Table { scope: vec![x], table, is_positive });
        let text = write(&network).unwrap();
        assert_eq!(count_text(&text), n_solutions, "{text}");
    }
}
