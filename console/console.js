// /console: for the operator. The address behind # says what is shown; the key is kept for this tab alone.
import { add, begin, byId, Failure, failureNotice, h, keepKey, key, notice, programName, request, show, takeKeyFromAddress } from './common.js';
import { catalogEntry, catalogList } from './catalog.js';
import { groups } from './groups.js';
import { incident, search } from './incident.js';
import { overview } from './overview.js';
import { playground } from './playground.js';

const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/i;

// ---- Live

/* What happens now, as long as the console is open: server-sent events, read with fetch, since EventSource sends no key. */
const tail = { on: false, onIncident: () => {}, onState: () => {}, stop: null };

function setOn(on) {
  tail.on = on;
  tail.onState(on);
}

function takeEvent(text) {
  const data = text.split('\n').filter((line) => line.startsWith('data:')).map((line) => line.slice(5).trimStart()).join('\n');
  if (!data) return;
  try {
    tail.onIncident(JSON.parse(data));
  } catch {
    // a piece that is no JSON is a comment of the server
  }
}

async function readTail(signal) {
  /* The head of the answer may come with its first event: a request that is not refused at once is live. */
  const accepted = setTimeout(setOn, 800, true);
  const response = await request('/incidents/tail', { signal, accept: 'text/event-stream' }).finally(() => clearTimeout(accepted));
  if (!response.ok || !response.body) return;
  setOn(true);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const events = (rest + value).split('\n\n');
    rest = events.pop();
    events.forEach(takeEvent);
  }
}

/* Connect again after a pause, until the key is gone. */
async function startTail() {
  if (tail.stop) return;
  const stop = tail.stop = new AbortController();
  for (let pause = 500; !stop.signal.aborted; pause = Math.min(pause * 2, 15000)) {
    try {
      await readTail(stop.signal);
    } catch {
      // the server restarts, or the page is left
    }
    if (tail.on) pause = 500;
    setOn(false);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

function stopTail() {
  tail.stop?.abort();
  tail.stop = null;
  setOn(false);
}

// ---- Views

function login(why) {
  stopTail();
  byId('end').hidden = true;
  const input = h('input', { type: 'password', id: 'key', autocomplete: 'off', required: true, size: '44' });
  async function submit(event) {
    event.preventDefault();
    keepKey(input.value.trim());
    route();
  }
  return { parts: [h('h1', {}, 'Console'), h('p', {}, 'Incidents have a private side, so the console needs an API key with the scope ', h('code', {}, 'operator'), '.'),
    why ? notice('bad', why) : null,
    h('form', { submit, class: 'row' }, h('label', {}, h('span', {}, 'API key'), input), h('button', { class: 'main', type: 'submit' }, 'Open')),
    h('p', { class: 'soft' }, 'The server makes such a key when it starts for the first time: the file ', h('code', {}, 'operator.key'), ' of its data folder. Others are made with ', h('code', {}, 'keys add --scope operator'),
      '. The key stays in this tab and is gone when the tab is closed.'),
    h('p', {}, h('a', { href: '#/playground' }, 'Playground'), ' and ', h('a', { href: '#/catalog' }, 'catalog'), ' need no key.')] };
}

const VIEWS = {
  '': { name: 'Failures', secret: true, make: () => overview(tail) },
  groups: { name: 'Groups', secret: true, make: (_, given) => groups(given) },
  search: { name: 'Search', secret: true, make: (_, given) => search(given) },
  incident: { secret: true, make: (rest) => incident(rest) },
  catalog: { name: 'Catalog', make: async (rest) => ({ parts: rest ? (await catalogEntry(rest)).parts : [h('h1', {}, 'Catalog'), await catalogList((code) => '#/catalog/' + encodeURIComponent(code))] }) },
  playground: { name: 'Playground', make: () => ({ parts: playground() }) },
};

let current = null;
let turn = 0;
let remark = null; // shown above the next view, once

function menu(chosen) {
  return h('nav', { class: 'tabs menu', 'aria-label': 'Console' }, Object.entries(VIEWS).filter(([, view]) => view.name).map(([path, view]) =>
    h('a', { href: '#/' + path, 'aria-current': path === chosen ? 'page' : null }, view.name)));
}

/* A failure to be let in leads to the login; others are shown. */
function failedView(problem) {
  if (problem instanceof Failure && (problem.status === 401 || problem.status === 403)) {
    const had = key();
    keepKey('');
    return login(had ? problem.message : '');
  }
  return { parts: [failureNotice(problem)] };
}

async function route() {
  const [path, ...words] = location.hash.replace(/^#\/?/, '').split('?')[0].split('/');
  const given = new URLSearchParams(location.hash.split('?')[1] ?? '');
  const mine = ++turn;
  const view = VIEWS[path] ?? VIEWS[''];
  current?.close?.();
  current = null;
  let made;
  try {
    made = view.secret && !key() ? login('') : await view.make(decodeURIComponent(words.join('/')), given);
  } catch (problem) {
    made = failedView(problem);
  }
  if (mine !== turn) return;
  current = made;
  const place = h('div', { id: 'view' }, made.parts);
  show(byId('main'), menu(path), remark, place);
  remark = null;
  if (key()) byId('end').hidden = false;
  if (!made.ready) return;
  try {
    await made.ready();
    startTail();
  } catch (problem) {
    if (mine !== turn) return;
    const failed = failedView(problem);
    if (problem.status === 401 || problem.status === 403) show(place, failed.parts);
    else add(place, failed.parts);
  }
}

/* The field for an id, or for any text with an id in it. */
function pasteForm() {
  const input = h('input', { type: 'search', id: 'paste', placeholder: 'Paste an id, or a text with one', 'aria-label': 'Id of an incident, or a text with one', size: '38', autocomplete: 'off' });
  function open() {
    const found = ID.exec(input.value);
    if (found) location.hash = '#/incident/' + found[0].toLowerCase();
    else if (input.value.trim()) location.hash = '#/search?' + new URLSearchParams({ text: input.value.trim() });
    input.value = '';
  }
  return h('form', { submit: (event) => { event.preventDefault(); open(); } }, input);
}

function leave() {
  keepKey('');
  location.hash = '#/';
  route();
}

/* Another key may see other things, or belong to another person: that it was replaced is said. */
function takeKey() {
  if (takeKeyFromAddress()) remark = notice('warn', 'The key in the address has replaced the key that this tab had before.');
}

async function main() {
  takeKey();
  add(byId('end'), pasteForm(), h('button', { type: 'button', class: 'slim', click: leave }, 'Log out'));
  byId('end').hidden = true;
  addEventListener('hashchange', () => {
    takeKey();
    route();
  });
  addEventListener('keydown', (event) => {
    if (event.key === '/' && !/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) && !byId('end').hidden) {
      event.preventDefault();
      byId('paste').focus();
    }
  });
  const [name] = await Promise.all([programName(), route()]);
  begin('Console', name);
}

main().catch((problem) => show(byId('main'), failureNotice(problem)));
