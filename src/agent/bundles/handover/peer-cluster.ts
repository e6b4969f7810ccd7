// Tested by src/agent/bundles/handover/handover.contract.test.ts
/** Another system in the cluster: its controllers, its records, and the changes of a handover to both. */
import { compact } from '../../../core/compact.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'
import { HELM_RELEASE_KIND } from '../../../plan/handover/peers.ts'
import type { Peer, PeerRecordKind } from '../../../plan/handover/peers.ts'
import { HIDDEN_FROM_HELM, readHelmRelease, readRecord } from '../../../plan/handover/peer-records.ts'
import type { HelmReleaseName, ListedObject, PeerRecord } from '../../../plan/handover/peer-records.ts'
import { forgetPatch, isChangedByHandover, restorePatch, savePatch } from '../../../plan/handover/saved-fields.ts'
import type { FieldChange } from '../../../plan/handover/saved-fields.ts'
import { createPeerAccess } from './peer-access.ts'
import type { PeerClusterPorts } from './peer-access.ts'
import { createPeerControllers } from './peer-controllers.ts'

// Secrets of Helm have up to 1 MiB each.
const SECRETS_PAGE = 20

/** The records of a system, with the objects that each one lists. */
export interface PeerRecords {
  readonly records: readonly PeerRecord[]
  /** Why the controllers of the system must not be stopped; undefined when they manage this cluster alone. */
  readonly otherCluster: string | undefined
}

/** Creates the access to another system. */
export function createPeerCluster(ports: PeerClusterPorts) {
  const access = createPeerAccess(ports)
  const { typeOf, listAll, get, patch, remove } = access

  async function* objectsOf(kind: PeerRecordKind, signal: AbortSignal): AsyncIterable<UnknownObject> {
    const { labelSelector } = kind
    for (const apiVersion of kind.apiVersions) {
      const type = await typeOf(apiVersion, kind.kind, signal)
      if (!type) continue
      const limit = kind === HELM_RELEASE_KIND ? SECRETS_PAGE : undefined
      yield* listAll(type, compact({ limit, labelSelector }), signal)
      return
    }
  }

  /** The records of a system in the cluster. */
  async function records(name: string, peer: Peer, signal: AbortSignal): Promise<PeerRecords> {
    const found: PeerRecord[] = []
    const releases = new Map<string, readonly ListedObject[]>()
    let otherCluster: string | undefined
    for (const kind of peer.records) {
      for await (const object of objectsOf(kind, signal)) {
        if (kind === HELM_RELEASE_KIND) {
          const release = readHelmRelease(object)
          if (release) releases.set(`${object.metadata.namespace ?? ''}/${release.name}`, release.lists)
        }
        const read = readRecord(name, object)
        if (read.kind === 'Record') found.push({ ...read.record, object: withoutData(object) })
        else if (read.kind === 'OtherCluster') otherCluster ??= read.why
      }
    }
    const listed = ({ namespace, name: release }: HelmReleaseName) => releases.get(`${namespace}/${release}`) ?? []
    return {
      records: found.map((one) => ({ ...one, lists: [...one.lists, ...one.releases.flatMap(listed)] })),
      otherCluster,
    }
  }

  /** All Secrets of a release of Helm: one for each of its revisions. */
  async function releaseSecrets(namespace: string, name: string, signal: AbortSignal): Promise<UnknownObject[]> {
    const found: UnknownObject[] = []
    const type = await typeOf('v1', 'Secret', signal)
    const labelSelector = `owner in (helm,flotilla-handover),name=${name}`
    if (!type) return found
    for await (const secret of listAll(type, { namespace, labelSelector, limit: SECRETS_PAGE }, signal))
      found.push(withoutData(secret))
    return found
  }

  /** A record with all objects that change with it. */
  async function parts(
    { object, releases, disarm }: PeerRecord,
    signal: AbortSignal,
  ): Promise<{ readonly object: UnknownObject; readonly changes: readonly FieldChange[] }[]> {
    const release = object.kind === 'Secret' ? object.metadata.labels?.['name'] : undefined
    const names = release === undefined ? releases : [{ namespace: object.metadata.namespace!, name: release }]
    const secrets: UnknownObject[] = []
    for (const { namespace, name } of names) secrets.push(...(await releaseSecrets(namespace, name, signal)))
    const hidden = secrets.map((secret) => ({ object: secret, changes: HIDDEN_FROM_HELM }))
    return object.kind === 'Secret' ? hidden : [{ object, changes: disarm }, ...hidden]
  }

  return {
    ...createPeerControllers(access),
    get,
    records,
    /** Changes an object so that a later restore knows the former values. */
    change: (object: UnknownObject, changes: readonly FieldChange[], signal: AbortSignal) =>
      patch(object, savePatch(object, changes), signal),
    /** Changes metadata of an object that a bundle has. */
    patch,
    /** From now on the removal of the record deletes no object. */
    async disarm(record: PeerRecord, signal: AbortSignal): Promise<void> {
      for (const { object, changes } of await parts(record, signal))
        await patch(object, savePatch(object, changes), signal)
    },
    async restore(record: PeerRecord, signal: AbortSignal): Promise<void> {
      for (const { object } of await parts(record, signal)) await patch(object, restorePatch(object), signal)
    },
    /** Deletes what the system kept about objects that are taken over; configuration of a person stays, disarmed. */
    async finish(record: PeerRecord, signal: AbortSignal): Promise<void> {
      for (const { object } of await parts(record, signal)) {
        if (!isChangedByHandover(object)) continue
        if (!record.isRemoved && object.kind !== 'Secret') await patch(object, forgetPatch(object), signal)
        else await remove(object, signal)
      }
    },
  }
}

/** The access to another system. */
export type PeerCluster = ReturnType<typeof createPeerCluster>

/** The content of a release is not needed any more once its objects are known. */
function withoutData(object: UnknownObject): UnknownObject {
  const { apiVersion, kind, metadata } = object
  return kind === 'Secret' ? { apiVersion, kind, metadata } : object
}
