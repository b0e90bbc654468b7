import { parseDnsServers } from '../../engine/egress/dns-servers.ts';
import { createProxies } from '../../engine/egress/proxies.ts';
import { Pools } from '../../engine/sharing/pools.ts';
import { ProviderError } from '../../engine/sign-in/provider-error.ts';
import { createOidcProviders, type OidcProvider } from '../../engine/sign-in/providers.ts';
import type { Settings } from '../../settings.ts';
import { type Finding, good, wrong } from './finding.ts';

const placesMax = 20;

/** Whether each provider of sign-ins has a discovery document that fits its settings. */
export async function checkSignIn(settings: Settings): Promise<readonly Finding[]> {
  const pools = new Pools({ tenantPercent: 100, organizationPercent: 100 });
  const providers = createOidcProviders(settings.oidcProviders, {
    allow: settings.EGRESS_ALLOW,
    dnsServers: parseDnsServers(settings.EGRESS_DNS_SERVERS),
    proxies: createProxies(settings),
    connectTimeoutMs: settings.EGRESS_CONNECT_TIMEOUT_MS,
    lookupTimeoutMs: settings.EGRESS_LOOKUP_TIMEOUT_MS,
    lookups: pools.queue('lookups', placesMax),
    calls: pools.queue('calls', placesMax),
  });
  const findings = await Promise.all(providers.list.map(findFinding));
  await providers.close();
  return findings;
}

async function findFinding(provider: OidcProvider): Promise<Finding> {
  const { name, issuer } = provider.settings;
  try {
    await provider.check();
    return good('sign-in', `The provider ${name} answers as ${issuer}.`);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    return wrong('sign-in', error.advice ?? error.message);
  }
}
