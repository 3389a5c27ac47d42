//! `ludex match`, `ludex players` and `ludex play` as a person or a script uses them.

use std::process::Command;

use ludex_base::Seed;
use ludex_testkit::command::{binary, check_refused, json, ludex, ludex_with, stderr, stdout};
use ludex_tests::resume::{self, KillConfig, Work};

const QUICK: [&str; 4] = ["--start-clock", "0.05", "--play-clock", "0.03"];

fn play(game: &str, players: &str, more: &[&str], code: i32) -> serde_json::Value {
    let mut args = vec!["match", game, "--players", players, "--json"];
    args.extend(QUICK);
    args.extend(more);
    json(&ludex(&args), code)
}

#[test]
fn a_match_report_has_the_documented_fields() {
    let report = play("tictactoe", "ludex,random", &["--count", "4"], 0);
    assert_eq!(report["played"], 4);
    let players = report["players"].as_array().expect("a list");
    assert_eq!((&players[0]["name"], &players[1]["name"]), (&"ludex".into(), &"random".into()));
    for player in players {
        let sum = ["wins", "draws", "losses"].map(|key| player[key].as_u64().expect("a count"));
        assert_eq!(sum.iter().sum::<u64>(), 4, "{player}");
        let mean = player["mean_goal"].as_f64().expect("a mean");
        let ends = [0, 1].map(|end| player["ci95"][end].as_f64().expect("an end"));
        assert!(ends[0] <= mean && mean <= ends[1], "{player}");
        assert!(player["illegal"] == 0 && player["late"].is_u64(), "{player}");
    }
    let goals = |idx: usize| players[idx]["mean_goal"].as_f64().expect("a mean");
    assert!((goals(0) + goals(1) - 100.0).abs() < 1e-6);
    let share = report["share"]["percent"].as_f64().expect("a share");
    assert!((share - goals(0)).abs() < 1e-6, "in a game of constant sum");
    let matches = report["matches"].as_array().expect("a list");
    assert_eq!(matches[0]["players"], serde_json::json!(["ludex", "random"]));
    assert_eq!(matches[1]["players"], serde_json::json!(["random", "ludex"]));
    for record in matches {
        let n_steps = record["moves"].as_array().expect("a list").len();
        assert!((5..=9).contains(&n_steps));
        assert_eq!(record["times"].as_array().map(Vec::len), Some(n_steps));
        assert_eq!(record["errors"].as_array().map(Vec::len), Some(n_steps + 1));
        assert_eq!(record["ending"], "terminal");
    }
}

#[test]
fn searches_on_networks_report_their_statistics() {
    let clocks = ["--count", "2", "--start-clock", "1", "--play-clock", "0.1"];
    let mut args = vec!["match", "tictactoe", "--players", "mac-ucb:faithful,fc-ucb:ratio=0.5"];
    args.extend(clocks);
    let report = json(&ludex(&[&args[..], &["--json"]].concat()), 0);
    let reports = report["matches"][0]["reports"].as_array().expect("a list");
    let of_first = &reports[0][0];
    assert_eq!(of_first["search"], "mac-ucb", "{of_first}");
    assert!(of_first["network"]["solved"].is_u64(), "{of_first}");
    for key in ["injection", "resolution", "simulation"] {
        assert!(of_first["network"][key].is_f64(), "{key}: {of_first}");
    }
    let text = stdout(&ludex(&[&args[..], &["--verbose"]].concat()));
    assert!(text.contains("match 0: mac-ucb:faithful against fc-ucb:ratio=0.5"), "{text}");
    assert!(text.contains("networks solved") && text.contains("subtrees closed"), "{text}");
    let large = ["--engine", "reasoner", "--json"];
    let report = json(&ludex(&[&args[..], &large].concat()), 0);
    let note = &report["matches"][0]["reports"][0][0]["network"]["note"];
    assert!(note.as_str().is_some_and(|note| note.contains("no circuit")), "{note}");
}

#[test]
fn searches_on_networks_report_their_plans() {
    let clocks = ["--count", "1", "--start-clock", "1", "--play-clock", "0.2"];
    for player in ["mac-ucb", "mac-ucb:faithful"] {
        let args = [&["match", "monty-hall", "--players", player][..], &clocks].concat();
        let report = json(&ludex(&[&args[..], &["--json"]].concat()), 0);
        let reports = report["matches"][0]["reports"].as_array().expect("a list");
        let plans = reports.iter().flat_map(|step| step.as_array().expect("a list"));
        let plans = plans.filter_map(|of_seat| of_seat["network"]["plan"].as_str());
        assert!(plans.clone().any(|plan| plan.ends_with("to the end")), "{report}");
        let text = stdout(&ludex(&[&args[..], &["--verbose"]].concat()));
        assert!(text.contains("steps, to the end"), "{text}");
    }
}

