/** A set, ready to be applied: each object with what holds for it, in waves. Objects themselves stay on disk until they are written. */
import { digestOf } from '../../core/crypto/digest.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { isObject } from '../../core/json.ts'
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import type { HookRules } from '../../kinds/fields/hook.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { isSecret } from '../../kinds/redact-secret.ts'
import { wavesOf } from '../../plan/apply/apply-order.ts'
import type { Planned, Wave } from '../../plan/apply/apply-order.ts'
import { compileHealthRules } from '../../plan/health/health-rules.ts'
import type { ObjectRules } from '../../plan/health/health-rules.ts'
import { describeObject, objectKey } from '../../plan/objects/object-id.ts'
import { objectOptions } from '../../plan/objects/object-options.ts'
import type { ObjectOptions } from '../../plan/objects/object-options.ts'
import type { ObjectSet, SetObject } from '../../wire/document/cluster-document.ts'
import { WireError } from '../../wire/validate.ts'
import { idOf, ObjectFailure } from '../cluster/applier.ts'
import { AGENT_NAMESPACE } from '../cluster/cluster-state.ts'
import type { Content } from './content.ts'

/** One object of a set, or a namespace made for the others. */
export interface PlannedObject extends Planned {
  readonly key: string
  readonly options: ObjectOptions
  readonly from: SetObject | { readonly made: UnknownObject } | { readonly rendered: UnknownObject }
  /** The bundle's own rules about it; they need the whole object. */
  readonly rules?: ObjectRules
  /** The beginning of its digest; enough to see that it is the same. */
  readonly digest: string
  /** Where its secret values are. */
  readonly sealed?: { readonly set: Digest; readonly values: Digest }
}

/** A set, ready to be applied. */
export interface SetPlan {
  readonly options: BundleOptions
  readonly objects: readonly PlannedObject[]
  readonly byKey: ReadonlyMap<string, PlannedObject>
  readonly waves: readonly Wave<PlannedObject>[]
  /** What is run, and no part of what the cluster should have. */
  readonly hooks: readonly PlannedHook[]
  /** Its objects were made here, of the set's files and what is in the cluster. */
  readonly rendered?: RenderedHere
}

/** Of objects that were made here. */
export interface RenderedHere {
  /** The same for the same objects, and tells nothing of them. */
  readonly mark: string
  /** A sentence without any value that was read. */
  readonly hush: (sentence: string) => string
  /** Something that was read cannot be watched: when to read it again, on the monotonic clock. */
  readonly againAtMs?: number
}

/** A hook of a set. */
export interface PlannedHook extends PlannedObject {
  readonly hook: HookRules
}

// Every cluster has these.
const GIVEN_NAMESPACES = new Set(['default', 'kube-system', 'kube-public', 'kube-node-lease', AGENT_NAMESPACE])
/** How much of a digest is remembered. */
export const DIGEST_CHARS = 24

/** One object on its way into a plan. */
interface PlanItem extends Pick<PlannedObject, 'from' | 'digest' | 'sealed'> {
  readonly object: UnknownObject
  readonly hook?: HookRules | undefined
}

/** Puts a plan together, object by object. */
export function createPlanner(options: BundleOptions) {
  const judgement = compileHealthRules(options)
  if (!judgement.ok) throw new WireError('Malformed', `the bundle's options cannot be used: ${judgement.problem}`)
  const objects: PlannedObject[] = []
  const hooks: PlannedHook[] = []
  const shared = new Map<string, ObjectOptions>()
  return {
    add({ object, from, digest, sealed, hook }: PlanItem): void {
      const id = idOf(object)
      const read = objectOptions(options, object)
      if (!read.ok) throw new ObjectFailure(id, read.problem)
      // Most objects are treated alike: one value for all of them.
      const text = JSON.stringify(read.options)
      const mine = shared.get(text) ?? read.options
      shared.set(text, mine)
      const brings = broughtBy(object)
      const rules = judgement.rulesFor(id)
      const planned: PlannedObject = {
        ...id,
        key: objectKey(id),
        wave: mine.wave,
        options: mine,
        from,
        digest,
        ...(sealed ? { sealed } : {}),
        ...(brings ? { brings } : {}),
        ...(rules ? { rules } : {}),
      }
      const once = { ...mine, method: 'CreateOnly', takeover: 'Never' } as const
      if (hook) hooks.push({ ...planned, hook, wave: hook.weight, options: once })
      else objects.push(planned)
    },
    plan(): SetPlan {
      const all = [...objects, ...madeNamespaces(options, objects, hooks)]
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

/** Reads every object of a complete set once; `digest` is the set's. */
export async function planSet(set: ObjectSet, digest: Digest, content: Content, signal: AbortSignal): Promise<SetPlan> {
  const planner = createPlanner(set.options ?? {})
  for (const named of set.objects) {
    const sealed = sealedIn(set, digest, named)
    planner.add({
      object: await content.object(named, signal),
      from: named,
      digest: shortDigest(sealed ? digestOf(`${named.digest} ${sealed.values}`) : named.digest),
      ...(sealed ? { sealed } : {}),
      hook: named.hook,
    })
  }
  return planner.plan()
}

// Other values make it another object; that they were sealed again does not.
function sealedIn({ values }: ObjectSet, set: Digest, named: SetObject): PlannedObject['sealed'] {
  if (!named.sealed) return undefined
  if (values === undefined || !isSecret(named)) {
    throw new WireError('Malformed', `${describeObject(named)}: the set seals values that nothing can have`)
  }
  return { set, values }
}

function shortDigest(digest: Digest): string {
  return digest.slice('sha256:'.length, 'sha256:'.length + DIGEST_CHARS)
}

/** The object to write. */
export async function objectToWrite(
  planned: PlannedObject,
  content: Content,
  signal: AbortSignal,
): Promise<UnknownObject> {
  if ('made' in planned.from) return planned.from.made
  if ('rendered' in planned.from) return planned.from.rendered
  return planned.sealed ? content.opened(planned.from, planned.sealed, signal) : content.object(planned.from, signal)
}

function madeNamespaces(
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
      const metadata = { name, ...(labels ? { labels } : {}), ...(annotations ? { annotations } : {}) }
      const made: UnknownObject = { apiVersion: 'v1', kind: 'Namespace', metadata }
      const method = wantsMetadata ? 'ServerSideApply' : 'CreateOnly'
      const wave = Math.min(...inside.filter(({ namespace }) => namespace === name).map((object) => object.wave))
      const treatment: ObjectOptions = {
        wave,
        method,
        force: false,
        immutable: 'Fail',
        takeover: 'Always',
        ignore: [],
        drift: 'Correct',
      }
      const digest = JSON.stringify(metadata).slice(0, DIGEST_CHARS)
      return { ...idOf(made), key: objectKey(idOf(made)), wave, options: treatment, from: { made }, digest }
    })
}

function broughtBy(object: UnknownObject): PlannedObject['brings'] {
  if (object.kind !== 'CustomResourceDefinition' || !isObject(object['spec'])) return undefined
  const { group, names } = object['spec']
  const kind = isObject(names) ? names['kind'] : undefined
  return typeof group === 'string' && typeof kind === 'string' ? { group, kind } : undefined
}
