import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { completionScript } from '../../../../scripts/cli/commands/completion.ts';
import { verbs } from '../../../../scripts/cli/commands/written.ts';
import { addFile, indexed } from '../../../support/knowledge/knowledge.ts';
import type { Person } from '../../../support/make.ts';
import { type CommandOptions, type CommandResult, parley } from '../../../support/processes/command-line.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';
import { heldAnswer } from '../../../support/upstream.ts';

const { service, make, upstream } = await withService('model');
const root = fileURLToPath(new URL('../../../..', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'parley-cli-'));

const ann = await make.person();

afterAll(() => rmSync(scratch, { recursive: true }));

const envOf = (who: Person) => ({ PARLEY_URL: service.url, PARLEY_API_KEY: who.key ?? '' });
const asAnn = (line: string, options?: CommandOptions) => parley(line, envOf(ann), options);

/** The same in a process of its own, whose output is no terminal. */
function inProcess(words: readonly string[], env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, ['scripts/parley.ts', ...words], {
    cwd: root,
    env: { PATH: process.env.PATH ?? '', ...env },
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk) => (out += String(chunk)));
  child.stderr.on('data', (chunk) => (err += String(chunk)));
  child.stdin.end();
  const ended = new Promise<CommandResult>((resolve) => child.on('close', (code) => resolve({ code: code ?? -1, out, err })));
  return { child, ended };
}

describe('parley ask', () => {
  let colleague: Person;
  let agentName: string;
  beforeAll(async () => {
    colleague = await make.person();
    const agent = await make.agent({ owner: colleague, name: 'Workshop help', modelId: 'parley/offline' });
    agentName = agent.name;
    const { body } = await addFile(
      colleague,
      agent.id,
      'prices.md',
      '# Prices\n\nA puncture repair costs 15 euros.\n',
      'text/markdown',
    );
    await indexed(colleague, body.id);
  });

  it('streams the answer with its sources, as plain text where nobody looks on', async () => {
    const { code, out, err } = await inProcess(['ask', 'What does a puncture repair cost?'], envOf(colleague)).ended;
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(
      /^A puncture repair costs 15 euros \[1\]\.\n\nSources\n {2}\[1\] \S.*\n {6}http\S+\/content\?link=\S+\n$/,
    );
    const url = /http\S+/.exec(out)?.[0] ?? '';
    expect((await fetch(url)).status).toBe(200);
  });

  it('finds the agent by name in any case, and says what was probably meant', async () => {
    const found = await parley(`ask "What does a puncture repair cost?" --agent "workshop HELP"`, envOf(colleague));
    expect(found).toMatchObject({ code: 0, out: expect.stringContaining('15 euros') });
    const unknown = await parley('ask "Hello" --agent "Workshop hepl"', envOf(colleague));
    expect(unknown).toEqual({ code: 1, out: '', err: `There is no agent "Workshop hepl". Did you mean "${agentName}"?\n` });
  });

  it('gives the whole reply as JSON', async () => {
    const { out } = await parley('ask "What does a puncture repair cost?" --json', envOf(colleague));
    expect(JSON.parse(out)).toMatchObject({ choices: [{ message: { content: expect.stringContaining('15 euros') } }] });
  });

  it('cancels the run at Ctrl-C', async () => {
    const agent = await make.agent({ owner: ann, name: 'Slow' });
    const { script } = heldAnswer({ text: ['It is ', 'never said.'] });
    upstream.next(script);
    const ending = new AbortController();
    const stopped = await asAnn(`ask "How long?" --agent ${agent.id}`, {
      signal: ending.signal,
      onOutput: (out) => out.includes('It is') && ending.abort(),
    });
    expect([stopped.code, stopped.err]).toEqual([1, '\nCancelled.\n']);
    await upstream.until(({ aborted }) => aborted === 1);
  });

  it('ends its process at Ctrl-C, without a stack', async () => {
    const agent = await make.agent({ owner: ann, name: 'Slower' });
    upstream.next(heldAnswer({ text: ['It is ', 'never said.'] }).script);
    const { child, ended } = inProcess(['ask', 'How long?', '--agent', agent.id], envOf(ann));
    child.stdout.on('data', (chunk) => String(chunk).includes('It is') && child.kill('SIGINT'));
    const { code, err } = await ended;
    expect([code, err]).toEqual([1, '\nCancelled.\n']);
  });

  it('removes what would steer the terminal', async () => {
    const agent = await make.agent({ owner: ann });
    upstream.next({ text: 'Red \u001b[31malert\u001b[0m\u0007.' });
    expect((await asAnn(`ask "What?" --agent ${agent.id}`)).out).toBe('Red [31malert[0m.\n');
  });
});

