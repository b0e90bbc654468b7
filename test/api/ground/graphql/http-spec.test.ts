import { serverAudits } from 'graphql-http';
import { describe, expect, it } from 'vitest';
import { withService } from '../../../support/service.ts';

const { service } = await withService();

const audits = serverAudits({
  url: () => `${service.url}/graphql`,
  fetchFn: (url: string, init: RequestInit = {}) =>
    fetch(url, { ...init, headers: { ...init.headers, authorization: `Bearer ${service.adminKey}` } }),
});

describe('GraphQL over HTTP, the audits of graphql-http', () => {
  it.each(audits.map((audit) => [audit.id, audit.name, audit] as const))('%s %s', async (_id, _name, audit) => {
    const result = await audit.fn();
    expect(result.status === 'ok' ? result : { ...result, response: undefined }).toMatchObject({ status: 'ok' });
  });
});
