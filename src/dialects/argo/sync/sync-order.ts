/**
 * The tasks of a sync in Argo CD's order: phase, wave, kind, name, with namespaces and definitions before their users.
 */
import { compact } from '../../../core/compact.ts'
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import { compareStrings } from '../../../render/gotemplate/go-string.ts'

/** An object of a sync. */
export interface SyncObject {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata?: {
    readonly name?: string
    readonly generateName?: string
    readonly namespace?: string
    readonly uid?: string
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly spec?: unknown
}

/** What a sync starts from. */
export interface SyncInput {
  readonly targets: readonly SyncObject[]
  readonly live: readonly SyncObject[]
  readonly namespace: string
  readonly revision: string
  readonly startedMs: number
  /** `Kind.group` of kinds without a namespace. */
  readonly clusterScoped: ReadonlySet<string>
  /** `Kind.group` of kinds that the cluster does not know yet. */
  readonly unknownKinds?: ReadonlySet<string>
  readonly createNamespace?: boolean
  readonly pruneLast?: boolean
  readonly skipHooks?: boolean
}

/** A phase, in its order. */
export type SyncPhase = 'PreSync' | 'Sync' | 'PostSync' | 'SyncFail'

/** A step of a sync. */
export interface SyncTask {
  readonly phase: SyncPhase
  readonly wave: number
  readonly group: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly isHook: boolean
  readonly isPrune: boolean
  readonly hasLive: boolean
  /** Whether the definition of its kind comes with the sync, so that it cannot be tried before. */
  readonly skipsDryRun: boolean
}

/** The tasks; with a kind that stays unknown the sync fails. */
export interface OrderedSync {
  readonly tasks: readonly SyncTask[]
  readonly allKnown: boolean
}

interface Task {
  phase: SyncPhase
  readonly target?: SyncObject
  live?: SyncObject
  waveOverride?: number
  skipsDryRun?: boolean
}

const HOOK = 'argocd.argoproj.io/hook'
const WAVE = 'argocd.argoproj.io/sync-wave'
const OPTIONS = 'argocd.argoproj.io/sync-options'
const PHASES: readonly SyncPhase[] = ['PreSync', 'Sync', 'PostSync', 'SyncFail']
const HELM_HOOKS: Readonly<Record<string, SyncPhase>> = {
  'pre-install': 'PreSync',
  'pre-upgrade': 'PreSync',
  'post-upgrade': 'PostSync',
  'post-install': 'PostSync',
}
const KINDS = [
  'Namespace',
  'NetworkPolicy',
  'ResourceQuota',
  'LimitRange',
  'PodSecurityPolicy',
  'PodDisruptionBudget',
  'ServiceAccount',
  'Secret',
  'SecretList',
  'ConfigMap',
  'StorageClass',
  'PersistentVolume',
  'PersistentVolumeClaim',
  'CustomResourceDefinition',
  'ClusterRole',
  'ClusterRoleList',
  'ClusterRoleBinding',
  'ClusterRoleBindingList',
  'Role',
  'RoleList',
  'RoleBinding',
  'RoleBindingList',
  'Service',
  'DaemonSet',
  'Pod',
  'ReplicationController',
  'ReplicaSet',
  'Deployment',
  'HorizontalPodAutoscaler',
  'StatefulSet',
  'Job',
  'CronJob',
  'IngressClass',
  'Ingress',
  'APIService',
]
const KIND_ORDER = new Map(KINDS.map((kind, at) => [kind, at - KINDS.length]))

/** Puts the tasks of a sync in order. */
export function orderSync(input: SyncInput): OrderedSync {
  const wanted = input.targets.filter((object) => !(isHook(object) && hookTypes(object).length === 0))
  const hooks = wanted.filter(isHook)
  const pairs = pairWithLive(
    wanted.filter((object) => !isHook(object)),
    input,
  )
  const tasks = resourceTasks(pairs)
  if (input.skipHooks !== true) tasks.push(...hooks.flatMap((hook) => hookTasks(hook, input)))
  const named = tasks.map((task) => withNamespace(task, input.namespace))
  if (
    input.createNamespace === true &&
    input.namespace !== '' &&
    !pairs.some(([target]) => isNamespace(target, input))
  ) {
    named.push({
      phase: 'PreSync',
      target: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: input.namespace } },
    })
  }
  for (const task of named) {
    const live = task.target && !task.live ? liveOf(task.target, pairs) : undefined
    if (live) task.live = live
  }
  const allKnown = checkKinds(named, input)
  mirrorPruneWaves(named)
  delayPrunes(named, input.pruneLast === true)
  return { tasks: sortTasks(named).map(taskOf), allKnown }
}

function objectOf(task: Task): SyncObject {
  return task.target ?? task.live!
}

function groupOf({ apiVersion = '' }: SyncObject): string {
  return apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
}

