import { expect, it } from 'vitest';
import { accountService, connectedKinds } from '../../../../src/engine/knowledge/connectors/registry.ts';
import type { OauthProvider } from '../../../../src/entities/knowledge/connection.ts';
import { testSettings } from '../../../support/settings.ts';

const kinds = connectedKinds.flatMap(({ type, permissions, account }) =>
  permissions === undefined || account === undefined ? [] : [[type, permissions.scopes] as const],
);

it.each(kinds)(
  'an account of %s is asked for the rights to read permissions only where the operator wants that',
  (type, scopes) => {
    const asked = (value: string) =>
      accountService(type as OauthProvider).oauth(testSettings({ CONNECT_PERMISSION_SCOPES: value })).scopes;
    const own = asked('off');
    expect(own.filter((scope) => scopes.includes(scope) && !asked('on').includes(scope))).toEqual([]);
    expect(asked('on')).toEqual([...new Set([...own, ...scopes])]);
    // Nothing that writes is ever asked for.
    expect(asked('on').filter((scope) => /write|manage|delete|FullControl/i.test(scope))).toEqual([]);
  },
);