#[test]
fn seats_follow_the_number_of_roles() {
    let one = play("hanoi", "random", &["--count", "1"], 0);
    assert_eq!(one["share"], serde_json::Value::Null);
    let three = play("three-player-nim", "random,ludex", &["--count", "6"], 0);
    let seats = |idx: usize| three["players"][idx]["seats"].as_u64();
    assert_eq!((seats(0), seats(1)), (Some(9), Some(9)));
    let output = ludex(&["match", "tictactoe", "--players", "random"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("give two names"), "{}", stderr(&output));
    let output = ludex(&["match", "tictactoe", "--players", "random,nobody"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("there is no player `nobody`"), "{}", stderr(&output));
}

#[test]
fn the_referee_plays_chance() {
    let report = play("pig", "random,random", &["--count", "2"], 0);
    let players = report["matches"][0]["players"].as_array().expect("a list");
    assert!(players.contains(&serde_json::Value::Null), "{players:?}");
}

#[test]
fn a_series_stops_at_a_decision_or_at_the_time_limit() {
    let more = ["--count", "200", "--stop-early", "--threads", "1"];
    let report = play("connectfour", "ludex,random", &more, 0);
    assert_eq!(report["stopped"], "known");
    assert_eq!(report["share"]["stronger"], "ludex");
    let report = play("reversi", "random,random", &["--count", "100000", "--time", "0.5"], 3);
    assert_eq!(report["stopped"], "stopped");
}

#[test]
fn an_iteration_limit_repeats_a_match() {
    let args = [
        "match",
        "tictactoe",
        "--players",
        "uct,uct",
        "--count",
        "2",
        "--iterations",
        "30",
        "--start-clock",
        "600",
        "--play-clock",
        "600",
        "--seed",
        "5",
        "--json",
    ];
    let moves = || {
        let report = json(&ludex(&args), 0);
        [0, 1].map(|idx| report["matches"][idx]["moves"].clone())
    };
    assert_eq!(moves(), moves());
}

#[test]
fn the_roster_lists_names_games_and_claims() {
    let report = json(&ludex(&["players", "--json"]), 0);
    let players = report["players"].as_array().expect("a list");
    assert_eq!(players[0]["name"], "ludex");
    for player in players {
        assert!(player["games"].as_array().is_some_and(|games| !games.is_empty()), "{player}");
        let claims = player["claims"].as_array().expect("a list");
        assert!(claims.contains(&"legal".into()), "{player}");
    }
    let summary = players[0]["summary"].as_str().expect("words");
    assert!(summary.contains("hidden information"), "{summary}");
}

#[test]
fn a_person_may_ask_for_hints_and_undo_moves() {
    let answers = "hint\neval\nundo\n(mark 2 2)\nundo\n(mark 1 1)\n1\n1\n1\n1\n1\n1\n1\n1\n";
    let args = ["play", "tictactoe", "--move-time", "1", "--threads", "1", "--seed", "1"];
    let output = ludex_with(&args, answers);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(text.contains("There is nothing to take back."), "{text}");
    assert!(text.contains("Taken back."), "{text}");
    assert!(text.contains("xplayer can expect"), "{text}");
    assert!(text.contains("The game is over"), "{text}");
    let output = ludex_with(&["play", "tictactoe", "--player", "nobody"], "");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn play_ends_though_the_game_does_not() {
    let rules = "(role p) (role q) (legal p wait) (legal q wait) (init (at 0))
        (<= (next (at 0)) (true (at 0))) (<= terminal (true (at 1))) (goal p 0) (goal q 0)";
    let output = ludex_with(&["play", "-"], rules);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("did not end within 10000 steps"), "{}", stderr(&output));
    let crowd: String = (0..100).map(|n| format!("(role p{n}) (goal p{n} 50)\n")).collect();
    let rules = crowd
        + "(<= (legal ?r a) (role ?r)) (<= (legal ?r b) (role ?r)) (init (at 0))
           (<= (next (at 0)) (true (at 0))) (<= terminal (true (at 1)))";
    let limits = ["--time", "2", "--memory", "500MB"];
    let output = ludex_with(&[&["play", "-", "--role", "none"][..], &limits].concat(), &rules);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("time ran out"), "{}", stderr(&output));
    let args = ["match", "-", "--players", "uct,random", "--json"];
    let report = json(&ludex_with(&[&args[..], &limits].concat(), &rules), 3);
    assert_eq!((&report["played"], &report["stopped"]), (&0.into(), &"stopped".into()));
}

#[test]
fn names_of_any_length_are_played() {
    let long = "7".repeat(70_000);
    let rules = format!(
        "(role p) (legal p {long}) (legal p b) (init (at 1 {long})) (init (cell 1 1 {long}))
         (index 1) (index 2) (<= terminal (true over)) (goal p 100)
         (<= (next (cell ?x ?y b)) (index ?x) (index ?y)) (<= (next over) (does p b))"
    );
    let output = ludex_with(&["play", "-"], &rules);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("more characters)"), "{}", stdout(&output));
}

