import type { RunError } from '../../../entities/conversations/runs/event.ts';
import { builder } from '../../ground/builder/builder.ts';
import { ErrorCodeType, isErrorCode } from '../../ground/errors/codes.ts';

export const RunErrorType = builder.objectRef<RunError>('RunError').implement({
  // Whoever may see the run may see why it failed.
  access: { scope: null },
  description: 'Why a run failed.',
  fields: (t) => ({
    code: t.field({
      type: ErrorCodeType,
      description: 'As in `extensions.code` of errors.',
      // A log of another version may have a code that this one does not know.
      resolve: ({ code }) => (isErrorCode(code) ? code : 'SERVER_ERROR'),
    }),
    message: t.exposeString('message', { description: 'For a person to read.' }),
  }),
});
