import {
  createAgentSecret,
  deleteAgentSecret,
  getAgentSecret,
  getAgentSecrets,
  listAgentSecrets,
  updateAgentSecret,
} from '../../domain/agents/secrets.ts';
import { secretTypes } from '../../entities/agents/part.ts';
import { partMembers } from '../../wire/agents/parts.ts';
import { builder } from '../ground/builder/builder.ts';
import { loadNode, registerNode } from '../ground/builder/nodes.ts';
import { AgentRef, AgentSecretRef } from '../ground/refs.ts';
import { createEnum, ofFormat } from '../ground/types/enums.ts';
import { strictInput } from '../ground/types/json-inputs.ts';
import { NodeType } from '../ground/types/node.ts';
import { partArgs } from './part-args.ts';

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
    id: t.exposeID('id', { description: 'The id of the secret.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
    agentId: t.exposeID('agentId', { description: 'The agent it belongs to.' }),
    agent: t.field({
      type: AgentRef,
      nullable: true,
      description: 'That agent.',
      resolve: ({ agentId }, _args, context) => loadNode(context, 'agent', agentId),
    }),
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

registerNode('agentSecret', {
  typeName: 'AgentSecret',
  operation: 'Query.agentSecret',
  loadMany: (ids, { deps, caller }) => getAgentSecrets(deps, caller, ids),
});

builder.queryFields((t) => ({
  agentSecrets: t.field({
    authScopes: { key: 'AGENTS:READ' },
    type: [AgentSecretResource],
    description: 'The secrets of an agent, by key, for who may edit it; at most 200.',
    args: { agentId: t.arg.id({ description: 'The id of the agent.' }) },
    resolve: (_root, { agentId }, { deps, caller }) => listAgentSecrets(deps, caller, agentId),
  }),
  agentSecret: t.field({
    authScopes: { key: 'AGENTS:READ' },
    type: AgentSecretResource,
    nullable: true,
    description: 'One secret of an agent, for who may edit it.',
    args: partArgs(t.arg, { description: 'The id of the secret.' }),
    resolve: (_root, place, { deps, caller }) => getAgentSecret(deps, caller, place),
  }),
}));

builder.mutationFields((t) => ({
  createAgentSecret: t.field({
    authScopes: { key: 'AGENTS:WRITE' },
    type: AgentSecretResource,
    description: 'Keeps a secret for the tools of an agent, for who may edit it.',
    args: {
      agentId: t.arg.id({ description: 'The id of the agent.' }),
      input: t.arg({ type: CreateAgentSecretInput, description: 'What the secret is.' }),
    },
    resolve: (_root, { agentId, input }, { deps, caller }) => createAgentSecret(deps, caller, agentId, input),
  }),
  updateAgentSecret: t.field({
    authScopes: { key: 'AGENTS:WRITE' },
    type: AgentSecretResource,
    description: 'Changes a secret of an agent, for who may edit it.',
    args: {
      ...partArgs(t.arg, { description: 'The id of the secret.' }),
      input: t.arg({ type: UpdateAgentSecretInput, description: 'The members to change.' }),
    },
    resolve: (_root, { input, ...place }, { deps, caller }) => updateAgentSecret(deps, caller, place, input),
  }),
  deleteAgentSecret: t.field({
    authScopes: { key: 'AGENTS:WRITE' },
    type: AgentSecretResource,
    description: 'Deletes a secret of an agent. Returns the deleted secret, without its value.',
    args: partArgs(t.arg, { description: 'The id of the secret.' }),
    resolve: (_root, place, { deps, caller }) => deleteAgentSecret(deps, caller, place),
  }),
}));
