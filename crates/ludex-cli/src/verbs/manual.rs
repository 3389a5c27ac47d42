//! `ludex completions` and `ludex man`.

use std::fs;
use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::args::Cli;
use crate::failure::{DONE, Failure};
use crate::output;

/// Prints the completions for a shell.
pub fn completions(shell: Shell) -> Result<u8, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "ludex", &mut script);
    output::text(&String::from_utf8_lossy(&script))?;
    Ok(DONE)
}

/// Prints the manual page of the command, or writes the pages of all verbs to a folder.
pub fn man(folder: Option<&Path>) -> Result<u8, Failure> {
    let command = Cli::command();
    match folder {
        Some(folder) => {
            fs::create_dir_all(folder)?;
            clap_mangen::generate_to(command, folder)?;
        }
        None => {
            let mut page = Vec::new();
            Man::new(command).render(&mut page)?;
            output::text(&String::from_utf8_lossy(&page))?;
        }
    }
    Ok(DONE)
}
