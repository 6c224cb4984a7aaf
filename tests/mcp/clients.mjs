// The official clients for TypeScript against servers of ours, over standard input and output:
//
//     node clients.mjs NODE_MODULES one|two|two-older WORKSHOP MISHAP BYTES
//
// one: 1.x, two: 2.x with the stateless revision, two-older: 2.x as it is by default. clients_test.py runs it.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [modules, which, workshop, mishap, bytes] = process.argv.slice(2);
const require = createRequire(modules + '/');
const load = (name) => import(pathToFileURL(require.resolve(name)));
const info = { name: 'test', version: '1' };
const errors = [];

const { Client } = await load(which === 'one' ? '@modelcontextprotocol/sdk/client/index.js' : '@modelcontextprotocol/client');
const { StdioClientTransport } = await load(
  which === 'one' ? '@modelcontextprotocol/sdk/client/stdio.js' : '@modelcontextprotocol/client/stdio');

async function connect(command, ...args) {
  const mode = which === 'two' ? 'auto' : 'legacy';
  const client = which === 'one' ? new Client(info) : new Client(info, { versionNegotiation: { mode } });
  client.onerror = (error) => errors.push(error);
  await client.connect(new StdioClientTransport({ command, args: ['mcp', ...args], stderr: 'ignore', env: process.env }));
  return client;
}

const call = (client, name, args = {}, options = undefined) =>
  which === 'one' ? client.callTool({ name, arguments: args }, undefined, options) : client.callTool({ name, arguments: args }, options);

// Progress that is read together with the answer comes too late for the clients; they say so.
async function step(name, run) {
  await run();
  assert.deepEqual(errors.filter((error) => !/progress notification for an unknown token/i.test(String(error))), [],
    'what a client complains of');
  console.log('ok: ' + name);
}

const client = await connect(workshop);

await step('connect', async () => {
  assert.equal(client.getServerVersion().name, 'workshop');
  if (which !== 'one')
    assert.equal(client.getNegotiatedProtocolVersion(), which === 'two' ? '2026-07-28' : '2025-11-25');
});

await step('list', async () => {
  const { tools } = await client.listTools();
  assert.ok(tools.length > 10);
  assert.equal(tools.find((tool) => tool.name === 'echo').outputSchema.type, 'object');
  assert.equal((await client.listResources()).resources[0].uri, 'catalog://codes');
  assert.equal((await client.listResourceTemplates()).resourceTemplates.length, 5);
  assert.equal((await client.listPrompts()).prompts[0].name, 'explain_failure');
});

await step('read, get, complete', async () => {
  const { contents } = await client.readResource({ uri: 'catalog://codes/TIMEOUT' });
  assert.equal(JSON.parse(contents[0].text).code, 'TIMEOUT');
  const echo = await client.readResource({ uri: 'workshop://echo/a%20word' });
  assert.deepEqual(JSON.parse(echo.contents[0].text), { text: 'a word' });
  await assert.rejects(client.readResource({ uri: 'workshop://fail/not_found' }), /There is no user 7/);
  const ask = await client.getPrompt({ name: 'ask', arguments: { times: '2' } });
  assert.equal(ask.messages[0].content.text, 'please please');
  const prompt = await client.getPrompt({ name: 'explain_failure', arguments: { error: 'No.' } });
  assert.equal(prompt.messages[1].content.text, 'No.');
  const { completion } = await client.complete({
    ref: { type: 'ref/resource', uri: 'catalog://codes/{code}' }, argument: { name: 'code', value: 'timeo' } });
  assert.deepEqual(completion.values, ['TIMEOUT']);
});

await step('call', async () => {
  for (const tool of ['echo', 'apart_echo']) {
    const result = await call(client, tool, { text: 'Grüße' });
    assert.deepEqual(result.structuredContent, { text: 'Grüße' });
    assert.ok(!result.isError);
  }
  const many = await Promise.all(Array.from({ length: 200 }, (_, i) => call(client, i % 2 ? 'echo' : 'apart_echo', { text: `${i}` })));
  assert.deepEqual(many.map((result) => result.structuredContent.text), many.map((_, i) => `${i}`));
});

await step('progress', async () => {
  let heard = [];
  for (let i = 0; i < 10 && heard.length < 2; i++) { // a machine that stalls has several reports told at once
    heard = [];
    const result = await call(client, 'count', { to: 30, pause_ms: 60 }, { onprogress: (report) => heard.push(report.progress) });
    assert.deepEqual(result.structuredContent, { counted: 30 });
  }
  assert.ok(heard.length >= 2, String(heard));
  assert.deepEqual(heard, [...new Set(heard)].sort((a, b) => a - b));
});

