// Elements without HTML text: nothing from a rulesheet is ever parsed as HTML.

/**
 * Makes an element. Properties that start with `on` are listeners, `class` and `aria-…` are
 * attributes; children are elements or texts.
 * @param {string} name
 * @param {Record<string, any>} [properties]
 * @param {...(Node | string | null | undefined)} children
 * @returns {any}
 */
export function h(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (key in element && key !== 'list') /** @type {any} */ (element)[key] = value;
    else element.setAttribute(key, String(value));
  }
  element.append(...children.filter((child) => child != null).map((child) => /** @type {Node} */ (child)));
  return element;
}

/** The colors of roles, as the boards draw them. */
const COLORS = ['#56b4e9', '#e69f00', '#009e73', '#cc79a7', '#f0e442', '#d55e00', '#0072b2'];
const SHAPES = ['●', '■', '▲', '⬢', '◆'];

/**
 * The sign of a role: its shape in its color.
 * @param {number} role
 */
export function sign(role) {
  const mark = h('span', { 'aria-hidden': 'true' }, SHAPES[role % SHAPES.length]);
  mark.style.setProperty('color', COLORS[role % COLORS.length]);
  return mark;
}

/**
 * Parses the image of a board, which the server has escaped.
 * @param {string} text
 * @returns {Element}
 */
export function image(text) {
  const root = new DOMParser().parseFromString(text, 'image/svg+xml').documentElement;
  const svg = /** @type {Element} */ (document.importNode(root, true));
  svg.removeAttribute('width');
  svg.removeAttribute('height');
  return svg;
}

/**
 * Selects a part of a text and scrolls to it.
 * @param {HTMLTextAreaElement} text
 * @param {number} start
 * @param {number} end
 */
export function selectIn(text, start, end) {
  text.focus();
  text.setSelectionRange(start, end);
  const line = text.value.slice(0, start).split('\n').length;
  text.scrollTop = Math.max(0, line - 5) * 19.6;
}

/**
 * Diagnostics as lines; a line leads to its place.
 * @param {import('./types').DiagnosticView[]} diagnostics
 * @param {(start: number, end: number) => void} select
 */
export function diagnosticLines(diagnostics, select) {
  return diagnostics.map((it) => h('li', {}, h('button', {
    class: it.severity === 'error' ? 'error' : '',
    onclick: () => select(it.start, it.end),
  }, `${it.line}:${it.column} ${it.severity}[${it.code}]: ${it.message}${it.help ? ` (${it.help})` : ''}`)));
}
