/** The text-search configurations of PostgreSQL that Parley uses; all exist since version 15. */
export const textSearchConfigs = [
  'english',
  'german',
  'french',
  'spanish',
  'italian',
  'portuguese',
  'dutch',
  'swedish',
  'danish',
  'norwegian',
  'finnish',
  'hungarian',
  'romanian',
  'turkish',
  'indonesian',
  'russian',
  'greek',
  'arabic',
  'hindi',
  'simple',
] as const;
export type TextSearchConfig = (typeof textSearchConfigs)[number];

/** The most common words without meaning: a few lines of prose contain several, and no two languages share many. */
const functionWords: Readonly<Partial<Record<TextSearchConfig, string>>> = {
  english: 'the of and to in is that for it with as was on are by be this at from or which have not an were you your we can when',
  german:
    'der die das und ist nicht ein eine mit für auf den dem von zu im sich des werden auch wird bei sind oder einer wie nach aus kann wenn',
  french:
    'le la les de des et est un une du dans que pour qui sur avec pas au par ne se ce sont vous nous cette ou être aux leur',
  spanish: 'el la los las de y en que un una es por con para del se no su al como más o son está este lo entre sobre ha cuando',
  italian: 'il la di che e un una per è del non con sono le della i da si gli nel alla più come anche ma dei delle questo nella',
  portuguese:
    'o a os as de e que um uma do da em para com não por se no na dos das mais como foi ao são ou pelo pela também está',
  dutch:
    'de het een van en in is dat op te zijn met voor niet aan er die ook als bij naar wordt worden deze dit of om uit kan hebben',
  swedish: 'och att det som en är på av för med den till inte om ett har från de kan vid eller ska var sig så denna också när',
  danish: 'og at det er en af til på som med den for ikke der et har de fra kan ved eller skal være blev hvor denne også når af',
  norwegian:
    'og å det er en av til på som med den for ikke et har de fra kan ved eller skal være ble hvor denne også når jeg hva etter mot',
  finnish: 'ja on ei se että oli hän joka mutta ovat tai kun myös jos niin kuin voi ole sen tämä olla jotka sekä mukaan ovat',
  hungarian: 'a az és hogy nem is egy ez meg van de csak vagy ha már mint volt azt lehet kell ami után minden illetve szerint',
  romanian: 'de și în la cu a o un pe care nu este din pentru că mai sunt ca să se sau după prin fost dar această fi au',
  turkish: 've bir bu için ile de da olarak olan daha çok en gibi kadar ne her sonra değil veya ancak ise göre ya var',
  indonesian:
    'yang dan di dari untuk dengan pada ini itu tidak adalah dalam akan oleh ke atau juga sebagai telah dapat anda karena',
  russian: 'и в не на что с по как это из для к от за но или его то же при так у бы все был может если о',
  greek: 'και το η ο να του της των με για την από στο είναι που σε δεν τα οι θα στην μια τον ένα',
  arabic: 'في من على إلى أن التي الذي هذا هذه عن مع كان لا ما أو كل بعد بين ذلك قد هو هي',
  hindi: 'के में है की और का को से पर एक यह हैं ने नहीं कि भी इस लिए या तो कर था',
};

const wordConfigs = new Map<string, TextSearchConfig[]>();
for (const config of textSearchConfigs) {
  for (const word of functionWords[config]?.split(' ') ?? []) wordConfigs.set(word, [...(wordConfigs.get(word) ?? []), config]);
}

const sampleChars = 20_000;
/** The share of function words among a text's words; prose of these languages has several times as many. */
const shareMin = 0.04;
/** At least this many different ones; a single one may be a name, or a word of another language. */
const wordsMin = 2;

/**
 * The text-search configuration for a document, by its function words. English if nothing else fits (short Latin text, names,
 * code); `simple`, without stemming, for scripts and languages that PostgreSQL cannot stem.
 *
 * Cost: reads at most the first 20,000 characters; well below a millisecond.
 */
export function textSearchConfig(text: string): TextSearchConfig {
  const sample = text.slice(0, sampleChars).toLowerCase();
  const scores = new Map<TextSearchConfig, number>();
  const wordsByConfig = new Map<TextSearchConfig, Set<string>>();
  let words = 0;
  let latinLetters = 0;
  let otherLetters = 0;
  for (const [word] of sample.matchAll(/[\p{L}\p{M}]+/gu)) {
    words += 1;
    if (/^[\p{Script=Latin}\p{M}]+$/u.test(word)) latinLetters += word.length;
    else otherLetters += word.length;
    const configs = wordConfigs.get(word);
    // A word of several languages counts less for each.
    for (const config of configs ?? []) {
      scores.set(config, (scores.get(config) ?? 0) + 1 / (configs?.length ?? 1));
      wordsByConfig.set(config, (wordsByConfig.get(config) ?? new Set()).add(word));
    }
  }
  const isLatin = latinLetters >= otherLetters;
  const [best, score] = [...scores].sort(([, a], [, b]) => b - a)[0] ?? ['english', 0];
  const isSure = (wordsByConfig.get(best)?.size ?? 0) >= wordsMin && score >= words * shareMin;
  if (isSure && isLatin !== isOtherScript(best)) return best;
  return isLatin ? 'english' : 'simple';
}

function isOtherScript(config: TextSearchConfig): boolean {
  return config === 'russian' || config === 'greek' || config === 'arabic' || config === 'hindi';
}
