import type { Row } from '../completions/completions.ts';
import { type Target, throughput } from '../completions/load.ts';
import { cores, start } from '../completions/processes.ts';

const connections = 16;
const passMs = 2_000;
const passes = 3;
const plainRelations = 'id name description groups { id name } dataSources { id name type }';
const relations = 'id name description groups { id name } sources { nodes { id name type } }';
/** The queries, and the least ratio of Parley's requests a second to those of the plain server. */
const comparisons = [
  {
    name: 'GraphQL: 50 agents with groups and sources',
    plainQuery: `{ agents(first: 50) { ${plainRelations} } }`,
    query: `{ agents(first: 50) { nodes { ${relations} } } }`,
    floor: { ratioMin: 0.8 },
  },
  {
    name: 'GraphQL: tiny query',
    plainQuery: '{ viewer { keyId scopes } }',
    query: '{ viewer { keyId scopes } }',
    floor: { ratioMin: 0.7 },
  },
] as const;

/**
 * Measures the list that a web front end loads first, 50 agents with their groups and data sources, and a query without a database, over GraphQL,
 * against a plain server on the same rows in the same process (server.ts). Uses the embedded database, or the one of `DATABASE_URL`, which must be
 * disposable.
 */
export async function benchAgentList(): Promise<readonly Row[]> {
  const child = await start<{ url: string; plainUrl: string; adminKey: string }>('../agent-list/server.ts', [], cores.service);
  try {
    const { url, plainUrl, adminKey } = child.ready;
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${adminKey}` };
    const target = (name: string, base: string, query: string): Target => {
      return { name, url: base, path: '/graphql', headers, body: JSON.stringify({ query }) };
    };
    const rows: Row[] = [];
    for (const { name, plainQuery, query, floor } of comparisons) {
      const targets = [target('plain', plainUrl, plainQuery), target('parley', url, query)] as const;
      const rates: [number, number] = [0, 0];
      const costs: [number, number] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
      for (let pass = 0; pass < passes; pass += 1) {
        for (const side of [0, 1] as const) {
          const before = await child.ask<{ cpuMicros: number }>('cpu');
          const startedMs = performance.now();
          const rate = await throughput(targets[side], connections, passMs);
          const answers = (rate * (performance.now() - startedMs)) / 1000;
          const after = await child.ask<{ cpuMicros: number }>('cpu');
          rates[side] = Math.max(rates[side], rate);
          costs[side] = Math.min(costs[side], (after.cpuMicros - before.cpuMicros) / answers);
        }
      }
      const note = `CPU ${costs[0].toFixed(0)} and ${costs[1].toFixed(0)} µs a request`;
      rows.push({ name, raw: rates[0], ours: rates[1], unit: 'requests/s', floor, note });
    }
    return rows;
  } finally {
    await child.stop();
  }
}

if (import.meta.main) {
  for (const { name, raw, ours, note } of await benchAgentList())
    console.log(name, raw.toFixed(0), ours.toFixed(0), (ours / raw).toFixed(2), note);
  process.exit(0);
}
