import { createUser, deleteUser, getUser, listUsers, updateUser } from '../../domain/people/users.ts';
import { builder } from '../ground/builder/builder.ts';
import { makeConnection, pageArgs, pageRequest } from '../ground/pagination.ts';
import { MemberRoleType, UserType } from './accounts.ts';

export const UserConnection = makeConnection(UserType, 'User', 'Users');

builder.queryFields((t) => ({
  user: t.field({
    authScopes: { key: 'ADMIN:READ' },
    type: UserType,
    nullable: true,
    description: "One user within the caller's administration; null when there is none. `node` finds colleagues too.",
    args: { id: t.arg.id({ description: 'The id of the user.' }) },
    resolve: (_root, { id }, { deps, caller }) => getUser(deps, caller, id),
  }),
  users: t.field({
    authScopes: { key: 'ADMIN:READ' },
    type: UserConnection,
    description: "Users within the caller's administration, newest first.",
    args: {
      orgId: t.arg.id({ required: false, description: 'Only members of this organization.' }),
      search: t.arg.string({
        required: false,
        description: 'Text in name or e-mail, whatever the case; at most 200 characters.',
      }),
      isActive: t.arg.boolean({ required: false, description: 'False: those who are deactivated instead. Default true.' }),
      ...pageArgs(t.arg),
    },
    resolve: (_root, { first, after, last, before, ...filter }, context) =>
      listUsers(context.deps, context.caller, filter, pageRequest(context, { first, after, last, before })),
  }),
}));

const CreateUserInput = builder.inputType('CreateUserInput', {
  description: 'A person for an organization.',
  fields: (t) => ({
    email: t.string({ description: 'Unique in the tenant; kept in lower case.' }),
    name: t.string({ required: false, description: '1 to 200 characters. Default: what stands before the @.' }),
    orgId: t.id({ required: false, description: "Default: the caller's organization. Others need a TENANT or INSTANCE key." }),
    role: t.field({ type: MemberRoleType, required: false, description: 'Default MEMBER.' }),
  }),
});

const UpdateUserInput = builder.inputType('UpdateUserInput', {
  description: 'Changes of a user: absent and null members are kept.',
  fields: (t) => ({
    email: t.string({ required: false, description: 'Unique in the tenant; groups that name the user follow.' }),
    name: t.string({ required: false, description: '1 to 200 characters.' }),
  }),
});

builder.mutationFields((t) => ({
  createUser: t.field({
    authScopes: { key: 'ADMIN:WRITE' },
    type: UserType,
    description:
      'Adds a person to an organization, for its administrators. A user of the tenant with this e-mail becomes a member and keeps the name.',
    args: { input: t.arg({ type: CreateUserInput, description: 'The members of the new user.' }) },
    resolve: (_root, { input }, { deps, caller }) => createUser(deps, caller, input),
  }),
  updateUser: t.field({
    authScopes: { key: 'ADMIN:WRITE' },
    type: UserType,
    description: 'Changes a user. Members of several organizations need a TENANT or INSTANCE key.',
    args: {
      id: t.arg.id({ description: 'The id of the user.' }),
      input: t.arg({ type: UpdateUserInput, description: 'The members to change.' }),
    },
    resolve: (_root, { id, input }, { deps, caller }) => updateUser(deps, caller, id, input),
  }),
  deleteUser: t.field({
    authScopes: { key: 'ADMIN:WRITE' },
    type: UserType,
    description:
      'Deletes a user who owns nothing, for TENANT and INSTANCE keys: keys and memberships at once, chats and connections behind the reply. Answers who it was.',
    args: { id: t.arg.id({ description: 'The id of the user.' }) },
    resolve: (_root, { id }, { deps, caller }) => deleteUser(deps, caller, id),
  }),
}));
