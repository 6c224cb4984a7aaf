// A server on the official TypeScript SDK whose tool throws what a database driver throws.
//
//     node throwing_server.mjs NODE_MODULES
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(join(process.argv[2], 'x.js'));
const load = (name) => import(pathToFileURL(require.resolve(name)));
const { McpServer } = await load('@modelcontextprotocol/sdk/server/mcp.js');
const { StdioServerTransport } = await load('@modelcontextprotocol/sdk/server/stdio.js');
const { z } = await load('zod');

const server = new McpServer({ name: 'orders', version: '1.0' });
server.registerTool('list_orders', {
  description: 'List the orders of a customer',
  inputSchema: { customer: z.string(), limit: z.number().int() },
  annotations: { readOnlyHint: true },
}, async () => {
  throw new Error('connect ECONNREFUSED postgres://orders:hunter2hunter2@10.1.2.3:5432/orders');
});
await server.connect(new StdioServerTransport());