function groupKind(object: SyncObject): string {
  const group = groupOf(object)
  return group === '' ? (object.kind ?? '') : `${object.kind ?? ''}.${group}`
}

function annotationsOf({ metadata }: SyncObject): Readonly<Record<string, string>> {
  return metadata?.annotations ?? {}
}

function listedIn(object: SyncObject, annotation: string): string[] {
  const words = (annotationsOf(object)[annotation] ?? '').split(',').map((word) => word.trim())
  return [...new Set(words.filter((word) => word !== ''))]
}

function hookTypes(object: SyncObject): string[] {
  const own = listedIn(object, HOOK).filter((word) => word === 'Skip' || (PHASES as readonly string[]).includes(word))
  if (own.length > 0) return own
  return listedIn(object, 'helm.sh/hook').flatMap((word) => (Object.hasOwn(HELM_HOOKS, word) ? HELM_HOOKS[word]! : []))
}

function isSkipped(object: SyncObject): boolean {
  const types = hookTypes(object)
  return types.length === 1 && types[0] === 'Skip'
}

function isHook(object: SyncObject): boolean {
  const annotations = annotationsOf(object)
  if (annotations[HOOK] !== undefined) return !isSkipped(object)
  const helm = annotations['helm.sh/hook']
  return helm !== undefined && helm !== 'crd-install'
}

function phasesOf(object: SyncObject): SyncPhase[] {
  if (isSkipped(object)) return []
  if (!isHook(object)) return ['Sync']
  const types = new Set(hookTypes(object))
  return PHASES.filter((phase) => types.has(phase))
}

function numberIn(text: string | undefined): number | undefined {
  return text !== undefined && /^[+-]?\d{1,18}$/.test(text) ? Number(text) : undefined
}

function waveOf(task: Task): number {
  if (task.waveOverride !== undefined) return task.waveOverride
  const annotations = annotationsOf(objectOf(task))
  return numberIn(annotations[WAVE]) ?? numberIn(annotations['helm.sh/hook-weight']) ?? 0
}

type Pair = readonly [target: SyncObject | undefined, live: SyncObject | undefined]

function keyOf(object: SyncObject, namespace: string): string {
  return JSON.stringify([groupOf(object), object.kind ?? '', namespace, object.metadata?.name ?? ''])
}

/** Each wanted object with its live one, then live objects that no one wants any more. */
function pairWithLive(targets: readonly SyncObject[], input: SyncInput): Pair[] {
  const byKey = new Map(input.live.map((object) => [keyOf(object, object.metadata?.namespace ?? ''), object]))
  const pairs = targets.map((target): Pair => {
    const own = target.metadata?.namespace ?? ''
    const namespace = own === '' ? input.namespace : own
    const isUnknown = input.unknownKinds?.has(groupKind(target)) === true
    const isCluster = input.clusterScoped.has(groupKind(target))
    const keys = [
      ...(isUnknown || !isCluster ? [keyOf(target, namespace)] : []),
      ...(isUnknown || isCluster ? [keyOf(target, '')] : []),
    ]
    const key = keys.find((one) => byKey.has(one))
    if (key === undefined) return [target, undefined]
    const live = byKey.get(key)
    byKey.delete(key)
    return [target, live]
  })
  return [...pairs, ...[...byKey.values()].map((live): Pair => [undefined, live])]
}

function resourceTasks(pairs: readonly Pair[]): Task[] {
  return pairs.flatMap(([target, live]) => {
    const object = (target ?? live)!
    if (isHook(object)) return []
    return phasesOf(object).map((phase): Task => compact({ phase, target, live }))
  })
}

function hookTasks(hook: SyncObject, { revision, startedMs }: SyncInput): Task[] {
  return phasesOf(hook).map((phase): Task => {
    if ((hook.metadata?.name ?? '') !== '') return { phase, target: hook }
    const short = revision.length >= 8 ? revision.slice(0, 7) : revision
    const postfix = `${short}-${phase}-${Math.floor(startedMs / 1000)}`.toLowerCase()
    const name = `${hook.metadata?.generateName ?? ''}${postfix}`
    return { phase, target: { ...hook, metadata: { ...hook.metadata, name } } }
  })
}

/** Cluster-wide objects get the namespace, too: Argo CD does not ask for the scope here. */
function withNamespace(task: Task, namespace: string): Task {
  if (!task.target || (task.target.metadata?.namespace ?? '') !== '') return task
  return { ...task, target: { ...task.target, metadata: { ...task.target.metadata, namespace } } }
}

function isNamespace(object: SyncObject | undefined, { namespace }: SyncInput): boolean {
  return object?.kind === 'Namespace' && groupOf(object) === '' && object.metadata?.name === namespace
}