describe('parley sources', () => {
  it('adds a folder, shows progress on a terminal, and says why something failed', async () => {
    const agent = await make.agent({ owner: ann, name: 'Folder' });
    writeFileSync(join(scratch, 'good.md'), '# Hours\n\nOpen from nine to five.\n');
    writeFileSync(join(scratch, 'empty.md'), '');
    writeFileSync(join(scratch, 'broken.pdf'), '%PDF-1.7\nnothing\n');
    writeFileSync(join(scratch, '.hidden'), 'secret');
    const { code, out, err } = await asAnn(`sources add ${scratch} --agent ${agent.id}`, { isTerminal: true });
    expect([code, out]).toEqual([1, '1 of 3 indexed for "Folder".\n']);
    expect(err).toMatch(/empty\.md: .*empty/);
    expect(err).toMatch(/broken\.pdf: .*PDF/);
    expect(err).toMatch(/\[\S Indexing {2}█*░* {2}\d\/2\]/);
    const piped = await asAnn(`sources add ${join(scratch, 'good.md')} --agent ${agent.id}`);
    expect(piped).toEqual({
      code: 0,
      out: '1 of 1 indexed for "Folder".\n',
      err: expect.stringMatching(/^Indexing: 100 %, 1 of 1$/m),
    });
    const listed = await asAnn(`sources list --agent ${agent.id}`);
    expect(listed.out).toMatch(/^name +id +status .*reason/);
    expect(listed.out.split('\n').every((line) => line.length <= 100)).toBe(true);
    const json = JSON.parse((await asAnn(`sources add ${join(scratch, 'empty.md')} --agent ${agent.id} --json`)).out);
    expect(json.sources).toMatchObject([{ status: 'REFUSED', reason: expect.stringContaining('empty') }]);
  });

  it('says that there is no such folder', async () => {
    const agent = await make.agent({ owner: ann });
    const { code, err } = await asAnn(`sources add ./not-here --agent ${agent.id}`);
    expect([code, err]).toEqual([1, expect.stringMatching(/^There is no file or folder "\.\/not-here"/)]);
  });
});

describe('parley agents', () => {
  it('makes, shows, changes, moves and deletes an agent', async () => {
    const bea = await make.person();
    const asBea = (line: string) => parley(line, envOf(bea));
    const made = await asBea('agents create --name "Garden help" --instructions "Be short." --json');
    const { id } = JSON.parse(made.out);
    expect((await asBea('agents')).out).toMatch(new RegExp(`^name +id +visibility.*\nGarden help +${id} +PRIVATE `));
    expect((await asBea('agents get "Garden help"')).out).toMatch(new RegExp(`^name +Garden help\nid +${id}\n`));
    await asBea('agents edit "garden help" --visibility ORGANIZATION --name Garden');
    expect((await bea.get(`/api/v1/ais/${id}`)).body).toMatchObject({ name: 'Garden', visibility: 'ORGANIZATION' });
    const file = join(scratch, 'garden.json');
    expect(await asBea(`agents export Garden --file ${file}`)).toMatchObject({ code: 0, out: '' });
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ agent: { name: 'Garden', instructions: 'Be short.' } });
    expect((await asBea(`agents import ${file} --dry-run`)).out).toBe('The bundle can be imported.\n');
    expect((await asBea(`agents import ${file} --name Copy`)).out).toMatch(/^Made ai_\w+\.\n$/);
    expect((await asBea('agents list')).out).toContain('Copy');
    expect((await asBea('agents delete Copy')).out).toBe('Deleted "Copy".\n');
    expect((await asBea('agents get Copy')).code).toBe(1);
  });

  it('keeps tables within 100 columns and cuts no id', async () => {
    const cleo = await make.person({ name: 'N'.repeat(60) });
    const { id } = await make.agent({ owner: cleo, name: 'A long name '.repeat(10).trim() });
    const { out } = await parley('agents', envOf(cleo));
    expect(out.split('\n').every((line) => line.length <= 100)).toBe(true);
    expect(out).toContain(id);
    expect(out).toContain('…');
  });
});

