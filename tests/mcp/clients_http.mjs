// The official clients for TypeScript against a server of ours, over Streamable HTTP:
//
//     node clients_http.mjs NODE_MODULES one|two|two-older URL
//
// one: 1.x, two: 2.x with the stateless revision, two-older: 2.x as it is by default. http_test.py runs it.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [modules, which, url] = process.argv.slice(2);
const require = createRequire(modules + '/');
const load = (name) => import(pathToFileURL(require.resolve(name)));
const info = { name: 'test', version: '1' };
const errors = [];

async function make() {
  if (which === 'one') {
    const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
    const { StreamableHTTPClientTransport } = await load('@modelcontextprotocol/sdk/client/streamableHttp.js');
    return { client: new Client(info), transport: new StreamableHTTPClientTransport(new URL(url)) };
  }
  const { Client, StreamableHTTPClientTransport } = await load('@modelcontextprotocol/client');
  const mode = which === 'two' ? 'auto' : 'legacy';
  return { client: new Client(info, { versionNegotiation: { mode } }), transport: new StreamableHTTPClientTransport(new URL(url)) };
}

// What a client is told of a change: by a handler for the method, which 1.x knows by its schema.
async function onToolsChanged(client, handler) {
  if (which === 'one') {
    const { ToolListChangedNotificationSchema } = await load('@modelcontextprotocol/sdk/types.js');
    client.setNotificationHandler(ToolListChangedNotificationSchema, handler);
  } else {
    client.setNotificationHandler('notifications/tools/list_changed', handler);
  }
}

const { client, transport } = await make();
client.onerror = (error) => errors.push(error);
const call = (name, args = {}, options = undefined) =>
  which === 'one' ? client.callTool({ name, arguments: args }, undefined, options) : client.callTool({ name, arguments: args }, options);
const step = async (name, run) => {
  await run();
  console.log('ok: ' + name);
};
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

await step('connect', async () => {
  await client.connect(transport);
  assert.equal(client.getServerVersion().name, 'conformance');
  assert.ok(client.getServerCapabilities().tools.listChanged);
  if (which !== 'one')
    assert.equal(client.getNegotiatedProtocolVersion(), which === 'two' ? '2026-07-28' : '2025-11-25');
});

await step('lists', async () => {
  const { tools } = await client.listTools();
  assert.ok(tools.find((tool) => tool.name === 'echo').outputSchema);
  const { resources } = await client.listResources();
  assert.ok(resources.find((resource) => resource.uri === 'test://static-text'));
  const { resourceTemplates } = await client.listResourceTemplates();
  assert.equal(resourceTemplates.length, 2);
  const { prompts } = await client.listPrompts();
  assert.ok(prompts.find((prompt) => prompt.name === 'test_simple_prompt'));
});

await step('a tool', async () => {
  const text = 'Zwölf "Boxkämpfer"\n\u{1F94A}';
  assert.deepEqual((await call('echo', { text })).structuredContent, { text });
  assert.equal((await call('test_image_content')).content[0].mimeType, 'image/png');
});

await step('a tool that fails', async () => {
  const failed = await call('test_error_handling');
  assert.equal(failed.isError, true);
  assert.match(failed.content[0].text, /intentionally/);
});

await step('arguments that are wrong', async () => {
  const failed = await call('steps', { steps: 0, pause_ms: 'x' });
  assert.equal(failed.isError, true);
  assert.match(failed.content[0].text, /steps[^]*pause_ms/);
});

await step('a tool that crashes', async () => {
  const failed = await call('crash');
  assert.equal(failed.isError, true);
  assert.deepEqual((await call('echo', { text: 'after' })).structuredContent, { text: 'after' });
});

await step('protocol errors', async () => {
  const missing = which === 'one' ? -32002 : -32602; // 2.x turns one into the other
  await assert.rejects(client.readResource({ uri: 'test://none' }), (error) => error.code === missing);
  await assert.rejects(client.getPrompt({ name: 'none' }), (error) => error.code === -32602);
  await assert.rejects(call('none'), (error) => error.code === -32602);
});

await step('progress', async () => {
  let seen = [];
  for (let i = 0; i < 10 && seen.length < 2; i++) { // a machine that stalls has several reports told at once
    seen = [];
    const done = await call('steps', { steps: 30 }, { onprogress: (progress) => seen.push(progress.progress) });
    assert.deepEqual(done.structuredContent, { steps: 30 });
  }
  assert.ok(seen.length >= 2, String(seen));
  assert.deepEqual(seen, [...new Set(seen)].sort((a, b) => a - b));
});

await step('cancelling', async () => {
  const stop = new AbortController();
  setTimeout(() => stop.abort('enough'), 300);
  await assert.rejects(call('steps', { steps: 1000 }, { signal: stop.signal, onprogress: () => {} }));
  assert.deepEqual((await call('echo', { text: 'after' })).structuredContent, { text: 'after' });
});

await step('resources, prompts and completion', async () => {
  const { contents } = await client.readResource({ uri: 'test://template/123/data' });
  assert.match(contents[0].text, /123/);
  const { messages } = await client.getPrompt({ name: 'test_prompt_with_arguments', arguments: { arg1: 'a', arg2: 'b' } });
  assert.equal(messages[0].content.text, "Prompt with arguments: arg1='a', arg2='b'");
  const { completion } = await client.complete({
    ref: { type: 'ref/resource', uri: 'catalog://codes/{code}' },
    argument: { name: 'code', value: 'NOT_F' },
  });
  assert.ok(completion.values.includes('NOT_FOUND'), String(completion.values));
});

await step('a list that changes', async () => {
  let told, heard = false;
  const change = new Promise((resolve) => (told = resolve)).then(() => (heard = true));
  await onToolsChanged(client, () => told());
  const subscription = which === 'two' ? await client.listen({ toolsListChanged: true }) : null;
  for (let i = 0; i < 60 && !heard; i++) { // what changes before the stream of the session is open is not told
    await call('test_trigger_tool_change');
    await Promise.race([change, pause(500)]);
  }
  assert.ok(heard, 'nothing came');
  await subscription?.close();
});

await step('many calls at once', async () => {
  const numbers = [...Array(50).keys()];
  const answers = await Promise.all(numbers.map((n) => (n % 5 ? call('echo', { text: `${n}` }) : call('steps', { steps: 1 }))));
  answers.forEach((answer, n) => assert.deepEqual(answer.structuredContent, n % 5 ? { text: `${n}` } : { steps: 1 }));
});

// What was under way when a call was cancelled still arrives; the client says so.
const serious = errors.filter((error) => !/abort|cancel|progress notification for an unknown token/i.test(String(error)));
assert.deepEqual(serious, []);

await step('the end', async () => {
  if (which !== 'two') {
    await transport.terminateSession();
    await assert.rejects(client.listTools());
  }
  await client.close();
});

console.log('all is well');
process.exit(0);
