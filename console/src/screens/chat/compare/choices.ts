import { run } from '../../../graphql/client.ts';
import { ChatCompareDocument } from '../documents.ts';
import type { Transcript } from '../transcript/transcript.ts';

/** Who else answers: another model of the agent, or another agent. */
export interface CompareChoice {
  readonly kind: 'model' | 'agent';
  readonly id: string;
  readonly name: string;
}

/** Answers that stand beside the first one. */
export const choicesMax = 3;

const storedAs = (place: string) => `parley.compare.${place}`;

/** Whom the messages of a chat are compared with, as long as the tab is open. */
export function readChoices(place: string): readonly CompareChoice[] {
  try {
    return JSON.parse(sessionStorage.getItem(storedAs(place)) ?? '[]') as readonly CompareChoice[];
  } catch {
    return [];
  }
}

export function storeChoices(place: string, choices: readonly CompareChoice[]): void {
  if (choices.length === 0) sessionStorage.removeItem(storedAs(place));
  else sessionStorage.setItem(storedAs(place), JSON.stringify(choices));
}

/** Lets others answer a message beside the answer that it has or gets. @throws the first refusal; those before it have begun. */
export async function beginComparison(
  transcript: Transcript,
  messageId: string,
  choices: readonly CompareChoice[],
): Promise<void> {
  for (const { kind, id } of choices) {
    const input = kind === 'model' ? { modelId: id } : { agentId: id };
    const { compareAnswers } = await run(ChatCompareDocument, { messageId, input });
    if (compareAnswers.chat !== null) transcript.takeComparison(compareAnswers.chat.comparison);
  }
}
