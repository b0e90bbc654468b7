import { z } from 'zod';
import { list, text } from './ground/schema.ts';
import { memberShape, shapedType } from './ground/shape.ts';

/** The audit log, as REST shows it. */

type PlainValue = string | number | boolean;
const change = shapedType('AuditChange', 'A member that was given with a change.', {
  member: text('Its name; within objects its path: `options.temperature`.'),
  value: z.unknown().meta({
    description:
      'What it was set to; null for null, and for what is never recorded: secrets, instructions, whatever people write.',
  }),
});

interface SelectedChange {
  readonly member: string;
  readonly values: readonly (PlainValue | null)[] | null;
  readonly isList: boolean;
}

/** GraphQL types one value as a list. */
export const auditChanges = memberShape(
  'AuditEntry.changes',
  list('The members that were given; of a refusal, its code.', change),
  (changes: readonly SelectedChange[]) =>
    changes.map(({ member, values, isList }) => ({ member, value: isList ? values : (values?.[0] ?? null) })),
);
