/** Go's regular expressions, with JavaScript's own engine where both mean the same. */
import { RE2JS } from 're2js'
import { KustomizeError } from './kustomize-error.ts'

/** A compiled pattern. */
export interface Pattern {
  /** Whether some part of a text matches. */
  test(text: string): boolean
}

const SIMPLE = /^[\w\s./:@^$|()*+?-]*$/
const NO_CHOICE = /^[^*+?|]*$/
/** Without the anchor, it is tried at each place of a text. */
const ONE_REPETITION = /^\^[^*+?|]*[^)*+?|][*+][^*+?|]*$/
const cache = new Map<string, Pattern>()

/** Compiles a pattern; an invalid pattern is an error in Go's words. */
export function compilePattern(source: string): Pattern {
  const known = cache.get(source)
  if (known) return known
  const pattern = compile(source)
  if (cache.size > 1_000) cache.clear()
  cache.set(source, pattern)
  return pattern
}

function compile(source: string): Pattern {
  // Each choice multiplies the time of a match, and Go has no lookarounds: RE2 runs these.
  const plain = source.replaceAll('(?:', '(')
  if (SIMPLE.test(source) && (NO_CHOICE.test(plain) || ONE_REPETITION.test(plain))) {
    try {
      return new RegExp(source)
    } catch {
      // RE2 says what is wrong with it.
    }
  }
  try {
    const regex = RE2JS.compile(source)
    return { test: (text) => regex.matcher(text).find() }
  } catch (caught) {
    const message = caught instanceof Error ? caught.message.replace(/^error parsing regexp: /, '') : String(caught)
    throw new KustomizeError(`error parsing regexp: ${message}`)
  }
}
