import { expect } from 'vitest';
import type { AgentSecret } from '../../../src/entities/agents/part.ts';
import type { Reply } from '../client.ts';
import { type ApiServer, startApiServer } from '../egress/api-server.ts';
import { makeFor, type Person } from '../make.ts';
import { startService, type TestService } from '../service.ts';
import { startUpstream, type Upstream } from '../upstream.ts';

type Data = Readonly<Record<string, unknown>>;

export const canary = 'CANARY-origin-4711';

/** An owner and an editor of agents whose tools call two APIs: the one that secrets are given for, and another. */
export interface SharedAgents {
  readonly service: TestService;
  readonly upstream: Upstream;
  readonly home: ApiServer;
  readonly elsewhere: ApiServer;
  readonly owner: Person;
  readonly editor: Person;
  reset(): void;
  /** An agent of the owner's that the editor may edit. */
  sharedAgent(): Promise<SharedAgent>;
  /** Has the model call a tool of the agent. @returns what the model is told. */
  called(who: Person, agentId: string, name?: string, secrets?: Data): Promise<string>;
  /** Requires 400 for the member, naming the other API and no secret. */
  expectRefused(reply: Reply, param: string): void;
  close(): Promise<void>;
}
export interface SharedAgent {
  readonly id: string;
  /** As paths begin. */
  readonly path: string;
  addTool(who: Person, data: Data, name?: string): Promise<Reply>;
  /** CRM_KEY with the value `canary`, unless members say otherwise. */
  addSecret(who: Person, members?: Data): Promise<Reply>;
  secrets(): Promise<readonly AgentSecret[]>;
}

export async function startSharedAgents(): Promise<SharedAgents> {
  const [upstream, home, elsewhere] = await Promise.all([startUpstream(), startApiServer(), startApiServer()]);
  const env = { OPENAI_BASE_URL: upstream.url, MODEL_RETRIES_MAX: '0', DEFAULT_MODEL: 'openai/test-model' };
  const service = await startService({ env: { ...env, EGRESS_ALLOW: '127.0.0.1' } });
  const make = makeFor(service);
  const organization = await make.organization();
  const [owner, editor] = [await make.person({ organization }), await make.person({ organization })];
  return {
    ...{ service, upstream, home, elsewhere, owner, editor },
    reset() {
      for (const one of [upstream, home, elsewhere]) one.reset();
    },
    async sharedAgent() {
      const { id } = await make.agent({ owner, visibility: 'ORGANIZATION', editors: [{ id: editor.userId }] });
      const path = `/api/v1/ais/${id}`;
      return {
        id,
        path,
        addTool: (who, data, name = 'crm') => who.post(`${path}/tools`, { name, type: 'API_FUNCTION', data }),
        addSecret: (who, members = {}) =>
          who.post(`${path}/secrets`, { key: 'CRM_KEY', secretType: 'apiKey', value: canary, ...members }),
        secrets: async () => (await owner.get(`${path}/secrets`)).body.data,
      };
    },
    async called(who, agentId, name = 'crm', secrets) {
      upstream.reset();
      upstream.next({ toolCalls: [{ id: 'call_1', name, arguments: '{}' }] }, { text: 'Done.' });
      const chat = await make.chat({ owner: who, agentId });
      const message = { prompt: 'Hi', ...(secrets === undefined ? {} : { secrets }) };
      expect((await who.post(`/api/v1/chats/${chat.id}/messages`, message)).status).toBe(200);
      const told = upstream.requests[1]?.body as { readonly messages: readonly { readonly content: string }[] } | undefined;
      return told?.messages.at(-1)?.content ?? '';
    },
    expectRefused(reply, param) {
      expect(reply.status).toBe(400);
      expect(reply.body.error).toMatchObject({ param });
      expect(reply.body.error.message).toContain(elsewhere.url);
      expect(JSON.stringify(reply.body)).not.toContain('CANARY');
    },
    async close() {
      await service.close();
      await Promise.all([upstream.close(), home.close(), elsewhere.close()]);
    },
  };
}
