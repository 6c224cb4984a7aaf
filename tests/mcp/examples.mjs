// The official clients, LangChain's adapters and @ai-sdk/mcp against the examples, over standard input and output:
//
//     node examples.mjs NODE_MODULES < PLAN
//
// The plan is {"programs":{NAME:{"command","args","env"}},"calls":{NAME:[[tool, arguments], …]}}. Each client gets every program
// anew, with a data folder of its own (DATA/CLIENT-NAME), lists the tools and makes the calls, one after the other. What came of
// it is a line of JSON: {"client","program","tools","answers":[[text, is it a failure] or {"thrown"}]}. A step {"remove": name}
// in place of a call removes the files that begin with that name from the data folder. examples_test.py knows what is right.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { clientsOf } from './connect.mjs';

const modules = process.argv[2];
const plan = JSON.parse(readFileSync(0, 'utf8'));
const { load, official, newest, langchain, aiSdk } = clientsOf(modules);
const sdk = '@modelcontextprotocol/sdk', two = '@modelcontextprotocol/client';
const clients = {
  'SDK 1.x': [sdk, official(sdk)],
  'SDK 2.x, stateless': [two, newest('auto')],
  'SDK 2.x, older revision': [two, newest('legacy')],
  '@langchain/mcp-adapters': ['@langchain/mcp-adapters', langchain],
  '@ai-sdk/mcp': ['@ai-sdk/mcp', aiSdk],
};
const say = (line) => process.stdout.write(JSON.stringify(line) + '\n');

async function step(client, folder, made) {
  if (made.remove) {
    for (const name of readdirSync(folder).filter((name) => name.startsWith(made.remove)))
      rmSync(join(folder, name));
    return null;
  }
  try {
    return await client.call(...made);
  } catch (error) {
    return { thrown: String(error?.stack ?? error) };
  }
}

async function run(name, connect, program) {
  const { command, args, env } = plan.programs[program];
  const folder = join(plan.data, `${name} ${program}`.replace(/[^a-z0-9]+/gi, '-'));
  mkdirSync(folder);
  const own = Object.fromEntries(Object.entries(env).map(([key, value]) => [key, value.replace('DATA', folder)]));
  const client = await connect({ command, args, env: { ...process.env, ...own } });
  const tools = await client.tools(), answers = [];
  for (const made of plan.calls[program])
    answers.push(await step(client, folder, made));
  await client.close();
  return { client: name, program, tools, answers };
}

// One after the other: Node 22 fails to load modules of both kinds at the same time.
for (const name of [`${sdk}/client/index.js`, two, '@langchain/mcp-adapters', '@ai-sdk/mcp', '@ai-sdk/mcp/mcp-stdio'])
  await load(name).catch(() => {}); // those who need it will tell

const rows = Object.keys(clients).flatMap((name) => Object.keys(plan.programs).map((program) => [name, program]));
await Promise.all(rows.map(async ([name, program]) => {
  const [needs, connect] = clients[name];
  say(!existsSync(join(modules, needs)) ? { client: name, program, missing: true }
    : await run(name, connect, program).catch((error) => ({ client: name, program, thrown: String(error?.stack ?? error) })));
}));
process.exit(0);
