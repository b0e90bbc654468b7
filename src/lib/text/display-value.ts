const charsMax = 80;
/** Names of settings whose value is never shown. */
const secretNames = /KEY|SECRET|TOKEN|PASSWORD|HEADERS/;
/** Long runs without a separator, and the beginnings that providers give to keys. */
const keyForms = /\b(?:sk|pk|rk|xox[a-z]|ghp|glpat|AKIA|AIza)[-_A-Za-z0-9]{6,}|[A-Za-z0-9_-]{28,}/g;

/**
 * The value of a setting, to be shown to the operator beside what is allowed. What may be a secret is left out: user names and passwords of
 * addresses, values of their queries, and everything that looks like a key.
 */
export function displayValue(name: string, value: string): string {
  if (secretNames.test(name)) return `the ${value.length} characters given`;
  const text = value
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim()
    .replace(/^([a-z0-9+.-]+:(?:\/\/)?)?.*@/i, '$1***@')
    .replaceAll(/([?&;][^=&;\s]*=)[^&;\s]*/g, '$1***')
    .replaceAll(keyForms, '***');
  return text.length > charsMax ? `${text.slice(0, charsMax)}…` : text;
}
