import type { UserInputValues } from '../../agents/part.ts';
import type { Citation } from '../../knowledge/citation.ts';
import type { CallOrigin } from '../runs/thought.ts';

export const messageRoles = ['user', 'assistant', 'system', 'tool'] as const;
export type MessageRole = (typeof messageRoles)[number];

export const toolOutputStatuses = ['success', 'error', 'cancelled'] as const;
export type ToolOutputStatus = (typeof toolOutputStatuses)[number];

export const threadModes = ['collect', 'steer', 'interrupt', 'force'] as const;
export type ThreadMode = (typeof threadModes)[number];

/** Where the part of a chat begins that models get: behind a message, with a summary in place of that and all before it; '' for none. */
export interface ContextStart {
  readonly messageId: string;
  readonly summary: string;
}

/** A conversation of one user with one agent. */
export interface Chat {
  readonly id: string;
  readonly createdAt: Date;
  /** Changes with every message, and with its name and pin. */
  readonly updatedAt: Date;
  readonly orgId: string;
  readonly userId: string;
  /** Null: a thread that was opened with a bare model. */
  readonly agentId: string | null;
  readonly modelId: string | null;
  /** '' until the first exchange names it. */
  readonly name: string;
  /** Null: not pinned. Lower values come first. */
  readonly pinPosition: number | null;
  /** Null: it is in the list of its user. */
  readonly archivedAt: Date | null;
  /** The project that it is in; null: none. */
  readonly projectId: string | null;
  /** Labels of its user, each once. */
  readonly tags: readonly string[];
  /** The run that is answering in the chat. */
  readonly activeRunId: string | null;
  /** The message whose answers stand beside each other, until one of them is chosen. */
  readonly comparedMessageId: string | null;
  /** When a run last ended in it; null before the first one. */
  readonly answeredAt: Date | null;
  /** Values given at the start, by variable name, for the agent's instructions. */
  readonly userInputs: UserInputValues;
  /** Editors of its agent may read it while the agent shows its chats. It was decided when the chat was made. */
  readonly isVisibleToEditors: boolean;
  readonly agent: ChatAgent;
}

/** The agent as its chats show it, also when the user may no longer use it. */
export interface ChatAgent {
  readonly id: string;
  readonly name: string;
  readonly src: string;
  readonly description: string;
  readonly userId: string;
  /** The text that the first message of a chat with it begins from; '' for none. */
  readonly seed: string;
}

export type PromptPart =
  | { readonly type: 'text'; readonly text: string }
  /** A file of the chat. */
  | { readonly type: 'id'; readonly id: string }
  /** An image by its http(s) address or as a data URL. */
  | { readonly type: 'url'; readonly url: string };

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
  /** The tool runs in the service: the output approves or refuses its call. */
  readonly approval?: true;
  /** For the service only. */
  readonly origin?: CallOrigin;
  /** For the service only: its place among the calls of its message as it was written, once others of them were removed. Ids of items hold it. */
  readonly place?: number;
}

export interface ChatMessage {
  readonly id: string;
  readonly chatId: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** The order in which the messages of its chat were written, from 0; it rises along each branch. */
  readonly ordinal: number;
  /** The message before on its branch, also a hidden one; null for the first. */
  readonly parentId: string | null;
  /** Whether it is on the branch that people and models read. */
  readonly isActive: boolean;
  readonly role: MessageRole;
  readonly content: string;
  /** The user's input when it was more than a string. */
  readonly parts: readonly PromptPart[] | null;
  /** Calls that this message asks the caller to answer. */
  readonly toolCalls: readonly ToolCall[] | null;
  /** For role tool: the answered call and its result. */
  readonly toolCallId: string | null;
  readonly toolStatus: ToolOutputStatus | null;
  readonly citations: readonly Citation[] | null;
  readonly runId: string | null;
  /** The version of the agent that said it; 0: a draft. Absent and null: of a bare model, or of before versions. */
  readonly agentVersion?: number | null;
  /** `incomplete` when the run was cut off. */
  readonly status: 'completed' | 'incomplete';
  /**
   * For models only, as messages of the model port. Role user: replaces the content. Role assistant: precedes the message, such as
   * calls of the service's tools with their outputs; an empty one means that models do not get the message, as an introduction. Role tool:
   * follows the outputs, such as images.
   */
  readonly context: readonly unknown[] | null;
  /** Not in transcripts: instructions, hidden parts. */
  readonly isHidden: boolean;
  /** A summary that replaces this message and all before it in model requests, '' for none; the newest one counts. */
  readonly compression?: string | null;
  /** A conversation item that models do not get, as the caller gave it; the message is hidden and empty. */
  readonly item?: Readonly<Record<string, unknown>> | null;
  /** The model that wrote an imported message, as the file called it. */
  readonly modelName?: string | null;
}
/** A message that is not stored yet. */
export type NewMessage = Omit<ChatMessage, 'chatId' | 'ordinal' | 'parentId' | 'isActive' | 'updatedAt'>;

/** The members that most new messages have alike. */
export const newMessageDefaults = {
  content: '',
  parts: null,
  toolCalls: null,
  toolCallId: null,
  toolStatus: null,
  citations: null,
  status: 'completed',
  context: null,
  isHidden: false,
} as const satisfies Partial<NewMessage>;

/** A message that was read from JSON, which has no dates. */
export function withTimes(message: NewMessage): NewMessage {
  return { ...message, createdAt: new Date(message.createdAt) };
}

/** A chat, with texts by name that a client keeps with it. */
export interface Conversation {
  readonly id: string;
  readonly createdAt: Date;
  readonly metadata: Readonly<Record<string, unknown>>;
}
