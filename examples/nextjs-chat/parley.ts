import { createOpenAI } from '@ai-sdk/openai';
import { z } from 'zod';

const { PARLEY_URL = 'http://127.0.0.1:4000', PARLEY_KEY = '' } = process.env;

/** Parley as a provider of the AI SDK: `parley.responses('ai_…')` is an agent. Runs on the server only, where the key is. */
export const parley = createOpenAI({ name: 'parley', baseURL: `${PARLEY_URL}/v1`, apiKey: PARLEY_KEY });

const Models = z.object({ data: z.array(z.object({ id: z.string(), name: z.string() })) });
export type Agent = z.infer<typeof Models>['data'][number];

/** The agents that the key may use. The list of models has them too; their ids begin with `ai_`. */
export async function listAgents(): Promise<Agent[]> {
  const reply = await fetch(`${PARLEY_URL}/v1/models`, { headers: { authorization: `Bearer ${PARLEY_KEY}` }, cache: 'no-store' });
  if (!reply.ok) throw new Error(`Parley answered ${reply.status}: is PARLEY_KEY a key of ${PARLEY_URL}?`);
  return Models.parse(await reply.json()).data.filter(({ id }) => id.startsWith('ai_'));
}
