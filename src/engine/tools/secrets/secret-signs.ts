/** How secrets look: by the names of their members and by their form. Wide on purpose: a wrong match costs a key, a missed one leaks. */

const parts = [
  'secret',
  'password',
  'passwd',
  'passphrase',
  'apikey',
  'accesskey',
  'privatekey',
  'signingkey',
  'subscriptionkey',
  'authorization',
  'credential',
  'cookie',
  'bearer',
  'connectionstring',
  'sessionid',
  'clientkey',
  'encryptionkey',
  'masterkey',
  'accountkey',
  'sharedkey',
  'authkey',
  'webhookurl',
];
const wholes = [
  'auth',
  'authentication',
  'pwd',
  'pass',
  'dsn',
  'sig',
  'signature',
  'jwt',
  'pat',
  'sid',
  'token',
  'otp',
  'pin',
  'apitoken',
  'session',
];
/** Counts and cursors, not credentials. */
const harmlessTokens =
  /^(max|min|num|total|input|output|prompt|completion|page|next|previous|prev|continuation|cursor|sync|stop|count|budget)|(count|limit|max|min|type|url|endpoint|uri|path|budget|usage)$/;

/** `api_key`, `X-Auth-Token`, `clientSecret`: in any case, with any separators. */
export function isSecretName(name: string): boolean {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  if (parts.some((part) => plain.includes(part)))
    return !/(url|endpoint|uri|type|name|hint|label|description)$/.test(plain) || plain.includes('webhookurl');
  if (wholes.includes(plain) || wholes.includes(plain.replace(/^x/, ''))) return true;
  return /tokens?$|^token|token/.test(plain) && !/tokens$/.test(plain) && !harmlessTokens.test(plain);
}

/** In headers and queries a plain `key` is a secret, and every name that ends so: `X-Functions-Key`. */
export function isSecretEntry(name: string): boolean {
  return isSecretName(name) || /(^|[^a-z])key$|[a-z]Key$/.test(name.replace(/KEY$/, 'key')) || /^(code|k)$/i.test(name);
}

/** Headers whose values are no secrets: content negotiation, caching, conditions, versions. Every other header may carry one, however short. */
const harmlessHeader =
  /^(accept(-(charset|encoding|language|datetime|version))?|content-(type|language|encoding|disposition)|user-agent|cache-control|pragma|prefer|origin|referer|dnt|range|if-(match|none-match|modified-since|unmodified-since|range)|x-requested-with|idempotency-key|([a-z]+-){0,4}version|[a-z]+-beta)$/i;

export function isHarmlessHeader(name: string): boolean {
  return name.length <= 60 && harmlessHeader.test(name);
}

/** Formats in which issuers make secrets. */
export const secretForms: readonly RegExp[] = [
  /\b(?:sk|pk|rk)[-_](?:[A-Za-z0-9]{1,20}[-_]){0,6}[A-Za-z0-9]{12}[A-Za-z0-9_-]*/g,
  /\bgh[opusr]_[A-Za-z0-9]{16,}/g,
  /\bgithub_pat_[A-Za-z0-9_]{20,}/g,
  /\bglpat-[A-Za-z0-9_-]{16,}/g,
  /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\bAIza[A-Za-z0-9_-]{30,}/g,
  /\bya29\.[A-Za-z0-9_-]{20,}/g,
  /\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}/g,
  /\bhf_[A-Za-z0-9]{20,}/g,
  /\bnpm_[A-Za-z0-9]{20,}/g,
  /\beyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]*)?/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?/g,
  /(?<=\b(?:[Bb]earer|[Bb]asic|BEARER|BASIC) {1,20})(?=[^\s"'{]*[0-9_=.-])[A-Za-z0-9+/_=.~-]{8,}/g,
];

/** Long, one word, letters and digits: text that nobody writes by hand. */
export function looksRandom(text: string): boolean {
  return /^[A-Za-z0-9+/=_.~-]{20,}$/.test(text) && /[A-Za-z]/.test(text) && (text.match(/[0-9]/g)?.length ?? 0) >= 3;
}