describe('parley chats and usage', () => {
  it('lists chats and shows one, and plots the tokens of each day', async () => {
    const dan = await make.person();
    const agent = await make.agent({ owner: dan, name: 'Talker' });
    const chat = await make.chat({ owner: dan, agentId: agent.id });
    upstream.next({ text: 'Hello Dan.', usage: { prompt_tokens: 1_200, completion_tokens: 34 } });
    await dan.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'Hello' });
    expect((await parley('chats', envOf(dan))).out).toMatch(new RegExp(`^name +id +agent +updatedAt\n.*${chat.id} +Talker `));
    expect((await parley(`chats get ${chat.id}`, envOf(dan))).out).toMatch(/Hello Dan\./);
    const out = await eventually(async () => {
      const shown = await parley('usage --days 3', envOf(dan));
      expect(shown.out).toMatch(/^Answers {3}1,234 tokens\n/);
      return shown.out;
    });
    expect(out).toMatch(/Talker +ai_\w+ +1234 +0/);
    expect(out).toMatch(/Tokens a day\n\d{4}-\d\d-\d\d {2}0\n\d{4}-\d\d-\d\d {2}0\n\d{4}-\d\d-\d\d {2}█{50} {2}1,234\n$/);
  });
});

describe('the command line says what is wrong', () => {
  it.each<[string, string, number, RegExp]>([
    ['a command with a letter wrong', 'agnets list', 2, /^There is no command "agnets"\. Did you mean "agents"\?/],
    ['a verb with a letter wrong', 'agents lsit', 2, /^agents cannot "lsit"\. Did you mean "list"\?/],
    ['an option with a letter wrong', 'ask hello --agnet x', 2, /^ask does not take --agnet\. Did you mean "agent"\?/],
    ['words where none belong', 'agents list all', 2, /^agents list does not take "all"/],
    ['nothing to add', 'sources add', 2, /^sources add needs <folder\|file\|url>/],
    ['no address', 'agents --url here', 2, /^"here" is not an http\(s\) address/],
    ['a wrong key', 'agents --key pk_wrong', 1, /does not know this key.*\(401\)\. Check --key or PARLEY_API_KEY\.$/],
    ['another program', 'agents get ai_00000000000000000000000000', 1, /^There is no such agent \(404\)\.$/],
    [
      'a service that is not there',
      'agents --url http://127.0.0.1:9',
      1,
      /^Nothing answers at http:\/\/127\.0\.0\.1:9 .*npm start/,
    ],
    ['too many days', 'usage --days 1000', 2, /^--days must be a number from 1 to 366/],
  ])('%s', async (_case, line, code, sentence) => {
    const result = await asAnn(line);
    expect([result.code, result.out]).toEqual([code, '']);
    expect(result.err.trim()).toMatch(sentence);
    expect(result.err).not.toContain('    at ');
  });

  it('asks which agent, when there are several', async () => {
    await make.agent({ owner: ann, name: 'One of many' });
    const { code, err } = await asAnn('ask "Hello"');
    expect([code, err]).toEqual([2, expect.stringMatching(/^Which agent\? Name one with --agent: "/)]);
  });

  it('sends the key that the operator chose to this machine only', async () => {
    const env = { PARLEY_URL: service.url, PARLEY_ADMIN_KEY: service.adminKey };
    expect((await parley('models', env)).code).toBe(0);
    expect(await parley('models', { ...env, PARLEY_URL: 'http://parley.example.com' })).toMatchObject({ code: 2 });
  });
});

describe('the command line explains itself', () => {
  it.each([...verbs].flatMap(([noun, names]) => names.map((verb) => `${noun} ${verb}`.trim())))('%s --help', async (name) => {
    const { code, out, err } = await parley(`${name} --help`);
    expect([code, err]).toEqual([0, '']);
    const example = out.split('Example:\n')[1]?.trim() ?? '';
    expect(example.startsWith(`parley ${name}`)).toBe(true);
  });

  it.each(['bash', 'zsh', 'fish'])('%s can complete it', async (shell) => {
    const { code, out } = await parley(`completion ${shell}`);
    expect([code, out]).toEqual([0, completionScript(shell)]);
    expect(out).toContain('sources');
  });

  it('completes in bash', async () => {
    const complete = async (...words: readonly string[]) => {
      const script = `${completionScript('bash')}
COMP_WORDS=(parley ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}; _parley; echo "\${COMPREPLY[*]}"`;
      const shell = spawn('bash', ['-c', script]);
      let out = '';
      shell.stdout.on('data', (chunk) => (out += String(chunk)));
      await new Promise((resolve) => shell.on('close', resolve));
      return out.trim();
    };
    expect(await complete('sou')).toBe('sources');
    expect(await complete('agents', 'ex')).toBe('export');
    expect(await complete('ask', 'Hello', '--ag')).toBe('--agent');
  });
});
