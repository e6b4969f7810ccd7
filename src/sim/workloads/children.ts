/**
 * What workloads are made of, as their controllers keep it: ReplicaSets, pods and revisions. Pure: what there is in,
 * what to do out.
 */
import { compact } from '../../core/compact.ts'
import type { JsonObject } from '../../core/json.ts'
import { readPath, itemsAt, mapAt, numberAt, textAt } from '../../kinds/builtin/read-path.ts'
import { apiVersionOf } from '../../kinds/meta.ts'
import type { ResourceType, UnknownObject } from '../../kinds/meta.ts'
import { builtinKind } from '../../kinds/builtin/kind-table.ts'
import { shortHash } from './rule.ts'

/** What all of them come down to. */
export const Pod = builtinKind<UnknownObject>('v1', 'Pod')
/** The pods of a content of a Deployment. */
export const ReplicaSet = builtinKind<UnknownObject>('apps/v1', 'ReplicaSet')
/** A content of a StatefulSet or DaemonSet. */
export const ControllerRevision = builtinKind<UnknownObject>('apps/v1', 'ControllerRevision')

/** What a workload has now. */
export interface Owned {
  /** Pods that are not being deleted. */
  readonly pods: readonly UnknownObject[]
  readonly sets: readonly UnknownObject[]
  readonly revisions: readonly UnknownObject[]
  readonly slices: readonly UnknownObject[]
  /** Pods of the namespace with these labels, by name, with any owner. */
  matching(labels: JsonObject): readonly UnknownObject[]
  /** Five letters or digits that no other child has. */
  suffix(): string
}

/** A step towards the wanted children. */
export type Step =
  | { readonly do: 'make'; readonly kind: ResourceType; readonly object: UnknownObject }
  | {
      readonly do: 'change'
      readonly kind: ResourceType
      readonly object: UnknownObject
      readonly body: JsonObject
    }
  | { readonly do: 'drop'; readonly kind: ResourceType; readonly object: UnknownObject }
  /** The workload's own annotations, which are written with its status. */
  | { readonly do: 'note'; readonly annotations: Readonly<Record<string, string>> }

/** What to do so that a workload has what it says. */
export type ChildrenRule = (parent: UnknownObject, owned: Owned) => Step[]

const HASH = 'pod-template-hash'
const REVISION = 'deployment.kubernetes.io/revision'
const HISTORY = 'deployment.kubernetes.io/revision-history'
const DESIRED = 'deployment.kubernetes.io/desired-replicas'
const CAUSE = 'kubernetes.io/change-cause'
const REVISION_HASH = 'controller-revision-hash'

function ownerOf({ apiVersion, kind, metadata }: UnknownObject): object {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true, blockOwnerDeletion: true }
}

/** A part of a workload: it goes with it. */
export function child(
  parent: UnknownObject,
  kind: ResourceType,
  rest: { metadata: object; [field: string]: unknown },
): UnknownObject {
  const { namespace } = parent.metadata
  const metadata = { ...rest.metadata, namespace, ownerReferences: [ownerOf(parent)] }
  return { ...rest, apiVersion: apiVersionOf(kind), kind: kind.kind, metadata } as unknown as UnknownObject
}

interface PodName {
  readonly name: string
  readonly generateName?: string
  readonly labels?: Readonly<Record<string, string>>
}

function podOf(parent: UnknownObject, { name, generateName, labels = {} }: PodName): Step {
  const template = mapAt(parent, 'spec.template')
  const annotations = mapAt(template, 'metadata.annotations')
  const metadata = compact({
    name,
    generateName,
    labels: { ...mapAt(template, 'metadata.labels'), ...labels },
    ...compact({ annotations: Object.keys(annotations).length > 0 ? annotations : undefined }),
  })
  return {
    do: 'make',
    kind: Pod,
    object: child(parent, Pod, { metadata, spec: structuredClone(mapAt(template, 'spec')) }),
  }
}

const wantedOf = (parent: UnknownObject): number =>
  readPath(parent, 'spec.replicas') === undefined ? 1 : numberAt(parent, 'spec.replicas')

const revisionOf = (set: UnknownObject): number => Number(set.metadata.annotations?.[REVISION] ?? 0)

/** The numbers a ReplicaSet had before the next. */
function historyOf({ metadata: { annotations = {} } }: UnknownObject): string {
  return [annotations[HISTORY], annotations[REVISION]].filter((one) => one !== undefined).join(',')
}

