// Clients, adapters and gateways from npm against servers of ours, all in one process:
//
//     node adapters.mjs NODE_MODULES MISHAP WORKSHOP URL KEYED_URL KEY
//
// Each row connects, lists the tools, calls one that works and one that fails. What came of it is one line of JSON on
// standard output. Then "restart" is printed, and when a line comes on standard input the rows over HTTP call again, with the
// client that they have. A row whose package is not there says so. adapters_test.py runs it and knows what is right.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { dirname, join } from 'node:path';
import { existsSync, readFileSync } from 'node:fs';
import { clientsOf } from './connect.mjs';

const [modules, mishap, workshop, url, keyedUrl, key] = process.argv.slice(2);
const { load, official, newest, langchain, mcpUse, aiSdk } = clientsOf(modules);
const programs = []; // gateways that run

// ---- Gateways ----------------------------------------------------------------------------------------------------

// The script of a package, which `npx` would run.
function script(name) {
  const own = join(modules, name, 'package.json');
  const { bin } = JSON.parse(readFileSync(own, 'utf8'));
  return join(dirname(own), typeof bin === 'string' ? bin : bin[name]);
}

const gateway = (name, ...args) => ({ command: process.execPath, args: [script(name), ...args] });

// supergateway as a server in front of `mishap mcp`. It has no option for the address that it listens on, which would be any:
// so it is told before it starts, and says which port it got.
const onLoopback = 'data:text/javascript,' + encodeURIComponent(`
  import { Server } from 'node:net';
  const listen = Server.prototype.listen;
  Server.prototype.listen = function () {
    return listen.call(this, { port: 0, host: '127.0.0.1' }, () => process.send(this.address().port));
  };`);

async function inFront(...args) {
  const { command, args: rest } = gateway('supergateway', '--stdio', `"${mishap}" mcp`, '--logLevel', 'none', ...args);
  const child = spawn(command, ['--import', onLoopback, ...rest], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'], env: process.env });
  programs.push(child);
  const port = await new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', () => reject(new Error('supergateway has ended')));
  });
  child.disconnect();
  return `http://127.0.0.1:${port}`;
}

// ---- Rows ---------------------------------------------------------------------------------------------------------

const stdio = [async () => ({ command: mishap, args: ['mcp'] }), async () => ({ command: workshop, args: ['mcp'] })];
const http = [async () => ({ url })];
const old = 'sdk-1.9', first = 'sdk-1.10', sdk = '@modelcontextprotocol/sdk';
const rows = {
  'SDK 1.9, stdio': [[old], official(old), stdio],
  'SDK 1.10, stdio': [[first], official(first), stdio],
  'SDK 1.10, HTTP': [[first], official(first), http],
  'SDK 1.x, HTTP': [[sdk], official(sdk), http],
  'SDK 2.x, HTTP, stateless': [['@modelcontextprotocol/client'], newest('auto'), http],
  'SDK 2.x, HTTP, older revision': [['@modelcontextprotocol/client'], newest('legacy'), http],
  '@langchain/mcp-adapters, stdio': [['@langchain/mcp-adapters'], langchain, stdio],
  '@langchain/mcp-adapters, HTTP': [['@langchain/mcp-adapters'], langchain, http],
  'mcp-use, stdio': [['mcp-use'], mcpUse, stdio],
  'mcp-use, HTTP': [['mcp-use'], mcpUse, http],
  '@ai-sdk/mcp, stdio': [['@ai-sdk/mcp'], aiSdk, stdio],
  '@ai-sdk/mcp, HTTP': [['@ai-sdk/mcp'], aiSdk, http],
  'SDK 1.9, mcp-remote, HTTP': [[old, 'mcp-remote'], official(old), [async () => gateway('mcp-remote', url)]],
  'SDK 1.9, mcp-remote with a key, HTTP': [[old, 'mcp-remote'], official(old),
    [async () => gateway('mcp-remote', keyedUrl, '--header', `Authorization: Bearer ${key}`)]],
  'SDK 1.9, supergateway, HTTP': [[old, 'supergateway'], official(old),
    [async () => gateway('supergateway', '--streamableHttp', url, '--logLevel', 'none')]],
  'SDK 1.9, SSE, supergateway, stdio': [[old, 'supergateway'], official(old),
    [async () => ({ sse: (await inFront('--outputTransport', 'sse')) + '/sse' })]],
  'SDK 1.x, HTTP, supergateway, stdio': [[sdk, 'supergateway'], official(sdk),
    [async () => ({ url: (await inFront('--outputTransport', 'streamableHttp', '--stateful')) + '/mcp' })]],
};

const works = { todo: ['explain_code', { code: 'NOT_FOUND' }], workshop: ['echo', { text: 'Grüße' }] };
const fails = { todo: ['get_user', { id: '999999' }], workshop: ['fail', { how: 'not_found' }] };

async function run(connect, server) {
  const which = server.command === workshop ? 'workshop' : 'todo';
  const client = await connect(server);
  return { client, found: { which, tools: await client.tools(), works: await client.call(...works[which]), fails: await client.call(...fails[which]) } };
}

const say = (line) => process.stdout.write(JSON.stringify(line) + '\n');
const failed = (error) => ({ error: String(error?.stack ?? error) });
const open = [];

// One after the other: Node 22 fails to load modules of both kinds at the same time.
for (const name of [`${old}/client/index.js`, `${sdk}/client/index.js`, '@modelcontextprotocol/client', '@langchain/mcp-adapters',
  'mcp-use/client', '@ai-sdk/mcp', '@ai-sdk/mcp/mcp-stdio'])
  await load(name).catch(() => {}); // those who need it will tell

await Promise.all(Object.entries(rows).map(async ([name, [packages, connect, servers]]) => {
  if (!packages.every((one) => existsSync(join(modules, one))))
    return say({ name, missing: true });
  for (const make of servers) {
    try {
      const server = await make();
      const { client, found } = await run(connect, server);
      say({ name, ...found });
      if (name.includes('HTTP') && !name.endsWith('stdio'))
        open.push([name, client]);
      else
        await client.close();
    } catch (error) {
      say({ name, ...failed(error) });
    }
  }
}));

say('restart');
await new Promise((resolve) => createInterface({ input: process.stdin }).once('line', resolve));
await Promise.all(open.map(async ([name, client]) => {
  try {
    say({ name, again: await client.call(...works.todo) });
  } catch (error) {
    say({ name, again: failed(error) });
  }
  await client.close().catch(() => {});
}));
for (const child of programs)
  child.kill();
say('end');
process.exit(0);
