//! Examples of the language.

use ludex_qcsp::by_definition;

use crate::*;

fn compiled(text: &str, data: &[(&str, &str)]) -> Result<Compiled, Vec<Diagnostic>> {
    let mut all = Data::default();
    for (name, value) in data {
        all.values.insert((*name).into(), Datum::read(value).expect("a value"));
    }
    let source = Source::new("test.qcp", text);
    compile(&source, &all, &ModelLimits::default(), &Deadline::never())
}

fn quantified(compiled: Compiled) -> ludex_qcsp::Model {
    match compiled.problem {
        Problem::Quantified(model) => model,
        other => panic!("it is {}", other.kind()),
    }
}

/// Checks the verdict and the value against the definition of quantified networks.
#[track_caller]
fn check(text: &str, expected: bool, value: Option<i64>) {
    check_with(text, &[], expected, value);
}

#[track_caller]
fn check_with(text: &str, data: &[(&str, &str)], expected: bool, value: Option<i64>) {
    match compiled(text, data) {
        Ok(compiled) => {
            let found = by_definition(&quantified(compiled));
            assert_eq!((found.0, found.1), (expected, value.filter(|_| expected)));
        }
        Err(diagnostics) => panic!("{diagnostics:#?}"),
    }
}

/// Checks the codes of the diagnostics, each with the text it points at.
#[track_caller]
fn check_wrong(text: &str, expected: &[(&str, &str)]) {
    let source = Source::new("test.qcp", text);
    let diagnostics = compiled(text, &[]).err().expect("the text is wrong");
    let found: Vec<(&str, &str)> =
        diagnostics.iter().map(|d| (d.code, source.slice(d.span))).collect();
    assert_eq!(found, expected, "{diagnostics:#?}");
}

#[test]
fn scopes_are_played_in_order() {
    // Examples 8 and 11 of the theory of QCSP.
    check("exists x: 0..1; forall y: 0..1; exists z: 1..2; goal x + y = z;", true, None);
    check("forall y: 0..1; exists x: 0..1 where x != y; goal x + y = 1;", true, None);
    check("exists x, y: {1, 2}; forall z: 1..2; goal x * y = z;", false, None);
}

#[test]
fn a_blocked_player_loses() {
    check("exists x: 1..3 where x > 3; goal true;", false, None);
    check("exists x: 1..3; forall y: 1..3 where x + y > 9; goal false;", true, None);
}

#[test]
fn loops_make_scopes() {
    let nim = "param n: int = 10;
        for (i in 1..5) {
            if i mod 2 = 1 then exists else forall endif x[i]: 1..3;
        }
        goal sum(i in 1..5)(x[i]) = n;";
    for n in 5..15 {
        check_with(nim, &[("n", &n.to_string())], (9..=11).contains(&n), None);
    }
}

#[test]
fn games_go_from_state_to_state() {
    let nim = "param n: int;
        game {
            rounds n + 1;
            state left: 0..n = n;
            move take: 1..3 where take <= left;
            next left = left - take;
        }";
    for n in 0..9 {
        check_with(nim, &[("n", &n.to_string())], n % 4 != 0, None);
    }
}

#[test]
fn who_takes_the_last_one_can_lose() {
    let misere = "param n: int;
        game {
            rounds n + 1;
            state left: 0..n = n;
            end when left = 0 wins;
            move take: 1..3 where take <= left;
            next left = left - take;
        }";
    for n in 0..9 {
        check_with(misere, &[("n", &n.to_string())], n % 4 != 1, None);
    }
    let blocked = misere.replace("end when left = 0 wins;", "blocked wins;");
    for n in 0..7 {
        check_with(&blocked, &[("n", &n.to_string())], n % 4 != 1, None);
    }
}

#[test]
fn a_game_that_ends_asks_for_the_goal() {
    // Players add 1 or 2 until the sum reaches 4; the sum decides, whoever moved last.
    let text = "game {
            rounds 4;
            state sum: 0..5 = 0;
            end when sum >= 4 ends;
            move add: 1..2;
            next sum = sum + add;
        }
        goal sum = TARGET;";
    check(&text.replace("TARGET", "4"), true, None);
    check(&text.replace("TARGET", "5"), false, None);
}

