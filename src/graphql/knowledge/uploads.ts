import { createUploadToken, type UploadToken, type UploadTokenInput, uploadDataSource } from '../../domain/knowledge/uploads.ts';
import { uploadTokenBody } from '../../wire/data-sources.ts';
import { builder } from '../ground/builder/builder.ts';
import { flatInput } from '../ground/builder/flat-inputs.ts';
import { DataSourceType } from './sources.ts';

const UploadTokenType = builder.objectRef<UploadToken>('UploadToken').implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'A link that one file may be sent to, once, with PUT and without a key.',
  fields: (t) => ({
    url: t.exposeString('url', { description: 'Where the file goes. Whoever has it may send the file: keep it as a secret.' }),
    pathname: t.exposeString('pathname', { description: 'The path of that address.' }),
    mimeType: t.exposeString('contentType', { description: 'The type the file must be sent with.' }),
    sizeBytes: t.exposeInt('size', { description: 'The bytes it must have, exactly.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When the link ends: an hour after it was made.' }),
  }),
});

const CreateUploadTokenInput = flatInput<UploadTokenInput>(
  builder.inputType('CreateUploadTokenInput', {
    description: 'The file that will be sent.',
    fields: (t) => ({
      filename: t.string({ description: 'Its name: 1 to 200 characters.' }),
      mimeType: t.string({ required: false, description: 'Its media type. Default application/octet-stream.' }),
      sizeBytes: t.int({ description: 'Its bytes; at most UPLOAD_MAX_BYTES of the service.' }),
    }),
  }),
  { body: uploadTokenBody, members: { mimeType: 'contentType', sizeBytes: 'size' } },
);

builder.mutationFields((t) => ({
  createUploadToken: t.field({
    authScopes: { key: 'DATA_SOURCES:WRITE' },
    type: UploadTokenType,
    description: 'Signs a link for the upload of one file to an agent. The data source is made when the file has arrived.',
    args: {
      agentId: t.arg.id({ description: 'The id of the agent.' }),
      input: t.arg({ type: CreateUploadTokenInput, description: 'The file.' }),
    },
    resolve: (_root, { agentId, input }, { deps, caller }) => createUploadToken(deps, caller, agentId, input),
  }),
  uploadDataSource: t.field({
    authScopes: { key: 'DATA_SOURCES:WRITE' },
    type: DataSourceType,
    description: 'Takes the file that a link was signed for, and has it indexed.',
    args: {
      agentId: t.arg.id({ description: 'The id of the agent.' }),
      uploadId: t.arg.id({ description: 'The last part of the path of the link.' }),
      ticket: t.arg.string({ description: 'The ticket of the link.' }),
      file: t.arg({ type: 'File', description: 'The file, of exactly the announced size and type.' }),
    },
    resolve: (_root, args, { deps, caller }) => uploadDataSource(deps, caller, args),
  }),
}));
