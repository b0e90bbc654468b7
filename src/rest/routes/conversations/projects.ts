import { checkProjectInput } from '../../../domain/conversations/projects.ts';
import { pageInfo, pageQuery } from '../../paging.ts';
import type { DeclaredRoute } from '../../route.ts';

const projects = '/api/v1/projects';
const one = `${projects}/{projectId}`;
const fields =
  'id createdAt updatedAt name instructions userId canEdit groups { id name } dataSources { id name } ais: agents { id name }';
const schemas = { Group: 'ProjectGroup', DataSource: 'ProjectSource', Agent: 'ProjectAi' };

const rows: readonly Omit<DeclaredRoute, 'tag'>[] = [
  {
    operationId: 'listProjects',
    method: 'get',
    path: projects,
    summary: 'List projects',
    description: "The caller's and those shared with its groups, newest first.",
    schemas,
    document: `query ($search: String, $limit: Int = 100, $cursor: String) {
      projects(search: $search, first: $limit, after: $cursor) { nodes { ${fields} } ${pageInfo} }
    }`,
    query: {
      search: 'Only projects whose name holds this, in any case.',
      ...pageQuery,
    },
    wrap: 'data',
    page: 'cursor',
  },
  {
    operationId: 'createProject',
    method: 'post',
    path: projects,
    summary: 'Create project',
    description: 'The caller owns it. Chats are put into it by their `projectId`.',
    schemas,
    document: `mutation ($input: CreateProjectInput!) { createProject(input: $input) { ${fields} } }`,
    body: 'input',
    checkBody: checkProjectInput,
    example: { name: 'Move to Rome', instructions: 'Answer in Italian.' },
  },
  {
    operationId: 'getProject',
    method: 'get',
    path: one,
    summary: 'Get project',
    description: "Groups, sources and AIs as far as the caller may see them. Its chats are listed by List current user's chats.",
    schemas,
    document: `query ($projectId: ID!) { project(id: $projectId) { ${fields} } }`,
  },
  {
    operationId: 'updateProject',
    method: 'patch',
    path: one,
    summary: 'Update project',
    description: 'For its owner. Absent and null members are kept.',
    schemas,
    document: `mutation ($projectId: ID!, $input: UpdateProjectInput!) { updateProject(id: $projectId, input: $input) { ${fields} } }`,
    body: 'input',
    checkBody: checkProjectInput,
    example: { name: 'Move to Oslo', instructions: 'Answer in Norwegian.' },
  },
  {
    operationId: 'deleteProject',
    method: 'delete',
    path: one,
    summary: 'Delete project',
    description: 'For its owner. Its chats stay with their users, in no project. Answers what it was.',
    schemas,
    document: `mutation ($projectId: ID!) { deleteProject(id: $projectId) { ${fields} } }`,
  },
];

export const projectRoutes: readonly DeclaredRoute[] = rows.map((row) => ({ ...row, tag: 'Projects' }));
