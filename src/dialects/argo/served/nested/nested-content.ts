// Tested by src/dialects/argo/served/nested/nested.sim.test.ts
/**
 * Applications and ApplicationSets inside the content of an Application for the local cluster: an Application of
 * Applications. They are written to the hub, and never applied to a cluster.
 */
import { compact } from '../../../../core/compact.ts'
import { digestOfJson } from '../../../../core/crypto/digest.ts'
import { isObject, jsonEqual } from '../../../../core/json.ts'
import type { ObjectSelector } from '../../../../kinds/fields/bundle-options.ts'
import type { Kind } from '../../../../kinds/define-kind.ts'
import { apiVersionOf } from '../../../../kinds/meta.ts'
import type { KubeObject, UnknownObject } from '../../../../kinds/meta.ts'
import { COMPILED, NESTED_DEPTH, NESTED_IN, NESTED_PROJECT } from '../../annotations.ts'
import { AppProject, Application, ApplicationSet, ARGO_GROUP } from '../../kinds.ts'
import type { ApplicationResource } from '../../kinds.ts'
import type { StateRow } from '../application-status.ts'

/** An object of the hub among the content of an Application. */
export interface NestedObject {
  readonly kind: Kind
  readonly object: KubeObject & { readonly spec: unknown }
}

/** What the content of an Application has for the hub. */
export interface NestedContent {
  readonly wanted: readonly NestedObject[]
  /** What is left out, and why. */
  readonly notes: readonly string[]
  /** Why objects are refused, so that a sync fails. */
  readonly refusals: readonly string[]
  /** What is left out or refused, as kind/name: it is not written, and not removed either. */
  readonly untouched: ReadonlySet<string>
  /** Whether the content has objects for the hub, also such as are left out. */
  readonly hasNested: boolean
  /** Whether the content has objects for the cluster. */
  readonly hasOthers: boolean
}

/** The kinds that are written to the hub. */
export const NESTED_KINDS = [Application, ApplicationSet] as readonly Kind[]
const HUB_KINDS = [...NESTED_KINDS, AppProject as Kind]

/** The objects that are not delivered to the local cluster. */
export const NESTED_SELECTORS: readonly ObjectSelector[] = HUB_KINDS.map(({ kind }) => ({ group: ARGO_GROUP, kind }))

/** Annotations of the hub are a decision of its users, and not of a repository. */
export const OWN_ANNOTATIONS = 'flotilla.dev/'
const RESOURCES = 'resources-finalizer.argocd.argoproj.io'
/** In place of an AppProject: the outer Application has one that limits nothing, so that none gives more rights. */
export const ANY_PROJECT = '*'
const MAX_NESTED = 500
/** The levels below an Application of a user. */
const LEVELS = ['1', '2', '3']

/** The level of an object below an Application of a user, which is at 0. */
export function levelOf({ metadata }: KubeObject): number {
  return LEVELS.indexOf(metadata.annotations?.[NESTED_DEPTH] ?? '') + 1
}

function isForHub({ apiVersion, kind }: UnknownObject): boolean {
  return apiVersion.startsWith(`${ARGO_GROUP}/`) && HUB_KINDS.some((one) => one.kind === kind)
}

/**
 * Separates what the hub takes from what the cluster gets; a problem is one of all objects. `project` is the AppProject
 * that the objects must have.
 */
export function nestedContent(
  parent: Application,
  rendered: readonly UnknownObject[],
  project: string,
): NestedContent | { readonly problem: string } {
  const notes: string[] = []
  const refusals: string[] = []
  const untouched = new Set<string>()
  const found = rendered.filter(isForHub)
  const parts = { hasNested: found.length > 0, hasOthers: found.length < rendered.length }
  if (found.length > MAX_NESTED) {
    return {
      problem: `the content has ${found.length} objects of Argo CD, and at most ${MAX_NESTED} are supported; none of them is written or removed: split the content into several Applications`,
    }
  }
  const [deeper] = found.filter(({ kind }) => kind !== AppProject.kind)
  if (deeper && levelOf(parent) >= LEVELS.length) {
    const label = `${deeper.kind} ${deeper.metadata.name}`
    return {
      problem: `the content has ${label}, and Application ${parent.metadata.name} is already ${LEVELS.length} levels below an Application of a user; at most ${LEVELS.length} are supported, and nothing of the content is written or removed`,
    }
  }
  const wanted = found.flatMap((object) => {
    const label = `${object.kind} ${object.metadata.name} of the content`
    const refusal = projectProblem(parent, object, project)
    const read = refusal ?? nestedObject(parent, object, project, (note) => notes.push(note))
    if (typeof read !== 'string') return [read]
    if (refusal === undefined) notes.push(`${label} is left out: ${read}`)
    else refusals.push(`${label} is refused: ${refusal}`)
    untouched.add(`${object.kind}/${object.metadata.name}`)
    return []
  })
  return { wanted, notes, refusals, untouched, ...parts }
}

