import { expect } from 'vitest';
import { createEgress } from '../../../src/engine/egress/egress.ts';
import { createApiTool } from '../../../src/engine/tools/api-function/api-tool.ts';
import { DomainError } from '../../../src/entities/ground/errors.ts';
import { type ApiRequest, startApiServer } from '../egress/api-server.ts';
import { egressPlaces } from '../sharing/pools.ts';
import { freePass } from './runs.ts';

export type ToolData = Readonly<Record<string, unknown>>;

/** A fake third-party API, and a function that calls a tool against it. */
export interface ToolCalls {
  readonly url: string;
  /** Calls a tool with arguments as a model wrote them. @returns the request that the API received; undefined for a refused call. */
  received(data: ToolData, args: string): Promise<ApiRequest | undefined>;
  close(): Promise<void>;
}

const limits = { timeoutMs: 10_000, replyBytesMax: 10_000, resultCharsMax: 10_000 };

export async function startToolCalls(): Promise<ToolCalls> {
  const api = await startApiServer();
  const egress = createEgress({
    allow: '127.0.0.1',
    connectTimeoutMs: 5_000,
    lookupTimeoutMs: 5_000,
    ...egressPlaces(16, 16),
  });
  return {
    url: api.url,
    async received(data, args) {
      const tool = createApiTool({ name: 'tool', data }, [], { ...limits, egress, secretsFor: async () => new Map() });
      const before = api.requests.length;
      try {
        await tool.run(args, {}, AbortSignal.timeout(limits.timeoutMs), () => undefined, freePass);
      } catch (error) {
        if (!(error instanceof DomainError)) throw error;
        expect(api.requests.length).toBe(before);
        return undefined;
      }
      expect(api.requests.length).toBe(before + 1);
      return api.requests.at(-1);
    },
    async close() {
      await egress.close();
      await api.close();
    },
  };
}

/** The members of a query as the server parses them. */
export function queryOf(request: ApiRequest | undefined): readonly (readonly [string, string])[] {
  return [...new URL(`http://a${request?.path}`).searchParams];
}
