/** The comparison of a bundle with the objects of another system, as one sentence of its row. */
import { plural } from '../../core/text/name-some.ts'

/** The comparison of the objects of a bundle with the objects in the cluster. */
export interface Comparison {
  readonly objects: number
  /** One text for each object that differs or cannot be compared, for example `ConfigMap shop/x: .data.a`. */
  readonly differences: readonly string[]
}

const SHOWN = 10

/** The comparison as the message of a row; `readComparison` reads it. */
export function comparisonMessage(from: string, { objects, differences }: Comparison): string {
  const start = `handover from ${from}: `
  if (differences.length === 0) return `${start}${plural(objects, 'object')} compared, no differences`
  const shown = differences.slice(0, SHOWN).join('; ')
  const more = differences.length > SHOWN ? `; and ${differences.length - SHOWN} more` : ''
  return `${start}${plural(objects, 'object')} compared, ${differences.length} with differences: ${shown}${more}`
}

/** What a row says about a comparison. */
export interface ReadComparison {
  readonly from: string
  readonly objects: number
  readonly differing: number
  /** The differences, shortened. */
  readonly text: string
}

const MESSAGE =
  /^handover from ([a-z0-9-]{1,63}): (\d{1,9}) objects? compared, (?:no differences|(\d{1,9}) with differences: (.*))$/s

/** Reads the message of a row; undefined when it is no comparison. */
export function readComparison(message: string | undefined): ReadComparison | undefined {
  const found = MESSAGE.exec(message ?? '')
  if (!found) return undefined
  const [, from = '', objects = '0', differing = '0', text = ''] = found
  return { from, objects: Number(objects), differing: Number(differing), text }
}
