/**
 * Controllers of another system on the same kube-apiserver. While they run, they reconcile the objects that a dialect
 * of this hub would reconcile, so the controllers of the dialect wait.
 */
import type { Client, Reader } from '../../client/client.ts'
import { isApiError, toError } from '../../core/errors.ts'
import type { Logger } from '../../core/log.ts'
import type { Clock } from '../../core/time/clock.ts'
import { builtinKind } from '../../kinds/builtin/kind-table.ts'
import type { PolicyRule } from '../../kinds/builtin/rbac.ts'
import type { KubeObject, ResourceType } from '../../kinds/meta.ts'
import type { DialectPeer } from '../../plan/fleet/hub-health.ts'
import type { DialectName } from './dialect-names.ts'

/** What a Deployment and a StatefulSet have in common. */
interface Workload extends KubeObject {
  spec?: { replicas?: number }
  status?: { replicas?: number }
}

type WorkloadKind = 'Deployment' | 'StatefulSet'

const WORKLOADS: Readonly<Record<WorkloadKind, ResourceType<Workload>>> = {
  Deployment: builtinKind<Workload>('apps/v1', 'Deployment'),
  StatefulSet: builtinKind<Workload>('apps/v1', 'StatefulSet'),
}

/** A list of controllers by label, or of one controller by name. */
interface PeerQuery {
  readonly kind: WorkloadKind
  readonly labelSelector?: string
  readonly fieldSelector?: string
}

const ARGO_LABELS = 'app.kubernetes.io/name in (argocd-application-controller,argocd-applicationset-controller)'
const FLUX_LABELS =
  'app.kubernetes.io/part-of=flux,app.kubernetes.io/component in (helm-controller,kustomize-controller,source-controller)'

/** How the controllers of each system are found, as its own manifests and charts label or name them. */
const QUERIES: Readonly<Record<DialectName, readonly PeerQuery[]>> = {
  fleet: [{ kind: 'Deployment', fieldSelector: 'metadata.name=fleet-controller' }],
  ocm: ['placement', 'registration', 'work'].map((part) => ({
    kind: 'Deployment',
    fieldSelector: `metadata.name=cluster-manager-${part}-controller`,
  })),
  argo: [
    { kind: 'StatefulSet', labelSelector: ARGO_LABELS },
    { kind: 'Deployment', labelSelector: ARGO_LABELS },
  ],
  flux: [{ kind: 'Deployment', labelSelector: FLUX_LABELS }],
  // With hub templates, a Deployment of this API runs nowhere, and says nothing about controllers.
  karmada: [],
}

/** Rights that the search needs. */
export const PEER_RULES: readonly PolicyRule[] = [
  { apiGroups: ['apps'], resources: ['deployments', 'statefulsets'], verbs: ['list'] },
]

/** A controller counts until it is scaled to zero and its last Pod is gone. */
export function isRunning({ spec, status }: Workload): boolean {
  return (spec?.replicas ?? 1) > 0 || (status?.replicas ?? 0) > 0
}

/**
 * The controllers of other systems, for each dialect that has to wait for them or for which they may not be listed. A
 * dialect that is not in the result has no such controllers. Rejects while the API gives no answer: nothing is known
 * about controllers that may run.
 */
export async function findPeers(
  names: readonly DialectName[],
  client: Pick<Reader, 'list'>,
  signal: AbortSignal,
): Promise<DialectPeer[]> {
  const found = await Promise.all(names.map(async (dialect) => await findPeer(dialect, client, signal)))
  return found.filter((peer) => peer !== undefined)
}

async function findPeer(
  dialect: DialectName,
  client: Pick<Reader, 'list'>,
  signal: AbortSignal,
): Promise<DialectPeer | undefined> {
  try {
    const lists = await Promise.all(
      QUERIES[dialect].map(async ({ kind, ...selectors }) => {
        const { items } = await client.list(WORKLOADS[kind], { ...selectors, limit: 50 }, signal)
        return items
          .filter(isRunning)
          .map(({ metadata: { name, namespace } }) => `${kind} ${name} in namespace ${namespace}`)
      }),
    )
    const workloads = lists.flat().toSorted()
    return workloads.length === 0 ? undefined : { dialect, state: 'Waiting', workloads }
  } catch (caught) {
    if (signal.aborted || !isApiError(caught, 'Forbidden', 'NotFound')) throw caught
    return { dialect, state: 'Unknown', workloads: [], message: toError(caught).message.slice(0, 500) }
  }
}

const LOOK_MS = 15_000

/** Which dialects may run their controllers now. */
export interface PeerWatch {
  /** The newest result; empty before the first look. */
  peers(): readonly DialectPeer[]
  onChange(changed: () => void): void
  /** Looks once. Returns the dialects whose controllers need not wait. Rejects while the API gives no answer. */
  look(signal: AbortSignal): Promise<DialectName[]>
  /**
   * Looks every 15 s; resolves when other dialects than those of the last `look` have to wait. While the API gives no
   * answer, nothing changes.
   */
  untilChanged(signal: AbortSignal): Promise<void>
  /** Another hub runs the controllers from now on, and says which dialects wait. */
  stop(): void
}

export function createPeerWatch(
  names: readonly DialectName[],
  { client, clock, log }: { readonly client: Client; readonly clock: Clock; readonly log: Logger },
): PeerWatch {
  let peers: readonly DialectPeer[] = []
  let changed = (): void => {}

  async function find(signal: AbortSignal): Promise<boolean> {
    const found = await findPeers(names, client, signal)
    const isSame = JSON.stringify(found) === JSON.stringify(peers)
    const isOther = waitingOf(found) !== waitingOf(peers)
    if (isSame) return false
    peers = found
    changed()
    for (const { dialect, state, workloads, message } of found) {
      if (state === 'Waiting') {
        log.warn({ dialect, workloads }, 'the controllers of the other system run: the controllers of the dialect wait')
      } else log.warn({ dialect, message }, 'controllers of the other system cannot be listed')
    }
    return isOther
  }

  return {
    peers: () => peers,
    onChange: (listener) => void (changed = listener),
    async look(signal) {
      await find(signal)
      return names.filter((name) => !peers.some(({ dialect, state }) => dialect === name && state === 'Waiting'))
    },
    async untilChanged(signal) {
      let isOther = false
      while (!isOther) {
        await clock.sleep(LOOK_MS, signal)
        isOther = await find(signal).catch((caught: unknown) => {
          if (signal.aborted) throw caught
          log.debug({ err: toError(caught) }, 'controllers of other systems could not be listed')
          return false
        })
      }
    },
    stop() {
      peers = []
      changed()
    },
  }
}

function waitingOf(peers: readonly DialectPeer[]): string {
  return peers.flatMap(({ dialect, state }) => (state === 'Waiting' ? [dialect] : [])).join()
}
