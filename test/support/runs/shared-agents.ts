import { afterAll, beforeEach, expect } from 'vitest';
import type { AgentSecret } from '../../../src/entities/agents/part.ts';
import type { Reply } from '../client.ts';
import { type ApiServer, startApiServer } from '../egress/api-server.ts';
import type { Person } from '../make.ts';
import { type ServiceOptions, type TestBench, withService } from '../service.ts';

type Data = Readonly<Record<string, unknown>>;

export const canary = 'CANARY-origin-4711';

/** An owner and an editor of agents whose tools call two APIs: one that the secrets are given for, and another. */
export interface SharedAgents extends TestBench {
  readonly home: ApiServer;
  readonly elsewhere: ApiServer;
  readonly owner: Person;
  readonly editor: Person;
  /** An agent of the owner that the editor may edit. */
  sharedAgent(): Promise<SharedAgent>;
  /** Lets the model call a tool of the agent. @returns the tool's output for the model. */
  called(who: Person, agentId: string, name?: string, secrets?: Data): Promise<string>;
  /** Expects 400 that names the member and the other API, and no secret. */
  expectRefused(reply: Reply, param: string): void;
}
export interface SharedAgent {
  readonly id: string;
  /** The path of the agent. */
  readonly path: string;
  addTool(who: Person, data: Data, name?: string): Promise<Reply>;
  /** Adds the secret CRM_KEY with the value `canary`; members may differ. */
  addSecret(who: Person, members?: Data): Promise<Reply>;
  secrets(): Promise<readonly AgentSecret[]>;
}

export async function withSharedAgents(own?: ServiceOptions): Promise<SharedAgents> {
  const bench = await withService('model', own);
  const { make, upstream } = bench;
  const [home, elsewhere] = [await startApiServer(), await startApiServer()];
  beforeEach(() => {
    for (const one of [home, elsewhere]) one.reset();
  });
  afterAll(() => Promise.all([home.close(), elsewhere.close()]));
  const organization = await make.organization();
  const [owner, editor] = [await make.person({ organization }), await make.person({ organization })];
  return {
    ...{ ...bench, home, elsewhere, owner, editor },
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
  };
}
