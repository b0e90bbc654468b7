import type { PromptInput } from '../documents.ts';

/** What is sent: a text, files of the chat, or both. */
export function readPrompt(text: string, fileIds: readonly string[]): PromptInput {
  if (fileIds.length === 0) return { text };
  return { parts: [...(text === '' ? [] : [{ text }]), ...fileIds.map((fileId) => ({ fileId }))] };
}
