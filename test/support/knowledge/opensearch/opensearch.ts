import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { badRequest, checked, listOf, type Members, noIndex, OpenSearchRefusal, onlyMember } from './errors.ts';
import { members, type Operation, operations } from './operations.ts';
import { aggregate, searchIndex } from './searches.ts';
import { StoredIndex } from './stored-index.ts';

/**
 * A stand-in for OpenSearch, which cannot run here: a real HTTP server that keeps documents, scores words by the similarity of the index and vectors
 * exactly, and refuses every request that the published specification does not have.
 */
export interface OpenSearchStandIn {
  /** With user and password, and the prefix `test`. */
  readonly url: string;
  /** The same with a wrong password. */
  readonly wrongUrl: string;
  readonly indexes: ReadonlyMap<string, StoredIndex>;
  /** Operations that were served, by name, in their order. */
  readonly served: string[];
  /** Requests that the specification does not have. */
  readonly refused: string[];
  /** `down`: connections are closed. `hang`: no answer. A number: this status for every request. */
  fault: 'down' | 'hang' | number | undefined;
  /** Operations that answer 503. */
  readonly failing: Set<string>;
  /** Changes what an operation answers. */
  distort: ((operation: string, answer: unknown) => unknown) | undefined;
  /** What it says it is. */
  info: object;
  plugins: readonly string[];
  /** Deletes an index, as somebody else would. */
  lose(name: string): void;
  close(): Promise<void>;
}

const user = 'parley';
const password = 'p@ss word/1';

