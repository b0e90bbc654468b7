import type { Said } from '../../runs/prompt/summary.ts';
import { gistOf } from './ranking.ts';

const sayings = 8;
const lengthMax = 2_000;

/** An extractive summary: the central sentences of each message, from the first and the last messages first. */
export function summarize(said: readonly Said[]): string {
  const chosen = said.length <= sayings ? said : [...said.slice(0, 2), ...said.slice(2 - sayings)];
  const lines = chosen.map(({ who, text }) => {
    if (who === 'earlier') return text;
    const gist = gistOf({ citation: null, title: '', text }, who === 'user' ? 1 : 2).map((quote) => quote.text);
    return `${who === 'user' ? 'The user' : 'The assistant'}: ${gist.length === 0 ? text.slice(0, 300) : gist.join(' ')}`;
  });
  const summary = lines.join('\n');
  return summary === '' ? 'Nothing was said yet.' : summary.slice(0, lengthMax).toWellFormed();
}
