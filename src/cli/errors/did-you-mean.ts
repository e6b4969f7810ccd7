/** Hints with the nearest known name. */
import { nearestName } from '../../core/text/nearest-name.ts'

/** The hint `did you mean "x"?`, if a candidate is near enough. */
export function didYouMean(word: string, candidates: Iterable<string>): string | undefined {
  const name = nearestName(word, candidates)
  return name === undefined ? undefined : `did you mean ${JSON.stringify(name)}?`
}
