/** Nearest names as advice. */
import { nearestName } from '../../core/text/nearest-name.ts'

/** `did you mean "x"?` as a sentence part, or nothing. */
export function didYouMean(word: string, candidates: Iterable<string>): string | undefined {
  const name = nearestName(word, candidates)
  return name === undefined ? undefined : `did you mean ${JSON.stringify(name)}?`
}
