//! From the rules to scenes of states.

use std::collections::{BTreeMap, BTreeSet};

use ludex_analysis::Layout;
use ludex_analysis::layout::{self, BoardPicture, FluentShape, Grid, LeafMeaning, leaves_of};
use ludex_gdl::Program;

use crate::blanks::find_blanks;
use crate::glyphs::glyph;
use crate::graph::{Graph, edges_of, find_graph};
use crate::hexagons::{Slant, find_slant};
use crate::moves::{Meaning, MoveMeanings, find_meanings};
use crate::owners::find_owners;
use crate::scene::{Board, BoardKind, Cell, Counter, Piece, Scene};

/// What the rules of one game say about drawing its states.
#[derive(Clone, Debug)]
pub struct Table {
    layout: Layout,
    shapes: Vec<FluentShape>,
    roles: Vec<String>,
    owners: BTreeMap<String, usize>,
    blanks: BTreeMap<usize, String>,
    slant: Option<Slant>,
    graph: Option<Graph>,
    meanings: MoveMeanings,
    /// Pairs of constants that facts join, to draw lines between named cells.
    joined: BTreeSet<(String, String)>,
}

/// The cells that a move names, in the order of its arguments: for each place the cells that are
/// meant, more than one if the move names only a column, say.
pub type Touches = Vec<Vec<usize>>;

/// More cells than this are not drawn.
const MAX_CELLS: usize = 6_400;
/// More fluents than this are only counted.
const MAX_COUNTERS: usize = 200;
/// Most boxes of a row.
const MAX_BOXES: usize = 40;
/// Longest text of a counter or label, in characters.
const MAX_TEXT: usize = 60;

/// The cells of a scene by what names them.
#[derive(Default)]
struct Places {
    /// By board, grid, column and row.
    grid: BTreeMap<(usize, Vec<String>, String, String), usize>,
    /// By the names of cells in graphs and of boxes in rows.
    named: BTreeMap<String, Vec<usize>>,
}

impl Table {
    /// Reads the rules of a game with these roles.
    pub fn of(program: &Program, roles: &[String]) -> Self {
        let layout = Layout::of(program);
        let shapes = layout.shapes();
        let graph = find_graph(program).filter(|graph| {
            let is_drawn = |shape: &FluentShape| {
                graph.families.contains_key(&(shape.name.clone(), shape.leaves.len()))
            };
            !shapes.iter().any(is_drawn)
        });
        let joined = edges_of(program).into_values().flatten().collect();
        let owners = find_owners(program, roles);
        Self {
            blanks: find_blanks(program, &shapes, &owners),
            owners,
            slant: find_slant(program),
            meanings: find_meanings(program, &shapes, graph.as_ref()),
            roles: roles.to_vec(),
            layout,
            shapes,
            graph,
            joined,
        }
    }

    /// Arranges the state with these fluents.
    pub fn scene(&self, fluents: &[String]) -> Scene {
        self.arrange(fluents).0
    }

    /// Arranges a state, and finds the group that each cell belongs to: the first whose fluents put
    /// something on it. Where the state puts nothing on the boards, all fluents of the groups are shown.
    pub fn grouped_scene(
        &self,
        state: &[String],
        groups: &[Vec<String>],
    ) -> (Scene, BTreeMap<usize, usize>) {
        let mut group_of: BTreeMap<(String, String), usize> = BTreeMap::new();
        for (group, fluents) in groups.iter().enumerate() {
            for board in self.scene(fluents).boards {
                let occupied = board.cells.into_iter().filter(|cell| !cell.pieces.is_empty());
                for cell in occupied {
                    group_of.entry((board.title.clone(), cell.name)).or_insert(group);
                }
            }
        }
        let mut scene = self.scene(state);
        if scene.boards.is_empty() {
            let all: Vec<String> = state.iter().chain(groups.iter().flatten()).cloned().collect();
            scene = self.scene(&all);
        }
        let mut by_cell = BTreeMap::new();
        for board in &scene.boards {
            for cell in &board.cells {
                if let Some(&group) = group_of.get(&(board.title.clone(), cell.name.clone())) {
                    by_cell.insert(cell.id, group);
                }
            }
        }
        (scene, by_cell)
    }

