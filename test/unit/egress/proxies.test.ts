import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { generate } from 'selfsigned';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { createEgress, type Egress } from '../../../src/engine/egress/egress.ts';
import { createProxies, type ProxySettings } from '../../../src/engine/egress/proxies.ts';
import { settingsProblems } from '../../../src/settings.ts';
import { startApiServer } from '../../support/egress/api-server.ts';
import { startConnectProxy } from '../../support/egress/connect-proxy.ts';
import { startDnsServer } from '../../support/egress/dns-server.ts';
import { egressPlaces, someOwner } from '../../support/sharing/pools.ts';

const site = await startApiServer();
const proxy = await startConnectProxy();
const names: Record<string, readonly string[]> = {};
const dns = await startDnsServer(({ name }) => names[name]);
const opened: Egress[] = [];
const never = new AbortController().signal;
const publicAddress = '93.184.215.14';

beforeEach(() => {
  proxy.reset();
  site.reset();
  for (const name of Object.keys(names)) delete names[name];
});
afterAll(async () => {
  await Promise.all([...opened.map((egress) => egress.close()), site.close(), proxy.close(), dns.close()]);
});

function through(
  settings: ProxySettings = {},
  allow?: string,
): (url: string, headers?: Record<string, string>) => Promise<string> {
  const all = { HTTP_PROXY: `http://127.0.0.1:${proxy.port}`, HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`, ...settings };
  const limits = { connectTimeoutMs: 2_000, lookupTimeoutMs: 2_000, ...egressPlaces(16, 16) };
  const egress = createEgress({ allow, dnsServers: [dns.address], proxies: createProxies(all), ...limits });
  opened.push(egress);
  return async (url, headers = {}) => {
    const reply = await egress.send({ owner: someOwner, url, headers, bytesMax: 10_000, timeoutMs: 5_000 }, never);
    return reply.body.toString();
  };
}

describe('a URL that others influence goes through the proxy', () => {
  it('to the address that was checked, so that the proxy looks up no name', async () => {
    names['shop.test'] = [publicAddress];
    proxy.route(`${publicAddress}:80`, site.url);
    expect(await through()('http://shop.test/orders')).toBe('{"ok":true}');
    expect(proxy.requests).toMatchObject([{ method: 'CONNECT', target: `${publicAddress}:80` }]);
    expect(site.requests).toMatchObject([{ path: '/orders', headers: { host: 'shop.test' } }]);
    expect(JSON.stringify(proxy.requests)).not.toContain('shop.test');
  });

  it.each(['service', 'proxy'] as const)('and is refused where the host is private (PROXY_LOOKUP=%s)', async (lookup) => {
    names['rebound.test'] = ['169.254.169.254'];
    const send = through({ PROXY_LOOKUP: lookup });
    for (const url of ['http://rebound.test/', 'http://10.0.0.5/', 'https://[fd00::1]/', 'http://127.0.0.1:9/'])
      await expect(send(url)).rejects.toMatchObject({ code: 'FORBIDDEN_ADDRESS' });
    expect(proxy.requests).toEqual([]);
  });

  it('with its name where the proxy looks it up, and this machine cannot', async () => {
    proxy.route('only-there.test:80', site.url);
    await expect(through()('http://only-there.test/')).rejects.toMatchObject({ code: 'UNREACHABLE' });
    expect(await through({ PROXY_LOOKUP: 'proxy' })('http://only-there.test/a?b=1')).toBe('{"ok":true}');
    expect(proxy.requests).toMatchObject([{ method: 'GET', target: 'http://only-there.test/a?b=1' }]);
    expect(site.requests).toMatchObject([{ path: '/a?b=1', headers: { host: 'only-there.test' } }]);
  });

  it('with a name and a password that no site and no message gets', async () => {
    names['shop.test'] = [publicAddress];
    proxy.route(`${publicAddress}:80`, site.url);
    const secured = `http://ann:s%40cret-word@127.0.0.1:${proxy.port}`;
    await through({ HTTP_PROXY: secured })('http://shop.test/', { 'Proxy-Authorization': 'Basic of-a-user' });
    const basic = `Basic ${Buffer.from('ann:s@cret-word').toString('base64')}`;
    expect(proxy.requests[0]?.headers['proxy-authorization']).toBe(basic);
    expect(site.requests[0]?.headers['proxy-authorization']).not.toBe(basic);
    proxy.refuse(407);
    const failure = await through({ HTTP_PROXY: secured })('http://shop.test/').catch((error: Error) => error);
    expect(String(failure)).toContain(`the proxy 127.0.0.1:${proxy.port} asks for a user name and a password`);
    expect(String(failure)).not.toMatch(/s@cret|s%40cret|ann/);
  });

  it('and what a user sends to the proxy does not reach it', async () => {
    proxy.route('only-there.test:80', site.url);
    await through({ PROXY_LOOKUP: 'proxy' })('http://only-there.test/', { 'Proxy-Authorization': 'Basic of-a-user' });
    expect(proxy.requests[0]?.headers['proxy-authorization']).toBeUndefined();
  });

  it('and a redirect to a private address is refused there too', async () => {
    names['shop.test'] = [publicAddress];
    proxy.route(`${publicAddress}:80`, site.url);
    site.answer(() => ({ status: 302, headers: { location: 'http://169.254.169.254/latest' } }));
    await expect(through()('http://shop.test/')).rejects.toMatchObject({ code: 'FORBIDDEN_ADDRESS' });
    expect(proxy.requests).toHaveLength(1);
  });

  it('and TLS is checked for the name, not for the proxy', async () => {
    const subject = [{ name: 'commonName', value: 'shop.test' }];
    const altNames = [{ type: 2 as const, value: 'shop.test' }];
    const { private: key, cert } = await generate(subject, { extensions: [{ name: 'subjectAltName', altNames }] });
    const secure = createServer({ key, cert }, (_request, response) => response.end('over TLS'));
    await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));
    const before = getCACertificates();
    setDefaultCACertificates([...before, cert]);
    try {
      proxy.route(`${publicAddress}:443`, `http://127.0.0.1:${(secure.address() as AddressInfo).port}`);
      names['shop.test'] = [publicAddress];
      names['other.test'] = [publicAddress];
      expect(await through()('https://shop.test/')).toBe('over TLS');
      await expect(through()('https://other.test/')).rejects.toMatchObject({ code: 'UNREACHABLE' });
    } finally {
      setDefaultCACertificates(before);
      secure.closeAllConnections();
      await new Promise((resolve) => secure.close(resolve));
    }
  });

  it.each([
    [403, 'refused the connection (403)'],
    [502, 'refused the connection (502)'],
  ])('and a refusal of the proxy (%i) names it', async (status, words) => {
    names['shop.test'] = [publicAddress];
    proxy.refuse(status);
    await expect(through()('http://shop.test/')).rejects.toThrow(`the proxy 127.0.0.1:${proxy.port} ${words}`);
  });

  it('and a proxy that is down is named', async () => {
    names['shop.test'] = [publicAddress];
    const send = through({ HTTP_PROXY: 'http://127.0.0.1:9' });
    await expect(send('http://shop.test/')).rejects.toThrow('the proxy 127.0.0.1:9 could not be reached (ECONNREFUSED)');
  });

  it('but this machine is called without it', async () => {
    const send = through({}, '127.0.0.1');
    expect(await send(`${site.url}/near`)).toBe('{"ok":true}');
    expect(await send(`${site.url.replace('127.0.0.1', 'localhost')}/near`).catch(() => 'refused')).toMatch(/ok|refused/);
    expect(proxy.requests).toEqual([]);
  });
});

