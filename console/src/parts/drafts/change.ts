import { ParleyError } from '@parley/client';
import { run } from '../../graphql/client.ts';
import { DraftChangesDocument, DraftRevisionDocument } from './documents.ts';

/** What was read of a draft, and its revision then. */
export interface DraftReading {
  readonly revision: number;
}

const triesMax = 5;

/**
 * Changes the draft of an agent as it stands now: every mutation that takes `expectedDraft` is sent from here. `send` gets what `read` found, and throws
 * where that is not what the person saw. When somebody changes the draft in between, both are done again.
 *
 * @throws ParleyError
 */
export async function changeDraft<Reading extends DraftReading, Result>(
  read: () => Promise<Reading>,
  send: (reading: Reading) => Promise<Result>,
): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    const reading = await read();
    try {
      return await send(reading);
    } catch (cause) {
      if (tries === triesMax || !isOutdated(cause)) throw cause;
    }
  }
}

/** Adds to the draft of an agent, whatever stands there: nothing of what others changed is replaced. @throws ParleyError */
export function addToDraft<Result>(agentId: string, send: (expectedDraft: number) => Promise<Result>): Promise<Result> {
  return changeDraft(
    () => readRevision(agentId),
    ({ revision }) => send(revision),
  );
}

function isOutdated(cause: unknown): boolean {
  return cause instanceof ParleyError && cause.code === 'CONFLICT' && cause.param === 'expectedDraft';
}

async function readRevision(id: string): Promise<DraftReading> {
  const { agent } = await run(DraftRevisionDocument, { id });
  return { revision: requireRevision(agent) };
}

/** The revision of a draft. @throws ParleyError for an agent that is gone, or that the reader may not edit any more. */
export function requireRevision(agent: { readonly draft: { readonly revision: number } | null } | null): number {
  if (agent === null) throw new ParleyError('There is no such agent.', { code: 'NOT_FOUND' });
  if (agent.draft === null) throw new ParleyError('You may not edit this agent any more.', { code: 'FORBIDDEN' });
  return agent.draft.revision;
}

/** The names of those who changed one of the members since a revision, as far as they are known: those of parts are `skills.Write an offer`. */
export async function findAuthors(id: string, after: number, members: readonly string[]): Promise<readonly string[]> {
  const authors = await readAuthors(id, after);
  return [...new Set(members.flatMap((member) => authors.get(member) ?? []))];
}

/** Who changed which members since a revision. Nobody where that cannot be read: it only says more of a conflict. */
export async function readAuthors(id: string, after: number): Promise<ReadonlyMap<string, readonly string[]>> {
  const reply = await run(DraftChangesDocument, { id, after }).catch(() => undefined);
  const authors = new Map<string, readonly string[]>();
  for (const { userName, members } of reply?.agent?.draft?.changes ?? []) {
    if (userName === null) continue;
    for (const member of members) authors.set(member, [...new Set([...(authors.get(member) ?? []), userName])]);
  }
  return authors;
}
