// A constraint model: its text, its answer, and its strategy or policy to walk through.

import { get, post } from './api.js';
import { diagnosticLines, h, selectIn } from './dom.js';

/** @typedef {import('./types').ModelView} ModelView */
/** @typedef {import('./types').ModelRow} ModelRow */
/** @typedef {import('./types').TreeView} TreeView */

const DRAFT = 'model';

/** @param {HTMLElement} main */
export async function model(main) {
  /** @type {ModelRow[]} */
  const examples = await get('/api/models');
  const text = h('textarea', { class: 'rules', spellcheck: false, 'aria-label': 'Model', autocapitalize: 'off' });
  const data = h('textarea', { rows: 3, spellcheck: false, 'aria-label': 'Data', placeholder: 'n = 12;' });
  const answer = h('div', { 'aria-live': 'polite' });
  const tree = h('div', { class: 'tree' });
  const choice = h('select', { 'aria-label': 'Example', onchange: () => {
    text.value = examples.find((it) => it.name === choice.value)?.text ?? '';
    answer.replaceChildren();
    tree.replaceChildren();
  } }, h('option', { value: '' }, 'Examples'), ...examples.map((it) => h('option', { value: it.name }, it.name)));
  const solve = async () => {
    localStorage.setItem(DRAFT, text.value);
    answer.replaceChildren('Solving …');
    tree.replaceChildren();
    try {
      /** @type {ModelView} */
      const found = await post('/api/models', { text: text.value, data: data.value });
      const lines = diagnosticLines(found.diagnostics, (start, end) => selectIn(text, start, end));
      answer.replaceChildren(
        found.verdict ? h('p', { class: 'status' }, `${found.verdict}${found.value == null ? '' : `, value ${found.value}`}`) : '',
        found.verdict ? h('p', { class: 'soft' }, `${found.kind}, ${found.n_nodes} nodes, ${found.seconds.toFixed(2)} s`) : '',
        found.message ? h('p', { class: 'error' }, found.message) : '',
        h('ul', { class: 'diagnostics' }, ...lines));
      if (found.tree) walk(tree, found.tree, [found.tree.root]);
    } catch (error) {
      answer.replaceChildren(h('p', { class: 'error', role: 'alert' }, /** @type {Error} */ (error).message));
    }
  };
  main.replaceChildren(h('h1', {}, 'Solve a constraint model'),
    h('p', { class: 'soft' }, 'Choices of ∃, replies of ∀ and draws of chance, in the language of `.qcp` files.'),
    h('div', { class: 'split' },
      h('section', {}, h('p', { class: 'row' }, choice, h('button', { class: 'main', onclick: solve }, 'Solve')), text,
        h('p', {}, 'Data'), data),
      h('section', {}, answer, tree)));
  text.value = localStorage.getItem(DRAFT) || examples[0].text;
}

/**
 * Shows the way to a node and what can follow it.
 * @param {HTMLElement} place
 * @param {TreeView} tree
 * @param {number[]} path
 * @param {string[]} [choices]
 */
function walk(place, tree, path, choices = []) {
  const node = tree.nodes[path[path.length - 1]];
  const back = path.slice(0, -1).map((at, depth) => h('li', {},
    h('button', { onclick: () => walk(place, tree, path.slice(0, depth + 1), choices.slice(0, depth)) },
      `${tree.nodes[at].label}: ${choices[depth]}`)));
  place.replaceChildren(h('h2', {}, tree.owner === 'the policy' ? 'The policy' : `The strategy of ${tree.owner}`),
    h('ol', { class: 'way' }, ...back, h('li', { 'data-node': 'now' }, node.label)),
    h('div', { class: 'moves' }, ...node.branches.map(({ choice, next }) =>
      h('button', { onclick: () => walk(place, tree, [...path, next], [...choices, choice]) }, choice || 'go on'))),
    node.branches.length === 0 ? h('p', { class: 'soft' }, 'Nothing follows.') : '');
}
