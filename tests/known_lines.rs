//! Lines of games with hidden information, worked out by hand: the percepts at each step, the facts
//! after the last one, and the final goals.

use ludex_game::Cursor;
use ludex_tests::lines::Line;

/// A line of play with its expected result.
struct Script {
    game: &'static str,
    /// The role whose percepts are given.
    viewer: &'static str,
    /// The moves other than `noop`, and the viewer's percepts after them, sorted by bytes.
    steps: &'static [(&'static str, &'static str)],
    /// Some fluents that are true after the last step.
    holds: &'static [&'static str],
    /// The goals in role order; `None` if the game is not over.
    goals: Option<&'static [u32]>,
}

#[track_caller]
fn check(script: &Script) {
    let mut line = Line::of(script.game, &[]);
    for (done, seen) in script.steps {
        line.step(done);
        line.sees(script.viewer, seen);
    }
    line.holds(script.holds);
    match script.goals {
        Some(goals) => line.ends(goals),
        None => assert!(!line.cursor.is_terminal(), "the game is over"),
    }
}

#[test]
fn one_guess_in_six_is_right() {
    for (step, goals) in [
        (&[("player (guess 3), random (roll 3)", "(rolled 3)")], &[100, 0]),
        (&[("player (guess 3), random (roll 4)", "(rolled 4)")], &[0, 0]),
    ] {
        check(&Script {
            game: "guess-dice",
            viewer: "player",
            steps: step,
            holds: &["(guessed 3)"],
            goals: Some(goals),
        });
    }
}

#[test]
fn the_wumpus_dies_and_the_gold_comes_out() {
    check(&Script {
        game: "wumpus",
        viewer: "agent",
        steps: &[
            ("random (place wumpus 3 1)", ""),
            ("random (place gold 2 2)", ""),
            ("random (place pit 1 3)", ""),
            ("random (place pit 4 4)", ""),
            ("random (place pit 5 5)", ""),
            ("agent enter", ""),
            ("agent forward", "stench"),
            ("agent shoot", "scream"),
            ("agent turn_left", ""),
            ("agent forward", "glitter"),
            ("agent grab", ""),
            ("agent turn_left", ""),
            ("agent forward", "breeze"),
            ("agent forward", "breeze bump"),
            ("agent turn_left", "breeze"),
            ("agent forward", ""),
            ("agent climb", ""),
        ],
        holds: &["(actions 11)", "(facing south)", "carried", "out"],
        goals: Some(&[100, 0]),
    });
}

#[test]
fn the_wumpus_eats_the_visitor() {
    check(&Script {
        game: "wumpus",
        viewer: "agent",
        steps: &[
            ("random (place wumpus 2 1)", ""),
            ("random (place gold 5 1)", ""),
            ("random (place pit 5 5)", ""),
            ("random (place pit 5 4)", ""),
            ("random (place pit 5 3)", ""),
            ("agent enter", "stench"),
            ("agent forward", ""),
        ],
        holds: &["dead"],
        goals: Some(&[0, 0]),
    });
}

#[test]
fn the_cleaner_feels_dirt_and_walls() {
    check(&Script {
        game: "vacuum-cleaner-random",
        viewer: "cleaner",
        steps: &[
            ("random (put 10 10 east)", ""),
            ("random (spill 10 10)", ""),
            ("random (spill 10 9)", ""),
            ("random (spill 1 1)", ""),
            ("random (spill 1 2)", ""),
            ("random (spill 1 3)", ""),
            ("random (spill 1 4)", ""),
            ("random (spill 1 5)", ""),
            ("random (spill 1 6)", ""),
            ("cleaner turn_on", "dirt"),
            ("cleaner go", "bump dirt"),
            ("cleaner suck", ""),
            ("cleaner turn_right", ""),
            ("cleaner go", "dirt"),
            ("cleaner suck", ""),
            ("cleaner turn_left", ""),
            ("cleaner turn_left", ""),
            ("cleaner go", ""),
            ("cleaner turn_off", ""),
        ],
        holds: &["(at 10 10)", "(sucked 2)", "(units 9)"],
        goals: Some(&[25, 0]),
    });
}

#[test]
fn a_latent_mark_is_found_and_another_one_wins() {
    check(&Script {
        game: "tictactoe-latent-random",
        viewer: "oplayer",
        steps: &[
            ("xplayer (try 1 1)", "(marked 1 1 x)"),
            ("oplayer (try 1 10)", "(marked 1 10 o)"),
            ("random (put 2 2 x)", ""),
            ("xplayer (try 3 3)", "(marked 3 3 x)"),
            ("oplayer (try 2 10)", "(marked 2 10 o)"),
            ("random (put 10 1 x)", ""),
            ("xplayer (try 2 2)", "(found 2 2 x)"),
            ("oplayer (try 3 10)", "(marked 3 10 o)"),
            ("random (put 9 1 x)", ""),
            ("xplayer (try 4 4)", "(marked 4 4 x)"),
            ("oplayer (try 4 10)", "(marked 4 10 o)"),
            ("random (put 5 10 o)", ""),
        ],
        holds: &["(cell 5 10 o)", "(shown 2 2)"],
        goals: Some(&[0, 100, 0]),
    });
}

