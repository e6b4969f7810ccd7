/**
 * Maintains the children of workloads: runs the steps of `children.ts`, and runs them again when a child is deleted.
 */
import { compact } from '../../core/compact.ts'
import type { Client } from '../../client/client.ts'
import type { Informer } from '../../client/informer.ts'
import type { Informers } from '../../client/informers.ts'
import { isApiError } from '../../core/errors.ts'
import type { Ids } from '../../core/ids.ts'
import { jsonEqual } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import { matchesSelector } from '../../core/text/label-selector.ts'
import type { Labels } from '../../core/text/label-selector.ts'
import { formatTime, parseTime } from '../../core/time/time.ts'
import type { Reconciler } from '../../engine/reconciler.ts'
import { triggerOnObject } from '../../engine/trigger.ts'
import type { Trigger } from '../../engine/trigger.ts'
import { builtinKind } from '../../kinds/builtin/kind-table.ts'
import { mapAt, textAt } from '../../kinds/builtin/read-path.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import { keyOf } from '../../kinds/meta.ts'
import type { KubeObject, ObjectKey, ResourceType, UnknownObject } from '../../kinds/meta.ts'
import { CHILDREN_RULES, ControllerRevision, controllerOwnerKey, Pod, ReplicaSet } from './children.ts'
import type { ChildrenRule, Step } from './children.ts'
import { CronJob, cronStep, Job } from './cron-job.ts'
import { EndpointSlice, serviceSlices } from './endpoint-slices.ts'

const KEEPER = 'keeper'
const MINUTE_MS = 60_000
const Service = builtinKind<UnknownObject>('v1', 'Service')
const RULES: Readonly<Record<string, ChildrenRule>> = { ...CHILDREN_RULES, '/Service': serviceSlices }

/** The parts of workloads as they are known. */
export interface WorkloadChildren {
  /** The same reconciler, which also keeps the parts of what it reconciles. */
  keeping(kind: Kind, reconciler: Reconciler<UnknownObject>): Reconciler<UnknownObject>
  /** Makes the runs of CronJobs. */
  readonly cronJobs: Reconciler<UnknownObject>
  /** Parts whose coming and going concerns objects of a kind. */
  triggersFor(kind: Kind): readonly Trigger[]
}

