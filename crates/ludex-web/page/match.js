// One match: the board, the moves, the history.

import { get, keepKeys, keysOf, post } from './api.js';
import { h, sign } from './dom.js';
import { seatName } from './library.js';
import './board.js';

/** @typedef {import('./board.js').Board} Board */
/** @typedef {import('./types').MatchView} MatchView */
/** @typedef {import('./types').PendingView} PendingView */
/** @typedef {import('./types').HintView} HintView */
/** @typedef {import('./types').StateView} StateView */

/**
 * `<ludex-match>` follows a match until it leaves the page.
 */
export class Match extends HTMLElement {
  /** @param {string} id */
  constructor(id = '') {
    super();
    this.match = id;
    this.keys = keysOf(id);
    /** @type {MatchView | null} */
    this.view = null;
    /** The step that is shown; null for the latest. @type {number | null} */
    this.step = null;
    /** A step to show first. @type {number | null} */
    this.wanted = null;
    /** The role whose view is shown. @type {string | null} */
    this.seat = null;
    /** @type {EventSource | null} */
    this.source = null;
    /** @type {any} */
    this.timer = null;
    /** Shows the time that is left. @type {any} */
    this.ticking = null;
    this.clock = h('p', { class: 'clock', role: 'timer' });
    this.status = h('p', { class: 'status', 'aria-live': 'polite' });
    this.problem = h('p', { class: 'error', role: 'alert' });
    this.board = /** @type {Board} */ (h('ludex-board', { onchoose: (/** @type {any} */ e) => this.#choose(e.detail) }));
    this.percepts = h('div', {});
    this.moves = h('div', { class: 'moves', role: 'group', 'aria-label': 'Moves' });
    this.filter = h('input', { type: 'search', placeholder: 'Search moves', 'aria-label': 'Search moves', oninput: () => this.#listMoves() });
    this.players = h('div', {});
    this.history = h('ol', { class: 'history' });
    this.slider = h('input', { type: 'range', min: '0', value: '0', 'aria-label': 'Step', oninput: () => this.#look(Number(this.slider.value)) });
    this.hint = h('div', {});
    this.heading = h('h1', {});
    const seek = (/** @type {string} */ label, /** @type {string} */ name, /** @type {() => void} */ act) =>
      h('button', { 'aria-label': name, title: name, onclick: act }, label);
    this.replay = seek('Replay', 'Replay', () => this.#replay());
    this.tools = h('p', { class: 'row' });
    this.content = [this.heading, this.status, this.clock, this.problem, h('div', { class: 'split' },
      h('section', {}, this.board, this.percepts,
        h('p', { class: 'row' },
          seek('|◀', 'First step', () => this.#look(0)),
          seek('◀', 'Step back', () => this.#look(this.#shown() - 1)), this.replay,
          seek('▶', 'Step forward', () => this.#look(this.#shown() + 1)),
          seek('▶|', 'Latest step', () => this.#look(Infinity)), this.slider,
          h('button', { onclick: () => this.#copy(`#/match/${this.match}/step/${this.#shown()}`) }, 'Link to this position'))),
      h('section', {}, this.players, this.tools, this.hint, h('h2', {}, 'Moves'), this.filter, this.moves,
        h('h2', {}, 'History'), this.history))];
  }

  connectedCallback() {
    this.replaceChildren(...this.content);
    this.#follow();
  }

  disconnectedCallback() {
    this.source?.close();
    clearInterval(this.timer);
    clearInterval(this.ticking);
  }

  /** Listens for changes, and goes on listening when the server comes back. */
  #follow() {
    const key = this.#viewKey();
    this.source?.close();
    this.source = new EventSource(`/api/matches/${this.match}/events?key=${key}`);
    this.source.onmessage = (event) => {
      this.problem.textContent = '';
      this.view = JSON.parse(event.data);
      this.#show();
    };
    this.source.onerror = () => {
      this.problem.textContent = 'The connection is lost; trying again …';
      if (this.source?.readyState === EventSource.CLOSED && this.isConnected) {
        setTimeout(() => this.isConnected && this.#follow(), 1000);
      }
    };
  }

  /** The key whose view is shown: that of the chosen seat. */
  #viewKey() {
    const roles = Object.keys(this.keys);
    return this.keys[this.seat ?? roles[0]] ?? '';
  }

  /** @returns {number} */
  #shown() {
    return this.step ?? this.view?.n_steps ?? 0;
  }

  /** The choices that this browser may make. */
  #pending() {
    return (this.view?.pending ?? []).filter((it) => this.keys[it.role]);
  }

  #show() {
    const view = this.view;
    if (!view) return;
    document.title = `${view.title} – Ludex`;
    this.heading.textContent = view.title;
    const name = (/** @type {number} */ role) => view.roles[role]?.name ?? '';
    const [mine] = this.#pending();
    /** @type {Record<string, string>} */
    const texts = {
      loading: 'Loading the game …',
      thinking: 'The player is thinking …',
      failed: `The match cannot go on: ${view.message}`,
      waiting: mine ? `Your move, ${name(mine.role)}.`
        : this.#isElsewhere() ? 'This match is played elsewhere.'
        : view.pending.length ? `Waiting for ${view.pending.map((it) => name(it.role)).join(' and ')}.` : 'Waiting.',
      over: view.resigned !== null ? `${name(view.resigned)} resigned after ${view.n_steps} steps.`
        : `The game is over after ${view.n_steps} steps. ` + (view.goals ?? [])
          .map((goal, role) => view.roles[role].is_random ? '' : `${name(role)}: ${goal}`)
          .filter(Boolean).join(', '),
    };
    this.#showClock();
    this.status.textContent = texts[view.status];
    this.dataset.status = view.status;
    this.dataset.step = String(view.n_steps);
    this.slider.max = String(view.n_steps);
    this.#listPlayers();
    this.#listTools();
    this.#listHistory();
    this.hint.replaceChildren();
    if (this.step === null) this.#showLatest();
    if (this.wanted !== null && view.status !== 'loading') {
      this.#look(this.wanted);
      this.wanted = null;
    }
  }

  /** Whether another program hosts the match. */
  #isElsewhere() {
    return this.view?.seats.some((seat) => seat.kind === 'elsewhere') ?? false;
  }

  /** Counts the time of people down. */
  #showClock() {
    clearInterval(this.ticking);
    const end = this.view?.clock_end;
    const tick = () => {
      const left = end == null ? 0 : Math.max(0, Math.ceil((end - Date.now()) / 1000));
      this.clock.textContent = end == null ? '' : `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')} left`;
    };
    tick();
    if (end != null) this.ticking = setInterval(tick, 250);
  }

  #showLatest() {
    if (!this.view) return;
    this.slider.value = String(this.view.n_steps);
    const [mine] = this.#pending();
    if (this.view.svg) this.board.show(this.view.svg, mine?.moves ?? []);
    else this.board.replaceChildren();
    this.#showPercepts();
    this.#listMoves();
  }

  #showPercepts() {
    this.percepts.replaceChildren();
    if (!this.view || !this.view.is_hidden || this.view.status === 'over') return;
    const last = this.view.history.at(-1);
    this.percepts.append(h('p', { class: 'soft' }, this.view.svg ? 'The board shows what you can know; what is shaded may be so.'
      : 'Only those who play see anything before the end.'),
      h('ul', {}, ...(last?.percepts ?? []).map((it) => h('li', {}, it))));
  }

  #listMoves() {
    const [mine] = this.step === null ? this.#pending() : [];
    const all = mine?.moves ?? [];
    this.filter.hidden = all.length < 13;
    const wanted = this.filter.hidden ? '' : this.filter.value.toLowerCase();
    const focused = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset.move;
    // Moves without a place come first: there is no other way to make them.
    const shown = all.filter((it) => it.text.toLowerCase().includes(wanted))
      .sort((a, b) => Number(a.touches.length > 0) - Number(b.touches.length > 0));
    this.moves.replaceChildren(...shown.slice(0, 400).map((move) => {
      const point = () => this.board.point(move, 'shown');
      const leave = () => this.board.point(null, 'shown');
      return h('button', { onclick: () => this.#choose(move.text), onfocus: point, onblur: leave,
        onmouseenter: point, onmouseleave: leave, 'data-move': move.text }, move.text);
    }));
    if (focused && this.moves.firstChild) /** @type {HTMLElement} */ (this.moves.firstChild).focus();
  }

  #listPlayers() {
    const view = this.view;
    if (!view) return;
    this.players.replaceChildren(...view.roles.map((role, at) => {
      if (role.is_random) return '';
      const seat = view.seats[at];
      const who = seat.kind === 'person' && this.keys[at] ? 'you' : seatName(seat);
      const thought = [...view.history].reverse().map((it) => it.thoughts[at]).find((it) => it?.goal != null);
      const bar = thought?.goal == null ? null : h('progress', { max: 100, value: thought.goal,
        'aria-label': `${role.name} expects ${thought.goal.toFixed(0)}` });
      const sure = thought?.is_proven ? ' proved' : '';
      const invite = seat.kind === 'person' && this.keys[at]
        ? h('button', { onclick: () => this.#copy(`#/match/${this.match}/seat/${at}/${this.keys[at]}`) }, 'Link to this seat') : null;
      return h('div', { class: 'bar' }, sign(at), h('span', {}, `${role.name} (${who})`), bar,
        thought?.goal == null ? null : h('span', { class: 'soft' }, `${thought.goal.toFixed(0)}${sure}`), invite);
    }));
  }

  #listTools() {
    const view = this.view;
    if (!view) return;
    const own = Object.keys(this.keys).map(Number);
    const tool = (/** @type {string} */ text, /** @type {() => void} */ act) => h('button', { onclick: act }, text);
    const [mine] = this.#pending();
    const parts = [];
    if (mine) parts.push(tool('Hint', () => this.#askHint(mine)));
    const isAlone = view.seats.every((seat) => seat.kind === 'person' || seat.kind === 'player');
    if (own.length > 0 && !view.is_hidden && view.n_steps > 0 && isAlone) {
      const last = own.find((role) => role === mine?.role) ?? own[0];
      parts.push(tool('Undo', () => this.#send('undo', { key: this.keys[last] })));
    }
    for (const role of own) {
      const seat = view.seats[role];
      if (!seat || view.status === 'over') continue;
      const name = view.roles[role]?.name ?? '';
      if (seat.kind === 'person') {
        parts.push(tool(`Let Ludex play ${name}`, () => this.#send('seat', { key: this.keys[role], seat: { kind: 'player', player: 'ludex' } })));
        parts.push(tool(own.length > 1 ? `Resign as ${name}` : 'Resign', () => {
          if (confirm(`Give up as ${name}?`)) this.#send('resign', { key: this.keys[role] });
        }));
      } else {
        parts.push(tool(`Play ${name} myself`, () => this.#send('seat', { key: this.keys[role], seat: { kind: 'person' } })));
      }
    }
    if (view.is_hidden && own.length > 1) {
      parts.push(...own.map((role) => tool(`See as ${view.roles[role]?.name ?? role}`, () => {
        this.seat = String(role);
        this.#follow();
      })));
    }
    parts.push(h('a', { href: `/api/matches/${this.match}`, download: `match-${this.match}.json` }, 'Record'));
    this.tools.replaceChildren(...parts);
  }

  #listHistory() {
    const view = this.view;
    if (!view) return;
    this.history.replaceChildren(...view.history.map((step, at) => {
      const moves = step.moves.map((text, role) =>
        text === null || text === 'noop' ? null : `${view.roles[role]?.name}: ${text}`).filter(Boolean);
      const thoughts = step.thoughts.filter((it) => it !== null).map((it) => it.n_playouts === 0 && it.line.length === 0
        ? h('span', { class: 'soft' }, it.search ? ` (${it.search})` : '')
        : h('details', {}, h('summary', { class: 'soft' },
          `${it.search || 'forced'}${it.goal == null ? '' : `, expects ${it.goal.toFixed(0)}`}, ${it.n_playouts} playouts`),
        h('p', { class: 'soft' }, it.line.map((joint) =>
          joint.filter((text) => text !== 'noop').join(' ')).join(', then ') || 'No line is known.')));
      return h('li', { onclick: () => this.#look(at + 1) }, moves.join(', ') || '…', ...thoughts);
    }));
    this.#markStep();
  }

  #markStep() {
    [...this.history.children].forEach((line, at) => line.classList.toggle('now', at + 1 === this.#shown()));
  }

  /** @param {number} step */
  async #look(step) {
    if (!this.view) return;
    if (step >= this.view.n_steps) {
      this.step = null;
      this.#showLatest();
      this.#markStep();
      return;
    }
    this.step = Math.max(0, step);
    this.slider.value = String(this.step);
    try {
      /** @type {StateView} */
      const state = await get(`/api/matches/${this.match}/states/${this.step}`);
      if (this.step !== state.step) return;
      this.board.show(state.svg, []);
      this.#listMoves();
      this.#markStep();
    } catch (error) {
      this.problem.textContent = /** @type {Error} */ (error).message;
    }
  }

  #replay() {
    if (this.timer) {
      clearInterval(this.timer);
      this.timer = null;
      return;
    }
    if (this.step === null) this.#look(0);
    this.timer = setInterval(() => {
      if (this.step === null) {
        clearInterval(this.timer);
        this.timer = null;
      } else this.#look(this.step + 1);
    }, 700);
  }

  /** @param {string} text */
  async #choose(text) {
    const [mine] = this.#pending();
    if (!mine || !this.view) return;
    await this.#send('moves', { key: this.keys[mine.role], step: this.view.n_steps, text });
  }

  /**
   * @param {string} what
   * @param {any} body
   */
  async #send(what, body) {
    try {
      this.problem.textContent = '';
      return await post(`/api/matches/${this.match}/${what}`, body);
    } catch (error) {
      this.problem.textContent = /** @type {Error} */ (error).message;
      return null;
    }
  }

  /** @param {PendingView} mine */
  async #askHint(mine) {
    this.hint.replaceChildren('Searching …');
    /** @type {HintView | null} */
    const hint = await this.#send('hint', { key: this.keys[mine.role] });
    if (!hint) {
      this.hint.replaceChildren();
      return;
    }
    const touches = new Map(mine.moves.map((it) => [it.text, it]));
    this.board.point(touches.get(hint.moves[0]?.text) ?? null, 'hinted');
    for (const button of /** @type {any} */ (this.moves.children)) {
      button.classList.toggle('hinted', button.dataset.move === hint.moves[0]?.text);
    }
    const expects = hint.goal == null ? '' : ` expects ${hint.goal.toFixed(0)}${hint.is_proven ? ', proved' : ''}`;
    this.hint.replaceChildren(h('p', {}, `${hint.search}${expects} after ${hint.n_playouts} playouts.`),
      h('ol', {}, ...hint.moves.slice(0, 5).map((it) => h('li', {
        onmouseenter: () => this.board.point(touches.get(it.text) ?? null, 'shown'),
        onmouseleave: () => this.board.point(null, 'shown'),
      }, `${it.text}: ${it.goal == null ? 'not tried' : it.goal.toFixed(0)}${it.is_proven ? ' proved' : ''}, ${it.n_visits} visits`))));
  }

  /** @param {string} hash */
  async #copy(hash) {
    const link = `${location.origin}/${hash}`;
    try {
      await navigator.clipboard.writeText(link);
      this.problem.textContent = `Copied: ${link}`;
    } catch {
      this.problem.textContent = link;
    }
  }
}

customElements.define('ludex-match', Match);

/**
 * Opens a match; a link to a seat gives its key to this browser, a link to a position shows it.
 * @param {HTMLElement} main
 * @param {string[]} parts
 */
export function match(main, [id, what, first, second]) {
  if (what === 'seat' && second) {
    keepKeys(id, { [first]: second });
    // The key does not stay in the address bar.
    history.replaceState(null, '', `#/match/${id}`);
  }
  const element = new Match(id);
  if (what === 'step') element.wanted = Number(first);
  main.replaceChildren(element);
}
