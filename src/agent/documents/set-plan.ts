// Tested by src/agent/bundles/operation.contract.test.ts
/**
 * The plan of a set: each object with its options, in waves. The objects themselves stay on disk until they are
 * written.
 */
import { compact } from '../../core/compact.ts'
import { digestOf } from '../../core/crypto/digest.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { isObject } from '../../core/json.ts'
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import type { HookRules } from '../../kinds/fields/hook.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { isSecret } from '../../kinds/redact-secret.ts'
import { compileHealthCheck } from '../../lua/health-check.ts'
import { wavesOf } from '../../plan/apply/apply-order.ts'
import type { Planned, Wave } from '../../plan/apply/apply-order.ts'
import { compileHealthRules } from '../../plan/health/health-rules.ts'
import type { ObjectRules } from '../../plan/health/health-rules.ts'
import { describeObject, objectKey } from '../../plan/objects/object-id.ts'
import { objectOptions } from '../../plan/objects/object-options.ts'
import type { ObjectOptions } from '../../plan/objects/object-options.ts'
import type { ObjectSet, SetObject } from '../../wire/document/cluster-document.ts'
import { WireError } from '../../wire/validate.ts'
import { objectIdOf } from '../cluster/object-address.ts'
import { ObjectFailure } from '../cluster/object-failure.ts'
import { AGENT_NAMESPACE } from '../cluster/agent-objects.ts'
import type { Content } from './content.ts'

/** An object of a set, or a namespace that the agent creates for the objects of the set. */
export interface PlannedObject extends Planned {
  readonly key: string
  readonly options: ObjectOptions
  readonly from: SetObject | { readonly made: UnknownObject } | { readonly rendered: UnknownObject }
  /** The bundle's health rules for the object; they need the whole object. */
  readonly rules?: ObjectRules
  /** The beginning of the object's digest, enough to see that the content is the same. */
  readonly digest: string
  /** The sealed values of a Secret. */
  readonly sealed?: { readonly set: Digest; readonly values: Digest }
}

/** A set, ready to be applied: the options of the bundle, the objects by key and by wave, and the hooks. */
export interface SetPlan {
  readonly options: BundleOptions
  readonly objects: readonly PlannedObject[]
  readonly byKey: ReadonlyMap<string, PlannedObject>
  readonly waves: readonly Wave<PlannedObject>[]
  /** Hooks run in the operation, and are no part of the inventory. */
  readonly hooks: readonly PlannedHook[]
  /** Policies that the agent evaluates instead of applying them; present for a set of checks. */
  readonly checks?: readonly UnknownObject[]
  /** Present for a recipe, whose objects the agent rendered. */
  readonly rendered?: RenderedHere
}

/** A rendering in the cluster. */
export interface RenderedHere {
  /** Equal for equal objects; reveals nothing about them. */
  readonly mark: string
  /** Removes every value that the rendering read from a message. */
  readonly redact: (sentence: string) => string
  /** Monotonic time of the next rendering, when an object that was read cannot be watched. */
  readonly againAtMs?: number
}

export interface PlannedHook extends PlannedObject {
  readonly hook: HookRules
}

// Namespaces that every cluster has.
const GIVEN_NAMESPACES = new Set(['default', 'kube-system', 'kube-public', 'kube-node-lease', AGENT_NAMESPACE])
/** Number of characters of a digest that the inventory keeps. */
export const DIGEST_CHARS = 24

interface PlanItem extends Pick<PlannedObject, 'from' | 'digest' | 'sealed'> {
  readonly object: UnknownObject
  readonly hook?: HookRules | undefined
}

/** Builds a plan object by object. */
export function createPlanner(options: BundleOptions) {
  const health = compileHealthRules(options, compileHealthCheck)
  if (!health.ok) throw new WireError('Malformed', `the options of the bundle are not valid: ${health.problem}`)
  const objects: PlannedObject[] = []
  const hooks: PlannedHook[] = []
  const shared = new Map<string, ObjectOptions>()
  return {
    add({ object, from, digest, sealed, hook }: PlanItem): void {
      const id = objectIdOf(object)
      const read = objectOptions(options, object)
      if (!read.ok) throw new ObjectFailure(id, read.problem)
      // Most objects have equal options: one value in memory for all of them.
      const text = JSON.stringify(read.options)
      const mine = shared.get(text) ?? read.options
      shared.set(text, mine)
      const brings = kindBroughtBy(object)
      const rules = health.rulesFor(id)
      const planned: PlannedObject = {
        ...id,
        key: objectKey(id),
        wave: mine.wave,
        options: mine,
        from,
        digest,
        ...compact({ sealed, brings, rules }),
      }
      const once = { ...mine, method: 'CreateOnly', takeover: 'Never' } as const
      if (hook) hooks.push({ ...planned, hook, wave: hook.weight, options: once })
      else objects.push(planned)
    },
    plan(): SetPlan {
      const all = [...objects, ...namespacesToCreate(options, objects, hooks)]
      return {
        options,
        objects: all,
        byKey: new Map(all.map((object) => [object.key, object])),
        waves: wavesOf(
          all,
          hooks.filter(({ hook }) => hook.on.includes('during')).map(({ hook }) => hook.weight),
        ),
        hooks,
      }
    },
  }
}

