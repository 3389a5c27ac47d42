//! `ludex symmetries`: the permutations under which the rules of a game stay the same.

use std::path::Path;
use std::time::{Duration, Instant};

use ludex_analysis::symmetry::{RoleExchange, Symmetries, find_symmetries, in_words};
use ludex_analysis::{Layout, Picture, layout};
use ludex_base::{Deadline, MoveId, RoleId};
use ludex_board::{Piece, Table, svg};
use ludex_game::{Cursor, Describe, Game};
use ludex_machine::Machine;
use ludex_pipeline::{Engine, EngineChoice};
use serde::Serialize;

use super::draw::write_image;
use crate::args::Common;
use crate::board::draw;
use crate::failure::{DONE, Failure, LIMIT};
use crate::load::load;
use crate::{input, output};

#[derive(Serialize)]
struct SymmetriesJson {
    name: String,
    /// As text: orders may have hundreds of digits.
    order: String,
    order_with_roles: String,
    is_complete: bool,
    generators: Vec<GeneratorJson>,
    generators_with_roles: Vec<GeneratorJson>,
    /// By role: its first moves, those together that symmetries of the initial state take to each
    /// other.
    first_moves: Vec<FirstMoves>,
    seconds: f64,
}

#[derive(Serialize)]
struct GeneratorJson {
    words: String,
    cycles: Vec<String>,
}

#[derive(Serialize)]
struct FirstMoves {
    role: String,
    orbits: Vec<Vec<String>>,
}

/// Finds the symmetries of a game and prints them.
pub fn run(
    rules: &str,
    cycles: bool,
    svg_file: Option<&Path>,
    common: &Common,
) -> Result<u8, Failure> {
    let input = input::read(rules)?;
    let loaded = load(&input, EngineChoice::Circuit, common)?;
    let Engine::Machine(machine) = &loaded.engine else {
        return Err(Failure::Limit("the game has no circuit to find symmetries in".into()));
    };
    let deadline = common.time.map_or_else(|| Deadline::after(USUAL_TIME), Deadline::after);
    let bar = output::spinner(format!("looking for symmetries of {}", input.name));
    let start = Instant::now();
    let circuit = machine.circuit();
    let found = |exchange, state| find_symmetries(circuit, exchange, state, &deadline);
    let kept = found(RoleExchange::Forbidden, None);
    let exchanged = found(RoleExchange::Allowed, None);
    let of_start = found(RoleExchange::Forbidden, Some(&circuit.init));
    let seconds = output::seconds(start.elapsed());
    bar.finish_and_clear();

    let is_complete = kept.is_complete && exchanged.is_complete;
    let report = SymmetriesJson {
        name: input.name.clone(),
        order: kept.order.to_string(),
        order_with_roles: exchanged.order.to_string(),
        is_complete,
        generators: generators(machine, &kept),
        generators_with_roles: generators(machine, &exchanged),
        first_moves: first_moves(machine, &of_start),
        seconds,
    };
    let state = machine.state_texts(&circuit.init);
    if let Some(path) = svg_file {
        let table = Table::of(&loaded.program, &loaded.role_names());
        write_image(path, &drawn(&table, &state, &report.first_moves))?;
    }
    if common.json {
        output::json(&report)?;
    } else {
        let picture = Layout::of(&loaded.program).picture(&state);
        output::text(&report.text(&picture, cycles))?;
    }
    if !is_complete {
        eprintln!("ludex: the time limit ended the search: there may be more symmetries");
        return Ok(LIMIT);
    }
    Ok(DONE)
}

/// The board, with the letter of its orbit on each cell that a first move names. A move from cell to
/// cell is marked where it begins; the pieces stay there.
fn drawn(table: &Table, state: &[String], first_moves: &[FirstMoves]) -> String {
    let mut scene = table.scene(state);
    for FirstMoves { orbits, .. } in first_moves {
        for ((number, orbit), letter) in orbits.iter().enumerate().zip(letters()) {
            for places in table.touches(state, orbit) {
                let cells: Vec<usize> = places.iter().flatten().copied().collect();
                let Some(&first) = cells.first() else { continue };
                let all = scene.boards.iter_mut().flat_map(|board| &mut board.cells);
                let Some(cell) = all.into_iter().find(|cell| cell.id == first) else { continue };
                if cells.len() == 1 && cell.pieces.iter().all(|piece| piece.owner.is_none()) {
                    cell.pieces.retain(|piece| piece.is_mark);
                }
                if cell.pieces.iter().all(|piece| piece.label != letter) {
                    cell.pieces.push(Piece {
                        names: vec![format!("orbit {letter}")],
                        label: letter.clone(),
                        owner: Some(number),
                        glyph: None,
                        is_mark: false,
                        percent: None,
                    });
                }
            }
        }
    }
    svg::render(&scene)
}

/// Time for the search if the call does not limit it.
const USUAL_TIME: Duration = Duration::from_secs(60);

fn generators(machine: &Machine, symmetries: &Symmetries) -> Vec<GeneratorJson> {
    let vocabulary = &machine.circuit().vocabulary;
    let generators = symmetries.generators.iter();
    generators
        .map(|it| GeneratorJson {
            words: in_words(it, vocabulary),
            cycles: it.cycle_texts(vocabulary),
        })
        .collect()
}

