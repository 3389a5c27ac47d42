// Requests to the server.

/**
 * Reads JSON from the server; whoever calls it says of which type of `types.d.ts` it is.
 * @param {string} path
 * @returns {Promise<any>}
 */
export async function get(path) {
  return answer(await fetch(path));
}

/**
 * Sends JSON to the server.
 * @param {string} path
 * @param {any} body
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export async function post(path, body, signal) {
  const headers = { 'content-type': 'application/json', 'x-ludex': '1' };
  return answer(await fetch(path, { method: 'POST', headers, body: JSON.stringify(body), signal }));
}

/** @param {Response} response */
async function answer(response) {
  const text = await response.text();
  let body;
  try {
    body = JSON.parse(text);
  } catch {
    throw new Error(`the server answered: ${text.slice(0, 200) || response.statusText}`);
  }
  if (!response.ok) throw new Error(body.error ?? response.statusText);
  return body;
}

/**
 * The keys of the seats of a match that this browser has, by role.
 * @param {string} id
 * @returns {Record<string, string>}
 */
export function keysOf(id) {
  try {
    return JSON.parse(localStorage.getItem(`keys-${id}`) ?? '{}');
  } catch {
    return {};
  }
}

/**
 * Remembers keys of seats.
 * @param {string} id
 * @param {Record<string, string>} keys
 */
export function keepKeys(id, keys) {
  localStorage.setItem(`keys-${id}`, JSON.stringify({ ...keysOf(id), ...keys }));
}
