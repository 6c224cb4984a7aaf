// The form of /docs that calls an operation.
import { block, codeLink, failureNotice, h, keepKey, key, notice, show } from './common.js';

// ---- Inputs

/* An input for a value, and a function that gives the value; undefined if nothing was entered. */
function inputOf(name, schema, required, help) {
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  const choices = schema.enum ?? (type === 'boolean' ? [true, false] : null);
  const complex = type === 'object' || type === 'array' || (!type && !choices);
  let input;
  if (choices) input = h('select', { name }, required ? null : h('option', { value: '' }, ''), choices.map((choice) => h('option', { value: String(choice) }, String(choice))));
  else if (complex) input = h('textarea', { name, placeholder: type === 'array' ? '[…] as JSON' : '{…} as JSON', spellcheck: 'false' });
  else input = h('input', { name, type: type === 'integer' || type === 'number' ? 'number' : 'text', step: type === 'number' ? 'any' : null,
    placeholder: schema.default !== undefined ? String(schema.default) : null, autocomplete: 'off' });
  function value() {
    if (input.value === '') return undefined;
    if (complex) return JSON.parse(input.value);
    if (type === 'boolean') return input.value === 'true';
    return type === 'integer' || type === 'number' ? Number(input.value) : input.value;
  }
  const label = h('label', { class: complex ? 'wide' : null, title: help }, h('span', {}, name + (required ? ' (required)' : '')), input);
  return { name, label, value, text: () => input.value, complex };
}

function bodyInputs(operation, resolved) {
  const schema = resolved(operation.requestBody?.content?.['application/json']?.schema);
  return Object.entries(schema.properties ?? {}).map(([name, part]) =>
    inputOf(name, resolved(part), (schema.required ?? []).includes(name), resolved(part).description));
}

/* An operation that takes bytes gets the text of an area; its media type is the first that it takes. */
function rawInput(operation) {
  const types = Object.keys(operation.requestBody?.content ?? {});
  if (!types.length || types.includes('application/json')) return null;
  const area = h('textarea', { name: 'body', spellcheck: 'false' });
  return { type: types[0], text: () => area.value, label: h('label', { class: 'wide' }, h('span', {}, 'Body as ' + types[0]), area) };
}

// ---- The request

function addressOf(path, parameters) {
  const given = new URLSearchParams();
  let address = path;
  for (const { place, input } of parameters) {
    const text = input.text();
    if (place === 'path') {
      const tail = text.split('/').map(encodeURIComponent).join('/');
      address = address.replace('{' + input.name + '}', tail);
    } else if (text !== '' && input.complex && text.trim().startsWith('[')) {
      for (const item of JSON.parse(text)) given.append(input.name, typeof item === 'string' ? item : JSON.stringify(item));
    } else if (text !== '') {
      given.append(input.name, text);
    }
  }
  return address + (given.size ? '?' + given : '');
}

const quoted = (text) => "'" + text.replaceAll("'", "'\\''") + "'";

function curlOf(verb, address, body, type) {
  return ['curl', verb === 'get' ? null : '-X ' + verb.toUpperCase(), key() ? "-H 'Authorization: Bearer '\"$KEY\"" : null,
    body === undefined ? null : '-H ' + quoted('Content-Type: ' + type) + ' -d ' + quoted(body), quoted(location.origin + address)].filter(Boolean).join(' ');
}

async function send(verb, address, body, type) {
  const headers = { Accept: '*/*' };
  if (key()) headers.Authorization = 'Bearer ' + key();
  if (body !== undefined) headers['Content-Type'] = type;
  const started = performance.now();
  const response = await fetch(address, { method: verb.toUpperCase(), headers, body, credentials: 'omit' });
  const text = await readSome(response);
  return { response, text, milliseconds: performance.now() - started };
}

/* The beginning of an answer: a stream may have no end. */
async function readSome(response, most = 262144, patience = 5000) {
  if (!response.body) return '';
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  const late = new Promise((resolve) => setTimeout(resolve, patience, { done: true, late: true }));
  let text = '';
  for (;;) {
    const { done, value, late: slow } = await Promise.race([reader.read(), late]);
    if (slow || text.length > most) {
      reader.cancel().catch(() => {});
      return text + '\n… (the answer goes on)';
    }
    if (done) return text;
    text += decoder.decode(value, { stream: true });
  }
}

async function result(response, text, milliseconds) {
  const id = response.headers.get('X-Request-Id');
  let name = null;
  try {
    name = response.ok ? null : JSON.parse(text).error;
  } catch {
    // it is not JSON
  }
  return [notice(response.ok ? 'good' : 'bad', response.status + ' ' + response.statusText + ' in ' + milliseconds.toFixed(0) + ' ms', id ? [' · id ', h('code', {}, id)] : null),
    typeof name === 'string' && /^[a-z_]+$/.test(name) ? h('p', {}, 'What it means: ', codeLink(name.toUpperCase())) : null,
    text ? block(text) : h('p', { class: 'soft' }, 'No body.')];
}

// ---- The form

export function callForm(path, verb, operation, resolved) {
  const parameters = (operation.parameters ?? []).map((parameter) => {
    const schema = resolved(parameter.schema ?? Object.values(parameter.content ?? {})[0]?.schema);
    return { place: parameter.in, input: inputOf(parameter.name, schema, parameter.required, parameter.description) };
  });
  const members = bodyInputs(operation, resolved);
  const raw = rawInput(operation);
  const place = h('div', { 'aria-live': 'polite' });
  const secret = h('input', { type: 'password', name: 'key', value: key(), autocomplete: 'off', placeholder: 'if the server requires one', change: (event) => keepKey(event.target.value.trim()) });
  const button = h('button', { class: 'main', type: 'submit' }, 'Send');

  async function submit(event) {
    event.preventDefault();
    button.disabled = true;
    try {
      keepKey(secret.value.trim());
      const given = members.map((input) => [input.name, input.value()]).filter(([, value]) => value !== undefined);
      const type = raw ? raw.type : 'application/json';
      const body = raw ? raw.text() : members.length ? JSON.stringify(Object.fromEntries(given)) : undefined;
      const address = addressOf(path, parameters);
      const { response, text, milliseconds } = await send(verb, address, body, type);
      show(place, h('h3', {}, 'Request'), h('pre', { tabindex: '0' }, curlOf(verb, address, body, type)), h('h3', {}, 'Response'), await result(response, text, milliseconds));
    } catch (problem) {
      show(place, problem instanceof SyntaxError ? notice('bad', 'A value is not JSON: ' + problem.message) : failureNotice(problem));
    } finally {
      button.disabled = false;
    }
  }
  return h('form', { submit }, h('div', { class: 'fields' }, parameters.map(({ input }) => input.label), members.map((input) => input.label), raw?.label,
    h('label', {}, h('span', {}, 'API key'), secret)), button, place);
}
