// What all pages share: building elements, asking the API, the key, words for times and numbers.

// ---- Elements

/* An element. Children are elements or text; text becomes a text node, so nothing that a server says is read as markup. Children that are
   null, undefined or false are left out. */
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name, value);
    else if (name === 'value') element.value = value;
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  return add(element, ...children);
}

export function add(element, ...children) {
  for (const child of children.flat(Infinity))
    if (child !== null && child !== undefined && child !== false) element.append(child instanceof Node ? child : String(child));
  return element;
}

export function show(element, ...children) {
  element.replaceChildren();
  return add(element, ...children);
}

export const byId = (id) => document.getElementById(id);

/* A link to an address that came from a server: only http and https, or a path. */
export function link(address, ...children) {
  const safe = /^(https?:\/\/|\/(?!\/)|#)/i.test(address);
  return safe ? h('a', { href: address }, ...children) : h('span', {}, ...children);
}

export function chip(text, ...kinds) {
  return h('span', { class: ['chip', ...kinds].join(' ') }, text);
}

const CATEGORIES = ['validation', 'permission', 'resource', 'execution', 'system'];
export { CATEGORIES };

export function categoryChip(category) {
  return category ? chip(category, 'mark', CATEGORIES.includes(category) ? category : 'other') : null;
}

export function codeLink(code) {
  return code ? h('a', { href: '/errors/' + encodeURIComponent(code), class: 'mono' }, code) : null;
}

export function table(caption, heads, rows) {
  const head = h('tr', {}, heads.map((name) => h('th', { scope: 'col', class: name.startsWith('#') ? 'number' : null }, name.replace(/^#/, ''))));
  return h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption },
    h('table', {}, h('thead', {}, head), h('tbody', {}, rows)));
}

/* Pairs of a term and what it is; pairs without a value are left out. */
export function facts(pairs, kind = '') {
  return h('dl', { class: 'facts ' + kind }, pairs.filter(([, value]) => value !== null && value !== undefined && value !== '')
    .map(([term, value]) => [h('dt', {}, term), h('dd', {}, value)]));
}

export function notice(kind, ...children) {
  return h('div', { class: 'notice ' + kind, role: kind === 'bad' ? 'alert' : 'status' }, ...children);
}

/* A document as it is best read: JSON with indentation, other text as it is. */
export function pretty(text) {
  try {
    return JSON.stringify(typeof text === 'string' ? JSON.parse(text) : text, null, 2);
  } catch {
    return String(text);
  }
}

export function block(text) {
  return h('pre', { tabindex: '0' }, pretty(text));
}

/* A list of tabs: name → function that makes the content. */
export function tabs(label, pages) {
  const body = h('div', { role: 'tabpanel', tabindex: '0' });
  const buttons = Object.keys(pages).map((name) => h('button', { type: 'button', role: 'tab', click: () => choose(name), keydown: move }, name));
  function choose(name) {
    for (const button of buttons) {
      const chosen = button.textContent === name;
      button.setAttribute('aria-selected', String(chosen));
      button.tabIndex = chosen ? 0 : -1;
    }
    body.setAttribute('aria-label', name);
    show(body, pages[name]());
  }
  function move(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = buttons[(buttons.indexOf(event.target) + step + buttons.length) % buttons.length];
    choose(next.textContent);
    next.focus();
  }
  choose(Object.keys(pages)[0]);
  return h('div', {}, h('div', { class: 'tabs', role: 'tablist', 'aria-label': label }, buttons), body);
}

/* Prose of ours or of a declaration: what stands between backticks is code. */
export function prose(text) {
  return String(text ?? '').split('`').map((part, i) => (i % 2 ? h('code', {}, part) : part));
}

// ---- The key

const PLACE = 'mishap.key';
export const key = () => sessionStorage.getItem(PLACE) ?? '';
export function keepKey(value) {
  if (value) sessionStorage.setItem(PLACE, value);
  else sessionStorage.removeItem(PLACE);
}

/* A key in the address (`/console#key=…`) is taken out of it, so that no history and no screen keeps it. True: this tab had another one. */
export function takeKeyFromAddress() {
  const found = /^#key=([^&]+)/.exec(location.hash);
  if (!found) return false;
  const before = key();
  keepKey(decodeURIComponent(found[1]));
  history.replaceState(null, '', location.pathname + location.search);
  return before !== '' && before !== key();
}

// ---- The API

export class Failure extends Error {
  constructor(message, status, id, code) {
    super(message);
    Object.assign(this, { status, id, code });
  }
}

export function request(path, { method = 'GET', body, headers = {}, signal, accept = 'application/json' } = {}) {
  const all = { Accept: accept, ...headers };
  if (key()) all.Authorization = 'Bearer ' + key();
  if (body !== undefined) all['Content-Type'] = 'application/json';
  return fetch(path, { method, headers: all, body: body === undefined ? undefined : JSON.stringify(body), signal, credentials: 'omit' });
}

/* The JSON of an answer; a failure is thrown. */
export async function ask(path, options) {
  let response;
  try {
    response = await request(path, options);
  } catch (problem) {
    if (problem.name === 'AbortError') throw problem;
    throw new Failure('The server does not answer.', 0);
  }
  const text = await response.text();
  let found = null;
  try {
    found = text ? JSON.parse(text) : {};
  } catch {
    throw new Failure('The answer is not JSON.', response.status, response.headers.get('X-Request-Id'));
  }
  if (response.ok) return found;
  throw new Failure(found.message ?? 'The request failed.', response.status, response.headers.get('X-Request-Id'), found.error);
}

export function failureNotice(problem) {
  const what = problem instanceof Failure ? problem.message : 'This page failed: ' + problem.message;
  return notice('bad', what, problem.status ? ' (status ' + problem.status + ')' : null,
    problem.id ? [' Id ', h('code', {}, problem.id)] : null);
}

/* `?name=value` of those that have a value. */
export function query(values) {
  const kept = Object.entries(values).filter(([, value]) => value !== '' && value !== null && value !== undefined);
  return kept.length ? '?' + new URLSearchParams(kept) : '';
}

// ---- Words

export const number = (value) => Number(value).toLocaleString('en');
/* A time of this place: `2026-11-17 16:03:30`. Brief: without the day if it is today, else without the seconds. */
export function when(time, brief = false) {
  const date = new Date(time);
  if (!time || Number.isNaN(date.getTime())) return '';
  const [day, clock] = date.toLocaleString('sv').split(' ');
  const today = day === new Date().toLocaleString('sv').split(' ')[0];
  return h('time', { datetime: date.toISOString(), title: date.toISOString(), class: 'nowrap' },
    brief ? (today ? clock : day.slice(5) + ' ' + clock.slice(0, 5)) : day + ' ' + clock);
}
export function duration(microseconds) {
  if (microseconds === null || microseconds === undefined) return null;
  if (microseconds < 1000) return microseconds + ' µs';
  return microseconds < 1e6 ? (microseconds / 1000).toFixed(1) + ' ms' : (microseconds / 1e6).toFixed(2) + ' s';
}

// ---- The page

/* Name the program, and mark where we are. */
export function begin(title, program) {
  if (program) byId('program').textContent = program;
  document.title = title + (program ? ' · ' + program : '');
  for (const anchor of document.querySelectorAll('header.bar nav a'))
    if (location.pathname === anchor.pathname || location.pathname.startsWith(anchor.pathname + '/')) anchor.setAttribute('aria-current', 'page');
}

/* The name of the program, which every page shows; a page does without it if the server does not tell. */
export async function programName() {
  try {
    return (await ask('/health')).name;
  } catch {
    return '';
  }
}