#[test]
fn who_has_no_move_may_pass() {
    // Each player takes from his own heap, one at a time; a player with an empty heap passes
    // until both are empty.
    let text = "param a, b: int;
        game {
            rounds 2 * (a + b) + 2;
            state heap: array[1..2] of 0..9 = [a, b];
            state n_taken: array[1..2] of 0..9 = [0, 0];
            move take: 1..1 where heap[player] >= take;
            next heap = [if p = player then heap[p] - take else heap[p] endif | p in 1..2];
            next n_taken = [if p = player then n_taken[p] + take else n_taken[p] endif | p in 1..2];
            blocked passes;
        }
        goal n_taken[1] > n_taken[2];";
    check_with(text, &[("a", "2"), ("b", "1")], true, None);
    check_with(text, &[("a", "1"), ("b", "2")], false, None);
    check_with(text, &[("a", "3"), ("b", "0")], true, None);
}

#[test]
fn the_first_player_can_be_universal() {
    let text = "game {
            rounds 4;
            players forall, exists;
            state left: 0..3 = 3;
            move take: 1..2 where take <= left;
            next left = left - take;
        }";
    check(text, true, None);
}

#[test]
fn leaders_and_followers_optimize() {
    // Link pricing with two links and two customers.
    let text = "let c = [| 1, 2 | 3, 1 |]; let d = [2, 1]; let u = [10, 4];
        exists t: array[1..2] of 0..4 maximize total;
        forall k: 1..2 aggregate total = sum(income);
        exists a: 1..2
          let cost = (c[k, a] + t[a]) * d[k]
          let income = t[a] * d[k]
          where cost <= u[k]
          minimize cost ties POLICY;
        goal true;";
    check(&text.replace("POLICY", "optimistic"), true, Some(11));
    check(&text.replace("POLICY", "pessimistic"), true, Some(9));
}

#[test]
fn branch_and_bound_has_its_trap() {
    let text = "exists x: 0..1 minimize a;
        exists y: 0..2 minimize b;
        exists a: {3, 5, 7}, b: 0..2
          where table([x, y, a, b], [| 0, 0, 5, 0 | 1, 1, 7, 1 | 1, 2, 3, 2 |]);
        goal true;";
    check(text, true, Some(5));
}

#[test]
fn an_optimum_is_a_constant() {
    let text =
        "let most = optimum { exists x, y: 0..9 where 2 * x + 3 * y <= 12 maximize x + 2 * y; };
        exists z: 0..20 where z = most;
        goal z = 8;";
    check(text, true, None);
}

#[test]
fn indices_outside_make_conditions_false() {
    check("let a = [1, 2, 3]; exists i: 1..5; forall j: 0..0; goal a[i] = 3;", true, None);
    check("let a = [1, 2, 3]; forall i: 1..4; goal a[i] >= 1;", false, None);
    check(
        "let a = [1, 2, 3]; forall i: 1..4; goal if i <= 3 then a[i] else 1 endif >= 1;",
        true,
        None,
    );
    check("forall x: 0..3; goal if x = 0 then true else 6 div x >= 2 endif;", true, None);
    check("exists x: 0..0; goal 6 div x >= 0 \\/ x = 0;", true, None);
}

#[test]
fn global_constraints_have_their_names() {
    check(
        "exists x: array[1..3] of 1..3 where all_different(x) /\\ x[1] > x[2] /\\ x[2] > x[3]; goal x[1] = 3;",
        true,
        None,
    );
    check(
        "exists s: array[1..2] of 0..1 where cumulative(s, [1, 1], [2, 2], 3); goal s[1] = s[2];",
        false,
        None,
    );
    check("forall x: array[1..2] of 1..2; goal all_different(x) \\/ x[1] = x[2];", true, None);
    check(
        "exists x: array[1..3] of 1..2 where count(x, 1) = 2 /\\ at_most(1, x, 2); goal increasing(x);",
        true,
        None,
    );
}

#[test]
fn data_fills_parameters() {
    let text = "enum Question = {win, draw};
        param q: Question; param s: set of int; param m: array[0..1, 1..2] of int;
        exists x: s where x = m[1, 2]; goal q = draw;";
    let data = [("q", "draw"), ("s", "{4, 7}"), ("m", "[| 1, 2 | 3, 7 |]")];
    check_with(text, &data, true, None);
    let codes = |data: &[(&str, &str)]| -> Vec<&'static str> {
        compiled(text, data)
            .err()
            .map(|all| all.iter().map(|d| d.code).collect())
            .unwrap_or_default()
    };
    assert_eq!(codes(&[]), [codes::MISSING_DATA]);
    assert_eq!(codes(&[("q", "7"), ("s", "{1}"), ("m", "[1,2,3,4]")]), [codes::DATA_TYPE]);
    assert_eq!(codes(&[("q", "win"), ("s", "{1}"), ("m", "[1,2,3]")]), [codes::DATA_TYPE]);
    assert_eq!(
        codes(&[("q", "win"), ("s", "{1}"), ("m", "[1,2,3,4]"), ("r", "1")]),
        [codes::UNKNOWN_PARAMETER]
    );
}

