import type { ItemPermissions, UnknownCode, UnknownPermissions } from '../../../../entities/knowledge/permissions.ts';
import { SourceError } from '../error.ts';

const messageMax = 500;

/** Why something is not known, for an administrator. */
export function toUnknown(code: UnknownCode, message: string): { readonly unknown: UnknownPermissions } {
  return { unknown: { code, message: message.slice(0, messageMax) } };
}

/** Whether a call was refused for good: what it asked for is unknown. Everything else is thrown, and what was known before stays. */
export function isRefused(error: unknown): error is SourceError {
  return error instanceof SourceError && ['FORBIDDEN', 'NOT_FOUND', 'UNSUPPORTED'].includes(error.code);
}

/** What a refusal says of the permissions of an item. @throws the error where it may be better later, or where the account has to be connected again. */
export function toUnreadable(error: unknown, needed: string): { readonly unknown: UnknownPermissions } {
  if (!isRefused(error)) throw error;
  return toUnknown('UNREADABLE', `${error.message} ${needed}`);
}

/** Whether the permissions are known. */
export function hasLists(permissions: ItemPermissions): permissions is Extract<ItemPermissions, { readonly lists: unknown }> {
  return 'lists' in permissions;
}
