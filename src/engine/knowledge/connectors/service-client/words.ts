import { membersOf, parseJson, readElements, readString } from '../../../../lib/json/json.ts';
import { printableName } from '../../../../lib/text/text.ts';
import type { SourceError } from '../error.ts';

/** What a service says is shown up to this length. */
const wordsMax = 300;

/**
 * What a service says about a refusal, in its own words and on one line; undefined when it says nothing that a person could read. Values of tokens
 * that it repeats are left out.
 *
 * @param secrets  values that the call carried.
 */
export function serviceWords(body: Buffer, secrets: readonly string[] = []): string | undefined {
  const text = body.toString('utf8');
  let vendorMessage = findWords(parseJson(text)) ?? (/^\s*[<{[]/.test(text) ? undefined : text);
  for (const secret of secrets) if (secret !== '') vendorMessage = vendorMessage?.replaceAll(secret, '…');
  const line = printableName(vendorMessage ?? '', wordsMax);
  return line === '' ? undefined : line;
}

/** A refusal with the words of the service behind ours. */
export function withWords(failure: SourceError, body: Buffer, secrets?: readonly string[]): SourceError {
  const words = serviceWords(body, secrets);
  return words === undefined || failure.message.includes(words) ? failure : failure.saying(words);
}

/**
 * The forms of the services: GitHub `message`; Google and Microsoft `error.message`; Jira `errorMessages`; Confluence `errors[].title` and `message`;
 * OAuth `error_description`, or `error` alone.
 */
function findWords(body: unknown): string | undefined {
  const { message, error, errorMessages, errors, error_description: description } = membersOf(body);
  const lines = [
    ...readElements(errorMessages),
    ...readElements(errors).map((each) => {
      const { title, detail, message: own } = membersOf(each);
      return [title, detail, own].filter((part) => typeof part === 'string' && part !== '').join(': ');
    }),
  ];
  const listedLines = lines.filter((line) => typeof line === 'string' && line !== '').join(' ');
  const wordCandidates = [description, message, membersOf(error).message, listedLines, error];
  return wordCandidates.map(readString).find((each) => each !== undefined && each.trim() !== '');
}