    /// Arranges what somebody knows of a state: the fluents that are certain, and others with their
    /// probabilities, whose pieces are shaded on the boards of the certain ones.
    pub fn scene_of_belief(&self, certain: &[String], others: &[(String, f64)]) -> Scene {
        let mut scene = self.scene(certain);
        for (text, probability) in others {
            let percent = (100.0 * probability).round().clamp(1.0, 99.0) as u8;
            for board in self.scene(std::slice::from_ref(text)).boards {
                let same = scene.boards.iter_mut().find(|it| it.title == board.title);
                let Some(same) = same else { continue };
                for cell in board.cells.into_iter().filter(|cell| !cell.pieces.is_empty()) {
                    let place = same.cells.iter_mut().find(|it| it.name == cell.name);
                    let Some(place) = place else { continue };
                    let shaded =
                        cell.pieces.into_iter().map(|it| Piece { percent: Some(percent), ..it });
                    place.pieces.extend(shaded);
                }
            }
        }
        scene
    }

    /// Arranges a state and marks the cells that differ from the state before.
    pub fn scene_after(&self, before: &[String], fluents: &[String]) -> Scene {
        let mut scene = self.scene(fluents);
        let before = self.scene(before);
        let named = |board: &Board, cell: &Cell| (board.title.clone(), cell.name.clone());
        let old: BTreeMap<(String, String), Vec<Piece>> = before
            .boards
            .iter()
            .flat_map(|board| board.cells.iter().map(|it| (named(board, it), it.pieces.clone())))
            .collect();
        for board in &mut scene.boards {
            let title = board.title.clone();
            for cell in &mut board.cells {
                let key = (title.clone(), cell.name.clone());
                cell.is_changed = old.get(&key).is_some_and(|pieces| *pieces != cell.pieces);
            }
        }
        scene
    }

    /// Returns the cells that each of these moves names in the scene of a state; none for a move
    /// that has no place.
    pub fn touches(&self, fluents: &[String], moves: &[String]) -> Vec<Touches> {
        let (scene, places) = self.arrange(fluents);
        moves.iter().map(|text| self.touch(&scene, &places, text)).collect()
    }

    fn arrange(&self, fluents: &[String]) -> (Scene, Places) {
        let picture = self.layout.picture(fluents);
        let mut scene = Scene::default();
        let mut places = Places::default();
        let mut next_id = 0;
        let mut drawn: Vec<(&BoardPicture, usize)> = Vec::new();
        let n_grids: usize = picture.boards.iter().map(|board| board.grids.len()).sum();
        for board in &picture.boards {
            // Families on the same axes share one grid.
            let same = |(other, _): &&(&BoardPicture, usize)| {
                other.columns == board.columns
                    && other.rows == board.rows
                    && other.grids.len() == 1
                    && board.grids.len() == 1
                    && !self.are_twins(other.index, board.index)
            };
            if let Some(&(_, at)) = drawn.iter().find(same) {
                self.overlay(board, at, &mut scene, &mut places);
                continue;
            }
            for grid in &board.grids {
                if next_id + board.columns.len() * board.rows.len() > MAX_CELLS {
                    let text = format!("one more board of {}", board.name);
                    scene.counters.push(Counter { id: usize::MAX, text: cut(&text) });
                    continue;
                }
                if board.grids.len() == 1 {
                    drawn.push((board, scene.boards.len()));
                }
                let has_title = n_grids > 1;
                let cells = self.grid(board, grid, has_title, &mut next_id, &mut places);
                scene.boards.push(cells);
            }
        }
        let others = self.add_graph(picture.others, &mut scene, &mut next_id, &mut places);
        let others = self.add_turn(others, &mut scene);
        let others = self.add_rows(others, &mut scene, &mut next_id, &mut places);
        let n_more = others.len().saturating_sub(MAX_COUNTERS);
        for text in others.iter().take(MAX_COUNTERS) {
            let id = next_id;
            next_id += 1;
            for leaf in leaves_of(text).map(|it| it.1).unwrap_or_default() {
                places.named.entry(leaf.to_string()).or_default().push(id);
            }
            scene.counters.push(Counter { id, text: cut(&in_words(text)) });
        }
        if n_more > 0 {
            let text = format!("and {n_more} more");
            scene.counters.push(Counter { id: next_id, text });
            next_id += 1;
        }
        for counter in scene.counters.iter_mut().filter(|it| it.id == usize::MAX) {
            counter.id = next_id;
            next_id += 1;
        }
        (scene, places)
    }

