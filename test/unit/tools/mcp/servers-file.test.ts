import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readServersFile } from '../../../../src/engine/tools/mcp/servers-file.ts';
import { startService } from '../../../support/service.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-mcp-file-'));
const path = join(folder, 'servers.json');
afterAll(() => rmSync(folder, { recursive: true }));
const read = (content: unknown) => {
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return readServersFile(path);
};

describe('MCP_SERVERS_FILE', () => {
  it('holds programs, which start in its folder, and addresses', () => {
    const servers = read({
      servers: [
        { name: 'files', command: 'npx', args: ['-y', 'x'], env: { KEY: 'a' } },
        { name: 'web', url: 'https://mcp.example.com/mcp', organizations: ['org_1'] },
      ],
    });
    expect(servers).toEqual([
      { name: 'files', command: 'npx', args: ['-y', 'x'], env: { KEY: 'a' }, cwd: folder },
      { name: 'web', url: 'https://mcp.example.com/mcp', headers: {}, organizations: ['org_1'] },
    ]);
  });

  it.each([
    ['no JSON', '{"servers": [k-secret', /it is no JSON/],
    ['no list', {}, /servers/],
    ['neither program nor address', { servers: [{ name: 'a' }] }, /either command or url/],
    ['both', { servers: [{ name: 'a', command: 'x', url: 'https://a.example' }] }, /either command or url/],
    ['an unknown member', { servers: [{ name: 'a', command: 'x', shell: true }] }, /shell/],
    ['a name of odd characters', { servers: [{ name: 'a b', command: 'x' }] }, /name/],
    ['an address of another kind', { servers: [{ name: 'a', url: 'file:///etc/passwd' }] }, /url/],
    ['a value that is no text', { servers: [{ name: 'a', command: 'x', env: { KEY: 1 } }] }, /env/],
    [
      'two servers of one name',
      {
        servers: [
          { name: 'a', command: 'x' },
          { name: 'a', command: 'y' },
        ],
      },
      /two servers have the name a/,
    ],
  ])('is refused with %s, without its values', (_what, content, reason) => {
    expect(() => read(content)).toThrow(reason);
    expect(() => read(content)).toThrow(/MCP_SERVERS_FILE/);
    expect(() => read(content)).not.toThrow(/k-secret/);
  });

  it('that is wrong refuses the start', async () => {
    writeFileSync(path, '{}');
    await expect(startService({ env: { MCP_SERVERS_FILE: path, LOG_LEVEL: 'fatal' } })).rejects.toThrow(/MCP_SERVERS_FILE/);
  });
});
