//! What is known about a game: its symmetries, and where its fluents are on boards.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use ludex_analysis::Layout;
use ludex_analysis::layout::{FluentShape, LeafMeaning, leaves_of};
use ludex_analysis::symmetry::{RoleExchange, find_symmetries};
use ludex_automorphism::SparsePermutation;
use ludex_base::{Deadline, FluentId, MoveId};
use ludex_game::Describe as _;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::{IllegalMoveError, interruptible};
use crate::game::{Core, Game, Place, State, seconds};

/// A permutation of the roles, fluents and moves of a game that keeps its rules.
#[pyclass(frozen, module = "ludex")]
pub struct Symmetry {
    core: Arc<Core>,
    symmetry: ludex_analysis::symmetry::Symmetry,
}

#[pymethods]
impl Symmetry {
    /// Returns the image of a state.
    fn state(&self, state: &State) -> PyResult<State> {
        Ok(state.moved(self.symmetry.state(self.bits(state)?)))
    }

    /// Returns the image of a role.
    fn role(&self, role: &Bound<'_, PyAny>) -> PyResult<&str> {
        let image = self.symmetry.role(self.core.role(role)?);
        Ok(&self.core.role_names[image.index()])
    }

    /// Returns the image of a role's move: the role and the move.
    #[pyo3(name = "move")]
    fn played(&self, role: &Bound<'_, PyAny>, played: &str) -> PyResult<(String, String)> {
        let role = self.core.role(role)?;
        let machine = self.core.machine()?;
        let id = machine.find_move(role, played).ok_or_else(|| {
            let name = &self.core.role_names[role.index()];
            IllegalMoveError::new_err(format!("`{name}` has no move `{played}`"))
        })?;
        let image = machine.move_text(self.symmetry.played(id));
        Ok((self.core.role_names[self.symmetry.role(role).index()].clone(), image))
    }

    /// Returns where it takes the moves of a role, by number: an array may be rearranged by it.
    fn actions(&self, role: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
        let role = self.core.role(role)?;
        let first = self.core.moves_of(self.symmetry.role(role)).start;
        let moves = self.core.moves_of(role);
        Ok(moves.map(|idx| self.symmetry.played(MoveId::new(idx)).index() - first).collect())
    }

    /// Returns where it takes the fluents, by number.
    fn fluents(&self) -> PyResult<Vec<usize>> {
        let n_fluents = self.core.machine()?.circuit().vocabulary.fluents.len();
        Ok((0..n_fluents).map(|idx| self.symmetry.fluent(FluentId::new(idx)).index()).collect())
    }

    /// Whether every role stays itself.
    #[getter]
    fn keeps_roles(&self) -> bool {
        self.symmetry.keeps_roles()
    }

    /// Returns the symmetry that undoes this one.
    fn inverse(&self) -> Self {
        Self { core: Arc::clone(&self.core), symmetry: self.symmetry.inverse() }
    }

    /// Returns this symmetry, then another.
    fn then(&self, other: &Self) -> PyResult<Self> {
        if !Arc::ptr_eq(&self.core, &other.core) {
            return Err(PyValueError::new_err("the symmetries belong to different games"));
        }
        let symmetry = self.symmetry.then(&other.symmetry);
        Ok(Self { core: Arc::clone(&self.core), symmetry })
    }
}

impl Symmetry {
    fn bits<'s>(&self, state: &'s State) -> PyResult<&'s ludex_base::BitSet> {
        match &state.place {
            Place::Machine(bits) if Arc::ptr_eq(&self.core, &state.game) => Ok(bits),
            _ => Err(PyValueError::new_err("the state belongs to another game")),
        }
    }
}

/// The symmetries of a game, as generators of their group.
#[pyclass(frozen, module = "ludex")]
pub struct Symmetries {
    core: Arc<Core>,
    generators: Vec<ludex_analysis::symmetry::Symmetry>,
    /// How many there are, as a text: orders may have hundreds of digits.
    order: String,
    /// Whether the time was enough to find all of them.
    #[pyo3(get)]
    is_complete: bool,
}

