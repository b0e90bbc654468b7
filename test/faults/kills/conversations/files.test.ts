import { afterEach, beforeEach, expect, it } from 'vitest';
import { findBox } from '../../../../src/engine/tools/code/box/box.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { type Killable, prepareKillable } from '../../../support/processes/killable.ts';
import { messagesOf } from '../../../support/runs/research.ts';

/** A process that is killed while a tool makes files: the call is made again by another process, and no file appears twice. */
let world: Killable;
const box = await findBox();
beforeEach(async () => {
  world = await prepareKillable();
});
afterEach(() => world.close());

const names = Array.from({ length: 12 }, (_name, index) => `part-${index}.txt`).sort();
const code = `for name in ${JSON.stringify(names)}: open(name, 'w').write('x')\nprint('written')`;
const command = `for name in ${names.join(' ')}; do echo -n x > $name; done; echo written`;
const tools: readonly (readonly [string, string, object, readonly string[]])[] = [
  ['python', 'python', { code }, names],
  ['sandbox', 'shell', { command }, names],
  ['spreadsheet', 'spreadsheet', { operation: 'create', file: 'made.xlsx', values: [[1, '=A1+1']] }, ['made.xlsx']],
];

it.each(tools.filter(([type]) => box !== undefined || type === 'spreadsheet'))(
  '%s leaves each file once, and its run ends well',
  // A start, a program and a takeover took 80 s on a machine with other work. The waits inside count the time of this process, which a busy machine
  // stretches: they are the limit, not this.
  { timeout: 900_000 },
  async (type, name, args, files) => {
    const { parley, ann } = await world.launch({ PYTHON_TIMEOUT_MS: '120000' });
    world.upstream.otherwise((request) =>
      messagesOf(request).some(({ role }) => role === 'tool')
        ? { text: 'It is done.' }
        : { text: 'One moment.', toolCalls: [{ id: 'call_1', name, arguments: JSON.stringify(args) }] },
    );
    const agent = await ann.post('/api/v1/ais', {
      ...{ src: 'x', name: 'Ada', description: 'Knows', instructions: 'Work.', modelId: 'openai/test-model' },
    });
    const chat = (await ann.post(`/api/v1/ais/${agent.body.id}/chats`, {})).body;
    const filesOf = async (client: typeof ann) =>
      ((await client.get(`/api/v1/chats/${chat.id}/files`)).body.data as { filename: string }[]).map(({ filename }) => filename);
    const asked = ann.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'Work', tools: [{ type }] }).catch(() => undefined);
    await eventually(async () => expect((await filesOf(ann)).length).toBeGreaterThan(0), 120_000);
    await parley.kill('SIGKILL');
    await asked;
    const again = await world.recover({ PYTHON_TIMEOUT_MS: '120000' });
    await eventually(async () => {
      const { body } = await again.get(`/api/v1/chats/${chat.id}`);
      expect(JSON.stringify(body.messages.at(-1))).toContain('It is done.');
    }, 120_000);
    expect([...(await filesOf(again))].sort()).toEqual(files);
  },
);
