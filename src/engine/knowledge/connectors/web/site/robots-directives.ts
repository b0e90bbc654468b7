/** What a page says about itself to crawlers. */
export interface RobotsDirectives {
  readonly isIndexed: boolean;
  readonly isFollowed: boolean;
}

const withValue = new Set(['unavailable_after', 'max-snippet', 'max-image-preview', 'max-video-preview']);

/**
 * Reads the header X-Robots-Tag or the content of a robots tag. In the header, `name:` before a directive addresses one crawler, until another
 * name stands there.
 *
 * @param token  the name of this crawler, in lower case.
 */
export function readRobotsDirectives(text: string | undefined, token: string): RobotsDirectives {
  let isForUs = true;
  let isIndexed = true;
  let isFollowed = true;
  for (const part of (text ?? '').toLowerCase().split(',')) {
    const [, name, rest = part] = /^\s*([\w.-]+)\s*:(.*)$/.exec(part) ?? [];
    if (name !== undefined && !withValue.has(name)) isForUs = name === token;
    const directive = rest.trim();
    if (!isForUs) continue;
    if (directive === 'noindex' || directive === 'none') isIndexed = false;
    if (directive === 'nofollow' || directive === 'none') isFollowed = false;
  }
  return { isIndexed, isFollowed };
}

export function bothDirectives(one: RobotsDirectives, other: RobotsDirectives): RobotsDirectives {
  return { isIndexed: one.isIndexed && other.isIndexed, isFollowed: one.isFollowed && other.isFollowed };
}
