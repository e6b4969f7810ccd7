/**
 * Which objects of a bundle are hooks, by whose annotations, and when each runs. The tables here are those of
 * docs/hooks.md.
 *
 *   pre-* ─▶ waves, each with its `during` hooks ─▶ prune ─▶ post-*          failure: when one of these failed
 */
import { compact } from '../../core/compact.ts'
import { parseDuration } from '../../core/time/duration.ts'
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import { HOOK_DELETES, HOOK_EVENTS } from '../../kinds/fields/hook.ts'
import type { HookEvent, HookRules } from '../../kinds/fields/hook.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { applyRank } from './apply-order.ts'
import { describeObject, objectKey } from '../objects/object-id.ts'
import type { ObjectId } from '../objects/object-id.ts'

/** Annotations that make an object a hook. */
const HOOK_ANNOTATIONS = {
  on: 'flotilla.dev/hook',
  weight: 'flotilla.dev/hook-weight',
  delete: 'flotilla.dev/hook-delete',
  deadline: 'flotilla.dev/hook-deadline',
} as const

/** What an object is to a bundle. */
export type ReadHook =
  | { readonly kind: 'Object' }
  | { readonly kind: 'Hook'; readonly hook: HookRules }
  /** It is not for a cluster at all. */
  | { readonly kind: 'Skip'; readonly why: string }
  | { readonly kind: 'Wrong'; readonly problem: string }

type Events = readonly HookEvent[]
const PRE: Events = ['pre-install', 'pre-upgrade', 'pre-rollback']
const POST: Events = ['post-install', 'post-upgrade', 'post-rollback']

/** Our own words: every event by its name, and two short names. */
export const OWN_HOOKS: Readonly<Record<string, Events>> = {
  ...Object.fromEntries(HOOK_EVENTS.map((event) => [event, [event]])),
  pre: PRE,
  post: POST,
}

/** Helm's words; tests are not run, and CRDs of Helm 2 are objects like others. */
export const HELM_HOOKS: Readonly<Record<string, Events | 'Skip' | 'Object'>> = {
  'pre-install': ['pre-install'],
  'post-install': ['post-install'],
  'pre-upgrade': ['pre-upgrade'],
  'post-upgrade': ['post-upgrade'],
  'pre-rollback': ['pre-rollback'],
  'post-rollback': ['post-rollback'],
  'pre-delete': ['pre-delete'],
  'post-delete': ['post-delete'],
  test: 'Skip',
  'test-success': 'Skip',
  'test-failure': 'Skip',
  'crd-install': 'Object',
}

/** Argo CD's phases; every sync is one, whether something is installed, upgraded or taken back. */
export const ARGO_HOOKS: Readonly<Record<string, Events | 'Skip'>> = {
  PreSync: PRE,
  Sync: ['during'],
  PostSync: POST,
  SyncFail: ['failure'],
  PreDelete: ['pre-delete'],
  PostDelete: ['post-delete'],
  Skip: 'Skip',
}

/** What Argo CD makes of Helm's words. */
export const ARGO_HELM_HOOKS: Readonly<Record<string, Events | 'Skip' | 'Object'>> = {
  ...HELM_HOOKS,
  'pre-install': PRE,
  'pre-upgrade': PRE,
  'post-install': POST,
  'post-upgrade': POST,
  'pre-rollback': 'Skip',
  'post-rollback': 'Skip',
}

type Deletes = HookRules['delete']
const OWN_DELETES = Object.fromEntries(HOOK_DELETES.map((word) => [word, word]))
const HELM_DELETES: Readonly<Record<string, Deletes[number]>> = {
  'before-hook-creation': 'before-creation',
  'hook-succeeded': 'succeeded',
  'hook-failed': 'failed',
}
const ARGO_DELETES: Readonly<Record<string, Deletes[number]>> = {
  BeforeHookCreation: 'before-creation',
  HookSucceeded: 'succeeded',
  HookFailed: 'failed',
}

interface Style {
  readonly on: string
  readonly weight: readonly string[]
  readonly delete: string
  readonly words: Readonly<Record<string, Events | 'Skip' | 'Object'>>
  readonly deletes: Readonly<Record<string, Deletes[number]>>
  /** Whether words count in any case, as Helm reads them. */
  readonly anyCase?: boolean
}

const OWN: Style = {
  on: HOOK_ANNOTATIONS.on,
  weight: [HOOK_ANNOTATIONS.weight],
  delete: HOOK_ANNOTATIONS.delete,
  words: OWN_HOOKS,
  deletes: OWN_DELETES,
}
const HELM: Style = {
  on: 'helm.sh/hook',
  weight: ['helm.sh/hook-weight'],
  delete: 'helm.sh/hook-delete-policy',
  words: HELM_HOOKS,
  deletes: HELM_DELETES,
  anyCase: true,
}
const ARGO: Style = {
  on: 'argocd.argoproj.io/hook',
  weight: ['argocd.argoproj.io/sync-wave', 'helm.sh/hook-weight'],
  delete: 'argocd.argoproj.io/hook-delete-policy',
  words: ARGO_HOOKS,
  deletes: ARGO_DELETES,
}
const ARGO_HELM: Style = { ...HELM, words: ARGO_HELM_HOOKS, weight: ARGO.weight }

