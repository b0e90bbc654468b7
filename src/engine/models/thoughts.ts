import type { AssistantMessage, ModelMessage } from './port.ts';

/**
 * The conversation for one provider: each answer is one message, and thoughts of other providers are left out.
 *
 * Stored conversations keep the thoughts of an answer before its text, its text apart from its calls, and its calls by who makes them. Providers check
 * that all of it comes back together: the thoughts, then the calls of the same answer beside each other. Their prompt caches serve it then as well.
 */
export function messagesFor(provider: string, messages: readonly ModelMessage[]): readonly ModelMessage[] {
  if (!messages.some((message) => message.role === 'assistant' && isMarked(message))) return messages;
  const joinedMessages: ModelMessage[] = [];
  /** Where the last message with calls is, while only outputs and their images follow it. */
  let asking = -1;
  for (const modelMessage of messages) {
    if (modelMessage.role === 'tool') {
      // Images of outputs stand behind all outputs of an answer.
      const outputs = joinedMessages.findLastIndex(({ role }) => role === 'tool');
      joinedMessages.splice(outputs > asking && asking >= 0 ? outputs + 1 : joinedMessages.length, 0, modelMessage);
    } else if (modelMessage.role !== 'assistant') {
      if (joinedMessages.at(-1)?.role === 'assistant' || modelMessage.role === 'system') asking = -1;
      joinedMessages.push(modelMessage);
    } else {
      const message = ofProvider(provider, modelMessage);
      const last = joinedMessages.at(-1);
      const callMessage = joinedMessages[asking];
      if (last?.role === 'assistant' && isBeginning(last, message))
        joinedMessages[joinedMessages.length - 1] = together(last, message);
      else if (callMessage?.role === 'assistant' && isSameAnswer(callMessage, message))
        joinedMessages[asking] = together(callMessage, message);
      else joinedMessages.push(message);
      if (joinedMessages.at(-1)?.role === 'assistant') asking = message.toolCalls === undefined ? -1 : joinedMessages.length - 1;
    }
  }
  return joinedMessages.filter(
    (message) => message.role !== 'assistant' || message.content !== null || message.toolCalls !== undefined,
  );
}

/** Whether the last tool calls wait for the model to go on, and the provider thought nothing that it could be given back with them. */
export function lacksThoughts(messages: readonly ModelMessage[]): boolean {
  const asking = messages.findLastIndex(({ role }) => role === 'assistant');
  const last = messages[asking];
  if (last?.role !== 'assistant' || last.toolCalls === undefined || messages[asking + 1]?.role !== 'tool') return false;
  let begin = asking;
  // Images of outputs stand in a user message behind the outputs.
  while (begin > 0 && !(messages[begin - 1]?.role === 'user' && messages[begin - 2]?.role !== 'tool')) begin -= 1;
  const turn = messages.slice(begin, asking + 1);
  return !turn.some((message) => message.role === 'assistant' && message.thoughts?.some(({ opaque }) => opaque !== undefined));
}

/** Whether thoughts that belong to open tool calls do not go to this provider. */
export function leavesOutThoughts(provider: string, messages: readonly ModelMessage[]): boolean {
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    const message = messages[index];
    if (message === undefined || message.role === 'user') return false;
    if (message.role !== 'assistant') continue;
    if (message.toolCalls === undefined && message.content !== null) return false;
    if (message.thoughts?.some((thought) => !isFrom(provider, thought)) === true) return true;
  }
  return false;
}

function isMarked({ thoughts, toolCalls }: AssistantMessage): boolean {
  return thoughts !== undefined || toolCalls?.[0]?.origin !== undefined;
}

function isFrom(provider: string, thought: NonNullable<AssistantMessage['thoughts']>[number]): boolean {
  return thought.provider === undefined || thought.provider === provider;
}

function ofProvider(provider: string, { thoughts, ...message }: AssistantMessage): AssistantMessage {
  const own = thoughts?.filter((thought) => isFrom(provider, thought)) ?? [];
  return own.length === 0 ? message : { ...message, thoughts: own };
}

/** Whether two messages in a row are the thoughts of an answer and the rest of it, or its text and its calls. */
function isBeginning(first: AssistantMessage, second: AssistantMessage): boolean {
  if (first.toolCalls !== undefined) return false;
  if (first.content === null) return true;
  const isMarkedAnswer = first.thoughts !== undefined || second.toolCalls?.[0]?.origin !== undefined;
  return isMarkedAnswer && second.thoughts === undefined && second.content === null;
}

function isSameAnswer(first: AssistantMessage, second: AssistantMessage): boolean {
  const answer = first.toolCalls?.[0]?.origin?.answer;
  return answer !== undefined && answer === second.toolCalls?.[0]?.origin?.answer;
}

function together(first: AssistantMessage, second: AssistantMessage): AssistantMessage {
  const thoughts = [...(first.thoughts ?? []), ...(second.thoughts ?? [])];
  const calls = [...(first.toolCalls ?? []), ...(second.toolCalls ?? [])];
  return {
    role: 'assistant',
    content: first.content ?? second.content,
    ...(calls.length === 0 ? {} : { toolCalls: calls.sort((one, other) => readPlace(one) - readPlace(other)) }),
    ...(thoughts.length === 0 ? {} : { thoughts }),
    ...(second.cache === undefined ? {} : { cache: second.cache }),
  };
}

function readPlace({ origin }: NonNullable<AssistantMessage['toolCalls']>[number]): number {
  return origin?.index ?? 0;
}
