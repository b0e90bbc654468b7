import { type SealingKey, seal, sealedKeyId, unseal } from './sealing.ts';

/**
 * Wraps an organization's data key with each of the master keys, so that instances that know only one of them can open it while a new key is
 * introduced.
 *
 * @returns sealed texts with spaces between them.
 */
export function wrapDataKey(keys: readonly SealingKey[], orgId: string, bytes: Uint8Array): string {
  return keys.map((key) => seal(key, bytes, toSealPlace(orgId))).join(' ');
}

/** @throws SealError when none of the keys opens it, or it was changed or moved. */
export function openDataKey(keys: readonly SealingKey[], orgId: string, wrappedKey: string): Buffer {
  const parts = wrappedKey.split(' ');
  const mine = parts.find((part) => keys.some(({ id }) => id === sealedKeyId(part)));
  return unseal(keys, mine ?? parts[0] ?? '', toSealPlace(orgId));
}

function toSealPlace(orgId: string): string[] {
  return ['organization_keys', orgId, orgId];
}
