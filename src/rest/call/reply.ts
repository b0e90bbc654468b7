import type { ExecutionResult } from 'graphql';
import { DomainError } from '../../entities/ground/errors.ts';
import type { ReplyBudget } from '../../http/reply/budget.ts';
import type { ShownTo } from '../../wire/ground/encoder.ts';
import type { Route } from '../compile.ts';
import type { DeclaredRoute } from '../route.ts';

/** A reply before it is sent. An idempotency key stores it. */
export interface Reply {
  readonly status: number;
  /** JSON text; undefined sends no body. */
  readonly text: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

export const noHeaders: Readonly<Record<string, string>> = {};

/** What the root field of an executed document gave. @throws whatever its resolvers threw. */
export function rootValue({ main }: Route, { data, errors }: ExecutionResult): unknown {
  const [error] = errors ?? [];
  if (error === undefined) return data?.[main.responseKey];
  // Refused before a resolver ran: the body reader accepted something that the schema does not.
  if (data === undefined) throw new DomainError('INVALID_VALUE', error.message);
  throw error.originalError ?? error;
}

/** Makes the reply of an executed document. @throws whatever its resolvers threw. */
export function toReply(route: Route, result: ExecutionResult, context: ShownTo): Reply {
  const { row } = route;
  const selected = rootValue(route, result);
  const status = row.status ?? 200;
  if (status === 204) return { status, text: undefined, headers: noHeaders };
  route.showEnums?.(selected);
  const root = route.showMembers === undefined ? selected : route.showMembers(selected, context);
  const value = row.member === undefined ? root : repliedMember(root, row.member);
  const body = row.wrap === undefined ? value : wrapped(row, value);
  return { status, text: JSON.stringify(body), headers: noHeaders };
}

/** The member of a payload, with what the document selects beside it. */
function repliedMember(root: unknown, name: string): unknown {
  const { [name]: member, ...beside } = (root ?? {}) as Readonly<Record<string, unknown>>;
  return Object.keys(beside).length === 0 ? member : { ...(member as object), ...beside };
}

/** Makes the reply of what an encoder made. @throws DomainError REPLY_TOO_LARGE */
export function encodedReply({ status = 200 }: DeclaredRoute, body: object, budget: ReplyBudget): Reply {
  budget.spendOn(body);
  const refusal = budget.refusalOf({ data: { body } });
  if (refusal !== undefined) throw refusal;
  return { status, text: JSON.stringify(body), headers: noHeaders };
}

interface ConnectionValue {
  readonly nodes?: unknown;
  readonly totalCount?: unknown;
  readonly pageInfo?: { readonly hasNextPage?: unknown; readonly endCursor?: unknown };
}

/** `{data: […]}` with the members for paging that the route declares. */
function wrapped(row: DeclaredRoute, value: unknown): unknown {
  if (Array.isArray(value)) return { data: value };
  const connection = (value ?? {}) as ConnectionValue;
  const data = connection.nodes ?? [];
  const { pageInfo } = connection;
  const nextCursor = pageInfo?.hasNextPage === true ? (pageInfo.endCursor ?? null) : null;
  if (row.page === 'pagination') return { data, pagination: { nextCursor } };
  if (row.page === 'cursor') return { data, nextCursor };
  if (row.page !== 'total') return { data };
  return pageInfo === undefined ? { data, total: connection.totalCount } : { data, total: connection.totalCount, nextCursor };
}