await step('cancel', async () => {
  const stop = new AbortController();
  const running = call(client, 'count', { to: 1000, pause_ms: 10 }, { signal: stop.signal });
  setTimeout(() => stop.abort('enough'), 100);
  await assert.rejects(running);
  assert.equal((await call(client, 'echo', { text: 'on' })).structuredContent.text, 'on');
});

await step('the client loses patience', async () => {
  await assert.rejects(call(client, 'count', { to: 1000, pause_ms: 10 }, { timeout: 100 }));
  assert.equal((await call(client, 'echo', { text: 'on' })).structuredContent.text, 'on');
});

// A failure is a result: no client throws, and each can read what is told.
await step('failures are results', async () => {
  for (const tool of ['fail', 'apart_fail', 'report_fail', 'artifact_fail'])
    for (const how of ['not_found', 'conflict', 'busy', 'private']) {
      const result = await call(client, tool, { how });
      assert.equal(result.isError, true, tool + ' ' + how);
      assert.ok(result.content[0].text.length > 10);
    }
  for (const [tool, args] of [['echo', {}], ['echo', { text: 5 }], ['count', { to: -1 }], ['fail', { how: 'x' }], ['crash', {}],
    ['apart_crash', {}], ['sleep', { ms: 30000 }]]) {
    const result = await call(client, tool, args);
    assert.equal(result.isError, true, tool);
    assert.ok(result._meta['dev.mishap/incident']);
  }
});

// 2.x turns the older number into the newer.
await step('what is asked wrongly is an error', async () => {
  await assert.rejects(call(client, 'nope'), (error) => error.code === -32602 && error.data.code === 'NOT_FOUND');
  await assert.rejects(client.readResource({ uri: 'no://where' }),
    (error) => error.code === (which === 'one' ? -32002 : -32602) && error.data.uri === 'no://where');
  await assert.rejects(client.getPrompt({ name: 'nope' }), (error) => error.code === -32602);
});

// A machine that stalls makes it longer, but not each time.
await step('close', async () => {
  const took = [];
  for (let open = client; open; open = Math.min(...took) >= 1900 && took.length < 5 ? await connect(workshop) : null) {
    const start = Date.now();
    await open.close();
    took.push(Date.now() - start);
  }
  assert.ok(Math.min(...took) < 1900, 'the client had to use force: ' + took);
});

const todo = await connect(mishap, '--chaos');

await step('the todo service', async () => {
  const { tools } = await todo.listTools();
  assert.ok(tools.find((tool) => tool.name === 'create_user').outputSchema);
  const user = await call(todo, 'create_user', { name: 'Ada', email: `ada${process.pid}@example.com` });
  assert.equal(user.structuredContent.name, 'Ada');
  const again = await call(todo, 'create_user', { name: 'Ada', email: `ada${process.pid}@example.com` });
  assert.equal(again.isError, true);
  const bad = await call(todo, 'create_user', { name: '', age: 200, email: 'invalid' });
  assert.deepEqual(bad.structuredContent.fields.map((field) => field.field), ['name', 'age', 'email']);
  for (const how of ['crash', 'abort', 'divide', 'memory', 'undeclared', 'nonsense', 'error'])
    assert.equal((await call(todo, 'cause_chaos', { how })).isError, true, how);
  assert.equal((await call(todo, 'get_user', { id: 99999 })).isError, true);
  await todo.close();
});

const files = await connect(bytes);

await step('bytes', async () => {
  const { tools } = await files.listTools();
  assert.equal(tools.find((tool) => tool.name === 'image').outputSchema, undefined);
  const [image] = (await call(files, 'image')).content;
  assert.deepEqual([image.type, image.mimeType, Buffer.from(image.data, 'base64').subarray(1, 4).toString()], ['image', 'image/png', 'PNG']);
  const [page] = (await call(files, 'page', { name: 'Ada' })).content;
  assert.equal(page.type, 'resource');
  assert.match(page.resource.text, /Ada/);
  const [ticks] = (await call(files, 'tick')).content;
  assert.equal(ticks.resource.text, '1\n2\n3\n');
  const { contents } = await files.readResource({ uri: 'bytes://image' });
  assert.equal(contents[0].blob, image.data);
  const { messages } = await files.getPrompt({ name: 'page', arguments: { name: 'Ada' } });
  assert.match(messages[0].content.resource.text, /Ada/);
  const loaded = await call(files, 'load', { table: 't', body: 'a,b\n' });
  assert.equal(loaded.structuredContent.bytes, 4);
  await files.close();
});
