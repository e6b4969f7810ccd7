// Tested by src/dialects/argo/clusters/cluster-secrets.sim.test.ts
/**
 * Keeps cluster Secrets of Argo CD and their Clusters equal: labels, names and addresses; registers clusters whose
 * Secret has credentials; and makes ClusterWindows of maintenance windows.
 */
import type { Client } from '../../../client/client.ts'
import { findObject } from '../../../client/find-object.ts'
import type { Informers } from '../../../client/informers.ts'
import { jsonEqual } from '../../../core/json.ts'
import { digestOfJson } from '../../../core/crypto/digest.ts'
import { formatTime } from '../../../core/time/time.ts'
import { createController } from '../../../engine/controller.ts'
import type { Controller } from '../../../engine/controller.ts'
import type { Context, Draft, Result } from '../../../engine/reconciler.ts'
import { triggerOnObject } from '../../../engine/trigger.ts'
import { Secret } from '../../../kinds/builtin/core.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { CLUSTER_OF_SECRET, DIALECT_MANAGER, SECRET_OF_CLUSTER } from '../annotations.ts'
import { SECRET_TYPE } from '../repositories/repository-secrets.ts'
import { ARGO_NAMESPACE } from '../kinds.ts'
import type { ArgoParts } from '../served/argo-controllers.ts'
import {
  chooseCluster,
  commonOf,
  differs,
  keyOfSecret,
  mergedLabels,
  notedMetadata,
  wantedCluster,
} from './cluster-of-secret.ts'
import type { Registration } from './cluster-of-secret.ts'
import { createClusterWindows } from './cluster-windows.ts'
import { CLUSTER_SECRETS, encodedKubeconfig, readClusterSecret } from './cluster-secret.ts'
import type { ReadClusterSecret } from './cluster-secret.ts'

const BY_SECRET = 'argo-secret'
const FORGET_AFTER = '5m'

/** Creates the controllers of both directions; nothing happens before `run`. */
export function createClusterSecretControllers(parts: ArgoParts): readonly Controller[] {
  const { informers } = parts
  const secrets = informers.of(Secret, CLUSTER_SECRETS)
  const clusters = informers.of(Cluster)
  clusters.addIndex(BY_SECRET, ({ metadata }) => {
    const secret = metadata.annotations?.[SECRET_OF_CLUSTER]
    return secret === undefined ? [] : [secret]
  })
  const pass = createPass(informers)
  const shared = { ...parts, client: informers.client, failureCondition: false as const, notesGeneration: false }
  return [
    createController({
      ...shared,
      type: Secret,
      informer: secrets,
      reconciler: { name: 'argo-cluster-secret', reconcile: (draft, context) => pass.secret(draft, context) },
      // A Cluster that joins may be the one that Secrets without a Cluster mean.
      triggers: [
        triggerOnObject(clusters, ({ metadata }) => {
          const tied = metadata.annotations?.[SECRET_OF_CLUSTER]
          if (tied !== undefined) return [tied]
          const waiting = secrets.lister.list(ARGO_NAMESPACE)
          return waiting.filter((one) => one.metadata.annotations?.[CLUSTER_OF_SECRET] === undefined).map(keyOfSecret)
        }),
      ],
    }),
    createController({
      ...shared,
      type: Cluster,
      informer: clusters,
      reconciler: { name: 'argo-cluster', reconcile: (draft, context) => pass.cluster(draft, context) },
      triggers: [
        triggerOnObject(secrets, (secret) =>
          clusters.lister.by(BY_SECRET, keyOfSecret(secret)).map(({ metadata }) => metadata.name),
        ),
      ],
    }),
  ]
}

