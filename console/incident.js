// Lists of incidents, and one incident: what the caller saw beside what happened.
import { ask, block, CATEGORIES, categoryChip, codeLink, duration, facts, h, notice, number, query, show, table, when } from './common.js';
import { groupHistory, groupRows } from './groups.js';

// ---- Lists

function row(incident) {
  return h('tr', {}, h('td', {}, when(incident.time)), h('td', {}, codeLink(incident.code), ' ', categoryChip(incident.category)),
    h('td', {}, incident.operation), h('td', {}, incident.boundary), h('td', { class: 'number' }, incident.status === undefined ? null : String(incident.status)),
    h('td', {}, incident.caller), h('td', { class: 'text' }, incident.message ?? h('span', { class: 'soft' }, 'not written in full')),
    h('td', {}, h('a', { href: '#/incident/' + incident.id, class: 'mono', title: incident.id }, incident.id.slice(-12))));
}

export function incidentTable(caption, incidents) {
  return incidents?.length ? table(caption, ['Time', 'Code', 'Operation', 'By', '#Status', 'Caller', 'Message', 'Id'], incidents.map(row)) : h('p', { class: 'soft' }, 'None.');
}

const FILTERS = { text: 'Words of the message', code: 'Code', operation: 'Operation', service: 'Service', boundary: 'Boundary', status: 'Status', caller: 'Caller', group: 'Group', trace: 'Trace' };
const SINCE = { '': 'any time', 1: 'last hour', 24: 'last 24 hours', 168: 'last 7 days' };

/* The search. Its filters are in the address, so that a search can be passed on. */
export async function search(given) {
  const inputs = Object.fromEntries(Object.entries(FILTERS).map(([name]) => [name, h('input', { name, type: 'search', value: given.get(name) ?? '', autocomplete: 'off' })]));
  const category = h('select', { name: 'category', value: '' }, h('option', { value: '' }, 'any'), CATEGORIES.map((name) => h('option', { value: name }, name)));
  const since = h('select', { name: 'since' }, Object.entries(SINCE).map(([hours, name]) => h('option', { value: hours }, name)));
  category.value = given.get('category') ?? '';
  since.value = given.get('since') ?? '';
  const place = h('div', { id: 'found' });
  const more = h('div', {});

  function submit(event) {
    event.preventDefault();
    const values = Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, input.value.trim()]));
    location.hash = '#/search' + query({ ...values, category: category.value, since: since.value });
  }
  const asked = { limit: 50 };
  for (const name of [...Object.keys(FILTERS), 'category']) if (given.get(name)) asked[name] = given.get(name);
  if (given.get('since')) asked.from = new Date(Date.now() - Number(given.get('since')) * 3600e3).toISOString();

  let all = [];
  async function load(cursor) {
    const found = await ask('/incidents' + query({ ...asked, cursor }));
    all = all.concat(found.incidents);
    show(place, incidentTable('Incidents', all));
    show(more, found.next ? h('button', { type: 'button', click: () => load(found.next) }, 'More') : h('span', { class: 'soft' }, number(all.length) + ' shown'));
  }
  const field = (name, label, input) => h('label', {}, h('span', {}, label), input);
  return { parts: [h('h1', {}, 'Search'),
    h('form', { submit }, h('div', { class: 'fields' }, Object.entries(FILTERS).map(([name, label]) => field(name, label, inputs[name])),
      field('category', 'Category', category), field('since', 'Time', since)), h('button', { class: 'main', type: 'submit' }, 'Search')),
    h('div', { class: 'row' }), place, h('div', { class: 'row' }, more)], ready: () => load() };
}

// ---- One incident

function section(title, ...content) {
  const kept = content.flat().filter(Boolean);
  return kept.length ? [h('h3', {}, title), kept] : null;
}

const filled = (value) => value && (typeof value !== 'object' || Object.keys(value).length > 0);
const jsonSection = (title, value) => filled(value) ? section(title, block(value)) : null;
const linesSection = (title, lines) => lines?.length ? section(title, h('pre', { tabindex: '0' }, lines.join('\n'))) : null;

function placeOf(place) {
  if (!place) return null;
  return place.file ? [place.file + (place.line ? ':' + place.line : ''), place.function ? ' in ' + place.function + '()' : null].filter(Boolean).join('') : place.function ?? String(place);
}

/* The lines around the place, where the source is at hand: the one that is meant is bold. */
function sourceOf(place) {
  const width = String(place.lines.at(-1)?.line ?? '').length;
  return [h('p', { class: 'soft small mono' }, place.file + ':' + place.line, place.changed ? ' (the file was changed since)' : null),
    h('pre', { class: 'source', tabindex: '0' }, place.lines.map(({ line, text }) => {
      const whole = String(line).padStart(width) + '  ' + text + '\n';
      return line === place.line ? h('b', {}, whole) : whole;
    }))];
}

