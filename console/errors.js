// /errors and /errors/CODE.
import { begin, byId, Failure, failureNotice, h, programName, show } from './common.js';
import { catalogEntry, catalogList } from './catalog.js';

const wanted = decodeURIComponent(location.pathname.replace(/^\/errors\/?/, ''));

async function list() {
  const [name, parts] = await Promise.all([programName(), catalogList((code) => '/errors/' + encodeURIComponent(code))]);
  begin('Errors', name);
  show(byId('main'), h('h1', {}, 'Errors'),
    h('p', { class: 'soft' }, 'Every code that this program can answer with, the same on the command line, over HTTP and for agents.'), parts);
}

async function one() {
  const [name, { code, parts }] = await Promise.all([programName(), catalogEntry(wanted)]);
  begin(code.code, name);
  show(byId('main'), h('p', { class: 'small' }, h('a', { href: '/errors' }, 'All errors')), parts);
}

(wanted ? one() : list()).catch((problem) => {
  begin('Errors', '');
  const unknown = problem instanceof Failure && problem.status === 404;
  show(byId('main'), h('p', { class: 'small' }, h('a', { href: '/errors' }, 'All errors')),
    unknown ? [h('h1', {}, 'No such code'), h('p', {}, 'The catalog has no code ', h('code', {}, wanted), '.')] : failureNotice(problem));
});
