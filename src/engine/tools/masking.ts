const shown = '[secret]';
/** Shorter ones would be found in words that mean nothing. */
const lengthMin = 4;

/**
 * Makes a function that takes secrets out of texts: as they are, and as URLs, JSON, headers and Basic credentials write them. What a
 * service echoes of its own key never reaches a model, a transcript or a log.
 */
export function masker(secrets: Iterable<string>): (text: string) => string {
  const forms = new Set([...secrets].filter((secret) => secret.length >= lengthMin).flatMap(formsOf));
  const longestFirst = [...forms].filter((form) => form.length >= lengthMin).sort((left, right) => right.length - left.length);
  return (text) => longestFirst.reduce((masked, form) => masked.replaceAll(form, shown), text);
}

function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret, 'utf8');
  const json = JSON.stringify(secret).slice(1, -1);
  const bare = secret.replace(/^(?:Bearer|Basic|Token) +/i, '');
  return [
    secret,
    bare,
    json,
    encodeURIComponent(secret),
    bytes.toString('base64'),
    bytes.toString('base64url'),
    bytes.toString('hex'),
  ];
}