#[test]
fn the_wolf_is_smelled_and_gets_away() {
    check(&Script {
        game: "sheep-and-wolf",
        viewer: "dog",
        steps: &[
            ("random (run south_west)", ""),
            ("shepherd (drive 1 1 north_east)", "(drove shepherd 1 1 north_east)"),
            ("random (run south_east)", ""),
            ("dog (drive 2 2 north_east)", "(drove dog 2 2 north_east)"),
            ("random (run south_west)", ""),
            ("shepherd (drive 3 3 north_east)", "(drove shepherd 3 3 north_east) (smelled 4 4)"),
            ("random (run south_west)", ""),
            ("dog (drive 3 1 north_west)", "(drove dog 3 1 north_west)"),
            ("random (run south_east)", "(smelled 2 2) (smelled 4 4)"),
            (
                "shepherd (drive 2 2 north_east)",
                "(drove shepherd 2 2 north_east) (smelled 2 2) (smelled 4 4) blocked",
            ),
            ("random (run south_east)", "(smelled 5 1)"),
            ("dog (drive 7 1 north_west)", "(drove dog 7 1 north_west) (smelled 5 1)"),
            ("random (run south_west)", "(smelled 2 2)"),
        ],
        holds: &["(cell 2 2 sheep)", "(cell 3 1 wolf)", "(drives 6)"],
        goals: Some(&[0, 0, 0]),
    });
}

#[test]
fn rabbit_and_mouse_open_the_door_and_catch_hubi() {
    check(&Script {
        game: "schnappt-hubi",
        viewer: "rabbit",
        steps: &[
            ("random (hide (east_of 1 1))", ""),
            ("rabbit (go east)", "(did rabbit (go east))"),
            ("random (say magic)", "(is (east_of 1 1) magic)"),
            ("mouse (go south)", "(did mouse (go south))"),
            ("random (say passage)", "(is (north_of 4 3) passage)"),
            ("rabbit wait", "(did rabbit wait)"),
            ("mouse (go south)", "(did mouse (go south))"),
            ("random (say window)", "(is (north_of 4 2) window)"),
            ("rabbit ask", "(did rabbit ask)"),
            ("random (tell toad)", "(told toad)"),
            ("mouse (go west)", "(did mouse (go west))"),
            ("random (say hole)", "(is (east_of 3 3) hole)"),
            ("rabbit wait", "(did rabbit wait)"),
            ("mouse (go west)", "(did mouse (go west))"),
            ("random (say passage)", "(is (east_of 2 3) passage)"),
            ("rabbit wait", "(did rabbit wait)"),
            ("mouse (go south)", "(did mouse (go south))"),
            ("random (say passage)", "(is (north_of 2 2) passage)"),
            ("rabbit wait", "(did rabbit wait)"),
            ("mouse (go south)", "(did mouse (go south))"),
            ("random (say passage)", "(is (north_of 2 1) passage) creaking"),
            ("random (appear 2 2)", ""),
            ("random (float south)", "(meets_hubi mouse) floated"),
            ("rabbit (go east)", "(did rabbit (go east)) (meets_hubi mouse) (meets_hubi rabbit)"),
        ],
        holds: &["(at mouse 2 1)", "(at rabbit 2 1)", "(between (east_of 1 1) open)", "(hubi 2 1)"],
        goals: Some(&[100, 100, 0]),
    });
}

#[test]
fn a_war_of_six_cards_goes_under_the_pile() {
    check(&Script {
        game: "war",
        viewer: "two",
        steps: &[
            ("random (draw (h a))", "(turned one (h a))"),
            ("random (draw (s a))", "(turned two (s a))"),
            ("one noop", ""),
            ("random (draw (h 2))", ""),
            ("random (draw (h 3))", ""),
            ("random (draw (h 5))", "(turned one (h 5))"),
            ("random (draw (s 4))", "(turned two (s 4))"),
            (
                "one (take theirs_first)",
                "(showed one (h 2)) (showed two (h 3)) (took one theirs_first)",
            ),
        ],
        holds: &[
            "(front one (s a))",
            "(under (s a) (h 3))",
            "(under (h 3) (s 4))",
            "(under (s 4) (h a))",
            "(under (h a) (h 2))",
            "(under (h 2) (h 5))",
            "(back one (h 5))",
            "(count 29)",
            "(laid 0)",
        ],
        goals: None,
    });
}
