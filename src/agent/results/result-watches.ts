// Tested by src/agent/results/engine-results.contract.test.ts
/**
 * Watches of the kinds that policy engines write their results to, as long as the cluster serves them. Only the counts
 * of an object are kept.
 */
import type { Client } from '../../client/client.ts'
import type { Discovery } from '../../client/discovery.ts'
import { createInformer } from '../../client/informer.ts'
import { compact } from '../../core/compact.ts'
import { isApiError } from '../../core/errors.ts'
import type { Ids } from '../../core/ids.ts'
import type { Logger } from '../../core/log.ts'
import type { Clock } from '../../core/time/clock.ts'
import { apiVersionOf } from '../../kinds/meta.ts'
import type { KubeObject, ResourceType } from '../../kinds/meta.ts'
import { CONSTRAINT_GROUP, readResults } from '../../plan/policy/results/read-results.ts'
import type { Finding } from '../../plan/policy/results/read-results.ts'
import { WATCH_TIMING } from '../timing.ts'

/** Ports of the watches. */
export interface ResultWatchPorts {
  readonly client: Client
  readonly discovery: Pick<Discovery, 'groupVersions' | 'kindsOf'>
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  /** The findings of an object; none when it is gone. */
  readonly onFindings: (object: string, findings: readonly Finding[]) => void
}

/** The kinds of reports by group. Each kind of the group of constraints is a constraint. */
const REPORT_KINDS: Readonly<Record<string, readonly string[]>> = {
  'wgpolicyk8s.io': ['PolicyReport', 'ClusterPolicyReport'],
  'openreports.io': ['Report', 'ClusterReport'],
}
/** A cluster has a kind for each ConstraintTemplate. */
const MOST_KINDS = 200

interface ResultWatch {
  readonly isSynced: () => boolean
  readonly objects: Set<string>
  stop(): void
}

/** An object with its findings, until they are counted. */
interface FoundObject extends KubeObject {
  findings?: readonly Finding[]
}

/** Creates the watches; nothing is watched before `align`. */
export function createResultWatches(ports: ResultWatchPorts) {
  const { client, discovery, clock, ids, log } = ports
  const watches = new Map<string, ResultWatch>()
  const denied = new Map<string, number>()
  let isServed = false

  async function wantedKinds(signal: AbortSignal): Promise<ResourceType[]> {
    const versions = await discovery.groupVersions(signal)
    const wanted: ResourceType[] = []
    for (const group of [...Object.keys(REPORT_KINDS), CONSTRAINT_GROUP]) {
      const version = versions.get(group)
      if (version === undefined) continue
      const kinds = await discovery.kindsOf(version, signal)
      wanted.push(...kinds.filter(({ kind }) => REPORT_KINDS[group]?.includes(kind) ?? true))
    }
    return wanted.slice(0, MOST_KINDS)
  }

  async function mayList(type: ResourceType, key: string, signal: AbortSignal): Promise<boolean> {
    if (clock.monotonicMs() < (denied.get(key) ?? 0)) return false
    try {
      await client.list(type, { limit: 1 }, signal)
      denied.delete(key)
      return true
    } catch (caught) {
      if (!isApiError(caught, 'Forbidden')) throw caught
      denied.set(key, clock.monotonicMs() + WATCH_TIMING.deniedAgainMs)
      return false
    }
  }

  function start(type: ResourceType, key: string, signal: AbortSignal): ResultWatch {
    const stopping = new AbortController()
    const objects = new Set<string>()
    const apiVersion = apiVersionOf(type)
    const informer = createInformer<FoundObject>({
      client,
      type,
      clock,
      ids,
      log,
      watchSeconds: WATCH_TIMING.watchSeconds,
      keep: (object) => {
        const { name, namespace, resourceVersion } = object.metadata
        const metadata = { name, ...compact({ namespace, resourceVersion }) }
        const findings = readResults({ ...object, apiVersion, kind: type.kind }) ?? []
        return { apiVersion, kind: type.kind, metadata, findings }
      },
    })
    informer.onChange(({ key: name, after }) => {
      const object = `${key} ${name}`
      if (after) objects.add(object)
      else objects.delete(object)
      ports.onFindings(object, after?.findings ?? [])
      // The cache keeps the object, and nothing of what the engine wrote.
      if (after) delete after.findings
    })
    void informer.run(AbortSignal.any([signal, stopping.signal]))
    return { isSynced: informer.synced, objects, stop: () => stopping.abort() }
  }

  function stop(key: string): void {
    const watch = watches.get(key)
    if (!watch) return
    watch.stop()
    watches.delete(key)
    for (const object of watch.objects) ports.onFindings(object, [])
  }

  return {
    /** Watches what the cluster serves now, and nothing else. */
    async align(signal: AbortSignal): Promise<void> {
      const wanted = new Map((await wantedKinds(signal)).map((type) => [nameOf(type), type]))
      isServed = wanted.size > 0
      for (const key of watches.keys()) if (!wanted.has(key)) stop(key)
      for (const key of denied.keys()) if (!wanted.has(key)) denied.delete(key)
      for (const [key, type] of wanted) {
        if (!watches.has(key) && (await mayList(type, key, signal))) watches.set(key, start(type, key, signal))
      }
    },
    /** True if the cluster serves a kind of results. */
    isServed: (): boolean => isServed,
    /** True if each watch has read all objects. */
    isSynced: (): boolean => [...watches.values()].every((watch) => watch.isSynced()),
    /** Kinds that the agent may not list. */
    denied: (): readonly string[] => [...denied.keys()].toSorted(),
    stop(): void {
      for (const key of watches.keys()) stop(key)
    },
  }
}

function nameOf(type: ResourceType): string {
  return `${type.plural}.${type.group}`
}
