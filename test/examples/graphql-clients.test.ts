import { expect, it } from 'vitest';
import { installExample } from '../support/processes/example.ts';
import { withService } from '../support/service.ts';

const { service, make } = await withService('web');
const owner = await make.person({ name: 'Ann' });
await make.agent({ owner, name: 'First' });
const example = await installExample('graphql-clients');
// Codegen, relay-compiler and gql.tada take the schema and every page query as they are, and TypeScript checks what uses them.
await example.run('build');
const env = { PARLEY_URL: service.url, PARLEY_KEY: owner.key };

it.each(['urql', 'apollo', 'relay', 'tada'])('%s asks the query of a page, and hears of a change', async (client) => {
  let isOver = false;
  const output = example.run(client, env).finally(() => {
    isOver = true;
  });
  // The program says nothing when its subscription is open, so agents are made until it hears of one.
  while (!isOver) {
    await make.agent({ owner, name: `For ${client}` });
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  const lines = (await output).trim().split('\n');
  // The newest twenty: on a slow machine many are made before it asks.
  expect(lines[0]).toMatch(new RegExp(`^${client}: Ann may ask .*(First|For ${client})`));
  // One that was made while the subscription began is in the list already: its change is an UPDATED.
  expect(lines.at(-1)).toMatch(new RegExp(`^${client}: (CREATED|UPDATED) For ${client}$`));
});

it('says that the key is missing', async () => {
  await expect(example.run('tada', { PARLEY_URL: service.url, PARLEY_KEY: '' })).rejects.toThrow('PARLEY_KEY is missing');
});
