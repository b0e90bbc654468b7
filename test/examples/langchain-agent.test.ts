import { expect, it } from 'vitest';
import { addFile, indexed } from '../support/knowledge/knowledge.ts';
import { installExample } from '../support/processes/example.ts';
import { withService } from '../support/service.ts';

const { service, make } = await withService();
const example = await installExample('langchain-agent');

it('asks the model, runs the tool that it calls, and prints the answer', async () => {
  await example.run('build');
  const { key } = await make.person({ scopes: ['CHATS:WRITE'] });
  const output = await example.run('start', { PARLEY_URL: service.url, PARLEY_KEY: key });
  expect(output.trim().split('\n')).toEqual([
    '→ get_stock {"part":"brake pads"}',
    '120 in stock',
    expect.stringContaining('120 in stock'),
  ]);
});

it('asks an agent, by its id', async () => {
  const owner = await make.person();
  const { id } = await make.agent({ owner });
  const { body: source } = await addFile(owner, id, 'hours.md', 'The workshop opens at nine.');
  await indexed(owner, source.id);
  const { key } = await make.withKey(owner, { scopes: ['CHATS:WRITE', 'AGENTS:READ'] });
  const env = { PARLEY_URL: service.url, PARLEY_KEY: key, PARLEY_MODEL: id };
  expect(await example.run('start', env, 'When does the workshop open?')).toContain('The workshop opens at nine');
});

it('says which setting is missing', async () => {
  await expect(example.run('start', { PARLEY_URL: service.url })).rejects.toThrow('PARLEY_KEY is missing');
});
