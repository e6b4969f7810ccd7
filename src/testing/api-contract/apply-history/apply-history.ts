/**
 * Histories of writes by several managers, and what a server makes of them. The same history is played on our server
 * and on a kube-apiserver (or compared with its recorded answers): answers, objects and field ownership must be equal
 * after every step.
 */
import assert from 'node:assert/strict'
import { applyMergePatch } from '../../../apiserver/patch/merge-patch.ts'
import { canonicalJson, isObject, jsonClone, jsonEqual } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { Api, Reply } from '../harness.ts'
import { ownersOf } from '../harness.ts'

/** What a history is about: a kind with the versions it is written in. */
export interface Subject {
  readonly kind: string
  readonly group: string
  readonly plural: string
  readonly versions: readonly string[]
  /** The server refuses more than its schema says; ours, on purpose, does not for kinds of Kubernetes itself. */
  readonly isBuiltin: boolean
}

/** How a step writes; `update` changes what it read, `replace` puts a whole new object there. */
export type How = 'apply' | 'force' | 'update' | 'replace' | 'merge' | 'json' | 'strategic' | 'delete'

/** One write. */
export interface Step {
  readonly by: string
  readonly how: How
  readonly version: string
  readonly at?: 'status' | 'scale'
  /** A part of an object, or the operations of a JSON patch. */
  readonly body: unknown
}

/** A seeded sequence of writes to one object. */
export interface History {
  readonly subject: string
  readonly steps: readonly Step[]
}

/** What a server answered, without what differs between any two runs. */
export interface Outcome {
  readonly code: number
  readonly refusal?: JsonObject
  readonly object?: JsonObject
  /** What the address of the Scale answered; `object` is what it belongs to. */
  readonly scale?: JsonObject
  readonly owners?: Readonly<Record<string, unknown>>
}

const CONTENT_TYPES: Readonly<Partial<Record<How, string>>> = {
  apply: 'application/apply-patch+yaml',
  force: 'application/apply-patch+yaml',
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
}
const ADDRESSED = ['uid', 'resourceVersion', 'creationTimestamp', 'deletionTimestamp', 'managedFields', 'namespace']
const GIVEN_BY_CHANCE = ['clusterIP', 'clusterIPs']
const MOST_LINES = 20

/** Plays a history on an object of its own; the answers, one per step. */
export async function play(api: Api, subject: Subject, steps: readonly Step[], name: string): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const step of steps) {
    const outcome = outcomeOf(step, await take(api, subject, step, name))
    outcomes.push(step.at === 'scale' ? await behind(api, subject, { step, name, outcome }) : outcome)
  }
  // Addresses of Services are few.
  const last: Step = { by: 'end', how: 'merge', version: steps[0]!.version, body: { metadata: { finalizers: null } } }
  await take(api, subject, last, name)
  await take(api, subject, { ...last, how: 'delete' }, name)
  return outcomes
}

/** What a Scale belongs to after a write to it: the Scale itself does not say who owns what. */
async function behind(
  api: Api,
  subject: Subject,
  { step, name, outcome }: { readonly step: Step; readonly name: string; readonly outcome: Outcome },
): Promise<Outcome> {
  const { code, refusal, object: scale } = outcome
  const whole = await api.send('GET', addressOf(api, subject, step.version, name))
  const { object, owners } = outcomeOf(step, whole)
  return {
    code,
    ...(refusal && { refusal }),
    ...(scale && { scale }),
    ...(object && { object }),
    ...(owners && { owners }),
  }
}

function addressOf(api: Api, subject: Subject, version: string, name?: string): string {
  const group = subject.group === '' ? `/api/${version}` : `/apis/${subject.group}/${version}`
  const all = `${group}/namespaces/${api.namespace}/${subject.plural}`
  return name === undefined ? all : `${all}/${name}`
}

async function take(api: Api, subject: Subject, step: Step, name: string): Promise<Reply> {
  const { how, by, at, version } = step
  const all = addressOf(api, subject, version)
  const one = [all, name, at].filter((part) => part !== undefined).join('/')
  const who = `?fieldManager=${by}`
  const typed = typeOf(subject, step, name)
  const contentType = CONTENT_TYPES[how]
  switch (how) {
    case 'delete':
      return api.send('DELETE', one)
    case 'update':
    case 'replace': {
      const live = await api.send('GET', one)
      if (live.status !== 200)
        return at === 'scale' ? live : api.send('POST', all + who, { body: merged(typed, step.body) })
      const { resourceVersion } = live.body.metadata
      const base = how === 'update' ? (live.body as JsonObject) : { ...typed, metadata: { name, resourceVersion } }
      const body = merged(base, step.body)
      return api.send('PUT', one + who, { body })
    }
    case 'apply':
    case 'force': {
      const path = `${one}${who}${how === 'force' ? '&force=true' : ''}`
      return api.send('PATCH', path, { body: merged(typed, step.body), contentType: contentType! })
    }
    default:
      return api.send('PATCH', one + who, { body: step.body, contentType: contentType! })
  }
}

