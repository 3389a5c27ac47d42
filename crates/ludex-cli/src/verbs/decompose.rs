//! `ludex decompose`: the parts of a game that can be played one by one.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use ludex_analysis::decompose::{
    DecomposeConfig, Decomposition, decompose, fluents_in_words, moves_in_words,
};
use ludex_base::{Deadline, FluentId, MoveId};
use ludex_board::{Table, svg};
use ludex_ground::Vocabulary;
use ludex_pipeline::{Engine, EngineChoice};
use serde::Serialize;

use crate::args::{Common, DecomposeArgs};
use crate::failure::{DONE, Failure};
use crate::load::load;
use crate::state_file::StateFile;
use crate::{input, output};

#[derive(Serialize)]
struct DecompositionJson {
    name: String,
    /// Those that matter come first.
    subgames: Vec<SubgameJson>,
    independent_parts: Vec<IndependentJson>,
    crossings: Vec<CrossingJson>,
    /// Fluents that never change.
    fixed: Vec<String>,
    /// Fluents that no playout changed and that belong to no one subgame.
    unseen: Vec<String>,
    playouts: usize,
    states: usize,
    seconds: f64,
}

#[derive(Serialize)]
struct SubgameJson {
    worth: &'static str,
    /// Whether the rules alone prove that it depends on no other part.
    is_proved: bool,
    /// The number of the first subgame with the same rules, from 1.
    equal_to: usize,
    roles: Vec<String>,
    words: String,
    moves_in_words: String,
    fluents: Vec<String>,
    moves: Vec<String>,
}

#[derive(Serialize)]
struct IndependentJson {
    is_proved: bool,
    is_read: bool,
    words: String,
    fluents: Vec<String>,
}

#[derive(Serialize)]
struct CrossingJson {
    /// Numbers of subgames, from 1.
    from: usize,
    to: usize,
    is_proved: bool,
    /// Each point as the literals that hold afterwards.
    points: Vec<Vec<String>>,
}

/// Takes a game apart and prints its parts.
pub fn run(args: &DecomposeArgs, common: &Common) -> Result<u8, Failure> {
    let input = input::read(&args.rules.rules)?;
    let state = args.state.as_deref().map(StateFile::read).transpose()?;
    let loaded = load(&input, EngineChoice::Circuit, common)?;
    let Engine::Machine(machine) = &loaded.engine else {
        return Err(Failure::Limit("the game has no circuit to take apart".into()));
    };
    let circuit = machine.circuit();
    let start = match state {
        Some(file) => file.for_machine(machine)?,
        None => circuit.init.clone(),
    };
    let config = DecomposeConfig {
        n_playouts: args.playouts,
        seed: common.seed(),
        ..DecomposeConfig::usual()
    };
    let deadline = common.time.map_or_else(|| Deadline::after(USUAL_TIME), Deadline::after);
    let bar = output::spinner(format!("taking {} apart", input.name));
    let began = Instant::now();
    let found = decompose(circuit, &start, &config, &deadline);
    let seconds = output::seconds(began.elapsed());
    bar.finish_and_clear();
    let vocabulary = &circuit.vocabulary;
    if args.dot {
        output::text(&dot(&found, vocabulary))?;
        return Ok(DONE);
    }
    if args.svg {
        let table = Table::of(&loaded.program, &loaded.role_names());
        let state: Vec<String> =
            start.iter().map(|idx| vocabulary.fluent_text(FluentId::new(idx))).collect();
        output::text(&drawing(&found, vocabulary, &table, &state))?;
        return Ok(DONE);
    }
    let report = report(&input.name, &found, vocabulary, seconds);
    if common.json {
        output::json(&report)?;
    } else {
        output::text(&report.text())?;
    }
    Ok(DONE)
}

/// Time for the analysis if the call does not limit it.
const USUAL_TIME: Duration = Duration::from_secs(60);

