import type { ModelMessage } from '../../models/port.ts';
import type { Approvals } from '../../plan/plan.ts';
import type { WholeCall } from './open-call.ts';

const refusalText = 'The user refused this call. It was not made.';

/** The approved calls, as the conversation has them. */
export function approvedCalls(messages: readonly ModelMessage[], approvals: Approvals): readonly WholeCall[] {
  const askedCalls = messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []));
  return askedCalls.flatMap(({ id, name, arguments: args }): WholeCall[] => {
    const answer = Object.hasOwn(approvals, id) ? approvals[id] : undefined;
    if (answer?.approves !== true) return [];
    return [{ callId: id, name: answer.name ?? name, arguments: answer.arguments ?? args, isApproved: true }];
  });
}

/** The conversation with the results of approved calls, and a note for the model where a call was refused. */
export function withResults(
  messages: readonly ModelMessage[],
  approvals: Approvals,
  results: readonly ModelMessage[],
): readonly ModelMessage[] {
  return messages.map((message) => {
    if (message.role !== 'tool') return message;
    const { toolCallId } = message;
    const answer = Object.hasOwn(approvals, toolCallId) ? approvals[toolCallId] : undefined;
    if (answer === undefined) return message;
    if (!answer.approves) return { ...message, content: refusalText };
    return results.find((result) => result.role === 'tool' && result.toolCallId === toolCallId) ?? message;
  });
}
