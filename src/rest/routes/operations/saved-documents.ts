import { pageInfo, pageQuery } from '../../paging.ts';
import type { DeclaredRoute } from '../../route.ts';

const tag = 'Saved documents';
const path = '/api/v1/documents';
const one = `${path}/{name}`;
const listedFields = 'id createdAt updatedAt name description document sha256 fault';
const documentFields = `${listedFields} inputSchema outputSchema`;

/** `POST /api/v1/documents/{name}`, which runs one, is no route: its result is that of the document (../../saved-documents/calls.ts). */
export const savedDocumentRoutes: readonly DeclaredRoute[] = [
  {
    operationId: 'listSavedDocuments',
    method: 'get',
    path,
    summary: 'List saved documents',
    description:
      "The GraphQL documents that the key's organization has saved, newest first. `POST /api/v1/documents/{name}` runs one, with its variables as the body.",
    tag,
    document: `query ($limit: Int = 100, $cursor: String) {
      savedDocuments(first: $limit, after: $cursor) { nodes { ${listedFields} } ${pageInfo} }
    }`,
    query: pageQuery,
    wrap: 'data',
    page: 'cursor',
    schemas: { SavedDocument: 'ListedSavedDocument' },
  },
  {
    operationId: 'saveDocument',
    method: 'put',
    path,
    summary: 'Save a document',
    description:
      'A new one, or in place of that of the same name. Its route, and its tool of MCP, are there at once. For administrators.',
    tag,
    document: `mutation ($input: SaveDocumentInput!) { saveDocument(input: $input) { ${documentFields} } }`,
    body: 'input',
    example: {
      name: 'newest_agents',
      description: 'The newest agents, with the models that answer for them.',
      document: 'query ($count: Int = 5) { agents(first: $count) { nodes { id name model { name } } } }',
    },
  },
  {
    operationId: 'getSavedDocument',
    method: 'get',
    path: one,
    summary: 'Get saved document',
    description: 'By its id or its name, with the JSON Schemas of its variables and its result.',
    tag,
    document: `query ($name: ID!) { savedDocument(id: $name) { ${documentFields} } }`,
  },
  {
    operationId: 'deleteSavedDocument',
    method: 'delete',
    path: one,
    summary: 'Delete saved document',
    description: 'By its id or its name. Answers what it was.',
    tag,
    document: `mutation ($name: ID!) { deleteSavedDocument(id: $name) { ${documentFields} } }`,
  },
];
