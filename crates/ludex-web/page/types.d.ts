// Generated from the Rust types by the test `the_types_of_the_page_are_those_of_the_server`.

export type AnalysisView = { 
/**
 * Who may do what, and when.
 */
moves: Array<string>, 
/**
 * When the game ends.
 */
ends: Array<string>, 
/**
 * What it is worth then.
 */
goals: Array<string>, 
/**
 * What roles see, in a game with hidden information.
 */
percepts: Array<string>, 
/**
 * Warnings about rules that do nothing, and others.
 */
remarks: Array<DiagnosticView>, 
/**
 * Why the rest is missing: the game has no circuit.
 */
missing: string | null, 
/**
 * The symmetries.
 */
symmetries: SymmetriesView | null, 
/**
 * The subgames; none if the game is one piece.
 */
subgames: Array<SubgameView>, 
/**
 * The board with a color for each subgame, if there are several.
 */
subgames_svg: string | null, 
/**
 * The value of the game, or bounds.
 */
value: ValueView | null, };

export type DiagnosticView = { 
/**
 * Its code, which has a page in the documentation.
 */
code: string, 
/**
 * `error`, `warning` or `note`.
 */
severity: string, 
/**
 * What is wrong.
 */
message: string, 
/**
 * What to do.
 */
help: string | null, 
/**
 * The line, from 1.
 */
line: number, 
/**
 * The column, from 1.
 */
column: number, 
/**
 * The first character, counted in UTF-16 as browsers do.
 */
start: number, 
/**
 * The character after the last.
 */
end: number, };

export type GameName = { name: string, };

export type GameRow = { name: string, title: string, summary: string, kind: string, simultaneous: boolean, chance: boolean, hidden: boolean, 
/**
 * Whether a visitor added it.
 */
added: boolean, };

export type GameView = { name: string, title: string, summary: string, rules: string, sheet: SheetView, 
/**
 * Whether a visitor added it.
 */
added: boolean, };

export type HintMove = { 
/**
 * The move.
 */
text: string, 
/**
 * How often the search tried it.
 */
n_visits: number, 
/**
 * The goal it gives, 0 to 100.
 */
goal: number | null, 
/**
 * Whether that goal is proved.
 */
is_proven: boolean, };

export type HintView = { 
/**
 * The search.
 */
search: string, 
/**
 * The expected goal, 0 to 100.
 */
goal: number | null, 
/**
 * Whether that goal is proved.
 */
is_proven: boolean, 
/**
 * Playouts.
 */
n_playouts: number, 
/**
 * The moves, the best first.
 */
moves: Array<HintMove>, };

export type MatchRow = { 
/**
 * Its name in links.
 */
id: string, 
/**
 * The title of its game.
 */
title: string, 
/**
 * Who plays, in the order of the roles.
 */
seats: Array<SeatPlan>, 
/**
 * Steps so far.
 */
n_steps: number, 
/**
 * The goals of the roles, if it is over.
 */
goals: Array<number> | null, 
/**
 * The role that gave up, if one has.
 */
resigned: number | null, 
/**
 * When it began, in seconds since 1970.
 */
began: number, };

export type MatchView = { 
/**
 * Grows with every change.
 */
version: number, 
/**
 * Its name in links.
 */
id: string, 
/**
 * The title of its game.
 */
title: string, 
/**
 * What the match does.
 */
status: Status, 
/**
 * An explanation of the status; mostly empty.
 */
message: string, 
/**
 * Whether roles see only a part of the state.
 */
is_hidden: boolean, 
/**
 * The roles.
 */
roles: Array<RoleView>, 
/**
 * Who plays them.
 */
seats: Array<SeatPlan>, 
/**
 * Finished steps.
 */
n_steps: number, 
/**
 * The goals of the roles, if the game has come to its end.
 */
goals: Array<number> | null, 
/**
 * The role that gave up, if one has.
 */
resigned: number | null, 
/**
 * When the time of people for their move is over, in milliseconds since 1970.
 */
clock_end: number | null, 
/**
 * The state as an image, if the viewer may see it.
 */
svg: string | null, 
/**
 * The roles that the state names as the ones to move.
 */
turn: Array<number>, 
/**
 * The choices that people have to make and the viewer may see.
 */
pending: Array<PendingView>, 
/**
 * The steps, as far as the viewer may see them.
 */
history: Array<StepView>, };

export type ModelRow = { name: string, text: string, };

export type ModelView = { 
/**
 * The mistakes and remarks, in order of place.
 */
diagnostics: Array<DiagnosticView>, 
/**
 * Why there is no answer, if it is not for a mistake in the model.
 */
message: string | null, 
/**
 * `quantified` or `stochastic`; nothing if the model has mistakes.
 */
kind: string | null, 
/**
 * `true`, `false` or `unknown`.
 */
verdict: string | null, 
/**
 * The optimum, or the probability, as text.
 */
value: string | null, 
/**
 * Nodes of the search.
 */
n_nodes: number, 
/**
 * Time taken.
 */
seconds: number, 
/**
 * The winner's strategy, or the policy.
 */
tree: TreeView | null, };

export type MoveView = { 
/**
 * The move as the rulesheet writes it.
 */
text: string, 
/**
 * The cells that it names.
 */
touches: Array<Array<number>>, };

