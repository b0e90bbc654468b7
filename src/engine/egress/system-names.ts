import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';

/** What the machine's own files say about names. */
export interface SystemNames {
  /** The addresses in the hosts file for a name in lower case; mostly none. */
  addressesOf(name: string): Promise<readonly string[]>;
  /** Domains that may complete a short name. */
  searchDomains(): Promise<readonly string[]>;
}

export interface SystemFiles {
  readonly hostsPath: string;
  readonly resolverPath: string;
}

const rereadAfterMs = 5_000;

/** Reads the system's files on demand, and again when they were read more than five seconds ago. A missing file is empty. */
export function createSystemNames({ hostsPath, resolverPath }: SystemFiles): SystemNames {
  const hosts = remembered(async () => parseHosts(await loadText(hostsPath)));
  const domains = remembered(async () => parseSearchDomains(await loadText(resolverPath)));
  return {
    addressesOf: async (name) => (await hosts()).get(name) ?? [],
    searchDomains: domains,
  };
}

/** The default paths. */
export function systemFiles(): SystemFiles {
  const hostsPath = process.platform === 'win32' ? 'C:\\Windows\\System32\\drivers\\etc\\hosts' : '/etc/hosts';
  return { hostsPath, resolverPath: '/etc/resolv.conf' };
}

function remembered<T>(read: () => Promise<T>): () => Promise<T> {
  let entry: { readonly value: Promise<T>; readonly untilMs: number } | undefined;
  return () => {
    const nowMs = performance.now();
    if (entry === undefined || entry.untilMs <= nowMs) entry = { value: read(), untilMs: nowMs + rereadAfterMs };
    return entry.value;
  };
}

function parseHosts(text: string): ReadonlyMap<string, readonly string[]> {
  const addressesByName = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = (line.split('#')[0] ?? '').trim().toLowerCase().split(/\s+/);
    if (isIP(address) === 0) continue;
    for (const name of names) addressesByName.set(name, [...(addressesByName.get(name) ?? []), address]);
  }
  return addressesByName;
}

/** The last `search` or `domain` line counts, as in the system's resolver. */
function parseSearchDomains(text: string): readonly string[] {
  const lines = text.split('\n').map((line) => line.trim().split(/\s+/));
  return lines.findLast(([word]) => word === 'search' || word === 'domain')?.slice(1) ?? [];
}

async function loadText(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}
