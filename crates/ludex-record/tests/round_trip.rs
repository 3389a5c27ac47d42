//! Reading returns what was written.

use std::sync::Arc;
use std::time::Duration;

use ludex_base::{Deadline, Seed, Source};
use ludex_pipeline::{LoadOptions, load, with_game};
use ludex_player::{Player, PlayerConfig, PlayerSpec};
use ludex_record::{
    Circumstances, CommunityRecord, Heading, MatchReport, SeriesReport, TraceRecord, Transcript,
};
use ludex_referee::{
    Clocks, LocalSeat, MatchRecord, Seat, Seating, SequentialTest, SeriesConfig, Shard, Tally,
    play_series,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

#[track_caller]
fn check<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(written: &T) {
    let text = serde_json::to_string(written).expect("it serializes");
    let read: T = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(&read, written);
    assert_eq!(serde_json::to_string(&read).expect("it serializes"), text);
}

#[test]
fn reports_records_and_transcripts_are_read_back() {
    let rules = ludex_library::find("tictactoe").expect("a built-in game").rules;
    let loaded = load(Source::new("tictactoe", rules), &LoadOptions::default()).expect("it loads");
    let clocks = Clocks { start: Duration::from_millis(1500), play: Duration::from_millis(500) };
    let config = SeriesConfig {
        count: 2,
        shard: Shard::WHOLE,
        clocks,
        seed: Seed(1),
        n_parallel: 1,
        test: Some(SequentialTest::default()),
        max_steps: 100,
        stop: Deadline::never(),
        watcher: None,
    };
    let seating = Seating::new(2, 2).expect("two players, two roles");
    let names = ["uct".to_string(), "random".to_string()];
    with_game!(&loaded.engine, |game| {
        let make_seat = |player: usize, seed: Seed| -> Box<dyn Seat> {
            let spec = PlayerSpec::parse(&names[player]).expect("a player");
            let config = PlayerConfig { iterations: Some(100), ..PlayerConfig::new(seed) };
            let seated = Player::new(&spec, game, Arc::clone(&loaded.program), config);
            Box::new(LocalSeat::new(seated.named(names[player].clone())))
        };
        let series = play_series(game, &seating, &make_seat, &config, Vec::new(), &mut |_| {});
        let tally = Tally::new(&names, &seating, &series.records);
        let engine = loaded.engine.name();
        let heading = Heading {
            name: "tictactoe".into(),
            engine: engine.into(),
            clocks,
            count: 2,
            is_cooperative: false,
        };
        let report = SeriesReport::of(&heading, &series, &tally);
        assert!(report.matches.len() == 2 && report.share.is_some(), "{report:?}");
        check(&report);
        for written in &report.matches {
            let record = written.to_record(clocks).expect("its parts fit");
            assert_eq!(&MatchReport::of(&record), written);
        }
        let restored = report.matches.iter().filter_map(|it| it.to_record(clocks));
        let restored: Vec<MatchRecord> = restored.collect();
        assert_eq!(Tally::new(&names, &seating, &restored), tally);
        let cut = MatchReport { times: Vec::new(), ..report.matches[0].clone() };
        assert_eq!(cut.to_record(clocks), None);
        let about = Circumstances {
            match_id: "tictactoe.1".into(),
            random_token: "x".repeat(32),
            start_time: 1_700_000_000_000,
            preview_clock: None,
            tournament: None,
            is_person: vec![false, false],
            is_scrambled: false,
            series_seed: Seed(1),
        };
        let record = CommunityRecord::of(game, &series.records[0], &about);
        assert!(record.is_completed && record.states.len() == record.moves.len() + 1);
        check(&record);
        let transcript =
            Transcript::of_random_play(game, "tictactoe", Seed(1), 3, &Deadline::never());
        assert!(transcript.states.len() == 4 && transcript.states[0].legal[0].len() == 9);
        check(&transcript);
        let trace = ludex_game::trace::trace(game, &Deadline::never());
        check(&TraceRecord::of("tictactoe", "0", trace));
    });
}
