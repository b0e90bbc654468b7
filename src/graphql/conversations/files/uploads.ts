import {
  addUploadPart,
  type CompleteUploadInput,
  cancelUpload,
  completeUpload,
  createUpload,
  getUpload,
  getUploadParts,
  getUploads,
  listPartsOfUploads,
  type NewUploadInput,
} from '../../../domain/conversations/files/uploads.ts';
import { type FileUploadPart, uploadStatuses } from '../../../entities/conversations/files/upload.ts';
import { fileUploadBody } from '../../../wire/files.ts';
import { builder } from '../../ground/builder/builder.ts';
import { flatInput } from '../../ground/builder/flat-inputs.ts';
import { loadNode, registerNode } from '../../ground/builder/nodes.ts';
import { makeConnection, pageArgs, pageRequest } from '../../ground/pagination.ts';
import { FileUploadRef, StoredFileRef } from '../../ground/refs.ts';
import { createEnum } from '../../ground/types/enums.ts';
import { NodeType } from '../../ground/types/node.ts';
import { PurposeType } from './files.ts';

const StatusType = createEnum('FileUploadStatus', 'What became of an upload.', uploadStatuses, {
  pending: 'It takes parts.',
  completed: 'It is a file now.',
  cancelled: 'Somebody cancelled it.',
  expired: 'It was not completed in time.',
});

const PartType = builder.objectRef<FileUploadPart>('FileUploadPart').implement({
  access: { scope: 'CHATS:READ' },
  description: 'Bytes of an upload.',
  interfaces: [NodeType],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'What the completion names.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was stored.' }),
    sizeBytes: t.exposeInt('sizeBytes', { description: 'Its size.' }),
    uploadId: t.exposeID('uploadId', { description: 'Its upload.' }),
    upload: t.field({
      type: FileUploadRef,
      nullable: true,
      description: 'Its upload; null when that is forgotten.',
      resolve: ({ uploadId }, _args, context) => loadNode(context, 'fileUpload', uploadId),
    }),
  }),
});
const PartConnection = makeConnection(PartType, 'FileUploadPart', 'Parts of an upload');

const UploadType = FileUploadRef.implement({
  access: { scope: 'CHATS:READ' },
  description: 'A file of the caller that comes in parts.',
  interfaces: [NodeType],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'What its parts name.' }),
    createdAt: t.field({ type: 'DateTime', description: 'When it was begun.', resolve: ({ upload }) => upload.createdAt }),
    expiresAt: t.field({
      type: 'DateTime',
      description: 'When it takes no parts any more: an hour after it was begun.',
      resolve: ({ upload }) => upload.expiresAt,
    }),
    filename: t.string({ description: 'The name of the file, without any path.', resolve: ({ upload }) => upload.filename }),
    mimeType: t.string({
      description: 'The media type of the file, as it was declared.',
      resolve: ({ upload }) => upload.mimeType,
    }),
    sizeBytes: t.int({ description: 'The size of the file.', resolve: ({ upload }) => upload.sizeBytes }),
    purpose: t.field({ type: PurposeType, description: 'What the file is for.', resolve: ({ upload }) => upload.purpose }),
    status: t.field({ type: StatusType, description: 'What became of it.', resolve: ({ status }) => status }),
    parts: t.loadable({
      type: PartConnection,
      description: 'Its parts, oldest first; none once it is over.',
      args: pageArgs(t.arg),
      byPath: true,
      load: (ids: string[], context, args) => listPartsOfUploads(context.deps, ids, pageRequest(context, args)),
      resolve: ({ id }) => id,
    }),
    file: t.field({
      type: StoredFileRef,
      nullable: true,
      description: 'The file that it became; null until it is completed, and once that file is deleted.',
      resolve: ({ upload, file }, _args, context) => file ?? loadNode(context, 'chatFile', upload.fileId),
    }),
  }),
});

registerNode('fileUpload', {
  typeName: 'FileUpload',
  operation: 'Query.fileUpload',
  loadMany: (ids, { deps, caller }) => getUploads(deps, caller, ids),
});
registerNode('uploadPart', {
  typeName: 'FileUploadPart',
  operation: 'Query.fileUpload',
  loadMany: (ids, { deps, caller }) => getUploadParts(deps, caller, ids),
});

const bytes = 'Its size: at most UPLOAD_MAX_BYTES of the service for assistants, else CHAT_FILE_MAX_BYTES.';
const CreateInput = flatInput<NewUploadInput>(
  builder.inputType('CreateFileUploadInput', {
    description: 'A file that comes in parts.',
    fields: (t) => ({
      sizeBytes: t.int({ description: bytes }),
      filename: t.string({ description: 'Its name, at most 200 characters.' }),
      mimeType: t.string({ description: 'Its media type, as text/plain.' }),
      purpose: t.field({ type: PurposeType, description: 'What it is for.' }),
      expiresAfterSeconds: t.int({
        required: false,
        description: 'From 3,600 to 2,592,000 after which the file is deleted; default: it is kept.',
      }),
    }),
  }),
  {
    body: fileUploadBody,
    members: {
      sizeBytes: 'bytes',
      expiresAfterSeconds: {
        name: 'expiresAfter',
        flatten: (seconds) => ({ anchor: 'created_at', seconds }),
        place: () => [],
      },
    },
  },
);
const CompleteInput = builder.inputType('CompleteFileUploadInput', {
  description: 'The parts of the file.',
  fields: (t) => ({
    partIds: t.idList({ required: true, description: 'In the order of their bytes. Parts that are not named are deleted.' }),
    md5: t.string({ required: false, description: 'That of the whole file, in hexadecimal digits, to be compared.' }),
  }),
});

const id = { description: 'The id of the upload.' };

builder.queryField('fileUpload', (t) =>
  t.field({
    authScopes: { key: 'CHATS:READ' },
    type: UploadType,
    nullable: true,
    description: 'An upload of the caller; one that is over is forgotten after a day. Null when there is none.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, { deps, caller }) => getUpload(deps, caller, args.id),
  }),
);

builder.mutationFields((t) => ({
  createFileUpload: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: UploadType,
    description: 'Begins a file that comes in parts. It expires an hour later; a user may have 20 of them.',
    args: { input: t.arg({ type: CreateInput, description: 'The file.' }) },
    resolve: (_root, { input }, { deps, caller }) => createUpload(deps, caller, input),
  }),
  addFileUploadPart: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: PartType,
    description: 'Adds bytes to an upload, at any time and in any order, at most 1,000 times.',
    args: { id: t.arg.id(id), data: t.arg({ type: 'File', description: 'The bytes.' }) },
    resolve: (_root, args, { deps, caller }) => addUploadPart(deps, caller, args.id, args.data),
  }),
  completeFileUpload: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: UploadType,
    description: 'Makes the file of its parts, which must have the size that was announced.',
    args: { id: t.arg.id(id), input: t.arg({ type: CompleteInput, description: 'The parts.' }) },
    resolve: (_root, args, { deps, caller }) => completeUpload(deps, caller, args.id, args.input as CompleteUploadInput),
  }),
  cancelFileUpload: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: UploadType,
    description: 'Ends an upload and deletes its parts.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, { deps, caller }) => cancelUpload(deps, caller, args.id),
  }),
}));
