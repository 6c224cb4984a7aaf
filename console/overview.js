// The first view of the console: failures over time, live, and what fails most.
import { ask, CATEGORIES, codeLink, h, number, query, show, table } from './common.js';
import { canDraw, Chart, chartTable, legend } from './chart.js';

/* Seconds, the step that the server counts in, and how many of these make one bar. */
const RANGES = { 'last hour': [3600, 'minute', 1], 'last 6 hours': [21600, 'minute', 5], 'last 24 hours': [86400, 'minute', 15], 'last 7 days': [604800, 'hour', 2],
  'last 30 days': [2592000, 'hour', 12] };

/* The tail has the failures of this server only. Those of the other servers with the same store of incidents are found by asking again, as often as this. */
const AGAIN_MS = 10000;
const SOON_MS = 3000; // after a failure of this server

/* The answer of /incidents/stats as columns. */
function columns(stats, steps) {
  const from = Math.floor(new Date(stats.from).getTime() / 1000);
  const step = stats.step_s * steps;
  const length = Math.max(1, ...stats.series.map((series) => Math.ceil(series.counts.length / steps)), Math.ceil((new Date(stats.to).getTime() / 1000 - from) / step));
  const counts = Object.fromEntries(CATEGORIES.map((category) => [category, new Array(length).fill(0)]));
  for (const { category, counts: found } of stats.series)
    found.forEach((count, i) => { (counts[category] ?? counts.system)[Math.floor(i / steps)] += count; });
  return { step, times: Array.from({ length }, (_, i) => from + i * step), counts };
}

/* Count a failure that has just happened; the columns grow with the time. */
function count(data, time, category, many) {
  const second = new Date(time).getTime() / 1000;
  while (second >= data.times.at(-1) + data.step && data.times.length < 5000) {
    data.times.push(data.times.at(-1) + data.step);
    for (const name of CATEGORIES) data.counts[name].push(0);
  }
  const place = Math.floor((second - data.times[0]) / data.step);
  const column = data.counts[category] ?? data.counts.system;
  if (place >= 0 && place < column.length) column[place] += many;
}

function ranking(title, list, name, filter) {
  if (!list?.length) return null;
  return h('section', { class: 'card' }, h('h2', {}, title), table(title, [name, '#Failures', ''], list.slice(0, 10).map((entry) => {
    const value = entry[filter] ?? '';
    return h('tr', {}, h('th', { scope: 'row', class: 'text' }, filter === 'code' ? codeLink(value) : value === '' ? 'none' : value), h('td', { class: 'number' }, number(entry.count)),
      h('td', {}, value === '' ? null : h('a', { href: '#/search' + query({ [filter]: value }), 'aria-label': 'Show failures of ' + value }, 'show')));
  })));
}

export async function overview(tail) {
  const chart = new Chart();
  const summary = h('div', {});
  const rankings = h('div', { class: 'columns' });
  const numbers = h('details', { class: 'plain', open: !canDraw, toggle: () => drawTable() }, h('summary', {}, 'As a table'), h('div', {}));
  const range = h('select', { id: 'range', change: () => load() }, Object.keys(RANGES).map((name) => h('option', {}, name)));
  const live = h('span', { class: 'live', id: 'live', role: 'status' }, 'not live');
  let data;
  let due = null;
  let later = null;
  let soon = false; // whether `later` was set by a failure
  let closed = false;

  function drawTable() {
    if (data && numbers.open) show(numbers.lastElementChild, chartTable(data));
  }
  function redraw(anew) {
    chart.draw(data, anew);
    show(summary, legend(data));
    drawTable();
  }
  /* An answer for a range that is no longer chosen is dropped. */
  async function load(anew = true) {
    const chosen = range.value;
    const [length, step, steps] = RANGES[chosen];
    const stats = await ask('/incidents/stats' + query({ from: new Date(Date.now() - length * 1000).toISOString(), step }));
    if (closed || range.value !== chosen) return;
    data = columns(stats, steps);
    redraw(anew);
    rank(stats);
    later ??= setTimeout(loadAgain, AGAIN_MS);
  }
  function rank(stats) {
    show(rankings, ranking('Codes', stats.codes, 'Code', 'code'), ranking('Operations', stats.operations, 'Operation', 'operation'), ranking('Callers', stats.callers, 'Caller', 'caller'));
  }
  async function loadAgain() {
    soon = false;
    later = setTimeout(loadAgain, AGAIN_MS);
    try {
      await load(false);
    } catch {
      // what is shown stays as it is
    }
  }
  tail.onState = (on) => {
    live.classList.toggle('on', on);
    live.textContent = on ? 'live' : 'not live';
  };
  tail.onIncident = (incident) => {
    if (!data) return;
    count(data, incident.time, incident.category, incident.count ?? 1);
    due ??= setTimeout(() => { due = null; redraw(false); }, 400);
    if (soon) return;
    soon = true;
    clearTimeout(later);
    later = setTimeout(loadAgain, SOON_MS);
  };
  tail.onState(tail.on);
  const parts = [h('h1', {}, 'Failures'),
    h('div', { class: 'row' }, h('label', {}, h('span', {}, 'Time'), range), summary, live),
    h('div', { class: 'plot', id: 'plot' }, canDraw ? [chart.canvas, chart.buttons] : null, numbers), rankings];
  return { parts, ready: load, close: () => { closed = true; chart.close(); clearTimeout(due); clearTimeout(later); tail.onIncident = tail.onState = () => {}; } };
}