export type PendingView = { 
/**
 * The number of the role.
 */
role: number, 
/**
 * The legal moves, sorted by text.
 */
moves: Array<MoveView>, };

export type PlayerRow = { name: string, summary: string, };

export type RoleGoal = { 
/**
 * The role.
 */
role: string, 
/**
 * Its mean goal.
 */
mean: number, 
/**
 * The part of the games in which no role had more.
 */
best: number, };

export type RoleValue = { 
/**
 * Its name.
 */
role: string, 
/**
 * At least.
 */
lower: number, 
/**
 * At most.
 */
upper: number, };

export type RoleView = { 
/**
 * Its name.
 */
name: string, 
/**
 * Whether it is the role `random`.
 */
is_random: boolean, };

export type RulesView = { rules: string, };

export type SeatPlan = { "kind": "person" } | { "kind": "player", 
/**
 * The player.
 */
player: string, } | { "kind": "remote", 
/**
 * Its address, `http://HOST:PORT`.
 */
url: string, } | { "kind": "elsewhere", 
/**
 * Who it is.
 */
name: string, };

export type SheetView = { 
/**
 * Whether the game can be played.
 */
is_playable: boolean, 
/**
 * Why not, if it is not for a mistake in the rules.
 */
message: string | null, 
/**
 * The mistakes and remarks, in order of place.
 */
diagnostics: Array<DiagnosticView>, 
/**
 * The roles.
 */
roles: Array<RoleView>, 
/**
 * Whether roles see only a part of the state.
 */
is_hidden: boolean, 
/**
 * The initial state as an image.
 */
svg: string, };

export type SizesView = { 
/**
 * Fluents.
 */
fluents: number, 
/**
 * Moves of all roles.
 */
moves: number, 
/**
 * Gates of the optimised circuit.
 */
gates: number, };

export type StartedMatch = { id: string, 
/**
 * The secret key of each seat.
 */
keys: Array<string>, };

export type StateView = { 
/**
 * Steps before it.
 */
step: number, 
/**
 * The state as an image.
 */
svg: string, 
/**
 * Its fluents.
 */
fluents: Array<string>, };

export type Status = "loading" | "waiting" | "thinking" | "over" | "failed";

export type StepView = { 
/**
 * The move of each role that the viewer may see.
 */
moves: Array<string | null>, 
/**
 * What the viewer's role saw, in a game with hidden information.
 */
percepts: Array<string>, 
/**
 * What the players expected, if the viewer may know.
 */
thoughts: Array<StoredThought | null>, };

export type StoredStep = { 
/**
 * The move of each role, as the rulesheet writes it.
 */
moves: Array<string>, 
/**
 * What the player of each role expected.
 */
thoughts: Array<StoredThought | null>, };

export type StoredThought = { 
/**
 * The search.
 */
search: string, 
/**
 * The goal it expects, 0 to 100.
 */
goal: number | null, 
/**
 * Whether that goal is proved.
 */
is_proven: boolean, 
/**
 * Playouts.
 */
n_playouts: number, 
/**
 * Depth of the search, in steps.
 */
depth: number, 
/**
 * The line of play it expects: joint moves.
 */
line: Array<Array<string>>, };

export type StudyView = { 
/**
 * Facts and rules of the rulesheet.
 */
n_rules: number, 
/**
 * Fluents, moves and gates of the ground game, if it was grounded.
 */
sizes: SizesView | null, 
/**
 * Why the game was not grounded.
 */
fallback: string | null, 
/**
 * Random games that ended.
 */
n_games: number, 
/**
 * Random games that were cut because they were too long.
 */
n_cut: number, 
/**
 * The length of each random game, in steps.
 */
lengths: Array<number>, 
/**
 * The mean number of moves of roles that had a choice.
 */
branching: number | null, 
/**
 * The mean goal of each role.
 */
goals: Array<RoleGoal>, };

export type SubgameView = { 
/**
 * What it is for the goals.
 */
worth: string, 
/**
 * Its fluents, in words.
 */
words: string, 
/**
 * Whether the rules alone prove that it depends on no other part.
 */
is_proved: boolean, };

export type SymmetriesView = { 
/**
 * Their number, in digits.
 */
order: string, 
/**
 * Their number if roles may be exchanged.
 */
order_with_roles: string, 
/**
 * Whether there was time for all.
 */
is_complete: boolean, 
/**
 * Generators, in words.
 */
generators: Array<string>, };

export type TreeBranch = { 
/**
 * The choice, or what chance draws.
 */
choice: string, 
/**
 * The node that follows.
 */
next: number, };

export type TreeNode = { 
/**
 * Who chooses here, or how it ended.
 */
label: string, 
/**
 * What can happen.
 */
branches: Array<TreeBranch>, };

export type TreeView = { 
/**
 * Whose it is.
 */
owner: string, 
/**
 * The first node.
 */
root: number, 
/**
 * The nodes.
 */
nodes: Array<TreeNode>, };

export type ValueView = { 
/**
 * Whether the bounds meet.
 */
is_solved: boolean, 
/**
 * What each role gets with best play.
 */
roles: Array<RoleValue>, 
/**
 * The method that found it.
 */
method: string, 
/**
 * A line of best play: joint moves.
 */
line: Array<Array<string>>, };