/**
 * A ReplicaSet per pod template; the newest has the highest revision. A rollback makes an old ReplicaSet the newest.
 */
const deploymentChildren: ChildrenRule = (parent, { sets }) => {
  const steps: Step[] = []
  const hash = shortHash(readPath(parent, 'spec.template'))
  const newest = Math.max(0, ...sets.map(revisionOf))
  const current = sets.find(({ metadata }) => metadata.labels?.[HASH] === hash)
  const isPaused = readPath(parent, 'spec.paused') === true
  if (!current && isPaused) return []
  const isNewest = current !== undefined && revisionOf(current) === newest
  const revision = String(isNewest || isPaused ? revisionOf(current!) : newest + 1)
  const updated = numberAt(parent, 'status.updatedReplicas')
  const cause = parent.metadata.annotations?.[CAUSE]
  const history = current && current.metadata.annotations?.[REVISION] !== revision ? historyOf(current) : undefined
  const annotations = compact({
    [REVISION]: revision,
    [HISTORY]: history,
    [DESIRED]: String(wantedOf(parent)),
    [CAUSE]: cause,
  })
  if (current) steps.push(...changed(current, updated, annotations))
  else {
    const labels = { ...mapAt(parent, 'spec.template.metadata.labels'), [HASH]: hash }
    const template = structuredClone(mapAt(parent, 'spec.template'))
    template['metadata'] = { ...mapAt(template, 'metadata'), labels }
    const selector = { ...mapAt(parent, 'spec.selector') }
    selector['matchLabels'] = { ...mapAt(selector, 'matchLabels'), [HASH]: hash }
    const metadata = { name: `${parent.metadata.name}-${hash}`, labels, annotations }
    const object = child(parent, ReplicaSet, { metadata, spec: { replicas: updated, selector, template } })
    steps.push({ do: 'make', kind: ReplicaSet, object })
  }
  let old = Math.max(0, numberAt(parent, 'status.replicas') - updated)
  const others = sets.filter((set) => set !== current).toSorted((a, b) => revisionOf(b) - revisionOf(a))
  const kept = numberAt(parent, 'spec.revisionHistoryLimit')
  for (const [index, set] of others.entries()) {
    if (index >= kept && old === 0) steps.push({ do: 'drop', kind: ReplicaSet, object: set })
    else steps.push(...changed(set, old, {}))
    old = 0
  }
  if (parent.metadata.annotations?.[REVISION] !== revision)
    steps.push({ do: 'note', annotations: { [REVISION]: revision } })
  return steps
}

function changed(set: UnknownObject, replicas: number, annotations: Readonly<Record<string, string>>): Step[] {
  const isSame =
    numberAt(set, 'spec.replicas') === replicas &&
    Object.entries(annotations).every(([name, value]) => set.metadata.annotations?.[name] === value)
  return isSame
    ? []
    : [{ do: 'change', kind: ReplicaSet, object: set, body: { metadata: { annotations }, spec: { replicas } } }]
}

/** As many pods as are wanted; the youngest go first. */
const replicaChildren: ChildrenRule = (parent, { pods, suffix }) => {
  const wanted = wantedOf(parent)
  const generateName = `${parent.metadata.name}-`
  const missing = Array.from({ length: Math.max(0, wanted - pods.length) }, () =>
    podOf(parent, { name: `${generateName}${suffix()}`, generateName }),
  )
  return [...missing, ...pods.slice(wanted).map((object): Step => ({ do: 'drop', kind: Pod, object }))]
}

