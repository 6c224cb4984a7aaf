// The tool lend_books of examples/loans.c on the official TypeScript server, declared as its documentation shows it.
//
//     node mistakes_server.mjs NODE_MODULES
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(join(process.argv[2], 'x.js'));
const load = (name) => import(pathToFileURL(require.resolve(name)));
const { McpServer } = await load('@modelcontextprotocol/sdk/server/mcp.js');
const { StdioServerTransport } = await load('@modelcontextprotocol/sdk/server/stdio.js');
const { z } = await load('zod');

const server = new McpServer({ name: 'loans', version: '1.0' });
server.registerTool('lend_books', {
  description: 'Lend books to a member',
  inputSchema: {
    member_id: z.number().int().describe('Who lends'),
    due: z.iso.date().describe('When all must be back'),
    books: z.array(z.object({
      book_id: z.number().int().describe('Which book'),
      condition: z.enum(['new', 'good', 'worn']).optional(),
    })).min(1).max(100),
    note: z.string().max(80).describe('For the desk').optional(),
  },
  outputSchema: { id: z.number().int() },
}, async ({ books }) => {
  for (const { book_id } of books)
    if (book_id > 1)
      throw new Error(`There is no book ${book_id}.`);
  return { content: [{ type: 'text', text: '{"id":1}' }], structuredContent: { id: 1 } };
});
await server.connect(new StdioServerTransport());
