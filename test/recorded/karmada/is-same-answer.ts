/** Whether an answer is the recorded one, by the rules of the recording: order and random texts do not count. */
import { isObject, jsonEqual } from '../../../src/core/json.ts'

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
  match: (answer, recorded) => jsonEqual(stepsOf(answer) ?? null, stepsOf(recorded) ?? null),
}

/** Compares an answer with the recorded one. */
export function isSameAnswer(family: string, answer: unknown, recorded: unknown): boolean {
  const compare = COMPARE[family]
  if (!compare) throw new Error(`unknown family ${family}`)
  return isObject(answer) && isObject(recorded) && compare(answer, recorded)
}
