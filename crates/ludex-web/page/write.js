// The editor of rulesheets.

import { get, post } from './api.js';
import { diagnosticLines, h, image, selectIn } from './dom.js';
import { seats, studies } from './library.js';

/** @typedef {import('./types').SheetView} SheetView */
/** @typedef {import('./types').GameView} GameView */

const DRAFT = 'draft';
const START = `(role you)
(init (at 0))
(succ 0 1) (succ 1 2) (succ 2 3)
(legal you go)
(<= (next (at ?y)) (true (at ?x)) (succ ?x ?y))
(<= terminal (true (at 3)))
(goal you 100)
`;

/**
 * @param {HTMLElement} main
 * @param {string} [name] a built-in game to begin with
 */
export async function write(main, name) {
  const text = h('textarea', { class: 'rules', spellcheck: false, 'aria-label': 'Rules', autocapitalize: 'off' });
  const found = h('ul', { class: 'diagnostics', 'aria-live': 'polite' });
  const board = h('div', {});
  const play = h('div', {});
  const study = h('div', {});
  const title = h('input', { placeholder: 'Title', 'aria-label': 'Title', maxLength: 80 });
  let asked = new AbortController();
  let timer = 0;
  let roles = '';
  const check = async () => {
    localStorage.setItem(DRAFT, text.value);
    asked.abort();
    asked = new AbortController();
    try {
      show(await post('/api/rules', { rules: text.value }, asked.signal));
    } catch (error) {
      if (/** @type {Error} */ (error).name !== 'AbortError') {
        found.replaceChildren(h('li', { class: 'error' }, /** @type {Error} */ (error).message));
      }
    }
  };
  const show = async (/** @type {SheetView} */ sheet) => {
    const lines = diagnosticLines(sheet.diagnostics, select);
    if (sheet.message) lines.push(h('li', { class: 'error' }, sheet.message));
    found.replaceChildren(...(lines.length ? lines : [h('li', { class: 'soft' }, 'No mistakes found.')]));
    board.replaceChildren(sheet.svg ? image(sheet.svg) : '');
    const now = sheet.is_playable ? JSON.stringify(sheet.roles) : '';
    if (now === roles) return;
    roles = now;
    const rules = { get rules() { return text.value; }, get title() { return title.value; } };
    play.replaceChildren(now ? await seats(sheet.roles, rules) : '');
  };
  const select = (/** @type {number} */ start, /** @type {number} */ end) => selectIn(text, start, end);
  text.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(check, 250);
  });
  text.addEventListener('keydown', (/** @type {KeyboardEvent} */ event) => {
    if (event.key === 'F12') {
      event.preventDefault();
      const place = definition(text.value, text.selectionStart);
      if (place) select(place[0], place[1]);
    }
  });
  const put = (/** @type {string} */ rules) => {
    text.value = rules;
    check();
  };
  text.addEventListener('dragover', (/** @type {Event} */ event) => event.preventDefault());
  text.addEventListener('drop', async (/** @type {DragEvent} */ event) => {
    const file = event.dataTransfer?.files[0];
    if (!file) return;
    event.preventDefault();
    put(await file.text());
  });
  const open = h('input', { type: 'file', accept: '.kif,.gdl,.txt', 'aria-label': 'Open a file',
    onchange: async () => open.files[0] && put(await open.files[0].text()) });
  const save = () => {
    const link = h('a', { href: URL.createObjectURL(new Blob([text.value])), download: `${title.value || 'rules'}.kif` });
    link.click();
    URL.revokeObjectURL(link.href);
  };
  const scramble = async () => {
    try {
      const seed = Math.floor(Math.random() * 2 ** 31);
      put((await post('/api/scramble', { rules: text.value, seed })).rules);
    } catch (error) {
      found.replaceChildren(h('li', { class: 'error' }, /** @type {Error} */ (error).message));
    }
  };
  const add = async () => {
    try {
      const added = await post('/api/games', { title: title.value || 'my game', rules: text.value });
      location.hash = `#/game/${added.name}`;
    } catch (error) {
      found.replaceChildren(h('li', { class: 'error' }, /** @type {Error} */ (error).message));
    }
  };
  main.replaceChildren(h('h1', {}, 'Write rules'),
    h('div', { class: 'split' },
      h('section', {}, h('p', { class: 'row' }, title, open, h('button', { onclick: save }, 'Save'),
        h('button', { onclick: add }, 'Add to the library'),
        h('button', { onclick: scramble, title: 'The same game under other names' }, 'Scramble')),
        text, h('p', { class: 'soft' }, 'F12 goes to the definition of the relation at the cursor.'), found),
      h('section', {}, board, h('h2', {}, 'Play'), play, h('h2', {}, 'Study'), study)));
  study.replaceChildren(...studies(
    () => post('/api/study', { rules: text.value }), () => post('/api/analysis', { rules: text.value })));
  if (name) {
    /** @type {GameView} */
    const game = await get(`/api/games/${encodeURIComponent(name)}`);
    title.value = game.title;
    put(game.rules);
  } else put(localStorage.getItem(DRAFT) || START);
}

/**
 * The place where the relation at the cursor is first a head.
 * @param {string} text
 * @param {number} at
 * @returns {[number, number] | null}
 */
export function definition(text, at) {
  const isName = (/** @type {string} */ c) => c !== undefined && !/[\s();?]/.test(c);
  let start = at;
  let end = at;
  while (start > 0 && isName(text[start - 1])) start -= 1;
  while (end < text.length && isName(text[end])) end += 1;
  const name = text.slice(start, end).replace(/[.*+?^${}|[\]\\]/g, '\\$&');
  if (!name) return null;
  const head = new RegExp(`^\\s*(?:\\(<=\\s+)?\\(?(${name})(?=[\\s()])`, 'm').exec(text);
  if (!head) return null;
  const place = head.index + head[0].length - head[1].length;
  return [place, place + head[1].length];
}
