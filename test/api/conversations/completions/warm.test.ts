import { describe, expect, it } from 'vitest';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';
import { countStatements } from '../../../support/storage/statements.ts';
import { heldAnswer } from '../../../support/upstream.ts';

// No background job queries the database meanwhile.
const { service, make, upstream } = await withService('web');
/** Makes the model send the rest after the first token. */
let goOn: () => void;
const models: Record<string, string> = { 'a model': 'openai/test-model' };

const ann = await make.person();
models['an agent without knowledge'] = (await make.agent({ owner: ann, modelId: 'openai/test-model' })).id;

async function ledgerRows(): Promise<number> {
  const { rows } = await service.deps.storage.db.pool.query(
    'select count(*)::int as count from usage_entries where "keyId" = $1',
    [ann.keyId],
  );
  return rows[0].count;
}

/** Waits until nothing from earlier requests is still to be written. */
async function settled(rowsMin: number): Promise<void> {
  await eventually(async () => {
    expect(await ledgerRows()).toBe(rowsMin);
    const { rows } = await service.deps.storage.db.pool.query('select "lastUsedAt" from api_keys where id = $1', [ann.keyId]);
    expect(rows[0].lastUsedAt).not.toBeNull();
  });
}

async function firstToken(model: string, stream: boolean): Promise<() => Promise<void>> {
  const body = { model, stream, messages: [{ role: 'user', content: 'Hi' }] };
  if (!stream) {
    const reply = await ann.post('/api/v1/chat/completions', body);
    expect(reply.body.choices[0].message.content).toBe('Hello');
    return async () => undefined;
  }
  const frames = ann.sse('POST', '/api/v1/chat/completions', body);
  for (;;) {
    const { value, done } = await frames.next();
    if (done === true) throw new Error('no token came');
    if (value.data !== '[DONE]' && JSON.parse(value.data).choices[0]?.delta.content === 'Hel') break;
  }
  return async () => {
    goOn();
    for await (const _ of frames);
  };
}

describe('a completion with everything cached', () => {
  it.each([
    ['a model', true],
    ['a model', false],
    ['an agent without knowledge', true],
    ['an agent without knowledge', false],
  ] as const)(
    'of %s (stream %s) asks the database nothing before its first token, and its ledger row comes behind',
    async (of, stream) => {
      upstream.otherwise(() => {
        const held = heldAnswer({ text: ['Hel', 'lo'] });
        goOn = held.goOn;
        return stream ? held.script : { text: 'Hello' };
      });
      const model = models[of] ?? '';
      const before = await ledgerRows();
      await (await firstToken(model, stream))();
      let rows = before + 1;
      await settled(rows);
      // On a slow machine, the ledger row of an earlier reply may be written meanwhile; a statement of the request itself would be there every time.
      await eventually(async () => {
        const { result: rest, statements } = await countStatements(service, () => firstToken(model, stream));
        await rest();
        rows += 1;
        await settled(rows);
        expect(statements).toEqual([]);
      });
    },
  );
});
