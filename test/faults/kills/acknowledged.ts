import { expect } from 'vitest';
import type { TestClient } from '../../support/client.ts';
import { addFile, indexed } from '../../support/knowledge/knowledge.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { eventsOf, walk } from '../../support/runs/response-walk.ts';

/** A write that the service acknowledged, and a check that it is still there. */
interface Promised {
  readonly what: string;
  /** Called after the last kill. @throws what is wrong. */
  readonly check: (ann: TestClient) => Promise<void>;
}

/** Tokens of one call, as the upstream reports them. */
export const tokensOfCall = 15;

/** Writes of every kind, with checks of the acknowledged ones. A write that the kill interrupted may be there or not, but never half. */
export class Acknowledged {
  readonly promises: Promised[] = [];
  /** Model calls whose complete answer a client has received. */
  calls = 0;
  private made = 0;
  private readonly modelId: string;
  private readonly agentId: string;

  constructor(modelId: string, agentId: string) {
    this.modelId = modelId;
    this.agentId = agentId;
  }

  /** The writes that each client makes in turn until the process is killed. */
  readonly writes: readonly ((ann: TestClient) => Promise<void>)[] = [
    (ann) => this.completion(ann, false),
    (ann) => this.completion(ann, true),
    (ann) => this.message(ann),
    (ann) => this.background(ann),
    (ann) => this.agent(ann),
    (ann) => this.revokedKey(ann),
    (ann) => this.source(ann),
    (ann) => this.chatFile(ann),
  ];

  private name(): string {
    this.made += 1;
    return `number ${this.made}`;
  }

  private async completion(ann: TestClient, stream: boolean): Promise<void> {
    const body = { model: this.modelId, messages: [{ role: 'user', content: this.name() }] };
    if (stream) {
      const frames = await ann.stream('/api/v1/chat/completions', { ...body, stream });
      if (frames.at(-1)?.data !== '[DONE]') return;
    } else expect((await ann.post('/api/v1/chat/completions', body)).status).toBe(200);
    this.calls += 1;
  }

  private async message(ann: TestClient): Promise<void> {
    const chat = await ann.post(`/api/v1/ais/${this.agentId}/chats`);
    expect(chat.status).toBe(200);
    const { id } = chat.body;
    const prompt = this.name();
    this.promises.push({
      what: `the next turn of chat ${id}`,
      check: async (later) => {
        const reply = await later.post(`/api/v1/chats/${id}/messages`, { prompt: 'And now?' });
        expect([reply.status, reply.body.status]).toEqual([200, 'completed']);
      },
    });
    const reply = await ann.post(`/api/v1/chats/${id}/messages`, { prompt });
    expect(reply.status).toBe(200);
    this.calls += 1;
    this.promises.push({
      what: `the messages of chat ${id}`,
      check: async (later) => {
        const { messages } = (await later.get(`/api/v1/chats/${id}`)).body;
        expect(messages.slice(0, 2)).toMatchObject([{ content: prompt }, { content: reply.body.message.content }]);
      },
    });
  }

  private async background(ann: TestClient): Promise<void> {
    const reply = await ann.post('/api/v2/responses', { model: this.modelId, input: this.name(), background: true });
    expect(reply.status).toBe(200);
    const path = `/api/v2/responses/${reply.body.id}`;
    this.promises.push({
      what: `the one end of ${reply.body.id}`,
      check: async (later) => {
        await eventually(async () => {
          expect(['completed', 'failed', 'incomplete']).toContain((await later.get(path)).body.status);
        });
        walk(eventsOf(await Array.fromAsync(later.sse('GET', `${path}?stream=true`))));
      },
    });
  }

  private async agent(ann: TestClient): Promise<void> {
    const first = this.name();
    const body = { src: 'x', name: first, description: 'Knows', instructions: 'Be brief.' };
    const { status, body: agent } = await ann.post('/api/v1/ais', body);
    expect(status).toBe(200);
    const name = this.name();
    /** The second write may be interrupted: then both names are valid. */
    let names = [first, name];
    this.promises.push({
      what: `agent ${agent.id}`,
      check: async (later) => expect(names).toContain((await later.get(`/api/v1/ais/${agent.id}`)).body.name),
    });
    expect((await ann.patch(`/api/v1/ais/${agent.id}`, { name })).status).toBe(200);
    names = [name];
  }

  private async revokedKey(ann: TestClient): Promise<void> {
    const { status, body } = await ann.post('/api/v1/api-keys', { name: this.name(), scopes: ['AGENTS:READ'] });
    expect(status).toBe(200);
    let statuses = [200, 401];
    this.promises.push({
      what: `key ${body.id}`,
      check: async (later) => {
        const reply = await later.get('/api/v1/ais?limit=1', { authorization: `Bearer ${body.key}` });
        expect(statuses).toContain(reply.status);
      },
    });
    expect((await ann.delete(`/api/v1/api-keys/${body.id}`)).status).toBe(200);
    statuses = [401];
  }

  private async source(ann: TestClient): Promise<void> {
    const name = this.name();
    const { status, body } = await addFile(
      ann,
      this.agentId,
      `${name}.md`,
      `# ${name}\n\nThe answer is ${name}.`,
      'text/markdown',
    );
    expect(status).toBe(200);
    this.promises.push({
      what: `source ${body.id}`,
      check: async (later) => {
        if ((await indexed(later, body.id)).indexStatus === 'FAILED') {
          // An item on which several processes died fails, because it may have caused their deaths; a refresh tries again.
          const { data: items } = (await later.get(`/api/v1/data-sources/${body.id}/knowledge`)).body;
          expect(items).toMatchObject([{ indexStatus: 'FAILED', errorCode: 'INTERRUPTED' }]);
          expect((await later.post(`/api/v1/data-sources/${body.id}/refresh`)).status).toBe(200);
        }
        await eventually(async () => {
          expect(await indexed(later, body.id)).toMatchObject({ indexStatus: 'INDEXED', indexPercentage: '100' });
        });
        const { body: counts } = await later.get(`/api/v1/data-sources/${body.id}/indexing-statistics`);
        expect(counts).toMatchObject({ doneCount: 1, totalCount: 1 });
      },
    });
  }

  private async chatFile(ann: TestClient): Promise<void> {
    const chat = await ann.post(`/api/v1/ais/${this.agentId}/chats`);
    expect(chat.status).toBe(200);
    const content = this.name().repeat(1_000);
    const form = new FormData();
    form.set('file', new File([content], 'notes.txt', { type: 'text/plain' }));
    const { status, body } = await ann.post(`/api/v1/chats/${chat.body.id}/files`, form);
    expect(status).toBe(200);
    this.promises.push({
      what: `file ${body.id}`,
      check: async (later) => {
        const reply = await later.get(`/api/v1/chats/${chat.body.id}/files/${body.id}/content`);
        expect(reply.body).toBe(content);
      },
    });
  }
}
