import { Markdown } from '../../../parts/markdown/Markdown.tsx';
import type { Chat_MessageFragment } from '../documents.ts';
import type { RunView } from './run-view.ts';

const hasWords = (text: string) => text !== '';

/** What an answer says while it is being said. */
export const listRunTexts = (view: RunView | undefined): readonly string[] =>
  (view?.texts ?? []).map(({ text }) => text).filter(hasWords);

/** What an answer says as the chat keeps it. */
export const listMessageTexts = (messages: readonly Chat_MessageFragment[]): readonly string[] =>
  messages
    .filter(({ role }) => role === 'ASSISTANT')
    .map(({ content }) => content)
    .filter(hasWords);

/** The texts of an answer, the last of which grows while it is being said. */
export function AnswerTexts({ texts, isLive }: { readonly texts: readonly string[]; readonly isLive: boolean }) {
  return texts.map((text, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the texts of an answer do not move, and keep their place when the chat has them
    <Markdown key={index} text={text} isGrowing={isLive && index === texts.length - 1} />
  ));
}