#[pymethods]
impl Symmetries {
    /// How many symmetries there are, with the identity.
    #[getter]
    fn order<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        PyModule::import(py, "builtins")?.getattr("int")?.call1((self.order.as_str(),))
    }

    /// Symmetries that all others are made of.
    #[getter]
    fn generators(&self) -> Vec<Symmetry> {
        let make = |symmetry: &ludex_analysis::symmetry::Symmetry| Symmetry {
            core: Arc::clone(&self.core),
            symmetry: symmetry.clone(),
        };
        self.generators.iter().map(make).collect()
    }

    /// Returns the different images of a state, itself first, each with a symmetry that leads there.
    #[pyo3(signature = (state, *, limit = 1_000))]
    fn images(&self, state: &State, limit: usize) -> PyResult<Vec<(State, Symmetry)>> {
        let wrap = |symmetry| Symmetry { core: Arc::clone(&self.core), symmetry };
        let nothing = SparsePermutation::new(Vec::new()).expect("it moves nothing");
        let identity =
            ludex_analysis::symmetry::Symmetry::new(self.core.machine()?.circuit(), nothing);
        let identity = wrap(identity.expect("it keeps everything"));
        let start = identity.bits(state)?.clone();
        let mut found = Vec::new();
        let mut known = HashSet::from([start.clone()]);
        let mut open = VecDeque::from([(start, identity.symmetry)]);
        while let Some((bits, symmetry)) = open.pop_front() {
            for generator in &self.generators {
                let image = generator.state(&bits);
                if known.len() < limit && known.insert(image.clone()) {
                    open.push_back((image, symmetry.then(generator)));
                }
            }
            found.push((state.moved(bits), wrap(symmetry)));
        }
        Ok(found)
    }
}

/// Where a fluent is: the board, its plane, the row from the bottom and the column from the left.
type Spot = (usize, String, usize, usize);

/// Finds the symmetries of the rules. Needs a circuit.
#[pyfunction]
#[pyo3(signature = (game, *, roles = true, time = 60.0))]
pub fn symmetries(py: Python<'_>, game: &Game, roles: bool, time: f64) -> PyResult<Symmetries> {
    let machine = game.core.machine()?;
    let stop = Arc::new(AtomicBool::new(false));
    let deadline = Deadline::after(seconds(time)?).or_when(Arc::clone(&stop));
    let exchange = if roles { RoleExchange::Allowed } else { RoleExchange::Forbidden };
    let found =
        interruptible(py, &stop, || find_symmetries(machine.circuit(), exchange, None, &deadline))?;
    Ok(Symmetries {
        core: Arc::clone(&game.core),
        order: found.order.to_string(),
        is_complete: found.is_complete,
        generators: found.generators,
    })
}

/// Returns for each fluent its place on a recognised board: the number of the board, the name of the
/// plane, the row from the bottom and the column from the left; `None` for a fluent beside the boards.
/// Needs a circuit.
#[pyfunction]
pub fn spots(game: &Game) -> PyResult<Vec<Option<Spot>>> {
    let machine = game.core.machine()?;
    let vocabulary = &machine.circuit().vocabulary;
    let layout = Layout::of(&game.core.loaded.program);
    let shapes = layout.shapes();
    let texts: Vec<String> = (0..vocabulary.fluents.len())
        .map(|idx| vocabulary.fluent_text(FluentId::new(idx)))
        .collect();
    // The labels of a board, in order, come with a picture of any of its fluents.
    let mut labels: HashMap<usize, (Vec<String>, Vec<String>)> = HashMap::new();
    let spot = |text: &String| -> Option<Spot> {
        let (name, leaves) = leaves_of(text)?;
        let fits = |it: &&FluentShape| it.name == name && it.leaves.len() == leaves.len();
        let shape = shapes.iter().find(fits)?;
        let (columns, rows) = labels.entry(shape.board).or_insert_with(|| {
            let picture = layout.picture(std::slice::from_ref(text));
            let own = picture.boards.into_iter().find(|it| it.index == shape.board);
            own.map(|it| (it.columns, it.rows)).unwrap_or_default()
        });
        let (mut column, mut row) = (None, None);
        let mut plane = vec![name];
        for (&leaf, meaning) in leaves.iter().zip(&shape.leaves) {
            match meaning {
                LeafMeaning::Column => column = Some(leaf),
                LeafMeaning::Row => row = Some(leaf),
                LeafMeaning::Cell(places) => {
                    let (x, y) = places.get(leaf)?;
                    (column, row) = (Some(x.as_str()), Some(y.as_str()));
                }
                LeafMeaning::Selector | LeafMeaning::Piece => plane.push(leaf),
            }
        }
        let place = |labels: &[String], wanted: Option<&str>| {
            labels.iter().position(|label| Some(label.as_str()) == wanted)
        };
        Some((shape.board, plane.join(" "), place(rows, row)?, place(columns, column)?))
    };
    Ok(texts.iter().map(spot).collect())
}
