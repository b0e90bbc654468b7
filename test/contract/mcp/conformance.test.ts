import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { startProxy } from '../../support/mcp/proxy.ts';
import { triesAll } from '../../support/property/sample.ts';
import { withService } from '../../support/service.ts';
import type { UpstreamRequest, UpstreamScript } from '../../support/upstream.ts';

/**
 * The public conformance suite of MCP, against a running Parley in both roles and both eras. Every scenario passes but those that are listed here, each
 * with its reason: the suite grows with its version, so a scenario that is not listed is one that must pass.
 */
const eras = ['2025-11-25', '2026-07-28'] as const;

const itsTool = 'calls a tool of the suite by its name; the tools of Parley are the agents of a key';
const itsResource = 'reads or watches a resource of the suite by its address; the resources of Parley are the agents of a key';
const itsPrompt = 'gets a prompt of the suite by its name; the prompts of Parley are the agents of a key';
const asksPerson = 'asks a person in the middle of a call; Parley declares no elicitation';

const unmet = {
  server: {
    'logging-set-level': 'sets a level for log messages; Parley sends none, and 2026-07-28 deprecates them',
    'tools-call-simple-text': itsTool,
    'tools-call-image': itsTool,
    'tools-call-audio': itsTool,
    'tools-call-embedded-resource': itsTool,
    'tools-call-mixed-content': itsTool,
    'tools-call-with-logging': itsTool,
    'tools-call-error': itsTool,
    'tools-call-with-progress': itsTool,
    'tools-call-sampling': itsTool,
    'tools-call-elicitation': itsTool,
    'json-schema-2020-12': itsTool,
    'elicitation-sep1034-defaults': itsTool,
    'elicitation-sep1330-enums': itsTool,
    'http-custom-header-server-validation': itsTool,
    'input-required-result-basic-elicitation': itsTool,
    'input-required-result-basic-sampling': itsTool,
    'input-required-result-basic-list-roots': itsTool,
    'input-required-result-request-state': itsTool,
    'input-required-result-multiple-input-requests': itsTool,
    'input-required-result-multi-round': itsTool,
    'input-required-result-result-type': itsTool,
    'input-required-result-tampered-state': itsTool,
    'input-required-result-capability-check': itsTool,
    'server-stateless': `${itsTool}, in four of its checks`,
    'resources-read-text': itsResource,
    'resources-read-binary': itsResource,
    'resources-templates-read': itsResource,
    'resources-subscribe': itsResource,
    'resources-unsubscribe': itsResource,
    'prompts-get-simple': itsPrompt,
    'prompts-get-with-args': itsPrompt,
    'prompts-get-embedded-resource': itsPrompt,
    'prompts-get-with-image': itsPrompt,
    'input-required-result-non-tool-request': itsPrompt,
  },
  client: {
    'elicitation-sep1034-client-defaults': asksPerson,
    'sep-2322-client-request-state': asksPerson,
  },
} as const;
type Role = keyof typeof unmet;

/** Scenarios that pass. */
const metCounts: Readonly<Record<(typeof eras)[number], Readonly<Record<Role, number>>>> = {
  '2025-11-25': { server: 10, client: 18 },
  '2026-07-28': { server: 13, client: 32 },
};

// The suite names its servers `localhost`.
const { service, make, upstream } = await withService('model', { env: { EGRESS_ALLOW: '127.0.0.1,localhost' } });
const folder = mkdtempSync(join(tmpdir(), 'parley-mcp-conformance-'));
const suite = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/dist/index.js');
const client = join(import.meta.dirname, '../../support/mcp/conformance-client.ts');
const timeoutMs = 240_000;

const ann = await make.person();
await make.agent({ owner: ann, modelId: 'openai/test-model', name: 'Ada', description: 'Knows the engine.' });

afterAll(() => rmSync(folder, { recursive: true }));

