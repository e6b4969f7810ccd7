import { isObject, jsonEqual } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import { readPath, itemsAt, mapAt, textAt } from '../../kinds/builtin/read-path.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { Mutation } from '../server/admission.ts'
import type { ServerParts } from '../server/context.ts'
import { readObject } from '../storage/stored-object.ts'
import { forbidden } from '../http/api-errors.ts'

/** What a pod gets from the class of its runtime, and on which bad nodes it stays for a while. */

const STAYS = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'] as const

/** Lets a pod stay on a node that went away for five minutes, unless it says otherwise. */
function defaultTolerations(spec: JsonObject): void {
  const tolerations = itemsAt(spec, 'tolerations')
  const isSaid = (key: string) =>
    tolerations.some((it) => [key, ''].includes(textAt(it, 'key')) && ['NoExecute', ''].includes(textAt(it, 'effect')))
  const missing = STAYS.filter((key) => !isSaid(key)).map((key) => ({
    key,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: 300,
  }))
  spec['tolerations'] = [...tolerations, ...missing]
}

/** Gives a pod the overhead, the nodes and the tolerations of its class; returns why it may not be. */
function applyRuntimeClass(spec: JsonObject, runtime: UnknownObject | undefined): string | undefined {
  const overhead = readPath(runtime, 'overhead.podFixed')
  const own = spec['overhead']
  if (overhead === undefined) {
    if (own !== undefined) {
      return 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead'
    }
  } else {
    if (Object.keys(mapAt(spec, 'overhead')).length > 0 && !jsonEqual(own, overhead)) {
      return "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
    }
    spec['overhead'] = structuredClone(overhead)
  }
  if (readPath(runtime, 'scheduling') === undefined) return undefined
  const nodes = mapAt(runtime, 'scheduling.nodeSelector')
  const wanted = mapAt(spec, 'nodeSelector')
  for (const [key, value] of Object.entries(nodes)) {
    if (wanted[key] !== undefined && wanted[key] !== value) {
      return `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${String(value)}; pod.spec.nodeSelector[${key}] = ${textAt(wanted, key)}`
    }
  }
  if (Object.keys({ ...wanted, ...nodes }).length > 0) spec['nodeSelector'] = { ...wanted, ...nodes }
  const tolerations = merged([...itemsAt(spec, 'tolerations'), ...itemsAt(runtime, 'scheduling.tolerations')])
  if (tolerations.length > 0) spec['tolerations'] = tolerations
  return undefined
}

/** The tolerations that no other toleration covers; of equal tolerations the first. */
function merged(all: readonly JsonObject[]): JsonObject[] {
  const kept: JsonObject[] = []
  for (const [index, one] of all.entries()) {
    const isCovered =
      kept.some((other) => covers(other, one)) ||
      all.slice(index + 1).some((other) => !jsonEqual(other, one) && covers(other, one))
    if (!isCovered) kept.push(one)
  }
  return kept
}

function covers(wide: JsonObject, narrow: JsonObject): boolean {
  if (jsonEqual(wide, narrow)) return true
  const of = (toleration: JsonObject) => ({
    key: textAt(toleration, 'key'),
    effect: textAt(toleration, 'effect'),
    isAny: textAt(toleration, 'operator') === 'Exists',
    value: textAt(toleration, 'value'),
    seconds: toleration['tolerationSeconds'],
  })
  const [a, b] = [of(wide), of(narrow)]
  if (a.key !== b.key && (a.key !== '' || !a.isAny)) return false
  if (a.effect !== b.effect && a.effect !== '') return false
  const isShorter = a.seconds !== undefined && (b.seconds === undefined || Number(b.seconds) > Number(a.seconds))
  if (a.effect === 'NoExecute' && isShorter) return false
  return a.isAny || (!b.isAny && a.value === b.value)
}

/** Applies the RuntimeClass to new pods. Refuses pods whose class does not exist. */
export function runtimeClassAdmission({ store, registry }: Pick<ServerParts, 'store' | 'registry'>): Mutation {
  return async ({ kind, operation, subresource, object }) => {
    if (subresource !== undefined || kind.group !== '' || kind.kind !== 'Pod') return []
    if (!object || !isObject(object['spec']) || operation === 'DELETE') return []
    const { spec } = object
    defaultTolerations(spec)
    const classes = registry.find('node.k8s.io', 'v1', 'runtimeclasses')
    if (operation !== 'CREATE' || !classes) return []
    const name = textAt(spec, 'runtimeClassName')
    const stored = name === '' ? undefined : await readObject(store, classes, { name })
    const isMissing = name !== '' && !stored
    const why = isMissing
      ? `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`
      : applyRuntimeClass(spec, stored?.object)
    if (why !== undefined) throw forbidden(kind, object.metadata.name, why)
    return []
  }
}
