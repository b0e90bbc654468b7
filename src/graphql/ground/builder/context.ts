import type { ConnectionMemory } from '../../../domain/conversations/responses/memory.ts';
import type { Deps } from '../../../domain/deps.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { CallTerms } from '../../../http/context.ts';
import type { ReplyBudget } from '../../../http/reply/budget.ts';

/** What every resolver gets. A request without a valid key is answered 401 earlier, so there is always a caller. */
export interface GraphContext {
  readonly deps: Deps;
  readonly caller: Caller;
  readonly requestId: string;
  /** The network address of the client, if it is known. */
  readonly address: string | undefined;
  /** Fires when the client of this request has disconnected. */
  readonly signal: AbortSignal;
  /** What the reply may still take; undefined only where other limits bound it. */
  readonly replyBudget?: ReplyBudget;
  /** Over REST only: members that a resolver adds to the reply besides its result, and the headers of the request. */
  readonly notes?: Map<string, string>;
  /** Of a WebSocket: its responses that are not stored. */
  readonly memory?: ConnectionMemory;
  /** Over REST a look-up that finds nothing is an error, which becomes 404; over GraphQL it is null. */
  readonly missIsError?: boolean;
  /** Over REST only: whether the reply is an event stream. A reply in one piece needs no deltas, and a stream of them not the whole text again. */
  readonly isStreamed?: boolean | undefined;
  /** Over REST only: what its routes say besides the arguments of the field. */
  readonly terms?: CallTerms | undefined;
  header?(name: string): string | undefined;
}

/** A text that the route of a call says besides the arguments of its field: the id of the chat that a message must be in. Undefined over GraphQL. */
export function textTerm({ terms }: Pick<GraphContext, 'terms'>, name: string): string | undefined {
  const term = terms?.[name];
  return typeof term === 'string' ? term : undefined;
}

/** Texts that the route of a call says: optional members of the reply. Undefined over GraphQL. */
export function textsTerm({ terms }: Pick<GraphContext, 'terms'>, name: string): readonly string[] | undefined {
  const term = terms?.[name];
  return Array.isArray(term) ? term.filter((text) => typeof text === 'string') : undefined;
}

/** A number that the route of a call says: that of a page. Undefined over GraphQL. */
export function numberTerm({ terms }: Pick<GraphContext, 'terms'>, name: string): number | undefined {
  const term = terms?.[name];
  return typeof term === 'number' ? term : undefined;
}

/** The same request with another caller. Members are named one by one, because those of a request of REST are getters of a class. */
export function withCaller(context: GraphContext, caller: Caller): GraphContext {
  const { deps, requestId, address, signal, replyBudget, notes, memory, isStreamed, terms, missIsError = false } = context;
  return {
    ...{ deps, caller, requestId, address, signal, missIsError },
    ...(replyBudget === undefined ? {} : { replyBudget }),
    ...(notes === undefined ? {} : { notes }),
    ...(isStreamed === undefined ? {} : { isStreamed }),
    ...(terms === undefined ? {} : { terms }),
    ...(memory === undefined ? {} : { memory }),
    header: (name) => context.header?.(name),
  };
}
