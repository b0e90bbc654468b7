import { checkMemoryInput } from '../../../domain/conversations/memories.ts';
import { pageInfo, pageQuery } from '../../paging.ts';
import type { DeclaredRoute } from '../../route.ts';

const memories = '/api/v1/memories';
const one = `${memories}/{memoryId}`;
const fields = 'id createdAt updatedAt scope agentId key text';
const which = {
  scope: '`user`: only those with every AI; `agent`: only those with a single AI.',
  aiId: 'Only those with this AI.',
};

const rows: readonly Omit<DeclaredRoute, 'tag'>[] = [
  {
    operationId: 'listMemories',
    method: 'get',
    path: memories,
    summary: 'List memories',
    description: 'What AIs remember of the caller, newest first. Nobody else sees it.',
    document: `query ($scope: MemoryScope, $aiId: ID, $limit: Int = 100, $cursor: String) {
      memories(scope: $scope, agentId: $aiId, first: $limit, after: $cursor) {
        nodes { ${fields} } ${pageInfo}
      }
    }`,
    query: { ...which, ...pageQuery },
    wrap: 'data',
    page: 'cursor',
  },
  {
    operationId: 'createMemory',
    method: 'post',
    path: memories,
    summary: 'Create memory',
    description: 'A memory with the same `key` and `agentId` is replaced.',
    document: `mutation ($input: CreateMemoryInput!) { createMemory(input: $input) { ${fields} } }`,
    body: 'input',
    checkBody: checkMemoryInput,
    example: { text: 'Prefers short answers', key: 'style' },
  },
  {
    operationId: 'getMemory',
    method: 'get',
    path: one,
    summary: 'Get memory',
    description: 'One of the texts that agents keep about the caller.',
    document: `query ($memoryId: ID!) { memory(id: $memoryId) { ${fields} } }`,
  },
  {
    operationId: 'updateMemory',
    method: 'patch',
    path: one,
    summary: 'Update memory',
    description: 'Replaces the text; agents read the new one from their next answer on.',
    document: `mutation ($memoryId: ID!, $input: UpdateMemoryInput!) { updateMemory(id: $memoryId, input: $input) { ${fields} } }`,
    body: 'input',
    checkBody: checkMemoryInput,
    example: { text: 'Prefers long answers', key: 'style' },
  },
  {
    operationId: 'deleteMemory',
    method: 'delete',
    path: one,
    summary: 'Delete memory',
    description: 'Answers the memory as it was.',
    document: `mutation ($memoryId: ID!) { deleteMemory(id: $memoryId) { ${fields} } }`,
  },
  {
    operationId: 'deleteMemories',
    method: 'delete',
    path: memories,
    summary: 'Delete all memories',
    description: 'Those of the caller; with `scope` or `aiId`, only those.',
    document: `mutation ($scope: MemoryScope, $aiId: ID) { deleteMemories(scope: $scope, agentId: $aiId) { deletedCount } }`,
    query: which,
  },
];

export const memoryRoutes: readonly DeclaredRoute[] = rows.map((row) => ({ ...row, tag: 'Memories' }));