/** Why an Application may not have its AppProject; undefined when it may. A set is judged by what it makes. */
function projectProblem(
  parent: Application,
  { kind, metadata, ...rest }: UnknownObject,
  project: string,
): string | undefined {
  const spec = isObject(rest['spec']) ? rest['spec'] : {}
  // The outer Application itself is left out, whatever it names.
  if (kind !== Application.kind || metadata.name === parent.metadata.name) return undefined
  if (project === ANY_PROJECT || spec['project'] === project) return undefined
  return projectSentence(spec['project'], parent.metadata.name, project)
}

/** Says that content names another AppProject. */
export function projectSentence(named: unknown, outer: string, project: string): string {
  const what = typeof named === 'string' && named !== '' ? `AppProject ${named}` : 'no AppProject'
  return `it names ${what}, and the content of Application ${outer} stays in AppProject ${project}`
}

/** The object to write, or why it is left out. */
function nestedObject(
  parent: Application,
  { apiVersion, kind: name, metadata, ...rest }: UnknownObject,
  project: string,
  note: (message: string) => void,
): NestedObject | string {
  const { namespace = '' } = parent.metadata
  const kind = NESTED_KINDS.find((one) => one.kind === name)
  if (!kind) return 'it limits users who may write Applications; apply it to the hub'
  if (apiVersion !== apiVersionOf(kind)) return `version ${apiVersion} is not served`
  const own = metadata.namespace ?? parent.spec.destination?.namespace
  if ((own ?? '') !== '' && own !== namespace)
    return `it is for namespace ${own}, and objects of the content stay in namespace ${namespace}`
  if (kind.kind === Application.kind && metadata.name === parent.metadata.name)
    return 'it is the Application itself, which is changed on the hub'
  const label = `${name} ${metadata.name} of the content`
  const all = Object.entries(metadata.annotations ?? {})
  const dropped = all.filter(([key]) => key.startsWith(OWN_ANNOTATIONS)).map(([key]) => key)
  if (dropped.length > 0)
    note(`${dropped.join(', ')} of ${label} has no effect; annotate the object on the hub instead`)
  const finalizers = metadata.finalizers?.filter((one) => one.startsWith(RESOURCES))
  const labels = { ...metadata.labels }
  const spec = isObject(rest['spec']) ? rest['spec'] : {}
  const said = {
    ...Object.fromEntries(all.filter(([key]) => !dropped.includes(key))),
    [NESTED_IN]: parent.metadata.name,
    [NESTED_DEPTH]: LEVELS[levelOf(parent)]!,
    ...(name === ApplicationSet.kind && { [NESTED_PROJECT]: project }),
  }
  const compiled = digestOfJson({ spec, labels, annotations: said, finalizers: finalizers ?? [] })
  return {
    kind,
    object: {
      apiVersion,
      kind: name,
      metadata: compact({
        name: metadata.name,
        namespace,
        labels,
        annotations: { ...said, [COMPILED]: compiled },
        finalizers: finalizers?.length ? [...finalizers] : undefined,
      }),
      spec,
    },
  }
}

/** What a pass knows of the objects of the hub. */
export interface NestedScene {
  /** An object of the hub by its name, whatever made it. */
  find(kind: Kind, name: string): KubeObject | undefined
  /** The objects that were made from the content of the Application. */
  readonly present: readonly NestedObject[]
}

/** Why objects are written. */
export interface NestedSync {
  /** Whether a sync was asked for, or the hub syncs by itself; undefined when nothing may be written. */
  readonly by: 'operation' | 'automated' | undefined
  readonly prune: boolean
  readonly selfHeal: boolean
  readonly allowEmpty: boolean
  /** Whether this content was delivered before, so that only self-heal writes it again. */
  readonly isDeployed: boolean
}

/** What is to be written, what is to be removed, and how it stands. */
export interface NestedDecision {
  readonly writes: readonly NestedObject[]
  readonly removals: readonly NestedObject[]
  readonly resources: readonly ApplicationResource[]
  /** Sync and health, as of a Bundle. */
  readonly row: StateRow
  /** The same for the end of a sync, which need not prune. */
  readonly written: StateRow
  /** Why something is not written. */
  readonly problem?: string
}

