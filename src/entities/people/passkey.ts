import type { AccessLevel } from './caller.ts';

/** A key of a device by which a person signs in. */
export interface Passkey {
  readonly id: string;
  readonly createdAt: Date;
  readonly userId: string;
  readonly name: string;
  /** What the device calls it, base64url. */
  readonly credentialId: string;
  /** In COSE, base64url. */
  readonly publicKey: string;
  /** Uses that the device has counted; 0 for devices that do not count. */
  readonly counter: number;
  readonly transports: readonly string[];
  readonly isBackedUp: boolean;
  readonly lastUsedAt: Date | null;
  /** The level of the session in which it was added. */
  readonly level: AccessLevel;
  /** Organizations that it opens. */
  readonly orgIds: readonly string[];
}
