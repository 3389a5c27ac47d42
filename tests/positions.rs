//! Lines of play in games of the library, with positions worked out by hand.
//!
//! Draws are played like any other move, so that a line reaches the rule it tests.

use std::collections::HashMap;

use ludex_base::RoleId;
use ludex_game::Cursor;
use ludex_testkit::exact::Exact;
use ludex_tests::lines::Line;

#[test]
fn awale_captures_backwards_from_the_last_house() {
    let mut line = awale([0, 0, 4, 0, 0, 3, 1, 1, 2, 5, 0, 0], 16, 16);
    line.play(&["(sow 6)"]);
    // The houses 7, 8 and 9 held 2, 2 and 3 seeds after sowing.
    line.holds(&["(seeds 7 0)", "(seeds 8 0)", "(seeds 9 0)", "(seeds 10 5)", "(store south 23)"]);
    line.holds(&["(seeds 6 0)", "(seeds 3 4)", "(store north 16)", "(control north)", "(moves 1)"]);
}

#[test]
fn awale_does_not_capture_all_seeds() {
    let mut line = awale([0, 0, 4, 0, 0, 3, 1, 1, 2, 0, 0, 0], 18, 19);
    line.play(&["(sow 6)"]);
    line.holds(&["(seeds 7 2)", "(seeds 8 2)", "(seeds 9 3)", "(store south 18)"]);
}

#[test]
fn awale_skips_the_sown_house() {
    let mut line = awale([23, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], 12, 12);
    line.play(&["(sow 1)"]);
    // Sowing goes twice around eleven houses and puts the last seed in house 2.
    line.holds(&["(seeds 1 0)", "(seeds 2 3)", "(seeds 3 2)", "(seeds 11 2)", "(seeds 12 3)"]);
    line.holds(&["(store south 12)", "(store north 12)"]);
}

#[test]
fn awale_requires_feeding_an_empty_opponent() {
    let mut line = awale([6, 4, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0], 18, 18);
    line.legal("south", &["(sow 1)", "(sow 6)"]);
}

