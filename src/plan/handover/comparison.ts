/**
 * A handover from another system, as the hub asks for it and as the agent answers: the rule in the document, and the
 * comparison of a bundle with the cluster as one sentence of its row.
 */
import type { Cluster } from '../../kinds/native/cluster.ts'
import { plural } from '../../core/text/name-some.ts'

/** The rule of a document: `Compare` writes nothing, `Take` takes objects over. */
export interface HandoverRule {
  /** The system that the cluster moves over from. */
  readonly from: string
  readonly step: 'Compare' | 'Take'
  readonly acceptDifferences: boolean
}

/** The rule for a cluster; undefined without a handover, and after the last step. */
export function handoverRuleOf({ spec }: Pick<Cluster, 'spec'>): HandoverRule | undefined {
  const { handover } = spec
  if (!handover || handover.step === 'Done') return undefined
  const { from, step, acceptDifferences = false } = handover
  return { from, step, acceptDifferences }
}

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