/** Keeps what a template was under a number, as `kubectl rollout history` and `undo` read it. */
function revisionSteps(parent: UnknownObject, { revisions }: Owned, label: string): Step[] {
  const hash = shortHash(readPath(parent, 'spec.template'))
  const newest = Math.max(0, ...revisions.map((one) => numberAt(one, 'revision')))
  const current = revisions.find(({ metadata }) => metadata.labels?.[label] === hash)
  if (current && numberAt(current, 'revision') === newest) return []
  if (current) return [{ do: 'change', kind: ControllerRevision, object: current, body: { revision: newest + 1 } }]
  const labels = { ...mapAt(parent, 'spec.selector.matchLabels'), [label]: hash }
  const cause = parent.metadata.annotations?.[CAUSE]
  const metadata = compact({
    name: `${parent.metadata.name}-${hash}`,
    labels,
    annotations: cause === undefined ? undefined : { [CAUSE]: cause },
  })
  const template = { ...structuredClone(mapAt(parent, 'spec.template')), $patch: 'replace' }
  const object = child(parent, ControllerRevision, { metadata, data: { spec: { template } }, revision: newest + 1 })
  const kept = revisions.toSorted((a, b) => numberAt(b, 'revision') - numberAt(a, 'revision'))
  const dropped = kept.slice(Math.max(1, numberAt(parent, 'spec.revisionHistoryLimit')))
  return [
    { do: 'make', kind: ControllerRevision, object },
    ...dropped.map((gone): Step => ({ do: 'drop', kind: ControllerRevision, object: gone })),
  ]
}

/** Numbered pods. A pod of older content is deleted before the new pod of the same name is created. */
const statefulSetChildren: ChildrenRule = (parent, owned) => {
  const wanted = wantedOf(parent)
  const { name } = parent.metadata
  const hash = `${name}-${shortHash(readPath(parent, 'spec.template'))}`
  const names = Array.from({ length: wanted }, (_, index) => `${name}-${index}`)
  const isKept = ({ metadata }: UnknownObject) =>
    names.includes(metadata.name) && metadata.labels?.[REVISION_HASH] === hash
  const present = new Set(owned.pods.map(({ metadata }) => metadata.name))
  return [
    ...revisionSteps(parent, owned, 'controller.kubernetes.io/hash'),
    ...owned.pods.filter((pod) => !isKept(pod)).map((object): Step => ({ do: 'drop', kind: Pod, object })),
    ...names.flatMap((pod, index) =>
      present.has(pod)
        ? []
        : [
            podOf(parent, {
              name: pod,
              generateName: `${name}-`,
              labels: {
                [REVISION_HASH]: hash,
                'statefulset.kubernetes.io/pod-name': pod,
                'apps.kubernetes.io/pod-index': String(index),
              },
            }),
          ],
    ),
  ]
}

/** A pod: an embedded cluster has one node, in name. */
const daemonSetChildren: ChildrenRule = (parent, owned) => {
  const hash = shortHash(readPath(parent, 'spec.template'))
  const generateName = `${parent.metadata.name}-`
  const [kept, ...more] = owned.pods.filter(({ metadata }) => metadata.labels?.[REVISION_HASH] === hash)
  const old = owned.pods.filter(({ metadata }) => metadata.labels?.[REVISION_HASH] !== hash)
  const labels = { [REVISION_HASH]: hash, 'pod-template-generation': String(parent.metadata.generation ?? 1) }
  return [
    ...revisionSteps(parent, owned, REVISION_HASH),
    ...[...old, ...more].map((object): Step => ({ do: 'drop', kind: Pod, object })),
    ...(kept ? [] : [podOf(parent, { name: `${generateName}${owned.suffix()}`, generateName, labels })]),
  ]
}

/** As many pods as must come to their end. */
const jobChildren: ChildrenRule = (parent, { pods, suffix }) => {
  if (readPath(parent, 'spec.suspend') === true) return []
  const { name, uid = '' } = parent.metadata
  const isOver = itemsAt(parent, 'status.conditions').some(
    (condition) => ['Complete', 'Failed'].includes(textAt(condition, 'type')) && condition['status'] === 'True',
  )
  const missing = isOver ? 0 : (numberAt(parent, 'spec.completions') || 1) - pods.length
  const labels = {
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
    'controller-uid': uid,
    'job-name': name,
  }
  return Array.from({ length: Math.max(0, missing) }, () =>
    podOf(parent, { name: `${name}-${suffix()}`, generateName: `${name}-`, labels }),
  )
}

/** By group and kind. */
export const CHILDREN_RULES: Readonly<Record<string, ChildrenRule>> = {
  'apps/Deployment': deploymentChildren,
  'apps/ReplicaSet': replicaChildren,
  '/ReplicationController': replicaChildren,
  'apps/StatefulSet': statefulSetChildren,
  'apps/DaemonSet': daemonSetChildren,
  'batch/Job': jobChildren,
}

/** The uid of the controller of an object. Undefined without a controller. */
export function controllerOwnerKey({ metadata }: UnknownObject): string | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller)?.uid
}
