import type { ModelMessage, ModelTool } from '../../../engine/models/port.ts';
import type { Approval, Approvals } from '../../../engine/plan/plan.ts';
import { compileArguments } from '../../../engine/tools/json-schema/arguments.ts';
import { SchemaError } from '../../../engine/tools/json-schema/read-schema.ts';
import type { RunnableAgent } from '../../../entities/agents/agent.ts';
import type { ToolCall, ToolOutputStatus } from '../../../entities/conversations/chats/chat.ts';
import { isId } from '../../../entities/ground/ids.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { isObject, parseJson } from '../../../lib/json/json.ts';
import { answeredBefore, type StoredApproval } from '../../../storage/conversations/runs/approvals.ts';
import type { Deps } from '../../deps.ts';
import { Faults } from '../../ground/faults.ts';

/** A person's answer to a call that waits for approval, as a request gives it. */
export interface ApprovalAnswer extends Approval {
  readonly callId: string;
  /** The member that names the call. */
  readonly at: string;
  /** The member that holds changed arguments. */
  readonly argumentsAt: string;
  /** The model went on after it in the conversation that the request repeats: an answer that was taken before is history. */
  readonly isPast?: boolean;
}

export interface SettledApprovals {
  /** For the run; undefined when the request answers no call that waits for approval. */
  readonly approvals: Approvals | undefined;
  /** The approvals that the run's beginning marks as answered, in one transaction. */
  readonly ids: readonly string[];
}

const waitsFor = 'A call waits for 30 days, for the person whose run asked.';

/**
 * Checks the answers of a request to calls that wait for approval: each was asked of the caller, has no answer yet, and changes the arguments within
 * the schema of its tool.
 *
 * @throws DomainError INVALID_VALUE naming the member; TOOL_OUTPUT_CONFLICT for a call that was answered before.
 *
 * Cost: one statement; none without answers.
 */
export async function settleApprovals(
  { storage }: Pick<Deps, 'storage'>,
  caller: Caller,
  answers: readonly ApprovalAnswer[],
): Promise<SettledApprovals> {
  if (answers.length === 0) return { approvals: undefined, ids: [] };
  const callIds = answers.map(({ callId }) => callId);
  const approvalsById = new Map((await storage.conversations.approvals.find(callIds, caller)).map((one) => [one.id, one]));
  const faults = new Faults();
  const acceptedAnswers = new Map<string, Approval>();
  const ids = new Set<string>();
  for (const { callId, at, argumentsAt, isPast, ...answer } of answers) {
    const approval = approvalsById.get(callId);
    const isOpen = approval?.isAnswered === false && !ids.has(callId);
    if (isPast === true && !isOpen) {
      // The model still reads that the call was refused.
      if (!answer.approves) acceptedAnswers.set(callId, answer);
      continue;
    }
    if (approval === undefined) {
      faults.add(at, `${at} names no call that waits for your approval. ${waitsFor}`);
      continue;
    }
    if (!isOpen) throw answeredBefore(at);
    const fault = answer.arguments === undefined ? undefined : findFault(approval, answer.arguments);
    if (fault !== undefined) faults.add(argumentsAt, `${argumentsAt}: ${fault}`);
    acceptedAnswers.set(callId, { ...answer, name: approval.functionName });
    ids.add(callId);
  }
  faults.throwIfAny();
  return { approvals: acceptedAnswers.size === 0 ? undefined : Object.fromEntries(acceptedAnswers), ids: [...ids] };
}

/** Why arguments are none that the tool takes. A schema that cannot be checked takes every object. */
function findFault({ parameters }: StoredApproval, json: string): string | undefined {
  try {
    const read = compileArguments(parameters)(json);
    return 'fault' in read ? read.fault : undefined;
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    return undefined;
  }
}

/**
 * The answer to a call that waits for approval: `success` approves, and an output that is a JSON object with members replaces the arguments;
 * `cancelled` refuses.
 */
export function toApproval(status: ToolOutputStatus, output: string): Approval {
  if (status !== 'success') return { approves: false };
  const outputValue = parseJson(output);
  return isObject(outputValue) && Object.keys(outputValue).length > 0
    ? { approves: true, arguments: output }
    : { approves: true };
}

/** The answers among the outputs of a message's calls. */
export function answersOfOutputs(
  calls: readonly ToolCall[],
  outputs: readonly { readonly toolCallId: string; readonly status: ToolOutputStatus; readonly output: string }[],
  faults: Faults,
): readonly ApprovalAnswer[] {
  const waiting = new Set(calls.flatMap(({ id, approval }) => (approval === true ? [id] : [])));
  return outputs.flatMap(({ toolCallId, status, output }, index) => {
    if (!waiting.has(toolCallId)) return [];
    const at = `outputs[${index}]`;
    if (status === 'error') {
      faults.add(
        `${at}.status`,
        `${at}.status must be success or cancelled: the call waits for approval, and runs in the service`,
      );
    }
    return [{ callId: toolCallId, at: `${at}.toolCallId`, argumentsAt: `${at}.output`, ...toApproval(status, output) }];
  });
}

/**
 * The answers at the end of a stateless conversation: outputs `{"status": "success" | "cancelled", "output"?: {…}}` of calls whose functions are not
 * the caller's.
 */
export function answersOfCompletion(
  messages: readonly ModelMessage[],
  functions: readonly ModelTool[],
  agent: RunnableAgent | undefined,
): readonly ApprovalAnswer[] {
  const lastOther = messages.findLastIndex(({ role }) => role !== 'tool');
  const asking = messages[lastOther];
  if (asking?.role !== 'assistant' || asking.toolCalls === undefined) return [];
  const own = new Set(functions.map(({ name }) => name));
  for (const { name, type } of agent?.tools ?? []) if (type === 'CLIENT_FUNCTION') own.add(name);
  const waiting = new Set(asking.toolCalls.flatMap(({ id, name }) => (own.has(name) || !isId('mcpApproval', id) ? [] : [id])));
  return messages.flatMap((message, index): readonly ApprovalAnswer[] => {
    if (index <= lastOther || message.role !== 'tool' || !waiting.has(message.toolCallId)) return [];
    const answer = parseJson(message.content);
    if (!isObject(answer) || (answer.status !== 'success' && answer.status !== 'cancelled')) return [];
    const output = answer.output === undefined || answer.output === null ? '' : toText(answer.output);
    const at = `messages[${index}]`;
    const members = { at: `${at}.tool_call_id`, argumentsAt: `${at}.content` };
    return [{ callId: message.toolCallId, ...members, ...toApproval(answer.status, output) }];
  });
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
