import type { ModelMessage, ModelTool } from '../../engine/models/port.ts';
import type { Approval, Approvals } from '../../engine/runs/prompt/approvals.ts';
import type { RunnableAgent } from '../../entities/agents/agent.ts';
import type { NewMessage, ToolCall, ToolOutputStatus } from '../../entities/chats/chat.ts';
import { isObject } from '../../lib/json.ts';
import type { Faults } from '../faults.ts';

/**
 * The answer to a call that waits for approval: `success` approves, and an output that is a JSON object with members replaces the arguments;
 * `cancelled` refuses.
 */
function approvalOf(status: ToolOutputStatus, output: string): Approval {
  if (status !== 'success') return { approves: false };
  const replaced = parsed(output);
  return isObject(replaced) && Object.keys(replaced).length > 0 ? { approves: true, arguments: output } : { approves: true };
}

/** The approvals among the outputs of a message's calls; undefined when none of the calls waits for one. */
export function approvalsOfOutputs(
  calls: readonly ToolCall[],
  outputs: readonly { readonly toolCallId: string; readonly status: ToolOutputStatus; readonly output: string }[],
  faults: Faults,
): Approvals | undefined {
  const waiting = new Set(calls.flatMap(({ id, approval }) => (approval === true ? [id] : [])));
  if (waiting.size === 0) return undefined;
  for (const [index, { toolCallId, status }] of outputs.entries()) {
    if (waiting.has(toolCallId) && status === 'error') {
      faults.add(
        `outputs[${index}].status`,
        `outputs[${index}].status must be success or cancelled: the call waits for approval, and runs in the service`,
      );
    }
  }
  const answers = outputs.filter(({ toolCallId }) => waiting.has(toolCallId));
  return Object.fromEntries(answers.map(({ toolCallId, status, output }) => [toolCallId, approvalOf(status, output)]));
}

/** The approvals among new messages of a conversation. @param waiting  ids of the calls that wait for one. */
export function approvalsOfMessages(waiting: ReadonlySet<string>, messages: readonly NewMessage[]): Approvals | undefined {
  const answers = messages.flatMap(({ role, toolCallId, toolStatus, content }) =>
    role === 'tool' && toolCallId !== null && waiting.has(toolCallId)
      ? [[toolCallId, approvalOf(toolStatus ?? 'success', content)] as const]
      : [],
  );
  return answers.length === 0 ? undefined : Object.fromEntries(answers);
}

/**
 * The approvals at the end of a stateless conversation: outputs `{"status": "success" | "cancelled", "output"?: {…}}` of calls whose functions are not
 * the caller's.
 */
export function approvalsOfCompletion(
  messages: readonly ModelMessage[],
  functions: readonly ModelTool[],
  agent: RunnableAgent | undefined,
): Approvals | undefined {
  const lastOther = messages.findLastIndex(({ role }) => role !== 'tool');
  const asking = messages[lastOther];
  if (asking?.role !== 'assistant' || asking.toolCalls === undefined) return undefined;
  const own = new Set(functions.map(({ name }) => name));
  for (const { name, type } of agent?.tools ?? []) if (type === 'CLIENT_FUNCTION') own.add(name);
  const waiting = new Set(asking.toolCalls.flatMap(({ id, name }) => (own.has(name) ? [] : [id])));
  const answers = messages.slice(lastOther + 1).flatMap((message) => {
    if (message.role !== 'tool' || !waiting.has(message.toolCallId)) return [];
    const answer = parsed(message.content);
    if (!isObject(answer) || (answer.status !== 'success' && answer.status !== 'cancelled')) return [];
    const output = answer.output === undefined || answer.output === null ? '' : textOf(answer.output);
    return [[message.toolCallId, approvalOf(answer.status, output)] as const];
  });
  return answers.length === 0 ? undefined : Object.fromEntries(answers);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
