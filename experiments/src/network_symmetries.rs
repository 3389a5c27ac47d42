//! Which symmetries do networks without games have, and does breaking them pay?

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::{Args, FromArgMatches as _};
use ludex_base::Deadline;
use ludex_csp::symmetry::{MAX_ELEMENTS, StructureLimits, break_symmetries, find_symmetries};
use ludex_csp::{Constraint, Expr, Goal, Network, Report, SearchConfig, Value, VarId, solve, sum};

use crate::registry::Experiment;
use crate::run::Run;
use crate::tables::Table;

pub static EXPERIMENT: Experiment = Experiment {
    name: "network-symmetries",
    question: "Which symmetries do networks without games have, and does breaking them pay?",
    command: "cargo experiment network-symmetries",
    table: "network_symmetries.tsv, network_symmetries.md",
    options: Options::augment_args,
    run: |run, given| find_all(run, &Options::from_arg_matches(given)?),
};

#[derive(Args)]
struct Options {
    /// Seconds for each search
    #[arg(long, default_value_t = 20)]
    seconds: u64,
}

/// The networks, each with what is asked.
fn networks() -> Vec<(&'static str, Network, Goal)> {
    vec![
        ("8 queens, all", queens(8), Goal::Count),
        ("10 queens, all", queens(10), Goal::Count),
        ("12 queens, all", queens(12), Goal::Count),
        ("golomb ruler of 7 marks, shortest", golomb(7), Goal::First(1)),
        ("social golfers 3 groups of 2 in 5 weeks", golfers(3, 2, 5), Goal::First(1)),
        ("social golfers 3 groups of 3 in 5 weeks, none", golfers(3, 3, 5), Goal::First(1)),
        ("Petersen graph in 3 colors, all", colored(10, &petersen(), 3), Goal::Count),
        ("Mycielski graph of 23 vertices in 4 colors, none", mycielski(), Goal::First(1)),
        ("9 pigeons in 8 holes, none", pigeons(9), Goal::First(1)),
        ("latin squares of order 5, all", latin(5), Goal::Count),
        ("magic squares of order 3, all", magic(3), Goal::Count),
        ("block design 7 3 1, all", design(7, 7, 3, 1), Goal::Count),
    ]
}

fn queens(n: usize) -> Network {
    let mut network = Network::new();
    let rows = network.ints("q", n, 0..n as Value);
    network.all_different(&rows);
    network.all_different((0..).zip(&rows).map(|(i, &q)| q + i));
    network.all_different((0..).zip(&rows).map(|(i, &q)| q - i));
    network
}

/// Marks of which no two have the same distance.
fn golomb(n: usize) -> Network {
    let mut network = Network::new();
    let length = (n * n) as Value;
    let marks = network.ints("mark", n, 0..=length);
    network.require(marks[0].equals(0));
    marks.windows(2).for_each(|pair| network.require(pair[0].less_than(pair[1])));
    let mut distances = Vec::new();
    for i in 0..n {
        for j in i + 1..n {
            let distance = network.int(format!("distance[{i}][{j}]"), 1..=length);
            network.require(distance.equals(marks[j] - marks[i]));
            distances.push(distance);
        }
    }
    network.all_different(&distances);
    network.minimize(marks[n - 1]);
    network
}

/// Who plays in which group in each week; no two meet twice.
fn golfers(n_groups: usize, size: usize, n_weeks: usize) -> Network {
    let mut network = Network::new();
    let n_players = n_groups * size;
    let weeks: Vec<Vec<VarId>> = (0..n_weeks)
        .map(|week| network.ints(&format!("week[{week}]"), n_players, 0..n_groups as Value))
        .collect();
    for week in &weeks {
        for group in 0..n_groups as Value {
            network.require(sum(week.iter().map(|x| x.equals(group))).equals(size as Value));
        }
    }
    for a in 0..n_players {
        for b in a + 1..n_players {
            let meetings = weeks.iter().map(|week| week[a].equals(week[b]));
            network.require(sum(meetings).at_most(1));
        }
    }
    network
}

fn colored(n_vertices: usize, edges: &[(usize, usize)], n_colors: Value) -> Network {
    let mut network = Network::new();
    let colors = network.ints("color", n_vertices, 0..n_colors);
    edges.iter().for_each(|&(a, b)| network.require(colors[a].differs(colors[b])));
    network
}

fn petersen() -> Vec<(usize, usize)> {
    (0..5).flat_map(|i| [(i, (i + 1) % 5), (i, i + 5), (i + 5, (i + 2) % 5 + 5)]).collect()
}

/// The third graph of Mycielski after the cycle of five: 23 vertices, no triangle, five colors.
fn mycielski() -> Network {
    let mut n = 5;
    let mut edges: Vec<(usize, usize)> = (0..5).map(|i| (i, (i + 1) % 5)).collect();
    for _ in 0..2 {
        let copies: Vec<(usize, usize)> =
            edges.iter().flat_map(|&(a, b)| [(a, n + b), (n + a, b)]).collect();
        edges.extend(copies);
        edges.extend((0..n).map(|v| (n + v, 2 * n)));
        n = 2 * n + 1;
    }
    colored(n, &edges, 4)
}

