import type { Warning } from '../../../entities/ground/warning.ts';
import { builder } from '../builder/builder.ts';

export const WarningType = builder.objectRef<Warning>('Warning').implement({
  access: { scope: null },
  description: 'Something that was accepted and is not served in full here.',
  fields: (t) => ({
    code: t.exposeString('code', { description: 'For programs, such as `tool_not_available`.' }),
    message: t.exposeString('message', { description: 'For a person: what has no effect, and why.' }),
    param: t.exposeString('param', { nullable: true, description: 'The member it is about; null for none.' }),
  }),
});
