//! The command as a person or a script uses it: verbs, JSON, exit codes.

use ludex_testkit::command::{json, ludex, ludex_with, stderr, stdout};

const WALK: &str = "(role me) (init (at 1)) (succ 1 2) (succ 2 3)
    (<= (legal me (go ?y)) (true (at ?x)) (succ ?x ?y))
    (<= (next (at ?y)) (does me (go ?y)))
    (<= terminal (true (at 3)))
    (<= (goal me 100) (true (at 3)))
    (<= (goal me 0) (not (true (at 3))))";

#[test]
fn perft_counts() {
    let report = json(&ludex(&["perft", "tictactoe", "--depth", "5", "--json"]), 0);
    assert_eq!(report["nodes"], serde_json::json!([9, 72, 504, 3024, 15120]));
    assert!(report["seconds"].is_f64());
    let text = stdout(&ludex(&["perft", "tictactoe", "--depth", "2", "--engine", "reasoner"]));
    assert_eq!(text, "1 9\n2 72\n");
}

#[test]
fn perft_ends_with_the_longest_path() {
    let report = json(&ludex(&["perft", "tictactoe", "--depth", "4000000000", "--json"]), 0);
    assert_eq!(report["nodes"].as_array().map(Vec::len), Some(10));
    assert_eq!(report["nodes"][9], 0);
}

/// Rules under which `a` and `b` each win if the other does not, so the second state has no defined
/// winner.
const CIRCLE: &str = "(role me) (init one) (legal me go) (goal me 100) (<= terminal (true three))
    (<= (next two) (true one)) (pair a b) (pair b a)
    (<= (win ?x) (pair ?x ?y) (true two) (not (win ?y))) (<= (next three) (win a))";

#[test]
fn states_that_cannot_be_evaluated_are_errors() {
    for args in [["trace", "-"], ["perft", "-"]] {
        let mut args = args.to_vec();
        args.extend(["--engine", "reasoner", "--json"]);
        args.extend((args[0] == "perft").then_some(["--depth", "3"]).iter().flatten());
        let output = ludex_with(&args, CIRCLE);
        assert_eq!(output.status.code(), Some(3), "{args:?}: {}", stdout(&output));
    }
    let report = json(&ludex_with(&["check", "-", "--json"], CIRCLE), 1);
    assert_eq!(report["playable"], false);
    assert_eq!(report["errors"][0]["code"], "negative-cycle");
    assert_eq!(report["errors"][0]["line"], 3, "the rule that negates `win`");
}

#[test]
fn check_reports_invalid_bytes_only() {
    let code_of = |bytes: &[u8], code: i32, list: &str| {
        let report = json(&ludex_with(&["check", "-", "--json"], bytes), code);
        let found = report[list].as_array().expect("the report has the list");
        let codes = found
            .iter()
            .map(|it| it["code"].as_str().expect("every diagnostic has a code").to_owned());
        codes.collect::<Vec<_>>()
    };
    assert_eq!(code_of(&[0, 159, 146, 150, 0, 1], 1, "errors"), ["not-utf8"]);
    let huge = vec![b' '; (64 << 20) + 1];
    let refused = json(&ludex_with(&["check", "-", "--json"], &huge), 1);
    assert!(refused["error"].as_str().is_some_and(|it| it.contains("too large")), "{refused}");
    let latin1 = [WALK.as_bytes(), b"\n; caf\xe9\n"].concat();
    assert_eq!(code_of(&latin1, 0, "warnings"), ["not-utf8"]);
}

#[test]
fn perft_stops_in_time() {
    let output = ludex(&["perft", "chess", "--depth", "9", "--time", "0.5", "--json"]);
    let report = json(&output, 3);
    assert_eq!(report["stopped"], "time");
    assert_eq!(report["nodes"][0], 20);
}

#[test]
fn check_accepts_valid_rules() {
    let report = json(&ludex(&["check", "tic-tac-toe", "--json"]), 0);
    assert_eq!((&report["ok"], &report["playable"]), (&true.into(), &true.into()));
    assert_eq!(report["errors"], serde_json::json!([]));
    assert!(report["warnings"].is_array());
}

#[test]
fn check_locates_errors() {
    let rules = "(role me)\n(<= (legal me ?x)\n    (not (p ?x)))\n";
    let report = json(&ludex_with(&["check", "-", "--json"], rules), 1);
    assert_eq!(report["ok"], false);
    let errors = report["errors"].as_array().expect("there are errors");
    assert!(!errors.is_empty());
    for error in errors {
        assert!(error["code"].is_string() && error["message"].is_string(), "{error}");
        assert!(error["line"].is_u64() && error["column"].is_u64(), "{error}");
    }
    let output = ludex_with(&["check", "-"], rules);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("<stdin>:"), "{}", stderr(&output));
    assert!(stderr(&output).contains('^'), "{}", stderr(&output));
}

