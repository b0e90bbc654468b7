import { listChats } from '../../domain/conversations/chats/chats.ts';
import {
  createProject,
  deleteProject,
  getProject,
  getProjects,
  listProjectParts,
  listProjects,
  updateProject,
} from '../../domain/conversations/projects.ts';
import { canEditProject, mayChange } from '../../domain/ground/access/access.ts';
import { projectInstructionCharsMax, projectPartsMax } from '../../entities/conversations/project.ts';
import { batched } from '../ground/builder/batched.ts';
import { builder } from '../ground/builder/builder.ts';
import { loadNode, loadNodes, registerNode } from '../ground/builder/nodes.ts';
import { makeConnection, pageArgs, pageRequest } from '../ground/pagination.ts';
import { AgentRef, ChatRef, DataSourceRef, GroupRef, ProjectRef, UserRef } from '../ground/refs.ts';
import { NodeType } from '../ground/types/node.ts';
import { ChatConnection } from './chats/chats.ts';

const partsOf = batched((ids: readonly string[], { deps }) => listProjectParts(deps, ids));

const ProjectType = ProjectRef.implement({
  access: { scope: 'CHATS:READ' },
  description:
    'What chats have in common: instructions, sources and agents. Its owner changes it; members of its groups see it, and have chats of their own in it.',
  interfaces: [NodeType],
  fields: (t) => ({
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
    name: t.exposeString('name', { description: 'Never blank.' }),
    instructions: t.exposeString('instructions', {
      description: 'What models are told in each of its chats, behind the instructions of the agent; empty for none.',
    }),
    userId: t.exposeID('userId', { description: 'Its owner.' }),
    owner: t.field({
      type: UserRef,
      nullable: true,
      description: 'Its owner; null for one who left the organization.',
      resolve: ({ userId }, _args, context) => loadNode(context, 'user', userId),
    }),
    canEdit: t.boolean({
      description: 'Whether the caller may change and delete it: its owner.',
      resolve: (project, _args, { caller }) => mayChange(caller) && canEditProject(caller, project),
    }),
    groups: t.field({
      type: [GroupRef],
      nullable: true,
      description: 'Groups whose members see it, as far as the caller sees the groups; at most 50.',
      resolve: async ({ id }, _args, context) => loadNodes(context, 'group', (await partsOf(context, id)).groupIds),
    }),
    dataSources: t.field({
      type: [DataSourceRef],
      nullable: true,
      description: 'What is searched in its chats, as far as the caller may read it; at most 50.',
      resolve: async ({ id }, _args, context) => loadNodes(context, 'dataSource', (await partsOf(context, id)).dataSourceIds),
    }),
    agents: t.field({
      type: [AgentRef],
      nullable: true,
      description: 'Agents that it offers first, in order, as far as the caller may use them; at most 50.',
      resolve: async ({ id }, _args, context) => loadNodes(context, 'agent', (await partsOf(context, id)).agentIds),
    }),
    chats: t.field({
      type: ChatConnection,
      description: "The caller's own chats in it, without archived ones, the one changed last first.",
      args: pageArgs(t.arg),
      resolve: ({ id }, args, context) => listChats(context.deps, context.caller, { projectId: id }, pageRequest(context, args)),
    }),
  }),
});

registerNode('project', {
  typeName: 'Project',
  operation: 'Query.project',
  loadMany: (ids, { deps, caller }) => getProjects(deps, caller, ids),
});

builder.objectField(ChatRef, 'projectId', (t) =>
  t.exposeID('projectId', { nullable: true, description: 'The project that it is in; null: none.' }),
);
builder.objectField(ChatRef, 'project', (t) =>
  t.field({
    type: ProjectRef,
    nullable: true,
    description: 'That project; null also when the caller may not see it any more. Then the chat gets nothing of it.',
    resolve: ({ projectId }, _args, context) => loadNode(context, 'project', projectId),
  }),
);

const ProjectConnection = makeConnection(ProjectType, 'Project', 'Projects');
const id = { description: 'The id of the project.' };

builder.queryFields((t) => ({
  project: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: ProjectType,
    nullable: true,
    description: 'One project. Null when there is none or the caller may not see it.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, { deps, caller }) => getProject(deps, caller, args.id),
  }),
  projects: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: ProjectConnection,
    description: "The caller's projects and those shared with its groups, newest first.",
    args: {
      search: t.arg.string({ required: false, description: 'Text in the name, whatever the case; at most 200 characters.' }),
      ...pageArgs(t.arg),
    },
    resolve: (_root, { search, ...args }, context) =>
      listProjects(context.deps, context.caller, search, pageRequest(context, args)),
  }),
}));

const words = {
  name: '1 to 200 characters.',
  instructions: `What models are told in each of its chats; at most ${projectInstructionCharsMax.toLocaleString('en')} characters.`,
  groupIds: `Groups of the organization whose members see it; at most ${projectPartsMax}.`,
  dataSourceIds: `What is searched in its chats, for who may read it; at most ${projectPartsMax}.`,
  agentIds: `Agents that it offers first, in order; at most ${projectPartsMax}.`,
};

const CreateProjectInput = builder.inputType('CreateProjectInput', {
  description: 'A new project.',
  fields: (t) => ({
    name: t.string({ description: words.name }),
    instructions: t.string({ required: false, description: words.instructions }),
    groupIds: t.idList({ required: false, description: words.groupIds }),
    dataSourceIds: t.idList({ required: false, description: words.dataSourceIds }),
    agentIds: t.idList({ required: false, description: words.agentIds }),
  }),
});
const UpdateProjectInput = builder.inputType('UpdateProjectInput', {
  description: 'Changes of a project: absent and null members are kept.',
  fields: (t) => ({
    name: t.string({ required: false, description: words.name }),
    instructions: t.string({ required: false, description: words.instructions }),
    groupIds: t.idList({ required: false, description: words.groupIds }),
    dataSourceIds: t.idList({ required: false, description: words.dataSourceIds }),
    agentIds: t.idList({ required: false, description: words.agentIds }),
  }),
});

builder.mutationFields((t) => ({
  createProject: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ProjectType,
    description: 'Makes a project of the caller.',
    args: { input: t.arg({ type: CreateProjectInput, description: 'What it is.' }) },
    resolve: (_root, { input }, { deps, caller }) => createProject(deps, caller, input),
  }),
  updateProject: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ProjectType,
    description: 'Changes a project, for its owner. Chats read the new instructions and sources from their next message on.',
    args: { id: t.arg.id(id), input: t.arg({ type: UpdateProjectInput, description: 'What to change.' }) },
    resolve: (_root, args, { deps, caller }) => updateProject(deps, caller, args.id, args.input),
  }),
  deleteProject: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ProjectType,
    description: 'Deletes a project, for its owner. Its chats stay with their users, in no project. Answers what it was.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, { deps, caller }) => deleteProject(deps, caller, args.id),
  }),
}));
