import { createHash } from 'node:crypto';
import { usePersistedOperations } from '@graphql-yoga/plugin-persisted-operations';
import type { Source } from 'graphql';
import type { Caller } from '../../../entities/people/caller.ts';
import { isSession } from '../../../entities/people/session.ts';
import { isObject } from '../../../lib/json/json.ts';
import type { Settings } from '../../../settings.ts';
import { type Call, type CallPlugin, requireCaller } from '../call.ts';
import { documentError } from '../document-limits.ts';
import type { ConsoleDocuments } from './console.ts';

/** Finds the documents that the organization of a caller has saved, by the SHA-256 of their text. A map: the same one until they change. */
export type FindSaved = (orgId: string) => Promise<ReadonlyMap<string, string>> | ReadonlyMap<string, string>;

/**
 * The documents that everybody may run: those of the console, and those that an organization has saved. TRUSTED_DOCUMENTS says who may run no others.
 * They are named by the SHA-256 of their text, as persisted queries of stock clients are: `extensions.persistedQuery.sha256Hash`.
 */
export class TrustedDocuments {
  readonly #rule: Settings['TRUSTED_DOCUMENTS'];
  readonly #console: ConsoleDocuments;
  readonly #saved: FindSaved;

  constructor(settings: Pick<Settings, 'TRUSTED_DOCUMENTS'>, consoleDocuments: ConsoleDocuments, saved: FindSaved) {
    this.#rule = settings.TRUSTED_DOCUMENTS;
    this.#console = consoleDocuments;
    this.#saved = saved;
  }

  /** Looks up what the check of the document needs. Costs nothing for callers who may run any document. */
  admit(call: Call, caller: Caller): Promise<void> | undefined {
    if (this.#rule !== 'only' && !(this.#rule === 'sessions' && isSession(caller))) return undefined;
    return this.#admitTrusted(call, caller);
  }

  /** @throws GraphQLError for a document that its caller may not run. */
  check({ savedDocuments }: Call, text: string): void {
    if (savedDocuments === undefined) return;
    const hash = sha256(text);
    if (savedDocuments.has(hash) || this.#console.find(hash) !== undefined) return;
    const message =
      'Only documents of the console, and those that the organization has saved, may be run here (TRUSTED_DOCUMENTS). If this is a page of the console, load it again';
    throw documentError('UNTRUSTED_DOCUMENT', message);
  }

  async #admitTrusted(call: Call, { orgId }: Caller): Promise<void> {
    call.savedDocuments = await this.#saved(orgId);
  }

  /** @returns the text; undefined for a hash that names none. */
  async find(hash: string, { orgId }: Caller): Promise<string | undefined> {
    return (await this.#saved(orgId)).get(hash) ?? this.#console.find(hash);
  }

  /**
   * Replaces the hash in a request for graphql-sse, which demands a text, by the document.
   *
   * @throws GraphQLError as the plugin does for other requests.
   */
  async withText(body: Uint8Array<ArrayBuffer>, caller: Caller): Promise<Uint8Array<ArrayBuffer>> {
    // Nearly all requests have their text, and are parsed by graphql-sse alone.
    if (!Buffer.from(body.buffer, body.byteOffset, body.length).includes('sha256Hash')) return body;
    const params = parsed(body);
    const hash = hashIn(params);
    if (params === undefined || hash === undefined) return body;
    if (hasText(params)) {
      requireHashOf(params.query, hash);
      return body;
    }
    const query = await this.find(hash, caller);
    if (query === undefined) throw notFound();
    return new TextEncoder().encode(JSON.stringify({ ...params, query }));
  }
}

/** Yoga's plugin for requests that name their document by a hash, and the check of all documents. */
export function useTrustedDocuments(documents: TrustedDocuments): CallPlugin {
  const persisted = usePersistedOperations<{ readonly call: Call }>({
    allowArbitraryOperations: true,
    getPersistedOperation: async (hash, _request, { call }) => (await documents.find(hash, requireCaller(call))) ?? null,
    customErrors: { notFound },
  });
  return {
    onParams: (payload) => {
      const { params } = payload;
      const hash = hashIn(params);
      if (hash === undefined) return;
      if (hasText(params)) return requireHashOf(params.query, hash);
      return persisted.onParams?.(payload as never);
    },
    onParse: ({ params: { source }, context }) =>
      documents.check(context.call, typeof source === 'string' ? source : (source as Source).body),
  };
}

/** Stock clients send the text after this message, or this code. */
function notFound() {
  return documentError('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound');
}

function hashIn(params: unknown): string | undefined {
  if (!isObject(params) || !isObject(params.extensions)) return undefined;
  const { persistedQuery } = params.extensions;
  if (!isObject(persistedQuery) || persistedQuery.version !== 1) return undefined;
  return typeof persistedQuery.sha256Hash === 'string' ? persistedQuery.sha256Hash : undefined;
}

function hasText<Params extends { readonly query?: unknown }>(params: Params): params is Params & { readonly query: string } {
  return typeof params.query === 'string' && params.query !== '';
}

function requireHashOf(text: string, hash: string): void {
  if (sha256(text) === hash) return;
  throw documentError('BAD_REQUEST', 'extensions.persistedQuery.sha256Hash is not the SHA-256 of the query');
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function parsed(body: Uint8Array): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString());
    return isObject(value) ? value : undefined;
  } catch {
    // graphql-sse says what is wrong with it.
    return undefined;
  }
}