    /// Draws one grid of a board.
    fn grid(
        &self,
        board: &BoardPicture,
        grid: &Grid,
        has_title: bool,
        next_id: &mut usize,
        places: &mut Places,
    ) -> Board {
        let (n_columns, n_rows) = (board.columns.len(), board.rows.len());
        let named = self.named_cells(board.index);
        let place = |column: usize, row: usize| -> (f64, f64) {
            let (x, y) = (column as f64, row as f64);
            let last = n_rows as f64 - 1.0;
            match self.slant {
                Some(Slant::Falling) => (x + y / 2.0, (last - y) * HEX_HEIGHT),
                Some(Slant::Rising) => (x + (last - y) / 2.0, (last - y) * HEX_HEIGHT),
                None => (x, last - y),
            }
        };
        let mut cells: Vec<Cell> = Vec::new();
        let mut by_name: BTreeMap<String, usize> = BTreeMap::new();
        for (row, line) in grid.cells.iter().enumerate() {
            for (column, content) in line.iter().enumerate() {
                let (column_name, row_name) = (&board.columns[column], &board.rows[row]);
                let coordinates = (column_name.clone(), row_name.clone());
                let name = named.get(&coordinates);
                let is_missing = !named.is_empty() && name.is_none();
                if is_missing || *content == layout::Cell::Outside {
                    continue;
                }
                let (x, y) = place(column, row);
                let id = *next_id;
                *next_id += 1;
                let key = (board.index, grid.selector.clone(), coordinates.0, coordinates.1);
                places.grid.insert(key, id);
                let text = name.cloned().unwrap_or_else(|| format!("{column_name} {row_name}"));
                by_name.insert(text.clone(), cells.len());
                let pieces = self.pieces(board, content);
                cells.push(Cell { id, x, y, name: cut(&text), pieces, is_changed: false });
            }
        }
        let is_sparse = cells.len() < n_columns * n_rows && !named.is_empty();
        let lines: Vec<(usize, usize)> = if is_sparse {
            let index = |name: &String| by_name.get(name).copied();
            self.joined.iter().filter_map(|(a, b)| Some((index(a)?, index(b)?))).collect()
        } else {
            Vec::new()
        };
        let column_label = |column: usize| {
            let (x, y) = place(column, 0);
            (x, y + 0.8, cut(&board.columns[column]))
        };
        let row_label = |row: usize| {
            let (x, y) = place(0, row);
            (x - 0.8, y, cut(&board.rows[row]))
        };
        let labels = (0..n_columns).map(column_label).chain((0..n_rows).map(row_label)).collect();
        let kind = match self.slant {
            Some(_) => BoardKind::Hexagonal,
            None if !lines.is_empty() => BoardKind::Graph,
            None => BoardKind::Grid,
        };
        let words: Vec<&str> = if grid.selector.is_empty() {
            vec![&board.name]
        } else {
            grid.selector.iter().map(String::as_str).collect()
        };
        let title = if has_title { cut(&words.join(" ")) } else { String::new() };
        Board { kind, title, cells, lines, labels }
    }

    /// Puts the pieces of a board on another one with the same axes.
    fn overlay(&self, board: &BoardPicture, at: usize, scene: &mut Scene, places: &mut Places) {
        let [grid] = &board.grids[..] else { return };
        let below: BTreeMap<(String, String), usize> = places
            .grid
            .iter()
            .map(|((_, _, column, row), id)| ((column.clone(), row.clone()), *id))
            .collect();
        for (row, line) in grid.cells.iter().enumerate() {
            for (column, content) in line.iter().enumerate() {
                let coordinates = (board.columns[column].clone(), board.rows[row].clone());
                let Some(&id) = below.get(&coordinates) else { continue };
                let Some(cell) = scene.boards[at].cells.iter_mut().find(|cell| cell.id == id)
                else {
                    continue;
                };
                cell.pieces.extend(self.pieces(board, content));
                let key = (board.index, grid.selector.clone(), coordinates.0, coordinates.1);
                places.grid.insert(key, id);
            }
        }
    }

