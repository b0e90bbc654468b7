import { openFile } from '../../../domain/conversations/files/files.ts';
import { deletedFileReply, fileListReply, fileReply } from '../../../wire/files.ts';
import type { DeclaredRoute } from '../../route.ts';

const files = '/api/v1/files';
const one = `${files}/{fileId}`;
/** The format has the files of chats and of data sources too. */
const everywhere = { everywhere: true } as const;

const rows: readonly Omit<DeclaredRoute, 'tag' | 'forClients'>[] = [
  {
    operationId: 'createFile',
    method: 'post',
    path: files,
    summary: 'Upload a file',
    description:
      'For `input_file` parts of responses and for vector stores. `purpose` is assistants, user_data or vision; it is kept. A file of a chat is uploaded to its chat.',
    document: `mutation ($file: File!, $expiresAfterSeconds: Int) {
      createFile(file: $file, expiresAfterSeconds: $expiresAfterSeconds) { id }
    }`,
    terms: { purpose: 'String!', expiresAfterAnchor: 'String' },
    reply: fileReply,
    upload: {
      file: 'file',
      sizeBytesMaxSetting: 'UPLOAD_MAX_BYTES',
      formNames: { expiresAfterAnchor: 'expires_after[anchor]', expiresAfterSeconds: 'expires_after[seconds]' },
    },
  },
  {
    operationId: 'listFiles',
    method: 'get',
    path: files,
    summary: 'List files',
    description: 'Those uploaded here, those of chats, and those of data sources that were made of one file.',
    document: `query ($after: String, $limit: Int, $order: ItemOrder) {
      files(after: $after, first: $limit, order: $order) { nodes { id } }
    }`,
    terms: { ...everywhere, purpose: 'String' },
    reply: fileListReply,
    query: {
      purpose: 'Only files of this purpose.',
      after: 'The id of the file before the page.',
      limit: 'From 1 to 10,000; default 100.',
      order: 'By the time they were made: asc or desc (default).',
    },
  },
  {
    operationId: 'getFile',
    method: 'get',
    path: one,
    summary: 'Retrieve a file',
    description: 'Its name, size, purpose and times; its bytes are at `…/content`.',
    document: 'query ($fileId: ID!) { file(id: $fileId) { id } }',
    terms: everywhere,
    reply: fileReply,
  },
  {
    operationId: 'deleteFile',
    method: 'delete',
    path: one,
    summary: 'Delete a file',
    description: 'With its bytes, and out of all vector stores. That of a data source goes with its source.',
    document: 'mutation ($fileId: ID!) { deleteFile(id: $fileId) }',
    reply: deletedFileReply,
  },
  {
    operationId: 'getFileContent',
    method: 'get',
    path: `${one}/content`,
    summary: 'Download a file',
    description: 'The bytes as they came, to be saved, never shown.',
    document: 'query ($fileId: ID!) { file(id: $fileId) { id } }',
    terms: everywhere,
    download: (deps, caller, { fileId }) => openFile(deps, caller, String(fileId)),
  },
];

export const fileRoutes: readonly DeclaredRoute[] = rows.map((row) => ({ ...row, tag: 'Files', forClients: true }));
