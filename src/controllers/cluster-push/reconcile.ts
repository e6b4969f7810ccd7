import { KubeconfigError } from '../../client/kubeconfig.ts'
import { readInlineKubeconfig } from '../../client/inline-kubeconfig.ts'
import type { Connection } from '../../client/connection.ts'
import { fromBase64, fromUtf8 } from '../../core/bytes.ts'
import type { Context, Draft, Reconciler, Result } from '../../engine/reconciler.ts'
import type { Secret } from '../../kinds/builtin/core.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import type { ClusterPushPorts, PushedAgentsPort, PushState } from './ports.ts'

/** How often the Secret of a cluster is read: a rotated credential is followed within this time. */
const READ_EVERY_MS = 30_000
/** A user that has just forgotten a Secret waits for it. */
const READ_AGAIN_MS = 5000

type SecretReference = NonNullable<Cluster['spec']['kubeconfigSecret']>

/** Runs the agents of clusters that name a Secret with a kubeconfig. */
export function clusterPushReconciler(ports: ClusterPushPorts): Reconciler<Cluster> {
  return {
    name: 'cluster-push',
    async reconcile(draft: Draft<Cluster>, { signal }: Context): Promise<Result> {
      const { spec, metadata, status } = draft.seen
      const { name } = metadata
      const { agents } = ports
      const isLeft = spec.decommission !== undefined && status?.decommission?.phase === 'Revoked'
      if (!spec.kubeconfigSecret) {
        agents?.forget(name)
        draft.conditions.remove('Pushed')
        return {}
      }
      const joined = ports.joinedAgent(name)
      // A token counts once: after a later registration by kubeconfig, its agent does not take over again.
      if (joined && joined.joinToken !== spec.joinToken) {
        const { kubeconfigSecret: _, retiredSealingKey: __, ...rest } = draft.next.spec
        draft.next.spec = { ...rest, ...joined }
        return {}
      }
      if (!agents) return show(draft, DISABLED)
      if (!spec.accepted || spec.refused || isLeft || metadata.deletionTimestamp) {
        agents.stop(name)
        return show(draft, NOT_ACCEPTED)
      }
      const read = await readCredential(spec.kubeconfigSecret, ports, signal)
      if ('reason' in read) {
        agents.stop(name)
        return show(draft, read, READ_AGAIN_MS)
      }
      if (await register(draft, ports, agents)) return {}
      agents.run({ name, clusterId: spec.id, credential: read.credential })
      return show(draft, agents.stateOf(name) ?? STARTING, READ_EVERY_MS)
    },
  }
}

const DISABLED: PushState = {
  reason: 'PushDisabled',
  message:
    'This hub was started with --no-push and runs no agents. Start it without the flag, or run an agent in the cluster: flotilla cluster add',
}
const NOT_ACCEPTED: PushState = {
  reason: 'NotAccepted',
  message: 'The hub runs agents only for accepted clusters.',
}
const STARTING: PushState = { reason: 'Starting', message: 'The agent connects to the cluster.' }

function show({ conditions }: Draft<Cluster>, { reason, message }: PushState, requeueAfterMs?: number): Result {
  const status = reason === 'Running' ? 'True' : reason === STARTING.reason ? 'Unknown' : 'False'
  conditions.set('Pushed', status, reason, message)
  return requeueAfterMs === undefined ? {} : { requeueAfterMs }
}

/** Records the keys of the agent, and an id for a new cluster. True if the Cluster must be written first. */
async function register(
  { seen, next }: Draft<Cluster>,
  { newClusterId }: ClusterPushPorts,
  agents: PushedAgentsPort,
): Promise<boolean> {
  const { id, identityKey } = seen.spec
  const keys = await agents.keysOf(seen.metadata.name, id)
  // The agent renews its sealing key through the gateway: only a new identity brings another from here.
  if (id !== '' && identityKey === keys.identityKey) return false
  Object.assign(next.spec, keys, { id: id === '' ? newClusterId() : id })
  return true
}

async function readCredential(
  at: SecretReference,
  { secretOf }: ClusterPushPorts,
  signal: AbortSignal,
): Promise<{ readonly credential: Connection } | PushState> {
  const where = `Secret ${at.namespace}/${at.name}`
  const secret = await secretOf(at, signal)
  if (!secret) return { reason: 'SecretNotFound', message: `${where} does not exist.` }
  const text = valueOf(secret, at.key)
  if (text === undefined) {
    const keys = Object.keys(secret.data ?? {}).join(', ')
    return { reason: 'SecretNotFound', message: `${where} has no key ${at.key}; it has ${keys || 'no keys'}.` }
  }
  try {
    return { credential: await readInlineKubeconfig(text, `${where} key ${at.key}`) }
  } catch (caught) {
    if (!(caught instanceof KubeconfigError)) throw caught
    return { reason: 'BadKubeconfig', message: `${caught.message}.` }
  }
}

function valueOf({ data }: Secret, key: string): string | undefined {
  const value = data !== undefined && Object.hasOwn(data, key) ? data[key] : undefined
  if (value === undefined) return undefined
  try {
    return fromUtf8(fromBase64(value))
  } catch {
    return ''
  }
}
