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
const irregular: Readonly<Record<string, string>> = {
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

const groupOf = new Map<string, readonly string[]>(
  groups.flatMap((group) => {
    const words = group.split(' ');
    return words.map((word) => [word, words] as const);
  }),
);

/** The word that stands for all that mean the same: `bikes` is `bicycle`, `stored` and `kept` are `keep`; undefined for words of no group. */
export function sharedWordOf(word: string): string | undefined {
  return formsOf(word)
    .map((form) => groupOf.get(form)?.[0])
    .find((shared) => shared !== undefined);
}

/** The form that rules can work with: `kept` is `keep`. */
export function regularOf(word: string): string {
  return irregular[word] ?? word;
}

/** Other words for a word, `[]` for none. */
export function nearWordsOf(word: string): readonly string[] {
  const group = formsOf(word)
    .map((form) => groupOf.get(form))
    .find((found) => found !== undefined);
  const own = formsOf(word);
  return group?.filter((other) => !own.includes(other)) ?? [];
}

/** What a word may be a form of: `stored` of `stor` and `store`. */
function formsOf(word: string): readonly string[] {
  const base = regularOf(word.toLowerCase());
  const cut = base.replace(/(?:ies|s|ed|ing)$/, '');
  return cut === base
    ? [base]
    : [base, base.replace(/s$/, ''), base.replace(/d$/, ''), cut, `${cut}e`, `${cut}y`, cut.replace(/(.)\1$/, '$1')];
}
