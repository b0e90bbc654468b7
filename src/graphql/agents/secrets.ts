import { secretOperations } from '../../domain/agents/secrets.ts';
import { secretTypes } from '../../entities/agents/part.ts';
import { partMembers } from '../../wire/agents/parts.ts';
import { builder } from '../ground/builder/builder.ts';
import { AgentSecretRef } from '../ground/refs.ts';
import { createEnum, ofFormat } from '../ground/types/enums.ts';
import { strictInput } from '../ground/types/json-inputs.ts';
import { NodeType } from '../ground/types/node.ts';
import { addPartOperations, partFields } from './part-operations.ts';

const secretKinds = {
  apiKey: 'A key of an API.',
  bearerToken: 'A token behind `Bearer`.',
  basicAuth: 'User name and password, or the password alone.',
  header: 'The value of a header.',
};
export const SecretTypeType = createEnum('SecretType', 'What a secret is.', secretTypes, secretKinds, ofFormat);

const AgentSecretResource = AgentSecretRef.implement({
  access: { scope: 'AGENTS:READ' },
  description: 'A credential that tools of an agent refer to as `{{secret:KEY}}`. Its value is never shown.',
  interfaces: [NodeType],
  fields: (t) => ({
    ...partFields(t, 'secret'),
    key: t.exposeString('key', { description: 'The name by which tools refer to it.' }),
    description: t.exposeString('description', { description: 'What it is for.' }),
    secretType: t.expose('secretType', { type: SecretTypeType, description: 'The kind of credential.' }),
    hasValue: t.exposeBoolean('hasValue', { description: 'Whether it has a value.' }),
    origins: t.exposeStringList('origins', {
      description:
        'Where its value may be sent: scheme, host and port of the tools it was given for, like `https://api.example.com`. Empty: nowhere yet; the first tool that its giver writes for it adds its origin.',
    }),
  }),
});

/** Further members of a secret in replies. */
const secretMembers = ['key', 'hasValue', 'isDerived', 'origins', 'givenByUserId'];

const CreateAgentSecretInput = builder.inputType('CreateAgentSecretInput', {
  description: 'A new secret of an agent.',
  extensions: strictInput(...partMembers, ...secretMembers),
  fields: (t) => ({
    key: t.string({ description: 'Unique in its agent: a letter, then at most 99 letters, digits, _, . or -.' }),
    description: t.string({ required: false, description: 'What it is for; at most 2,000 characters.' }),
    secretType: t.field({ type: SecretTypeType, description: 'The kind of credential.' }),
    value: t.string({ required: false, description: 'At most 4,096 bytes. Written, never read back.' }),
    origins: t.stringList({
      required: false,
      description:
        'Where the value may be sent, at most 20 origins like `https://api.example.com`. Default: those of the tools that name the key.',
    }),
  }),
});
const UpdateAgentSecretInput = builder.inputType('UpdateAgentSecretInput', {
  description: 'Changes of a secret: absent members are kept.',
  extensions: strictInput(...partMembers, ...secretMembers),
  fields: (t) => ({
    description: t.string({ required: false, description: 'At most 2,000 characters; null empties it.' }),
    secretType: t.field({ type: SecretTypeType, required: false, description: 'The kind of credential.' }),
    value: t.string({ required: false, description: 'At most 4,096 bytes; null removes it.' }),
    origins: t.stringList({
      required: false,
      description:
        'Where the value may be sent, together with `value`. Required when tools name the key at origins that it was not given for before.',
    }),
  }),
});

addPartOperations({
  type: AgentSecretResource,
  idKind: 'agentSecret',
  operations: secretOperations,
  scopes: { read: 'AGENTS:READ', write: 'AGENTS:WRITE' },
  names: { one: 'agentSecret', list: 'agentSecrets', mutation: 'AgentSecret' },
  noun: 'secret',
  inputs: { create: CreateAgentSecretInput, update: UpdateAgentSecretInput },
  descriptions: {
    list: 'The secrets of an agent, by key, for who may edit it; at most 200.',
    one: 'One secret of an agent, for who may edit it.',
    create: 'Keeps a secret for the tools of an agent, for who may edit it.',
    newInput: 'What the secret is.',
    update: 'Changes a secret of an agent, for who may edit it.',
    delete: 'Deletes a secret of an agent. Returns the deleted secret, without its value.',
  },
});
