import {
  addPasskey,
  beginPasskey,
  deletePasskey,
  getPasskeys,
  listPasskeys,
  renamePasskey,
} from '../../../domain/people/sign-in/passkeys.ts';
import type { Passkey } from '../../../entities/people/passkey.ts';
import { builder } from '../../ground/builder/builder.ts';
import { registerNode } from '../../ground/builder/nodes.ts';
import { makeConnection, pageArgs, pageRequest } from '../../ground/pagination.ts';
import { NodeType } from '../../ground/types/node.ts';
import { ViewerType } from '../viewer.ts';

const PasskeyType = builder.objectRef<Passkey>('Passkey').implement({
  access: { scope: 'API_KEYS:READ' },
  description: 'A key of a device by which the user signs in.',
  interfaces: [NodeType],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the passkey.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was added.' }),
    name: t.exposeString('name', { description: 'What the user calls it.' }),
    isBackedUp: t.exposeBoolean('isBackedUp', { description: 'Whether the device had copied it to others when it was added.' }),
    lastUsedAt: t.expose('lastUsedAt', { type: 'DateTime', nullable: true, description: 'When it last signed the user in.' }),
  }),
});

registerNode('passkey', {
  typeName: 'Passkey',
  operation: 'Query.apiKeys',
  loadMany: (ids, { deps, caller }) => getPasskeys(deps, caller, ids),
});

const PasskeyConnection = makeConnection(PasskeyType, 'Passkey', 'Passkeys');

builder.objectField(ViewerType, 'passkeys', (t) =>
  t.field({
    type: PasskeyConnection,
    description: 'Devices by which the user can sign in, the last added first.',
    args: { ...pageArgs(t.arg) },
    resolve: (_caller, args, context) => listPasskeys(context.deps, context.caller, pageRequest(context, args)),
  }),
);

const BeginPasskeyPayload = builder.objectRef<{ readonly options: string }>('BeginPasskeyPayload').implement({
  access: { scope: 'API_KEYS:WRITE' },
  description: 'What a device is asked for.',
  fields: (t) => ({
    options: t.exposeString('options', {
      description: 'JSON for `PublicKeyCredential.parseCreationOptionsFromJSON`. It can be answered once, within five minutes.',
    }),
  }),
});

const AddPasskeyInput = builder.inputType('AddPasskeyInput', {
  description: 'A passkey that a device has made.',
  fields: (t) => ({
    name: t.string({ description: 'What the user calls it: 1 to 200 characters.' }),
    response: t.string({ description: 'The credential as JSON, as its `toJSON` gives it.' }),
  }),
});
const RenamePasskeyInput = builder.inputType('RenamePasskeyInput', {
  description: 'Another name.',
  fields: (t) => ({ name: t.string({ description: '1 to 200 characters.' }) }),
});

builder.mutationFields((t) => ({
  beginPasskey: t.field({
    authScopes: { key: 'API_KEYS:WRITE' },
    type: BeginPasskeyPayload,
    description: 'Begins to add a passkey, in a session that was begun within the last hour. Keys add none.',
    resolve: async (_root, _args, { deps, caller }) => ({ options: await beginPasskey(deps, caller) }),
  }),
  addPasskey: t.field({
    authScopes: { key: 'API_KEYS:WRITE' },
    type: PasskeyType,
    description: 'Adds the passkey that a device has made for `beginPasskey`: it signs the user in from then on.',
    args: { input: t.arg({ type: AddPasskeyInput, description: 'What the device has made.' }) },
    resolve: (_root, { input }, { deps, caller }) => addPasskey(deps, caller, input),
  }),
  renamePasskey: t.field({
    authScopes: { key: 'API_KEYS:WRITE' },
    type: PasskeyType,
    description: "Renames one of the user's own passkeys.",
    args: {
      id: t.arg.id({ description: 'The id of the passkey.' }),
      input: t.arg({ type: RenamePasskeyInput, description: 'The new name.' }),
    },
    resolve: (_root, { id, input }, { deps, caller }) => renamePasskey(deps, caller, id, input.name),
  }),
  deletePasskey: t.field({
    authScopes: { key: 'API_KEYS:WRITE' },
    type: PasskeyType,
    description: "Deletes one of the user's own passkeys: it signs nobody in any more. Sessions go on. Answers what it was.",
    args: { id: t.arg.id({ description: 'The id of the passkey.' }) },
    resolve: (_root, { id }, { deps, caller }) => deletePasskey(deps, caller, id),
  }),
}));
