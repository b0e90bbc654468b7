import { expect, inject } from 'vitest';
import { TestClient } from '../client.ts';
import { type ApiServer, startApiServer } from '../egress/api-server.ts';
import { startService, type TestService } from '../service.ts';
import { copyOf } from '../storage/databases.ts';
import { startUpstream, type Upstream } from '../upstream.ts';
import { killProcesses, type ParleyProcess, startProcess } from './process.ts';

const key = 'chosen-by-the-operator-40-characters-long';

/** The lease of runs in these processes. */
export const leaseMs = 2_000;

/** A database that outlives the processes on it, with a provider and an API for tools: to test what a killed process leaves behind. */
export interface Killable {
  readonly upstream: Upstream;
  readonly api: ApiServer;
  /** Starts a process on the database; `ann` may do everything. @param env  settings that differ from the others'. */
  launch(env?: Readonly<Record<string, string>>): Promise<{ readonly parley: ParleyProcess; readonly ann: TestClient }>;
  /** Starts a service on the database in this process, which recovers what a killed process left behind. */
  recover(env?: Readonly<Record<string, string>>): Promise<TestClient>;
  /** An agent whose only tool, `look_up`, calls `api`; `data` replaces members of the tool. @returns its id. */
  agentWithTool(ann: TestClient, modelId: string, data?: object): Promise<string>;
  close(): Promise<void>;
}

export async function prepareKillable(): Promise<Killable> {
  const place = await copyOf(inject('template'));
  const [upstream, api] = [await startUpstream(), await startApiServer()];
  const services: TestService[] = [];
  const envOf = (env: Readonly<Record<string, string>>) => ({
    ...place.env,
    ...{ PARLEY_ADMIN_KEY: key, OPENAI_BASE_URL: upstream.url, DEFAULT_MODEL: 'openai/test-model', EGRESS_ALLOW: '127.0.0.1' },
    ...{ LOG_LEVEL: 'warn', RUN_LEASE_MS: String(leaseMs) },
    ...env,
  });
  return {
    upstream,
    api,
    async launch(env = {}) {
      const parley = startProcess(envOf(env));
      const url = await parley.url();
      return { parley, ann: new TestClient(() => url, key) };
    },
    async recover(env = {}) {
      const service = await startService({ env: envOf({ LOG_LEVEL: 'fatal', ...env }) });
      services.push(service);
      return service.client(key);
    },
    async agentWithTool(ann, modelId, more = {}) {
      const agent = await ann.post('/api/v1/ais', {
        ...{ src: 'x', name: 'Ada', description: 'Knows', instructions: 'Look it up.', modelId },
        intermediateStepsVisible: true,
      });
      const data = { description: 'Looks it up', parameters: { type: 'object' }, method: 'GET', url: `${api.url}/it`, ...more };
      const tool = await ann.post(`/api/v1/ais/${agent.body.id}/tools`, { name: 'look_up', type: 'API_FUNCTION', data });
      expect(tool.status).toBe(200);
      return agent.body.id;
    },
    async close() {
      await killProcesses();
      upstream.abandon();
      for (const service of services) await service.close();
      await upstream.close();
      await api.close();
      await place.remove();
    },
  };
}