#[test]
fn killed_work_goes_on_where_it_was() {
    // `cargo experiment kills` does the same more often.
    let works = [(Work::Verb("match"), 8, 20), (Work::Verb("referee"), 4, 8), (Work::Solve, 20, 0)];
    for (work, n_kills, n_matches) in works {
        let config = KillConfig { work, n_kills, n_matches, seed: Seed(1) };
        let report = resume::run(&config, &mut |_| {});
        assert_eq!(report.n_kills, n_kills);
        let wrong = [report.n_lost, report.n_doubled, report.n_different];
        assert_eq!(wrong, [0; 3], "{report:?}");
    }
}

#[test]
fn a_series_is_resumed_only_with_its_own_settings() {
    let path = std::env::temp_dir().join(format!("ludex-series-{}.jsonl", std::process::id()));
    let file = path.to_str().expect("a plain path");
    let args = ["match", "tictactoe", "--players", "random,random", "--output"];
    let count = |n: &str, more: &[&str]| ludex(&[&args[..], &[file, "--count", n], more].concat());
    let run = |more: &[&str]| count("3", more);
    let whole = run(&[]);
    assert_eq!(whole.status.code(), Some(0), "{}", stderr(&whole));
    check_refused(&run(&[]), 1, &[file, "holds a series already", "--resume"]);
    check_refused(&run(&["--resume", "--seed", "2"]), 1, &["`seed` is 1 there and 2 here"]);
    let bytes = std::fs::read(&path).expect("the series");
    // Without its last byte, the file has one match less.
    std::fs::write(&path, &bytes[..bytes.len() - 1]).expect("a cut file");
    let resumed = run(&["--resume"]);
    assert_eq!((resumed.status.code(), stdout(&resumed)), (Some(0), stdout(&whole)));
    // A longer series begins with the same matches.
    let longer = json(&count("5", &["--resume", "--json"]), 0);
    assert_eq!(longer["played"], 5);
    std::fs::write(&path, "(role p)\n").expect("a rulesheet");
    check_refused(&run(&["--resume"]), 1, &["line 1 is not a row of a series"]);
    assert_eq!(std::fs::read_to_string(&path).ok().as_deref(), Some("(role p)\n"));
    std::fs::remove_file(&path).expect("it can be removed");
    check_refused(
        &ludex(&[&args[..], &["/nowhere/series.jsonl"]].concat()),
        1,
        &["/nowhere/series.jsonl", "cannot open it"],
    );
}

#[cfg(unix)]
#[test]
fn a_file_that_cannot_grow_stops_no_series() {
    let path = std::env::temp_dir().join(format!("ludex-full-{}.jsonl", std::process::id()));
    let file = path.to_str().expect("a plain path");
    let _ = std::fs::remove_file(&path);
    let series = "match tictactoe --players random,random --count 40 --seed 1";
    // The shell limits the size of files to a few blocks; beyond it, writing fails.
    let script = format!("trap '' XFSZ; ulimit -f 8; exec {:?} {series} -o {file}", binary());
    let output = Command::new("sh").args(["-c", &script]).output().expect("a shell");
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("cannot write a match to"), "{}", stderr(&output));
    assert!(stderr(&output).contains("`--resume` plays what is missing"), "{}", stderr(&output));
    assert!(stdout(&output).contains("40 of 40 matches"), "{}", stdout(&output));
    // With room again, the series is completed, and its result is the same.
    let args: Vec<&str> = series.split(' ').chain(["--resume", "-o", file]).collect();
    let resumed = ludex(&args);
    assert_eq!((resumed.status.code(), stdout(&resumed)), (Some(0), stdout(&output)));
    std::fs::remove_file(&path).expect("it can be removed");
}

/// A folder for temporary use, removed on drop.
struct Shards(std::path::PathBuf);

