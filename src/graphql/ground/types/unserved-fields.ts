import type { InputFieldRef } from '@pothos/core';
import { camelName, type UnservedMember } from '../../../wire/ground/unserved-members.ts';
import type { BuilderTypes, InputBuilder } from '../builder/builder.ts';

/** Members of a format that are not served: REST has to read them to say so. Their values are not looked into. */
export function unservedFields(
  t: InputBuilder,
  members: readonly UnservedMember[],
): Readonly<Record<never, InputFieldRef<BuilderTypes, unknown>>> {
  return Object.fromEntries(
    members.map(({ name, effect, reason }) => [
      camelName(name),
      t.field({
        type: 'JSON',
        required: false,
        description: `${effect === 'refused' ? 'Refused' : 'Accepted, with a warning'}: ${name} ${reason}. JSON: as the format has it.`,
      }),
    ]),
  );
}
