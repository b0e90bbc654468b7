import { describe, expect, it } from 'vitest';
import { compileRoutes } from '../../../src/rest/compile.ts';
import { type Declarations, reference } from '../../../src/rest/openapi/declarations.ts';
import { printOpenApi } from '../../../src/rest/openapi/document.ts';
import type { DeclaredRoute } from '../../../src/rest/route.ts';
import { frameDeclarations, frameReply, frameRows, frameSchema, frameScopes } from '../../support/apis/rest-frame.ts';

const schema = frameSchema({ runEvents: () => undefined });

function row(operationId: string): DeclaredRoute {
  const found = frameRows.find((candidate) => candidate.operationId === operationId);
  if (found === undefined) throw new Error(`no row ${operationId}`);
  return found;
}
const compile = (...rows: DeclaredRoute[]) => compileRoutes(schema, rows, frameScopes, frameDeclarations);

const query = (selection: string) => `query ($thingId: ID!) { ${selection} }`;

describe('an invalid route prevents the start', () => {
  const get = row('getThing');
  const list = row('listThings');
  const create = row('createThing');
  const run = row('run');
  const upload = row('uploadThing');

  it('and the real routes do not', () => {
    expect(compile(...frameRows)).toHaveLength(frameRows.length);
  });

  it.each<[string, DeclaredRoute, string]>([
    ['an unknown field', { ...get, document: query('thing(id: $thingId) { nothing }') }, 'Cannot query field "nothing"'],
    ['a document that is none', { ...get, document: 'query {' }, 'Syntax Error'],
    ['two root fields', { ...get, document: query('thing(id: $thingId) { id } other: thing(id: "1") { id }') }, 'one root field'],
    ['two operations', { ...get, document: `${get.document} query b { thing(id: 1) { id } }` }, 'operation'],
    ['a path name that is no variable', { ...get, path: '/api/v1/things/{otherId}' }, 'otherId'],
    ['a variable that nothing feeds', { ...get, path: '/api/v1/things' }, 'nothing feeds $thingId'],
    ['a query name that is no variable', { ...list, query: { ...list.query, other: 'x' } }, 'other'],
    ['a body that is no variable', { ...create, body: 'other' }, 'other'],
    ['a body that is no input object', { ...get, method: 'post', path: '/api/v1/things', body: 'thingId' }, 'input object'],
    ['a variable fed twice', { ...get, query: { thingId: 'x' } }, 'the path and by the query'],
    ['an upload that is no file', { ...upload, upload: { file: 'name', sizeBytesMaxSetting: 'UPLOAD_MAX_BYTES' } }, 'File'],
    [
      'a bare file with a field of a form',
      { ...upload, upload: { file: 'file', sizeBytesMaxSetting: 'UPLOAD_MAX_BYTES', isRaw: true } },
      'nothing feeds $name',
    ],
    ['a body on a GET', { ...create, method: 'get' }, 'GET'],
    ['a status of failure', { ...create, status: 404 }, 'status'],
    ['a wrapped thing that is no list', { ...get, wrap: 'data' }, 'wrap'],
    ['a page that is not selected', { ...list, document: list.document.replace('totalCount', ''), page: 'total' }, 'totalCount'],
    ['an omitted member that is not selected', { ...get, omitNull: ['other'] }, 'other'],
    ['an empty member that is not selected', { ...get, blankNull: { other: 'x' } }, 'other'],
    ['a list of nodes that are not selected', { ...get, lists: { tags: 'x' } }, 'tags is a list of nodes'],
    [
      'a stream that is no subscription',
      {
        ...run,
        stream: streamOf(run, run.document.replace('subscription', 'query').replace('runEvents(input: $input)', 'things')),
      },
      'Variable "$input" is never used',
    ],
    ['a subscription that nothing reads', without(run, 'reply'), 'needs a fold'],
    [
      'a document without events for a fold',
      { ...run, document: 'mutation ($input: RunInput!) { startRun(input: $input) { id } }' },
      'takes events only',
    ],
    [
      'a stream with another variable',
      { ...run, stream: streamOf(run, run.stream?.document.replaceAll('$input', '$other') ?? '') },
      '$other',
    ],
    [
      'a stream with an unknown directive',
      { ...run, stream: streamOf(run, run.stream?.document.replace('runEvents', 'runEvents @nothing') ?? '') },
      'Unknown directive "@nothing"',
    ],
    ['an example that is refused', { ...create, example: { name: 5 } }, 'name must be a string'],
    ['a blank summary', { ...get, summary: ' ' }, 'summary'],
  ])('%s', (_case, lying, reason) => {
    expect(() => compile(lying)).toThrow(lying.operationId);
    expect(() => compile(lying)).toThrow(reason);
  });

  it.each<[string, DeclaredRoute]>([
    ['an event', { ...run, stream: { ...streamOf(run, run.stream?.document ?? ''), event: 'Nothing' } }],
    ['a reply', { ...run, reply: { ...frameReply, schema: 'Nothing' } }],
    ['a socket', { ...run, socket: { request: 'Nothing', event: 'Nothing' } }],
  ])('%s whose schema is not declared', (_case, lying) => {
    expect(() => compile(lying)).toThrow('run: no schema Nothing is declared');
  });
  it.each<[string, Declarations, string]>([
    [
      'a member that is none',
      { schemas: {}, members: { 'ThingInput.nothing': {} } },
      'ThingInput.nothing is no member of the schema',
    ],
    ['a member of no type', { schemas: {}, members: { 'Nothing.name': {} } }, 'Nothing.name is no member of the schema'],
    [
      'another type than GraphQL says',
      { schemas: {}, members: { 'ThingInput.name': { type: 'object' } } },
      'type contradicts it',
    ],
    ['values of a number', { schemas: {}, members: { 'ThingInput.count': { enum: [1] } } }, 'enum contradicts it'],
    [
      'a schema that is not there',
      { schemas: { One: { items: reference('Two') } }, members: {} },
      'One refers to Two, which is no schema',
    ],
  ])('a declaration of %s', (_case, declarations, reason) => {
    expect(() => compileRoutes(schema, [get], frameScopes, declarations)).toThrow(reason);
  });
  it('a declaration of a schema of a GraphQL type that a route selects', () => {
    const declarations = { schemas: { Thing: {} }, members: {} };
    const routes = compileRoutes(schema, [get], frameScopes, declarations);
    expect(() => printOpenApi(schema, routes, '1', declarations)).toThrow('Thing is declared');
  });
  it('a root field that the policy does not list', () => {
    expect(() => compileRoutes(schema, [get], {}, frameDeclarations)).toThrow(
      'getThing: Query.thing is not in domain/ground/access/operation-scopes.ts',
    );
  });
  it('two routes with one path, or with one name', () => {
    expect(() => compile(get, { ...get, operationId: 'again', path: '/api/v1/things/{thingId}' })).toThrow('again');
    expect(() => compile(get, { ...get, path: '/api/v1/others/{thingId}' })).toThrow('getThing');
  });
  it('and all of them are named at once', () => {
    expect(() => compile({ ...get, summary: '' }, { ...create, status: 500 })).toThrow(/getThing[\s\S]*createThing/);
  });
});

function without(row: DeclaredRoute, ...names: readonly (keyof DeclaredRoute)[]): DeclaredRoute {
  const left = Object.entries(row).filter(([name]) => !names.includes(name as keyof DeclaredRoute));
  return Object.fromEntries(left) as unknown as DeclaredRoute;
}

function streamOf(from: DeclaredRoute, document: string): NonNullable<DeclaredRoute['stream']> {
  if (from.stream === undefined) throw new Error('no stream');
  return { ...from.stream, document };
}
