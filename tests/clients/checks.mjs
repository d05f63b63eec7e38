// What both versions of the official TypeScript client ask the server, and the answers they have to get.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** Packages of the folder that scripts/conformance installs; the script is run from there. */
export const require = createRequire(join(process.cwd(), 'package.json'));

export const CAPABILITIES = { sampling: {}, elicitation: {}, roots: {} };

/** How the client answers, by method. */
export const ANSWERS = {
  'sampling/createMessage': ({ params }) => ({
    model: 'm',
    role: 'assistant',
    content: { type: 'text', text: `you said ${params.messages[0].content.text}` },
  }),
  'elicitation/create': ({ params }) => ({
    action: 'accept',
    content: Object.fromEntries(
      Object.entries(params.requestedSchema.properties).map(([name, { type }]) => [name, type === 'boolean' ? true : `${name}@x.y`]),
    ),
  }),
  'roots/list': () => ({ roots: [{ uri: 'file:///a' }, { uri: 'file:///b', name: 'b' }] }),
};

const text = (result) => result.content[0].text;

export async function drive(client, changed) {
  const { tools } = await client.listTools();
  assert.equal(tools[0].name, 'test_simple_text');
  assert.ok(tools.length > 40, `${tools.length} tools`);
  const call = (name, args = {}, options = undefined) => client.callTool({ name, arguments: args }, ...options ?? []);

  assert.equal(text(await call('test_simple_text')), 'a simple text for testing');
  assert.deepEqual((await call('echo', { message: 'hällo' })).structuredContent, { message: 'hällo' });
  assert.deepEqual((await call('structured')).structuredContent, { name: 'bench', count: 3, tags: ['a', 'b'] });
  assert.equal((await call('test_error_handling')).isError, true);
  const kinds = (await call('test_multiple_content_types')).content.map(({ type }) => type);
  assert.deepEqual(kinds, ['text', 'image', 'resource']);
  assert.equal((await call('test_audio_content')).content[0].mimeType, 'audio/wav');
  await assert.rejects(call('no_such_tool'), ({ code }) => code === -32602);

  assert.equal(text(await call('test_sampling', { prompt: 'six by nine' })), 'the model says: you said six by nine');
  const answered = await call('test_elicitation', { message: 'who' });
  assert.deepEqual(answered.structuredContent.content, { username: 'username@x.y', email: 'email@x.y' });
  assert.equal(text(await call('list_roots')), 'file:///a\nfile:///b');
  const rounds = await call('test_input_required_result_multi_round');
  assert.deepEqual(rounds.structuredContent.step2.content, { ok: true });

  const { resources } = await client.listResources();
  assert.ok(resources.some(({ uri }) => uri === 'test://static-text'));
  const { contents } = await client.readResource({ uri: 'test://template/7/data' });
  assert.equal(JSON.parse(contents[0].text).id, '7');
  const asked = await client.readResource({ uri: 'test://input-required' });
  assert.match(asked.contents[0].text, /name@x\.y/);
  const { resourceTemplates } = await client.listResourceTemplates();
  assert.equal(resourceTemplates[0].uriTemplate, 'test://template/{id}/data');

  const { prompts } = await client.listPrompts();
  assert.ok(prompts.length >= 5, `${prompts.length} prompts`);
  const got = await client.getPrompt({ name: 'test_prompt_with_arguments', arguments: { arg1: 'one', arg2: 'two' } });
  assert.equal(got.messages[0].content.text, "a prompt with arg1='one', arg2='two'");
  const needed = await client.getPrompt({ name: 'test_input_required_result_prompt' });
  assert.match(needed.messages[0].content.text, /name@x\.y/);
  const ref = { type: 'ref/prompt', name: 'test_prompt_with_arguments' };
  const { completion } = await client.complete({ ref, argument: { name: 'arg1', value: 'ap' } });
  assert.deepEqual(completion.values, ['apple', 'apricot']);

  const told = changed();
  assert.match(text(await call('test_trigger_tool_change')), /another/);
  await told;
  assert.equal((await client.listTools()).tools.length, tools.length + 1);
  assert.equal(text(await call('test_dynamic_tool')), 'a tool that comes and goes');
  await call('test_trigger_tool_change');
}

/** Three reports of progress, where `call` runs a tool with somebody who hears of it. */
export async function progress(call) {
  const heard = [];
  await call('test_tool_with_progress', ({ progress }) => heard.push(progress));
  assert.deepEqual(heard, [0, 50, 100]);
}
