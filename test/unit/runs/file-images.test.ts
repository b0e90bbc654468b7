import { describe, expect, it } from 'vitest';
import { toolImages } from '../../../src/engine/runs/events/tool-images.ts';
import { withFileImages } from '../../../src/engine/runs/model/file-images.ts';
import { DomainError } from '../../../src/entities/ground/errors.ts';

/** Images of tools, as a model gets them. */
const png = Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47]), Buffer.alloc(96)]);
const blobs = { read: () => Promise.reject(new Error('no blob is read')) };
const stored: Readonly<Record<string, Buffer>> = { file_1: png, file_2: png, file_3: Buffer.from('no image') };
const files = {
  read: async ({ id }: { readonly id: string }, bytesMax: number) => {
    const bytes = stored[id];
    if (bytes === undefined) throw new DomainError('NOT_FOUND', 'gone');
    if (bytes.length > bytesMax) throw new DomainError('REQUEST_TOO_LARGE', 'too large');
    return bytes;
  },
};
const file = (fileId: string, mimeType = 'image/png') => ({
  ...{ fileId, filename: `${fileId}.png`, mimeType, sizeBytes: 100, url: 'https://parley.example/x' },
});
const sight = { orgId: 'org_1', acceptsImages: true, files };
const shown = async (given: typeof sight & { readonly bytesLeft?: number }, ...ids: readonly string[]) => {
  const messages = ids.flatMap((id) => toolImages(`call_${id}`, [file(id)]));
  const said = await withFileImages(messages, given, blobs);
  return said.flatMap(({ content }) =>
    typeof content === 'string' || content === null
      ? []
      : content.slice(1).map((part) => (part.type === 'text' ? part.text : part.type)),
  );
};

describe('images of tools', () => {
  it('are bytes for a model that accepts images', async () => {
    expect(await shown(sight, 'file_1', 'file_2')).toEqual(['image', 'image']);
  });
  it('are left out for a model that does not', async () => {
    expect(await shown({ ...sight, acceptsImages: false }, 'file_1')).toEqual([]);
  });
  it('are a name when the file is gone, is no image by its bytes, or is over the budget, where the newest comes first', async () => {
    expect(await shown(sight, 'file_9', 'file_3')).toEqual(['[image file_9.png, not shown]', '[image file_3.png, not shown]']);
    expect(await shown({ ...sight, bytesLeft: 150 }, 'file_1', 'file_2')).toEqual(['[image file_1.png, not shown]', 'image']);
  });
  it('are those that models take only', () => {
    expect(toolImages('call_1', [file('file_1', 'image/svg+xml')])).toEqual([]);
  });
});
