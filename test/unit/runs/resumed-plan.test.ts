import { expect, it } from 'vitest';
import { planStoredRun } from '../../../src/engine/runs/stored/request.ts';
import { type ChatMessage, newMessageDefaults } from '../../../src/entities/conversations/chats/chat.ts';
import type { LeasedRun } from '../../../src/storage/conversations/runs/runs.ts';

const request = {
  instructions: '',
  tools: [],
  parameters: {},
  knowledge: null,
  generateCitations: false,
  hidesSteps: false,
  chatName: null,
};
const run = { id: 'run_a', chatId: 'chat', modelId: 'm', request } as unknown as LeasedRun;
const said = (runId: string, role: ChatMessage['role'], content: string, more: Partial<ChatMessage> = {}) =>
  ({ ...newMessageDefaults, id: `${runId} ${content}`, runId, role, content, ...more }) as ChatMessage;
const question = said('run_a', 'user', 'How tall is the tower?');
const call = { id: 'call_1', name: 'measure', arguments: '{}' };
const tool = [said('run_a', 'assistant', '', { toolCalls: [call] }), said('run_a', 'tool', '300 m', { toolCallId: 'call_1' })];
const others = [said('run_b', 'user', 'And the bridge?'), said('run_b', 'assistant', 'It is 90 m long.')];
const lastOf = (transcript: readonly ChatMessage[], isResumed = true) =>
  planStoredRun(run, transcript, isResumed).messages.at(-1);
const halfAnswer = said('run_a', 'assistant', 'The tower is ');

it.each([
  ['half an answer', [question, halfAnswer], 'You were interrupted. Go on from exactly where you stopped.'],
  ['half an answer, and others spoke', [question, halfAnswer, ...others], /the answer that ends with "The tower is"\. Go on/],
  [
    'the result of a tool, and others spoke',
    [question, ...tool, ...others],
    /Go on with what was asked then: "How tall is the tower\?"$/,
  ],
  ['half an answer, and another is asked only', [question, halfAnswer, ...others.slice(0, 1)], /that ends with "The tower is"/],
  ['further input', [question, halfAnswer, said('run_a', 'user', 'In feet.')], 'In feet.'],
] as const)('a run that is resumed after %s is told what it goes on with', (_after, transcript, expected) => {
  expect(lastOf(transcript)).toMatchObject({ role: 'user', content: expect.stringMatching(expected) });
});

it('a run that is taken over without a pause is told nothing', () => {
  expect(lastOf([question, halfAnswer], false)).toMatchObject({ role: 'assistant' });
});