/** Decides what a pass does with the objects of the hub. */
export function decideNested(
  parent: Application,
  { wanted, refusals, untouched }: Pick<NestedContent, 'wanted' | 'refusals' | 'untouched'>,
  scene: NestedScene,
  sync: NestedSync,
): NestedDecision {
  const states = wanted.map((one) => ({ one, ...stateOf(parent, one, scene) }))
  const isWanted = new Set(wanted.map(idOf))
  const others = scene.present.filter((one) => !isWanted.has(idOf(one)) && !one.object.metadata.deletionTimestamp)
  const kept = others.filter((one) => untouched.has(idOf(one)))
  const left = others.filter((one) => !untouched.has(idOf(one)))
  const prunable = left.filter(({ object }) => !keeps(object))
  const writes = states.filter(({ state }) => isWritten(state, sync)).map(({ one }) => one)
  const mayPrune = sync.by !== undefined && sync.prune
  const wipes = wanted.length === 0 && left.length > 0 && sync.by === 'automated' && !sync.allowEmpty
  const removals = mayPrune && !wipes ? prunable : []
  const taken = states.find(({ state }) => state === 'Taken')?.one
  const failure = taken ? takenProblem(parent, taken) : refusalOf(refusals)
  const problem =
    failure ??
    (mayPrune && wipes
      ? 'The content has no Application any more, and auto-sync would remove all of them; set syncPolicy.automated.allowEmpty, or sync with --prune.'
      : undefined)
  const resources = [
    ...states.map(({ one, state }) => resourceOf(one, state === 'Synced' ? 'Synced' : 'OutOfSync')),
    ...kept.map((one) => resourceOf(one, 'OutOfSync')),
    ...left.map((one) => ({ ...resourceOf(one, 'OutOfSync'), requiresPruning: true })),
  ]
  const row = rowOf(states, others.length, failure)
  const written = rowOf(states, 0, failure)
  return compact({ writes, removals, resources, row, written, problem })
}

type State = 'Synced' | 'Changed' | 'Missing' | 'Edited' | 'Taken'

function stateOf(parent: Application, { kind, object }: NestedObject, scene: NestedScene): { readonly state: State } {
  const present = scene.find(kind, object.metadata.name)
  if (!present) return { state: 'Missing' }
  const { annotations = {} } = present.metadata
  if (annotations[NESTED_IN] !== parent.metadata.name) return { state: 'Taken' }
  if (annotations[COMPILED] !== object.metadata.annotations?.[COMPILED]) return { state: 'Changed' }
  const same =
    jsonEqual((present as NestedObject['object']).spec, object.spec) &&
    Object.entries(object.metadata.labels ?? {}).every(([key, value]) => present.metadata.labels?.[key] === value)
  return { state: same ? 'Synced' : 'Edited' }
}

/** Without self-heal, an automated sync writes each content once. */
function isWritten(state: State, { by, selfHeal, isDeployed }: NestedSync): boolean {
  if (by === undefined || state === 'Synced' || state === 'Taken') return false
  return by === 'operation' || selfHeal || state === 'Changed' || (state === 'Missing' && !isDeployed)
}

function rowOf(
  states: readonly { readonly one: NestedObject; readonly state: State }[],
  unwanted: number,
  failure: string | undefined,
): StateRow {
  const current = { generation: 1, target: 1 }
  if (failure !== undefined) return { state: 'Failed', message: failure, ...current }
  const missing = states.filter(({ state }) => state === 'Missing').length
  const other = states.filter(({ state }) => state !== 'Synced').length
  if (other + unwanted === 0) return { state: 'Ready', message: '', ...current }
  const message = `${other + unwanted} objects of Argo CD differ from the content.`
  return { state: missing > 0 && missing === states.length ? 'Pending' : 'Drifted', message, ...current }
}

function takenProblem({ metadata }: Application, { kind, object }: NestedObject): string {
  const { name, namespace = '' } = object.metadata
  return `${kind.kind} ${name} exists in namespace ${namespace} and was not made from this content; hand it over with: kubectl annotate ${kind.plural}.${kind.group} ${name} -n ${namespace} ${NESTED_IN}=${metadata.name} --overwrite`
}

function refusalOf([first, ...more]: readonly string[]): string | undefined {
  return first === undefined || more.length === 0 ? first : `${first}; and ${more.length} more are refused`
}

function idOf({ kind, object }: NestedObject): string {
  return `${kind.kind}/${object.metadata.name}`
}

/** The option of an object that keeps it from pruning. */
function keeps({ metadata }: KubeObject): boolean {
  const options = metadata.annotations?.['argocd.argoproj.io/sync-options'] ?? ''
  return options.split(',').some((one) => ['Prune=false', 'Prune=confirm'].includes(one.trim()))
}

function resourceOf({ kind, object }: NestedObject, status: string): ApplicationResource {
  const { name, namespace = '' } = object.metadata
  return { group: kind.group, version: kind.version, kind: kind.kind, namespace, name, status }
}
