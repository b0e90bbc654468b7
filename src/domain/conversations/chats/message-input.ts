import type { ToolRegistry } from '../../../engine/tools/registry.ts';
import type { PromptPart, ThreadMode, ToolOutputStatus } from '../../../entities/conversations/chats/chat.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { storableText } from '../../../lib/text/text.ts';
import type { Settings } from '../../../settings.ts';
import { promptPart } from '../../../wire/chats.ts';
import { readWire } from '../../../wire/ground/read.ts';
import { readTools } from '../../agents/tools/read.ts';
import { readSecrets } from '../../agents/tools/secrets.ts';
import { Faults } from '../../ground/faults.ts';
import { type RunOptions, readOptions } from '../runs/options.ts';
import { plainRequest, type RunRequest } from '../runs/plan.ts';

type Maybe<T> = T | null | undefined;

/** A message as the schema accepts it. Absent and null mean the same. */
export interface SendMessageInput {
  /** A string, or an array of parts. */
  readonly prompt?: unknown;
  readonly date?: Maybe<Date>;
  readonly modelId?: Maybe<string>;
  readonly options?: unknown;
  readonly tools?: unknown;
  readonly secrets?: unknown;
  readonly threadMode?: Maybe<ThreadMode>;
  /** The version of the agent that answers; 0: the draft. For those who may edit the agent. */
  readonly version?: number | undefined;
}

export interface SubmitToolOutputsInput {
  readonly systemMessageId: string;
  readonly outputs: readonly ToolOutputInput[];
  readonly options?: unknown;
  readonly secrets?: unknown;
}
export interface ToolOutputInput {
  readonly toolCallId: string;
  readonly status: ToolOutputStatus;
  readonly output: string;
}

/** A valid message. */
export interface ReadMessage extends RunRequest {
  /** The prompt as text: the transcript shows it, and knowledge is searched with it. */
  readonly text: string;
  readonly parts: readonly PromptPart[] | null;
  readonly secrets: Readonly<Record<string, string>>;
}

const partsMax = 100;
/** Longer ids name nothing. */
const idLengthMax = 100;

/** @throws DomainError of the first fault, carrying all of them. Files and addresses are looked up by domain/conversations/chats/prompt-files.ts. */
export function readMessage(input: SendMessageInput, limits: Pick<Settings, 'TOOLS_MAX'>, registry: ToolRegistry): ReadMessage {
  const faults = new Faults();
  const parts = readPrompt(input.prompt, faults);
  const terms = { registry, toolsMax: limits.TOOLS_MAX, mayBeAgent: true, isCamelCase: true };
  const tools = readTools({ tools: input.tools }, terms, faults);
  const options = readOptions(input.options, faults);
  const secrets = { ...readSecrets(input.secrets, faults), ...tools.secrets };
  faults.throwIfAny();
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  return { ...plainRequest, text, parts: typeof input.prompt === 'string' ? null : parts, tools, secrets, options };
}

/** @throws DomainError of the first fault, carrying all of them. */
export function readToolOutputs(input: SubmitToolOutputsInput): {
  readonly outputs: readonly ToolOutputInput[];
  readonly secrets: Readonly<Record<string, string>>;
  readonly options: RunOptions;
} {
  const faults = new Faults();
  if (input.outputs.length === 0) faults.add('outputs', 'outputs must hold one output for each awaited call', 'EMPTY_ARRAY');
  const seenIds = new Set<string>();
  for (const [index, { toolCallId }] of input.outputs.entries()) {
    if (seenIds.has(toolCallId)) faults.add(`outputs[${index}].toolCallId`, `outputs[${index}].toolCallId stands there twice`);
    seenIds.add(toolCallId);
  }
  const options = readOptions(input.options, faults);
  if (options.override !== undefined) {
    const message = 'options.flow.override cannot be kept to: the outputs of tools go to the model that called them';
    faults.add('options.flow.override', message, 'UNSUPPORTED_VALUE');
  }
  const secrets = readSecrets(input.secrets, faults);
  faults.throwIfAny();
  return { outputs: input.outputs.map((output) => ({ ...output, output: storableText(output.output) })), secrets, options };
}

function readPrompt(prompt: unknown, faults: Faults): readonly PromptPart[] {
  if (typeof prompt === 'string') {
    if (prompt.trim() === '') faults.add('prompt', 'prompt must not be blank');
    return [{ type: 'text', text: storableText(prompt) }];
  }
  if (!Array.isArray(prompt)) {
    faults.add('prompt', 'prompt must be a string or an array of content parts', 'INVALID_TYPE');
    return [];
  }
  if (prompt.length === 0) faults.add('prompt', 'prompt must hold at least one part', 'EMPTY_ARRAY');
  faults.requireCount('prompt', prompt, partsMax);
  const parts = prompt.slice(0, partsMax).flatMap((part: unknown, index) => readPart(part, `prompt[${index}]`, faults));
  if (prompt.length > 0 && parts.every((part) => part.type === 'text' && part.text.trim() === '')) {
    faults.add('prompt', 'prompt must not be blank');
  }
  return parts;
}

function readPart(part: unknown, at: string, faults: Faults): readonly PromptPart[] {
  const read = readWire(promptPart, part, at, faults);
  switch (read?.type) {
    case 'text':
      return [{ type: 'text', text: storableText(read.text) }];
    case 'id':
      return [{ type: 'id', id: storableText(read.id.slice(0, idLengthMax)) }];
    case 'url':
      return [{ type: 'url', url: storableText(read.url) }];
    default:
      return [];
  }
}

/** @throws DomainError when the outputs are not those of the awaited calls, one each. */
export function requireAwaited(outputs: readonly ToolOutputInput[], awaitedIds: readonly string[]): void {
  const faults = new Faults();
  const pendingIds = new Set(awaitedIds);
  for (const [index, { toolCallId }] of outputs.entries()) {
    if (!pendingIds.has(toolCallId))
      faults.add(`outputs[${index}].toolCallId`, `outputs[${index}].toolCallId names no call of this message`);
  }
  const outputIds = new Set(outputs.map(({ toolCallId }) => toolCallId));
  const missing = awaitedIds.filter((id) => !outputIds.has(id));
  if (missing.length > 0) {
    faults.add(
      'outputs',
      `outputs must answer all awaited calls at once; missing: ${missing.join(', ')}`,
      'MISSING_REQUIRED_PARAMETER',
    );
  }
  faults.throwIfAny();
}

export function toolOutputConflict(): DomainError {
  return new DomainError(
    'TOOL_OUTPUT_CONFLICT',
    'These calls are not awaited any more: they were answered, or the chat went on',
    {
      param: 'systemMessageId',
    },
  );
}
