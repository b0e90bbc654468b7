import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A shell block of README.md, or of docs/recipes.md, which goes on where it ends. */
export interface ReadmeBlock {
  /** The bold words before it, or the heading that it stands under. */
  readonly title: string;
  /** What a reader pastes. */
  readonly text: string;
  /**
   * How it is run, as a comment before it says (`<!-- tour -->`): by itself, or a `tour` and `recipe` after the service has started; `endless` until
   * its first output; not at all, for a reason.
   */
  readonly run: 'plain' | 'tour' | 'recipe' | 'endless' | { readonly notBecause: string };
  /** What its output has to contain, for blocks of which the README says what one sees. */
  readonly shows: readonly RegExp[];
}

const pages = ['README.md', 'docs/recipes.md'].map((path) => join(import.meta.dirname, '../..', path));

/** @throws Error when a promise below is of a block that is not there. */
export function readmeBlocks(readme = pages.map((path) => readFileSync(path, 'utf8')).join('\n')): readonly ReadmeBlock[] {
  const blocks = [...readme.matchAll(/(?:<!-- ([^\n]*) -->\n)?```sh\n([\s\S]*?)```/g)].map(({ 1: mark, 2: text = '', index }) => {
    const title = titleBefore(readme.slice(0, index));
    return { title, text, run: runOf(mark), shows: promises[title] ?? [] };
  });
  const lost = Object.keys(promises).filter((title) => !blocks.some((block) => block.title === title));
  if (lost.length > 0) throw new Error(`README.md and docs/recipes.md have no block "${lost.join('", "')}"`);
  return blocks;
}

function titleBefore(text: string): string {
  const prose = text.replace(/```[\s\S]*?```/g, '');
  return [...prose.matchAll(/^(?:\*\*([^*]+)\*\*|#+ (.+)$)/gm)].map(([, bold, heading]) => bold ?? heading ?? '').at(-1) ?? '';
}

function runOf(mark: string | undefined): ReadmeBlock['run'] {
  if (mark === undefined) return 'plain';
  if (mark === 'tour' || mark === 'recipe' || mark === 'endless') return mark;
  const notBecause = /^not run: (.+)$/.exec(mark)?.[1];
  if (notBecause === undefined) throw new Error(`a shell block has the unknown mark "${mark}"`);
  return { notBecause };
}

/** What the README says that one sees, by the title of its block. */
const promises: Readonly<Record<string, readonly RegExp[]>> = {
  'Create an agent.': [/agent: ai_\w+/],
  'Give it knowledge': [/("id":"ds_[\s\S]*){3}/],
  'Watch the indexing': ['Prices', 'handbook.md', 'warranty.pdf'].map(
    (name) => new RegExp(`"indexStatus":"INDEXED","indexPercentage":100,"name":"${name}"`),
  ),
  'Ask in a chat': [/event: message\.delta/, /event: citation/, /"citation":\{[^}]*"name":"[^"]*warranty/],
  'Ask again without a chat': [/"content":"[^"]*89/, /"annotations":\[\{"type":"url_citation"/, /data: \[DONE\]/],
  'The same on the command line': [
    /2 of 2 indexed for "Workshop help"\.[\s\S]*priceEuro: 15\b[^\n]* \[1\]\.[\s\S]*Sources\n {2}\[1\] \S/,
  ],
  'Change the agent, and see what became better.': [/5 better, 0 the same, 0 worse/],
  'The same with the stock `openai` package': [/100 euros/],
};
