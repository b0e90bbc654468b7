import { createClient } from 'graphql-sse';

const key = process.env.PARLEY_KEY;
if (key === undefined || key === '') throw new Error('PARLEY_KEY is missing');

export const url = `${process.env.PARLEY_URL ?? 'http://127.0.0.1:4000'}/graphql`;
export const headers = { authorization: `Bearer ${key}` };

/** The stream of all subscriptions. */
export const stream = createClient({ url, headers });

/** What the four programs print: who asks, and the agents. */
export function show(client: string, name: string | undefined, agents: readonly { readonly name: string }[]): void {
  console.log(`${client}: ${name} may ask ${agents.map((agent) => agent.name).join(', ') || 'no agent'}`);
}

/** Prints the first change of the list of agents, and ends the program. */
export function showChange(client: string, change: { readonly kind: string; readonly name: string | undefined }): void {
  console.log(`${client}: ${change.kind} ${change.name}`);
  stream.dispose();
  process.exit(0);
}