/** Which scenarios of the suite pass. */
async function run(role: Role, era: string, ...args: readonly string[]): Promise<Readonly<Record<string, boolean>>> {
  const env = { PATH: process.env.PATH, PARLEY_URL: service.url, PARLEY_KEY: ann.key };
  const all = [suite, role, '--suite', 'all', '--spec-version', era, '-o', join(folder, role, era), ...args];
  const child = spawn(process.execPath, all, { cwd: folder, env, stdio: ['ignore', 'pipe', 'ignore'] });
  let text = '';
  child.stdout.on('data', (piece: Buffer) => {
    text += piece.toString();
  });
  await once(child, 'close');
  return Object.fromEntries([...text.matchAll(/^([✓✗]) (\S+): /gm)].map(([, mark, name]) => [name ?? '', mark === '✓']));
}

function expectMet(role: Role, era: (typeof eras)[number], results: Readonly<Record<string, boolean>>): void {
  const names = (isMet: boolean) => Object.keys(results).filter((name) => results[name] === isMet);
  expect(names(false)).toEqual(Object.keys(results).filter((name) => Object.hasOwn(unmet[role], name)));
  expect(names(true)).toHaveLength(metCounts[era][role]);
}

/** Each era runs a program of the suite for each of some forty scenarios. `npm test` runs the newest. */
describe.each(triesAll ? eras : eras.slice(-1))('the scenarios of %s', (era) => {
  it(
    'for a server',
    async () => {
      // The suite has no key.
      const proxy = await startProxy(service.url, { authorization: `Bearer ${ann.key}` });
      const results = await run('server', era, '--url', `${proxy.url}/mcp`);
      await proxy.close();
      expectMet('server', era, results);
    },
    timeoutMs,
  );

  it(
    'for a client',
    async () => {
      upstream.otherwise(callEverything);
      expectMet('client', era, await run('client', era, '--command', `${process.execPath} ${client}`, '--timeout', '60000'));
    },
    timeoutMs,
  );
});

it('of server-stateless, only the checks fail that need tools of the suite', () => {
  const [file = ''] = globSync(join(folder, 'server/2026-07-28/server-server-stateless-*/checks.json'));
  const checks = JSON.parse(readFileSync(file, 'utf8')) as readonly { readonly id: string; readonly status: string }[];
  expect(checks.filter(({ status }) => status === 'FAILURE').map(({ id }) => id)).toEqual([
    'sep-2575-server-rejects-undeclared-capability',
    'sep-2575-missing-capability-http-400',
    'sep-2575-http-server-no-independent-requests-on-stream',
    'sep-2575-server-no-log-without-loglevel',
  ]);
});

interface Offered {
  readonly function: {
    readonly name: string;
    readonly parameters: { readonly properties?: Readonly<Record<string, { readonly type?: string }>> };
  };
}

/** The model calls what the scenario wants, else every tool that it is offered, and then it ends. */
function callEverything({ body }: UpstreamRequest): UpstreamScript {
  const messages = (body?.messages ?? []) as readonly { readonly role: string; readonly content: string }[];
  if (messages.some(({ role }) => role === 'tool')) return { text: 'Done.' };
  const { toolCalls: wanted } = JSON.parse(messages.findLast(({ role }) => role === 'user')?.content ?? '{}') as {
    readonly toolCalls?: readonly { readonly name: string; readonly arguments: object }[];
  };
  const offered = (body?.tools ?? []) as readonly Offered[];
  const calls =
    wanted?.map((one) => ({ name: `s__${one.name}`, arguments: withoutNulls(one.arguments) })) ??
    offered.map((one) => ({ name: one.function.name, arguments: argumentsFor(one, offered) }));
  const toolCalls = calls.map(({ name, arguments: args }, index) => ({
    id: `call_${index}`,
    name,
    arguments: JSON.stringify(args),
  }));
  return toolCalls.length === 0 ? { text: 'Done.' } : { toolCalls };
}

/** The schemas of the suite do not allow null, so a model leaves such a member out. */
function withoutNulls(args: object): object {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));
}

/** An object is the schema of the first tool: one scenario wants it back as the client got it. */
function argumentsFor({ function: { parameters } }: Offered, [first]: readonly Offered[]): object {
  const object = first?.function.parameters;
  const values: Readonly<Record<string, unknown>> = { number: 5, integer: 5, string: 'five', boolean: true, object, array: [] };
  return Object.fromEntries(
    Object.entries(parameters.properties ?? {}).map(([name, { type = 'string' }]) => [name, values[type]]),
  );
}