    /// Whether the fluents of two boards put pieces in the same way, as `(cell1 ?x ?y ?p)` and
    /// `(cell2 ?x ?y ?p)` do: then these are two boards and not one.
    fn are_twins(&self, one: usize, other: usize) -> bool {
        let leaves = |board: usize| {
            let shapes = self.shapes.iter().filter(move |shape| shape.board == board);
            shapes.map(|shape| &shape.leaves).filter(|it| it.contains(&LeafMeaning::Piece))
        };
        leaves(one).any(|it| leaves(other).any(|that| it == that))
    }

    /// The names of the cells of a board, by their coordinates.
    fn named_cells(&self, board: usize) -> BTreeMap<(String, String), String> {
        let of_shape = |shape: &FluentShape| {
            shape.leaves.iter().find_map(|leaf| match leaf {
                LeafMeaning::Cell(names) => Some(names.clone()),
                _ => None,
            })
        };
        let names = self.shapes.iter().filter(|shape| shape.board == board).find_map(of_shape);
        names.unwrap_or_default().into_iter().map(|(name, place)| (place, name)).collect()
    }

    fn pieces(&self, board: &BoardPicture, content: &layout::Cell) -> Vec<Piece> {
        let layout::Cell::Occupied(occupants) = content else { return Vec::new() };
        let blank = self.blanks.get(&board.index);
        let all: BTreeSet<String> = board.legend.iter().map(|(_, name)| name.clone()).collect();
        let is_mark_board = self
            .shapes
            .iter()
            .filter(|shape| shape.board == board.index)
            .all(|shape| !shape.leaves.contains(&LeafMeaning::Piece));
        let shown = occupants.iter().filter(|it| match &it.names[..] {
            [name] => Some(name) != blank,
            _ => true,
        });
        let piece = |occupant: &layout::Occupant| {
            let mut all = all.clone();
            all.extend(self.owners.keys().cloned());
            Piece {
                label: cut(&occupant.label),
                owner: occupant.names.iter().find_map(|name| self.owners.get(name).copied()),
                glyph: glyph(&occupant.names, &all),
                names: occupant.names.clone(),
                is_mark: is_mark_board,
                percent: None,
            }
        };
        shown.map(piece).collect()
    }

    /// Draws the graph, and returns the fluents that are not on it.
    fn add_graph(
        &self,
        others: Vec<String>,
        scene: &mut Scene,
        next_id: &mut usize,
        places: &mut Places,
    ) -> Vec<String> {
        let Some(graph) = &self.graph else { return others };
        let mut cells: Vec<Cell> = Vec::new();
        for (name, &(x, y)) in graph.nodes.iter().zip(&graph.places) {
            let id = *next_id;
            *next_id += 1;
            places.named.entry(name.clone()).or_default().push(id);
            cells.push(Cell { id, x, y, name: cut(name), pieces: Vec::new(), is_changed: false });
        }
        let mut rest = Vec::new();
        for fluent in others {
            match self.node_of(graph, &fluent) {
                Some((node, piece)) => cells[node].pieces.push(piece),
                None => rest.push(fluent),
            }
        }
        scene.boards.push(Board {
            kind: BoardKind::Graph,
            title: String::new(),
            labels: Vec::new(),
            lines: graph.edges.clone(),
            cells,
        });
        rest
    }

    /// Returns the cell of the graph that a fluent names, and the piece that it puts there.
    fn node_of(&self, graph: &Graph, fluent: &str) -> Option<(usize, Piece)> {
        let (name, leaves) = leaves_of(fluent)?;
        let &leaf = graph.families.get(&(name.to_string(), leaves.len()))?;
        let node = graph.nodes.binary_search_by(|it| it.as_str().cmp(leaves[leaf])).ok()?;
        let mut names: Vec<String> = leaves.iter().map(ToString::to_string).collect();
        names.remove(leaf);
        let is_mark = names.is_empty();
        if is_mark {
            names.push(name.to_string());
        }
        let piece = Piece {
            label: cut(&names.join(" ")),
            owner: names.iter().find_map(|name| self.owners.get(name).copied()),
            glyph: glyph(&names, &BTreeSet::new()),
            names,
            is_mark,
            percent: None,
        };
        Some((node, piece))
    }

