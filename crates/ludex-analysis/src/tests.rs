//! Facts of small rulesheets and of known games.

use expect_test::expect;
use ludex_base::{Limits, Source};
use ludex_encode::GroupEffort;
use ludex_machine::Machine;
use ludex_testkit::fixtures::{RulesFile, corpus, shared_or_skip};

use crate::{Effort, Facts, find_facts};

pub(crate) fn machine(rules: &str) -> Machine {
    let checked = ludex_gdl::check_source(&Source::new("test.kif", rules.to_string()));
    let program = checked.program.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    let ground = ludex_ground::ground(&program, &Limits::usual()).expect("it is small");
    Machine::new(ludex_circuit::compile(&ground))
}

pub(crate) fn library(name: &str) -> Machine {
    let file = ludex_testkit::library().into_iter().find(|file| file.name == name);
    machine(&file.expect("it is in the library").text())
}

fn facts(machine: &Machine, proof_steps: u64) -> Facts {
    let proof = GroupEffort { proof_steps, ..GroupEffort::default() };
    find_facts(machine, machine.circuit(), &Effort { proof, ..Effort::default() })
}

fn lines(machine: &Machine) -> Vec<String> {
    facts(machine, 0).lines(&machine.circuit().vocabulary)
}

/// A walker on five cells and a clock, with relations that look like orders but are not.
const WALK: &str = "
    (role r) (init (at 1)) (init (time 0))
    (succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5)
    (beside 1 2) (beside 2 1) (beside 2 3) (beside 3 2)
    (circle a b) (circle b c) (circle c a)
    (double 1 2) (double 2 4) (fork 1 2) (fork 1 3) (fork 2 4)
    (<= (legal r (go ?y)) (true (at ?x)) (beside ?x ?y))
    (<= (legal r (jump ?y)) (true (at ?x)) (double ?x ?y))
    (<= (legal r (run ?y)) (true (at ?x)) (fork ?x ?y))
    (<= (legal r (spin ?y)) (circle ?x ?y))
    (<= (next (at ?x)) (does r (go ?x))) (<= (next (at ?x)) (does r (jump ?x)))
    (<= (next (at ?x)) (does r (run ?x)))
    (<= (next (at ?x)) (true (at ?x)) (does r (spin ?y)))
    (<= (next (time ?y)) (true (time ?x)) (succ ?x ?y))
    (<= terminal (true (time 5))) (goal r 0)";

#[test]
fn orders_are_relations_that_behave_like_one() {
    let found = lines(&machine(WALK));
    assert_eq!(
        found,
        [
            "order succ: 0 to 5, 6 terms",
            "order double: 1 to 4, 3 terms",
            "counter (at ?): 4 values",
            "clock (time ?): 6 values",
        ]
    );
}

#[test]
fn proved_facts_are_marked() {
    let machine = machine(WALK);
    let is_proved = |facts: &Facts| facts.counters.iter().all(|it| it.is_proved);
    assert!(is_proved(&facts(&machine, 1_000_000)));
    assert!(!is_proved(&facts(&machine, 0)));
}

fn found_in(files: Vec<RulesFile>, names: &[&str]) -> String {
    let mut text = String::new();
    for name in names {
        let file = files.iter().find(|file| file.name == *name).expect("it is there");
        text += &format!("{name}\n");
        for line in lines(&machine(&file.text())) {
            text += &format!("  {line}\n");
        }
    }
    text
}

