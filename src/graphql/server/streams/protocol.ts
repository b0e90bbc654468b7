import { createHandler, type Response } from 'graphql-sse';
import type { Params } from '../params.ts';
import type { OperationResults } from './operation-results.ts';

/** What graphql-sse is told of a request besides its method. */
export interface SseRequest {
  /** Names the reserved stream that the request belongs to; null asks for a stream of its own. */
  readonly token: string | null;
  readonly params?: Params;
  readonly results?: OperationResults;
  /** The operation to stop. */
  readonly operationId?: string;
  /** Called when the last frame of the operation is queued. */
  onComplete?(): void;
}

export type Protocol = (method: string, request: SseRequest) => Promise<Response>;

/**
 * The protocol of graphql-sse without a transport. The requests that it gets are checked already, and run by Parley; what it keeps are the
 * reserved streams and the operations on them. Its handler for node:http is not used: an error of one connection there ends the process.
 */
export function createProtocol(): Protocol {
  const handle = createHandler<undefined, SseRequest>({
    authenticate: ({ context }) => context.token,
    onSubscribe: ({ context }) => context.results,
    onComplete: (_context, { context }) => context.onComplete?.(),
  });
  return (method, context) => {
    const { token, params, operationId = '' } = context;
    const accept = method === 'GET' || token === null ? 'text/event-stream' : '*/*';
    const headers = new Map(Object.entries({ accept, 'content-type': 'application/json' }));
    const url = `/?${new URLSearchParams({ operationId })}`;
    return handle({ method, url, headers, body: { ...params }, raw: undefined, context });
  };
}

/** The frames of an answer that is a stream. @throws Error for any other. */
export function framesOf([body]: Response): AsyncGenerator<string> {
  if (body === null || typeof body === 'string') throw new Error('graphql-sse has opened no stream');
  return body;
}
