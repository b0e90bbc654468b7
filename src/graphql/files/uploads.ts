import { addUploadPart, cancelUpload, completeUpload, createUpload } from '../../domain/files/uploads.ts';
import { type FileUploadPart, uploadStatuses } from '../../entities/files/upload.ts';
import { builder } from '../builder/builder.ts';
import { FileUploadRef } from '../refs.ts';
import { enumOf } from '../types/enums.ts';
import { FileExpiresAfterInput } from '../types/json-inputs.ts';
import { StoredFileType } from './files.ts';

const StatusType = enumOf('FileUploadStatus', 'What became of an upload.', uploadStatuses, {
  pending: 'It takes parts.',
  completed: 'It is a file now.',
  cancelled: 'Somebody cancelled it.',
  expired: 'It was not completed in time.',
});

const UploadType = FileUploadRef.implement({
  access: { scope: 'CHATS:READ' },
  description: 'A file of the caller that comes in parts.',
  fields: (t) => ({
    id: t.id({ description: 'What its parts name.', resolve: ({ upload }) => upload.id }),
    createdAt: t.field({ type: 'DateTime', description: 'When it was begun.', resolve: ({ upload }) => upload.createdAt }),
    expiresAt: t.field({
      type: 'DateTime',
      description: 'When it takes no parts any more: an hour after it was begun.',
      resolve: ({ upload }) => upload.expiresAt,
    }),
    filename: t.string({ description: 'The name of the file, without any path.', resolve: ({ upload }) => upload.filename }),
    sizeBytes: t.int({ description: 'The size of the file.', resolve: ({ upload }) => upload.sizeBytes }),
    purpose: t.string({ description: 'As it was given.', resolve: ({ upload }) => upload.purpose }),
    status: t.field({ type: StatusType, description: 'What became of it.', resolve: ({ status }) => status }),
    file: t.field({
      type: StoredFileType,
      nullable: true,
      description: 'The file that it became; null until it is completed.',
      resolve: ({ file }) => file,
    }),
  }),
});

const PartType = builder.objectRef<FileUploadPart>('FileUploadPart').implement({
  access: { scope: 'CHATS:READ' },
  description: 'Bytes of an upload.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'What the completion names.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was stored.' }),
    uploadId: t.exposeID('uploadId', { description: 'Its upload.' }),
  }),
});

const CreateInput = builder.inputType('CreateFileUploadInput', {
  description: 'A file that comes in parts.',
  fields: (t) => ({
    bytes: t.int({
      required: true,
      description: 'Its size: at most UPLOAD_MAX_BYTES of the service for assistants, else CHAT_FILE_MAX_BYTES.',
    }),
    filename: t.string({ required: true, description: 'Its name, at most 200 characters.' }),
    mimeType: t.string({ required: true, description: 'Its media type, as text/plain.' }),
    purpose: t.string({ required: true, description: 'assistants, user_data or vision.' }),
    expiresAfter: t.field({
      type: FileExpiresAfterInput,
      required: false,
      description: 'When the file is deleted; default: it is kept.',
    }),
  }),
});
const CompleteInput = builder.inputType('CompleteFileUploadInput', {
  description: 'The parts of the file.',
  fields: (t) => ({
    partIds: t.idList({ required: true, description: 'In the order of their bytes. Parts that are not named are deleted.' }),
    md5: t.string({ required: false, description: 'That of the whole file, in hexadecimal digits, to be compared.' }),
  }),
});

const id = { description: 'The id of the upload.' };

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
    resolve: (_root, args, { deps, caller }) => completeUpload(deps, caller, args.id, args.input),
  }),
  cancelFileUpload: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: UploadType,
    description: 'Ends an upload and deletes its parts.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, { deps, caller }) => cancelUpload(deps, caller, args.id),
  }),
}));
