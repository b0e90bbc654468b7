/** The shapes that Gemini makes. It takes no width and height. */
const aspectRatios = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'] as const;
export type AspectRatio = (typeof aspectRatios)[number];

/** Greatest difference of the ratios: sizes are whole pixels, often multiples of 64. */
const toleranceMax = 0.03;

/** The shape that a size such as `1536x1024` has; undefined for `auto`, and for a shape that is none of those. */
export function toAspectRatio(size: string | undefined): AspectRatio | undefined {
  const [width, height] = (size ?? '').split('x').map(Number);
  if (width === undefined || height === undefined || !(width > 0) || !(height > 0)) return undefined;
  const off = (shape: AspectRatio) => {
    const [across = 1, down = 1] = shape.split(':').map(Number);
    return Math.abs(Math.log(width / height / (across / down)));
  };
  const nearest = aspectRatios.reduce((best, shape) => (off(shape) < off(best) ? shape : best));
  return off(nearest) <= toleranceMax ? nearest : undefined;
}