#[test]
fn mistakes_have_their_places() {
    check_wrong(
        "exists x: 0..1 where x < y; forall y: 0..1; goal x = y;",
        &[("later-variable", "y")],
    );
    check_wrong("goal x = 1; exists x: 0..1;", &[("used-before-scope", "x")]);
    check_wrong(
        "forall k: 1..2 aggregate t = sum(incom); exists income: 0..3; goal true;",
        &[("unknown-variable", "incom")],
    );
    check_wrong("exists x: 3..1; goal true;", &[("empty-domain", "3..1")]);
    check_wrong("exists x: 0..1; goal colums > 2;", &[("unknown-name", "colums")]);
    check_wrong("exists x: 0..1; goal x + true;", &[("type", "x + true")]);
    check_wrong("exists x: 0..1 exists y: 0..1; goal x;", &[("syntax", "")]);
    check_wrong("exists x: 0..1; exists x: 0..1; goal true;", &[("duplicate-name", "x")]);
    check_wrong("chance x: 0..1; goal true;", &[("reserved-word", "chance")]);
    check_wrong("let a = [1, 2]; exists x: 0..1; goal a[3] = x;", &[("index", "3")]);
    check_wrong(
        "exists x: 1..2; for (i in 1..x) { exists y[i]: 0..1; } goal true;",
        &[("not-constant", "1..x")],
    );
    check_wrong(
        "exists x: 0..1 minimize y; forall k: 1..2; exists y: 0..1; goal true;",
        &[("unknown-variable", "y")],
    );
    check_wrong("forall k: 1..2 minimize k; goal true;", &[("misplaced", "minimize k")]);
    check_wrong(
        "function f(x) = f(x + 1); exists x: 0..1; goal f(1) = x;",
        &[("endless-recursion", "f(x + 1)")],
    );
    check_wrong(
        "for (i in 1..30000) { exists x[i]: 0..1; } goal true;",
        &[("too-large", "exists x[i]: 0..1")],
    );
    check_wrong("exists x: 0..1; goal sun(i in 1..2)(x) = 1;", &[("unknown-name", "sun")]);
    check_wrong("let a = 1 div 0; goal true;", &[("arithmetic", "1 div 0")]);
    check_wrong(
        "exists x: array[1..2] of 0..1; goal not circuit(x);",
        &[("global-inside", "circuit(x)")],
    );
}

#[test]
fn a_misspelt_name_gets_a_suggestion() {
    let diagnostics = compiled("param columns: int = 3; goal colums > 2;", &[]).err().unwrap();
    assert_eq!(diagnostics[0].help.as_deref(), Some("did you mean `columns`?"));
}

#[test]
fn every_mistake_is_found_in_one_run() {
    let text = "param n: int = ; exists x 0..1; goal x = = 2; exists y: 0..1;";
    let n_found = compiled(text, &[]).err().map_or(0, |diagnostics| diagnostics.len());
    assert_eq!(n_found, 3);
}

/// Lists of plain arithmetic take a different path from other values.
#[test]
fn long_lists_are_what_their_members_are() {
    let bodies = [
        "i * i - 3",
        "-i mod 7",
        "if i mod 3 = 0 then i div 2 elseif i > 20 /\\ i != 25 then 7 else -i endif",
        "bool2int(i > 4 \\/ i < 2) + a[i mod 3 + 1, 2]",
        "draw(seed, 2 * i, 1, 100) - draw(3, i, 0, 9) * (i = 5)",
        "2 ^ (i mod 5) + seed",
    ];
    for body in bodies {
        // A loop with two names, or with a condition, does not take the fast path.
        let text = format!(
            "param seed: int = 4; let a = [| 1, 2 | 3, 4 | 5, 6 |];
             let fast = [{body} | i in 1..40];
             let slow = [{body} | i in 1..40 where i > 0];
             assert fast = slow, \"{}\";
             exists x: 0..1; goal x = 1;",
            body.replace('"', "'")
        );
        check(&text, true, None);
    }
    let truths = "let fast = [i * 2 > 9 /\\ not (i = 12) | i in 1..30];
        let slow = [i * 2 > 9 /\\ not (i = 12) | i in 1..30 where true];
        assert forall(i in 1..30)(fast[i] <-> slow[i]);
        exists x: 0..1; goal fast[5] -> x = 1;";
    check(truths, true, None);
    // An undefined value is reported at its position.
    check_wrong(
        "let a = [1 div (i - 20) | i in 1..30]; goal true;",
        &[("arithmetic", "1 div (i - 20)")],
    );
    check_wrong("let b = [1, 2]; let a = [b[i] | i in 1..30]; goal true;", &[("index", "i")]);
    check_wrong("let a = [i + true /\\ i | i in 1..30]; goal true;", &[("type", "i + true /\\ i")]);
}

