import { createHash } from 'node:crypto';

/** Longer addresses are made by programs that loop. */
const lengthMax = 2_000;
/** Says who visits, never what is shown. */
const visitorParameter =
  /^(?:utm_\w+|gclid|dclid|fbclid|msclkid|yclid|mc_[ce]id|_ga|_gl|phpsessid|jsessionid|aspsessionid\w*|sessionid|session_id|cfid|cftoken)$/i;
/** Short names of session ids are ignored only where the value looks like one. */
const shortSessionName = /^(?:sid|s|sess|session|zenid|oscsid)$/i;
const sessionValue = /^(?=.*\d)[\w-]{16,}$/;

/**
 * The address of a link as the crawl keeps it: absolute, http or https, without fragment, session ids and tracking parameters.
 *
 * @returns undefined for links that lead to no page: other schemes, user names, addresses that cannot be read.
 */
export function readAddress(href: string, base?: string): string | undefined {
  const url = URL.parse(href.trim(), base);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined;
  if (url.username !== '' || url.password !== '' || url.href.length > lengthMax * 2) return undefined;
  url.hash = '';
  url.pathname = evenEscapes(url.pathname.replace(/;(?:jsessionid|phpsessid)=[^/;]*/gi, ''));
  const keptParameters = url.search
    .slice(1)
    .split('&')
    .filter((parameter) => parameter !== '' && !isOfVisitor(parameter));
  url.search = evenEscapes(keptParameters.join('&'));
  return url.href.length > lengthMax ? undefined : url.href;
}

/** Equal for addresses that differ only in the order of their parameters: 11 characters. */
export function addressKey(address: string): string {
  const [path = '', query] = address.split('?', 2);
  const even = query === undefined ? path : `${path}?${query.split('&').sort().join('&')}`;
  return createHash('sha256').update(even).digest('base64url').slice(0, 11);
}

export const addressKeyLength = 11;

/** Where a page is, without what selects its content. */
export function readPath(address: string): string {
  return address.split('?', 1)[0] ?? '';
}

function isOfVisitor(parameter: string): boolean {
  const [name = '', value = ''] = parameter.split('=', 2);
  return visitorParameter.test(name) || (shortSessionName.test(name) && sessionValue.test(value));
}

/** Escapes of letters, digits, `-`, `.`, `_` and `~` are resolved, the others written in capitals. */
function evenEscapes(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (whole, code: string) => {
    const character = String.fromCharCode(Number.parseInt(code, 16));
    return /[\w.~-]/.test(character) ? character : whole.toUpperCase();
  });
}
