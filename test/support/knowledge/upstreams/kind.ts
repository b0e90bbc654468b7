import type { Fault, StandIn } from '../../../fixtures/upstreams/stand-in.ts';
import type { Person } from '../../make.ts';

/** The documents of every kind. */
export type DocumentName = 'hours' | 'prices' | 'third';

export const hours = 'The workshop opens at nine.';
export const prices = (euros: string) => `A puncture costs ${euros} euros.`;
export const third = 'The lathe needs goggles.';

/** A kind of connected source, with documents at a stand-in of its service: opening hours, prices, and a third one. */
export interface UpstreamKind {
  readonly name: string;
  /** The last part of the REST path, and the member of GraphQL's `AddDataSourceInput`. */
  readonly path: string;
  readonly choice: string;
  /** Puts three documents at the stand-in, and ends all faults. @returns the input that adds them. */
  prepare(who: Person): Promise<object>;
  /** The address of the document with the prices. */
  readonly citedUrl: RegExp;
  /** The puncture costs twenty euros from now on. */
  change(): void;
  /** A document is gone; default: the one with the opening hours. */
  remove(name?: DocumentName): void;
  /** Contents of documents that were sent since the last call. */
  contentsSent(): number;
  readonly faults: UpstreamFaults;
}

/** What can go wrong at a service, in the way of that service. */
export interface UpstreamFaults {
  /** Makes requests fail that list, or that read the content of the document with the prices. */
  fail(part: 'listing' | 'content', fault: Omit<Fault, 'match'>): void;
  /** Ends all faults; what was hidden is shown. */
  recover(): void;
  /** Requests so far, oldest first, without those for tokens. */
  arrivals(): readonly { readonly line: string; readonly atMs: number }[];
  readonly tokens?: UpstreamTokens;
  /** The account loses the right to read one document. @returns its name. */
  hide(): DocumentName;
  /** The account loses the right to read what the source names. */
  hideAll(): void;
  /** Listings come without their last part. */
  truncate(): void;
  /** Undefined where a listing has no pages. */
  readonly endless?: {
    /** What the source has to be, where only some kinds of sources have pages. */
    readonly input?: object;
    /** Pages of the listing name these as the next ones, in a circle. */
    begin(cursors: readonly string[]): void;
  };
  /** A fourth document. `declaredBytes`: what the service says of its size, if it says a size. */
  add(document: { readonly name: string; readonly text: string; readonly declaredBytes?: number }): void;
}

export interface UpstreamTokens {
  /** The access token is not good any more. */
  expire(): void;
  /** Neither token is good any more. */
  revoke(): void;
  /** How often a token was renewed, ever. */
  renewals(): number;
  /** The service gives another refresh token at each renewal from now on. Absent: there are no refresh tokens. */
  rotate?(): void;
  /** The person connects the account again. */
  reconnect(who: Person): Promise<void>;
}

/** Connects an account by its tokens. @returns the id of the connection. */
export async function connection(who: Person, provider: string, tokens: { access: string; refresh: string }): Promise<string> {
  const { access: accessToken, refresh: refreshToken } = tokens;
  const reply = await who.post('/api/v1/connections', { provider, accountName: 'Ann', accessToken, refreshToken });
  if (reply.status !== 200) throw new Error(JSON.stringify(reply.body));
  return reply.body.id;
}

/** Gives a connection the tokens of a new grant. */
export async function reconnect(who: Person, id: string, tokens: { access: string; refresh: string }): Promise<void> {
  const { access: accessToken, refresh: refreshToken } = tokens;
  const reply = await who.patch(`/api/v1/connections/${id}`, { accessToken, refreshToken });
  if (reply.status !== 200) throw new Error(JSON.stringify(reply.body));
}

/** How many requests since the last call fit. */
export function taken(server: Pick<StandIn, 'requests'>, fits: (request: StandIn['requests'][number]) => boolean): number {
  const count = server.requests.filter(fits).length;
  server.requests.length = 0;
  return count;
}

export function arrivalsAt(...servers: readonly Pick<StandIn, 'requests'>[]): ReturnType<UpstreamFaults['arrivals']> {
  return servers
    .flatMap(({ requests }) => requests)
    .filter(({ path }) => !path.endsWith('/token'))
    .map(({ method, path, query, atMs }) => ({ line: `${method} ${path}?${query}`, atMs }))
    .toSorted((a, b) => a.atMs - b.atMs);
}

/** The usual reply with other members; those that are undefined are left out. */
export function withMembers(change: (body: Readonly<Record<string, unknown>>) => object): NonNullable<Fault['alter']> {
  return (usual) => ({ ...usual, body: change(usual.body as Readonly<Record<string, unknown>>) });
}

/** More often than anything is asked for. */
export const always = 10_000;

/** The first reply again and again, with the next cursor of a circle. */
export function circle(cursors: readonly string[], name: (cursor: string) => object): NonNullable<Fault['alter']> {
  let first: object | undefined;
  let count = 0;
  return (usual) => {
    first ??= usual.body as object;
    return { body: { ...first, ...name(cursors[count++ % cursors.length] ?? '') } };
  };
}
