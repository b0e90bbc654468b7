import { threadModes } from '../../../entities/conversations/chats/chat.ts';
import { chatModes } from '../../../entities/conversations/runs/response.ts';
import { createEnum, ofFormat } from '../../ground/types/enums.ts';

const modes = {
  execute: 'The model may call every tool of the request.',
  chat: 'No tools of the service; functions of the caller stay.',
  plan: 'Only tools that read: the answer is a plan.',
};
export const ChatModeType = createEnum('ChatMode', 'Which tools a response may call.', chatModes, modes, ofFormat);

const waitings = {
  collect: 'It waits; requests that are equal but for their input are answered together.',
  steer: 'It becomes part of the active response, whose model sees it at its next call.',
  interrupt: 'The active response is stopped at its next boundary; its output stays.',
  force: 'The active response and all waiting ones are cut off at once; their output leaves the thread.',
};
const waitingDescription = 'What becomes of a request while another response is at work on its thread.';
export const ResponseThreadModeType = createEnum('ResponseThreadMode', waitingDescription, threadModes, waitings, ofFormat);
