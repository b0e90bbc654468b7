import { pageInfo, pageQuery } from '../../paging.ts';
import type { DeclaredRoute } from '../../route.ts';

const prompts = '/api/v1/prompts';
const one = `${prompts}/{promptId}`;
const fields =
  'id createdAt updatedAt name command text variables { name default choices } visibility userId canEdit groups { id name }';
const schemas = { Group: 'PromptGroup' };

const rows: readonly Omit<DeclaredRoute, 'tag'>[] = [
  {
    operationId: 'listPrompts',
    method: 'get',
    path: prompts,
    summary: 'List prompts',
    description: "The caller's and those shared with it, newest first.",
    schemas,
    document: `query ($search: String, $onlyOwn: Boolean, $limit: Int = 100, $cursor: String) {
      prompts(search: $search, onlyOwn: $onlyOwn, first: $limit, after: $cursor) {
        nodes { ${fields} } ${pageInfo}
      }
    }`,
    query: {
      search: 'Only prompts whose name or command holds this, in any case.',
      onlyOwn: "Only the caller's own. Default false.",
      ...pageQuery,
    },
    wrap: 'data',
    page: 'cursor',
  },
  {
    operationId: 'createPrompt',
    method: 'post',
    path: prompts,
    summary: 'Create prompt',
    description: 'The caller owns it. Variables stand in its text as `{{name}}`, `{{name=default}}` or `{{name: one | two}}`.',
    schemas,
    document: `mutation ($input: CreatePromptInput!) { createPrompt(input: $input) { ${fields} } }`,
    body: 'input',
    example: { name: 'Summary', command: 'summary', text: 'Summarize {{text}} in {{language=English}}.' },
  },
  {
    operationId: 'getPrompt',
    method: 'get',
    path: one,
    summary: 'Get prompt',
    description: 'One that the caller may use, with its variables in the order of the text.',
    schemas,
    document: `query ($promptId: ID!) { prompt(id: $promptId) { ${fields} } }`,
  },
  {
    operationId: 'updatePrompt',
    method: 'patch',
    path: one,
    summary: 'Update prompt',
    description: 'For its owner. Absent and null members are kept.',
    schemas,
    document: `mutation ($promptId: ID!, $input: UpdatePromptInput!) { updatePrompt(id: $promptId, input: $input) { ${fields} } }`,
    body: 'input',
    example: { text: 'Summarize {{text}} in three sentences.' },
  },
  {
    operationId: 'deletePrompt',
    method: 'delete',
    path: one,
    summary: 'Delete prompt',
    description: 'For its owner, and for administrators where it is shared with them. Answers what it was.',
    schemas,
    document: `mutation ($promptId: ID!) { deletePrompt(id: $promptId) { ${fields} } }`,
  },
];

export const promptRoutes: readonly DeclaredRoute[] = rows.map((row) => ({ ...row, tag: 'Prompts' }));
