// Clients from npm and a program that asks (tests/http/asking.c):
//
//     node asking.mjs NODE_MODULES PROGRAM URL RECORDER PYTHON TEE FOLDER
//
// Each client that can be asked is asked in one session for each way to answer, and in another one in which it declares nothing. Those that have
// no handler for questions make the same call. Then each client and adapter, as it comes, lists the tools behind a process that keeps what the
// client sends: what it declares. One line of JSON for each. questions_test.py runs it and knows what is right. RECORDER/NAME/mcp is URL for a client that speaks HTTP, and keeps the same.
import { join } from 'node:path';
import { clientsOf } from './connect.mjs';

const [modules, program, url, recorder, python, tee, folder] = process.argv.slice(2);
const { load, official, newest, langchain, mcpUse, aiSdk } = clientsOf(modules);
const info = { name: 'test', version: '1' };
const sdk = '@modelcontextprotocol/sdk', client2 = '@modelcontextprotocol/client';
const patience = 300_000;
const options = { timeout: patience };

const answers = {
  accept: () => ({ action: 'accept', content: { sure: true } }),
  wrong: (times) => ({ action: 'accept', content: { sure: times === 1 ? 'maybe' : true } }),
  decline: () => ({ action: 'decline' }),
  cancel: () => ({ action: 'cancel' }),
};

const piped = { command: program, args: ['mcp'], stderr: 'ignore', env: process.env };
const behind = (entry, ...args) => {
  const env = { ...process.env, MCP_REMOTE_CONFIG_DIR: join(folder, 'remote'), HOME: folder };
  return { command: process.execPath, args: [join(modules, entry), ...args], stderr: 'ignore', env };
};
const remote = (url, ...more) => behind('mcp-remote/dist/proxy.js', url, '--transport', 'http-only', ...more);
const modern = (url) => remote(url, '--protocol', 'auto');
const gateway = (url) => behind('supergateway/dist/index.js', '--streamableHttp', url, '--logLevel', 'none');
const behinds = { 'mcp-remote': remote, 'mcp-remote --protocol auto': modern, supergateway: gateway };

// Each gives { call, close } of a session whose questions go to `handler`; without one it declares nothing.
async function one(server, handler) {
  const { Client } = await load(`${sdk}/client/index.js`);
  const { StdioClientTransport } = await load(`${sdk}/client/stdio.js`);
  const { StreamableHTTPClientTransport } = await load(`${sdk}/client/streamableHttp.js`);
  const { ElicitRequestSchema } = await load(`${sdk}/types.js`);
  const client = new Client(info, { capabilities: handler ? { elicitation: {} } : {} });
  if (handler) client.setRequestHandler(ElicitRequestSchema, (request) => handler(request.params));
  await client.connect(server.url ? new StreamableHTTPClientTransport(new URL(server.url)) : new StdioClientTransport(server), options);
  return { call: (name, args) => client.callTool({ name, arguments: args }, undefined, options), close: () => client.close() };
}

const two = (mode) => async (server, handler) => {
  const { Client, StreamableHTTPClientTransport } = await load(client2);
  const { StdioClientTransport } = await load(`${client2}/stdio`);
  const client = new Client(info, { capabilities: handler ? { elicitation: {} } : {}, versionNegotiation: { mode } });
  if (handler) client.setRequestHandler('elicitation/create', (request) => handler(request.params));
  await client.connect(server.url ? new StreamableHTTPClientTransport(new URL(server.url)) : new StdioClientTransport(server), options);
  return { call: (name, args) => client.callTool({ name, arguments: args }, options), close: () => client.close() };
};

