import { uploadPartReply, uploadReply } from '../../../wire/files.ts';
import type { DeclaredRoute } from '../../route.ts';

const uploads = '/api/v1/uploads';
const one = `${uploads}/{uploadId}`;

const rows: readonly Omit<DeclaredRoute, 'tag' | 'forClients'>[] = [
  {
    operationId: 'createFileUpload',
    method: 'post',
    path: uploads,
    summary: 'Begin a file that comes in parts',
    description: 'It takes parts for an hour. A user may have 20 of them pending.',
    document: 'mutation ($input: CreateFileUploadInput!) { createFileUpload(input: $input) { id } }',
    reply: uploadReply,
    body: 'input',
    bodyCase: 'snake',
    example: {
      bytes: 1_048_576,
      filename: 'handbook.pdf',
      mime_type: 'application/pdf',
      purpose: 'assistants',
      expires_after: { anchor: 'created_at', seconds: 3_600 },
    },
  },
  {
    operationId: 'addFileUploadPart',
    method: 'post',
    path: `${one}/parts`,
    summary: 'Add a part to an upload',
    description:
      'At most 1,000, in any order and at the same time. A part may be sent again: the completion names those that count.',
    document: `mutation ($uploadId: ID!, $data: File!) {
      addFileUploadPart(id: $uploadId, data: $data) { id }
    }`,
    reply: uploadPartReply,
    upload: { file: 'data', sizeBytesMaxSetting: 'UPLOAD_MAX_BYTES' },
  },
  {
    operationId: 'completeFileUpload',
    method: 'post',
    path: `${one}/complete`,
    summary: 'Complete an upload',
    description:
      'Makes the file of the named parts, in their order: together they must have the size that was announced, and the `md5` where one is given. An upload that is refused stays pending.',
    document:
      'mutation ($uploadId: ID!, $input: CompleteFileUploadInput!) { completeFileUpload(id: $uploadId, input: $input) { id } }',
    reply: uploadReply,
    body: 'input',
    bodyCase: 'snake',
    example: { part_ids: ['part_01ke2s7d4vfzgv0b4xw2q9a1bc'], md5: '9e107d9d372bb6826bd81d3542a419d6' },
  },
  {
    operationId: 'cancelFileUpload',
    method: 'post',
    path: `${one}/cancel`,
    summary: 'Cancel an upload',
    description: 'Deletes its parts.',
    document: 'mutation ($uploadId: ID!) { cancelFileUpload(id: $uploadId) { id } }',
    reply: uploadReply,
  },
];

export const uploadRoutes: readonly DeclaredRoute[] = rows.map((row) => ({ ...row, tag: 'Uploads', forClients: true }));
