//! Pictures of small game graphs: Graphviz and SVG, with the winning regions colored.

use std::fmt::Write as _;

/// A game graph to draw: states in layers by their distance from the first.
#[derive(Clone, PartialEq, Debug)]
pub struct Picture {
    pub(crate) states: Vec<DrawnState>,
    /// Joint moves: from a state to a state, with the moves of those who choose.
    pub(crate) moves: Vec<(usize, usize, String)>,
}

/// A state of a picture.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct DrawnState {
    /// The true fluents.
    pub fluents: String,
    /// The values of the roles, as far as they are known.
    pub values: String,
    pub region: Region,
    pub is_terminal: bool,
    pub depth: usize,
}

/// What the first role gets in a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Region {
    Most,
    Between,
    Least,
    Unknown,
}

impl Region {
    fn color(self) -> &'static str {
        match self {
            Region::Most => "#9ecae1",
            Region::Between => "#d9d9d9",
            Region::Least => "#fdae6b",
            Region::Unknown => "#ffffff",
        }
    }
}

/// The distances between the middles of states in an SVG picture, and their radius.
const ACROSS: usize = 60;
const DOWN: usize = 90;
const RADIUS: usize = 18;

impl Picture {
    /// Returns the graph in the language of Graphviz.
    pub fn to_dot(&self) -> String {
        let mut dot = String::from("digraph game {\n  node [style=filled fontsize=10];\n");
        for (idx, state) in self.states.iter().enumerate() {
            let shape = if state.is_terminal { "doublecircle" } else { "circle" };
            let (color, label) = (state.region.color(), escaped(&state.values));
            let tip = escaped(&state.fluents);
            writeln!(
                dot,
                "  s{idx} [label=\"{label}\" tooltip=\"{tip}\" shape={shape} fillcolor=\"{color}\"];"
            )
            .expect("a string takes all text");
        }
        for (from, to, moves) in &self.moves {
            let label = escaped(moves);
            writeln!(dot, "  s{from} -> s{to} [label=\"{label}\" fontsize=8];")
                .expect("a string takes all text");
        }
        dot + "}\n"
    }

    /// Returns the graph as an SVG image.
    pub fn to_svg(&self) -> String {
        let places = self.places();
        let width = places.iter().map(|place| place.0).max().unwrap_or(0) + ACROSS;
        let height = places.iter().map(|place| place.1).max().unwrap_or(0) + DOWN;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             font-family=\"sans-serif\" font-size=\"9\" text-anchor=\"middle\">\n"
        );
        for (from, to, moves) in &self.moves {
            let ((x1, y1), (x2, y2)) = (places[*from], places[*to]);
            writeln!(
                svg,
                "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" stroke=\"#888\"><title>{}</title></line>",
                marked_up(moves)
            )
            .expect("a string takes all text");
        }
        for (state, (x, y)) in self.states.iter().zip(&places) {
            let width = if state.is_terminal { 3 } else { 1 };
            writeln!(
                svg,
                "<circle cx=\"{x}\" cy=\"{y}\" r=\"{RADIUS}\" fill=\"{}\" stroke=\"black\" \
                 stroke-width=\"{width}\"><title>{}</title></circle><text x=\"{x}\" y=\"{}\">{}</text>",
                state.region.color(),
                marked_up(&state.fluents),
                y + 3,
                marked_up(&state.values)
            )
            .expect("a string takes all text");
        }
        svg + "</svg>\n"
    }

    /// Returns the middle of each state: layers from top to bottom, each in the middle.
    fn places(&self) -> Vec<(usize, usize)> {
        let n_layers = self.states.iter().map(|state| state.depth + 1).max().unwrap_or(0);
        let mut sizes = vec![0; n_layers];
        self.states.iter().for_each(|state| sizes[state.depth] += 1);
        let widest = sizes.iter().copied().max().unwrap_or(0);
        let mut n_placed = vec![0; n_layers];
        let place = |state: &DrawnState| {
            let depth = state.depth;
            let left = (widest - sizes[depth]) * ACROSS / 2;
            n_placed[depth] += 1;
            (left + n_placed[depth] * ACROSS, depth * DOWN + DOWN / 2)
        };
        self.states.iter().map(place).collect()
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

fn marked_up(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