function causeOf(cause) {
  return h('li', {}, cause.code ? [h('code', {}, cause.code), ' '] : null, cause.message, cause.place ? h('div', { class: 'soft small mono' }, placeOf(cause.place)) : null,
    filled(cause.told) ? block(cause.told) : null, filled(cause.noted) ? block(cause.noted) : null, cause.stack?.length ? h('details', { class: 'plain' }, h('summary', {}, 'Stack'), h('pre', { tabindex: '0' }, cause.stack.join('\n'))) : null);
}

/* Only of this very failure: what the caller of a similar one saw is not what this one saw. */
function publicSide(seen, record) {
  return h('section', { class: 'card', id: 'public' }, h('h2', {}, 'What the caller saw'),
    facts([['Status', String(seen?.status ?? record.status ?? '')], ['Type', seen?.response_type]]),
    seen?.response ? block(seen.response) : h('p', { class: 'soft' }, 'The response was not kept.'));
}

/* The code of the program, where it is known; else where the failure was raised. */
function ownPlace(all) {
  return all.handler_frame ?? (all.raised_by ? null : placeOf(all.place));
}

function privateSide(record, hidden, own) {
  const all = { ...record, ...hidden };
  return h('section', { class: 'card', id: 'private' }, h('h2', {}, own ? 'What happened' : 'What happened to a similar failure'),
    h('p', {}, all.private_message ?? all.message), facts([['Type', all.type], ['Cause', all.cause], ['Place', ownPlace(all)], ['Raised by', all.raised_by],
      ['Request', own ? null : all.request], ['Process', all.process ? [all.process.role, all.process.pid].filter(Boolean).join(' ') : null], ['Duration', duration(all.duration_us)]]),
    all.causes?.length ? section('Causes', h('ol', {}, all.causes.map(causeOf))) : null,
    jsonSection('Noted for the operator', all.noted), jsonSection('Told to the caller', all.told), jsonSection('Fields', all.fields),
    all.source?.length ? section('Source', all.source.map(sourceOf)) : null,
    linesSection('Stack', all.stack), linesSection('Backtrace of the code', all.backtrace), all.stdout ? section('Its output', h('pre', { tabindex: '0' }, all.stdout)) : null,
    linesSection('Lines of the handler', all.lines), jsonSection('Arguments', all.arguments), jsonSection('Headers', all.headers),
    all.incomplete ? notice('warn', 'There was no memory for the whole record.') : null, all.cut?.length ? notice('warn', 'Too long, and cut: ' + all.cut.join(', ')) : null);
}

/* The id of the request that asked for it is of no use here: the one that was looked for is shown. */
function noIncident(text, problem) {
  return { parts: [h('p', { class: 'small' }, h('a', { href: '#/search' }, 'Search')), h('h1', {}, 'No such incident'),
    h('p', {}, h('code', { id: 'not-found' }, text)), h('p', {}, problem.message),
    h('p', { class: 'soft' }, 'An incident is here within a second of its failure. The id may be of another server, or a letter of it may be missing.')] };
}

export async function incident(text) {
  let found;
  try {
    found = await ask('/incidents/' + encodeURIComponent(text));
  } catch (problem) {
    if (problem.status !== 404) throw problem;
    return noIncident(text, problem);
  }
  const record = found.incident;
  const whole = found.whole !== false;
  const full = found.like ?? record;
  return { parts: [
    h('p', { class: 'small' }, h('a', { href: '#/search' }, 'Search')),
    h('h1', {}, codeLink(record.code), ' ', categoryChip(record.category)),
    facts([['Id', h('code', { id: 'incident-id' }, record.id)], ['Time', when(record.time)], ['Operation', record.operation], ['Request', record.request], ['Boundary', record.boundary], ['Caller', record.caller],
      ['Service', record.service], ['Program', [record.program, record.version].filter(Boolean).join(' ')],
      ['Trace', record.trace?.id ? h('a', { href: '#/search' + query({ trace: record.trace.id }), class: 'mono' }, record.trace.id) : null],
      ['Group', record.group ? h('a', { href: '#/search' + query({ group: record.group }), class: 'mono' }, record.group) : null]], 'wide'),
    whole ? null : notice('warn', 'Many similar failures happened, so only a short record of this one was kept.',
      found.like ? [' What is marked as that of a similar failure belongs to ', h('a', { href: '#/incident/' + full.id }, full.id), ': its request, arguments and headers are not those of this one.'] : null),
    h('div', { class: 'columns' }, publicSide(found.public, record), privateSide(full, found.private, whole || !found.like)),
    found.group ? [h('h2', {}, 'Its group'), groupRows([found.group], () => dispatchEvent(new HashChangeEvent('hashchange'))), groupHistory(found.group)] : null,
    h('h2', {}, 'Other failures of this trace'), incidentTable('Failures of this trace', found.trace),
    h('h2', {}, 'Other failures of this caller near that time'), incidentTable('Failures of this caller', found.near),
    h('h2', {}, 'The record'), h('details', { class: 'plain' }, h('summary', {}, 'As JSON'), block(record)),
  ] };
}