    /// Takes out the fluents that only name a role.
    fn add_turn(&self, others: Vec<String>, scene: &mut Scene) -> Vec<String> {
        let mut rest = Vec::new();
        for fluent in others {
            let role = leaves_of(&fluent).and_then(|(_, leaves)| match leaves[..] {
                [leaf] => self.roles.iter().position(|role| role == leaf),
                _ => None,
            });
            match role {
                Some(role) if !scene.turn.contains(&role) => scene.turn.push(role),
                _ => rest.push(fluent),
            }
        }
        rest
    }

    /// Draws fluents of one function as boxes, if their first leaves tell them apart.
    fn add_rows(
        &self,
        others: Vec<String>,
        scene: &mut Scene,
        next_id: &mut usize,
        places: &mut Places,
    ) -> Vec<String> {
        let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for fluent in &others {
            if let Some((name, leaves)) = leaves_of(fluent)
                && leaves.len() >= 2
            {
                groups.entry(name.to_string()).or_default().push(fluent.clone());
            }
        }
        let first = |fluent: &String| leaves_of(fluent).map(|it| it.1[0].to_string());
        groups.retain(|_, fluents| {
            let keys: BTreeSet<Option<String>> = fluents.iter().map(first).collect();
            keys.len() == fluents.len() && (2..=MAX_BOXES).contains(&fluents.len())
        });
        for (name, fluents) in &groups {
            let mut cells = Vec::new();
            let mut labels = Vec::new();
            for (idx, fluent) in fluents.iter().enumerate() {
                let (_, leaves) = leaves_of(fluent).expect("a grouped fluent has leaves");
                let id = *next_id;
                *next_id += 1;
                places.named.entry(leaves[0].to_string()).or_default().push(id);
                let names: Vec<String> = leaves[1..].iter().map(ToString::to_string).collect();
                let piece = Piece {
                    label: cut(&names.join(" ")),
                    owner: names.iter().find_map(|name| self.owners.get(name).copied()),
                    glyph: None,
                    names,
                    is_mark: false,
                    percent: None,
                };
                let x = (idx % BOXES_PER_LINE) as f64;
                let y = (idx / BOXES_PER_LINE) as f64 * 1.7;
                let key = cut(leaves[0]);
                labels.push((x, y + 0.8, key.clone()));
                cells.push(Cell { id, x, y, name: key, pieces: vec![piece], is_changed: false });
            }
            let title = cut(name);
            let lines = Vec::new();
            scene.boards.push(Board { kind: BoardKind::Row, title, cells, lines, labels });
        }
        let is_drawn = |fluent: &String| {
            leaves_of(fluent).is_some_and(|(name, _)| {
                groups.get(name).is_some_and(|drawn| drawn.contains(fluent))
            })
        };
        others.into_iter().filter(|fluent| !is_drawn(fluent)).collect()
    }

    /// Returns the places of one move.
    fn touch(&self, scene: &Scene, places: &Places, text: &str) -> Touches {
        let Some((name, leaves)) = leaves_of(text) else { return Vec::new() };
        let meanings = self.meanings.get(&(name.to_string(), leaves.len()));
        let meanings = meanings.cloned().unwrap_or_else(|| vec![None; leaves.len()]);
        let found = self.by_meaning(scene, places, &leaves, &meanings);
        if !found.is_empty() {
            return found;
        }
        // Without a rule that says so, neighboring arguments that name a cell do.
        let pairs: Touches = leaves
            .windows(2)
            .step_by(2)
            .filter_map(|pair| {
                let cells = places.on_any_board(Some(pair[0]), Some(pair[1]));
                (!cells.is_empty()).then_some(cells)
            })
            .collect();
        if !pairs.is_empty() && pairs.len() == leaves.len() / 2 {
            return pairs;
        }
        leaves.iter().filter_map(|&leaf| places.named.get(leaf).cloned()).collect()
    }

