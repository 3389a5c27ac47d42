//! `ludex print` and `ludex scramble`: rulesheets as text.

use ludex_base::Diagnostic;

use crate::args::{Common, Form};
use crate::failure::{DONE, Failure};
use crate::input::{self, Input};
use crate::load::wrong_rules;
use crate::output;

/// Prints a rulesheet in one of its forms.
pub fn run(rules: &str, form: Form) -> Result<u8, Failure> {
    let input = input::read(rules)?;
    let sheet = read_sheet(&input)?;
    output::text(&print(&sheet, form))?;
    Ok(DONE)
}

/// Prints a rulesheet in prefix form with every name replaced.
pub fn scramble(rules: &str, common: &Common) -> Result<u8, Failure> {
    let input = input::read(rules)?;
    let sheet = read_sheet(&input)?;
    let (scrambled, _) = ludex_gdl::scramble(&sheet, common.seed());
    output::text(&print(&scrambled, Form::Kif))?;
    Ok(DONE)
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
