// The playground: a pasted error in all dialects, and what a check finds in it.
import { ask, block, chip, codeLink, failureNotice, h, notice, prose, show, table, tabs } from './common.js';
import { examples } from './examples.js';

const DIALECTS = ['condition-report', 'cli-envelope', 'artifact', 'http-api', 'tool-result', 'problem', 'json-rpc', 'google-rpc', 'json-api', 'graphql', 'canonical'];

function findingsOf(found) {
  if (!found.findings.length) return notice('good', 'It conforms to ' + found.dialect + '.');
  return table('Findings', ['Severity', 'Rule', 'Place', 'What is wrong'], found.findings.map((finding) => h('tr', {},
    h('td', {}, chip(finding.severity, finding.severity)), h('td', {}, h('code', {}, finding.rule)),
    h('td', {}, h('code', {}, finding.place === '' ? 'whole document' : finding.place)), h('td', { class: 'text' }, prose(finding.message)))));
}

function result(found) {
  if (!found.dialect) return notice('bad', 'No dialect can read this. Choose one to see what it expects.');
  const fits = found.fits.filter((fit) => fit.dialect !== found.dialect && fit.errors === 0).map((fit) => fit.dialect);
  return [
    h('p', {}, found.detected ? 'Read as ' : 'Checked as ', h('b', {}, found.dialect), fits.length ? h('span', { class: 'soft' }, '; it also conforms to ' + fits.join(', ')) : null,
      found.code ? [' · code ', codeLink(found.code)] : null),
    h('h2', {}, 'Findings'), findingsOf(found),
    h('h2', {}, 'The error in each dialect'),
    found.dialects ? tabs('Dialects', Object.fromEntries(Object.entries(found.dialects).map(([dialect, { media_type, document }]) =>
      [dialect, () => [h('p', { class: 'soft small' }, media_type), block(document)]]))) : notice('warn', found.unreadable ?? 'The document does not say which error it is.'),
  ];
}

export function playground() {
  const area = h('textarea', { id: 'document', spellcheck: 'false', placeholder: '{"error":"not_found","message":"Todo not found"}' });
  const dialect = h('select', { id: 'dialect' }, h('option', { value: '' }, 'find out'), DIALECTS.map((name) => h('option', { value: name }, name)));
  const strict = h('input', { type: 'checkbox', id: 'strict' });
  const place = h('div', { id: 'played', 'aria-live': 'polite' });
  const example = h('select', { id: 'example', change: take }, h('option', { value: '' }, 'choose one'),
    examples.map(({ title }, number) => h('option', { value: String(number) }, title)));

  function take() {
    if (example.value === '') return;
    area.value = examples[Number(example.value)].document;
    dialect.value = '';
    play();
  }
  async function play(event) {
    event?.preventDefault();
    try {
      const body = { document: area.value, strict: strict.checked };
      if (dialect.value) body.dialect = dialect.value;
      show(place, result(await ask('/playground', { method: 'POST', body })));
    } catch (problem) {
      show(place, failureNotice(problem));
    }
  }
  return [h('h1', {}, 'Playground'),
    h('p', { class: 'soft' }, 'Paste an error that any program has answered with: it is checked, and shown in every dialect. Nothing is stored.'),
    h('form', { submit: play },
      h('label', {}, h('span', {}, 'An error'), area),
      h('div', { class: 'row' }, h('label', {}, h('span', {}, 'Dialect'), dialect), h('label', {}, h('span', {}, 'An example of the seeds'), example),
        h('label', {}, h('span', {}, 'Strict'), strict), h('button', { class: 'main', type: 'submit' }, 'Show'))),
    place];
}
