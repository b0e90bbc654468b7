import { listTools, type ServiceTool } from '../../../domain/agents/tools/tools.ts';
import { builder } from '../../ground/builder/builder.ts';

const ServiceToolType = builder.objectRef<ServiceTool>('ServiceTool').implement({
  access: { scope: null },
  description: 'A tool of the service, which a request or an agent may switch on.',
  fields: (t) => ({
    type: t.exposeString('type', { description: 'What `tools` of a request and `enabledTools` of an agent name it.' }),
    description: t.exposeString('description', { description: 'What it does.' }),
    isAvailable: t.exposeBoolean('isAvailable', { description: 'Whether this instance can run it.' }),
    setting: t.exposeString('setting', {
      nullable: true,
      description: 'The setting of the operator that would switch it on; null while it is available.',
    }),
    reason: t.exposeString('reason', { nullable: true, description: 'Why it is not available; null while it is.' }),
    isReadOnly: t.exposeBoolean('isReadOnly', { description: 'Whether it only reads: it stays in chat mode `plan`.' }),
    functions: t.exposeStringList('functions', {
      description:
        'The functions that the model sees, as far as they are known before a run. A function of a caller cannot have one of these names.',
    }),
  }),
});

builder.queryField('tools', (t) =>
  t.field({
    authScopes: { anyKey: true },
    type: [ServiceToolType],
    description: 'The tools of the service: what this instance can run, and which setting would switch on the rest.',
    resolve: (_root, _args, { deps }) => listTools(deps),
  }),
);
