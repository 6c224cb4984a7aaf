// The catalog: all codes, and one of them with all that is known about it. Used by /errors and by the console.
import { ask, block, CATEGORIES, categoryChip, chip, facts, h, link, prose, show, table, tabs } from './common.js';

const RETRY = {
  yes: 'The same call may succeed later.',
  fix: 'The call can succeed after the caller has corrected it.',
  never: 'A retry does not help.',
};

/* What an operator can do: by code where there is something particular to say, else by category. */
const OPERATOR = {
  INTERNAL_ERROR: 'This is a defect of the program. Open the incident by its id: place, stack and causes say where it happened. The caller got a constant sentence.',
  TIMEOUT: 'The handler took longer than its operation may. Look at the duration of its group over time, and at what the handler waits for; `--timeout-ms` only shortens the limit.',
  UNAVAILABLE: 'A part that the server needs was missing or busy: `/ready` and `/health` name it. The readiness of each service is there, too.',
  RATE_LIMITED: 'The caller exceeded its share (`--rate`, `--caller-share`). Raise the limit, or give a heavy caller a server of its own.',
  AUTH_REQUIRED: 'The caller sent no key. Make one with `keys add --name NAME`.',
  UNAUTHORIZED: 'The key is unknown: it was removed, or belongs to another data folder. `keys list` shows those that exist.',
  FORBIDDEN: 'The key lacks a scope, or a web page of a foreign origin called. Give a key with `keys add --scope`, or allow the origin with `--cors`.',
  NOT_CONFIGURED: 'A setting is missing or wrong; the message names it. The program does not repair it by itself.',
  CONTENT_TOO_LARGE: 'The limit is `--body-limit` (`--mcp-body-limit` for agents).',
  OUT_OF_MEMORY: 'The process reached its memory limit (`--handler-memory-mb`), or the machine has none left.',
};
const OPERATOR_BY_CATEGORY = {
  validation: 'Nothing, as long as single callers send wrong input. If many do, the documentation or a client is wrong: the group shows the fields and rules.',
  permission: 'Check whether the caller should have this right. Many of these from one address are attempts to guess.',
  resource: 'Usually nothing: what was asked for is not there, or there already. A sudden rise points to lost data or a client with old links.',
  execution: 'Look at the group: the private side has the causes and, if the code of a caller failed, its output and backtrace.',
  system: 'Look at the incident: the private side has the cause. Check `/ready`, free memory, disk and the store.',
};

export const operatorAdvice = (code) => OPERATOR[code.code] ?? OPERATOR_BY_CATEGORY[code.category];

function row(code, href) {
  return h('tr', {}, h('th', { scope: 'row' }, h('a', { href: href(code.code), class: 'mono' }, code.code)), h('td', {}, categoryChip(code.category)),
    h('td', { class: 'number' }, String(code.http_status)), h('td', { class: 'number' }, String(code.exit_code)), h('td', {}, code.retry),
    h('td', { class: 'text' }, code.message));
}

function fits(code, words) {
  const text = [code.code, code.category, code.http_status, code.message, code.suggestion, ...Object.values(code.spellings)].join(' ').toLowerCase();
  return words.every((word) => text.includes(word));
}

/* All codes, with a filter. `href` makes the address of a code. */
export async function catalogList(href) {
  const { codes } = await ask('/errors');
  const order = (code) => CATEGORIES.indexOf(code.category);
  codes.sort((a, b) => order(a) - order(b) || a.http_status - b.http_status || a.code.localeCompare(b.code));
  const place = h('div', {});
  const count = h('span', { class: 'soft', role: 'status' });
  function filter(text) {
    const found = codes.filter((code) => fits(code, text.toLowerCase().split(/\s+/).filter(Boolean)));
    count.textContent = found.length + ' of ' + codes.length + ' codes';
    show(place, table('Error codes', ['Code', 'Category', '#HTTP', '#Exit', 'Retry', 'Message'], found.map((code) => row(code, href))));
  }
  const input = h('input', { type: 'search', id: 'filter', placeholder: 'name, status, word', input: (event) => filter(event.target.value) });
  filter('');
  return [h('div', { class: 'row' }, h('label', { class: 'grow' }, h('span', {}, 'Filter'), input), count), place];
}

function spelling(name, value) {
  return h('tr', {}, h('th', { scope: 'row' }, name), h('td', {}, value ? h('code', {}, value) : h('span', { class: 'soft' }, 'no spelling of its own')));
}

/* One code: what happened, what to do, its spellings, and the error in each dialect. */
export async function catalogEntry(name) {
  const path = '/errors/' + encodeURIComponent(name);
  const [code, { dialects }] = await Promise.all([ask(path), ask(path + '/dialects')]);
  return { code, parts: [
    h('h1', { class: 'mono' }, code.code),
    h('p', {}, categoryChip(code.category), ' ', chip('HTTP ' + code.http_status), ' ', chip('exit ' + code.exit_code), ' ', chip('JSON-RPC ' + code.rpc_code)),
    h('h2', {}, 'What happened'), h('p', {}, code.message),
    h('h2', {}, 'What the caller can do'), code.suggestion ? h('p', {}, prose(code.suggestion)) : null, h('p', {}, RETRY[code.retry],
      code.retry_after_ms ? ' Wait ' + code.retry_after_ms + ' ms, or as long as the response says.' : null),
    h('h2', {}, 'What the operator can do'), h('p', {}, prose(operatorAdvice(code))),
    code.docs_url ? facts([['Documentation', link(code.docs_url, code.docs_url)]]) : null,
    h('h2', {}, 'Its name in each dialect'),
    table('Spellings', ['Dialect', 'Spelling'], Object.entries(code.spellings).map(([dialect, value]) => spelling(dialect, value))),
    h('h2', {}, 'The error in each dialect'),
    tabs('Dialects', Object.fromEntries(Object.entries(dialects).map(([dialect, { media_type, document }]) =>
      [dialect, () => [h('p', { class: 'soft small' }, media_type), block(document)]]))),
  ] };
}
