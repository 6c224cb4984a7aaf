// Clients from npm and a program that asks (tests/http/asking.c):
//
//     node asking.mjs NODE_MODULES PROGRAM URL PYTHON TEE FOLDER
//
// Each official client answers a question in each way, over standard input and output and over HTTP. Then each client and adapter,
// as it comes, lists the tools behind a process that keeps what the client sends: what it declares. One line of JSON for each.
// elicitation_test.py runs it and knows what is right.
import { join } from 'node:path';
import { clientsOf } from './connect.mjs';

const [modules, program, url, python, tee, folder] = process.argv.slice(2);
const { load, official, newest, langchain, mcpUse, aiSdk } = clientsOf(modules);
const info = { name: 'test', version: '1' };
const sdk = '@modelcontextprotocol/sdk', client2 = '@modelcontextprotocol/client';

const answers = {
  accept: () => ({ action: 'accept', content: { sure: true } }),
  decline: () => ({ action: 'decline' }),
  cancel: () => ({ action: 'cancel' }),
  wrong: (times) => ({ action: 'accept', content: { sure: times === 1 ? 'maybe' : true } }),
  none: null, // it declares nothing
};

async function connect(which, over, answer) {
  const capabilities = answer ? { elicitation: {} } : {};
  const asked = [];
  const handler = async (request) => {
    asked.push(request.params.message);
    return answer(asked.length);
  };
  const stdio = { command: program, args: ['mcp'], stderr: 'ignore', env: process.env };
  let client, transport;
  if (which === 'one') {
    const { Client } = await load(`${sdk}/client/index.js`);
    const { StdioClientTransport } = await load(`${sdk}/client/stdio.js`);
    const { StreamableHTTPClientTransport } = await load(`${sdk}/client/streamableHttp.js`);
    const { ElicitRequestSchema } = await load(`${sdk}/types.js`);
    client = new Client(info, { capabilities });
    if (answer) client.setRequestHandler(ElicitRequestSchema, handler);
    transport = over === 'http' ? new StreamableHTTPClientTransport(new URL(url)) : new StdioClientTransport(stdio);
  } else {
    const { Client, StreamableHTTPClientTransport } = await load(client2);
    const { StdioClientTransport } = await load(`${client2}/stdio`);
    client = new Client(info, { capabilities, versionNegotiation: { mode: which === 'two' ? 'auto' : 'legacy' } });
    if (answer) client.setRequestHandler('elicitation/create', handler);
    transport = over === 'http' ? new StreamableHTTPClientTransport(new URL(url)) : new StdioClientTransport(stdio);
  }
  await client.connect(transport);
  return { client, asked };
}

const say = (row) => process.stdout.write(JSON.stringify(row) + '\n');

for (const which of ['one', 'two-older', 'two'])
  for (const over of ['stdio', 'http'])
    for (const [way, answer] of Object.entries(answers)) {
      const row = { which, over, way };
      try {
        const { client, asked } = await connect(which, over, answer);
        const result = await client.callTool({ name: 'rename', arguments: { name: 'Bob' } });
        Object.assign(row, { asked, failed: result.isError === true, told: result.structuredContent });
        await client.close();
      } catch (error) {
        row.error = String(error);
      }
      say(row);
    }

const kept = (name) => ({ command: python, args: [tee, join(folder, name), program, 'mcp'] });
for (const [name, make] of Object.entries({ 'SDK 1.x': official(sdk), 'SDK 2.x': newest('auto'), 'SDK 2.x, older': newest('legacy'),
  '@langchain/mcp-adapters': langchain, 'mcp-use': mcpUse, '@ai-sdk/mcp': aiSdk }))
  try {
    const client = await make(kept(name.replaceAll('/', '-')));
    await client.tools();
    await client.close();
    say({ declares: name });
  } catch (error) {
    say({ declares: name, error: String(error) });
  }
process.exit(0);
