import type { ExecutionResult } from 'graphql';
import type { CallContext } from '../../http/context.ts';
import { replyBudget } from '../../http/reply/budget.ts';
import { securityHeaders, sendBody } from '../../http/reply/reply.ts';
import { presentResult } from '../errors.ts';
import type { Call } from './call.ts';
import { type DocumentRequest, isFaults } from './documents/documents.ts';
import type { Params } from './params.ts';

const json = 'application/json';
const graphqlJson = 'application/graphql-response+json';

/**
 * The short way for what nearly every call is: a valid operation whose reply is one JSON object. Yoga costs several times the work of a
 * small query; it gets the rest.
 */
export class Quick {
  /** @returns whether the call has been answered. Nothing has been run when it has not. */
  async answer(call: Call, params: Params, document: DocumentRequest, accept: string, context: CallContext): Promise<boolean> {
    const type = replyType(accept);
    const operation = document.operation();
    if (type === undefined || isFaults(operation)) return false;
    const isAllowed =
      operation.node.operation === 'query' || (operation.node.operation === 'mutation' && call.req.method === 'POST');
    if (!isAllowed) return false;
    const budget = replyBudget(context.deps.settings);
    const running = operation.compiled.execute({ variableValues: params.variables, contextValue: context, budget });
    const result: ExecutionResult = running instanceof Promise ? await running : running;
    // Without data the variables were refused before anything ran: a status for that is yoga's business.
    if (result.data === undefined) return false;
    if (context.endedBy !== undefined) throw context.endedBy;
    const headers = ['content-type', `${type}; charset=utf-8`, 'x-request-id', call.requestId, ...securityHeaders];
    const text = JSON.stringify(presentResult(result, call.errors));
    sendBody(call.res, 200, headers, text, operation.node.operation === 'query');
    return true;
  }
}

/** The usual ways to ask for JSON; undefined leaves the rest to whoever weighs them. */
function replyType(accept: string): string | undefined {
  if (accept === '*/*' || accept === json) return json;
  if (accept.startsWith(graphqlJson) && !accept.includes(';q')) return graphqlJson;
  if (accept.startsWith(`${json},`) && !accept.includes(';q') && !accept.includes(graphqlJson)) return json;
  return undefined;
}
