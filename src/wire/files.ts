import { z } from 'zod';
import type { StoredFile } from '../entities/conversations/files/file.ts';
import { type FileUploadPart, type UploadState, uploadStatuses } from '../entities/conversations/files/upload.ts';
import { body, readAs } from './ground/body.ts';
import type { WireReply } from './ground/encoder.ts';
import { createListSchema, deletionReply, inSeconds, listOfItems, type PageOf } from './ground/envelopes.ts';
import {
  always,
  component,
  constant,
  graphqlInput,
  integer,
  integerRange,
  named,
  oneOfTexts,
  type Sent,
  text,
} from './ground/schema.ts';

/** Files and uploads in the common format. */

const expiry = component('FileExpiry', 'When a file is deleted.', {
  anchor: constant('created_at').meta({ description: 'From what on the seconds count.' }),
  seconds: integerRange(3_600, 2_592_000, { description: 'Seconds: 1 hour to 30 days.' }),
});
/** The domain says what is wrong with its members; the reader checks their types. */
const expiryRead = body(
  'FileExpiresAfterInput',
  'When a file expires.',
  {
    anchor: text('Only created_at.').nullish(),
    seconds: z.int().meta({ description: 'From 3,600 to 2,592,000.' }).nullish(),
  },
  { asJson: 'checked' },
);

export const fileUploadBody = body('CreateFileUploadInput', 'A file that comes in parts.', {
  bytes: integer('Its size.', 1),
  filename: text('Its name, at most 200 characters.'),
  mimeType: text('Its media type, as text/plain.'),
  purpose: text('assistants, user_data or vision.'),
  expiresAfter: readAs(expiryRead, expiry.meta({ description: 'When the file is deleted; default: it is kept.' })).nullish(),
});
graphqlInput('CompleteFileUploadInput', { md5: text('That of the whole file: 32 hexadecimal digits.') });

const file = component(
  'FileObject',
  'A file of the caller in the form of the common format: one in no chat, one of a chat, or that of a data source.',
  {
    id: text('What `input_file` parts and vector stores name.'),
    object: always('file'),
    bytes: integer('Its size.'),
    created_at: integer('Seconds since 1970.'),
    expires_at: integer('Seconds since 1970; absent when it is kept until it is deleted.').optional(),
    filename: text('Its name, without any path.'),
    purpose: text('As it was given; user_data for files of chats, assistants for those of data sources.'),
    status: constant('processed').meta({ description: 'Always `processed`: a file can be used at once.' }),
  },
);

function toWireFile({ id, sizeBytes, createdAt, expiresAt, filename, purpose }: StoredFile): Sent<typeof file> {
  return {
    ...{ id, object: 'file', bytes: sizeBytes, created_at: inSeconds(createdAt) },
    expires_at: expiresAt === null ? undefined : inSeconds(expiresAt),
    ...{ filename, purpose, status: 'processed' },
  };
}

export const fileReply: WireReply = { schema: 'FileObject', encode: toWireFile };

const fileList = createListSchema('FileObjectList', 'A page of files.', file);
export const fileListReply: WireReply = {
  schema: 'FileObjectList',
  encode: (page: PageOf<StoredFile>): Sent<typeof fileList> => listOfItems(page, toWireFile),
};

export const deletedFileReply = deletionReply('DeletedFile', 'file', 'A file that was deleted.');

const upload = component('FileUpload', 'A file of the caller that comes in parts.', {
  id: text('What its parts name.'),
  object: always('upload'),
  bytes: integer('The size of the file.'),
  created_at: integer('Seconds since 1970.'),
  expires_at: integer('When it takes no parts any more: an hour after it was begun. Seconds since 1970.'),
  filename: text('The name of the file, without any path.'),
  purpose: text('As it was given.'),
  status: named('FileUploadStatus', oneOfTexts('What became of an upload.', uploadStatuses)).meta({
    description: 'What became of it.',
  }),
  file: file.nullable().meta({ description: 'The file that it became; null until it is completed.' }),
});

export const uploadReply: WireReply = {
  schema: 'FileUpload',
  encode: ({ upload: begunUpload, status, file: madeFile }: UploadState): Sent<typeof upload> => ({
    ...{ id: begunUpload.id, object: 'upload', bytes: begunUpload.sizeBytes },
    ...{ created_at: inSeconds(begunUpload.createdAt), expires_at: inSeconds(begunUpload.expiresAt) },
    ...{ filename: begunUpload.filename, purpose: begunUpload.purpose, status },
    file: madeFile === null ? null : toWireFile(madeFile),
  }),
};

const part = component('FileUploadPart', 'Bytes of an upload.', {
  id: text('What the completion names.'),
  object: always('upload.part'),
  created_at: integer('Seconds since 1970.'),
  upload_id: text('Its upload.'),
});

export const uploadPartReply: WireReply = {
  schema: 'FileUploadPart',
  encode: ({ id, createdAt, uploadId }: FileUploadPart): Sent<typeof part> => ({
    ...{ id, object: 'upload.part', created_at: inSeconds(createdAt), upload_id: uploadId },
  }),
};
