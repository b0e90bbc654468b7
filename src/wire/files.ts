import { component, constant, graphqlInput, integer, integerRange, text } from './schema.ts';

/** What the common format says of files beyond the GraphQL schema. */

graphqlInput('CreateFileUploadInput', {
  bytes: integer('Its size.', 1),
  expiresAfter: component('FileExpiry', 'When a file is deleted.', {
    anchor: constant('created_at').meta({ description: 'From what on the seconds count.' }),
    seconds: integerRange(3_600, 2_592_000, { description: 'Seconds: 1 hour to 30 days.' }),
  }),
});
graphqlInput('CompleteFileUploadInput', { md5: text('That of the whole file: 32 hexadecimal digits.') });
