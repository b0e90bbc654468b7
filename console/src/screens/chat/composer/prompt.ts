import type { PromptInput } from '../documents.ts';

/** What is sent: a text, or a text with the files of the chat that belong to it. */
export function readPrompt(text: string, fileIds: readonly string[]): PromptInput {
  if (fileIds.length === 0) return { text };
  return { parts: [{ text }, ...fileIds.map((fileId) => ({ fileId }))] };
}
