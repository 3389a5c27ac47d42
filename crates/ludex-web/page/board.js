// A board to touch: a cell, or a piece and then its target.

import { h, image } from './dom.js';

/** @typedef {{text: string, touches: number[][]}} Move */

/**
 * `<ludex-board>` shows the image of a state. When a person has chosen, it sends the event
 * `choose` with the text of the move.
 */
export class Board extends HTMLElement {
  constructor() {
    super();
    /** @type {Move[]} */
    this.moves = [];
    /** @type {number[]} */
    this.path = [];
    this.addEventListener('click', (event) => this.#touch(event));
  }

  /**
   * Shows a state and the moves that can be made in it.
   * @param {string} svg
   * @param {Move[]} moves
   */
  show(svg, moves) {
    this.moves = moves;
    this.path = [];
    this.replaceChildren(image(svg));
    this.#mark();
  }

  /**
   * Marks the cells of a move.
   * @param {Move | null} move
   * @param {string} name
   */
  point(move, name) {
    for (const cell of this.querySelectorAll(`.${name}`)) cell.classList.remove(name);
    for (const id of move?.touches.flat() ?? []) this.#cell(id)?.classList.add(name);
  }

  /** @param {number} id */
  #cell(id) {
    return this.querySelector(`[data-cell="${id}"]`);
  }

  /** The moves that agree with what was touched so far. */
  #open() {
    return this.moves.filter((move) => this.path.every((cell, at) => move.touches[at]?.includes(cell)));
  }

  #mark() {
    for (const cell of this.querySelectorAll('.can, .picked')) cell.classList.remove('can', 'picked');
    for (const id of this.path) this.#cell(id)?.classList.add('picked');
    for (const move of this.#open()) {
      for (const id of move.touches[this.path.length] ?? []) this.#cell(id)?.classList.add('can');
    }
  }

  /** @param {Event} event */
  #touch(event) {
    const target = /** @type {Element} */ (event.target);
    const touched = target.closest('[data-cell]')?.getAttribute('data-cell');
    if (touched == null) return;
    const id = Number(touched);
    const fits = (/** @type {Move} */ move) => move.touches[this.path.length]?.includes(id);
    let next = this.#open().filter(fits);
    if (next.length === 0 && this.path.length > 0) {
      this.path = [];
      next = this.moves.filter(fits);
    }
    // A target without its piece is enough if it names one move.
    const ends = this.moves.filter((move) => move.touches.at(-1)?.includes(id));
    if (next.length === 0 && ends.length > 0) {
      this.#choose(ends);
      return;
    }
    this.path.push(id);
    const isDone = next.every((move) => move.touches.length === this.path.length);
    if (next.length === 0) this.path = [];
    else if (isDone) this.#choose(next);
    this.#mark();
  }

  /**
   * Chooses a move; asks if several are meant.
   * @param {Move[]} moves
   */
  #choose(moves) {
    this.path = [];
    const done = (/** @type {string} */ text) =>
      this.dispatchEvent(new CustomEvent('choose', { detail: text }));
    if (moves.length === 1) {
      done(moves[0].text);
      return;
    }
    const dialog = h('dialog', { 'aria-label': 'Which move?', onclose: () => dialog.remove() });
    const buttons = moves.map((move) =>
      h('button', { onclick: () => { dialog.close(); done(move.text); } }, move.text));
    dialog.append(h('p', {}, 'Which move?'), h('div', { class: 'moves' }, ...buttons),
      h('p', {}, h('button', { onclick: () => dialog.close() }, 'None')));
    this.append(dialog);
    dialog.showModal();
  }
}

customElements.define('ludex-board', Board);
