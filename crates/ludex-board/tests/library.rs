//! Scenes of the built-in games.

use ludex_base::{Limits, RoleId, Seed, Source};
use ludex_board::{BoardKind, Scene, Table, Touches, svg};
use ludex_game::{Cursor, Describe, Game};
use ludex_gdl::Program;
use ludex_reasoner::Reasoner;

/// The initial state of a game, with the moves of the first role.
struct Start {
    table: Table,
    fluents: Vec<String>,
    moves: Vec<String>,
}

impl Start {
    fn of_rules(rules: &str) -> Self {
        let checked = ludex_gdl::check_source(&Source::new("test", rules));
        Self::of(&checked.program.expect("the rules have a meaning"))
    }

    fn of_game(name: &str) -> Self {
        Self::of_rules(ludex_library::find(name).expect("a built-in game").rules)
    }

    fn of(program: &Program) -> Self {
        let game = Reasoner::new(program, &Limits::usual()).expect("the reasoner plays it");
        let roles: Vec<String> = game.roles().iter().map(|role| role.name.clone()).collect();
        let mut cursor = game.cursor();
        let fluents = game.state_texts(cursor.state());
        let moves = cursor.legal_moves(RoleId::new(0)).to_vec();
        let moves = moves.into_iter().map(|id| game.move_text(id)).collect();
        Self { table: Table::of(program, &roles), fluents, moves }
    }

    fn scene(&self) -> Scene {
        self.table.scene(&self.fluents)
    }

    fn touch(&self, chosen: &str) -> Touches {
        let texts = [chosen.to_string()];
        self.table.touches(&self.fluents, &texts).remove(0)
    }
}

/// The names of the cells that a move touches, place by place.
fn names(start: &Start, chosen: &str) -> Vec<Vec<String>> {
    let scene = start.scene();
    let name = |id: &usize| {
        scene.cells().find(|cell| cell.id == *id).map_or("no cell".into(), |it| it.name.clone())
    };
    start.touch(chosen).iter().map(|cells| cells.iter().map(name).collect()).collect()
}

#[track_caller]
fn check_board(game: &str, kind: BoardKind, n_cells: usize) {
    let scene = Start::of_game(game).scene();
    let main = scene.boards.iter().max_by_key(|board| board.cells.len()).expect("a board");
    assert_eq!((main.kind, main.cells.len()), (kind, n_cells), "{game}");
}

#[test]
fn boards_are_of_the_right_kind_and_size() {
    check_board("tictactoe", BoardKind::Grid, 9);
    check_board("chess", BoardKind::Grid, 64);
    check_board("connectfour", BoardKind::Grid, 42);
    check_board("hex", BoardKind::Hexagonal, 49);
    check_board("nine-mens-morris", BoardKind::Graph, 24);
}

#[test]
fn every_game_has_a_scene_and_every_touch_is_in_it() {
    for game in ludex_library::games() {
        let start = Start::of_rules(game.rules);
        let scene = start.scene();
        let n_ids = scene.cells().count() + scene.counters.len();
        let drawing = svg::render(&scene);
        assert!(drawing.starts_with("<svg ") && drawing.ends_with("</svg>\n"), "{}", game.name);
        assert_eq!(drawing.matches("data-cell=").count(), n_ids, "{}", game.name);
        for touches in start.table.touches(&start.fluents, &start.moves) {
            assert!(touches.iter().flatten().all(|&id| id < n_ids), "{}", game.name);
            assert!(touches.iter().all(|cells| !cells.is_empty()), "{}", game.name);
        }
    }
}

#[test]
fn moves_name_cells_columns_and_pairs_of_cells() {
    let tictactoe = Start::of_game("tictactoe");
    assert_eq!(names(&tictactoe, "(mark 1 3)"), [["1 3"]]);
    assert!(names(&tictactoe, "noop").is_empty());
    let breakthrough = Start::of_game("breakthrough");
    let first = names(&breakthrough, &breakthrough.moves[0]);
    assert!(first.len() == 2 && first.iter().all(|cells| cells.len() == 1), "{first:?}");
    let chess = Start::of_game("chess");
    assert_eq!(names(&chess, "(move e2 e4)"), [["e2"], ["e4"]]);
    let connectfour = Start::of_game("connectfour");
    let column = names(&connectfour, &connectfour.moves[0]);
    assert!(column.len() == 1 && column[0].len() == 6, "{column:?}");
    let hex = Start::of_game("hex");
    assert_eq!(names(&hex, "(place 2 5)"), [["2 5"]]);
}

#[test]
fn pieces_belong_to_the_roles_that_move_them() {
    for game in ["chess", "breakthrough", "checkers", "reversi"] {
        let scene = Start::of_game(game).scene();
        for owner in 0..2 {
            let owned = scene.cells().flat_map(|cell| &cell.pieces);
            let n_owned = owned.filter(|piece| piece.owner == Some(owner)).count();
            assert!(n_owned >= 2, "role {owner} of {game} owns {n_owned} pieces");
        }
    }
}

#[test]
fn a_scrambled_rulesheet_has_the_same_board() {
    // Their rules order the coordinates; in tic-tac-toe only the names do.
    for game in ["hex", "connectfour", "breakthrough"] {
        let rules = ludex_library::find(game).expect("a built-in game").rules;
        let (sheet, _) = ludex_gdl::parse(&Source::new("test", rules));
        let (scrambled, _) = ludex_gdl::scramble(&sheet, Seed(7));
        let scrambled = ludex_gdl::print_kif(&scrambled);
        let (plain, scrambled) = (Start::of_rules(rules), Start::of_rules(&scrambled));
        let shape = |scene: &Scene| {
            let board = &scene.boards[0];
            let n_pieces: usize = board.cells.iter().map(|cell| cell.pieces.len()).sum();
            (board.kind, board.cells.len(), n_pieces)
        };
        assert_eq!(shape(&plain.scene()), shape(&scrambled.scene()), "{game}");
        let n_places = |start: &Start| start.touch(&start.moves[0]).len();
        assert_eq!(n_places(&plain), n_places(&scrambled), "{game}");
    }
}

#[test]
fn cells_that_a_step_changed_are_marked() {
    let start = Start::of_game("tictactoe");
    let mut after = start.fluents.clone();
    let changed = after.iter_mut().find(|it| it.starts_with("(cell 2 2")).expect("the center");
    *changed = "(cell 2 2 x)".into();
    let scene = start.table.scene_after(&start.fluents, &after);
    let marked: Vec<&str> =
        scene.cells().filter(|it| it.is_changed).map(|it| it.name.as_str()).collect();
    assert_eq!(marked, ["2 2"]);
}

#[test]
fn marks_lie_on_a_board_and_twins_lie_side_by_side() {
    let boards = |second: &str| {
        let rules = format!(
            "(role me) (n 1) (n 2) (n 3) (p x) (p o) (legal me go) (goal me 0) (<= terminal (true z))
             (<= (next (first ?x ?y ?p)) (n ?x) (n ?y) (p ?p)) (init (first 1 1 x)) {second}"
        );
        let scene = Start::of_rules(&rules).scene();
        scene.boards.iter().map(|board| board.cells.len()).collect::<Vec<_>>()
    };
    let marks = "(<= (next (wall ?x ?y)) (n ?x) (n ?y)) (init (wall 2 2)) (init (wall 3 3))";
    assert_eq!(boards(marks), [9]);
    let twin = "(<= (next (second ?x ?y ?p)) (n ?x) (n ?y) (p ?p)) (init (second 1 1 o))";
    assert_eq!(boards(twin), [9, 9]);
}
