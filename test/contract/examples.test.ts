import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { withService } from '../support/service.ts';

const read = (...path: string[]) => readFileSync(join(...path), 'utf8');

describe.each(globSync('examples/*/package.json').map(dirname))('%s', (folder) => {
  const { dependencies, devDependencies } = JSON.parse(read(folder, 'package.json')) as Record<string, Record<string, string>>;
  const named = { ...dependencies, ...devDependencies };
  const { packages } = JSON.parse(read(folder, 'package-lock.json')) as {
    packages: Record<string, { version?: string; resolved?: string; optionalDependencies?: object }>;
  };

  it('names its packages by exact versions, and the lockfile has these', () => {
    const versions = Object.keys(named).map((name) => {
      const { resolved, version } = packages[`node_modules/${name}`] ?? {};
      return [name, resolved === undefined ? version : `file:${resolved}`];
    });
    expect(Object.fromEntries(versions)).toEqual(named);
    expect(Object.values(named).filter((version) => !/^(\d+\.\d+\.\d+$|file:\.)/.test(version))).toEqual([]);
  });

  it('has a lockfile without hosts', () => {
    const odd = Object.entries(packages).filter(([path, { resolved }]) => path !== '' && /^\w+:/.test(resolved ?? ''));
    expect(odd).toEqual([]);
  });

  it('has a lockfile for every system: packages of other ones are not left out', () => {
    const optional = Object.values(packages).flatMap((entry) => Object.keys(entry.optionalDependencies ?? {}));
    const locked = Object.keys(packages).map((path) => path.replace(/^.*node_modules\//, ''));
    expect(optional.filter((name) => !locked.includes(name))).toEqual([]);
  });
});

describe.each(globSync('examples/*/README.md'))('%s', (path) => {
  it('is short, and starts the example with one command', () => {
    const text = readFileSync(path, 'utf8');
    expect(text.trim().split('\n').length).toBeLessThanOrEqual(16);
    expect(text.match(/^```sh\n(.+)\n```$/gm)).toHaveLength(1);
  });
});

describe('examples/open-webui', async () => {
  const { service, make } = await withService();
  const { image, environment, ports } = parse(read('examples/open-webui', 'compose.yaml')).services['open-webui'];

  it('is an exact version that only this machine reaches', () => {
    expect(image).toMatch(/:v\d+\.\d+\.\d+$/);
    expect(ports).toEqual([expect.stringMatching(/^127\.0\.0\.1:/)]);
  });

  it('points at an address that lists the agents of the key and streams their answers', async () => {
    const owner = await make.person();
    const { id } = await make.agent({ owner, name: 'Workshop help' });
    const { key } = await make.withKey(owner, { scopes: ['CHATS:WRITE', 'AGENTS:READ'] });
    const values: Record<string, string> = { PARLEY_URL: service.url, PARLEY_KEY: key };
    const filled = (text: string) => text.replace(/\$\{(\w+)[^}]*\}/g, (_all, name: string) => values[name] ?? '');
    // The requests that Open WebUI makes: the list of models, then completions as a stream.
    const client = new OpenAI({ baseURL: filled(environment.OPENAI_API_BASE_URL), apiKey: filled(environment.OPENAI_API_KEY) });
    const { data } = await client.models.list();
    expect(data).toContainEqual(expect.objectContaining({ id, name: 'Workshop help' }));
    const stream = await client.chat.completions.create({
      model: id,
      stream: true,
      messages: [{ role: 'user', content: 'Hello' }],
    });
    const chunks = await Array.fromAsync(stream);
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).not.toBe('');
    expect(chunks.some(({ choices }) => choices[0]?.finish_reason === 'stop')).toBe(true);
  });
});
