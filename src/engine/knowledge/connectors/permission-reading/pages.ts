import { createHash } from 'node:crypto';
import type { PermissionItem } from '../permissions.ts';

/** A short text that is another one as soon as the value is. */
export function hashJson(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 22);
}

/** An e-mail as principals have it; undefined for what is none. */
export function toEmail(value: unknown): string | undefined {
  return typeof value === 'string' && value.includes('@') ? value.trim().toLowerCase() : undefined;
}

/** All items of a task, one by one. */
export async function* eachItem(pages: AsyncIterable<readonly PermissionItem[]>): AsyncGenerator<PermissionItem, void, void> {
  for await (const page of pages) yield* page;
}
