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
}
