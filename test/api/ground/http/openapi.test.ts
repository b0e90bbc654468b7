import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import packageJson from '../../../../package.json' with { type: 'json' };
import { buildSchema } from '../../../../src/graphql/schema.ts';
import { compileRoutes } from '../../../../src/rest/compile.ts';
import { printOpenApi, tagDescriptions } from '../../../../src/rest/openapi/document.ts';
import { allRoutes } from '../../../../src/rest/routes/index.ts';
import { frameDeclarations, frameRows, frameSchema, frameScopes } from '../../../support/apis/rest-frame.ts';
import { withService } from '../../../support/service.ts';

type Node = Readonly<Record<string, unknown>>;

/** Follows `a/b/c` through objects. */
function at(node: unknown, ...keys: string[]): unknown {
  return keys.reduce<unknown>((value, key) => (value as Node | undefined)?.[key], node);
}

describe('openapi.json', () => {
  const schema = buildSchema();
  const printed = printOpenApi(schema, compileRoutes(schema, allRoutes), packageJson.version);

  it('is what the routes and the schema print (rewrite with: npm run openapi)', async () => {
    await expect(`${JSON.stringify(printed, null, 2)}\n`).toMatchFileSnapshot('../../../../openapi.json');
  });
  it('is valid OpenAPI 3.1', async () => {
    const result = await new Validator().validate(structuredClone(printed) as Record<string, unknown>);
    expect(result.errors ?? []).toEqual([]);
    expect(result.valid).toBe(true);
  });
  it('refers to nothing that it does not hold', () => {
    const references = [...JSON.stringify(printed).matchAll(/"\$ref":"#\/([^"]+)"/g)].map((match) => match[1] ?? '');
    const namesOf = (reference: string) =>
      reference.split('/').map((name) => decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~'));
    const missing = references.filter((reference) => at(printed, ...namesOf(reference)) === undefined);
    expect(missing).toEqual([]);
  });
  it('types every member of the common formats and of chats', () => {
    const tags = ['Responses', 'Completions', 'Chats'];
    const operations = Object.values(printed.paths as Record<string, Record<string, Node>>).flatMap((place) =>
      Object.values(place),
    );
    const own = operations.filter((operation) => tags.includes(String(at(operation, 'tags', '0'))));
    const seen = new Set<string>();
    const bare: string[] = [];
    const visit = (node: unknown, place: string): void => {
      if (typeof node !== 'object' || node === null) return;
      const { $ref, properties } = node as { $ref?: string; properties?: Node };
      const name = $ref?.split('/').at(-1);
      if (name !== undefined && !seen.has(name)) {
        seen.add(name);
        visit(at(printed, 'components', 'schemas', name), name);
      }
      for (const [member, schema] of Object.entries(properties ?? {})) {
        // What a format has and is not served may hold anything: nobody looks into it.
        if (/^(?:Refused|Accepted, with a warning): /.test(String(at(schema, 'description')))) continue;
        const says = Object.keys(schema as Node).some((key) => ['type', '$ref', 'anyOf', 'oneOf', 'const', 'enum'].includes(key));
        if (!says) bare.push(`${place}.${member}`);
      }
      for (const [key, value] of Object.entries(node))
        if (key !== 'example' && key !== 'examples') visit(value, `${place}/${key}`);
    };
    for (const operation of own) visit(operation, String(operation.operationId));
    expect(own.length).toBeGreaterThan(20);
    expect(bare).toEqual([]);
  });
  it('explains every behavior that it names', () => {
    const named = new Set(
      [...JSON.stringify(printed).matchAll(/"x-parley-extension-behavior":"([^"]+)"/g)].map((match) => match[1] ?? ''),
    );
    const explained = readFileSync('docs/responses.md', 'utf8');
    expect([...named].filter((id) => !explained.includes(`\`${id}\``))).toEqual([]);
    expect(named.size).toBeGreaterThan(10);
  });
  it('gives every schema a name of its own', () => {
    const names = Object.keys(at(printed, 'components', 'schemas') as Node);
    expect(names.filter((name) => /\d$/.test(name) && names.includes(name.replace(/\d+$/, '')))).toEqual([]);
    const given = allRoutes.flatMap(({ schemas }) => Object.values(schemas ?? {}));
    expect(given.filter((name) => !names.includes(name))).toEqual([]);
  });
  it('calls an agent by one name in its operations', () => {
    expect(allRoutes.map(({ operationId }) => operationId).filter((id) => /Ai(s|[A-Z]|$)/.test(id))).toEqual([]);
    expect(Object.values(schema.getTypeMap()).filter(({ name }) => /^Ai([A-Z]|$)/.test(name))).toEqual([]);
  });
  it('requires no member that has a default', () => {
    const wrong: string[] = [];
    for (const [name, component] of Object.entries(at(printed, 'components', 'schemas') as Node)) {
      const { properties = {}, required = [] } = component as { properties?: Node; required?: readonly string[] };
      for (const [member, value] of Object.entries(properties)) {
        if (at(value, 'default') !== undefined && !required.includes(member)) wrong.push(`${name}.${member}`);
      }
    }
    expect(wrong).toEqual([]);
  });
  it('describes every stream by its events', () => {
    const bare = allRoutes.filter(({ stream }) => stream !== undefined && stream.event === undefined);
    expect(bare.map(({ operationId }) => operationId)).toEqual([]);
  });
  it('describes every operation and every tag', () => {
    const silent = allRoutes.filter(({ description }) => (description ?? '').length < 15);
    expect(silent.map(({ operationId }) => operationId)).toEqual([]);
    const tags = [...new Set(allRoutes.map((row) => row.tag))];
    expect(tags.filter((name) => tagDescriptions[name] === undefined)).toEqual([]);
    expect(Object.keys(tagDescriptions).filter((name) => !tags.includes(name))).toEqual([]);
  });
  it('uses every schema, where readers look for them', () => {
    const used = new Set<string>();
    const pending: unknown[] = [at(printed, 'paths')];
    const schemas = at(printed, 'components', 'schemas') as Readonly<Record<string, unknown>>;
    for (const value of pending) {
      if (typeof value !== 'object' || value === null) continue;
      for (const [name, inner] of Object.entries(value)) {
        if (name.startsWith('x-') && !Array.isArray(value)) continue;
        const component =
          name === '$ref' && typeof inner === 'string' ? /^#\/components\/schemas\/(.*)$/.exec(inner)?.[1] : undefined;
        if (component === undefined) pending.push(inner);
        else if (!used.has(component)) {
          used.add(component);
          pending.push(schemas[component]);
        }
      }
    }
    expect(Object.keys(schemas).filter((name) => name !== 'Error' && !used.has(name))).toEqual([]);
  });
  it('names the scope of every operation', () => {
    const routes = compileRoutes(schema, allRoutes);
    const told = (member: string) => routes.map(({ row }) => at(printed, 'paths', row.path, row.method, member));
    expect(told('x-parley-scope')).toEqual(routes.map(({ scope }) => scope ?? undefined));
    // The ticket of a signed link replaces a key: `{}` says that no key is needed.
    expect(told('security')).toEqual(routes.map(({ row }) => [{ apiKey: [] }, ...(row.ticket === undefined ? [] : [{}])]));
  });
});

describe('the description of a route', () => {
  const schema = frameSchema({ runEvents: () => undefined });
  const printed = printOpenApi(
    schema,
    compileRoutes(schema, frameRows, frameScopes, frameDeclarations),
    '1.2.3',
    frameDeclarations,
  );
  const operation = (method: string, path: string) => at(printed, 'paths', path, method);
  const named = (reference: unknown) => at(printed, ...String(at(reference, '$ref')).slice(2).split('/'));

  it('names the members of its body as callers write them', () => {
    const media = at(operation('post', '/api/v1/things'), 'requestBody', 'content', 'application/json');
    const body = named(at(media, 'schema'));
    expect(Object.keys(at(body, 'properties') as Node)).toContain('is_loud');
    expect(at(body, 'required')).toEqual(['name']);
    // As a keyword it would make the member required in what generators write.
    expect(at(body, 'properties', 'count', 'default')).toBeUndefined();
    expect(at(body, 'properties', 'count', 'description')).toMatch(/Default: `1`\.$/);
    expect(at(media, 'example', 'name')).toBe('Ada');
  });
  it('shows the members that its reply may leave out', () => {
    const reply = named(
      at(operation('get', '/api/v1/things/{thingId}'), 'responses', '200', 'content', 'application/json', 'schema'),
    );
    expect(at(reply, 'required')).toEqual(['id', 'name', 'color', 'count', 'tags']);
    expect(at(reply, 'properties', 'note', 'type')).toBe('string');
  });
  it('shows nodes that become a list, and empty texts in place of null', () => {
    const reply = named(
      at(operation('get', '/api/v1/things/{thingId}/parts'), 'responses', '200', 'content', 'application/json', 'schema'),
    );
    expect(at(reply, 'required')).toEqual(['id', 'parts']);
    const parts = at(reply, 'properties', 'parts');
    expect(parts).toMatchObject({ type: 'array', description: 'All of them.' });
    expect(at(named(at(parts, 'items')), 'properties', 'note')).toEqual({ type: 'string', description: 'Empty without one.' });
  });
  it('shows lists in their envelope', () => {
    const reply = at(operation('get', '/api/v1/things'), 'responses', '200', 'content', 'application/json', 'schema');
    expect(at(reply, 'required')).toEqual(['data', 'pagination']);
  });
  it('keeps the members in camel case that the route keeps', () => {
    const body = named(at(operation('post', '/api/v1/runs'), 'requestBody', 'content', 'application/json', 'schema'));
    expect(Object.keys(at(body, 'properties') as Node)).toEqual(['prompt', 'max_tokens', 'stream', 'metaData']);
  });
  it('shows streams, uploads and parameters', () => {
    const contents = at(operation('post', '/api/v1/runs'), 'responses', '200', 'content') as Node;
    expect(Object.keys(contents)).toEqual(['application/json', 'text/event-stream']);
    const form = at(
      operation('post', '/api/v1/things/{thingId}/file'),
      'requestBody',
      'content',
      'multipart/form-data',
      'schema',
    );
    expect([at(form, 'properties', 'file', 'format'), at(form, 'required')]).toEqual(['binary', ['file']]);
    const parameters = at(operation('get', '/api/v1/things'), 'parameters') as Node[];
    expect(parameters.map(({ name, in: place, required }) => [name, place, required])).toContainEqual(['limit', 'query', false]);
  });
});

const { service } = await withService();

describe('the reference', () => {
  it('is open to anybody, with the description it is made from', async () => {
    const reply = await service.nobody.get('/openapi.json');
    expect([reply.status, reply.body.openapi]).toEqual([200, '3.1.0']);
  });
  it('loads nothing from anywhere else', async () => {
    const { status, headers, body } = await service.nobody.get('/docs');
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    const loaded = [...String(body).matchAll(/<(?:script|link|img)\b[^>]*(?:src|href)="([^"]+)"/g)].map(
      (match) => match[1] ?? '',
    );
    expect(loaded.length).toBeGreaterThan(6);
    for (const path of loaded) {
      expect(path).toMatch(/^\//);
      expect((await service.nobody.get(path)).status).toBe(200);
    }
  });
});
