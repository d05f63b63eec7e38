// The official TypeScript client, version 1: typescript-1.mjs URL
import { ANSWERS, CAPABILITIES, drive, progress, require } from './checks.mjs';

const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
const { StreamableHTTPClientTransport } = require('@modelcontextprotocol/sdk/client/streamableHttp.js');
const types = require('@modelcontextprotocol/sdk/types.js');

const client = new Client({ name: 'typescript-1', version: '1' }, { capabilities: CAPABILITIES });
client.setRequestHandler(types.CreateMessageRequestSchema, async (request) => ANSWERS['sampling/createMessage'](request));
client.setRequestHandler(types.ElicitRequestSchema, async (request) => ANSWERS['elicitation/create'](request));
client.setRequestHandler(types.ListRootsRequestSchema, async () => ANSWERS['roots/list']());
const transport = new StreamableHTTPClientTransport(new URL(process.argv[2]));
await client.connect(transport);
await drive(
  client,
  () => new Promise((told) => client.setNotificationHandler(types.ToolListChangedNotificationSchema, told)),
);
await progress((name, onprogress) => client.callTool({ name, arguments: {} }, undefined, { onprogress }));
const logged = [];
client.setNotificationHandler(types.LoggingMessageNotificationSchema, ({ params }) => logged.push(params.data));
await client.callTool({ name: 'test_tool_with_logging', arguments: {} });
const late = await client.callTool({ name: 'test_reconnection', arguments: {} });
if (late.isError || logged.length !== 3) throw new Error(`${logged.length} log messages, then ${JSON.stringify(late)}`);
await transport.terminateSession();
await client.close();
console.log('ok');