/// A state beyond the limits of the reasoner looks terminal.
#[test]
fn a_state_that_cannot_be_evaluated_is_not_the_end_of_the_game() {
    let rules = "(role p) (init (n z)) (legal p go) (<= (next (n (s ?x))) (true (n ?x)))
                 (<= terminal (true over)) (goal p 100)";
    for call in [
        &["transcript", "-", "--engine", "reasoner", "--steps", "600"][..],
        &["play", "-", "--engine", "reasoner", "--role", "none", "--player", "random"],
    ] {
        let output = ludex_with(call, rules);
        assert_eq!(output.status.code(), Some(3), "{call:?}: {}", stderr(&output));
        let message = stderr(&output);
        assert!(message.contains("the rules could not be evaluated in this state"), "{message}");
    }
    let call = ["transcript", "-", "--engine", "reasoner", "--steps", "600", "--json"];
    // One object says what was played and why it stops.
    let report = json(&ludex_with(&call, rules), 3);
    assert_eq!(report["ending"], "cut");
    assert!(report["error"].as_str().is_some_and(|it| it.contains("could not be evaluated")));
    assert!(report["states"].as_array().is_some_and(|states| states.len() > 400));
}

#[test]
fn check_deep_knows_tic_tac_toe() {
    let report = json(&ludex(&["check", "tictactoe", "--deep", "--json"]), 0);
    let deep = &report["deep"];
    assert_eq!((&deep["states"], &deep["arcs"]), (&5478.into(), &16167.into()));
    assert_eq!(deep["well_formed"], "yes");
    assert_eq!(deep["strongly_winnable"], "no");
    let report = json(&ludex(&["check", "chess", "--deep", "--states", "500", "--json"]), 3);
    assert_eq!(report["deep"]["terminating"], "unknown");
    assert!(report["deep"]["reason"].is_string());
    assert!(report["deep"]["evidence"]["playouts"].as_u64() > Some(0));
}

#[test]
fn ground_gives_sizes() {
    let report = json(&ludex(&["ground", "connectfour", "--json"]), 0);
    for key in ["seconds", "fluents", "moves", "rules", "gates", "peak_mb"] {
        assert!(report[key].is_number(), "{key}: {report}");
    }
    assert_eq!(report["machine"], "circuit");
}

#[test]
fn ground_reports_games_that_are_too_large() {
    let output = ludex(&["ground", "chess", "--memory", "1MB", "--json"]);
    let report = json(&output, 3);
    assert_eq!(report["machine"], "reasoner");
    assert!(report["reason"].is_string());
    assert!(stderr(&output).contains("the reasoner plays"));
}

#[test]
fn trace_has_the_shape_of_the_recordings() {
    let report = json(&ludex_with(&["trace", "-", "--json"], WALK), 0);
    assert_eq!(report["name"], "stdin");
    assert_eq!(report["roles"], serde_json::json!(["me"]));
    assert_eq!(report["init"], serde_json::json!(["(at 1)"]));
    assert_eq!(report["legal0"], serde_json::json!([["(go 2)"]]));
    assert_eq!(report["sha256"].as_str().map(str::len), Some(64));
    let line = &report["lines"]["min"];
    assert_eq!(line["end"], "terminal");
    assert_eq!(line["steps"][0]["m"], serde_json::json!(["(go 2)"]));
    assert_eq!(line["steps"][2]["t"], 1);
    assert_eq!(line["steps"][2]["g"], serde_json::json!([[100]]));
    assert_eq!(line["steps"][2].get("m"), None);
    assert_eq!(line.get("checked_by"), None);
    let by_reasoner = ludex_with(&["trace", "-", "--json", "--machine", "reasoner"], WALK);
    assert_eq!(json(&by_reasoner, 0), report);
}

#[test]
fn bench_measures() {
    let args = ["bench", "tictactoe", "--seconds", "0.2", "--threads", "1", "--engine", "circuit"];
    let report = json(&ludex(&[&args[..], &["--json"]].concat()), 0);
    for key in [
        "setup_seconds",
        "playouts",
        "cpu_seconds",
        "playouts_per_second",
        "playouts_per_cpu_second",
        "moves_per_cpu_second",
        "mean_length",
    ] {
        assert!(report[key].as_f64() > Some(0.0), "{key}: {report}");
    }
    assert_eq!(report["mean_goal"].as_array().map(Vec::len), Some(2));
    assert_eq!(report["machine"], "circuit");
    // A playout of tic-tac-toe has 5 to 9 steps, 7.6 on average.
    let mean_length = report["mean_length"].as_f64().expect("a number");
    assert!((7.3..7.9).contains(&mean_length), "{mean_length}");
}

#[test]
fn games_lists_the_library() {
    let report = json(&ludex(&["games", "--json"]), 0);
    let games = report["games"].as_array().expect("a list");
    assert!(games.len() >= 30);
    assert!(games.iter().any(|game| game["name"] == "connectfour"));
    assert!(stdout(&ludex(&["games"])).contains("tictactoe"));
}

