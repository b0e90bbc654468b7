import { finishedRun } from '../../../engine/runs/events/fold.ts';
import { readAnswerText } from '../../../entities/conversations/runs/answer.ts';
import type { WireObject } from '../../../entities/conversations/runs/response.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { CompactedConversation } from '../../../wire/responses/reply.ts';
import type { Deps } from '../../deps.ts';
import { routingFor } from '../runs/options.ts';
import { answererNamed } from '../runs/plan.ts';
import { type ResponseInput, readResponse } from './input.ts';
import { findPlace, historyOfPlace } from './place.ts';
import { findFileTokensMax, headOf, planResponse, toStoredRequest } from './request.ts';
import { requireCalls, resolveItems, toMessages } from './request-items.ts';

const asking =
  'Write down, for yourself, what must be known to go on with this conversation: what the user wants, what was found out and decided, open calls and tasks, names, numbers and the like, word for word where that matters. Answer with these notes only.';
const heading = 'Notes of the conversation so far:';

/**
 * Compacts a conversation into one item that a new chain can begin with: the user's messages stay as they are, the model writes
 * notes of the rest. Only the ledger entry is stored.
 *
 * @throws like `beginResponse`; and the refusals of the model.
 */
export async function compactResponse(
  deps: Deps,
  caller: Caller,
  input: ResponseInput,
  signal: AbortSignal,
): Promise<CompactedConversation> {
  if (typeof input.model !== 'string') {
    throw new DomainError('MISSING_REQUIRED_PARAMETER', 'model is required: it writes the notes', { param: 'model' });
  }
  const read = readResponse({ ...input, store: false, background: false }, deps.settings, deps.tools);
  const place = await findPlace(deps, caller, input, read);
  const found = await answererNamed(deps, caller, input.model, place.chat);
  // It calls no tools, so nothing of theirs is checked.
  const answerer = { ...found, flow: undefined, routing: routingFor(deps, found.model.id, read.options), warnings: [] };
  const items = await resolveItems(deps, caller, read.items);
  const history = await historyOfPlace(deps, place);
  requireCalls(read.items, items, history);
  const id = deps.newId('compaction');
  const giving = { caller, model: answerer.model, tokensMax: findFileTokensMax(deps, read, answerer), runId: null };
  const inputMessages = await toMessages(deps, items, giving, signal);
  const question = await toMessages(deps, [{ itemId: '', item: messageItem(deps, asking) }], giving, signal);
  const request = {
    ...toStoredRequest(deps, { caller, input, read, answerer, messages: [] }),
    tools: [],
    serviceTools: [],
    knowledge: null,
    generateCitations: false,
  };
  const {
    toolChoice: _choice,
    offersAgentTools: _offers,
    offersSkills: _skills,
    responseFormat: _format,
    answerCheck: _check,
    ...plain
  } = request;
  const messages = [...inputMessages, ...question];
  const asked = {
    caller,
    read,
    answerer,
    items,
    messages,
    history,
    id,
    chatId: place.chat?.id ?? '',
    place,
    input: { ...input, stream: false },
  };
  const plan = await planResponse(deps, { ...asked, stored: plain, head: headOf(deps, asked) });
  const run = await finishedRun(deps.runs.runStateless(plan, signal));
  const notes = readAnswerText(run.output);
  if (notes.trim() === '') throw new DomainError('UPSTREAM_ERROR', 'The model wrote no notes');
  const userMessages = [...history, ...inputMessages].filter(
    ({ role, isHidden, content }) => role === 'user' && !isHidden && content !== '',
  );
  return {
    id,
    createdAt: Math.floor(deps.now().getTime() / 1000),
    output: [
      ...userMessages.map(({ content }) => messageItem(deps, content)),
      { id: deps.newId('compaction'), type: 'compaction', status: 'completed', encrypted_content: `${heading}\n${notes}` },
    ],
    usage: run.usage ?? { inputTokens: 0, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0 },
  };
}

function messageItem(deps: Deps, text: string): WireObject {
  const content = [{ type: 'input_text', text }];
  return { id: deps.newId('message'), type: 'message', status: 'completed', role: 'user', content };
}
