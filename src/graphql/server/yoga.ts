import { execute, GraphQLError, type GraphQLSchema } from 'graphql';
import { createYoga, type Plugin, type YogaServerInstance } from 'graphql-yoga';
import type { CallContext } from '../../http/context.ts';
import { presentError } from '../errors.ts';
import { type Documents, isFaults } from './documents.ts';
import type { Params } from './params.ts';

/** What the server hands to yoga: the call, and the request when its body has been read already. */
export interface YogaInput {
  readonly call: CallContext;
  readonly params: Params | undefined;
}

/**
 * Yoga answers everything but the hot paths: GET, negotiation of the reply's type, and every request that goes wrong, with the statuses
 * of the GraphQL over HTTP specification. It runs the same documents, the same executor and the same errors as they do.
 */
export function createYogaDoor(
  schema: GraphQLSchema,
  documents: Documents,
  bodyMaxBytes: number,
): YogaServerInstance<YogaInput, object> {
  return createYoga<YogaInput, object>({
    schema,
    plugins: [useReadParams(), useDocuments(documents), usePresentedErrors()],
    maskedErrors: false,
    parserAndValidationCache: false,
    maxRequestBodySize: bodyMaxBytes,
    batching: false,
    multipart: false,
    cors: false,
    graphiql: false,
    landingPage: false,
    logging: false,
    graphqlEndpoint: '/graphql',
  });
}

type InputPlugin = Plugin<YogaInput & Record<string, unknown>, YogaInput, YogaInput>;

function useReadParams(): InputPlugin {
  return {
    onRequestParse: ({ serverContext, setRequestParser }) => {
      const params = serverContext?.params;
      if (params !== undefined) setRequestParser(() => ({ ...params, operationName: params.operationName ?? null }) as never);
    },
  };
}

function useDocuments(documents: Documents): InputPlugin {
  return {
    onParse: ({ params, setParsedDocument }) => setParsedDocument(documents.parse(params.source.toString())),
    onValidate: ({ context, setResult }) => setResult([...documents.faults(context.params.query ?? '')]),
    onExecute: ({ context, setExecuteFn, setResultAndStopExecution }) => {
      const { call, params } = context;
      const operation = documents.operation(params.query ?? '', params.operationName, params.variables ?? {});
      if (isFaults(operation)) setResultAndStopExecution({ errors: operation });
      else setExecuteFn((args) => execute({ ...args, contextValue: call }));
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
