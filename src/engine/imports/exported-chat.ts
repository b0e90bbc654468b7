import { z } from 'zod';

/** What an export may be at most. A chat or a message beyond it is left out or cut, and the report of the import says so. */
export const exportLimits = {
  /** JSON of one chat in the file. */
  chatMaxBytes: 32 * 1024 * 1024,
  /** Objects and lists within each other: some exports nest each message in the one that it answers. */
  depthMax: 20_000,
  chatsMax: 50_000,
  messagesMax: 20_000,
  messageMaxChars: 200_000,
  /** Text of all messages of one chat. */
  chatMaxChars: 4_000_000,
  nameMaxChars: 200,
  modelNameMaxChars: 200,
  originMaxChars: 200,
} as const;

const text = z.string().max(exportLimits.messageMaxChars + 1);

/** A chat of an export as the process that read it says it. Messages come before those that follow them. */
export const exportedChat = z.object({
  format: z.enum(['CHATGPT', 'CLAUDE', 'LIBRECHAT', 'OPEN_WEBUI', 'PARLEY']),
  origin: z.string().min(1).max(exportLimits.originMaxChars),
  name: z.string().max(exportLimits.nameMaxChars + 1),
  createdAtMs: z.number().int().nullable(),
  updatedAtMs: z.number().int().nullable(),
  messages: z
    .array(
      z.object({
        /** The place of the message that it follows; null for the first of a chat. */
        parent: z.number().int().min(0).nullable(),
        isActive: z.boolean(),
        role: z.enum(['user', 'assistant']),
        text,
        atMs: z.number().int().nullable(),
        modelName: z
          .string()
          .max(exportLimits.modelNameMaxChars + 1)
          .nullable(),
        isComplete: z.boolean(),
      }),
    )
    .max(exportLimits.messagesMax),
  /** What was left out of it, by kind. */
  omissions: z.record(z.string(), z.number().int().positive()),
});
export type ExportedChat = z.output<typeof exportedChat>;
export type ExportedMessage = ExportedChat['messages'][number];

/** What the service asks the process for: chats from a place in the file on, as many as fit an answer. */
export interface ExportQuestion {
  /** How many chats of the file are passed over. */
  readonly from: number;
}

export const exportFacts = z.object({
  /** The place of the next chat that was not read; null at the end of the file. */
  next: z.number().int().positive().nullable(),
  /** How many chats the file has; null where it was not read to its end. */
  total: z.number().int().min(0).nullable(),
  /** Chats that could not be read, by why. */
  refusals: z.record(z.string(), z.number().int().positive()),
});
export type ExportFacts = z.output<typeof exportFacts>;
