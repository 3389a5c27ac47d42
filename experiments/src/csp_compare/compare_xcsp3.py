#!/usr/bin/env python3
"""Compares ludex-csp with ACE and Choco on instances that pycsp3 writes.

    pip install pycsp3          # brings the instances' language and both solvers; needs Java
    cargo experiment csp-compare

The script builds the example solve_xcsp3, writes the instances (once; it keeps them under the
target folder), solves each instance once with each solver on one thread, and writes a Markdown
file. A run takes about half an hour. Without --output, as with --only or --skip-java, the
Markdown goes to standard output; progress goes to standard error.

Times are processor seconds of the whole process, minus the time for a trivial instance, so that
the start of the Java machine does not count; times below 5 ms count as 5 ms in the means. Each
solver stops at its own limit of wall time. An answer in parentheses is a bound that was not
proved, a dash is no answer. All answers are compared: a difference is printed as WRONG, and the
exit code is then 1.
"""

import argparse
import importlib.util
import itertools
import math
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path

FAMILIES = {}


def family(*sizes):
    def register(build):
        FAMILIES[build.__name__] = (build, sizes)
        return build
    return register


# ---- Models. Each runs in a process of its own, with the names of pycsp3 as globals. ----

@family(20, 60, 120)
def queens(n):
    q = VarArray(size=n, dom=range(n))
    satisfy(AllDifferent(q), AllDifferent(q[i] + i for i in range(n)),
            AllDifferent(q[i] - i for i in range(n)))


@family(8, 9, 10)
def golomb(n):
    x = VarArray(size=n, dom=range(n * n))
    satisfy(x[0] == 0, Increasing(x, strict=True),
            AllDifferent(x[j] - x[i] for i, j in combinations(n, 2)))
    minimize(x[-1])


@family((15, 42), (25, 42), (30, 42))
def quasigroup(n, percent_holes):
    rng = random.Random(n)
    rows, cols, syms = (rng.sample(range(n), n) for _ in range(3))
    square = [[syms[(rows[i] + cols[j]) % n] for j in range(n)] for i in range(n)]
    x = VarArray(size=[n, n], dom=range(n))
    given = [(i, j) for i in range(n) for j in range(n) if rng.randrange(100) >= percent_holes]
    satisfy(AllDifferent(x, matrix=True), [x[i][j] == square[i][j] for i, j in given])


@family((4, 4, 3), (5, 3, 6), (5, 4, 4))
def social_golfers(groups, size, weeks):
    n = groups * size
    g = VarArray(size=[weeks, n], dom=range(groups))
    satisfy(
        [Cardinality(g[w], occurrences={i: size for i in range(groups)}) for w in range(weeks)],
        [If(g[w1][a] == g[w1][b], Then=g[w2][a] != g[w2][b])
         for w1, w2 in combinations(weeks, 2) for a, b in combinations(n, 2)],
        LexIncreasing(g, matrix=True))


@family((6, 6), (8, 5), (8, 8))
def job_shop(n_jobs, n_machines):
    rng = random.Random(n_jobs * 100 + n_machines)
    jobs = [[(m, rng.randint(1, 20)) for m in rng.sample(range(n_machines), n_machines)] for _ in range(n_jobs)]
    horizon = sum(d for job in jobs for _, d in job)
    s = VarArray(size=[n_jobs, n_machines], dom=range(horizon))
    satisfy(
        [s[j][k] + jobs[j][k][1] <= s[j][k + 1] for j in range(n_jobs) for k in range(n_machines - 1)],
        [NoOverlap(origins=[s[j][k] for j in range(n_jobs) for k in range(n_machines) if jobs[j][k][0] == m],
                   lengths=[jobs[j][k][1] for j in range(n_jobs) for k in range(n_machines) if jobs[j][k][0] == m])
         for m in range(n_machines)])
    minimize(Maximum(s[j][-1] + jobs[j][-1][1] for j in range(n_jobs)))


@family(16, 30, 50)
def rcpsp(n):
    rng = random.Random(n)
    tasks = [(rng.randint(1, 8), rng.randint(1, 5)) for _ in range(n)]
    horizon = sum(d for d, _ in tasks)
    s = VarArray(size=n, dom=range(horizon))
    before = [(i, j) for i, j in combinations(n, 2) if rng.random() < 0.12]
    satisfy(
        [s[i] + tasks[i][0] <= s[j] for i, j in before],
        Cumulative(origins=s, lengths=[d for d, _ in tasks], heights=[h for _, h in tasks]) <= 8)
    minimize(Maximum(s[i] + tasks[i][0] for i in range(n)))


