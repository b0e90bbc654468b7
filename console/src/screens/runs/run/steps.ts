import type { Text } from '../../../text/text.ts';
import { describeCode } from '../../../ui/form/faults/codes.ts';
import type { ToldFault } from '../../../ui/form/faults/words.ts';
import type { CallFragment, RunQuery, StepFragment } from '../documents.ts';
import { flowWords } from '../words.ts';

export type RunDetail = NonNullable<RunQuery['run']>;

/** A step in a few words. */
export function summarizeStep(step: StepFragment, t: Text['t']): string {
  switch (step.__typename) {
    case 'ModelCallStep':
      return step.modelId;
    case 'RetrievalStep':
      if (step.status === 'FAILED') return t('Search of knowledge');
      if (step.passageCount === 0) return t('Search of knowledge: nothing found');
      return t('Search of knowledge: {count, plural, one {# passage} other {# passages}}', { count: step.passageCount });
    case 'ToolCallStep':
      return step.name;
    case 'SubagentStep':
      return step.name;
    case 'FlowRunStep':
      return `${flowWords(t)[step.does]}: ${step.stepId}`;
  }
}

type Call = Extract<CallFragment, { readonly arguments: string }>;
export interface ShownCall {
  readonly arguments: string | undefined;
  readonly output: string | undefined;
  readonly error: ToldFault | undefined;
  readonly server: string | undefined;
}

/** What a tool was given and what it gave, as far as the reader may see it. */
export function findCall({ output }: RunDetail, callId: string): ShownCall {
  const items = output.filter((item) => 'callId' in item && item.callId === callId);
  const call = items.find((item): item is Call => 'arguments' in item);
  const outputs = items.flatMap((item) => {
    if (item.__typename === 'FunctionOutputItem') return [item.text];
    return 'output' in item && item.output !== null ? [item.output] : [];
  });
  const [error] = items.flatMap((item) => ('error' in item && item.error !== null ? [item.error] : []));
  return {
    arguments: call === undefined || call.arguments === '' ? undefined : indented(call.arguments),
    output: outputs.length === 0 ? undefined : indented(outputs.join('\n')),
    error,
    server: call !== undefined && 'serverLabel' in call ? call.serverLabel : undefined,
  };
}

/** JSON with a line for each member; any other text as it is. */
function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** Why a call failed, where nothing else says it. */
export function errorWords(code: string, t: Text['t']): string {
  return describeCode(t, code.toUpperCase()) ?? t('It failed ({code}).', { code: code.toLowerCase().replaceAll('_', ' ') });
}
