import fc from 'fast-check';
import {
  coerceInputValue,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  getNullableType,
  isInputObjectType,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { scopes } from '../../../../src/entities/people/caller.ts';
import { buildSchema } from '../../../../src/graphql/schema.ts';
import { listRestMembers } from '../../../../src/http/input/names.ts';
import { compileRoutes, type Route } from '../../../../src/rest/compile.ts';
import { memberNames } from '../../../../src/rest/input/member-names.ts';
import { allRoutes } from '../../../../src/rest/routes/index.ts';
import { restInput } from '../../../support/apis/rest-inputs.ts';
import type { Reply, TestClient } from '../../../support/client.ts';
import type { Person } from '../../../support/make.ts';
import { inTurn, propertyRuns, sampled } from '../../../support/property/sample.ts';
import { withService } from '../../../support/service.ts';

// Rules for every route, also for future ones: no route is named here.

const routes = compileRoutes(buildSchema(), allRoutes);
const table = routes.map((route, turn) => [route.row.operationId, route, turn] as const);
const withBody = table.filter(
  ([, { row }]) => row.body !== undefined && (row.upload === undefined || row.upload.orJson === true),
);
const withUpload = table.filter(
  ([, { row }]) => row.upload !== undefined && row.upload.isRaw !== true && row.upload.orJson !== true,
);
const withBareFile = table.filter(([, { row }]) => row.upload?.isRaw === true);

const bodyMaxBytes = 200_000;
const { service, make } = await withService('plain', { env: { BODY_MAX_BYTES: String(bodyMaxBytes) } });

const ann = await make.person({ role: 'ADMIN' });
const nobody = service.nobody;

/** Ann's keys that lack one scope each. */
const poorKeys = new Map<string | null, Promise<Person>>();
function keyWithout(missing: string | null): Promise<Person> {
  const made = poorKeys.get(missing) ?? make.withKey(ann, { scopes: scopes.filter((scope) => scope !== missing) });
  poorKeys.set(missing, made);
  return made;
}

/** A path with ids that do not exist: a request that passes its checks finds nothing. */
function pathOf({ row }: Route, value = 'x'): string {
  return row.path.replace(/\{[^}]*\}/g, value);
}
function call(who: TestClient, route: Route, body?: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
  return who.call(route.row.method, pathOf(route), body, headers);
}
const json = { 'content-type': 'application/json' };

/** Whether all its callers are clients of another format, which has errors of its own. */
function hasOwnErrors({ row: { client } }: Route): boolean {
  return client !== undefined && client.isOptional !== true;
}

/** Expects the one shape of errors, or that of the route's format, and a fault of the caller. */
function expectRefusal(route: Route, reply: Reply, what: string): void {
  expect(reply.status, what).toBeGreaterThanOrEqual(400);
  expect(reply.status, what).toBeLessThan(500);
  if (hasOwnErrors(route)) {
    const type = ownErrorTypes[reply.status] ?? 'invalid_request_error';
    const requestId = reply.headers.get('x-request-id');
    expect(requestId, what).toMatch(/./);
    expect(reply.headers.get(route.row.client?.requestIdHeader ?? ''), what).toBe(requestId);
    expect(reply.body, what).toEqual({
      type: 'error',
      error: { type, message: expect.stringMatching(/./) },
      request_id: requestId,
    });
    return;
  }
  expect(reply.body, what).toMatchObject({
    error: { message: expect.any(String), type: expect.any(String), code: expect.any(String) },
  });
  expect(reply.body.error.param === null || typeof reply.body.error.param === 'string', what).toBe(true);
  expect(reply.headers.get('x-request-id'), what).toMatch(/./);
}

const ownErrorTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
};

/** By what programs tell one refusal from another. */
function codeOf(route: Route, { body }: Reply): string {
  return hasOwnErrors(route) ? body.error.type : body.error.code;
}

/** The members that a refusal names; a format without `param` names them before each fault: `model: must be a string; messages: …`. */
function paramsOf(route: Route, { body }: Reply): readonly string[] {
  if (!hasOwnErrors(route)) return (body.error.errors ?? [body.error]).map(({ param }: { param: string }) => param);
  return String(body.error.message)
    .split('; ')
    .flatMap((fault) => /^([^\s:]+): \S/.exec(fault)?.[1] ?? []);
}

