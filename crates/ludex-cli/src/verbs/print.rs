//! `ludex print` and `ludex scramble`: rulesheets as text.

use ludex_base::Diagnostic;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::args::{Common, Form};
use crate::failure::{DONE, Failure};
use crate::input::{self, Input};
use crate::load::wrong_rules;
use crate::output;

#[derive(Serialize)]
struct SheetJson<'a> {
    name: &'a str,
    form: &'static str,
    rules: &'a str,
    /// New names by the old ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    names: Option<BTreeMap<&'a str, &'a str>>,
}

/// Prints a rulesheet in one of its forms.
pub fn run(rules: &str, form: Form, common: &Common) -> Result<u8, Failure> {
    let input = input::read(rules)?;
    let sheet = read_sheet(&input)?;
    let rules = print(&sheet, form);
    if common.json {
        let form = word(form);
        output::json(&SheetJson { name: &input.name, form, rules: &rules, names: None })?;
    } else {
        output::text(&rules)?;
    }
    Ok(DONE)
}

/// Prints a rulesheet in prefix form with every name replaced.
pub fn scramble(rules: &str, common: &Common) -> Result<u8, Failure> {
    let input = input::read(rules)?;
    let sheet = read_sheet(&input)?;
    let (scrambled, renaming) = ludex_gdl::scramble(&sheet, common.seed());
    let rules = print(&scrambled, Form::Kif);
    if common.json {
        let (form, names) = (word(Form::Kif), Some(renaming.iter().collect()));
        output::json(&SheetJson { name: &input.name, form, rules: &rules, names })?;
    } else {
        output::text(&rules)?;
    }
    Ok(DONE)
}

fn word(form: Form) -> &'static str {
    match form {
        Form::Kif => "kif",
        Form::Infix => "infix",
    }
}

/// The tree of a rulesheet that can be read, whatever else is wrong with it.
fn read_sheet(input: &Input) -> Result<ludex_gdl::Rulesheet, Failure> {
    let (sheet, diagnostics) = ludex_gdl::parse(&input.source);
    let is_error = |diagnostic: &Diagnostic| diagnostic.severity.is_error();
    if input.is_fatal() || diagnostics.iter().any(is_error) {
        return Err(wrong_rules(input, diagnostics));
    }
    Ok(sheet)
}

fn print(sheet: &ludex_gdl::Rulesheet, form: Form) -> String {
    match form {
        Form::Kif => ludex_gdl::print_kif(sheet),
        Form::Infix => ludex_gdl::print_infix(sheet),
    }
}
