/** English words that people use for one another. Words with a second common meaning are left out. */
const groups = [
  'bicycle bike',
  'keep store storage retain',
  'cost price fee',
  'repair fix mend',
  'buy purchase',
  'delete remove erase',
  'begin start commence',
  'change edit modify alter update',
  'send ship shipping deliver delivery dispatch',
  'car automobile',
  'phone telephone',
  'holiday vacation',
  'employee staff',
  'refund reimburse reimbursement',
  'warranty guarantee',
  'quick fast rapid',
  'large big',
  'small little',
  'allow permit',
  'child kid',
  'rent hire borrow loan lend',
  'broken defective faulty',
  'forbid prohibit',
  'picture image photo',
  'film movie',
  'help assist assistance support',
  'answer reply response',
  'error failure',
  'closed shut',
  'doctor physician',
  'password passcode',
  'email mail',
  'lawyer attorney',
  'illness disease sickness',
] as const;

/** Forms that no rule derives. */
const irregularForms: Readonly<Record<string, string>> = {
  kept: 'keep',
  bought: 'buy',
  sent: 'send',
  began: 'begin',
  begun: 'begin',
  lent: 'lend',
  children: 'child',
  paid: 'pay',
  made: 'make',
  sold: 'sell',
  held: 'hold',
  people: 'person',
  forbidden: 'forbid',
};

const irregular: ReadonlyMap<string, string> = new Map(Object.entries(irregularForms));

/** Every form of every word, so that a text of thousands of words costs one look-up each. */
const groupOf: ReadonlyMap<string, { readonly word: string; readonly group: readonly string[] }> = new Map(
  groups.flatMap((text) => {
    const group = text.split(' ');
    return group.flatMap((word) => formsOf(word).map((form) => [form, { word, group }] as const));
  }),
);

/** The word that stands for all that mean the same: `bikes` is `bicycle`, `stored` and `kept` are `keep`; undefined for words of no group. */
export function sharedWordOf(word: string): string | undefined {
  return groupOf.get(regularOf(word))?.group[0];
}

/** The form that rules can work with: `kept` is `keep`. */
export function regularOf(word: string): string {
  return irregular.get(word) ?? word;
}

/** Other words for a word in lower case, `[]` for none. */
export function nearWordsOf(word: string): readonly string[] {
  const found = groupOf.get(regularOf(word));
  return found === undefined ? [] : found.group.filter((other) => other !== found.word);
}

function formsOf(word: string): readonly string[] {
  const short = word.replace(/[ey]$/, '');
  const doubled = word + word.slice(-1);
  const endings = [`${word}s`, `${word}es`, `${word}ed`, `${word}ing`, `${word}er`];
  return [
    word,
    ...endings,
    `${short}ed`,
    `${short}ing`,
    `${short}es`,
    `${short}ies`,
    `${short}ied`,
    `${doubled}ed`,
    `${doubled}ing`,
  ];
}
