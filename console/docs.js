// /docs: every operation of the API, from /openapi.json. What an operation has is made when it is opened, so that a long list is there at once.
import { add, ask, begin, block, byId, codeLink, failureNotice, h, prose, show, table } from './common.js';
import { callForm } from './form.js';

let api;

// ---- Schemas

function resolved(part) {
  let at = part;
  for (let depth = 0; at && at.$ref && depth < 8; depth++) at = at.$ref.split('/').slice(1).reduce((place, step) => place?.[step], api);
  return at ?? {};
}

const range = (least, most, unit) => {
  if (least === undefined && most === undefined) return null;
  if (least === undefined) return 'at most ' + most + unit;
  if (most === undefined) return 'at least ' + least + unit;
  return (least === most ? 'exactly ' + least : least + ' to ' + most) + unit;
};

/* A schema in words: `integer, 0 to 150`. */
export function wordsOf(schema) {
  const s = resolved(schema);
  const type = Array.isArray(s.type) ? s.type.join(' or ') : s.type;
  const items = s.items ? 'of ' + (wordsOf(s.items) || 'anything') : null;
  return [s.const !== undefined ? JSON.stringify(s.const) : s.enum ? s.enum.map((value) => JSON.stringify(value)).join(' | ') : type, s.format, items,
    range(s.minLength, s.maxLength, ' characters'), range(s.minimum, s.maximum, ''), range(s.minItems, s.maxItems, ' items'),
    s.pattern ? 'pattern ' + s.pattern : null, s.default !== undefined ? 'default ' + JSON.stringify(s.default) : null].filter(Boolean).join(', ');
}

function fieldRow(name, schema, required, place, depth) {
  const s = resolved(schema);
  return h('tr', {}, h('th', { scope: 'row' }, h('code', {}, '\u2003'.repeat(depth) + name), required ? h('span', { class: 'soft small' }, ' required') : null),
    place === null ? null : h('td', {}, place), h('td', {}, wordsOf(s)), h('td', { class: 'text' }, prose(s.description ?? schema.description)));
}

function fieldRows(schema, place, depth = 0) {
  const s = resolved(schema);
  const object = s.type === 'array' || (s.items && !s.properties) ? resolved(s.items) : s;
  if (depth > 4) return [];
  return Object.entries(object.properties ?? {}).flatMap(([name, part]) =>
    [fieldRow(name, part, (object.required ?? []).includes(name), place, depth), ...fieldRows(part, place, depth + 1)]);
}

// ---- One operation

/* The parameters of an operation: those of path and query, and the members of its body. */
function parametersOf(operation) {
  const rows = (operation.parameters ?? []).map((parameter) => {
    const schema = parameter.schema ?? Object.values(parameter.content ?? {})[0]?.schema ?? {};
    return fieldRow(parameter.name, { ...resolved(schema), description: parameter.description ?? resolved(schema).description }, parameter.required, parameter.in, 0);
  });
  const content = operation.requestBody?.content ?? {};
  for (const [type, { schema }] of Object.entries(content)) {
    const members = schema ? fieldRows(schema, 'body') : [];
    rows.push(...(members.length ? members : [h('tr', {}, h('th', { scope: 'row' }, 'body'), h('td', {}, 'body'), h('td', {}, type), h('td', {}))]));
  }
  return rows.length ? [h('h3', {}, 'Parameters'), table('Parameters', ['Name', 'In', 'Type', 'Meaning'], rows)] : null;
}

function answerOf(status, response) {
  const [type, body] = Object.entries(response.content ?? {})[0] ?? [];
  const rows = body?.schema ? fieldRows(body.schema, null) : [];
  return [h('p', {}, h('b', {}, status), ' ', response.description, type ? [' as ', h('code', {}, type)] : null),
    rows.length ? table('Members of the answer', ['Member', 'Type', 'Meaning'], rows) : null];
}

