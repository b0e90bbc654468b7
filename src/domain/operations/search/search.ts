import { DomainError } from '../../../entities/ground/errors.ts';
import { type FoundThing, type SearchKind, searchKinds } from '../../../entities/operations/search.ts';
import type { Caller, Scope } from '../../../entities/people/caller.ts';
import type { Mention } from '../../../storage/operations/search/search.ts';
import type { Deps } from '../../deps.ts';
import { listedAgents, visibleDataSources } from '../../ground/access/access.ts';
import { presentMatch } from './match.ts';

export interface SearchInput {
  readonly query: string;
  /** Absent or null: every kind. */
  readonly kinds?: readonly SearchKind[] | null | undefined;
  readonly first?: number | null | undefined;
}

/** The scope that reads things of a kind: a key without it is not shown any. */
export const scopeOfKind: Readonly<Record<SearchKind, Scope>> = {
  agent: 'AGENTS:READ',
  chat: 'CHATS:READ',
  message: 'CHATS:READ',
  source: 'DATA_SOURCES:READ',
};

const queryCharsMax = 200;
const wordsMax = 8;
const firstDefault = 20;
export const foundMax = 50;
/** Of each kind, before they are ranked. */
const candidatesMax = 100;

/**
 * Finds agents, chats and data sources by name, agents by description, and messages by text, among what lists show the caller: all words of the query must
 * occur, in any case. Names that are or begin with the query come first, then what changed last. Of messages, it reads the newest of the caller's newest
 * chats, about four megabytes.
 *
 * @throws DomainError INVALID_VALUE naming the member.
 *
 * Cost: at most four statements, and one for each thousand messages.
 */
export async function searchEverything(deps: Deps, caller: Caller, input: SearchInput): Promise<readonly FoundThing[]> {
  const first = input.first ?? firstDefault;
  if (first < 1 || first > foundMax)
    throw new DomainError('INVALID_VALUE', `first must be from 1 to ${foundMax}`, { param: 'first' });
  const query = readQuery(input.query);
  if (query === '') return [];
  const words = [...new Set(query.split(' '))].slice(0, wordsMax);
  const kinds = searchKinds.filter((kind) => (input.kinds ?? searchKinds).includes(kind) && caller.scopes.has(scopeOfKind[kind]));
  const foundCandidates = await candidates(deps, caller, kinds, words);
  return foundCandidates
    .map(({ kind, mention }) => ({ mention, kind, match: presentMatch(mention, query, words) }))
    .toSorted(
      (a, b) =>
        b.match.score - a.match.score ||
        b.mention.updatedAt.getTime() - a.mention.updatedAt.getTime() ||
        (a.mention.id < b.mention.id ? -1 : 1),
    )
    .slice(0, first)
    .map(({ kind, mention: { id, title, updatedAt }, match: { score: _score, ...excerpt } }) => ({
      kind,
      id,
      title,
      updatedAt,
      ...excerpt,
    }));
}

interface Candidate {
  readonly kind: SearchKind;
  readonly mention: Mention;
}

async function candidates(
  deps: Deps,
  caller: Caller,
  kinds: readonly SearchKind[],
  words: readonly string[],
): Promise<readonly Candidate[]> {
  const { search } = deps.storage.operations;
  const { userId, orgId } = caller;
  const chatKinds = kinds.filter((kind) => kind === 'chat' || kind === 'message');
  const [agents, sources, conversations] = await Promise.all([
    kinds.includes('agent') ? search.agents(listedAgents(caller, 'ALL'), words, candidatesMax) : [],
    kinds.includes('source') ? search.dataSources(visibleDataSources(caller), words, candidatesMax) : [],
    chatKinds.length > 0 ? search.conversations({ userId, orgId }, words, chatKinds, candidatesMax) : [],
  ]);
  deps.audit.read(caller, 'agent', agents);
  deps.audit.read(caller, 'dataSource', sources);
  return [
    ...agents.map((mention) => ({ kind: 'agent' as const, mention })),
    ...sources.map((mention) => ({ kind: 'source' as const, mention })),
    ...conversations.map((mention) => ({ kind: mention.kind, mention })),
  ];
}

/** Its words, with one space between them. @throws DomainError INVALID_VALUE */
function readQuery(query: string): string {
  if (query.length > queryCharsMax)
    throw new DomainError('INVALID_VALUE', `query must have at most ${queryCharsMax} characters`, { param: 'query' });
  return query.toWellFormed().trim().replaceAll(/\s+/g, ' ');
}