/** Runs a few at a time: the service is one process, and so is the test. */
async function forEach<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (const item of rest) await work(item);
    }),
  );
}

function inputType(route: Route): GraphQLInputObjectType {
  const type = getNullableType(route.main.variables.get(route.row.body ?? '')?.type);
  if (!isInputObjectType(type)) throw new Error('no input object');
  return type;
}

it('no two routes are the same operation', () => {
  expect(new Set(table.map(([name]) => name)).size).toBe(table.length);
});

describe.each(sampled(table))('%s', (_name, route) => {
  it('refuses a call without a key before it reads the body', async () => {
    const reply = await call(
      nobody,
      route,
      route.row.method === 'get' ? undefined : '{{{',
      route.row.method === 'get' ? {} : json,
    );
    expectRefusal(route, reply, 'no key');
    expect([reply.status, codeOf(route, reply)]).toEqual([401, hasOwnErrors(route) ? ownErrorTypes[401] : 'invalid_api_key']);
  });
});

describe.each(sampled(table.filter(([, { scope }]) => scope !== null)))('%s', (_name, route) => {
  it('refuses a key without its scope, and names it', async () => {
    const reply = await call(await keyWithout(route.scope), route);
    expectRefusal(route, reply, 'no scope');
    expect([reply.status, codeOf(route, reply)]).toEqual([403, hasOwnErrors(route) ? ownErrorTypes[403] : 'insufficient_scope']);
    expect(reply.body.error.message).toContain(route.scope);
  });
});

describe.each(sampled(table.filter(([, { pathNames }]) => pathNames.length > 0)))('%s', (_name, route, turn) => {
  it('finds nothing under invalid ids', async () => {
    const ids = [
      'x',
      '%00',
      `ai_${'0'.repeat(26)}`,
      'a'.repeat(2_000),
      "'%20or%201=1--",
      '%F0%9F%92%A9',
      '..%2F..',
      '%ED%A0%80',
      'null',
      '0',
    ];
    await forEach(inTurn(ids, turn), async (id) => {
      const body = route.row.body === undefined ? undefined : (route.row.example ?? {});
      const reply = await ann.call(route.row.method, pathOf(route, id), body);
      expectRefusal(route, reply, id);
    });
  });
});

describe.each(sampled(table.filter(([, { row }]) => row.query !== undefined)))('%s', (_name, route, turn) => {
  it('answers any query with a reply or a refusal', async () => {
    const values = [
      '',
      'x',
      '-1',
      '0',
      '1',
      '99999999999999',
      '1.5',
      'true',
      '%00',
      '%27',
      'a,b,,c',
      '%ED%A0%80',
      'a'.repeat(5_000),
      '%5B%5D',
    ];
    const cases = Object.keys(route.row.query ?? {}).flatMap((name) => values.map((value) => `${name}=${value}`));
    await forEach(inTurn(cases, turn), async (text) => {
      const reply = await ann.call(route.row.method, `${pathOf(route)}?${text}`);
      if (reply.status >= 400) expectRefusal(route, reply, text);
    });
  });
});

