import { regularOf, sharedWordOf } from '../../../lib/near-words.ts';

/** Words that say nothing about what a question is about. */
const stopWords = new Set(
  (
    'a about above after again all also am an and any are as at be because been before being below between both but by can cannot ' +
    'could did do does doing down during each few for from further give had has have having he her here hers him his how i if in into ' +
    'is it its itself just know let like many may me mean might more most much must my no nor not now of off on once only or other our ' +
    'out over own please per same say says she should show so some such tell than that the their them then there these they this those ' +
    'through to too under until up us use very want was we were what when where which while who whom whose why will with would you your'
  ).split(' '),
);

const wordPattern = /[\p{L}\p{N}]+/gu;
const unspacedScript = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/** `back up` is one word with `backup`, `e-mail` with `email`. */
const compounds = /\b(back(?:s|ed|ing)? up|log(?:s|ged|ging)? in|sign(?:s|ed|ing)? in|set(?:s|ting)? up|e-mails?)\b/g;
const compoundNames: Readonly<Record<string, string>> = { b: 'backup', l: 'login', s: 'login', e: 'email' };

/**
 * The meaningful words of a text, stemmed, in order, with repeats. Words that people use for one another are one term: what is asked of
 * stored bikes is found in a text about bicycles that are kept.
 */
export function termsOf(text: string): string[] {
  const terms: string[] = [];
  for (const [word] of text
    .normalize('NFKC')
    .replace(/['’]s\b/g, '')
    .toLowerCase()
    .replace(compounds, (match) => (match.startsWith('set') ? 'setup' : (compoundNames[match[0] ?? ''] ?? match)))
    .matchAll(wordPattern)) {
    if (stopWords.has(word)) continue;
    // Scripts without spaces: pairs of characters replace words.
    if (unspacedScript.test(word) && word.length > 2) {
      for (let index = 0; index + 1 < word.length; index += 1) terms.push(word.slice(index, index + 2));
    } else terms.push(stem(sharedWordOf(word) ?? regularOf(word)));
  }
  return terms;
}

/** `getWeather`, `get_weather` and `get-weather` are all `get weather`. */
export function wordsOfName(name: string): string {
  return name.replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2').replace(/[_\-./:]+/g, ' ');
}

/** Removes the most common English endings, so that `shipping` equals `shipped` and `policies` equals `policy`. */
function stem(word: string): string {
  if (word.length < 4 || /\d/.test(word)) return word;
  const base = word
    .replace(/ies$/, 'y')
    .replace(/(ss|sh|ch|x|z)es$/, '$1')
    .replace(/([^su])s$/, '$1');
  const cut = base.replace(/(?<=..[^e])(ing|ed)$/, '').replace(/(?<=...)(ly|ment|ness)$/, '');
  const undoubled = cut === base ? cut : cut.replace(/([bdgmnprt])\1$/, '$1');
  return undoubled.length > 3 ? undoubled.replace(/e$/, '') : undoubled;
}
