import { setTimeout as wait } from 'node:timers/promises';
import { Client } from 'pg';
import { expect } from 'vitest';
import { Acknowledged, tokensOfCall } from '../../faults/kills/acknowledged.ts';
import type { SseFrame } from '../../support/client.ts';
import { eventually } from '../../support/processes/eventually.ts';
import type { Installation } from '../../support/processes/installation.ts';
import { messagesOf } from '../../support/runs/research.ts';
import { eventsOf, walk } from '../../support/runs/response-walk.ts';
import type { UpstreamRequest, UpstreamScript } from '../../support/upstream.ts';

const model = 'openai/test-model';
const responses = '/api/v2/responses';
/** A stream that says nothing for this long is opened again, as a client with a time-out does; heartbeats come sooner. */
const silenceMs = 20_000;
/** A stream that was cut is followed for as long: through the fault and the lease of the instance that had the run. */
const followMs = 90_000;

/**
 * Programs that use an installation while its parts fail, and what must hold afterwards: every acknowledged write is there, every run ended once,
 * every effect outside happened at most once, the ledger adds up, no stream has a gap or a repeat.
 */
export class Workload {
  readonly #installation: Installation;
  readonly #acknowledged: Acknowledged;
  readonly #actingAgentId: string;
  readonly #agentId: string;
  readonly #broken: string[] = [];
  readonly #orders = new Map<number, string>();
  #ordered = 0;
  #streams = 0;

  private constructor(installation: Installation, agentId: string, actingAgentId: string) {
    this.#installation = installation;
    this.#agentId = agentId;
    this.#actingAgentId = actingAgentId;
    this.#acknowledged = new Acknowledged(model, agentId);
  }

  /** How much was done: acknowledged writes, streams followed to their end, effects asked for. */
  get done(): { readonly writes: number; readonly streams: number; readonly orders: number } {
    return { writes: this.#acknowledged.promises.length, streams: this.#streams, orders: this.#orders.size };
  }

  static async prepare(installation: Installation): Promise<Workload> {
    const { ann, api, upstream } = installation;
    upstream.otherwise(answerTo);
    const members = { src: 'x', description: 'Knows', instructions: 'Be brief.', modelId: model };
    const agent = await ann.post('/api/v1/ais', { ...members, name: 'Ada' });
    const acting = await ann.post('/api/v1/ais', { ...members, name: 'Bob' });
    const parameters = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
    const data = { description: 'Orders', parameters, method: 'POST', url: `${api.url}/orders` };
    const tool = await ann.post(`/api/v1/ais/${acting.body.id}/tools`, { name: 'order', type: 'API_FUNCTION', data });
    expect([agent.status, acting.status, tool.status]).toEqual([200, 200, 200]);
    return new Workload(installation, agent.body.id, acting.body.id);
  }

  /** Keeps `clients` programs busy until the signal fires; resolves when the last one has finished what it began. */
  async run(clients: number, signal: AbortSignal): Promise<void> {
    const { ann } = this.#installation;
    const writes = [
      ...this.#acknowledged.writes,
      () => this.#followedResponse(),
      () => this.#followedChat(),
      () => this.#order(),
    ];
    const work = async (from: number) => {
      for (let turn = from; !signal.aborted; turn += 1) {
        // A refused or interrupted write promises nothing. The pause keeps refusals from becoming the load.
        await writes[turn % writes.length]?.(ann).catch(() => wait(50));
      }
    };
    await Promise.all(Array.from({ length: clients }, (_, index) => work(index * 3)));
  }

  /** Looks for everything that must hold, once the installation is whole again. @throws Error what does not. */
  async check(): Promise<void> {
    const { ann, upstream } = this.#installation;
    // Before the other checks, which make calls of their own.
    const charged = await eventually(async () => {
      expect((await ann.graphql('{ activeRuns { id } }')).data.activeRuns).toEqual([]);
      const tokens: number = (await ann.get('/api/v1/usage')).body.orgUsage.apiTokensUsed;
      expect(tokens).toBeGreaterThanOrEqual(this.#acknowledged.calls * tokensOfCall);
      return tokens;
    });
    expect(charged).toBeLessThanOrEqual(upstream.requests.filter(({ method }) => method === 'POST').length * tokensOfCall);
    expect(this.#broken).toEqual([]);
    await this.#checkOrders();
    await this.#checkTables();
    for (const { what, check } of this.#acknowledged.promises) {
      await check(ann).catch((cause: unknown) => {
        throw new Error(`${what} did not survive`, { cause });
      });
    }
  }

  /** A response whose stream is followed through every cut, by the number of its last event. */
  async #followedResponse(): Promise<void> {
    const { ann } = this.#installation;
    const body = { model, input: 'Tell me slowly', background: true, stream: true };
    const frames: SseFrame[] = [];
    await read(ann.sse('POST', responses, body), frames).catch(() => undefined);
    const id: string | undefined = frames[0] === undefined ? undefined : JSON.parse(frames[0].data).response?.id;
    if (id === undefined) return;
    await this.#follow(`response ${id}`, frames, (last) => {
      const after = last === undefined ? '' : `&starting_after=${JSON.parse(last.data).sequence_number}`;
      return ann.sse('GET', `${responses}/${id}?stream=true${after}`);
    });
    this.#judge(`response ${id}`, () => walk(eventsOf(frames)));
  }