impl Shards {
    fn new() -> Self {
        let folder = std::env::temp_dir().join(format!("ludex-shards-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("the folder for temporary files can be written");
        Self(folder)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("a plain path").to_owned()
    }

    /// Plays part of a series of 11 matches.
    fn play(&self, shard: &str, name: &str, more: &[&str]) -> std::process::Output {
        let file = self.file(name);
        ludex(&[&SERIES[..], &["--shard", shard, "--output", &file], more].concat())
    }

    fn merge(&self, names: &[&str], more: &[&str]) -> std::process::Output {
        let files: Vec<String> = names.iter().map(|name| self.file(name)).collect();
        let files = files.iter().map(String::as_str);
        ludex(&["merge"].into_iter().chain(files).chain(more.iter().copied()).collect::<Vec<_>>())
    }
}

impl Drop for Shards {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const SERIES: [&str; 12] = [
    "match",
    "tictactoe",
    "--players",
    "uct:c=0.7,random",
    "--count",
    "11",
    "--iterations",
    "20",
    "--start-clock",
    "600",
    "--play-clock",
    "600",
];

#[test]
fn shards_give_the_table_of_one_process() {
    let shards = Shards::new();
    let whole = ludex(&SERIES);
    let json_of = |mut report: serde_json::Value| {
        resume::forget_times(&mut report);
        report
    };
    let names = ["one", "two", "three"];
    for (name, shard) in names.iter().zip(["1/3", "2/3", "3/3"]) {
        let played = shards.play(shard, name, &[]);
        assert_eq!(played.status.code(), Some(0), "{}", stderr(&played));
        assert!(
            stdout(&played).contains(&format!("of {} matches", if shard == "3/3" { 3 } else { 4 }))
        );
    }
    // The order of the files does not matter.
    let merged = shards.merge(&["three", "one", "two"], &["--output", &shards.file("whole")]);
    assert_eq!((merged.status.code(), stdout(&merged)), (Some(0), stdout(&whole)));
    let reports = [
        json(&shards.merge(&names, &["--json"]), 0),
        json(&ludex(&[&SERIES[..], &["--json"]].concat()), 0),
    ];
    let ids: Vec<&str> = reports[1]["matches"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|it| it["id"].as_str())
        .collect();
    assert_eq!(ids.len(), 11);
    let [merged, alone] = reports.clone().map(json_of);
    assert_eq!(merged, alone);
    // What was merged is a series like any other.
    let file = shards.file("whole");
    let again = ludex(&[&SERIES[..], &["--resume", "--output", &file]].concat());
    assert_eq!((again.status.code(), stdout(&again)), (Some(0), stdout(&whole)));
}

#[test]
fn a_killed_shard_goes_on_and_wrong_shards_are_refused() {
    let shards = Shards::new();
    assert_eq!(shards.play("1/2", "one", &[]).status.code(), Some(0));
    assert_eq!(shards.play("2/2", "two", &[]).status.code(), Some(0));
    let expected = stdout(&shards.merge(&["one", "two"], &[]));
    // As after a kill in the middle of a line.
    let two = shards.file("two");
    let bytes = std::fs::read(&two).expect("a shard");
    std::fs::write(&two, &bytes[..bytes.len() - 9]).expect("a cut file");
    let partly = shards.merge(&["one", "two"], &[]);
    assert_eq!(partly.status.code(), Some(3));
    assert!(stderr(&partly).contains("shard 2/2 lacks 1 match"), "{}", stderr(&partly));
    assert_eq!(std::fs::read(&two).map(|it| it.len()).ok(), Some(bytes.len() - 9));
    assert_eq!(shards.play("2/2", "two", &["--resume"]).status.code(), Some(0));
    assert_eq!(stdout(&shards.merge(&["one", "two"], &[])), expected);

    let only_one = shards.merge(&["one"], &[]);
    assert_eq!(only_one.status.code(), Some(3));
    assert!(stderr(&only_one).contains("shard 2/2 is missing"), "{}", stderr(&only_one));
    check_refused(&shards.merge(&["one", "two", "one"], &[]), 1, &["shard 1/2 is also in"]);
    assert_eq!(shards.play("2/2", "seed", &["--seed", "9"]).status.code(), Some(0));
    let other = ["seed", "another series than", "`seed` is 1 there and 9 here"];
    check_refused(&shards.merge(&["one", "seed"], &[]), 1, &other);
    assert_eq!(shards.play("2/3", "three", &[]).status.code(), Some(0));
    check_refused(&shards.merge(&["one", "three"], &[]), 1, &["2 shards there and 3 here"]);
    check_refused(&shards.play("2/2", "one", &["--resume"]), 1, &["`shard` is"]);
    check_refused(&shards.play("3/2", "none", &[]), 2, &["such as 2/8"]);
    check_refused(&shards.play("0/2", "none", &[]), 2, &["such as 2/8"]);
    check_refused(&shards.merge(&["none"], &[]), 1, &["cannot read it"]);
    check_refused(&ludex(&[&SERIES[..], &["--shard", "1/2"]].concat()), 2, &["--output"]);
    // The rows of one shard under the settings of another.
    let one = std::fs::read_to_string(shards.file("one")).expect("a shard");
    let header = one.lines().next().expect("settings");
    let rows = String::from_utf8(bytes).expect("text");
    let mixed = rows.split_once('\n').map(|(_, rows)| format!("{header}\n{rows}"));
    std::fs::write(shards.file("mixed"), mixed.expect("rows")).expect("a file");
    check_refused(&shards.merge(&["mixed"], &[]), 1, &["does not belong to shard 1/2"]);
}