export async function startOpenSearch(): Promise<OpenSearchStandIn> {
  const indexes = new Map<string, StoredIndex>();
  const server = createServer((req, res) => void serve(req, res).catch(() => res.destroy()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const urlWith = (secret: string) => `http://${user}:${encodeURIComponent(secret)}@127.0.0.1:${port}/test`;
  const standIn: OpenSearchStandIn = {
    url: urlWith(password),
    wrongUrl: urlWith('wrong'),
    indexes,
    served: [],
    refused: [],
    fault: undefined,
    failing: new Set(),
    distort: undefined,
    info: {
      name: 'stand-in',
      cluster_name: 'test',
      version: { distribution: 'opensearch', number: '2.19.1' },
      tagline: 'The OpenSearch Project',
    },
    plugins: ['opensearch-knn'],
    lose: (name) => void indexes.delete(name),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return standIn;

  async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const body = await text(req);
    const { fault } = standIn;
    if (fault === 'down') return void res.destroy();
    if (fault === 'hang') return;
    if (typeof fault === 'number')
      return reply(res, fault, { error: { type: 'some_exception', reason: 'a fault' }, status: fault });
    const expected = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
    if (req.headers.authorization !== expected) {
      res.writeHead(401, { 'content-type': 'text/plain' }).end('Unauthorized');
      return;
    }
    try {
      const asked = new URL(req.url ?? '/', 'http://stand-in');
      const { operation, index } = operationOf(req.method ?? '', asked);
      if (standIn.failing.has(operation.name)) throw new OpenSearchRefusal(503, 'some_exception', 'a fault');
      const answer = answerOf(operation, index, asked.searchParams, bodyOf(operation, body, req.headers['content-type']));
      standIn.served.push(operation.name);
      reply(res, 200, standIn.distort?.(operation.name, answer) ?? answer);
    } catch (error) {
      if (!(error instanceof OpenSearchRefusal)) throw error;
      if (error.status === 400) standIn.refused.push(`${req.method} ${req.url}: ${error.message}`);
      reply(res, error.status, error.body);
    }
  }

  function answerOf({ name }: Operation, index: string, query: URLSearchParams, body: readonly unknown[]): unknown {
    const [first] = body as readonly Members[];
    switch (name) {
      case 'info':
        return standIn.info;
      case 'cat.plugins':
        return standIn.plugins.map((component) => ({ component }));
      case 'indices.create':
        if (found(index) !== undefined) throw badRequest(`index [${index}] already exists`, 'resource_already_exists_exception');
        if (!/^[a-z0-9][a-z0-9_-]*$/.test(index)) throw badRequest('Invalid index name', 'invalid_index_name_exception');
        indexes.set(index, new StoredIndex(index, first ?? {}, standIn.plugins.includes('opensearch-knn')));
        return { acknowledged: true, shards_acknowledged: true, index };
      case 'indices.delete':
        if (!indexes.delete(index)) throw noIndex(index);
        return { acknowledged: true };
      case 'indices.get_mapping':
        return { [named(index).name]: { mappings: { dynamic: 'strict', ...named(index).mapping } } };
      case 'indices.put_mapping':
        named(index).map(first?.properties);
        return { acknowledged: true };
      case 'indices.get_alias': {
        const having = [...indexes.values()].filter(({ aliases }) => aliases.has(index));
        if (having.length === 0) throw new OpenSearchRefusal(404, 'aliases_not_found_exception', `alias [${index}] missing`);
        return Object.fromEntries(having.map((one) => [one.name, { aliases: { [index]: {} } }]));
      }
      case 'indices.update_aliases':
        for (const action of listOf(first?.actions)) changeAlias(action);
        return { acknowledged: true };
      case 'indices.refresh':
        named(index).refresh();
        return { _shards: { total: 1, successful: 1, failed: 0 } };
      case 'bulk':
        return bulk(index, query, body);
      case 'msearch':
        return msearch(body);
      case 'search':
        return searched(named(index), first ?? {});
      default:
        return deleteByQuery(named(index), query, first ?? {});
    }
  }

  /** By its name, or by an alias of it alone. */
  function found(name: string): StoredIndex | undefined {
    const [only, more] = [...indexes.values()].filter((index) => index.name === name || index.aliases.has(name));
    return more === undefined ? only : undefined;
  }
  function named(name: string): StoredIndex {
    const index = found(name);
    if (index === undefined) throw noIndex(name);
    return index;
  }

  function changeAlias(action: unknown): void {
    const [kind, given] = onlyMember(action, 'action');
    if (kind !== 'add' && kind !== 'remove') throw badRequest(`the stand-in knows no action [${kind}]`);
    const { index, alias } = checked(given, kind === 'add' ? members.aliasAdd : members.aliasRemove, kind);
    const { aliases } = named(String(index));
    if (kind === 'add') aliases.add(String(alias));
    else if (!aliases.delete(String(alias))) throw new OpenSearchRefusal(404, 'aliases_not_found_exception', 'aliases missing');
  }

  function bulk(name: string, query: URLSearchParams, lines: readonly unknown[]): object {
    const index = found(name);
    const isAlias = index?.aliases.has(name) === true;
    if (query.get('require_alias') === 'true' && !isAlias) throw noIndex(name);
    const target = index ?? named(name);
    const items: object[] = [];
    for (let at = 0; at < lines.length; at += 2) {
      const [kind, given] = onlyMember(lines[at], 'action');
      if (kind !== 'index') throw badRequest(`the stand-in knows no operation [${kind}]`);
      const { _id: id, version, version_type: type } = checked(given, members.bulkIndex, 'index');
      if (typeof id !== 'string' || type !== 'external_gte' || !Number.isSafeInteger(version)) throw badRequest('bad operation');
      try {
        const status = target.put(id, Number(version), checked(lines[at + 1], Object.keys(lines[at + 1] as object), 'document'));
        items.push({
          index: { _index: target.name, _id: id, _version: version, status, result: status === 201 ? 'created' : 'updated' },
        });
      } catch (error) {
        if (!(error instanceof OpenSearchRefusal)) throw error;
        items.push({
          index: { _index: target.name, _id: id, status: error.status, error: { type: error.type, reason: error.message } },
        });
      }
    }
    return { took: 1, errors: items.some((item) => 'error' in (item as { index: object }).index), items };
  }

  function msearch(lines: readonly unknown[]): object {
    const responses: object[] = [];
    for (let at = 0; at < lines.length; at += 2) {
      const { index } = checked(lines[at], members.searchHeader, 'header');
      try {
        responses.push({ ...searched(named(String(index)), checked(lines[at + 1], members.searchBody, 'search')), status: 200 });
      } catch (error) {
        if (!(error instanceof OpenSearchRefusal)) throw error;
        if (error.status === 400) standIn.refused.push(`a search of POST /_msearch: ${error.message}`);
        responses.push(error.body);
      }
    }
    return { took: 1, responses };
  }

  function searched(index: StoredIndex, { query, size = 10, _source: wanted, aggs }: Members): object {
    if (typeof size !== 'number' || size > 10_000) throw badRequest('Result window is too large', 'illegal_argument_exception');
    const all = searchIndex(index, query);
    const hits = all.slice(0, size).map(({ document: { id, fields }, score }) => ({
      ...{ _index: index.name, _id: id, _score: score },
      _source: Object.fromEntries(
        Object.entries(fields).filter(([name]) => ['item', 'generation'].includes(name) && listOf(wanted).includes(name)),
      ),
    }));
    const aggregations =
      aggs === undefined
        ? {}
        : {
            aggregations: aggregate(
              aggs,
              all.map(({ document }) => document),
            ),
          };
    const shards = { total: 1, successful: 1, skipped: 0, failed: 0 };
    return { took: 1, timed_out: false, _shards: shards, hits: { max_score: hits[0]?._score ?? null, hits }, ...aggregations };
  }

  function deleteByQuery(index: StoredIndex, query: URLSearchParams, body: Members): object {
    const limit = typeof body.max_docs === 'number' ? body.max_docs : Number.POSITIVE_INFINITY;
    const gone = searchIndex(index, body.query).slice(0, limit);
    for (const { document } of gone) index.documents.delete(document.id);
    if (query.get('refresh') === 'true') index.refresh();
    return { took: 1, timed_out: false, total: gone.length, deleted: gone.length, version_conflicts: 0, failures: [] };
  }
}

function operationOf(method: string, { pathname, searchParams }: URL): { readonly operation: Operation; readonly index: string } {
  const parts = pathname.split('/');
  for (const operation of operations) {
    const pattern = operation.path.split('/');
    const isSame =
      pattern.length === parts.length &&
      pattern.every((part, at) => (part.startsWith('{') ? !/^(_|$)/.test(parts[at] ?? '') : part === parts[at]));
    if (operation.method !== method || !isSame) continue;
    for (const name of searchParams.keys())
      if (!operation.query.includes(name))
        throw badRequest(`request [${pathname}] contains unrecognized parameter: [${name}]`, 'illegal_argument_exception');
    return { operation, index: decodeURIComponent(parts[pattern.findIndex((part) => part.startsWith('{'))] ?? '') };
  }
  throw badRequest(`no handler found for uri [${pathname}] and method [${method}]`, 'illegal_argument_exception');
}

/** The JSON values of a body. */
function bodyOf({ name, body }: Operation, sent: string, contentType: string | undefined): readonly unknown[] {
  if (body === undefined) {
    if (sent !== '') throw badRequest(`request [${name}] does not support having a body`, 'illegal_argument_exception');
    return [];
  }
  try {
    if (body !== 'lines') {
      if (contentType !== 'application/json')
        throw new OpenSearchRefusal(406, 'media_type_header_exception', `Content-Type header [${contentType}] is not supported`);
      return [checked(JSON.parse(sent), body, name)];
    }
    if (contentType !== 'application/x-ndjson' || !sent.endsWith('\n'))
      throw badRequest('The bulk request must be terminated by a newline [\\n]', 'illegal_argument_exception');
    return sent
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
  } catch (error) {
    if (error instanceof SyntaxError) throw badRequest('the body is no JSON', 'json_parse_exception');
    throw error;
  }
}

function reply(res: ServerResponse, status: number, body: unknown): void {
  res.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' }).end(JSON.stringify(body));
}
