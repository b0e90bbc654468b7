import { RequestCache } from '@pothos/plugin-scope-auth';
import { execute, parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { builder } from '../../../src/graphql/ground/builder/builder.ts';
import type { GraphContext } from '../../../src/graphql/ground/builder/context.ts';
import { buildSchema } from '../../../src/graphql/schema.ts';

describe('the check of scopes', () => {
  it('keeps nothing of a request once it is done', async () => {
    const caller = { scopes: new Set<string>(), role: 'MEMBER', level: 'ORGANIZATION' };
    const deps = { audit: { refusals: { note: () => {} } } };
    const contextValue = { caller, deps, requestId: 'req_1' } as unknown as GraphContext;
    const { errors } = await execute({ schema: buildSchema(), document: parse('{ agents { nodes { id } } }'), contextValue });
    expect(errors?.[0]?.message).toContain('needs a key with the scope');
    expect(RequestCache.fromContext(contextValue, builder).scopes).toBeUndefined();
  });
});
