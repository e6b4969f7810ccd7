// Tested by src/plan/policy/results/results.test.ts
/**
 * Sums the findings of many objects by policy and namespace. A change costs the findings of the object that changed,
 * and an object keeps its counts only, not its texts.
 */
import { utf8 } from '../../../core/bytes.ts'
import { compact } from '../../../core/compact.ts'
import { canonicalJson } from '../../../core/json.ts'
import { compareText } from '../../../core/text/compare-text.ts'
import type { Finding, ResultSeverity, ResultWord } from './read-results.ts'

/** The bounds of a summary. */
export interface SumLimits {
  /** Objects whose findings are kept. */
  readonly objects: number
  readonly policies: number
  readonly namespaces: number
  readonly samples: number
  readonly bytes: number
}

interface BadCounts {
  fail: number
  warn: number
  error: number
}
type Bad = keyof BadCounts

interface PolicySum extends BadCounts {
  readonly key: string
  readonly engine: string
  readonly policy: string
  readonly severity: ResultSeverity | undefined
  readonly category: string | undefined
  pass: number
  skip: number
  /** Objects with a finding of the policy. */
  objects: number
  readonly namespaces: Map<string, BadCounts>
  /** What does not meet the policy, by the object that says so. */
  readonly samples: Map<string, Sample[]>
}

/** An object that does not meet a policy. */
interface Sample {
  readonly object: string
  readonly result: Bad
  readonly rule?: string
  readonly message?: string
}

interface Share {
  readonly sum: PolicySum
  readonly result: ResultWord
  readonly namespace: string | undefined
  count: number
}

/** A policy of a summary. */
export interface SummedPolicy extends Readonly<BadCounts> {
  readonly engine: string
  readonly policy: string
  readonly severity?: ResultSeverity
  readonly category?: string
  readonly pass: number
  readonly skip: number
  readonly namespaces?: readonly (Readonly<BadCounts> & { readonly namespace?: string })[]
  readonly objects?: readonly Sample[]
}

/** A summary. */
export interface ResultSummary {
  readonly policies: readonly SummedPolicy[]
  readonly omitted?: number
  readonly unread?: number
}

/** Creates empty sums. */
export function createResultSums(limits: SumLimits) {
  const sums = new Map<string, PolicySum>()
  const shares = new Map<string, readonly Share[]>()
  const unread = new Set<string>()

  function sumOf({ engine, policy, severity, category }: Finding): PolicySum {
    const key = [engine, policy, severity ?? '', category ?? ''].join('\0')
    let sum = sums.get(key)
    if (!sum) {
      const counts = { pass: 0, fail: 0, warn: 0, error: 0, skip: 0, objects: 0 }
      sum = { key, engine, policy, severity, category, ...counts, namespaces: new Map(), samples: new Map() }
      sums.set(key, sum)
    }
    return sum
  }

  function add({ sum, result, namespace, count }: Share): void {
    sum[result] += count
    if (namespace === undefined || result === 'pass' || result === 'skip') return
    const known = sum.namespaces.get(namespace) ?? { fail: 0, warn: 0, error: 0 }
    known[result] += count
    if (known.fail + known.warn + known.error === 0) sum.namespaces.delete(namespace)
    else sum.namespaces.set(namespace, known)
  }

  function remove(object: string): void {
    unread.delete(object)
    const own = shares.get(object) ?? []
    shares.delete(object)
    for (const share of own) add({ ...share, count: -share.count })
    for (const sum of new Set(own.map((share) => share.sum))) {
      sum.samples.delete(object)
      sum.objects -= 1
      if (sum.objects === 0) sums.delete(sum.key)
    }
  }

  function sample(object: string, sum: PolicySum, { result, subject, rule, message }: Finding): void {
    if (result === 'pass' || result === 'skip' || !subject) return
    const known = [...sum.samples.values()].reduce((count, list) => count + list.length, 0)
    if (known >= limits.samples) return
    const where = subject.namespace === '' ? '' : `${subject.namespace}/`
    const named = `${subject.kind} ${where}${subject.name}`.trim().slice(0, 1024).toWellFormed()
    if (named === '') return
    const own = sum.samples.get(object) ?? []
    own.push({ object: named, result, ...compact({ rule, message }) })
    sum.samples.set(object, own)
  }

  return {
    /** The findings of an object, instead of those that it had. */
    set(object: string, findings: readonly Finding[]): void {
      remove(object)
      if (findings.length === 0) return
      if (shares.size >= limits.objects) {
        unread.add(object)
        return
      }
      const own = new Map<string, Share>()
      const touched = new Set<PolicySum>()
      for (const finding of findings) {
        const sum = sumOf(finding)
        const namespace = finding.subject?.namespace
        const key = [sum.key, finding.result, namespace ?? '\0'].join('\0')
        const share = own.get(key)
        if (share) share.count += finding.count
        else own.set(key, { sum, result: finding.result, namespace, count: finding.count })
        touched.add(sum)
        sample(object, sum, finding)
      }
      for (const sum of touched) sum.objects += 1
      for (const share of own.values()) add(share)
      shares.set(object, [...own.values()])
    },
    remove,
    /** True if objects were not read for which there is room now. */
    isBehind: (): boolean => unread.size > 0 && shares.size < limits.objects * 0.9,
    summary: (): ResultSummary => summarize([...sums.values()], unread.size, limits),
  }
}

/** The worst policies, then their namespaces, then samples: as many as the bytes allow. */
function summarize(sums: readonly PolicySum[], unread: number, limits: SumLimits): ResultSummary {
  const sorted = sums.toSorted((a, b) => byHarm(a, b) || compareText(a.key, b.key))
  // The braces of the summary and its two counts.
  let room = limits.bytes - 100
  const take = (value: unknown, overhead: number): boolean => {
    const bytes = utf8(canonicalJson(value)).byteLength + overhead
    if (bytes > room) return false
    room -= bytes
    return true
  }
  const rows: { readonly sum: PolicySum; readonly row: Omit<SummedPolicy, 'namespaces' | 'objects'> }[] = []
  for (const sum of sorted.slice(0, limits.policies)) {
    const { engine, policy, severity, category, pass, fail, warn, error, skip } = sum
    const row = { engine, policy, ...compact({ severity, category }), pass, fail, warn, error, skip }
    // The names of both lists.
    if (!take(row, 32)) break
    rows.push({ sum, row })
  }
  const namespaces = rows.map(({ sum }) =>
    [...sum.namespaces]
      .toSorted(([a, one], [b, other]) => byHarm(one, other) || compareText(a, b))
      .slice(0, limits.namespaces)
      .map(([namespace, counts]) => ({ ...(namespace !== '' && { namespace }), ...counts }))
      .filter((one) => take(one, 1)),
  )
  const samples = rows.map(({ sum }) =>
    [...sum.samples.values()]
      .flat()
      .toSorted((a, b) => compareText(a.object, b.object))
      .filter((one) => take(one, 1)),
  )
  const omitted = sums.length - rows.length
  return {
    policies: rows.map(({ row }, index) => ({
      ...row,
      ...compact({ namespaces: some(namespaces[index]!), objects: some(samples[index]!) }),
    })),
    ...compact({ omitted: omitted > 0 ? omitted : undefined, unread: unread > 0 ? unread : undefined }),
  }
}

function some<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list
}

function byHarm(a: Readonly<BadCounts>, b: Readonly<BadCounts>): number {
  return b.fail - a.fail || b.error - a.error || b.warn - a.warn
}
