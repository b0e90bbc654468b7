/** Longer segments of a path are tokens of signed links, or no path of the service. */
const segmentCharsMax = 64;

/** Without the query, and without segments that may be tokens. */
export function loggedPath(url: string): string {
  const split = url.indexOf('?');
  const path = split === -1 ? url : url.slice(0, split);
  if (path.length <= segmentCharsMax) return path;
  const segments = path.slice(0, 2_000).split('/');
  return segments.map((segment) => (segment.length > segmentCharsMax ? '[long]' : segment)).join('/');
}