async function vercel(server, handler) {
  const { createMCPClient, ElicitationRequestSchema } = await load('@ai-sdk/mcp');
  const { Experimental_StdioMCPTransport } = await load('@ai-sdk/mcp/mcp-stdio');
  const transport = server.url ? { type: 'http', url: server.url } : new Experimental_StdioMCPTransport(server);
  const client = await createMCPClient({ transport, capabilities: handler ? { elicitation: {} } : {} });
  if (handler) client.onElicitationRequest(ElicitationRequestSchema, (request) => handler(request.params));
  const tools = await client.tools();
  return { call: (name, args) => tools[name].execute(args, { toolCallId: '1', messages: [] }), close: () => client.close() };
}

async function used(server, handler) {
  const { MCPClient } = (await load('mcp-use/client')).default;
  const { url, command, args, env } = server;
  const client = new MCPClient({ mcpServers: { one: url ? { url } : { command, args, env } } }, handler ? { onElicitation: handler } : {});
  const session = await client.createSession('one', false);
  session.connector.timeout = patience;
  await session.initialize();
  return { call: (name, args) => session.callTool(name, args), close: () => client.closeAllSessions() };
}

const ways = { 'SDK 1.x': one, 'SDK 2.x': two('auto'), 'SDK 2.x, older': two('legacy'), 'mcp-use': used, '@ai-sdk/mcp': vercel };
const cases = Object.entries(ways).flatMap(([which, make]) => [[which, 'stdio', make, piped], [which, 'http', make, { url }]]);
cases.push(...Object.entries(behinds).map(([which, make]) => [which, 'http', one, make(url)]));

const say = (row) => process.stdout.write(JSON.stringify(row) + '\n');
const within = (promise) => Promise.race([promise, new Promise((_, no) => setTimeout(() => no(new Error('no answer came')), patience).unref())]);

for (const [which, over, make, server] of cases) {
  let answer, asked;
  const handler = async (params) => {
    asked.push(params.message);
    return answer(asked.length);
  };
  for (const table of [answers, { none: null }])
    try {
      const client = await make(server, table === answers ? handler : undefined);
      for (const way of Object.keys(table)) {
        [answer, asked] = [table[way], []];
        const row = { which, over, way };
        try {
          const result = await within(client.call('rename', { name: 'Bob' }));
          Object.assign(row, { asked, failed: result.isError === true, told: result.structuredContent ?? result.content?.[0]?.text });
        } catch (error) {
          Object.assign(row, { asked, error: String(error) });
        }
        say(row);
      }
      await client.close();
    } catch (error) {
      for (const way of Object.keys(table)) say({ which, over, way, error: String(error) });
    }
}

const silent = [['SDK 1.9', official('sdk-1.9'), ['stdio']], ['SDK 1.10', official('sdk-1.10'), ['stdio', 'http']], ['@langchain/mcp-adapters', langchain, ['stdio', 'http']]];
for (const [which, make, overs] of silent)
  for (const over of overs) {
    const row = { which, over, way: 'none', asked: [] };
    try {
      const client = await make(over === 'http' ? { url } : piped);
      const [told, failed] = await within(client.call('rename', { name: 'Bob' }));
      say({ ...row, failed, told });
      await client.close();
    } catch (error) {
      say({ ...row, error: String(error) });
    }
  }

const kept = (name) => ({ command: python, args: [tee, join(folder, name), program, 'mcp'] });
const plain = Object.entries({ 'SDK 1.x': official(sdk), 'SDK 2.x': newest('auto'), 'SDK 2.x, older': newest('legacy'),
  '@langchain/mcp-adapters': langchain, 'mcp-use': mcpUse, '@ai-sdk/mcp': aiSdk });
const listed = [...plain.map(([name, make]) => [name, make, kept(name.replaceAll('/', '-'))]),
  ...Object.entries(behinds).map(([name, make]) => [name, official(sdk), make(`${recorder}/${encodeURIComponent(name)}/mcp`)])];
for (const [name, make, server] of listed)
  try {
    const client = await make(server);
    await client.tools();
    await client.close();
    say({ declares: name });
  } catch (error) {
    say({ declares: name, error: String(error) });
  }
process.exit(0);
