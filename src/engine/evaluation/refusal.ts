/** How agents say that they cannot answer, in English and German. A judge says it of other words and languages. */
const phrases = [
  'i cannot answer',
  "i can't answer",
  'i am not able to answer',
  "i'm not able to answer",
  'i do not know',
  "i don't know",
  'i cannot help',
  "i can't help",
  'i could not find',
  "i couldn't find",
  'i find nothing in',
  'i found nothing',
  'no information about',
  'not have information',
  'not in my knowledge',
  'ich weiß es nicht',
  'ich weiß nicht',
  'kann ich nicht beantworten',
  'kann diese frage nicht beantworten',
  'dabei kann ich nicht helfen',
  'ich finde nichts',
  'keine informationen',
];

/** Whether an answer says that it is none. */
export function declines(text: string): boolean {
  const words = text.toLowerCase().replaceAll('’', "'");
  return phrases.some((phrase) => words.includes(phrase));
}
