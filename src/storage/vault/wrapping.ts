import { type SealingKey, seal, sealedKeyId, unseal } from './sealing.ts';

/**
 * Wraps an organization's data key with each of the master keys, so that instances that know only one of them can open it while a new key is
 * introduced.
 *
 * @returns sealed texts with spaces between them.
 */
export function wrapDataKey(keys: readonly SealingKey[], orgId: string, bytes: Uint8Array): string {
  return keys.map((key) => seal(key, bytes, placeOf(orgId))).join(' ');
}

/** @throws SealError when none of the keys opens it, or it was changed or moved. */
export function openDataKey(keys: readonly SealingKey[], orgId: string, wrapped: string): Buffer {
  const parts = wrapped.split(' ');
  const mine = parts.find((part) => keys.some(({ id }) => id === sealedKeyId(part)));
  return unseal(keys, mine ?? parts[0] ?? '', placeOf(orgId));
}

function placeOf(orgId: string): string[] {
  return ['organization_keys', orgId, orgId];
}