#[test]
fn awale_ends_when_feeding_is_impossible() {
    awale([5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 20, 23).ends(&[100, 0]);
    awale([4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 20, 24).ends(&[50, 50]);
}

#[test]
fn cant_stop_stops_climbing_at_the_top() {
    let mut line = Line::of("cant-stop", &[]);
    line.play(&["(roll 1 1 1 1)", "(climb 2 2)"]);
    line.holds(&["(runner 2 2)", "(placed 1)"]);
    line.play(&["roll", "(roll 1 1 1 1)", "(climb 2 2)"]);
    line.holds(&["(runner 2 3)", "(placed 1)", "(marker first 2 0)"]);
    line.play(&["roll", "(roll 1 1 1 1)"]);
    line.legal("first", &["bust"]);
    line.play(&["bust"]);
    line.holds(&["(marker first 2 0)", "(placed 0)", "(turn_of second)", "(turns 1)"]);
}

#[test]
fn cant_stop_offers_a_choice_for_the_last_runner() {
    let mut line = Line::of("cant-stop", &[]);
    line.play(&["(roll 1 2 3 4)"]);
    line.legal("first", &["(climb 3 7)", "(climb 4 6)", "(climb 5 5)"]);
    line.play(&["(climb 3 7)", "roll", "(roll 1 4 4 1)"]);
    line.legal("first", &["(climb 5 5)", "(climb_one 2)", "(climb_one 8)"]);
    line.play(&["(climb_one 8)", "roll", "(roll 1 2 5 5)"]);
    // 3 and 10, or 6 and 7: there is no runner left for 10 or 6.
    line.legal("first", &["(climb_one 3)", "(climb_one 7)"]);
    line.play(&["(climb_one 7)", "stop"]);
    line.holds(&["(marker first 3 1)", "(marker first 7 2)", "(marker first 8 1)", "(placed 0)"]);
}

#[test]
fn cant_stop_ends_with_three_columns() {
    let mut line = Line::of("cant-stop", &[]);
    for (dice, climb) in [
        ("(roll 1 1 1 1)", "(climb 2 2)"),
        ("(roll 6 6 6 6)", "(climb 12 12)"),
        ("(roll 1 2 1 2)", "(climb 3 3)"),
    ] {
        line.play(&[dice, climb, "roll", dice, climb, "roll"]);
    }
    line.play(&["(roll 1 2 1 2)", "(climb 3 3)", "stop"]);
    line.holds(&["(marker first 2 3)", "(marker first 12 3)", "(marker first 3 5)"]);
    line.ends(&[100, 0, 0]);
}

#[test]
fn kaseklau_loses_the_cheese_of_a_turn_to_the_cat() {
    let mut line = Line::of("kaseklau", &[]);
    line.play(&["(turn 3 10)", "(turn 3 9)", "(turn 2 10)", "(turn 1 10)", "(turn 1 9)"]);
    line.holds(&["(top 1 3)", "(top 2 3)", "(top 3 2)", "(top 4 1)", "(top 5 1)", "(left 3 8)"]);
    line.play(&["(roll 0 1)"]);
    line.holds(&["(mouse 2)", "(cat 3)", "(held 3)", "(pile 2 5)", "(phase turning)"]);
    line.play(&["(turn 2 9)", "roll"]);
    line.holds(&["(top 2 2)", "(left 2 8)", "(phase rolling)", "(turn_of first)"]);
    // Mouse and cat both reach room 4.
    line.play(&["(roll 1 2)"]);
    line.holds(&["(mouse 4)", "(cat 4)", "(held 0)", "(pile 4 6)", "(safe first 0)"]);
    line.holds(&["(turn_of second)", "(phase rolling)", "(rolls 2)"]);
    line.play(&["(roll 2 1)", "(turn 3 8)", "stop"]);
    line.holds(&["(mouse 5)", "(cat 1)", "(safe second 1)", "(held 0)", "(turn_of first)"]);
}

#[test]
fn orchard_has_the_value_of_the_plain_recursion() {
    let few =
        [("(init (fruit ?t 10))", "(init (fruit ?t 3))"), ("(init (raven 0))", "(init (raven 5))")];
    let line = Line::of("orchard", &few);
    let mut exact = Exact::new(&line.machine, RoleId::new(0), 1_000_000);
    let values = exact.values(line.cursor.state()).expect("a small game that ends");
    let mut known = HashMap::new();
    let expected = 100.0 * orchard_value([3; 4], 4, &mut known);
    assert!((values[0] - expected).abs() < 1e-9, "{values:?}, expected {expected}");
    assert_eq!(values[0], values[1], "the players win together");
    // The value that the head of the rules states for the whole game.
    let whole = 100.0 * orchard_value([10; 4], 9, &mut known);
    assert!((whole - 68.40).abs() < 0.01, "{whole}");
}

#[test]
fn pickomino_steals_a_tile_with_its_exact_number() {
    let mut line = Line::of("pickomino", &[]);
    roll(&mut line, &["worm", "5"], &[4, 4]);
    line.play(&["(set worm)", "roll"]);
    roll(&mut line, &["5"], &[4]);
    line.play(&["(set 5)"]);
    line.holds(&["(points 40)", "(dice 0)"]);
    line.play(&["(take 36)"]);
    line.holds(&["(top first 36)", "(worms first 4)", "(stack first 36 table)", "(points 0)"]);
    roll(&mut line, &["worm", "4"], &[4, 4]);
    line.play(&["(set worm)"]);
    line.legal("second", &["roll"]);
    line.play(&["roll"]);
    roll(&mut line, &["4"], &[4]);
    line.play(&["(set 4)", "(take 36)"]);
    line.holds(&["(top first table)", "(top second 36)", "(worms first 0)", "(worms second 4)"]);
    // Eight ones and no worm: there is no tile to return, and the highest tile is turned over.
    roll(&mut line, &["1"], &[8]);
    line.play(&["(set 1)", "bust"]);
    line.holds(&["(open 34)", "(turn_of second)", "(turns 3)"]);
    line.lacks(&["(open 35)", "(open 36)"]);
    // The returned tile is the highest and stays.
    roll(&mut line, &["1"], &[8]);
    line.play(&["(set 1)", "bust"]);
    line.holds(&["(open 36)", "(open 34)", "(top second table)", "(worms second 0)"]);
}

#[test]
fn pickomino_sets_a_face_aside_only_once() {
    let mut line = Line::of("pickomino", &[]);
    roll(&mut line, &["worm", "2"], &[5, 3]);
    line.play(&["(set worm)"]);
    line.legal("first", &["(take 21)", "(take 22)", "(take 23)", "(take 24)", "(take 25)", "roll"]);
    line.play(&["roll"]);
    roll(&mut line, &["worm"], &[3]);
    line.legal("first", &["bust"]);
}

#[test]
fn yahtzee_plays_jokers() {
    let mut line = Line::of("yahtzee", &[]);
    roll(&mut line, &["6"], &[5]);
    line.play(&["(enter yahtzee)"]);
    line.holds(&["(fifty first)", "(rest first 50)", "(hundreds first 0)", "(upper first 0)"]);
    roll(&mut line, &["1"], &[5]);
    line.play(&["(enter 1)"]);
    line.holds(&["(rest second 5)", "(upper second 5)"]);
    // The second yahtzee goes to the box of its number: 30 points and 100.
    roll(&mut line, &["6"], &[5]);
    enters(&mut line, "first", &["6"]);
    line.play(&["(enter 6)"]);
    line.holds(&["(hundreds first 1)", "(rest first 80)", "(upper first 30)"]);
    roll(&mut line, &["1", "2", "3", "4", "6"], &[1; 5]);
    line.play(&["(enter small)"]);
    line.holds(&["(rest second 35)"]);
    // The third may go to any box except 1 to 6: 40 points and 100.
    roll(&mut line, &["6"], &[5]);
    enters(&mut line, "first", &["chance", "four", "full", "large", "small", "three"]);
    line.play(&["(enter large)"]);
    line.holds(&["(hundreds first 3)", "(rest first 20)", "(upper first 30)"]);
}

#[test]
fn yahtzee_keeps_rolls_and_counts() {
    let mut line = Line::of("yahtzee", &[]);
    roll(&mut line, &["3", "4", "5"], &[2, 1, 2]);
    line.play(&["(keep 0 0 2 0 1 0)"]);
    line.holds(&["(count 3 2)", "(count 4 0)", "(count 5 1)", "(unrolled 2)", "(rolls 2)"]);
    roll(&mut line, &["3", "5"], &[1, 1]);
    line.play(&["(enter full)"]);
    line.holds(&["(rest first 25)", "(turn_of second)", "(unrolled 5)", "(rolls 1)"]);
}

#[test]
fn yahtzee_earns_thirty_five_with_the_upper_boxes() {
    let start = "(<= (init (upper ?p 0)) (opponent ?p ?q))";
    let mut line =
        Line::of("yahtzee", &[(start, "(init (upper first 60)) (init (upper second 0))")]);
    roll(&mut line, &["1", "2"], &[3, 2]);
    line.play(&["(enter 1)"]);
    line.holds(&["(upper first 63)", "(rest first 38)"]);
}

/// Creates awale in another position, with South to move.
fn awale(seeds: [u32; 12], south: u32, north: u32) -> Line {
    assert_eq!(seeds.iter().sum::<u32>() + south + north, 48, "no seed is lost");
    let houses: String = (1..).zip(seeds).map(|(h, n)| format!("(init (seeds {h} {n}))")).collect();
    let stores = format!("(init (store south {south})) (init (store north {north}))");
    Line::of(
        "awale",
        &[
            ("(<= (init (seeds ?h 4)) (owner ?h ?p))", &houses),
            ("(<= (init (store ?p 0)) (role ?p))", &stores),
        ],
    )
}

/// Returns the probability of winning orchard with these trees and this many pieces left to lay,
/// under the best choices. Rolls that change nothing are left out, and trees are sorted, because
/// only their counts matter.
fn orchard_value(
    mut trees: [u32; 4],
    pieces: u32,
    known: &mut HashMap<([u32; 4], u32), f64>,
) -> f64 {
    trees.sort_unstable();
    if trees == [0; 4] {
        return 1.0;
    }
    if pieces == 0 {
        return 0.0;
    }
    if let Some(&value) = known.get(&(trees, pieces)) {
        return value;
    }
    let after_one = after_pick(trees);
    let mut outcomes = vec![orchard_value(trees, pieces - 1, known)];
    outcomes.extend(after_one.iter().map(|&next| orchard_value(next, pieces, known)));
    let after_two = after_one.iter().flat_map(|&next| match after_pick(next) {
        none if none.is_empty() => vec![next],
        some => some,
    });
    let basket = after_two.map(|next| orchard_value(next, pieces, known)).fold(0.0, f64::max);
    outcomes.push(basket);
    let value = outcomes.iter().sum::<f64>() / outcomes.len() as f64;
    known.insert((trees, pieces), value);
    value
}

/// Returns the possible trees after a fruit was picked from one of them.
fn after_pick(trees: [u32; 4]) -> Vec<[u32; 4]> {
    let ripe = (0..4).filter(|&idx| trees[idx] > 0);
    let picked = ripe.map(|idx| {
        let mut next = trees;
        next[idx] -= 1;
        next
    });
    picked.collect()
}

/// Rolls dice one by one: the given count of each face.
#[track_caller]
fn roll(line: &mut Line, faces: &[&str], counts: &[usize]) {
    for (face, &count) in faces.iter().zip(counts) {
        for _ in 0..count {
            line.play(&[&format!("(die {face})")]);
        }
    }
}

/// Checks the boxes that a role may enter, sorted.
#[track_caller]
fn enters(line: &mut Line, role: &str, expected: &[&str]) {
    let moves = line.moves_of(role);
    let boxes = moves.iter().filter_map(|text| text.strip_prefix("(enter ")?.strip_suffix(')'));
    assert_eq!(boxes.collect::<Vec<_>>(), expected);
}
