// Clients and adapters from npm, each in the same shape: connect(server) gives { tools, call, close }.
//
// `server` is { url } or { command, args }, and may have an `env`. A call gives what the model reads: [text, is it a failure].
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const info = { name: 'test', version: '1' };
const patience = 300_000; // ms for one request: on a busy machine a gateway alone takes more than a minute to start
const options = { timeout: patience };
const quiet = { stderr: 'ignore', env: process.env };

export function clientsOf(modules) {
  const require = createRequire(modules + '/');
  const load = (name) => import(pathToFileURL(require.resolve(name)));

  const said = (result) => [result.content.map((block) => block.text).join('\n'), result.isError === true];

  // The official one of any version 1.x; before 1.10 it has no Streamable HTTP, and `sse` is what it has.
  const official = (name) => async (server) => {
    const { Client } = await load(`${name}/client/index.js`);
    const client = new Client(info, { capabilities: {} });
    let transport;
    if (server.sse) {
      const { SSEClientTransport } = await load(`${name}/client/sse.js`);
      transport = new SSEClientTransport(new URL(server.sse));
    } else if (server.url) {
      const { StreamableHTTPClientTransport } = await load(`${name}/client/streamableHttp.js`);
      transport = new StreamableHTTPClientTransport(new URL(server.url));
    } else {
      const { StdioClientTransport } = await load(`${name}/client/stdio.js`);
      transport = new StdioClientTransport({ ...quiet, ...server });
    }
    await client.connect(transport, options);
    return {
      tools: async () => (await client.listTools(undefined, options)).tools.map((tool) => tool.name),
      call: async (name, args) => said(await client.callTool({ name, arguments: args }, undefined, options)),
      close: () => client.close(),
    };
  };

  const newest = (mode) => async (server) => {
    const { Client, StreamableHTTPClientTransport } = await load('@modelcontextprotocol/client');
    const { StdioClientTransport } = await load('@modelcontextprotocol/client/stdio');
    const client = new Client(info, { versionNegotiation: { mode } });
    await client.connect(server.url ? new StreamableHTTPClientTransport(new URL(server.url)) : new StdioClientTransport({ ...quiet, ...server }), options);
    return {
      tools: async () => (await client.listTools(undefined, options)).tools.map((tool) => tool.name),
      call: async (name, args) => said(await client.callTool({ name, arguments: args }, options)),
      close: () => client.close(),
    };
  };

  // Tools of LangChain answer with a text or a block, and throw a text when they fail.
  async function langchain(server) {
    const { MultiServerMCPClient } = await load('@langchain/mcp-adapters');
    const one = server.url ? { transport: 'http', url: server.url } : { transport: 'stdio', ...quiet, ...server };
    const client = new MultiServerMCPClient({ mcpServers: { one }, throwOnLoadError: true });
    const tools = await client.getTools();
    const find = (name) => tools.find((tool) => tool.name === name);
    return {
      tools: async () => tools.map((tool) => tool.name),
      call: async (name, args) => {
        try {
          const answer = await find(name).invoke(args);
          return [answer.text ?? answer, false];
        } catch (error) {
          return [error.message, true];
        }
      },
      close: () => client.close(),
    };
  }

  async function mcpUse(server) {
    const { MCPClient } = (await load('mcp-use/client')).default; // what its CommonJS exports
    const client = new MCPClient({ mcpServers: { one: server.url ? { url: server.url } : { ...server, env: process.env } } });
    const session = await client.createSession('one', false);
    session.connector.timeout = patience; // over HTTP it is 10 seconds, and no option of the configuration
    await session.initialize();
    return {
      tools: async () => (await session.listTools()).map((tool) => tool.name),
      call: async (name, args) => said(await session.callTool(name, args)),
      close: () => client.closeAllSessions(),
    };
  }

  async function aiSdk(server) {
    const { createMCPClient } = await load('@ai-sdk/mcp');
    let transport = { type: 'http', url: server.url };
    if (!server.url) {
      const { Experimental_StdioMCPTransport } = await load('@ai-sdk/mcp/mcp-stdio');
      transport = new Experimental_StdioMCPTransport({ ...quiet, ...server });
    }
    const client = await createMCPClient({ transport });
    const tools = await client.tools();
    return {
      tools: async () => Object.keys(tools),
      call: async (name, args) => said(await tools[name].execute(args, { toolCallId: '1', messages: [] })),
      close: () => client.close(),
    };
  }

  return { load, official, newest, langchain, mcpUse, aiSdk };
}
