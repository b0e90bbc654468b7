import type { IncomingMessage, ServerResponse } from 'node:http';
import { useCSRFPrevention } from '@graphql-yoga/plugin-csrf-prevention';
import { GraphQLError, type GraphQLSchema } from 'graphql';
import { createYoga, type Plugin, type YogaServerInstance } from 'graphql-yoga';
import { DomainError } from '../../entities/errors.ts';
import { securityHeaders, sendBody } from '../../http/reply/reply.ts';
import { presentError } from '../errors.ts';
import type { Call } from './call.ts';
import { type DocumentRequest, isFaults } from './documents/documents.ts';
import type { Executor } from './executor.ts';
import type { RequestReader } from './request-reader.ts';
import { type EventStreams, wantsStream } from './streams/event-streams.ts';
import type { Turns } from './turns.ts';

export interface YogaParts {
  readonly schema: GraphQLSchema;
  readonly reader: RequestReader;
  readonly executor: Executor;
  readonly turns: Turns;
  readonly streams: EventStreams;
}

/** What Yoga and its plugins know of a request. */
interface YogaInput {
  readonly call: Call;
}
type CallPlugin = Plugin<YogaInput & Record<string, unknown>, YogaInput, YogaInput>;

/** Any of these shows that a browser has asked first whether it may send the request. Parley allows it for the origins of CORS_ORIGINS only. */
const preflightHeaders = ['x-graphql-yoga-csrf', 'apollo-require-preflight', 'graphql-require-preflight', 'x-requested-with'];

/**
 * GraphQL over HTTP by Yoga: parameters, statuses, negotiation of the content type. Its plugins read the request within the limits
 * of Parley, take the documents that were checked already, wait for the caller's turn, and present errors.
 */
export class YogaHandler {
  readonly #yoga: YogaServerInstance<YogaInput, object>;

  constructor({ schema, reader, executor, turns, streams }: YogaParts) {
    this.#yoga = createYoga<YogaInput, object>({
      schema,
      plugins: [useCsrfPrevention(), useRequestReader(reader, streams), useDocuments(executor, turns), usePresentedErrors()],
      graphiql: false,
      maskedErrors: false,
      parserAndValidationCache: false,
      maxRequestBodySize: false,
      batching: false,
      multipart: false,
      cors: false,
      landingPage: false,
      logging: false,
      graphqlEndpoint: '/graphql',
    });
  }

  /** Answers a request of which nothing has been run. @throws DomainError, and any other error outside of the fields. */
  async answer(call: Call): Promise<void> {
    const { req, res, requestId } = call;
    const response = await this.#ask(req, call);
    // graphql-sse has answered.
    if (res.headersSent) return;
    await send(res, response, ['x-request-id', requestId, ...securityHeaders], call.document?.kind !== 'mutation');
  }

  /** The address that Yoga sees is fixed: a header `host` may be no part of a URL. */
  async #ask({ method = 'GET', headers }: IncomingMessage, call: Call): Promise<Response> {
    const { Request } = this.#yoga.fetchAPI;
    const init = { method: method === 'HEAD' ? 'GET' : method, headers: headers as Record<string, string> };
    return this.#yoga.handleRequest(new Request('http://localhost/graphql', init), { call });
  }
}

async function send(res: ServerResponse, response: Response, added: readonly string[], mayRefuse: boolean): Promise<void> {
  const headers = [...response.headers].filter(([name]) => name !== 'content-length').flat();
  sendBody(res, response.status, [...headers, ...added], Buffer.from(await response.arrayBuffer()), mayRefuse);
}

/** A GET needs no header: its key stands in a header that a browser never sends to another site without asking. */
function useCsrfPrevention(): CallPlugin {
  const { onRequestParse } = useCSRFPrevention({ requestHeaders: preflightHeaders });
  return {
    onRequestParse: async (payload) => {
      if (payload.request.method === 'GET') return;
      try {
        await onRequestParse?.(payload);
      } catch {
        throw new DomainError('FORBIDDEN', `A body that is not JSON needs one of the headers ${preflightHeaders.join(', ')}`);
      }
    },
  };
}

function useRequestReader(reader: RequestReader, streams: EventStreams): CallPlugin {
  return {
    onRequestParse: ({ serverContext, setRequestParser, fetchAPI }) => {
      const call = serverContext.call;
      setRequestParser(async () => {
        const document = await reader.read(call);
        if (!wantsStream(document, call.accept)) {
          const { operationName, ...params } = document.params;
          return operationName === undefined ? params : { ...params, operationName };
        }
        await streams.answer(call, document);
        return new fetchAPI.Response(null);
      });
    },
  };
}

function useDocuments(executor: Executor, turns: Turns): CallPlugin {
  return {
    onParse: ({ context, setParsedDocument }) => setParsedDocument(documentOf(context).document),
    onValidate: ({ context, setResult }) => setResult([...documentOf(context).faults]),
    onExecute: ({ context, setExecuteFn, setResultAndStopExecution }) => {
      const call = context.call;
      const document = documentOf(context);
      const operation = document.operation();
      if (isFaults(operation)) return setResultAndStopExecution({ errors: operation });
      setExecuteFn(() => turns.run(call, (own) => executor.execute(operation, document.params.variables, own)));
    },
  };
}

/** Presents errors of every stage. What was thrown outside of the fields goes to the handler, which knows its status. */
function usePresentedErrors(): CallPlugin {
  return {
    onResultProcess: ({ result, setResult, serverContext }) => {
      if (!('errors' in result) || result.errors === undefined) return;
      const call = serverContext.call;
      const thrown = result.data === undefined ? result.errors.find(isThrown) : undefined;
      if (thrown !== undefined) throw thrown.originalError;
      setResult({ ...result, errors: result.errors.map((error) => withStatus(presentError(error, call.errors), error)) });
    },
  };
}

function isThrown({ path, originalError }: GraphQLError): boolean {
  return path === undefined && originalError instanceof Error && !(originalError instanceof GraphQLError);
}

/** A request that was never run is the caller's mistake: 400, except where the specification answers application/json with 200. */
function withStatus(shown: GraphQLError, error: GraphQLError): GraphQLError {
  if (shown.path !== undefined) return shown;
  const { message, nodes = null, source = null, positions = null, extensions } = shown;
  const http = error.extensions.http ?? { spec: true, status: 400 };
  return new GraphQLError(message, { nodes, source, positions, extensions: { ...extensions, http } });
}

function documentOf({ call: { document } }: YogaInput): DocumentRequest {
  if (document === undefined) throw new Error('the request has not been read');
  return document;
}
