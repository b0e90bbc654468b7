import { type JsonObject, membersOf } from '../../../src/lib/json/json.ts';
import { findAgent } from '../agents.ts';
import { misused } from '../failure.ts';
import { harmless } from '../output/screen.ts';
import { table } from '../output/table.ts';
import type { WrittenCommand } from './command.ts';

const list: WrittenCommand = {
  name: 'chats list',
  words: [0, 0],
  summary: 'Lists your chats, newest first',
  options: [
    { name: 'agent', value: 'name or id', meaning: 'Only chats with this agent.' },
    { name: 'search', value: 'text', meaning: 'Only chats whose name or messages hold this text.' },
    { name: 'limit', value: 'number', meaning: 'How many.' },
  ],
  example: 'chats list --search warranty',
  async run({ service, screen, options, switches }) {
    const named = options.get('agent');
    if (named !== undefined && options.has('search')) throw misused('chats list takes --agent or --search, not both.');
    const path = named === undefined ? '/api/v1/chats' : `/api/v1/ais/${(await findAgent(service, named)).id}/chats`;
    const query = new URLSearchParams([...options].filter(([name]) => name !== 'agent')).toString();
    const reply = membersOf(await service.send('GET', query === '' ? path : `${path}?${query}`));
    const chats = (reply.data ?? []) as readonly JsonObject[];
    const rows = chats.map(({ name, id, ai, updatedAt }) => ({ name, id, agent: membersOf(ai).name, updatedAt }));
    if (switches.has('json')) screen.out(`${JSON.stringify(reply, null, 2)}\n`);
    else screen.out(`${rows.length === 0 ? 'No chats.' : table(rows)}\n`);
    return true;
  },
};

const get: WrittenCommand = {
  name: 'chats get',
  takes: '<id>',
  words: [1, 1],
  summary: 'Shows what was said in a chat',
  options: [],
  example: 'chats get chat_01jd0000000000000000000000',
  async run({ service, screen, words, switches }) {
    const format = switches.has('json') ? 'json' : 'markdown';
    const said = await service.send('GET', `/api/v1/chats/${encodeURIComponent(words[0] ?? '')}/export?format=${format}`);
    screen.out(typeof said === 'string' ? harmless(said) : `${JSON.stringify(said, null, 2)}\n`);
    return true;
  },
};

export const chatCommands: readonly WrittenCommand[] = [list, get];
