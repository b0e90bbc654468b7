import type { Declarations } from '../declarations.ts';
import { chatMembers, chatSchemas } from './chats.ts';
import { completionMembers, completionSchemas } from './completions.ts';
import { eventSchemas } from './response-events.ts';
import { inputItemParams, inputItemSchemas } from './response-input-items.ts';
import { outputItemSchemas } from './response-output-items.ts';
import { partSchemas } from './response-parts.ts';
import { replyMembers, replySchemas } from './response-reply.ts';
import { requestMembers, requestSchemas } from './response-request.ts';
import { toolSchemas } from './response-tools.ts';

/** All that is declared by hand. What a row answers, and what its own schema tells, is printed instead. */
export const declarations: Declarations = {
  schemas: {
    ...partSchemas,
    ...inputItemParams,
    ...outputItemSchemas,
    ...inputItemSchemas,
    ...toolSchemas,
    ...requestSchemas,
    ...replySchemas,
    ...eventSchemas,
    ...completionSchemas,
    ...chatSchemas,
  },
  members: { ...requestMembers, ...replyMembers, ...completionMembers, ...chatMembers },
};
