// The official client 1.x against a server that is started again under it:
//
//     node clients_restart.mjs NODE_MODULES URL
//
// It says `ready`, waits for a line, and goes on with the same session. keys_test.py runs it.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';

const [modules, url] = process.argv.slice(2);
const require = createRequire(modules + '/');
const load = (name) => import(pathToFileURL(require.resolve(name)));
const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
const { StreamableHTTPClientTransport } = await load('@modelcontextprotocol/sdk/client/streamableHttp.js');

const client = new Client({ name: 'test', version: '1' });
const transport = new StreamableHTTPClientTransport(new URL(url));
const echo = async (text) => (await client.callTool({ name: 'echo', arguments: { text } })).structuredContent;

await client.connect(transport);
assert.deepEqual(await echo('before'), { text: 'before' });
const session = transport.sessionId;
assert.ok(session);
console.log('ready');
await once(process.stdin, 'data');

// A connection that was kept open is broken: that is no matter of sessions, and every client has to try again.
let answer;
for (let i = 0; i < 50 && !answer; i++)
  answer = await echo('after').catch((error) => {
    assert.match(String(error), /fetch failed|socket|ECONN/i);
  });
assert.deepEqual(answer, { text: 'after' });
assert.equal(transport.sessionId, session);
assert.ok((await client.listTools()).tools.length);
await transport.terminateSession();
console.log('all is well');
process.exit(0);
