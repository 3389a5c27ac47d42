//! Follows tic-tac-toe from its text to a move, one stage at a time, and prints the result of each
//! stage.
//!
//! Start reading Ludex here. To see the output:
//! `cargo test --release -p ludex-tests --test all follow_a_game -- --nocapture`

use std::sync::Arc;
use std::time::{Duration, Instant};

use ludex_base::{Deadline, Limits, Seed, Source};
use ludex_game::{Cursor, Describe, Game, perft};
use ludex_machine::Machine;
use ludex_pipeline::{LoadOptions, load, with_game};
use ludex_player::{Player, PlayerConfig, PlayerSpec, Seen};
use ludex_reasoner::Reasoner;

#[test]
fn follow_tic_tac_toe() {
    // A rulesheet is text. Its name is used only in messages.
    let text = include_str!("../games/tictactoe/rules.kif");
    let source = Source::new("games/tictactoe/rules.kif", text);
    println!("text: {} bytes", source.text().len());

    // 1. Parse (ludex-gdl): the text becomes a tree of clauses, with positions for messages.
    let (rulesheet, mistakes) = ludex_gdl::parse(&source);
    assert!(mistakes.is_empty());
    println!("rulesheet: {} clauses", rulesheet.clauses.len());

    // 2. Check (ludex-gdl): find all mistakes at once. Valid rules become the program: rules over
    //    relations, without `or`, every variable bound.
    let checked = ludex_gdl::check(&rulesheet);
    assert!(checked.is_ok());
    let program = checked.program.expect("a rulesheet without mistakes has a program");
    println!("program: {} rules, {} relations", program.rules.len(), program.relations.len());
    let frame = program.rules.iter().find(|rule| rule.body.len() == 2 && rule.n_variables() == 3);
    println!("  such as {}", program.display_rule(frame.expect("tic-tac-toe has a frame rule")));

    // 3. Ground (ludex-ground): every instance of every rule that can ever fire. Facts that are the
    //    same in every state are gone; fluents and moves are numbered.
    let ground = ludex_ground::ground(&program, &Limits::usual()).expect("the game is small");
    let vocabulary = &ground.vocabulary;
    assert_eq!((vocabulary.fluents.len(), vocabulary.moves.len()), (29, 20));
    println!(
        "ground program: {} fluents, {} moves, {} rules",
        vocabulary.fluents.len(),
        vocabulary.moves.len(),
        ground.n_rules()
    );

    // 4. Circuit (ludex-circuit): the ground rules as and, or and not over fluents and moves.
    let circuit = ludex_circuit::compile(&ground);
    println!("circuit: {} gates, {} edges", circuit.n_gates(), circuit.n_edges());

    // 5. Compile (ludex-machine): the circuit in its order of evaluation. This is a `Game`
    //    (ludex-game), shared by all threads. Its cursors stand on a state.
    let machine = Machine::new(circuit);
    let roles: Vec<&str> = machine.roles().iter().map(|role| role.name.as_str()).collect();
    assert_eq!(roles, ["xplayer", "oplayer"]);
    let mut cursor = machine.cursor();
    println!("initial state: {}", machine.state_texts(cursor.state()).join(" "));

    // 6. Play. A joint move has one move for each role; a role that is not in turn plays `noop`.
    let [x, o] = [0, 1].map(|role| machine.role_ids().nth(role).expect("two roles"));
    assert_eq!(cursor.legal_moves(x).len(), 9);
    let center = *cursor
        .legal_moves(x)
        .iter()
        .find(|&&id| machine.move_text(id) == "(mark 2 2)")
        .expect("the center is free");
    let wait = cursor.legal_moves(o)[0];
    cursor.play(&[center, wait]);
    assert_eq!(cursor.legal_moves(o).len(), 8);
    println!(
        "after {}: {}",
        machine.move_text(center),
        machine.state_texts(cursor.state()).join(" ")
    );

    // 7. The reasoner (ludex-reasoner) is also a `Game`, straight from the program: slower, but
    //    easier to trust. Both count the same number of games.
    let reasoner = Reasoner::new(&program, &Limits::usual()).expect("the game is small");
    let counted = perft(&machine, 6, &Deadline::never());
    assert_eq!(counted.nodes, [9, 72, 504, 3024, 15120, 54720]);
    assert_eq!(perft(&reasoner, 5, &Deadline::never()).nodes, counted.nodes[..5]);
    println!("paths of 1 to 6 joint moves: {:?}", counted.nodes);

    // 8. Load: all of this in one call (ludex-pipeline). If grounding is too expensive, the
    //    reasoner plays instead. The engine is one of several types, so generic code goes through
    //    `with_game!`.
    let loaded = load(source, &LoadOptions::default()).expect("the rules are valid");
    println!("loaded: {} plays", loaded.engine.name());

    // 9. Choose. A player follows the game through the observations of its role. X has two marks in
    //    the middle row and O has none: a search finds the win.
    let chosen = with_game!(&loaded.engine, |game| {
        let soon = || Instant::now() + Duration::from_secs(2);
        let spec = PlayerSpec::parse("ludex").expect("the player exists");
        let config = PlayerConfig::new(Seed(1));
        let mut player = Player::new(&spec, game, Arc::clone(&loaded.program), config);
        player.start(x, Instant::now() + Duration::from_millis(300));
        let mut cursor = game.cursor();
        for [x_move, o_move] in [
            ["(mark 2 2)", "noop"],
            ["noop", "(mark 1 1)"],
            ["(mark 1 2)", "noop"],
            ["noop", "(mark 3 3)"],
        ] {
            let joint: Vec<_> = [(x, x_move), (o, o_move)]
                .into_iter()
                .map(|(role, text)| {
                    let legal = cursor.legal_moves(role);
                    *legal
                        .iter()
                        .find(|&&id| game.move_text(id) == text)
                        .expect("the move is legal")
                })
                .collect();
            cursor.play(&joint);
            player.watch(Seen::Joint(&joint), soon());
        }
        player.choose(Seen::Nothing, soon()).text
    });
    println!("chosen: {chosen}");
    assert_eq!(chosen, "(mark 3 2)");
}
