import { isOperatorOfEach, setOperator } from '../../domain/people/operators.ts';
import { batched } from '../ground/builder/batched.ts';
import { builder } from '../ground/builder/builder.ts';
import { UserRef } from '../ground/refs.ts';

const isOperatorOf = batched((ids: readonly string[], { deps, caller }) => isOperatorOfEach(deps, caller, ids));

builder.objectField(UserRef, 'isOperator', (t) =>
  t.boolean({
    nullable: true,
    description:
      'Whether the user administers the whole installation. Null for who may not know: all but callers of level INSTANCE and the user.',
    resolve: ({ id }, _args, context) => isOperatorOf(context, id),
  }),
);

builder.mutationField('setOperator', (t) =>
  t.field({
    authScopes: { key: 'ADMIN:WRITE' },
    type: UserRef,
    description:
      'Gives a user the right to administer the whole installation, or takes it; for callers of level INSTANCE. It counts in sessions that begin by a sign-in link of such a caller, or by a password or passkey from such a session. Sessions with that reach end at once when it is taken.',
    args: {
      id: t.arg.id({ description: 'The id of the user.' }),
      isOperator: t.arg.boolean({ description: 'Whether the user is an operator from now on.' }),
    },
    resolve: (_root, { id, isOperator }, { deps, caller }) => setOperator(deps, caller, id, isOperator),
  }),
);