#[test]
fn symmetries_are_declared_and_change_no_verdict() {
    let text = "exists x: 1..3, y: 1..3;
        forall z: 1..3 symmetry x = y, y = x where z != x /\\ z != y;
        goal z < x + y;";
    let model = quantified(compiled(text, &[]).expect("it is right"));
    assert_eq!(model.scopes()[1].symmetries.len(), 1);
    check(text, true, None);
    let game = "game { rounds 4; state a: array[1..2] of 0..3 = [2, 3];
        move x: 1..2 where a[x] > 0;
        next a = [a[i] - bool2int(x = i) | i in 1..2];
        symmetry a = [a[2], a[1]]; } goal true;";
    let model = quantified(compiled(game, &[]).expect("it is right"));
    // Before the first move the state is constant.
    let declared: Vec<usize> = model.scopes().iter().map(|scope| scope.symmetries.len()).collect();
    assert_eq!(declared, [0, 1, 1, 1]);
    check_wrong("exists x: 0..1 symmetry x = x; goal true;", &[("misplaced", "x = x")]);
    check_wrong(
        "exists x, y: 0..1; forall z: 0..1 symmetry x + 1 = y; goal true;",
        &[("type", "x + 1 = y")],
    );
    check_wrong(
        "exists x: array[1..2] of 0..1; forall z: 0..1 symmetry x = [x[1]]; goal true;",
        &[("type", "x = [x[1]]")],
    );
    check_wrong("exists x: 0..1; forall z: 0..1 symmetry x; goal true;", &[("syntax", "x")]);
    check_wrong(
        "exists x, y: 0..1; forall z: 0..1 symmetry x = y; goal true;",
        &[("type", "x = y")],
    );
    // Both positions of the state become the same variable.
    let game = "game { rounds 3; state a: array[1..2] of 0..3 = [0, 0]; state b: 0..3 = 0;
        move x: 1..2; next b = x; next a = [b, b]; symmetry a = [a[2], a[1]]; } goal true;";
    assert!(compiled(game, &[]).is_ok());
}

#[test]
fn scopes_are_declared_non_blocking() {
    let text = "exists x: 1..3; forall y: 1..3 nonblocking where y != x; goal x != y;";
    let model = quantified(compiled(text, &[]).expect("it is right"));
    assert_eq!(model.scopes().iter().map(|s| s.is_non_blocking).collect::<Vec<_>>(), [false, true]);
    check(text, true, None);
    let game = "game { rounds 2; state s: 0..4 = 0; move x: 1..2; next s = s + x; nonblocking; }
        goal s <= 3;";
    let model = quantified(compiled(game, &[]).expect("it is right"));
    assert!(model.scopes().iter().all(|scope| scope.is_non_blocking));
}

#[test]
fn chance_is_read_and_printed() {
    let text = "exists x: 0..2;
        random y: 0..2 weight 3 - y of 6;
        random z: 0..2 where z <= x;
        goal x + y > z;
        goal x > z threshold 1 of 2;
        threshold 1 of 4;
        utility x + z;";
    let (tree, diagnostics) = crate::parse(text);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let (again, _) = crate::parse(&crate::print(&tree));
    assert_eq!(tree, again);
    for (text, code, at) in [
        ("exists x: 0..1 weight 2; goal true;", "misplaced", "weight 2"),
        ("random x, y: 0..1 where x < y; goal true;", "misplaced", "x < y"),
        ("threshold 3 of 2; exists x: 0..1;", "type", "3 of 2"),
        ("threshold 1 of 2; threshold 1 of 3;", "misplaced", "1"),
        ("random x: 0..1 order [1]; goal true;", "misplaced", "random x: 0..1 order [1]"),
        ("random x: 0..1 weight y; exists y: 0..1;", "later-variable", "y"),
    ] {
        check_wrong(text, &[(code, at)]);
    }
}
