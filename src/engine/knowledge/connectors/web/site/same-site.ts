/** Whether two addresses are of one site: the same host but for `www.`, on http or https with the usual ports, or the same origin. */
export function isSameSite(one: string, other: string): boolean {
  const [from, to] = [new URL(one), new URL(other)];
  if (from.origin === to.origin) return true;
  const isUsual = from.port === '' && to.port === '';
  const isDowngrade = from.protocol === 'https:' && to.protocol === 'http:';
  return isUsual && !isDowngrade && bareHost(from.hostname) === bareHost(to.hostname);
}

function bareHost(hostname: string): string {
  return hostname.replace(/^www\./, '');
}
