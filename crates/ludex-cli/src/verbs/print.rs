//! `ludex print` and `ludex scramble`: print rulesheets.

use std::collections::BTreeMap;

use ludex_base::Diagnostic;
use ludex_pipeline::EngineChoice;
use serde::Serialize;

use crate::args::{Common, Notation};
use crate::failure::{DONE, Failure};
use crate::input::{self, Input};
use crate::load::{invalid_rules, options};
use crate::output;

#[derive(Serialize)]
struct SheetJson<'a> {
    name: &'a str,
    form: &'static str,
    rules: &'a str,
    /// The new name of each old name.
    #[serde(skip_serializing_if = "Option::is_none")]
    names: Option<BTreeMap<&'a str, &'a str>>,
}

/// Prints a rulesheet in prefix or infix form.
pub fn run(rules: &str, notation: Notation, common: &Common) -> Result<u8, Failure> {
    let input = input::read(rules)?;
    let sheet = read_sheet(&input, common)?;
    let rules = print(&sheet, notation);
    if common.json {
        let form = name(notation);
        output::json(&SheetJson { name: &input.name, form, rules: &rules, names: None })?;
    } else {
        output::text(&rules)?;
    }
    Ok(DONE)
}

/// Prints a rulesheet in prefix form with every name replaced.
pub fn scramble(rules: &str, common: &Common) -> Result<u8, Failure> {
    let input = input::read(rules)?;
    let sheet = read_sheet(&input, common)?;
    let (scrambled, renaming) = ludex_gdl::scramble(&sheet, common.seed());
    let rules = print(&scrambled, Notation::Kif);
    if common.json {
        let (form, names) = (name(Notation::Kif), Some(renaming.iter().collect()));
        output::json(&SheetJson { name: &input.name, form, rules: &rules, names })?;
    } else {
        output::text(&rules)?;
    }
    Ok(DONE)
}

fn name(notation: Notation) -> &'static str {
    match notation {
        Notation::Kif => "kif",
        Notation::Infix => "infix",
    }
}

/// Parses a rulesheet, without checking its meaning.
fn read_sheet(input: &Input, common: &Common) -> Result<ludex_gdl::Rulesheet, Failure> {
    let limits = options(EngineChoice::Auto, common).limits();
    let (sheet, diagnostics) =
        ludex_gdl::parse_within(&input.source, &limits).map_err(|reason| {
            Failure::Limit(format!("reading stopped at the limit of {}", reason.name()))
        })?;
    let is_error = |diagnostic: &Diagnostic| diagnostic.severity.is_error();
    if input.is_fatal() || diagnostics.iter().any(is_error) {
        return Err(invalid_rules(input, diagnostics));
    }
    Ok(sheet)
}

fn print(sheet: &ludex_gdl::Rulesheet, notation: Notation) -> String {
    match notation {
        Notation::Kif => ludex_gdl::print_kif(sheet),
        Notation::Infix => ludex_gdl::print_infix(sheet),
    }
}
