import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { installPackages } from '../support/processes/example.ts';
import { withService } from '../support/service.ts';

/**
 * The terminal coding agent of the vendor of the Messages format, with nothing but the two variables of docs/doors.md. It is installed from npm for
 * this test, under its own licence, and is no part of this repository.
 */
const { service, make, upstream } = await withService('model');
const version = '2.1.332';
const { platform, arch } = process;
const folder = await installPackages(`@anthropic-ai/claude-code-${platform}-${arch}@${version}`);
const model = 'openai/test-model';

it('has a session with a tool', async () => {
  const { key } = await make.person({ scopes: ['CHATS:WRITE'] });
  const home = join(folder, 'home');
  mkdirSync(home);
  const command = 'echo 12 > stock.txt && cat stock.txt';
  const call = { id: 'call_1', name: 'Bash', arguments: JSON.stringify({ command, description: 'Writes the stock' }) };
  upstream.next({ text: 'I write it down.', toolCalls: [call] });
  upstream.otherwise({ text: 'The stock is 12.' });
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    ANTHROPIC_BASE_URL: `${service.url}/api`,
    ANTHROPIC_AUTH_TOKEN: key,
    ANTHROPIC_MODEL: model,
    ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    IS_SANDBOX: '1',
  };
  const binary = join(folder, 'node_modules', '@anthropic-ai', `claude-code-${platform}-${arch}`, 'claude');
  const asked = promisify(execFile)(binary, ['-p', 'Write down the stock', '--allowedTools', 'Bash'], { cwd: home, env });
  asked.child.stdin?.end();
  expect((await asked).stdout.trim()).toBe('The stock is 12.');
  expect(readFileSync(join(home, 'stock.txt'), 'utf8')).toBe('12\n');
  const [asking, answering] = upstream.requests.map(({ body }) => body?.messages as readonly { role: string }[]);
  expect(asking?.[0]).toMatchObject({ role: 'system' });
  expect(answering?.at(-1)).toMatchObject({ role: 'tool', tool_call_id: 'call_1', content: expect.stringContaining('12') });
});