describe('NO_PROXY', () => {
  const isDirect = (list: string, url: string) =>
    createProxies({ HTTP_PROXY: 'proxy.test:3128', HTTPS_PROXY: 'http://proxy.test:3128', NO_PROXY: list }).proxyOf(
      new URL(url),
    ) === undefined;
  it.each([
    ['', 'https://api.test/', false],
    ['*', 'https://api.test/', true],
    ['api.test', 'https://api.test/', true],
    ['api.test', 'https://v1.api.test/', true],
    ['api.test', 'https://myapi.test/', false],
    ['.api.test', 'https://v1.api.test/', true],
    ['*.api.test', 'https://v1.api.test/', true],
    ['API.test', 'https://api.TEST./', true],
    ['api.test:8443', 'https://api.test:8443/', true],
    ['api.test:8443', 'https://api.test/', false],
    ['api.test:443', 'https://api.test/', true],
    ['10.0.0.0/8', 'http://10.1.2.3/', true],
    ['10.0.0.0/8', 'http://11.1.2.3/', false],
    ['10.0.0.0/8', 'http://ten.test/', false],
    ['10.1.2.3:80', 'http://10.1.2.3/', true],
    ['[fd00::1]:80, fd01::/16', 'http://[fd00::1]/', true],
    ['a.test b.test,c.test', 'http://b.test/', true],
    ['', 'http://localhost:11434/', true],
    ['', 'http://127.1.2.3/', true],
    ['', 'http://[::1]/', true],
  ])('"%s" and %s: without a proxy %s', (list, url, expected) => {
    expect(isDirect(list, url)).toBe(expected);
  });
});

describe('settings of proxies', () => {
  it('that cannot be read are named, without the password', () => {
    expect(settingsProblems({ HTTPS_PROXY: 'socks5://ann:secret-word@proxy.test', NO_PROXY: 'a.test/x' })).toEqual([
      'HTTPS_PROXY must be an address such as http://proxy.example.com:3128; a user and a password stand before the host.',
      expect.stringContaining('NO_PROXY: "a.test/x" cannot be read: entries are host'),
    ]);
  });
  it('are read in lower case too, and capitals count where both are set', () => {
    expect(settingsProblems({ https_proxy: 'ftp://proxy.test' })).toEqual([expect.stringContaining('HTTPS_PROXY must be')]);
    expect(settingsProblems({ https_proxy: 'ftp://proxy.test', HTTPS_PROXY: 'http://proxy.test' })).toEqual([]);
  });
});
