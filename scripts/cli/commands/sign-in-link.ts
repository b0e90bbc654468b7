import { membersOf } from '../../../src/lib/json/json.ts';
import type { WrittenCommand } from './command.ts';

export const signInLink: WrittenCommand = {
  name: 'sign-in-link',
  words: [0, 0],
  summary: 'Makes a link that signs a person in with a browser, once and within an hour',
  details:
    'For who has no other way in. Without --user it is for the user of the key. Give it to that person only: whoever opens it first is signed in. With --local it works on the data itself while the service is stopped, and is for the first administrator.',
  options: [{ name: 'user', value: 'e-mail', meaning: 'The person, a member of your organization.' }],
  example: 'sign-in-link --user ann@example.com',
  worksOnData: true,
  async run({ service, screen, options, switches }) {
    const email = options.get('user');
    const link = membersOf(await service.send('POST', '/api/v1/admin/sign-in-links', email === undefined ? {} : { email }));
    screen.out(switches.has('json') ? `${JSON.stringify(link, null, 2)}\n` : `${link.url}\n`);
    return true;
  },
};
