import { type JsonObject, membersOf } from '../../../src/lib/json/json.ts';
import { listAgents } from '../agents.ts';
import { Failure, misused } from '../failure.ts';
import { counted, plot } from '../output/plot.ts';
import { table } from '../output/table.ts';
import type { Service } from '../service.ts';
import type { WrittenCommand } from './command.ts';

export const usage: WrittenCommand = {
  name: 'usage',
  words: [0, 0],
  summary: 'Shows the tokens of your organization: in total, by agent, and a plot by day',
  options: [{ name: 'days', value: 'number', meaning: 'How many days to plot; default 14.' }],
  example: 'usage --days 30',
  async run({ service, screen, options, switches }) {
    const count = readDays(options.get('days'));
    const from = new Date(Date.now() - (count - 1) * dayMs).toISOString();
    const total = membersOf(await service.send('GET', '/api/v1/usage'));
    const daily = membersOf(await service.send('GET', `/api/v1/usage/daily?from=${from}`));
    if (switches.has('json')) {
      screen.out(`${JSON.stringify({ ...total, days: daily.data }, null, 2)}\n`);
      return true;
    }
    const ofOrganization = membersOf(total.orgUsage);
    screen.out(`Answers   ${tokens(ofOrganization.apiTokensUsed, ofOrganization.apiUsageTokenLimit)}\n`);
    screen.out(`Indexing  ${tokens(ofOrganization.dataTokensUsed, ofOrganization.dataUsageTokenLimit)}\n`);
    const byAgent = (total.aiUsages ?? []) as readonly JsonObject[];
    if (byAgent.length > 0) screen.out(`\n${table(await namedRows(service, byAgent))}\n`);
    const days = ((daily.data ?? []) as readonly JsonObject[]).map(dayOf);
    screen.out(`\nTokens a day\n${plot(days)}\n`);
    return true;
  },
};

const dayMs = 86_400_000;
const daysMax = 366;

function readDays(given: string | undefined): number {
  const days = Number(given ?? 14);
  if (!Number.isInteger(days) || days < 1 || days > daysMax)
    throw misused(`--days must be a number from 1 to ${daysMax}, not "${given}".`);
  return days;
}

/** With the names of agents, as far as the key sees them. */
async function namedRows(service: Service, usages: readonly JsonObject[]): Promise<readonly JsonObject[]> {
  const agents = await listAgents(service).catch((error: unknown) => {
    if (error instanceof Failure) return [];
    throw error;
  });
  const names = new Map(agents.map(({ id, name }) => [id, name]));
  return usages.map(({ aiId, aiApiTokensUsed, aiDataTokensUsed }) => ({
    name: names.get(String(aiId)) ?? null,
    id: aiId,
    answers: aiApiTokensUsed,
    indexing: aiDataTokensUsed,
  }));
}

function tokens(used: unknown, limit: unknown): string {
  const of =
    typeof limit === 'number' ? ` of ${counted(limit)} (${Math.round((Number(used) / Math.max(1, limit)) * 100)} %)` : '';
  return `${counted(Number(used ?? 0))} tokens${of}`;
}

function dayOf({ day, dataTokensUsed, apiTokensUsed }: JsonObject): { readonly label: string; readonly value: number } {
  return { label: String(day).slice(0, 10), value: Number(dataTokensUsed) + Number(apiTokensUsed) };
}
