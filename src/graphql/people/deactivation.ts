import { deactivateUser, isActiveOfEach, reactivateUser } from '../../domain/people/deactivation.ts';
import { batched } from '../ground/builder/batched.ts';
import { builder } from '../ground/builder/builder.ts';
import { UserRef } from '../ground/refs.ts';

const isActiveOf = batched((ids: readonly string[], { deps, caller }) => isActiveOfEach(deps, caller, ids));

builder.objectField(UserRef, 'isActive', (t) =>
  t.boolean({
    description:
      "Whether the user is a member of the caller's organization, for a key of a higher level of any within its reach. False for somebody who was deactivated, and for one who left.",
    resolve: ({ id }, _args, context) => isActiveOf(context, id),
  }),
);

const orgIdDescription = "Default: the caller's organization. Others need a TENANT or INSTANCE key.";

builder.mutationFields((t) => ({
  deactivateUser: t.field({
    authScopes: { key: 'ADMIN:WRITE' },
    type: UserRef,
    description:
      "Takes a user from an organization until `reactivateUser`: the membership, keys and sessions there end within a second, open streams within five. What the user made stays. Never the caller's own user, nor the last administrator.",
    args: {
      id: t.arg.id({ description: 'The id of the user.' }),
      orgId: t.arg.id({ required: false, description: orgIdDescription }),
    },
    resolve: (_root, { id, orgId }, { deps, caller }) => deactivateUser(deps, caller, id, orgId),
  }),
  reactivateUser: t.field({
    authScopes: { key: 'ADMIN:WRITE' },
    type: UserRef,
    description:
      'Makes a user who was deactivated, here or by an identity provider, a member again with the same role. Keys, sessions and grants do not come back.',
    args: {
      id: t.arg.id({ description: 'The id of the user.' }),
      orgId: t.arg.id({ required: false, description: orgIdDescription }),
    },
    resolve: (_root, { id, orgId }, { deps, caller }) => reactivateUser(deps, caller, id, orgId),
  }),
}));
