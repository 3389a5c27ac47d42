//! Both sides against scripted peers, byte by byte.

mod manager_side;
mod player_side;

use ludex_base::Source;
use ludex_machine::Machine;
use ludex_pipeline::{Engine, LoadOptions, LoadedGame, load};

/// Two roles play `a` or `b` simultaneously, twice; the one with more `a` wins.
pub const DUEL: &str = "(role left) (role right) (init (step 1)) (init (lead 0))
    (succ 1 2) (succ 2 3) (plus 0 1) (plus 1 2) (plus m2 m1) (plus m1 0)
    (<= (legal ?r a) (role ?r)) (<= (legal ?r (say b)) (role ?r))
    (<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
    (<= (next (lead ?y)) (does left a) (does right (say b)) (true (lead ?x)) (plus ?x ?y))
    (<= (next (lead ?x)) (does left (say b)) (does right a) (true (lead ?y)) (plus ?x ?y))
    (<= (next (lead ?x)) (does left ?m) (does right ?m) (true (lead ?x)))
    (<= terminal (true (step 3)))
    (ahead 1) (ahead 2) (behind m1) (behind m2)
    (<= (goal left 100) (true (lead ?x)) (ahead ?x)) (<= (goal right 0) (true (lead ?x)) (ahead ?x))
    (<= (goal left 0) (true (lead ?x)) (behind ?x))
    (<= (goal right 100) (true (lead ?x)) (behind ?x))
    (<= (goal left 50) (true (lead 0))) (<= (goal right 50) (true (lead 0)))";

/// The role sees a card and then has to name it.
pub const CARD: &str = "(role me) (role random) (init start)
    (<= (legal random (deal red)) (true start)) (<= (legal random (deal blue)) (true start))
    (<= (legal random noop) (true naming)) (<= (legal me noop) (true start))
    (<= (legal me (name red)) (true naming)) (<= (legal me (name blue)) (true naming))
    (<= (next naming) (true start)) (<= (next over) (true naming))
    (<= (next (card ?c)) (does random (deal ?c)))
    (<= (next won) (true (card ?c)) (does me (name ?c)))
    (<= (sees me (card ?c)) (does random (deal ?c)))
    (<= terminal (true over))
    (<= (goal me 100) (true won)) (<= (goal me 0) (not (true won)))
    (<= (goal random 50) (true over))";

/// A game and its machine.
pub fn loaded(rules: &str) -> (LoadedGame, Machine) {
    let loaded = load(Source::new("test", rules), &LoadOptions::default()).expect("it loads");
    let Engine::Machine(machine) = &loaded.engine else { unreachable!("it is small") };
    let machine = machine.clone();
    (loaded, machine)
}
