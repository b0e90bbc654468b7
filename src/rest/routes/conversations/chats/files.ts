import { openChatFile } from '../../../../domain/conversations/chats/files.ts';
import type { DeclaredRoute } from '../../../route.ts';

const fileFields = 'id createdAt source filename size mimeType url metadata deletedAt status';
const files = '/api/v1/chats/{chatId}/files';
const records = '/api/v1/chats/{chatId}/file-records';

export const chatFileRoutes: readonly DeclaredRoute[] = [
  {
    operationId: 'uploadChatFile',
    method: 'post',
    path: files,
    summary: 'Upload a file for use in messages of a chat',
    description: 'At most 5 MB unless the service says otherwise (CHAT_FILE_MAX_BYTES). Messages name it in a part of type id.',
    tag: 'Chat files',
    spec: 'Upload a file for use in messages of a chat (maximum size 5 MB)',
    document: `mutation ($chatId: ID!, $file: File!, $source: ChatFileSource = USER) {
      uploadChatFile(chatId: $chatId, file: $file, source: $source) { ${fileFields} }
    }`,
    upload: { file: 'file', sizeBytesMaxSetting: 'CHAT_FILE_MAX_BYTES' },
  },
  {
    operationId: 'listChatFiles',
    method: 'get',
    path: files,
    summary: 'List files of a chat',
    description: 'Those that are not deleted, oldest first.',
    tag: 'Chat files',
    spec: 'List files of a chat',
    document: `query ($chatId: ID!, $includeDeleted: Boolean! = false) {
      chat(id: $chatId) { files(includeDeleted: $includeDeleted) { nodes { ${fileFields} } } }
    }`,
    terms: { whole: true },
    member: 'files',
    query: { includeDeleted: 'Also those that were deleted in the last 30 days, with the status DELETED. Default false.' },
    wrap: 'data',
  },
  {
    operationId: 'createChatFileRecord',
    method: 'post',
    path: records,
    summary: 'Create a file record or upload directly',
    description:
      'JSON announces a file: its content is sent with PUT …/content within a day. A form with the file keeps that at once.',
    tag: 'Chat files',
    spec: 'Create a file record or upload directly',
    document: `mutation ($chatId: ID!, $input: ChatFileRecordInput, $file: File) {
      createChatFileRecord(chatId: $chatId, input: $input, file: $file) { ${fileFields} }
    }`,
    body: 'input',
    upload: { file: 'file', sizeBytesMaxSetting: 'CHAT_FILE_MAX_BYTES', orJson: true },
    example: { filename: 'notes.txt', size: 12, mimeType: 'text/plain', metadata: { from: 'desk' } },
  },
  {
    operationId: 'putChatFileContent',
    method: 'put',
    path: `${records}/{fileId}/content`,
    summary: 'Send the content of a file record',
    description: 'Once, and exactly as many bytes as the record said.',
    tag: 'Chat files',
    document: `mutation ($chatId: ID!, $fileId: ID!, $file: File!) {
      putChatFileContent(chatId: $chatId, fileId: $fileId, file: $file) { ${fileFields} }
    }`,
    upload: { file: 'file', sizeBytesMaxSetting: 'CHAT_FILE_MAX_BYTES', isRaw: true },
  },
  {
    operationId: 'getChatFileContent',
    method: 'get',
    path: `${files}/{fileId}/content`,
    summary: 'Download a file of a chat',
    description:
      'The bytes as they came, as an attachment that no browser shows or runs; an image (PNG, JPEG, GIF, WebP) has its type and may be shown. The addresses of files, and answers, link here: `link` is what the service signed, and works for an hour without a key. Files of runs that store nothing have the same links at `/api/v1/run-files`.',
    tag: 'Chat files',
    document: 'query ($chatId: ID!, $fileId: ID!) { chatFile(chatId: $chatId, fileId: $fileId) { id } }',
    download: (deps, caller, { chatId, fileId }) => openChatFile(deps, caller, String(chatId), String(fileId)),
  },
  {
    operationId: 'deleteChatFile',
    method: 'delete',
    path: `${files}/{fileId}`,
    summary: 'Delete a file of a chat',
    description: 'With its bytes. What models were given of it stays in the chat. Answers the file as it is now.',
    tag: 'Chat files',
    document: `mutation ($chatId: ID!, $fileId: ID!) { deleteChatFile(chatId: $chatId, fileId: $fileId) { ${fileFields} } }`,
  },
];