    fn by_meaning(
        &self,
        scene: &Scene,
        places: &Places,
        leaves: &[&str],
        meanings: &[Option<Meaning>],
    ) -> Touches {
        let mut selector: Vec<String> = Vec::new();
        let mut open: Option<OpenPlace> = None;
        let mut found: Vec<OpenPlace> = Vec::new();
        let mut touches: Vec<(usize, Vec<usize>)> = Vec::new();
        for (&leaf, meaning) in leaves.iter().zip(meanings) {
            match *meaning {
                Some(Meaning::Column(board)) => {
                    let is_new = open.as_ref().is_none_or(|it| it.column.is_some());
                    if is_new {
                        found.extend(open.replace(OpenPlace::on(board)));
                    }
                    open.as_mut().expect("a place is open").column = Some(leaf.into());
                }
                Some(Meaning::Row(board)) => {
                    let is_new = open.as_ref().is_none_or(|it| it.row.is_some());
                    if is_new {
                        found.extend(open.replace(OpenPlace::on(board)));
                    }
                    open.as_mut().expect("a place is open").row = Some(leaf.into());
                }
                Some(Meaning::Cell(board)) => {
                    found.extend(open.take());
                    let named = self.named_cells(board);
                    let place = named.into_iter().find(|(_, name)| name == leaf);
                    if let Some(((column, row), _)) = place {
                        let (column, row) = (Some(column), Some(row));
                        found.push(OpenPlace { board, column, row });
                    }
                }
                Some(Meaning::Selector(_)) => selector.push(leaf.into()),
                Some(Meaning::Node) => {
                    let cells = places.named.get(leaf).cloned().unwrap_or_default();
                    touches.push((found.len() + usize::from(open.is_some()), cells));
                }
                Some(Meaning::Piece(_)) | None => {}
            }
        }
        found.extend(open);
        let mut all: Touches = found.iter().map(|it| places.of(it, &selector)).collect();
        for (at, cells) in touches.into_iter().rev() {
            all.insert(at.min(all.len()), cells);
        }
        if all.is_empty() {
            all = pieces_named(scene, leaves, meanings);
        }
        all.retain(|cells| !cells.is_empty());
        all
    }
}

/// The height of a row of hexagons whose neighbors are one unit apart.
const HEX_HEIGHT: f64 = 0.866;
/// Boxes of a row before the next line.
const BOXES_PER_LINE: usize = 10;

/// A place of a move whose coordinates are being read.
struct OpenPlace {
    board: usize,
    column: Option<String>,
    row: Option<String>,
}

impl OpenPlace {
    fn on(board: usize) -> Self {
        Self { board, column: None, row: None }
    }
}

impl Places {
    /// Returns the cells of a place: one, or a whole column or row.
    fn of(&self, place: &OpenPlace, selector: &[String]) -> Vec<usize> {
        let fits =
            |((board, grid, column, row), _): &(&(usize, Vec<String>, String, String), &usize)| {
                *board == place.board
                    && (selector.is_empty() || grid == selector)
                    && place.column.as_ref().is_none_or(|it| it == column)
                    && place.row.as_ref().is_none_or(|it| it == row)
            };
        self.grid.iter().filter(fits).map(|(_, &id)| id).collect()
    }

    /// Returns the cells with these coordinates on any board.
    fn on_any_board(&self, column: Option<&str>, row: Option<&str>) -> Vec<usize> {
        let fits = |((_, _, c, r), _): &(&(usize, Vec<String>, String, String), &usize)| {
            column.is_none_or(|it| it == c) && row.is_none_or(|it| it == r)
        };
        let cells: BTreeSet<usize> = self.grid.iter().filter(fits).map(|(_, &id)| id).collect();
        cells.into_iter().collect()
    }
}

/// Returns the cells with the pieces that a move names.
fn pieces_named(scene: &Scene, leaves: &[&str], meanings: &[Option<Meaning>]) -> Touches {
    let pieces = leaves.iter().zip(meanings);
    let pieces = pieces.filter(|(_, it)| matches!(it, Some(Meaning::Piece(_))));
    let holds = |cell: &Cell, name: &str| {
        cell.pieces.iter().any(|piece| piece.names.iter().any(|it| it == name))
    };
    pieces
        .map(|(&name, _)| scene.cells().filter(|it| holds(it, name)).map(|it| it.id).collect())
        .collect()
}

/// Writes a fluent without parentheses.
fn in_words(fluent: &str) -> String {
    fluent.replace(['(', ')'], " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Cuts a text that is too long to draw.
fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}
