// The first page: what this is, and where to go.
import { ask, begin, byId, chip, facts, failureNotice, h, show } from './common.js';

function card(href, name, what) {
  return h('a', { class: 'card', href }, h('b', {}, name), h('span', { class: 'soft' }, what));
}

function example(path) {
  const get = h('pre', { tabindex: '0' }, 'curl ' + location.origin + path);
  return [h('h2', {}, 'Try it'), get];
}

/* The first path that can be asked for without parameters. */
function easyPath(api) {
  const found = Object.entries(api.paths).find(([path, verbs]) => verbs.get && !path.includes('{') && !verbs.get.tags.includes('server') &&
    !(verbs.get.parameters ?? []).some((parameter) => parameter.required) && !path.startsWith('/incidents'));
  return found ? found[0] : '/health';
}

async function main() {
  const [api, health] = await Promise.all([ask('/openapi.json'), ask('/health')]);
  const operations = Object.values(api.paths).reduce((sum, verbs) => sum + Object.keys(verbs).length, 0);
  begin('Start', api.info.title);
  show(byId('main'),
    h('h1', {}, api.info.title + ' '),
    h('p', {}, api.info.summary ?? 'An HTTP API.'),
    facts([['Version', api.info.version], ['State', chip(health.status, health.status === 'ok' ? 'ok' : 'warning')],
      ['Operations', String(operations)], ['Agents', [h('code', {}, location.origin + '/mcp'), ' (Model Context Protocol)']]]),
    h('div', { class: 'cards' },
      card('/docs', 'API', 'Every operation with its parameters, answers and failures, and a form that calls it.'),
      card('/errors', 'Errors', 'Every error code: what happened, and what callers and operators can do.'),
      card('/console', 'Console', 'For operators, with a key: failures over time, groups, and the whole story behind an id.'),
      card('/openapi.json', 'OpenAPI', 'The description of the API for programs.')),
    example(easyPath(api)),
    h('p', { class: 'soft' }, 'A failure tells the caller what to do next. Every response has an X-Request-Id; the operator finds the whole story by it in the console.'));
}

main().catch((problem) => show(byId('main'), failureNotice(problem)));
