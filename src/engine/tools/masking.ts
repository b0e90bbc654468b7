const shown = '[secret]';
/** Shorter secrets would also be found in ordinary words. */
const lengthMin = 4;

/**
 * Makes a function that removes secrets from texts, also in the encodings of URLs, JSON, headers and Basic credentials. So a key
 * that a service echoes never reaches a model, a transcript or a log.
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
