import { expect } from 'vitest';
import type { ExtractedDocument } from '../../../src/engine/knowledge/extract/extract.ts';

/** Whatever the bytes were: a failure with a reason that trying again cannot change, or text that the database takes, covered by its blocks. */
export function expectCleanResult(result: unknown): void {
  if (result instanceof Error) {
    expect(result).toMatchObject({ name: 'ExtractError', isRetryable: false });
    return;
  }
  const { text, blocks } = result as ExtractedDocument;
  expect(text.includes('\0') || !text.isWellFormed()).toBe(false);
  let covered = '';
  let end = 0;
  for (const { charStart, charEnd } of blocks) {
    expect(text.slice(end, charStart).trim()).toBe('');
    covered += text.slice(charStart, charEnd);
    end = charEnd;
  }
  expect(covered.trim()).not.toBe('');
  expect(text.slice(end).trim()).toBe('');
}
