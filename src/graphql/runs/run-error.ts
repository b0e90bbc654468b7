import type { RunError } from '../../entities/runs/event.ts';
import { builder } from '../builder/builder.ts';

export const RunErrorType = builder.objectRef<RunError>('RunError').implement({
  access: { scope: 'CHATS:READ' },
  description: 'Why a run failed.',
  fields: (t) => ({
    code: t.exposeString('code', { description: 'As in `extensions.code` of errors.' }),
    message: t.exposeString('message', { description: 'For a person to read.' }),
  }),
});