/* Each failure by its code, with its example. Each is a detail that is opened. */
function failureRows(status, response) {
  const [type, body] = Object.entries(response.content ?? {})[0] ?? [];
  return Object.entries(body?.examples ?? {}).map(([code, example]) => h('tr', {}, h('td', {}, status), h('th', { scope: 'row' }, codeLink(code)),
    h('td', { class: 'text' }, h('details', { class: 'plain' }, h('summary', {}, example.value?.message ?? example.value?.error ?? type), block(example.value)))));
}

function responsesOf(operation) {
  const all = Object.entries(operation.responses).map(([status, response]) => [status, resolved(response)]);
  const answers = all.filter(([status]) => status < 400);
  const failures = all.filter(([status]) => status >= 400).flatMap(([status, response]) => failureRows(status, response));
  return [h('h3', {}, 'Answer'), answers.map(([status, response]) => answerOf(status, response)),
    h('h3', {}, 'Failures'), failures.length ? table('Failures', ['Status', 'Code', 'Example'], failures) : h('p', { class: 'soft' }, 'None of its own.')];
}

function operationBody(path, verb, operation) {
  return h('div', {}, (operation.description ?? '').split('\n\n').filter(Boolean).map((text) => h('p', {}, prose(text))), parametersOf(operation),
    responsesOf(operation), h('h3', {}, 'Call it'), callForm(path, verb, operation, resolved));
}

function operationEntry({ path, verb, operation }) {
  const details = h('details', { class: 'op', id: operation.operationId, toggle: fill },
    h('summary', {}, h('span', { class: 'verb ' + verb }, verb.toUpperCase()), h('span', { class: 'path' }, path), h('span', { class: 'what' }, operation.summary)));
  function fill() {
    if (!details.open || details.children.length > 1) return;
    try {
      add(details, operationBody(path, verb, operation));
    } catch (problem) {
      add(details, failureNotice(problem));
    }
  }
  return details;
}

// ---- The page

function operations() {
  const list = [];
  for (const [path, verbs] of Object.entries(api.paths))
    for (const [verb, operation] of Object.entries(verbs)) list.push({ path, verb, operation, tag: operation.tags?.[0] ?? 'other' });
  return list;
}

function draw(list, main, side, words) {
  const fits = ({ path, verb, operation }) => {
    const text = [path, verb, operation.operationId, operation.summary].join(' ').toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const tags = [...new Set(list.map((entry) => entry.tag))];
  const kept = tags.map((tag) => [tag, list.filter((entry) => entry.tag === tag && fits(entry))]).filter(([, entries]) => entries.length);
  show(main, kept.map(([tag, entries]) => h('section', { 'aria-label': tag }, h('h2', {}, tag), entries.map(operationEntry))));
  show(side, kept.map(([tag, entries]) => [h('h2', {}, tag), entries.map(({ operation }) =>
    h('a', { href: '#' + operation.operationId, title: operation.summary }, operation.summary ?? operation.operationId))]));
  openWanted();
}

/* The operation that the address names is opened and shown. */
function openWanted() {
  const wanted = location.hash && byId(decodeURIComponent(location.hash.slice(1)));
  if (!(wanted instanceof HTMLDetailsElement)) return;
  wanted.open = true;
  wanted.scrollIntoView({ block: 'start' });
}

async function main() {
  api = await ask('/openapi.json');
  const list = operations();
  const body = h('div', {});
  const side = h('div', { class: 'list' });
  begin('API', api.info.title);
  const filter = (event) => draw(list, body, side, event.target.value.toLowerCase().split(/\s+/).filter(Boolean));
  show(byId('main'), h('div', { class: 'sided' },
    h('nav', { 'aria-label': 'Operations' }, h('label', {}, h('span', {}, 'Filter'), h('input', { type: 'search', id: 'filter', input: filter })), side),
    h('div', {}, h('h1', {}, api.info.title + ' ' + api.info.version), h('p', {}, api.info.summary), h('p', { class: 'soft' }, prose(api.info.description)),
      h('p', {}, h('a', { href: '/openapi.json' }, 'OpenAPI document'), ' · ', h('a', { href: '/errors' }, 'All errors')), body)));
  draw(list, body, side, []);
  addEventListener('hashchange', openWanted);
}

main().catch((problem) => show(byId('main'), failureNotice(problem)));
