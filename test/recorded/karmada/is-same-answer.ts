/** Whether an answer is the recorded one, by the rules of the recording: order and random texts do not count. */
import { canonicalJson, isObject, jsonEqual } from '../../../src/core/json.ts'
import { canonicalQuantity, parseQuantity } from '../../../src/core/text/quantity.ts'

type Answer = Readonly<Record<string, unknown>>
type Compare = (answer: Answer, recorded: Answer) => boolean

interface Target {
  readonly name: string
  readonly replicas?: number
  readonly components?: unknown
}

/** Targets as a map: the order of clusters is not compared. */
function targets(list: unknown): unknown {
  return Object.fromEntries(
    ((list ?? []) as readonly Target[]).map(({ name, replicas = 0, components = null }) => [
      name,
      [replicas, components],
    ]),
  )
}

/** The text of a condition; with `messageVaries` only the part before the colon is compared. */
function message(answer: Answer, recorded: Answer): string {
  const text = answer['action'] === 'unchanged' ? '' : ((answer['message'] as string | undefined) ?? '')
  return recorded['messageVaries'] === true ? text.split(':')[0]! : text
}

/** Errors are compared as some or none. */
function sameUnlessError(answer: Answer, recorded: Answer): boolean {
  const failed = 'error' in answer
  return failed === 'error' in recorded && (failed || jsonEqual(answer, recorded))
}

function stepsOf({ steps }: Answer): unknown {
  return (steps as readonly Answer[] | undefined)?.map(({ errors = [], ...step }) => ({
    ...step,
    failed: (errors as readonly unknown[]).length > 0,
  }))
}

/** A refusal must name each field path of the recorded one; its words are free. A fresh id is `<uuid>`. */
function sameAdmission(answer: Answer, recorded: Answer): boolean {
  const refusal = recorded['error'] as string | undefined
  if (refusal === undefined) return sameUnlessError(JSON.parse(withoutIds(answer)) as Answer, recorded)
  const paths = [...refusal.matchAll(/(spec\.[\w.[\]]+|metadata\.[\w.[\]]+): /g)].map(([, path]) => path!)
  const said = (answer['error'] as string | undefined) ?? ''
  return said !== '' && paths.every((path) => said.includes(path))
}

function withoutIds(answer: Answer): string {
  return JSON.stringify(answer).replaceAll(/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g, '<uuid>')
}

/** Without null, "", {} and [], lists of dependencies as sets, and quantities by value. */
function sameInterpretation(answer: Answer, recorded: Answer): boolean {
  if ('error' in answer || 'error' in recorded) return 'error' in answer === 'error' in recorded
  return jsonEqual(canonical(JSON.parse(JSON.stringify(answer))), canonical(recorded))
}

function canonical(value: unknown, field = ''): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => canonical(item))
    return SETS.has(field) ? items.map((item) => canonicalJson(item)).toSorted() : items
  }
  if (!isObject(value)) return value
  const isResources = RESOURCES.has(field)
  const fields = Object.entries(value).flatMap(([name, one]): [string, unknown][] => {
    const kept = isResources ? canonicalQuantity(one as string) : canonical(one, name)
    return isEmpty(kept) ? [] : [[name, isResources ? String(parseQuantity(one as string)?.nano) : kept]]
  })
  return Object.fromEntries(fields)
}

/** Lists whose order is not compared. */
const SETS: ReadonlySet<string> = new Set(['dependencies', 'components'])
const RESOURCES: ReadonlySet<string> = new Set(['resourceRequest', 'requests', 'limits', 'overhead'])

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

const COMPARE: Readonly<Record<string, Compare>> = {
  schedule: (answer, recorded) =>
    jsonEqual(targets(answer['clusters']), targets(recorded['clusters'])) &&
    message(answer, recorded) === message(recorded, recorded) &&
    ['action', 'reason', 'affinity', 'retry'].every((field) => (answer[field] ?? '') === (recorded[field] ?? '')),
  division: (answer, recorded) =>
    'error' in answer === 'error' in recorded &&
    jsonEqual(targets(answer['clusters']), targets(recorded['clusters'])) &&
    jsonEqual(answer['groups'] ?? null, recorded['groups'] ?? null),
  override: sameUnlessError,
  failover: sameUnlessError,
  admit: sameAdmission,
  interpret: sameInterpretation,
  match: (answer, recorded) => jsonEqual(stepsOf(answer) ?? null, stepsOf(recorded) ?? null),
}

/** Compares an answer with the recorded one. */
export function isSameAnswer(family: string, answer: unknown, recorded: unknown): boolean {
  const compare = COMPARE[family]
  if (!compare) throw new Error(`unknown family ${family}`)
  return isObject(answer) && isObject(recorded) && compare(answer, recorded)
}
