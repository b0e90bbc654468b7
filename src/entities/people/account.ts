import type { MemberRole } from './caller.ts';

/** The outermost boundary: only INSTANCE keys reach across tenants. */
export interface Tenant {
  readonly id: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly name: string;
}

export interface Membership {
  readonly id: string;
  readonly createdAt: Date;
  readonly orgId: string;
  readonly userId: string;
  readonly role: MemberRole;
}

export interface User {
  readonly id: string;
  readonly createdAt: Date;
  readonly tenantId: string;
  readonly email: string;
  readonly name: string;
}

export interface Organization {
  readonly id: string;
  readonly createdAt: Date;
  readonly tenantId: string;
  readonly name: string;
  /** Tokens; null is no limit. */
  readonly dataUsageTokenLimit: number | null;
  readonly apiUsageTokenLimit: number | null;
  /** An IANA name: its days and months begin by this clock. */
  readonly timeZone: string;
}
