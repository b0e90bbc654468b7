import type { FlowCondition, FlowStep } from '../../../entities/agents/flow.ts';

/** Whether a condition holds, with its texts filled in. White space around the texts does not count. */
export function holds({ left: leftText, operator, right }: FlowCondition): boolean {
  const one = leftText.trim();
  const other = right.trim();
  switch (operator) {
    case 'equals':
      return one === other;
    case 'notEquals':
      return one !== other;
    case 'contains':
      return one.includes(other);
    case 'notContains':
      return !one.includes(other);
    case 'greaterThan':
      return parseNumber(one) > parseNumber(other);
    case 'lessThan':
      return parseNumber(one) < parseNumber(other);
    case 'isEmpty':
      return one === '';
    case 'isNotEmpty':
      return one !== '';
  }
}

/** The place that follows a branch. */
export function placeAfter(steps: readonly FlowStep[], place: number, isTrue: boolean): number {
  const step = steps[place];
  if (step?.type !== 'branch') return place + 1;
  const target = isTrue ? step.onTrue : step.onFalse;
  const foundIndex = target === undefined ? -1 : steps.findIndex(({ id }) => id === target);
  return foundIndex <= place ? place + 1 : foundIndex;
}

/** Whether a step that gives the answer may follow, on any path from a place on. */
export function mayAnswerFrom(steps: readonly FlowStep[], place: number): boolean {
  const seenPlaces = new Set<number>();
  const open = [place];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const step = steps[at];
    if (step === undefined || seenPlaces.has(at)) continue;
    seenPlaces.add(at);
    if (isAnswering(step)) return true;
    open.push(placeAfter(steps, at, true), placeAfter(steps, at, false));
  }
  return false;
}

/** Whether the output of a step may be the answer. */
export function isAnswering({ type }: FlowStep): boolean {
  return type === 'model' || type === 'prompt';
}

/** NaN for a text that is no number: it is neither greater nor less. */
function parseNumber(text: string): number {
  return text === '' ? Number.NaN : Number(text);
}
