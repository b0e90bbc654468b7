import type { MemberRole } from './caller.ts';

/** A person as the identity provider of an organization sees them. */
export interface ScimUser {
  readonly id: string;
  readonly tenantId: string;
  readonly email: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Undefined for somebody who is deactivated. */
  readonly membershipId: string | undefined;
  readonly role: MemberRole;
  readonly externalId: string | null;
  readonly givenName: string | null;
  readonly familyName: string | null;
}

/** What is kept about a person for the identity provider. */
export interface ScimUserNote {
  readonly externalId: string | null;
  readonly givenName: string | null;
  readonly familyName: string | null;
  readonly isActive: boolean;
  readonly role: MemberRole;
}

/** A group that an identity provider has made. */
export interface ScimGroup {
  readonly id: string;
  readonly name: string;
  readonly ownerUserId: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly externalId: string | null;
  readonly members: readonly { readonly userId: string; readonly email: string }[];
}

/** The one comparison that a list can be narrowed by: equality. */
export interface ScimFilter {
  readonly attribute: 'id' | 'externalId' | 'email' | 'name';
  readonly value: string;
}
export interface ScimPage {
  readonly skip: number;
  readonly take: number;
}
export interface ScimList<T> {
  readonly items: readonly T[];
  readonly total: number;
}