#[test]
fn an_unknown_game_gets_suggestions() {
    let output = ludex(&["check", "conectfour"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("did you mean connectfour"), "{}", stderr(&output));
}

#[test]
fn a_folder_names_its_rulesheet() {
    let folder = ludex_testkit::workspace().join("games/tictactoe").display().to_string();
    let report = json(&ludex(&["check", &folder, "--json"]), 0);
    assert_eq!(report["name"], "tictactoe");
}

#[test]
fn wrong_calls_and_wrong_rules_have_different_exit_codes() {
    assert_eq!(ludex(&["perft", "tictactoe"]).status.code(), Some(2));
    assert_eq!(ludex(&["dance", "tictactoe"]).status.code(), Some(2));
    assert_eq!(ludex(&["bench", "tictactoe", "--threads", "0"]).status.code(), Some(2));
    assert_eq!(ludex(&["play", "tictactoe", "--role", "nobody"]).status.code(), Some(2));
    assert_eq!(ludex_with(&["perft", "-", "--depth", "1"], "(role").status.code(), Some(1));
}

#[test]
fn binary_files_are_rejected() {
    let path = std::env::temp_dir().join(format!("ludex-cli-{}.kif", std::process::id()));
    std::fs::write(&path, [0, 159, 146, 150, 0]).expect("a file can be written");
    let output = ludex(&["check", &path.display().to_string(), "--json"]);
    std::fs::remove_file(&path).expect("the file was written");
    assert_eq!(json(&output, 1)["playable"], false);
}

#[test]
fn a_person_plays_to_the_end() {
    // Whatever the opponent does, answering with 1 is legal until the board is full.
    let answers = "1\n".repeat(9);
    let output =
        ludex_with(&["play", "tictactoe", "--move-time", "0.05", "--threads", "1"], &answers);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("You play xplayer."), "{text}");
    assert!(text.contains("The game is over"), "{text}");
    assert!(text.contains("    1 2 3\n"), "{text}");
}

#[test]
fn the_end_of_input_ends_the_game() {
    let output = ludex_with(&["play", "connectfour", "--move-time", "0.05"], "4\n");
    assert_eq!(output.status.code(), Some(0));
    assert!(stdout(&output).ends_with("End of input: the game ends here.\n"));
}

#[test]
fn hidden_information_stays_hidden() {
    let output = ludex_with(
        &["play", "hidden-matching-pennies", "--move-time", "0.05", "--seed", "3"],
        "1\n".repeat(6),
    );
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(text.contains("You see only your own moves"), "{text}");
    assert!(text.contains("Goals:"), "{text}");
}

#[test]
fn print_and_scramble_give_the_same_game() {
    let infix = stdout(&ludex_with(&["print", "-", "--form", "infix"], WALK));
    assert!(infix.contains("legal(me"), "{infix}");
    let again = ludex_with(&["perft", "-", "--depth", "2", "--json"], &infix);
    assert_eq!(json(&again, 0)["nodes"], serde_json::json!([1, 1]));
    let scrambled = stdout(&ludex(&["scramble", "tictactoe", "--seed", "7"]));
    assert!(!scrambled.contains("cell"), "{scrambled}");
    let report = json(&ludex_with(&["perft", "-", "--depth", "3", "--json"], &scrambled), 0);
    assert_eq!(report["nodes"], serde_json::json!([9, 72, 504]));
    let report = json(&ludex(&["scramble", "tictactoe", "--seed", "7", "--json"]), 0);
    assert_eq!(report["rules"], scrambled.as_str());
    assert!(scrambled.contains(report["names"]["cell"].as_str().expect("a name")), "{report}");
    let report = json(&ludex_with(&["print", "-", "--form", "infix", "--json"], WALK), 0);
    assert_eq!((&report["form"], &report["rules"]), (&"infix".into(), &infix.into()));
}

#[test]
fn a_seed_repeats_a_transcript() {
    let play = |seed| stdout(&ludex(&["transcript", "pig", "--seed", seed]));
    assert_eq!(play("5"), play("5"));
    assert_ne!(play("5"), play("6"));
}

#[test]
fn completions_and_manual_pages_are_written() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = stdout(&ludex(&["completions", shell]));
        assert!(script.contains("transcript") && script.contains("engine"), "{shell}: {script}");
    }
    assert_eq!(ludex(&["completions", "nosuchshell"]).status.code(), Some(2));
    assert!(stdout(&ludex(&["man"])).contains(".TH ludex 1"), "the page of the command");
    let folder = std::env::temp_dir().join(format!("ludex-man-{}", std::process::id()));
    let output = ludex(&["man", "--output", &folder.display().to_string()]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let page =
        std::fs::read_to_string(folder.join("ludex-qcsp-solve.1")).expect("every verb has a page");
    assert!(page.contains("strategy"), "{page}");
    std::fs::remove_dir_all(&folder).expect("the file was written");
}

#[test]
fn a_transcript_is_json_too() {
    let report = json(&ludex(&["transcript", "tictactoe", "--steps", "2", "--json"]), 0);
    assert_eq!(report["ending"], "cut");
    assert_eq!(report["states"].as_array().map(Vec::len), Some(3));
    assert_eq!(report["states"][0]["legal"][0].as_array().map(Vec::len), Some(9));
    assert_eq!(report["states"][2].get("joint"), None);
}
