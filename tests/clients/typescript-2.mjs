// The official TypeScript client, version 2: typescript-2.mjs legacy|REVISION URL
import assert from 'node:assert/strict';
import { ANSWERS, CAPABILITIES, drive, progress, require } from './checks.mjs';

const { Client, StreamableHTTPClientTransport } = require('@modelcontextprotocol/client');

const [mode, url] = process.argv.slice(2);
const client = new Client(
  { name: 'typescript-2', version: '1' },
  { capabilities: CAPABILITIES, versionNegotiation: { mode: mode === 'legacy' ? mode : { pin: mode } } },
);
for (const [method, answer] of Object.entries(ANSWERS)) client.setRequestHandler(method, async (request) => answer(request));
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
assert.equal(client.getNegotiatedProtocolVersion(), mode === 'legacy' ? '2025-11-25' : mode);
const subscription = mode === 'legacy' ? undefined : await client.listen({ toolsListChanged: true });
await drive(
  client,
  () => new Promise((told) => client.setNotificationHandler('notifications/tools/list_changed', told)),
);
await subscription?.close();
await progress((name, onprogress) => client.callTool({ name, arguments: {} }, { onprogress }));
if (mode !== 'legacy') {
  // Its header comes of the schema in the list.
  const shown = await client.callTool({ name: 'test_custom_header', arguments: { value: 'hällo' } });
  assert.deepEqual(shown.structuredContent, { value: 'hällo' });
}
await client.close();
console.log('ok');
