export const groupAvailabilities = ['EVERYONE', 'RESTRICTED'] as const;
export type GroupAvailability = (typeof groupAvailabilities)[number];

/** Users who share agents. RESTRICTED groups are seen by their members only. */
export interface Group {
  readonly id: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly orgId: string;
  readonly ownerUserId: string;
  readonly name: string;
  readonly availability: GroupAvailability;
}

export interface GroupMember {
  readonly groupId: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Null until a user of this e-mail exists in the tenant. */
  readonly userId: string | null;
  /** Lower case. */
  readonly email: string;
}
