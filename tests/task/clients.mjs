// The client of tasks from npm (@modelcontextprotocol/ext-tasks) and a program with tasks (tests/task/worker.c):
//
//     node clients.mjs NODE_MODULES URL GATE
//
// One line of JSON for each call: how it was answered, what it asked, and its outcome. clients_test.py runs it and knows what is right.
import { writeFileSync } from 'node:fs';
import { clientsOf } from '../mcp/connect.mjs';

const [modules, url, gate] = process.argv.slice(2);
const { load } = clientsOf(modules);
const { Client, StreamableHTTPClientTransport } = await load('@modelcontextprotocol/client');
const tasks = await import(new URL(`${modules}/@modelcontextprotocol/ext-tasks/dist/client/index.js`, 'file:///'));
const revision = '2026-07-28', info = { name: 'test', version: '1' }, capabilities = { elicitation: {} };

const client = new Client(info, { capabilities, versionNegotiation: { mode: 'auto' } });
await client.connect(new StreamableHTTPClientTransport(new URL(url)), { timeout: 300_000 });

// The package needs a way around the SDK, which does not know results that are tasks.
let last = 0;
async function rawDispatch({ method, params }, options) {
  const id = `raw-${++last}`, name = params?.taskId ?? params?.name;
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', 'MCP-Protocol-Version': revision, 'Mcp-Method': method };
  if (name) headers['Mcp-Name'] = name;
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', id, method, params }), signal: options?.signal });
  const text = await response.text();
  if (!response.headers.get('content-type').startsWith('text/event-stream')) return JSON.parse(text);
  return text.split('\n').filter((line) => line.startsWith('data: {')).map((line) => JSON.parse(line.slice(6))).find((message) => message.id === id);
}

const accept = (content) => ({ action: 'accept', content });
const calls = {
  immediate: { tool: 'plain' },
  task: { tool: 'change' },
  fails: { tool: 'lack' },
  crashes: { tool: 'crash' },
  answers: { tool: 'ask', args: { both: true }, answer: (message) => accept(message.startsWith('Where') ? { place: 'here' } : { sure: true }) },
  'answers wrongly': { tool: 'ask', answer: (message, times) => accept({ sure: times === 1 ? 'maybe' : true }) },
  declines: { tool: 'ask', answer: () => ({ action: 'decline' }) },
  cancels: { tool: 'change', args: { gate }, cancel: true },
};

for (const [way, { tool, args, answer, cancel }] of Object.entries(calls)) {
  const asked = [];
  const session = tasks.createTaskSessionFromClient(client, {
    endpointId: 'test', rawDispatch,
    v2RequestFraming: { protocolVersion: revision, clientInfo: info, clientCapabilities: capabilities },
    onInputRequest: async (request, context) => {
      asked.push([context.delivery, request.params.message]);
      return answer(request.params.message, asked.length);
    },
  });
  if (cancel) writeFileSync(gate, '');
  const row = { way };
  try {
    const execution = await session.callTool(tool, { number: 4, ...args });
    row.kind = execution.kind;
    if (cancel) await execution.cancel();
    const { outcome } = await execution.settle();
    Object.assign(row, { status: outcome.status, failed: outcome.result?.isError === true, told: outcome.result?.structuredContent, code: outcome.error?.code });
  } catch (error) {
    row.error = String(error);
  }
  process.stdout.write(JSON.stringify({ ...row, asked }) + '\n');
  await session.close();
}
process.exit(0);
