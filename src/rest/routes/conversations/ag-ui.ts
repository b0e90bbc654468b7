import { agUiEncoder } from '../../../wire/ag-ui/events.ts';
import { agUiForm } from '../../../wire/ag-ui/request.ts';
import type { DeclaredRoute } from '../../route.ts';

const document = 'subscription ($input: CompletionInput!) { completionEvents(input: $input) { sequence } }';

/** The AG-UI protocol over completions. */
export const agUiRoutes: readonly DeclaredRoute[] = [
  {
    operationId: 'runAgUi',
    method: 'post',
    path: '/api/v1/ag-ui/{aiId}',
    summary: 'Run an agent for a front end that speaks AG-UI',
    description:
      'Answers with the events of the AG-UI protocol. Tools of the client are called by it; calls of other tools that wait for approval interrupt the run, and a run with `resume` goes on. Nothing is kept.',
    tag: 'AG-UI',
    document,
    terms: { aiId: 'ID' },
    body: 'input',
    form: agUiForm,
    stream: { when: 'always', document, encoder: agUiEncoder, event: 'AgUiEvent' },
    example: {
      threadId: 'thread-1',
      runId: 'run-1',
      messages: [{ id: 'message-1', role: 'user', content: 'What is the weather in Paris?' }],
      tools: [{ name: 'get_weather', description: 'Tells the weather of a city', parameters: { type: 'object' } }],
      context: [],
      state: {},
      forwardedProps: {},
    },
  },
];
