import {
  canEditPrompt,
  createPrompt,
  deletePrompt,
  fillPrompt,
  getPrompt,
  getPrompts,
  listPrompts,
  updatePrompt,
} from '../../domain/conversations/prompts.ts';
import { type PromptVisibility, promptVisibilities } from '../../entities/conversations/prompt.ts';
import { findVariables, type PromptVariable } from '../../lib/text/prompt-variables.ts';
import { builder } from '../ground/builder/builder.ts';
import { loadNodes, nodeById, registerNode } from '../ground/builder/nodes.ts';
import { makeConnection, pageArgs, pageRequest } from '../ground/pagination.ts';
import { GroupRef, PromptRef, UserRef } from '../ground/refs.ts';
import { createEnum } from '../ground/types/enums.ts';
import { NodeType } from '../ground/types/node.ts';

const PromptVisibilityType = createEnum('PromptVisibility', 'Who may use a prompt.', promptVisibilities, {
  PRIVATE: 'Its owner.',
  GROUP: 'Its owner, and members of its groups.',
  ORGANIZATION: 'Everybody in the organization.',
} satisfies Record<PromptVisibility, string>);

const PromptVariableType = builder.objectRef<PromptVariable>('PromptVariable').implement({
  access: { scope: 'CHATS:READ' },
  description:
    'What is filled in before a prompt is used. In its text it is `{{name}}`, `{{name=default}}`, `{{name: one | two}}` or `{{name: one | two = two}}`.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name; the same name is the same variable.' }),
    default: t.exposeString('default', {
      nullable: true,
      description: 'What it is when nothing is given; null: something must be.',
    }),
    choices: t.stringList({ description: 'What it may be; empty: any text.', resolve: ({ choices }) => [...choices] }),
  }),
});

const groupsMax = 100;

const PromptType = PromptRef.implement({
  access: { scope: 'CHATS:READ' },
  description: 'A text that somebody keeps for the box of a chat, with variables.',
  interfaces: [NodeType],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the prompt.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
    name: t.exposeString('name', { description: 'What it is called.' }),
    command: t.exposeString('command', { description: 'What is typed behind `/` in the box of a chat.' }),
    text: t.exposeString('text', { description: 'The text, with its variables.' }),
    variables: t.field({
      type: [PromptVariableType],
      description: 'Its variables in the order of the text; at most 20.',
      resolve: ({ text }) => [...findVariables(text)],
    }),
    visibility: t.expose('visibility', { type: PromptVisibilityType, description: 'Who may use it.' }),
    groups: t.field({
      type: [GroupRef],
      description: `The groups whose members may use it, as far as the caller may see them; at most ${groupsMax}.`,
      resolve: ({ groupIds }, _args, context) => loadNodes(context, 'group', groupIds.slice(0, groupsMax)),
    }),
    userId: t.exposeID('userId', { description: 'Its owner.' }),
    user: t.field({
      type: UserRef,
      nullable: true,
      description: 'That user; null when the caller may not see it.',
      resolve: ({ userId }, _args, context) => nodeById(context, userId),
    }),
    canEdit: t.boolean({
      description: 'Whether the caller may change it: its owner may.',
      resolve: (prompt, _args, { caller }) => canEditPrompt(caller, prompt),
    }),
  }),
});

registerNode('prompt', {
  typeName: 'Prompt',
  operation: 'Query.prompt',
  loadMany: (ids, { deps, caller }) => getPrompts(deps, caller, ids),
});

const PromptConnection = makeConnection(PromptType, 'Prompt', 'Prompts');

const PromptValueInput = builder.inputType('PromptValueInput', {
  description: 'A value for a variable of a prompt.',
  fields: (t) => ({
    name: t.string({ description: 'The name of the variable.' }),
    value: t.string({ description: 'The value; blank: its default. At most 20,000 characters.' }),
  }),
});

const id = { description: 'The id of the prompt.' };

builder.queryFields((t) => ({
  prompt: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: PromptType,
    nullable: true,
    description: 'One prompt that the caller may use; null when there is none.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, { deps, caller }) => getPrompt(deps, caller, args.id),
  }),
  prompts: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: PromptConnection,
    description: "The caller's prompts, and those that are shared with it, newest first.",
    args: {
      search: t.arg.string({
        required: false,
        description: 'Only those whose name or command holds this, in any case; at most 200 characters.',
      }),
      onlyOwn: t.arg.boolean({ required: false, description: "Only the caller's own. Default: all." }),
      ...pageArgs(t.arg),
    },
    resolve: (_root, args, context) => listPrompts(context.deps, context.caller, args, pageRequest(context, args)),
  }),
  filledPrompt: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: 'String',
    description:
      'The text of a prompt with values in place of its variables. The error names every variable that lacks a value, or has one that is not among its choices.',
    args: {
      id: t.arg.id(id),
      values: t.arg({ type: [PromptValueInput], description: 'Values of its variables; the others get their defaults.' }),
    },
    resolve: (_root, args, { deps, caller }) => fillPrompt(deps, caller, args.id, args.values),
  }),
}));

const words = {
  name: '1 to 100 characters.',
  command: 'What is typed behind `/`: 1 to 40 lower-case letters, digits and hyphens; no other prompt of the caller has it.',
  text: 'The text; at most 20,000 characters with 20 variables.',
  visibility: 'Who may use it.',
  groupIds: 'With GROUP: the groups whose members may use it, 1 to 100.',
};

const CreatePromptInput = builder.inputType('CreatePromptInput', {
  description: 'A new prompt.',
  fields: (t) => ({
    name: t.string({ description: words.name }),
    command: t.string({ description: words.command }),
    text: t.string({ description: words.text }),
    visibility: t.field({ type: PromptVisibilityType, required: false, description: `${words.visibility} Default: PRIVATE.` }),
    groupIds: t.idList({ required: false, description: words.groupIds }),
  }),
});

const UpdatePromptInput = builder.inputType('UpdatePromptInput', {
  description: 'Changes of a prompt: absent members are kept.',
  fields: (t) => ({
    name: t.string({ required: false, description: words.name }),
    command: t.string({ required: false, description: words.command }),
    text: t.string({ required: false, description: words.text }),
    visibility: t.field({ type: PromptVisibilityType, required: false, description: words.visibility }),
    groupIds: t.idList({ required: false, description: words.groupIds }),
  }),
});

builder.mutationFields((t) => ({
  createPrompt: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: PromptType,
    description: 'Keeps a prompt; one person has at most 500.',
    args: { input: t.arg({ type: CreatePromptInput, description: 'The prompt.' }) },
    resolve: (_root, { input }, { deps, caller }) => createPrompt(deps, caller, input),
  }),
  updatePrompt: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: PromptType,
    description: 'Changes a prompt of the caller.',
    args: { id: t.arg.id(id), input: t.arg({ type: UpdatePromptInput, description: 'What to change.' }) },
    resolve: (_root, { id: promptId, input }, { deps, caller }) => updatePrompt(deps, caller, promptId, input),
  }),
  deletePrompt: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: PromptType,
    description:
      'Deletes a prompt of the caller; with ADMIN:WRITE, administrators delete those that are shared with them. Answers what it was.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, { deps, caller }) => deletePrompt(deps, caller, args.id),
  }),
}));
