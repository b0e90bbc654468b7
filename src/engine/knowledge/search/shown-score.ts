/** The rank of a passage that is shown as a half. */
const middleScore = 5;

/** The score of a passage for clients of the common format: above 0 and below 1, higher for a better fit. */
export function shownScore(score: number): number {
  return score / (score + middleScore);
}
