/** What a robots.txt says to one crawler. */
export interface RobotsRules {
  /** Whether the crawler may read an address of the site. The longest pattern decides, of two equally long ones the one that allows. */
  allows(url: string): boolean;
  /** Undefined when the site does not say. */
  readonly delaySeconds: number | undefined;
  readonly sitemaps: readonly string[];
  /** Characters of patterns with wildcards. */
  readonly wildcardChars: number;
}

interface Rule {
  readonly pattern: string;
  readonly isAllowed: boolean;
}
interface Group {
  readonly rules: Rule[];
  delaySeconds: number | undefined;
}

const groupMembers = new Set(['allow', 'disallow', 'crawl-delay']);

/**
 * Reads a robots.txt as RFC 9309 says, in time linear in its length: only the groups of this crawler and those of `*` are kept.
 *
 * @param name  of the crawler, in lower case.
 */
export function readRobotsRules(text: string, name: string): RobotsRules {
  const groups = new Map<string, Group>();
  const sitemaps: string[] = [];
  let addressedGroups: Group[] = [];
  let isNaming = false;
  for (const line of text.split(/\r\n|\r|\n/)) {
    const [key, value] = parseMember(line);
    if (key === 'user-agent') {
      if (!isNaming) addressedGroups = [];
      const agent = (value.toLowerCase().split('/', 1)[0] ?? '').trim();
      if ((agent === name || agent === '*') && !addressedGroups.includes(findGroup(groups, agent)))
        addressedGroups.push(findGroup(groups, agent));
    } else if (key === 'allow' || key === 'disallow') {
      if (value !== '')
        for (const { rules } of addressedGroups) rules.push({ pattern: evenPath(value), isAllowed: key === 'allow' });
    } else if (key === 'crawl-delay') {
      const seconds = Number(value);
      if (value !== '' && !Number.isNaN(seconds)) for (const group of addressedGroups) group.delaySeconds = seconds;
    } else if (key === 'sitemap' && value !== '') sitemaps.push(value);
    // No other line ends the names of a group, such as one of a sitemap (RFC 9309, 2.2.4).
    if (key === 'user-agent') isNaming = true;
    else if (groupMembers.has(key)) isNaming = false;
  }
  const { rules, delaySeconds } = groups.get(name) ?? groups.get('*') ?? { rules: [], delaySeconds: undefined };
  const wildcardChars = rules.reduce((sum, { pattern }) => sum + (pattern.includes('*') ? pattern.length : 0), 0);
  return { allows: (url) => isAllowed(rules, url), delaySeconds, sitemaps, wildcardChars };
}

/** `Disallow: /a # why` is `disallow` and `/a`. */
function parseMember(line: string): readonly [key: string, value: string] {
  const [content = ''] = line.split('#', 1);
  const colon = content.indexOf(':');
  return colon === -1 ? ['', ''] : [content.slice(0, colon).trim().toLowerCase(), content.slice(colon + 1).trim()];
}

function findGroup(groups: Map<string, Group>, agent: string): Group {
  const group = groups.get(agent) ?? { rules: [], delaySeconds: undefined };
  groups.set(agent, group);
  return group;
}

function isAllowed(rules: readonly Rule[], url: string): boolean {
  const { pathname, search } = new URL(url);
  // `*` and `$` of a pattern mean something else: a pattern that means the characters has escapes (2.2.3).
  const path = evenEscapes(pathname + search)
    .replaceAll('*', '%2A')
    .replaceAll('$', '%24');
  let best: Rule | undefined;
  for (const rule of rules) {
    const isBetter =
      best === undefined ||
      rule.pattern.length > best.pattern.length ||
      (rule.pattern.length === best.pattern.length && rule.isAllowed);
    if (isBetter && isMatch(rule.pattern, path)) best = rule;
  }
  return best?.isAllowed ?? true;
}

/** Each part between two `*` is looked for behind the one before: the first place is the best one, so nothing is tried twice. */
function isMatch(pattern: string, path: string): boolean {
  const isWhole = pattern.endsWith('$');
  const [first = '', ...parts] = (isWhole ? pattern.slice(0, -1) : pattern).split('*');
  if (!path.startsWith(first)) return false;
  let at = first.length;
  const last = parts.pop();
  for (const part of parts) {
    const matchIndex = path.indexOf(part, at);
    if (matchIndex === -1) return false;
    at = matchIndex + part.length;
  }
  if (last === undefined) return !isWhole || at === path.length;
  if (isWhole) return path.length - last.length >= at && path.endsWith(last);
  return path.includes(last, at);
}

/** Characters outside of ASCII are written as escapes, as in addresses. */
function evenPath(path: string): string {
  try {
    return evenEscapes(encodeURI(path).replaceAll('%25', '%'));
  } catch {
    return path;
  }
}

/** Escapes in upper case, and none of characters that need none (2.2.2). */
function evenEscapes(path: string): string {
  return path.replace(/%[0-9a-f]{2}/gi, (code) => {
    const character = String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : code.toUpperCase();
  });
}