#[test]
fn boards_of_the_library_are_found() {
    let games = [
        "connectfour",
        "breakthrough",
        "checkers",
        "reversi",
        "chess",
        "nim",
        "tron",
        "hex",
        "awale",
        "chinese-checkers-3p",
    ];
    expect![[r#"
        connectfour
          order succ: 1 to 7, 7 terms
          board disc 7 by 6: red of red, yellow of yellow
        breakthrough
          order succ: 1 to 8, 8 terms
          board pawn 8 by 8: black of black, white of white
        checkers
          order succ: 0 to 200, 201 terms
          order file-succ: a to h, 8 terms
          clock (step-count ?): 201 values
          board on 32?: black king of black, black man of black, white king of white, white man of white
        reversi
          order succ: 0 to 64, 65 terms
          order beside: 1 to 8, 8 terms
          board disc 8 by 8: black of black, white of white
        chess
          order succ: 0 to 200, 201 terms
          order file-succ: a to h, 8 terms
          clock (ply ?): 201 values
          counter (quiet ?): 101 values
          board on 64?: black bishop of black, black king of black, black knight of black, black pawn of black, black queen of black, black rook of black, white bishop of white, white king of white, white knight of white, white pawn of white, white queen of white, white rook of white
        nim
          order succ: 0 to 7, 8 terms
          counter (pile a ?): 2 values
          counter (pile b ?): 4 values
          counter (pile c ?): 6 values
          counter (pile d ?): 8 values
        tron
          order after: 1 to 6, 6 terms
          board rider 6 by 6, several a cell: blue, red
          board trail 6 by 6, several a cell: mark
        hex
          order succ: 1 to 7, 7 terms
          board stone 7 by 7: blue of blue, red of red
        awale
          order after: 0 to 200, 201 terms
          clock (moves ?): 201 values
          counter (seeds 1 ?): 49 values
          counter (seeds 10 ?): 49 values
          counter (seeds 11 ?): 49 values
          counter (seeds 12 ?): 49 values
          counter (seeds 2 ?): 49 values
          counter (seeds 3 ?): 49 values
          counter (seeds 4 ?): 49 values
          counter (seeds 5 ?): 49 values
          counter (seeds 6 ?): 49 values
          counter (seeds 7 ?): 49 values
          counter (seeds 8 ?): 49 values
          counter (seeds 9 ?): 49 values
          counter (store north ?): 48 values
          counter (store south ?): 48 values
        chinese-checkers-3p
          order succ: 0 to 150, 151 terms
          clock (step-count ?): 151 values
          board hopping 37?: nw, w, sw, ne, se, e
          board marble 37?: blue of blue, green of green, red of red
    "#]]
    .assert_eq(&found_in(ludex_testkit::library(), &games));
}

#[test]
fn boards_of_the_corpus_are_found() {
    let Some(shared) = shared_or_skip("facts of the corpus") else { return };
    let games = [
        "connectFour",
        "breakthrough",
        "checkersSmall",
        "englishDraughts",
        "reversi",
        "minichess",
        "kalaha5x2x3",
        "skirmishZeroSum",
        "amazons_8x8",
        "pentago",
        "quarto",
    ];
    expect![[r#"
        connectFour
          order succ: 1 to 8, 8 terms
          board cell 8 by 6: black of black, red of red
        breakthrough
          order succ: 1 to 8, 8 terms
          board cellHolds 8 by 8: black of black, white of white
        checkersSmall
          order succ: 0 to 201, 202 terms
          order minus1: 12 to 0, 13 terms
          order minus2: 12 to 0, 7 terms
          order minus2: 11 to 1, 6 terms
          order minus3: 12 to 0, 5 terms
          order minus3: 11 to 2, 4 terms
          order minus3: 10 to 1, 4 terms
          order next_rank: 1 to 8, 8 terms
          order next_file: a to f, 6 terms
          counter (piece_count black ?): 10 values
          counter (piece_count red ?): 10 values
          clock (step ?): 201 values
          board cell 6 by 8: b, bk of black, bp of black, wk of red, wp of red
        englishDraughts
          order nextRank: 1 to 8, 8 terms
          order nextFile: a to h, 8 terms
          order succ: 0 to 20, 21 terms
          counter (step ?): 21 values
          board capturingPiece 8 by 8: mark
          board cell 8 by 8: black king of black, black pawn of black, white king of white, white pawn of white
        reversi
          order succ: 0 to 64, 65 terms
          board cell 8 by 8: black of black, red of red
        minichess
          order successor: 1 to 10, 10 terms
          order adjacent: 1 to 4, 4 terms
          order nextcolumn: a to d, 4 terms
          clock (step ?): 10 values
          board cell 4 by 4: b, bk of black, wk of white, wr of white
        kalaha5x2x3
          order succ: s0 to s30, 31 terms
          counter (hand north ?): 31 values
          counter (hand south ?): 31 values
          counter (pit p1 ?): 31 values
          counter (pit p10 ?): 31 values
          counter (pit p2 ?): 31 values
          counter (pit p3 ?): 31 values
          counter (pit p4 ?): 31 values
          counter (pit p5 ?): 31 values
          counter (pit p6 ?): 31 values
          counter (pit p7 ?): 31 values
          counter (pit p8 ?): 31 values
          counter (pit p9 ?): 31 values
          counter (pit pwinnorth ?): 31 values
          counter (pit pwinsouth ?): 31 values
        skirmishZeroSum
          order succ: 0 to 101, 102 terms
          order nextFile: a to h, 8 terms
          order nextRank: 1 to 8, 8 terms
          counter (canEnPassantCapture ?): 8 values
          counter (captureCount black ?): 102 values
          counter (captureCount white ?): 102 values
          clock (step ?): 101 values
          board cell 8 by 8: black bishop of black, black king of black, black knight of black, black queen of black, black rook of black, white bishop of white, white king of white, white knight of white, white queen of white, white rook of white, black pawn of black, white pawn of white
        amazons_8x8
          order nextIndex: 1 to 8, 8 terms
          board cell 8 by 8: arrow, black of black, white of white
          board justMoved 8 by 8: mark
        pentago
          order ++: 1 to 6, 6 terms
          board cellHolds 4 by 3 by 3: black, red
        quarto
          board cell 4? by 4?: empty, p0000, p0001, p0010, p0011, p0100, p0101, p0110, p0111, p1000, p1001, p1010, p1011, p1100, p1101, p1110, p1111
    "#]].assert_eq(&found_in(corpus(&shared), &games));
}
