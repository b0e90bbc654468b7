import type { Caller } from '../../entities/accounts/caller.ts';
import type { Deps } from '../deps.ts';
import { requireNamedParts } from '../runs/named-parts.ts';
import { admitAnswerer } from '../runs/plan.ts';
import { findAnswerer } from './create.ts';
import { type ResponseInput, readResponse } from './input.ts';
import { findPlace, historyOfPlace } from './place.ts';
import { echoOf, fileTokensMaxOf, planOf, runRequestOf, storedRequestOf } from './request.ts';
import { requireCalls, resolveItems, toMessages } from './request-items.ts';

/**
 * Counts the input tokens of a request for a response: what the model would get in its first request, with the thread, the files, the tools
 * and the passages of its agent. Nothing is stored, and no model is asked. A conversation that is too long is counted, not refused.
 *
 * @throws DomainError like `beginResponse`.
 */
export async function countResponseInput(deps: Deps, caller: Caller, input: ResponseInput, signal: AbortSignal): Promise<number> {
  const read = readResponse({ ...input, store: false, background: false, stream: false }, deps.settings, deps.tools);
  await requireNamedParts(deps, caller, input.tools);
  const place = await findPlace(deps, caller, input, read);
  const found = await findAnswerer(deps, caller, input, place.chat);
  const answerer = await admitAnswerer(deps, caller, runRequestOf(input, read), found);
  const items = await resolveItems(deps, caller, read.items);
  const history = await historyOfPlace(deps, place);
  requireCalls(read.items, items, history);
  const id = deps.newId('response');
  const giving = { caller, model: answerer.model, tokensMax: fileTokensMaxOf(deps, read, answerer), runId: id };
  const messages = await toMessages(deps, items, giving, signal);
  const request = storedRequestOf(deps, input, read, answerer, messages, caller);
  const head = { createdAt: Math.floor(deps.now().getTime() / 1000), conversationId: null, echo: echoOf(input, read, answerer) };
  const plan = await planOf(deps, caller, request, answerer, [...history, ...messages], head, { id, isStreaming: false });
  return deps.runs.countInput(plan, signal);
}
