/**
 * Messages of the service that people of the console meet, and how the console says them. `{…}` stands for any words, which are kept. A test compares
 * the first column with the service, and finds a sentence without German words.
 */
export const serviceSentences: Readonly<Record<string, string>> = {
  'file must not be empty': 'The file is empty.',
  'must not be empty': 'This is needed.',
  'must not be blank': 'This is needed.',
  'must have {min} to {max} characters': 'From {min} to {max} characters.',
  'must be an e-mail address': 'This is not an e-mail address.',
  'holds "{email}", which is not an e-mail address': '“{email}” is not an e-mail address.',
  'must be an http or https address of at most {count} characters': 'An address is needed that begins with https:// or http://.',
  'must be an http(s) address of at most {count} characters': 'An address is needed that begins with https:// or http://.',
  'must be an address such as https://example.com/hooks, without a user name and a password':
    'An address is needed such as https://example.com/hooks.',
  'must have five fields: {fields}': 'Five fields are needed: minute, hour, day of the month, month and weekday.',
  'must leave at least {time} between two runs': 'At least {time} must lie between two times.',
  'Only administrators may do this': 'Only administrators may do this.',
  'An AUDITOR reads what administrators read and changes nothing':
    'An auditor reads what administrators read, and changes nothing.',
  'Another user has this e-mail': 'Another person has this e-mail address.',
  'A member of the organization has this e-mail': 'A member of the organization has this e-mail address.',
  'The user is a member of the organization': 'This person is a member already.',
  'You cannot deactivate yourself': 'You cannot deactivate yourself.',
  'The last administrator of an organization can be neither removed nor demoted':
    'The last administrator can neither be removed nor lose the role.',
  'The organization has {count} open invitations; revoke some first': '{count} invitations are open: withdraw some first.',
  'is not your password': 'This is not your current password.',
  'The e-mail address or the password is wrong': 'The e-mail address or the password is wrong.',
  'This is not the password of your account': 'This is not the password of your account.',
  'This link is unknown, was used before, or is older than an hour. Ask for another.':
    'This link is unknown, was used before, or is older than an hour. Ask for another.',
  'Too many wrong passwords; wait some minutes, or ask an administrator for a sign-in link':
    'Too many wrong passwords. Wait some minutes, or ask an administrator for a sign-in link.',
  'Too many sign-ins; wait some minutes': 'Too many sign-ins. Wait some minutes.',
  'Sign in as {email} first, then open the link again': 'Sign in as {email} first, then open the link again.',
  'This passkey was not accepted; try again': 'This passkey was not accepted. Try again.',
  'This passkey is unknown or was not accepted; try again': 'This passkey is unknown or was not accepted. Try again.',
  'A person has at most {count} passkeys; delete one first':
    'You have {count} passkeys, which is all that one may have: delete one first.',
  '{what} is added within an hour after a sign-in: sign out, and in again':
    'This is possible within an hour after signing in: sign out, and in again.',
  'must be in the future': 'This must be in the future.',
  'A key cannot outlive its maker': 'A key cannot live longer than what makes it.',
  'A key cannot carry scopes that its maker lacks: {scopes}': 'You lack scopes that this key would have: {scopes}',
  'Only the owner, editors and administrators may change an agent':
    'Only the owner, editors and administrators may change an agent.',
  'Only the owner of an agent and administrators may delete it': 'Only the owner of an agent and administrators may delete it.',
  '{who} changed {members} since you read revision {revision} of the draft: nothing was saved':
    '{who} changed this meanwhile: {members}. Nothing was saved, and what you typed is still here. Look at it, then try again.',
  'The draft does not differ from what people ask: there is nothing to publish':
    'The draft does not differ from what people get: there is nothing to publish.',
  'The draft does not differ from what people ask: there is nothing to discard':
    'The draft does not differ from what people get: there is nothing to discard.',
  'The draft was changed while it was published; try again': 'The draft was changed while it was published: try again.',
  'The draft of this agent differs from what people ask: publish or discard it first':
    'The draft of this agent differs from what people get: publish or discard it first.',
  'A canary must differ from what people get anyway': 'This is what people get anyway.',
  'Version {version} is the canary: end it first': 'A part of the chats gets version {version}: end that first.',
  'This agent has no canary': 'Everybody gets the same version already.',
  'Only administrators may approve agents': 'Only administrators may approve agents.',
  'An agent may have at most {count} data sources': 'An agent has at most {count} sources.',
  'There is a category "{name}" already': 'There is a category “{name}” already.',
  'Only sources of your own and those open to the organization may be attached':
    'Only sources of your own and those open to the organization can be attached.',
  'Only the owner of a data source and administrators may change its items':
    'Only the owner of a source and administrators may change its documents.',
  'Only the owner of a data source and administrators may delete it':
    'Only the owner of a source and administrators may delete it.',
  'The file has {size} bytes; at most {most} are taken': 'The file has {size} bytes; at most {most} are taken.',
  'A chat has at most {count} files: delete one first': 'A chat has at most {count} files: delete one first.',
  'Only the user of a chat may write in it or change it': 'Only the person whose chat it is may write in it.',
  'Only a run that failed can be asked again, and only while it is the last one of its chat':
    'Only the last question of a chat can be asked again, and only if it failed.',
  'Nothing was said in this chat yet': 'Nothing has been said in this chat yet.',
  'A person has at most {count} schedules: delete one first':
    'You have {count} schedules, which is all that one may have: delete one first.',
  'A run of this schedule still goes on: wait for its end, or cancel it':
    'It is still at work since the last time: wait for the end, or stop it.',
  'Another memory has the key {key}': 'Another memory has the key {key}.',
  'A user has at most {count} memories: delete some first, or replace one by its key':
    'You have {count} memories, which is all that one may have: delete some first.',
  'A user may have at most {count} connections': 'You have {count} connections, which is all that one may have.',
  'A group has at most {count} members': 'A group has at most {count} members.',
  'Only the owner of a group and administrators may change it': 'Only the owner of a group and administrators may change it.',
  'An organization has at most {count} webhooks: delete one first':
    'An organization has at most {count} webhooks: delete one first.',
  'This legal hold has ended already': 'This hold has ended already.',
  'The person cannot be its own successor': 'A person cannot follow himself or herself.',
  'must be later than since': 'The end must be later than the beginning.',
  'must be later than from': 'The end must be later than the beginning.',
  'At most {count} days at a time': 'At most {count} days at a time.',
  'The model provider refused the request': 'The provider of the model refused the request.',
  'The model provider cannot be reached': 'The provider of the model cannot be reached.',
  'The model provider does not accept the credentials of this service':
    'The provider of the model does not accept the credentials of this service. Its operator must fix this.',
  'The model provider limits the rate of requests':
    'The provider of the model takes no more requests at the moment. Try again shortly.',
  'The quota at the model provider is used up': 'The quota at the provider of the model is used up.',
  'The connection to the model provider broke off': 'The connection to the provider of the model broke off.',
  'The model answered nothing': 'The model answered nothing.',
  'The model gave no summary': 'The model gave no summary.',
  'The organization may use {limit} tokens for {what}, and {state}':
    'The organization has used up the {limit} tokens that it may use.',
  'The file is gone. Import it again.': 'The file is gone. Import it again.',
  'You were no member of the organization any more. Import the file again: no chat is brought twice.':
    'You were no member of the organization any more. Import the file again: no chat is brought twice.',
  'The agent was deleted. Undo this import, and import the file again with another agent.':
    'The agent was deleted. Undo this import, and import the file again with another agent.',
  'A legal hold keeps chats of this import: they are not deleted until an administrator ends the hold.':
    'A legal hold keeps chats of this import: they are not deleted until an administrator ends the hold.',
  'The import could not be finished within a day, because of a fault of the service. Import the file again: no chat is brought twice.':
    'The import could not be finished within a day, because of a fault of the service. Import the file again: no chat is brought twice.',
  'The file ends in the middle of a chat: it was not downloaded to its end.':
    'The file ends in the middle of a chat: it was not downloaded to its end.',
  'The file is not JSON, as exports of chats are.': 'The file is not JSON, as exports of chats are.',
  'There is no chat in the file. {advice}':
    'There is no chat in the file. Exports of ChatGPT, Claude, LibreChat, Open WebUI and Parley can be imported.',
  'No chat in the file could be read. {advice}':
    'No chat in the file could be read. Exports of ChatGPT, Claude, LibreChat, Open WebUI and Parley can be imported.',
  'The archive is damaged or cut short; download it again.': 'The archive is damaged or cut short: download it again.',
  'The archive holds more than {count} JSON files.': 'The archive holds more than {count} JSON files.',
  'This import has ended already': 'This import has ended already.',
  'This import is under way: cancel it, or wait for its end': 'This import is under way: cancel it, or wait for its end.',
  'You have {count} imports under way: wait until one has ended': 'You have {count} imports under way: wait until one has ended.',
  'This message is no answer, and asks for none': 'This message is not an answer, and asks for none.',
  'The request had secrets, which are kept nowhere: it cannot be answered beside':
    'The question had secrets, which are kept nowhere: it cannot be answered once more.',
  'At most {count} answers stand beside each other: go on with one of them':
    'At most {count} answers stand beside each other: go on with one of them.',
  'Models get everything that was said in this chat already': 'The model gets everything that was said in this chat already.',
  'A chat has at most {count} tags': 'A chat has at most {count} tags.',
  'This message does not wait: it is being answered, or was withdrawn':
    'This message does not wait any more: it is being answered, or was withdrawn.',
  'Only the owner of a project may change or delete it': 'Only the owner of a project may change or delete it.',
  'Only its owner may change a prompt': 'Only its owner may change a prompt.',
  'Only its owner and administrators may delete a prompt': 'Only its owner and administrators may delete a prompt.',
  'must have 1 to 40 lower-case letters, digits and hyphens, and begin with a letter or digit':
    '1 to 40 lowercase letters, digits and hyphens, with a letter or digit first.',
  'must have at most {max} variables, not {count}': 'At most {max} variables; these are {count}.',
  'Another prompt of yours has the command {command}': 'Another prompt of yours has the command {command}.',
  'You have {count} prompts: delete one first': 'You have {count} prompts, which is all that one may have: delete one first.',
  'One has at most {count} filters: delete one first':
    'You have {count} filters, which is all that one may have: delete one first.',
  'This installation shares chats with members only (SHARE_WITH_ANYONE)': 'Chats can be shared with members only here.',
  'A chat has at most {count} links: revoke one first': 'A chat has at most {count} links: revoke one first.',
  'Only administrators see the links of others': 'Only administrators see the links of others.',
};
