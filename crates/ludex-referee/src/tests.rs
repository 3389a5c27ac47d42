//! Matches between scripted seats on a small game.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ludex_base::{Deadline, Goal, MoveId, PerceptId, RoleId, Seed, Source};
use ludex_game::{Cursor, Describe, Game, Observe, Role, StateOf};
use ludex_pipeline::{Engine, LoadOptions, LoadedGame, load};
use ludex_player::{Player, PlayerConfig, PlayerSpec, Seen};
use ludex_reasoner::{Reasoner, ReasonerCursor};

use crate::*;

/// Two roles play `a` or `b` simultaneously, three times; the one with more `a` wins.
const GAME: &str = "(role left) (role right) (init (step 1)) (succ 1 2) (succ 2 3) (succ 3 4)
    (init (lead 0)) (plus 0 1) (plus 1 2) (plus 2 3) (plus m3 m2) (plus m2 m1) (plus m1 0)
    (<= (legal ?r a) (role ?r)) (<= (legal ?r b) (role ?r))
    (<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
    (<= (next (lead ?y)) (does left a) (does right b) (true (lead ?x)) (plus ?x ?y))
    (<= (next (lead ?x)) (does left b) (does right a) (true (lead ?y)) (plus ?x ?y))
    (<= (next (lead ?x)) (does left ?m) (does right ?m) (true (lead ?x)))
    (<= terminal (true (step 4)))
    (ahead 1) (ahead 2) (ahead 3) (behind m1) (behind m2) (behind m3)
    (<= (goal left 100) (true (lead ?x)) (ahead ?x)) (<= (goal right 0) (true (lead ?x)) (ahead ?x))
    (<= (goal left 0) (true (lead ?x)) (behind ?x)) (<= (goal right 100) (true (lead ?x)) (behind ?x))
    (<= (goal left 50) (true (lead 0))) (<= (goal right 50) (true (lead 0)))";

fn game() -> (LoadedGame, Reasoner) {
    let options =
        LoadOptions { engine: ludex_pipeline::EngineChoice::Reasoner, ..LoadOptions::default() };
    let loaded = load(Source::new("duel", GAME), &options).expect("the rules are fine");
    let Engine::Reasoner(reasoner) = &loaded.engine else { unreachable!("it was asked for") };
    let reasoner = reasoner.clone();
    (loaded, reasoner)
}

/// The behavior of a scripted seat.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Script {
    Say(&'static str),
    /// Answers after that many milliseconds.
    Slow(&'static str, u64),
    Foreign,
    Panic,
    Mute,
}

struct Scripted(Script);

impl Seat for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    fn start(&mut self, _role: RoleId, _deadline: Instant) -> Result<(), Lapse> {
        match self.0 {
            Script::Panic => panic!("as the script says"),
            Script::Mute => Err(Lapse::Failed("it does not want to".into())),
            _ => Ok(()),
        }
    }

    fn play(&mut self, _seen: Seen<'_>, _deadline: Instant) -> Answer {
        let reply = match self.0 {
            Script::Say(text) => Reply::Text(text.into()),
            Script::Slow(text, ms) => {
                std::thread::sleep(Duration::from_millis(ms));
                Reply::Text(text.into())
            }
            Script::Foreign => Reply::Move(MoveId::new(1_000_000)),
            Script::Panic => panic!("as the script says"),
            Script::Mute => Reply::Lapse(Lapse::Failed("silence".into())),
        };
        Answer { reply, thought: None }
    }

    fn stop(&mut self, _seen: Seen<'_>) {}
}

fn config(number: usize) -> MatchConfig {
    let clock = Duration::from_secs(5);
    MatchConfig {
        number,
        seed: Seed(number as u64),
        clocks: Clocks { start: clock, play: clock },
        max_steps: MAX_STEPS,
        stop: Deadline::never(),
        watcher: None,
    }
}

fn play_scripts(left: Script, right: Script, config: &MatchConfig) -> MatchRecord {
    let (_, game) = game();
    let seat = |script| -> Option<Box<dyn Seat>> { Some(Box::new(Scripted(script))) };
    play_match(&game, &mut [seat(left), seat(right)], config)
}

fn lapses(record: &MatchRecord, role: usize) -> Vec<Lapse> {
    record.lapses(RoleId::new(role)).cloned().collect()
}

#[test]
fn legal_answers_are_played() {
    let record = play_scripts(Script::Say("a"), Script::Say("b"), &config(0));
    assert_eq!(record.ending, Ending::Terminal);
    assert_eq!(record.goals, [Goal::MAX, Goal::MIN]);
    assert_eq!(record.steps.len(), 3);
    assert!(record.steps.iter().all(|step| step.moves == ["a", "b"]));
    assert!(lapses(&record, 0).is_empty() && lapses(&record, 1).is_empty());
}

#[test]
fn illegal_and_missing_answers_are_replaced_and_counted() {
    let record = play_scripts(Script::Say("castle"), Script::Foreign, &config(1));
    assert_eq!(record.ending, Ending::Terminal);
    assert_eq!(lapses(&record, 0), vec![Lapse::Illegal("castle".into()); 3]);
    assert!(lapses(&record, 1).iter().all(|lapse| matches!(lapse, Lapse::Illegal(_))));
    let record = play_scripts(Script::Mute, Script::Panic, &config(2));
    assert_eq!(record.ending, Ending::Terminal);
    // One lapse before the first move and one with each of three moves.
    assert_eq!(lapses(&record, 0).len(), 4);
    let panicked = Lapse::Failed("the player panicked: as the script says".into());
    assert_eq!(lapses(&record, 1), vec![panicked; 4]);
}

#[test]
fn late_answers_do_not_count_even_if_legal() {
    let clock = Duration::from_millis(20);
    let clocks = Clocks { start: clock, play: clock };
    let config = MatchConfig { clocks, ..config(3) };
    let record = play_scripts(Script::Slow("a", 60), Script::Slow("castle", 60), &config);
    assert_eq!(lapses(&record, 0), vec![Lapse::Late; 3]);
    assert_eq!(lapses(&record, 1), vec![Lapse::Late; 3]);
    let times = record.steps.iter().filter_map(|step| step.answers[0].as_ref());
    assert!(times.into_iter().all(|answer| answer.time >= Duration::from_millis(60)));
}

#[test]
fn a_match_is_stopped_between_steps_and_by_its_length() {
    let config_long = MatchConfig { max_steps: 2, ..config(4) };
    let record = play_scripts(Script::Say("a"), Script::Say("b"), &config_long);
    assert_eq!((record.ending, record.steps.len()), (Ending::TooLong, 2));
    let config = MatchConfig { stop: Deadline::after(Duration::ZERO), ..config(5) };
    let record = play_scripts(Script::Say("a"), Script::Say("b"), &config);
    assert_eq!((record.ending, record.steps.len()), (Ending::Interrupted, 0));
}

#[test]
fn a_record_replays_to_the_same_goals() {
    let (_, game) = game();
    for number in 0..10 {
        let record = play_scripts(Script::Mute, Script::Mute, &config(number));
        assert_eq!(replay(&game, &record), Ok(record.goals.clone()));
    }
    let mut record = play_scripts(Script::Say("a"), Script::Say("b"), &config(0));
    record.steps[1].moves[0] = "castle".into();
    let error = replay(&game, &record).expect_err("it is not legal");
    assert_eq!(error.to_string(), "step 1: `castle` is not legal for left");
}

fn series(config: &SeriesConfig, scripts: [Script; 2]) -> (Series, Tally) {
    let (_, game) = game();
    let seating = Seating::new(2, 2).expect("they fit");
    let make = |player: usize, _seed| -> Box<dyn Seat> { Box::new(Scripted(scripts[player])) };
    let mut n_told = 0;
    let series = play_series(&game, &seating, &make, config, Vec::new(), &mut |_| n_told += 1);
    assert_eq!(n_told, series.records.len());
    let tally = Tally::new(&["one".into(), "two".into()], &seating, &series.records);
    (series, tally)
}

fn series_config(count: usize) -> SeriesConfig {
    let MatchConfig { clocks, max_steps, stop, .. } = config(0);
    SeriesConfig {
        count,
        shard: Shard::WHOLE,
        clocks,
        seed: Seed(1),
        n_parallel: 2,
        test: None,
        max_steps,
        stop,
        watcher: None,
    }
}

#[test]
fn seats_are_exchanged_and_shares_follow() {
    let (series, tally) = series(&series_config(10), [Script::Say("a"), Script::Say("b")]);
    assert_eq!(series.end, SeriesEnd::Complete);
    let numbers: Vec<usize> = series.records.iter().map(|record| record.number).collect();
    assert_eq!(numbers, (0..10).collect::<Vec<_>>());
    assert_eq!((tally.players[0].n_wins, tally.players[1].n_losses), (10, 10));
    assert_eq!(tally.players[0].goal.map(|goal| goal.mean), Some(100.0));
    let comparison = tally.comparison.expect("two players compare");
    assert_eq!((comparison.share.mean, comparison.exchanges.len()), (1.0, 5));
    assert!(comparison.share.low < 0.9);
    let (_, tally) = self::series(&series_config(6), [Script::Say("a"), Script::Say("a")]);
    assert_eq!((tally.players[0].n_draws, tally.players[1].n_draws), (6, 6));
    assert_eq!(tally.comparison.map(|it| it.share.mean), Some(0.5));
}

#[test]
fn a_series_stops_when_the_answer_is_known() {
    let test = Some(SequentialTest::default());
    let config = SeriesConfig { test, n_parallel: 1, ..series_config(1_000) };
    let (series, _) = series(&config, [Script::Say("b"), Script::Say("a")]);
    assert_eq!((series.end, series.decision), (SeriesEnd::Known, Decision::Second));
    assert!(series.records.len() < 10, "{}", series.records.len());
}

/// A seat that makes the referee panic once.
struct Nameless(std::sync::atomic::AtomicBool);

impl Seat for Nameless {
    fn name(&self) -> &str {
        assert!(self.0.swap(true, std::sync::atomic::Ordering::Relaxed), "as the test wants");
        "nameless"
    }

    fn start(&mut self, _role: RoleId, _deadline: Instant) -> Result<(), Lapse> {
        Ok(())
    }

    fn play(&mut self, _seen: Seen<'_>, _deadline: Instant) -> Answer {
        Answer { reply: Reply::Text("a".into()), thought: None }
    }

    fn stop(&mut self, _seen: Seen<'_>) {}
}

#[test]
fn a_panic_of_the_referee_ends_one_match_and_not_the_series() {
    let (_, game) = game();
    let seating = Seating::new(2, 2).expect("they fit");
    let n_made = std::sync::atomic::AtomicUsize::new(0);
    let make = |player: usize, _seed| -> Box<dyn Seat> {
        match n_made.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
            0 => Box::new(Nameless(false.into())),
            _ => Box::new(Scripted(Script::Say(["a", "b"][player]))),
        }
    };
    let test = Some(SequentialTest::default());
    let config = SeriesConfig { test, n_parallel: 1, ..series_config(20) };
    let series = play_series(&game, &seating, &make, &config, Vec::new(), &mut |_| {});
    assert_eq!(series.records[0].ending, Ending::Fault);
    // The missing exchange delays no decision.
    assert_eq!((series.end, series.decision), (SeriesEnd::Known, Decision::First));
    let tally = Tally::new(&["one".into(), "two".into()], &seating, &series.records);
    assert_eq!(tally.n_unfinished, 1);
}

/// A game that panics when the third joint move is played.
struct Fragile(Reasoner);

#[derive(Clone)]
struct FragileCursor {
    inner: ReasonerCursor,
    n_plays: usize,
}

impl Game for Fragile {
    type Cursor = FragileCursor;

    fn roles(&self) -> &[Role] {
        self.0.roles()
    }

    fn cursor(&self) -> FragileCursor {
        FragileCursor { inner: self.0.cursor(), n_plays: 0 }
    }

    fn has_percepts(&self) -> bool {
        self.0.has_percepts()
    }
}

impl Describe for Fragile {
    fn move_text(&self, id: MoveId) -> String {
        self.0.move_text(id)
    }

    fn state_texts(&self, state: &StateOf<Self>) -> Vec<String> {
        self.0.state_texts(state)
    }

    fn percept_text(&self, id: PerceptId) -> String {
        self.0.percept_text(id)
    }

    fn find_move(&self, role: RoleId, text: &str) -> Option<MoveId> {
        self.0.find_move(role, text)
    }

    fn find_percept(&self, role: RoleId, text: &str) -> Option<PerceptId> {
        self.0.find_percept(role, text)
    }
}

impl Cursor for FragileCursor {
    type State = StateOf<Reasoner>;

    fn state(&self) -> &Self::State {
        self.inner.state()
    }

    fn set_state(&mut self, state: &Self::State) {
        self.inner.set_state(state);
    }

    fn play(&mut self, joint: &[MoveId]) {
        self.n_plays += 1;
        assert!(self.n_plays < 3, "it breaks");
        self.inner.play(joint);
    }

    fn is_terminal(&mut self) -> bool {
        self.inner.is_terminal()
    }

    fn legal_moves(&mut self, role: RoleId) -> &[MoveId] {
        self.inner.legal_moves(role)
    }

    fn goals(&mut self, role: RoleId) -> &[Goal] {
        self.inner.goals(role)
    }
}

impl Observe for FragileCursor {
    fn percepts(&self, role: RoleId) -> &[PerceptId] {
        self.inner.percepts(role)
    }
}

#[test]
fn a_panic_of_the_game_ends_the_match_and_keeps_its_steps() {
    let seat = || -> Option<Box<dyn Seat>> { Some(Box::new(Scripted(Script::Say("a")))) };
    let record = play_match(&Fragile(game().1), &mut [seat(), seat()], &config(0));
    assert_eq!((record.ending, record.steps.len()), (Ending::Fault, 2));
    assert_eq!(record.fault.as_deref(), Some("the game panicked at step 3: it breaks"));
}

#[test]
fn a_resumed_series_plays_only_what_is_missing() {
    let (_, game) = game();
    let seating = Seating::new(2, 2).expect("they fit");
    let scripts = [Script::Mute, Script::Say("a")];
    let make = |player: usize, _seed| -> Box<dyn Seat> { Box::new(Scripted(scripts[player])) };
    let play = |played: Vec<MatchRecord>, test: Option<SequentialTest>| {
        let mut told = Vec::new();
        let config = SeriesConfig { test, ..series_config(10) };
        let mut on_match = |record: &MatchRecord| told.push(record.number);
        let series = play_series(&game, &seating, &make, &config, played, &mut on_match);
        told.sort_unstable();
        (series, told)
    };
    let (whole, told) = play(Vec::new(), None);
    assert_eq!(told, (0..10).collect::<Vec<_>>());
    let part = |numbers: &[usize]| numbers.iter().map(|&n| whole.records[n].clone()).collect();
    let (resumed, told) = play(part(&[7, 0, 1, 4]), None);
    assert_eq!(told, [2, 3, 5, 6, 8, 9]);
    let moves = |series: &Series| -> Vec<(usize, Vec<Vec<String>>)> {
        let moves = |record: &MatchRecord| record.steps.iter().map(|it| it.moves.clone()).collect();
        series.records.iter().map(|record| (record.number, moves(record))).collect()
    };
    assert_eq!((resumed.end, moves(&resumed)), (SeriesEnd::Complete, moves(&whole)));
    let (resumed, told) = play(whole.records.clone(), None);
    assert_eq!((resumed.end, told.len()), (SeriesEnd::Complete, 0));
    // What was decided before stays decided.
    let test = Some(SequentialTest::default());
    let (decided, _) = play(whole.records.clone(), test);
    let (resumed, told) = play(decided.records, test);
    assert_eq!((resumed.decision, told.len()), (decided.decision, 0));
}

#[test]
fn exchanges_with_low_goals_count_little() {
    let test = SequentialTest::default();
    let decision = |exchange: Exchange| test.decision([(exchange.outcome(), 6)]);
    assert_eq!(decision(Exchange { first: 100.0, second: 0.0 }), Decision::First);
    assert_eq!(decision(Exchange { first: 0.0, second: 100.0 }), Decision::Second);
    assert_eq!(decision(Exchange { first: 10.0, second: 0.0 }), Decision::Open);
    assert_eq!(Exchange { first: 70.0, second: 30.0 }.outcome(), 0.7);
}

#[test]
fn a_stopped_series_keeps_its_finished_matches() {
    let stop = Deadline::after(Duration::from_millis(150));
    let config = SeriesConfig { stop, ..series_config(100_000) };
    let (series, tally) = series(&config, [Script::Slow("a", 5), Script::Say("b")]);
    assert_eq!(series.end, SeriesEnd::Stopped);
    assert!(series.records.iter().all(|record| record.ending == Ending::Terminal));
    assert_eq!(tally.n_unfinished, 0);
}

#[test]
fn players_with_an_iteration_limit_play_the_same_match_twice() {
    let (loaded, game) = game();
    let seating = Seating::new(2, 2).expect("they fit");
    let specs = ["ludex", "uct"].map(|name| PlayerSpec::parse(name).expect("it is there"));
    let make = |player: usize, seed| -> Box<dyn Seat> {
        let config = PlayerConfig { iterations: Some(40), ..PlayerConfig::new(seed) };
        let program = Arc::clone(&loaded.program);
        Box::new(LocalSeat::new(Player::new(&specs[player], &game, program, config)))
    };
    // The clocks are so long that only the iteration limit counts.
    let clocks = Clocks { start: Duration::from_secs(600), play: Duration::from_secs(600) };
    let config = SeriesConfig { clocks, ..series_config(4) };
    let moves = || {
        let series = play_series(&game, &seating, &make, &config, Vec::new(), &mut |_| {});
        let moves = |record: &MatchRecord| {
            record.steps.iter().map(|step| step.moves.clone()).collect::<Vec<_>>()
        };
        series.records.iter().map(moves).collect::<Vec<_>>()
    };
    assert_eq!(moves(), moves());
}

#[test]
fn the_test_game_has_the_expected_shape() {
    let (_, game) = game();
    let mut cursor = game.cursor();
    assert_eq!(cursor.legal_moves(RoleId::new(0)).len(), 2);
}

#[test]
fn a_watcher_is_told_every_step() {
    let (sender, told) = std::sync::mpsc::channel();
    let config = SeriesConfig { watcher: Some(sender), n_parallel: 1, ..series_config(2) };
    let (_, game) = game();
    let seating = Seating::new(2, 2).expect("two players, two roles");
    let make_seat = |_: usize, _: Seed| -> Box<dyn Seat> { Box::new(Scripted(Script::Say("a"))) };
    let series = play_series(&game, &seating, &make_seat, &config, Vec::new(), &mut |_| {});
    drop(config);
    let told: Vec<_> = told.iter().collect();
    let played: Vec<_> = (series.records.iter())
        .flat_map(|record| {
            let steps = record.steps.iter().enumerate();
            steps.map(|(step, it)| WatchedStep {
                number: record.number,
                step,
                moves: it.moves.clone(),
            })
        })
        .collect();
    assert!(!told.is_empty());
    assert_eq!(told, played);
}
