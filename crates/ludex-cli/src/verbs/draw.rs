//! `ludex draw`: a state of a game as an SVG image.

use std::fs;
use std::path::Path;

use ludex_board::{Table, svg};
use ludex_game::{Cursor, Describe, Game};
use ludex_pipeline::{EngineChoice, with_game};
use serde::Serialize;

use crate::args::Common;
use crate::failure::{DONE, Failure};
use crate::load::load;
use crate::state_file::StateFile;
use crate::{input, output};

/// What was drawn, as JSON.
#[derive(Serialize)]
struct DrawJson {
    name: String,
    boards: Vec<BoardJson>,
    n_counters: usize,
    n_bytes: usize,
}

#[derive(Serialize)]
struct BoardJson {
    kind: &'static str,
    title: String,
    n_cells: usize,
    n_pieces: usize,
}

/// Draws a state: that of a file, or the initial one.
pub fn run(
    rules: &str,
    state: Option<&Path>,
    file: Option<&Path>,
    common: &Common,
) -> Result<u8, Failure> {
    let input = input::read(rules)?;
    // The reasoner is ready at once, and a drawing needs no playouts.
    let loaded = load(&input, EngineChoice::Reasoner, common)?;
    let state = state.map(StateFile::read).transpose()?;
    if let (Some(state), ludex_pipeline::Engine::Reasoner(reasoner)) = (&state, &loaded.engine) {
        state.for_reasoner(reasoner)?;
    }
    let fluents = match &state {
        Some(state) => state.texts(),
        None => with_game!(&loaded.engine, |game| game.state_texts(game.cursor().state())),
    };
    let scene = Table::of(&loaded.program, &loaded.role_names()).scene(&fluents);
    let drawing = svg::render(&scene);
    if let Some(path) = file {
        write_image(path, &drawing)?;
    }
    if common.json {
        let boards = scene.boards.iter().map(|board| BoardJson {
            kind: board.kind.name(),
            title: board.title.clone(),
            n_cells: board.cells.len(),
            n_pieces: board.cells.iter().map(|cell| cell.pieces.len()).sum(),
        });
        output::json(&DrawJson {
            name: input.name.clone(),
            boards: boards.collect(),
            n_counters: scene.counters.len(),
            n_bytes: drawing.len(),
        })?;
    } else if file.is_none() {
        output::text(&drawing)?;
    }
    Ok(DONE)
}

/// What was drawn of the library, as JSON.
#[derive(Serialize)]
struct SheetJson {
    games: Vec<String>,
    n_bytes: usize,
}

/// Draws all built-in games on one sheet.
pub fn library(file: Option<&Path>, common: &Common) -> Result<u8, Failure> {
    let mut drawings = Vec::new();
    for game in ludex_library::games() {
        let loaded = load(&input::read(game.name)?, EngineChoice::Reasoner, common)?;
        let fluents = with_game!(&loaded.engine, |game| game.state_texts(game.cursor().state()));
        let scene = Table::of(&loaded.program, &loaded.role_names()).scene(&fluents);
        drawings.push((game.about().title, svg::render(&scene)));
    }
    let sheet = svg::contact_sheet(&drawings);
    if let Some(path) = file {
        write_image(path, &sheet)?;
    }
    if common.json {
        let games = ludex_library::games().iter().map(|game| game.name.to_string()).collect();
        output::json(&SheetJson { games, n_bytes: sheet.len() })?;
    } else if file.is_none() {
        output::text(&sheet)?;
    }
    Ok(DONE)
}

/// Writes an image to a file.
pub(super) fn write_image(path: &Path, drawing: &str) -> Result<(), Failure> {
    fs::write(path, drawing).map_err(|error| Failure::File {
        path: path.display().to_string(),
        code: "unwritable",
        line: None,
        message: error.to_string(),
    })
}