/// Puts the first moves of each role that has a choice together by orbits, in the order of the
/// first of each.
fn first_moves(machine: &Machine, symmetries: &Symmetries) -> Vec<FirstMoves> {
    let orbits = symmetries.orbits();
    let mut cursor = machine.cursor();
    let roles: Vec<RoleId> = machine.role_ids().collect();
    let mut first_moves = Vec::new();
    for role in roles {
        let moves: Vec<MoveId> = cursor.legal_moves(role).to_vec();
        if moves.len() < 2 {
            continue;
        }
        let mut lists: Vec<(u32, Vec<String>)> = Vec::new();
        for played in moves {
            let orbit = orbits.representative(symmetries.points.played(played));
            let text = machine.move_text(played);
            match lists.iter_mut().find(|(other, _)| *other == orbit) {
                Some((_, list)) => list.push(text),
                None => lists.push((orbit, vec![text])),
            }
        }
        first_moves.push(FirstMoves {
            role: machine.roles()[role.index()].name.clone(),
            orbits: lists.into_iter().map(|(_, list)| list).collect(),
        });
    }
    first_moves
}

/// Moves of an orbit that are listed before the rest is counted.
const MAX_LISTED: usize = 6;

impl SymmetriesJson {
    fn text(&self, picture: &Picture, cycles: bool) -> String {
        let counted = |order: &str| match order {
            "1" => "no symmetry but the identity".into(),
            order => format!("{order} symmetries"),
        };
        let has_exchanges = self.order != self.order_with_roles;
        let or_more = if has_exchanges {
            format!(", {} if roles may be exchanged", self.order_with_roles)
        } else {
            String::new()
        };
        let order = counted(&self.order);
        let mut lines = vec![format!("{}: {order}{or_more} ({:.3} s)", self.name, self.seconds)];
        // Those that exchange roles are worth listing only if there are any.
        let with_roles: &[GeneratorJson] =
            if has_exchanges { &self.generators_with_roles } else { &[] };
        for (title, generators) in
            [("Generators", &self.generators[..]), ("Generators with exchanged roles", with_roles)]
        {
            if generators.is_empty() {
                continue;
            }
            lines.push(format!("\n{title}:"));
            for generator in generators {
                lines.push(format!("  {}", generator.words));
                if cycles {
                    lines.extend(generator.cycles.iter().map(|cycle| format!("    {cycle}")));
                }
            }
        }
        for FirstMoves { role, orbits } in &self.first_moves {
            let n_moves: usize = orbits.iter().map(Vec::len).sum();
            if orbits.len() == n_moves {
                lines.push(format!("\nFirst moves of {role}: {n_moves}, all different"));
                continue;
            }
            lines.push(format!("\nFirst moves of {role}: {n_moves}, {} different:", orbits.len()));
            for (orbit, letter) in orbits.iter().zip(letters()).take(MAX_ORBITS) {
                let listed: Vec<&str> = orbit.iter().take(MAX_LISTED).map(String::as_str).collect();
                let n_more = orbit.len() - listed.len();
                let more = if n_more > 0 { format!(" and {n_more} more") } else { String::new() };
                lines.push(format!("  {letter}  {}{more}", listed.join(" ")));
            }
            if orbits.len() > MAX_ORBITS {
                lines.push(format!("  … and {} more", orbits.len() - MAX_ORBITS));
            }
            if let Some(board) = with_orbits(picture, orbits) {
                lines.push(String::new());
                lines.push(draw(&board, output::width()).trim_end().to_owned());
            }
        }
        lines.join("\n") + "\n"
    }
}

/// Orbits that are listed.
const MAX_ORBITS: usize = 26;

/// `A` to `Z`, and again with a second letter.
fn letters() -> impl Iterator<Item = String> {
    (0..).map(|number: u32| {
        let letter = |digit: u32| char::from(b'A' + (digit % 26) as u8);
        match number / 26 {
            0 => letter(number).to_string(),
            above => format!("{}{}", letter(above - 1), letter(number)),
        }
    })
}

/// Writes the letter of each orbit on the cells that its moves name; `None` if no move names one,
/// or two moves name one cell.
fn with_orbits(picture: &Picture, orbits: &[Vec<String>]) -> Option<Picture> {
    let mut board = picture.boards.iter().find(|board| board.grids.len() == 1)?.clone();
    let mut is_taken = vec![vec![false; board.columns.len()]; board.rows.len()];
    for (orbit, letter) in orbits.iter().zip(letters()) {
        for text in orbit {
            let words: Vec<&str> = text.trim_matches(['(', ')']).split(' ').skip(1).collect();
            let mut places = words.windows(2).filter_map(|pair| {
                let column = board.columns.iter().position(|label| label == pair[0])?;
                Some((board.rows.iter().position(|label| label == pair[1])?, column))
            });
            let ((row, column), None) = (places.next()?, places.next()) else { return None };
            if std::mem::replace(&mut is_taken[row][column], true) {
                return None;
            }
            let occupant = layout::Occupant { names: Vec::new(), label: letter.clone() };
            board.grids[0].cells[row][column] = layout::Cell::Occupied(vec![occupant]);
        }
    }
    board.legend.clear();
    Some(Picture { boards: vec![board], others: Vec::new() })
}