/** By whose annotations, in this order; the first that an object has counts. */
const STYLES = { Helm: [OWN, HELM], Argo: [OWN, ARGO, ARGO_HELM] } as const

/** Reads what an object is. */
export function readHook(bundle: BundleOptions, object: UnknownObject): ReadHook {
  const annotations = object.metadata.annotations ?? {}
  const style = STYLES[bundle.dialect ?? 'Helm'].find(({ on }) => annotations[on] !== undefined)
  if (!style) return { kind: 'Object' }
  const wrong = (annotation: string, wanted: string): ReadHook => ({
    kind: 'Wrong',
    problem: `${describeObject(idOf(object))}: annotation ${annotation} is ${JSON.stringify(annotations[annotation])}; write ${wanted}`,
  })
  const words = listed(annotations[style.on]!, style)
  const unknown = words.length === 0 || words.some((word) => !Object.hasOwn(style.words, word))
  if (unknown) return wrong(style.on, `some of ${Object.keys(style.words).join(', ')}`)
  const meanings = words.map((word) => style.words[word]!)
  if (meanings.includes('Object')) return { kind: 'Object' }
  const on = [...new Set(meanings.flatMap((meaning) => (typeof meaning === 'string' ? [] : meaning)))]
  if (on.length === 0) return { kind: 'Skip', why: `${style.on}: ${annotations[style.on]}` }
  if (bundle.hooks === 'Skip') return { kind: 'Skip', why: 'the bundle runs no hooks' }
  const weights = style.weight.map((name) => annotations[name]).filter((text) => text !== undefined)
  const weight = weights.find((text) => /^[+-]?\d{1,9}$/.test(text))
  // Helm and Argo CD read what is no number as 0; of our own it is a mistake.
  if (style === OWN && weights.length > 0 && weight === undefined) {
    return wrong(HOOK_ANNOTATIONS.weight, 'a whole number such as "-1" or "10"')
  }
  const policies = annotations[style.delete] === undefined ? [] : listed(annotations[style.delete]!, style)
  if (policies.some((word) => !Object.hasOwn(style.deletes, word))) {
    return wrong(style.delete, `some of ${Object.keys(style.deletes).join(', ')}`)
  }
  const deadline = annotations[HOOK_ANNOTATIONS.deadline]
  const deadlineMs = deadline === undefined ? undefined : parseDuration(deadline)
  if (deadline !== undefined && (deadlineMs === undefined || deadlineMs < 1000)) {
    return wrong(HOOK_ANNOTATIONS.deadline, 'a duration of a second or more, such as 10m')
  }
  const deletes: Deletes = policies.length === 0 ? ['before-creation'] : policies.map((word) => style.deletes[word]!)
  return {
    kind: 'Hook',
    hook: compact({
      on: inOrder(HOOK_EVENTS, on),
      weight: Number(weight ?? 0) + 0,
      delete: inOrder(HOOK_DELETES, deletes),
      deadlineSeconds: deadlineMs === undefined ? undefined : Math.floor(deadlineMs / 1000),
    }),
  }
}

/** Objects of a bundle without the objects that are not for a cluster, and which of them are hooks, by key. */
export type SortedHooks =
  | { readonly ok: true; readonly objects: readonly UnknownObject[]; readonly hooks: ReadonlyMap<string, HookRules> }
  | { readonly ok: false; readonly problem: string }

/** Tells hooks from objects. */
export function sortHooks(bundle: BundleOptions, objects: readonly UnknownObject[]): SortedHooks {
  const kept: UnknownObject[] = []
  const hooks = new Map<string, HookRules>()
  for (const object of objects) {
    const read = readHook(bundle, object)
    if (read.kind === 'Wrong') return { ok: false, problem: read.problem }
    if (read.kind === 'Skip') continue
    kept.push(object)
    if (read.kind === 'Hook') hooks.set(objectKey(idOf(object)), read.hook)
  }
  return { ok: true, objects: kept, hooks }
}

/** Hooks of a moment in the order they run: by weight, then what others need first, then by name. */
export function hookOrder<T extends ObjectId & { readonly hook: HookRules }>(
  hooks: readonly T[],
  event: HookEvent,
): T[] {
  return hooks
    .filter(({ hook }) => hook.on.includes(event))
    .toSorted((a, b) => a.hook.weight - b.hook.weight || applyRank(a) - applyRank(b) || (a.name < b.name ? -1 : 1))
}

function listed(text: string, { anyCase }: Style): string[] {
  const words = text.split(',').map((word) => word.trim())
  return words.filter((word) => word !== '').map((word) => (anyCase ? word.toLowerCase() : word))
}

function inOrder<const T extends string>(all: readonly T[], some: readonly T[]): T[] {
  return all.filter((word) => some.includes(word))
}

function idOf({ apiVersion, kind, metadata: { name, namespace } }: UnknownObject): ObjectId {
  return compact({ apiVersion, kind, name, namespace })
}
