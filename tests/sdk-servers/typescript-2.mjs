// A server of the TypeScript SDK 2.x: `stdio`, or the port to listen on; then `reject` refuses handshakes.
import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { McpServer, createMcpHandler } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';
const [, , port, legacy] = process.argv;
const make = () => {
  const server = new McpServer({ name: 'typescript-2', version: '1.0.0' });
  server.registerTool('add', { description: 'Adds two numbers', inputSchema: z.object({ a: z.number(), b: z.number() }), outputSchema: z.object({ sum: z.number() }) },
    async ({ a, b }) => ({ content: [{ type: 'text', text: JSON.stringify({ sum: a + b }) }], structuredContent: { sum: a + b } }));
  server.registerTool('fail', { description: 'Fails', inputSchema: z.object({}) }, async () => { throw new Error('no luck'); });
  return server;
};
if (port === 'stdio') serveStdio(make, { legacy: legacy ?? 'serve' });
else createServer(toNodeHandler(createMcpHandler(make, { legacy: legacy ?? 'stateless' }))).listen(Number(port), '127.0.0.1');
