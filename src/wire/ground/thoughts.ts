import { z } from 'zod';
import type { Thought } from '../../entities/conversations/runs/thought.ts';

/** Tells thoughts of this service from those that a client brings from elsewhere. */
const mark = 'thought.';
const thoughtSchema = z.object({
  text: z.string(),
  provider: z.string().min(1).max(200).optional(),
  opaque: z.record(z.string(), z.unknown()).optional(),
  callIndex: z.int().min(0).max(10_000).optional(),
});

/** A thought as one text that a client keeps and gives back. It holds all that the provider demands to see again. */
export function writtenThought(thought: Thought): string {
  return mark + Buffer.from(JSON.stringify(thought)).toString('base64url');
}

/** @returns undefined for what was not written here. */
export function readThought(input: unknown): Thought | undefined {
  if (typeof input !== 'string' || !input.startsWith(mark)) return undefined;
  try {
    const { text, provider, opaque, callIndex } = thoughtSchema.parse(
      JSON.parse(Buffer.from(input.slice(mark.length), 'base64url').toString()),
    );
    return {
      text,
      ...(provider === undefined ? {} : { provider }),
      ...(opaque === undefined ? {} : { opaque }),
      ...(callIndex === undefined ? {} : { callIndex }),
    };
  } catch {
    return undefined;
  }
}