fn report(
    name: &str,
    found: &Decomposition,
    vocabulary: &Vocabulary,
    seconds: f64,
) -> DecompositionJson {
    let fluents =
        |list: &[FluentId]| list.iter().map(|&it| vocabulary.fluent_text(it)).collect::<Vec<_>>();
    let moves = |list: &[MoveId]| -> Vec<String> {
        let mut texts: Vec<String> = list.iter().map(|&it| vocabulary.move_text(it)).collect();
        texts.sort_unstable();
        texts.dedup();
        texts
    };
    let literal = |&(fluent, value): &(FluentId, bool)| {
        let text = vocabulary.fluent_text(fluent);
        if value { text } else { format!("(not {text})") }
    };
    DecompositionJson {
        name: name.to_owned(),
        subgames: (found.subgames.iter())
            .map(|it| SubgameJson {
                worth: it.worth.name(),
                is_proved: it.is_proved,
                equal_to: it.equal_to + 1,
                roles: it.roles.iter().map(|&role| vocabulary.role_text(role)).collect(),
                words: fluents_in_words(&it.fluents, vocabulary),
                moves_in_words: moves_in_words(&it.moves, vocabulary),
                fluents: fluents(&it.fluents),
                moves: moves(&it.moves),
            })
            .collect(),
        independent_parts: (found.independent_parts.iter())
            .map(|it| IndependentJson {
                is_proved: it.is_proved,
                is_read: it.is_read,
                words: fluents_in_words(&it.fluents, vocabulary),
                fluents: fluents(&it.fluents),
            })
            .collect(),
        crossings: (found.crossings.iter())
            .map(|it| CrossingJson {
                from: it.from + 1,
                to: it.to + 1,
                is_proved: it.is_proved,
                points: it.points.iter().map(|point| point.iter().map(literal).collect()).collect(),
            })
            .collect(),
        fixed: fluents(&found.fixed),
        unseen: fluents(&found.unseen),
        playouts: found.n_playouts,
        states: found.n_states,
        seconds,
    }
}

impl DecompositionJson {
    fn text(&self) -> String {
        let n_useful = self.subgames.iter().filter(|it| it.worth != "useless").count();
        let n_useless = self.subgames.len() - n_useful;
        let subgames = match n_useful {
            1 => "one subgame".to_owned(),
            n => format!("{n} subgames"),
        };
        let useless = match n_useless {
            0 => String::new(),
            n => format!(" and {n} useless"),
        };
        let mut lines = vec![format!(
            "{}: {subgames}{useless} ({} playouts, {} states, {:.3} s)",
            self.name, self.playouts, self.states, self.seconds
        )];
        for (number, it) in (1..).zip(&self.subgames) {
            let equal = if it.equal_to == number {
                String::new()
            } else {
                format!(", like {}", it.equal_to)
            };
            let proved = if it.is_proved { ", proved" } else { "" };
            lines.push(format!("\n{number}  {}{equal}{proved}", it.worth));
            lines.push(format!("   fluents  {}", it.words));
            lines.push(format!("   moves    {}", it.moves_in_words));
        }
        if !self.independent_parts.is_empty() {
            lines.push("\nIndependent of moves:".into());
        }
        for part in &self.independent_parts {
            let proved = if part.is_proved { ", proved" } else { "" };
            let unread = if part.is_read { "" } else { ", read by neither goals nor terminal" };
            lines.push(format!("   {}{proved}{unread}", part.words));
        }
        for crossing in &self.crossings {
            let points: Vec<String> = crossing.points.iter().map(|it| it.join(" and ")).collect();
            let proved = if crossing.is_proved { ", proved" } else { "" };
            lines.push(format!(
                "\nSubgame {} ends before {} begins{proved}, at {}",
                crossing.from,
                crossing.to,
                points.join(", or at ")
            ));
        }
        if !self.unseen.is_empty() {
            lines.push(format!("\nNever seen to change: {} fluents", self.unseen.len()));
        }
        lines.join("\n") + "\n"
    }
}

/// The subgames with their fluents and moves as a graph for Graphviz.
fn dot(found: &Decomposition, vocabulary: &Vocabulary) -> String {
    let quoted = |text: String| format!("{text:?}");
    let mut text = String::from("graph decomposition {\n  node [shape=box];\n");
    let mut push = |line: String| writeln!(text, "  {line}").expect("a string takes all text");
    for (number, it) in (1..).zip(&found.subgames) {
        push(format!("subgraph cluster_{number} {{"));
        push(format!("  label={};", quoted(format!("{number}: {}", it.worth.name()))));
        for fluent in &it.fluents {
            let name = quoted(vocabulary.fluent_text(*fluent));
            push(format!("  f{} [label={name}];", fluent.index()));
        }
        push(format!(
            "  m{number} [shape=ellipse, label={}];",
            quoted(moves_in_words(&it.moves, vocabulary))
        ));
        push("}".into());
        for fluent in &it.fluents {
            push(format!("m{number} -- f{};", fluent.index()));
        }
    }
    for (number, part) in (1..).zip(&found.independent_parts) {
        let name = quoted(fluents_in_words(&part.fluents, vocabulary));
        push(format!("c{number} [style=dashed, label={name}];"));
    }
    for it in &found.crossings {
        push(format!("m{} -- m{} [dir=forward, style=bold];", it.from + 1, it.to + 1));
    }
    text + "}\n"
}

