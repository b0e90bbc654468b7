import { GraphQLError, type GraphQLSchema } from 'graphql';
import type { Plugin, YogaServerInstance } from 'graphql-yoga';
import type { CallContext } from '../../http/context.ts';
import { replyBudget } from '../../http/reply/budget.ts';
import { presentError } from '../errors.ts';
import { type DocumentRequest, isFaults } from './documents/documents.ts';
import type { Params } from './params.ts';

/** What the server hands to yoga: the call, and the request, whose body has been read already. */
export interface YogaInput {
  readonly call: CallContext;
  readonly params: Params;
  readonly document: DocumentRequest;
}

/**
 * Yoga answers everything but the hot paths: what needs negotiation of the reply's type, and every operation that is refused, with the
 * statuses of the GraphQL over HTTP specification. It runs the same documents, the same executor and the same errors as they do.
 */
export class YogaDoor {
  readonly #schema: GraphQLSchema;
  #opened: Promise<YogaServerInstance<YogaInput, object>> | undefined;

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
  }

  /** Loads yoga, which is a fifth of all modules of the process: a start does not wait for what most calls pass by. */
  open(): Promise<YogaServerInstance<YogaInput, object>> {
    this.#opened ??= this.#load();
    return this.#opened;
  }

  async #load(): Promise<YogaServerInstance<YogaInput, object>> {
    const { createYoga } = await import('graphql-yoga');
    return createYoga<YogaInput, object>({
      schema: this.#schema,
      plugins: [useReadParams(), useDocument(), usePresentedErrors()],
      maskedErrors: false,
      parserAndValidationCache: false,
      maxRequestBodySize: false,
      batching: false,
      multipart: false,
      cors: false,
      graphiql: false,
      landingPage: false,
      logging: false,
      graphqlEndpoint: '/graphql',
    });
  }

  /** @returns what to send; headers as a flat list. */
  async answer(method: string, accept: string | undefined, input: YogaInput): Promise<YogaReply> {
    const headers = { 'content-type': 'application/json', ...(accept === undefined ? {} : { accept }) };
    const yoga = await this.open();
    const response = await yoga.fetch('http://localhost/graphql', { method, headers }, input);
    return {
      status: response.status,
      headers: [...response.headers].filter(([name]) => name !== 'content-length').flat(),
      text: await response.text(),
    };
  }
}

export interface YogaReply {
  readonly status: number;
  readonly headers: readonly string[];
  readonly text: string;
}

type InputPlugin = Plugin<YogaInput & Record<string, unknown>, YogaInput, YogaInput>;

function useReadParams(): InputPlugin {
  return {
    onRequestParse: ({ serverContext, setRequestParser }) => {
      const { params } = serverContext;
      setRequestParser(() => ({ ...params, operationName: params.operationName ?? null }) as never);
    },
  };
}

function useDocument(): InputPlugin {
  return {
    onParse: ({ context, setParsedDocument }) => setParsedDocument(context.document.document),
    onValidate: ({ context, setResult }) => setResult([...context.document.faults]),
    onExecute: ({ context, setExecuteFn, setResultAndStopExecution }) => {
      const { call, document } = context;
      const operation = document.operation();
      if (isFaults(operation)) return setResultAndStopExecution({ errors: operation });
      const budget = replyBudget(call.deps.settings);
      setExecuteFn(({ variableValues }) => operation.compiled.execute({ variableValues, contextValue: call, budget }));
    },
  };
}

/** Runs last of all, so that errors of every stage leave through the one door for them. */
function usePresentedErrors(): InputPlugin {
  return {
    onExecutionResult: ({ result, setResult, context }) => {
      if (result === undefined || Array.isArray(result) || !('errors' in result) || result.errors === undefined) return;
      const { call } = context;
      const errors = result.errors.map((error) => {
        const shown = presentError(error, { requestId: call.requestId, logger: call.deps.logger });
        return withStatus(shown, error);
      });
      setResult({ ...result, errors });
    },
  };
}

/** A request that was never run is the caller's mistake: 400, except where application/json is answered with 200 by the specification. */
function withStatus(shown: GraphQLError, error: GraphQLError): GraphQLError {
  if (shown.path !== undefined) return shown;
  return new GraphQLError(shown.message, {
    nodes: shown.nodes ?? null,
    source: shown.source ?? null,
    positions: shown.positions ?? null,
    extensions: { ...shown.extensions, http: error.extensions.http ?? { spec: true, status: 400 } },
  });
}