function typeOf(subject: Subject, { version, at }: Step, name: string): JsonObject {
  if (at === 'scale') return { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name } }
  const apiVersion = subject.group === '' ? version : `${subject.group}/${version}`
  return { apiVersion, kind: subject.kind, metadata: { name } }
}

function merged(base: JsonObject, change: unknown): JsonObject {
  return jsonClone(applyMergePatch(base, change as JsonObject)) as JsonObject
}

function outcomeOf({ how }: Step, { status: code, body }: Reply): Outcome {
  // What JSON patch says of a bad path are the words of a Go library; some kinds answer a delete with the object.
  if (how === 'delete' || (how === 'json' && code >= 400)) return { code }
  if (!isObject(body) || body['kind'] === 'Status') {
    const { reason, message, details } = body
    const causes = [...new Set(((details?.causes ?? []) as unknown[]).map((cause) => canonicalJson(cause)))].sort()
    // A plain error of Go has no reason.
    const refusal = {
      ...(code < 500 ? { reason } : {}),
      // The causes of an invalid object are its message, in the order of a map in Go, that is in any, and some twice.
      ...(code === 422 ? {} : { message }),
      causes,
    }
    return { code, ...(code < 400 ? {} : { refusal }) }
  }
  const object = jsonClone(body)
  const metadata = object['metadata'] as JsonObject
  // The last word about an object that goes with its last finalizer was never stored, and has what is dropped on the
  // way.
  if (metadata['deletionTimestamp'] !== undefined && metadata['finalizers'] === undefined) {
    for (const field of ['annotations', 'labels']) if (jsonEqual(metadata[field] ?? {}, {})) delete metadata[field]
  }
  for (const field of ADDRESSED) delete metadata[field]
  const spec = object['spec']
  for (const field of GIVEN_BY_CHANCE) if (isObject(spec) && spec[field] !== undefined) spec[field] = 'SOME'
  const owners: Record<string, unknown> = {}
  for (const { manager, operation, apiVersion, subresource, fieldsV1 } of ownersOf(body)) {
    owners[[manager, operation, apiVersion, subresource ?? ''].join(' ')] = fieldsV1
  }
  return { code, object, owners }
}

/**
 * Whether a history of a built-in kind has left what both servers promise: semantic validation is the real one's alone.
 */
function isBeyond(subject: Subject, real: Outcome): boolean {
  return subject.isBuiltin && real.code === 422
}

/** Throws at the first step whose answers differ, with everything needed to play it again. */
export function assertSame(
  { subject, steps }: { readonly subject: Subject; readonly steps: readonly Step[] },
  real: readonly Outcome[],
  ours: readonly Outcome[],
): void {
  for (const [index, theirs] of real.entries()) {
    if (isBeyond(subject, theirs)) return
    const mine = ours[index]!
    if (jsonEqual(comparable(theirs), comparable(mine))) continue
    const lines = steps.slice(0, index + 1).map((step, at) => `  ${at + 1}. ${JSON.stringify(step)}`)
    assert.fail(
      [
        `${subject.kind}: the answers to step ${index + 1} differ`,
        ...lines,
        ...differences(comparable(theirs), comparable(mine)).slice(0, MOST_LINES),
      ].join('\n'),
    )
  }
}

function comparable(outcome: Outcome): unknown {
  return JSON.parse(canonicalJson(outcome))
}

/** Where two values differ, one line each. */
export function differences(theirs: unknown, mine: unknown, path = ''): string[] {
  if (jsonEqual(theirs, mine)) return []
  if (isObject(theirs) && isObject(mine)) {
    const keys = new Set([...Object.keys(theirs), ...Object.keys(mine)])
    return [...keys].flatMap((key) => differences(theirs[key], mine[key], `${path}/${key}`))
  }
  return [`  at ${path}: the kube-apiserver's ${JSON.stringify(theirs)}, ours ${JSON.stringify(mine)}`]
}