/** Follows the parts of all workloads; before the informers run. */
export function watchChildren(informers: Informers, ids: Pick<Ids, 'suffix'>): WorkloadChildren {
  const follow = (kind: ResourceType): Informer<UnknownObject> => {
    const informer = informers.of(kind)
    informer.addIndex(KEEPER, (object) => [controllerOwnerKey(object) ?? ''])
    return informer
  }
  const pods = follow(Pod)
  const sets = follow(ReplicaSet)
  const revisions = follow(ControllerRevision)
  const jobs = follow(Job)
  const slices = follow(EndpointSlice)
  const services = informers.of(Service)

  const keyOfKeeper =
    (kind: Kind) =>
    (object: KubeObject): readonly string[] => {
      const { namespace, ownerReferences } = object.metadata
      const owner = ownerReferences?.find(({ controller }) => controller)
      return owner?.kind === kind.kind ? [`${namespace}/${owner.name}`] : []
    }

  const servicesOf = ({ metadata }: KubeObject): readonly string[] =>
    services.lister
      .list(metadata.namespace)
      .filter((service) => isBehind(mapAt(service, 'spec.selector'), metadata.labels))
      .map(keyOf)

  return {
    triggersFor: (kind) => {
      if (kind.group === '' && kind.kind === Service.kind)
        return [triggerOnObject(pods, servicesOf), triggerOnObject(slices, keyOfKeeper(kind))]
      return RULES[`${kind.group}/${kind.kind}`] || kind.kind === CronJob.kind
        ? [pods, sets, jobs].map((informer) => triggerOnObject(informer, keyOfKeeper(kind)))
        : []
    },
    cronJobs: {
      name: 'workload-simulator-cronjobs',
      async reconcile(draft, { clock }) {
        const parent = draft.next
        if (parent.metadata.deletionTimestamp !== undefined) return {}
        const since = textAt(parent, 'status.lastScheduleTime') || (parent.metadata.creationTimestamp ?? '')
        const now = clock.now()
        const runs = jobs.lister.by(KEEPER, parent.metadata.uid ?? '')
        const { steps, ranAtMs, active } = cronStep(parent, runs, parseTime(since) ?? now, now)
        for (const step of steps) await take(step, { client: informers.client, kind: CronJob, parent })
        const made = steps.flatMap((step) => (step.do === 'make' ? [step.object] : []))
        const references = [...active, ...made].map(({ apiVersion, kind, metadata }) => ({
          apiVersion,
          kind,
          name: metadata.name,
          namespace: metadata.namespace,
        }))
        const last = ranAtMs === undefined ? textAt(parent, 'status.lastScheduleTime') : formatTime(ranAtMs)
        const finished = runs
          .map((run) => textAt(run, 'status.completionTime'))
          .sort()
          .at(-1)
        parent['status'] = compact({
          active: references.length > 0 ? references : undefined,
          lastScheduleTime: last === '' ? undefined : last,
          lastSuccessfulTime: finished || undefined,
        })
        return { requeueAfterMs: MINUTE_MS - (now % MINUTE_MS) }
      },
    },
    keeping(kind, reconciler) {
      const rule = RULES[`${kind.group}/${kind.kind}`]
      if (!rule) return reconciler
      return {
        name: reconciler.name,
        async reconcile(draft, context) {
          const result = await reconciler.reconcile(draft, context)
          const parent = draft.next
          if (parent.metadata.deletionTimestamp !== undefined) return result
          const uid = parent.metadata.uid ?? ''
          const steps = rule(parent, {
            pods: pods.lister.by(KEEPER, uid).filter(({ metadata }) => metadata.deletionTimestamp === undefined),
            sets: sets.lister.by(KEEPER, uid),
            revisions: revisions.lister.by(KEEPER, uid),
            slices: slices.lister.by(KEEPER, uid),
            matching: (labels) =>
              pods.lister
                .list(parent.metadata.namespace)
                .filter(({ metadata }) => isBehind(labels, metadata.labels))
                .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1)),
            suffix: () => ids.suffix(5),
          })
          for (const step of steps) {
            // A status that is about to be written comes back as a change, and then there is nothing but the note.
            if (step.do === 'note' && !jsonEqual(draft.seen['status'], parent['status'])) continue
            await take(step, { client: informers.client, kind: kind as ResourceType, parent })
          }
          return result
        },
      }
    },
  }
}

/** Whether a pod is behind a Service; a selector of nothing selects nothing here. */
function isBehind(selector: JsonObject, labels: Labels = {}): boolean {
  return Object.keys(selector).length > 0 && matchesSelector(labels, { matchLabels: selector as Labels })
}

interface Taking {
  readonly client: Client
  readonly kind: ResourceType
  readonly parent: UnknownObject
}

/** Another write may have come first; its object comes back as a change. */
async function take(step: Step, { client, kind, parent }: Taking): Promise<void> {
  const fieldManager = 'kube-controller-manager'
  try {
    switch (step.do) {
      case 'make':
        return void (await client.create(step.kind, step.object, { fieldManager }))
      case 'change':
        return void (await client.patch(
          step.kind,
          keyOfObject(step.object),
          { type: 'merge', body: step.body },
          { fieldManager },
        ))
      case 'drop':
        return await client.delete(step.kind, keyOfObject(step.object), { propagationPolicy: 'Background' })
      case 'note': {
        const body = { metadata: { annotations: step.annotations } }
        return void (await client.patch(
          kind,
          keyOfObject(parent),
          { type: 'merge', body },
          { fieldManager, subresource: 'status' },
        ))
      }
    }
  } catch (caught) {
    if (!isApiError(caught, 'AlreadyExists') && !isApiError(caught, 'NotFound') && !isApiError(caught, 'Forbidden'))
      throw caught
  }
}

function keyOfObject({ metadata }: UnknownObject): ObjectKey {
  return compact({ name: metadata.name, namespace: metadata.namespace })
}
