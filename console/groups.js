// Groups: failures that are alike. An operator resolves or mutes a group.
import { ask, categoryChip, chip, codeLink, failureNotice, h, number, query, show, table, when } from './common.js';

const SVG = 'http://www.w3.org/2000/svg';

/* A small plot of 24 counts, one an hour. */
function spark(counts) {
  const svg = document.createElementNS(SVG, 'svg');
  const most = Math.max(1, ...counts);
  for (const [name, value] of Object.entries({ viewBox: '0 0 96 22', class: 'spark', role: 'img', 'aria-label': 'The last 24 hours: ' + counts.join(', ') })) svg.setAttribute(name, value);
  counts.forEach((count, i) => {
    const bar = document.createElementNS(SVG, 'rect');
    const height = count ? Math.max(2, count / most * 21) : 1;
    for (const [name, value] of Object.entries({ x: i * 4, y: 22 - height, width: 3, height })) bar.setAttribute(name, value);
    svg.append(bar);
  });
  return svg;
}

function groupRow(group, changed) {
  const place = h('td', { class: 'nowrap' });
  async function change(what, undo) {
    try {
      await ask('/incidents/groups/' + encodeURIComponent(group.group) + '/' + what, { method: 'POST', body: undo ? { undo } : {} });
      changed();
    } catch (problem) {
      show(place, failureNotice(problem));
    }
  }
  const button = (name, what, undo) => h('button', { type: 'button', class: 'slim', click: () => change(what, undo), 'aria-label': name + ' the group ' + group.group }, name);
  show(place, group.state === 'resolved' ? button('Reopen', 'resolve', true) : button('Resolve', 'resolve'), ' ',
    group.state === 'muted' ? button('Unmute', 'mute', true) : button('Mute', 'mute'));
  return h('tr', {}, h('td', {}, chip(group.state, group.state)), h('td', {}, codeLink(group.code), ' ', categoryChip(group.category)), h('td', {}, group.operation),
    h('td', { class: 'text' }, group.message), h('td', { class: 'number' }, h('a', { href: '#/search' + query({ group: group.group }) }, number(group.count))),
    h('td', {}, when(group.first, true)), h('td', {}, when(group.last, true)), h('td', {}, group.trend ? spark(group.trend) : null), place);
}

/* What was decided about a group, and how often it failed on each day that is kept. */
export function groupHistory(group) {
  const days = (group.days ?? []).map(({ day, count }) => day + ': ' + number(count));
  const decided = (group.history ?? []).map(({ time, state }) => h('li', {}, when(time), ' ', chip(state, state)));
  return [days.length ? h('p', { class: 'soft small' }, 'Failures by day: ' + days.join(', ')) : null, decided.length ? h('ul', {}, decided) : null];
}

export function groupRows(groups, changed) {
  return groups.length ? table('Groups', ['State', 'Code', 'Operation', 'Message', '#Count', 'First', 'Last', '24 hours', ''], groups.map((group) => groupRow(group, changed)))
    : h('p', { class: 'soft' }, 'No groups.');
}

export async function groups(given) {
  const state = given.get('state') ?? '';
  const place = h('div', { id: 'groups' });
  const more = h('div', { class: 'row' });
  const choice = h('select', { change: (event) => { location.hash = '#/groups' + query({ state: event.target.value }); } },
    ['', 'new', 'known', 'regressed', 'resolved', 'muted'].map((name) => h('option', { value: name }, name === '' ? 'all' : name)));
  choice.value = state;
  let all = [];
  async function load(cursor) {
    const found = await ask('/incidents/groups' + query({ state, cursor }));
    all = cursor ? all.concat(found.groups) : found.groups;
    show(place, groupRows(all, () => load()));
    show(more, found.next ? h('button', { type: 'button', click: () => load(found.next) }, 'More') : null);
  }
  return { parts: [h('h1', {}, 'Groups'), h('p', { class: 'soft' }, 'Failures of one operation, code and place. A resolved group that fails again is regressed.'),
    h('div', { class: 'row' }, h('label', {}, h('span', {}, 'State'), choice)), place, more], ready: () => load() };
}
