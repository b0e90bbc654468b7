import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createAgent } from '../domain/agents/agents.ts';
import type { Deps } from '../domain/deps.ts';
import { addFileDataSource } from '../domain/knowledge/add-sources.ts';
import type { UploadedFile } from '../entities/conversations/chats/uploaded-file.ts';
import { type Caller, scopes } from '../entities/people/caller.ts';

export const demoAgentName = 'Ask the manual';

const agent = {
  src: '',
  name: demoAgentName,
  description: 'Answers questions about Parley from its own manual. Made at the first start; change it or delete it as you like.',
  introduction: 'Ask me how Parley works: agents, knowledge, chats, keys, models, running it.',
  seed: 'How does the backup work?',
  instructions: 'You explain Parley to people who use or run it. Answer briefly, from the manual you are given, and cite it.',
  // What the console suggests to ask first.
  profile: {
    conversations: [
      { question: 'How do I back up Parley?' },
      { question: 'How do I add knowledge to an agent?' },
      { question: 'How do I use another model?' },
      { question: 'Who may use an agent?' },
    ],
  },
};

/** What users and operators of Parley read, as paths from the folder of the program. */
const pages = [
  'README.md',
  ...[
    'accounts',
    'agents',
    'chats',
    'cli',
    'completions',
    'configuration',
    'deployment',
    'knowledge',
    'models-file',
    'observability',
    'openai-clients',
    'responses',
    'rest',
    'security',
    'subscriptions',
  ].map((page) => `docs/${page}.md`),
];

/**
 * Makes an agent for the first administrator that answers from Parley's own documentation, so that a new installation has something to ask.
 * The agent is an ordinary one: it can be changed and deleted. Its sources are queued for indexing like any others.
 *
 * @param signal  ends it early, for a process that stops.
 * @returns the id of the agent; undefined where the documentation is not installed, or when it failed. Never rejects.
 */
export async function createDemo(deps: Deps, signal: AbortSignal): Promise<string | undefined> {
  try {
    const admin = await deps.storage.people.tenancy.findFirstAdmin();
    const files = (await Promise.all(pages.map(fileAt))).filter((file) => file !== undefined);
    if (admin === undefined || files.length === 0) return undefined;
    const caller: Caller = { ...admin, keyId: 'demo', level: 'ORGANIZATION', role: 'ADMIN', scopes: new Set(scopes) };
    const { id } = await createAgent(deps, caller, agent);
    for (const file of files) {
      signal.throwIfAborted();
      await addFileDataSource(deps, caller, id, file);
    }
    return id;
  } catch (error) {
    if (!signal.aborted) deps.logger.warn({ err: error }, 'the demo agent is not complete');
    return undefined;
  }
}

async function fileAt(page: string): Promise<UploadedFile | undefined> {
  const path = fileURLToPath(new URL(`../../${page}`, import.meta.url));
  const sizeBytes = await stat(path).then(
    ({ size }) => size,
    () => 0,
  );
  if (sizeBytes === 0) return undefined;
  return { filename: basename(path), mimeType: 'text/markdown', sizeBytes, stream: () => createReadStream(path) };
}
