//! The types of the page's scripts, generated from those that the server sends.

use std::fmt::Write as _;

use ts_rs::{Config, TS};

use crate::analysis::{AnalysisView, RoleValue, SubgameView, SymmetriesView, ValueView};
use crate::handlers::{GameName, GameRow, GameView, ModelRow, PlayerRow, RulesView, StartedMatch};
use crate::models::{ModelView, TreeBranch, TreeNode, TreeView};
use crate::sheet::{DiagnosticView, RoleView, SheetView};
use crate::store::{MatchRow, SeatPlan, StoredStep, StoredThought};
use crate::study::{RoleGoal, SizesView, StudyView};
use crate::view::{
    HintMove, HintView, MatchView, MoveView, PendingView, StateView, Status, StepView,
};

/// Returns the declarations of all types, in the order of their names.
fn declarations() -> String {
    let config = Config::new().with_large_int("number");
    let mut all: Vec<String> = Vec::new();
    macro_rules! declare {
        ($($name:ty),* $(,)?) => {
            $(all.push(<$name>::decl(&config));)*
        };
    }
    declare!(
        AnalysisView,
        DiagnosticView,
        GameName,
        GameRow,
        GameView,
        HintMove,
        HintView,
        MatchRow,
        MatchView,
        ModelRow,
        ModelView,
        MoveView,
        PendingView,
        PlayerRow,
        RoleGoal,
        RoleValue,
        RoleView,
        RulesView,
        SeatPlan,
        SheetView,
        SizesView,
        StartedMatch,
        StateView,
        Status,
        StepView,
        StoredStep,
        StoredThought,
        StudyView,
        SubgameView,
        SymmetriesView,
        TreeBranch,
        TreeNode,
        TreeView,
        ValueView,
    );
    all.sort_unstable();
    let mut text = String::from(
        "// Generated from the Rust types by the test `the_types_of_the_page_are_those_of_the_server`.\n",
    );
    for declaration in all {
        let _ = writeln!(text, "\nexport {declaration}");
    }
    text
}

/// With `LUDEX_UPDATE` set, the test writes the file instead.
#[test]
fn the_types_of_the_page_are_those_of_the_server() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/page/types.d.ts");
    let expected = declarations();
    if std::env::var_os("LUDEX_UPDATE").is_some() {
        std::fs::write(file, &expected).expect("the file can be written");
    }
    let found = std::fs::read_to_string(file).unwrap_or_default();
    assert!(found == expected, "run this test with LUDEX_UPDATE=1 to write {file}");
}
