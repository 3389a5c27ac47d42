//! Do symmetries depend on how rules are written? Rulesheets are rewritten without changing the game, and the
//! group of each source is compared with that of the original.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use anyhow::Result;
use clap::{Args, FromArgMatches as _};
use ludex_analysis::symmetry::{
    RoleExchange, find_rule_symmetries, find_step_symmetries, find_symmetries,
};
use ludex_base::{Deadline, Rng, Seed, Source};
use ludex_encode::{EncodeConfig, encode};
use ludex_pipeline::{Engine, EngineChoice, LoadOptions, load};
use ludex_testkit::corpus;
use xtask::tools::shared_folder;

use crate::registry::Experiment;
use crate::run::Run;
use crate::tables::Table;

pub static EXPERIMENT: Experiment = Experiment {
    name: "invariance",
    question: "Do the symmetries that are found depend on how the rules are written?",
    command: "cargo experiment invariance",
    table: "invariance.tsv, invariance.md",
    options: Options::augment_args,
    run: |run, given| compare_all(run, &Options::from_arg_matches(given)?),
};

#[derive(Args)]
struct Options {
    /// Only these games
    games: Vec<String>,
    /// Seconds for each search for symmetries
    #[arg(long, default_value_t = 10)]
    seconds: u64,
}

/// Games whose text shows symmetries, and some that hide them there.
const GAMES: &[&str] = &[
    "ticTacToe",
    "connectFour",
    "breakthroughSmall",
    "queens06ug",
    "lightsOut",
    "knightsTour",
    "blocker",
    "toetictac",
    "ticTicToe",
    "ticTacToeLarge",
    "peg",
    "quad_5x5",
    "kono",
    "pentago",
    "montyhall",
    "hanoi",
    "connect5",
    "nineBoardTicTacToe",
    "biddingTicTacToe",
    "beatMania",
];

/// How rules are rewritten.
const REWRITINGS: [&str; 5] = ["renamed", "reordered", "split", "repeated", "tautological"];

fn compare_all(run: &Run, options: &Options) -> Result<()> {
    let columns =
        "game\trewriting\tcircuit\tcircuit before\tnetwork\tnetwork before\ttext\ttext before";
    let table = Table::open(run, "invariance", columns)?;
    let all = corpus(&shared_folder()?);
    for name in GAMES {
        let is_wanted = options.games.is_empty() || options.games.iter().any(|it| it == name);
        let Some(rules) = all.iter().find(|rules| rules.name == *name).filter(|_| is_wanted) else {
            continue;
        };
        if REWRITINGS.iter().all(|rewriting| table.has(&[name, rewriting])) {
            continue;
        }
        let text = rules.text();
        let before = orders(name, &text, options);
        for rewriting in REWRITINGS {
            if table.has(&[name, rewriting]) {
                continue;
            }
            let after = orders(name, &rewritten(name, &text, rewriting), options);
            let pairs: Vec<&str> = (0..3)
                .flat_map(|source| [after[source].as_str(), before[source].as_str()])
                .collect();
            table.append(&[&[*name, rewriting][..], &pairs].concat())?;
        }
    }
    describe(run, &table)
}

/// The orders of the groups that keep roles: by the circuit, by the network of a step, by the text.
fn orders(name: &str, text: &str, options: &Options) -> [String; 3] {
    let load_options = LoadOptions { engine: EngineChoice::Circuit, ..LoadOptions::default() };
    let loaded = load(Source::new(name, text.to_string()), &load_options);
    let Ok(loaded) = loaded else { return ["-", "-", "-"].map(String::from) };
    let Engine::Machine(machine) = &loaded.engine else {
        return ["-", "-", "-"].map(String::from);
    };
    let circuit = machine.circuit();
    let deadline = || Deadline::after(Duration::from_secs(options.seconds));
    let kept = RoleExchange::Forbidden;
    let by_circuit = find_symmetries(circuit, kept, None, &deadline());
    let by_text = find_rule_symmetries(&loaded.program, circuit, kept, &deadline());
    let config = EncodeConfig { deadline: deadline(), ..EncodeConfig::default() };
    let by_network = match encode(circuit, &config) {
        Ok(template) => find_step_symmetries(&template, circuit, kept, None, &deadline())
            .map_or_else(|_| "-".into(), |found| found.order.to_string()),
        Err(_) => "-".into(),
    };
    [by_circuit.order.to_string(), by_network, by_text.order.to_string()]
}

