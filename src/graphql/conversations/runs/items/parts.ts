import type { WireObject } from '../../../../entities/conversations/runs/response.ts';
import { readString } from '../../../../lib/json/json.ts';
import { type BuilderTypes, builder } from '../../../ground/builder/builder.ts';
import { createEnum } from '../../../ground/types/enums.ts';

/** What messages and outputs of functions consist of, from the parts of the responses format. */

const access = { scope: 'CHATS:READ' } as const;
type PartFields = PothosSchemaTypes.ObjectFieldBuilder<BuilderTypes, WireObject>;

function isInvisible(t: PartFields) {
  return t.boolean({
    description: 'Whether it is for the model only, and left out of transcripts.',
    resolve: ({ invisible }) => invisible === true,
  });
}

function text(t: PartFields, description: string, read: (part: WireObject) => unknown) {
  return t.string({ nullable: true, description, resolve: (part) => readString(read(part)) ?? null });
}

const details = ['auto', 'low', 'high', 'original'] as const;
export const ImageDetailType = createEnum('ImageDetail', 'How closely the model looks at an image.', details, {
  auto: 'As the model likes.',
  low: 'Little.',
  high: 'Closely.',
  original: 'At its full size.',
});

const TextType = builder.objectRef<WireObject>('ItemTextPart').implement({
  access,
  description: 'A text.',
  fields: (t) => ({
    text: t.string({ description: 'The text.', resolve: (part) => readString(part.text) ?? '' }),
    isInvisible: isInvisible(t),
    metadata: t.field({
      type: 'JSON',
      nullable: true,
      description: 'What the caller keeps with the part; null for nothing. JSON: it belongs to the caller.',
      resolve: ({ metadata }) => metadata ?? null,
    }),
  }),
});

const RefusalType = builder.objectRef<WireObject>('ItemRefusalPart').implement({
  access,
  description: 'What a model says instead of an answer.',
  fields: (t) => ({ refusal: t.string({ description: 'The text.', resolve: (part) => readString(part.refusal) ?? '' }) }),
});

const ImageType = builder.objectRef<WireObject>('ItemImagePart').implement({
  access,
  description: 'An image: by its address, or as a file.',
  fields: (t) => ({
    imageUrl: text(t, 'Its address, or a data URL; null for a file.', (part) => part.image_url),
    fileId: t.id({
      nullable: true,
      description: 'The file; null for an address.',
      resolve: (part) => readString(part.file_id) ?? null,
    }),
    detail: t.field({
      type: ImageDetailType,
      nullable: true,
      description: 'How closely the model looks; null where it is not said.',
      resolve: ({ detail }) => details.find((knownDetail) => knownDetail === detail) ?? null,
    }),
    isInvisible: isInvisible(t),
  }),
});

const FileType = builder.objectRef<WireObject>('ItemFilePart').implement({
  access,
  description: 'A file: by its address, by its content, or as a file of a chat.',
  fields: (t) => ({
    fileUrl: text(
      t,
      'Its address, or a data URL with its content; null for a file of a chat.',
      (part) => part.file_url ?? part.file_data,
    ),
    fileId: t.id({
      nullable: true,
      description: 'The file of a chat; null for another.',
      resolve: (part) => readString(part.file_id) ?? null,
    }),
    filename: text(t, 'Its name; null where there is none.', (part) => part.filename),
    isInvisible: isInvisible(t),
  }),
});

export const ItemPartType = builder.unionType('ItemPart', {
  description: 'A part of a message, or of what a function gave.',
  types: [TextType, RefusalType, ImageType, FileType],
  resolveType: ({ type }) => {
    if (type === 'refusal') return RefusalType;
    if (type === 'input_image' || type === 'output_image') return ImageType;
    return type === 'input_file' || type === 'output_file' ? FileType : TextType;
  },
});