function liveOf(target: SyncObject, pairs: readonly Pair[]): SyncObject | undefined {
  const found = pairs.find(([wanted, live]) => {
    const key = (wanted ?? live)!
    const namespace = (live ?? wanted)!.metadata?.namespace ?? ''
    return (
      groupKind(key) === groupKind(target) &&
      (namespace === '' || namespace === (target.metadata?.namespace ?? '')) &&
      key.metadata?.name === target.metadata?.name
    )
  })
  return found?.[1]
}

function definedKind(object: SyncObject): string | undefined {
  if (object.kind !== 'CustomResourceDefinition' || groupOf(object) !== 'apiextensions.k8s.io') return undefined
  const spec = isObject(object.spec) ? object.spec : {}
  const names: JsonObject = isObject(spec['names']) ? spec['names'] : {}
  if (typeof spec['group'] !== 'string' || typeof names['kind'] !== 'string') return undefined
  return `${spec['group']}/${names['kind']}`
}

/** Whether all kinds are known, or come with the sync. */
function checkKinds(tasks: readonly Task[], { unknownKinds }: SyncInput): boolean {
  const defined = new Set(tasks.flatMap(({ target }) => (target ? (definedKind(target) ?? []) : [])))
  let allKnown = true
  for (const task of tasks) {
    const object = objectOf(task)
    if (unknownKinds?.has(groupKind(object)) !== true) continue
    const isTolerated = task.target && listedIn(task.target, OPTIONS).includes('SkipDryRunOnMissingResource=true')
    if (isTolerated === true || defined.has(`${groupOf(object)}/${object.kind ?? ''}`)) task.skipsDryRun = true
    else allKnown = false
  }
  return allKnown
}

/** Objects leave in the opposite order of their waves: first and last wave change places, and so on. */
function mirrorPruneWaves(tasks: readonly Task[]): void {
  const prunes = tasks.filter(({ target }) => !target)
  const waves = [...new Set(prunes.map(waveOf))].toSorted((a, b) => a - b)
  const mirrored = new Map(waves.map((wave, at) => [wave, waves[waves.length - 1 - at]!]))
  for (const task of prunes) task.waveOverride = mirrored.get(waveOf(task))!
}

function delayPrunes(tasks: readonly Task[], allLast: boolean): void {
  const last = Math.max(0, ...tasks.filter(({ phase }) => phase === 'Sync').map(waveOf)) + 1
  for (const task of tasks) {
    if (!task.target && (allLast || listedIn(task.live!, OPTIONS).includes('PruneLast=true'))) task.waveOverride = last
  }
}

function compareTasks(a: Task, b: Task): number {
  const [first, second] = [objectOf(a), objectOf(b)]
  return (
    PHASES.indexOf(a.phase) - PHASES.indexOf(b.phase) ||
    waveOf(a) - waveOf(b) ||
    (KIND_ORDER.get(first.kind ?? '') ?? 0) - (KIND_ORDER.get(second.kind ?? '') ?? 0) ||
    compareStrings(first.metadata?.name ?? '', second.metadata?.name ?? '')
  )
}

function sortTasks(tasks: readonly Task[]): Task[] {
  const sorted = tasks.toSorted(compareTasks)
  bubble(sorted, {
    provides: (object) => (object.kind === 'Namespace' && groupOf(object) === '' ? object.metadata?.name : undefined),
    needs: ({ metadata }) => (metadata?.namespace === '' ? undefined : metadata?.namespace),
  })
  bubble(sorted, { provides: definedKind, needs: (object) => `${groupOf(object)}/${object.kind ?? ''}` })
  return sorted
}

/** Moves what others need before the first that needs it, into its phase and wave. */
function bubble(
  tasks: Task[],
  rule: { provides(object: SyncObject): string | undefined; needs(object: SyncObject): string | undefined },
): void {
  const firstUse = new Map<string, number>()
  for (let at = 0; at < tasks.length; at++) {
    const task = tasks[at]!
    if (!task.target) continue
    const provided = rule.provides(task.target)
    if (provided === undefined) {
      const needed = rule.needs(task.target)
      if (needed !== undefined && !firstUse.has(needed)) firstUse.set(needed, at)
      continue
    }
    const index = firstUse.get(provided)
    if (index === undefined) continue
    const user = tasks[index]!
    task.waveOverride = waveOf(user)
    task.phase = user.phase
    tasks.splice(at, 1)
    tasks.splice(index, 0, task)
    for (const [key, first] of firstUse) if (first >= index) firstUse.set(key, first + 1)
  }
}

function taskOf(task: Task): SyncTask {
  const object = objectOf(task)
  return {
    phase: task.phase,
    wave: waveOf(task),
    group: groupOf(object),
    kind: object.kind ?? '',
    namespace: object.metadata?.namespace ?? '',
    name: object.metadata?.name ?? '',
    isHook: isHook(object),
    isPrune: !task.target,
    hasLive: task.live !== undefined,
    skipsDryRun: task.skipsDryRun === true,
  }
}