function createPass(informers: Informers) {
  const { client } = informers
  const clusters = informers.of(Cluster)
  const windows = createClusterWindows(informers)
  const secrets = informers.of(Secret, CLUSTER_SECRETS)

  async function secret(draft: Draft<Secret>, { signal }: Context): Promise<Result> {
    const face = draft.next
    if (face.metadata.namespace !== ARGO_NAMESPACE || face.metadata.deletionTimestamp) return {}
    const read = readClusterSecret(face)
    const choice = chooseCluster(face, read, clusters.lister.list())
    if ('problem' in choice) return note(face, { read, problem: choice.problem })
    const own = 'cluster' in choice ? choice.cluster : undefined
    const name = 'cluster' in choice ? choice.cluster.metadata.name : choice.create
    if (own?.spec.decommission)
      return note(face, { read, problem: `Cluster ${name} is being decommissioned; labels are not copied` })
    const { registration, finding } = await register(client, { face, read, own, signal })
    if (!own && !registration) return note(face, { read, problem: finding ?? 'the cluster cannot be registered' })
    const labels = mergedLabels(commonOf(face).labels, read.labels, own?.metadata.labels ?? commonOf(face).labels)
    const wanted = wantedCluster(face, read, { own, name, labels, registration })
    if (!own) await client.create(Cluster, wanted, { fieldManager: DIALECT_MANAGER, signal })
    else if (differs(own, wanted)) await client.update(Cluster, wanted, { fieldManager: DIALECT_MANAGER, signal })
    const present = clusters.lister.get(name)
    if (present) await windows.write(present, { read, key: keyOfSecret(face) }, signal)
    face.metadata = notedMetadata(face, {
      cluster: name,
      common: { labels, annotations: Object.keys(read.annotations).toSorted() },
      findings: [...read.findings, ...(finding === undefined ? [] : [finding])],
    })
    return {}
  }

  /** The end of a cluster Secret: the hub no longer manages a cluster that it registered, and what runs stays. */
  async function cluster(draft: Draft<Cluster>, { signal, clock }: Context): Promise<Result> {
    const own = draft.next
    const key = own.metadata.annotations?.[SECRET_OF_CLUSTER]
    if (key === undefined || own.metadata.deletionTimestamp) return {}
    const [namespace = '', name = ''] = key.split('/')
    if (isFaceOf(own, secrets.lister.get(key))) return {}
    // A cache that is behind must not end a cluster.
    if (isFaceOf(own, await findObject(client, Secret, { namespace, name }, signal))) return {}
    await windows.removeOf(own, { key, signal })
    const { [SECRET_OF_CLUSTER]: _left, ...annotations } = own.metadata.annotations ?? {}
    own.metadata.annotations = annotations
    if (own.spec.kubeconfigSecret?.name.startsWith('argo-cluster-') && !own.spec.decommission) {
      const at = formatTime(clock.now())
      const reason = `cluster Secret ${key} of Argo CD was deleted`
      own.spec = { ...own.spec, decommission: { policy: 'Orphan', at, reason, forgetAfter: FORGET_AFTER } }
    }
    return {}
  }

  return { secret, cluster }
}

interface Registering {
  readonly face: Secret
  readonly read: ReadClusterSecret
  readonly own: Cluster | undefined
  readonly signal: AbortSignal
}

/** The kubeconfig of a cluster that the hub runs the agent of; an agent in the cluster needs none. */
async function register(
  client: Client,
  { face, read, own, signal }: Registering,
): Promise<{ readonly registration?: Registration; readonly finding?: string }> {
  if (read.kubeconfig === undefined) return {}
  if (own && own.spec.kubeconfigSecret === undefined) {
    const finding = `the credentials have no effect: Cluster ${own.metadata.name} has an agent in the cluster`
    return { finding }
  }
  const { name, namespace = '', uid = '' } = face.metadata
  const registration = { namespace, name: `argo-cluster-${digestOfJson({ name, namespace }).slice(7, 19)}` }
  const known = own?.spec.kubeconfigSecret
  if (known && (known.name !== registration.name || known.namespace !== namespace))
    return { finding: `the credentials have no effect: Cluster ${own.metadata.name} has another kubeconfigSecret` }
  const before = await findObject(client, Secret, registration, signal)
  if (before && !before.metadata.ownerReferences?.some((owner) => owner.uid === uid))
    return { finding: `Secret ${registration.name} exists and does not belong to this Secret; delete it` }
  const data = encodedKubeconfig(read.kubeconfig)
  if (before && jsonEqual(before.data, data)) return { registration }
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Secret', name, uid }]
  const metadata = { ...registration, ownerReferences }
  const made: Secret = { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', data }
  await client.apply(Secret, made, { fieldManager: DIALECT_MANAGER, force: true, signal })
  return { registration }
}

/** Whether a Secret is the cluster Secret of a Cluster; the Secret is written after its Cluster. */
function isFaceOf({ metadata }: Cluster, face: Secret | undefined): boolean {
  if (face?.metadata.labels?.[SECRET_TYPE] !== 'cluster' || face.metadata.deletionTimestamp) return false
  return [undefined, metadata.name].includes(face.metadata.annotations?.[CLUSTER_OF_SECRET])
}

function note(face: Secret, { read, problem }: { readonly read: ReadClusterSecret; readonly problem: string }): Result {
  const common = { labels: read.labels, annotations: [] }
  face.metadata = notedMetadata(face, { cluster: undefined, common, findings: [problem, ...read.findings] })
  return {}
}
