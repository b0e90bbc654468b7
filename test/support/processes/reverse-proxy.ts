import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';

export type ReverseProxyName = 'nginx' | 'haproxy';

export interface ReverseProxy {
  readonly url: string;
  close(): Promise<void>;
}

const programOf = (name: ReverseProxyName) =>
  [`/usr/sbin/${name}`, `/usr/local/sbin/${name}`, `/usr/bin/${name}`].find((path) => existsSync(path));

/** Whether the program is there: `it.skipIf(!hasReverseProxy(name))`. A missing one is said. */
export function hasReverseProxy(name: ReverseProxyName): boolean {
  if (programOf(name) !== undefined) return true;
  console.warn(`The configuration of ${name} is not tried: install the package "${name === 'nginx' ? 'nginx-light' : name}".`);
  return false;
}

/** Starts the program with its configuration of docs/deployment.md, but for addresses: it listens without TLS, on a free port. */
export async function startReverseProxy(name: ReverseProxyName, parley: string): Promise<ReverseProxy> {
  const program = programOf(name);
  if (program === undefined) throw new Error('ask hasReverseProxy first');
  const folder = mkdtempSync(join(tmpdir(), `parley-${name}-`));
  const port = await freePort();
  const at = { listen: `127.0.0.1:${port}`, parley: new URL(parley).host };
  const path = join(folder, 'configuration');
  writeFileSync(path, name === 'nginx' ? nginx(folder, at) : haproxy(at));
  const child = spawn(program, name === 'nginx' ? ['-p', folder, '-c', path] : ['-db', '-f', path], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => (output += bytes.toString()));
  const url = `http://127.0.0.1:${port}`;
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`${name} ended: ${output}`);
    const { status } = await fetch(`${url}/readyz`);
    if (status !== 200) throw new Error(`${name} does not reach Parley: ${status}`);
  });
  return {
    url,
    async close() {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

interface Addresses {
  readonly listen: string;
  readonly parley: string;
}

function nginx(folder: string, { listen, parley }: Addresses): string {
  const shown = replaced(documented('nginx'), [
    ['listen 443 ssl http2;', `listen ${listen};`],
    ['http://127.0.0.1:4000', `http://${parley}`],
  ]);
  mkdirSync(join(folder, 'files'));
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((part) => `${part}_temp_path ${folder}/files/${part};`);
  return `daemon off; pid ${folder}/pid; error_log stderr; worker_processes 1;\nevents {}\nhttp { access_log off; ${places.join(' ')}\n${shown}\n}\n`;
}

function haproxy({ listen, parley }: Addresses): string {
  return replaced(documented('haproxy'), [
    ['bind :443 ssl crt /etc/haproxy/parley.pem alpn h2,http/1.1', `bind ${listen}`],
    ['X-Forwarded-Proto https', 'X-Forwarded-Proto http'],
    ['127.0.0.1:4000', parley],
  ]);
}

/** The first configuration in that language. */
function documented(language: ReverseProxyName): string {
  const text = readFileSync(join(import.meta.dirname, '../../../docs/deployment.md'), 'utf8');
  const [, block] = new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(text) ?? [];
  if (block === undefined) throw new Error(`docs/deployment.md shows no configuration of ${language}`);
  return block;
}

function replaced(text: string, changes: readonly (readonly [from: string, to: string])[]): string {
  return changes.reduce((changed, [from, to]) => {
    if (!changed.includes(from)) throw new Error(`docs/deployment.md does not say: ${from}`);
    return changed.replaceAll(from, to);
  }, text);
}