fn pigeons(n: usize) -> Network {
    let all: Vec<(usize, usize)> = (0..n).flat_map(|a| (0..a).map(move |b| (a, b))).collect();
    colored(n, &all, n as Value - 1)
}

fn latin(n: usize) -> Network {
    let mut network = Network::new();
    let cells: Vec<Vec<VarId>> =
        (0..n).map(|row| network.ints(&format!("cell[{row}]"), n, 0..n as Value)).collect();
    for i in 0..n {
        network.all_different(&cells[i]);
        network.all_different(cells.iter().map(|row| row[i]));
    }
    network
}

fn magic(n: usize) -> Network {
    let mut network = Network::new();
    let size = (n * n) as Value;
    let cells = network.ints("cell", n * n, 1..=size);
    network.all_different(&cells);
    let total = size * (size + 1) / 2 / n as Value;
    let mut line = |places: Vec<usize>| {
        network.require(sum(places.into_iter().map(|place| cells[place])).equals(total));
    };
    for i in 0..n {
        line((0..n).map(|j| i * n + j).collect());
        line((0..n).map(|j| j * n + i).collect());
    }
    line((0..n).map(|i| i * n + i).collect());
    line((0..n).map(|i| i * n + n - 1 - i).collect());
    network
}

/// Points in blocks: each in three, each block of three, two points together in one.
fn design(n_points: usize, n_blocks: usize, size: Value, together: Value) -> Network {
    let mut network = Network::new();
    let cells: Vec<Vec<VarId>> =
        (0..n_points).map(|point| network.ints(&format!("in[{point}]"), n_blocks, 0..=1)).collect();
    for point in &cells {
        network.require(sum(point).equals(size));
    }
    for block in 0..n_blocks {
        network.require(sum(cells.iter().map(|point| point[block])).equals(size));
    }
    for a in 0..n_points {
        for b in a + 1..n_points {
            let both = (0..n_blocks)
                .map(|block| Expr::And(vec![cells[a][block].equals(1), cells[b][block].equals(1)]));
            network.add(Constraint::Intension(sum(both).equals(together)));
        }
    }
    network
}

fn find_all(run: &Run, options: &Options) -> Result<()> {
    let columns = "network\tliterals\torder\tgenerators\tseconds to find\tconstraints\tfull\t\
                   status\tsolutions\tnodes\tseconds\tstatus broken\tsolutions left\tnodes broken\t\
                   seconds broken";
    let table = Table::open(run, "network_symmetries", columns)?;
    let time = Duration::from_secs(options.seconds);
    for (name, network, goal) in networks() {
        if table.has(&[name]) {
            continue;
        }
        let start = Instant::now();
        let limits = StructureLimits::default();
        let found = find_symmetries(&network, &limits, &Deadline::after(time))?;
        let seconds = start.elapsed().as_secs_f64();
        let mut broken = network.clone();
        let breaking = break_symmetries(&mut broken, &found, MAX_ELEMENTS);
        let [plain, less] = [&network, &broken].map(|network| {
            let config =
                SearchConfig { goal, deadline: Deadline::after(time), ..SearchConfig::default() };
            let start = Instant::now();
            solve(network, &config).map(|report| (report, start.elapsed().as_secs_f64()))
        });
        let (plain, less) = (plain?, less?);
        let mut cells = vec![
            name.to_string(),
            found.literals.len().to_string(),
            format!("{}{}", found.order, if found.is_complete { "" } else { "+" }),
            found.generators.len().to_string(),
            format!("{seconds:.3}"),
            breaking.n_constraints.to_string(),
            if breaking.is_full { "yes" } else { "no" }.into(),
        ];
        for (report, seconds) in [plain, less] {
            cells.extend([
                status(&report),
                report.n_solutions.to_string(),
                report.statistics.n_nodes.to_string(),
                format!("{seconds:.3}"),
            ]);
        }
        table.append(&cells)?;
    }
    describe(run, &table)
}

fn status(report: &Report) -> String {
    match (report.is_complete(), report.value) {
        (false, _) => "stopped".into(),
        (true, Some(value)) => format!("optimum {value}"),
        (true, None) if report.n_solutions > 0 => "satisfiable".into(),
        (true, None) => "unsatisfiable".into(),
    }
}

fn describe(run: &Run, table: &Table) -> Result<()> {
    let mut text = format!(
        "# Symmetries of networks without games\n\n{}.\n\
         *Order* is that of the group of the complement of the micro-structure. *Constraints* are the lex leaders \
         that were added; *full* if there is one for each symmetry, so that one solution of each orbit is left.\n{}\n\n\
         | network | literals | order | generators | s to find | constraints | full | status | solutions | nodes | s | status | left | nodes | s |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
        run.made_by("network-symmetries"),
        table.commits_in_words()?,
    );
    let mut n_same = 0;
    let rows = table.rows()?;
    for row in &rows {
        n_same += usize::from(row[7] == row[11]);
        writeln!(text, "| {} |", row[..15].join(" | "))?;
    }
    writeln!(text, "\nThe same status with and without breaking: {n_same} of {}.", rows.len())?;
    table.describe(&text)
}