/** Plans a complete set; reads every object once. */
export async function planSet(set: ObjectSet, digest: Digest, content: Content, signal: AbortSignal): Promise<SetPlan> {
  const planner = createPlanner(set.options ?? {})
  if (set.options?.checks) {
    const checks: UnknownObject[] = []
    for (const named of set.objects) checks.push(await content.object(named, signal))
    return { ...planner.plan(), checks }
  }
  for (const named of set.objects) {
    const sealed = findSealed(set, digest, named)
    planner.add({
      object: await content.object(named, signal),
      from: named,
      digest: shortDigest(sealed ? digestOf(`${named.digest} ${sealed.values}`) : named.digest),
      ...compact({ sealed }),
      hook: named.hook,
    })
  }
  return planner.plan()
}

// The digest of a Secret changes with its values, and not when the same values are sealed again.
function findSealed({ values }: ObjectSet, set: Digest, named: SetObject): PlannedObject['sealed'] {
  if (!named.sealed) return undefined
  if (values === undefined || !isSecret(named)) {
    throw new WireError(
      'Malformed',
      `${describeObject(named)}: the set seals values of an object that is not a Secret, or has no values`,
    )
  }
  return { set, values }
}

function shortDigest(digest: Digest): string {
  return digest.slice('sha256:'.length, 'sha256:'.length + DIGEST_CHARS)
}

/** The object to write, with its secret values. */
export async function objectToWrite(
  planned: PlannedObject,
  content: Content,
  signal: AbortSignal,
): Promise<UnknownObject> {
  if ('made' in planned.from) return planned.from.made
  if ('rendered' in planned.from) return planned.from.rendered
  return planned.sealed ? content.opened(planned.from, planned.sealed, signal) : content.object(planned.from, signal)
}

function namespacesToCreate(
  options: BundleOptions,
  objects: readonly PlannedObject[],
  hooks: readonly PlannedHook[],
): PlannedObject[] {
  const { create, labels, annotations } = options.namespaces ?? {}
  const wantsMetadata = labels !== undefined || annotations !== undefined
  if (create !== true && !wantsMetadata) return []
  const brought = new Set(objects.filter(({ kind }) => kind === 'Namespace').map(({ name }) => name))
  const inside = [...objects, ...hooks]
  const names = new Set(inside.flatMap(({ namespace }) => (namespace === undefined ? [] : [namespace])))
  return [...names]
    .filter((name) => !GIVEN_NAMESPACES.has(name) && !brought.has(name))
    .map((name): PlannedObject => {
      const metadata = { name, ...compact({ labels, annotations }) }
      const made: UnknownObject = { apiVersion: 'v1', kind: 'Namespace', metadata }
      const method = wantsMetadata ? 'ServerSideApply' : 'CreateOnly'
      const wave = Math.min(...inside.filter(({ namespace }) => namespace === name).map((object) => object.wave))
      const given: ObjectOptions = {
        wave,
        method,
        force: false,
        immutable: 'Fail',
        takeover: 'Always',
        ignore: [],
        drift: 'Correct',
      }
      const digest = JSON.stringify(metadata).slice(0, DIGEST_CHARS)
      return { ...objectIdOf(made), key: objectKey(objectIdOf(made)), wave, options: given, from: { made }, digest }
    })
}

function kindBroughtBy(object: UnknownObject): PlannedObject['brings'] {
  if (object.kind !== 'CustomResourceDefinition' || !isObject(object['spec'])) return undefined
  const { group, names } = object['spec']
  const kind = isObject(names) ? names['kind'] : undefined
  return typeof group === 'string' && typeof kind === 'string' ? { group, kind } : undefined
}
