import { z } from 'zod';
import { groupAvailabilities } from '../entities/people/group.ts';
import { body, readAs } from './ground/body.ts';
import { list, oneOfTexts, text } from './ground/schema.ts';
import { memberShape } from './ground/shape.ts';

/** Groups, whose e-mail addresses REST has as one text with commas, and keys. */

const availability = readAs('GroupAvailability', oneOfTexts('Who sees it.', groupAvailabilities));
const name = text('1 to 200 characters.');

export const newGroupBody = body('CreateGroupInput', 'A new group.', {
  name,
  availability,
  memberEmails: text('E-mail addresses of its members, separated by commas; may be empty.'),
});

/** None of the members can be cleared. */
export const groupChangesBody = body('UpdateGroupInput', 'Changes of a group: absent and null members are kept.', {
  name: name.nullish(),
  availability: availability.nullish(),
  memberEmailsToAdd: text('E-mail addresses separated by commas.').nullish(),
  memberEmailsToRemove: list('E-mail addresses; those of no member are ignored.', z.string()).nullish(),
});

/** The secret of a new key stands beside the key in GraphQL. */
export const createdSecret = memberShape(
  'ApiKey.key',
  text('The secret itself, in the reply of its creation only. It is kept nowhere.').nullable(),
  (secret: string) => secret,
);