@family(18, 22, 30)
def knapsack(n):
    rng = random.Random(n)
    w = [rng.randint(10, 60) for _ in range(n)]
    p = [rng.randint(10, 60) for _ in range(n)]
    x = VarArray(size=n, dom={0, 1})
    satisfy(Sum(x[i] * w[i] for i in range(n)) <= sum(w) // 3)
    maximize(Sum(x[i] * p[i] for i in range(n)))


@family(4, 6, 8)
def magic_square(n):
    x = VarArray(size=[n, n], dom=range(1, n * n + 1))
    total = n * (n * n + 1) // 2
    satisfy(AllDifferent(x), [Sum(row) == total for row in x], [Sum(col) == total for col in columns(x)],
            Sum(x[i][i] for i in range(n)) == total, Sum(x[i][n - 1 - i] for i in range(n)) == total)


def blocks_of(line):
    return [len(list(g)) for value, g in itertools.groupby(line) if value == 1]


@family(20, 30, 45)
def nonogram(n):
    rng = random.Random(n)
    picture = [[int(rng.random() < 0.55) for _ in range(n)] for _ in range(n)]
    x = VarArray(size=[n, n], dom={0, 1})

    def automaton(blocks):
        transitions, state = [], 0
        for at, block in enumerate(blocks):
            transitions.append((f"q{state}", 0, f"q{state}"))
            for _ in range(block):
                transitions.append((f"q{state}", 1, f"q{state + 1}"))
                state += 1
            if at < len(blocks) - 1:
                transitions.append((f"q{state}", 0, f"q{state + 1}"))
                state += 1
        transitions.append((f"q{state}", 0, f"q{state}"))
        return Automaton(start="q0", transitions=transitions, final=f"q{state}")

    satisfy([x[i] in automaton(blocks_of(picture[i])) for i in range(n)],
            [columns(x)[j] in automaton(blocks_of([picture[i][j] for i in range(n)])) for j in range(n)])


@family((30, 5), (60, 5), (80, 5))
def coloring(n, k):
    rng = random.Random(n)
    x = VarArray(size=n, dom=range(k))
    edges = [(i, j) for i, j in combinations(n, 2) if rng.random() < 2.2 * k / n]
    satisfy([x[i] != x[j] for i, j in edges])


@family(35, 50, 60)
def coloring_best(n):
    rng = random.Random(n + 1)
    x = VarArray(size=n, dom=range(10))
    edges = [(i, j) for i, j in combinations(n, 2) if rng.random() < 0.25]
    satisfy([x[i] != x[j] for i, j in edges])
    minimize(Maximum(x))


@family(20, 40, 60)
def traffic(n):
    # Lights at crossings in a ring: each pair of neighbors takes one of four phases.
    v = VarArray(size=n, dom=range(4))
    p = VarArray(size=n, dom=range(2))
    table = {(0, 0, 1, 1), (1, 0, 2, 1), (2, 1, 3, 0), (3, 1, 0, 0), (0, 0, 2, 1), (2, 1, 1, 1)}
    satisfy([(v[i], p[i], v[(i + 1) % n], p[(i + 1) % n]) in table for i in range(n)], Sum(v) >= n + 3)


@family(12, 16, 20)
def langford(n):
    p = VarArray(size=2 * n, dom=range(2 * n))
    satisfy(AllDifferent(p), [p[n + i] == p[i] + i + 2 for i in range(n)])


@family(7, 8, 9)
def steiner(n):
    b = n * (n - 1) // 6
    x = VarArray(size=[b, 3], dom=range(1, n + 1))
    satisfy([Increasing(t, strict=True) for t in x],
            [Sum(x[i][k] == x[j][l] for k in range(3) for l in range(3)) <= 1 for i, j in combinations(b, 2)],
            LexIncreasing(x, strict=True))


@family(8, 20, 50)
def pigeons(n):
    x = VarArray(size=n, dom=range(n - 1))
    satisfy(AllDifferent(x))


@family(8, 9, 10)
def pigeons_by_pairs(n):
    x = VarArray(size=n, dom=range(n - 1))
    satisfy([x[i] != x[j] for i, j in combinations(n, 2)])


def words_of(rng, length, n):
    letters = "etaoinshrdlu"
    return {tuple(min(int(rng.expovariate(0.25)), len(letters) - 1) for _ in range(length)) for _ in range(n)}


@family((5, 300), (6, 1500), (7, 9000), (8, 40000))
def crossword(n, n_words):
    rng = random.Random(n)
    words = words_of(rng, n, n_words)
    x = VarArray(size=[n, n], dom=range(12))
    satisfy([x[i] in words for i in range(n)], [columns(x)[j] in words for j in range(n)])


@family((30, 5, 40, 700), (34, 5, 46, 800), (32, 6, 34, 2000), (36, 6, 36, 2500), (30, 8, 26, 6000))
def random_tables(n, d, n_tables, n_tuples):
    rng = random.Random(n * d)
    x = VarArray(size=n, dom=range(d))
    plan = [rng.randrange(d) for _ in range(n)]
    tables = []
    for _ in range(n_tables):
        scope = rng.sample(range(n), 5)
        rows = {tuple(rng.randrange(d) for _ in scope) for _ in range(n_tuples)}
        rows.add(tuple(plan[i] for i in scope))
        tables.append((scope, rows))
    satisfy([tuple(x[i] for i in scope) in rows for scope, rows in tables])


@family((20, 10, 90), (25, 10, 112), (30, 10, 134), (35, 10, 150))
def random_binary(n, d, n_constraints):
    rng = random.Random(n + d)
    x = VarArray(size=n, dom=range(d))
    pairs = rng.sample(list(itertools.combinations(range(n), 2)), n_constraints)
    satisfy([(x[i], x[j]) in {(a, b) for a in range(d) for b in range(d) if rng.random() < 0.6} for i, j in pairs])


@family((15, 6), (20, 8), (24, 9))
def renault_like(n, d):
    # A configuration chain of wide short tables.
    rng = random.Random(n)
    x = VarArray(size=n, dom=range(d))
    satisfy([tuple(x[i:i + 6]) in {tuple(ANY if rng.random() < 0.25 else rng.randrange(d) for _ in range(6))
                                   for _ in range(150)} for i in range(0, n - 5, 2)])


@family(15, 25, 35)
def warehouse(n):
    rng = random.Random(n)
    m = n // 3
    cost = [[rng.randint(5, 80) for _ in range(m)] for _ in range(n)]
    s = VarArray(size=n, dom=range(m))
    c = VarArray(size=n, dom=lambda i: set(cost[i]))
    o = VarArray(size=m, dom={0, 1})
    satisfy([cp_array(cost[i])[s[i]] == c[i] for i in range(n)], [o[s[i]] == 1 for i in range(n)],
            [Count(s, value=j) <= 5 for j in range(m)])
    minimize(Sum(c) + Sum(o) * 60)


@family(8, 10, 12)
def tsp(n):
    rng = random.Random(n)
    at = [(rng.randrange(50), rng.randrange(50)) for _ in range(n)]
    dist = [[abs(a[0] - b[0]) + abs(a[1] - b[1]) for b in at] for a in at]
    x = VarArray(size=n, dom=range(n))
    c = VarArray(size=n, dom=range(101))
    satisfy(Circuit(x), [x[i] != i for i in range(n)], [cp_array(dist[i])[x[i]] == c[i] for i in range(n)])
    minimize(Sum(c))


@family((16, 5), (24, 7), (30, 8))
def bin_packing(n, bins):
    rng = random.Random(n)
    sizes = sorted((rng.randint(10, 50) for _ in range(n)), reverse=True)
    x = VarArray(size=n, dom=range(bins))
    satisfy(BinPacking(x, sizes=sizes) <= sum(sizes) // bins + 2)


@family(12, 16, 18)
def all_interval(n):
    x = VarArray(size=n, dom=range(n))
    y = VarArray(size=n - 1, dom=range(1, n))
    satisfy(AllDifferent(x), AllDifferent(y), [y[i] == abs(x[i] - x[i + 1]) for i in range(n - 1)])


@family(0)
def send_more_money(_):
    x = VarArray(size=8, dom=range(10))
    s, e, n, d, m, o, r, y = x
    satisfy(AllDifferent(x), s > 0, m > 0,
            Sum(s * 1000, e * 91, n * -90, d, m * -9000, o * -900, r * 10, y * -1) == 0)


# ---- Running ----

def generate(work, only):
    instances = []
    for name, (build, sizes) in FAMILIES.items():
        for size in sizes:
            size = size if isinstance(size, tuple) else (size,)
            label = name + "-" + "-".join(map(str, size))
            if only not in label:
                continue
            path = work / (label + ".xml")
            if not path.exists():
                code = (
                    "import sys, itertools, random\n"
                    f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
                    "sys.argv = ['m']\n"
                    "from pycsp3 import *\n"
                    "import compare_xcsp3 as models\n"
                    "for key, value in list(globals().items()):\n"
                    "    if not key.startswith('__') and key not in ('models', 'sys', 'random', 'itertools')"
                    " and key not in models.__dict__:\n"
                    "        models.__dict__[key] = value\n"
                    f"models.FAMILIES[{name!r}][0](*{size!r})\n"
                    f"compile(filename={str(path)!r}, verbose=-1)\n")
                driver = work / "driver.py"
                driver.write_text(code)
                result = subprocess.run([sys.executable, str(driver)], capture_output=True, text=True, cwd=work)
                if not path.exists():
                    print(f"{label}: not generated: {(result.stdout + result.stderr)[-300:]}", file=sys.stderr)
                    continue
            instances.append((label, path))
    return instances


def outcome(text):
    status = "UNKNOWN"
    for line in text.splitlines():
        if line.startswith("s "):
            status = line[2:].strip()
    bounds = re.findall(r"^o (-?[0-9]+)", text, re.M)
    if not bounds:
        bounds = re.findall(r"cost='(-?[0-9]+)'", text)
    return status, (int(bounds[-1]) if bounds else None)


def run(command, seconds, work):
    """Runs a command; returns its output and its processor seconds."""
    output = work / "output.txt"
    with open(output, "w") as file:
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT)
        start = time.monotonic()
        while True:
            pid, _, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() - start > 3 * seconds + 20:
                process.kill()
            time.sleep(0.005)
    text = re.sub(r"\x1b\[[0-9;]*m", "", output.read_text(errors="replace"))
    return text, usage.ru_utime + usage.ru_stime


TABLE_HEAVY = ("crossword", "random_tables", "random_binary", "renault_like", "traffic")
ROOT = Path(__file__).resolve().parents[3]


def first_line(*command):
    """The first line that a command prints, or "unknown" if it can't be run."""
    try:
        result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    except OSError:
        return "unknown"
    return ((result.stdout + result.stderr).strip() or "unknown").splitlines()[0]


def processor():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return "an unknown processor"
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else "an unknown processor"


def target_folder():
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def build():
    command = ["cargo", "build", "--release", "-p", "ludex-formats", "--example", "solve_xcsp3"]
    if subprocess.run(command, cwd=ROOT).returncode != 0:
        sys.exit("solve_xcsp3 could not be built")
    return target_folder() / "release" / "examples" / "solve_xcsp3"


def is_better(bound, best, path):
    """Whether a bound contradicts a proof: it is better than a proved optimum, or it belongs to a
    solution of an instance that another solver refuted."""
    if bound is None:
        return False
    if best is None:
        return True
    return bound < best if "<minimize" in path.read_text() else bound > best


def mean_ratio(rows, other):
    """The geometric mean of ludex / other over the instances that both solved, and their number."""
    ratios = [max(r["ludex"][2], 0.005) / max(r[other][2], 0.005)
              for _, r, _ in rows if r["ludex"][3] and r[other][3]]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan
    return mean, len(ratios)


def summary(rows, names):
    lines = [f"{name}: {sum(r[name][3] for _, r, _ in rows)} of {len(rows)} solved" for name in names]
    lines.append(f"wrong answers: {sum(wrong for _, _, wrong in rows)}")
    heavy = [row for row in rows if row[0].startswith(TABLE_HEAVY)]
    for other in names[1:]:
        for title, chosen in (("all", rows), ("table-heavy", heavy)):
            mean, n = mean_ratio(chosen, other)
            lines.append(f"geometric mean of ludex / {other}, {title}: {mean:.3f} over {n}")
        slower = [label for label, r, _ in rows
                  if r["ludex"][3] and r[other][3] and r["ludex"][2] > max(r[other][2], 0.005)]
        lines.append(f"ludex slower than {other}: {', '.join(slower) or 'nowhere'}")
        missed = [label for label, r, _ in rows if r[other][3] and not r["ludex"][3]]
        lines.append(f"solved by {other} and not by ludex: {', '.join(missed) or 'none'}")
    families = sorted({label.split("-")[0] for label, _, _ in heavy})
    lines += ["", "| table-heavy family | " + " | ".join(f"ludex / {other}" for other in names[1:]) + " |",
              "| --- |" + " ---: |" * (len(names) - 1)]
    for family in families:
        chosen = [row for row in heavy if row[0].split("-")[0] == family]
        means = [f"{mean_ratio(chosen, other)[0]:.3f}" for other in names[1:]]
        lines.append(f"| {family} | " + " | ".join(means) + " |")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, help="write the Markdown to this file")
    parser.add_argument("--commit", default="unknown", help="the commit in each row [unknown]")
    parser.add_argument("--seconds", type=int, default=20, help="for each solver on each instance [20]")
    parser.add_argument("--work", type=Path, help="the folder for instances [under the target folder]")
    parser.add_argument("--binary", help="a solve_xcsp3 that is already built")
    parser.add_argument("--only", default="", help="only instances whose name contains this")
    parser.add_argument("--skip-java", action="store_true", help="only ludex")
    options = parser.parse_args()
    package = importlib.util.find_spec("pycsp3")
    if package is None:
        sys.exit("the package pycsp3 is missing: pip install pycsp3")
    binary = options.binary or build()
    work = (options.work or target_folder() / "compare_xcsp3").resolve()
    work.mkdir(parents=True, exist_ok=True)
    solvers = Path(package.origin).parent / "solvers"
    ace = next((solvers / "ace").glob("*.jar"))
    choco = next((solvers / "choco").glob("*.jar"))
    s = options.seconds
    java = ["java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=4"]
    commands = {
        "ludex": lambda p: [str(binary), str(p), "--time", str(s)],
        "ACE": lambda p: java + ["-jar", str(ace), str(p), f"-t={s}s"],
        "Choco": lambda p: java + ["-cp", str(choco), "org.chocosolver.parser.xcsp.ChocoXCSP", str(p),
                                   "-limit", f"[{s}s]"],
    }
    if options.skip_java:
        commands = {"ludex": commands["ludex"]}
    names = list(commands)
    instances = generate(work, options.only)
    # The time to start, measured on a trivial instance.
    trivial = work / "trivial.xml"
    trivial.write_text('<instance format="XCSP3" type="CSP"><variables><var id="x"> 0 1 </var></variables>'
                       "<constraints><intension> eq(x,1) </intension></constraints></instance>")
    start_up = {name: min(run(commands[name](trivial), s, work)[1] for _ in range(3)) for name in names}
    n_families = len({label.split("-")[0] for label, _ in instances})
    load = [f"{os.getloadavg()[0]:.1f}"]
    lines = [
        f"# ludex-csp, {ace.stem} and {choco.stem}", "",
        f"{processor()}, {os.cpu_count()} cores; {first_line('java', '-version')}.",
        f"Made by `cargo experiment csp-compare --seconds {s}` at commit `{options.commit}`: one run, the solvers one after the other on each"
        " instance, one thread each.", "",
        f"{len(instances)} instances of {n_families} families, {s} s each.",
        "Times are processor seconds, minus those of a start: " + ", ".join(f"{n} {t:.2f}" for n, t in start_up.items()) + ".",
        "In parentheses a bound that was not proved; a dash is no answer.", "",
        "| instance | " + " | ".join(names) + " | answer | commit |",
        "| --- |" + " ---: |" * len(names) + " --- | --- |"]
    rows = []
    for label, path in instances:
        results = {}
        for name in names:
            text, seconds = run(commands[name](path), s, work)
            status, bound = outcome(text)
            is_done = status in ("UNSATISFIABLE", "OPTIMUM FOUND") or (status == "SATISFIABLE" and bound is None)
            results[name] = (status, bound, max(seconds - start_up[name], 0.001), is_done)
        closed = {(r[0], r[1]) for r in results.values() if r[3]}
        wrong = len(closed) > 1 or any(is_better(r[1], best, path) for r in results.values() for _, best in closed)
        answer = " ".join(str(v) for v in next(iter(closed), ("open",)) if v is not None)
        if wrong:
            answer = f"WRONG {closed}"
        cells = [f"{r[2]:.3f}" if r[3] else (f"({r[1]})" if r[1] is not None else "-") for r in results.values()]
        lines.append(f"| {label} | " + " | ".join(cells) + f" | {answer} | {options.commit} |")
        print(lines[-1], file=sys.stderr, flush=True)
        rows.append((label, results, wrong))
    load.append(f"{os.getloadavg()[0]:.1f}")
    lines[3] = lines[3] + f"\nLoad average {load[0]} before and {load[1]} after, of which the solvers make 1."
    lines += [""] + [f"- {line}" if line and not line.startswith("|") else line for line in summary(rows, names)]
    document = "\n".join(lines) + "\n"
    if options.output:
        options.output.write_text(document)
    else:
        print(document, end="")
    sys.exit(1 if any(wrong for _, _, wrong in rows) else 0)


if __name__ == "__main__":
    main()
