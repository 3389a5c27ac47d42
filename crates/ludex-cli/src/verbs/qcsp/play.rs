//! `ludex qcsp play`: a person plays against a winning strategy.
//!
//! When the model is true the strategy is the existential player's and the person plays the
//! universal side; when it is false it is the other way round.

use std::io::{self, BufRead, Write};

use ludex_base::Deadline;
use ludex_csp::Verdict;
use ludex_qcsp::{
    Model, NodeId, ScopeId, SolveConfig, Strategy, StrategyNode, StrategyRequest, solve,
};

use super::{input, strategy};
use crate::args::{Common, QcspFile};
use crate::failure::{DONE, Failure, LIMIT};
use crate::output;

/// Solves the model and plays its strategy.
pub fn run(args: &QcspFile, common: &Common) -> Result<u8, Failure> {
    let deadline = common.time.map_or_else(Deadline::never, Deadline::after);
    let model = input::read(args, common, &deadline)?;
    let config = SolveConfig {
        strategy: StrategyRequest::One,
        n_threads: common.n_threads(),
        seed: common.seed(),
        deadline,
        ..SolveConfig::default()
    };
    let bar = output::spinner(format!("solving {}", args.file));
    let report = solve(&model, &config).map_err(|error| Failure::Call(error.to_string()));
    bar.finish_and_clear();
    let report = report?;
    let Some(found) = report.strategy else {
        let reason = match (report.verdict, report.strategy_refused) {
            (Verdict::Unknown(reason), _) => format!("stopped by the limit of {}", reason.name()),
            (_, Some(refused)) => refused.to_string(),
            _ => "there is no strategy to play against".into(),
        };
        eprintln!("ludex: {reason}");
        return Ok(LIMIT);
    };
    let you = found.winner.opponent().name();
    output::text(&format!(
        "The model is {}: `{}` wins. You play `{you}`; `q` ends.\n",
        report.verdict.name(),
        found.winner.name(),
    ))?;
    let mut game = Session { model: &model, found: &found, node: found.root };
    game.run(&mut io::stdin().lock())?;
    Ok(DONE)
}

struct Session<'a> {
    model: &'a Model,
    found: &'a Strategy,
    node: NodeId,
}

impl Session<'_> {
    fn run(&mut self, input: &mut dyn BufRead) -> Result<(), Failure> {
        loop {
            let StrategyNode::Play { scope, branches } = self.found.node(self.node) else {
                output::text("All choices are made and the goal is decided: the strategy wins.\n")?;
                return Ok(());
            };
            if branches.is_empty() {
                output::text("You have no legal choice: the strategy wins.\n")?;
                return Ok(());
            }
            let is_mine = self.model.scope(*scope).quantifier == self.found.winner;
            let chosen = if is_mine {
                0
            } else {
                match self.ask(*scope, branches, input)? {
                    Some(chosen) => chosen,
                    None => return Ok(()),
                }
            };
            let (values, next) = &branches[chosen];
            if is_mine {
                let shown = strategy::shown_choice(self.model, *scope, values);
                output::text(&format!("strategy: {shown}\n"))?;
            }
            self.node = *next;
        }
    }

    /// The index of the branch that the person takes; `None` if they leave the game.
    fn ask(
        &self,
        scope: ScopeId,
        branches: &[(Vec<ludex_csp::Value>, NodeId)],
        input: &mut dyn BufRead,
    ) -> Result<Option<usize>, Failure> {
        let mut text = String::new();
        for (i, (values, _)) in branches.iter().enumerate().take(MAX_LISTED) {
            let shown = strategy::shown_choice(self.model, scope, values);
            text += &format!("  {}: {shown}\n", i + 1);
        }
        if branches.len() > MAX_LISTED {
            text += &format!("  … up to {}\n", branches.len());
        }
        output::text(&text)?;
        loop {
            output::text("your choice: ")?;
            io::stdout().flush()?;
            let mut line = String::new();
            if input.read_line(&mut line)? == 0 || matches!(line.trim(), "q" | "quit") {
                output::text("\n")?;
                return Ok(None);
            }
            match line.trim().parse::<usize>() {
                Ok(number @ 1..) if number <= branches.len() => return Ok(Some(number - 1)),
                _ => {
                    output::text(&format!("enter a number from 1 to {}, or `q`\n", branches.len()))?
                }
            }
        }
    }
}

/// Most choices that are listed one by one.
const MAX_LISTED: usize = 60;
