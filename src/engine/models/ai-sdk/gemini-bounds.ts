import type { ImageBounds } from '../port.ts';
import { aspectRatioOf } from './aspect-ratio.ts';

/** Gemini takes a prompt, images to change and a shape. The SDK would drop the other options with a warning that nobody reads. */
export const geminiBounds: ImageBounds = {
  unfit: (name) => (name.startsWith('gemini-') ? undefined : 'Google makes images with models whose names begin with gemini-'),
  refuses(option, value) {
    if (value === undefined || value === 'auto') return undefined;
    if (option !== 'size') return 'cannot be served by this model: leave it out';
    if (aspectRatioOf(String(value)) !== undefined) return undefined;
    return 'must have a shape that this model makes: 1:1, 2:3, 3:2, 3:4, 4:3, 4:5, 5:4, 9:16, 16:9 or 21:9';
  },
};