/// A rulesheet that describes the same game in other words.
fn rewritten(name: &str, text: &str, rewriting: &str) -> String {
    let rng = &mut Seed(7).rng();
    if rewriting == "renamed" {
        let source = Source::new(name, text.to_string());
        let (sheet, _) = ludex_gdl::parse(&source);
        return ludex_gdl::print_kif(&ludex_gdl::scramble(&sheet, Seed(7)).0);
    }
    let mut clauses = forms(text);
    let fluent = clauses.iter().find_map(|clause| match clause {
        Form::List(list) if list.first().is_some_and(|it| it.is("init")) => Some(list[1].clone()),
        _ => None,
    });
    let mut more = Vec::new();
    match rewriting {
        "reordered" => {
            shuffle(&mut clauses, rng);
            for clause in &mut clauses {
                if let Form::List(list) = clause
                    && list.first().is_some_and(|it| it.is("<="))
                {
                    shuffle(&mut list[2..], rng);
                }
            }
        }
        "split" => {
            for (number, clause) in clauses.iter_mut().enumerate() {
                if rng.below(2) == 0
                    && let Form::List(list) = clause
                {
                    more.extend(split(list, number));
                }
            }
        }
        // The same rule again, with one more condition: it derives nothing new.
        "repeated" => {
            for clause in &clauses {
                if let (Form::List(list), Some(fluent)) = (clause, &fluent)
                    && may_be_doubled(list)
                    && rng.below(2) == 0
                {
                    more.push(with_condition(list, truth(fluent)));
                }
            }
        }
        // The rule for both cases of a condition that does not matter.
        _ => {
            for clause in &mut clauses {
                if let (Form::List(list), Some(fluent)) = (&mut *clause, &fluent)
                    && may_be_doubled(list)
                    && rng.below(4) == 0
                {
                    let not = Form::List(vec![Form::word("not"), truth(fluent)]);
                    more.push(with_condition(list, not));
                    *clause = with_condition(list, truth(fluent));
                }
            }
        }
    }
    clauses.extend(more);
    clauses.iter().map(|clause| format!("{clause}\n")).collect()
}

/// A word or a list of forms.
#[derive(Clone, PartialEq, Debug)]
enum Form {
    Word(String),
    List(Vec<Form>),
}

impl Form {
    fn word(text: &str) -> Self {
        Self::Word(text.into())
    }

    fn is(&self, text: &str) -> bool {
        matches!(self, Self::Word(word) if word.eq_ignore_ascii_case(text))
    }

    fn variables(&self, into: &mut Vec<String>) {
        match self {
            Self::Word(word) if word.starts_with('?') && !into.contains(word) => {
                into.push(word.clone());
            }
            Self::Word(_) => {}
            Self::List(list) => list.iter().for_each(|form| form.variables(into)),
        }
    }

    /// Whether it is a condition that binds its variables.
    fn is_positive(&self) -> bool {
        match self {
            Self::Word(_) => true,
            Self::List(list) => {
                !["not", "distinct", "or", "and"].iter().any(|word| list[0].is(word))
            }
        }
    }
}

impl std::fmt::Display for Form {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Word(word) => f.write_str(word),
            Self::List(list) => {
                let parts: Vec<String> = list.iter().map(Self::to_string).collect();
                write!(f, "({})", parts.join(" "))
            }
        }
    }
}

