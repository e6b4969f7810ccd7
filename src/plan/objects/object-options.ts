/** What holds for an object: the bundle's options, then the object's own annotations, which win. */
import { compact } from '../../core/compact.ts'
import { parseDuration } from '../../core/time/duration.ts'
import {
  APPLY_METHODS,
  DELETE_POLICIES,
  DRIFT_MODES,
  IMMUTABLE,
  PRUNE_MODES,
  TAKEOVER,
} from '../../kinds/fields/bundle-options.ts'
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { ownAnnotations } from './foreign-annotations.ts'
import { ignoreRulesFor } from './ignored-fields.ts'
import type { IgnoreRule } from './ignored-fields.ts'
import { describeObject, selects } from './object-id.ts'
import type { ObjectId } from './object-id.ts'

/** Annotations by which an object says how it wants to be treated. */
const ANNOTATIONS = {
  wave: 'flotilla.dev/wave',
  apply: 'flotilla.dev/apply',
  force: 'flotilla.dev/force',
  immutable: 'flotilla.dev/immutable',
  takeover: 'flotilla.dev/takeover',
  prune: 'flotilla.dev/prune',
  delete: 'flotilla.dev/delete',
  ignore: 'flotilla.dev/ignore',
  drift: 'flotilla.dev/drift',
} as const

/** On a live object, set by a person: it may be pruned although its mode is Confirm. */
export const CONFIRM_PRUNE = 'flotilla.dev/confirm-prune'

/** What holds for an object. */
export interface ObjectOptions {
  readonly wave: number
  readonly method: (typeof APPLY_METHODS)[number]
  readonly force: boolean
  readonly immutable: (typeof IMMUTABLE)[number]
  readonly takeover: (typeof TAKEOVER)[number]
  /** Only what the object itself says; the bundle's mode is asked for when it leaves the set. */
  readonly prune?: (typeof PRUNE_MODES)[number]
  readonly delete?: (typeof DELETE_POLICIES)[number]
  readonly ignore: readonly IgnoreRule[]
  readonly drift: (typeof DRIFT_MODES)[number]
  /** Managers of an adopted object keep the fields that the bundle applies with the same value. */
  readonly keepsManagers?: boolean
}

/** The options, or a sentence that says which annotation is wrong. */
export type ReadOptions =
  | { readonly ok: true; readonly options: ObjectOptions }
  | { readonly ok: false; readonly problem: string }

/** How long a wave may take unless the bundle says. */
const DEFAULT_TIMEOUT_MS = 5 * 60_000

/** Reads what holds for an object. */
export function objectOptions(bundle: BundleOptions, object: UnknownObject): ReadOptions {
  const annotations = ownAnnotations(bundle, object.metadata.annotations ?? {})
  const id: ObjectId = compact({
    apiVersion: object.apiVersion,
    kind: object.kind,
    name: object.metadata.name,
    namespace: object.metadata.namespace,
  })
  const problems: string[] = []
  const refuse = (name: keyof typeof ANNOTATIONS, wanted: string): undefined => {
    const value = JSON.stringify(annotations[ANNOTATIONS[name]])
    problems.push(`${describeObject(id)}: annotation ${ANNOTATIONS[name]} is ${value}; write ${wanted}`)
    return undefined
  }
  const word = <const V extends readonly string[]>(name: keyof typeof ANNOTATIONS, words: V): V[number] | undefined => {
    const value = annotations[ANNOTATIONS[name]]
    if (value === undefined) return undefined
    return words.find((known) => known === value) ?? refuse(name, `one of ${words.join(', ')}`)
  }
  const wave = annotations[ANNOTATIONS.wave] ?? '0'
  if (!/^-?\d{1,6}$/.test(wave)) refuse('wave', 'a whole number such as "-1" or "10"')
  const ignore = ignoreRulesFor(bundle.ignore ?? [], id, annotations[ANNOTATIONS.ignore])
  if (!ignore.ok) problems.push(`${describeObject(id)}: ${ignore.problem}`)
  const own = bundle.apply?.objects?.find((rule) => selects(rule, id))
  const force = word('force', ['true', 'false'])
  const prune = word('prune', PRUNE_MODES)
  const onDelete = word('delete', DELETE_POLICIES)
  const options: ObjectOptions = compact({
    wave: Number(wave),
    method: word('apply', APPLY_METHODS) ?? own?.method ?? bundle.apply?.method ?? 'ServerSideApply',
    force: force === undefined ? (own?.force ?? bundle.apply?.force ?? false) : force === 'true',
    immutable: word('immutable', IMMUTABLE) ?? bundle.apply?.immutable ?? 'Fail',
    takeover: word('takeover', TAKEOVER) ?? bundle.apply?.takeover ?? 'Always',
    prune,
    delete: onDelete,
    ignore: ignore.ok ? ignore.rules : [],
    drift: word('drift', DRIFT_MODES) ?? bundle.drift?.mode ?? 'Correct',
  })
  return problems.length > 0 ? { ok: false, problem: problems.join('; ') } : { ok: true, options }
}

/** How long a wave of the bundle may take. */
export function waveTimeoutMs(bundle: BundleOptions): number {
  const { timeout } = bundle.apply ?? {}
  return (timeout === undefined ? undefined : parseDuration(timeout)) ?? DEFAULT_TIMEOUT_MS
}

// Data and everything inside goes with these: only an explicit word removes them.
const KEPT_KINDS = new Set([
  '/Namespace',
  'apiextensions.k8s.io/CustomResourceDefinition',
  '/PersistentVolume',
  '/PersistentVolumeClaim',
])

/** Whether an object of this kind is deleted only when it is named. */
export function isKeptKind(id: ObjectId): boolean {
  const group = id.apiVersion.includes('/') ? id.apiVersion.split('/')[0]! : ''
  return KEPT_KINDS.has(`${group}/${id.kind}`)
}

/** Whether the bundle names an object that is otherwise kept. */
export function isNamed(bundle: BundleOptions, id: ObjectId): boolean {
  return (bundle.delete?.named ?? []).some((rule) => selects(rule, id))
}

/** Whether the bundle has a rule that orphans an object. */
export function isOrphaned(bundle: BundleOptions, id: ObjectId): boolean {
  return (bundle.delete?.orphan ?? []).some((rule) => selects(rule, id))
}