/// The width of the box of a subgame, its height and the space between two, in the units of SVG.
const BOX_WIDTH: usize = 640;
const BOX_HEIGHT: usize = 54;
const BOX_STEP: usize = 66;
/// The longest line of text in a box, in characters.
const MAX_TEXT: usize = 90;

/// The state with its cells colored by subgame, and below it the graph of the subgames.
fn drawing(
    found: &Decomposition,
    vocabulary: &Vocabulary,
    table: &Table,
    state: &[String],
) -> String {
    let texts = |list: &[FluentId]| -> Vec<String> {
        list.iter().map(|&it| vocabulary.fluent_text(it)).collect()
    };
    let groups: Vec<Vec<String>> = found.subgames.iter().map(|it| texts(&it.fluents)).collect();
    let (scene, by_cell) = table.grouped_scene(state, &groups);
    let board = svg::render_groups(&scene, |cell| by_cell.get(&cell).copied());
    let size = |name: &str| -> usize {
        let after = board.split_once(&format!(" {name}=\"")).map_or("", |it| it.1);
        after.split('"').next().and_then(|it| it.parse().ok()).unwrap_or(0)
    };
    let (board_width, board_height) = (size("width"), size("height"));
    let width = board_width.max(BOX_WIDTH + 60);
    let n_boxes = found.subgames.len() + usize::from(!found.independent_parts.is_empty());
    let height = board_height + 20 + n_boxes * BOX_STEP;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\">\n{board}"
    );
    let mut push = |line: String| writeln!(text, "{line}").expect("a string takes all text");
    let top_of = |place: usize| board_height + 10 + place * BOX_STEP;
    let cut = |words: String| {
        let short: String = words.chars().take(MAX_TEXT).collect();
        let dots = if short.len() < words.len() { "…" } else { "" };
        svg::escape(&(short + dots))
    };
    let mut draw_box = |place: usize, fill: &str, lines: [String; 3]| {
        let top = top_of(place);
        push(format!(
            "<rect class=\"subgame\" x=\"40\" y=\"{top}\" width=\"{BOX_WIDTH}\" height=\"{BOX_HEIGHT}\" \
             rx=\"6\" fill=\"{fill}\" fill-opacity=\"0.45\" stroke=\"#555\"/>"
        ));
        for (row, line) in lines.into_iter().enumerate() {
            let (size, y) = (if row == 0 { 14 } else { 11 }, top + 17 + row * 16);
            push(format!("<text x=\"50\" y=\"{y}\" font-size=\"{size}\">{}</text>", cut(line)));
        }
    };
    for (place, it) in found.subgames.iter().enumerate() {
        let equal = match it.equal_to {
            first if first == place => String::new(),
            first => format!(", like {}", first + 1),
        };
        let title = format!("{} {}{equal}", place + 1, it.worth.name());
        let fluents = fluents_in_words(&it.fluents, vocabulary);
        let moves = moves_in_words(&it.moves, vocabulary);
        draw_box(place, svg::group_color(place), [title, fluents, moves]);
    }
    if !found.independent_parts.is_empty() {
        let words: Vec<String> = (found.independent_parts.iter())
            .map(|it| fluents_in_words(&it.fluents, vocabulary))
            .collect();
        let lines = ["independent of moves".into(), words.join("; "), String::new()];
        draw_box(found.subgames.len(), "#ffffff", lines);
    }
    for it in &found.crossings {
        let middle = |place: usize| top_of(place) + BOX_HEIGHT / 2;
        let (from, to) = (middle(it.from), middle(it.to));
        push(format!(
            "<path class=\"crossing\" d=\"M40,{from} C5,{from} 5,{to} 34,{to}\" fill=\"none\" \
             stroke=\"#333\" stroke-width=\"2\"/><path d=\"M40,{to} l-9,-5 v10 z\" fill=\"#333\"/>"
        ));
    }
    text + "</svg>\n"
}
