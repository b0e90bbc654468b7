import { Resolver } from 'node:dns/promises';
import { parseDnsServers } from '../../engine/egress/dns-servers.ts';
import { createProxies, type ProxyServer } from '../../engine/egress/proxies.ts';
import { openTunnel } from '../../engine/egress/tunnel.ts';
import type { Settings } from '../../settings.ts';
import { type Finding, findCode, good, warning, wrong } from './finding.ts';

const timeoutMs = 3_000;
/** Reserved for examples: every name server of the world knows it. */
const name = 'example.com';

/** Whether the names of URLs from users can be looked up, whether proxies let calls through, and what the operator has opened. */
export async function checkEgress(settings: Settings): Promise<readonly Finding[]> {
  const [names, ...proxies] = await Promise.all([lookUp(settings), ...listProxies(settings).map(tunnel)]);
  return [names, ...proxies, ...openings(settings)];
}

/** Each once, also where both settings name it. */
function listProxies(settings: Settings): readonly ProxyServer[] {
  const proxies = createProxies({ ...settings, NO_PROXY: undefined });
  const both = ['https', 'http'].flatMap((scheme) => proxies.proxyOf(new URL(`${scheme}://${name}`)) ?? []);
  return [...new Map(both.map((proxy) => [proxy.url.href, proxy] as const)).values()];
}

async function tunnel(proxy: ProxyServer): Promise<Finding> {
  const options = { addresses: undefined, connectTimeoutMs: timeoutMs, signal: AbortSignal.timeout(timeoutMs + 1_000) };
  try {
    // Plain HTTP to port 443: the tunnel alone is checked.
    const socket = await openTunnel(new URL(`http://${name}:443`), proxy, options);
    socket.destroy();
    return good('egress', `The proxy ${proxy.name} lets calls through.`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`;
    // A proxy that answers may forbid this host alone.
    if (message.includes('refused'))
      return warning('egress', message, `See whether it lets ${name}:443 and your providers through.`);
    return wrong('egress', message, 'Correct HTTPS_PROXY or HTTP_PROXY, or leave it empty.');
  }
}

async function lookUp({ EGRESS_DNS_SERVERS }: Settings): Promise<Finding> {
  const servers = parseDnsServers(EGRESS_DNS_SERVERS);
  const resolver = new Resolver({ timeout: timeoutMs, tries: 1 });
  if (servers !== undefined) resolver.setServers([...servers]);
  const askedServers = servers === undefined ? 'The name servers of the system' : `The name servers ${servers.join(', ')}`;
  try {
    await resolver.resolve4(name);
    return good('egress', `${askedServers} answer.`);
  } catch (error) {
    const code = findCode(error);
    if (code === 'ENOTFOUND' || code === 'ENODATA') return good('egress', `${askedServers} answer, and know no public names.`);
    if (servers !== undefined) return wrong('egress', `${askedServers} do not answer (${code}).`, 'Correct EGRESS_DNS_SERVERS.');
    return warning(
      'egress',
      `${askedServers} do not answer (${code}).`,
      'URLs from users can only be fetched where names can be looked up. Without internet this is as it should be.',
    );
  }
}

function openings({ EGRESS_ALLOW }: Settings): readonly Finding[] {
  if (EGRESS_ALLOW === undefined) return [good('egress', 'URLs from users reach no private address.')];
  const wide = EGRESS_ALLOW.split(',')
    .map((entry) => entry.trim())
    .filter((entry) => /^\[?[\d.a-f:]+\/[0-7]\b/i.test(entry));
  if (wide.length === 0) return [good('egress', `URLs from users may reach the private targets ${EGRESS_ALLOW}.`)];
  return [
    warning(
      'egress',
      `EGRESS_ALLOW opens whole networks: ${wide.join(', ')}.`,
      'Every user may reach what listens there, also services without a password. Name single hosts and ports.',
    ),
  ];
}
