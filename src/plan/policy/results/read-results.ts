// Tested by src/plan/policy/results/results.test.ts
/**
 * What a policy engine found, read from the objects that it writes: PolicyReports, Reports of OpenReports, and the
 * status of Gatekeeper's constraints. The objects are foreign: what cannot be read is left out.
 */
import { compact } from '../../../core/compact.ts'
import { isObject } from '../../../core/json.ts'
import { RESULT_SEVERITIES } from '../../../kinds/fields/report.ts'

/** Words of the PolicyReport API. */
export const RESULT_WORDS = ['pass', 'fail', 'warn', 'error', 'skip'] as const
export type ResultWord = (typeof RESULT_WORDS)[number]
export type ResultSeverity = (typeof RESULT_SEVERITIES)[number]

/** A result, or several results that the engine only counts. */
export interface Finding {
  readonly engine: string
  readonly policy: string
  readonly severity?: ResultSeverity
  readonly category?: string
  readonly result: ResultWord
  readonly count: number
  /** The object that was judged. Absent where the engine only counts. */
  readonly subject?: { readonly kind: string; readonly namespace: string; readonly name: string }
  readonly rule?: string
  readonly message?: string
}

/** The group of Gatekeeper's constraints. */
export const CONSTRAINT_GROUP = 'constraints.gatekeeper.sh'

/** The findings of an object; `undefined` if the engine has not evaluated it yet. */
export function readResults(object: unknown): readonly Finding[] | undefined {
  if (!isObject(object)) return undefined
  const apiVersion = textOf(object['apiVersion']) ?? ''
  return apiVersion.startsWith(`${CONSTRAINT_GROUP}/`) ? readConstraint(object) : readReport(object)
}

type Value = Readonly<Record<string, unknown>>

function readReport(report: Value): Finding[] {
  const metadata = part(report['metadata'])
  const scope = isObject(report['scope']) ? report['scope'] : undefined
  const source = textOf(report['source'])
  return listOf(report['results']).flatMap((one): Finding[] => {
    const policy = textOf(one['policy'])
    const result = RESULT_WORDS.find((word) => word === one['result'])
    if (policy === undefined || result === undefined) return []
    const judged = listOf(one['resources'])[0] ?? scope
    const kind = textOf(judged?.['kind'])
    const name = textOf(judged?.['name'])
    const namespace = textOf(judged?.['namespace']) ?? textOf(metadata['namespace']) ?? ''
    return [
      {
        engine: cut(textOf(one['source']) ?? source ?? 'unknown', 63),
        policy: cut(policy, 380),
        result,
        count: 1,
        ...compact({
          severity: RESULT_SEVERITIES.find((word) => word === one['severity']),
          category: bounded(one['category'], 253),
          rule: bounded(one['rule'], 253),
          message: bounded(one['message'], MESSAGE_CHARS),
        }),
        // Without an object, the namespace of the report still counts.
        subject: { kind: kind ?? '', namespace: cut(namespace, 63), name: name ?? '' },
      },
    ]
  })
}

/** Gatekeeper names at most some violations, and counts all. It does not count what complies. */
function readConstraint(constraint: Value): Finding[] | undefined {
  const { name } = part(constraint['metadata'])
  const kind = textOf(constraint['kind'])
  const status = part(constraint['status'])
  if (typeof name !== 'string' || kind === undefined) return undefined
  // Before the first audit, no violation says nothing.
  if (textOf(status['auditTimestamp']) === undefined) return undefined
  const about = { engine: 'gatekeeper', policy: cut(`${kind}/${name}`, 380) }
  const violations = listOf(status['violations'])
  const found = violations.map((one): Finding => ({
    ...about,
    result: wordOf(one['enforcementAction']),
    count: 1,
    subject: {
      kind: textOf(one['kind']) ?? '',
      namespace: cut(textOf(one['namespace']) ?? '', 63),
      name: textOf(one['name']) ?? '',
    },
    ...compact({ message: bounded(one['message'], MESSAGE_CHARS) }),
  }))
  const total = status['totalViolations']
  const more = (typeof total === 'number' && Number.isSafeInteger(total) ? total : 0) - violations.length
  const action = wordOf(part(constraint['spec'])['enforcementAction'])
  // A constraint without violations complies, and has a row that says so.
  const rest: Finding = { ...about, result: action, count: Math.max(0, more) }
  return rest.count > 0 || found.length === 0 ? [...found, rest] : found
}

/** `dryrun` is what Kyverno calls Audit: the object violates the policy, and was admitted. */
function wordOf(action: unknown): ResultWord {
  return action === 'warn' ? 'warn' : 'fail'
}

const MESSAGE_CHARS = 256

function part(value: unknown): Value {
  return isObject(value) ? value : {}
}

function listOf(value: unknown): Value[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function bounded(value: unknown, max: number): string | undefined {
  const text = textOf(value)
  return text === undefined ? undefined : cut(text, max)
}

/** At most `max` UTF-16 units, no half of a character. */
function cut(text: string, max: number): string {
  return text.length <= max ? text : text.slice(0, max - 1).toWellFormed()
}
