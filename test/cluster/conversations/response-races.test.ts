import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { TestClient } from '../../support/client.ts';
import { makeFor, type Person } from '../../support/make.ts';
import { clusterLeaseMs } from '../../support/processes/cluster.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { seededRandom } from '../../support/property/random.ts';
import { expectAccepted } from '../../support/runs/accepted-request.ts';
import { eventsOf, type WireEvent, walk } from '../../support/runs/response-walk.ts';
import { startService, type TestService } from '../../support/service.ts';
import { copyOf, type Place, testServerUrl } from '../../support/storage/databases.ts';
import { startUpstream, type Upstream } from '../../support/upstream.ts';

if (testServerUrl === undefined) {
  console.info('Races between instances are tested on a server only: set TEST_DATABASE_URL.');
  it('the embedded database belongs to one process', () => expect(testServerUrl).toBeUndefined());
} else describe('requests that meet on one thread, at two instances, at once', racesOfTwoInstances);

function racesOfTwoInstances(): void {
  const path = '/api/v2/responses';
  const model = 'openai/test-model';
  const tools = [{ type: 'function', name: 'add', parameters: { type: 'object' } }];
  const modes = ['collect', 'collect', 'steer', 'interrupt', 'force'];
  let place: Place;
  let upstream: Upstream;
  let services: readonly TestService[];
  let ann: Person;
  let clients: readonly TestClient[];

  beforeAll(async () => {
    [place, upstream] = await Promise.all([copyOf(inject('template')), startUpstream()]);
    const { DATA_DIR: _own, ...shared } = place.env;
    const env = {
      ...shared,
      OPENAI_BASE_URL: upstream.url,
      MODEL_RETRIES_MAX: '0',
      RUN_LEASE_MS: String(clusterLeaseMs),
      LOG_LEVEL: 'error',
    };
    services = [await startService({ env }), await startService({ env })];
    const [one, two] = services as [TestService, TestService];
    ann = await makeFor(one).person();
    clients = [ann, two.client(ann.key)];
  });
  afterAll(async () => {
    await Promise.all([...services.map((service) => service.close()), upstream.close()]);
    await place.remove();
  });

  it.each([1, 2, 3, 4])('lose nothing, say nothing twice and all end (seed %i)', async (seed) => {
    const random = seededRandom(seed);
    const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
    upstream.reset();
    let answers = 0;
    upstream.otherwise(() => {
      answers += 1;
      const text = Array.from({ length: 1 + (answers % 4) }, (_, n) => `answer${answers}.${n} `);
      const toolCalls = answers % 5 === 0 ? [{ id: `call_${seed}_${answers}`, name: 'add', arguments: '{}' }] : [];
      return { text, toolCalls, chunkDelayMs: 10 * (answers % 3), headDelayMs: 5 * (answers % 7) };
    });
    const first = (await ann.post(path, { model, tools, input: 'in-0-', background: true })).body;
    const conversation = first.conversation.id as string;
    const accepted = new Map<string, string>([['in-0-', first.id]]);
    const statuses = new Set<number>();
    let most = 0;
    let isOver = false;
    const { pool } = services[0]?.deps.storage.db ?? {};
    const watching = (async () => {
      const deadline = performance.now() + 45_000;
      while (!isOver && performance.now() < deadline) {
        const rows = await pool?.query<{ count: number }>(
          `select count(*)::int as count from runs where "chatId" = $1 and status = 'in_progress' and not "isWaiting"`,
          [conversation],
        );
        most = Math.max(most, rows?.rows[0]?.count ?? 0);
      }
    })();
    for (let round = 1; round <= 8; round += 1) {
      await Promise.all(
        [...clients, ...clients].map(async (client, at) => {
          const [input, mode] = [`in-${round}-${at}`, pick(modes)];
          const control = random();
          const secrets = random() < 0.25 ? { user_secrets: { TOKEN: `of-${at}` } } : {};
          const members = { model, tools, input, conversation, thread_mode: mode, background: true, ...secrets };
          const reply = await client.post(path, members);
          statuses.add(reply.status);
          if (reply.status !== 200) return;
          accepted.set(input, reply.body.id);
          const other = clients[(at + 1) % 2] as TestClient;
          if (control < 0.15) await other.post(`${path}/${reply.body.id}/cancel`);
          else if (control < 0.3) {
            await other.post(`${path}/${reply.body.id}/pause`);
            statuses.add((await client.post(`${path}/${reply.body.id}/resume`, { background: true })).status === 409 ? 409 : 200);
          }
        }),
      );
    }
    const ids = [...new Set(accepted.values())];
    const ended: WireEvent[] = [];
    for (const id of ids) {
      ended.push(
        await eventually(async () => {
          const { body } = await ann.get(`${path}/${id}`);
          expect(body.status, id).not.toBe('in_progress');
          return body as WireEvent;
        }),
      );
    }
    isOver = true;
    await watching;
    expect(most).toBe(1);
    expect([...statuses].filter((status) => ![200, 409, 429].includes(status))).toEqual([]);

    // Each log is well-formed, and both instances show the same.
    for (const [index, response] of ended.entries()) {
      const [here, there] = await Promise.all(
        clients.map(async (client) => eventsOf(await Array.fromAsync(client.sse('GET', `${path}/${response.id}?stream=true`)))),
      );
      expect(there).toEqual(here);
      expect(walk(here ?? []), `response ${index}`).toEqual(response);
    }

    // Accepted input is in the history once, in the turn of its response; the input of a response that was cancelled before it began is not.
    const texts = await pool?.query<{ role: string; content: string; runId: string }>(
      'select role, content, "runId" from messages where "chatId" = $1 order by ordinal',
      [conversation],
    );
    const said = texts?.rows ?? [];
    const neverBegan = new Set(
      ended.filter(({ status, output }) => status === 'cancelled' && output.length === 0).map(({ id }) => id),
    );
    for (const [input, id] of accepted) {
      const found = said.filter(({ role, content }) => role === 'user' && content === input);
      if (found.length === 0) expect(neverBegan, `${input} of ${id} is lost`).toContain(id);
      else
        expect(
          found.map(({ runId }) => runId),
          input,
        ).toEqual([id]);
      const { body } = await ann.get(`${path}/${id}/input_items?limit=100`);
      expect(JSON.stringify(body.data).split(JSON.stringify(input)).length, `${input} in the items of ${id}`).toBe(2);
    }
    for (const request of upstream.requests) expectAccepted(request);
    const last = await ann.post(path, { model, tools, input: 'last', conversation });
    expect(last.body.status).toBe('completed');
    expectAccepted(upstream.requests.at(-1));
  });
}
