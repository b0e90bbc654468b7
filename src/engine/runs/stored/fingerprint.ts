import { createHmac, randomBytes } from 'node:crypto';

/** Makes the function behind RunEngine.fingerprint. */
export function createFingerprint(): (secrets: Readonly<Record<string, string>>) => string | null {
  const key = randomBytes(32);
  return (secrets) => {
    const entries = Object.entries(secrets).sort(([left], [right]) => (left < right ? -1 : 1));
    if (entries.length === 0) return null;
    return createHmac('sha256', key).update(JSON.stringify(entries)).digest('base64url');
  };
}
