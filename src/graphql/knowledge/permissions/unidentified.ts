import { listUnidentifiedPeople } from '../../../domain/knowledge/permissions/report.ts';
import { builder } from '../../ground/builder/builder.ts';
import { pageArgs, pageRequest } from '../../ground/pagination.ts';
import { UserConnection } from '../../people/users.ts';

builder.queryFields((t) => ({
  unidentifiedPeople: t.field({
    authScopes: { key: 'DATA_SOURCES:READ' },
    type: UserConnection,
    description:
      'Persons of the organization who are known at a MIRRORED source neither by an account nor, where e-mails count there, by a verified one, in the order of their ids: for administrators. They find what is open to all.',
    args: { dataSourceId: t.arg.id({ description: 'The id of the source.' }), ...pageArgs(t.arg) },
    resolve: (_root, { dataSourceId, ...args }, context) =>
      listUnidentifiedPeople(context.deps, context.caller, dataSourceId, pageRequest(context, args, ['text'])),
  }),
}));