/// The forms of a text, without its comments.
fn forms(text: &str) -> Vec<Form> {
    let bare: String =
        text.lines().map(|line| line.split(';').next().unwrap_or("").to_string() + "\n").collect();
    let spaced = bare.replace('(', " ( ").replace(')', " ) ");
    let mut stack: Vec<Vec<Form>> = vec![Vec::new()];
    for word in spaced.split_whitespace() {
        match word {
            "(" => stack.push(Vec::new()),
            ")" if stack.len() > 1 => {
                let list = stack.pop().unwrap_or_default();
                if let Some(outer) = stack.last_mut() {
                    outer.push(Form::List(list));
                }
            }
            word => {
                if let Some(outer) = stack.last_mut() {
                    outer.push(Form::word(word));
                }
            }
        }
    }
    stack.swap_remove(0)
}

fn shuffle<T>(list: &mut [T], rng: &mut Rng) {
    for place in (1..list.len()).rev() {
        list.swap(place, rng.below(place + 1));
    }
}

/// Moves the last two conditions of a rule into a relation of their own, if they bind their variables.
fn split(list: &mut Vec<Form>, number: usize) -> Option<Form> {
    let is_rule = list.first().is_some_and(|it| it.is("<=")) && list.len() >= 5;
    if !is_rule || !list[list.len() - 2..].iter().all(Form::is_positive) {
        return None;
    }
    let body = list.split_off(list.len() - 2);
    let mut variables = Vec::new();
    body.iter().for_each(|form| form.variables(&mut variables));
    let mut head = vec![Form::word(&format!("part_{number}"))];
    head.extend(variables.iter().map(|name| Form::word(name)));
    let head = if head.len() == 1 { head.swap_remove(0) } else { Form::List(head) };
    list.push(head.clone());
    Some(Form::List([vec![Form::word("<="), head], body].concat()))
}

/// Whether a rule is about states: a condition on a state may be added to it.
fn may_be_doubled(list: &[Form]) -> bool {
    let is_about_states = |head: &Form| match head {
        Form::Word(word) => word.eq_ignore_ascii_case("terminal"),
        Form::List(head) => ["legal", "next", "goal"].iter().any(|word| head[0].is(word)),
    };
    list.first().is_some_and(|it| it.is("<=")) && list.len() > 2 && is_about_states(&list[1])
}

fn with_condition(list: &[Form], condition: Form) -> Form {
    Form::List([list.to_vec(), vec![condition]].concat())
}

fn truth(fluent: &Form) -> Form {
    Form::List(vec![Form::word("true"), fluent.clone()])
}

fn describe(run: &Run, table: &Table) -> Result<()> {
    let mut text = format!(
        "# Symmetries of rewritten rules\n\n{}.\n\
         Orders of the groups that keep roles, after and before rules were rewritten: names changed, rules and \
         conditions in another order, rules split in two, rules repeated with one more condition, rules given for \
         both cases of a condition that does not matter.\n{}\n\n\
         | rewriting | variants | circuit same | network same | text same |\n| --- | --- | --- | --- | --- |\n",
        run.made_by("invariance"),
        table.commits_in_words()?,
    );
    let rows = table.rows()?;
    let mut counts: BTreeMap<&str, [usize; 4]> = BTreeMap::new();
    for row in &rows {
        for of in [row[1].as_str(), "all"] {
            let entry = counts.entry(of).or_default();
            entry[0] += 1;
            for source in 0..3 {
                entry[source + 1] += usize::from(row[2 + 2 * source] == row[3 + 2 * source]);
            }
        }
    }
    for rewriting in REWRITINGS.iter().chain(&["all"]) {
        if let Some([n, circuit, network, by_text]) = counts.get(rewriting) {
            writeln!(text, "| {rewriting} | {n} | {circuit} | {network} | {by_text} |")?;
        }
    }
    writeln!(
        text,
        "\n| game | rewriting | circuit | before | network | before | text | before |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- |"
    )?;
    for row in &rows {
        writeln!(text, "| {} |", row[..8].join(" | "))?;
    }
    table.describe(&text)
}