describe.each(sampled(withBody))('the body of %s', (_name, route, turn) => {
  const malformed: readonly (readonly [string, unknown])[] = [
    ['broken JSON', '{"a":'],
    ['a list', '[]'],
    ['null', 'null'],
    ['a text', '"text"'],
    ['a number', '5'],
    ['two values', '{} {}'],
    ['bytes that are no text', new Uint8Array([0x7b, 0xff, 0x7d])],
    ['more than the limit', JSON.stringify({ filler: 'x'.repeat(bodyMaxBytes) })],
    ['nesting without end', '{"a":'.repeat(20_000)],
  ];
  it.each(inTurn(malformed, turn))('is refused when it is %s', async (_case, body) => {
    expectRefusal(route, await call(ann, route, body, json), 'body');
  });
  it.each(['text/plain', 'multipart/form-data; boundary=x', 'application/xml'])('is refused as %s', async (type) => {
    // A route that accepts a form or JSON reads the form, and finds it malformed.
    const isForm = route.row.upload?.orJson === true && type.startsWith('multipart/');
    expect((await call(ann, route, '{}', { 'content-type': type })).status).toBe(isForm ? 400 : 415);
  });

  it('is refused with the name of the member that has the wrong type', async () => {
    const { wire } = memberNames(route.row);
    const values = [
      null,
      true,
      5,
      1.5,
      -1,
      2 ** 40,
      '',
      'text',
      'a\u0000b',
      '\ud800',
      [],
      [null],
      [[]],
      {},
      { a: {} },
      [{}],
      nested(200),
    ];
    const fields = listRestMembers(inputType(route)).map(({ name, type }) => ({ type: restInput(type), member: wire(name) }));
    const isWrong = (value: unknown, type: GraphQLInputType) => {
      let wrong = false;
      coerceInputValue(value, type, (_path, _value, error) => {
        // REST ignores what it does not know; GraphQL does not.
        if (!error.message.includes('is not defined by type')) wrong = true;
      });
      return wrong;
    };
    const asked = async (members: Readonly<Record<string, unknown>>, what: string) => {
      const reply = await call(ann, route, { ...route.row.example, ...members });
      if (reply.status >= 400) expectRefusal(route, reply, what);
      return reply;
    };
    await forEach(inTurn(values, turn), async (value) => {
      const what = JSON.stringify(value)?.slice(0, 60);
      const wrong = fields.filter(({ type }) => isWrong(value, type)).map(({ member }) => member);
      // All in one request: each is named.
      for (const some of inParts(wrong, errorsMax)) {
        const reply = await asked(Object.fromEntries(some.map((member) => [member, value])), `${some}: ${what}`);
        expect(reply.status, `${some}: ${what}`).toBe(400);
        const params = paramsOf(route, reply);
        for (const member of some) {
          expect(
            params.some((param) => param.startsWith(member)),
            `${member}: ${what} → ${params}`,
          ).toBe(true);
        }
      }
      for (const { member } of fields.filter((field) => !wrong.includes(field.member))) {
        await asked({ [member]: value }, `${member}: ${what}`);
      }
    });
  });

  it('is answered or refused without a server error', async () => {
    const { wire } = memberNames(route.row);
    const members = listRestMembers(inputType(route)).map(({ name }) => wire(name));
    const anything = fc.oneof(
      fc.jsonValue({ maxDepth: 4 }),
      fc.string({ unit: 'binary' }),
      fc.double(),
      fc.constant('x'.repeat(5_000)),
    );
    const bodies = fc.dictionary(fc.oneof(fc.constantFrom(...members, '__proto__', 'constructor'), fc.string()), anything, {
      maxKeys: 8,
    });
    await fc.assert(
      fc.asyncProperty(bodies, async (body) => {
        const reply = await call(ann, route, { ...route.row.example, ...body });
        if (reply.status >= 400) expectRefusal(route, reply, JSON.stringify(body));
      }),
      { numRuns: propertyRuns(25) },
    );
  });
});

describe.each(sampled(withUpload))('the form of %s', (_name, route) => {
  it('is refused as JSON, broken, or without its file', async () => {
    expect((await call(ann, route, { file: 'x' })).status).toBe(415);
    expectRefusal(route, await call(ann, route, '--x\r\n', { 'content-type': 'multipart/form-data; boundary=x' }), 'broken');
    const form = new FormData();
    form.append('other', 'x');
    const reply = await call(ann, route, form);
    expect([reply.status, reply.body.error.code, reply.body.error.param]).toEqual([
      400,
      'missing_required_parameter',
      route.row.upload?.file,
    ]);
  });
});

describe.each(withBareFile)('the file of %s', (_name, route) => {
  it.each<[string, Readonly<Record<string, string>>]>([
    ['a form', { 'content-type': 'multipart/form-data; boundary=x' }],
    ['compressed', { 'content-encoding': 'gzip' }],
  ])('is refused when it is %s', async (_case, headers) => {
    expect((await call(ann, route, new Uint8Array([1, 2, 3]), headers)).status).toBe(415);
  });
});

/** As many as an answer names faults. */
const errorsMax = 8;
function inParts<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_part, index) => items.slice(index * size, (index + 1) * size));
}

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = { a: value };
  return value;
}