  /** A message of a chat, followed by `Last-Event-ID`. */
  async #followedChat(): Promise<void> {
    const { ann } = this.#installation;
    const chat = await ann.post(`/api/v1/ais/${this.#agentId}/chats`);
    expect(chat.status).toBe(200);
    const frames: SseFrame[] = [];
    const message = { prompt: 'Tell me slowly', stream: true };
    await read(ann.sse('POST', `/api/v1/chats/${chat.body.id}/messages`, message), frames).catch(() => undefined);
    const runId: string | undefined = frames[0] === undefined ? undefined : JSON.parse(frames[0].data).runId;
    if (runId === undefined) return;
    await this.#follow(`run ${runId}`, frames, (last) =>
      ann.sse(
        'GET',
        `/api/v1/chats/${chat.body.id}/runs/${runId}/events`,
        undefined,
        last?.id === undefined ? {} : { 'last-event-id': last.id },
      ),
    );
    this.#judge(`run ${runId}`, () => {
      const ids = frames.flatMap(({ id }) => (id === undefined ? [] : [Number(id.split(':').at(-1))]));
      expect(ids).toEqual(ids.toSorted((a, b) => a - b));
      const ends = frames.filter(
        ({ event }) => event !== undefined && /^run\.(completed|failed|cancelled|incomplete)$/.test(event),
      );
      expect(ends).toHaveLength(1);
      const text = frames.flatMap(({ event, data }) => (event === 'message.delta' ? [JSON.parse(data).delta] : [])).join('');
      if (ends[0]?.event === 'run.completed') expect(text).toBe(slowText.join(''));
      else expect(slowText.join('').startsWith(text)).toBe(true);
    });
  }

  /** A run that calls an API: the order with this number may be made once. */
  async #order(): Promise<void> {
    const { ann } = this.#installation;
    this.#ordered += 1;
    const number = this.#ordered;
    const { status, body } = await ann.post(responses, {
      model: this.#actingAgentId,
      input: `order ${number}`,
      background: true,
    });
    expect(status).toBe(200);
    this.#orders.set(number, body.id);
  }

  async #checkOrders(): Promise<void> {
    const { ann, api } = this.#installation;
    const made = Map.groupBy(api.requests, ({ body }) => JSON.parse(body).n as number);
    for (const [number, requests] of made) {
      const keys = new Set(requests.map(({ headers }) => headers['idempotency-key']));
      expect(keys.size, `different keys for order ${number}`).toBe(1);
    }
    for (const [number, id] of this.#orders) {
      const { body } = await ann.get(`${responses}/${id}`);
      expect(['completed', 'failed', 'incomplete'], `order ${number}`).toContain(body.status);
      if (body.status === 'completed') expect(made.get(number)?.length ?? 0, `order ${number}`).toBeGreaterThanOrEqual(1);
    }
  }

  /** What no API says of all runs at once. */
  async #checkTables(): Promise<void> {
    const tables = new Client({ connectionString: this.#installation.postgres.url });
    await tables.connect();
    const none = async (what: string, sql: string) => expect((await tables.query(sql)).rows, what).toEqual([]);
    try {
      await none('runs without an end', `select id from runs where status = 'in_progress' or "endedAt" is null limit 5`);
      await none(
        'runs whose entries in the ledger are not their tokens',
        `select r.id, r."inputTokens", r."outputTokens", sum(u."inputTokens") as input, sum(u."outputTokens") as output, count(*)
         from runs r join usage_entries u on u."runId" = r.id where r.status = 'completed' group by r.id
         having sum(u."inputTokens") <> r."inputTokens" or sum(u."outputTokens") <> r."outputTokens" limit 5`,
      );
      await none(
        'days that are not the sum of their entries',
        `select "orgId", days.tokens as days, entries.tokens as entries from (select "orgId", sum("apiTokens" + "dataTokens")::bigint as tokens from usage_days group by 1) days
         full join (select "orgId", sum("inputTokens" + "outputTokens")::bigint as tokens from usage_entries group by 1) entries using ("orgId")
         where days.tokens is distinct from entries.tokens`,
      );
      await none(
        'messages of chats that stand twice',
        'select "chatId", ordinal from messages group by 1, 2 having count(*) > 1 limit 5',
      );
    } finally {
      await tables.end();
    }
  }

  /** Opens a stream again until it has its end mark. */
  async #follow(what: string, frames: SseFrame[], open: (last: SseFrame | undefined) => AsyncIterable<SseFrame>): Promise<void> {
    const until = performance.now() + followMs;
    while (frames.at(-1)?.event !== 'done') {
      if (performance.now() > until) {
        this.#broken.push(`${what}: no end after ${frames.length} events`);
        return;
      }
      await read(open(frames.at(-1)), frames).catch(() => wait(100));
    }
    this.#streams += 1;
  }

  #judge(what: string, check: () => void): void {
    try {
      check();
    } catch (error) {
      this.#broken.push(`${what}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}

const slowText = ['One, ', 'two, ', 'three, ', 'four, ', 'five, ', 'six.'];

/** The model: slow for those who watch, with a call of the tool for those who order. Every answer costs the same. */
function answerTo(request: UpstreamRequest): UpstreamScript {
  const usage = { prompt_tokens: 10, completion_tokens: tokensOfCall - 10 };
  const messages = messagesOf(request);
  const asked = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  const number = /order (\d+)/.exec(asked)?.[1];
  const isAnswered = messages.at(-1)?.role === 'tool';
  if (number !== undefined && !isAnswered) {
    return { toolCalls: [{ id: `call_${number}`, name: 'order', arguments: `{"n":${number}}` }], usage };
  }
  if (asked.includes('slowly')) return { text: slowText, chunkDelayMs: 150, usage };
  return { text: ['One ', 'two ', 'three.'], chunkDelayMs: 10, usage };
}

/** Adds the frames of a stream as they come. @throws Error when it is cut, refused, or silent for too long. */
async function read(stream: AsyncIterable<SseFrame>, into: SseFrame[]): Promise<void> {
  const iterator = stream[Symbol.asyncIterator]();
  for (;;) {
    const silence = new AbortController();
    const next = await Promise.race([iterator.next(), wait(silenceMs, undefined, { signal: silence.signal })]).finally(() =>
      silence.abort(),
    );
    if (next === undefined) {
      void iterator.return?.();
      throw new Error('silent');
    }
    if (next.done === true) return;
    into.push(next.value);
  }
}
