import { type KeyboardEvent, useId, useState } from 'react';
import { usePage } from '../../../../graphql/hooks.ts';
import { isOfInputMethod } from '../../../../ui/form/keys.ts';
import { type Chat_PromptFragment, ChatPromptsDocument } from '../../documents.ts';

const commandTyped = /^\/([a-z0-9-]{0,40})$/i;

/** The prompts that fit what is typed behind `/`, where the box holds nothing else, and which of them is chosen by the keys. */
export function usePrompts(text: string, take: (prompt: Chat_PromptFragment) => void) {
  const listId = useId();
  const typed = commandTyped.exec(text)?.[1]?.toLowerCase();
  // What Escape has closed stays closed until something else is typed.
  const [closedText, setClosedText] = useState<string>();
  const [chosenId, setChosenId] = useState<string>();
  const isAsked = typed !== undefined && text !== closedText;
  const { data, error } = usePage(
    ChatPromptsDocument,
    { search: typed === undefined || typed === '' ? null : typed },
    { pause: !isAsked },
  );
  const matches = isAsked ? sortByCommand(data?.prompts.nodes ?? [], typed) : [];
  const chosen = matches.find(({ id }) => id === chosenId) ?? matches[0];
  const move = (step: 1 | -1) => {
    const index = matches.findIndex(({ id }) => id === chosen?.id);
    setChosenId(matches[(index + step + matches.length) % matches.length]?.id);
  };
  /** @returns whether the key is used up. */
  const onKeyDown = (event: KeyboardEvent): boolean => {
    if (!isAsked || isOfInputMethod(event)) return false;
    if (event.key === 'Escape') setClosedText(text);
    else if (chosen === undefined) return false;
    else if (event.key === 'ArrowDown') move(1);
    else if (event.key === 'ArrowUp') move(-1);
    else if (event.key === 'Tab' || (event.key === 'Enter' && !event.shiftKey)) take(chosen);
    else return false;
    event.preventDefault();
    return true;
  };
  const isOpen = isAsked && data !== undefined && (matches.length > 0 || typed === '');
  return { listId, isOpen, matches, chosen, error, onKeyDown, choose: setChosenId };
}

/** Commands that begin with what is typed come first. */
function sortByCommand(prompts: readonly Chat_PromptFragment[], typed: string): readonly Chat_PromptFragment[] {
  const rank = ({ command }: Chat_PromptFragment) => (command.startsWith(typed) ? 0 : 1);
  return prompts.toSorted((one, other) => rank(one) - rank(other) || one.command.localeCompare(other.command));
}
