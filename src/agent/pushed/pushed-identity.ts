/** The identity of an agent that the hub runs. The hub itself records its public keys in the Cluster: no join code. */
import { rm } from 'node:fs/promises'
import type { Digest } from '../../core/crypto/digest.ts'
import type { NewKeyPair } from '../../core/crypto/key-pair.ts'
import { createIdentity, publicKeysOf, readIdentity, saveIdentity } from '../link/identity.ts'
import { createFileStorage } from '../storage/file-storage.ts'

/** The hub that an agent belongs to. */
export interface PushingHub {
  readonly root: Digest
  readonly endpoints: readonly string[]
  readonly newKeyPair: NewKeyPair
}

/** Never accepted by the gateway: an agent with it enrols by its keys alone. */
const NO_TOKEN = { name: 'hub', secret: '-' }

/**
 * The public keys of the agent in `folder`, created if they are missing. Files of another cluster (`clusterId`, empty
 * before the registration) or of another hub are deleted.
 */
export async function openPushedIdentity(folder: string, clusterId: string, hub: PushingHub) {
  const known = await readIdentity(await createFileStorage(folder))
  const isOwn = known && known.root === hub.root && (known.clusterId === undefined || known.clusterId === clusterId)
  if (known && !isOwn) await rm(folder, { recursive: true, force: true })
  const storage = await createFileStorage(folder)
  const { root, endpoints, newKeyPair } = hub
  const identity =
    known && isOwn ? known : await createIdentity(storage, { root, endpoints, token: NO_TOKEN }, { newKeyPair })
  return publicKeysOf(identity)
}

/** Records the id that the hub issued, so that the agent enrols as this cluster. */
export async function notePushedCluster(folder: string, clusterId: string): Promise<void> {
  const storage = await createFileStorage(folder)
  const identity = await readIdentity(storage)
  if (identity && identity.clusterId !== clusterId) await saveIdentity(storage, { ...identity, clusterId })
}
